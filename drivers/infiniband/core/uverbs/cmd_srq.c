// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues.
 */

#include "../verbs/verbs.h"
#include "commands.h"

static struct ib_usrq_object *to_usrq(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_usrq_object, uevent.uobject);
}

static int srq_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		       struct uverbs_attr_bundle *attrs)
{
	struct ib_usrq_object *usrq = to_usrq(uobj);
	int ret;

	ret = ib_destroy_srq_user(uobj->object, &attrs->driver_udata);
	if (!ret) {
		uverbs_xrcd_unuse(usrq->uxrcd);
		uverbs_uevent_release(&usrq->uevent);
	}
	return ret;
}

/* ---- CREATE_SRQ, CREATE_XSRQ ---- */

struct srq_create {
	struct ib_uobject *srq;
	struct ib_uobject *pd;
	struct ib_uobject *xrcd;
	struct ib_uobject *cq;
	struct ib_uobject *event_file;
	u64 user_handle;
	u32 type;
	u32 max_wr;
	u32 max_sge;
	u32 limit;
	u32 max_num_tags;
	u32 srq_num;
};

/* has_xrcd() and has_cq(): which arguments a type of SRQ has beyond those of a basic one. */
static bool has_xrcd(const void *block)
{
	return ((const struct srq_create *)block)->type == IB_SRQT_XRC;
}

static bool has_cq(const void *block)
{
	return ib_srq_has_cq(((const struct srq_create *)block)->type);
}

/* Rows of CREATE_SRQ, whose write() form makes basic SRQs only; its ioctl form makes all types. */
static const struct uverbs_arg srq_create_args[] = {
	{
		.name = "srq_handle", .kind = UV_NEW, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_SRQ_HANDLE, .type = UVERBS_OBJECT_SRQ,
		UV_BLOCK(srq_create, srq),
	}, {
		.name = "srq_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, srq),
		.w = UV_AT(ib_uverbs_create_srq_resp, srq_handle),
	}, {
		.name = "user_handle", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_SRQ_USER_HANDLE,
		UV_BLOCK(srq_create, user_handle),
		.w = UV_AT(ib_uverbs_create_srq, user_handle),
	}, {
		.name = "srq_type", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_CREATE_SRQ_TYPE,
		UV_BLOCK(srq_create, type),
	}, {
		.name = "max_wr", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_SRQ_MAX_WR,
		UV_BLOCK(srq_create, max_wr),
		.w = UV_AT(ib_uverbs_create_srq, max_wr),
	}, {
		.name = "max_sge", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_SRQ_MAX_SGE,
		UV_BLOCK(srq_create, max_sge),
		.w = UV_AT(ib_uverbs_create_srq, max_sge),
	}, {
		.name = "srq_limit", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_SRQ_LIMIT,
		UV_BLOCK(srq_create, limit),
		.w = UV_AT(ib_uverbs_create_srq, srq_limit),
	}, {
		.name = "max_num_tags", .kind = UV_INT,
		.attr = UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS,
		UV_BLOCK(srq_create, max_num_tags),
	}, {
		.name = "pd_handle", .kind = UV_READ, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_SRQ_PD_HANDLE, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(srq_create, pd),
		.w = UV_AT(ib_uverbs_create_srq, pd_handle),
	}, {
		.name = "xrcd_handle", .kind = UV_READ,
		.attr = UVERBS_ATTR_CREATE_SRQ_XRCD_HANDLE, .type = UVERBS_OBJECT_XRCD,
		UV_BLOCK(srq_create, xrcd),
	}, {
		.name = "cq_handle", .kind = UV_READ,
		.attr = UVERBS_ATTR_CREATE_SRQ_CQ_HANDLE, .type = UVERBS_OBJECT_CQ,
		UV_BLOCK(srq_create, cq),
	}, {
		.name = "event_fd", .kind = UV_READ, .flags = UV_F_FD,
		.attr = UVERBS_ATTR_CREATE_SRQ_EVENT_FD, .type = UVERBS_OBJECT_ASYNC_EVENT,
		UV_BLOCK(srq_create, event_file),
	}, {
		.name = "resp_max_wr", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_SRQ_RESP_MAX_WR,
		UV_BLOCK(srq_create, max_wr),
		.w = UV_AT(ib_uverbs_create_srq_resp, max_wr),
	}, {
		.name = "resp_max_sge", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_SRQ_RESP_MAX_SGE,
		UV_BLOCK(srq_create, max_sge),
		.w = UV_AT(ib_uverbs_create_srq_resp, max_sge),
	}, {
		/* Only an XRC SRQ has a number, by which a peer names it. */
		.name = "srq_num", .kind = UV_OUT, .attr = UVERBS_ATTR_CREATE_SRQ_RESP_SRQ_NUM,
		UV_BLOCK(srq_create, srq_num),
		.when = has_xrcd,
	},
};

