// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagram services between two devices: found, missing, late, never answered.
 */
#include <linux/module.h>
#include <rdma/kunit.h>

#include "fake_net.h"

static int ask(struct consumer *consumer, u64 service)
{
	struct sa_path_rec path = fake_path(consumer->net->a, consumer->net->b);
	struct ib_cm_sidr_req_param param = {
		.path = &path, .service_id = cpu_to_be64(service), .timeout_ms = 10,
		.private_data = "who", .private_data_len = 3, .max_cm_retries = FAKE_RETRIES,
	};

	return ib_send_cm_sidr_req(consumer->id, &param);
}

static void service_is_resolved(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	const struct ib_cm_sidr_rep_event_param *rep = &pair->active.last.param.sidr_rep_rcvd;

	KUNIT_ASSERT_EQ(test, ask(&pair->active, FAKE_SERVICE), 0);
	fake_net_run(pair->net);
	EXPECT_EVENTS(test, &pair->passive, IB_CM_SIDR_REQ_RECEIVED);
	EXPECT_EVENTS(test, &pair->active, IB_CM_SIDR_REP_RECEIVED);
	KUNIT_EXPECT_EQ(test, rep->status, IB_SIDR_SUCCESS);
	KUNIT_EXPECT_EQ(test, rep->qpn, FAKE_QPN_B);
	KUNIT_EXPECT_EQ(test, rep->qkey, 0x1ee);
	KUNIT_EXPECT_EQ(test, pair->active.data, 's');
	pair_end(pair);
}

static void service_is_not_there(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	KUNIT_ASSERT_EQ(test, ask(&pair->active, FAKE_SERVICE + 1), 0);
	fake_net_run(pair->net);
	EXPECT_EVENTS(test, &pair->active, IB_CM_SIDR_REP_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.sidr_rep_rcvd.status, IB_SIDR_UNSUPPORTED);
	pair_end(pair);
}

/* A repeated request is reported once; its sender gets an answer if the consumer gives none. */
static void service_takes_its_time(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->passive.silent = true;
	KUNIT_ASSERT_EQ(test, ask(&pair->active, FAKE_SERVICE), 0);
	fake_net_step(pair->net);
	fake_net_tick(pair->net);
	EXPECT_EVENTS(test, &pair->passive, IB_CM_SIDR_REQ_RECEIVED);
	ib_destroy_cm_id(pair->passive.id);
	pair->passive.id = NULL;
	fake_net_run(pair->net);
	EXPECT_EVENTS(test, &pair->active, IB_CM_SIDR_REP_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.sidr_rep_rcvd.status, IB_SIDR_REJECT);
	pair_end(pair);
}

static void service_never_answers(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->net->dead = true;
	KUNIT_ASSERT_EQ(test, ask(&pair->active, FAKE_SERVICE), 0);
	fake_net_run(pair->net);
	EXPECT_EVENTS(test, &pair->active, IB_CM_SIDR_REQ_ERROR);
	KUNIT_EXPECT_EQ(test, pair->net->moves, 1 + FAKE_RETRIES);
	pair_end(pair);
}

static struct kunit_case sidr_cases[] = {
	KUNIT_CASE(service_is_resolved),
	KUNIT_CASE(service_is_not_there),
	KUNIT_CASE(service_takes_its_time),
	KUNIT_CASE(service_never_answers),
	{}
};

static struct kunit_suite sidr_suite = {
	.name = "ib_cm_sidr",
	.suite_init = rdma_kunit_again,
	.test_cases = sidr_cases,
};

kunit_test_suite(sidr_suite);
