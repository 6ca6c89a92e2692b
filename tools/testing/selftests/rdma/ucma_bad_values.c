// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * ucma_bad_input: values that each command refuses, and events.
 */
#include "ucma_bad_input.h"

/* ---- values ---- */

static int no_header(int of)
{
	uint8_t byte[7] = {};

	return write(of, byte, sizeof(byte)) < 0 ? errno : 0;
}

static int header_unreadable(int of)
{
	return write(of, (void *)(uintptr_t)nowhere, 64) < 0 ? errno : 0;
}

static int command_unknown(int of)
{
	return ucma_ask(of, RDMA_USER_CM_CMD_JOIN_MCAST + 1, resp, 64, 64);
}

static int command_huge(int of)
{
	return ucma_ask(of, 0xffffffff, resp, 64, 64);
}

static int get_option(int of)
{
	return ucma_ask(of, RDMA_USER_CM_CMD_GET_OPTION, resp, 64, 64);
}

int create(int of, uint16_t ps, uint64_t response, uint32_t *id)
{
	struct rdma_ucm_create_id r = { .uid = UID, .response = response, .ps = ps };
	int ret = UCMA(of, CREATE_ID, r, 4);

	memcpy(id, resp, 4);
	return ret;
}

static int create_bad_ps(int of)
{
	uint32_t id;

	return create(of, 0x107, RESP, &id);
}

static int create_untold(int of)
{
	uint32_t id;

	return create(of, RDMA_PS_TCP, nowhere, &id);
}

static int destroy(int of, uint32_t id)
{
	struct rdma_ucm_destroy_id r = { .response = RESP, .id = id };

	return UCMA(of, DESTROY_ID, r, 4);
}

static int destroy_twice(int of)
{
	uint32_t id;

	return create(of, RDMA_PS_TCP, RESP, &id) ?: destroy(of, id) ?: destroy(of, id);
}

static int destroy_untold(int of)
{
	struct rdma_ucm_destroy_id r = { .response = nowhere };

	return create(of, RDMA_PS_TCP, RESP, &r.id) ?: UCMA(of, DESTROY_ID, r, 4);
}

static int bind_ip(int of, uint16_t family)
{
	struct rdma_ucm_bind_ip r = { .addr.sin6_family = family, .id = plain };

	return UCMA(of, BIND_IP, r, 0);
}

static int bind_ip_family_0(int of) { return bind_ip(of, 0); }
static int bind_ip_family_ib(int of) { return bind_ip(of, RAW_AF_IB); }
static int bind_ip_family_unix(int of) { return bind_ip(of, AF_UNIX); }

static int bind_any(int of, uint16_t family, uint16_t size, uint16_t reserved)
{
	struct rdma_ucm_bind r = { .id = plain, .addr_size = size, .reserved = reserved,
				   .addr.ss_family = family };

	return UCMA(of, BIND, r, 0);
}

static int bind_no_size(int of) { return bind_any(of, AF_INET, 0, 0); }
static int bind_small_size(int of) { return bind_any(of, AF_INET6, 16, 0); }
static int bind_large_size(int of) { return bind_any(of, AF_INET, 128, 0); }
static int bind_reserved(int of) { return bind_any(of, AF_INET, 16, 1); }
static int bind_family_unix(int of) { return bind_any(of, AF_UNIX, 16, 0); }

/* Addresses that are reserved for documentation: no host has them. */
static int bind_foreign(int of)
{
	struct rdma_ucm_bind r = { .id = plain, .addr_size = 16 };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(0xc0000201) };

	memcpy(&r.addr, &in, sizeof(in));
	return UCMA(of, BIND, r, 0);
}

static int bind_twice(int of)
{
	struct rdma_ucm_bind r = { .id = bound, .addr_size = 16, .addr.ss_family = AF_INET };

	return UCMA(of, BIND, r, 0);
}

static int resolve_ip(int of, uint16_t src, uint16_t dst)
{
	struct rdma_ucm_resolve_ip r = { .src_addr.sin6_family = src, .dst_addr.sin6_family = dst,
					 .id = plain, .timeout_ms = 1 };

	return UCMA(of, RESOLVE_IP, r, 0);
}

static int resolve_ip_no_dst(int of) { return resolve_ip(of, AF_INET, 0); }
static int resolve_ip_bad_src(int of) { return resolve_ip(of, AF_UNIX, AF_INET); }

