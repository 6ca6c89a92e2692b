// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Modification and query of queue pairs.
 */
#include <rdma/ib_mad.h>

#include "../device/device.h"
#include "../verbs/verbs.h"
#include "commands.h"

/* ---- MODIFY_QP ---- */

struct qp_modify {
	struct ib_uobject *qp;
	struct ib_uverbs_ex_modify_qp req;
};

static const struct uverbs_arg qp_modify_args[] = {
	{
		.name = "qp_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_QP,
		UV_BLOCK(qp_modify, qp),
		.w = UV_AT(ib_uverbs_modify_qp, qp_handle),
		.x = UV_AT(ib_uverbs_ex_modify_qp, base.qp_handle),
	}, {
		.name = "attributes", .kind = UV_BLOB, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_modify, req),
		.w = UV_SPAN(ib_uverbs_modify_qp),
		.x = UV_SPAN(ib_uverbs_ex_modify_qp),
	},
};

static bool state_known(u8 state)
{
	return state <= IB_QPS_ERR;
}

/**
 * uverbs_check_port() - refuse a port that the device does not have
 * @call: the request
 * @ibdev: the device
 * @port: number of the port
 * @name: its name in the request
 *
 * Return: 0 or -EINVAL.
 */
int uverbs_check_port(struct uverbs_call *call, const struct ib_device *ibdev, u32 port,
		      const char *name)
{
	if (rdma_is_port_valid(ibdev, port))
		return 0;
	return uverbs_refuse(call, -EINVAL, "%s %u, the device has %u to %u", name, port,
			     rdma_start_port(ibdev), rdma_end_port(ibdev));
}

/*
 * Checks the port of the primary path.  In the transition to RTR it must be the port chosen before;
 * later a new path may come with a new port.
 */
static int check_path(struct uverbs_call *call, const struct ib_qp *qp,
		      struct ib_uverbs_modify_qp *req)
{
	u8 port = req->dest.port_num;
	int ret;

	if (!(req->attr_mask & IB_QP_AV))
		return 0;
	ret = uverbs_check_port(call, qp->device, port, "dest.port_num");
	if (ret)
		return ret;

	if ((req->attr_mask & IB_QP_STATE) && req->qp_state == IB_QPS_RTR) {
		if (port != qp->real_qp->port)
			return uverbs_refuse(call, -EINVAL, "dest.port_num %u, the QP uses port %u",
					     port, qp->real_qp->port);
		return 0;
	}
	if (req->attr_mask & IB_QP_PORT) {
		if (port != req->port_num)
			return uverbs_refuse(call, -EINVAL, "dest.port_num %u, port_num %u", port,
					     req->port_num);
		return 0;
	}
	req->attr_mask |= IB_QP_PORT;
	req->port_num = port;
	return 0;
}

static int check_alternate(struct uverbs_call *call, const struct ib_qp *qp,
			   const struct ib_uverbs_modify_qp *req)
{
	int ret;

	if (!(req->attr_mask & IB_QP_ALT_PATH))
		return 0;
	ret = uverbs_check_port(call, qp->device, req->alt_port_num, "alt_port_num");
	if (ret)
		return ret;
	if (req->alt_port_num != req->alt_dest.port_num)
		return uverbs_refuse(call, -EINVAL, "alt_dest.port_num %u, alt_port_num %u",
				     req->alt_dest.port_num, req->alt_port_num);
	return 0;
}

static int check_modify(struct uverbs_call *call, const struct ib_qp *qp,
			struct ib_uverbs_modify_qp *req)
{
	u32 known = IB_QP_ATTR_STANDARD_BITS | (call->extended ? IB_QP_RATE_LIMIT : 0);
	u32 mask = req->attr_mask;
	int ret = 0;

	if (mask & ~known)
		return uverbs_refuse(call, -EOPNOTSUPP, "attr_mask: unknown bits %#x",
				     mask & ~known);
	if ((mask & IB_QP_CUR_STATE) && !state_known(req->cur_qp_state))
		return uverbs_refuse(call, -EINVAL, "cur_qp_state %u is unknown",
				     req->cur_qp_state);
	if ((mask & IB_QP_STATE) && !state_known(req->qp_state))
		return uverbs_refuse(call, -EINVAL, "qp_state %u is unknown", req->qp_state);
	if ((mask & IB_QP_QKEY) && (req->qkey & IB_QP_SET_QKEY) && !rdma_nl_get_privileged_qkey())
		return uverbs_refuse(call, -EPERM, "qkey %#x is a privileged one", req->qkey);
	if (mask & IB_QP_PORT)
		ret = uverbs_check_port(call, qp->device, req->port_num, "port_num");
	return ret ?: check_path(call, qp, req) ?: check_alternate(call, qp, req);
}

