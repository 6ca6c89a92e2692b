// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory of other devices: a part of a DMA buffer (dma-buf) as user memory.
 *
 * The exporter maps the whole buffer and returns a scatter list.  While the part is mapped, the
 * entries at its two ends are cut to the pages of the part; they are restored before the list is
 * given back to the exporter.
 */
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/rdma_compat.h>
#include <rdma/rdma_reject.h>

MODULE_IMPORT_NS(RDMA_NS_DMA_BUF);

static struct dma_resv *dmabuf_resv(const struct ib_umem_dmabuf *umem_dmabuf)
{
	return umem_dmabuf->attach->dmabuf->resv;
}

/* Makes the umem's table the entries that hold the part, cut at both ends. */
static int dmabuf_cut(struct ib_umem_dmabuf *umem_dmabuf)
{
	struct ib_umem *umem = &umem_dmabuf->umem;
	u64 begin = ALIGN_DOWN((u64)umem->address, PAGE_SIZE), at = 0;
	u64 end = ALIGN((u64)umem->address + umem->length, PAGE_SIZE);
	struct scatterlist *sg, *first = NULL, *last = NULL;
	unsigned int entries = 0;
	u64 over = 0, under = 0;
	int i;

	for_each_sgtable_dma_sg(umem_dmabuf->sgt, sg, i) {
		u64 stop = at + sg_dma_len(sg);

		if (stop > begin && at < end) {
			if (!first) {
				first = sg;
				under = begin - at;
			}
			last = sg;
			over = stop > end ? stop - end : 0;
			entries++;
		}
		at = stop;
	}
	if (!first || at < end)
		return rdma_refuse(-EINVAL, "the buffer's mapping has %llu bytes, not %llu", at,
				   end);

	sg_dma_address(first) += under;
	sg_dma_len(first) -= under;
	sg_dma_len(last) -= over;
	umem_dmabuf->first_sg = first;
	umem_dmabuf->first_sg_offset = under;
	umem_dmabuf->last_sg = last;
	umem_dmabuf->last_sg_trim = over;
	umem->sgt_append.sgt.sgl = first;
	umem->sgt_append.sgt.nents = entries;
	return 0;
}

static void dmabuf_mend(struct ib_umem_dmabuf *umem_dmabuf)
{
	if (!umem_dmabuf->first_sg)
		return;
	sg_dma_address(umem_dmabuf->first_sg) -= umem_dmabuf->first_sg_offset;
	sg_dma_len(umem_dmabuf->first_sg) += umem_dmabuf->first_sg_offset;
	sg_dma_len(umem_dmabuf->last_sg) += umem_dmabuf->last_sg_trim;
	umem_dmabuf->first_sg = NULL;
	umem_dmabuf->last_sg = NULL;
	umem_dmabuf->first_sg_offset = 0;
	umem_dmabuf->last_sg_trim = 0;
}

static int dmabuf_map(struct ib_umem_dmabuf *umem_dmabuf)
{
	struct sg_table *sgt;
	int ret;

	sgt = dma_buf_map_attachment(umem_dmabuf->attach, DMA_BIDIRECTIONAL);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	umem_dmabuf->sgt = sgt;
	ret = dmabuf_cut(umem_dmabuf);
	if (ret)
		ib_umem_dmabuf_unmap_pages(umem_dmabuf);
	return ret;
}

/**
 * ib_umem_dmabuf_map_pages() - map a part of a buffer for its device
 * @umem_dmabuf: the part; its buffer's reservation lock is held
 *
 * If it is mapped already, this only waits until moves of the buffer are complete.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL after the part was revoked; or the exporter's error.
 */
int ib_umem_dmabuf_map_pages(struct ib_umem_dmabuf *umem_dmabuf)
{
	long left;
	int ret;

	dma_resv_assert_held(dmabuf_resv(umem_dmabuf));
	if (umem_dmabuf->revoked)
		return rdma_refuse(-EINVAL, "the buffer's exporter has taken it back");
	ret = umem_dmabuf->sgt ? 0 : dmabuf_map(umem_dmabuf);
	if (ret)
		return ret;

	/* The exporter may still be copying the contents to the place that is mapped now. */
	left = dma_resv_wait_timeout(dmabuf_resv(umem_dmabuf), DMA_RESV_USAGE_KERNEL, false,
				     MAX_SCHEDULE_TIMEOUT);
	if (left > 0)
		return 0;
	return left ?: -ETIMEDOUT;
}
EXPORT_SYMBOL(ib_umem_dmabuf_map_pages);

