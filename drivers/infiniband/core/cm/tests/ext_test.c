// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Two sides that connect to each other at the same time, requests that another consumer takes over,
 * receives that are posted before the REP leaves, and datagram services that are redirected.
 */
#include <linux/module.h>
#include <rdma/kunit.h>

#include "fake_net.h"

#define OTHER_SERVICE 0x4321

/* ---- two that call each other ---- */

static struct ib_cm_req_param request(struct sa_path_rec *path, u32 qpn)
{
	return (struct ib_cm_req_param) {
		.primary_path = path, .service_id = cpu_to_be64(OTHER_SERVICE), .qp_num = qpn,
		.qp_type = IB_QPT_RC, .starting_psn = 0x3333, .private_data = "peer",
		.private_data_len = 4, .responder_resources = 3, .initiator_depth = 4,
		.remote_cm_response_timeout = 18, .local_cm_response_timeout = 18,
		.retry_count = 6, .rnr_retry_count = 5, .max_cm_retries = FAKE_RETRIES,
	};
}

static int call(struct consumer *consumer, struct fake_node *from, struct fake_node *to)
{
	struct sa_path_rec path = fake_path(from, to);
	struct ib_cm_req_param param = request(&path, consumer->qpn);

	return ib_send_cm_req_peer(consumer->id, &param);
}

static void give_id(struct kunit *test, struct consumer *consumer, struct fake_node *node)
{
	consumer->id = ib_create_cm_id(&node->ib, consumer_handler, consumer);
	KUNIT_ASSERT_FALSE(test, IS_ERR(consumer->id));
}

/* Which side calls first, and how far its call has come when the other side calls. */
enum order {
	A_FIRST,
	B_FIRST,
	A_LONG_BEFORE,
	B_LONG_BEFORE,
	ORDERS,
};

static enum fake_fault lose_one(struct fake_net *net, unsigned int number, enum cm_msg_type type)
{
	return number == net->deliver_at ? FAKE_LOST : FAKE_ARRIVES;
}

static enum fake_fault all_twice(struct fake_net *net, unsigned int number, enum cm_msg_type type)
{
	return FAKE_TWICE;
}

static void call_each_other(struct pair *pair, enum order order)
{
	bool a_first = order == A_FIRST || order == A_LONG_BEFORE;
	struct consumer *first = a_first ? &pair->active : &pair->passive;
	struct consumer *second = a_first ? &pair->passive : &pair->active;
	struct fake_node *here = a_first ? pair->net->a : pair->net->b;
	struct fake_node *there = a_first ? pair->net->b : pair->net->a;
	struct kunit *test = pair->net->test;

	KUNIT_ASSERT_EQ(test, call(first, here, there), 0);
	/* Its REQ moves, and the answer that nobody is there. */
	if (order == A_LONG_BEFORE || order == B_LONG_BEFORE)
		for (int i = 0; i < 2; i++)
			fake_net_step(pair->net);
	KUNIT_ASSERT_EQ(test, call(second, there, here), 0);
	fake_net_run(pair->net);
}

static void expect_connected_peers(struct kunit *test, struct pair *pair)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTR };
	int mask;

	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	KUNIT_EXPECT_TRUE(test, pair->active.id->remote_id == pair->passive.id->local_id);
	KUNIT_EXPECT_TRUE(test, pair->passive.id->remote_id == pair->active.id->local_id);
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->active.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, FAKE_QPN_B);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr.ah_attr), FAKE_LID_B);
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->passive.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.dest_qp_num, FAKE_QPN_A);
	/* The adapter of b has the greater GUID, so that a has yielded. */
	KUNIT_EXPECT_EQ(test, pair->active.events[0], IB_CM_REQ_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->passive.events[0], IB_CM_REP_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.errors, 0);
	KUNIT_EXPECT_EQ(test, pair->passive.errors, 0);
}

/* Returns the number of messages; what becomes of them is @deliver. */
static unsigned int peers_with(struct kunit *test, enum order order, unsigned int at,
			       enum fake_fault (*deliver)(struct fake_net *net, unsigned int number,
							  enum cm_msg_type type))
{
	struct pair *pair = pair_begin(test);
	unsigned int moves;

