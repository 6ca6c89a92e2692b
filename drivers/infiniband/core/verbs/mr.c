// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions as objects.  Drivers allocate and free them, so an MR must not be
 * accessed after its driver has deregistered it.
 */
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include "verbs_priv.h"

static int mr_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_mr *mr = container_of(obj, struct ib_mr, obj);
	struct ib_sig_attrs *sig_attrs = mr->sig_attrs;
	int ret = mr->device->ops.dereg_mr(mr, udata);

	if (!ret)
		kfree(sig_attrs);
	return ret;
}

static const struct rdma_object_ops mr_ops = {
	.destroy = mr_destroy,
};

/* Fills the members that a driver leaves to the core. */
static void mr_begin(struct ib_mr *mr, struct ib_pd *pd, enum ib_mr_type type,
		     struct ib_uobject *uobject)
{
	mr->device = pd->device;
	mr->pd = pd;
	mr->type = type;
	mr->uobject = uobject;
	mr->dm = NULL;
	mr->sig_attrs = NULL;
	mr->need_inval = false;
	verbs_object_init_under(&mr->obj, RDMA_OBJECT_MR, pd, &mr_ops);
	if (uobject)
		rdma_restrack_set_name(&mr->obj.res, NULL);
}

/* Publishes an MR that the driver has made, or undoes it. */
static struct ib_mr *mr_complete(struct ib_mr *mr, struct ib_sig_attrs *sig_attrs)
{
	int ret = rdma_object_link(&mr->obj, &mr->pd->obj) ?:
		  rdma_object_link(&mr->obj, mr->dm ? &mr->dm->obj : NULL);

	if (!ret) {
		mr->sig_attrs = sig_attrs;
		rdma_object_publish(&mr->obj);
		return mr;
	}
	rdma_object_abort(&mr->obj);
	WARN_ON_ONCE(mr->device->ops.dereg_mr(mr, NULL));
	return ERR_PTR(ret);
}

/* The same for an MR over user memory, whose first byte has address @iova in work requests. */
static struct ib_mr *mr_complete_user(struct ib_mr *mr, struct ib_pd *pd,
				      struct ib_uobject *uobject, u64 iova, u64 length)
{
	mr->iova = iova;
	mr->length = length;
	mr_begin(mr, pd, IB_MR_TYPE_USER, uobject);
	return mr_complete(mr, NULL);
}

static struct ib_mr *mr_reg(struct ib_pd *pd, struct ib_uobject *uobject, u64 start, u64 length,
			    u64 virt_addr, int access_flags, struct ib_udata *udata)
{
	const struct ib_device *device = pd->device;
	struct ib_mr *mr;

	if (!device->ops.reg_user_mr)
		return ERR_PTR(-EOPNOTSUPP);
	if ((access_flags & IB_ACCESS_ON_DEMAND) &&
	    !(device->attrs.kernel_cap_flags & IBK_ON_DEMAND_PAGING))
		return ERR_PTR(rdma_refuse(-EINVAL,
					   "access on demand: the device has no on-demand paging"));
	mr = device->ops.reg_user_mr(pd, start, length, virt_addr, access_flags, udata);
	if (IS_ERR(mr))
		return mr;
	return mr_complete_user(mr, pd, uobject, virt_addr, length);
}

/**
 * ib_reg_mr_user() - register a user's memory for a user handle
 * @pd: PD
 * @uobject: the handle
 * @start: first byte in the current process
 * @length: bytes
 * @virt_addr: address of the first byte in work requests
 * @access_flags: enum ib_access_flags
 * @udata: the driver's part of the request
 *
 * Context: may sleep.
 * Return: the MR, to be destroyed with ib_dereg_mr_user(); else an ERR_PTR.
 */
struct ib_mr *ib_reg_mr_user(struct ib_pd *pd, struct ib_uobject *uobject, u64 start, u64 length,
			     u64 virt_addr, int access_flags, struct ib_udata *udata)
{
	return mr_reg(pd, uobject, start, length, virt_addr, access_flags, udata);
}
EXPORT_SYMBOL(ib_reg_mr_user);

/**
 * ib_reg_user_mr() - register a user's memory on behalf of a kernel consumer
 * @pd: the consumer's PD
 * @start: first byte in the current process
 * @length: bytes
 * @virt_addr: address of the first byte in work requests
 * @mr_access_flags: enum ib_access_flags
 *
 * Context: may sleep.
 * Return: the MR, to be destroyed with ib_dereg_mr(); else an ERR_PTR.
 */
struct ib_mr *ib_reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 virt_addr,
			     int mr_access_flags)
{
	return mr_reg(pd, NULL, start, length, virt_addr, mr_access_flags, NULL);
}
EXPORT_SYMBOL(ib_reg_user_mr);

/**
 * ib_reg_dmabuf_mr_user() - register a part of a DMA buffer for a user handle
 * @pd: PD
 * @uobject: the handle
 * @offset: first byte in the buffer
 * @length: bytes
 * @virt_addr: address of the first byte in work requests
 * @fd: the process's descriptor of the buffer
 * @access_flags: enum ib_access_flags
 * @attrs: the request
 *
 * Context: may sleep.
 * Return: the MR, to be destroyed with ib_dereg_mr_user(); else an ERR_PTR.
 */
