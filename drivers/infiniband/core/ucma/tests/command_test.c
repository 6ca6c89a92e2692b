// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: every command with wrong sizes, ids of others and without device; what each asks the
 * connection manager for, and what it answers; requests at the same time.
 */
#include <linux/cred.h>
#include <linux/kthread.h>
#include <linux/uaccess.h>
#include <rdma/ib.h>
#include <rdma/ib_cm.h>

#include "test_ucma.h"

#define NO_ID	0xffff

/**
 * struct command - a command as the ABI has it
 * @name: its name
 * @in: bytes of its request
 * @least: bytes that old programs give
 * @out: room that the response needs
 * @id_at: where the id is named
 * @device: that must have a device
 */
struct command {
	const char *name;
	u16 in;
	u16 least;
	u16 out;
	u16 id_at;
	bool device;
};

#define ROW(_name, _type, _out, _id_at, _device) \
	[RDMA_USER_CM_CMD_##_name] = { #_name, sizeof(struct rdma_ucm_##_type), \
		sizeof(struct rdma_ucm_##_type), _out, _id_at, _device }
#define AT(_type) offsetof(struct rdma_ucm_##_type, id)

static const struct command commands[] = {
	ROW(CREATE_ID, create_id, 4, NO_ID, false),
	ROW(DESTROY_ID, destroy_id, 4, AT(destroy_id), false),
	ROW(BIND_IP, bind_ip, 0, AT(bind_ip), false),
	ROW(RESOLVE_IP, resolve_ip, 0, AT(resolve_ip), false),
	ROW(RESOLVE_ROUTE, resolve_route, 0, AT(resolve_route), true),
	ROW(QUERY_ROUTE, query, 200, AT(query), false),
	[RDMA_USER_CM_CMD_CONNECT] = { "CONNECT", 288, 280, 0, AT(connect), true },
	ROW(LISTEN, listen, 0, AT(listen), false),
	[RDMA_USER_CM_CMD_ACCEPT] = { "ACCEPT", 296, 288, 0, AT(accept), true },
	ROW(REJECT, reject, 0, AT(reject), true),
	ROW(DISCONNECT, disconnect, 0, AT(disconnect), true),
	ROW(INIT_QP_ATTR, init_qp_attr, 144, AT(init_qp_attr), true),
	ROW(GET_EVENT, get_event, 324, NO_ID, false),
	ROW(SET_OPTION, set_option, 0, AT(set_option), false),
	ROW(NOTIFY, notify, 0, AT(notify), true),
	ROW(JOIN_IP_MCAST, join_ip_mcast, 4, AT(join_ip_mcast), true),
	ROW(LEAVE_MCAST, destroy_id, 4, NO_ID, false),
	ROW(MIGRATE_ID, migrate_id, 0, NO_ID, false),
	ROW(QUERY, query, 0, AT(query), false),
	ROW(BIND, bind, 0, AT(bind), false),
	ROW(RESOLVE_ADDR, resolve_addr, 0, AT(resolve_addr), false),
	ROW(JOIN_MCAST, join_mcast, 4, AT(join_mcast), true),
};

/* What the decoder refuses before it looks at the values. */
static void sizes(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	u8 req[512] = {};

	for (int i = 0; i < ARRAY_SIZE(commands); i++) {
		const struct command *c = &commands[i];
		ssize_t ret;

		if (!c->name)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, ut_write(t, 0, i, req, c->least - 1, 1024), -EINVAL,
				    "%s: short", c->name);
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(ut_reason(t, 0), "bytes <"), "%s: '%s'",
					  c->name, ut_reason(t, 0));
		if (c->out)
			KUNIT_EXPECT_EQ_MSG(test, ut_write(t, 0, i, req, c->in, c->out - 1),
					    -ENOSPC, "%s: room", c->name);
		req[c->in + 5] = 1;
		KUNIT_EXPECT_EQ_MSG(test, ut_write(t, 0, i, req, c->in + 6, 1024), -EOPNOTSUPP,
				    "%s: more", c->name);
		req[c->in + 5] = 0;
		ret = ut_write(t, 0, i, req, c->in + 6, 1024);
		KUNIT_EXPECT_LT_MSG(test, ret, 0, "%s", c->name);
		KUNIT_EXPECT_NE_MSG(test, ret, -EOPNOTSUPP, "%s: zeroes", c->name);
		KUNIT_EXPECT_LT_MSG(test, ut_write(t, 0, i, req, c->least, 1024), 0, "%s", c->name);
		KUNIT_EXPECT_NULL_MSG(test, strstr(ut_reason(t, 0), "bytes <"), "%s: old",
				      c->name);
	}
}

