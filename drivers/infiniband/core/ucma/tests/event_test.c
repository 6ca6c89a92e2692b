// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: events: their order and contents, connection requests, multicast groups, events that come
 * when there is no memory, and a device that goes.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "test_ucma.h"

/* ---- reading ---- */

static void order(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_get_event req = { .response = ut_at(t, UT_RESPONSE) };
	struct rdma_ucm_event_resp resp;
	struct rdma_cm_id *cm[2];
	u32 id[2];

	cm[0] = ut_bound(t, 0, &id[0]);
	cm[1] = ut_bound(t, 0, &id[1]);
	KUNIT_EXPECT_FALSE(test, ut_readable(t, 0));
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), -EAGAIN);
	fake_cm_tell(cm[0], RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	fake_cm_tell(cm[1], RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);
	fake_cm_tell(cm[0], RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	KUNIT_EXPECT_TRUE(test, ut_readable(t, 0));
	KUNIT_EXPECT_FALSE(test, ut_readable(t, 1));
	/* An event that could not be delivered is delivered again */
	req.response = 8;
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, GET_EVENT, req, &resp), -EFAULT);
	ut_expect_event(t, 0, id[0], RDMA_CM_EVENT_ADDR_RESOLVED);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.id, id[1]);
	KUNIT_EXPECT_EQ(test, (int)resp.status, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, resp.uid, UT_UID);
	ut_expect_event(t, 0, id[0], RDMA_CM_EVENT_ROUTE_RESOLVED);
	KUNIT_EXPECT_FALSE(test, ut_readable(t, 0));
	fake_cm_tell(cm[0], RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	fake_cm_tell(cm[1], RDMA_CM_EVENT_ROUTE_ERROR, 0);
	/* An unread event is neither reported nor there any more */
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id[0]), 2);
	ut_expect_event(t, 0, id[1], RDMA_CM_EVENT_ROUTE_ERROR);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), -EAGAIN);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id[1]), 2);
}

/* A program that does not know of ECE gets what it knows. */
static void old_event(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_get_event req = { .response = ut_at(t, UT_RESPONSE) };
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_CONNECT_RESPONSE, .ece = { 7, 8 },
				       .param.conn = { .qp_num = 5 } };
	struct rdma_ucm_event_resp resp;
	size_t old = offsetof(struct rdma_ucm_event_resp, reserved);
	struct rdma_cm_id *cm;
	u32 id;

	cm = ut_bound(t, 0, &id);
	fake_cm_event(cm, &event);
	fake_cm_event(cm, &event);
	KUNIT_EXPECT_EQ(test, ut_ask(t, 0, RDMA_USER_CM_CMD_GET_EVENT, &req, sizeof(req), &resp,
				     old - 1), -ENOSPC);
	memset(&resp, 0, sizeof(resp));
	KUNIT_EXPECT_EQ(test, ut_ask(t, 0, RDMA_USER_CM_CMD_GET_EVENT, &req, sizeof(req), &resp,
				     old), 0);
	KUNIT_EXPECT_EQ(test, resp.param.conn.qp_num, 5);
	KUNIT_EXPECT_EQ(test, resp.ece.vendor_id, 0);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.ece.vendor_id, 7);
	KUNIT_EXPECT_EQ(test, resp.ece.attr_mod, 8);
}

static void datagrams(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_cm_event event = {
		.event = RDMA_CM_EVENT_ESTABLISHED,
		.param.ud = { .private_data = "data", .private_data_len = 4, .qp_num = 6,
			      .qkey = 7, .ah_attr = { .type = RDMA_AH_ATTR_TYPE_IB,
						      .ib.dlid = 9, .sl = 3 } },
	};
	struct rdma_ucm_event_resp resp;
	struct rdma_cm_id *cm;

	KUNIT_ASSERT_GE(test, ut_create(t, 0, RDMA_PS_UDP), 0);
	cm = fake_cm_newest(t);
	cm->device = &t->ib;
	fake_cm_event(cm, &event);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.param.ud.qp_num, 6);
	KUNIT_EXPECT_EQ(test, resp.param.ud.qkey, 7);
	KUNIT_EXPECT_EQ(test, resp.param.ud.ah_attr.dlid, 9);
	KUNIT_EXPECT_EQ(test, resp.param.ud.private_data_len, 4);
	KUNIT_EXPECT_EQ(test, memcmp(resp.param.ud.private_data, "data", 4), 0);
}