/**
 * ib_umem_dmabuf_unmap_pages() - end a mapping
 * @umem_dmabuf: the part, mapped or not; the device must not use it any more; its buffer's
 *	reservation lock is held
 *
 * Context: may sleep.
 */
void ib_umem_dmabuf_unmap_pages(struct ib_umem_dmabuf *umem_dmabuf)
{
	dma_resv_assert_held(dmabuf_resv(umem_dmabuf));
	if (!umem_dmabuf->sgt)
		return;
	dmabuf_mend(umem_dmabuf);
	dma_buf_unmap_attachment(umem_dmabuf->attach, umem_dmabuf->sgt, DMA_BIDIRECTIONAL);
	umem_dmabuf->sgt = NULL;
}
EXPORT_SYMBOL(ib_umem_dmabuf_unmap_pages);

static struct ib_umem_dmabuf *dmabuf_get(struct ib_device *device, struct device *dma_device,
					 unsigned long offset, size_t size, int fd, int access,
					 const struct dma_buf_attach_ops *ops)
{
	struct ib_umem_dmabuf *umem_dmabuf;
	struct dma_buf *dmabuf;
	unsigned long end;
	int ret = -ENOMEM;

	if (!size || check_add_overflow(offset, (unsigned long)size, &end))
		return ERR_PTR(rdma_refuse(-EINVAL, "%zu bytes at %#lx of a buffer", size, offset));
	if (!ops || !ops->move_notify)
		return ERR_PTR(-EINVAL);
	dmabuf = dma_buf_get(fd);
	if (IS_ERR(dmabuf))
		return ERR_CAST(dmabuf);
	if (dmabuf->size < end) {
		ret = rdma_refuse(-EINVAL, "the buffer has %zu bytes, not %lu", dmabuf->size, end);
		goto err_put;
	}
	umem_dmabuf = kzalloc(sizeof(*umem_dmabuf), GFP_KERNEL);
	if (!umem_dmabuf)
		goto err_put;

	umem_dmabuf->umem.ibdev = device;
	umem_dmabuf->umem.address = offset;
	umem_dmabuf->umem.iova = offset;	/* unless the driver sets another one */
	umem_dmabuf->umem.length = size;
	umem_dmabuf->umem.writable = ib_access_writable(access);
	umem_dmabuf->umem.is_dmabuf = 1;
	umem_dmabuf->attach = dma_buf_dynamic_attach(dmabuf, dma_device, ops, umem_dmabuf);
	if (!IS_ERR(umem_dmabuf->attach))
		return umem_dmabuf;
	ret = PTR_ERR(umem_dmabuf->attach);
	kfree(umem_dmabuf);
err_put:
	dma_buf_put(dmabuf);
	return ERR_PTR(ret);
}

/**
 * ib_umem_dmabuf_get() - attach to a part of a buffer that may move
 * @device: device that is to use it
 * @offset: first byte
 * @size: bytes
 * @fd: the process's descriptor of the buffer
 * @access: enum ib_access_flags
 * @ops: its move_notify() is called when the mapping becomes invalid; importer_priv of the
 *	attachment is the pointer returned here
 *
 * Context: may sleep.
 * Return: the part, not mapped yet, to be released with ib_umem_release(); or an ERR_PTR(): -EBADF
 * or -EINVAL if @fd is no dma-buf, -EINVAL for a range outside of the buffer, -ENOMEM, or the
 * exporter's error.
 */
struct ib_umem_dmabuf *ib_umem_dmabuf_get(struct ib_device *device, unsigned long offset,
					  size_t size, int fd, int access,
					  const struct dma_buf_attach_ops *ops)
{
	return dmabuf_get(device, device->dma_device, offset, size, fd, access, ops);
}
EXPORT_SYMBOL(ib_umem_dmabuf_get);

/*
 * An exporter may move a buffer in order to pin it, and then notifies all importers, including the
 * one that pins it.  That one has not mapped the buffer yet, so the notification can be ignored.
 * The first call may even come before the part has a pointer to its attachment.
 */
