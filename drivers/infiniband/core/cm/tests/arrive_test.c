// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: messages whose senders mean no good, or that arrive at a bad time.
 */
#include <linux/cleanup.h>
#include <rdma/kunit.h>

#include "../timing.h"
#include "fake_net.h"

#define STRANGER_ID	77
#define STRANGER_GUID	0x57a
#define STRANGER_QPN	0x300

/* ---- when ---- */

static const struct cm_msg nobodys = {
	.type = CM_MSG_DREQ, .local_id = STRANGER_ID, .remote_id = 0xdead,
};

static void message_before_the_agent(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test);

	net->early = &nobodys;
	fake_net_renew_a(net);
	net->early = NULL;
	KUNIT_EXPECT_EQ(test, net->recvs, 0);
	KUNIT_EXPECT_EQ(test, fake_net_mads(net), 0);
	fake_net_inject(net->a, FAKE_LID_B, &nobodys);
	KUNIT_EXPECT_NOT_NULL(test, fake_net_find(net, CM_MSG_DREP));
	fake_net_run(net);
	fake_net_end(net);
}

/* Messages that come while the device goes, one whenever something has ended. */
static atomic_t flood;

static void one_more(struct fake_node *node)
{
	if (atomic_dec_if_positive(&flood) >= 0)
		fake_net_arrive(node, FAKE_LID_A, &nobodys);
}

static void flood_does_not_keep_a_device(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct fake_node *node = pair->net->b;
	int made;

	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_run(pair->net);
	KUNIT_ASSERT_TRUE(test, pair_is_connected(pair));
	made = atomic_read(&node->ahs_made);
	atomic_set(&flood, 3);
	node->on_ah_gone = one_more;
	fake_net_remove(node);
	KUNIT_EXPECT_LT(test, atomic_read(&flood), 3);
	KUNIT_EXPECT_EQ(test, atomic_read(&node->ahs_made), made);
	pair_end(pair);
}

/* ---- from where ---- */

/**
 * struct wait - the search for neighbours that do not answer
 * @receiver: the task by which messages arrive
 * @work: work that has to go on, too, or NULL
 * @stalls: searches for which one of these would have waited
 * @begun: a search has begun
 * @over: the search is over
 */
static struct wait {
	struct task_struct *receiver;
	struct work_struct *work;
	atomic_t stalls;
	struct completion begun;
	struct completion over;
} wait;

static void search(struct fake_node *node)
{
	complete_all(&wait.begun);
	if (current == wait.receiver || current_work() == wait.work)
		atomic_inc(&wait.stalls);
	else
		wait_for_completion(&wait.over);
}

static void begin_search(struct fake_node *node, struct work_struct *work)
{
	wait = (struct wait) { .receiver = current, .work = work };
	init_completion(&wait.begun);
	init_completion(&wait.over);
	node->on_ah_made = search;
}

static int received(struct fake_net *net)
{
	guard(spinlock_irqsave)(&net->lock);
	return net->recvs;
}

/* What nobody answers */
static const struct cm_msg refusal = {
	.type = CM_MSG_REJ, .local_id = STRANGER_ID, .remote_id = 0xdead,
};

/* Who receives does not handle, however long that takes; so much waits, and no more. */
static void receiving_handles_nothing(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test);

	begin_search(net->b, NULL);
	fake_net_arrive(net->b, FAKE_LID_A, &nobodys);
	wait_for_completion(&wait.begun);
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.stalls), 0);
	fake_net_arrive(net->b, FAKE_LID_A, &refusal);
	KUNIT_EXPECT_EQ(test, received(net), 2);
	complete_all(&wait.over);
	fake_net_run(net);
	KUNIT_EXPECT_EQ(test, received(net), 0);
	fake_net_end(net);
}

static void only_so_many_wait(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test);

	begin_search(net->b, NULL);
	fake_net_arrive(net->b, FAKE_LID_A, &nobodys);
	wait_for_completion(&wait.begun);
	for (int i = 0; i < CM_ARRIVED_MAX + 3; i++)
		fake_net_arrive(net->b, FAKE_LID_A, &refusal);
	KUNIT_EXPECT_EQ(test, received(net), 1 + CM_ARRIVED_MAX);
	complete_all(&wait.over);
	fake_net_run(net);
	KUNIT_EXPECT_EQ(test, received(net), 0);
	/* There is room again. */
	fake_net_inject(net->b, FAKE_LID_A, &nobodys);
	KUNIT_EXPECT_NOT_NULL(test, fake_net_find(net, CM_MSG_DREP));
	fake_net_run(net);
	fake_net_end(net);
}

