// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections between two devices: made, refused and ended, with messages that are lost or come
 * twice, ids that are destroyed and devices that go at any time, and without memory.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/kunit.h>
#include <rdma/rdma_ext_cm.h>

#include "fake_net.h"

/* ---- the whole life of a connection ---- */

static void connect_pair(struct pair *pair)
{
	KUNIT_ASSERT_EQ(pair->net->test, consumer_connect(&pair->active), 0);
	fake_net_run(pair->net);
}

/* TIMEWAIT of the paths here takes some milliseconds; both handlers are called at its end. */
static void await_timewait(struct pair *pair)
{
	struct kunit *test = pair->net->test;

	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&pair->active.rested, 20 * HZ));
	KUNIT_EXPECT_TRUE(test, wait_for_completion_timeout(&pair->passive.rested, 20 * HZ));
	fake_net_settle(pair->net);
}

static void connects_and_disconnects(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	connect_pair(pair);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	KUNIT_EXPECT_TRUE(test, pair->active.id->remote_id == pair->passive.id->local_id);
	KUNIT_EXPECT_TRUE(test, pair->passive.id->remote_id == pair->active.id->local_id);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), 0);
	fake_net_run(pair->net);
	await_timewait(pair);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REP_RECEIVED, IB_CM_DREP_RECEIVED,
		      IB_CM_TIMEWAIT_EXIT);
	EXPECT_EVENTS(test, &pair->passive, IB_CM_REQ_RECEIVED, IB_CM_RTU_RECEIVED,
		      IB_CM_DREQ_RECEIVED, IB_CM_TIMEWAIT_EXIT);
	KUNIT_EXPECT_EQ(test, consumer_state(&pair->active), IB_CM_IDLE);
	KUNIT_EXPECT_EQ(test, consumer_state(&pair->passive), IB_CM_IDLE);
	pair_end(pair);
}

static void passive_side_disconnects(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	connect_pair(pair);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->passive.id, NULL, 0), 0);
	fake_net_run(pair->net);
	await_timewait(pair);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REP_RECEIVED, IB_CM_DREQ_RECEIVED,
		      IB_CM_TIMEWAIT_EXIT);
	EXPECT_EVENTS(test, &pair->passive, IB_CM_REQ_RECEIVED, IB_CM_RTU_RECEIVED,
		      IB_CM_DREP_RECEIVED, IB_CM_TIMEWAIT_EXIT);
	pair_end(pair);
}

static void id_connects_again(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	for (int i = 0; i < 2; i++) {
		connect_pair(pair);
		KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
		KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), 0);
		fake_net_run(pair->net);
		await_timewait(pair);
		ib_destroy_cm_id(pair->passive.id);
		pair->passive.id = NULL;
		pair->active.num_events = 0;
		pair->passive.num_events = 0;
	}
	pair_end(pair);
}

static void mra_lets_the_peer_wait(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->active.mra = true;
	pair->passive.mra = true;
	connect_pair(pair);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	EXPECT_EVENTS(test, &pair->active, IB_CM_MRA_RECEIVED, IB_CM_REP_RECEIVED);
	EXPECT_EVENTS(test, &pair->passive, IB_CM_REQ_RECEIVED, IB_CM_MRA_RECEIVED,
		      IB_CM_RTU_RECEIVED);
	pair_end(pair);
}

/* ---- what is said ---- */

static void request_tells_all(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	const struct ib_cm_req_event_param *req = &pair->passive.last.param.req_rcvd;

	pair->passive.silent = true;
	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_step(pair->net);
	KUNIT_ASSERT_EQ(test, pair->passive.last.event, IB_CM_REQ_RECEIVED);
	KUNIT_EXPECT_PTR_EQ(test, req->listen_id, pair->listener);
	KUNIT_EXPECT_EQ(test, req->port, 1);
	KUNIT_EXPECT_EQ(test, req->bth_pkey, IB_DEFAULT_PKEY_FULL);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(req->remote_ca_guid),
			be64_to_cpu(pair->net->a->ib.node_guid));
	KUNIT_EXPECT_EQ(test, req->remote_qpn, FAKE_QPN_A);
	KUNIT_EXPECT_EQ(test, req->qp_type, IB_QPT_RC);
	KUNIT_EXPECT_EQ(test, req->starting_psn, 0x1111);
	KUNIT_EXPECT_EQ(test, req->responder_resources, 4);
	KUNIT_EXPECT_EQ(test, req->initiator_depth, 3);
	KUNIT_EXPECT_EQ(test, (int)req->retry_count, 6);
	KUNIT_EXPECT_EQ(test, (int)req->rnr_retry_count, 5);
	KUNIT_EXPECT_NULL(test, req->alternate_path);
	KUNIT_EXPECT_EQ(test, pair->passive.data, 0xa0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(pair->passive.id->service_id), FAKE_SERVICE);
	pair_end(pair);
}

