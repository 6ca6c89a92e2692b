// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Paths, as records and as messages have them; alternate paths that the peer loads.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <rdma/rdma_reject.h>

#include "cm.h"
#include "timing.h"

/**
 * cm_path_of_rec() - convert a path to the form that messages have
 * @rec: path from here
 * @path: receives it
 * @ack_delay: ACK delay of the own device, an IBA time
 */
void cm_path_of_rec(struct sa_path_rec *rec, struct cm_path *path, u8 ack_delay)
{
	/* LIDs mean nothing beyond the subnet. */
	bool subnet_local = rec->hop_limit <= 1;

	*path = (struct cm_path) {
		.local_gid = rec->sgid,
		.remote_gid = rec->dgid,
		.local_lid = be16_to_cpu(IB_LID_PERMISSIVE),
		.remote_lid = be16_to_cpu(IB_LID_PERMISSIVE),
		.flow_label = be32_to_cpu(rec->flow_label) & 0xfffff,
		.rate = rec->rate & 0x3f,
		.traffic_class = rec->traffic_class,
		.hop_limit = rec->hop_limit,
		.sl = rec->sl & 0xf,
		.subnet_local = subnet_local,
		.ack_timeout = cm_ack_timeout(ack_delay, rec->packet_life_time),
	};
	if (subnet_local) {
		path->local_lid = be32_to_cpu(sa_path_get_slid(rec));
		path->remote_lid = be32_to_cpu(sa_path_get_dlid(rec));
	}
}
EXPORT_SYMBOL_IF_KUNIT(cm_path_of_rec);

/**
 * cm_rec_of_path() - convert a path in a message to a path from this side
 * @path: path to here
 * @rec: receives it; its rec_type says which kind it is. P_Key, MTU and service are the caller's to
 *	add.
 */
void cm_rec_of_path(const struct cm_path *path, struct sa_path_rec *rec)
{
	*rec = (struct sa_path_rec) {
		.rec_type = rec->rec_type,
		.sgid = path->remote_gid,
		.dgid = path->local_gid,
		.flow_label = cpu_to_be32(path->flow_label),
		.hop_limit = path->hop_limit,
		.traffic_class = path->traffic_class,
		.reversible = 1,
		.sl = path->sl,
		.mtu_selector = IB_SA_EQ,
		.rate_selector = IB_SA_EQ,
		.rate = path->rate,
		.packet_life_time_selector = IB_SA_EQ,
		.packet_life_time = cm_packet_life(path->ack_timeout),
	};
	sa_path_set_slid(rec, path->remote_lid);
	sa_path_set_dlid(rec, path->local_lid);
}

/* The id's lock is held. This side cannot use the path, whatever its consumer thinks of it. */
static void refuse_path(struct cm_id *id, const struct cm_msg *lap, int err)
{
	static const struct cm_rule rule = { .send = CM_MSG_APR };
	struct cm_msg msg = {
		.tid = lap->tid,
		.apr.status = err == -EINVAL ? IB_CM_APR_INVALID_GID : IB_CM_APR_REJECT,
	};

	cm_say(id, &rule, &msg);
}

/*
 * The id's lock is held. Takes the path of @routes over, or leaves it; @err says why there is none.
 */
static void load(struct cm_id *id, const struct cm_msg *msg, struct cm_event **event,
		 struct cm_routes *routes, int err)
{
	struct cm_rule rule = cm_id_rule(id, CM_IN_LAP);

	if (rule.verdict == CM_REFUSE || msg->lap.remote_qpn != id->local_qpn)
		return;
	if (rule.verdict == CM_DUPLICATE) {
		if (id->route)
			cm_count(id->route->port, CM_COUNT_DUPLICATES, CM_MSG_LAP, 1);
		cm_repeat(id, &rule, msg);
		return;
	}
	if (id->device->gone)
		return;
	if (err) {
		refuse_path(id, msg, err);
		return;
	}
	if (rule.todo & CM_DO_LOAD)
		cm_routes_take_alternate(id, routes);
	id->tid = msg->tid;
	cm_happens(id, CM_IN_LAP, *event);
	*event = NULL;
}

/**
 * cm_recv_lap() - handle a proposal of an alternate path
 * @port: where that has arrived
 * @msg: its contents
 * @wc: the datagram, which is freed
 *
 * A path that this side cannot use is refused. Without memory there is no answer, and the peer asks
 * again.
 */