static bool is_mapped(const struct dma_buf_attachment *attach)
{
	const struct ib_umem_dmabuf *umem_dmabuf = attach->importer_priv;

	dma_resv_assert_held(attach->dmabuf->resv);
	return umem_dmabuf->sgt;
}

static void pinned_moves(struct dma_buf_attachment *attach)
{
	if (is_mapped(attach))
		dev_warn_ratelimited(attach->dev, "the exporter of a pinned buffer moves it\n");
}

static const struct dma_buf_attach_ops pinned_ops = {
	.allow_peer2peer = true,
	.move_notify = pinned_moves,
};

/*
 * Revokes the part: calls the owner's revoke callback, at most once, and then unmaps and unpins the
 * buffer.  The buffer's reservation lock is held.
 */
static void dmabuf_take_back(struct ib_umem_dmabuf *part)
{
	bool was_pinned = part->pinned;

	dma_resv_assert_held(dmabuf_resv(part));
	if (part->revoked)
		return;
	part->revoked = true;
	part->pinned = false;
	if (part->pinned_revoke)
		part->pinned_revoke(part->private);
	ib_umem_dmabuf_unmap_pages(part);
	if (was_pinned)
		dma_buf_unpin(part->attach);
}

static void revocable_moves(struct dma_buf_attachment *attach)
{
	if (is_mapped(attach))
		dmabuf_take_back(attach->importer_priv);
}

static const struct dma_buf_attach_ops revocable_ops = {
	.allow_peer2peer = true,
	.move_notify = revocable_moves,
};

/* Attaches to the buffer, pins and maps it.  On success the reservation lock is held. */
static struct ib_umem_dmabuf *dmabuf_get_pinned(struct ib_device *device,
						struct device *dma_device, unsigned long offset,
						size_t size, int fd, int access,
						const struct dma_buf_attach_ops *ops)
{
	struct ib_umem_dmabuf *umem_dmabuf;
	int ret;

	umem_dmabuf = dmabuf_get(device, dma_device, offset, size, fd, access, ops);
	if (IS_ERR(umem_dmabuf))
		return umem_dmabuf;
	dma_resv_lock(dmabuf_resv(umem_dmabuf), NULL);
	ret = dma_buf_pin(umem_dmabuf->attach);
	if (!ret) {
		umem_dmabuf->pinned = 1;
		ret = ib_umem_dmabuf_map_pages(umem_dmabuf);
	}
	if (!ret)
		return umem_dmabuf;
	dma_resv_unlock(dmabuf_resv(umem_dmabuf));
	ib_umem_dmabuf_release(umem_dmabuf);
	return ERR_PTR(ret);
}

/**
 * ib_umem_dmabuf_get_pinned_with_dma_device() - pin a part of a buffer for another DMA device
 * @device: device that is to use it
 * @dma_device: device that does the DMA
 * @offset: first byte
 * @size: bytes
 * @fd: the process's descriptor of the buffer
 * @access: enum ib_access_flags
 *
 * Context: may sleep.
 * Return: the part, pinned and mapped, to be released with ib_umem_release(); or an ERR_PTR(): an
 * error of ib_umem_dmabuf_get(), or the exporter's error if it cannot pin or map the buffer.
 */
struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_with_dma_device(struct ib_device *device, struct device *dma_device,
					  unsigned long offset, size_t size, int fd, int access)
{
	struct ib_umem_dmabuf *umem_dmabuf;

	umem_dmabuf = dmabuf_get_pinned(device, dma_device, offset, size, fd, access, &pinned_ops);
	if (!IS_ERR(umem_dmabuf))
		dma_resv_unlock(dmabuf_resv(umem_dmabuf));
	return umem_dmabuf;
}
EXPORT_SYMBOL(ib_umem_dmabuf_get_pinned_with_dma_device);

/**
 * ib_umem_dmabuf_get_pinned() - pin a part of a buffer
 * @device: device that is to use it
 * @offset: first byte
 * @size: bytes
 * @fd: the process's descriptor of the buffer
 * @access: enum ib_access_flags
 *
 * Context: may sleep.
 * Return: as ib_umem_dmabuf_get_pinned_with_dma_device().
 */
