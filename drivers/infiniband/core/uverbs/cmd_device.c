// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands on the device as a whole: contexts, attributes, ports.
 */
#include <rdma/ib_cache.h>
#include <rdma/opa_addr.h>

#include "../verbs/verbs.h"
#include "commands.h"

#define CORE_SUPPORT	((u64)IB_UVERBS_CORE_SUPPORT_OPTIONAL_MR_ACCESS)

/* ---- GET_CONTEXT ---- */

struct get_context {
	u32 num_comp_vectors;
	u64 core_support;
	struct ib_uobject *async_file;
	struct ib_ucontext *context;
};

static const struct uverbs_arg get_context_args[] = {
	{
		.name = "num_comp_vectors", .kind = UV_OUT,
		.attr = UVERBS_ATTR_GET_CONTEXT_NUM_COMP_VECTORS,
		UV_BLOCK(get_context, num_comp_vectors),
		.w = UV_AT(ib_uverbs_get_context_resp, num_comp_vectors),
	}, {
		.name = "core_support", .kind = UV_OUT,
		.attr = UVERBS_ATTR_GET_CONTEXT_CORE_SUPPORT,
		UV_BLOCK(get_context, core_support),
	}, {
		.name = "async_fd", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(get_context, async_file),
		.w = UV_AT(ib_uverbs_get_context_resp, async_fd),
	},
};

/* The write() form makes the asynchronous event file along with the context. */
static int make_context(struct uverbs_call *call, struct get_context *args)
{
	struct uverbs_attr_bundle *attrs = &call->bundle;
	struct ib_ucontext *context;

	context = rdma_ucontext_alloc(attrs->ufile->device->ib_dev, attrs->ufile);
	if (IS_ERR(context))
		return PTR_ERR(context);
	args->context = context;
	attrs->context = context;
	if (call->written) {
		args->async_file = uverbs_take(call, UVERBS_OBJECT_ASYNC_EVENT,
					       UVERBS_ACCESS_NEW, 0, "async_fd");
		if (IS_ERR(args->async_file))
			return PTR_ERR(args->async_file);
	}
	return rdma_ucontext_open(context, &attrs->driver_udata);
}

/* A context is not in the handle table, so a request that fails has to drop it here. */
static void settle_context(struct uverbs_call *call, bool commit)
{
	struct ib_uverbs_file *file = call->bundle.ufile;
	struct get_context *args = call->args;

	if (!commit) {
		call->bundle.context = NULL;
		uverbs_context_drop(file, args->context);
		return;
	}
	uverbs_context_publish(file, args->context);
	if (args->async_file)
		uverbs_async_file_start(container_of(args->async_file,
						     struct ib_uverbs_async_event_file, uobj));
}

static int run_get_context(struct uverbs_call *call)
{
	struct ib_uverbs_file *file = call->bundle.ufile;
	struct get_context *args = call->args;
	int ret;

	args->num_comp_vectors = file->device->num_comp_vectors;
	args->core_support = CORE_SUPPORT;

	ret = uverbs_context_claim(file);
	if (ret)
		return ret;
	call->settle = settle_context;
	return make_context(call, args);
}

static const struct uverbs_cmd cmd_get_context = {
	.name = "GET_CONTEXT",
	.method = UVERBS_METHOD_GET_CONTEXT,
	.w_num = IB_USER_VERBS_CMD_GET_CONTEXT,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_UHW | UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_get_context),
	.w_resp = sizeof(struct ib_uverbs_get_context_resp),
	UV_ARGS(get_context_args, get_context),
	.needs = { UV_OP(alloc_ucontext), UV_OP(dealloc_ucontext) },
	.run = run_get_context,
};

/* ---- QUERY_CONTEXT ---- */

static const struct uverbs_arg query_context_args[] = {
	{
		.name = "num_comp_vectors", .kind = UV_OUT,
		.attr = UVERBS_ATTR_QUERY_CONTEXT_NUM_COMP_VECTORS,
		UV_BLOCK(get_context, num_comp_vectors),
	}, {
		.name = "core_support", .kind = UV_OUT,
		.attr = UVERBS_ATTR_QUERY_CONTEXT_CORE_SUPPORT,
		UV_BLOCK(get_context, core_support),
	},
};