static ssize_t write_raw(struct ucma_test *t, u64 at, size_t count)
{
	loff_t pos = 0;

	return ucma_fops.write(t->filp[0], u64_to_user_ptr(at), count, &pos);
}

static void headers(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_get_event req = {};
	struct rdma_ucm_cmd_hdr hdr = { .cmd = RDMA_USER_CM_CMD_GET_EVENT, .in = 8, .out = 400 };

	KUNIT_EXPECT_EQ(test, write_raw(t, ut_at(t, 0), 7), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_raw(t, 8, 16), -EFAULT);
	KUNIT_EXPECT_EQ(test, ut_write(t, 0, RDMA_USER_CM_CMD_JOIN_MCAST + 1, &req, 8, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_write(t, 0, ~0, &req, 8, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_write(t, 0, RDMA_USER_CM_CMD_GET_OPTION, &req, 8, 0), -ENOSYS);
	/* The header is at the end of the memory: the request behind it is not there */
	KUNIT_ASSERT_EQ(test, copy_to_user(u64_to_user_ptr(ut_at(t, 2 * UT_BYTES - 8)), &hdr, 8),
			0);
	KUNIT_EXPECT_EQ(test, write_raw(t, ut_at(t, 2 * UT_BYTES - 8), 15), -EINVAL);
	KUNIT_EXPECT_EQ(test, write_raw(t, ut_at(t, 2 * UT_BYTES - 8), 16), -EFAULT);
	/* More may be written than the request has */
	KUNIT_EXPECT_EQ(test, write_raw(t, ut_at(t, UT_BYTES - 8), 100), -EINVAL);
	KUNIT_ASSERT_EQ(test, copy_to_user(u64_to_user_ptr(ut_at(t, 0)), &hdr, 8), 0);
	KUNIT_EXPECT_EQ(test, write_raw(t, ut_at(t, 0), 100), -EAGAIN);
}

/* Somebody with other rights has opened the descriptor. */
static void credentials(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_get_event req = {};
	struct cred *cred = prepare_creds();
	const struct cred *old;

	KUNIT_ASSERT_NOT_NULL(test, cred);
	old = override_creds(cred);
	KUNIT_EXPECT_EQ(test, ut_write(t, 0, RDMA_USER_CM_CMD_GET_EVENT, &req, 8, 400), -EACCES);
	revert_creds(old);
	put_cred(cred);
	KUNIT_EXPECT_EQ(test, ut_write(t, 0, RDMA_USER_CM_CMD_GET_EVENT, &req, 8, 400), -EAGAIN);
}

/* A request that passes all checks but those of the id. */
static void fill(struct ucma_test *t, int cmd, u8 *req, u32 id)
{
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	u64 response = ut_at(t, UT_RESPONSE), value = ut_at(t, UT_VALUE);

	memset(req, 0, 512);
	switch (cmd) {
	case RDMA_USER_CM_CMD_BIND_IP:
		((struct rdma_ucm_bind_ip *)req)->addr = in6;
		break;
	case RDMA_USER_CM_CMD_RESOLVE_IP:
		((struct rdma_ucm_resolve_ip *)req)->dst_addr = in6;
		break;
	case RDMA_USER_CM_CMD_CONNECT:
		((struct rdma_ucm_connect *)req)->conn_param.valid = 1;
		break;
	case RDMA_USER_CM_CMD_SET_OPTION:
		*(struct rdma_ucm_set_option *)req = (struct rdma_ucm_set_option) {
			.optval = value, .optlen = 1 };
		break;
	case RDMA_USER_CM_CMD_JOIN_IP_MCAST:
		((struct rdma_ucm_join_ip_mcast *)req)->addr = in6;
		((struct rdma_ucm_join_ip_mcast *)req)->response = response;
		break;
	case RDMA_USER_CM_CMD_BIND:
		((struct rdma_ucm_bind *)req)->addr_size = sizeof(in6);
		memcpy(&((struct rdma_ucm_bind *)req)->addr, &in6, sizeof(in6));
		break;
	case RDMA_USER_CM_CMD_RESOLVE_ADDR:
		((struct rdma_ucm_resolve_addr *)req)->dst_size = sizeof(in6);
		memcpy(&((struct rdma_ucm_resolve_addr *)req)->dst_addr, &in6, sizeof(in6));
		break;
	case RDMA_USER_CM_CMD_JOIN_MCAST:
		((struct rdma_ucm_join_mcast *)req)->addr_size = sizeof(in6);
		memcpy(&((struct rdma_ucm_join_mcast *)req)->addr, &in6, sizeof(in6));
		((struct rdma_ucm_join_mcast *)req)->response = response;
		break;
	case RDMA_USER_CM_CMD_DESTROY_ID:
	case RDMA_USER_CM_CMD_QUERY_ROUTE:
	case RDMA_USER_CM_CMD_QUERY:
	case RDMA_USER_CM_CMD_INIT_QP_ATTR:
		*(u64 *)req = response;
		break;
	}
	*(u32 *)(req + commands[cmd].id_at) = id;
}

static ssize_t name_id(struct ucma_test *t, int n, int cmd, u32 id)
{
	u8 req[512];

	fill(t, cmd, req, id);
	return ut_write(t, n, cmd, req, commands[cmd].in, 1024);
}

/* Ids that are not there, of another file, and without device; and then a good one. */
static void ids(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	int id = ut_create(t, 0, RDMA_PS_TCP);
	struct rdma_cm_id *cm = fake_cm_newest(t);

	KUNIT_ASSERT_GE(test, id, 0);
	for (int i = ARRAY_SIZE(commands) - 1; i > 0; i--) {
		const struct command *c = &commands[i];

		if (!c->name || c->id_at == NO_ID)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, name_id(t, 0, i, id + 1000), -ENOENT, "%s", c->name);
		KUNIT_EXPECT_EQ_MSG(test, name_id(t, 1, i, id), -EINVAL, "%s", c->name);
		KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(ut_reason(t, 1), "another file"), "%s: %s",
					  c->name, ut_reason(t, 1));
		if (c->device)
			KUNIT_EXPECT_EQ_MSG(test, name_id(t, 0, i, id), -EINVAL, "%s", c->name);
		if (c->device)
			KUNIT_EXPECT_NOT_NULL_MSG(test, strstr(ut_reason(t, 0), "no device"),
						  "%s: %s", c->name, ut_reason(t, 0));
		cm->device = &t->ib;
		cm->port_num = 1;
		KUNIT_EXPECT_EQ_MSG(test, name_id(t, 0, i, id), 8 + c->in, "%s: %s", c->name,
				    ut_reason(t, 0));
		if (i != RDMA_USER_CM_CMD_DESTROY_ID)
			cm->device = NULL;
	}
	KUNIT_EXPECT_EQ(test, t->made, 0);
}