	give_id(test, &pair->passive, pair->net->b);
	pair->net->deliver = deliver;
	pair->net->deliver_at = at;
	call_each_other(pair, order);
	expect_connected_peers(test, pair);
	moves = pair->net->moves;
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->passive, IB_CM_DREQ_RECEIVED));
	pair_end(pair);
	return moves;
}

static void who_call_each_other_are_connected(struct kunit *test)
{
	/* One REQ at least: the side that yields may not have sent its own; a REP, and an RTU. */
	for (enum order order = 0; order < ORDERS; order++)
		KUNIT_EXPECT_GE(test, peers_with(test, order, 0, NULL), 3);
}

static void any_message_of_peers_may_be_lost(struct kunit *test)
{
	for (enum order order = 0; order < ORDERS; order++)
		for (unsigned int at = 0; at < peers_with(test, order, at, lose_one); at++)
			;
}

static void messages_of_peers_may_come_twice(struct kunit *test)
{
	for (enum order order = 0; order < ORDERS; order++)
		peers_with(test, order, 0, all_twice);
}

static void peer_never_calls(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	KUNIT_ASSERT_EQ(test, call(&pair->active, pair->net->a, pair->net->b), 0);
	fake_net_run(pair->net);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REQ_ERROR);
	/* It may call again, and its peer need not. */
	pair->active.num_events = 0;
	KUNIT_EXPECT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	pair_end(pair);
}