static int run_query_context(struct uverbs_call *call)
{
	struct ib_device *ibdev = uverbs_call_device(call);
	struct get_context *args = call->args;

	if (IS_ERR(ibdev))
		return PTR_ERR(ibdev);
	args->num_comp_vectors = call->bundle.ufile->device->num_comp_vectors;
	args->core_support = CORE_SUPPORT;
	return ibdev->ops.query_ucontext(call->bundle.context, &call->bundle);
}

static const struct uverbs_cmd cmd_query_context = {
	.name = "QUERY_CONTEXT",
	.method = UVERBS_METHOD_QUERY_CONTEXT,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(query_context_args, get_context),
	.needs = { UV_OP(query_ucontext) },
	.run = run_query_context,
};

/* ---- QUERY_DEVICE ---- */

struct query_device {
	u32 comp_mask;
	u32 reserved;
	struct ib_uverbs_ex_query_device_resp resp;
};

static const struct uverbs_arg query_device_args[] = {
	{
		.name = "comp_mask", .kind = UV_MASK, .attr = UV_NO_ATTR,
		UV_BLOCK(query_device, comp_mask),
		.x = UV_AT(ib_uverbs_ex_query_device, comp_mask),
	}, {
		.name = "reserved", .kind = UV_MASK, .attr = UV_NO_ATTR,
		UV_BLOCK(query_device, reserved),
		.x = UV_AT(ib_uverbs_ex_query_device, reserved),
	}, {
		.name = "response", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(query_device, resp),
		.w = UV_SPAN(ib_uverbs_query_device_resp),
		.x = UV_SPAN(ib_uverbs_ex_query_device_resp),
	},
};

static void device_basics(struct ib_uverbs_query_device_resp *resp, const struct ib_device *ibdev,
			  const struct ib_device_attr *attr)
{
	*resp = (struct ib_uverbs_query_device_resp){
		.fw_ver = attr->fw_ver,
		.node_guid = ibdev->node_guid,
		.sys_image_guid = attr->sys_image_guid,
		.vendor_id = attr->vendor_id,
		.vendor_part_id = attr->vendor_part_id,
		.hw_ver = attr->hw_ver,
		.device_cap_flags = lower_32_bits(attr->device_cap_flags),
		.phys_port_cnt = min_t(u32, ibdev->phys_port_cnt, U8_MAX),
		/* memory */
		.max_mr = attr->max_mr,
		.max_mr_size = attr->max_mr_size,
		.page_size_cap = attr->page_size_cap,
		.max_mw = attr->max_mw,
		.max_pd = attr->max_pd,
		/* queues */
		.max_qp = attr->max_qp,
		.max_qp_wr = attr->max_qp_wr,
		.max_sge = min(attr->max_send_sge, attr->max_recv_sge),
		.max_sge_rd = attr->max_sge_rd,
		.max_cq = attr->max_cq,
		.max_cqe = attr->max_cqe,
		.max_srq = attr->max_srq,
		.max_srq_wr = attr->max_srq_wr,
		.max_srq_sge = attr->max_srq_sge,
		.max_raw_ipv6_qp = attr->max_raw_ipv6_qp,
		.max_raw_ethy_qp = attr->max_raw_ethy_qp,
		/* reads and atomics */
		.max_qp_rd_atom = attr->max_qp_rd_atom,
		.max_qp_init_rd_atom = attr->max_qp_init_rd_atom,
		.max_res_rd_atom = attr->max_res_rd_atom,
		.max_ee_rd_atom = attr->max_ee_rd_atom,
		.max_ee_init_rd_atom = attr->max_ee_init_rd_atom,
		.atomic_cap = attr->atomic_cap,
		/* addressing */
		.max_ah = attr->max_ah,
		.max_pkeys = attr->max_pkeys,
		.max_mcast_grp = attr->max_mcast_grp,
		.max_mcast_qp_attach = attr->max_mcast_qp_attach,
		.max_total_mcast_qp_attach = attr->max_total_mcast_qp_attach,
		.max_ee = attr->max_ee,
		.max_rdd = attr->max_rdd,
		.local_ca_ack_delay = attr->local_ca_ack_delay,
	};
}