/* The connection manager's errors are handed on. */
static void errors(struct kunit *test)
{
	static const u8 calls[] = {
		RDMA_USER_CM_CMD_BIND_IP, RDMA_USER_CM_CMD_RESOLVE_IP,
		RDMA_USER_CM_CMD_RESOLVE_ROUTE, RDMA_USER_CM_CMD_CONNECT, RDMA_USER_CM_CMD_LISTEN,
		RDMA_USER_CM_CMD_ACCEPT, RDMA_USER_CM_CMD_REJECT, RDMA_USER_CM_CMD_DISCONNECT,
		RDMA_USER_CM_CMD_INIT_QP_ATTR, RDMA_USER_CM_CMD_NOTIFY,
		RDMA_USER_CM_CMD_JOIN_IP_MCAST, RDMA_USER_CM_CMD_BIND,
		RDMA_USER_CM_CMD_RESOLVE_ADDR, RDMA_USER_CM_CMD_JOIN_MCAST,
	};
	struct ucma_test *t = test->priv;
	u32 id;

	ut_bound(t, 0, &id);
	t->answer = -EADDRNOTAVAIL;
	for (int i = 0; i < ARRAY_SIZE(calls); i++)
		KUNIT_EXPECT_EQ_MSG(test, name_id(t, 0, calls[i], id), -EADDRNOTAVAIL, "%s",
				    commands[calls[i]].name);
	KUNIT_EXPECT_EQ(test, ut_create(t, 0, RDMA_PS_TCP), -EADDRNOTAVAIL);
	t->answer = 0;
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 0);
	KUNIT_EXPECT_EQ(test, t->made, 0);
}

