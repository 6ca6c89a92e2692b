// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Flow rules, which steer packets to a QP, and the flow actions they name.
 */
#include <linux/capability.h>

#include "../verbs/verbs.h"
#include "commands.h"

static int flow_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			struct uverbs_attr_bundle *attrs)
{
	struct ib_flow *flow = uobj->object;
	struct ib_qp *qp = flow->qp;
	int ret = flow->device->ops.destroy_flow(flow);

	if (ret)
		return ret;
	if (qp)
		atomic_dec(&qp->usecnt);
	ib_uverbs_flow_resources_free(container_of(uobj, struct ib_uflow_object,
						   uobject)->resources);
	return 0;
}

/* Rules are created here or by a method of a driver; both use ib_set_flow(). */
/* ---- CREATE_FLOW ---- */

struct flow_create {
	struct ib_uobject *flow;
	struct ib_uobject *qp;
	void *specs;
	u32 comp_mask;
	u32 type;
	u32 flags;
	u16 size;
	u16 priority;
	u8 num_of_specs;
	u8 port;
	u8 reserved[2];
};

#define RULE_ARG(_member)								\
	{										\
		.name = #_member, .kind = UV_INT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(flow_create, _member),						\
		.x = UV_AT(ib_uverbs_create_flow, flow_attr._member),			\
	}

static const struct uverbs_arg flow_create_args[] = {
	{
		.name = "comp_mask", .kind = UV_MASK, .attr = UV_NO_ATTR,
		UV_BLOCK(flow_create, comp_mask), .x = UV_AT(ib_uverbs_create_flow, comp_mask),
	},
	RULE_ARG(type), RULE_ARG(size), RULE_ARG(priority), RULE_ARG(num_of_specs),
	RULE_ARG(reserved[0]), RULE_ARG(reserved[1]), RULE_ARG(port), RULE_ARG(flags),
	{
		.name = "flow_handle", .kind = UV_NEW, .attr = UV_NO_ATTR,
		.type = UVERBS_OBJECT_FLOW, UV_BLOCK(flow_create, flow),
	}, {
		.name = "flow_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(flow_create, flow),
		.x = UV_AT(ib_uverbs_create_flow_resp, flow_handle),
	}, {
		.name = "qp_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_QP,
		UV_BLOCK(flow_create, qp), .x = UV_AT(ib_uverbs_create_flow, qp_handle),
	},
};

/* Size of the longest specification that a program can give. */
#define LARGEST_SPEC	sizeof(struct ib_uverbs_flow_spec_ipv6)

static int check_rule(struct uverbs_call *call, const struct flow_create *args)
{
	bool catches_rest = args->type == IB_FLOW_ATTR_ALL_DEFAULT ||
			    args->type == IB_FLOW_ATTR_MC_DEFAULT;

	if (!capable(CAP_NET_RAW))
		return uverbs_refuse(call, -EPERM, "flow rules need CAP_NET_RAW");
	if (args->flags >= IB_FLOW_ATTR_FLAGS_RESERVED)
		return uverbs_refuse(call, -EINVAL, "flags: unknown bits in %#x", args->flags);
	if ((args->flags & IB_FLOW_ATTR_FLAGS_DONT_TRAP) && catches_rest)
		return uverbs_refuse(call, -EINVAL, "flags %#x: not for type %u", args->flags,
				     args->type);
	if (args->num_of_specs > IB_FLOW_SPEC_SUPPORT_LAYERS)
		return uverbs_refuse(call, -EINVAL, "num_of_specs %u, at most %u",
				     args->num_of_specs, IB_FLOW_SPEC_SUPPORT_LAYERS);
	if (args->size > args->num_of_specs * LARGEST_SPEC)
		return uverbs_refuse(call, -EINVAL, "size %u is too long for %u specifications",
				     args->size, args->num_of_specs);
	if (args->reserved[0] || args->reserved[1])
		return uverbs_refuse(call, -EINVAL, "reserved is not zero");
	return 0;
}

static int check_flow_create(struct uverbs_call *call)
{
	struct flow_create *args = call->args;
	struct ib_device *ibdev;
	int ret;

	ret = check_rule(call, args);
	if (ret)
		return ret;
	args->specs = uverbs_tail_copy(call, args->size, "specifications");
	if (IS_ERR(args->specs))
		return PTR_ERR(args->specs);
	ibdev = uverbs_call_device(call);
	return IS_ERR(ibdev) ? PTR_ERR(ibdev) : uverbs_check_port(call, ibdev, args->port, "port");
}

static struct ib_flow *make_flow(struct uverbs_call *call, const struct flow_create *args,
				 struct ib_qp *qp, struct ib_uflow_resources *resources)
{
	struct ib_flow_attr *attr;
	struct ib_flow *flow;
	int ret;