static void device_extras(struct ib_uverbs_ex_query_device_resp *resp,
			  const struct ib_device_attr *attr)
{
	resp->odp_caps.general_caps = attr->odp_caps.general_caps;
	resp->odp_caps.per_transport_caps.rc_odp_caps =
		attr->odp_caps.per_transport_caps.rc_odp_caps;
	resp->odp_caps.per_transport_caps.uc_odp_caps =
		attr->odp_caps.per_transport_caps.uc_odp_caps;
	resp->odp_caps.per_transport_caps.ud_odp_caps =
		attr->odp_caps.per_transport_caps.ud_odp_caps;
	resp->xrc_odp_caps = attr->odp_caps.per_transport_caps.xrc_odp_caps;
	resp->timestamp_mask = attr->timestamp_mask;
	resp->hca_core_clock = attr->hca_core_clock;
	resp->device_cap_flags_ex = attr->device_cap_flags;
	resp->rss_caps.supported_qpts = attr->rss_caps.supported_qpts;
	resp->rss_caps.max_rwq_indirection_tables = attr->rss_caps.max_rwq_indirection_tables;
	resp->rss_caps.max_rwq_indirection_table_size =
		attr->rss_caps.max_rwq_indirection_table_size;
	resp->max_wq_type_rq = attr->max_wq_type_rq;
	resp->raw_packet_caps = attr->raw_packet_caps;
	resp->tm_caps.max_rndv_hdr_size = attr->tm_caps.max_rndv_hdr_size;
	resp->tm_caps.max_num_tags = attr->tm_caps.max_num_tags;
	resp->tm_caps.max_ops = attr->tm_caps.max_ops;
	resp->tm_caps.max_sge = attr->tm_caps.max_sge;
	resp->tm_caps.flags = attr->tm_caps.flags;
	resp->cq_moderation_caps.max_cq_moderation_count = attr->cq_caps.max_cq_moderation_count;
	resp->cq_moderation_caps.max_cq_moderation_period = attr->cq_caps.max_cq_moderation_period;
	resp->max_dm_size = attr->max_dm_size;
}

static int run_query_device(struct uverbs_call *call)
{
	struct ib_device *ibdev = uverbs_call_device(call);
	struct query_device *args = call->args;
	struct ib_device_attr attr = {};
	int ret;

	if (IS_ERR(ibdev))
		return PTR_ERR(ibdev);
	if (!call->extended) {
		device_basics(&args->resp.base, ibdev, &ibdev->attrs);
		return 0;
	}
	/* The extended form asks the driver again, which may have data for its library. */
	ret = ibdev->ops.query_device(ibdev, &attr, &call->bundle.driver_udata);
	if (ret)
		return uverbs_refuse_below(call, ret, "the driver refused");
	device_basics(&args->resp.base, ibdev, &attr);
	device_extras(&args->resp, &attr);
	return 0;
}

static const struct uverbs_cmd cmd_query_device = {
	.name = "QUERY_DEVICE",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_QUERY_DEVICE,
	.x_num = IB_USER_VERBS_EX_CMD_QUERY_DEVICE,
	.w_req = sizeof(struct ib_uverbs_query_device),
	.w_resp = sizeof(struct ib_uverbs_query_device_resp),
	.x_req = sizeof(struct ib_uverbs_ex_query_device),
	.x_resp = sizeof(struct ib_uverbs_ex_query_device_resp),
	.x_resplen = offsetof(struct ib_uverbs_ex_query_device_resp, response_length),
	UV_ARGS(query_device_args, query_device),
	.needs = { UV_OP(query_device) },
	.run = run_query_device,
};

/* ---- QUERY_PORT ---- */

struct query_port {
	u8 port_num;
	struct ib_uverbs_query_port_resp_ex resp;
};

