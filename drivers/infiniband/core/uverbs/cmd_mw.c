// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows.
 */

#include "../verbs/verbs.h"
#include "commands.h"

static int mw_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	return ib_dealloc_mw_user(uobj->object);
}

struct mw_alloc {
	struct ib_uobject *mw;
	struct ib_uobject *pd;
	u32 type;
	u32 rkey;
};

static const struct uverbs_arg mw_alloc_args[] = {
	{
		.name = "mw_type", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(mw_alloc, type), .w = UV_AT(ib_uverbs_alloc_mw, mw_type),
	}, {
		.name = "rkey", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(mw_alloc, rkey), .w = UV_AT(ib_uverbs_alloc_mw_resp, rkey),
	}, {
		.name = "mw", .kind = UV_NEW, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_MW,
		UV_BLOCK(mw_alloc, mw),
	}, {
		.name = "mw_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(mw_alloc, mw),
		.w = UV_AT(ib_uverbs_alloc_mw_resp, mw_handle),
	}, {
		.name = "pd_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(mw_alloc, pd),
		.w = UV_AT(ib_uverbs_alloc_mw, pd_handle),
	},
};

static int run_mw_alloc(struct uverbs_call *call)
{
	struct mw_alloc *args = call->args;
	struct ib_mw *mw;

	if (args->type != IB_MW_TYPE_1 && args->type != IB_MW_TYPE_2)
		return uverbs_refuse(call, -EINVAL, "mw_type %u is neither 1 nor 2", args->type);
	mw = ib_alloc_mw_user(args->pd->object, args->type, args->mw, &call->bundle.driver_udata);
	if (IS_ERR(mw))
		return uverbs_refuse_below(call, PTR_ERR(mw), "mw_type %u: refused", args->type);
	args->mw->object = mw;
	uverbs_mark_hw(call, args->mw);
	args->rkey = mw->rkey;
	return 0;
}

static const struct uverbs_cmd cmd_mw_alloc = {
	.name = "ALLOC_MW",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_ALLOC_MW,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_alloc_mw),
	.w_resp = sizeof(struct ib_uverbs_alloc_mw_resp),
	UV_ARGS(mw_alloc_args, mw_alloc),
	.needs = { UV_OP(alloc_mw) },
	.run = run_mw_alloc,
};

struct mw_dealloc {
	struct ib_uobject *mw;
};

static const struct uverbs_arg mw_dealloc_args[] = {
	{
		.name = "mw_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_MW_HANDLE, .type = UVERBS_OBJECT_MW,
		UV_BLOCK(mw_dealloc, mw),
		.w = UV_AT(ib_uverbs_dealloc_mw, mw_handle),
	},
};

static const struct uverbs_cmd cmd_mw_dealloc = {
	.name = "DEALLOC_MW",
	.method = UVERBS_METHOD_MW_DESTROY,
	.w_num = IB_USER_VERBS_CMD_DEALLOC_MW,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_dealloc_mw),
	UV_ARGS(mw_dealloc_args, mw_dealloc),
	.needs = { UV_OP(dealloc_mw) },
	.run = uverbs_run_destroyed,
};

const struct uverbs_object_desc uverbs_object_mw = {
	.id = UVERBS_OBJECT_MW,
	.type = &UVERBS_TYPE_ALLOC_IDR(mw_destroy),
	.need = UV_OP(dealloc_mw),
	UV_COMMANDS(&cmd_mw_alloc, &cmd_mw_dealloc),
};