static void port_spaces(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_create_id req = { .ps = RDMA_PS_IB, .qp_type = IB_QPT_XRC_TGT,
					  .response = ut_at(t, UT_RESPONSE) };
	struct rdma_ucm_create_id_resp resp;

	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, CREATE_ID, req, &resp), 0);
	KUNIT_EXPECT_EQ(test, fake_cm_newest(t)->qp_type, IB_QPT_XRC_TGT);
	KUNIT_EXPECT_GE(test, ut_create(t, 0, RDMA_PS_UDP), 0);
	KUNIT_EXPECT_EQ(test, fake_cm_newest(t)->qp_type, IB_QPT_UD);
	KUNIT_EXPECT_GE(test, ut_create(t, 0, RDMA_PS_IPOIB), 0);
	KUNIT_EXPECT_EQ(test, fake_cm_newest(t)->qp_type, IB_QPT_UD);
	KUNIT_EXPECT_GE(test, ut_create(t, 0, RDMA_PS_TCP), 0);
	KUNIT_EXPECT_EQ(test, fake_cm_newest(t)->qp_type, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, ut_create(t, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ut_create(t, 0, 0x107), -EINVAL);
}

static void addresses(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_resolve_addr req = { .timeout_ms = 2000, .dst_size = 16 };
	struct sockaddr_in *dst = (struct sockaddr_in *)&req.dst_addr;

	ut_bound(t, 0, &req.id);
	dst->sin_family = AF_INET;
	dst->sin_port = htons(7);
	/* Without size, what stands there is no address */
	req.src_addr.ss_family = AF_INET6;
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, RESOLVE_ADDR, req), 0);
	KUNIT_EXPECT_EQ(test, t->number, 2000 << 16);
	KUNIT_EXPECT_EQ(test, memcmp(&t->addr, dst, sizeof(*dst)), 0);
	req.src_size = sizeof(struct sockaddr_in);
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, RESOLVE_ADDR, req), -EINVAL);
	req.src_size = sizeof(struct sockaddr_in6);
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, RESOLVE_ADDR, req), 0);
	KUNIT_EXPECT_EQ(test, t->number, 2000 << 16 | AF_INET6);
	req.reserved = 1;
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, RESOLVE_ADDR, req), -EINVAL);
	req.reserved = 0;
	req.dst_size = 0;
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, RESOLVE_ADDR, req), -EINVAL);
	req.dst_size = 16;
	dst->sin_family = AF_UNIX;
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, RESOLVE_ADDR, req), -EINVAL);
	/* An address of InfiniBand has no room in BIND_IP */
	{
		struct rdma_ucm_bind_ip ip = { .addr.sin6_family = AF_IB, .id = req.id };
		struct rdma_ucm_bind any = { .addr.ss_family = AF_IB, .id = req.id,
					     .addr_size = sizeof(struct sockaddr_ib) };

		KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, BIND_IP, ip), -EINVAL);
		KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, BIND, any), 0);
		any.addr_size--;
		KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, BIND, any), -EINVAL);
		any.addr_size++;
		any.reserved = 1;
		KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, BIND, any), -EINVAL);
	}
}

