// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work queues that belong to no queue pair.
 */

#include "../verbs/verbs.h"
#include "commands.h"

static struct ib_uwq_object *to_uwq(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_uwq_object, uevent.uobject);
}

static int wq_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	int ret = ib_destroy_wq_user(uobj->object, &attrs->driver_udata);

	if (!ret)
		uverbs_uevent_release(&to_uwq(uobj)->uevent);
	return ret;
}

/* ---- CREATE_WQ ---- */

struct wq_create {
	struct ib_uobject *wq;
	struct ib_uobject *pd;
	struct ib_uobject *cq;
	struct ib_uobject *event_file;
	u64 user_handle;
	u32 comp_mask;
	u32 type;
	u32 flags;
	u32 max_wr;
	u32 max_sge;
	u32 wq_num;
};

/* The rows of one size: the wanted one in the request, the granted one in the response. */
#define SIZE_ARGS(_attr, _member)							\
	{										\
		.name = #_member, .kind = UV_INT, .flags = UV_F_MANDATORY,		\
		.attr = UVERBS_ATTR_CREATE_WQ_##_attr,					\
		UV_BLOCK(wq_create, _member), .x = UV_AT(ib_uverbs_ex_create_wq, _member), \
	}, {										\
		.name = #_member, .kind = UV_OUT, .flags = UV_F_MANDATORY,		\
		.attr = UVERBS_ATTR_CREATE_WQ_RESP_##_attr,				\
		UV_BLOCK(wq_create, _member),						\
		.x = UV_AT(ib_uverbs_ex_create_wq_resp, _member),			\
	}

static const struct uverbs_arg wq_create_args[] = {
	{
		.name = "wq_handle", .kind = UV_NEW, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_WQ_HANDLE, .type = UVERBS_OBJECT_WQ,
		UV_BLOCK(wq_create, wq),
	}, {
		.name = "wq_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_create, wq), .x = UV_AT(ib_uverbs_ex_create_wq_resp, wq_handle),
	}, {
		.name = "comp_mask", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_create, comp_mask), .x = UV_AT(ib_uverbs_ex_create_wq, comp_mask),
	}, {
		.name = "user_handle", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_WQ_USER_HANDLE,
		UV_BLOCK(wq_create, user_handle),
		.x = UV_AT(ib_uverbs_ex_create_wq, user_handle),
	}, {
		.name = "wq_type", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_CREATE_WQ_TYPE,
		UV_BLOCK(wq_create, type), .x = UV_AT(ib_uverbs_ex_create_wq, wq_type),
	}, {
		.name = "flags", .kind = UV_MASK, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_WQ_FLAGS,
		UV_BLOCK(wq_create, flags),
		.mask = IB_UVERBS_WQ_FLAGS_CVLAN_STRIPPING | IB_UVERBS_WQ_FLAGS_SCATTER_FCS |
			IB_UVERBS_WQ_FLAGS_DELAY_DROP | IB_UVERBS_WQ_FLAGS_PCI_WRITE_END_PADDING,
	}, {
		/* In this form the driver checks the flags. */
		.name = "create_flags", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_create, flags), .x = UV_AT(ib_uverbs_ex_create_wq, create_flags),
	},
	SIZE_ARGS(MAX_WR, max_wr), SIZE_ARGS(MAX_SGE, max_sge),
	{
		.name = "pd_handle", .kind = UV_READ, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_WQ_PD_HANDLE, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(wq_create, pd), .x = UV_AT(ib_uverbs_ex_create_wq, pd_handle),
	}, {
		.name = "cq_handle", .kind = UV_READ,
		.attr = UVERBS_ATTR_CREATE_WQ_CQ_HANDLE, .type = UVERBS_OBJECT_CQ,
		UV_BLOCK(wq_create, cq), .x = UV_AT(ib_uverbs_ex_create_wq, cq_handle),
	}, {
		.name = "event_fd", .kind = UV_READ, .flags = UV_F_FD,
		.attr = UVERBS_ATTR_CREATE_WQ_EVENT_FD, .type = UVERBS_OBJECT_ASYNC_EVENT,
		UV_BLOCK(wq_create, event_file),
	}, {
		.name = "wq_num", .kind = UV_OUT, .attr = UVERBS_ATTR_CREATE_WQ_RESP_WQ_NUM,
		UV_BLOCK(wq_create, wq_num), .x = UV_AT(ib_uverbs_ex_create_wq_resp, wqn),
	},
};

