// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains.  A kernel PD has a key for all DMA addresses: the device's
 * reserved lkey if it has one, else the key of an MR that the core keeps inside the
 * PD and that is neither counted as user of the PD nor tracked as an object.
 */
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include "verbs_priv.h"

static void pd_drop_dma_mr(struct ib_pd *pd)
{
	struct ib_mr *mr = pd->__internal_mr;

	if (!mr)
		return;
	pd->__internal_mr = NULL;
	WARN_ON(pd->device->ops.dereg_mr(mr, NULL));
}

static int pd_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_pd *pd = container_of(obj, struct ib_pd, obj);

	pd_drop_dma_mr(pd);
	return pd->device->ops.dealloc_pd(pd, udata);
}

static void pd_release(struct rdma_object *obj)
{
	kfree(container_of(obj, struct ib_pd, obj));
}

static const struct rdma_object_ops pd_ops = {
	.destroy = pd_destroy,
	.release = pd_release,
};

static struct ib_pd *pd_create(struct ib_device *device, struct ib_uobject *uobject,
			       const char *caller, struct ib_udata *udata)
{
	struct ib_pd *pd = rdma_zalloc_drv_obj(device, ib_pd);
	int ret;

	if (!pd)
		return ERR_PTR(-ENOMEM);
	pd->device = device;
	pd->uobject = uobject;
	ret = verbs_object_init(&pd->obj, RDMA_OBJECT_PD, device, uobject, caller, &pd_ops);
	if (ret)
		goto free;
	ret = device->ops.alloc_pd(pd, udata);
	if (ret)
		goto abort;
	rdma_object_publish(&pd->obj);
	return pd;

abort:
	rdma_object_abort(&pd->obj);
free:
	kfree(pd);
	return ERR_PTR(ret);
}

/**
 * ib_alloc_pd_user() - make a PD for a user handle
 * @device: device
 * @uobject: the handle
 * @udata: the driver's part of the request
 *
 * Context: may sleep.
 * Return: the PD, to be destroyed with ib_dealloc_pd_user(); else an ERR_PTR.
 */
struct ib_pd *ib_alloc_pd_user(struct ib_device *device, struct ib_uobject *uobject,
			       struct ib_udata *udata)
{
	return pd_create(device, uobject, NULL, udata);
}
EXPORT_SYMBOL(ib_alloc_pd_user);

/* Gives a kernel PD the keys that its consumer uses without registering memory. */
static int pd_add_keys(struct ib_pd *pd)
{
	struct ib_device *device = pd->device;
	bool device_key = device->attrs.kernel_cap_flags & IBK_LOCAL_DMA_LKEY;
	bool unsafe = pd->flags & IB_PD_UNSAFE_GLOBAL_RKEY;
	struct ib_mr *mr;
	int access = 0;

	if (device_key)
		pd->local_dma_lkey = device->local_dma_lkey;
	else
		access |= IB_ACCESS_LOCAL_WRITE;
	if (unsafe)
		access |= IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE;
	if (!access)
		return 0;
	if (!device->ops.get_dma_mr)
		return -EOPNOTSUPP;

	mr = device->ops.get_dma_mr(pd, access);
	if (IS_ERR(mr))
		return PTR_ERR(mr);
	mr->device = device;
	mr->pd = pd;
	mr->type = IB_MR_TYPE_DMA;
	mr->uobject = NULL;
	mr->need_inval = false;
	pd->__internal_mr = mr;
	if (!device_key)
		pd->local_dma_lkey = mr->lkey;
	if (unsafe)
		pd->unsafe_global_rkey = mr->rkey;
	return 0;
}

/**
 * __ib_alloc_pd() - make a PD for a kernel consumer
 * @device: device
 * @flags: enum ib_pd_flags
 * @caller: the consumer's KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: the PD with its local_dma_lkey; -ENOMEM, -EOPNOTSUPP when the device
 * cannot make the keys, or the driver's error as an ERR_PTR.
 */
struct ib_pd *__ib_alloc_pd(struct ib_device *device, unsigned int flags, const char *caller)
{
	struct ib_pd *pd = pd_create(device, NULL, caller, NULL);
	int ret;

	if (IS_ERR(pd))
		return pd;
	pd->flags = flags;
	if (flags & IB_PD_UNSAFE_GLOBAL_RKEY)
		dev_warn(&device->dev, "%s lets peers reach all memory through one key\n", caller);
	ret = pd_add_keys(pd);
	if (!ret)
		return pd;
	ib_dealloc_pd(pd);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(__ib_alloc_pd);

/**
 * ib_dealloc_pd_user() - destroy a PD
 * @pd: the PD; freed if 0 is returned
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while an object in the PD exists; the driver's error.
 */
int ib_dealloc_pd_user(struct ib_pd *pd, struct ib_udata *udata)
{
	return rdma_object_destroy(&pd->obj, udata);
}
EXPORT_SYMBOL(ib_dealloc_pd_user);

/**
 * ib_dealloc_pd_async() - begin to destroy a kernel PD
 * @pd: the PD; not to be used again unless @done reports an error
 * @done: called when the PD was destroyed
 * @context: passed to @done
 *
 * Context: may sleep, but does not wait for the driver.
 * Return: 0 when @done will be called; -EBUSY while an object in the PD exists; -ENOMEM.
 */
int ib_dealloc_pd_async(struct ib_pd *pd, rdma_destroyed_fn done, void *context)
{
	return rdma_object_destroy_async(&pd->obj, done, context);
}
EXPORT_SYMBOL(ib_dealloc_pd_async);
