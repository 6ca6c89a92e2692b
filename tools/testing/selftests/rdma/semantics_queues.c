// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queues: what completes and what does not, arming, events, resizing, overflow. */
#include <errno.h>

#include "semantics.h"

/* ---- send and receive queues ---- */

/* Unsignaled requests complete with the next signaled one, and free their places then. */
static void unsignaled(long arg)
{
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	for (unsigned int round = 0; round < 5; round++) {
		for (unsigned int i = 0; i < DEPTH; i++)
			IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = i, .len = 8, .to = &p.b,
				   .quiet = i < DEPTH - 1));
		WC(p.a.scq, DEPTH - 1, SUCCESS);
		NO_WC(p.a.scq);
	}
}

/* With sq_sig_all every request completes. */
static void all_signaled(long arg)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .sq_sig_all = 1,
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
	};
	struct opts o = { 0 };
	struct pair p;

	(void)arg;
	p.a = make_end(&hca[0], &o, NULL);
	p.b = make_end(&hca[0], &o, NULL);
	IS(0, end_of(p.a.qp));
	init.send_cq = p.a.scq;
	init.recv_cq = p.a.rcq;
	p.a.qp = ibv_create_qp(p.a.h->pd, &init);
	IS(true, !!p.a.qp);
	bring(&p.a, &p.b, &o);
	bring(&p.b, &p.a, &o);
	for (unsigned int i = 0; i < 3; i++)
		IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = i, .len = 8, .to = &p.b,
			   .quiet = true));
	for (unsigned int i = 0; i < 3; i++)
		WC(p.a.scq, i, SUCCESS);
	IS(0, ibv_destroy_qp(p.a.qp));
}

/* A queue takes exactly as many requests as its creation has returned. */
static void full(long recvs)
{
	struct ibv_qp_init_attr init;
	unsigned int i, room;
	struct ibv_qp_attr attr;
	struct pair p;

	PAIR(&p, 0);
	IS(0, ibv_query_qp(p.a.qp, &attr, IBV_QP_CAP, &init));
	if (recvs) {
		room = init.cap.max_recv_wr;
		for (i = 0; i < room; i++)
			RECV(&p.a, i, 8);
		IS(ENOMEM, post_recv(&p.a, 99, 0, 8, 0));
		IS(0, POST(&p.b, .op = IBV_WR_SEND, .id = 1, .len = 8));
		WC(p.b.scq, 1, SUCCESS);
		/* there is room once the completion was polled */
		IS(ENOMEM, post_recv(&p.a, 99, 0, 8, 0));
		WC(p.a.rcq, 0, SUCCESS);
		RECV(&p.a, 99, 8);
		return;
	}
	IS(0, go(p.a.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_SQD, 0));
	for (i = 0; !POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = i, .len = 8, .to = &p.b); i++)
		IS(1, i < 100 * DEPTH);
	IS(ENOMEM, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 99, .len = 8, .to = &p.b));
	IS(1, i >= DEPTH);
	IS(1, i >= init.cap.max_send_wr);
	IS(0, end_of(p.a.qp));
}

/* ---- arming ---- */

struct armed {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
	struct pair p;
};

static void arm_up(struct armed *t)
{
	struct opts o = { 0 };

	t->p.a = make_end(&hca[0], &o, NULL);
	t->p.b = make_end(&hca[0], &o, NULL);
	t->channel = make_channel(&hca[0]);
	t->cq = make_cq(&hca[0], 64, t->channel);
	IS(0, end_of(t->p.b.qp));
	t->p.b.rcq = t->cq;
	t->p.b.qp = make_qp(&t->p.b, &o, NULL);
	bring(&t->p.a, &t->p.b, &o);
	bring(&t->p.b, &t->p.a, &o);
}

/* Sends a message to the armed CQ and waits until it has arrived. */
static void deliver(struct armed *t, unsigned int flags)
{
	RECV(&t->p.b, 21, 64);
	IS(0, POST(&t->p.a, .op = IBV_WR_SEND, .id = 1, .len = 8, .flags = flags));
	WC(t->p.a.scq, 1, SUCCESS);
}

