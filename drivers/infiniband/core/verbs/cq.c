// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues as objects.  This file is the same for CQs that their consumers poll
 * and those that the core polls (cq_poll.c).
 */
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include "verbs_priv.h"

static int cq_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_cq *cq = container_of(obj, struct ib_cq, obj);

	return cq->device->ops.destroy_cq(cq, udata);
}

static void cq_release(struct rdma_object *obj)
{
	kfree(container_of(obj, struct ib_cq, obj));
}

static const struct rdma_object_ops cq_ops = {
	.destroy = cq_destroy,
	.release = cq_release,
};

/**
 * cq_create() - make a CQ
 * @device: device
 * @attr: size, completion vector and flags
 * @uobject: the user's handle, NULL for kernel consumers
 * @caller: module that makes a kernel CQ
 * @ops: how it is destroyed
 * @comp_handler: called on completion events, in interrupt context; may be NULL
 * @event_handler: called on asynchronous events; may be NULL
 * @cq_context: passed to both
 * @attrs: the user's request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: the CQ, to be destroyed with ib_destroy_cq_user(); -ENOMEM or the driver's error as an
 * ERR_PTR.
 */
struct ib_cq *cq_create(struct ib_device *device, const struct ib_cq_init_attr *attr,
			struct ib_ucq_object *uobject, const char *caller,
			const struct rdma_object_ops *ops, ib_comp_handler comp_handler,
			void (*event_handler)(struct ib_event *event, void *cq_context),
			void *cq_context, struct uverbs_attr_bundle *attrs)
{
	struct ib_cq *cq = rdma_zalloc_drv_obj(device, ib_cq);
	int ret;

	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->device = device;
	cq->uobject = uobject;
	cq->comp_handler = comp_handler;
	cq->event_handler = event_handler;
	cq->cq_context = cq_context;
	ret = verbs_object_init(&cq->obj, RDMA_OBJECT_CQ, device, verbs_cq_handle(uobject),
				caller, ops);
	if (ret)
		goto free;
	ret = device->ops.create_cq(cq, attr, attrs);
	if (ret)
		goto abort;
	rdma_object_publish(&cq->obj);
	return cq;

abort:
	rdma_object_abort(&cq->obj);
free:
	kfree(cq);
	return ERR_PTR(ret);
}

/**
 * ib_create_cq_user() - make a CQ for a user handle
 * @device: device
 * @attr: size, completion vector and flags
 * @uobject: the handle
 * @comp_handler: called on completion events, in interrupt context
 * @event_handler: called on asynchronous events
 * @cq_context: passed to both
 * @attrs: the request
 *
 * Context: may sleep.
 * Return: the CQ, to be destroyed with ib_destroy_cq_user(); else an ERR_PTR.
 */
struct ib_cq *ib_create_cq_user(struct ib_device *device, const struct ib_cq_init_attr *attr,
				struct ib_ucq_object *uobject, ib_comp_handler comp_handler,
				void (*event_handler)(struct ib_event *event, void *cq_context),
				void *cq_context, struct uverbs_attr_bundle *attrs)
{
	return cq_create(device, attr, uobject, NULL, &cq_ops, comp_handler, event_handler,
			 cq_context, attrs);
}
EXPORT_SYMBOL(ib_create_cq_user);

/**
 * __ib_create_cq() - make a CQ for a kernel consumer that polls it itself
 * @device: device
 * @comp_handler: called on completion events, in interrupt context; may be NULL
 * @event_handler: called on asynchronous events; may be NULL
 * @cq_context: passed to both
 * @cq_attr: size, completion vector and flags
 * @caller: the consumer's KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: the CQ, to be destroyed with ib_destroy_cq(); else an ERR_PTR.
 */
struct ib_cq *__ib_create_cq(struct ib_device *device, ib_comp_handler comp_handler,
			     void (*event_handler)(struct ib_event *event, void *cq_context),
			     void *cq_context, const struct ib_cq_init_attr *cq_attr,
			     const char *caller)
{
	return cq_create(device, cq_attr, NULL, caller, &cq_ops, comp_handler, event_handler,
			 cq_context, NULL);
}
EXPORT_SYMBOL(__ib_create_cq);

/**
 * ib_destroy_cq_user() - destroy a CQ
 * @cq: the CQ; freed if 0 is returned.  Never one of the shared pool.
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while a queue completes to it; the driver's error.
 */
int ib_destroy_cq_user(struct ib_cq *cq, struct ib_udata *udata)
{
	if (WARN_ON_ONCE(cq->shared))
		return -EOPNOTSUPP;
	return rdma_object_destroy(&cq->obj, udata);
}
EXPORT_SYMBOL(ib_destroy_cq_user);

/**
 * rdma_set_cq_moderation() - delay completion events
 * @cq: the CQ.  Never one of the shared pool.
 * @cq_count: number of completions after which an event is raised
 * @cq_period: time in microseconds after which an event is raised for fewer completions
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the device cannot; the driver's error.
 */
int rdma_set_cq_moderation(struct ib_cq *cq, u16 cq_count, u16 cq_period)
{
	const struct ib_device_ops *ops = &cq->device->ops;

	if (WARN_ON_ONCE(cq->shared) || !ops->modify_cq)
		return -EOPNOTSUPP;
	return ops->modify_cq(cq, cq_count, cq_period);
}
EXPORT_SYMBOL(rdma_set_cq_moderation);

/**
 * ib_resize_cq() - change the number of entries of a kernel CQ
 * @cq: the CQ.  Never one of the shared pool.
 * @cqe: minimum number of entries
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the device cannot; the driver's error.
 */
int ib_resize_cq(struct ib_cq *cq, int cqe)
{
	const struct ib_device_ops *ops = &cq->device->ops;

	if (WARN_ON_ONCE(cq->shared) || !ops->resize_cq)
		return -EOPNOTSUPP;
	return ops->resize_cq(cq, cqe, NULL);
}
EXPORT_SYMBOL(ib_resize_cq);

/**
 * ib_destroy_cq_async() - begin to destroy a kernel CQ
 * @cq: the CQ; not to be used again unless @done reports an error
 * @done: called when the CQ was destroyed and no handler of it runs any more
 * @context: passed to @done
 *
 * Context: may sleep, but does not wait for the driver.
 * Return: 0 when @done will be called; -EBUSY while a queue completes to it; -ENOMEM.
 */
int ib_destroy_cq_async(struct ib_cq *cq, rdma_destroyed_fn done, void *context)
{
	if (WARN_ON_ONCE(cq->shared))
		return -EOPNOTSUPP;
	return rdma_object_destroy_async(&cq->obj, done, context);
}
EXPORT_SYMBOL(ib_destroy_cq_async);
