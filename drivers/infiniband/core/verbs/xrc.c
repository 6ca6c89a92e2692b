// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC domains, and the target QPs that their users share.
 *
 * The users of a target QP have handles of it: struct ib_qp that consist of a pointer to the real
 * QP, an event handler and its context.  Each handle keeps the real QP from being destroyed;
 * destroying the last handle destroys it.  Until then it is in its domain's table of target QPs,
 * and can be opened by its number.
 */
#include <linux/slab.h>
#include "../security/security.h"
#include "verbs_priv.h"

static int xrcd_destroy(struct rdma_object *obj, struct ib_udata *udata)
{
	struct ib_xrcd *xrcd = container_of(obj, struct ib_xrcd, obj);

	return xrcd->device->ops.dealloc_xrcd(xrcd, udata);
}

static void xrcd_release(struct rdma_object *obj)
{
	struct ib_xrcd *xrcd = container_of(obj, struct ib_xrcd, obj);

	WARN_ON_ONCE(rdma_xa_used(&xrcd->tgt_qps));
	xa_destroy(&xrcd->tgt_qps);
	kfree(xrcd);
}

static const struct rdma_object_ops xrcd_ops = {
	.destroy = xrcd_destroy,
	.release = xrcd_release,
};

/**
 * ib_alloc_xrcd_user() - make an XRC domain
 * @device: device
 * @inode: file by which processes share it, or NULL; the caller holds the reference
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * The domain belongs to no single process.
 *
 * Context: may sleep.
 * Return: the domain, to be destroyed with ib_dealloc_xrcd_user(); -EOPNOTSUPP,
 * -ENOMEM, or the driver's error as an ERR_PTR.
 */
struct ib_xrcd *ib_alloc_xrcd_user(struct ib_device *device, struct inode *inode,
				   struct ib_udata *udata)
{
	struct ib_xrcd *xrcd;
	int ret;

	if (!device->ops.alloc_xrcd)
		return ERR_PTR(rdma_refuse(-EOPNOTSUPP, "XRC domains: not supported by %s",
					   device->name));
	xrcd = rdma_zalloc_drv_obj(device, ib_xrcd);
	if (!xrcd)
		return ERR_PTR(-ENOMEM);
	xrcd->device = device;
	xrcd->inode = inode;
	init_rwsem(&xrcd->tgt_qps_rwsem);
	xa_init(&xrcd->tgt_qps);
	spin_lock_init(&xrcd->open_lock);
	rdma_object_init(&xrcd->obj, RDMA_OBJECT_XRCD, device, NULL, &xrcd_ops);
	ret = device->ops.alloc_xrcd(xrcd, udata);
	if (ret) {
		rdma_object_abort(&xrcd->obj);
		kfree(xrcd);
		return ERR_PTR(ret);
	}
	rdma_object_publish(&xrcd->obj);
	return xrcd;
}
EXPORT_SYMBOL(ib_alloc_xrcd_user);

/**
 * ib_dealloc_xrcd_user() - destroy an XRC domain
 * @xrcd: the domain; freed if 0 is returned
 * @udata: the driver's part of the request, NULL for kernel consumers
 *
 * Context: may sleep.
 * Return: 0; -EBUSY while it has SRQs or target QPs; the driver's error.
 */
int ib_dealloc_xrcd_user(struct ib_xrcd *xrcd, struct ib_udata *udata)
{
	return rdma_object_destroy(&xrcd->obj, udata);
}
EXPORT_SYMBOL(ib_dealloc_xrcd_user);

/**
 * qp_shared_event() - report a target QP's event to all who have opened it
 * @event: the event; its element is set to the handle of each opener in turn
 * @context: unused
 *
 * Context: any.
 */
void qp_shared_event(struct ib_event *event, void *context)
{
	struct ib_qp *real = event->element.qp, *qp;
	unsigned long flags;

	spin_lock_irqsave(&real->xrcd->open_lock, flags);
	list_for_each_entry(qp, &real->open_list, open_list) {
		event->element.qp = qp;
		if (qp->event_handler)
			qp->event_handler(event, qp->qp_context);
	}
	spin_unlock_irqrestore(&real->xrcd->open_lock, flags);
	event->element.qp = real;
}

/* From this call on the handle gets events. */
static void handle_announce(struct ib_qp *qp)
{
	spin_lock_irq(&qp->xrcd->open_lock);
	list_add_tail(&qp->open_list, &qp->real_qp->open_list);
	spin_unlock_irq(&qp->xrcd->open_lock);
}

static struct ib_qp *handle_open(struct ib_qp *real,
				 void (*handler)(struct ib_event *event, void *context),
				 void *context)
{
	struct ib_qp *qp = kzalloc(sizeof(*qp), GFP_KERNEL);
	int ret;

	if (!qp)
		return ERR_PTR(-ENOMEM);
	ret = rdma_object_hold(&real->obj);
	if (ret)
		goto free;
	qp->device = real->device;
	qp->real_qp = real;
	qp->qp_type = real->qp_type;
	qp->qp_num = real->qp_num;
	qp->xrcd = real->xrcd;
	qp->event_handler = handler;
	qp->qp_context = context;
	ret = ib_qp_security_open(qp);
	if (ret)
		goto unhold;
	handle_announce(qp);
	return qp;

unhold:
	rdma_object_unhold(&real->obj);
free:
	kfree(qp);
	return ERR_PTR(ret);
}

