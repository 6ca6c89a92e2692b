// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Creation and destruction of queue pairs.
 */
#include <linux/capability.h>

#include "../verbs/verbs.h"
#include "commands.h"

static struct ib_uqp_object *to_uqp(struct ib_uobject *uobj)
{
	return container_of(uobj, struct ib_uqp_object, uevent.uobject);
}

static int qp_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	struct ib_uqp_object *uqp = to_uqp(uobj);
	int ret = 0;

	/*
	 * A program must detach its QP before it destroys it.  In teardown nobody does, since an
	 * attachment has no handle that would be destroyed before the QP.
	 */
	if (why != RDMA_REMOVE_DESTROY)
		ret = uverbs_groups_leave(uqp);
	if (!ret)
		ret = ib_destroy_qp_user(uobj->object, &attrs->driver_udata);
	if (!ret) {
		uverbs_xrcd_unuse(uqp->uxrcd);
		uverbs_uevent_release(&uqp->uevent);
	}
	return ret;
}

/* ---- CREATE_QP ---- */

struct qp_create {
	struct ib_uobject *qp;
	struct ib_uobject *pd;
	struct ib_uobject *xrcd;
	struct ib_uobject *send_cq;
	struct ib_uobject *recv_cq;
	struct ib_uobject *srq;
	struct ib_uobject *ind_table;
	struct ib_uobject *event_file;
	u64 user_handle;
	u32 type;
	u32 flags;
	u32 source_qpn;
	u32 qp_num;
	struct ib_uverbs_qp_cap cap;
	u32 comp_mask;
	u32 reserved;
	u8 is_srq;
	u8 sq_sig_all;
};

/* Which handles of the write() forms are used; an ioctl leaves out attributes it does not use. */
static bool uses_xrcd(const void *block)
{
	return ((const struct qp_create *)block)->type == IB_QPT_XRC_TGT;
}

static bool uses_pd(const void *block)
{
	return !uses_xrcd(block);
}

static bool uses_ind_table(const void *block)
{
	return ((const struct qp_create *)block)->comp_mask & IB_UVERBS_CREATE_QP_MASK_IND_TABLE;
}

static bool uses_send_cq(const void *block)
{
	const struct qp_create *args = block;

	return uses_pd(args) && (!uses_ind_table(args) || args->cap.max_send_wr);
}

static bool uses_recv_cq(const void *block)
{
	const struct qp_create *args = block;

	return uses_pd(args) && !uses_ind_table(args) && args->type != IB_QPT_XRC_INI;
}

static bool uses_srq(const void *block)
{
	const struct qp_create *args = block;

	return uses_pd(args) && args->type != IB_QPT_XRC_INI && args->is_srq;
}

/*
 * The rows of one limit: a member of request and response in the write() forms; the ioctl has one
 * structure for all limits.
 */
#define CAP_ARGS(_member)								\
	{										\
		.name = #_member, .kind = UV_INT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(qp_create, cap._member),					\
		.w = UV_AT(ib_uverbs_create_qp, _member),				\
		.x = UV_AT(ib_uverbs_ex_create_qp, _member),				\
	}, {										\
		.name = #_member, .kind = UV_OUT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(qp_create, cap._member),					\
		.w = UV_AT(ib_uverbs_create_qp_resp, _member),				\
		.x = UV_AT(ib_uverbs_ex_create_qp_resp, base._member),			\
	}

#define HANDLE_ARG(_name, _attr, _type, _member, _field, _when)				\
	{										\
		.name = _name, .kind = UV_READ, .attr = _attr, .type = _type,		\
		UV_BLOCK(qp_create, _member),						\
		.w = UV_AT(ib_uverbs_create_qp, _field),				\
		.x = UV_AT(ib_uverbs_ex_create_qp, _field),				\
		.when = _when,								\
	}

