// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 */
#include <rdma/opa_addr.h>

#include "../verbs/verbs.h"
#include "commands.h"

static struct ib_ucq_object *to_ucq(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_ucq_object, uevent.uobject);
}

static int cq_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	int ret;

	ret = ib_destroy_cq_user(uobj->object, &attrs->driver_udata);
	if (!ret)
		uverbs_ucq_release(to_ucq(uobj));
	return ret;
}

/* ---- CREATE_CQ ---- */

struct cq_create {
	struct ib_uobject *cq;
	struct ib_uobject *channel;
	struct ib_uobject *event_file;
	u64 user_handle;
	u32 cqe;
	u32 comp_vector;
	u32 flags;
	s32 comp_channel;
	u32 comp_mask;
	u32 reserved;
};

static bool has_comp_channel(const void *block)
{
	return ((const struct cq_create *)block)->comp_channel >= 0;
}

static const struct uverbs_arg cq_create_args[] = {
	{
		.name = "cq_handle", .kind = UV_NEW, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_CQ_HANDLE, .type = UVERBS_OBJECT_CQ,
		UV_BLOCK(cq_create, cq),
	}, {
		.name = "cq_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_create, cq),
		.w = UV_AT(ib_uverbs_create_cq_resp, cq_handle),
		.x = UV_AT(ib_uverbs_ex_create_cq_resp, base.cq_handle),
	}, {
		.name = "cqe", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_CQ_CQE,
		UV_BLOCK(cq_create, cqe),
		.w = UV_AT(ib_uverbs_create_cq, cqe),
		.x = UV_AT(ib_uverbs_ex_create_cq, cqe),
	}, {
		.name = "user_handle", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_CQ_USER_HANDLE,
		UV_BLOCK(cq_create, user_handle),
		.w = UV_AT(ib_uverbs_create_cq, user_handle),
		.x = UV_AT(ib_uverbs_ex_create_cq, user_handle),
	}, {
		.name = "comp_vector", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_CQ_COMP_VECTOR,
		UV_BLOCK(cq_create, comp_vector),
		.w = UV_AT(ib_uverbs_create_cq, comp_vector),
		.x = UV_AT(ib_uverbs_ex_create_cq, comp_vector),
	}, {
		/* In the write() form the driver decides which bits exist. */
		.name = "flags", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_create, flags),
		.x = UV_AT(ib_uverbs_ex_create_cq, flags),
	}, {
		.name = "flags", .kind = UV_MASK, .attr = UVERBS_ATTR_CREATE_CQ_FLAGS,
		UV_BLOCK(cq_create, flags),
		.mask = IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION |
			IB_UVERBS_CQ_FLAGS_IGNORE_OVERRUN,
	}, {
		.name = "comp_mask", .kind = UV_MASK, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_create, comp_mask),
		.x = UV_AT(ib_uverbs_ex_create_cq, comp_mask),
	}, {
		.name = "reserved", .kind = UV_MASK, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_create, reserved),
		.x = UV_AT(ib_uverbs_ex_create_cq, reserved),
	}, {
		.name = "comp_channel", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_create, comp_channel),
		.w = UV_AT(ib_uverbs_create_cq, comp_channel),
		.x = UV_AT(ib_uverbs_ex_create_cq, comp_channel),
	}, {
		.name = "comp_channel", .kind = UV_READ, .flags = UV_F_FD,
		.attr = UVERBS_ATTR_CREATE_CQ_COMP_CHANNEL, .type = UVERBS_OBJECT_COMP_CHANNEL,
		UV_BLOCK(cq_create, channel),
		.w = UV_AT(ib_uverbs_create_cq, comp_channel),
		.x = UV_AT(ib_uverbs_ex_create_cq, comp_channel),
		.when = has_comp_channel,
	}, {
		.name = "event_fd", .kind = UV_READ, .flags = UV_F_FD,
		.attr = UVERBS_ATTR_CREATE_CQ_EVENT_FD, .type = UVERBS_OBJECT_ASYNC_EVENT,
		UV_BLOCK(cq_create, event_file),
	}, {
		.name = "resp_cqe", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_CQ_RESP_CQE,
		UV_BLOCK(cq_create, cqe),
		.w = UV_AT(ib_uverbs_create_cq_resp, cqe),
		.x = UV_AT(ib_uverbs_ex_create_cq_resp, base.cqe),
	},
};

