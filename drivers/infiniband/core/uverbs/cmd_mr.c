// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions.
 */

#include "../verbs/verbs.h"
#include "commands.h"

static int mr_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
		      struct uverbs_attr_bundle *attrs)
{
	return ib_dereg_mr_user(uobj->object, &attrs->driver_udata);
}

/* ---- REG_MR, REREG_MR ---- */

struct mr_reg {
	struct ib_uobject *mr;
	struct ib_uobject *pd;
	struct ib_uobject *fresh;
	u64 start;
	u64 length;
	u64 hca_va;
	u32 access_flags;
	u32 flags;
	u32 lkey;
	u32 rkey;
};

#define MR_REG_ARGS(_req, _resp)							\
	{										\
		.name = "start", .kind = UV_INT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(mr_reg, start), .w = UV_AT(_req, start),			\
	}, {										\
		.name = "length", .kind = UV_INT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(mr_reg, length), .w = UV_AT(_req, length),			\
	}, {										\
		.name = "hca_va", .kind = UV_INT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(mr_reg, hca_va), .w = UV_AT(_req, hca_va),			\
	}, {										\
		.name = "access_flags", .kind = UV_INT, .attr = UV_NO_ATTR,		\
		UV_BLOCK(mr_reg, access_flags), .w = UV_AT(_req, access_flags),		\
	}, {										\
		.name = "lkey", .kind = UV_OUT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(mr_reg, lkey), .w = UV_AT(_resp, lkey),			\
	}, {										\
		.name = "rkey", .kind = UV_OUT, .attr = UV_NO_ATTR,			\
		UV_BLOCK(mr_reg, rkey), .w = UV_AT(_resp, rkey),			\
	}

static const struct uverbs_arg mr_reg_args[] = {
	MR_REG_ARGS(ib_uverbs_reg_mr, ib_uverbs_reg_mr_resp),
	{
		.name = "mr", .kind = UV_NEW, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_MR,
		UV_BLOCK(mr_reg, mr),
	}, {
		.name = "mr_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(mr_reg, mr),
		.w = UV_AT(ib_uverbs_reg_mr_resp, mr_handle),
	}, {
		.name = "pd_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(mr_reg, pd),
		.w = UV_AT(ib_uverbs_reg_mr, pd_handle),
	},
};

/* The offsets of both addresses in a page must agree: the device translates whole pages. */
static int check_offset(struct uverbs_call *call, const struct mr_reg *args)
{
	if (offset_in_page(args->start) == offset_in_page(args->hca_va))
		return 0;
	return uverbs_refuse(call, -EINVAL, "start %#llx and hca_va %#llx differ within the page",
			     args->start, args->hca_va);
}

/**
 * uverbs_check_mr_access() - refuse rights that no memory can be registered with
 * @call: the request
 * @ibdev: the device
 * @access: enum ib_access_flags
 *
 * Return: 0 or a negative errno with the reason recorded.
 */
int uverbs_check_mr_access(struct uverbs_call *call, struct ib_device *ibdev, u32 access)
{
	int ret = ib_check_mr_access(ibdev, access);

	return ret ? uverbs_refuse_below(call, ret, "access_flags %#x are not possible",
					 access) : 0;
}

static int run_mr_reg(struct uverbs_call *call)
{
	struct mr_reg *args = call->args;
	struct ib_mr *mr;
	int ret;

	ret = check_offset(call, args) ?:
	      uverbs_check_mr_access(call, args->mr->context->device, args->access_flags);
	if (ret)
		return ret;
	mr = ib_reg_mr_user(args->pd->object, args->mr, args->start, args->length, args->hca_va,
			    args->access_flags, &call->bundle.driver_udata);
	if (IS_ERR(mr))
		return uverbs_refuse_below(call, PTR_ERR(mr), "start %#llx, length %llu: refused",
					   args->start, args->length);
	args->mr->object = mr;
	uverbs_mark_hw(call, args->mr);
	args->lkey = mr->lkey;
	args->rkey = mr->rkey;
	return 0;
}

static const struct uverbs_cmd cmd_mr_reg = {
	.name = "REG_MR",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_REG_MR,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_reg_mr),
	.w_resp = sizeof(struct ib_uverbs_reg_mr_resp),
	UV_ARGS(mr_reg_args, mr_reg),
	.needs = { UV_OP(reg_user_mr) },
	.run = run_mr_reg,
};

static bool rereg_names_pd(const void *block)
{
	return ((const struct mr_reg *)block)->flags & IB_MR_REREG_PD;
}

