// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys of user memory, physical keys of the kernel, and memory windows. Keys registered by
 * work requests: fast_reg.c; FMRs: fmr.c.
 */
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "../cmd/cmd.h"
#include "mr.h"
#include "pd.h"
#include "udata.h"

/**
 * vhca_access_to_hw() - translate access rights
 * @access: IB_ACCESS_*; hints are dropped
 *
 * Context: any.
 * Return: VHCA_ACCESS_*.
 */
u32 vhca_access_to_hw(int access)
{
	return (access & IB_ACCESS_LOCAL_WRITE ? VHCA_ACCESS_LOCAL_WRITE : 0) |
	       (access & IB_ACCESS_REMOTE_WRITE ? VHCA_ACCESS_REMOTE_WRITE : 0) |
	       (access & IB_ACCESS_REMOTE_READ ? VHCA_ACCESS_REMOTE_READ : 0) |
	       (access & IB_ACCESS_REMOTE_ATOMIC ? VHCA_ACCESS_REMOTE_ATOMIC : 0) |
	       (access & IB_ACCESS_MW_BIND ? VHCA_ACCESS_MW_BIND : 0) |
	       (access & IB_ACCESS_FLUSH_GLOBAL ? VHCA_ACCESS_FLUSH_GLOBAL : 0) |
	       (access & IB_ACCESS_FLUSH_PERSISTENT ? VHCA_ACCESS_FLUSH_PERSISTENT : 0);
}

/**
 * vhca_check_access() - check that memory can be registered with these access rights
 * @dev: the device
 * @access: IB_ACCESS_*
 *
 * Context: any.
 * Return: 0, or -EOPNOTSUPP.
 */
int vhca_check_access(struct vhca_dev *dev, int access)
{
	/* The last three are not passed to the device: base of addresses, and hints. */
	int known = dev->access | IB_ZERO_BASED | IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL;

	if (access & ~known)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
				   "memory access flags %#x: the device does not have %#x", access,
				   access & ~known);
	return 0;
}

static int check_length(struct vhca_dev *dev, u64 length)
{
	if (length > dev->hw.limits.max_mr_size)
		return vhca_refuse(dev->hw.dev, -EINVAL, "memory length %llu > device limit %llu",
				   length, dev->hw.limits.max_mr_size);
	return 0;
}

static u64 key_iova(int access, u64 virt_addr)
{
	return access & IB_ZERO_BASED ? 0 : virt_addr;
}

static void set_keys(struct vhca_mr *mr, u32 key, u64 iova, u64 length)
{
	mr->ibmr.lkey = key;
	mr->ibmr.rkey = key;
	mr->ibmr.iova = iova;
	mr->iova = iova;
	mr->ibmr.length = length;
}

/**
 * vhca_get_dma_mr() - ib_device_ops.get_dma_mr
 * @ibpd: protection domain of the kernel's
 * @access: IB_ACCESS_*
 *
 * The key covers all memory, and its addresses are DMA addresses.
 *
 * Context: may sleep.
 * Return: the key; or an ERR_PTR(): -EOPNOTSUPP for rights that the device does not have, -ENOMEM,
 * or an error of commands.
 */
struct ib_mr *vhca_get_dma_mr(struct ib_pd *ibpd, int access)
{
	struct vhca_dev *dev = to_vdev(ibpd->device);
	struct vhca_create_mkey_req req = {
		.length = cpu_to_le64(U64_MAX),
		.pdn = cpu_to_le32(to_vpd(ibpd)->pdn),
		.access = cpu_to_le32(vhca_access_to_hw(access)),
		.type = VHCA_MKEY_PHYSICAL,
		.variant = vhca_next_variant(),
	};
	struct vhca_mr *mr;
	u32 key;
	int err;

	err = vhca_check_access(dev, access);
	if (err)
		return ERR_PTR(err);
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = vhca_cmd_create_mkey(&dev->hw, &req, &key);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	mr->access = access;
	set_keys(mr, key, 0, U64_MAX);
	return &mr->ibmr;
}