/**
 * struct teller - a thread that reports an event when the test waits for one
 * @t: the test
 * @cm: whose event
 * @done: it is told
 */
struct teller {
	struct ucma_test *t;
	struct rdma_cm_id *cm;
	struct completion done;
};

static int tell_waiting(void *data)
{
	struct teller *teller = data;

	while (!wq_has_sleeper(&ut_file(teller->t, 0)->wait))
		schedule_timeout_uninterruptible(1);
	fake_cm_tell(teller->cm, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	complete(&teller->done);
	return 0;
}

static void waiting_reader(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct teller teller = { .t = t };
	u32 id;

	init_completion(&teller.done);
	teller.cm = ut_bound(t, 0, &id);
	t->filp[0]->f_flags &= ~O_NONBLOCK;
	KUNIT_ASSERT_FALSE(test, IS_ERR(kthread_run(tell_waiting, &teller, "kt_tell")));
	ut_expect_event(t, 0, id, RDMA_CM_EVENT_ADDR_RESOLVED);
	wait_for_completion(&teller.done);
}

/* ---- connection requests ---- */

static void requests(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_event_resp resp;
	struct rdma_cm_id *listener, *cm;
	u32 listening, id;

	listener = ut_listening(t, 0, &listening, 2);
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), 0);
	cm = fake_cm_newest(t);
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), 0);
	/* The backlog is full of unread ones */
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), -ENOMEM);
	KUNIT_EXPECT_EQ(test, t->made, 3);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), 0);
	id = resp.id;
	KUNIT_EXPECT_NE(test, id, listening);
	KUNIT_EXPECT_EQ(test, resp.uid, UT_UID);
	KUNIT_EXPECT_EQ(test, resp.param.conn.qp_num, 77);
	KUNIT_EXPECT_EQ(test, memcmp(resp.param.conn.private_data, "hello", 5), 0);
	KUNIT_EXPECT_EQ(test, resp.ece.vendor_id, 1);
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), 0);
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), -ENOMEM);

	/* Before it is accepted, the program would not know whose event it is */
	fake_cm_tell(cm, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	t->answer = -EINVAL;
	KUNIT_EXPECT_EQ(test, ut_accept(t, 0, id, 99), -EINVAL);
	fake_cm_tell(cm, RDMA_CM_EVENT_ADDR_CHANGE, 0);
	t->answer = 0;
	KUNIT_EXPECT_EQ(test, ut_accept(t, 0, id, 99), 0);
	KUNIT_EXPECT_EQ(test, t->ece.vendor_id, 3);
	fake_cm_tell(cm, RDMA_CM_EVENT_ESTABLISHED, 0);
	ut_expect_event(t, 0, 0, RDMA_CM_EVENT_CONNECT_REQUEST);
	ut_expect_event(t, 0, 0, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.uid, 99);
	KUNIT_EXPECT_EQ(test, resp.id, id);
	KUNIT_EXPECT_EQ(test, resp.event, RDMA_CM_EVENT_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 1);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, listening), 3);
	KUNIT_EXPECT_EQ(test, t->made, 2);
}

/* Requests that were not read have ids that no program knows, and go with the listening id. */
static void unread_requests(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_cm_id *listener;
	u32 listening;

	listener = ut_listening(t, 0, &listening, 0);
	for (int i = 0; i < 5; i++)
		KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), 0);
	KUNIT_EXPECT_EQ(test, t->made, 6);
	for (u32 id = listening + 1; id < listening + 6; id++)
		KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), -ENOENT);
	ut_expect_event(t, 0, 0, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, listening), 1);
	KUNIT_EXPECT_EQ(test, t->made, 1);
	KUNIT_EXPECT_FALSE(test, ut_readable(t, 0));
}

/* The same when the file is closed, whatever state its ids have. */
static void close_with_all(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_cm_id *listener;
	u32 listening, id;

	listener = ut_listening(t, 0, &listening, 0);
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), 0);
	id = ut_expect_event(t, 0, 0, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_EQ(test, ut_accept(t, 0, id, 99), 0);
	ut_expect_event(t, 0, 0, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_GE(test, ut_create(t, 0, RDMA_PS_UDP), 0);
	fake_cm_tell(listener, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	ut_bound(t, 1, &id);
	ut_close(t, 0);
	KUNIT_EXPECT_EQ(test, t->made, 1);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 1, id), 0);
}