static const struct uverbs_arg query_port_args[] = {
	{
		.name = "port_num", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_QUERY_PORT_PORT_NUM,
		UV_BLOCK(query_port, port_num),
		.w = UV_AT(ib_uverbs_query_port, port_num),
	}, {
		.name = "response", .kind = UV_OUT, .flags = UV_F_MANDATORY | UV_F_ZERO_TAIL,
		.attr = UVERBS_ATTR_QUERY_PORT_RESP,
		.min = offsetofend(struct ib_uverbs_query_port_resp_ex, active_speed_ex),
		UV_BLOCK(query_port, resp),
		.w = UV_SPAN(ib_uverbs_query_port_resp),
	},
};

static u16 port_lid(struct ib_device *ibdev, u32 port, u32 lid)
{
	return rdma_cap_opa_ah(ibdev, port) ? OPA_TO_IB_UCAST_LID(lid) : ib_lid_cpu16(lid);
}

static int run_query_port(struct uverbs_call *call)
{
	struct ib_device *ibdev = uverbs_call_device(call);
	struct query_port *args = call->args;
	struct ib_port_attr attr = {};
	u32 port = args->port_num;
	u32 caps;
	int ret;

	if (IS_ERR(ibdev))
		return PTR_ERR(ibdev);
	if (!rdma_is_port_valid(ibdev, port))
		return uverbs_refuse(call, -EINVAL, "port_num %u, the device has %u to %u", port,
				     rdma_start_port(ibdev), rdma_end_port(ibdev));
	ret = ib_query_port(ibdev, port, &attr);
	if (ret)
		return uverbs_refuse_below(call, ret, "port_num %u: the driver refused", port);

	/* The bit IB_UVERBS_PCF_IP_BASED_GIDS has another meaning in the port's own flags. */
	caps = attr.port_cap_flags & ~(u32)IB_UVERBS_PCF_IP_BASED_GIDS;
	if (attr.ip_gids)
		caps |= IB_UVERBS_PCF_IP_BASED_GIDS;

	args->resp.legacy_resp = (struct ib_uverbs_query_port_resp){
		.port_cap_flags = caps,
		.max_msg_sz = attr.max_msg_sz,
		.bad_pkey_cntr = attr.bad_pkey_cntr,
		.qkey_viol_cntr = attr.qkey_viol_cntr,
		.gid_tbl_len = attr.gid_tbl_len,
		.pkey_tbl_len = attr.pkey_tbl_len,
		.lid = port_lid(ibdev, port, attr.lid),
		.sm_lid = port_lid(ibdev, port, attr.sm_lid),
		.state = attr.state,
		.max_mtu = attr.max_mtu,
		.active_mtu = attr.active_mtu,
		.lmc = attr.lmc,
		.max_vl_num = attr.max_vl_num,
		.sm_sl = attr.sm_sl,
		.subnet_timeout = attr.subnet_timeout,
		.init_type_reply = attr.init_type_reply,
		.active_width = attr.active_width,
		/* Eight bits end at NDR; active_speed_ex carries the rest. */
		.active_speed = min_t(u16, attr.active_speed, IB_SPEED_NDR),
		.phys_state = attr.phys_state,
		.link_layer = rdma_port_get_link_layer(ibdev, port),
		.flags = rdma_is_grh_required(ibdev, port) ? IB_UVERBS_QPF_GRH_REQUIRED : 0,
	};
	args->resp.port_cap_flags2 = attr.port_cap_flags2;
	args->resp.active_speed_ex = attr.active_speed;
	return 0;
}

static const struct uverbs_cmd cmd_query_port = {
	.name = "QUERY_PORT",
	.method = UVERBS_METHOD_QUERY_PORT,
	.w_num = IB_USER_VERBS_CMD_QUERY_PORT,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_query_port),
	.w_resp = sizeof(struct ib_uverbs_query_port_resp),
	UV_ARGS(query_port_args, query_port),
	.needs = { UV_OP(query_port) },
	.run = run_query_port,
};

/* DEVICE has methods but no objects. */
const struct uverbs_object_desc uverbs_object_device = {
	.id = UVERBS_OBJECT_DEVICE,
	UV_COMMANDS(&cmd_get_context, &cmd_query_context, &cmd_query_device, &cmd_query_port),
};