static const struct uverbs_arg mr_rereg_args[] = {
	MR_REG_ARGS(ib_uverbs_rereg_mr, ib_uverbs_rereg_mr_resp),
	{
		.name = "flags", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(mr_reg, flags), .w = UV_AT(ib_uverbs_rereg_mr, flags),
	}, {
		.name = "mr_handle", .kind = UV_WRITE, .attr = UV_NO_ATTR,
		.type = UVERBS_OBJECT_MR,
		UV_BLOCK(mr_reg, mr),
		.w = UV_AT(ib_uverbs_rereg_mr, mr_handle),
	}, {
		.name = "pd_handle", .kind = UV_READ, .attr = UV_NO_ATTR, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(mr_reg, pd),
		.w = UV_AT(ib_uverbs_rereg_mr, pd_handle),
		.when = rereg_names_pd,
	},
};

static int check_rereg(struct uverbs_call *call)
{
	const struct mr_reg *args = call->args;

	if (!args->flags)
		return uverbs_refuse(call, -EINVAL, "flags: nothing to change");
	if (args->flags & ~(u32)IB_MR_REREG_SUPPORTED)
		return uverbs_refuse(call, -EOPNOTSUPP, "flags: unknown bits %#x",
				     args->flags & ~(u32)IB_MR_REREG_SUPPORTED);
	return args->flags & IB_MR_REREG_TRANS ? check_offset(call, args) : 0;
}

static void settle_rereg(struct uverbs_call *call, bool commit)
{
	struct mr_reg *args = call->args;

	if (commit)
		uverbs_replace(call, args->mr, args->fresh);
	else
		uverbs_uobj_abort(args->fresh, &call->bundle, true);
}

/*
 * The driver may return another MR.  That one takes over the handle of the old MR, which is
 * destroyed, once its keys were copied to user space.  Its object is made before the driver is
 * called, because afterwards nothing may fail.
 */
static int run_mr_rereg(struct uverbs_call *call)
{
	struct mr_reg *args = call->args;
	struct ib_mr *mr = args->mr->object, *fresh;
	struct ib_uobject *uobj;
	struct ib_pd *pd;

	if (mr->dm)
		return uverbs_refuse(call, -EINVAL, "mr_handle: device memory cannot be changed");
	if (args->flags & IB_MR_REREG_ACCESS) {
		int ret = uverbs_check_mr_access(call, mr->device, args->access_flags);

		if (ret)
			return ret;
	}
	pd = args->pd ? args->pd->object : mr->pd;
	if (pd == mr->pd)
		args->flags &= ~IB_MR_REREG_PD;

	uobj = uverbs_uobj_begin(args->mr->uapi_object, &call->bundle);
	if (IS_ERR(uobj))
		return uverbs_refuse(call, PTR_ERR(uobj), "no handle for the new region");

	fresh = ib_rereg_mr_user(mr, uobj, args->flags, args->start, args->length, args->hca_va,
				 args->access_flags, pd, &call->bundle.driver_udata);
	if (IS_ERR_OR_NULL(fresh)) {
		uverbs_uobj_abort(uobj, &call->bundle, false);
		if (IS_ERR(fresh))
			return uverbs_refuse_below(call, PTR_ERR(fresh), "the driver refused");
		fresh = mr;
	} else {
		uobj->object = fresh;
		args->fresh = uobj;
		call->settle = settle_rereg;
	}
	args->lkey = fresh->lkey;
	args->rkey = fresh->rkey;
	return 0;
}

static const struct uverbs_cmd cmd_mr_rereg = {
	.name = "REREG_MR",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_REREG_MR,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_W_UHW,
	.w_req = sizeof(struct ib_uverbs_rereg_mr),
	.w_resp = sizeof(struct ib_uverbs_rereg_mr_resp),
	UV_ARGS(mr_rereg_args, mr_reg),
	.needs = { UV_OP(rereg_user_mr) },
	.check = check_rereg,
	.run = run_mr_rereg,
};

/* ---- DEREG_MR ---- */

struct mr_dereg {
	struct ib_uobject *mr;
};

static const struct uverbs_arg mr_dereg_args[] = {
	{
		.name = "mr_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_MR_HANDLE, .type = UVERBS_OBJECT_MR,
		UV_BLOCK(mr_dereg, mr),
		.w = UV_AT(ib_uverbs_dereg_mr, mr_handle),
	},
};