static int resolve_addr(int of, uint16_t src_size, uint16_t dst_size, uint32_t reserved)
{
	struct rdma_ucm_resolve_addr r = {
		.id = plain, .src_size = src_size, .dst_size = dst_size, .reserved = reserved,
		.src_addr.ss_family = AF_INET, .dst_addr.ss_family = AF_INET,
	};

	return UCMA(of, RESOLVE_ADDR, r, 0);
}

static int resolve_no_dst(int of) { return resolve_addr(of, 0, 0, 0); }
static int resolve_bad_dst(int of) { return resolve_addr(of, 0, 17, 0); }
static int resolve_bad_src(int of) { return resolve_addr(of, 15, 16, 0); }
static int resolve_reserved(int of) { return resolve_addr(of, 0, 16, 1); }

static int resolve_route_early(int of)
{
	struct rdma_ucm_resolve_route r = { .id = bound, .timeout_ms = 1 };

	return UCMA(of, RESOLVE_ROUTE, r, 0);
}

static int connect_id(int of, uint8_t valid)
{
	struct rdma_ucm_connect r = { .conn_param.valid = valid, .id = bound };

	return UCMA(of, CONNECT, r, 0);
}

static int connect_no_param(int of) { return connect_id(of, 0); }
static int connect_early(int of) { return connect_id(of, 1); }

static int accept_early(int of)
{
	struct rdma_ucm_accept r = { .conn_param.valid = 1, .id = bound };

	return UCMA(of, ACCEPT, r, 0);
}

static int reject(int of, uint8_t reason)
{
	struct rdma_ucm_reject r = { .id = bound, .reason = reason };

	return UCMA(of, REJECT, r, 0);
}

static int reject_early(int of) { return reject(of, 0); }
static int reject_bad_reason(int of) { return reject(of, 8); }

static int disconnect_early(int of)
{
	struct rdma_ucm_disconnect r = { .id = bound };

	return UCMA(of, DISCONNECT, r, 0);
}

static int init_bad_state(int of)
{
	struct rdma_ucm_init_qp_attr r = { .response = RESP, .id = bound, .qp_state = 7 };

	return UCMA(of, INIT_QP_ATTR, r, 144);
}

static int init_untold(int of)
{
	struct rdma_ucm_init_qp_attr r = { .response = nowhere, .id = bound, .qp_state = 1 };

	return UCMA(of, INIT_QP_ATTR, r, 144);
}

static int notify_early(int of)
{
	struct rdma_ucm_notify r = { .id = bound, .event = 4 };

	return UCMA(of, NOTIFY, r, 0);
}

static int query(int of, uint32_t option, uint16_t out, uint64_t response)
{
	struct rdma_ucm_query r = { .response = response, .id = bound, .option = option };

	return UCMA(of, QUERY, r, out);
}

static int query_unknown(int of) { return query(of, 3, 1024, RESP); }
static int query_addr_room(int of) { return query(of, 0, 271, RESP); }
static int query_path_room(int of) { return query(of, 1, 7, RESP); }
static int query_gid_room(int of) { return query(of, 2, 271, RESP); }
static int query_addr_untold(int of) { return query(of, 0, 280, nowhere); }
static int query_path_untold(int of) { return query(of, 1, 280, nowhere); }
static int query_gid_untold(int of) { return query(of, 2, 280, nowhere); }
static int query_old(int of) { return query(of, 0, 272, RESP); }

static int query_route_untold(int of)
{
	struct rdma_ucm_query r = { .response = nowhere, .id = bound };

	return UCMA(of, QUERY_ROUTE, r, 208);
}

static int option(int of, uint32_t level, uint32_t name, uint32_t len, uint64_t value)
{
	struct rdma_ucm_set_option r = { .optval = value, .id = bound, .level = level,
					 .optname = name, .optlen = len };

	return UCMA(of, SET_OPTION, r, 0);
}

static int option_level(int of) { return option(of, 2, 0, 4, RESP); }
static int option_id_name(int of) { return option(of, 0, 4, 4, RESP); }
static int option_ib_name(int of) { return option(of, 1, 0, 4, RESP); }
static int option_tos_len(int of) { return option(of, 0, RDMA_OPTION_ID_TOS, 4, RESP); }
static int option_reuse_len(int of) { return option(of, 0, RDMA_OPTION_ID_REUSEADDR, 1, RESP); }
static int option_afonly_len(int of) { return option(of, 0, RDMA_OPTION_ID_AFONLY, 8, RESP); }
static int option_ack_len(int of) { return option(of, 0, RDMA_OPTION_ID_ACK_TIMEOUT, 0, RESP); }
static int option_huge(int of) { return option(of, 0, 0, 0xffffffff, RESP); }
static int option_unreadable(int of) { return option(of, 0, 0, 1, nowhere); }
static int option_path_none(int of) { return option(of, 1, 1, 0, RESP); }
static int option_path_len(int of) { return option(of, 1, 1, 71, RESP); }