/* Events are in order: one for another CQ of the channel shows that none came before. */
static void no_cq_event(struct armed *t)
{
	struct ibv_cq *other = make_cq(&hca[0], 4, t->channel);
	struct opts o = { 0 };
	struct end e = t->p.a;

	e.scq = other;
	e.rcq = other;
	e.qp = make_qp(&e, &o, NULL);
	IS(0, ibv_req_notify_cq(other, 0));
	o.state = IBV_QPS_INIT;
	bring(&e, &e, &o);
	RECV(&e, 31, 8);
	IS(0, go(e.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_ERR, 0));
	WC(other, 31, WR_FLUSH_ERR);
	cq_event(t->channel, other);
	IS(0, end_of(e.qp));
	IS(0, end_of(other));
}

enum arming { NOT_ARMED, ONCE, SOLICITED, SOLICITED_GETS_ONE, ERRORS_COUNT, NOT_TAKEN_BACK, WIDENED,
	      FIRED_IS_OVER, OLD_ENTRIES };

static void arming(long what)
{
	struct armed t;

	arm_up(&t);
	switch (what) {
	case NOT_ARMED:
		deliver(&t, IBV_SEND_SOLICITED);
		no_cq_event(&t);
		break;
	case ONCE:
		IS(0, ibv_req_notify_cq(t.cq, 0));
		deliver(&t, 0);
		cq_event(t.channel, t.cq);
		deliver(&t, 0);
		no_cq_event(&t);
		break;
	case SOLICITED:
		IS(0, ibv_req_notify_cq(t.cq, 1));
		deliver(&t, 0);
		no_cq_event(&t);
		deliver(&t, IBV_SEND_SOLICITED);
		cq_event(t.channel, t.cq);
		break;
	case SOLICITED_GETS_ONE:
		IS(0, ibv_req_notify_cq(t.cq, 1));
		deliver(&t, IBV_SEND_SOLICITED);
		cq_event(t.channel, t.cq);
		deliver(&t, IBV_SEND_SOLICITED);
		no_cq_event(&t);
		break;
	case ERRORS_COUNT:
		IS(0, ibv_req_notify_cq(t.cq, 1));
		RECV(&t.p.b, 22, 8);
		IS(0, go(t.p.b.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_ERR, 0));
		cq_event(t.channel, t.cq);
		WC(t.cq, 22, WR_FLUSH_ERR);
		break;
	case NOT_TAKEN_BACK:
		IS(0, ibv_req_notify_cq(t.cq, 0));
		IS(0, ibv_req_notify_cq(t.cq, 1));
		deliver(&t, 0);
		cq_event(t.channel, t.cq);
		break;
	case WIDENED:
		IS(0, ibv_req_notify_cq(t.cq, 1));
		IS(0, ibv_req_notify_cq(t.cq, 0));
		deliver(&t, 0);
		cq_event(t.channel, t.cq);
		break;
	case FIRED_IS_OVER:
		/* the event was raised, and was not read */
		IS(0, ibv_req_notify_cq(t.cq, 0));
		deliver(&t, 0);
		cq_event_waits(t.channel);
		IS(0, ibv_req_notify_cq(t.cq, 1));
		deliver(&t, 0);
		cq_event(t.channel, t.cq);
		no_cq_event(&t);
		deliver(&t, IBV_SEND_SOLICITED);
		cq_event(t.channel, t.cq);
		break;
	default:
		/* entries from before the arming raise nothing */
		deliver(&t, 0);
		IS(0, ibv_req_notify_cq(t.cq, 0));
		no_cq_event(&t);
		deliver(&t, 0);
		cq_event(t.channel, t.cq);
		break;
	}
	IS(0, end_of(t.p.a.qp));
	IS(0, end_of(t.p.b.qp));
}

/* ---- resizing and overflow ---- */

static void resize(long arg)
{
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	for (unsigned int i = 0; i < 10; i++)
		IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = i, .len = 8, .to = &p.b));
	/* all ten are there when the peer has received the message behind them */
	RECV(&p.b, 21, 8);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 10, .len = 8, .quiet = true));
	WC(p.b.rcq, 21, SUCCESS);
	IS(0, go(p.a.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_SQD, 0));
	while (state_of(p.a.qp) != IBV_QPS_SQD)
		;
	IS(0, ibv_resize_cq(p.a.scq, 300));
	IS(1, p.a.scq->cqe >= 300);
	for (unsigned int i = 0; i < 3; i++)
		WC(p.a.scq, i, SUCCESS);
	/* seven are left: no room for them in four */
	IS(EINVAL, ibv_resize_cq(p.a.scq, 4));
	IS(1, p.a.scq->cqe >= 300);
	IS(0, ibv_resize_cq(p.a.scq, 8));
	for (unsigned int i = 3; i < 10; i++)
		WC(p.a.scq, i, SUCCESS);
	NO_WC(p.a.scq);
	IS(EINVAL, ibv_resize_cq(p.a.scq, p.a.h->attr.max_cqe + 1));
}

