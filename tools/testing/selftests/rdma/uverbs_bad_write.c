// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests in the write() forms, by write() and carried by ioctl.
 */
#include "uverbs_bad_input.h"

/* ---- write() ---- */

static int write_short(void) { return raw_write(fd, "\0\0\0", 4); }

static int write_words(void)
{
	RAW_PLAIN(ib_uverbs_dealloc_pd) r = {
		.hdr = { .command = IB_USER_VERBS_CMD_DEALLOC_PD, .in_words = 9 },
	};

	return raw_write(fd, &r, sizeof(r));
}

static int write_command(uint32_t command)
{
	struct ib_uverbs_cmd_hdr hdr = { .command = command, .in_words = 2 };

	return raw_write(fd, &hdr, sizeof(hdr));
}

static int write_unknown(void) { return write_command(60); }
static int write_not_here(void) { return write_command(IB_USER_VERBS_CMD_PEEK_CQ); }
static int write_flags(void) { return write_command(0x01000000 | IB_USER_VERBS_CMD_ALLOC_PD); }
static int write_no_body(void) { return write_command(IB_USER_VERBS_CMD_DEALLOC_PD); }

static int write_little_room(void)
{
	struct ib_uverbs_query_port_resp resp;
	RAW_PLAIN(ib_uverbs_query_port) r = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_QUERY_PORT, .in_words = sizeof(r) / 4,
			.out_words = 2,
		},
		.body = { .response = (uintptr_t)&resp, .port_num = 1 },
	};

	return raw_write(fd, &r, sizeof(r));
}

static int write_response(void)
{
	RAW_PLAIN(ib_uverbs_query_port) r = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_QUERY_PORT, .in_words = sizeof(r) / 4,
			.out_words = sizeof(struct ib_uverbs_query_port_resp) / 4,
		},
		.body = { .response = 4096, .port_num = 1 },
	};

	return raw_write(fd, &r, sizeof(r));
}

static int write_alloc_response(void)
{
	RAW_PLAIN(ib_uverbs_create_comp_channel) r = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
			.in_words = sizeof(r) / 4, .out_words = 1,
		},
		.body = { .response = 4096 },
	};

	return raw_write(fd, &r, sizeof(r));
}

static int write_trailing(void)
{
	struct {
		RAW_PLAIN(ib_uverbs_dealloc_pd) r;
		uint32_t more;
	} r = {
		.r.hdr = { .command = IB_USER_VERBS_CMD_DEALLOC_PD, .in_words = sizeof(r) / 4 },
		.r.body.pd_handle = 4711,
		.more = 1,
	};

	return raw_write(fd, &r, sizeof(r));
}

static int write_handle(void)
{
	RAW_PLAIN(ib_uverbs_dealloc_pd) r = {
		.hdr = { .command = IB_USER_VERBS_CMD_DEALLOC_PD, .in_words = sizeof(r) / 4 },
		.body.pd_handle = 4711,
	};

	return raw_write(fd, &r, sizeof(r));
}

static int write_without_context(void)
{
	struct ib_uverbs_alloc_pd_resp resp[8];
	RAW_PLAIN(ib_uverbs_alloc_pd) r = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_ALLOC_PD, .in_words = sizeof(r) / 4,
			.out_words = 8,
		},
		.body.response = (uintptr_t)resp,
	};

	return raw_write(fresh, &r, sizeof(r));
}

static int alloc_mw(uint8_t type, uint32_t pd_handle)
{
	struct ib_uverbs_alloc_mw_resp resp[8];
	RAW_PLAIN(ib_uverbs_alloc_mw) r = {
		.hdr = {
			.command = IB_USER_VERBS_CMD_ALLOC_MW, .in_words = sizeof(r) / 4,
			.out_words = 8,
		},
		.body = { .response = (uintptr_t)resp, .pd_handle = pd_handle, .mw_type = type },
	};

	return raw_write(fd, &r, sizeof(r));
}

static int write_mw_type_0(void) { return alloc_mw(0, pd->handle); }
static int write_mw_type_3(void) { return alloc_mw(3, pd->handle); }
static int write_mw_of_no_pd(void) { return alloc_mw(1, 4711); }
static int write_mw_of_cq(void) { return alloc_mw(1, cq->handle); }

static int write_mw_handle(void)
{
	RAW_PLAIN(ib_uverbs_dealloc_mw) r = {
		.hdr = { .command = IB_USER_VERBS_CMD_DEALLOC_MW, .in_words = sizeof(r) / 4 },
		.body.mw_handle = pd->handle,
	};

	return raw_write(fd, &r, sizeof(r));
}

static int write_other_user(void)
{
	if (seteuid(65534))
		return ENOTRECOVERABLE;
	return write_unknown();
}

static int write_credentials(void)
{
	return in_child(write_other_user);
}

/* ---- extended write() ---- */

static struct ib_uverbs_ex_query_device_resp device_resp;

struct ex_request {
	RAW_EXTENDED(ib_uverbs_ex_query_device) r;
	uint64_t more;
};

static struct ex_request query_device_ex(void)
{
	struct ex_request q = {
		.r.hdr = {
			.command = IB_USER_VERBS_EX_CMD_QUERY_DEVICE |
				   IB_USER_VERBS_CMD_FLAG_EXTENDED,
			.in_words = sizeof(q.r.body) / 8, .out_words = sizeof(device_resp) / 8,
		},
		.r.ex.response = (uintptr_t)&device_resp,
	};

	return q;
}

static int ex_good(void)
{
	struct ex_request q = query_device_ex();

	return raw_write(fd, &q, sizeof(q.r));
}