static int check_wq_create(struct uverbs_call *call)
{
	const struct wq_create *args = call->args;

	if (args->comp_mask)
		return uverbs_refuse(call, -EOPNOTSUPP, "comp_mask: unknown bits %#x",
				     args->comp_mask);
	/* The extended write() form leaves other types to the driver. */
	if (!call->written && args->type != IB_UVERBS_WQT_RQ)
		return uverbs_refuse(call, -EINVAL, "wq_type %u is unknown", args->type);
	return 0;
}

static int run_wq_create(struct uverbs_call *call)
{
	struct wq_create *args = call->args;
	struct ib_uwq_object *uwq = to_uwq(args->wq);
	struct ib_wq_init_attr attr = {
		.event_handler = uverbs_wq_event_handler,
		.wq_type = args->type,
		.max_wr = args->max_wr,
		.max_sge = args->max_sge,
		.create_flags = args->flags,
	};
	struct ib_wq *wq;

	if (!args->cq)
		return uverbs_refuse(call, -ENOENT, "cq_handle is missing");
	attr.cq = args->cq->object;
	args->wq->user_handle = args->user_handle;
	uverbs_uevent_init(&uwq->uevent, args->event_file);
	wq = ib_create_wq_user(args->pd->object, uwq, &attr, &call->bundle.driver_udata);
	if (IS_ERR(wq)) {
		uverbs_uevent_release(&uwq->uevent);
		return uverbs_refuse_below(call, PTR_ERR(wq), "wq_type %u, %u WRs: refused",
					   args->type, args->max_wr);
	}
	args->wq->object = wq;
	uverbs_mark_hw(call, args->wq);
	args->max_wr = attr.max_wr;
	args->max_sge = attr.max_sge;
	args->wq_num = wq->wq_num;
	return 0;
}

static const struct uverbs_cmd cmd_wq_create = {
	.name = "CREATE_WQ",
	.method = UVERBS_METHOD_WQ_CREATE,
	.w_num = UV_NO_WRITE,
	.x_num = IB_USER_VERBS_EX_CMD_CREATE_WQ,
	.flags = UV_C_UHW,
	.x_req = sizeof(struct ib_uverbs_ex_create_wq),
	.x_resp = sizeof(struct ib_uverbs_ex_create_wq_resp),
	.x_resplen = offsetof(struct ib_uverbs_ex_create_wq_resp, response_length),
	UV_ARGS(wq_create_args, wq_create),
	.needs = { UV_OP(create_wq) },
	.check = check_wq_create,
	.run = run_wq_create,
};

/* ---- MODIFY_WQ ---- */

struct wq_modify {
	struct ib_uobject *wq;
	u32 attr_mask;
	u32 state;
	u32 cur_state;
	u32 flags;
	u32 flags_mask;
};

static const struct uverbs_arg wq_modify_args[] = {
	{
		.name = "attr_mask", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_modify, attr_mask), .x = UV_AT(ib_uverbs_ex_modify_wq, attr_mask),
	}, {
		.name = "wq_state", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_modify, state), .x = UV_AT(ib_uverbs_ex_modify_wq, wq_state),
	}, {
		.name = "curr_wq_state", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_modify, cur_state), .x = UV_AT(ib_uverbs_ex_modify_wq, curr_wq_state),
	}, {
		.name = "flags", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_modify, flags), .x = UV_AT(ib_uverbs_ex_modify_wq, flags),
	}, {
		.name = "flags_mask", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_modify, flags_mask), .x = UV_AT(ib_uverbs_ex_modify_wq, flags_mask),
	}, {
		.name = "wq_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_WQ,
		UV_BLOCK(wq_modify, wq), .x = UV_AT(ib_uverbs_ex_modify_wq, wq_handle),
	},
};

static int check_wq_modify(struct uverbs_call *call)
{
	const struct wq_modify *args = call->args;
	u32 known = IB_WQ_STATE | IB_WQ_CUR_STATE | IB_WQ_FLAGS;

	if (!args->attr_mask)
		return uverbs_refuse(call, -EINVAL, "attr_mask: nothing to change");
	if (args->attr_mask & ~known)
		return uverbs_refuse(call, -EINVAL, "attr_mask: unknown bits %#x",
				     args->attr_mask & ~known);
	return 0;
}

/* A state that the mask does not name is the current one. */
static int wq_states(struct uverbs_call *call, const struct wq_modify *args, struct ib_wq *wq,
		     struct ib_wq_attr *attr)
{
	bool from = args->attr_mask & IB_WQ_CUR_STATE, to = args->attr_mask & IB_WQ_STATE;