static void listener_answers_a_call(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct sa_path_rec path = fake_path(pair->net->a, pair->net->b);
	struct ib_cm_req_param param = request(&path, FAKE_QPN_A);

	param.service_id = cpu_to_be64(FAKE_SERVICE);
	KUNIT_ASSERT_EQ(test, ib_send_cm_req_peer(pair->active.id, &param), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	EXPECT_EVENTS(test, &pair->active, IB_CM_REP_RECEIVED);
	pair_end(pair);
}

/* In one adapter the QP numbers decide; a call does not meet itself. */
static void two_of_one_adapter_meet(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	give_id(test, &pair->passive, pair->net->a);
	KUNIT_ASSERT_EQ(test, call(&pair->active, pair->net->a, pair->net->a), 0);
	KUNIT_ASSERT_EQ(test, call(&pair->passive, pair->net->a, pair->net->a), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	EXPECT_EVENTS(test, &pair->active, IB_CM_REQ_RECEIVED, IB_CM_RTU_RECEIVED);
	EXPECT_EVENTS(test, &pair->passive, IB_CM_REP_RECEIVED);
	pair_end(pair);
}

static void caller_may_be_destroyed_or_removed(struct kunit *test)
{
	for (int what = 0; what < 8; what++) {
		struct pair *pair = pair_begin(test);
		struct consumer *consumer = what & 1 ? &pair->active : &pair->passive;

		give_id(test, &pair->passive, pair->net->b);
		KUNIT_ASSERT_EQ(test, call(&pair->active, pair->net->a, pair->net->b), 0);
		KUNIT_ASSERT_EQ(test, call(&pair->passive, pair->net->b, pair->net->a), 0);
		if (what & 2)
			fake_net_step(pair->net);
		if (what & 4) {
			fake_net_remove(what & 1 ? pair->net->a : pair->net->b);
		} else {
			ib_destroy_cm_id(consumer->id);
			consumer->id = NULL;
		}
		fake_net_run(pair->net);
		pair_end(pair);
	}
}

/* ---- requests that change hands ---- */

/* What a handler does with requests: passes them on, or refuses them if it cannot. */
static struct {
	u64 to;
	bool mra;
	int ret;
	int again;
	struct ib_cm_id *id;
} giver;

static int give(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	if (event->event != IB_CM_REQ_RECEIVED)
		return 0;
	giver.id = id;
	if (giver.mra)
		ib_send_cm_mra(id, 20, NULL, 0);
	giver.ret = ib_cm_handoff(id, event, cpu_to_be64(giver.to));
	giver.again = ib_cm_handoff(id, event, cpu_to_be64(giver.to));
	if (!giver.ret)
		return 0;
	ib_send_cm_rej(id, IB_CM_REJ_NO_QP, NULL, 0, NULL, 0);
	giver.again = ib_cm_handoff(id, event, cpu_to_be64(FAKE_SERVICE));
	return -ECANCELED;
}

static int connect_to(struct consumer *consumer, u64 service)
{
	struct sa_path_rec path = fake_path(consumer->net->a, consumer->net->b);
	struct ib_cm_req_param param = request(&path, consumer->qpn);

	param.service_id = cpu_to_be64(service);
	return ib_send_cm_req(consumer->id, &param);
}

static struct ib_cm_id *begin_giver(struct pair *pair, u64 to)
{
	struct ib_cm_id *id = ib_create_cm_id(&pair->net->b->ib, give, NULL);

	KUNIT_ASSERT_FALSE(pair->net->test, IS_ERR(id));
	KUNIT_ASSERT_EQ(pair->net->test, ib_cm_listen(id, cpu_to_be64(OTHER_SERVICE)), 0);
	memset(&giver, 0, sizeof(giver));
	giver.to = to;
	return id;
}

static void request_changes_hands(struct kunit *test)
{
	for (int mra = 0; mra < 2; mra++) {
		struct pair *pair = pair_begin(test);
		const struct ib_cm_req_event_param *req = &pair->passive.last.param.req_rcvd;
		struct ib_cm_id *listener = begin_giver(pair, FAKE_SERVICE);

		giver.mra = mra;
		pair->passive.silent = true;
		KUNIT_ASSERT_EQ(test, connect_to(&pair->active, OTHER_SERVICE), 0);
		fake_net_step(pair->net);
		KUNIT_EXPECT_EQ(test, giver.ret, 0);
		KUNIT_EXPECT_EQ(test, giver.again, -EINVAL);
		EXPECT_EVENTS(test, &pair->passive, IB_CM_REQ_RECEIVED);
		KUNIT_ASSERT_PTR_EQ(test, pair->passive.id, giver.id);
		KUNIT_EXPECT_PTR_EQ(test, req->listen_id, pair->listener);
		KUNIT_EXPECT_EQ(test, be64_to_cpu(pair->passive.id->service_id), FAKE_SERVICE);
		KUNIT_EXPECT_EQ(test, req->remote_qpn, FAKE_QPN_A);
		KUNIT_EXPECT_EQ(test, pair->passive.data, 'p');
		/* The consumer that has it now answers. */
		KUNIT_EXPECT_EQ(test, ib_send_cm_rep(pair->passive.id, &(struct ib_cm_rep_param) {
					.qp_num = FAKE_QPN_B }), 0);
		fake_net_run(pair->net);
		KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
		ib_destroy_cm_id(listener);
		pair_end(pair);
	}
}

static void request_that_nobody_wants_stays(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct ib_cm_id *listener = begin_giver(pair, FAKE_SERVICE + 1);

	KUNIT_ASSERT_EQ(test, connect_to(&pair->active, OTHER_SERVICE), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_EQ(test, giver.ret, -ENOENT);
	/* Once it is refused it is no request any more. */
	KUNIT_EXPECT_EQ(test, giver.again, -EINVAL);
	EXPECT_EVENTS(test, &pair->active, IB_CM_REJ_RECEIVED);
	KUNIT_EXPECT_EQ(test, pair->active.last.param.rej_rcvd.reason, IB_CM_REJ_NO_QP);
	KUNIT_EXPECT_EQ(test, pair->passive.num_events, 0);
	ib_destroy_cm_id(listener);
	pair_end(pair);
}

/* ---- receives before the REP ---- */

static void receives_come_before_the_reply(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct fake_node *node = pair->net->b;
	struct ib_qp qp = { .device = &node->ib, .qp_num = FAKE_QPN_B + 1 };
	struct ib_cm_rep_param rep = { .qp_num = FAKE_QPN_B };
	const struct ib_recv_wr wr = {};
	struct ib_srq srq = {};

	pair->passive.silent = true;
	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_step(pair->net);
	KUNIT_ASSERT_NOT_NULL(test, pair->passive.id);
	node->recvs_left = 1;
	KUNIT_EXPECT_EQ(test, ib_send_cm_rep_recv(pair->passive.id, &rep, &qp, &wr, NULL), -EINVAL);
	qp.qp_num = FAKE_QPN_B;
	qp.srq = &srq;
	KUNIT_EXPECT_EQ(test, ib_send_cm_rep_recv(pair->passive.id, &rep, &qp, &wr, NULL), -EINVAL);
	qp.srq = NULL;
	KUNIT_EXPECT_EQ(test, node->recvs_left, 1);
	node->recvs_left = 0;
	KUNIT_EXPECT_EQ(test, ib_send_cm_rep_recv(pair->passive.id, &rep, &qp, &wr, NULL), -ENOMEM);
	KUNIT_EXPECT_EQ(test, consumer_state(&pair->passive), IB_CM_REQ_RCVD);
	KUNIT_EXPECT_NULL(test, fake_net_find(pair->net, CM_MSG_REP));
	node->recvs_left = 2;
	KUNIT_EXPECT_EQ(test, ib_send_cm_rep_recv(pair->passive.id, &rep, &qp, &wr, NULL), 0);
	KUNIT_EXPECT_EQ(test, node->recvs_left, 1);
	KUNIT_EXPECT_NOT_NULL(test, fake_net_find(pair->net, CM_MSG_REP));
	/* A connection that is accepted already gets no receives. */
	KUNIT_EXPECT_EQ(test, ib_send_cm_rep_recv(pair->passive.id, &rep, &qp, &wr, NULL), -EINVAL);
	KUNIT_EXPECT_EQ(test, node->recvs_left, 1);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	pair_end(pair);
}

/* The peer disconnects before the passive side's consumer has brought its QP to RTS. */
static void qp_gets_ready_behind_the_disconnect(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct ib_qp_attr attr = { .qp_state = IB_QPS_RTS };
	int mask;

	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_run(pair->net);
	pair->passive.silent = true;
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), 0);
	fake_net_step(pair->net);
	KUNIT_ASSERT_EQ(test, consumer_state(&pair->passive), IB_CM_DREQ_RCVD);
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->passive.id, &attr, &mask), 0);
	KUNIT_EXPECT_EQ(test, attr.sq_psn, 0x1111);
	KUNIT_EXPECT_EQ(test, mask, IB_QP_STATE | IB_QP_SQ_PSN | IB_QP_RETRY_CNT |
				    IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC | IB_QP_TIMEOUT);
	attr.qp_state = IB_QPS_RTR;
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->passive.id, &attr, &mask), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_send_cm_drep(pair->passive.id, NULL, 0), 0);
	attr.qp_state = IB_QPS_RTS;
	KUNIT_EXPECT_EQ(test, ib_cm_init_qp_attr(pair->passive.id, &attr, &mask), -EINVAL);
	fake_net_run(pair->net);
	pair_end(pair);
}