static int run_cq_create(struct uverbs_call *call)
{
	struct cq_create *args = call->args;
	struct ib_ucq_object *ucq = to_ucq(args->cq);
	struct ib_cq_init_attr attr = {
		.cqe = args->cqe, .comp_vector = args->comp_vector, .flags = args->flags,
	};
	struct ib_uverbs_event_queue *queue = NULL;
	u32 vectors = call->bundle.ufile->device->num_comp_vectors;
	struct ib_cq *cq;

	if (args->comp_vector >= vectors)
		return uverbs_refuse(call, -EINVAL, "comp_vector %u, the device has %u",
				     args->comp_vector, vectors);

	args->cq->user_handle = args->user_handle;
	INIT_LIST_HEAD(&ucq->comp_entry);
	uverbs_uevent_init(&ucq->uevent, args->event_file);
	if (args->channel) {
		ucq->channel = container_of(args->channel, struct ib_uverbs_completion_event_file,
					    uobj);
		uverbs_uobject_get(args->channel);
		queue = &ucq->channel->queue;
	}

	cq = ib_create_cq_user(args->cq->context->device, &attr, ucq, uverbs_comp_handler,
			       uverbs_cq_event_handler, queue, &call->bundle);
	if (IS_ERR(cq)) {
		uverbs_ucq_release(ucq);
		return uverbs_refuse_below(call, PTR_ERR(cq), "cqe %u, flags %#x: refused",
					   args->cqe, args->flags);
	}
	args->cq->object = cq;
	uverbs_mark_hw(call, args->cq);
	args->cqe = cq->cqe;
	return 0;
}

static const struct uverbs_cmd cmd_cq_create = {
	.name = "CREATE_CQ",
	.method = UVERBS_METHOD_CQ_CREATE,
	.w_num = IB_USER_VERBS_CMD_CREATE_CQ,
	.x_num = IB_USER_VERBS_EX_CMD_CREATE_CQ,
	.flags = UV_C_UHW | UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_create_cq),
	.w_resp = sizeof(struct ib_uverbs_create_cq_resp),
	.x_req = sizeof(struct ib_uverbs_ex_create_cq),
	.x_resp = sizeof(struct ib_uverbs_ex_create_cq_resp),
	.x_resplen = offsetof(struct ib_uverbs_ex_create_cq_resp, response_length),
	UV_ARGS(cq_create_args, cq_create),
	.needs = { UV_OP(create_cq) },
	.run = run_cq_create,
};

/* ---- DESTROY_CQ ---- */

struct cq_destroy {
	struct ib_uobject *cq;
	struct ib_uverbs_destroy_cq_resp resp;
};

static const struct uverbs_arg cq_destroy_args[] = {
	{
		.name = "cq_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_CQ_HANDLE, .type = UVERBS_OBJECT_CQ,
		UV_BLOCK(cq_destroy, cq),
		.w = UV_AT(ib_uverbs_destroy_cq, cq_handle),
	}, {
		.name = "response", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_CQ_RESP,
		UV_BLOCK(cq_destroy, resp),
		.w = UV_SPAN(ib_uverbs_destroy_cq_resp),
	},
};

/* A library waits until the program has acknowledged as many events as this returns. */
static int run_cq_destroy(struct uverbs_call *call)
{
	struct cq_destroy *args = call->args;
	const struct ib_ucq_object *ucq = to_ucq(args->cq);

	args->resp.comp_events_reported = ucq->comp_events_reported;
	args->resp.async_events_reported = ucq->uevent.events_reported;
	return 0;
}

static const struct uverbs_cmd cmd_cq_destroy = {
	.name = "DESTROY_CQ",
	.method = UVERBS_METHOD_CQ_DESTROY,
	.w_num = IB_USER_VERBS_CMD_DESTROY_CQ,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_destroy_cq),
	.w_resp = sizeof(struct ib_uverbs_destroy_cq_resp),
	UV_ARGS(cq_destroy_args, cq_destroy),
	.needs = { UV_OP(destroy_cq) },
	.run = run_cq_destroy,
};

/* ---- RESIZE_CQ, MODIFY_CQ, REQ_NOTIFY_CQ ---- */

struct cq_change {
	struct ib_uobject *cq;
	u32 cqe;
	u32 attr_mask;
	u16 cq_count;
	u16 cq_period;
	u32 reserved;
	u32 solicited_only;
};