/* One entry too many: the CQ fails, and so do the QPs that complete there. */
static void overflow(long arg)
{
	struct opts o = { 0 };
	struct ibv_cq *small = make_cq(&hca[0], 4, NULL);
	struct pair p;

	(void)arg;
	p.a = make_end(&hca[0], &o, NULL);
	p.b = make_end(&hca[0], &o, NULL);
	IS(0, end_of(p.a.qp));
	p.a.scq = small;
	p.a.qp = make_qp(&p.a, &o, NULL);
	bring(&p.a, &p.b, &o);
	bring(&p.b, &p.a, &o);
	for (unsigned int i = 0; i <= (unsigned int)small->cqe; i++)
		IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = i, .len = 8, .to = &p.b));
	EVENT(&hca[0], CQ_ERR, small);
	EVENT(&hca[0], QP_FATAL, p.a.qp);
	IS(IBV_QPS_ERR, state_of(p.a.qp));
	/* the entries from before are still there */
	for (unsigned int i = 0; i < (unsigned int)small->cqe; i++)
		WC(small, i, SUCCESS);
	NO_WC(small);
	IS(0, end_of(p.a.qp));
	IS(0, end_of(small));
}

/* Each exactly full, repeatedly: that is no overflow. */
static void exactly_full(long arg)
{
	struct opts o = { 0 };
	struct ibv_cq *small = make_cq(&hca[0], 4, NULL);
	struct pair p;

	(void)arg;
	p.a = make_end(&hca[0], &o, NULL);
	p.b = make_end(&hca[0], &o, NULL);
	IS(0, end_of(p.a.qp));
	p.a.scq = small;
	p.a.qp = make_qp(&p.a, &o, NULL);
	bring(&p.a, &p.b, &o);
	bring(&p.b, &p.a, &o);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < small->cqe; i++)
			IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = i, .len = 8, .to = &p.b));
		for (int i = 0; i < small->cqe; i++)
			WC(small, i, SUCCESS);
	}
	IS(IBV_QPS_RTS, state_of(p.a.qp));
	IS(0, end_of(p.a.qp));
}

/* Destroying a QP removes its completions; those of others stay. */
static void purged(long arg)
{
	struct opts o = { 0 };
	struct end e, f;

	(void)arg;
	e = make_end(&hca[0], &o, NULL);
	f = e;
	f.qp = make_qp(&f, &o, NULL);
	bring(&e, &e, &o);
	bring(&f, &f, &o);
	RECV(&e, 1, 8);
	RECV(&f, 2, 8);
	RECV(&e, 3, 8);
	IS(0, go(f.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_ERR, 0));
	RECV(&f, 4, 8);
	IS(0, go(e.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_ERR, 0));
	IS(IBV_QPS_ERR, state_of(e.qp));
	IS(0, end_of(f.qp));
	WC(e.rcq, 1, WR_FLUSH_ERR);
	WC(e.rcq, 3, WR_FLUSH_ERR);
	NO_WC(e.rcq);
}

static const struct test tests[] = {
	{ "requests that are not signaled", unsignaled, 0 },
	{ "sq_sig_all", all_signaled, 0 },
	{ "a send queue that is full", full, 0 },
	{ "a receive queue that is full", full, 1 },
	{ "arming: not armed", arming, NOT_ARMED },
	{ "arming: once", arming, ONCE },
	{ "arming: solicited", arming, SOLICITED },
	{ "arming: solicited, once", arming, SOLICITED_GETS_ONE },
	{ "arming: errors are solicited", arming, ERRORS_COUNT },
	{ "arming: solicited takes nothing back", arming, NOT_TAKEN_BACK },
	{ "arming: for all behind solicited", arming, WIDENED },
	{ "arming: an event that nobody has read is over", arming, FIRED_IS_OVER },
	{ "arming: entries that are there", arming, OLD_ENTRIES },
	{ "a CQ is resized", resize, 0 },
	{ "a CQ overflows", overflow, 0 },
	{ "a CQ is exactly full", exactly_full, 0 },
	{ "completions of a QP that goes", purged, 0 },
};

const struct suite queues_suite = SUITE(tests);
