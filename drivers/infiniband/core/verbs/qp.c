// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queue pairs as objects: creation, modification, query and destruction, for kernel
 * and user consumers alike.
 */
#include <linux/completion.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_ext.h>
#include "../security/security.h"
#include "verbs_priv.h"

#define PSN_MASK	0xffffff

/* The counter is unbound before the driver destroys the QP. */
static int qp_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_qp *qp = container_of(obj, struct ib_qp, obj);

	if (qp->counter)
		rdma_counter_unbind_qp(qp, true);
	return qp->device->ops.destroy_qp(qp, udata);
}

static void qp_release(struct rdma_object *obj)
{
	struct ib_qp *qp = container_of(obj, struct ib_qp, obj);

	mr_pool_end(qp);
	ib_qp_security_free(qp);
	if (qp->av_sgid_attr)
		rdma_put_gid_attr(qp->av_sgid_attr);
	if (qp->alt_path_sgid_attr)
		rdma_put_gid_attr(qp->alt_path_sgid_attr);
	kfree(qp);
}

static const struct rdma_object_ops qp_ops = {
	.destroy = qp_destroy,
	.release = qp_release,
};

/*
 * Drivers call this for events of a QP. ib_drain_qp() of a QP with an SRQ waits for the last-WQE
 * event.
 */
static void qp_event(struct ib_event *event, void *context)
{
	struct ib_qp *qp = event->element.qp;

	if (event->event == IB_EVENT_QP_LAST_WQE_REACHED)
		complete(&qp->srq_completion);
	if (qp->registered_event_handler)
		qp->registered_event_handler(event, qp->qp_context);
}

#define QP_PARENTS	6

static void qp_parents(const struct ib_qp *qp, struct rdma_object *parents[QP_PARENTS])
{
	parents[0] = qp->pd ? &qp->pd->obj : NULL;
	parents[1] = qp->send_cq ? &qp->send_cq->obj : NULL;
	parents[2] = qp->recv_cq ? &qp->recv_cq->obj : NULL;
	parents[3] = qp->srq ? &qp->srq->obj : NULL;
	parents[4] = qp->rwq_ind_tbl ? &qp->rwq_ind_tbl->obj : NULL;
	parents[5] = qp->xrcd ? &qp->xrcd->obj : NULL;
}

static int qp_link_parents(struct ib_qp *qp)
{
	struct rdma_object *parents[QP_PARENTS];
	int ret = 0;

	qp_parents(qp, parents);
	for (unsigned int i = 0; !ret && i < ARRAY_SIZE(parents); i++)
		ret = rdma_object_link(&qp->obj, parents[i]);
	return ret;
}

/**
 * ib_qp_usecnt_inc() - count a driver's internal QP as a user of its PD, CQs and other objects
 * @qp: QP that the core does not know; its objects must not be destroyed during the call
 *
 * Context: any.
 */
void ib_qp_usecnt_inc(struct ib_qp *qp)
{
	struct rdma_object *parents[QP_PARENTS];

	qp_parents(qp, parents);
	for (unsigned int i = 0; i < ARRAY_SIZE(parents); i++)
		if (parents[i])
			WARN_ON_ONCE(rdma_object_hold(parents[i]));
}
EXPORT_SYMBOL(ib_qp_usecnt_inc);

/**
 * ib_qp_usecnt_dec() - undo ib_qp_usecnt_inc()
 * @qp: the QP, with the same objects as in that call
 *
 * Context: any.
 */
void ib_qp_usecnt_dec(struct ib_qp *qp)
{
	struct rdma_object *parents[QP_PARENTS];

	qp_parents(qp, parents);
	for (unsigned int i = 0; i < ARRAY_SIZE(parents); i++)
		if (parents[i])
			rdma_object_unhold(parents[i]);
}
EXPORT_SYMBOL(ib_qp_usecnt_dec);

/**
 * rdma_qp_create() - make a QP for a user or for a kernel consumer
 * @device: device
 * @pd: PD, NULL for types that have none
 * @attr: attributes; receives the actual sizes
 * @udata: the driver's part of the request, NULL for kernel consumers
 * @uobject: the user's handle, NULL for kernel consumers
 * @caller: module that owns a QP without handle
 *
 * Context: may sleep.
 * Return: the QP, to be destroyed with ib_destroy_qp_user(); -EOPNOTSUPP, -ENOMEM, -EBUSY when an
 * object that it needs is being destroyed, or the error of the security module or driver as an
 * ERR_PTR.
 */
