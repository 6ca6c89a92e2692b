// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Protection domains.
 */

#include "../verbs/verbs.h"
#include "commands.h"

static int pd_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	return ib_dealloc_pd_user(uobj->object, &attrs->driver_udata);
}

struct pd_command {
	struct ib_uobject *pd;
};

static const struct uverbs_arg pd_alloc_args[] = {
	{
		.name = "pd", .kind = UV_NEW, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(pd_command, pd),
	}, {
		.name = "pd_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(pd_command, pd),
		.w = UV_AT(ib_uverbs_alloc_pd_resp, pd_handle),
	},
};

static int run_pd_alloc(struct uverbs_call *call)
{
	struct pd_command *args = call->args;
	struct ib_pd *pd;

	pd = ib_alloc_pd_user(args->pd->context->device, args->pd, &call->bundle.driver_udata);
	if (IS_ERR(pd))
		return uverbs_refuse_below(call, PTR_ERR(pd), "the driver refused");
	args->pd->object = pd;
	uverbs_mark_hw(call, args->pd);
	return 0;
}

static const struct uverbs_cmd cmd_pd_alloc = {
	.name = "ALLOC_PD",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_ALLOC_PD,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_alloc_pd),
	.w_resp = sizeof(struct ib_uverbs_alloc_pd_resp),
	UV_ARGS(pd_alloc_args, pd_command),
	.needs = { UV_OP(alloc_pd) },
	.run = run_pd_alloc,
};

static const struct uverbs_arg pd_dealloc_args[] = {
	{
		.name = "pd_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_PD_HANDLE, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(pd_command, pd),
		.w = UV_AT(ib_uverbs_dealloc_pd, pd_handle),
	},
};

static const struct uverbs_cmd cmd_pd_dealloc = {
	.name = "DEALLOC_PD",
	.method = UVERBS_METHOD_PD_DESTROY,
	.w_num = IB_USER_VERBS_CMD_DEALLOC_PD,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_dealloc_pd),
	UV_ARGS(pd_dealloc_args, pd_command),
	.needs = { UV_OP(dealloc_pd) },
	.run = uverbs_run_destroyed,
};

const struct uverbs_object_desc uverbs_object_pd = {
	.id = UVERBS_OBJECT_PD,
	.type = &UVERBS_TYPE_ALLOC_IDR(pd_destroy),
	.need = UV_OP(dealloc_pd),
	UV_COMMANDS(&cmd_pd_alloc, &cmd_pd_dealloc),
};