/* Rows of the write() request for SRQs of all kinds. */
static const struct uverbs_arg xsrq_create_args[] = {
	{
		.name = "srq", .kind = UV_NEW, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_SRQ,
		UV_BLOCK(srq_create, srq),
	}, {
		.name = "srq_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, srq),
		.w = UV_AT(ib_uverbs_create_srq_resp, srq_handle),
	}, {
		.name = "user_handle", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, user_handle),
		.w = UV_AT(ib_uverbs_create_xsrq, user_handle),
	}, {
		.name = "srq_type", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, type),
		.w = UV_AT(ib_uverbs_create_xsrq, srq_type),
	}, {
		.name = "max_wr", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, max_wr),
		.w = UV_AT(ib_uverbs_create_xsrq, max_wr),
	}, {
		.name = "max_sge", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, max_sge),
		.w = UV_AT(ib_uverbs_create_xsrq, max_sge),
	}, {
		.name = "srq_limit", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, limit),
		.w = UV_AT(ib_uverbs_create_xsrq, srq_limit),
	}, {
		.name = "max_num_tags", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, max_num_tags),
		.w = UV_AT(ib_uverbs_create_xsrq, max_num_tags),
	}, {
		.name = "xrcd_handle", .kind = UV_READ, .attr = UV_NO_ATTR,
		.type = UVERBS_OBJECT_XRCD,
		UV_BLOCK(srq_create, xrcd),
		.w = UV_AT(ib_uverbs_create_xsrq, xrcd_handle),
		.when = has_xrcd,
	}, {
		.name = "cq_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_CQ,
		UV_BLOCK(srq_create, cq),
		.w = UV_AT(ib_uverbs_create_xsrq, cq_handle),
		.when = has_cq,
	}, {
		.name = "pd_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(srq_create, pd),
		.w = UV_AT(ib_uverbs_create_xsrq, pd_handle),
	}, {
		.name = "max_wr", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, max_wr),
		.w = UV_AT(ib_uverbs_create_srq_resp, max_wr),
	}, {
		.name = "max_sge", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, max_sge),
		.w = UV_AT(ib_uverbs_create_srq_resp, max_sge),
	}, {
		.name = "srqn", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_create, srq_num),
		.w = UV_AT(ib_uverbs_create_srq_resp, srqn),
	},
};

/*
 * Checks the attributes of the ioctl form against the type.  The write() form always carries the
 * handles that a type needs, and leaves unknown types to the driver.
 */
static int check_ioctl_type(struct uverbs_call *call, const struct srq_create *args)
{
	if (has_cq(args) && !args->cq)
		return uverbs_refuse(call, -ENOENT, "cq_handle is missing");
	switch (args->type) {
	case IB_SRQT_BASIC:
		return 0;
	case IB_SRQT_XRC:
		return args->xrcd ? 0 : uverbs_refuse(call, -ENOENT, "xrcd_handle is missing");
	case IB_SRQT_TM:
		if (uverbs_attr_is_valid(&call->bundle, UVERBS_ATTR_CREATE_SRQ_MAX_NUM_TAGS))
			return 0;
		return uverbs_refuse(call, -ENOENT, "max_num_tags is missing");
	default:
		return uverbs_refuse(call, -EINVAL, "srq_type %u is unknown", args->type);
	}
}