static int option_path_flags(int of)
{
	memset(resp, 0, sizeof(resp));
	return option(of, 1, 1, 144, RESP);
}

static int join(int of, uint16_t family, uint16_t size, uint16_t flags)
{
	struct rdma_ucm_join_mcast r = { .response = RESP, .uid = 1, .id = bound, .addr_size = size,
					 .join_flags = flags, .addr.ss_family = family };

	return UCMA(of, JOIN_MCAST, r, 4);
}

static int join_no_family(int of) { return join(of, 0, 16, 0); }
static int join_bad_size(int of) { return join(of, AF_INET, 28, 0); }
static int join_bad_flags(int of) { return join(of, AF_INET, 16, 2); }

static int join_ip_no_family(int of)
{
	struct rdma_ucm_join_ip_mcast r = { .response = RESP, .uid = 1, .id = bound };

	return UCMA(of, JOIN_IP_MCAST, r, 4);
}

static int migrate(int of, uint32_t from, uint32_t id, uint64_t response)
{
	struct rdma_ucm_migrate_id r = { .response = response, .id = id, .fd = from };

	return UCMA(of, MIGRATE_ID, r, 4);
}

static int migrate_no_fd(int of) { return migrate(of, 12345, bound, RESP); }
static int migrate_bad_fd(int of) { return migrate(of, 1, bound, RESP); }
static int migrate_no_id(int of) { return migrate(of, fd, 0xfffffff, RESP); }
static int migrate_wrong_file(int of) { return migrate(of, other, bound, RESP); }

/* ---- events ---- */

static int event(int of, uint16_t out, uint64_t response)
{
	struct rdma_ucm_get_event r = { .response = response };

	return UCMA(of, GET_EVENT, r, out);
}

static int event_none(int of) { return event(of, 336, RESP); }
static int event_untold(int of) { return event(of, 336, nowhere); }

/* The event that could not be copied is the next one. */
static int event_old_program(int of)
{
	struct rdma_ucm_event_resp *got = (void *)resp;
	int ret;

	memset(resp, 0xa5, sizeof(resp));
	ret = event(of, 324, RESP);
	if (ret)
		return ret;
	if (got->id != told || got->uid != UID || got->event || got->ece.vendor_id != 0xa5a5a5a5)
		return EPROTO;
	return 0;
}

static int destroy_reports(int of)
{
	uint32_t reported;
	int ret = destroy(of, told);

	memcpy(&reported, resp, 4);
	return ret ?: reported == 1 ? 0 : EPROTO;
}

/* The response of MIGRATE_ID cannot be written: Linux moves the id all the same. */
static int migrate_untold(int of) { return migrate(of, fd, plain, nowhere); }
static int migrate_is_back(int of) { return destroy(of, plain); }

/* ---- all of them ---- */