/* ---- multicast ---- */

static int join(struct ucma_test *t, u32 id, u16 flags, u64 uid, u64 response)
{
	struct rdma_ucm_join_mcast req = {
		.response = response, .uid = uid, .id = id, .join_flags = flags,
		.addr_size = sizeof(struct sockaddr_in), .addr.ss_family = AF_INET,
	};
	struct rdma_ucm_create_id_resp resp;
	int ret = UT_ASK(t, 0, JOIN_MCAST, req, &resp);

	return ret ?: resp.id;
}

static int leave(struct ucma_test *t, int n, u32 group)
{
	struct rdma_ucm_destroy_id req = { .response = ut_at(t, UT_RESPONSE), .id = group };
	struct rdma_ucm_destroy_id_resp resp;
	int ret = UT_ASK(t, n, LEAVE_MCAST, req, &resp);

	return ret ?: resp.events_reported;
}

static void tell_group(struct rdma_cm_id *cm, void *context, enum rdma_cm_event_type type)
{
	struct rdma_cm_event event = { .event = type,
				       .param.ud = { .private_data = context, .qkey = 11 } };

	fake_cm_event(cm, &event);
}

static void groups(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	u64 response = ut_at(t, UT_RESPONSE);
	struct rdma_ucm_event_resp resp;
	void *context[2];
	struct rdma_cm_id *cm;
	int id, group[2];

	id = ut_create(t, 0, RDMA_PS_UDP);
	cm = fake_cm_newest(t);
	cm->device = &t->ib;
	group[0] = join(t, id, RDMA_MC_JOIN_FLAG_FULLMEMBER, 100, response);
	KUNIT_ASSERT_GE(test, group[0], 0);
	KUNIT_EXPECT_EQ(test, t->number, BIT(FULLMEMBER_JOIN));
	context[0] = t->context;
	group[1] = join(t, id, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, 101, response);
	KUNIT_EXPECT_EQ(test, t->number, BIT(SENDONLY_FULLMEMBER_JOIN));
	context[1] = t->context;
	KUNIT_EXPECT_EQ(test, join(t, id, RDMA_MC_JOIN_FLAG_RESERVED, 0, response), -EINVAL);

	tell_group(cm, context[0], RDMA_CM_EVENT_MULTICAST_JOIN);
	tell_group(cm, context[1], RDMA_CM_EVENT_MULTICAST_JOIN);
	tell_group(cm, context[0], RDMA_CM_EVENT_MULTICAST_ERROR);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.uid, 100);
	KUNIT_EXPECT_EQ(test, resp.id, group[0]);
	KUNIT_EXPECT_EQ(test, resp.param.ud.qkey, 11);
	KUNIT_EXPECT_EQ(test, leave(t, 1, group[0]), -EINVAL);
	KUNIT_EXPECT_EQ(test, leave(t, 0, group[0]), 1);
	/* Both groups have one address: the connection manager learns which one is meant. */
	KUNIT_EXPECT_PTR_EQ(test, t->left_group, (const void *)context[0]);
	KUNIT_EXPECT_EQ(test, leave(t, 0, group[0]), -ENOENT);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, resp.uid, 101);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), -EAGAIN);
	/* Events of groups count for the id, too */
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 2);
	KUNIT_EXPECT_EQ(test, leave(t, 0, group[1]), -ENOENT);
}

/* Events that there is room for in the only id of a file. */
static size_t room(struct ucma_test *t)
{
	struct ucma_id *id = list_first_entry(&ut_file(t, 0)->ids, struct ucma_id, entry);

	guard(spinlock)(&id->room_lock);
	return list_count_nodes(&id->room);
}

/* The room for a group's events goes with the group, whether they have come or not. */
static void group_room(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	u64 response = ut_at(t, UT_RESPONSE);
	struct rdma_cm_id *cm;
	size_t before;
	int group;
	u32 id;

	cm = ut_bound(t, 0, &id);
	before = room(t);
	group = join(t, id, 0, 100, response);
	KUNIT_EXPECT_EQ(test, room(t), before + UCMA_JOIN_EVENTS);
	KUNIT_EXPECT_EQ(test, leave(t, 0, group), 0);
	KUNIT_EXPECT_EQ(test, room(t), before);
	group = join(t, id, 0, 101, response);
	tell_group(cm, t->context, RDMA_CM_EVENT_MULTICAST_JOIN);
	KUNIT_EXPECT_EQ(test, leave(t, 0, group), 0);
	KUNIT_EXPECT_EQ(test, room(t), before);
}

