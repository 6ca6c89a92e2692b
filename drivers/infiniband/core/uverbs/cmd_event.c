// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion channels and asynchronous event files.
 */
#include <linux/fs.h>

#include "commands.h"

struct event_file {
	struct ib_uobject *file;
};

static const struct uverbs_arg channel_create_args[] = {
	{
		.name = "fd", .kind = UV_NEW, .flags = UV_F_FD, .attr = UV_NO_ATTR,
		.type = UVERBS_OBJECT_COMP_CHANNEL,
		UV_BLOCK(event_file, file),
	}, {
		.name = "fd", .kind = UV_HANDLE_OUT, .attr = UV_NO_ATTR,
		UV_BLOCK(event_file, file),
		.w = UV_AT(ib_uverbs_create_comp_channel_resp, fd),
	},
};

static int run_channel_create(struct uverbs_call *call)
{
	struct event_file *args = call->args;

	uverbs_queue_init(&container_of(args->file, struct ib_uverbs_completion_event_file,
					uobj)->queue);
	return 0;
}

static const struct uverbs_cmd cmd_channel_create = {
	.name = "CREATE_COMP_CHANNEL",
	.method = UV_NO_METHOD,
	.w_num = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
	.x_num = UV_NO_WRITE,
	.w_req = sizeof(struct ib_uverbs_create_comp_channel),
	.w_resp = sizeof(struct ib_uverbs_create_comp_channel_resp),
	UV_ARGS(channel_create_args, event_file),
	.run = run_channel_create,
};

static const struct uverbs_arg async_alloc_args[] = {
	{
		.name = "fd_handle", .kind = UV_NEW, .flags = UV_F_MANDATORY | UV_F_FD,
		.attr = UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE,
		.type = UVERBS_OBJECT_ASYNC_EVENT,
		UV_BLOCK(event_file, file),
	},
};

static void settle_async(struct uverbs_call *call, bool commit)
{
	struct event_file *args = call->args;

	if (commit)
		uverbs_async_file_start(container_of(args->file,
						     struct ib_uverbs_async_event_file, uobj));
}

static int run_async_alloc(struct uverbs_call *call)
{
	call->settle = settle_async;
	return 0;
}

static const struct uverbs_cmd cmd_async_alloc = {
	.name = "ASYNC_EVENT_ALLOC",
	.method = UVERBS_METHOD_ASYNC_EVENT_ALLOC,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(async_alloc_args, event_file),
	.run = run_async_alloc,
};

const struct uverbs_object_desc uverbs_object_channel = {
	.id = UVERBS_OBJECT_COMP_CHANNEL,
	.type = &UVERBS_TYPE_ALLOC_FD(sizeof(struct ib_uverbs_completion_event_file),
				      uverbs_comp_file_stop, &uverbs_comp_fops,
				      "[infinibandevent]", O_RDONLY),
	.need = UV_OP(dealloc_pd),
	UV_COMMANDS(&cmd_channel_create),
};

const struct uverbs_object_desc uverbs_object_async = {
	.id = UVERBS_OBJECT_ASYNC_EVENT,
	.type = &UVERBS_TYPE_ALLOC_FD(sizeof(struct ib_uverbs_async_event_file),
				      uverbs_async_file_stop, &uverbs_async_fops,
				      "[infinibandevent]", O_RDONLY),
	UV_COMMANDS(&cmd_async_alloc),
};
