// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The consumer's calls about connections, the same for all transports (struct cma_transport).
 */
#include <linux/cleanup.h>
#include <linux/lockdep.h>

#include "connect.h"

/* The QP of an id without one is the consumer's own, and known by its number. */
static void note_qp(struct cma_id *id, const struct rdma_conn_param *param)
{
	if (id->id.qp || !param)
		return;
	id->qp_num = param->qp_num;
	id->srq = param->srq;
}

/* An id that has never connected has nothing to reject, disconnect or notify. */
static const struct cma_transport *connected_by(struct cma_id *id)
{
	return READ_ONCE(id->cm_id.ib) ? cma_transport(id) : NULL;
}

/**
 * rdma_connect_locked() - connect, with the handler lock held
 * @rdma_id: id with a resolved route
 * @conn_param: parameters; retry counts above 7 mean 7
 *
 * A datagram id asks for the peer's QP and Q_Key; others send a connection request. Ends with
 * ESTABLISHED (for an id without a QP CONNECT_RESPONSE, after which rdma_accept() is called), or
 * with REJECTED, UNREACHABLE or CONNECT_ERROR.
 *
 * Context: may sleep; from the id's handler, or under rdma_lock_handler().
 * Return: 0 if an event will follow; -EINVAL in another state or for too many private data; -ENOSYS
 * for a port without a connection manager; -ENOMEM; errors of the QP's change of state and of the
 * transport.
 */
int rdma_connect_locked(struct rdma_cm_id *rdma_id, struct rdma_conn_param *conn_param)
{
	struct cma_id *id = to_cma_id(rdma_id);
	const struct cma_transport *transport;
	int ret;

	lockdep_assert_held(&id->handler_lock);
	if (!cma_step(id, CMA_CONNECT))
		return rdma_refuse(-EINVAL, "no connecting in state %d", cma_state(id));
	note_qp(id, conn_param);
	transport = cma_transport(id);
	ret = transport ? transport->connect(id, conn_param) : -ENOSYS;
	if (ret)
		cma_step(id, CMA_CONNECT_FAILED);
	return ret;
}
EXPORT_SYMBOL(rdma_connect_locked);

/**
 * rdma_connect() - connect, or resolve a datagram service
 * @rdma_id: id with a resolved route
 * @conn_param: parameters; retry counts above 7 mean 7
 *
 * Context: may sleep; not from the id's handler, where rdma_connect_locked() does the same.
 * Return: see rdma_connect_locked().
 */
int rdma_connect(struct rdma_cm_id *rdma_id, struct rdma_conn_param *conn_param)
{
	guard(mutex)(&to_cma_id(rdma_id)->handler_lock);
	return rdma_connect_locked(rdma_id, conn_param);
}
EXPORT_SYMBOL(rdma_connect);

/**
 * rdma_connect_ece() - connect with enhanced connection establishment
 * @rdma_id: id with a resolved route
 * @conn_param: parameters
 * @ece: data that the request carries
 *
 * Context: may sleep; not from the id's handler.
 * Return: see rdma_connect_locked().
 */
int rdma_connect_ece(struct rdma_cm_id *rdma_id, struct rdma_conn_param *conn_param,
		     struct rdma_ucm_ece *ece)
{
	struct cma_id *id = to_cma_id(rdma_id);

	guard(mutex)(&id->handler_lock);
	id->ece = *ece;
	return rdma_connect_locked(rdma_id, conn_param);
}
EXPORT_SYMBOL(rdma_connect_ece);

/**
 * rdma_accept() - accept a connection request, or a response
 * @rdma_id: id of a CONNECT_REQUEST event; or one without a QP of its own after CONNECT_RESPONSE
 * @conn_param: parameters for a request; NULL for a response
 *
 * A QP of the id is ready to send on return. After an error it is in the error state, and the peer
 * has been rejected.
 *
 * Context: may sleep; from the id's handler, or under rdma_lock_handler().
 * Return: 0; -EINVAL in another state or for too many private data; -ENOSYS for a port without a
 * connection manager; errors of the QP's change of state and of the transport.
 */
