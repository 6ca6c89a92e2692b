// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests of the other interfaces: netlink, umad's ioctl, the connection manager's write().
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <linux/netlink.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_user_cm.h>

#include "fuzz.h"

#define ROOM	4096

/* ---- netlink ---- */

static unsigned int put_attr(uint8_t *to, unsigned int type, const void *data, unsigned int len)
{
	struct nlattr attr = { .nla_len = sizeof(attr) + len, .nla_type = type };

	memcpy(to, &attr, sizeof(attr));
	memcpy(to + sizeof(attr), data, len);
	return NLA_ALIGN(sizeof(attr) + len);
}

/* Receives all answers that have arrived, or some: the rest ends with the socket. */
static void hear(int sock, unsigned int most)
{
	static __thread uint8_t answer[32768];

	while (most-- && recv(sock, answer, sizeof(answer), MSG_DONTWAIT) > 0)
		;
}

static int run_netlink(const struct call *call, const struct command *cmd, unsigned int thread)
{
	struct nlmsghdr head = {
		.nlmsg_type = RDMA_NL_GET_TYPE(cmd->object, cmd->number),
		.nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK | cmd->flags << 8,
		.nlmsg_seq = 1,
	};
	uint8_t data[ROOM] = {}, value[256];
	unsigned int at = sizeof(head), len, more = 0, most = 8;
	const struct twist *twist;
	int sock, err;

	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		const struct row *row = &cmd->rows[i];

		if (twist_of(call, i, ABSENT) || (!row->good && !twisted(call, i)))
			continue;
		len = row_bytes(call, i, value, sizeof(value));
		if (!strcmp(row->name, "DEV_INDEX") && !twisted(call, i))
			memcpy(value, &shared->device_index, sizeof(shared->device_index));
		at += put_attr(data + at, row->attr, value, len);
		twist = twist_of(call, i, TWICE);
		if (twist && at < ROOM / 2)
			at += put_attr(data + at, row->attr, value, len);
		if (at > ROOM - 1024)
			break;
	}
	for (unsigned int i = 0; i < call->num_twists; i++) {
		const struct twist *one = &call->twists[i];

		if (one->row != REQUEST)
			continue;
		switch (one->how) {
		case LEN:
			more = one->value * 4 - 16;
			break;
		case FLAGS:
			head.nlmsg_flags = one->value;
			break;
		case NUMBER:
			head.nlmsg_type ^= 1U << one->value * 2;
			break;
		case OUT_WORDS:
			most = one->value;
			break;
		default:
			break;
		}
	}
	head.nlmsg_len = at + more < ROOM ? at + more : ROOM;
	memcpy(data, &head, sizeof(head));
	if (link_ends(data, head.nlmsg_len) || (device_link && twist_of(call, REQUEST, RACED)))
		return EOPNOTSUPP;
	sock = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);
	if (sock < 0)
		return errno;
	err = send(sock, (void *)row_place(call, REQUEST, thread, data, head.nlmsg_len),
		   head.nlmsg_len, 0) < 0 ? errno : 0;
	if (!err)
		hear(sock, most);
	close(sock);
	return err;
}

/* ---- umad, ucma ---- */

/* Copies the request's bytes, with numbers of objects in their places. */
static unsigned int structure(const struct call *call, const struct command *cmd, uint8_t *to)
{
	unsigned int len = 0;

	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		if (cmd->rows[i].kind == BLOB)
			len = row_bytes(call, i, to, ROOM / 2);
	}
	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		const struct row *row = &cmd->rows[i];
		uint32_t handle;

		if (row->kind != READ && row->kind != DESTROY)
			continue;
		handle = row_handle(call, i);
		memcpy(to + row->at[WRITE], &handle, sizeof(handle));
	}
	return len;
}

static void note(const struct call *call, const struct command *cmd, uint32_t number)
{
	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		const struct row *row = &cmd->rows[i];

		if (row->kind == NEW)
			object_made(call->file, row->type, number);
		else if (row->kind == DESTROY)
			object_gone(call->file, row->type, row_handle(call, i));
	}
}

static int run_umad(const struct call *call, const struct command *cmd, unsigned int thread)
{
	int fd = files[FILE_UMAD][call->file];
	const struct twist *twist = twist_of(call, REQUEST, NUMBER);
	uint32_t number = twist ? cmd->number ^ 1U << twist->value * 4 : cmd->number, made;
	uint8_t data[ROOM] = {};
	unsigned int len = structure(call, cmd, data);
	uint64_t place = row_place(call, REQUEST, thread, data, len);

	if (ioctl(fd, number, place))
		return errno;
	memcpy(&made, cmd->response ? (uint8_t *)place + cmd->id_at : data, sizeof(made));
	note(call, cmd, made);
	return 0;
}

static int run_ucma(const struct call *call, const struct command *cmd, unsigned int thread)
{
	struct rdma_ucm_cmd_hdr head = { .cmd = cmd->number, .out = cmd->response };
	uint8_t data[ROOM] = {}, room[512] = {};
	unsigned int len = structure(call, cmd, data + sizeof(head));
	const struct twist *twist;
	uint32_t made = 0;
	uint64_t where;
	int answer = row_named(cmd, "answer", "out");

	head.in = len;
	twist = twist_of(call, REQUEST, IN_WORDS);
	if (twist)
		head.in += (int)twist->value - 3;
	twist = twist_of(call, REQUEST, OUT_WORDS);
	if (twist)
		head.out += 4 * ((int)twist->value - 3);
	twist = twist_of(call, REQUEST, NUMBER);
	if (twist)
		head.cmd ^= 1U << twist->value * 4;
	memcpy(data, &head, sizeof(head));
	where = row_place(call, answer, thread, room, sizeof(room));
	memcpy(data + sizeof(head) + cmd->response_at, &where, sizeof(where));
	len += sizeof(head);
	twist = twist_of(call, REQUEST, LEN);
	if (twist)
		len = twist->value % ROOM;
	if (write(files[FILE_UCMA][call->file],
		  (void *)row_place(call, REQUEST, thread, data, len), len) < 0)
		return errno;
	if (head.out >= 4 && where > PAGE * 16)
		memcpy(&made, (void *)where, sizeof(made));
	note(call, cmd, made);
	return 0;
}

int others_run(const struct call *call, const struct command *cmd, unsigned int thread)
{
	if (cmd->form == NETLINK)
		return run_netlink(call, cmd, thread);
	if (cmd->form == UMAD)
		return run_umad(call, cmd, thread);
	return run_ucma(call, cmd, thread);
}