static const struct uverbs_arg qp_create_args[] = {
	{
		.name = "qp_handle", .kind = UV_NEW, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_QP_HANDLE, .type = UVERBS_OBJECT_QP,
		UV_BLOCK(qp_create, qp),
	}, {
		.name = "qp_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_create, qp),
		.w = UV_AT(ib_uverbs_create_qp_resp, qp_handle),
		.x = UV_AT(ib_uverbs_ex_create_qp_resp, base.qp_handle),
	}, {
		.name = "user_handle", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_QP_USER_HANDLE,
		UV_BLOCK(qp_create, user_handle),
		.w = UV_AT(ib_uverbs_create_qp, user_handle),
		.x = UV_AT(ib_uverbs_ex_create_qp, user_handle),
	}, {
		.name = "qp_type", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_CREATE_QP_TYPE,
		UV_BLOCK(qp_create, type),
		.w = UV_AT(ib_uverbs_create_qp, qp_type),
		.x = UV_AT(ib_uverbs_ex_create_qp, qp_type),
	}, {
		.name = "cap", .kind = UV_BLOB, .flags = UV_F_MANDATORY | UV_F_ZERO_TAIL,
		.attr = UVERBS_ATTR_CREATE_QP_CAP,
		.min = offsetofend(struct ib_uverbs_qp_cap, max_inline_data),
		UV_BLOCK(qp_create, cap),
	}, {
		.name = "resp_cap", .kind = UV_OUT, .flags = UV_F_MANDATORY | UV_F_ZERO_TAIL,
		.attr = UVERBS_ATTR_CREATE_QP_RESP_CAP,
		.min = offsetofend(struct ib_uverbs_qp_cap, max_inline_data),
		UV_BLOCK(qp_create, cap),
	},
	CAP_ARGS(max_send_wr), CAP_ARGS(max_recv_wr), CAP_ARGS(max_send_sge),
	CAP_ARGS(max_recv_sge), CAP_ARGS(max_inline_data),
	{
		.name = "flags", .kind = UV_MASK, .attr = UVERBS_ATTR_CREATE_QP_FLAGS,
		UV_BLOCK(qp_create, flags),
		.mask = IB_UVERBS_QP_CREATE_BLOCK_MULTICAST_LOOPBACK |
			IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING |
			IB_UVERBS_QP_CREATE_PCI_WRITE_END_PADDING |
			IB_UVERBS_QP_CREATE_SQ_SIG_ALL,
	}, {
		.name = "create_flags", .kind = UV_MASK, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_create, flags),
		.x = UV_AT(ib_uverbs_ex_create_qp, create_flags),
		.mask = IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK | IB_QP_CREATE_CROSS_CHANNEL |
			IB_QP_CREATE_MANAGED_SEND | IB_QP_CREATE_MANAGED_RECV |
			IB_QP_CREATE_SCATTER_FCS | IB_QP_CREATE_CVLAN_STRIPPING |
			IB_QP_CREATE_SOURCE_QPN | IB_QP_CREATE_PCI_WRITE_END_PADDING,
	}, {
		.name = "source_qpn", .kind = UV_INT, .attr = UVERBS_ATTR_CREATE_QP_SOURCE_QPN,
		UV_BLOCK(qp_create, source_qpn),
		.x = UV_AT(ib_uverbs_ex_create_qp, source_qpn),
	}, {
		.name = "comp_mask", .kind = UV_MASK, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_create, comp_mask),
		.x = UV_AT(ib_uverbs_ex_create_qp, comp_mask),
		.mask = IB_UVERBS_CREATE_QP_SUP_COMP_MASK,
	}, {
		.name = "reserved", .kind = UV_MASK, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_create, reserved),
		.x = UV_AT(ib_uverbs_ex_create_qp, reserved),
	}, {
		.name = "is_srq", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_create, is_srq),
		.w = UV_AT(ib_uverbs_create_qp, is_srq),
		.x = UV_AT(ib_uverbs_ex_create_qp, is_srq),
	}, {
		.name = "sq_sig_all", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(qp_create, sq_sig_all),
		.w = UV_AT(ib_uverbs_create_qp, sq_sig_all),
		.x = UV_AT(ib_uverbs_ex_create_qp, sq_sig_all),
	},
	HANDLE_ARG("pd_handle", UVERBS_ATTR_CREATE_QP_PD_HANDLE, UVERBS_OBJECT_PD, pd,
		   pd_handle, uses_pd),
	HANDLE_ARG("xrcd_handle", UVERBS_ATTR_CREATE_QP_XRCD_HANDLE, UVERBS_OBJECT_XRCD, xrcd,
		   pd_handle, uses_xrcd),
	HANDLE_ARG("send_cq_handle", UVERBS_ATTR_CREATE_QP_SEND_CQ_HANDLE, UVERBS_OBJECT_CQ,
		   send_cq, send_cq_handle, uses_send_cq),
	HANDLE_ARG("recv_cq_handle", UVERBS_ATTR_CREATE_QP_RECV_CQ_HANDLE, UVERBS_OBJECT_CQ,
		   recv_cq, recv_cq_handle, uses_recv_cq),
	HANDLE_ARG("srq_handle", UVERBS_ATTR_CREATE_QP_SRQ_HANDLE, UVERBS_OBJECT_SRQ, srq,
		   srq_handle, uses_srq),
	{
		.name = "rwq_ind_tbl_handle", .kind = UV_READ,
		.attr = UVERBS_ATTR_CREATE_QP_IND_TABLE_HANDLE, .type = UVERBS_OBJECT_RWQ_IND_TBL,
		UV_BLOCK(qp_create, ind_table),
		.x = UV_AT(ib_uverbs_ex_create_qp, rwq_ind_tbl_handle),
		.when = uses_ind_table,
	}, {
		.name = "event_fd", .kind = UV_READ, .flags = UV_F_FD,
		.attr = UVERBS_ATTR_CREATE_QP_EVENT_FD, .type = UVERBS_OBJECT_ASYNC_EVENT,
		UV_BLOCK(qp_create, event_file),
	}, {
		.name = "qp_num", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_QP_RESP_QP_NUM,
		UV_BLOCK(qp_create, qp_num),
		.w = UV_AT(ib_uverbs_create_qp_resp, qpn),
		.x = UV_AT(ib_uverbs_ex_create_qp_resp, base.qpn),
	},
};

