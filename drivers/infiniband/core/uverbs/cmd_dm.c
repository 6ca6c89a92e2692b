// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory on the device, and memory regions over it.
 */

#include "../verbs/verbs.h"
#include "commands.h"

static int dm_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	return ib_free_dm_user(uobj->object, attrs);
}

/* ---- DM_ALLOC, DM_FREE ---- */

struct dm_alloc {
	struct ib_uobject *dm;
	u64 length;
	u32 alignment;
};

static const struct uverbs_arg dm_alloc_args[] = {
	{
		.name = "dm_handle", .kind = UV_NEW, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_ALLOC_DM_HANDLE, .type = UVERBS_OBJECT_DM,
		UV_BLOCK(dm_alloc, dm),
	}, {
		.name = "length", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_ALLOC_DM_LENGTH, UV_BLOCK(dm_alloc, length),
	}, {
		.name = "alignment", .kind = UV_INT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_ALLOC_DM_ALIGNMENT, UV_BLOCK(dm_alloc, alignment),
	},
};

static int run_dm_alloc(struct uverbs_call *call)
{
	struct dm_alloc *args = call->args;
	struct ib_dm_alloc_attr attr = { .length = args->length, .alignment = args->alignment };
	struct ib_dm *dm;

	dm = ib_alloc_dm_user(args->dm, &attr, &call->bundle);
	if (IS_ERR(dm))
		return uverbs_refuse_below(call, PTR_ERR(dm), "length %llu, alignment %u: refused",
					   args->length, args->alignment);
	args->dm->object = dm;
	uverbs_mark_hw(call, args->dm);
	return 0;
}

static const struct uverbs_cmd cmd_dm_alloc = {
	.name = "DM_ALLOC",
	.method = UVERBS_METHOD_DM_ALLOC,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(dm_alloc_args, dm_alloc),
	.needs = { UV_OP(alloc_dm) },
	.run = run_dm_alloc,
};

static const struct uverbs_arg dm_free_args[] = {
	{
		.name = "dm_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_FREE_DM_HANDLE, .type = UVERBS_OBJECT_DM,
		UV_BLOCK(dm_alloc, dm),
	},
};

static const struct uverbs_cmd cmd_dm_free = {
	.name = "DM_FREE",
	.method = UVERBS_METHOD_DM_FREE,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(dm_free_args, dm_alloc),
	.run = uverbs_run_destroyed,
};

/* ---- DM_MR_REG ---- */

struct dm_mr_reg {
	struct ib_uobject *mr;
	struct ib_uobject *pd;
	struct ib_uobject *dm;
	u64 offset;
	u64 length;
	u32 access_flags;
	u32 lkey;
	u32 rkey;
};

#define DM_MR_ARG(_kind, _attr, _member)						\
	{										\
		.name = #_member, .kind = _kind, .flags = UV_F_MANDATORY,		\
		.attr = UVERBS_ATTR_REG_DM_MR_##_attr, UV_BLOCK(dm_mr_reg, _member),	\
	}
#define DM_MR_HANDLE(_kind, _attr, _type, _member)					\
	{										\
		.name = #_member "_handle", .kind = _kind, .flags = UV_F_MANDATORY,	\
		.attr = UVERBS_ATTR_REG_DM_MR_##_attr, .type = UVERBS_OBJECT_##_type,	\
		UV_BLOCK(dm_mr_reg, _member),						\
	}

static const struct uverbs_arg dm_mr_reg_args[] = {
	DM_MR_HANDLE(UV_NEW, HANDLE, MR, mr),
	DM_MR_HANDLE(UV_READ, PD_HANDLE, PD, pd),
	DM_MR_HANDLE(UV_READ, DM_HANDLE, DM, dm),
	DM_MR_ARG(UV_INT, OFFSET, offset),
	DM_MR_ARG(UV_INT, LENGTH, length),
	{
		.name = "access_flags", .kind = UV_MASK,
		.attr = UVERBS_ATTR_REG_DM_MR_ACCESS_FLAGS, UV_BLOCK(dm_mr_reg, access_flags),
		.mask = IB_ACCESS_SUPPORTED,
	},
	DM_MR_ARG(UV_OUT, RESP_LKEY, lkey),
	DM_MR_ARG(UV_OUT, RESP_RKEY, rkey),
};

static int check_part(struct uverbs_call *call, const struct dm_mr_reg *args,
		      const struct ib_dm *dm)
{
	if (args->offset > dm->length || args->length > dm->length - args->offset)
		return uverbs_refuse(call, -EINVAL, "offset %llu, length %llu: dm has %u bytes",
				     args->offset, args->length, dm->length);
	/* Device memory has no address in the process at which a region could begin. */
	if (!(args->access_flags & IB_ZERO_BASED))
		return uverbs_refuse(call, -EINVAL, "access_flags %#x: dm is only zero based",
				     args->access_flags);
	return uverbs_check_mr_access(call, dm->device, args->access_flags);
}

static int run_dm_mr_reg(struct uverbs_call *call)
{
	struct dm_mr_reg *args = call->args;
	struct ib_dm_mr_attr attr = {
		.offset = args->offset, .length = args->length, .access_flags = args->access_flags,
	};
	struct ib_dm *dm = args->dm->object;
	struct ib_mr *mr;
	int ret;

	ret = check_part(call, args, dm);
	if (ret)
		return ret;
	mr = ib_reg_dm_mr_user(args->pd->object, dm, args->mr, &attr, &call->bundle);
	if (IS_ERR(mr))
		return uverbs_refuse_below(call, PTR_ERR(mr), "offset %llu, length %llu: refused",
					   args->offset, args->length);
	args->mr->object = mr;
	uverbs_mark_hw(call, args->mr);
	args->lkey = mr->lkey;
	args->rkey = mr->rkey;
	return 0;
}

static const struct uverbs_cmd cmd_dm_mr_reg = {
	.name = "DM_MR_REG",
	.method = UVERBS_METHOD_DM_MR_REG,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(dm_mr_reg_args, dm_mr_reg),
	.needs = { UV_OP(reg_dm_mr) },
	.run = run_dm_mr_reg,
};

const struct uverbs_object_desc uverbs_object_dm = {
	.id = UVERBS_OBJECT_DM,
	.type = &UVERBS_TYPE_ALLOC_IDR(dm_destroy),
	.need = UV_OP(dealloc_dm),
	UV_COMMANDS(&cmd_dm_alloc, &cmd_dm_free),
};

const struct uverbs_object_desc uverbs_object_dm_mr = {
	.id = UVERBS_OBJECT_MR,
	.more = true,
	UV_COMMANDS(&cmd_dm_mr_reg),
};
