// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands that list GIDs and handles, and the one that carries write() commands.  They exist as
 * ioctl methods only.
 */
#include <rdma/ib_cache.h>

#include "api.h"
#include "commands.h"

/* ---- QUERY_GID_TABLE ---- */

struct gid_table {
	u64 entry_size;
	u32 flags;
	u64 num_entries;
};

static const struct uverbs_arg gid_table_args[] = {
	{
		.name = "entry_size", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE,
		UV_BLOCK(gid_table, entry_size),
	}, {
		.name = "flags", .kind = UV_MASK,
		.attr = UVERBS_ATTR_QUERY_GID_TABLE_FLAGS,
		UV_BLOCK(gid_table, flags),
	}, {
		.name = "entries", .kind = UV_LIST, .flags = UV_F_MANDATORY | UV_F_BYTES_OUT,
		.attr = UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES,
	}, {
		.name = "num_entries", .kind = UV_OUT, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES,
		UV_BLOCK(gid_table, num_entries),
	},
};

/* User space may know a shorter or a longer entry than the kernel. */
static int write_gid_entries(struct uverbs_call *call, const struct ib_uverbs_gid_entry *entries,
			     size_t count, u64 user_size)
{
	const struct uverbs_attr *attr =
		uverbs_attr_get(&call->bundle, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	void __user *to = u64_to_user_ptr(attr->ptr_attr.data);
	size_t known = min_t(u64, user_size, sizeof(*entries));

	for (size_t i = 0; i < count; i++, to += user_size)
		if (copy_to_user(to, &entries[i], known) ||
		    clear_user(to + known, user_size - known))
			return uverbs_refuse(call, -EFAULT, "entries: cannot be written");
	return uverbs_attr_written(call, attr);
}

static int run_gid_table(struct uverbs_call *call)
{
	struct ib_device *ibdev = uverbs_call_device(call);
	struct gid_table *args = call->args;
	struct ib_uverbs_gid_entry *entries;
	ssize_t count;
	u32 room;

	if (IS_ERR(ibdev))
		return PTR_ERR(ibdev);

	room = uverbs_attr_get_len(&call->bundle, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES);
	if (!args->entry_size || !room || room % args->entry_size)
		return uverbs_refuse(call, -EINVAL, "entries: %u bytes for entries of %llu", room,
				     args->entry_size);
	room /= args->entry_size;

	entries = uverbs_kcalloc(&call->bundle, room, sizeof(*entries));
	if (IS_ERR(entries))
		return PTR_ERR(entries);
	count = rdma_query_gid_table(ibdev, entries, room);
	if (count < 0)
		return uverbs_refuse_below(call, -EINVAL, "entries: room for %u is not enough",
					   room);
	args->num_entries = count;
	return write_gid_entries(call, entries, count, args->entry_size);
}

static const struct uverbs_cmd cmd_query_gid_table = {
	.name = "QUERY_GID_TABLE",
	.method = UVERBS_METHOD_QUERY_GID_TABLE,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(gid_table_args, gid_table),
	.run = run_gid_table,
};

/* ---- QUERY_GID_ENTRY ---- */

struct gid_entry {
	u32 port;
	u32 gid_index;
	u32 flags;
	struct ib_uverbs_gid_entry entry;
};

static const struct uverbs_arg gid_entry_args[] = {
	{
		.name = "port", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_QUERY_GID_ENTRY_PORT,
		UV_BLOCK(gid_entry, port),
	}, {
		.name = "gid_index", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX,
		UV_BLOCK(gid_entry, gid_index),
	}, {
		.name = "flags", .kind = UV_MASK, .flags = UV_F_MANDATORY,
		.attr = UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS,
		UV_BLOCK(gid_entry, flags),
	}, {
		.name = "entry", .kind = UV_OUT, .flags = UV_F_MANDATORY | UV_F_ZERO_TAIL,
		.attr = UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY,
		.min = offsetofend(struct ib_uverbs_gid_entry, netdev_ifindex),
		UV_BLOCK(gid_entry, entry),
	},
};

static int run_gid_entry(struct uverbs_call *call)
{
	struct ib_device *ibdev = uverbs_call_device(call);
	struct gid_entry *args = call->args;
	const struct ib_gid_attr *gid;
	struct net_device *ndev;
	int ret = 0;

	if (IS_ERR(ibdev))
		return PTR_ERR(ibdev);
	if (!rdma_is_port_valid(ibdev, args->port))
		return uverbs_refuse(call, -EINVAL, "port %u, the device has %u to %u", args->port,
				     rdma_start_port(ibdev), rdma_end_port(ibdev));
	gid = rdma_get_gid_attr(ibdev, args->port, args->gid_index);
	/* An empty entry is no error: programs that list the table query every index. */
	if (PTR_ERR(gid) == -ENODATA)
		return -ENODATA;
	if (IS_ERR(gid))
		return uverbs_refuse_below(call, PTR_ERR(gid), "gid_index %u: no such GID",
					   args->gid_index);

	memcpy(&args->entry.gid, &gid->gid, sizeof(args->entry.gid));
	args->entry.gid_index = gid->index;
	args->entry.port_num = gid->port_num;
	args->entry.gid_type = gid->gid_type;
	scoped_guard(rcu) {
		ndev = rdma_read_gid_attr_ndev_rcu(gid);
		if (!IS_ERR(ndev))
			args->entry.netdev_ifindex = ndev->ifindex;
		else if (PTR_ERR(ndev) != -ENODEV)	/* GIDs of InfiniBand ports have none */
			ret = PTR_ERR(ndev);
	}
	rdma_put_gid_attr(gid);
	return ret;
}

static const struct uverbs_cmd cmd_query_gid_entry = {
	.name = "QUERY_GID_ENTRY",
	.method = UVERBS_METHOD_QUERY_GID_ENTRY,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(gid_entry_args, gid_entry),
	.run = run_gid_entry,
};

/* ---- INFO_HANDLES ---- */

struct info_handles {
	u16 object_id;
	u32 total;
};

static const struct uverbs_arg info_handles_args[] = {
	{
		.name = "object_id", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_INFO_OBJECT_ID,
		UV_BLOCK(info_handles, object_id),
	}, {
		.name = "total_handles", .kind = UV_OUT,
		.attr = UVERBS_ATTR_INFO_TOTAL_HANDLES,
		UV_BLOCK(info_handles, total),
	}, {
		.name = "handles_list", .kind = UV_LIST, .flags = UV_F_BYTES_OUT,
		.attr = UVERBS_ATTR_INFO_HANDLES_LIST, .min = sizeof(u32),
	},
};

static int run_info_handles(struct uverbs_call *call)
{
	struct uverbs_attr_bundle *attrs = &call->bundle;
	const struct uverbs_api_object *type;
	struct info_handles *args = call->args;
	u32 *ids;
	int len;

	len = uverbs_attr_get_len(attrs, UVERBS_ATTR_INFO_HANDLES_LIST);
	if (len <= 0 || len % sizeof(u32))
		return uverbs_refuse(call, -EINVAL, "handles_list: %d bytes are no list", len);
	type = uapi_get_object(attrs->ufile->device->uapi, args->object_id);
	if (IS_ERR(type))
		return uverbs_refuse(call, PTR_ERR(type), "object_id %#x: no such objects",
				     args->object_id);
	ids = uverbs_alloc(attrs, len);
	if (IS_ERR(ids))
		return PTR_ERR(ids);
	args->total = uverbs_handles_list(attrs->ufile, type, ids, len / sizeof(u32));
	return uverbs_copy_to(attrs, UVERBS_ATTR_INFO_HANDLES_LIST, ids,
			      args->total * sizeof(u32));
}

static const struct uverbs_cmd cmd_info_handles = {
	.name = "INFO_HANDLES",
	.method = UVERBS_METHOD_INFO_HANDLES,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	UV_ARGS(info_handles_args, info_handles),
	.run = run_info_handles,
};

/* ---- INVOKE_WRITE ---- */

struct invoke_write {
	u32 command;
};

static const struct uverbs_arg invoke_write_args[] = {
	{
		.name = "write_cmd", .kind = UV_INT, .flags = UV_F_MANDATORY | UV_F_CONST,
		.attr = UVERBS_ATTR_WRITE_CMD,
		UV_BLOCK(invoke_write, command),
	}, {
		.name = "core_in", .kind = UV_LIST,
		.attr = UVERBS_ATTR_CORE_IN, .min = sizeof(u32),
	}, {
		.name = "core_out", .kind = UV_LIST, .flags = UV_F_BYTES_OUT,
		.attr = UVERBS_ATTR_CORE_OUT,
	},
};

/* The carried command runs in place of this one, with the same objects, memory and driver data. */
static int run_invoke_write(struct uverbs_call *call)
{
	const struct uverbs_cmd *carrier = call->cmd;
	struct invoke_write *args = call->args;
	struct ib_udata *core = &call->bundle.ucore;
	const struct uverbs_attr *out;
	const struct uverbs_cmd *cmd;
	int ret;

	cmd = uverbs_api_write(call->bundle.ufile->device->uapi, args->command);
	if (IS_ERR(cmd))
		return PTR_ERR(cmd);
	if (call->revoked && !uverbs_cmd_destroys(cmd))
		return uverbs_refuse(call, -EIO, "the device was removed");

	call->cmd = cmd;
	call->extended = args->command & IB_USER_VERBS_CMD_FLAG_EXTENDED;
	uverbs_udata_from_attrs(call, core, UVERBS_ATTR_CORE_IN, UVERBS_ATTR_CORE_OUT);
	if (!call->extended && core->inlen < cmd->w_req)
		return uverbs_refuse(call, -ENOSPC, "request has %zu bytes, needs %u", core->inlen,
				     cmd->w_req);
	if (!call->extended && core->outlen < cmd->w_resp)
		return uverbs_refuse(call, -ENOSPC, "room for %zu bytes of response, needs %u",
				     core->outlen, cmd->w_resp);
	call->resp = core->outbuf;
	call->resp_len = core->outlen;

	ret = uverbs_run_written(call, core->inbuf, core->inlen);
	if (ret)
		return ret;
	call->cmd = carrier;
	call->results = 0;
	if (call->replied)
		return 0;
	out = uverbs_attr_get(&call->bundle, UVERBS_ATTR_CORE_OUT);
	return IS_ERR(out) ? 0 : uverbs_attr_written(call, out);
}

static const struct uverbs_cmd cmd_invoke_write = {
	.name = "INVOKE_WRITE",
	.method = UVERBS_METHOD_INVOKE_WRITE,
	.w_num = UV_NO_WRITE,
	.x_num = UV_NO_WRITE,
	.flags = UV_C_UHW | UV_C_CARRIER,
	UV_ARGS(invoke_write_args, invoke_write),
	.run = run_invoke_write,
};

const struct uverbs_object_desc uverbs_object_device_more = {
	.id = UVERBS_OBJECT_DEVICE,
	.more = true,
	UV_COMMANDS(&cmd_query_gid_table, &cmd_query_gid_entry, &cmd_info_handles,
		    &cmd_invoke_write),
};
