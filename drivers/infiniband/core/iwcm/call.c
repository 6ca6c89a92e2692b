// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The functions that consumers call (rdma/iw_cm.h).
 */
#include <kunit/static_stub.h>
#include <linux/cleanup.h>
#include <linux/err.h>
#include <rdma/rdma_reject.h>

#include "iwcm.h"

unsigned int iwcm_default_backlog = 256;

static int refuse_state(struct iwcm_id *cm, const char *call)
{
	return rdma_refuse(-EINVAL, "an iWARP connection that is %s cannot %s",
			   iwcm_state_name(READ_ONCE(cm->state)), call);
}

/**
 * iw_create_cm_id() - create an id
 * @device: an iWARP device, which must stay until the id is destroyed
 * @cm_handler: called for the id's events, in process context and one at a time; a return value
 *	other than 0 destroys the id, which must not be used then. For a CONNECT_REQUEST, which has
 *	an id of its own, it destroys that id
 * @context: the consumer's own; ids of connection requests inherit it
 *
 * Context: may sleep.
 * Return: the id, or an ERR_PTR: -EOPNOTSUPP if the device is no iWARP device, -ENOMEM.
 */
struct iw_cm_id *iw_create_cm_id(struct ib_device *device, iw_cm_handler cm_handler, void *context)
{
	const struct ib_device_ops *ops = &device->ops;
	struct iwcm_id *cm;

	KUNIT_STATIC_STUB_REDIRECT(iw_create_cm_id, device, cm_handler, context);
	if (!ops->iw_connect || !ops->iw_accept || !ops->iw_reject || !ops->iw_create_listen ||
	    !ops->iw_destroy_listen || !ops->iw_get_qp || !ops->iw_add_ref || !ops->iw_rem_ref)
		return ERR_PTR(rdma_refuse(-EOPNOTSUPP, "the device has no iWARP connections"));
	cm = iwcm_id_make(device, cm_handler, context, GFP_KERNEL);
	return cm ? &cm->id : ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL(iw_create_cm_id);

/**
 * iw_destroy_cm_id() - destroy an id
 * @cm_id: the id
 *
 * A connection is aborted, and an unanswered request is rejected. A listener stops listening, and
 * requests that it has not reported yet are rejected. If a connect or accept is in progress in the
 * driver, this waits until the driver has reported the result, and the event is handled. Afterwards
 * the handler is not called any more and is not running, unless it is the caller: a handler may
 * destroy its own id, and then has to return 0.
 *
 * Context: may sleep.
 */
void iw_destroy_cm_id(struct iw_cm_id *cm_id)
{
	struct iwcm_id *cm = to_iwcm_id(cm_id);

	KUNIT_STATIC_STUB_REDIRECT(iw_destroy_cm_id, cm_id);
	iwcm_destroy(cm, iwcm_inside(cm) ? IWCM_CALL_DESTROY_INSIDE : IWCM_CALL_DESTROY);
}
EXPORT_SYMBOL(iw_destroy_cm_id);

/* The driver has refused the operation; it reports no events then. */
static void failed(struct iwcm_id *cm)
{
	struct ib_qp *qp = NULL;

	iwcm_step(cm, IWCM_FAILED, &qp);
	iwcm_qp_put(cm, qp);
	iwcm_unmap(cm);
}

/**
 * iw_cm_listen() - wait for connection requests
 * @cm_id: an idle id with its local_addr set
 * @backlog: number of requests that may be queued for the handler; the driver refuses further ones.
 *           0 is /proc/sys/net/iw_cm/default_backlog
 *
 * Each request arrives as CONNECT_REQUEST with an id of its own.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the id is not idle or @backlog is negative; the driver's error, or one of
 * the port mapping.
 */
int iw_cm_listen(struct iw_cm_id *cm_id, int backlog)
{
	struct iwcm_id *cm = to_iwcm_id(cm_id);
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(iw_cm_listen, cm_id, backlog);
	if (backlog < 0)
		return rdma_refuse(-EINVAL, "backlog %d is negative", backlog);
	if (!iwcm_step(cm, IWCM_CALL_LISTEN, NULL))
		return refuse_state(cm, "listen");
	iwcm_id_get(cm);
	if (!backlog)
		backlog = READ_ONCE(iwcm_default_backlog);
	scoped_guard(spinlock_irqsave, &cm->lock)
		cm->backlog = backlog;
	ret = iwcm_map(cm, false);
	if (!ret)
		ret = cm_id->device->ops.iw_create_listen(cm_id, backlog);
	if (ret)
		failed(cm);
	else
		iwcm_step(cm, IWCM_LISTENS, NULL);
	iwcm_id_put(cm);
	return ret;
}
EXPORT_SYMBOL(iw_cm_listen);

/* Returns the QP of a new connection, with a reference, or NULL. */
static struct ib_qp *take_qp(struct iwcm_id *cm, const struct iw_cm_conn_param *param)
{
	struct ib_device *device = cm->id.device;
	struct ib_qp *qp = device->ops.iw_get_qp(device, param->qpn);

