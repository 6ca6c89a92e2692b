// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Alternate paths: the peer loads them, agrees to them or cannot use them; the connection goes over
 * to them with all that it has.
 */
#include <linux/module.h>
#include <rdma/kunit.h>

#include "fake_net.h"

static void connect_pair(struct pair *pair)
{
	KUNIT_ASSERT_EQ(pair->net->test, consumer_connect(&pair->active), 0);
	fake_net_run(pair->net);
}

static void alternate_path_is_loaded(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct sa_path_rec path = fake_path(pair->net->a, pair->net->b);
	struct cm_msg lap = { .type = CM_MSG_LAP };
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int mask;

	connect_pair(pair);
	lap.local_id = be32_to_cpu(pair->passive.id->remote_id);
	lap.remote_id = be32_to_cpu(pair->passive.id->local_id);
	lap.lap.remote_qpn = FAKE_QPN_B;
	path.sl = 5;
	cm_path_of_rec(&path, &lap.lap.alternate, 0);
	fake_net_inject(pair->net->b, FAKE_LID_A, &lap);
	KUNIT_EXPECT_EQ(test, pair->passive.last.event, IB_CM_LAP_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->passive.id->lap_state, IB_CM_LAP_RCVD);
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->passive.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, mask, IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr.alt_ah_attr), 5);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.alt_ah_attr), FAKE_LID_A);
	pair_end(pair);
}

static void alternate_path_is_agreed_on(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct sa_path_rec path = fake_path(pair->net->a, pair->net->b);
	struct ib_cm_id *active = pair->active.id, *passive;
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int mask;

	KUNIT_EXPECT_EQ(test, ib_send_cm_lap(active, &path, NULL, 0), -EINVAL);
	connect_pair(pair);
	passive = pair->passive.id;
	KUNIT_EXPECT_EQ(test, ib_send_cm_lap(passive, &path, NULL, 0), -EINVAL);
	path.sl = 6;
	KUNIT_EXPECT_EQ(test, ib_send_cm_lap(active, &path, "lap", 3), 0);
	fake_net_step(pair->net);
	KUNIT_ASSERT_EQ(test, pair->passive.last.event, IB_CM_LAP_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->passive.data, 'l');
	KUNIT_EXPECT_EQ(test, ib_send_cm_mra(passive, 20, NULL, 0), 0);
	fake_net_step(pair->net);
	KUNIT_EXPECT_EQ(test, active->lap_state, IB_CM_MRA_LAP_RCVD);
	KUNIT_EXPECT_EQ(test, ib_send_cm_apr(passive, IB_CM_APR_SUCCESS, NULL, 0, "apr", 3), 0);
	fake_net_run(pair->net);
	KUNIT_ASSERT_EQ(test, pair->active.last.event, IB_CM_APR_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.apr_rcvd.ap_status, IB_CM_APR_SUCCESS);
	KUNIT_EXPECT_EQ(test, active->lap_state, IB_CM_LAP_IDLE);
	KUNIT_EXPECT_EQ(test, passive->lap_state, IB_CM_LAP_IDLE);
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(active, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, mask, IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr.alt_ah_attr), 6);
	/* The QP goes over to it; from then on messages do, too. */
	KUNIT_EXPECT_EQ(test, ib_cm_notify(active, IB_EVENT_PATH_MIG), 0);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(active, NULL, 0), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->passive, IB_CM_DREQ_RECEIVED));
	pair_end(pair);
}