static void connection_configures_qps(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_INIT };
	int mask;

	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->active.id, &attr, &mask), -EINVAL);
	connect_pair(pair);
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->active.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, mask, IB_QP_STATE | IB_QP_ACCESS_FLAGS | IB_QP_PKEY_INDEX |
				    IB_QP_PORT);
	KUNIT_EXPECT_EQ(test, attr.port_num, 1);
	attr.qp_state = IB_QPS_RTR;
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->active.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, FAKE_QPN_B);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, 0x1111);
	KUNIT_EXPECT_EQ(test, attr.path_mtu, IB_MTU_2048);
	KUNIT_EXPECT_EQ(test, attr.max_dest_rd_atomic, 6);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.ah_attr), FAKE_LID_B);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr.ah_attr), 3);
	attr.qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->active.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, 0x2222);
	KUNIT_EXPECT_EQ(test, attr.max_rd_atomic, 5);
	KUNIT_EXPECT_EQ(test, attr.retry_cnt, 6);
	KUNIT_EXPECT_EQ(test, attr.rnr_retry, 7);

	attr.qp_state = IB_QPS_RTR;
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->passive.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, FAKE_QPN_A);
	KUNIT_EXPECT_EQ(test, attr.rq_psn, 0x2222);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.ah_attr), FAKE_LID_A);
	attr.qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->passive.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, 0x1111);
	attr.qp_state = IB_QPS_ERR;
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->passive.id, &attr, &mask), -EINVAL);
	pair_end(pair);
}

/* ---- refusals ---- */

static void consumer_refuses(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->passive.rej = IB_CM_REJ_CONSUMER_DEFINED;
	connect_pair(pair);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REJ_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.rej_rcvd.reason, IB_CM_REJ_CONSUMER_DEFINED);
	KUNIT_EXPECT_EQ(test, pair->active.data, 'n');
	KUNIT_EXPECT_EQ(test, consumer_state(&pair->active), IB_CM_IDLE);
	KUNIT_EXPECT_EQ(test, consumer_state(&pair->passive), IB_CM_IDLE);
	pair_end(pair);
}

static void handler_that_fails_refuses(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->passive.returns_for = IB_CM_REQ_RECEIVED;
	pair->passive.returns = -EINVAL;
	connect_pair(pair);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REJ_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.rej_rcvd.reason, IB_CM_REJ_CONSUMER_DEFINED);
	pair_end(pair);
}

/* Then the REQ is as if it had been lost, and one of those that follow may be served. */
static void handler_without_memory_says_nothing(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->passive.returns_for = IB_CM_REQ_RECEIVED;
	pair->passive.returns = -ENOMEM;
	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_step(pair->net);
	KUNIT_EXPECT_EQ(test, pair->active.num_events, 0);
	pair->passive.returns_for = -1;
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	pair_end(pair);
}

static void nobody_listens(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	ib_destroy_cm_id(pair->listener);
	pair->listener = NULL;
	connect_pair(pair);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REJ_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.rej_rcvd.reason,
			IB_CM_REJ_INVALID_SERVICE_ID);
	pair_end(pair);
}