/* What old programs do not give is zero, whatever a request before them had there. */
static void connect(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_connect req = {
		.conn_param = { .qp_num = 0x12345678, .qkey = 5, .private_data = { 42 },
				.private_data_len = 255, .responder_resources = 1,
				.initiator_depth = 2, .flow_control = 3, .retry_count = 4,
				.rnr_retry_count = 5, .srq = 1, .valid = 1 },
		.ece = { 9, 10 },
	};
	struct rdma_cm_id *cm = ut_bound(t, 0, &req.id);

	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, CONNECT, req), 0);
	KUNIT_EXPECT_EQ(test, t->param.qp_num, 0x345678);
	KUNIT_EXPECT_EQ(test, t->param.qkey, 0);
	KUNIT_EXPECT_EQ(test, t->param.private_data_len, 255);
	KUNIT_EXPECT_EQ(test, t->number, 42);
	KUNIT_EXPECT_EQ(test, t->param.responder_resources, 1);
	KUNIT_EXPECT_EQ(test, t->param.initiator_depth, 2);
	KUNIT_EXPECT_EQ(test, t->param.flow_control, 3);
	KUNIT_EXPECT_EQ(test, t->param.retry_count, 4);
	KUNIT_EXPECT_EQ(test, t->param.rnr_retry_count, 5);
	KUNIT_EXPECT_EQ(test, t->param.srq, 1);
	KUNIT_EXPECT_EQ(test, t->ece.vendor_id, 9);
	KUNIT_EXPECT_EQ(test, t->ece.attr_mod, 10);
	cm->route.addr.src_addr.ss_family = AF_IB;
	KUNIT_EXPECT_EQ(test, ut_ask(t, 0, RDMA_USER_CM_CMD_CONNECT, &req,
				     offsetof(struct rdma_ucm_connect, ece), NULL, 0), 0);
	KUNIT_EXPECT_EQ(test, t->param.qkey, 5);
	KUNIT_EXPECT_EQ(test, t->ece.vendor_id, 0);
	KUNIT_EXPECT_EQ(test, t->ece.attr_mod, 0);
	req.conn_param.valid = 0;
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, CONNECT, req), -EINVAL);
}

static void rejects(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_reject req = { .private_data_len = 255 };

	ut_bound(t, 0, &req.id);
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, REJECT, req), 0);
	KUNIT_EXPECT_EQ(test, t->number, IB_CM_REJ_CONSUMER_DEFINED << 8 | 255);
	req.reason = IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED;
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, REJECT, req), 0);
	KUNIT_EXPECT_EQ(test, t->number, IB_CM_REJ_VENDOR_OPTION_NOT_SUPPORTED << 8 | 255);
	req.reason = IB_CM_REJ_INVALID_SERVICE_ID;
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, REJECT, req), -EINVAL);
}

static void backlogs(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	u32 id;

	ut_listening(t, 0, &id, 5);
	KUNIT_EXPECT_EQ(test, t->number, 5);
	ut_listening(t, 0, &id, 0);
	KUNIT_EXPECT_EQ(test, t->number, 1024);
	ut_listening(t, 0, &id, -1);
	KUNIT_EXPECT_EQ(test, t->number, 1024);
}

static int set_option(struct ucma_test *t, u32 id, u32 level, u32 name, const void *value, u32 len)
{
	struct rdma_ucm_set_option req = { .optval = ut_at(t, UT_VALUE), .id = id, .level = level,
					   .optname = name, .optlen = len };

	if (copy_to_user(u64_to_user_ptr(req.optval), value, len))
		return -EFAULT;
	return UT_TELL(t, 0, SET_OPTION, req);
}

