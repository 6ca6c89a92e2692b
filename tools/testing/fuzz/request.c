// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests of the user verbs API, by ioctl, by write() in both forms, and by INVOKE_WRITE.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#include "fuzz.h"

#define ATTRS_MOST	64
#define BODY_MOST	1024

/* A request under construction. */
struct request {
	const struct call *call;
	const struct command *cmd;
	unsigned int thread;
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attrs[ATTRS_MOST];
	int made;			/* attribute for the handle of a new object, or -1 */
};

static bool is_object(const struct row *row)
{
	return row->kind == READ || row->kind == CHANGE || row->kind == DESTROY;
}

static unsigned int is_blob(const struct row *row)
{
	return row->kind == BLOB;
}

static struct ib_uverbs_attr *add(struct request *req, unsigned int id, unsigned int len,
				  uint64_t data)
{
	struct ib_uverbs_attr *attr = &req->attrs[req->hdr.num_attrs];

	if (req->hdr.num_attrs == ATTRS_MOST - 1)
		return attr;
	*attr = (struct ib_uverbs_attr){
		.attr_id = id, .len = len, .flags = UVERBS_ATTR_F_MANDATORY, .data = data,
	};
	req->hdr.num_attrs++;
	return attr;
}

/* Does a twist place the bytes outside the attribute? */
static bool placed(const struct call *call, unsigned int row)
{
	for (unsigned int i = 0; i < call->num_twists; i++) {
		const struct twist *one = &call->twists[i];

		if (one->row == row && one->how >= READONLY && one->how <= LATE)
			return true;
	}
	return false;
}

static struct ib_uverbs_attr *add_bytes(struct request *req, unsigned int number)
{
	const struct row *row = &req->cmd->rows[number];
	uint8_t data[BODY_MOST];
	unsigned int len = row_bytes(req->call, number, data, sizeof(data));
	uint64_t inside = 0;
	bool out = row->kind == OUT || row->flags & ROW_BYTES_OUT;

	if (!twist_of(req->call, number, LEN)) {
		if (row->kind == INT && row->flags & ROW_CONST)
			memset(data + len, 0, 8 - len), len = 8;
		else if (row->kind == MASK)
			len = len < 4 || len > 8 ? 4 : len;
	}
	if (!out && len <= 8 && !placed(req->call, number)) {
		memcpy(&inside, data, len);
		return add(req, row->attr, len, inside);
	}
	return add(req, row->attr, len, row_place(req->call, number, req->thread, data, len));
}

static void add_row(struct request *req, unsigned int number)
{
	const struct row *row = &req->cmd->rows[number];
	const struct twist *twist;
	struct ib_uverbs_attr *attr;

	if (row->attr == NO_ATTR || twist_of(req->call, number, ABSENT) ||
	    (!row->good && !twisted(req->call, number)))
		return;
	if (is_object(row)) {
		attr = add(req, row->attr, 0, row_handle(req->call, number));
	} else if (row->kind == NEW) {
		req->made = req->hdr.num_attrs;
		twist = twist_of(req->call, number, RAW);
		attr = add(req, row->attr, 0, twist ? twist->value : 0);
	} else {
		attr = add_bytes(req, number);
	}
	twist = twist_of(req->call, number, LEN);
	if (twist)
		attr->len = twist->value;
	twist = twist_of(req->call, number, RESERVED);
	if (twist)
		attr->attr_data.reserved = twist->value + 1;
	if (twist_of(req->call, number, TWICE))
		add(req, attr->attr_id, attr->len, attr->data);
}

static void twist_header(struct request *req)
{
	for (unsigned int i = 0; i < req->call->num_twists; i++) {
		const struct twist *one = &req->call->twists[i];

		if (one->row != REQUEST)
			continue;
		switch (one->how) {
		case LEN:
			req->hdr.length += one->value * 4 - 16;
			break;
		case OBJECT:
			req->hdr.object_id = one->value;
			break;
		case METHOD:
			req->hdr.method_id = one->value;
			break;
		case NUMBER:
			req->hdr.driver_id = one->value;
			break;
		case ATTRS:
			req->hdr.num_attrs += one->value - 3;
			break;
		case RESERVED:
			req->hdr.reserved1 = one->value + 1;
			break;
		case FLAGS:
			req->attrs[one->value % ATTRS_MOST].flags = one->value >> 8;
			break;
		default:
			break;
		}
	}
}

