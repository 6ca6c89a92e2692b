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

#define ROOM		4096
#define CONNECT_REQUEST	4	/* of enum rdma_cm_event_type, which the kernel does not export */

/* ---- netlink ---- */

static unsigned int put_attr(uint8_t *to, unsigned int type, const void *data, unsigned int len)
{
	struct nlattr attr = { .nla_len = sizeof(attr) + len, .nla_type = type };

	memcpy(to, &attr, sizeof(attr));
	memcpy(to + sizeof(attr), data, len);
	return NLA_ALIGN(sizeof(attr) + len);
}

/* The numbers that netlink has for objects, in the order of "describe". */
static const uint16_t numbers[] = {
	RDMA_NLDEV_ATTR_RES_LQPN, RDMA_NLDEV_ATTR_RES_CQN, RDMA_NLDEV_ATTR_RES_MRN,
	RDMA_NLDEV_ATTR_RES_PDN, RDMA_NLDEV_ATTR_RES_CM_IDN, RDMA_NLDEV_ATTR_RES_CTXN,
	RDMA_NLDEV_ATTR_RES_SRQN, RDMA_NLDEV_ATTR_STAT_COUNTER_ID,
};

/* Tables of objects, and their entries. */
static const uint16_t tables[] = {
	RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
	RDMA_NLDEV_ATTR_RES_CM_ID, RDMA_NLDEV_ATTR_RES_CM_ID_ENTRY,
	RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
	RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
	RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
	RDMA_NLDEV_ATTR_RES_CTX, RDMA_NLDEV_ATTR_RES_CTX_ENTRY,
	RDMA_NLDEV_ATTR_RES_SRQ, RDMA_NLDEV_ATTR_RES_SRQ_ENTRY,
	RDMA_NLDEV_ATTR_STAT_COUNTER, RDMA_NLDEV_ATTR_STAT_COUNTER_ENTRY,
};

static int place_of(const uint16_t *list, unsigned int num, uint16_t what)
{
	for (unsigned int i = 0; i < num; i++) {
		if (list[i] == what)
			return i;
	}
	return -1;
}

/* Notes the numbers of objects that an answer has. */
static void learn(unsigned int file, const uint8_t *data, size_t len)
{
	struct nlattr attr;
	uint32_t number;

	for (size_t at = 0; at + sizeof(attr) <= len; at += NLA_ALIGN(attr.nla_len)) {
		const uint8_t *body = data + at + sizeof(attr);
		int place;

		memcpy(&attr, data + at, sizeof(attr));
		if (attr.nla_len < sizeof(attr) || at + attr.nla_len > len)
			break;
		attr.nla_type &= NLA_TYPE_MASK;
		if (place_of(tables, sizeof(tables) / sizeof(*tables), attr.nla_type) >= 0)
			learn(file, body, attr.nla_len - sizeof(attr));
		place = place_of(numbers, sizeof(numbers) / sizeof(*numbers), attr.nla_type);
		if (place < 0 || attr.nla_len != sizeof(attr) + sizeof(number))
			continue;
		memcpy(&number, body, sizeof(number));
		object_made(file, TYPE_NUMBER + place, number);
	}
}

/* Receives all answers that have arrived, or some: the rest ends with the socket. */
static void hear(int sock, unsigned int most, unsigned int file)
{
	static __thread uint8_t answer[32768];
	struct nlmsghdr head;
	ssize_t len;

	while (most-- && (len = recv(sock, answer, sizeof(answer), MSG_DONTWAIT)) > 0) {
		for (ssize_t at = 0; at + (ssize_t)sizeof(head) <= len;
		     at += NLMSG_ALIGN(head.nlmsg_len)) {
			memcpy(&head, answer + at, sizeof(head));
			if (head.nlmsg_len < sizeof(head) || head.nlmsg_len > len - at)
				break;
			learn(file, answer + at + sizeof(head), head.nlmsg_len - sizeof(head));
		}
	}
}

/* The bytes of an attribute: netlink has told an object's number, the device's is known. */
static unsigned int attr_bytes(const struct call *call, const struct command *cmd, unsigned int i,
			       uint8_t *to, unsigned int room)
{
	const struct row *row = &cmd->rows[i];
	unsigned int len = row_bytes(call, i, to, room);
	uint32_t number;

	if (row->type && !twist_of(call, i, VALUE) && !twist_of(call, i, LEN)) {
		number = row_handle(call, i);
		memcpy(to, &number, sizeof(number));
	} else if (!strcmp(row->name, "DEV_INDEX") && !twisted(call, i)) {
		memcpy(to, &shared->device_index, sizeof(shared->device_index));
	}
	return len;
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

		if (row->kind != NLA || twist_of(call, i, ABSENT) ||
		    (!row->good && !twisted(call, i)))
			continue;
		len = attr_bytes(call, cmd, i, value, sizeof(value));
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
		hear(sock, most, call->file);
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

/* Takes the number of what was made from an answer of so many bytes. */
static void note_answer(const struct call *call, const struct command *cmd, uint64_t where,
			unsigned int len)
{
	struct rdma_ucm_event_resp event = {};

	memcpy(&event, (void *)where, len < 16 ? len : 16);
	note(call, cmd, event.uid);
	/* who wants to connect has an id */
	if (cmd->number == RDMA_USER_CM_CMD_GET_EVENT && len >= 16 &&
	    event.event == CONNECT_REQUEST)
		object_made(call->file, TYPE_CM_ID, event.id);
}

static int run_ucma(const struct call *call, const struct command *cmd, unsigned int thread)
{
	struct rdma_ucm_cmd_hdr head = { .cmd = cmd->number, .out = cmd->response };
	uint8_t data[ROOM] = {}, room[512] = {};
	unsigned int len = structure(call, cmd, data + sizeof(head));
	const struct twist *twist;
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
	if (cmd->response)
		memcpy(data + sizeof(head) + cmd->response_at, &where, sizeof(where));
	len += sizeof(head);
	twist = twist_of(call, REQUEST, LEN);
	if (twist)
		len = twist->value % ROOM;
	if (write(files[FILE_UCMA][call->file],
		  (void *)row_place(call, REQUEST, thread, data, len), len) < 0)
		return errno;
	if (head.out >= 4 && where > PAGE * 16)
		note_answer(call, cmd, where, head.out);
	else
		note(call, cmd, 0);
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