static int run_srq_create(struct uverbs_call *call)
{
	struct srq_create *args = call->args;
	struct ib_usrq_object *usrq = to_usrq(args->srq);
	struct ib_srq_init_attr attr = {
		.event_handler = uverbs_srq_event_handler,
		.srq_type = args->type,
		.attr.max_wr = args->max_wr,
		.attr.max_sge = args->max_sge,
		.attr.srq_limit = args->limit,
	};
	struct ib_srq *srq;
	int ret = 0;

	if (!call->written)
		ret = check_ioctl_type(call, args);
	if (ret)
		return ret;
	if (has_cq(args))
		attr.ext.cq = args->cq->object;
	if (args->type == IB_SRQT_XRC)
		attr.ext.xrc.xrcd = args->xrcd->object;
	else if (args->type == IB_SRQT_TM)
		attr.ext.tag_matching.max_num_tags = args->max_num_tags;

	args->srq->user_handle = args->user_handle;
	uverbs_uevent_init(&usrq->uevent, args->event_file);
	srq = ib_create_srq_user(args->pd->object, &attr, usrq, &call->bundle.driver_udata);
	if (IS_ERR(srq)) {
		uverbs_uevent_release(&usrq->uevent);
		return uverbs_refuse_below(call, PTR_ERR(srq), "srq_type %u, %u WRs: refused",
					   args->type, args->max_wr);
	}
	args->srq->object = srq;
	if (args->type == IB_SRQT_XRC)
		usrq->uxrcd = uverbs_xrcd_use(args->xrcd);
	uverbs_mark_hw(call, args->srq);
	args->max_wr = attr.attr.max_wr;
	args->max_sge = attr.attr.max_sge;
	if (args->type == IB_SRQT_XRC)
		args->srq_num = srq->ext.xrc.srq_num;
	return 0;
}

static const struct uverbs_cmd cmd_srq_create = {
	.name = "CREATE_SRQ",
	.method = UVERBS_METHOD_SRQ_CREATE,
	.w_num = IB_USER_VERBS_CMD_CREATE_SRQ,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_UHW | UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_create_srq),
	.w_resp = sizeof(struct ib_uverbs_create_srq_resp),
	UV_ARGS(srq_create_args, srq_create),
	.needs = { UV_OP(create_srq) },
	.run = run_srq_create,
};

static const struct uverbs_cmd cmd_xsrq_create = {
	.name = "CREATE_XSRQ",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_CREATE_XSRQ,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_create_xsrq),
	.w_resp = sizeof(struct ib_uverbs_create_srq_resp),
	UV_ARGS(xsrq_create_args, srq_create),
	.needs = { UV_OP(create_srq) },
	.run = run_srq_create,
};

/* ---- MODIFY_SRQ, QUERY_SRQ ---- */

struct srq_attrs {
	struct ib_uobject *srq;
	u32 attr_mask;
	u32 max_wr;
	u32 limit;
	struct ib_uverbs_query_srq_resp resp;
};

static const struct uverbs_arg srq_modify_args[] = {
	{
		.name = "srq_handle", .kind = UV_READ, .attr = UV_NO_ATTR,
		.type = UVERBS_OBJECT_SRQ,
		UV_BLOCK(srq_attrs, srq),
		.w = UV_AT(ib_uverbs_modify_srq, srq_handle),
	}, {
		.name = "attr_mask", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_attrs, attr_mask),
		.w = UV_AT(ib_uverbs_modify_srq, attr_mask),
	}, {
		.name = "max_wr", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_attrs, max_wr),
		.w = UV_AT(ib_uverbs_modify_srq, max_wr),
	}, {
		.name = "srq_limit", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_attrs, limit),
		.w = UV_AT(ib_uverbs_modify_srq, srq_limit),
	},
};