static void foreign_gid_is_refused(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct sa_path_rec path = fake_path(pair->net->a, pair->net->b);
	struct ib_cm_req_param param = {
		.primary_path = &path, .service_id = cpu_to_be64(FAKE_SERVICE),
		.qp_num = FAKE_QPN_A, .qp_type = IB_QPT_RC,
	};

	path.dgid.global.interface_id = cpu_to_be64(99);
	KUNIT_ASSERT_EQ(test, ib_send_cm_req(pair->active.id, &param), 0);
	fake_net_run(pair->net);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REJ_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.rej_rcvd.reason, IB_CM_REJ_INVALID_GID);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.rej_rcvd.ari_length, sizeof(union ib_gid));
	KUNIT_EXPECT_EQ(test, pair->passive.num_events, 0);
	pair_end(pair);
}

/* ---- time ---- */

static void nobody_answers(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->net->dead = true;
	connect_pair(pair);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REQ_ERROR);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.send_status, IB_WC_RESP_TIMEOUT_ERR);
	/* There are the REQ, its repetitions, and the REJ at the end. */
	KUNIT_EXPECT_EQ(test, pair->net->moves, 1 + FAKE_RETRIES + 1);
	pair_end(pair);
}

static enum fake_fault lose_rtus(struct fake_net *net, unsigned int number, enum cm_msg_type type)
{
	return type == CM_MSG_RTU ? FAKE_LOST : FAKE_ARRIVES;
}

static void rtu_never_arrives(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->net->deliver = lose_rtus;
	connect_pair(pair);
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->passive, IB_CM_REP_ERROR));
	/* The active side does not stay connected alone. */
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->active, IB_CM_REJ_RECEIVED));
	pair_end(pair);
}

static void traffic_replaces_the_rtu(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->net->deliver = lose_rtus;
	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	for (int i = 0; i < 3; i++)
		fake_net_step(pair->net);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair->active.id, IB_EVENT_COMM_EST), -EISCONN);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair->passive.id, IB_EVENT_COMM_EST), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	EXPECT_EVENTS(test, &pair->passive, IB_CM_REQ_RECEIVED, IB_CM_USER_ESTABLISHED);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(pair->passive.id, IB_EVENT_SQ_DRAINED), -EINVAL);
	pair_end(pair);
}

static enum fake_fault lose_dreqs(struct fake_net *net, unsigned int number, enum cm_msg_type type)
{
	return type == CM_MSG_DREQ ? FAKE_LOST : FAKE_ARRIVES;
}

static void dreq_never_arrives(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->net->deliver = lose_dreqs;
	connect_pair(pair);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->active, IB_CM_DREQ_ERROR));
	pair_end(pair);
}

/* A QP that is connected, or was until now, connects with nobody else. */
static void qp_of_a_connection_is_stale(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct consumer other = {};

	consumer_init(&other, pair->net, pair->active.qpn);
	connect_pair(pair);
	other.id = ib_create_cm_id(&pair->net->a->ib, consumer_handler, &other);
	KUNIT_ASSERT_FALSE(test, IS_ERR(other.id));
	KUNIT_ASSERT_EQ(test, consumer_connect(&other), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_EQ(test, other.events[0], IB_CM_REJ_RECEIVED);
	/* The peer seems to have forgotten the old connection, so that is ended. */
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->active, IB_CM_DREQ_RECEIVED));
	ib_destroy_cm_id(other.id);
	pair_end(pair);
}

/* ---- losses, duplicates ---- */

static enum fake_fault lose_one(struct fake_net *net, unsigned int number, enum cm_msg_type type)
{
	return number == net->deliver_at ? FAKE_LOST : FAKE_ARRIVES;
}

static enum fake_fault all_twice(struct fake_net *net, unsigned int number, enum cm_msg_type type)
{
	return FAKE_TWICE;
}

/* Returns the number of messages. */
static unsigned int life_with_losses(struct kunit *test, unsigned int lost)
{
	struct pair *pair = pair_begin(test);
	unsigned int moves;

	pair->net->deliver = lose_one;
	pair->net->deliver_at = lost;
	connect_pair(pair);
	KUNIT_EXPECT_TRUE_MSG(test, pair_is_connected(pair), "message %u lost", lost);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE_MSG(test, consumer_heard(&pair->active, IB_CM_DREP_RECEIVED),
			      "message %u lost", lost);
	await_timewait(pair);
	moves = pair->net->moves;
	pair_end(pair);
	return moves;
}