struct ib_qp *rdma_qp_create(struct ib_device *device, struct ib_pd *pd,
			     struct ib_qp_init_attr *attr, struct ib_udata *udata,
			     struct ib_uqp_object *uobject, const char *caller)
{
	struct ib_qp *qp;
	int ret;

	if (!device->ops.create_qp)
		return ERR_PTR(-EOPNOTSUPP);
	qp = rdma_zalloc_drv_obj_numa(device, ib_qp);
	if (!qp)
		return ERR_PTR(-ENOMEM);

	qp->device = device;
	qp->pd = pd;
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	qp->srq = attr->srq;
	qp->rwq_ind_tbl = attr->rwq_ind_tbl;
	qp->uobject = uobject;
	qp->real_qp = qp;
	qp->qp_type = attr->qp_type;
	qp->port = attr->port_num;
	qp->event_handler = qp_event;
	qp->registered_event_handler = attr->event_handler;
	qp->qp_context = attr->qp_context;
	if (attr->qp_type == IB_QPT_XRC_TGT) {
		qp->xrcd = attr->xrcd;
		qp->event_handler = qp_shared_event;
		qp->qp_context = qp;
	}
	spin_lock_init(&qp->mr_lock);
	INIT_LIST_HEAD(&qp->rdma_mrs);
	INIT_LIST_HEAD(&qp->sig_mrs);
	INIT_LIST_HEAD(&qp->pool_mrs);
	INIT_LIST_HEAD(&qp->open_list);
	INIT_LIST_HEAD(&qp->xrcd_list);
	init_completion(&qp->srq_completion);

	ret = verbs_object_init(&qp->obj, RDMA_OBJECT_QP, device, verbs_qp_handle(uobject),
				caller, &qp_ops);
	if (ret)
		goto free;
	ret = qp_link_parents(qp);
	if (!ret)
		ret = ib_qp_security_alloc(qp);
	if (ret)
		goto abort;
	ret = device->ops.create_qp(qp, attr, udata);
	if (ret)
		goto abort;
	/* Some drivers store CQs of their own in the QP. */
	qp->send_cq = attr->send_cq;
	qp->recv_cq = attr->recv_cq;
	rdma_object_publish(&qp->obj);
	return qp;

abort:
	rdma_object_abort(&qp->obj);
	ib_qp_security_free(qp);
free:
	kfree(qp);
	return ERR_PTR(ret);
}

/**
 * ib_create_qp_user() - make a QP for a user handle
 *
 * For an XRC target QP the user gets a shared handle, as do processes that open it later.
 *
 * @device: device
 * @pd: PD, NULL for types that have none
 * @attr: attributes; receives the actual sizes
 * @udata: the driver's part of the request
 * @uobject: the handle
 * @caller: module that owns a QP which outlives the handle
 *
 * Context: may sleep.
 * Return: the QP, to be destroyed with ib_destroy_qp_user(); else an ERR_PTR.
 */
struct ib_qp *ib_create_qp_user(struct ib_device *device, struct ib_pd *pd,
				struct ib_qp_init_attr *attr, struct ib_udata *udata,
				struct ib_uqp_object *uobject, const char *caller)
{
	struct ib_qp *real, *qp;

	if (attr->qp_type != IB_QPT_XRC_TGT)
		return rdma_qp_create(device, pd, attr, udata, uobject, caller);
	if (!attr->xrcd)
		return ERR_PTR(rdma_refuse(-EINVAL, "an XRC target needs a domain"));
	/* The target QP itself is not owned by the user, who gets one of its handles. */
	real = rdma_qp_create(device, NULL, attr, NULL, NULL, caller);
	if (IS_ERR(real))
		return real;
	qp = qp_share(real, attr);
	if (IS_ERR(qp)) {
		WARN_ON_ONCE(rdma_object_destroy(&real->obj, NULL));
		return qp;
	}
	qp->uobject = uobject;
	return qp;
}
EXPORT_SYMBOL(ib_create_qp_user);

/* As in Linux 6.12, the upper 8 bits of a PSN are ignored. */
static void qp_trim_psns(struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_RQ_PSN)
		attr->rq_psn &= PSN_MASK;
	if (mask & IB_QP_SQ_PSN)
		attr->sq_psn &= PSN_MASK;
}

