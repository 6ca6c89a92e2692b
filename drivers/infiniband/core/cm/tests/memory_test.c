// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Without memory: each allocation of what handlers call, of datagram services, of alternate paths
 * and of listens fails in turn. The peer is answered all the same, if only when it asks again, and
 * a call that fails has changed nothing.
 */
#include <linux/module.h>
#include <rdma/kunit.h>
#include <rdma/rdma_ext_cm.h>

#include "fake_net.h"

#define MOST_ALLOCATIONS 500

/* The same call once more if memory lacked. */
#define AGAIN(_call) ({								\
	int _ret = (_call);								\
											\
	_ret == -ENOMEM ? (_call) : _ret;						\
})

/* From here on the test's own task lacks memory once, @nth allocations later. */
static void begin_lack(unsigned int nth)
{
	current->fail_nth = nth;
}

/* Returns whether it has. */
static bool end_lack(void)
{
	bool lacked = !current->fail_nth;

	current->fail_nth = 0;
	return lacked;
}

/* Plays a part, which says whether memory lacked, until it needs no more allocations. */
static void sweep(struct kunit *test, bool (*part)(struct kunit *test, unsigned int nth))
{
	unsigned int nth = 1;

	while (nth < MOST_ALLOCATIONS && part(test, nth))
		nth++;
	KUNIT_EXPECT_LT(test, nth, MOST_ALLOCATIONS);
	if (nth == 1)
		kunit_skip(test, "failslab spares allocations that may wait");
	kunit_info(test, "%u allocations\n", nth - 1);
}

/* ---- calls in handlers ---- */

static bool connection_lacks(struct kunit *test, unsigned int nth)
{
	struct pair *pair = pair_begin(test);
	bool lacked;

	pair->net->fail_nth = nth;
	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE_MSG(test, pair_is_connected(pair), "allocation %u", nth);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), 0);
	fake_net_run(pair->net);
	lacked = !pair->net->fail_nth;
	pair->net->fail_nth = 0;
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->active, IB_CM_DREP_RECEIVED));
	KUNIT_EXPECT_EQ(test, pair->active.errors + pair->passive.errors, 0);
	pair_end(pair);
	return lacked;
}

static void handlers_connect(struct kunit *test)
{
	sweep(test, connection_lacks);
}

static bool refusal_lacks(struct kunit *test, unsigned int nth)
{
	struct pair *pair = pair_begin(test);
	bool lacked;

	pair->passive.rej = IB_CM_REJ_NO_RESOURCES;
	pair->net->fail_nth = nth;
	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_run(pair->net);
	lacked = !pair->net->fail_nth;
	pair->net->fail_nth = 0;
	EXPECT_EVENTS(test, &pair->active, IB_CM_REJ_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->passive.errors, 0);
	pair_end(pair);
	return lacked;
}

static void handlers_refuse(struct kunit *test)
{
	sweep(test, refusal_lacks);
}

/* ---- datagram services ---- */

static int ask(struct consumer *consumer)
{
	struct sa_path_rec path = fake_path(consumer->net->a, consumer->net->b);
	struct ib_cm_sidr_req_param param = {
		.path = &path, .service_id = cpu_to_be64(FAKE_SERVICE), .timeout_ms = 10,
		.private_data = "who", .private_data_len = 3, .max_cm_retries = FAKE_RETRIES,
	};

	return ib_send_cm_sidr_req(consumer->id, &param);
}

/* A request whose answer was lost is answered once more. */
static void expect_service(struct kunit *test, struct pair *pair)
{
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->passive, IB_CM_SIDR_REQ_RECEIVED));
	KUNIT_EXPECT_EQ(test, pair->passive.errors, 0);
	EXPECT_EVENTS(test, &pair->active, IB_CM_SIDR_REP_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.sidr_rep_rcvd.status, IB_SIDR_SUCCESS);
}

static bool answer_lacks(struct kunit *test, unsigned int nth)
{
	struct pair *pair = pair_begin(test);
	bool lacked;

	pair->net->fail_nth = nth;
	KUNIT_ASSERT_EQ(test, ask(&pair->active), 0);
	fake_net_run(pair->net);
	lacked = !pair->net->fail_nth;
	pair->net->fail_nth = 0;
	expect_service(test, pair);
	pair_end(pair);
	return lacked;
}

static void handlers_answer(struct kunit *test)
{
	sweep(test, answer_lacks);
}