static void alternate_path_is_not_answered(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct sa_path_rec path = fake_path(pair->net->a, pair->net->b);

	connect_pair(pair);
	KUNIT_EXPECT_EQ(test, ib_send_cm_lap(pair->active.id, &path, NULL, 0), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_EQ(test, pair->active.last.event, IB_CM_LAP_ERROR);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	pair_end(pair);
}

/* A device that has gone is not asked for the path to an id that it has had. */
static void alternate_path_comes_to_another_device(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct sa_path_rec path = fake_path(pair->net->b, pair->net->a);
	struct cm_msg lap = { .type = CM_MSG_LAP };

	connect_pair(pair);
	lap.local_id = be32_to_cpu(pair->active.id->remote_id);
	lap.remote_id = be32_to_cpu(pair->active.id->local_id);
	lap.lap.remote_qpn = FAKE_QPN_A;
	cm_path_of_rec(&path, &lap.lap.alternate, 0);
	fake_net_inject(pair->net->b, FAKE_LID_A, &lap);
	KUNIT_EXPECT_FALSE(test, consumer_heard(&pair->active, IB_CM_LAP_RECEIVED));
	KUNIT_EXPECT_EQ(test, pair->active.id->lap_state, IB_CM_LAP_UNINIT);

	/* The memory of the device has gone, too: an id keeps none. */
	fake_net_renew_a(pair->net);
	fake_net_inject(pair->net->b, FAKE_LID_A, &lap);
	KUNIT_EXPECT_FALSE(test, consumer_heard(&pair->active, IB_CM_LAP_RECEIVED));
	pair_end(pair);
}

/* ---- paths that the peer cannot use ---- */

/* The peer is told at once, and may propose another. */
static void alternate_path_leads_nowhere(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct sa_path_rec path = fake_path(pair->net->a, pair->net->b), nowhere = path;
	struct ib_cm_id *active = pair->active.id;

	connect_pair(pair);
	nowhere.dgid.global.interface_id = cpu_to_be64(99);
	for (int i = 0; i < 2; i++) {
		pair->active.num_events = 0;
		KUNIT_ASSERT_EQ(test, ib_send_cm_lap(active, &nowhere, NULL, 0), 0);
		fake_net_run(pair->net);
		EXPECT_EVENTS(test, &pair->active, IB_CM_APR_RECEIVED);
		KUNIT_EXPECT_EQ(test, pair->active.last.param.apr_rcvd.ap_status,
				IB_CM_APR_INVALID_GID);
	}
	KUNIT_EXPECT_FALSE(test, consumer_heard(&pair->passive, IB_CM_LAP_RECEIVED));
	KUNIT_EXPECT_EQ(test, pair->passive.id->lap_state, IB_CM_LAP_UNINIT);
	KUNIT_EXPECT_NULL(test, to_cm_id(pair->passive.id)->alt);
	KUNIT_ASSERT_EQ(test, ib_send_cm_lap(active, &path, NULL, 0), 0);
	fake_net_step(pair->net);
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->passive, IB_CM_LAP_RECEIVED));
	pair_end(pair);
}

/* Whoever does not know the connection learns nothing of its paths. */
static void alternate_path_of_a_stranger(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct sa_path_rec nowhere = fake_path(pair->net->a, pair->net->b);
	struct cm_msg lap = { .type = CM_MSG_LAP };

	connect_pair(pair);
	nowhere.dgid.global.interface_id = cpu_to_be64(99);
	cm_path_of_rec(&nowhere, &lap.lap.alternate, 0);
	lap.remote_id = be32_to_cpu(pair->passive.id->local_id);
	lap.local_id = be32_to_cpu(pair->passive.id->remote_id);
	lap.lap.remote_qpn = FAKE_QPN_B + 1;
	fake_net_inject(pair->net->b, FAKE_LID_A, &lap);
	lap.lap.remote_qpn--;
	lap.local_id++;
	fake_net_inject(pair->net->b, FAKE_LID_A, &lap);
	KUNIT_EXPECT_NULL(test, fake_net_find(pair->net, CM_MSG_APR));
	lap.local_id--;
	fake_net_inject(pair->net->b, FAKE_LID_A, &lap);
	KUNIT_EXPECT_NOT_NULL(test, fake_net_find(pair->net, CM_MSG_APR));
	pair_end(pair);
}