static void any_message_may_be_lost(struct kunit *test)
{
	unsigned int lost = 0;

	while (lost < life_with_losses(test, lost))
		lost++;
	KUNIT_EXPECT_GE(test, lost, 5);
}

static void all_messages_may_come_twice(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->net->deliver = all_twice;
	connect_pair(pair);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), 0);
	fake_net_run(pair->net);
	await_timewait(pair);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REP_RECEIVED, IB_CM_DREP_RECEIVED,
		      IB_CM_TIMEWAIT_EXIT);
	EXPECT_EVENTS(test, &pair->passive, IB_CM_REQ_RECEIVED, IB_CM_RTU_RECEIVED,
		      IB_CM_DREQ_RECEIVED, IB_CM_TIMEWAIT_EXIT);
	pair_end(pair);
}

/* ---- any time ---- */

enum interruption {
	DESTROY_ACTIVE,
	DESTROY_PASSIVE,
	REMOVE_A,
	REMOVE_B,
	INTERRUPTIONS,
};

/* Returns true if there was something to interrupt. */
static bool interrupt(struct pair *pair, enum interruption what)
{
	struct consumer *consumer = what == DESTROY_ACTIVE ? &pair->active : &pair->passive;

	switch (what) {
	case DESTROY_ACTIVE:
	case DESTROY_PASSIVE:
		if (!consumer->id)
			return false;
		ib_destroy_cm_id(consumer->id);
		consumer->id = NULL;
		return true;
	case REMOVE_A:
		fake_net_remove(pair->net->a);
		return true;
	default:
		fake_net_remove(pair->net->b);
		return true;
	}
}

static bool is_rest(enum ib_cm_state state)
{
	return state == IB_CM_IDLE || state == IB_CM_TIMEWAIT || state == IB_CM_ESTABLISHED;
}

/* No side may be left waiting, or connected without the other. */
static void expect_account(struct kunit *test, const struct consumer *consumer, unsigned int step)
{
	enum ib_cm_state state = consumer_state(consumer);

	if (consumer->id)
		KUNIT_EXPECT_TRUE_MSG(test, is_rest(state), "%s after step %u",
				      cm_state_name(state), step);
}

static bool life_until(struct kunit *test, enum interruption what, unsigned int step, bool mra)
{
	struct pair *pair = pair_begin(test);
	bool more = true, done;

	pair->active.mra = mra;
	pair->passive.mra = mra;
	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	for (unsigned int i = 0; i < step; i++) {
		if (i == 5 && pair->active.id)
			ib_send_cm_dreq(pair->active.id, NULL, 0);
		more = fake_net_step(pair->net) || i < 5;
	}
	done = interrupt(pair, what);
	fake_net_run(pair->net);
	expect_account(test, &pair->active, step);
	expect_account(test, &pair->passive, step);
	if (what == DESTROY_ACTIVE && pair->passive.id)
		KUNIT_EXPECT_NE(test, consumer_state(&pair->passive), IB_CM_ESTABLISHED);
	if (what == DESTROY_PASSIVE && done)
		KUNIT_EXPECT_NE(test, consumer_state(&pair->active), IB_CM_ESTABLISHED);
	/* Ids of a device that is gone can only be destroyed. */
	if (what == REMOVE_A)
		KUNIT_EXPECT_NE(test, consumer_connect(&pair->active), 0);
	pair_end(pair);
	return more;
}

static void destroyed_and_removed_at_any_time(struct kunit *test)
{
	for (enum interruption what = 0; what < INTERRUPTIONS; what++)
		for (unsigned int step = 0; step < 20; step++)
			if (!life_until(test, what, step, step & 1) && step > 9)
				break;
}

struct destroyer {
	struct work_struct work;
	struct ib_cm_id *id;
	struct completion done;
};

static void destroy_work(struct work_struct *work)
{
	struct destroyer *destroyer = container_of(work, struct destroyer, work);

	ib_destroy_cm_id(destroyer->id);
	complete(&destroyer->done);
}