/* Types that user space may make, besides IB_QPT_DRIVER. */
#define USER_TYPES	(BIT(IB_QPT_RC) | BIT(IB_QPT_UC) | BIT(IB_QPT_UD) | BIT(IB_QPT_XRC_INI) | \
			 BIT(IB_QPT_XRC_TGT) | BIT(IB_QPT_RAW_PACKET))

static int check_type(struct uverbs_call *call)
{
	const struct qp_create *args = call->args;

	if (args->type >= BITS_PER_LONG ? args->type != IB_QPT_DRIVER :
					  !(BIT(args->type) & USER_TYPES))
		return uverbs_refuse(call, -EINVAL, "qp_type %u is unknown", args->type);
	if (args->type == IB_QPT_RAW_PACKET && !capable(CAP_NET_RAW))
		return uverbs_refuse(call, -EPERM, "qp_type RAW_PACKET needs CAP_NET_RAW");
	return 0;
}

/* Checks that the objects named fit the type of the QP. */
static int check_objects(struct uverbs_call *call, const struct qp_create *args)
{
	if (args->type == IB_QPT_XRC_TGT) {
		if (!args->xrcd)
			return uverbs_refuse(call, call->written ? -EINVAL : -ENOENT,
					     "xrcd_handle is missing");
		if (args->pd || args->send_cq || args->recv_cq || args->ind_table)
			return uverbs_refuse(call, -EINVAL,
					     "XRC_TGT takes no PD, CQ or indirection table");
		return 0;
	}

	if (args->xrcd || (args->srq && args->type == IB_QPT_XRC_INI))
		return uverbs_refuse(call, -EINVAL, "qp_type %u takes no XRCD or SRQ", args->type);
	if (!args->pd)
		return uverbs_refuse(call, -ENOENT, "pd_handle is missing");
	if (args->ind_table) {
		if (args->cap.max_recv_wr || args->cap.max_recv_sge || args->recv_cq || args->srq ||
		    args->is_srq)
			return uverbs_refuse(call, -EINVAL,
					     "an indirection table excludes other receive queues");
		if (args->cap.max_send_wr && !args->send_cq)
			return uverbs_refuse(call, -ENOENT, "send_cq_handle is missing");
		return 0;
	}
	if (!args->send_cq)
		return uverbs_refuse(call, -ENOENT, "send_cq_handle is missing");
	if (!args->recv_cq && args->type != IB_QPT_XRC_INI)
		return uverbs_refuse(call, -ENOENT, "recv_cq_handle is missing");
	return 0;
}