static const struct uverbs_arg cq_resize_args[] = {
	{
		.name = "cq_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_CQ,
		UV_BLOCK(cq_change, cq),
		.w = UV_AT(ib_uverbs_resize_cq, cq_handle),
	}, {
		.name = "cqe", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_change, cqe),
		.w = UV_AT(ib_uverbs_resize_cq, cqe),
	}, {
		.name = "cqe", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_change, cqe),
		.w = UV_AT(ib_uverbs_resize_cq_resp, cqe),
	},
};

static int run_cq_resize(struct uverbs_call *call)
{
	struct cq_change *args = call->args;
	struct ib_cq *cq = args->cq->object;
	int ret;

	ret = cq->device->ops.resize_cq(cq, args->cqe, &call->bundle.driver_udata);
	if (ret)
		return uverbs_refuse_below(call, ret, "cqe %u: the driver refused", args->cqe);
	args->cqe = cq->cqe;
	return 0;
}

static const struct uverbs_cmd cmd_cq_resize = {
	.name = "RESIZE_CQ",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_RESIZE_CQ,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_resize_cq),
	.w_resp = sizeof(struct ib_uverbs_resize_cq_resp),
	UV_ARGS(cq_resize_args, cq_change),
	.needs = { UV_OP(resize_cq) },
	.run = run_cq_resize,
};

static const struct uverbs_arg cq_modify_args[] = {
	{
		.name = "cq_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_CQ,
		UV_BLOCK(cq_change, cq),
		.x = UV_AT(ib_uverbs_ex_modify_cq, cq_handle),
	}, {
		.name = "attr_mask", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_change, attr_mask),
		.x = UV_AT(ib_uverbs_ex_modify_cq, attr_mask),
	}, {
		.name = "cq_count", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_change, cq_count),
		.x = UV_AT(ib_uverbs_ex_modify_cq, attr.cq_count),
	}, {
		.name = "cq_period", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_change, cq_period),
		.x = UV_AT(ib_uverbs_ex_modify_cq, attr.cq_period),
	}, {
		.name = "reserved", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_change, reserved),
		.x = UV_AT(ib_uverbs_ex_modify_cq, reserved),
	},
};

static int check_cq_modify(struct uverbs_call *call)
{
	const struct cq_change *args = call->args;

	if (!args->attr_mask || args->reserved)
		return uverbs_refuse(call, -EINVAL, "attr_mask %#x, reserved %#x", args->attr_mask,
				     args->reserved);
	if (args->attr_mask & ~(u32)IB_CQ_MODERATE)
		return uverbs_refuse(call, -EOPNOTSUPP, "attr_mask: unknown bits %#x",
				     args->attr_mask & ~(u32)IB_CQ_MODERATE);
	return 0;
}

static int run_cq_modify(struct uverbs_call *call)
{
	struct cq_change *args = call->args;
	int ret;

	ret = rdma_set_cq_moderation(args->cq->object, args->cq_count, args->cq_period);
	return ret ? uverbs_refuse_below(call, ret, "cq_count %u, cq_period %u: refused",
					 args->cq_count, args->cq_period) : 0;
}

static const struct uverbs_cmd cmd_cq_modify = {
	.name = "MODIFY_CQ",
	.method = UV_NO_METHOD,
	.w_num = UV_NO_WRITE,
	.x_num = IB_USER_VERBS_EX_CMD_MODIFY_CQ,
	.x_req = sizeof(struct ib_uverbs_ex_modify_cq),
	.x_resplen = UV_NO_RESPLEN,
	UV_ARGS(cq_modify_args, cq_change),
	.needs = { UV_OP(modify_cq) },
	.check = check_cq_modify,
	.run = run_cq_modify,
};

static const struct uverbs_arg cq_notify_args[] = {
	{
		.name = "cq_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_CQ,
		UV_BLOCK(cq_change, cq),
		.w = UV_AT(ib_uverbs_req_notify_cq, cq_handle),
	}, {
		.name = "solicited_only", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_change, solicited_only),
		.w = UV_AT(ib_uverbs_req_notify_cq, solicited_only),
	},
};

/* As in Linux 6.12, the driver's return value is ignored: user space polls after arming. */
static int run_cq_notify(struct uverbs_call *call)
{
	struct cq_change *args = call->args;

	ib_req_notify_cq(args->cq->object,
			 args->solicited_only ? IB_CQ_SOLICITED : IB_CQ_NEXT_COMP);
	return 0;
}