static void destroy_waits_for_the_handler(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct destroyer destroyer = { .id = pair->active.id };

	INIT_WORK_ONSTACK(&destroyer.work, destroy_work);
	init_completion(&destroyer.done);
	pair->active.stops_for = IB_CM_REQ_ERROR;
	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_fail(pair->net, CM_MSG_REQ);
	wait_for_completion(&pair->active.inside);
	queue_work(system_unbound_wq, &destroyer.work);
	KUNIT_EXPECT_EQ(test, wait_for_completion_timeout(&destroyer.done, HZ / 20), 0);
	complete(&pair->active.outside);
	wait_for_completion(&destroyer.done);
	flush_work(&destroyer.work);
	destroy_work_on_stack(&destroyer.work);
	pair->active.id = NULL;
	pair_end(pair);
}

/* ---- without memory ---- */

/* The datagram that was made with the connection says its end, and finds the peer's id. */
static void end_needs_no_memory(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	connect_pair(pair);
	KUNIT_ASSERT_TRUE(test, pair_is_connected(pair));
	pair->net->starved = true;
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), -ENOMEM);
	fake_net_run(pair->net);
	pair->net->starved = false;
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->passive, IB_CM_DREQ_RECEIVED));
	KUNIT_EXPECT_EQ(test, pair->passive.errors, 0);
	pair_end(pair);
}

#ifdef CONFIG_FAILSLAB
/*
 * Each allocation of the calls and of the messages that arrive fails in turn; memory_test.c has
 * those of handlers, which run in other tasks.
 */
static bool life_without_memory(struct kunit *test, unsigned int nth, unsigned int *failures)
{
	struct pair *pair = pair_begin(test);
	bool failed;
	int ret;

	current->fail_nth = nth;
	ret = consumer_connect(&pair->active);
	fake_net_run(pair->net);
	if (!ret && consumer_state(&pair->active) == IB_CM_ESTABLISHED)
		ib_send_cm_dreq(pair->active.id, "bye", 3);
	fake_net_run(pair->net);
	failed = !current->fail_nth;
	current->fail_nth = 0;
	*failures += !!ret;
	/* A call that failed has left nothing behind, so that it succeeds now. */
	if (ret) {
		KUNIT_EXPECT_EQ(test, consumer_state(&pair->active), IB_CM_IDLE);
		connect_pair(pair);
		KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	}
	expect_account(test, &pair->active, nth);
	expect_account(test, &pair->passive, nth);
	pair_end(pair);
	return failed;
}

static void memory_may_lack_at_any_time(struct kunit *test)
{
	unsigned int nth = 1, failures = 0;

	while (nth < 500 && life_without_memory(test, nth, &failures))
		nth++;
	KUNIT_EXPECT_LT(test, nth, 500);
	if (!failures)
		kunit_skip(test, "failslab spares allocations that may wait");
	kunit_info(test, "%u allocations, %u of them failed a call\n", nth - 1, failures);
}
#endif

/* ---- messages of strangers ---- */

static void stranger_gets_an_answer(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct cm_msg dreq = { .type = CM_MSG_DREQ, .local_id = 77, .remote_id = 0xdead };
	struct cm_msg rep = { .type = CM_MSG_REP, .local_id = 77, .remote_id = 0xdead };
	struct cm_msg drep = { .type = CM_MSG_DREP, .local_id = 77, .remote_id = 0xdead };

	fake_net_inject(pair->net->b, FAKE_LID_A, &dreq);
	KUNIT_EXPECT_NOT_NULL(test, fake_net_find(pair->net, CM_MSG_DREP));
	fake_net_inject(pair->net->b, FAKE_LID_A, &rep);
	KUNIT_EXPECT_NOT_NULL(test, fake_net_find(pair->net, CM_MSG_REJ));
	fake_net_run(pair->net);
	fake_net_inject(pair->net->b, FAKE_LID_A, &drep);
	KUNIT_EXPECT_EQ(test, fake_net_mads(pair->net), 0);
	pair_end(pair);
}

/* A peer that does not know the ids and the QP of a connection cannot end it. */
static void stranger_ends_nothing(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct cm_msg dreq = { .type = CM_MSG_DREQ };

	connect_pair(pair);
	dreq.remote_id = be32_to_cpu(pair->passive.id->local_id);
	dreq.local_id = be32_to_cpu(pair->passive.id->remote_id) + 1;
	dreq.dreq.remote_qpn = FAKE_QPN_B;
	fake_net_inject(pair->net->b, FAKE_LID_A, &dreq);
	dreq.local_id--;
	dreq.dreq.remote_qpn++;
	fake_net_inject(pair->net->b, FAKE_LID_A, &dreq);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	pair_end(pair);
}