/* Translates the flags of the ioctl form, one of which drivers do not know. */
static int ioctl_flags(struct uverbs_call *call, struct qp_create *args)
{
	u32 flags = args->flags & ~(u32)IB_UVERBS_QP_CREATE_SQ_SIG_ALL;
	u32 raw_only = IB_UVERBS_QP_CREATE_SCATTER_FCS | IB_UVERBS_QP_CREATE_CVLAN_STRIPPING;

	args->sq_sig_all = args->flags != flags;
	args->flags = flags;
	if (flags && args->type != IB_QPT_DRIVER) {
		if (args->type != IB_QPT_RAW_PACKET && args->type != IB_QPT_UD)
			return uverbs_refuse(call, -EINVAL, "flags %#x: not for qp_type %u", flags,
					     args->type);
		if (args->type == IB_QPT_UD && (flags & raw_only))
			return uverbs_refuse(call, -EINVAL, "flags %#x: for raw packets only",
					     flags & raw_only);
	}
	if (uverbs_attr_is_valid(&call->bundle, UVERBS_ATTR_CREATE_QP_SOURCE_QPN))
		args->flags |= IB_QP_CREATE_SOURCE_QPN;
	return 0;
}

static int written_flags(struct uverbs_call *call, const struct qp_create *args)
{
	if ((args->flags & IB_QP_CREATE_SOURCE_QPN) && !capable(CAP_NET_RAW))
		return uverbs_refuse(call, -EPERM, "source_qpn needs CAP_NET_RAW");
	return 0;
}

static void *object_of(const struct ib_uobject *uobj)
{
	return uobj ? uobj->object : NULL;
}

static int check_srq(struct uverbs_call *call, const struct qp_create *args)
{
	const struct ib_srq *srq = object_of(args->srq);

	if (srq && (srq->srq_type == IB_SRQT_XRC) != (args->type == IB_QPT_XRC_TGT))
		return uverbs_refuse(call, -EINVAL, "srq_handle: type %u does not go with the QP",
				     srq->srq_type);
	return 0;
}

static void caps_in(struct ib_qp_cap *to, const struct ib_uverbs_qp_cap *from, u32 type)
{
	bool receives = type != IB_QPT_XRC_INI;

	to->max_send_wr = from->max_send_wr;
	to->max_send_sge = from->max_send_sge;
	to->max_recv_wr = receives ? from->max_recv_wr : 0;
	to->max_recv_sge = receives ? from->max_recv_sge : 0;
	to->max_inline_data = from->max_inline_data;
}

static void caps_out(struct ib_uverbs_qp_cap *to, const struct ib_qp_cap *from)
{
	to->max_send_wr = from->max_send_wr;
	to->max_recv_wr = from->max_recv_wr;
	to->max_send_sge = from->max_send_sge;
	to->max_recv_sge = from->max_recv_sge;
	to->max_inline_data = from->max_inline_data;
}