/* Makes a key over pinned memory; on success the key owns the memory. */
static struct ib_mr *reg_umem(struct ib_pd *ibpd, struct ib_umem *umem, u64 iova, u64 length,
			      int access)
{
	struct vhca_dev *dev = to_vdev(ibpd->device);
	struct vhca_create_mkey_req req = {
		.iova = cpu_to_le64(iova),
		.length = cpu_to_le64(length),
		.pdn = cpu_to_le32(to_vpd(ibpd)->pdn),
		.access = cpu_to_le32(vhca_access_to_hw(access)),
		.type = VHCA_MKEY_LIST,
		.variant = vhca_next_variant(),
	};
	struct vhca_mr *mr;
	u32 key;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL_ACCOUNT);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	err = vhca_pages_from_umem(&mr->pages, dev->hw.dev, umem, dev->hw.limits.page_sizes);
	if (err)
		goto err_mr;
	req.buf = mr->pages.buf;
	err = vhca_cmd_create_mkey(&dev->hw, &req, &key);
	if (err)
		goto err_pages;
	mr->umem = umem;
	mr->access = access;
	set_keys(mr, key, iova, length);
	return &mr->ibmr;

err_pages:
	vhca_pages_free(&mr->pages);
err_mr:
	kfree(mr);
	return ERR_PTR(err);
}

/**
 * vhca_reg_user_mr() - ib_device_ops.reg_user_mr
 * @ibpd: protection domain
 * @start: address in the calling process
 * @length: bytes
 * @virt_addr: address that requests will use for the first byte, unless @access has IB_ZERO_BASED
 * @access: IB_ACCESS_*
 * @udata: the request of a process, which has no private part
 *
 * Context: the process whose memory it is; may sleep.
 * Return: the region; or an ERR_PTR(): -EOPNOTSUPP for rights that the device does not have,
 * -EINVAL if the region is too long or the request has a private part, -ENOMEM, or an error of
 * pinning or of commands.
 */
struct ib_mr *vhca_reg_user_mr(struct ib_pd *ibpd, u64 start, u64 length, u64 virt_addr,
			       int access, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibpd->device);
	struct ib_umem *umem;
	struct ib_mr *ibmr;
	int err;

	err = vhca_udata_none(dev, udata, "reg_mr") ?: vhca_check_access(dev, access) ?:
	      check_length(dev, length);
	if (err)
		return ERR_PTR(err);
	umem = ib_umem_get(&dev->ibdev, start, length, access);
	if (IS_ERR(umem))
		return ERR_CAST(umem);
	ibmr = reg_umem(ibpd, umem, key_iova(access, virt_addr), length, access);
	if (IS_ERR(ibmr))
		ib_umem_release(umem);
	return ibmr;
}

/**
 * vhca_reg_user_mr_dmabuf() - ib_device_ops.reg_user_mr_dmabuf
 * @ibpd: protection domain
 * @offset: offset of the region in the DMA buffer, in bytes
 * @length: bytes
 * @virt_addr: address that requests will use for the first byte
 * @fd: descriptor of the DMA buffer
 * @access: IB_ACCESS_*
 * @attrs: the request
 *
 * The part of the buffer stays pinned while it is registered, as the device does not support
 * buffers that move.
 *
 * Context: may sleep.
 * Return: the region; or an ERR_PTR(): -EOPNOTSUPP for rights that the device does not have,
 * -EINVAL if the region is too long, -ENOMEM, or an error of pinning or of commands.
 */
struct ib_mr *vhca_reg_user_mr_dmabuf(struct ib_pd *ibpd, u64 offset, u64 length, u64 virt_addr,
				      int fd, int access, struct uverbs_attr_bundle *attrs)
{
	struct vhca_dev *dev = to_vdev(ibpd->device);
	struct ib_umem_dmabuf *part;
	struct ib_mr *ibmr;
	int err;

	err = vhca_check_access(dev, access) ?: check_length(dev, length);
	if (err)
		return ERR_PTR(err);
	part = ib_umem_dmabuf_get_pinned(&dev->ibdev, offset, length, fd, access);
	if (IS_ERR(part))
		return ERR_PTR(vhca_refuse(dev->hw.dev, PTR_ERR(part),
					   "DMA buffer %d: %llu bytes at %#llx cannot be pinned",
					   fd, length, offset));
	ibmr = reg_umem(ibpd, &part->umem, virt_addr, length, access);
	if (IS_ERR(ibmr))
		ib_umem_release(&part->umem);
	return ibmr;
}