/* Translates an address of user space, whose port is valid, into a zeroed attribute. */
static void path_in(struct rdma_ah_attr *to, struct ib_uverbs_qp_dest *from,
		    struct ib_device *ibdev)
{
	to->type = rdma_ah_find_type(ibdev, from->port_num);
	rdma_ah_set_port_num(to, from->port_num);
	rdma_ah_set_sl(to, from->sl);
	rdma_ah_set_static_rate(to, from->static_rate);
	rdma_ah_set_dlid(to, from->dlid);
	rdma_ah_set_path_bits(to, from->src_path_bits);
	rdma_ah_set_make_grd(to, false);
	if (!from->is_global) {
		rdma_ah_set_ah_flags(to, 0);
		return;
	}
	rdma_ah_set_grh(to, NULL, from->flow_label, from->sgid_index, from->hop_limit,
			from->traffic_class);
	rdma_ah_set_dgid_raw(to, from->dgid);
}

static void path_out(struct ib_uverbs_qp_dest *to, const struct rdma_ah_attr *from)
{
	const struct ib_global_route *grh;

	to->port_num = rdma_ah_get_port_num(from);
	to->sl = rdma_ah_get_sl(from);
	to->static_rate = rdma_ah_get_static_rate(from);
	to->dlid = rdma_ah_get_dlid(from);
	to->src_path_bits = rdma_ah_get_path_bits(from);
	if (!(rdma_ah_get_ah_flags(from) & IB_AH_GRH))
		return;

	grh = rdma_ah_read_grh(from);
	to->is_global = 1;
	memcpy(to->dgid, grh->dgid.raw, sizeof(to->dgid));
	to->sgid_index = grh->sgid_index;
	to->flow_label = grh->flow_label;
	to->traffic_class = grh->traffic_class;
	to->hop_limit = grh->hop_limit;
}

/* Members not named by the mask stay zero: drivers may look at them all. */
static void attr_in(struct ib_qp_attr *attr, struct ib_uverbs_ex_modify_qp *ex,
		    struct ib_device *ibdev)
{
	struct ib_uverbs_modify_qp *req = &ex->base;
	u32 mask = req->attr_mask;

#define TAKE(_bit, _member) do { if (mask & (_bit)) attr->_member = req->_member; } while (0)
	TAKE(IB_QP_STATE, qp_state);
	TAKE(IB_QP_CUR_STATE, cur_qp_state);
	TAKE(IB_QP_EN_SQD_ASYNC_NOTIFY, en_sqd_async_notify);
	TAKE(IB_QP_ACCESS_FLAGS, qp_access_flags);
	TAKE(IB_QP_PKEY_INDEX, pkey_index);
	TAKE(IB_QP_PORT, port_num);
	TAKE(IB_QP_QKEY, qkey);
	TAKE(IB_QP_PATH_MTU, path_mtu);
	TAKE(IB_QP_TIMEOUT, timeout);
	TAKE(IB_QP_RETRY_CNT, retry_cnt);
	TAKE(IB_QP_RNR_RETRY, rnr_retry);
	TAKE(IB_QP_RQ_PSN, rq_psn);
	TAKE(IB_QP_SQ_PSN, sq_psn);
	TAKE(IB_QP_MAX_QP_RD_ATOMIC, max_rd_atomic);
	TAKE(IB_QP_MAX_DEST_RD_ATOMIC, max_dest_rd_atomic);
	TAKE(IB_QP_MIN_RNR_TIMER, min_rnr_timer);
	TAKE(IB_QP_PATH_MIG_STATE, path_mig_state);
	TAKE(IB_QP_DEST_QPN, dest_qp_num);
	TAKE(IB_QP_ALT_PATH, alt_port_num);
	TAKE(IB_QP_ALT_PATH, alt_timeout);
	TAKE(IB_QP_ALT_PATH, alt_pkey_index);
#undef TAKE
	if (mask & IB_QP_RATE_LIMIT)
		attr->rate_limit = ex->rate_limit;
	if (mask & IB_QP_AV)
		path_in(&attr->ah_attr, &req->dest, ibdev);
	if (mask & IB_QP_ALT_PATH)
		path_in(&attr->alt_ah_attr, &req->alt_dest, ibdev);
}

/* Libraries set attributes that the initiator or the target half of an XRC QP does not have. */
static u32 drop_ignored(enum ib_qp_type type, u32 mask)
{
	if (type == IB_QPT_XRC_INI)
		mask &= ~(u32)(IB_QP_MIN_RNR_TIMER | IB_QP_MAX_DEST_RD_ATOMIC);
	else if (type == IB_QPT_XRC_TGT)
		mask &= ~(u32)(IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC);
	return mask;
}

