// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* QPs in their states, the valid values of attributes, and the order of destruction. */
#include <errno.h>
#include <string.h>

#include "semantics.h"

/* ---- posting ---- */

static void post_in(long state)
{
	const bool sends = state == IBV_QPS_RTS || state == IBV_QPS_SQD || state == IBV_QPS_ERR;
	struct opts o = { .state = IBV_QPS_INIT };
	struct end e = make_end(&hca[0], &o, NULL);

	if (state != IBV_QPS_RESET) {
		o.state = state > IBV_QPS_RTS ? IBV_QPS_RTS : state;
		bring(&e, &e, &o);
	}
	if (state > IBV_QPS_RTS)
		IS(0, go(e.qp, (struct ibv_qp_attr) { 0 }, state, 0));
	IS(state == IBV_QPS_RESET ? EINVAL : 0, post_recv(&e, 11, 32768, 64, 0));
	IS(sends ? 0 : EINVAL, POST(&e, .op = IBV_WR_SEND, .id = 1, .len = 8));
	if (state == IBV_QPS_RTS) {
		WC(e.scq, 1, SUCCESS);
		WC(e.rcq, 11, SUCCESS);
	} else if (state == IBV_QPS_ERR) {
		WC(e.scq, 1, WR_FLUSH_ERR);
		WC(e.rcq, 11, WR_FLUSH_ERR);
	} else if (state == IBV_QPS_SQD) {
		IS(0, go(e.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_RTS, 0));
		WC(e.scq, 1, SUCCESS);
		WC(e.rcq, 11, SUCCESS);
	}
	NO_WC(e.scq);
	NO_WC(e.rcq);
}

/* RESET forgets requests that were posted and completions that were not polled. */
static void reset_forgets(long arg)
{
	struct opts o = { 0 };
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	RECV(&p.b, 11, 64);
	RECV(&p.b, 12, 64);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8));
	WC(p.a.scq, 1, SUCCESS);
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 2, .len = 8, .to = &p.b));
	IS(0, go(p.a.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_RESET, 0));
	IS(0, go(p.b.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_RESET, 0));
	NO_WC(p.a.scq);
	NO_WC(p.b.rcq);
	bring(&p.a, &p.b, &o);
	bring(&p.b, &p.a, &o);
	RECV(&p.b, 13, 64);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 2, .len = 8));
	WC(p.a.scq, 2, SUCCESS);
	WC(p.b.rcq, 13, SUCCESS);
}

/* A QP is put into the error state: first its sends, then its receives, each in order. */
static void err_flushes_in_order(long arg)
{
	struct opts o = { .state = IBV_QPS_RTS };
	struct end e = make_end(&hca[0], &o, NULL);

	(void)arg;
	/* in one CQ, so that the order can be seen */
	IS(0, end_of(e.qp));
	e.rcq = e.scq;
	e.qp = make_qp(&e, &o, NULL);
	bring(&e, &e, &o);
	IS(0, go(e.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_SQD, 0));
	for (unsigned int i = 0; i < 5; i++) {
		RECV(&e, 20 + i, 64);
		IS(0, POST(&e, .op = IBV_WR_SEND, .id = i, .len = 8, .quiet = i & 1));
	}
	IS(0, go(e.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_ERR, 0));
	for (unsigned int i = 0; i < 5; i++)
		WC(e.scq, i, WR_FLUSH_ERR);
	for (unsigned int i = 0; i < 5; i++)
		WC(e.scq, 20 + i, WR_FLUSH_ERR);
	IS(0, POST(&e, .op = IBV_WR_SEND, .id = 7, .len = 8, .quiet = true));
	WC(e.scq, 7, WR_FLUSH_ERR);
	RECV(&e, 27, 64);
	WC(e.scq, 27, WR_FLUSH_ERR);
	NO_WC(e.scq);
}

/* ---- attributes ---- */

static void query_tells_what_was_set(long arg)
{
	struct opts o = {
		.access = IBV_ACCESS_REMOTE_WRITE, .rd = 3, .dest_rd = 2, .timeout = 13,
		.retry = 5, .rnr_retry = 4, .min_rnr = 9,
	};
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;
	struct pair p;

	(void)arg;
	pair_up(&p, &o);
	IS(0, ibv_query_qp(p.a.qp, &attr, 0x1fffff, &init));
	IS(IBV_QPS_RTS, attr.qp_state);
	IS(IBV_MTU_1024, attr.path_mtu);
	IS(IBV_MIG_MIGRATED, attr.path_mig_state);
	IS(p.b.qp->qp_num, attr.dest_qp_num);
	IS(IBV_ACCESS_REMOTE_WRITE, attr.qp_access_flags);
	IS(p.b.h->port.lid, attr.ah_attr.dlid);
	IS(1, attr.port_num);
	IS(3, attr.max_rd_atomic);
	IS(2, attr.max_dest_rd_atomic);
	IS(13, attr.timeout);
	IS(5, attr.retry_cnt);
	IS(4, attr.rnr_retry);
	IS(9, attr.min_rnr_timer);
	IS(0, attr.sq_draining);
	IS(IBV_QPT_RC, init.qp_type);
	IS(1, init.cap.max_send_wr >= DEPTH && init.cap.max_recv_wr >= DEPTH);
	IS(1, init.send_cq == p.a.scq && init.recv_cq == p.a.rcq);
}