struct ib_mr *ib_reg_dmabuf_mr_user(struct ib_pd *pd, struct ib_uobject *uobject, u64 offset,
				    u64 length, u64 virt_addr, int fd, int access_flags,
				    struct uverbs_attr_bundle *attrs)
{
	const struct ib_device_ops *ops = &pd->device->ops;
	struct ib_mr *mr;

	if (!ops->reg_user_mr_dmabuf)
		return ERR_PTR(-EOPNOTSUPP);
	mr = ops->reg_user_mr_dmabuf(pd, offset, length, virt_addr, fd, access_flags, attrs);
	if (IS_ERR(mr))
		return mr;
	return mr_complete_user(mr, pd, uobject, virt_addr, length);
}
EXPORT_SYMBOL(ib_reg_dmabuf_mr_user);

/**
 * ib_reg_dm_mr_user() - register memory on the device for a user handle
 * @pd: PD
 * @dm: the memory
 * @uobject: the handle
 * @attr: which part of it, and the rights
 * @attrs: the request
 *
 * Context: may sleep.
 * Return: the MR, to be destroyed with ib_dereg_mr_user(); else an ERR_PTR.
 */
struct ib_mr *ib_reg_dm_mr_user(struct ib_pd *pd, struct ib_dm *dm, struct ib_uobject *uobject,
				struct ib_dm_mr_attr *attr, struct uverbs_attr_bundle *attrs)
{
	const struct ib_device_ops *ops = &pd->device->ops;
	struct ib_mr *mr;

	if (!ops->reg_dm_mr)
		return ERR_PTR(-EOPNOTSUPP);
	mr = ops->reg_dm_mr(pd, dm, attr, attrs);
	if (IS_ERR(mr))
		return mr;
	mr_begin(mr, pd, IB_MR_TYPE_DM, uobject);
	mr->dm = dm;
	return mr_complete(mr, NULL);
}
EXPORT_SYMBOL(ib_reg_dm_mr_user);

/**
 * ib_rereg_mr_user() - change a user's MR
 * @mr: MR, which the caller holds exclusively
 * @new_uobject: handle of the new MR if the driver replaces @mr
 * @flags: enum ib_mr_rereg_flags: what changes
 * @start: with IB_MR_REREG_TRANS: first byte in the current process
 * @length: with IB_MR_REREG_TRANS: bytes
 * @virt_addr: with IB_MR_REREG_TRANS: address in work requests
 * @access_flags: with IB_MR_REREG_ACCESS: enum ib_access_flags
 * @new_pd: with IB_MR_REREG_PD: the PD
 * @udata: the driver's part of the request
 *
 * Context: may sleep.
 * Return: NULL if @mr was changed in place; a new MR that replaces @mr, which the
 * caller has to deregister; or an ERR_PTR.
 */
struct ib_mr *ib_rereg_mr_user(struct ib_mr *mr, struct ib_uobject *new_uobject, int flags,
			       u64 start, u64 length, u64 virt_addr, int access_flags,
			       struct ib_pd *new_pd, struct ib_udata *udata)
{
	struct ib_pd *old_pd = mr->pd, *pd = flags & IB_MR_REREG_PD ? new_pd : old_pd;
	const struct ib_device_ops *ops = &mr->device->ops;
	struct ib_mr *fresh;
	int ret;

	if (!ops->rereg_user_mr)
		return ERR_PTR(-EOPNOTSUPP);
	/* The MR is linked before the driver is called, so the new PD cannot be destroyed. */
	ret = rdma_object_link(&mr->obj, &pd->obj);
	if (ret)
		return ERR_PTR(ret);
	fresh = ops->rereg_user_mr(mr, flags, start, length, virt_addr, access_flags, pd, udata);
	if (fresh) {
		rdma_object_unlink(&mr->obj, &pd->obj);
		if (IS_ERR(fresh))
			return fresh;
		return mr_complete_user(fresh, pd, new_uobject,
					flags & IB_MR_REREG_TRANS ? virt_addr : mr->iova,
					flags & IB_MR_REREG_TRANS ? length : mr->length);
	}

	mr->pd = pd;
	/*
	 * The old PD may be destroyed from here on: wait for look-ups of resource tracking that
	 * may still use it.
	 */
	if (pd != old_pd)
		rdma_restrack_sync(&mr->res);
	rdma_object_unlink(&mr->obj, &old_pd->obj);
	if (flags & IB_MR_REREG_TRANS) {
		mr->iova = virt_addr;
		mr->length = length;
	}
	return NULL;
}
EXPORT_SYMBOL(ib_rereg_mr_user);

