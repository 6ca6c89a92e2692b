// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests whose frame or attributes are wrong.
 */
#include <sys/mman.h>

#include "uverbs_bad_input.h"

static struct raw query_port(uint64_t port, struct ib_uverbs_query_port_resp_ex *resp)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);

	raw_const(&r, UVERBS_ATTR_QUERY_PORT_PORT_NUM, port);
	raw_out(&r, UVERBS_ATTR_QUERY_PORT_RESP, resp, sizeof(*resp));
	return r;
}

static struct ib_uverbs_query_port_resp_ex port_resp;

/* ---- the frame of an ioctl ---- */

static int header_length(void)
{
	struct raw r = query_port(1, &port_resp);

	r.hdr.length += 4;
	return raw_send(fd, &r);
}

static int header_too_many(void)
{
	struct raw r = query_port(1, &port_resp);

	r.hdr.num_attrs = 60000;
	return raw_send(fd, &r);
}

static int header_reserved(void)
{
	struct raw r = query_port(1, &port_resp);

	r.hdr.reserved2 = 1;
	return raw_send(fd, &r);
}

static int header_driver(void)
{
	struct raw r = query_port(1, &port_resp);

	r.hdr.driver_id = 77;
	return raw_send(fd, &r);
}

static int header_object(void)
{
	struct raw r = query_port(1, &port_resp);

	r.hdr.object_id = 0x0fff;
	return raw_send(fd, &r);
}

static int header_method(void)
{
	struct raw r = query_port(1, &port_resp);

	r.hdr.method_id = 19;
	return raw_send(fd, &r);
}

static int header_unreadable(void)
{
	return ioctl(fd, RDMA_VERBS_IOCTL, 8) ? errno : 0;
}

static int attrs_unreadable(void)
{
	char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct raw r = query_port(1, &port_resp);
	int ret;

	/* the header ends where the readable page ends */
	munmap(pages + 4096, 4096);
	memcpy(pages + 4096 - sizeof(r.hdr), &r.hdr, sizeof(r.hdr));
	ret = ioctl(fd, RDMA_VERBS_IOCTL, pages + 4096 - sizeof(r.hdr)) ? errno : 0;
	munmap(pages, 4096);
	return ret;
}

static int other_ioctl(void)
{
	return ioctl(fd, _IO(0x1b, 99), 0) ? errno : 0;
}

/* ---- attributes ---- */

static int attr_unknown_mandatory(void)
{
	struct raw r = query_port(1, &port_resp);

	raw_const(&r, 29, 0);
	return raw_send(fd, &r);
}

static int attr_unknown_optional(void)
{
	struct raw r = query_port(1, &port_resp);

	raw_const(&r, 29, 0)->flags = 0;
	return raw_send(fd, &r);
}

static int attr_twice(void)
{
	struct raw r = query_port(1, &port_resp);

	raw_const(&r, UVERBS_ATTR_QUERY_PORT_PORT_NUM, 1);
	return raw_send(fd, &r);
}

static int attr_missing(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT);

	raw_out(&r, UVERBS_ATTR_QUERY_PORT_RESP, &port_resp, sizeof(port_resp));
	return raw_send(fd, &r);
}

static int attr_short_in(void)
{
	struct raw r = query_port(1, &port_resp);

	r.attrs[0].len = 4;
	return raw_send(fd, &r);
}

static int attr_long_in(void)
{
	struct raw r = query_port(1, &port_resp);

	r.attrs[0].len = 12;
	r.attrs[0].data = (uintptr_t)buf;
	return raw_send(fd, &r);
}

static int attr_short_out(void)
{
	struct raw r = query_port(1, &port_resp);

	r.attrs[1].len = 8;
	return raw_send(fd, &r);
}

static int attr_long_out(void)
{
	char room[sizeof(port_resp) + 64];
	struct raw r = query_port(1, &port_resp);
	int ret;

	memset(room, 0xff, sizeof(room));
	r.attrs[1].data = (uintptr_t)room;
	r.attrs[1].len = sizeof(room);
	ret = raw_send(fd, &r);
	for (size_t i = sizeof(port_resp); !ret && i < sizeof(room); i++)
		if (room[i])
			return EILSEQ;	/* the rest must come back cleared */
	return ret;
}

static int attr_out_unwritable(void)
{
	struct raw r = query_port(1, (void *)4096);

	return raw_send(fd, &r);
}

static int attr_reserved(void)
{
	struct raw r = query_port(1, &port_resp);

	r.attrs[0].attr_data.reserved = 1;
	return raw_send(fd, &r);
}

static int attr_out_of_type(void)
{
	struct raw r = query_port(300, &port_resp);

	return raw_send(fd, &r);
}