/* ---- datagram services that are elsewhere ---- */

static struct {
	struct fake_net *net;
	struct ib_class_port_info where;
	unsigned int asked;
	unsigned int answered;
	int followed;
	struct ib_cm_sidr_rep_event_param last;
} sidr;

static int redirects(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	sidr.asked++;
	ib_send_cm_sidr_redirect(id, &sidr.where, "go", 2);
	return -ECANCELED;
}

static int follows(struct ib_cm_id *id, const struct ib_cm_event *event)
{
	struct sa_path_rec path = fake_path(sidr.net->a, sidr.net->b);
	struct ib_cm_sidr_req_param param = {
		.path = &path, .service_id = cpu_to_be64(FAKE_SERVICE), .timeout_ms = 10,
		.max_cm_retries = FAKE_RETRIES,
	};

	sidr.answered++;
	sidr.last = event->param.sidr_rep_rcvd;
	if (sidr.last.status == IB_SIDR_REDIRECT)
		sidr.followed = ib_cm_sidr_follow(id, event, &param);
	else
		sidr.followed = ib_cm_sidr_follow(id, event, &param) == -EINVAL ? 0 : -EIO;
	return 0;
}

static void redirect_to(struct fake_node *node)
{
	__be64 gid[2] = { cpu_to_be64(0xfe80ULL << 48), cpu_to_be64(node->lid) };

	memcpy(sidr.where.redirect_gid, gid, sizeof(gid));
	sidr.where.redirect_lid = cpu_to_be16(node->lid);
	sidr.where.redirect_pkey = cpu_to_be16(IB_DEFAULT_PKEY_FULL);
	sidr.where.redirect_qp = IB_QP1;
	sidr.where.redirect_qkey = cpu_to_be32(IB_QP1_QKEY);
}