static bool question_lacks(struct kunit *test, unsigned int nth)
{
	struct pair *pair = pair_begin(test);
	bool lacked;
	int ret;

	begin_lack(nth);
	ret = AGAIN(ask(&pair->active));
	fake_net_run(pair->net);
	lacked = end_lack();
	KUNIT_EXPECT_EQ(test, ret, 0);
	expect_service(test, pair);
	pair_end(pair);
	return lacked;
}

static void services_are_found(struct kunit *test)
{
	sweep(test, question_lacks);
}

/* ---- alternate paths ---- */

/* A LAP that comes again, since the APR was lost, is answered like the first. */
static int answer_lap(struct pair *pair)
{
	struct ib_cm_id *id = pair->passive.id;

	if (id->lap_state != IB_CM_LAP_RCVD)
		return 0;
	return AGAIN(ib_send_cm_apr(id, IB_CM_APR_SUCCESS, NULL, 0, "apr", 3));
}

static bool migration_lacks(struct kunit *test, unsigned int nth)
{
	struct pair *pair = pair_begin(test);
	struct sa_path_rec path = fake_path(pair->net->a, pair->net->b);
	int asked, answered = 0;
	bool lacked;

	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_run(pair->net);
	KUNIT_ASSERT_TRUE(test, pair_is_connected(pair));
	begin_lack(nth);
	asked = AGAIN(ib_send_cm_lap(pair->active.id, &path, "lap", 3));
	while (fake_net_step(pair->net) || fake_net_tick(pair->net))
		answered = answered ?: answer_lap(pair);
	lacked = end_lack();
	KUNIT_EXPECT_EQ(test, asked, 0);
	KUNIT_EXPECT_EQ(test, answered, 0);
	KUNIT_EXPECT_TRUE_MSG(test, consumer_heard(&pair->active, IB_CM_APR_RECEIVED),
			      "allocation %u", nth);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	pair_end(pair);
	return lacked;
}

static void paths_are_agreed_on(struct kunit *test)
{
	sweep(test, migration_lacks);
}

/* ---- listens ---- */

static int refuse(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return -EINVAL;
}

static int accept(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	return 0;
}

static bool listens_lack(struct kunit *test, unsigned int nth)
{
	struct pair *pair = pair_begin(test);
	struct ib_device *ib = &pair->net->b->ib;
	struct ib_cm_listen_param param = {
		.service_id = cpu_to_be64(FAKE_SERVICE + 2), .pkey = FAKE_PKEY, .length = 1,
		.data = "x",
	};
	struct ib_cm_id *shared, *directed, *other;
	bool lacked;
	int ret;

	directed = ib_create_cm_id(ib, refuse, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(directed));
	begin_lack(nth);
	shared = ib_cm_insert_listen(ib, refuse, cpu_to_be64(FAKE_SERVICE + 1));
	if (IS_ERR(shared))
		shared = ib_cm_insert_listen(ib, refuse, cpu_to_be64(FAKE_SERVICE + 1));
	ret = AGAIN(ib_cm_listen_directed(directed, &param));
	lacked = end_lack();
	KUNIT_EXPECT_EQ(test, ret, 0);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(shared), 0);
	/* Both listen now: nobody else can have the one service, and the other id is in use. */
	other = ib_cm_insert_listen(ib, accept, cpu_to_be64(FAKE_SERVICE + 1));
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(other), -EINVAL);
	if (!IS_ERR(other))
		ib_destroy_cm_id(other);
	KUNIT_EXPECT_EQ(test, ib_cm_listen_directed(directed, &param), -EINVAL);
	if (!IS_ERR(shared))
		ib_destroy_cm_id(shared);
	ib_destroy_cm_id(directed);
	pair_end(pair);
	return lacked;
}

static void listens_are_begun(struct kunit *test)
{
	sweep(test, listens_lack);
}

static struct kunit_case memory_cases[] = {
	KUNIT_CASE(handlers_connect),
	KUNIT_CASE(handlers_refuse),
	KUNIT_CASE(handlers_answer),
	KUNIT_CASE(services_are_found),
	KUNIT_CASE(paths_are_agreed_on),
	KUNIT_CASE(listens_are_begun),
	{}
};

static struct kunit_suite memory_suite = {
	.name = "ib_cm_memory",
	.suite_init = rdma_kunit_again,
	.test_cases = memory_cases,
};

kunit_test_suite(memory_suite);