/* After this call the handle gets no more events. */
static void handle_silence(struct ib_qp *qp)
{
	spin_lock_irq(&qp->xrcd->open_lock);
	list_del(&qp->open_list);
	spin_unlock_irq(&qp->xrcd->open_lock);
}

/**
 * qp_share() - make the first handle of a new target QP and add the QP to its domain's table
 * @real: the QP; the caller destroys it on error
 * @attr: the attributes that it was created with
 *
 * Context: may sleep.
 * Return: the handle or an ERR_PTR.
 */
struct ib_qp *qp_share(struct ib_qp *real, const struct ib_qp_init_attr *attr)
{
	struct ib_xrcd *xrcd = real->xrcd;
	struct ib_qp *qp = handle_open(real, attr->event_handler, attr->qp_context);
	int ret;

	if (IS_ERR(qp))
		return qp;
	down_write(&xrcd->tgt_qps_rwsem);
	ret = xa_insert(&xrcd->tgt_qps, real->qp_num, real, GFP_KERNEL);
	up_write(&xrcd->tgt_qps_rwsem);
	if (!ret)
		return qp;
	ib_close_qp(qp);
	return ERR_PTR(ret);
}

/**
 * ib_open_qp() - open an existing target QP
 * @xrcd: its domain
 * @qp_open_attr: its number and type, and the handler of its events
 *
 * Context: may sleep.
 * Return: a handle, to be destroyed with ib_destroy_qp_user(), which destroys
 * the QP with its last handle; -EINVAL when the domain has no such QP or the type
 * is another, -ENOMEM, or the security module's error for a P_Key that the QP uses, as
 * an ERR_PTR.
 */
struct ib_qp *ib_open_qp(struct ib_xrcd *xrcd, struct ib_qp_open_attr *qp_open_attr)
{
	struct ib_qp *real, *qp;

	if (qp_open_attr->qp_type != IB_QPT_XRC_TGT)
		return ERR_PTR(rdma_refuse(-EINVAL, "qp_type %d: only XRC targets are shared",
					   qp_open_attr->qp_type));
	down_read(&xrcd->tgt_qps_rwsem);
	real = xa_load(&xrcd->tgt_qps, qp_open_attr->qp_num);
	qp = real ? handle_open(real, qp_open_attr->event_handler, qp_open_attr->qp_context) :
		    ERR_PTR(rdma_refuse(-EINVAL, "qp_num %u is no target of this domain",
					qp_open_attr->qp_num));
	up_read(&xrcd->tgt_qps_rwsem);
	return qp;
}
EXPORT_SYMBOL(ib_open_qp);

/**
 * ib_close_qp() - close a handle of a target QP, but never destroy the QP
 * @qp: handle from ib_open_qp()
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if @qp is a QP and no handle.
 */
int ib_close_qp(struct ib_qp *qp)
{
	struct ib_qp *real = qp->real_qp;

	if (real == qp)
		return rdma_refuse(-EINVAL, "qp_num %u is no handle of a shared QP", qp->qp_num);
	handle_silence(qp);
	ib_qp_security_free(qp);
	rdma_object_unhold(&real->obj);
	kfree(qp);
	return 0;
}
EXPORT_SYMBOL(ib_close_qp);

/**
 * qp_unshare() - close a handle, and destroy the QP with its last handle
 * @qp: handle; freed if 0 is returned
 *
 * Context: may sleep.
 * Return: 0, or the driver's error for the QP, whose handle stays.
 */
int qp_unshare(struct ib_qp *qp)
{
	struct ib_qp *real = qp->real_qp;
	struct ib_xrcd *xrcd = real->xrcd;
	u32 qp_num = real->qp_num;
	int ret = 0;

	/* The semaphore keeps the QP from being opened, the reference keeps the domain. */
	WARN_ON_ONCE(rdma_object_hold(&xrcd->obj));
	down_write(&xrcd->tgt_qps_rwsem);
	if (atomic_read(&real->obj.usecnt) > 1) {
		ib_close_qp(qp);
		goto unlock;
	}
	handle_silence(qp);
	ib_qp_security_unlink(qp);
	rdma_object_unhold(&real->obj);
	ret = rdma_object_destroy(&real->obj, NULL);
	if (!ret) {
		xa_erase(&xrcd->tgt_qps, qp_num);
		ib_qp_security_free(qp);
		kfree(qp);
	} else {
		WARN_ON_ONCE(rdma_object_hold(&real->obj));
		ib_qp_security_relink(qp);
		handle_announce(qp);
	}
unlock:
	up_write(&xrcd->tgt_qps_rwsem);
	rdma_object_unhold(&xrcd->obj);
	return ret;
}
