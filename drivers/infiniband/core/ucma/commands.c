// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The commands, and what all of them have in common: a request is read and checked, its id is
 * looked up and locked, its response is written.
 */
#include <linux/nospec.h>

#include "ucma.h"

/* Request in full, from the member @_req of union ucma_request. */
#define ASKS(_req) \
	.in = sizeof_field(union ucma_request, _req), \
	.in_least = sizeof_field(union ucma_request, _req)

/* Likewise; old programs end with the member @_last. */
#define ASKS_FROM(_type, _last) \
	.in = sizeof(struct _type), .in_least = offsetofend(struct _type, _last)

/* Offset of the id's number in struct @_type. */
#define NAMES(_type, _flags) \
	.id_at = offsetof(struct _type, id), .flags = UCMA_ID | (_flags)

/* The smallest response in bytes; a smaller buffer is refused. */
#define ANSWERS(_bytes) .out_least = (_bytes)

static const struct ucma_command ucma_commands[] = {
	[RDMA_USER_CM_CMD_CREATE_ID] = {
		.run = ucma_create_id,
		ASKS(create_id),
		.response_at = offsetof(struct rdma_ucm_create_id, response),
		ANSWERS(sizeof(struct rdma_ucm_create_id_resp)),
	},
	[RDMA_USER_CM_CMD_DESTROY_ID] = {
		.run = ucma_destroy_id,
		ASKS(destroy_id),
		ANSWERS(sizeof(struct rdma_ucm_destroy_id_resp)),
	},
	[RDMA_USER_CM_CMD_BIND_IP] = {
		.run = ucma_bind_ip,
		.check = ucma_check_bind_ip,
		ASKS(bind_ip),
		NAMES(rdma_ucm_bind_ip, 0),
	},
	[RDMA_USER_CM_CMD_RESOLVE_IP] = {
		.run = ucma_resolve_ip,
		.check = ucma_check_resolve_ip,
		ASKS(resolve_ip),
		NAMES(rdma_ucm_resolve_ip, 0),
	},
	[RDMA_USER_CM_CMD_RESOLVE_ROUTE] = {
		.run = ucma_resolve_route,
		ASKS(resolve_route),
		NAMES(rdma_ucm_resolve_route, UCMA_DEVICE),
	},
	[RDMA_USER_CM_CMD_QUERY_ROUTE] = {
		.run = ucma_query_route,
		ASKS(query),
		NAMES(rdma_ucm_query, 0),
		ANSWERS(offsetof(struct rdma_ucm_query_route_resp, ibdev_index)),
	},
	[RDMA_USER_CM_CMD_CONNECT] = {
		.run = ucma_connect,
		.check = ucma_check_connect,
		ASKS_FROM(rdma_ucm_connect, reserved),
		NAMES(rdma_ucm_connect, UCMA_DEVICE),
	},
	[RDMA_USER_CM_CMD_LISTEN] = {
		.run = ucma_listen,
		ASKS(listen),
		NAMES(rdma_ucm_listen, 0),
	},
	[RDMA_USER_CM_CMD_ACCEPT] = {
		.run = ucma_accept,
		ASKS_FROM(rdma_ucm_accept, reserved),
		NAMES(rdma_ucm_accept, UCMA_DEVICE),
	},
	[RDMA_USER_CM_CMD_REJECT] = {
		.run = ucma_reject,
		.check = ucma_check_reject,
		ASKS(reject),
		NAMES(rdma_ucm_reject, UCMA_DEVICE),
	},
	[RDMA_USER_CM_CMD_DISCONNECT] = {
		.run = ucma_disconnect,
		ASKS(disconnect),
		NAMES(rdma_ucm_disconnect, UCMA_DEVICE),
	},
	[RDMA_USER_CM_CMD_INIT_QP_ATTR] = {
		.run = ucma_init_qp_attr,
		.check = ucma_check_init_qp_attr,
		ASKS(init_qp_attr),
		NAMES(rdma_ucm_init_qp_attr, UCMA_DEVICE),
		ANSWERS(sizeof(struct ib_uverbs_qp_attr)),
	},
	[RDMA_USER_CM_CMD_GET_EVENT] = {
		.run = ucma_get_event,
		ASKS(get_event),
		/* Old programs have no ECE, those of 32 bits no padding before it */
		ANSWERS(offsetof(struct rdma_ucm_event_resp, reserved)),
	},
	/* RDMA_USER_CM_CMD_GET_OPTION has no handler, as in Linux */
	[RDMA_USER_CM_CMD_SET_OPTION] = {
		.run = ucma_set_option,
		.check = ucma_check_set_option,
		ASKS(set_option),
		NAMES(rdma_ucm_set_option, 0),
	},
	[RDMA_USER_CM_CMD_NOTIFY] = {
		.run = ucma_notify,
		ASKS(notify),
		NAMES(rdma_ucm_notify, UCMA_DEVICE),
	},
	[RDMA_USER_CM_CMD_JOIN_IP_MCAST] = {
		.run = ucma_join_ip_mcast,
		ASKS(join_ip_mcast),
		ANSWERS(sizeof(struct rdma_ucm_create_id_resp)),
	},
	[RDMA_USER_CM_CMD_LEAVE_MCAST] = {
		.run = ucma_leave_mcast,
		ASKS(destroy_id),
		ANSWERS(sizeof(struct rdma_ucm_destroy_id_resp)),
	},
	[RDMA_USER_CM_CMD_MIGRATE_ID] = {
		.run = ucma_migrate_id,
		ASKS(migrate_id),
	},
	[RDMA_USER_CM_CMD_QUERY] = {
		.run = ucma_query,
		ASKS(query),
		NAMES(rdma_ucm_query, 0),
	},
	[RDMA_USER_CM_CMD_BIND] = {
		.run = ucma_bind,
		.check = ucma_check_bind,
		ASKS(bind),
		NAMES(rdma_ucm_bind, 0),
	},
	[RDMA_USER_CM_CMD_RESOLVE_ADDR] = {
		.run = ucma_resolve_addr,
		.check = ucma_check_resolve_addr,
		ASKS(resolve_addr),
		NAMES(rdma_ucm_resolve_addr, 0),
	},
	[RDMA_USER_CM_CMD_JOIN_MCAST] = {
		.run = ucma_join_mcast,
		ASKS(join_mcast),
		ANSWERS(sizeof(struct rdma_ucm_create_id_resp)),
	},
};