static int send_ioctl(struct request *req)
{
	unsigned int len = sizeof(req->hdr) + req->hdr.num_attrs * sizeof(req->attrs[0]);
	uint8_t data[sizeof(req->hdr) + sizeof(req->attrs)];
	uint64_t place;
	int ret;

	req->hdr.length = len;
	twist_header(req);
	memcpy(data, &req->hdr, sizeof(req->hdr));
	memcpy(data + sizeof(req->hdr), req->attrs, sizeof(req->attrs));
	place = row_place(req->call, REQUEST, req->thread, data, len);
	ret = ioctl(files[FILE_UVERBS][req->call->file], RDMA_VERBS_IOCTL, place) ? errno : 0;
	if (!ret && req->made >= 0)
		memcpy(&req->attrs[req->made], (void *)(place + sizeof(req->hdr) +
		       req->made * sizeof(req->attrs[0])), sizeof(req->attrs[0]));
	return ret;
}

static int run_ioctl(const struct call *call, const struct command *cmd, unsigned int thread)
{
	struct request req = {
		.call = call, .cmd = cmd, .thread = thread, .made = -1,
		.hdr.object_id = cmd->object, .hdr.method_id = cmd->method,
		.hdr.driver_id = link_driver(),
	};
	int ret;

	for (unsigned int i = 0; i < cmd->num_rows; i++)
		add_row(&req, i);
	ret = send_ioctl(&req);
	for (unsigned int i = 0; !ret && i < cmd->num_rows; i++) {
		const struct row *row = &cmd->rows[i];

		if (row->kind == NEW && req.made >= 0)
			object_made(call->file, row->type, req.attrs[req.made].data);
		else if (row->kind == DESTROY)
			object_gone(call->file, row->type, row_handle(call, i));
	}
	return ret;
}

/* Fills in the structure of a request by write(). */
static void body(const struct call *call, const struct command *cmd, enum form form,
		 uint8_t *to)
{
	uint8_t data[BODY_MOST];

	/* parts of other fields are written after those */
	for (unsigned int pass = 0; pass < 2; pass++) {
		for (unsigned int i = 0; i < cmd->num_rows; i++) {
			const struct row *row = &cmd->rows[i];
			unsigned int at = row->at[form], len = row->len[form];
			uint64_t handle;

			if (pass == is_blob(row) || !len || at + len > BODY_MOST ||
			    row->kind == OUT || row->kind == HANDLE_OUT || row->kind == NEW)
				continue;
			/* another row may be in the same place */
			if ((row->means[0] != '-' || row->flags & ROW_FD) && !twisted(call, i))
				continue;
			if (is_object(row)) {
				handle = row_handle(call, i);
				memcpy(to + at, &handle, len < 8 ? len : 8);
				continue;
			}
			memset(data, 0, len);
			row_bytes(call, i, data, sizeof(data));
			memcpy(to + at, data, len);
		}
	}
}

/* Puts what follows the request behind it.  Returns how many bytes: whole words of 8. */
static unsigned int put_tail(const struct call *call, const struct command *cmd, uint8_t *to)
{
	unsigned int len = 0;

	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		if (cmd->rows[i].attr == TAIL && !twist_of(call, i, ABSENT))
			len = row_bytes(call, i, to, BODY_MOST / 2 - 8);
	}
	return (len + 7) & ~7U;
}

/* The place of the kernel's answer, from which numbers of new objects are taken. */
static void answered(const struct call *call, const struct command *cmd, enum form form,
		     const uint8_t *response)
{
	unsigned int type = strcmp(cmd->name, "GET_CONTEXT") ? 0 : TYPE_ASYNC_EVENT;
	uint32_t handle;

	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		if (cmd->rows[i].kind == NEW)
			type = cmd->rows[i].type;
	}
	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		const struct row *row = &cmd->rows[i];

		if (row->kind == HANDLE_OUT && row->len[form] && response && type) {
			memcpy(&handle, response + row->at[form], sizeof(handle));
			object_made(call->file, type, handle);
		} else if (row->kind == DESTROY) {
			object_gone(call->file, row->type, row_handle(call, i));
		}
	}
}

/* The row with the address of the response, which "describe" adds to the forms of write(). */
static unsigned int answer_row(const struct command *cmd)
{
	return row_named(cmd, "answer", "out");
}

static const struct twist *header_twist(const struct call *call, enum how how)
{
	return twist_of(call, REQUEST, how);
}

