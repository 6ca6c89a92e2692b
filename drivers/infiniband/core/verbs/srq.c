// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues as objects, for kernel and user consumers alike.
 */
#include <linux/slab.h>
#include "verbs_priv.h"

static int srq_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_srq *srq = container_of(obj, struct ib_srq, obj);

	return srq->device->ops.destroy_srq(srq, udata);
}

static void srq_release(struct rdma_object *obj)
{
	kfree(container_of(obj, struct ib_srq, obj));
}

static const struct rdma_object_ops srq_ops = {
	.destroy = srq_destroy,
	.release = srq_release,
};

/* An XRC SRQ has a CQ and belongs to an XRC domain; a tag-matching SRQ has a CQ. */
static int srq_link_parents(struct ib_srq *srq, const struct ib_srq_init_attr *attr)
{
	int ret = rdma_object_link(&srq->obj, &srq->pd->obj);

	if (!ret && ib_srq_has_cq(srq->srq_type)) {
		srq->ext.cq = attr->ext.cq;
		ret = rdma_object_link(&srq->obj, &srq->ext.cq->obj);
	}
	if (!ret && srq->srq_type == IB_SRQT_XRC) {
		srq->ext.xrc.xrcd = attr->ext.xrc.xrcd;
		if (srq->ext.xrc.xrcd)
			ret = rdma_object_link(&srq->obj, &srq->ext.xrc.xrcd->obj);
	}
	return ret;
}

/**
 * ib_create_srq_user() - make an SRQ
 * @pd: PD
 * @srq_init_attr: attributes; receives the actual sizes
 * @uobject: the user's handle, NULL for kernel consumers
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: the SRQ, to be destroyed with ib_destroy_srq_user(); -EOPNOTSUPP,
 * -ENOMEM, or the driver's error as an ERR_PTR.
 */
struct ib_srq *ib_create_srq_user(struct ib_pd *pd, struct ib_srq_init_attr *srq_init_attr,
				  struct ib_usrq_object *uobject, struct ib_udata *udata)
{
	struct ib_device *device = pd->device;
	struct ib_srq *srq;
	int ret;

	if (!device->ops.create_srq)
		return ERR_PTR(-EOPNOTSUPP);
	srq = rdma_zalloc_drv_obj(device, ib_srq);
	if (!srq)
		return ERR_PTR(-ENOMEM);
	srq->device = device;
	srq->pd = pd;
	srq->uobject = uobject;
	srq->srq_type = srq_init_attr->srq_type;
	srq->srq_context = srq_init_attr->srq_context;
	srq->event_handler = srq_init_attr->event_handler;
	verbs_object_init_under(&srq->obj, RDMA_OBJECT_SRQ, pd, &srq_ops);
	if (uobject)
		rdma_restrack_set_name(&srq->obj.res, NULL);
	ret = srq_link_parents(srq, srq_init_attr);
	if (!ret)
		ret = device->ops.create_srq(srq, srq_init_attr, udata);
	if (ret) {
		rdma_object_abort(&srq->obj);
		kfree(srq);
		return ERR_PTR(ret);
	}
	rdma_object_publish(&srq->obj);
	return srq;
}
EXPORT_SYMBOL(ib_create_srq_user);

/**
 * ib_modify_srq() - change attributes of a kernel SRQ
 * @srq: SRQ
 * @srq_attr: the attributes
 * @srq_attr_mask: which of them are valid, enum ib_srq_attr_mask
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the device cannot; the driver's error.
 */
int ib_modify_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr,
		  enum ib_srq_attr_mask srq_attr_mask)
{
	const struct ib_device_ops *ops = &srq->device->ops;

	if (!ops->modify_srq)
		return -EOPNOTSUPP;
	return ops->modify_srq(srq, srq_attr, srq_attr_mask, NULL);
}
EXPORT_SYMBOL(ib_modify_srq);

/**
 * ib_query_srq() - read attributes of an SRQ
 * @srq: SRQ
 * @srq_attr: receives the attributes
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the device cannot; the driver's error.
 */
int ib_query_srq(struct ib_srq *srq, struct ib_srq_attr *srq_attr)
{
	const struct ib_device_ops *ops = &srq->device->ops;

	return ops->query_srq ? ops->query_srq(srq, srq_attr) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_query_srq);

/**
 * ib_destroy_srq_user() - destroy an SRQ
 * @srq: the SRQ; freed if 0 is returned
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while a QP receives from it; the driver's error.
 */
int ib_destroy_srq_user(struct ib_srq *srq, struct ib_udata *udata)
{
	return rdma_object_destroy(&srq->obj, udata);
}
EXPORT_SYMBOL(ib_destroy_srq_user);