/* A join whose response cannot be written is undone. */
static void group_untold(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	u32 id;

	ut_bound(t, 0, &id);
	KUNIT_EXPECT_EQ(test, join(t, id, 0, 100, 8), -EFAULT);
	KUNIT_EXPECT_STREQ(test, t->called, "leave_multicast");
	KUNIT_EXPECT_NULL(test, t->context);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 0);
}

/* ---- memory ---- */

#ifdef CONFIG_FAULT_INJECTION
/* An event for which there must be room: nothing is allocated. */
static void tell_status_starving(struct kunit *test, struct rdma_cm_id *cm,
				 enum rdma_cm_event_type type, int status)
{
	current->fail_nth = 1;
	fake_cm_tell(cm, type, status);
	KUNIT_EXPECT_EQ_MSG(test, current->fail_nth, 1, "event %d took memory", type);
	current->fail_nth = 0;
}

static void tell_starving(struct kunit *test, struct rdma_cm_id *cm, enum rdma_cm_event_type type)
{
	tell_status_starving(test, cm, type, 0);
}

/* What nobody asks for, and what comes once in the life of an id. */
static void tell_ends_starving(struct kunit *test, struct rdma_cm_id *cm)
{
	tell_starving(test, cm, RDMA_CM_EVENT_DISCONNECTED);
	tell_starving(test, cm, RDMA_CM_EVENT_TIMEWAIT_EXIT);
	tell_starving(test, cm, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

static void no_memory(struct kunit *test)
{
	static const u8 events[] = {
		RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED,
		RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_ADDR_CHANGE,
		RDMA_CM_EVENT_REJECTED, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_TIMEWAIT_EXIT,
		RDMA_CM_EVENT_DEVICE_REMOVAL,
	};
	struct ucma_test *t = test->priv;
	struct rdma_ucm_resolve_route route = { .timeout_ms = 1 };
	struct rdma_ucm_resolve_ip addr = { .dst_addr.sin6_family = AF_INET6 };
	struct rdma_ucm_connect connect = { .conn_param.valid = 1 };
	struct rdma_cm_id *cm;
	u32 id;

	cm = ut_bound(t, 0, &id);
	addr.id = id;
	route.id = id;
	connect.id = id;
	KUNIT_ASSERT_EQ(test, UT_TELL(t, 0, RESOLVE_IP, addr), 0);
	KUNIT_ASSERT_EQ(test, UT_TELL(t, 0, RESOLVE_ROUTE, route), 0);
	KUNIT_ASSERT_EQ(test, UT_TELL(t, 0, CONNECT, connect), 0);
	for (int i = 0; i < ARRAY_SIZE(events); i++)
		tell_starving(test, cm, events[i]);
	for (int i = 0; i < ARRAY_SIZE(events); i++)
		ut_expect_event(t, 0, id, events[i]);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), ARRAY_SIZE(events));
	KUNIT_EXPECT_EQ(test, ut_file(t, 0)->lost, 0);
}

/* Events of an accepted connection need no memory during its life. */
static void no_memory_accepted(struct kunit *test)
{
	static const u8 events[] = {
		RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_ADDR_CHANGE, RDMA_CM_EVENT_DISCONNECTED,
		RDMA_CM_EVENT_TIMEWAIT_EXIT, RDMA_CM_EVENT_DEVICE_REMOVAL,
	};
	struct ucma_test *t = test->priv;
	struct rdma_cm_id *listener, *cm;
	u32 listening, id;

	listener = ut_listening(t, 0, &listening, 0);
	KUNIT_ASSERT_EQ(test, fake_cm_request(t, listener), 0);
	cm = fake_cm_newest(t);
	id = ut_expect_event(t, 0, 0, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_ASSERT_EQ(test, ut_accept(t, 0, id, 99), 0);
	for (int i = 0; i < ARRAY_SIZE(events); i++)
		tell_starving(test, cm, events[i]);
	for (int i = 0; i < ARRAY_SIZE(events); i++)
		ut_expect_event(t, 0, id, events[i]);
}

/* Nobody promises how often an address changes: the newest counts. */
static void changes(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_event_resp resp;
	struct rdma_cm_id *cm;
	u32 id;

	cm = ut_bound(t, 0, &id);
	for (int round = 0; round < 10; round++) {
		tell_starving(test, cm, RDMA_CM_EVENT_ADDR_CHANGE);
		tell_starving(test, cm, RDMA_CM_EVENT_ADDR_CHANGE);
		ut_expect_event(t, 0, id, RDMA_CM_EVENT_ADDR_CHANGE);
		KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), -EAGAIN);
	}
	tell_ends_starving(test, cm);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 10);
}