/* ---- the path changes ---- */

/* The last message needs no memory, and leaves by the path that lives. */
static void expect_end_by_path(struct pair *pair, struct consumer *consumer, u8 sl)
{
	struct kunit *test = pair->net->test;
	struct ib_mad_send_buf *buf;

	KUNIT_ASSERT_EQ(test, ib_cm_notify(consumer->id, IB_EVENT_PATH_MIG), 0);
	pair->net->starved = true;
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(consumer->id, NULL, 0), -ENOMEM);
	pair->net->starved = false;
	buf = fake_net_find(pair->net, CM_MSG_DREQ);
	KUNIT_ASSERT_NOT_NULL(test, buf);
	KUNIT_EXPECT_PTR_EQ(test, buf->ah, to_cm_id(consumer->id)->route->ah);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&to_cm_id(consumer->id)->route->attr), sl);
	fake_net_run(pair->net);
}

static void path_of_the_end(struct kunit *test)
{
	for (int passive = 0; passive < 2; passive++) {
		struct pair *pair = pair_begin(test);
		struct sa_path_rec path = fake_path(pair->net->a, pair->net->b);
		struct consumer *consumer = passive ? &pair->passive : &pair->active;
		struct consumer *peer = passive ? &pair->active : &pair->passive;

		connect_pair(pair);
		/* Of two paths in turn the second one counts. */
		for (path.sl = 5; path.sl < 7; path.sl++) {
			KUNIT_ASSERT_EQ(test, ib_send_cm_lap(pair->active.id, &path, NULL, 0), 0);
			fake_net_step(pair->net);
			KUNIT_ASSERT_EQ(test, ib_send_cm_apr(pair->passive.id, IB_CM_APR_SUCCESS,
							     NULL, 0, NULL, 0), 0);
			fake_net_run(pair->net);
		}
		expect_end_by_path(pair, consumer, 6);
		KUNIT_EXPECT_TRUE(test, consumer_heard(peer, IB_CM_DREQ_RECEIVED));
		pair_end(pair);
	}
}

/* The same for a path that has come with the request. */
static void path_of_the_end_from_the_request(struct kunit *test)
{
	for (int passive = 0; passive < 2; passive++) {
		struct pair *pair = pair_begin(test);
		struct sa_path_rec path = fake_path(pair->net->a, pair->net->b), other = path;
		struct ib_cm_req_param param = {
			.primary_path = &path, .alternate_path = &other,
			.service_id = cpu_to_be64(FAKE_SERVICE), .qp_num = FAKE_QPN_A,
			.qp_type = IB_QPT_RC, .remote_cm_response_timeout = 18,
			.local_cm_response_timeout = 18, .max_cm_retries = FAKE_RETRIES,
		};

		other.sl = 7;
		KUNIT_ASSERT_EQ(test, ib_send_cm_req(pair->active.id, &param), 0);
		fake_net_run(pair->net);
		KUNIT_ASSERT_TRUE(test, pair_is_connected(pair));
		expect_end_by_path(pair, passive ? &pair->passive : &pair->active, 7);
		pair_end(pair);
	}
}

static struct kunit_case path_cases[] = {
	KUNIT_CASE(alternate_path_is_loaded),
	KUNIT_CASE(alternate_path_is_agreed_on),
	KUNIT_CASE(alternate_path_is_not_answered),
	KUNIT_CASE(alternate_path_comes_to_another_device),
	KUNIT_CASE(alternate_path_leads_nowhere),
	KUNIT_CASE(alternate_path_of_a_stranger),
	KUNIT_CASE(path_of_the_end),
	KUNIT_CASE(path_of_the_end_from_the_request),
	{}
};

static struct kunit_suite path_suite = {
	.name = "ib_cm_path",
	.suite_init = rdma_kunit_again,
	.test_cases = path_cases,
};

kunit_test_suite(path_suite);