/* Invalid values; the QP keeps its state. */
static void values(long arg)
{
	struct opts o = { .state = IBV_QPS_INIT };
	struct end e = make_end(&hca[0], &o, NULL);
	struct ibv_qp_attr attr;

	(void)arg;
	for (unsigned int i = 0; i < 3; i++) {
		attr = path_attr(&e, &e, &o);
		if (i == 0)
			attr.port_num = 0;
		else if (i == 1)
			attr.port_num = e.h->attr.phys_port_cnt + 1;
		else
			attr.pkey_index = 0xfff0;
		IS(EINVAL, go(e.qp, attr, IBV_QPS_INIT, mask_of(IBV_QPT_RC, IBV_QPS_INIT)));
		IS(IBV_QPS_RESET, state_of(e.qp));
	}
	bring(&e, &e, &o);
	for (unsigned int i = 0; i < 5; i++) {
		attr = path_attr(&e, &e, &o);
		if (i == 0)
			attr.path_mtu = 0;
		else if (i == 1)
			attr.path_mtu = IBV_MTU_4096 + 1;
		else if (i == 2)
			attr.max_dest_rd_atomic = e.h->attr.max_qp_rd_atom + 1;
		else if (i == 3)
			attr.min_rnr_timer = 32;
		else
			attr.ah_attr.port_num = 77;
		IS(EINVAL, go(e.qp, attr, IBV_QPS_RTR, mask_of(IBV_QPT_RC, IBV_QPS_RTR)));
		IS(IBV_QPS_INIT, state_of(e.qp));
	}
	attr = path_attr(&e, &e, &o);
	IS(0, go(e.qp, attr, IBV_QPS_RTR, mask_of(IBV_QPT_RC, IBV_QPS_RTR)));
	for (unsigned int i = 0; i < 4; i++) {
		attr = path_attr(&e, &e, &o);
		if (i == 0)
			attr.timeout = 32;
		else if (i == 1)
			attr.retry_cnt = 8;
		else if (i == 2)
			attr.rnr_retry = 8;
		else
			attr.max_rd_atomic = e.h->attr.max_qp_init_rd_atom + 1;
		IS(EINVAL, go(e.qp, attr, IBV_QPS_RTS, mask_of(IBV_QPT_RC, IBV_QPS_RTS)));
		IS(IBV_QPS_RTR, state_of(e.qp));
	}
}

/* A wrong current state is refused: the program has lost track of its QP. */
static void current_state(long arg)
{
	struct ibv_qp_attr attr = { .cur_qp_state = IBV_QPS_SQD };
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	IS(IBV_DEVICE_CURR_QP_STATE_MOD,
	   p.a.h->attr.device_cap_flags & IBV_DEVICE_CURR_QP_STATE_MOD);
	IS(EINVAL, go(p.a.qp, attr, IBV_QPS_RTS, IBV_QP_CUR_STATE));
	IS(IBV_QPS_RTS, state_of(p.a.qp));
	attr.cur_qp_state = IBV_QPS_RTS;
	IS(0, go(p.a.qp, attr, IBV_QPS_RTS, IBV_QP_CUR_STATE));
	round_trip(&p);
}

/* Regions and QPs share a mask of rights; a QP refuses the local ones. */
static void rights_of_regions(long arg)
{
	struct opts o = { .state = IBV_QPS_INIT };
	struct end e = make_end(&hca[0], &o, NULL);
	struct ibv_qp_attr attr = path_attr(&e, &e, &o);

	(void)arg;
	attr.qp_access_flags = ALL_RIGHTS | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND;
	IS(0, go(e.qp, attr, IBV_QPS_INIT, mask_of(IBV_QPT_RC, IBV_QPS_INIT)));
	IS(0, go(e.qp, attr, IBV_QPS_RTR, mask_of(IBV_QPT_RC, IBV_QPS_RTR)));
	IS(0, go(e.qp, attr, IBV_QPS_RTS, mask_of(IBV_QPT_RC, IBV_QPS_RTS)));
	IS(0, POST(&e, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 8, .to = &e, .raddr = 4096));
	WC(e.scq, 1, SUCCESS);
}