/* The driver checks the mask. */
static int run_srq_modify(struct uverbs_call *call)
{
	struct srq_attrs *args = call->args;
	struct ib_srq *srq = args->srq->object;
	struct ib_srq_attr attr = { .max_wr = args->max_wr, .srq_limit = args->limit };
	int ret;

	ret = srq->device->ops.modify_srq(srq, &attr, args->attr_mask,
					  &call->bundle.driver_udata);
	return ret ? uverbs_refuse_below(call, ret,
					 "attr_mask %#x, max_wr %u, srq_limit %u: refused",
					 args->attr_mask, args->max_wr, args->limit) : 0;
}

static const struct uverbs_cmd cmd_srq_modify = {
	.name = "MODIFY_SRQ",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_MODIFY_SRQ,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_modify_srq),
	UV_ARGS(srq_modify_args, srq_attrs),
	.needs = { UV_OP(modify_srq) },
	.run = run_srq_modify,
};

static const struct uverbs_arg srq_query_args[] = {
	{
		.name = "srq_handle", .kind = UV_READ, .attr = UV_NO_ATTR,
		.type = UVERBS_OBJECT_SRQ,
		UV_BLOCK(srq_attrs, srq),
		.w = UV_AT(ib_uverbs_query_srq, srq_handle),
	}, {
		.name = "response", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(srq_attrs, resp),
		.w = UV_SPAN(ib_uverbs_query_srq_resp),
	},
};

static int run_srq_query(struct uverbs_call *call)
{
	struct srq_attrs *args = call->args;
	struct ib_srq_attr attr = {};
	int ret;

	ret = ib_query_srq(args->srq->object, &attr);
	if (ret)
		return uverbs_refuse_below(call, ret, "the driver refused");
	args->resp.max_wr = attr.max_wr;
	args->resp.max_sge = attr.max_sge;
	args->resp.srq_limit = attr.srq_limit;
	return 0;
}

static const struct uverbs_cmd cmd_srq_query = {
	.name = "QUERY_SRQ",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_QUERY_SRQ,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_query_srq),
	.w_resp = sizeof(struct ib_uverbs_query_srq_resp),
	UV_ARGS(srq_query_args, srq_attrs),
	.needs = { UV_OP(query_srq) },
	.run = run_srq_query,
};

/* ---- DESTROY_SRQ ---- */

struct srq_destroy {
	struct ib_uobject *srq;
	struct ib_uverbs_destroy_srq_resp resp;
};

static const struct uverbs_arg srq_destroy_args[] = {
	{
		.name = "srq_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_SRQ_HANDLE, .type = UVERBS_OBJECT_SRQ,
		UV_BLOCK(srq_destroy, srq),
		.w = UV_AT(ib_uverbs_destroy_srq, srq_handle),
	}, {
		.name = "response", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_SRQ_RESP,
		UV_BLOCK(srq_destroy, resp),
		.w = UV_SPAN(ib_uverbs_destroy_srq_resp),
	},
};

/* A library waits until the program has acknowledged as many events as this returns. */
static int run_srq_destroy(struct uverbs_call *call)
{
	struct srq_destroy *args = call->args;

	args->resp.events_reported = to_usrq(args->srq)->uevent.events_reported;
	return 0;
}

static const struct uverbs_cmd cmd_srq_destroy = {
	.name = "DESTROY_SRQ",
	.method = UVERBS_METHOD_SRQ_DESTROY,
	.w_num = IB_USER_VERBS_CMD_DESTROY_SRQ,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_destroy_srq),
	.w_resp = sizeof(struct ib_uverbs_destroy_srq_resp),
	UV_ARGS(srq_destroy_args, srq_destroy),
	.needs = { UV_OP(destroy_srq) },
	.run = run_srq_destroy,
};

const struct uverbs_object_desc uverbs_object_srq = {
	.id = UVERBS_OBJECT_SRQ,
	.type = &UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_usrq_object), srq_destroy),
	.need = UV_OP(destroy_srq),
	UV_COMMANDS(&cmd_srq_create, &cmd_xsrq_create, &cmd_srq_modify, &cmd_srq_query,
		    &cmd_srq_destroy),
};
