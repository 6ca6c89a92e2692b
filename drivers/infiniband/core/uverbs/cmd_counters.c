// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sets of counters in which flow rules count.
 */

#include "../verbs/verbs.h"
#include "commands.h"

static int counters_destroy(struct ib_uobject *uobj, enum rdma_remove_reason why,
			    struct uverbs_attr_bundle *attrs)
{
	return ib_destroy_counters_user(uobj->object);
}

struct counters {
	struct ib_uobject *counters;
	u32 flags;
};

static const struct uverbs_arg counters_create_args[] = {
	{
		.name = "counters_handle", .kind = UV_NEW, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_CREATE_COUNTERS_HANDLE, .type = UVERBS_OBJECT_COUNTERS,
		UV_BLOCK(counters, counters),
	},
};

static int run_counters_create(struct uverbs_call *call)
{
	struct counters *args = call->args;
	struct ib_counters *counters;

	counters = ib_create_counters_user(args->counters, &call->bundle);
	if (IS_ERR(counters))
		return uverbs_refuse_below(call, PTR_ERR(counters), "the driver refused");
	args->counters->object = counters;
	uverbs_mark_hw(call, args->counters);
	return 0;
}

static const struct uverbs_cmd cmd_counters_create = {
	.name = "COUNTERS_CREATE",
	.method = UVERBS_METHOD_COUNTERS_CREATE,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(counters_create_args, counters),
	.needs = { UV_OP(create_counters) },
	.run = run_counters_create,
};

static const struct uverbs_arg counters_read_args[] = {
	{
		.name = "counters_handle", .kind = UV_READ, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_READ_COUNTERS_HANDLE, .type = UVERBS_OBJECT_COUNTERS,
		UV_BLOCK(counters, counters),
	}, {
		.name = "buff", .kind = UV_LIST, .flags = UV_F_MANDATORY | UV_F_BYTES_OUT,
		.attr = UVERBS_ATTR_READ_COUNTERS_BUFF,
	}, {
		.name = "flags", .kind = UV_MASK,
		.attr = UVERBS_ATTR_READ_COUNTERS_FLAGS, UV_BLOCK(counters, flags),
		.mask = IB_UVERBS_READ_COUNTERS_PREFER_CACHED,
	},
};

static int run_counters_read(struct uverbs_call *call)
{
	struct uverbs_attr_bundle *attrs = &call->bundle;
	struct counters *args = call->args;
	struct ib_counters *counters = args->counters->object;
	struct ib_counters_read_attr attr = { .flags = args->flags };
	int ret;

	if (!atomic_read(&counters->usecnt))
		return uverbs_refuse(call, -EINVAL, "counters_handle: no flow rule counts there");
	attr.ncounters = uverbs_attr_get_len(attrs, UVERBS_ATTR_READ_COUNTERS_BUFF) / sizeof(u64);
	attr.counters_buff = uverbs_kcalloc(attrs, attr.ncounters, sizeof(u64));
	if (IS_ERR(attr.counters_buff))
		return PTR_ERR(attr.counters_buff);
	ret = counters->device->ops.read_counters(counters, &attr, attrs);
	if (ret)
		return uverbs_refuse_below(call, ret, "%u counters: the driver refused",
					   attr.ncounters);
	return uverbs_copy_to(attrs, UVERBS_ATTR_READ_COUNTERS_BUFF, attr.counters_buff,
			      array_size(attr.ncounters, sizeof(u64)));
}

static const struct uverbs_cmd cmd_counters_read = {
	.name = "COUNTERS_READ",
	.method = UVERBS_METHOD_COUNTERS_READ,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(counters_read_args, counters),
	.needs = { UV_OP(read_counters) },
	.run = run_counters_read,
};

static const struct uverbs_arg counters_destroy_args[] = {
	{
		.name = "counters_handle", .kind = UV_DESTROY, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_DESTROY_COUNTERS_HANDLE, .type = UVERBS_OBJECT_COUNTERS,
		UV_BLOCK(counters, counters),
	},
};

static const struct uverbs_cmd cmd_counters_destroy = {
	.name = "COUNTERS_DESTROY",
	.method = UVERBS_METHOD_COUNTERS_DESTROY,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(counters_destroy_args, counters),
	.run = uverbs_run_destroyed,
};

const struct uverbs_object_desc uverbs_object_counters = {
	.id = UVERBS_OBJECT_COUNTERS,
	.type = &UVERBS_TYPE_ALLOC_IDR(counters_destroy),
	.need = UV_OP(destroy_counters),
	UV_COMMANDS(&cmd_counters_create, &cmd_counters_read, &cmd_counters_destroy),
};