static void options(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_set_option bad = { .optval = 8, .optlen = 1 };
	int number = 0x100;
	u8 byte = 33;
	u32 id;

	ut_bound(t, 0, &id);
	KUNIT_EXPECT_EQ(test, set_option(t, id, 0, RDMA_OPTION_ID_TOS, &byte, 1), 0);
	KUNIT_EXPECT_STREQ(test, t->called, "set_service_type");
	KUNIT_EXPECT_EQ(test, t->number, 33);
	KUNIT_EXPECT_EQ(test, set_option(t, id, 0, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), 0);
	KUNIT_EXPECT_STREQ(test, t->called, "set_ack_timeout");
	KUNIT_EXPECT_EQ(test, set_option(t, id, 0, RDMA_OPTION_ID_REUSEADDR, &number, 4), 0);
	KUNIT_EXPECT_STREQ(test, t->called, "set_reuseaddr");
	KUNIT_EXPECT_EQ(test, t->number, 1);
	number = 0;
	KUNIT_EXPECT_EQ(test, set_option(t, id, 0, RDMA_OPTION_ID_AFONLY, &number, 4), 0);
	KUNIT_EXPECT_STREQ(test, t->called, "set_afonly");
	KUNIT_EXPECT_EQ(test, t->number, 0);
	for (u32 name = 0; name < 4; name++)
		KUNIT_EXPECT_EQ(test, set_option(t, id, 0, name, &number, 3), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_option(t, id, 0, 4, &number, 4), -ENOSYS);
	KUNIT_EXPECT_EQ(test, set_option(t, id, 1, 0, &number, 4), -ENOSYS);
	KUNIT_EXPECT_EQ(test, set_option(t, id, 2, 1, &number, 4), -ENOSYS);
	bad.id = id;
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, SET_OPTION, bad), -EFAULT);
	bad.optlen = ~0;
	KUNIT_EXPECT_EQ(test, UT_TELL(t, 0, SET_OPTION, bad), -EINVAL);
}