static void unknown_sender_stalls_nobody(struct kunit *test)
{
	struct fake_net *net = fake_net_begin(test);
	struct cm_port *port;

	port = net->b->agent->context;
	begin_search(net->b, &port->work);
	net->b->nobody_is_known = true;
	for (int i = 0; i < CM_LATE_MAX + 3; i++)
		fake_net_arrive(net->b, FAKE_LID_A, &nobodys);
	while (flush_work(&port->work))
		;
	KUNIT_EXPECT_EQ(test, atomic_read(&wait.stalls), 0);
	/* No more of them wait. */
	KUNIT_EXPECT_EQ(test, received(net), CM_LATE_MAX);
	complete_all(&wait.over);
	fake_net_settle(net);
	KUNIT_EXPECT_EQ(test, received(net), 0);
	KUNIT_EXPECT_EQ(test, fake_net_mads(net), CM_LATE_MAX);
	fake_net_run(net);
	/* There is room again. */
	fake_net_inject(net->b, FAKE_LID_A, &nobodys);
	KUNIT_EXPECT_EQ(test, fake_net_mads(net), 1);
	fake_net_run(net);
	fake_net_end(net);
}

static void unknown_senders_connect(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->net->a->nobody_is_known = true;
	pair->net->b->nobody_is_known = true;
	KUNIT_ASSERT_EQ(test, consumer_connect(&pair->active), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, pair_is_connected(pair));
	KUNIT_EXPECT_EQ(test, ib_send_cm_dreq(pair->active.id, NULL, 0), 0);
	fake_net_run(pair->net);
	KUNIT_EXPECT_TRUE(test, consumer_heard(&pair->active, IB_CM_DREP_RECEIVED));
	pair_end(pair);
}

/* ---- in whose name ---- */

/* A stranger asks for the service. Its path takes as long as a message can say. */
static void stranger_asks(struct pair *pair, u32 local_id, u32 qpn)
{
	struct sa_path_rec path = fake_path(pair->net->a, pair->net->b);
	struct cm_msg msg = {
		.type = CM_MSG_REQ, .local_id = local_id, .tid = 1,
		.req.service_id = FAKE_SERVICE, .req.ca_guid = STRANGER_GUID, .req.qpn = qpn,
		.req.pkey = IB_DEFAULT_PKEY_FULL, .req.mtu = IB_MTU_1024,
		.req.local_response_timeout = 18, .req.remote_response_timeout = 18,
	};

	path.packet_life_time = CM_TIME_MAX - 1;
	cm_path_of_rec(&path, &msg.req.primary, 0);
	fake_net_inject(pair->net->b, FAKE_LID_A, &msg);
}

/* It answers the passive consumer. */
static void stranger_says(struct pair *pair, struct cm_msg msg)
{
	msg.local_id = STRANGER_ID;
	msg.remote_id = be32_to_cpu(pair->passive.id->local_id);
	fake_net_inject(pair->net->b, FAKE_LID_A, &msg);
}

/* A stranger's connection ends, and its TIMEWAIT lasts as long as the test. */
static struct ib_cm_id *stranger_leaves(struct pair *pair)
{
	struct kunit *test = pair->net->test;
	struct ib_cm_id *id = pair->passive.id;
	struct cm_remote *waiting;

	stranger_says(pair, (struct cm_msg) { .type = CM_MSG_RTU });
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(id, NULL, 0), 0);
	stranger_says(pair, (struct cm_msg) { .type = CM_MSG_DREP });
	waiting = to_cm_id(id)->waiting;
	KUNIT_ASSERT_NOT_NULL(test, waiting);
	mod_delayed_work(cm_wq, &waiting->work, 3600 * HZ);
	pair->passive.id = NULL;
	pair->passive.num_events = 0;
	return id;
}

/* The peer has brought the path, but does not choose how long its QP stays taken. */
static void peer_chooses_no_long_timewait(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct cm_remote *waiting;

	stranger_asks(pair, STRANGER_ID, STRANGER_QPN);
	KUNIT_ASSERT_EQ(test, consumer_state(&pair->passive), IB_CM_REP_SENT);
	stranger_says(pair, (struct cm_msg) { .type = CM_MSG_RTU });
	KUNIT_ASSERT_EQ(test, ib_send_cm_dreq(pair->passive.id, NULL, 0), 0);
	stranger_says(pair, (struct cm_msg) { .type = CM_MSG_DREP });
	KUNIT_ASSERT_EQ(test, consumer_state(&pair->passive), IB_CM_TIMEWAIT);
	waiting = to_cm_id(pair->passive.id)->waiting;
	KUNIT_ASSERT_NOT_NULL(test, waiting);
	KUNIT_EXPECT_TRUE(test, time_before(waiting->work.timer.expires, jiffies + 5 * HZ));
	/* The time is over at once, so that nothing is left for others. */
	mod_delayed_work(cm_wq, &waiting->work, 0);
	fake_net_settle(pair->net);
	KUNIT_EXPECT_EQ(test, consumer_state(&pair->passive), IB_CM_IDLE);
	pair_end(pair);
}