void cm_recv_lap(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc)
{
	struct cm_id *id = cm_id_find(msg->remote_id);
	struct cm_routes routes = {};
	struct cm_event *event;
	int ret;

	/*
	 * RoCE has no alternate paths. An id of another device is not the peer's, and its device
	 * may be going: the message holds only the one at which it has arrived.
	 */
	if (!id || be32_to_cpu(id->ib.remote_id) != msg->local_id || id->device != port->device ||
	    rdma_protocol_roce(port->device->ib, port->num)) {
		if (!id)
			cm_recv_orphan(port, msg, wc);
		goto out;
	}
	event = cm_event_new(id->device, GFP_KERNEL);
	if (!event)
		goto out;
	event->path[0].rec_type = SA_PATH_REC_TYPE_IB;
	cm_rec_of_path(&msg->lap.alternate, &event->path[0]);
	event->path[0].pkey = id->pkey;
	event->path[0].mtu = id->path_mtu;
	event->ib.param.lap_rcvd.alternate_path = &event->path[0];
	event->ib.private_data = (void *)msg->private_data;
	ret = cm_routes_add_alternate(id->device, &event->path[0], be32_to_cpu(IB_QP1), &routes);
	if (ret != -ENOMEM && ret != -ENODEV) {
		event->wc = wc;
		scoped_guard(spinlock_irqsave, &id->lock)
			load(id, msg, &event, &routes, ret);
		cm_routes_free(&routes);
		wc = NULL;
	}
	cm_event_free(event);
out:
	if (wc)
		port->device->mad->free_recv(wc);
	if (id)
		cm_id_put(id);
}

/**
 * ib_send_cm_lap() - propose an alternate path to the peer
 * @cm_id: id of a connection, on the side that has sent the REQ
 * @alternate_path: path from the id's device
 * @private_data: for the peer's event, or NULL
 * @private_data_len: bytes of it, up to IB_CM_LAP_PRIVATE_DATA_SIZE
 *
 * The path is the id's alternate path from now on; ib_cm_init_qp_attr() says for IB_QPS_RTS how to
 * arm it, which makes sense once the peer has accepted. The answer is IB_CM_APR_RECEIVED; without
 * one the event is IB_CM_LAP_ERROR.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for another state or side, too much data, or a path that does not start from
 * the device; -ENOENT for a P_Key or GID that the port does not have; -ENOMEM; -ENODEV when the
 * device is gone; the MAD layer's error.
 */
int ib_send_cm_lap(struct ib_cm_id *cm_id, struct sa_path_rec *alternate_path,
		   const void *private_data, u8 private_data_len)
{
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_routes routes = {};
	struct cm_msg msg = {};
	struct cm_rule rule;
	int ret = cm_check_data(private_data, private_data_len, CM_MSG_LAP);

	if (ret)
		return ret;
	if (READ_ONCE(id->device->gone))
		return -ENODEV;
	ret = cm_routes_add_alternate(id->device, alternate_path, be32_to_cpu(IB_QP1), &routes);
	if (ret)
		return ret;
	scoped_guard(spinlock_irqsave, &id->lock) {
		ret = cm_call_rule(id, CM_IN_CALL_LAP, &rule);
		if (!ret && !id->active)
			ret = rdma_refuse(-EINVAL, "LAP: the other side proposes paths");
		if (!ret && !id->route)
			ret = -ENODEV;
		if (ret)
			break;
		msg.tid = cm_new_tid(id);
		msg.private_data = private_data;
		msg.private_data_len = private_data ? private_data_len : 0;
		msg.lap.remote_qpn = id->remote_qpn;
		msg.lap.remote_response_timeout = id->response_timeout;
		cm_path_of_rec(alternate_path, &msg.lap.alternate, id->device->ack_delay);
		ret = cm_say(id, &rule, &msg);
		if (ret)
			break;
		cm_routes_take_alternate(id, &routes);
		cm_follow(id, &rule, NULL);
	}
	cm_routes_free(&routes);
	return ret;
}
EXPORT_SYMBOL(ib_send_cm_lap);

/**
 * ib_send_cm_apr() - answer to an alternate path
 * @cm_id: id that has received a LAP
 * @status: IB_CM_APR_SUCCESS, or why the path is not taken
 * @info: additional information that the status asks for, or NULL
 * @info_length: bytes of it, up to IB_CM_APR_INFO_LENGTH
 * @private_data: for the peer's event, or NULL
 * @private_data_len: bytes of it, up to IB_CM_APR_PRIVATE_DATA_SIZE
 *
 * Context: any.
 * Return: 0; -EINVAL for another state or too much data; -ENOMEM; -ENODEV when the device is gone;
 * the MAD layer's error.
 */
int ib_send_cm_apr(struct ib_cm_id *cm_id, enum ib_cm_apr_status status, const void *info,
		   u8 info_length, const void *private_data, u8 private_data_len)
{
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_msg msg = {
		.private_data = private_data,
		.private_data_len = private_data ? private_data_len : 0,
		.apr.status = status,
		.apr.info = info,
		.apr.info_length = info ? info_length : 0,
	};
	struct cm_rule rule;
	int ret = cm_check_data(private_data, private_data_len, CM_MSG_APR);

	if (ret)
		return ret;
	if (info && info_length > IB_CM_APR_INFO_LENGTH)
		return rdma_refuse(-EINVAL, "APR: %u bytes of information, there is room for %u",
				   info_length, IB_CM_APR_INFO_LENGTH);
	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_APR, &rule);
	if (!ret)
		ret = cm_say(id, &rule, &msg);
	if (!ret)
		cm_follow(id, &rule, NULL);
	return ret;
}
EXPORT_SYMBOL(ib_send_cm_apr);