static int qp_modify(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct ib_device *device = qp->device;
	struct qp_paths paths;
	int ret;

	attr->xmit_slave = NULL;
	ret = qp_paths_prepare(qp, attr, mask, udata, &paths);
	if (ret)
		return ret;
	if ((mask & (IB_QP_RQ_PSN | IB_QP_SQ_PSN)) &&
	    rdma_ib_or_roce(device, mask & IB_QP_PORT ? attr->port_num : qp->port))
		qp_trim_psns(attr, mask);
	/* If no counter can be bound, the QP works without one. */
	if ((mask & IB_QP_PORT) && (mask & IB_QP_STATE) && attr->qp_state == IB_QPS_INIT)
		rdma_counter_bind_qp_auto(qp, attr->port_num);
	ret = ib_qp_security_modify(qp, attr, mask, udata);
	if (!ret) {
		if (mask & IB_QP_PORT)
			qp->port = attr->port_num;
		qp_paths_commit(qp, attr, mask);
	}
	qp_paths_release(attr, mask, &paths);
	return ret;
}

/**
 * ib_modify_qp_with_udata() - change attributes of a user's QP
 * @qp: QP
 * @attr: the attributes; the driver may change some
 * @attr_mask: which of them are valid, enum ib_qp_attr_mask
 * @udata: the driver's part of the request
 *
 * RoCE addresses are resolved here.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for addresses that the device cannot reach; the security module's error for a
 * P_Key that it denies to a process that made or opened the QP; the driver's error.
 */
int ib_modify_qp_with_udata(struct ib_qp *qp, struct ib_qp_attr *attr, int attr_mask,
			    struct ib_udata *udata)
{
	return qp_modify(qp->real_qp, attr, attr_mask, udata);
}
EXPORT_SYMBOL(ib_modify_qp_with_udata);

/**
 * ib_modify_qp() - change attributes of a kernel QP
 * @qp: QP
 * @qp_attr: the attributes; the driver may change some
 * @qp_attr_mask: which of them are valid, enum ib_qp_attr_mask
 *
 * Context: may sleep; not from an event handler. A driver that resets a QP may wait until its
 * events have been delivered, which would come after the event whose handler waits.
 * Return: 0; -EINVAL for addresses that the device cannot reach; the driver's error.
 */
int ib_modify_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr, int qp_attr_mask)
{
	return qp_modify(qp->real_qp, qp_attr, qp_attr_mask, NULL);
}
EXPORT_SYMBOL(ib_modify_qp);

/**
 * ib_query_qp() - read attributes of a QP
 * @qp: QP
 * @qp_attr: receives the attributes; its address vectors own no references
 * @qp_attr_mask: those that must be filled in, enum ib_qp_attr_mask; the driver may fill in more
 * @qp_init_attr: receives the attributes that it was created with
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the driver cannot; the driver's error.
 */
int ib_query_qp(struct ib_qp *qp, struct ib_qp_attr *qp_attr, int qp_attr_mask,
		struct ib_qp_init_attr *qp_init_attr)
{
	const struct ib_device_ops *ops = &qp->device->ops;

	if (!ops->query_qp)
		return -EOPNOTSUPP;
	qp_attr->ah_attr.grh.sgid_attr = NULL;
	qp_attr->alt_ah_attr.grh.sgid_attr = NULL;
	return ops->query_qp(qp->real_qp, qp_attr, qp_attr_mask, qp_init_attr);
}
EXPORT_SYMBOL(ib_query_qp);

/**
 * ib_destroy_qp_user() - destroy a QP
 * @qp: the QP, or a handle of one that is shared; freed if 0 is returned
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while it is attached to a multicast group or flow; the
 * driver's error.
 */
int ib_destroy_qp_user(struct ib_qp *qp, struct ib_udata *udata)
{
	WARN_ON_ONCE(qp->mrs_used > 0);
	if (qp->real_qp != qp)
		return qp_unshare(qp);
	return rdma_object_destroy(&qp->obj, udata);
}
EXPORT_SYMBOL(ib_destroy_qp_user);

static int handle_end(void *what)
{
	return qp_unshare(what);
}

/**
 * ib_destroy_qp_async() - begin to destroy a kernel QP
 * @qp: the QP, or a handle of one that is shared; not to be used again unless @done reports
 *	an error
 * @done: called when the QP was destroyed and no event or completion of it comes any more
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