/**
 * ib_alloc_mr() - make an MR for registration by work requests
 * @pd: PD
 * @mr_type: IB_MR_TYPE_MEM_REG or IB_MR_TYPE_SG_GAPS
 * @max_num_sg: pages, or entries of a gapped list, that it can hold
 *
 * Context: may sleep.
 * Return: the MR, to be destroyed with ib_dereg_mr(); -EOPNOTSUPP, -EINVAL for
 * other types, or the driver's error as an ERR_PTR.
 */
struct ib_mr *ib_alloc_mr(struct ib_pd *pd, enum ib_mr_type mr_type, u32 max_num_sg)
{
	const struct ib_device_ops *ops = &pd->device->ops;
	struct ib_mr *mr;

	if (!ops->alloc_mr)
		return ERR_PTR(-EOPNOTSUPP);
	if (WARN_ON_ONCE(mr_type == IB_MR_TYPE_INTEGRITY))
		return ERR_PTR(-EINVAL);
	mr = ops->alloc_mr(pd, mr_type, max_num_sg);
	if (IS_ERR(mr))
		return mr;
	mr_begin(mr, pd, mr_type, NULL);
	return mr_complete(mr, NULL);
}
EXPORT_SYMBOL(ib_alloc_mr);

/**
 * ib_alloc_mr_integrity() - make an MR that checks and generates signatures
 * @pd: PD
 * @max_num_data_sg: maximum number of scatter list entries for data
 * @max_num_meta_sg: maximum number of scatter list entries for protection information
 *
 * Context: may sleep.
 * Return: the MR with room for its sig_attrs, to be destroyed with ib_dereg_mr();
 * -EOPNOTSUPP, -EINVAL if @max_num_meta_sg is 0, -ENOMEM, or the driver's error
 * as an ERR_PTR.
 */
struct ib_mr *ib_alloc_mr_integrity(struct ib_pd *pd, u32 max_num_data_sg, u32 max_num_meta_sg)
{
	const struct ib_device_ops *ops = &pd->device->ops;
	struct ib_sig_attrs *layout;
	struct ib_mr *mr;

	if (!ops->alloc_mr_integrity || !ops->map_mr_sg_pi)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max_num_meta_sg)
		return ERR_PTR(-EINVAL);
	layout = kzalloc(sizeof(*layout), GFP_KERNEL);
	if (!layout)
		return ERR_PTR(-ENOMEM);
	mr = ops->alloc_mr_integrity(pd, max_num_data_sg, max_num_meta_sg);
	if (!IS_ERR(mr)) {
		mr_begin(mr, pd, IB_MR_TYPE_INTEGRITY, NULL);
		mr = mr_complete(mr, layout);
	}
	if (IS_ERR(mr))
		kfree(layout);
	return mr;
}
EXPORT_SYMBOL(ib_alloc_mr_integrity);

/**
 * ib_dereg_mr_user() - deregister an MR
 * @mr: the MR; freed if 0 is returned
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while another object uses it; the driver's error.
 */
int ib_dereg_mr_user(struct ib_mr *mr, struct ib_udata *udata)
{
	return rdma_object_destroy(&mr->obj, udata);
}
EXPORT_SYMBOL(ib_dereg_mr_user);

/**
 * ib_advise_mr() - advise the device on the use of memory
 * @pd: PD of the memory
 * @advice: enum ib_uverbs_advise_mr_advice
 * @flags: IB_UVERBS_ADVISE_MR_FLAG_FLUSH or 0
 * @sg_list: ranges
 * @num_sge: their number; with 0 the driver is not called
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the device takes no advice; the driver's error.
 */
int ib_advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		 struct ib_sge *sg_list, u32 num_sge)
{
	const struct ib_device_ops *ops = &pd->device->ops;

	if (!ops->advise_mr)
		return -EOPNOTSUPP;
	return num_sge ? ops->advise_mr(pd, advice, flags, sg_list, num_sge, NULL) : 0;
}
EXPORT_SYMBOL(ib_advise_mr);

/**
 * ib_check_mr_status() - get the result of an MR's signature checks
 * @mr: MR
 * @check_mask: enum ib_mr_status_check
 * @mr_status: receives the result
 *
 * Context: any.
 * Return: 0; -EOPNOTSUPP when the device cannot; the driver's error.
 */
int ib_check_mr_status(struct ib_mr *mr, u32 check_mask, struct ib_mr_status *mr_status)
{
	const struct ib_device_ops *ops = &mr->device->ops;

	return ops->check_mr_status ? ops->check_mr_status(mr, check_mask, mr_status) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_check_mr_status);

/**
 * ib_dereg_mr_async() - begin to deregister a kernel MR
 * @mr: the MR; not to be used again unless @done reports an error
 * @done: called when the device does not access the memory any more
 * @context: passed to @done
 *
 * Context: may sleep, but does not wait for the driver.
 * Return: 0 if @done will be called; -EBUSY while another object uses it; -ENOMEM.
 */
int ib_dereg_mr_async(struct ib_mr *mr, rdma_destroyed_fn done, void *context)
{
	return rdma_object_destroy_async(&mr->obj, done, context);
}
EXPORT_SYMBOL(ib_dereg_mr_async);
