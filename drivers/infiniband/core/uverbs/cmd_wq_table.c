// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Indirection tables, which spread packets over work queues.
 */

#include "../verbs/verbs.h"
#include "commands.h"

static int table_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			 struct uverbs_attr_bundle *attrs)
{
	return ib_destroy_rwq_table_user(uobj->object, &attrs->driver_udata);
}

struct wq_table {
	struct ib_uobject *table;
	u32 comp_mask;
	u32 log_size;
	u32 table_num;
};

static int check_comp_mask(struct uverbs_call *call)
{
	const struct wq_table *args = call->args;

	return args->comp_mask ? uverbs_refuse(call, -EOPNOTSUPP, "comp_mask: unknown bits %#x",
					       args->comp_mask) : 0;
}

/* ---- CREATE_RWQ_IND_TBL ---- */

static const struct uverbs_arg table_create_args[] = {
	{
		.name = "comp_mask", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_table, comp_mask),
		.x = UV_AT(ib_uverbs_ex_create_rwq_ind_table, comp_mask),
	}, {
		.name = "log_ind_tbl_size", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_table, log_size),
		.x = UV_AT(ib_uverbs_ex_create_rwq_ind_table, log_ind_tbl_size),
	}, {
		.name = "ind_tbl_handle", .kind = UV_NEW, .attr = UV_NO_ATTR,
		.type = UVERBS_OBJECT_RWQ_IND_TBL,
		UV_BLOCK(wq_table, table),
	}, {
		.name = "ind_tbl_handle", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_table, table),
		.x = UV_AT(ib_uverbs_ex_create_rwq_ind_table_resp, ind_tbl_handle),
	}, {
		.name = "ind_tbl_num", .kind = UV_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_table, table_num),
		.x = UV_AT(ib_uverbs_ex_create_rwq_ind_table_resp, ind_tbl_num),
	},
};

static int check_table_create(struct uverbs_call *call)
{
	const struct wq_table *args = call->args;
	int ret = check_comp_mask(call);

	if (!ret && args->log_size > IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE)
		ret = uverbs_refuse(call, -EINVAL, "log_ind_tbl_size %u, at most %u",
				    args->log_size, IB_USER_VERBS_MAX_LOG_IND_TBL_SIZE);
	return ret;
}

/* The handles of the queues follow the structure.  A queue may fill several entries. */
static struct ib_wq **take_wqs(struct uverbs_call *call, u32 count)
{
	struct ib_uobject *uobj;
	struct ib_wq **wqs;
	u32 *handles;

	handles = uverbs_tail_copy(call, array_size(count, sizeof(*handles)), "wq_handles");
	if (IS_ERR(handles))
		return ERR_CAST(handles);
	wqs = uverbs_kcalloc(&call->bundle, count, sizeof(*wqs));
	for (u32 i = 0; !IS_ERR(wqs) && i < count; i++) {
		uobj = uverbs_take(call, UVERBS_OBJECT_WQ, UVERBS_ACCESS_READ, handles[i],
				   "wq_handles");
		if (IS_ERR(uobj))
			return ERR_CAST(uobj);
		wqs[i] = uobj->object;
	}
	return wqs;
}

static int run_table_create(struct uverbs_call *call)
{
	struct wq_table *args = call->args;
	struct ib_rwq_ind_table_init_attr attr = { .log_ind_tbl_size = args->log_size };
	struct ib_rwq_ind_table *table;

	attr.ind_tbl = take_wqs(call, 1U << args->log_size);
	if (IS_ERR(attr.ind_tbl))
		return PTR_ERR(attr.ind_tbl);
	table = ib_create_rwq_table_user(args->table->context->device, args->table, &attr,
					 &call->bundle.driver_udata);
	if (IS_ERR(table))
		return uverbs_refuse_below(call, PTR_ERR(table), "log_ind_tbl_size %u: refused",
					   args->log_size);
	args->table->object = table;
	uverbs_mark_hw(call, args->table);
	args->table_num = table->ind_tbl_num;
	return 0;
}

static const struct uverbs_cmd cmd_wq_table_create = {
	.name = "CREATE_RWQ_IND_TBL",
	.method = UV_NO_METHOD,
	.w_num = UV_NO_WRITE,
	.x_num = IB_USER_VERBS_EX_CMD_CREATE_RWQ_IND_TBL,
	.flags = UV_C_TAIL,
	.x_req = sizeof(struct ib_uverbs_ex_create_rwq_ind_table),
	.x_resp = sizeof(struct ib_uverbs_ex_create_rwq_ind_table_resp),
	.x_resplen = offsetof(struct ib_uverbs_ex_create_rwq_ind_table_resp, response_length),
	UV_ARGS(table_create_args, wq_table),
	.needs = { UV_OP(create_rwq_ind_table) },
	.check = check_table_create,
	.run = run_table_create,
};

/* ---- DESTROY_RWQ_IND_TBL ---- */

static const struct uverbs_arg table_destroy_args[] = {
	{
		.name = "comp_mask", .kind = UV_INT, .attr = UV_NO_ATTR,
		UV_BLOCK(wq_table, comp_mask),
		.x = UV_AT(ib_uverbs_ex_destroy_rwq_ind_table, comp_mask),
	}, {
		.name = "ind_tbl_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_RWQ_IND_TBL_HANDLE, .type = UVERBS_OBJECT_RWQ_IND_TBL,
		UV_BLOCK(wq_table, table),
		.x = UV_AT(ib_uverbs_ex_destroy_rwq_ind_table, ind_tbl_handle),
	},
};

static const struct uverbs_cmd cmd_wq_table_destroy = {
	.name = "DESTROY_RWQ_IND_TBL",
	.method = UVERBS_METHOD_RWQ_IND_TBL_DESTROY,
	.w_num = UV_NO_WRITE,
	.x_num = IB_USER_VERBS_EX_CMD_DESTROY_RWQ_IND_TBL,
	.x_req = sizeof(struct ib_uverbs_ex_destroy_rwq_ind_table),
	.x_resplen = UV_NO_RESPLEN,
	UV_ARGS(table_destroy_args, wq_table),
	.needs = { UV_OP(destroy_rwq_ind_table) },
	.check = check_comp_mask,
	.run = uverbs_run_destroyed,
};

const struct uverbs_object_desc uverbs_object_wq_table = {
	.id = UVERBS_OBJECT_RWQ_IND_TBL,
	.type = &UVERBS_TYPE_ALLOC_IDR(table_destroy),
	.need = UV_OP(destroy_rwq_ind_table),
	UV_COMMANDS(&cmd_wq_table_create, &cmd_wq_table_destroy),
};