/* ---- draining ---- */

static void drain(struct end *e, bool notify)
{
	struct ibv_qp_attr attr = { .en_sqd_async_notify = notify };

	IS(0, go(e->qp, attr, IBV_QPS_SQD, notify ? IBV_QP_EN_SQD_ASYNC_NOTIFY : 0));
	if (notify)
		EVENT(e->h, SQ_DRAINED, e->qp);
}

static void resume(struct end *e)
{
	IS(0, go(e->qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_RTS, 0));
}

static void drained_is_told(long arg)
{
	struct ibv_qp_attr attr = { .en_sqd_async_notify = 1 };
	struct ibv_qp_init_attr init;
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	/* the second one has no receive: it stays under way until one is posted */
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 8, .to = &p.b));
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 2, .len = 8));
	WC(p.a.scq, 1, SUCCESS);
	IS(0, go(p.a.qp, attr, IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY));
	IS(0, ibv_query_qp(p.a.qp, &attr, IBV_QP_STATE, &init));
	IS(IBV_QPS_SQD, attr.qp_state);
	IS(1, attr.sq_draining);
	NO_WC(p.a.scq);
	RECV(&p.b, 21, 8);
	EVENT(p.a.h, SQ_DRAINED, p.a.qp);
	WC(p.a.scq, 2, SUCCESS);
	IS(0, ibv_query_qp(p.a.qp, &attr, IBV_QP_STATE, &init));
	IS(IBV_QPS_SQD, attr.qp_state);
	IS(0, attr.sq_draining);
	resume(&p.a);
	WC(p.b.rcq, 21, SUCCESS);
	round_trip(&p);
}

/* An event comes only if it was asked for, once for each request. */
static void drained_is_told_once(long arg)
{
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	drain(&p.a, false);
	resume(&p.a);
	round_trip(&p);
	drain(&p.a, true);
	resume(&p.a);
	drain(&p.a, false);
	resume(&p.a);
	round_trip(&p);
}

static void nothing_begins_in_sqd(long arg)
{
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	drain(&p.a, true);
	memset(p.a.buf, 0x77, 8);
	RECV(&p.b, 11, 64);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8));
	/* the other direction works: receives and answers go on */
	RECV(&p.a, 21, 64);
	IS(0, POST(&p.b, .op = IBV_WR_SEND, .id = 2, .len = 8));
	WC(p.b.scq, 2, SUCCESS);
	WC(p.a.rcq, 21, SUCCESS);
	IS(0, POST(&p.b, .op = IBV_WR_RDMA_READ, .id = 3, .len = 8, .to = &p.a));
	WC(p.b.scq, 3, SUCCESS);
	NO_WC(p.a.scq);
	NO_WC(p.b.rcq);
	resume(&p.a);
	WC(p.a.scq, 1, SUCCESS);
	WC(p.b.rcq, 11, SUCCESS);
	IS(0x77, p.b.buf[32768]);
}

/* Attributes that are changed in SQD are used when sending goes on. */
static void changed_in_sqd(long arg)
{
	struct ibv_qp_attr attr = { .retry_cnt = 0, .timeout = 8, .qp_access_flags = 0 };
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	drain(&p.a, true);
	IS(0, go(p.a.qp, attr, IBV_QPS_SQD, IBV_QP_RETRY_CNT | IBV_QP_TIMEOUT |
		 IBV_QP_ACCESS_FLAGS));
	resume(&p.a);
	/* the peer has lost its right, and there is only one retry */
	IS(0, end_of(p.b.qp));
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8));
	WC(p.a.scq, 1, RETRY_EXC_ERR);
}

/* ---- creating and destroying ---- */

static int try_qp(struct end *e, struct ibv_qp_cap cap)
{
	struct ibv_qp_init_attr init = {
		.qp_type = IBV_QPT_RC, .send_cq = e->scq, .recv_cq = e->rcq, .cap = cap,
	};
	struct ibv_qp *qp = ibv_create_qp(e->h->pd, &init);

	if (!qp)
		return errno;
	IS(1, init.cap.max_send_wr >= cap.max_send_wr && init.cap.max_recv_wr >= cap.max_recv_wr &&
	   init.cap.max_send_sge >= cap.max_send_sge && init.cap.max_recv_sge >= cap.max_recv_sge &&
	   init.cap.max_inline_data >= cap.max_inline_data);
	return ibv_destroy_qp(qp);
}