	if (from && args->cur_state > IB_WQS_ERR)
		return uverbs_refuse(call, -EINVAL, "curr_wq_state %u is unknown",
				     args->cur_state);
	if (to && args->state > IB_WQS_ERR)
		return uverbs_refuse(call, -EINVAL, "wq_state %u is unknown", args->state);
	attr->curr_wq_state = from ? args->cur_state : wq->state;
	attr->wq_state = to ? args->state : attr->curr_wq_state;
	return 0;
}

static int run_wq_modify(struct uverbs_call *call)
{
	struct wq_modify *args = call->args;
	struct ib_wq *wq = args->wq->object;
	struct ib_wq_attr attr = {};
	int ret;

	ret = wq_states(call, args, wq, &attr);
	if (ret)
		return ret;
	if (args->attr_mask & IB_WQ_FLAGS) {
		attr.flags = args->flags;
		attr.flags_mask = args->flags_mask;
	}
	ret = wq->device->ops.modify_wq(wq, &attr, args->attr_mask, &call->bundle.driver_udata);
	return ret ? uverbs_refuse_below(call, ret, "attr_mask %#x, wq_state %u: refused",
					 args->attr_mask, attr.wq_state) : 0;
}

static const struct uverbs_cmd cmd_wq_modify = {
	.name = "MODIFY_WQ",
	.method = UV_NO_METHOD,
	.w_num = UV_NO_WRITE,
	.x_num = IB_USER_VERBS_EX_CMD_MODIFY_WQ,
	.x_req = sizeof(struct ib_uverbs_ex_modify_wq),
	.x_resplen = UV_NO_RESPLEN,
	UV_ARGS(wq_modify_args, wq_modify),
	.needs = { UV_OP(modify_wq) },
	.check = check_wq_modify,
	.run = run_wq_modify,
};

/* ---- DESTROY_WQ ---- */

struct wq_destroy {
	struct ib_uobject *wq;
	u32 comp_mask;
	u32 events;
};

static const struct uverbs_arg wq_destroy_args[] = {
	{
		.name = "comp_mask", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_destroy, comp_mask), .x = UV_AT(ib_uverbs_ex_destroy_wq, comp_mask),
	}, {
		.name = "wq_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_WQ_HANDLE, .type = UVERBS_OBJECT_WQ,
		UV_BLOCK(wq_destroy, wq), .x = UV_AT(ib_uverbs_ex_destroy_wq, wq_handle),
	}, {
		.name = "events_reported", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_WQ_RESP,
		UV_BLOCK(wq_destroy, events),
		.x = UV_AT(ib_uverbs_ex_destroy_wq_resp, events_reported),
	},
};

static int check_wq_destroy(struct uverbs_call *call)
{
	const struct wq_destroy *args = call->args;

	return args->comp_mask ? uverbs_refuse(call, -EOPNOTSUPP, "comp_mask: unknown bits %#x",
					       args->comp_mask) : 0;
}

/* A library waits until the program has acknowledged as many events as this returns. */
static int run_wq_destroy(struct uverbs_call *call)
{
	struct wq_destroy *args = call->args;

	args->events = to_uwq(args->wq)->uevent.events_reported;
	return 0;
}

static const struct uverbs_cmd cmd_wq_destroy = {
	.name = "DESTROY_WQ",
	.method = UVERBS_METHOD_WQ_DESTROY,
	.w_num = UV_NO_WRITE,
	.x_num = IB_USER_VERBS_EX_CMD_DESTROY_WQ,
	.x_req = sizeof(struct ib_uverbs_ex_destroy_wq),
	.x_resp = sizeof(struct ib_uverbs_ex_destroy_wq_resp),
	.x_resplen = offsetof(struct ib_uverbs_ex_destroy_wq_resp, response_length),
	UV_ARGS(wq_destroy_args, wq_destroy),
	.needs = { UV_OP(destroy_wq) },
	.check = check_wq_destroy,
	.run = run_wq_destroy,
};

const struct uverbs_object_desc uverbs_object_wq = {
	.id = UVERBS_OBJECT_WQ,
	.type = &UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uwq_object), wq_destroy),
	.need = UV_OP(destroy_wq),
	UV_COMMANDS(&cmd_wq_create, &cmd_wq_modify, &cmd_wq_destroy),
};