/* A neighbour that changes again and again takes the room of nothing else. */
static void neighbours(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_connect connect = { .conn_param.valid = 1 };
	struct rdma_ucm_event_resp resp;
	struct rdma_cm_id *cm;
	u32 id;

	cm = ut_bound(t, 0, &id);
	connect.id = id;
	KUNIT_ASSERT_EQ(test, UT_TELL(t, 0, CONNECT, connect), 0);
	for (int round = 0; round < 10; round++) {
		for (int i = 0; i < 3; i++)
			tell_status_starving(test, cm, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
		ut_expect_event(t, 0, id, RDMA_CM_EVENT_UNREACHABLE);
		KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), -EAGAIN);
	}
	tell_status_starving(test, cm, RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
	/* The connection's own outcome is another one. */
	tell_status_starving(test, cm, RDMA_CM_EVENT_UNREACHABLE, 2);
	tell_ends_starving(test, cm);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, (int)resp.status, -ETIMEDOUT);
	KUNIT_EXPECT_EQ(test, ut_event(t, 0, &resp), 0);
	KUNIT_EXPECT_EQ(test, (int)resp.status, 2);
	ut_expect_event(t, 0, id, RDMA_CM_EVENT_DISCONNECTED);
	KUNIT_EXPECT_EQ(test, ut_file(t, 0)->lost, 0);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 13);
}