/* ---- a request ---- */

static bool is_zero(const void __user *buf, size_t len, int *ret)
{
	*ret = check_zeroed_user(buf, len);
	return *ret > 0;
}

/* Reads as much of the request as the command has; more, from newer programs, must be zero. */
static int read_request(struct ucma_call *call, const struct ucma_command *cmd, u32 number,
			const u8 __user *buf)
{
	int ret;

	if (call->in < cmd->in_least)
		return rdma_refuse(-EINVAL, "command %u: %u bytes < %u", number, call->in,
				   cmd->in_least);
	if (call->out < cmd->out_least)
		return rdma_refuse(-ENOSPC, "command %u: room for %u bytes < %u", number,
				   call->out, cmd->out_least);
	if (copy_from_user(&call->req, buf, min(call->in, cmd->in)))
		return rdma_refuse(-EFAULT, "command %u cannot be read", number);
	if (call->in <= cmd->in || is_zero(buf + cmd->in, call->in - cmd->in, &ret))
		return 0;
	if (ret)
		return rdma_refuse(-EFAULT, "command %u cannot be read", number);
	return rdma_refuse(-EOPNOTSUPP, "command %u: unknown bytes from %u on", number, cmd->in);
}

static u32 id_of(const struct ucma_call *call, const struct ucma_command *cmd)
{
	return *(const u32 *)((const u8 *)&call->req + cmd->id_at);
}

static int run_with_id(struct ucma_call *call, const struct ucma_command *cmd)
{
	struct ucma_id *id = ucma_id_lock(call->file, id_of(call, cmd));
	int ret;

	if (IS_ERR(id))
		return PTR_ERR(id);
	call->id = id;
	if (cmd->flags & UCMA_DEVICE && !id->cm->device)
		ret = rdma_refuse(-EINVAL, "id %u has no device", id->number);
	else
		ret = cmd->run(call);
	ucma_id_unlock(id);
	return ret;
}

static int run(struct ucma_call *call, const struct ucma_command *cmd, u32 number,
	       const u8 __user *buf)
{
	int ret;

	ret = read_request(call, cmd, number, buf);
	if (ret)
		return ret;
	call->response = u64_to_user_ptr(*(const u64 *)((const u8 *)&call->req +
							cmd->response_at));
	ret = cmd->check ? cmd->check(call) : 0;
	if (ret)
		return ret;
	ret = cmd->flags & UCMA_ID ? run_with_id(call, cmd) : cmd->run(call);
	if (ret || !call->resp_len)
		return ret;
	return ucma_reply(call, &call->resp, call->resp_len);
}

/**
 * ucma_serve() - serve a request
 * @filp: the file
 * @buf: header and request
 * @count: bytes that were written
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for a bad command or size; -ENOSYS for a command without handler; -ENOSPC if
 * there is too little room for the response; -EOPNOTSUPP for more than is known; -EFAULT; the
 * command's error.
 */
int ucma_serve(struct file *filp, const char __user *buf, size_t count)
{
	struct ucma_call call = { .filp = filp, .file = filp->private_data };
	struct rdma_ucm_cmd_hdr hdr;
	u32 number;

	if (count < sizeof(hdr))
		return rdma_refuse(-EINVAL, "%zu bytes are less than a header", count);
	if (copy_from_user(&hdr, buf, sizeof(hdr)))
		return rdma_refuse(-EFAULT, "the header cannot be read");
	if (hdr.cmd >= ARRAY_SIZE(ucma_commands))
		return rdma_refuse(-EINVAL, "command %u: the last one is %zu", hdr.cmd,
				   ARRAY_SIZE(ucma_commands) - 1);
	number = array_index_nospec(hdr.cmd, ARRAY_SIZE(ucma_commands));
	if (hdr.in > count - sizeof(hdr))
		return rdma_refuse(-EINVAL, "command %u: %u bytes > the %zu that were written",
				   number, hdr.in, count - sizeof(hdr));
	if (!ucma_commands[number].run)
		return rdma_refuse(-ENOSYS, "command %u is not served", number);
	call.in = hdr.in;
	call.out = hdr.out;
	return run(&call, &ucma_commands[number], number, buf + sizeof(hdr));
}