static int ex_no_header(void)
{
	struct ex_request q = query_device_ex();

	return raw_write(fd, &q, sizeof(q.r.hdr) + 4);
}

static int ex_words(void)
{
	struct ex_request q = query_device_ex();

	q.r.hdr.in_words = 4;
	return raw_write(fd, &q, sizeof(q.r));
}

static int ex_no_body(void)
{
	struct ex_request q = query_device_ex();

	q.r.hdr.in_words = 0;
	return raw_write(fd, &q, sizeof(q.r) - sizeof(q.r.body));
}

static int ex_reserved(void)
{
	struct ex_request q = query_device_ex();

	q.r.ex.cmd_hdr_reserved = 1;
	return raw_write(fd, &q, sizeof(q.r));
}

static int ex_no_response(void)
{
	struct ex_request q = query_device_ex();

	q.r.ex.response = 0;
	return raw_write(fd, &q, sizeof(q.r));
}

static int ex_no_room(void)
{
	struct ex_request q = query_device_ex();

	q.r.hdr.out_words = 0;
	return raw_write(fd, &q, sizeof(q.r));
}

static int ex_little_room(void)
{
	struct ex_request q = query_device_ex();

	q.r.hdr.out_words = 2;
	return raw_write(fd, &q, sizeof(q.r));
}

static int ex_comp_mask(void)
{
	struct ex_request q = query_device_ex();

	q.r.body.comp_mask = 1;
	return raw_write(fd, &q, sizeof(q.r));
}

static int ex_trailing(void)
{
	struct ex_request q = query_device_ex();

	q.r.hdr.in_words++;
	q.more = 1;
	return raw_write(fd, &q, sizeof(q));
}

static int ex_trailing_zero(void)
{
	struct ex_request q = query_device_ex();

	q.r.hdr.in_words++;
	return raw_write(fd, &q, sizeof(q));
}

/* ---- write() commands carried by ioctl ---- */

static int carried_unknown(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	uint64_t body = 0;

	raw_const(&r, UVERBS_ATTR_WRITE_CMD, 61);
	raw_in(&r, UVERBS_ATTR_CORE_IN, &body, sizeof(body));
	return raw_send(fd, &r);
}

static int carried_short(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	uint64_t body = 0;

	raw_const(&r, UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_QUERY_PORT);
	raw_in(&r, UVERBS_ATTR_CORE_IN, &body, sizeof(body));
	raw_out(&r, UVERBS_ATTR_CORE_OUT, buf, 256);
	return raw_send(fd, &r);
}

static int carried_unreadable(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);

	raw_const(&r, UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_QUERY_PORT);
	raw_add(&r, UVERBS_ATTR_CORE_IN, sizeof(struct ib_uverbs_query_port), 4096);
	raw_out(&r, UVERBS_ATTR_CORE_OUT, buf, 256);
	return raw_send(fd, &r);
}

/* Drivers whose libraries post by themselves do not offer it. */
static int carried_post(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE);
	struct ib_uverbs_post_send req = { .qp_handle = qp->handle };
	struct ib_uverbs_post_send_resp resp;

	raw_const(&r, UVERBS_ATTR_WRITE_CMD, IB_USER_VERBS_CMD_POST_SEND);
	raw_in(&r, UVERBS_ATTR_CORE_IN, &req, sizeof(req));
	raw_out(&r, UVERBS_ATTR_CORE_OUT, &resp, sizeof(resp));
	return raw_send(fd, &r);
}

const struct bad_input bad_writes[] = {
	ROW(write_short, EINVAL, "4 bytes do not hold a header"),
	ROW(write_words, EINVAL, "in_words 9"),
	ROW(write_unknown, EOPNOTSUPP, "command 60"),
	ROW(write_not_here, EOPNOTSUPP, "command 22"),
	ROW(write_flags, EINVAL, "unknown flags"),
	ROW(write_no_body, ENOSPC, "request has 0 bytes"),
	ROW(write_little_room, ENOSPC, "room for 8 bytes"),
	ROW(write_response, EFAULT, "response"),
	ROW(write_alloc_response, EFAULT, "response"),
	ROW(write_trailing, EOPNOTSUPP, "not zero"),
	ROW(write_handle, ENOENT, "pd_handle 4711"),
	ROW(write_without_context, EINVAL, "no context", .on_fresh = true),
	ROW(write_mw_type_0, EINVAL, "mw_type 0"),
	ROW(write_mw_type_3, EINVAL, "mw_type 3"),
	ROW(write_mw_of_no_pd, ENOENT, "pd_handle 4711"),
	ROW(write_mw_of_cq, EINVAL, "pd_handle"),
	ROW(write_mw_handle, EINVAL, "mw_handle"),
	ROW(write_credentials, EACCES, "credentials"),
	ROW(ex_good, 0, NULL),
	ROW(ex_no_header, EINVAL, "extended header"),
	ROW(ex_words, EINVAL, "in_words"),
	ROW(ex_no_body, 0, NULL),
	ROW(ex_reserved, EINVAL, "cmd_hdr_reserved"),
	ROW(ex_no_response, EINVAL, "without a response"),
	ROW(ex_no_room, EINVAL, "without out_words"),
	ROW(ex_little_room, 0, NULL),
	ROW(ex_comp_mask, EINVAL, "comp_mask"),
	ROW(ex_trailing, EOPNOTSUPP, "not zero"),
	ROW(ex_trailing_zero, 0, NULL),
	ROW(carried_unknown, EOPNOTSUPP, "command 61"),
	ROW(carried_short, ENOSPC, "request has 8 bytes"),
	ROW(carried_unreadable, EFAULT, "request cannot be read"),
	ROW(carried_post, EOPNOTSUPP, "command 28"),
	{}
};