/* The new attributes of a region, before the command has succeeded. */
struct rereg {
	struct ib_umem *umem;
	struct vhca_pages pages;
	u64 iova;
	u64 length;
};

static int rereg_memory(struct vhca_dev *dev, struct rereg *new, u64 start, int access)
{
	int err;

	new->umem = ib_umem_get(&dev->ibdev, start, new->length, access);
	if (IS_ERR(new->umem))
		return PTR_ERR(new->umem);
	err = vhca_pages_from_umem(&new->pages, dev->hw.dev, new->umem, dev->hw.limits.page_sizes);
	if (err)
		ib_umem_release(new->umem);
	return err;
}

/**
 * vhca_rereg_user_mr() - ib_device_ops.rereg_user_mr: change a live key in place
 * @ibmr: region of vhca_reg_user_mr() or vhca_reg_user_mr_dmabuf(); the latter changes only its PD
 * @flags: IB_MR_REREG_*
 * @start: with IB_MR_REREG_TRANS, as vhca_reg_user_mr(); likewise the next two
 * @length: bytes
 * @virt_addr: address of the first byte
 * @access: with IB_MR_REREG_ACCESS, IB_ACCESS_*
 * @new_pd: with IB_MR_REREG_PD, the new PD
 * @udata: the request of a process, which has no private part
 *
 * The device changes all or nothing, so a refused request leaves the key unchanged. Memory is only
 * pinned if the request has IB_MR_REREG_TRANS: the process may have mapped other memory at the old
 * address in the meantime, so memory that was pinned for reading cannot become writable otherwise.
 *
 * Context: may sleep.
 * Return: NULL; or an ERR_PTR(): -EOPNOTSUPP for flags or rights, -EINVAL, -ENOMEM, or an error of
 * pinning or of commands.
 */
struct ib_mr *vhca_rereg_user_mr(struct ib_mr *ibmr, int flags, u64 start, u64 length,
				 u64 virt_addr, int access, struct ib_pd *new_pd,
				 struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibmr->device);
	struct vhca_modify_mkey_req req = { .key = cpu_to_le32(ibmr->lkey) };
	struct vhca_mr *mr = to_vmr(ibmr);
	struct rereg new = {};
	u32 mask = 0;
	int err;

	if (flags & ~(IB_MR_REREG_TRANS | IB_MR_REREG_PD | IB_MR_REREG_ACCESS))
		return ERR_PTR(vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "rereg_mr: flags %#x", flags));
	if (mr->umem->is_dmabuf && flags & ~IB_MR_REREG_PD)
		return ERR_PTR(vhca_refuse(dev->hw.dev, -EOPNOTSUPP,
					   "rereg_mr: flags %#x, a DMA buffer only changes its PD",
					   flags));
	if (!(flags & IB_MR_REREG_ACCESS))
		access = mr->access;
	err = vhca_udata_none(dev, udata, "rereg_mr") ?: vhca_check_access(dev, access) ?:
	      ib_umem_check_rereg(mr->umem, flags, access);
	if (err)
		return ERR_PTR(err);
	/* The core clears IB_MR_REREG_PD if the PD does not change. */
	if (!flags)
		return NULL;

	new.iova = mr->iova;
	new.length = ibmr->length;
	if (flags & IB_MR_REREG_TRANS) {
		new.iova = key_iova(access, virt_addr);
		new.length = length;
		err = check_length(dev, length) ?: rereg_memory(dev, &new, start, access);
		if (err)
			return ERR_PTR(err);
		mask |= VHCA_MKEY_MOD_BUF;
		req.attr.buf = new.pages.buf;
		req.attr.iova = cpu_to_le64(new.iova);
		req.attr.length = cpu_to_le64(new.length);
	}
	if (flags & IB_MR_REREG_ACCESS) {
		mask |= VHCA_MKEY_MOD_ACCESS;
		req.attr.access = cpu_to_le32(vhca_access_to_hw(access));
	}
	if (flags & IB_MR_REREG_PD) {
		mask |= VHCA_MKEY_MOD_PD;
		req.attr.pdn = cpu_to_le32(to_vpd(new_pd)->pdn);
	}
	req.mask = cpu_to_le32(mask);
	err = vhca_cmd_modify_mkey(&dev->hw, &req);
	if (err)
		goto err_new;

	if (new.umem) {
		vhca_pages_free(&mr->pages);
		ib_umem_release(mr->umem);
		mr->umem = new.umem;
		mr->pages = new.pages;
	}
	mr->access = access;
	set_keys(mr, ibmr->lkey, new.iova, new.length);
	return NULL;