static int run_write(const struct call *call, const struct command *cmd, unsigned int thread)
{
	bool extended = cmd->form == EXTENDED;
	unsigned int word = extended ? 8 : 4, head = extended ? 24 : 8;
	uint8_t data[24 + 2 * BODY_MOST] = {}, room[512] = {};
	unsigned int tail = 0, out = 0, request, len;
	const struct twist *twist;
	uint16_t words[4] = {};
	uint64_t response = 0, where = 0;
	uint32_t number = cmd->number;
	int driver_out = -1;
	ssize_t done;

	body(call, cmd, cmd->form, data + head);
	request = cmd->request + put_tail(call, cmd, data + head + cmd->request);
	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		if (cmd->rows[i].attr == DRIVER_IN && !twist_of(call, i, ABSENT))
			tail = row_bytes(call, i, data + head + request, BODY_MOST / 2);
		if (cmd->rows[i].attr == DRIVER_OUT && !twist_of(call, i, ABSENT))
			driver_out = i;
	}
	out = cmd->response + (driver_out >= 0 ? 64 : 0);
	if (cmd->response) {
		where = row_place(call, answer_row(cmd), thread, room, out);
		response = where;
	}
	twist = header_twist(call, UNMAPPED);
	if (twist)
		response = twist->value;
	len = head + request + tail;
	if (extended) {
		words[0] = request / word;
		words[1] = cmd->response / word;
		words[2] = tail / word;
		words[3] = cmd->response && driver_out >= 0 ? 64 / word : 0;
	} else {
		words[0] = len / word;
		words[1] = out / word;
	}
	twist = header_twist(call, IN_WORDS);
	if (twist)
		words[twist->value & 1 ? 2 : 0] += (int)twist->value - 3;
	twist = header_twist(call, OUT_WORDS);
	if (twist)
		words[twist->value & 1 ? 3 : 1] += (int)twist->value - 3;
	twist = header_twist(call, NUMBER);
	if (twist)
		number ^= 1U << twist->value * 4;
	memcpy(data, &number, 4);
	memcpy(data + 4, words, 4);
	if (extended) {
		memcpy(data + 8, &response, 8);
		memcpy(data + 16, words + 2, 4);
		twist = header_twist(call, RESERVED);
		data[20] = twist ? twist->value + 1 : 0;
	} else if (cmd->response) {
		memcpy(data + 8, &response, 8);
	}
	twist = header_twist(call, LEN);
	if (twist)
		len = twist->value % sizeof(data);
	done = write(files[FILE_UVERBS][call->file],
		     (void *)row_place(call, REQUEST, thread, data, len), len);
	if (done < 0)
		return errno;
	if (!header_twist(call, NUMBER))
		answered(call, cmd, cmd->form, response == where ? (void *)where : NULL);
	return 0;
}

/* A request of the write() form in attributes: the rows around it are the command's own. */
static int run_invoke(const struct call *call, const struct command *cmd, unsigned int thread)
{
	enum form form = cmd->number & IB_USER_VERBS_CMD_FLAG_EXTENDED ? EXTENDED : WRITE;
	struct request req = {
		.call = call, .cmd = cmd, .thread = thread, .made = -1,
		.hdr.object_id = 0, .hdr.method_id = UVERBS_METHOD_INVOKE_WRITE,
		.hdr.driver_id = link_driver(),
	};
	uint8_t data[2 * BODY_MOST] = {}, room[512] = {};
	const struct twist *twist;
	uint64_t where = 0;
	unsigned int len;
	int ret;

	body(call, cmd, form, data);
	len = cmd->request + put_tail(call, cmd, data + cmd->request);
	for (unsigned int i = 0; i < cmd->num_rows; i++) {
		if (cmd->rows[i].attr == DRIVER_IN || cmd->rows[i].attr == DRIVER_OUT)
			add_row(&req, i);
	}
	twist = header_twist(call, IN_WORDS);
	add(&req, UVERBS_ATTR_CORE_IN, len + (twist ? 4 * (int)twist->value - 12 : 0),
	    row_place(call, REQUEST, thread, data, len));
	if (cmd->response) {
		where = row_place(call, answer_row(cmd), thread, room, cmd->response);
		twist = header_twist(call, OUT_WORDS);
		add(&req, UVERBS_ATTR_CORE_OUT,
		    cmd->response + (twist ? 4 * (int)twist->value - 12 : 0), where);
	}
	twist = header_twist(call, NUMBER);
	add(&req, UVERBS_ATTR_WRITE_CMD, 8, twist ? cmd->number ^ 1U << twist->value * 4 :
	    cmd->number);
	ret = send_ioctl(&req);
	if (!ret && !twist)
		answered(call, cmd, form, (void *)where);
	return ret;
}

int request_run(const struct call *call, const struct command *cmd, unsigned int thread)
{
	if (cmd->form == IOCTL)
		return run_ioctl(call, cmd, thread);
	if (cmd->form == INVOKE)
		return run_invoke(call, cmd, thread);
	return run_write(call, cmd, thread);
}