/* The question goes to a, which sends it to b. */
static void ask(struct kunit *test, struct pair *pair)
{
	struct sa_path_rec path = fake_path(pair->net->a, pair->net->a);
	struct ib_cm_sidr_req_param param = {
		.path = &path, .service_id = cpu_to_be64(FAKE_SERVICE), .timeout_ms = 10,
		.max_cm_retries = FAKE_RETRIES,
	};
	struct ib_cm_id *listener = ib_create_cm_id(&pair->net->a->ib, redirects, NULL);
	struct ib_cm_id *id = ib_create_cm_id(&pair->net->a->ib, follows, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(listener));
	KUNIT_ASSERT_FALSE(test, IS_ERR(id));
	KUNIT_ASSERT_EQ(test, ib_cm_listen(listener, cpu_to_be64(FAKE_SERVICE)), 0);
	KUNIT_ASSERT_EQ(test, ib_send_cm_sidr_req(id, &param), 0);
	fake_net_run(pair->net);
	ib_destroy_cm_id(id);
	ib_destroy_cm_id(listener);
}

static void question_is_sent_on(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	memset(&sidr, 0, sizeof(sidr));
	sidr.net = pair->net;
	redirect_to(pair->net->b);
	ask(test, pair);
	KUNIT_EXPECT_EQ(test, sidr.asked, 1);
	KUNIT_EXPECT_EQ(test, sidr.answered, 2);
	KUNIT_EXPECT_EQ(test, sidr.followed, 0);
	KUNIT_EXPECT_EQ(test, sidr.last.status, IB_SIDR_SUCCESS);
	KUNIT_EXPECT_EQ(test, sidr.last.qpn, FAKE_QPN_B);
	EXPECT_EVENTS(test, &pair->passive, IB_CM_SIDR_REQ_RECEIVED);
	pair_end(pair);
}

static void question_is_sent_nowhere(struct kunit *test)
{
	for (int what = 0; what < 3; what++) {
		struct pair *pair = pair_begin(test);

		memset(&sidr, 0, sizeof(sidr));
		sidr.net = pair->net;
		redirect_to(pair->net->b);
		if (what == 0)
			sidr.where.redirect_lid = 0;
		else if (what == 1)
			sidr.where.redirect_qkey = cpu_to_be32(7);
		else
			sidr.where.redirect_pkey = cpu_to_be16(0x8007);
		ask(test, pair);
		KUNIT_EXPECT_EQ(test, sidr.answered, 1);
		KUNIT_EXPECT_EQ(test, sidr.followed, what == 2 ? -ENOENT : -EHOSTUNREACH);
		pair_end(pair);
	}
}

static struct kunit_case ext_cases[] = {
	KUNIT_CASE(who_call_each_other_are_connected),
	KUNIT_CASE_SLOW(any_message_of_peers_may_be_lost),
	KUNIT_CASE(messages_of_peers_may_come_twice),
	KUNIT_CASE(peer_never_calls),
	KUNIT_CASE(listener_answers_a_call),
	KUNIT_CASE(two_of_one_adapter_meet),
	KUNIT_CASE_SLOW(caller_may_be_destroyed_or_removed),
	KUNIT_CASE(request_changes_hands),
	KUNIT_CASE(request_that_nobody_wants_stays),
	KUNIT_CASE(receives_come_before_the_reply),
	KUNIT_CASE(qp_gets_ready_behind_the_disconnect),
	KUNIT_CASE(question_is_sent_on),
	KUNIT_CASE(question_is_sent_nowhere),
	{}
};

static struct kunit_suite ext_suite = {
	.name = "ib_cm_ext",
	.suite_init = rdma_kunit_again,
	.test_cases = ext_cases,
};

kunit_test_suite(ext_suite);