	if (qp)
		device->ops.iw_add_ref(qp);
	else
		rdma_refuse(-EINVAL, "the device has no QP %u", param->qpn);
	return qp;
}

/**
 * iw_cm_connect() - connect
 * @cm_id: an idle id with local_addr and remote_addr set
 * @iw_param: the QP, limits of outstanding RDMA READs, private data
 *
 * The event CONNECT_REPLY has the result.
 *
 * Context: may sleep; if addresses are mapped, up to 20 s.
 * Return: 0; -EINVAL if the id is not idle or the device has no such QP; the driver's error, or one
 * of the port mapping. After an error there is no event.
 */
int iw_cm_connect(struct iw_cm_id *cm_id, struct iw_cm_conn_param *iw_param)
{
	struct iwcm_id *cm = to_iwcm_id(cm_id);
	struct ib_qp *qp;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(iw_cm_connect, cm_id, iw_param);
	qp = take_qp(cm, iw_param);
	if (!qp)
		return -EINVAL;
	if (!iwcm_step(cm, IWCM_CALL_CONNECT, &qp)) {
		iwcm_qp_put(cm, qp);
		return refuse_state(cm, "connect");
	}
	iwcm_id_get(cm);
	ret = iwcm_map(cm, true);
	if (!ret)
		ret = cm_id->device->ops.iw_connect(cm_id, iw_param);
	if (ret)
		failed(cm);
	iwcm_id_put(cm);
	return ret;
}
EXPORT_SYMBOL(iw_cm_connect);

/**
 * iw_cm_accept() - accept a connection request
 * @cm_id: the request's id
 * @iw_param: the QP, limits of outstanding RDMA READs, private data
 *
 * ESTABLISHED follows.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the id is no request or the device has no such QP, after which the request
 * is still unanswered; or the driver's error, after which there is no event and the id is idle.
 */
int iw_cm_accept(struct iw_cm_id *cm_id, struct iw_cm_conn_param *iw_param)
{
	struct iwcm_id *cm = to_iwcm_id(cm_id);
	struct ib_qp *qp;
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(iw_cm_accept, cm_id, iw_param);
	qp = take_qp(cm, iw_param);
	if (!qp)
		return -EINVAL;
	if (!iwcm_step(cm, IWCM_CALL_ACCEPT, &qp)) {
		iwcm_qp_put(cm, qp);
		return refuse_state(cm, "accept");
	}
	iwcm_id_get(cm);
	ret = cm_id->device->ops.iw_accept(cm_id, iw_param);
	if (ret)
		failed(cm);
	iwcm_id_put(cm);
	return ret;
}
EXPORT_SYMBOL(iw_cm_accept);

/**
 * iw_cm_reject() - reject a connection request
 * @cm_id: the request's id, which is idle afterwards
 * @private_data: data for the peer
 * @private_data_len: bytes of it
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the id is no request; or the driver's error.
 */
int iw_cm_reject(struct iw_cm_id *cm_id, const void *private_data, u8 private_data_len)
{
	struct iwcm_id *cm = to_iwcm_id(cm_id);
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(iw_cm_reject, cm_id, private_data, private_data_len);
	if (!iwcm_step(cm, IWCM_CALL_REJECT, NULL))
		return refuse_state(cm, "reject");
	iwcm_id_get(cm);
	ret = cm_id->device->ops.iw_reject(cm_id, private_data, private_data_len);
	iwcm_step(cm, IWCM_REJECTED, NULL);
	iwcm_id_put(cm);
	return ret;
}
EXPORT_SYMBOL(iw_cm_reject);

/**
 * iw_cm_disconnect() - end a connection
 * @cm_id: the connection
 * @abrupt: 0 to send posted requests first (SQD); else the QP goes to the error state
 *
 * CLOSE follows. Waits while the driver has not reported the result of a connect or accept. Nothing
 * is done, and no event follows, if the connection is closing or has ended, or for a request that
 * was not accepted.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a listener, or in the handler while the driver has not reported such a
 * result.
 */
int iw_cm_disconnect(struct iw_cm_id *cm_id, int abrupt)
{
	struct ib_qp_attr attr = { .qp_state = abrupt ? IB_QPS_ERR : IB_QPS_SQD };
	struct iwcm_id *cm = to_iwcm_id(cm_id);
	struct ib_qp *qp = NULL;

	KUNIT_STATIC_STUB_REDIRECT(iw_cm_disconnect, cm_id, abrupt);
	if (!iwcm_step(cm, IWCM_CALL_DISCONNECT, &qp))
		return refuse_state(cm, "disconnect");
	if (!qp)
		return 0;
	/* When both sides disconnect, the QP may have left RTS. */
	ib_modify_qp(qp, &attr, IB_QP_STATE);
	iwcm_qp_put(cm, qp);
	return 0;
}
EXPORT_SYMBOL(iw_cm_disconnect);

/**
 * iw_cm_init_qp_attr() - get the attributes of a QP that is being connected
 * @cm_id: an id that is no listener and is not closing
 * @qp_attr: qp_state has the next state, INIT, RTR or RTS; gets the attributes
 * @qp_attr_mask: gets the attributes' mask, 0 if the driver sets the attributes itself
 *
 * Context: any.
 * Return: 0, or -EINVAL for another id or state.
 */
int iw_cm_init_qp_attr(struct iw_cm_id *cm_id, struct ib_qp_attr *qp_attr, int *qp_attr_mask)
{
	struct iwcm_id *cm = to_iwcm_id(cm_id);
	bool rts = qp_attr->qp_state == IB_QPS_RTS;

	KUNIT_STATIC_STUB_REDIRECT(iw_cm_init_qp_attr, cm_id, qp_attr, qp_attr_mask);
	if (!rts && qp_attr->qp_state != IB_QPS_INIT && qp_attr->qp_state != IB_QPS_RTR)
		return rdma_refuse(-EINVAL, "QP state %d has no attributes", qp_attr->qp_state);
	if (!iwcm_step_of(READ_ONCE(cm->state), IWCM_CALL_INIT_ATTR).action)
		return refuse_state(cm, "prepare a QP");
	*qp_attr_mask = 0;
	if (!rts) {
		*qp_attr_mask = IB_QP_STATE | IB_QP_ACCESS_FLAGS;
		qp_attr->qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ;
	}
	return 0;
}
EXPORT_SYMBOL(iw_cm_init_qp_attr);

/**
 * iwcm_reject_msg() - describe why a connection was refused
 * @reason: status of a CONNECT_REPLY, a negative errno
 *
 * Return: a constant text.
 */
const char *__attribute_const__ iwcm_reject_msg(int reason)
{
	switch (reason) {
	case -ECONNRESET:
		return "reset by remote host";
	case -ECONNREFUSED:
		return "refused by remote application";
	case -ETIMEDOUT:
		return "setup timeout";
	default:
		return "unrecognized reason";
	}
}
EXPORT_SYMBOL(iwcm_reject_msg);