err_new:
	if (new.umem) {
		vhca_pages_free(&new.pages);
		ib_umem_release(new.umem);
	}
	return ERR_PTR(err);
}

/**
 * vhca_dereg_mr() - ib_device_ops.dereg_mr
 * @ibmr: region of a process, key of vhca_get_dma_mr() or of vhca_alloc_mr()
 * @udata: unused
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while windows are bound to it; or an error of commands, after which it is
 * unchanged.
 */
int vhca_dereg_mr(struct ib_mr *ibmr, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibmr->device);
	struct vhca_mr *mr = to_vmr(ibmr);
	int err;

	err = vhca_hw_settle(&dev->hw, vhca_cmd_destroy_mkey(&dev->hw, ibmr->lkey));
	if (err)
		return err;
	if (mr->umem) {
		vhca_pages_free(&mr->pages);
		ib_umem_release(mr->umem);
	}
	if (mr->fast)
		vhca_free_fast_mr(mr);
	else
		kfree(mr);
	return 0;
}

static int window_type(struct vhca_dev *dev, enum ib_mw_type type)
{
	if (type == IB_MW_TYPE_1)
		return VHCA_MKEY_MW_1;
	if (type == IB_MW_TYPE_2 &&
	    (vhca_hw_has(&dev->hw, VHCA_CAP_MW_2A) || vhca_hw_has(&dev->hw, VHCA_CAP_MW_2B)))
		return VHCA_MKEY_MW_2;
	return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "memory window of type %d: not supported",
			   type);
}

/**
 * vhca_alloc_mw() - ib_device_ops.alloc_mw
 * @ibmw: window, of type IB_MW_TYPE_1 or IB_MW_TYPE_2
 * @udata: the request of a process, which has no private part
 *
 * The driver only creates the key. The process binds it by a work request, without the kernel.
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for a type that the device does not have; -EINVAL; or an error of
 * commands.
 */
int vhca_alloc_mw(struct ib_mw *ibmw, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibmw->device);
	struct vhca_create_mkey_req req = {
		.pdn = cpu_to_le32(to_vpd(ibmw->pd)->pdn),
		.variant = vhca_next_variant(),
	};
	int type;

	type = vhca_udata_none(dev, udata, "alloc_mw") ?: window_type(dev, ibmw->type);
	if (type < 0)
		return type;
	req.type = type;
	return vhca_cmd_create_mkey(&dev->hw, &req, &ibmw->rkey);
}

/**
 * vhca_dealloc_mw() - ib_device_ops.dealloc_mw
 * @ibmw: window
 *
 * Context: may sleep.
 * Return: 0; or an error of commands.
 */
int vhca_dealloc_mw(struct ib_mw *ibmw)
{
	struct vhca_dev *dev = to_vdev(ibmw->device);

	return vhca_hw_settle(&dev->hw, vhca_cmd_destroy_mkey(&dev->hw, ibmw->rkey));
}