static int run_qp_create(struct uverbs_call *call)
{
	struct qp_create *args = call->args;
	struct ib_device *ibdev = args->qp->context->device;
	struct ib_uqp_object *uqp = to_uqp(args->qp);
	struct ib_qp_init_attr attr = {};
	struct ib_qp *qp;
	int ret;

	ret = check_objects(call, args) ?:
	      (call->written ? written_flags(call, args) : ioctl_flags(call, args)) ?:
	      check_srq(call, args);
	if (ret)
		return ret;

	attr.qp_type = args->type;
	attr.event_handler = uverbs_qp_event_handler;
	attr.send_cq = object_of(args->send_cq);
	attr.recv_cq = object_of(args->recv_cq);
	attr.srq = object_of(args->srq);
	attr.xrcd = object_of(args->xrcd);
	attr.rwq_ind_tbl = object_of(args->ind_table);
	attr.sq_sig_type = args->sq_sig_all ? IB_SIGNAL_ALL_WR : IB_SIGNAL_REQ_WR;
	attr.create_flags = args->flags;
	attr.source_qpn = args->flags & IB_QP_CREATE_SOURCE_QPN ? args->source_qpn : 0;
	caps_in(&attr.cap, &args->cap, args->type);

	args->qp->user_handle = args->user_handle;
	mutex_init(&uqp->groups_lock);
	INIT_LIST_HEAD(&uqp->groups);
	uverbs_uevent_init(&uqp->uevent, args->event_file);
	qp = ib_create_qp_user(ibdev, object_of(args->pd), &attr, &call->bundle.driver_udata, uqp,
			       KBUILD_MODNAME);
	if (IS_ERR(qp)) {
		uverbs_uevent_release(&uqp->uevent);
		return uverbs_refuse_below(call, PTR_ERR(qp), "qp_type %u, %u + %u WRs: refused",
					   args->type, args->cap.max_send_wr,
					   args->cap.max_recv_wr);
	}
	args->qp->object = qp;
	if (args->xrcd)
		uqp->uxrcd = uverbs_xrcd_use(args->xrcd);
	uverbs_mark_hw(call, args->qp);
	args->qp_num = qp->qp_num;
	caps_out(&args->cap, &attr.cap);
	return 0;
}

static const struct uverbs_cmd cmd_qp_create = {
	.name = "CREATE_QP",
	.method = UVERBS_METHOD_QP_CREATE,
	.w_num = IB_USER_VERBS_CMD_CREATE_QP,
	.x_num = IB_USER_VERBS_EX_CMD_CREATE_QP,
	.flags = UV_C_UHW | UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_create_qp),
	.w_resp = sizeof(struct ib_uverbs_create_qp_resp),
	.x_req = sizeof(struct ib_uverbs_ex_create_qp),
	.x_resp = sizeof(struct ib_uverbs_ex_create_qp_resp),
	.x_resplen = offsetof(struct ib_uverbs_ex_create_qp_resp, response_length),
	UV_ARGS(qp_create_args, qp_create),
	.needs = { UV_OP(create_qp) },
	.check = check_type,
	.run = run_qp_create,
};

/* ---- DESTROY_QP ---- */

struct qp_destroy {
	struct ib_uobject *qp;
	struct ib_uverbs_destroy_qp_resp resp;
};

static const struct uverbs_arg qp_destroy_args[] = {
	{
		.name = "qp_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_QP_HANDLE, .type = UVERBS_OBJECT_QP,
		UV_BLOCK(qp_destroy, qp),
		.w = UV_AT(ib_uverbs_destroy_qp, qp_handle),
	}, {
		.name = "response", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_QP_RESP,
		UV_BLOCK(qp_destroy, resp),
		.w = UV_SPAN(ib_uverbs_destroy_qp_resp),
	},
};

/* A library waits until the program has acknowledged as many events as this returns. */
static int run_qp_destroy(struct uverbs_call *call)
{
	struct qp_destroy *args = call->args;

	args->resp.events_reported = to_uqp(args->qp)->uevent.events_reported;
	return 0;
}

static const struct uverbs_cmd cmd_qp_destroy = {
	.name = "DESTROY_QP",
	.method = UVERBS_METHOD_QP_DESTROY,
	.w_num = IB_USER_VERBS_CMD_DESTROY_QP,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_destroy_qp),
	.w_resp = sizeof(struct ib_uverbs_destroy_qp_resp),
	UV_ARGS(qp_destroy_args, qp_destroy),
	.needs = { UV_OP(destroy_qp) },
	.run = run_qp_destroy,
};

const struct uverbs_object_desc uverbs_object_qp = {
	.id = UVERBS_OBJECT_QP,
	.type = &UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uqp_object), qp_destroy),
	.need = UV_OP(destroy_qp),
	UV_COMMANDS(&cmd_qp_create, &cmd_qp_destroy),
};