static int run_qp_modify(struct uverbs_call *call)
{
	struct qp_modify *args = call->args;
	struct ib_qp *qp = args->qp->object;
	struct ib_qp_attr *attr;
	int ret;

	ret = check_modify(call, qp, &args->req.base);
	if (ret)
		return ret;
	attr = uverbs_zalloc(&call->bundle, sizeof(*attr));
	if (IS_ERR(attr))
		return PTR_ERR(attr);
	attr_in(attr, &args->req, qp->device);
	ret = ib_modify_qp_with_udata(qp, attr,
				      drop_ignored(qp->qp_type, args->req.base.attr_mask),
				      &call->bundle.driver_udata);
	return ret ? uverbs_refuse_below(call, ret, "attr_mask %#x: refused",
					 args->req.base.attr_mask) : 0;
}

static const struct uverbs_cmd cmd_qp_modify = {
	.name = "MODIFY_QP",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_MODIFY_QP,
	.x_num = IB_USER_VERBS_EX_CMD_MODIFY_QP,
	.w_req = sizeof(struct ib_uverbs_modify_qp),
	.x_req = sizeof(struct ib_uverbs_ex_modify_qp),
	.x_resp = sizeof(struct ib_uverbs_ex_modify_qp_resp),
	.x_resplen = offsetof(struct ib_uverbs_ex_modify_qp_resp, response_length),
	UV_ARGS(qp_modify_args, qp_modify),
	.needs = { UV_OP(modify_qp) },
	.run = run_qp_modify,
};

/* ---- QUERY_QP ---- */

struct qp_query {
	struct ib_uobject *qp;
	u32 attr_mask;
	struct ib_uverbs_query_qp_resp resp;
};

static const struct uverbs_arg qp_query_args[] = {
	{
		.name = "qp_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_QP,
		UV_BLOCK(qp_query, qp),
		.w = UV_AT(ib_uverbs_query_qp, qp_handle),
	}, {
		.name = "attr_mask", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_query, attr_mask),
		.w = UV_AT(ib_uverbs_query_qp, attr_mask),
	}, {
		.name = "response", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_query, resp),
		.w = UV_SPAN(ib_uverbs_query_qp_resp),
	},
};

static void attr_out(struct ib_uverbs_query_qp_resp *resp, const struct ib_qp_attr *attr,
		     const struct ib_qp_init_attr *init)
{
	*resp = (struct ib_uverbs_query_qp_resp){
		.qp_state = attr->qp_state,
		.cur_qp_state = attr->cur_qp_state,
		.sq_draining = attr->sq_draining,
		.qp_access_flags = attr->qp_access_flags,
		.pkey_index = attr->pkey_index,
		.port_num = attr->port_num,
		.qkey = attr->qkey,
		.path_mtu = attr->path_mtu,
		.timeout = attr->timeout,
		.retry_cnt = attr->retry_cnt,
		.rnr_retry = attr->rnr_retry,
		.rq_psn = attr->rq_psn,
		.sq_psn = attr->sq_psn,
		.max_rd_atomic = attr->max_rd_atomic,
		.max_dest_rd_atomic = attr->max_dest_rd_atomic,
		.min_rnr_timer = attr->min_rnr_timer,
		.path_mig_state = attr->path_mig_state,
		.dest_qp_num = attr->dest_qp_num,
		.alt_port_num = attr->alt_port_num,
		.alt_timeout = attr->alt_timeout,
		.alt_pkey_index = attr->alt_pkey_index,
		.max_send_wr = init->cap.max_send_wr,
		.max_recv_wr = init->cap.max_recv_wr,
		.max_send_sge = init->cap.max_send_sge,
		.max_recv_sge = init->cap.max_recv_sge,
		.max_inline_data = init->cap.max_inline_data,
		.sq_sig_all = init->sq_sig_type == IB_SIGNAL_ALL_WR,
	};
	path_out(&resp->dest, &attr->ah_attr);
	path_out(&resp->alt_dest, &attr->alt_ah_attr);
}

static int run_qp_query(struct uverbs_call *call)
{
	struct qp_query *args = call->args;
	struct ib_qp_init_attr *init;
	struct ib_qp_attr *attr;
	int ret;

	attr = uverbs_zalloc(&call->bundle, sizeof(*attr));
	init = uverbs_zalloc(&call->bundle, sizeof(*init));
	if (IS_ERR(attr) || IS_ERR(init))
		return -ENOMEM;
	ret = ib_query_qp(args->qp->object, attr, args->attr_mask, init);
	if (ret)
		return uverbs_refuse_below(call, ret, "attr_mask %#x: the driver refused",
					   args->attr_mask);
	attr_out(&args->resp, attr, init);
	return 0;
}

static const struct uverbs_cmd cmd_qp_query = {
	.name = "QUERY_QP",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_QUERY_QP,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_query_qp),
	.w_resp = sizeof(struct ib_uverbs_query_qp_resp),
	UV_ARGS(qp_query_args, qp_query),
	.needs = { UV_OP(query_qp) },
	.run = run_qp_query,
};

const struct uverbs_object_desc uverbs_object_qp_modify = {
	.id = UVERBS_OBJECT_QP,
	.more = true,
	UV_COMMANDS(&cmd_qp_modify, &cmd_qp_query),
};