/* ---- calls that make no sense ---- */

static void wrong_calls_are_refused(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct ib_cm_id *id = pair->active.id;
	struct ib_cm_rep_param rep = {};
	static const u8 data[256];

	KUNIT_EXPECT_EQ(test, ib_send_cm_rep(id, &rep), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_rtu(id, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(id, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_drep(id, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_mra(id, 0, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_rej(id, IB_CM_REJ_NO_QP, NULL, 0, NULL, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_cm_notify(id, IB_EVENT_COMM_EST), -EINVAL);
	connect_pair(pair);
	KUNIT_EXPECT_EQ(test, consumer_connect(&pair->active), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_cm_listen(id, cpu_to_be64(1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(id, data, IB_CM_DREQ_PRIVATE_DATA_SIZE + 1), -EINVAL);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	KUNIT_EXPECT_STREQ(test, ibcm_reject_msg(IB_CM_REJ_STALE_CONN),
			   cm_rej_reason_name(IB_CM_REJ_STALE_CONN));
	KUNIT_EXPECT_NOT_NULL(test, ibcm_reject_msg(-1));
	pair_end(pair);
}

/* No id has the number 0 or that of another, and those on both sides of the wrap are connected. */
static void numbers_come_round(struct kunit *test)
{
	struct pair *pair;
	struct ib_cm_id *id;
	u32 number;

	cm_next_number = U32_MAX - 1;
	pair = pair_begin(test);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(pair->listener->local_id), U32_MAX - 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(pair->active.id->local_id), U32_MAX);
	connect_pair(pair);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	number = be32_to_cpu(pair->passive.id->local_id);
	KUNIT_EXPECT_NE(test, number, 0);
	KUNIT_EXPECT_LT(test, number, U32_MAX - 1);
	cm_next_number = number;
	id = ib_create_cm_id(&pair->net->a->ib, consumer_handler, &pair->active);
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	KUNIT_EXPECT_GT(test, be32_to_cpu(id->local_id), number);
	ib_destroy_cm_id(id);
	pair_end(pair);
}

static struct kunit_case conn_cases[] = {
	KUNIT_CASE(connects_and_disconnects),
	KUNIT_CASE(passive_side_disconnects),
	KUNIT_CASE(id_connects_again),
	KUNIT_CASE(numbers_come_round),
	KUNIT_CASE(mra_lets_the_peer_wait),
	KUNIT_CASE(request_tells_all),
	KUNIT_CASE(connection_configures_qps),
	KUNIT_CASE(consumer_refuses),
	KUNIT_CASE(handler_that_fails_refuses),
	KUNIT_CASE(handler_without_memory_says_nothing),
	KUNIT_CASE(nobody_listens),
	KUNIT_CASE(foreign_gid_is_refused),
	KUNIT_CASE(nobody_answers),
	KUNIT_CASE(rtu_never_arrives),
	KUNIT_CASE(traffic_replaces_the_rtu),
	KUNIT_CASE(dreq_never_arrives),
	KUNIT_CASE(qp_of_a_connection_is_stale),
	KUNIT_CASE_SLOW(any_message_may_be_lost),
	KUNIT_CASE(all_messages_may_come_twice),
	KUNIT_CASE_SLOW(destroyed_and_removed_at_any_time),
	KUNIT_CASE(destroy_waits_for_the_handler),
	KUNIT_CASE(end_needs_no_memory),
#ifdef CONFIG_FAILSLAB
	KUNIT_CASE_SLOW(memory_may_lack_at_any_time),
#endif
	KUNIT_CASE(stranger_gets_an_answer),
	KUNIT_CASE(stranger_ends_nothing),
	KUNIT_CASE(wrong_calls_are_refused),
	{}
};

static struct kunit_suite conn_suite = {
	.name = "ib_cm_conn",
	.suite_init = rdma_kunit_again,
	.test_cases = conn_cases,
};

kunit_test_suite(conn_suite);