static const struct uverbs_cmd cmd_mr_dereg = {
	.name = "DEREG_MR",
	.method = UVERBS_METHOD_MR_DESTROY,
	.w_num = IB_USER_VERBS_CMD_DEREG_MR,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_dereg_mr),
	UV_ARGS(mr_dereg_args, mr_dereg),
	.needs = { UV_OP(dereg_mr) },
	.run = uverbs_run_destroyed,
};

/* ---- QUERY_MR ---- */

struct mr_query {
	struct ib_uobject *mr;
	u64 length;
	u64 iova;
	u32 lkey;
	u32 rkey;
};

static const struct uverbs_arg mr_query_args[] = {
	{
		.name = "mr_handle", .kind = UV_READ, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_QUERY_MR_HANDLE, .type = UVERBS_OBJECT_MR,
		UV_BLOCK(mr_query, mr),
	}, {
		.name = "lkey", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_QUERY_MR_RESP_LKEY, UV_BLOCK(mr_query, lkey),
	}, {
		.name = "rkey", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_QUERY_MR_RESP_RKEY, UV_BLOCK(mr_query, rkey),
	}, {
		.name = "length", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_QUERY_MR_RESP_LENGTH, UV_BLOCK(mr_query, length),
	}, {
		.name = "iova", .kind = UV_OUT,
		.attr = UVERBS_ATTR_QUERY_MR_RESP_IOVA, UV_BLOCK(mr_query, iova),
	},
};

static int run_mr_query(struct uverbs_call *call)
{
	struct mr_query *args = call->args;
	const struct ib_mr *mr = args->mr->object;

	args->length = mr->length;
	args->iova = mr->iova;
	args->lkey = mr->lkey;
	args->rkey = mr->rkey;
	return 0;
}

static const struct uverbs_cmd cmd_mr_query = {
	.name = "QUERY_MR",
	.method = UVERBS_METHOD_QUERY_MR,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(mr_query_args, mr_query),
	.run = run_mr_query,
};

/* ---- ADVISE_MR ---- */

struct mr_advise {
	struct ib_uobject *pd;
	u32 advice;
	u32 flags;
};

static const struct uverbs_arg mr_advise_args[] = {
	{
		.name = "pd_handle", .kind = UV_READ, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_ADVISE_MR_PD_HANDLE, .type = UVERBS_OBJECT_PD,
		UV_BLOCK(mr_advise, pd),
	}, {
		.name = "advice", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_ADVISE_MR_ADVICE, UV_BLOCK(mr_advise, advice),
	}, {
		.name = "flags", .kind = UV_MASK, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_ADVISE_MR_FLAGS, UV_BLOCK(mr_advise, flags),
		.mask = IB_UVERBS_ADVISE_MR_FLAG_FLUSH,
	}, {
		.name = "sge_list", .kind = UV_LIST, .flags = UV_F_MANDATORY | UV_F_COPY,
		.attr = UVERBS_ATTR_ADVISE_MR_SGE_LIST, .min = sizeof(struct ib_uverbs_sge),
	},
};

static int run_mr_advise(struct uverbs_call *call)
{
	struct uverbs_attr_bundle *attrs = &call->bundle;
	struct mr_advise *args = call->args;
	struct ib_pd *pd = args->pd->object;
	int count, ret;

	count = uverbs_attr_ptr_get_array_size(attrs, UVERBS_ATTR_ADVISE_MR_SGE_LIST,
					       sizeof(struct ib_sge));
	if (count < 0)
		return uverbs_refuse(call, count, "sge_list: not a whole number of entries");
	ret = pd->device->ops.advise_mr(pd, args->advice, args->flags,
					uverbs_attr_get_alloced_ptr(attrs,
								    UVERBS_ATTR_ADVISE_MR_SGE_LIST),
					count, attrs);
	return ret ? uverbs_refuse_below(call, ret, "advice %u: the driver refused", args->advice) :
		     0;
}

static const struct uverbs_cmd cmd_mr_advise = {
	.name = "ADVISE_MR",
	.method = UVERBS_METHOD_ADVISE_MR,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(mr_advise_args, mr_advise),
	.needs = { UV_OP(advise_mr) },
	.run = run_mr_advise,
};

const struct uverbs_object_desc uverbs_object_mr = {
	.id = UVERBS_OBJECT_MR,
	.type = &UVERBS_TYPE_ALLOC_IDR(mr_destroy),
	.need = UV_OP(dereg_mr),
	UV_COMMANDS(&cmd_mr_reg, &cmd_mr_rereg, &cmd_mr_dereg, &cmd_mr_query, &cmd_mr_advise),
};
