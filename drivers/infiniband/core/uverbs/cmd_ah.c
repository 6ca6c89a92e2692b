// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles.
 */

#include "../verbs/verbs.h"
#include "commands.h"

static int ah_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	return rdma_destroy_ah_user(uobj->object, RDMA_DESTROY_AH_SLEEPABLE, &attrs->driver_udata);
}

/* ---- CREATE_AH ---- */

struct ah_create {
	struct ib_uobject *ah;
	struct ib_uobject *pd;
	u64 user_handle;
	struct ib_uverbs_ah_attr attr;
};

static const struct uverbs_arg ah_create_args[] = {
	{
		.name = "ah", .kind = UV_NEW, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_AH,
		UV_BLOCK(ah_create, ah),
	}, {
		.name = "ah_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(ah_create, ah),
		.w = UV_AT(ib_uverbs_create_ah_resp, ah_handle),
	}, {
		.name = "user_handle", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(ah_create, user_handle),
		.w = UV_AT(ib_uverbs_create_ah, user_handle),
	}, {
		.name = "attr", .kind = UV_BLOB, .attr = UV_NO_ATTR,
		UV_BLOCK(ah_create, attr),
		.w = UV_AT(ib_uverbs_create_ah, attr),
	}, {
		.name = "pd_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(ah_create, pd),
		.w = UV_AT(ib_uverbs_create_ah, pd_handle),
	},
};

/* Translates the address, whose port is valid, into a zeroed attribute. */
static void address_in(struct rdma_ah_attr *to, const struct ib_uverbs_ah_attr *from,
		       struct ib_device *ibdev)
{
	const struct ib_uverbs_global_route *grh = &from->grh;

	to->type = rdma_ah_find_type(ibdev, from->port_num);
	rdma_ah_set_port_num(to, from->port_num);
	rdma_ah_set_sl(to, from->sl);
	rdma_ah_set_static_rate(to, from->static_rate);
	rdma_ah_set_dlid(to, from->dlid);
	rdma_ah_set_path_bits(to, from->src_path_bits);
	if (!from->is_global)
		return;
	rdma_ah_set_grh(to, NULL, grh->flow_label, grh->sgid_index, grh->hop_limit,
			grh->traffic_class);
	rdma_ah_set_dgid_raw(to, (void *)grh->dgid);
}

static int check_ah(struct uverbs_call *call)
{
	const struct ah_create *args = call->args;
	struct ib_device *ibdev = uverbs_call_device(call);

	if (IS_ERR(ibdev))
		return PTR_ERR(ibdev);
	return uverbs_check_port(call, ibdev, args->attr.port_num, "attr.port_num");
}

static int run_ah_create(struct uverbs_call *call)
{
	struct ah_create *args = call->args;
	struct ib_pd *pd = args->pd->object;
	struct rdma_ah_attr attr = {};
	struct ib_ah *ah;

	address_in(&attr, &args->attr, pd->device);
	ah = rdma_create_user_ah(pd, &attr, &call->bundle.driver_udata);
	if (IS_ERR(ah))
		return uverbs_refuse_below(call, PTR_ERR(ah), "port %u, dlid %#x: refused",
					   args->attr.port_num, args->attr.dlid);
	ah->uobject = args->ah;
	args->ah->user_handle = args->user_handle;
	args->ah->object = ah;
	uverbs_mark_hw(call, args->ah);
	return 0;
}

static const struct uverbs_cmd cmd_ah_create = {
	.name = "CREATE_AH",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_CREATE_AH,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_create_ah),
	.w_resp = sizeof(struct ib_uverbs_create_ah_resp),
	UV_ARGS(ah_create_args, ah_create),
	.needs = { UV_OP(create_user_ah) },
	.check = check_ah,
	.run = run_ah_create,
};

/* ---- DESTROY_AH ---- */

struct ah_destroy {
	struct ib_uobject *ah;
};

static const struct uverbs_arg ah_destroy_args[] = {
	{
		.name = "ah_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_AH_HANDLE, .type = UVERBS_OBJECT_AH,
		UV_BLOCK(ah_destroy, ah),
		.w = UV_AT(ib_uverbs_destroy_ah, ah_handle),
	},
};

static const struct uverbs_cmd cmd_ah_destroy = {
	.name = "DESTROY_AH",
	.method = UVERBS_METHOD_AH_DESTROY,
	.w_num = IB_USER_VERBS_CMD_DESTROY_AH,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_destroy_ah),
	UV_ARGS(ah_destroy_args, ah_destroy),
	.needs = { UV_OP(destroy_ah) },
	.run = uverbs_run_destroyed,
};

const struct uverbs_object_desc uverbs_object_ah = {
	.id = UVERBS_OBJECT_AH,
	.type = &UVERBS_TYPE_ALLOC_IDR(ah_destroy),
	.need = UV_OP(destroy_ah),
	UV_COMMANDS(&cmd_ah_create, &cmd_ah_destroy),
};