/* The first path that serves for everything is set, and reported as a resolved route. */
static void ib_path(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct ib_path_rec_data paths[3] = {
		{ .flags = IB_PATH_GMP },
		{ .flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL },
	};
	struct sa_path_rec path = { .rec_type = SA_PATH_REC_TYPE_IB };
	struct rdma_cm_id *cm;
	u32 id;

	sa_path_set_dlid(&path, 77);
	ib_sa_pack_path(&path, paths[1].path_rec);
	cm = ut_bound(t, 0, &id);
	KUNIT_EXPECT_EQ(test, set_option(t, id, 1, 1, paths, sizeof(paths)), 0);
	KUNIT_EXPECT_EQ(test, t->number, 77);
	ut_expect_event(t, 0, id, RDMA_CM_EVENT_ROUTE_RESOLVED);
	KUNIT_EXPECT_EQ(test, set_option(t, id, 1, 1, paths, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_option(t, id, 1, 1, paths, 73), -EINVAL);
	KUNIT_EXPECT_EQ(test, set_option(t, id, 1, 1, paths, 72), -EINVAL);
	cm->device = NULL;
	KUNIT_EXPECT_EQ(test, set_option(t, id, 1, 1, paths, 144), -EINVAL);
	cm->device = &t->ib;
	t->answer = -EBUSY;
	KUNIT_EXPECT_EQ(test, set_option(t, id, 1, 1, paths, 144), -EBUSY);
	t->answer = 0;
	KUNIT_EXPECT_FALSE(test, ut_readable(t, 0));
}

static void queries(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_query req = { .response = ut_at(t, UT_RESPONSE) };
	struct sockaddr_ib *ib;
	struct rdma_ucm_query_addr_resp addr;
	struct rdma_ucm_query_route_resp route;
	struct {
		u32 num_paths;
		u32 reserved;
		struct ib_path_rec_data data[3];
	} paths;
	struct sa_path_rec recs[2] = {
		{ .rec_type = SA_PATH_REC_TYPE_IB, .pkey = cpu_to_be16(1) },
		{ .rec_type = SA_PATH_REC_TYPE_IB, .pkey = cpu_to_be16(2) },
	};
	struct rdma_cm_id *cm = ut_bound(t, 0, &req.id);

	cm->route.addr.src_addr.ss_family = AF_INET;
	cm->route.addr.dst_addr.ss_family = AF_INET6;
	cm->route.path_rec = recs;
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, QUERY, req, &addr), 0);
	KUNIT_EXPECT_EQ(test, addr.src_size, 16);
	KUNIT_EXPECT_EQ(test, addr.dst_size, 28);
	KUNIT_EXPECT_EQ(test, addr.dst_addr.ss_family, AF_INET6);
	KUNIT_EXPECT_EQ(test, addr.ibdev_index, 9);
	KUNIT_EXPECT_EQ(test, addr.port_num, 1);
	/* An old program has no index, and nothing is written there */
	KUNIT_EXPECT_EQ(test, ut_ask(t, 0, RDMA_USER_CM_CMD_QUERY, &req, sizeof(req), &addr,
				     offsetof(typeof(addr), ibdev_index)), 0);
	KUNIT_EXPECT_EQ(test, ut_write(t, 0, RDMA_USER_CM_CMD_QUERY, &req, sizeof(req),
				       offsetof(typeof(addr), ibdev_index) - 1), -ENOSPC);

	req.option = RDMA_USER_CM_QUERY_GID;
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, QUERY, req, &addr), 0);
	ib = (struct sockaddr_ib *)&addr.dst_addr;
	KUNIT_EXPECT_EQ(test, ib->sib_family, AF_IB);
	KUNIT_EXPECT_EQ(test, ((u8 *)&ib->sib_addr)[15], 2);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ib->sib_sid), AF_INET6);
	KUNIT_EXPECT_EQ(test, addr.dst_size, sizeof(*ib));

	req.option = RDMA_USER_CM_QUERY_PATH;
	KUNIT_EXPECT_EQ(test, ut_ask(t, 0, RDMA_USER_CM_CMD_QUERY, &req, sizeof(req), &paths, 7),
			-ENOSPC);
	cm->route.num_pri_alt_paths = 2;
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, QUERY, req, &paths), 0);
	KUNIT_EXPECT_EQ(test, paths.num_paths, 2);
	KUNIT_EXPECT_EQ(test, paths.data[1].flags,
			IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL);
	KUNIT_EXPECT_EQ(test, paths.data[2].flags, 0xa5a5a5a5);
	KUNIT_EXPECT_EQ(test, ut_ask(t, 0, RDMA_USER_CM_CMD_QUERY, &req, sizeof(req), &paths,
				     8 + 72 + 71), 0);
	KUNIT_EXPECT_EQ(test, paths.num_paths, 2);
	KUNIT_EXPECT_EQ(test, paths.data[1].flags, 0xa5a5a5a5);
	req.option = 3;
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, QUERY, req, &addr), -ENOSYS);

	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, QUERY_ROUTE, req, &route), 0);
	KUNIT_EXPECT_EQ(test, route.num_paths, 2);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(route.ib_route[1].pkey), 2);
	KUNIT_EXPECT_EQ(test, route.src_addr.sin6_family, AF_INET);
	KUNIT_EXPECT_EQ(test, route.ibdev_index, 9);
	cm->route.num_pri_alt_paths = 0;
	cm->device = NULL;
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, QUERY_ROUTE, req, &route), 0);
	KUNIT_EXPECT_EQ(test, route.num_paths, 0);
	KUNIT_EXPECT_EQ(test, route.port_num, 0);
}

