// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: requests that fail on their way: responses that cannot be written, and one allocation
 * after the other.  Nothing is left of them.
 */
#include <linux/sched.h>

#include "test_ucma.h"

/* ---- responses ---- */

static void create_untold(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_create_id req = { .uid = UT_UID, .ps = RDMA_PS_TCP, .response = 8 };
	struct rdma_ucm_create_id_resp resp;
	int id, next;

	id = ut_create(t, 0, RDMA_PS_TCP);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 0);
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, CREATE_ID, req, &resp), -EFAULT);
	KUNIT_EXPECT_EQ(test, t->made, 0);
	/* Its number is free again */
	next = ut_create(t, 0, RDMA_PS_TCP);
	KUNIT_EXPECT_EQ(test, next, id);
}

/* An id is destroyed even if the response cannot be written. */
static void destroy_untold(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_destroy_id req = { .response = 8 };
	struct rdma_ucm_destroy_id_resp resp;

	ut_bound(t, 0, &req.id);
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, DESTROY_ID, req, &resp), -EFAULT);
	KUNIT_EXPECT_EQ(test, t->made, 0);
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, DESTROY_ID, req, &resp), -ENOENT);
}

/* Queries change nothing, so they can be repeated. */
static void questions_untold(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_query query = { .response = 8 };
	struct rdma_ucm_init_qp_attr init = { .response = 8 };
	u8 resp[400];

	ut_bound(t, 0, &query.id);
	init.id = query.id;
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, QUERY_ROUTE, query, &resp), -EFAULT);
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, INIT_QP_ATTR, init, &resp), -EFAULT);
	for (query.option = 0; query.option < 3; query.option++)
		KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, QUERY, query, &resp), -EFAULT);
	query.response = ut_at(t, UT_RESPONSE);
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, QUERY_ROUTE, query, &resp), 0);
}

/* A connection request whose event cannot be delivered stays unread, its id unknown to programs. */
static void request_untold(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_ucm_get_event req = { .response = 8 };
	struct rdma_ucm_event_resp resp;
	struct rdma_cm_id *listener;
	u32 listening;

	listener = ut_listening(t, 0, &listening, 1);
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), 0);
	KUNIT_EXPECT_EQ(test, UT_ASK(t, 0, GET_EVENT, req, &resp), -EFAULT);
	KUNIT_EXPECT_EQ(test, ut_disconnect(t, 0, listening + 1), -ENOENT);
	KUNIT_EXPECT_EQ(test, fake_cm_request(t, listener), -ENOMEM);
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, listening), 0);
	KUNIT_EXPECT_EQ(test, t->made, 0);
}

/* ---- memory ---- */

#ifdef CONFIG_FAULT_INJECTION
static int try_create(struct ucma_test *t, u32 id)
{
	int ret = ut_create(t, 0, RDMA_PS_TCP), left = t->left;

	if (ret >= 0)
		ut_destroy(t, 0, ret);
	t->left = left;
	return min(ret, 0);
}

static int try_resolve(struct ucma_test *t, u32 id)
{
	struct rdma_ucm_resolve_ip req = { .dst_addr.sin6_family = AF_INET6, .id = id };

	return UT_TELL(t, 0, RESOLVE_IP, req);
}

static int try_route(struct ucma_test *t, u32 id)
{
	struct rdma_ucm_resolve_route req = { .id = id };

	return UT_TELL(t, 0, RESOLVE_ROUTE, req);
}

static int try_connect(struct ucma_test *t, u32 id)
{
	struct rdma_ucm_connect req = { .conn_param.valid = 1, .id = id };

	return UT_TELL(t, 0, CONNECT, req);
}

static int try_accept(struct ucma_test *t, u32 id)
{
	return ut_accept(t, 0, id, 99);
}

static int try_join(struct ucma_test *t, u32 id)
{
	struct rdma_ucm_join_ip_mcast req = {
		.response = ut_at(t, UT_RESPONSE), .uid = 1, .addr.sin6_family = AF_INET6,
		.id = id,
	};
	struct rdma_ucm_create_id_resp resp;

	return UT_ASK(t, 0, JOIN_IP_MCAST, req, &resp);
}

/*
 * Lets one allocation, or access to the program's memory, after the other fail until none is left
 * that could.  Allocations come before the call that is asked for, which could not be taken back.
 */
static void starve(struct ucma_test *t, int (*attempt)(struct ucma_test *t, u32 id), u32 id,
		   const char *call)
{
	int ret, starved = 0, made = t->made;

	for (int nth = 1; nth < 100; nth++) {
		t->called = NULL;
		t->fail_nth = nth;
		ret = attempt(t, id);
		if (t->left)
			break;
		KUNIT_EXPECT_EQ_MSG(t->test, t->made, made, "%s, failure %d", call, nth);
		starved += ret == -ENOMEM;
		/* The allocator and the table of ids get over some failures of theirs */
		KUNIT_EXPECT_TRUE_MSG(t->test, ret == 0 || ret == -ENOMEM || ret == -EFAULT,
				      "%s, failure %d: %d", call, nth, ret);
		if (ret == -ENOMEM && strcmp(call, "create_user_id"))
			KUNIT_EXPECT_NULL_MSG(t->test, t->called, "%s, failure %d", call, nth);
	}
	KUNIT_EXPECT_EQ(t->test, ret, 0);
	KUNIT_EXPECT_STREQ(t->test, t->called, call);
	KUNIT_EXPECT_GT_MSG(t->test, starved, 0, "%s", call);
}

static void starved(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	u32 id;

	ut_bound(t, 0, &id);
	starve(t, try_create, id, "create_user_id");
	starve(t, try_resolve, id, "resolve_addr");
	starve(t, try_route, id, "resolve_route");
	starve(t, try_connect, id, "connect");
	starve(t, try_accept, id, "accept");
	starve(t, try_join, id, "join_multicast");
	KUNIT_EXPECT_EQ(test, ut_destroy(t, 0, id), 0);
}

/* Calls that fail keep no room: an id that asks in vain a thousand times has as much as before. */
static void in_vain(struct kunit *test)
{
	struct ucma_test *t = test->priv;
	struct rdma_cm_id *cm;
	struct ucma_id *own;
	size_t room;
	u32 id;

	cm = ut_bound(t, 0, &id);
	own = cm->context;
	room = list_count_nodes(&own->room);
	t->answer = -EINVAL;
	for (int i = 0; i < 1000; i++) {
		KUNIT_EXPECT_EQ(test, try_resolve(t, id), -EINVAL);
		KUNIT_EXPECT_EQ(test, try_route(t, id), -EINVAL);
		KUNIT_EXPECT_EQ(test, try_connect(t, id), -EINVAL);
		KUNIT_EXPECT_EQ(test, try_accept(t, id), -EINVAL);
		KUNIT_EXPECT_EQ(test, try_join(t, id), -EINVAL);
	}
	KUNIT_EXPECT_EQ(test, list_count_nodes(&own->room), room);
}
#endif

static struct kunit_case undo_cases[] = {
	KUNIT_CASE(create_untold),
	KUNIT_CASE(destroy_untold),
	KUNIT_CASE(questions_untold),
	KUNIT_CASE(request_untold),
#ifdef CONFIG_FAULT_INJECTION
	KUNIT_CASE(starved),
	KUNIT_CASE(in_vain),
#endif
	{}
};

static struct kunit_suite undo_suite = {
	.name = "rdma_ucm_undo",
	.init = ut_init,
	.exit = ut_exit,
	.test_cases = undo_cases,
};

kunit_test_suite(undo_suite);