static const struct uverbs_cmd cmd_cq_notify = {
	.name = "REQ_NOTIFY_CQ",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_req_notify_cq),
	UV_ARGS(cq_notify_args, cq_change),
	.needs = { UV_OP(req_notify_cq) },
	.run = run_cq_notify,
};

/* ---- POLL_CQ ---- */

struct cq_poll {
	struct ib_uobject *cq;
	u32 ne;
};

static const struct uverbs_arg cq_poll_args[] = {
	{
		.name = "cq_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_CQ,
		UV_BLOCK(cq_poll, cq),
		.w = UV_AT(ib_uverbs_poll_cq, cq_handle),
	}, {
		.name = "ne", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(cq_poll, ne),
		.w = UV_AT(ib_uverbs_poll_cq, ne),
	},
};

static void wc_to_user(struct ib_uverbs_wc *to, const struct ib_wc *wc, struct ib_device *ibdev)
{
	*to = (struct ib_uverbs_wc){
		.wr_id = wc->wr_id,
		.status = wc->status,
		.opcode = wc->opcode,
		.vendor_err = wc->vendor_err,
		.byte_len = wc->byte_len,
		.ex.imm_data = wc->ex.imm_data,
		.qp_num = wc->qp->qp_num,
		.src_qp = wc->src_qp,
		.wc_flags = wc->wc_flags,
		.pkey_index = wc->pkey_index,
		.slid = rdma_cap_opa_ah(ibdev, wc->port_num) ? OPA_TO_IB_UCAST_LID(wc->slid) :
							       ib_lid_cpu16(wc->slid),
		.sl = wc->sl,
		.dlid_path_bits = wc->dlid_path_bits,
		.port_num = wc->port_num,
	};
}

/*
 * Completions that were polled before the driver failed are delivered; the next poll reports the
 * error.
 */
static int poll_to(struct uverbs_call *call, const struct uverbs_pinned *to)
{
	struct cq_poll *args = call->args;
	struct ib_cq *cq = args->cq->object;
	struct ib_uverbs_poll_cq_resp resp = {};
	struct ib_uverbs_wc uwc;
	struct ib_wc wc;
	int ret = 0;

	while (resp.count < args->ne) {
		ret = ib_poll_cq(cq, 1, &wc);
		if (ret <= 0)
			break;
		wc_to_user(&uwc, &wc, cq->device);
		uverbs_write_pinned(to, sizeof(resp) + resp.count * sizeof(uwc), &uwc, sizeof(uwc));
		resp.count++;
	}
	if (ret < 0 && !resp.count)
		return uverbs_refuse_below(call, ret, "the driver cannot poll");
	uverbs_write_pinned(to, 0, &resp, sizeof(resp));
	return 0;
}

/*
 * A completion that was polled and cannot be delivered would be lost, so the response is pinned
 * before the driver is called.
 */
static int run_cq_poll(struct uverbs_call *call)
{
	struct cq_poll *args = call->args;
	size_t head = sizeof(struct ib_uverbs_poll_cq_resp);
	size_t room = (call->resp_len - head) / sizeof(struct ib_uverbs_wc);
	struct uverbs_pinned to;
	int ret;

	if (args->ne > room)
		return uverbs_refuse(call, -ENOSPC, "ne %u, the response has room for %zu",
				     args->ne, room);
	ret = uverbs_pin_response(call, head + args->ne * sizeof(struct ib_uverbs_wc), &to);
	if (ret)
		return ret;
	ret = poll_to(call, &to);
	uverbs_unpin_response(&to);
	return ret;
}

static const struct uverbs_cmd cmd_cq_poll = {
	.name = "POLL_CQ",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_POLL_CQ,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_STREAM_OUT,
	.w_req = sizeof(struct ib_uverbs_poll_cq),
	.w_resp = sizeof(struct ib_uverbs_poll_cq_resp),
	UV_ARGS(cq_poll_args, cq_poll),
	.needs = { UV_OP(poll_cq) },
	.run = run_cq_poll,
};

const struct uverbs_object_desc uverbs_object_cq = {
	.id = UVERBS_OBJECT_CQ,
	.type = &UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_ucq_object), cq_destroy),
	.need = UV_OP(destroy_cq),
	UV_COMMANDS(&cmd_cq_create, &cmd_cq_destroy, &cmd_cq_resize, &cmd_cq_modify,
		    &cmd_cq_poll, &cmd_cq_notify),
};
