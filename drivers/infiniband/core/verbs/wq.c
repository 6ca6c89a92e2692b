// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work queues of their own.  Drivers allocate and free them.
 */
#include "verbs_priv.h"

static int wq_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_wq *wq = container_of(obj, struct ib_wq, obj);

	return wq->device->ops.destroy_wq(wq, udata);
}

static const struct rdma_object_ops wq_ops = {
	.destroy = wq_destroy,
};

/**
 * ib_create_wq() - make a work queue
 * @pd: PD
 * @init_attr: what it is to be
 *
 * Context: may sleep.
 * Return: the queue, to be destroyed with ib_destroy_wq_user(); -EOPNOTSUPP, or the
 * driver's error as an ERR_PTR.
 */
struct ib_wq *ib_create_wq(struct ib_pd *pd, struct ib_wq_init_attr *init_attr)
{
	const struct ib_device_ops *ops = &pd->device->ops;
	struct ib_wq *wq;
	int ret;

	if (!ops->create_wq)
		return ERR_PTR(-EOPNOTSUPP);
	wq = ops->create_wq(pd, init_attr, NULL);
	if (IS_ERR(wq))
		return wq;
	wq->device = pd->device;
	wq->pd = pd;
	wq->cq = init_attr->cq;
	wq->wq_type = init_attr->wq_type;
	wq->wq_context = init_attr->wq_context;
	wq->event_handler = init_attr->event_handler;
	wq->uobject = NULL;

	verbs_object_init_under(&wq->obj, RDMA_OBJECT_WQ, pd, &wq_ops);
	ret = rdma_object_link(&wq->obj, &pd->obj);
	if (!ret)
		ret = rdma_object_link(&wq->obj, &wq->cq->obj);
	if (ret) {
		rdma_object_abort(&wq->obj);
		WARN_ON_ONCE(ops->destroy_wq(wq, NULL));
		return ERR_PTR(ret);
	}
	rdma_object_publish(&wq->obj);
	return wq;
}
EXPORT_SYMBOL(ib_create_wq);

/**
 * ib_destroy_wq_user() - destroy a work queue
 * @wq: the queue; gone when 0 is returned
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while a table leads to it; the driver's error.
 */
int ib_destroy_wq_user(struct ib_wq *wq, struct ib_udata *udata)
{
	return rdma_object_destroy(&wq->obj, udata);
}
EXPORT_SYMBOL(ib_destroy_wq_user);