/* The reported limit is the one that holds. */
static void qp_limits(long which)
{
	struct opts o = { 0 };
	struct end e = make_end(&hca[0], &o, NULL);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
	};
	uint32_t *limited = which == 0 ? &cap.max_send_wr : which == 1 ? &cap.max_recv_wr :
			    which == 2 ? &cap.max_send_sge : &cap.max_recv_sge;

	*limited = which < 2 ? e.h->attr.max_qp_wr : e.h->attr.max_sge;
	IS(0, try_qp(&e, cap));
	++*limited;
	IS(EINVAL, try_qp(&e, cap));
}

static void inline_limit(long arg)
{
	struct opts o = { 0 };
	struct end e = make_end(&hca[0], &o, NULL);
	struct ibv_qp_cap cap = {
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
	};
	uint32_t n;

	(void)arg;
	for (n = 64; !try_qp(&e, (struct ibv_qp_cap) {
		.max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
		.max_inline_data = n }); n *= 2)
		IS(1, n < 1U << 20);
	cap.max_inline_data = n;
	IS(EINVAL, try_qp(&e, cap));
}

static void cq_limits(long arg)
{
	struct ibv_cq *cq;

	(void)arg;
	cq = ibv_create_cq(hca[0].ctx, hca[0].attr.max_cqe + 1, NULL, NULL, 0);
	IS(1, !cq);
	IS(EINVAL, errno);
	cq = ibv_create_cq(hca[0].ctx, 0, NULL, NULL, 0);
	IS(1, !cq);
	IS(EINVAL, errno);
	cq = ibv_create_cq(hca[0].ctx, 1, NULL, NULL, hca[0].ctx->num_comp_vectors);
	IS(1, !cq);
	IS(EINVAL, errno);
	cq = make_cq(&hca[0], 3, NULL);
	IS(1, cq->cqe >= 3);
}

static void used_is_not_destroyed(long arg)
{
	struct opts o = { 0 };
	struct end e = make_end(&hca[0], &o, NULL);
	struct ibv_comp_channel *channel = make_channel(&hca[0]);
	struct ibv_cq *cq = make_cq(&hca[0], 4, channel);
	struct ibv_srq *srq = make_srq(&hca[0], 4);
	struct ibv_mw *mw = make_mw(hca[0].pd, IBV_MW_TYPE_1);
	struct ibv_mw_bind bind = { .wr_id = 1, .send_flags = IBV_SEND_SIGNALED };
	struct end f = e;

	(void)arg;
	IS(EBUSY, end_of(e.scq));
	IS(EBUSY, end_of(e.rcq));
	IS(EBUSY, ibv_dealloc_pd(e.h->pd));
	IS(EBUSY, ibv_destroy_comp_channel(channel));
	f.qp = make_qp(&f, &o, srq);
	IS(EBUSY, end_of(srq));
	IS(0, end_of(f.qp));
	IS(0, end_of(srq));
	/* a region that a window is bound to */
	bring(&e, &e, &o);
	bind.bind_info = (struct ibv_mw_bind_info) {
		.mr = e.mr, .addr = (uintptr_t)e.buf, .length = 64,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ,
	};
	IS(0, ibv_bind_mw(e.qp, mw, &bind));
	WC(e.scq, 1, SUCCESS);
	IS(EBUSY, end_of(e.mr));
	IS(0, end_of(mw));
	IS(0, end_of(cq));
}

#define POST_IN(state)	{ "posting in " #state, post_in, IBV_QPS_##state }

static const struct test tests[] = {
	POST_IN(RESET), POST_IN(INIT), POST_IN(RTR), POST_IN(RTS), POST_IN(SQD), POST_IN(ERR),
	{ "RESET forgets requests and completions", reset_forgets, 0 },
	{ "ERR flushes sends, then receives, in order", err_flushes_in_order, 0 },
	{ "a query tells what was set", query_tells_what_was_set, 0 },
	{ "values that there cannot be", values, 0 },
	{ "CUR_STATE that is not true", current_state, 0 },
	{ "a QP's rights are asked for as a region's", rights_of_regions, 0 },
	{ "SQD with notification", drained_is_told, 0 },
	{ "SQD without notification, and behind one with", drained_is_told_once, 0 },
	{ "nothing begins in SQD, and receives and answers go on", nothing_begins_in_sqd, 0 },
	{ "attributes that are changed in SQD", changed_in_sqd, 0 },
	{ "max_qp_wr of sends", qp_limits, 0 },
	{ "max_qp_wr of receives", qp_limits, 1 },
	{ "max_sge of sends", qp_limits, 2 },
	{ "max_sge of receives", qp_limits, 3 },
	{ "inline data without end", inline_limit, 0 },
	{ "sizes and vectors of CQs", cq_limits, 0 },
	{ "what is used is not destroyed", used_is_not_destroyed, 0 },
};

const struct suite states_suite = SUITE(tests);