/* The peer may have destroyed the QP, and its number is that of another. */
static void peer_qp_is_free_in_timewait(struct kunit *test)
{
	struct pair *pair = pair_begin(test);
	struct ib_cm_id *old;

	stranger_asks(pair, STRANGER_ID, STRANGER_QPN);
	old = stranger_leaves(pair);
	/* The first request once more: it does not connect again. */
	stranger_asks(pair, STRANGER_ID, STRANGER_QPN);
	KUNIT_EXPECT_EQ(test, pair->passive.num_events, 0);
	KUNIT_EXPECT_NOT_NULL(test, fake_net_find(pair->net, CM_MSG_REJ));
	stranger_asks(pair, STRANGER_ID + 1, STRANGER_QPN);
	KUNIT_EXPECT_EQ(test, pair->passive.num_events, 1);
	KUNIT_EXPECT_EQ(test, to_cm_id(old)->ib.state, IB_CM_TIMEWAIT);
	ib_destroy_cm_id(old);
	pair_end(pair);
}

/* The message that tells the peer the end, and whether its QP could be connected again then. */
static enum cm_msg_type last_message;
static bool free_when_told;

static void look_at_qp(struct fake_net *net, enum cm_msg_type type)
{
	/* Of this, look-ups may know longer than the function lasts. */
	static struct cm_remote next;
	u32 other;

	if (type != last_message)
		return;
	free_when_told = cm_remote_bind(&next, STRANGER_GUID, STRANGER_ID + 1, STRANGER_QPN,
					&other) == CM_BOUND;
	cm_remote_unbind(&next);
}

/* A peer that has got the last message is not told that its QP is taken. */
static void peer_qp_is_free_when_told(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	pair->net->on_posted = look_at_qp;
	last_message = CM_MSG_REJ;
	free_when_told = false;
	pair->passive.rej = IB_CM_REJ_CONSUMER_DEFINED;
	stranger_asks(pair, STRANGER_ID, STRANGER_QPN);
	KUNIT_EXPECT_TRUE(test, free_when_told);
	ib_destroy_cm_id(pair->passive.id);
	pair->passive.id = NULL;

	last_message = CM_MSG_DREP;
	free_when_told = false;
	pair->passive.rej = 0;
	stranger_asks(pair, STRANGER_ID, STRANGER_QPN);
	stranger_says(pair, (struct cm_msg) { .type = CM_MSG_RTU });
	stranger_says(pair, (struct cm_msg) {
		.type = CM_MSG_DREQ, .dreq.remote_qpn = FAKE_QPN_B,
	});
	KUNIT_EXPECT_TRUE(test, free_when_told);
	pair->net->on_posted = NULL;
	pair_end(pair);
}

/* With the id all ends that is known of its peer. */
static void peer_id_is_free_without_the_id(struct kunit *test)
{
	struct pair *pair = pair_begin(test);

	stranger_asks(pair, STRANGER_ID, STRANGER_QPN);
	ib_destroy_cm_id(stranger_leaves(pair));
	stranger_asks(pair, STRANGER_ID, STRANGER_QPN);
	KUNIT_EXPECT_EQ(test, pair->passive.num_events, 1);
	pair_end(pair);
}

static struct kunit_case arrive_cases[] = {
	KUNIT_CASE(message_before_the_agent),
	KUNIT_CASE(flood_does_not_keep_a_device),
	KUNIT_CASE(receiving_handles_nothing),
	KUNIT_CASE_SLOW(only_so_many_wait),
	KUNIT_CASE(unknown_sender_stalls_nobody),
	KUNIT_CASE(unknown_senders_connect),
	KUNIT_CASE(peer_chooses_no_long_timewait),
	KUNIT_CASE(peer_qp_is_free_in_timewait),
	KUNIT_CASE(peer_qp_is_free_when_told),
	KUNIT_CASE(peer_id_is_free_without_the_id),
	{}
};

static struct kunit_suite arrive_suite = {
	.name = "ib_cm_arrive",
	.suite_init = rdma_kunit_again,
	.test_cases = arrive_cases,
};

kunit_test_suite(arrive_suite);