	attr = uverbs_zalloc(&call->bundle, struct_size(attr, flows, args->num_of_specs));
	if (IS_ERR(attr))
		return ERR_CAST(attr);
	attr->type = args->type;
	attr->priority = args->priority;
	attr->flags = args->flags;
	attr->num_of_specs = args->num_of_specs;
	attr->port = args->port;
	ret = uverbs_flow_specs_parse(call, args->specs, args->size, attr, resources);
	if (ret)
		return ERR_PTR(ret);
	flow = qp->device->ops.create_flow(qp, attr, &call->bundle.driver_udata);
	if (IS_ERR(flow))
		uverbs_refuse_below(call, PTR_ERR(flow), "type %u, %u specifications: refused",
				    args->type, args->num_of_specs);
	return flow;
}

static int run_flow_create(struct uverbs_call *call)
{
	struct flow_create *args = call->args;
	struct ib_uflow_resources *resources;
	struct ib_qp *qp = args->qp->object;
	struct ib_flow *flow;

	if (qp->qp_type != IB_QPT_UD && qp->qp_type != IB_QPT_RAW_PACKET)
		return uverbs_refuse(call, -EINVAL, "qp_handle: type %u takes no flow rules",
				     qp->qp_type);
	resources = flow_resources_alloc(args->num_of_specs);
	if (!resources)
		return -ENOMEM;
	flow = make_flow(call, args, qp, resources);
	if (IS_ERR(flow)) {
		ib_uverbs_flow_resources_free(resources);
		return PTR_ERR(flow);
	}
	ib_set_flow(args->flow, flow, qp, qp->device, resources);
	uverbs_mark_hw(call, args->flow);
	return 0;
}

static const struct uverbs_cmd cmd_flow_create = {
	.name = "CREATE_FLOW",
	.method = UV_NO_METHOD,
	.w_num = UV_NO_WRITE,
	.x_num = IB_USER_VERBS_EX_CMD_CREATE_FLOW,
	.flags = UV_C_TAIL,
	.x_req = sizeof(struct ib_uverbs_create_flow),
	.x_resp = sizeof(struct ib_uverbs_create_flow_resp),
	.x_resplen = UV_NO_RESPLEN,
	UV_ARGS(flow_create_args, flow_create),
	.needs = { UV_OP(create_flow) },
	.check = check_flow_create,
	.run = run_flow_create,
};

/* ---- DESTROY_FLOW ---- */

struct flow_destroy {
	struct ib_uobject *flow;
	u32 comp_mask;
};

static const struct uverbs_arg flow_destroy_args[] = {
	{
		.name = "comp_mask", .kind = UV_MASK, .attr = UV_NO_ATTR,
		UV_BLOCK(flow_destroy, comp_mask), .x = UV_AT(ib_uverbs_destroy_flow, comp_mask),
	}, {
		.name = "flow_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_FLOW_HANDLE, .type = UVERBS_OBJECT_FLOW,
		UV_BLOCK(flow_destroy, flow), .x = UV_AT(ib_uverbs_destroy_flow, flow_handle),
	},
};

static const struct uverbs_cmd cmd_flow_destroy = {
	.name = "DESTROY_FLOW",
	.method = UVERBS_METHOD_FLOW_DESTROY,
	.w_num = UV_NO_WRITE,
	.x_num = IB_USER_VERBS_EX_CMD_DESTROY_FLOW,
	.x_req = sizeof(struct ib_uverbs_destroy_flow),
	.x_resplen = UV_NO_RESPLEN,
	UV_ARGS(flow_destroy_args, flow_destroy),
	.needs = { UV_OP(destroy_flow) },
	.run = uverbs_run_destroyed,
};

/* ---- flow actions: made by methods of drivers alone ---- */

static int flow_action_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			       struct uverbs_attr_bundle *attrs)
{
	struct ib_flow_action *action = uobj->object;
	int users = atomic_read(&action->usecnt);

	if (users)
		return rdma_refuse(-EBUSY, "flow action is used by %d flow rule(s)", users);
	return action->device->ops.destroy_flow_action(action);
}

struct flow_action {
	struct ib_uobject *action;
};

static const struct uverbs_arg flow_action_destroy_args[] = {
	{
		.name = "flow_action_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_FLOW_ACTION_HANDLE, .type = UVERBS_OBJECT_FLOW_ACTION,
		UV_BLOCK(flow_action, action),
	},
};

static const struct uverbs_cmd cmd_flow_action_destroy = {
	.name = "FLOW_ACTION_DESTROY",
	.method = UVERBS_METHOD_FLOW_ACTION_DESTROY,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(flow_action_destroy_args, flow_action),
	.run = uverbs_run_destroyed,
};

const struct uverbs_object_desc uverbs_object_flow = {
	.id = UVERBS_OBJECT_FLOW,
	.type = &UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uflow_object), flow_destroy),
	.need = UV_OP(destroy_flow),
	UV_COMMANDS(&cmd_flow_create, &cmd_flow_destroy),
};

const struct uverbs_object_desc uverbs_object_flow_action = {
	.id = UVERBS_OBJECT_FLOW_ACTION,
	.type = &UVERBS_TYPE_ALLOC_IDR(flow_action_destroy),
	.need = UV_OP(destroy_flow_action),
	UV_COMMANDS(&cmd_flow_action_destroy),
};