static void qp_attr(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_init_qp_attr req = { .response = ut_at(t, UT_RESPONSE),
					     .qp_state = IB_QPS_INIT };
	struct ib_uverbs_qp_attr resp;

	ut_bound(t, 0, &req.id);
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, INIT_QP_ATTR, req, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.qp_attr_mask, IB_QP_STATE | IB_QP_ACCESS_FLAGS);
	KUNIT_EXPECT_EQ(test, resp.qp_state, IB_QPS_INIT);
	KUNIT_EXPECT_EQ(test, resp.qp_access_flags, 5);
	req.qp_state = IB_QPS_ERR + 1;
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, INIT_QP_ATTR, req, &resp), -EINVAL);
}

/* ---- requests at the same time ---- */

/**
 * struct waiter - a thread with a request that takes its time
 * @t: the test, with user memory of the thread's own
 * @mm: the test's
 * @cred: those of the files
 * @id: whose request
 * @ret: what came of it
 * @done: it has ended
 */
struct waiter {
	struct ucma_test *t;
	struct mm_struct *mm;
	const struct cred *cred;
	u32 id;
	int ret;
	struct completion done;
};

static int waiter_thread(void *data)
{
	struct waiter *w = data;
	struct rdma_ucm_resolve_ip req = { .id = w->id, .dst_addr.sin6_family = AF_INET6 };
	const struct cred *old = override_creds(w->cred);

	kthread_use_mm(w->mm);
	w->ret = UT_TELL(w->t, 0, RESOLVE_IP, req);
	kthread_unuse_mm(w->mm);
	revert_creds(old);
	kthread_complete_and_exit(&w->done, 0);
}

/* One that takes its time keeps none for other ids waiting, in its file or another. */
static void waits_alone(struct kunit *test)
{
	struct ucma_test *t = test->priv, *second = kunit_kzalloc(test, sizeof(*t), GFP_KERNEL);
	struct waiter *w = kunit_kzalloc(test, sizeof(*w), GFP_KERNEL);
	struct rdma_cm_id *cm;
	u32 near, far;
	int made;

	KUNIT_ASSERT_TRUE(test, w && second);
	ut_bound(t, 0, &w->id);
	cm = ut_bound(t, 0, &near);
	ut_bound(t, 1, &far);
	init_completion(&t->inside);
	init_completion(&t->outside);
	init_completion(&w->done);
	t->stops = true;
	memcpy(second, t, sizeof(*t));
	second->user += UT_BYTES;
	w->t = second;
	w->mm = current->mm;
	w->cred = t->filp[0]->f_cred;
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(waiter_thread, w, "kt_waiter")));
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&t->inside, 20 * HZ));
	KUNIT_EXPECT_EQ(test, ut_disconnect(t, 0, near), 0);
	KUNIT_EXPECT_EQ(test, ut_disconnect(t, 1, far), 0);
	fake_cm_tell(cm, RDMA_CM_EVENT_DISCONNECTED, 0);
	ut_expect_event(t, 0, near, RDMA_CM_EVENT_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, near), 1);
	made = ut_create(t, 0, RDMA_PS_TCP);
	KUNIT_EXPECT_GE(test, made, 0);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, made), 0);
	KUNIT_EXPECT_FALSE(test, completion_done(&w->done));
	complete(&t->outside);
	wait_for_completion(&w->done);
	KUNIT_EXPECT_EQ(test, w->ret, 0);
}

static struct kunit_case command_cases[] = {
	KUNIT_CASE(sizes),
	KUNIT_CASE(headers),
	KUNIT_CASE(credentials),
	KUNIT_CASE(ids),
	KUNIT_CASE(errors),
	KUNIT_CASE(port_spaces),
	KUNIT_CASE(addresses),
	KUNIT_CASE(connect),
	KUNIT_CASE(rejects),
	KUNIT_CASE(backlogs),
	KUNIT_CASE(options),
	KUNIT_CASE(ib_path),
	KUNIT_CASE(queries),
	KUNIT_CASE(qp_attr),
	KUNIT_CASE(waits_alone),
	{}
};

static struct kunit_suite command_suite = {
	.name = "rdma_ucm_command",
	.init = ut_init,
	.exit = ut_exit,
	.test_cases = command_cases,
};

kunit_test_suite(command_suite);
