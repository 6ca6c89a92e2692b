// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Asynchronous destruction and reaping for kernel consumers: the calls of
 * rdma_ext.h over the object base.
 */
#include <rdma/rdma_ext.h>
#include "verbs_priv.h"

/**
 * ib_dealloc_pd_async() - begin to destroy a kernel PD
 * @pd: the PD; not to be used again unless @done reports an error
 * @done: told the end
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

/**
 * ib_destroy_cq_async() - begin to destroy a kernel CQ
 * @cq: the CQ; not to be used again unless @done reports an error
 * @done: told the end: no handler of the CQ runs any more
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

static int handle_end(void *what)
{
	return qp_unshare(what);
}

/**
 * ib_destroy_qp_async() - begin to destroy a kernel QP
 * @qp: the QP, or a handle of one that is shared; not to be used again unless @done reports
 *	an error
 * @done: told the end: no event or completion of the QP comes any more
 * @context: passed to @done
 *
 * Context: may sleep, but does not wait for the driver.
 * Return: 0 when @done will be called; -EBUSY while something is attached to it; -ENOMEM.
 */
int ib_destroy_qp_async(struct ib_qp *qp, rdma_destroyed_fn done, void *context)
{
	if (qp->real_qp != qp)
		return rdma_end_async(qp->device, handle_end, qp, done, context);
	return rdma_object_destroy_async(&qp->obj, done, context);
}
EXPORT_SYMBOL(ib_destroy_qp_async);

/**
 * ib_dereg_mr_async() - begin to deregister a kernel MR
 * @mr: the MR; not to be used again unless @done reports an error
 * @done: told the end: the device uses the memory no more
 * @context: passed to @done
 *
 * Context: may sleep, but does not wait for the driver.
 * Return: 0 when @done will be called; -EBUSY while something is bound to it; -ENOMEM.
 */
int ib_dereg_mr_async(struct ib_mr *mr, rdma_destroyed_fn done, void *context)
{
	return rdma_object_destroy_async(&mr->obj, done, context);
}
EXPORT_SYMBOL(ib_dereg_mr_async);

/**
 * __ib_reap_objects() - see ib_reap_objects()
 * @device: device
 * @caller: the consumer's KBUILD_MODNAME
 *
 * Context: may sleep.
 * Return: number of objects that could not be destroyed.
 */
unsigned int __ib_reap_objects(struct ib_device *device, const char *caller)
{
	struct rdma_owner *owner = rdma_owner_find(device, caller);
	unsigned int left;

	if (!owner)
		return 0;
	left = rdma_owner_reap(owner);
	rdma_owner_put(owner);
	return left;
}
EXPORT_SYMBOL(__ib_reap_objects);
