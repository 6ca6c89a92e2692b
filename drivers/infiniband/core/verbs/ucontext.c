// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User contexts.  A context is allocated before it is opened in the driver, because the
 * request that opens it already refers to it, and is freed when none of its objects and
 * mappings is left.
 */
#include <linux/slab.h>
#include <rdma/rdma_reject.h>
#include "../object/object.h"
#include "verbs.h"

static int ucontext_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_ucontext *context = container_of(obj, struct ib_ucontext, obj);

	context->device->ops.dealloc_ucontext(context);
	return 0;
}

static const struct rdma_object_ops ucontext_ops = {
	.destroy = ucontext_destroy,
};

/**
 * rdma_ucontext_alloc() - allocate a user context and its owner
 * @device: device with user verbs
 * @ufile: open file of the context
 *
 * Context: may sleep.
 * Return: the context, to be opened or freed; -ENOMEM as an ERR_PTR.
 */
struct ib_ucontext *rdma_ucontext_alloc(struct ib_device *device, struct ib_uverbs_file *ufile)
{
	struct ib_ucontext *context = rdma_zalloc_drv_obj(device, ib_ucontext);
	struct rdma_owner *owner;

	if (!context)
		return ERR_PTR(-ENOMEM);
	owner = rdma_owner_user(device, context);
	if (!owner) {
		kfree(context);
		return ERR_PTR(-ENOMEM);
	}
	context->device = device;
	context->ufile = ufile;
	xa_init_flags(&context->mmap_xa, XA_FLAGS_ALLOC);
	rdma_object_init(&context->obj, RDMA_OBJECT_UCONTEXT, device, owner, &ucontext_ops);
	rdma_restrack_set_name(&context->obj.res, NULL);
	/* obj.owner holds a reference from here on. */
	rdma_owner_put(owner);
	return context;
}
EXPORT_SYMBOL(rdma_ucontext_alloc);

/**
 * rdma_ucontext_open() - charge a context to its cgroup and create it in the driver
 * @context: new context
 * @udata: the driver's part of the request
 *
 * Context: may sleep.
 * Return: 0; -EAGAIN when the cgroup's limit is reached; the driver's error.
 * After an error the context is to be freed.
 */
int rdma_ucontext_open(struct ib_ucontext *context, struct ib_udata *udata)
{
	struct ib_device *device = context->device;
	int ret;

	ret = ib_rdmacg_try_charge(&context->cg_obj, device, RDMACG_RESOURCE_HCA_HANDLE);
	if (ret)
		return rdma_refuse(ret, "the cgroup's limit of hca_handle is reached");
	ret = device->ops.alloc_ucontext(context, udata);
	if (ret) {
		ib_rdmacg_uncharge(&context->cg_obj, device, RDMACG_RESOURCE_HCA_HANDLE);
		return ret;
	}
	rdma_object_publish(&context->obj);
	return 0;
}
EXPORT_SYMBOL(rdma_ucontext_open);

/**
 * rdma_ucontext_close() - destroy a context in the driver and end its charge
 * @context: open context without objects
 *
 * The memory stays for mappings that still refer to it: rdma_ucontext_free().
 *
 * Context: may sleep.
 */
void rdma_ucontext_close(struct ib_ucontext *context)
{
	WARN_ON_ONCE(rdma_object_destroy(&context->obj, NULL));
	ib_rdmacg_uncharge(&context->cg_obj, context->device, RDMACG_RESOURCE_HCA_HANDLE);
}
EXPORT_SYMBOL(rdma_ucontext_close);

/**
 * rdma_ucontext_free() - free the memory of a context
 * @context: context that was never opened, or is closed
 *
 * Context: may sleep.
 */
void rdma_ucontext_free(struct ib_ucontext *context)
{
	if (context->obj.state == RDMA_OBJECT_NEW)
		rdma_object_abort(&context->obj);
	WARN_ON(rdma_xa_used(&context->mmap_xa));
	xa_destroy(&context->mmap_xa);
	kfree(context);
}
EXPORT_SYMBOL(rdma_ucontext_free);