int rdma_accept(struct rdma_cm_id *rdma_id, struct rdma_conn_param *conn_param)
{
	struct cma_id *id = to_cma_id(rdma_id);
	const struct cma_transport *transport;
	int ret = -EINVAL;

	lockdep_assert_held(&id->handler_lock);
	if (cma_state(id) != RDMA_CM_CONNECT || !id->cm_id.ib)
		return rdma_refuse(-EINVAL, "nothing to accept in state %d", cma_state(id));
	note_qp(id, conn_param);
	transport = cma_transport(id);
	if (!transport)
		return -ENOSYS;
	if (conn_param)
		ret = transport->accept(id, conn_param);
	else if (transport->confirm)
		ret = transport->confirm(id);
	if (ret) {
		cma_qp_to_err(id);
		rdma_reject(rdma_id, NULL, 0, IB_CM_REJ_CONSUMER_DEFINED);
	}
	return ret;
}
EXPORT_SYMBOL(rdma_accept);

/**
 * rdma_accept_ece() - accept with enhanced connection establishment
 * @rdma_id: see rdma_accept()
 * @conn_param: see rdma_accept()
 * @ece: data that the reply carries
 *
 * Context: see rdma_accept().
 * Return: see rdma_accept().
 */
int rdma_accept_ece(struct rdma_cm_id *rdma_id, struct rdma_conn_param *conn_param,
		    struct rdma_ucm_ece *ece)
{
	struct cma_id *id = to_cma_id(rdma_id);

	lockdep_assert_held(&id->handler_lock);
	id->ece = *ece;
	return rdma_accept(rdma_id, conn_param);
}
EXPORT_SYMBOL(rdma_accept_ece);

/**
 * rdma_reject() - turn a connection request or a response down
 * @rdma_id: id of the event
 * @private_data: for the peer, or NULL
 * @private_data_len: bytes
 * @reason: enum ib_cm_rej_reason; on InfiniBand and RoCE connections only
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if there is nothing to reject or for too many private data; -ENOSYS for a port
 * without a connection manager; errors of the transport.
 */
int rdma_reject(struct rdma_cm_id *rdma_id, const void *private_data, u8 private_data_len,
		u8 reason)
{
	struct cma_id *id = to_cma_id(rdma_id);
	const struct cma_transport *transport = connected_by(id);

	if (!transport)
		return rdma_refuse(-EINVAL, "nothing to reject in state %d", cma_state(id));
	return transport->reject(id, private_data, private_data_len, reason);
}
EXPORT_SYMBOL(rdma_reject);

/**
 * rdma_disconnect() - end a connection, or agree to the peer's doing so
 * @rdma_id: id
 *
 * The id's QP goes to the error state. DISCONNECTED follows when the peer has answered or cannot
 * be reached, unless it has been reported before.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the id has not been connected; errors of the QP's change of state.
 */
int rdma_disconnect(struct rdma_cm_id *rdma_id)
{
	struct cma_id *id = to_cma_id(rdma_id);
	const struct cma_transport *transport = connected_by(id);

	if (!transport || !transport->disconnect)
		return rdma_refuse(-EINVAL, "nothing to disconnect in state %d", cma_state(id));
	return transport->disconnect(id);
}
EXPORT_SYMBOL(rdma_disconnect);

/**
 * rdma_notify() - report an event of the id's QP
 * @rdma_id: id
 * @event: IB_EVENT_COMM_EST: data have arrived before the peer's last message; IB_EVENT_PATH_MIG
 *
 * Context: any in which ib_cm_notify() may be called.
 * Return: 0, also where the event means nothing; -EINVAL if the id has not been connected; errors
 * of ib_cm_notify().
 */
int rdma_notify(struct rdma_cm_id *rdma_id, enum ib_event_type event)
{
	struct ib_cm_id *cm_id = READ_ONCE(to_cma_id(rdma_id)->cm_id.ib);

	if (!cm_id)
		return rdma_refuse(-EINVAL, "no connection that event %d is of", event);
	if (rdma_id->device->node_type != RDMA_NODE_IB_CA)
		return 0;
	return ib_cm_notify(cm_id, event);
}
EXPORT_SYMBOL(rdma_notify);