/* Nor do other events that nobody asked for, nor those of groups, take an answer's room. */
static void answer_room(struct kunit *test)
{
	static const u8 before[] = {
		RDMA_CM_EVENT_ADDR_CHANGE, RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_DISCONNECTED,
		RDMA_CM_EVENT_TIMEWAIT_EXIT, RDMA_CM_EVENT_TIMEWAIT_EXIT,
	};
	struct ucma_test *t = test->priv;
	struct rdma_ucm_resolve_route route = { .timeout_ms = 1 };
	struct rdma_cm_id *cm;
	void *group;
	u32 id;

	cm = ut_bound(t, 0, &id);
	route.id = id;
	KUNIT_ASSERT_GE(test, join(t, id, 0, 100, ut_at(t, UT_RESPONSE)), 0);
	group = t->context;
	KUNIT_ASSERT_EQ(test, UT_TELL(t, 0, RESOLVE_ROUTE, route), 0);
	for (int i = 0; i < ARRAY_SIZE(before); i++)
		fake_cm_tell(cm, before[i], 0);
	for (int i = 0; i < 4; i++)
		tell_group(cm, group, RDMA_CM_EVENT_MULTICAST_ERROR);
	tell_starving(test, cm, RDMA_CM_EVENT_ROUTE_RESOLVED);
	tell_starving(test, cm, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

/* More events than were promised come as long as there is memory; lost ones are counted. */
static void surplus(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_cm_id *cm;
	size_t before;
	u32 id;

	cm = ut_bound(t, 0, &id);
	before = room(t);
	for (int i = 0; i < 6; i++)
		fake_cm_tell(cm, RDMA_CM_EVENT_CONNECT_ERROR, i);
	current->fail_nth = 1;
	fake_cm_tell(cm, RDMA_CM_EVENT_CONNECT_ERROR, 6);
	KUNIT_EXPECT_EQ(test, current->fail_nth, 0);
	KUNIT_EXPECT_EQ(test, ut_file(t, 0)->lost, 1);
	fake_cm_tell(cm, RDMA_CM_EVENT_CONNECT_ERROR, 7);
	for (int i = 0; i < 7; i++)
		ut_expect_event(t, 0, id, RDMA_CM_EVENT_CONNECT_ERROR);
	KUNIT_EXPECT_FALSE(test, ut_readable(t, 0));
	KUNIT_EXPECT_EQ(test, room(t), before);
	tell_ends_starving(test, cm);
}

/*
 * A connection request for which there is no memory is refused as a whole.  The allocator and the
 * table of ids get over some failures of theirs: then it is there as a whole.
 */
static void request_starved(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_cm_id *listener;
	int starved = 0, ret, left;
	u32 listening, id;

	listener = ut_listening(t, 0, &listening, 0);
	for (int nth = 1; nth < 100; nth++) {
		current->fail_nth = nth;
		ret = fake_cm_request(t, listener);
		left = current->fail_nth;
		current->fail_nth = 0;
		if (ret) {
			KUNIT_EXPECT_EQ(test, ret, -ENOMEM);
			KUNIT_EXPECT_FALSE(test, ut_readable(t, 0));
			starved++;
		} else {
			id = ut_expect_event(t, 0, 0, RDMA_CM_EVENT_CONNECT_REQUEST);
			KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 0);
		}
		KUNIT_EXPECT_EQ(test, t->made, 1);
		if (left)
			break;
	}
	KUNIT_EXPECT_EQ(test, ret, 0);
	/* The first one is the fake connection manager's */
	KUNIT_EXPECT_GT(test, starved, 1);
}
#endif

/* ---- removal ---- */

/* The device's CM ids go at once; ids stay until the program destroys them, the file for good. */
static void removal(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_cm_id *listener, *request;
	u32 listening, id;
	int group;

	listener = ut_listening(t, 0, &listening, 0);
	group = join(t, listening, 0, 100, ut_at(t, UT_RESPONSE));
	KUNIT_ASSERT_GE(test, group, 0);
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), 0);
	request = fake_cm_newest(t);
	fake_cm_tell(listener, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	fake_cm_tell(request, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
	while (READ_ONCE(t->made))
		schedule_timeout_uninterruptible(1);

	id = ut_expect_event(t, 0, 0, RDMA_CM_EVENT_CONNECT_REQUEST);
	KUNIT_EXPECT_EQ(test, ut_accept(t, 0, id, 99), -ENXIO);
	KUNIT_EXPECT_EQ(test, ut_disconnect(t, 0, listening), -ENXIO);
	KUNIT_EXPECT_NOT_NULL(test, strstr(ut_reason(t, 0), "removed"));
	KUNIT_EXPECT_EQ(test, leave(t, 0, group), -ENXIO);
	ut_expect_event(t, 0, listening, RDMA_CM_EVENT_DEVICE_REMOVAL);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 0);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, listening), 2);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, listening), -ENOENT);
	listener = ut_bound(t, 0, &id);
	fake_cm_tell(listener, RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	ut_expect_event(t, 0, id, RDMA_CM_EVENT_ADDR_RESOLVED);
}

/* Of removal and destruction the first destroys the CM id, and the second waits for that. */
static void removal_and_destroy(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	u32 id;

	for (int i = 0; i < 200; i++) {
		struct rdma_cm_id *cm = ut_bound(t, 0, &id);

		fake_cm_tell(cm, RDMA_CM_EVENT_DEVICE_REMOVAL, 0);
		KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 0);
		KUNIT_EXPECT_EQ(test, t->made, 0);
	}
}

static struct kunit_case event_cases[] = {
	KUNIT_CASE(order),
	KUNIT_CASE(old_event),
	KUNIT_CASE(datagrams),
	KUNIT_CASE(waiting_reader),
	KUNIT_CASE(requests),
	KUNIT_CASE(unread_requests),
	KUNIT_CASE(close_with_all),
	KUNIT_CASE(groups),
	KUNIT_CASE(group_room),
	KUNIT_CASE(group_untold),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(no_memory),
	KUNIT_CASE(no_memory_accepted),
	KUNIT_CASE(changes),
	KUNIT_CASE(neighbours),
	KUNIT_CASE(answer_room),
	KUNIT_CASE(surplus),
	KUNIT_CASE(request_starved),
#endif
	KUNIT_CASE(removal),
	KUNIT_CASE(removal_and_destroy),
	{}
};

static struct kunit_suite event_suite = {
	.name = "rdma_ucm_event",
	.init = ut_init,
	.exit = ut_exit,
	.test_cases = event_cases,
};

kunit_test_suite(event_suite);