static int port_zero(void)
{
	struct raw r = query_port(0, &port_resp);

	return raw_send(fd, &r);
}

static int port_beyond(void)
{
	struct raw r = query_port(200, &port_resp);

	return raw_send(fd, &r);
}

static int port_good(void)
{
	struct raw r = query_port(1, &port_resp);

	return raw_send(fd, &r);
}

static int without_context(void)
{
	struct raw r = query_port(1, &port_resp);

	return raw_send(fresh, &r);
}

static int second_context(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_GET_CONTEXT);
	uint64_t features = 0;
	char resp[256];

	raw_in(&r, UVERBS_ATTR_UHW_IN, &features, sizeof(features));
	raw_out(&r, UVERBS_ATTR_UHW_OUT, resp, sizeof(resp));
	return raw_send(fd, &r);
}

static int gid_port(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
	struct ib_uverbs_gid_entry entry;

	raw_const(&r, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 9);
	raw_const(&r, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 0);
	raw_u32(&r, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 0);
	raw_out(&r, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry, sizeof(entry));
	return raw_send(fd, &r);
}

static int gid_flags(void)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_ENTRY);
	struct ib_uverbs_gid_entry entry;

	raw_const(&r, UVERBS_ATTR_QUERY_GID_ENTRY_PORT, 1);
	raw_const(&r, UVERBS_ATTR_QUERY_GID_ENTRY_GID_INDEX, 0);
	raw_u32(&r, UVERBS_ATTR_QUERY_GID_ENTRY_FLAGS, 4);
	raw_out(&r, UVERBS_ATTR_QUERY_GID_ENTRY_RESP_ENTRY, &entry, sizeof(entry));
	return raw_send(fd, &r);
}

static int gid_table(uint64_t entry_size, uint16_t len)
{
	struct raw r = raw_begin(DRIVER_ID, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_GID_TABLE);
	uint64_t count;

	raw_const(&r, UVERBS_ATTR_QUERY_GID_TABLE_ENTRY_SIZE, entry_size);
	raw_out(&r, UVERBS_ATTR_QUERY_GID_TABLE_RESP_ENTRIES, buf, len);
	raw_out(&r, UVERBS_ATTR_QUERY_GID_TABLE_RESP_NUM_ENTRIES, &count, sizeof(count));
	return raw_send(fd, &r);
}

static int gid_entry_zero(void) { return gid_table(0, 64); }
static int gid_entry_odd(void) { return gid_table(32, 100); }
static int gid_entry_short(void) { return gid_table(4, 4096); }

const struct bad_input bad_ioctls[] = {
	ROW(port_good, 0, NULL),
	ROW(header_length, EINVAL, "length"),
	ROW(header_too_many, EINVAL, "60000 attributes"),
	ROW(header_reserved, EPROTONOSUPPORT, "reserved"),
	ROW(header_driver, EINVAL, "driver_id 77"),
	ROW(header_object, EPROTONOSUPPORT, "object 0xfff"),
	ROW(header_method, EPROTONOSUPPORT, "method 0x13"),
	ROW(header_unreadable, EFAULT, "header"),
	ROW(attrs_unreadable, EFAULT, "attributes"),
	ROW(other_ioctl, ENOTTY, NULL),
	ROW(attr_unknown_mandatory, EPROTONOSUPPORT, "attribute 0x1d"),
	ROW(attr_unknown_optional, 0, NULL),
	ROW(attr_twice, EINVAL, "port_num: given twice"),
	ROW(attr_missing, EINVAL, "port_num is missing"),
	ROW(attr_short_in, EINVAL, "port_num: 4 bytes"),
	ROW(attr_long_in, EINVAL, "port_num: 12 bytes"),
	ROW(attr_short_out, EINVAL, "response: 8 bytes"),
	ROW(attr_long_out, 0, NULL),
	ROW(attr_out_unwritable, EFAULT, "cannot be written"),
	ROW(attr_reserved, EINVAL, "port_num: reserved"),
	ROW(attr_out_of_type, EINVAL, "port_num 300"),
	ROW(port_zero, EINVAL, "port_num 0"),
	ROW(port_beyond, EINVAL, "port_num 200"),
	ROW(without_context, EINVAL, "no context", .on_fresh = true),
	ROW(second_context, EINVAL, "context already"),
	ROW(gid_port, EINVAL, "port 9"),
	ROW(gid_flags, EINVAL, "flags: unknown bits 0x4"),
	ROW(gid_entry_zero, EINVAL, "entries of 0"),
	ROW(gid_entry_odd, EINVAL, "entries: 100 bytes"),
	ROW(gid_entry_short, 0, NULL),
	{}
};
