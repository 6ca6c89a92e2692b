// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Private parts of user requests, and rings in user memory. */
#include <rdma/ib_umem.h>

#include "udata.h"

/**
 * vhca_udata_in() - read the private part of a request
 * @dev: the device
 * @udata: the request
 * @what: its name, for the reason of a refusal
 * @req: filled in
 * @size: bytes of @req, all of which the request must have
 *
 * A longer request comes from a newer provider: the bytes that this driver does not know must be
 * zero.
 *
 * Context: the process that made the request; may sleep.
 * Return: 0; -EINVAL for a request that is too short; -EOPNOTSUPP if unknown bytes are not zero;
 * -EFAULT.
 */
int vhca_udata_in(struct vhca_dev *dev, struct ib_udata *udata, const char *what, void *req,
		  size_t size)
{
	if (udata->inlen < size)
		return vhca_refuse(dev->hw.dev, -EINVAL, "%s: private request of %zu bytes < %zu",
				   what, udata->inlen, size);
	if (udata->inlen > size && !ib_is_udata_cleared(udata, size, udata->inlen - size))
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
				   "%s: private request has unknown fields that are not zero",
				   what);
	if (ib_copy_from_udata(req, udata, size))
		return vhca_refuse(dev->hw.dev, -EFAULT, "%s: private request cannot be read",
				   what);
	return 0;
}

/**
 * vhca_udata_none() - check that a request has no private part
 * @dev: the device
 * @udata: the request, or NULL for the kernel's own
 * @what: its name, for the reason of a refusal
 *
 * Context: the process that made the request, if there is one; may sleep.
 * Return: 0, or -EINVAL.
 */
int vhca_udata_none(struct vhca_dev *dev, struct ib_udata *udata, const char *what)
{
	if (!udata || !udata->inlen || ib_is_udata_cleared(udata, 0, udata->inlen))
		return 0;
	return vhca_refuse(dev->hw.dev, -EINVAL, "%s: takes no private request", what);
}

/**
 * vhca_udata_out() - write the private part of a response
 * @dev: the device
 * @udata: the request
 * @what: its name, for the reason of a refusal
 * @resp: the response
 * @size: its bytes; an older provider gets as many as it has room for
 * @min: minimum of bytes for which it must have room
 *
 * Context: the process that made the request; may sleep.
 * Return: 0; -EINVAL if there is room for fewer than @min bytes; -EFAULT.
 */
int vhca_udata_out(struct vhca_dev *dev, struct ib_udata *udata, const char *what,
		   const void *resp, size_t size, size_t min)
{
	if (udata->outlen < min)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "%s: room for a response of %zu bytes < %zu", what,
				   udata->outlen, min);
	if (ib_copy_to_udata(udata, (void *)resp, min(size, udata->outlen)))
		return vhca_refuse(dev->hw.dev, -EFAULT, "%s: private response cannot be written",
				   what);
	return 0;
}

/**
 * vhca_user_ring_get() - pin a ring in the calling process' memory
 * @dev: the device
 * @ring: filled in
 * @what: its name, for the reason of a refusal
 * @addr: its address, page-aligned
 * @size: bytes
 *
 * Context: the process whose memory it is; may sleep.
 * Return: 0; -EINVAL for an invalid address; an error of pinning; -ENOMEM.
 */
int vhca_user_ring_get(struct vhca_dev *dev, struct vhca_user_ring *ring, const char *what,
		       u64 addr, u64 size)
{
	int err;

	if (!addr || !PAGE_ALIGNED(addr))
		return vhca_refuse(dev->hw.dev, -EINVAL, "%s address %#llx is not page aligned",
				   what, addr);
	ring->umem = ib_umem_get(&dev->ibdev, addr, size, IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(ring->umem)) {
		err = PTR_ERR(ring->umem);
		ring->umem = NULL;
		dev_dbg(dev->hw.dev, "%s of %llu bytes is not pinned: %d\n", what, size, err);
		return err;		/* the core has recorded the reason */
	}
	err = vhca_pages_from_umem(&ring->pages, dev->hw.dev, ring->umem,
				   dev->hw.limits.page_sizes);
	if (err) {
		ib_umem_release(ring->umem);
		ring->umem = NULL;
	}
	return err;
}

/**
 * vhca_user_ring_put() - release a ring
 * @ring: the ring, which the device does not use any more; may be absent
 *
 * Context: may sleep.
 */
void vhca_user_ring_put(struct vhca_user_ring *ring)
{
	if (!ring->umem)
		return;
	vhca_pages_free(&ring->pages);
	ib_umem_release(ring->umem);
	ring->umem = NULL;
}