void bad_values(void)
{
	ROW(fd, no_header, EINVAL, SAME, "less than a header");
	ROW(fd, header_unreadable, EFAULT, SAME, "header cannot be read");
	ROW(fd, command_unknown, EINVAL, SAME, "command 23");
	ROW(fd, command_huge, EINVAL, SAME, "command 4294967295");
	ROW(fd, get_option, ENOSYS, SAME, "not served");
	ROW(fd, create_bad_ps, EINVAL, SAME, "ps 0x107");
	ROW(fd, create_untold, EFAULT, SAME, "response");
	ROW(fd, destroy_twice, ENOENT, SAME, "no id");
	ROW(fd, destroy_untold, EFAULT, SAME, "response");
	ROW(fd, bind_ip_family_0, EINVAL, SAME, "family 0");
	ROW(fd, bind_ip_family_ib, EINVAL, SAME, "family 27");
	ROW(fd, bind_ip_family_unix, EINVAL, SAME, "family 1");
	ROW(fd, bind_no_size, EINVAL, SAME, "0 bytes");
	ROW(fd, bind_small_size, EINVAL, SAME, "16 bytes");
	ROW(fd, bind_large_size, EINVAL, SAME, "128 bytes");
	ROW(fd, bind_reserved, EINVAL, SAME, "reserved");
	ROW(fd, bind_family_unix, EINVAL, SAME, "family 1");
	ROW(fd, bind_foreign, EADDRNOTAVAIL, SAME, NULL);
	ROW(fd, bind_twice, EINVAL, SAME, NULL);
	ROW(fd, resolve_ip_no_dst, EINVAL, SAME, "dst_addr");
	ROW(fd, resolve_ip_bad_src, EINVAL, SAME, "src_addr");
	ROW(fd, resolve_no_dst, EINVAL, SAME, "dst_addr");
	ROW(fd, resolve_bad_dst, EINVAL, SAME, "dst_addr");
	ROW(fd, resolve_bad_src, EINVAL, SAME, "src_addr");
	ROW(fd, resolve_reserved, EINVAL, SAME, "reserved");
	ROW(fd, resolve_route_early, EINVAL, SAME, NULL);
	ROW(fd, connect_no_param, EINVAL, SAME, "not valid");
	ROW(fd, connect_early, EINVAL, SAME, NULL);
	ROW(fd, accept_early, EINVAL, SAME, NULL);
	ROW(fd, reject_early, EINVAL, SAME, NULL);
	ROW(fd, reject_bad_reason, EINVAL, SAME, "reason 8");
	ROW(fd, disconnect_early, EINVAL, SAME, NULL);
	ROW(fd, notify_early, EINVAL, SAME, NULL);
	ROW(fd, init_bad_state, EINVAL, SAME, "qp_state 7");
	ROW(fd, init_untold, EFAULT, SAME, "response");
	ROW(fd, query_unknown, ENOSYS, SAME, "option 3");
	ROW(fd, query_addr_room, ENOSPC, SAME, "271 bytes");
	ROW(fd, query_path_room, ENOSPC, SAME, "7 bytes");
	ROW(fd, query_gid_room, ENOSPC, SAME, "271 bytes");
	ROW(fd, query_addr_untold, EFAULT, SAME, "response");
	ROW(fd, query_path_untold, EFAULT, SAME, "response");
	ROW(fd, query_gid_untold, EFAULT, SAME, "response");
	ROW(fd, query_old, 0, SAME, NULL);
	ROW(fd, query_route_untold, EFAULT, SAME, "response");
	ROW(fd, option_level, ENOSYS, SAME, "level 2");
	ROW(fd, option_id_name, ENOSYS, SAME, "option 4");
	ROW(fd, option_ib_name, ENOSYS, SAME, "option 0");
	ROW(fd, option_tos_len, EINVAL, SAME, "optlen 4");
	ROW(fd, option_reuse_len, EINVAL, SAME, "optlen 1");
	ROW(fd, option_afonly_len, EINVAL, SAME, "optlen 8");
	ROW(fd, option_ack_len, EINVAL, SAME, "optlen 0");
	ROW(fd, option_huge, EINVAL, SAME, "optlen 4294967295");
	ROW(fd, option_unreadable, EFAULT, SAME, "optval");
	ROW(fd, option_path_none, EINVAL, SAME, "no path");
	ROW(fd, option_path_len, EINVAL, SAME, "optlen 71");
	ROW(fd, option_path_flags, EINVAL, SAME, "no path");
	ROW(fd, join_no_family, EINVAL, SAME, "family 0");
	ROW(fd, join_bad_size, EINVAL, SAME, "28 bytes");
	ROW(fd, join_bad_flags, EINVAL, SAME, "join_flags 2");
	ROW(fd, join_ip_no_family, EINVAL, SAME, "family 0");
	ROW(other, migrate_no_fd, ENOENT, SAME, "fd 12345");
	ROW(other, migrate_bad_fd, EINVAL, SAME, "fd 1 ");
	ROW(other, migrate_no_id, ENOENT, SAME, "there is no id");
	ROW(other, migrate_wrong_file, EINVAL, SAME, "another file");
	ROW(fd, event_none, EAGAIN, SAME, NULL);
}

void bad_events(void)
{
	ROW(fd, event_untold, EFAULT, SAME, "response");
	ROW(fd, event_old_program, 0, SAME, NULL);
	ROW(fd, event_none, EAGAIN, SAME, NULL);
	ROW(fd, destroy_reports, 0, SAME, NULL);
	ROW(other, migrate_untold, EFAULT, SAME, "response");
	ROW(fd, migrate_is_back, 0, EINVAL, NULL);
}