struct ib_umem_dmabuf *ib_umem_dmabuf_get_pinned(struct ib_device *device, unsigned long offset,
						 size_t size, int fd, int access)
{
	return ib_umem_dmabuf_get_pinned_with_dma_device(device, device->dma_device, offset, size,
							 fd, access);
}
EXPORT_SYMBOL(ib_umem_dmabuf_get_pinned);

/**
 * ib_umem_dmabuf_get_pinned_revocable_and_lock() - pin a part that can be revoked
 * @device: device that is to use it
 * @offset: first byte
 * @size: bytes
 * @fd: the process's descriptor of the buffer
 * @access: enum ib_access_flags
 *
 * The caller sets its callback with ib_umem_dmabuf_set_revoke_locked() and unlocks with
 * ib_umem_dmabuf_revoke_unlock().
 *
 * Context: may sleep.
 * Return: as ib_umem_dmabuf_get_pinned_with_dma_device(), with the reservation lock held.
 */
struct ib_umem_dmabuf *
ib_umem_dmabuf_get_pinned_revocable_and_lock(struct ib_device *device, unsigned long offset,
					     size_t size, int fd, int access)
{
	return dmabuf_get_pinned(device, device->dma_device, offset, size, fd, access,
				 &revocable_ops);
}
EXPORT_SYMBOL(ib_umem_dmabuf_get_pinned_revocable_and_lock);

/**
 * ib_umem_dmabuf_set_revoke_locked() - set the callback for the revocation of a part
 * @umem_dmabuf: the part; its buffer's reservation lock is held
 * @revoke: called once, with that lock held, at the latest by the release; when it returns, the
 *	device must not use the part any more
 * @priv: passed to it
 *
 * Context: any.
 */
void ib_umem_dmabuf_set_revoke_locked(struct ib_umem_dmabuf *umem_dmabuf,
				      void (*revoke)(void *priv), void *priv)
{
	dma_resv_assert_held(dmabuf_resv(umem_dmabuf));
	umem_dmabuf->pinned_revoke = revoke;
	umem_dmabuf->private = priv;
}
EXPORT_SYMBOL(ib_umem_dmabuf_set_revoke_locked);

/**
 * ib_umem_dmabuf_revoke_lock() - prevent the revocation of a part
 * @umem_dmabuf: the part
 *
 * Context: may sleep.
 */
void ib_umem_dmabuf_revoke_lock(struct ib_umem_dmabuf *umem_dmabuf)
{
	dma_resv_lock(dmabuf_resv(umem_dmabuf), NULL);
}
EXPORT_SYMBOL(ib_umem_dmabuf_revoke_lock);

/**
 * ib_umem_dmabuf_revoke_unlock() - allow the revocation of a part again
 * @umem_dmabuf: the part
 *
 * Context: any.
 */
void ib_umem_dmabuf_revoke_unlock(struct ib_umem_dmabuf *umem_dmabuf)
{
	dma_resv_unlock(dmabuf_resv(umem_dmabuf));
}
EXPORT_SYMBOL(ib_umem_dmabuf_revoke_unlock);

/**
 * ib_umem_dmabuf_revoke() - revoke a part now: unmap and unpin it before its release
 * @umem_dmabuf: the part
 *
 * Context: may sleep.
 */
void ib_umem_dmabuf_revoke(struct ib_umem_dmabuf *umem_dmabuf)
{
	dma_resv_lock(dmabuf_resv(umem_dmabuf), NULL);
	dmabuf_take_back(umem_dmabuf);
	dma_resv_unlock(dmabuf_resv(umem_dmabuf));
}
EXPORT_SYMBOL(ib_umem_dmabuf_revoke);

/**
 * ib_umem_dmabuf_release() - release a part of a DMA buffer, for ib_umem_release()
 * @umem_dmabuf: the part; the device must not use it any more
 *
 * Context: may sleep.
 */
void ib_umem_dmabuf_release(struct ib_umem_dmabuf *umem_dmabuf)
{
	struct dma_buf_attachment *attach = umem_dmabuf->attach;
	struct dma_buf *dmabuf = attach->dmabuf;

	ib_umem_dmabuf_revoke(umem_dmabuf);
	dma_buf_detach(dmabuf, attach);
	kfree(umem_dmabuf);
	dma_buf_put(dmabuf);
}
