// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Receives that are shared: SRQs, and extended reliable connections. */
#include <errno.h>
#include <fcntl.h>

#include "semantics.h"

/* ---- SRQs ---- */

static int srq_recv(struct ibv_srq *srq, uint64_t id, struct end *e)
{
	struct ibv_sge sge = { (uintptr_t)e->buf + 32768, 64, e->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = id, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_srq_recv(srq, &wr, &bad);
}

static uint32_t limit_of(struct ibv_srq *srq)
{
	struct ibv_srq_attr attr;

	IS(0, ibv_query_srq(srq, &attr));
	return attr.srq_limit;
}

static void set_limit(struct ibv_srq *srq, uint32_t limit)
{
	struct ibv_srq_attr attr = { .srq_limit = limit };

	IS(0, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
}

/* A receive goes to the QP that needs the next one. */
static void first_come(long arg)
{
	struct ibv_srq *srq = make_srq(&hca[0], DEPTH);
	struct ibv_wc wc;
	struct pair p, q;

	(void)arg;
	PAIR(&p, .srq = srq);
	PAIR(&q, .srq = srq);
	for (unsigned int i = 0; i < 6; i++)
		RECV(&p.b, i, 64);
	for (unsigned int i = 0; i < 6; i++) {
		struct pair *t = i % 3 ? &p : &q;

		IS(0, POST(&t->a, .op = IBV_WR_SEND, .id = 50, .len = 8));
		WC(t->a.scq, 50, SUCCESS);
		wc = WC(t->b.rcq, i, SUCCESS);
		IS(t->b.qp->qp_num, wc.qp_num);
	}
	/* none is left: the QP behaves as with a queue of its own */
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 51, .len = 8));
	IS(IBV_QPS_RTS, state_of(p.b.qp));
	NO_WC(p.a.scq);
	RECV(&q.b, 60, 64);
	WC(p.a.scq, 51, SUCCESS);
	WC(p.b.rcq, 60, SUCCESS);
	IS(0, end_of(p.b.qp));
	IS(0, end_of(q.b.qp));
}

static void no_receives_of_its_own(long arg)
{
	struct ibv_srq *srq = make_srq(&hca[0], DEPTH);
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad;
	struct pair p;

	(void)arg;
	PAIR(&p, .srq = srq);
	IS(EINVAL, ibv_post_recv(p.b.qp, &wr, &bad));
	IS(0, end_of(p.b.qp));
}

/* The limit event is raised once when fewer are left, and disarms the limit. */
static void limit(long at_once)
{
	struct ibv_srq *srq = make_srq(&hca[0], DEPTH);
	unsigned int n = at_once ? 2 : 4;
	struct pair p;

	PAIR(&p, .srq = srq);
	IS(0, limit_of(srq));
	for (unsigned int i = 0; i < n; i++)
		RECV(&p.b, i, 64);
	set_limit(srq, 3);
	if (at_once) {
		EVENT(&hca[0], SRQ_LIMIT_REACHED, srq);
		IS(0, limit_of(srq));
	} else {
		IS(3, limit_of(srq));
		/* three are left: not fewer */
		IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 50, .len = 8));
		WC(p.a.scq, 50, SUCCESS);
		IS(3, limit_of(srq));
		IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 51, .len = 8));
		WC(p.a.scq, 51, SUCCESS);
		EVENT(&hca[0], SRQ_LIMIT_REACHED, srq);
		IS(0, limit_of(srq));
	}
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 52, .len = 8));
	WC(p.a.scq, 52, SUCCESS);
	IS(0, limit_of(srq));
	IS(0, end_of(p.b.qp));
}

static void limit_values(long arg)
{
	struct ibv_srq *srq = make_srq(&hca[0], 4);
	struct ibv_srq_attr attr;

	(void)arg;
	IS(0, ibv_query_srq(srq, &attr));
	IS(1, attr.max_wr >= 4);
	attr.srq_limit = attr.max_wr + 1;
	IS(EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_LIMIT));
	IS(0, limit_of(srq));
	attr = (struct ibv_srq_attr) { .max_wr = hca[0].attr.max_srq_wr + 1 };
	IS(EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	attr = (struct ibv_srq_attr) { .max_wr = 64, .srq_limit = 65 };
	IS(EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT));
	/* all or nothing */
	IS(0, ibv_query_srq(srq, &attr));
	IS(1, attr.max_wr < 64);
}

static void resize_srq(long arg)
{
	struct ibv_srq *srq = make_srq(&hca[0], 4);
	struct ibv_srq_attr attr = { .max_wr = 20 };
	struct pair p;
	unsigned int i;

	(void)arg;
	PAIR(&p, .srq = srq);
	for (i = 0; i < 4; i++)
		RECV(&p.b, i, 64);
	IS(ENOMEM, srq_recv(srq, 9, &p.b));
	IS(0, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	for (; i < 20; i++)
		RECV(&p.b, i, 64);
	attr.max_wr = 4;
	IS(EINVAL, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	for (i = 0; i < 20; i++) {
		IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 50, .len = 8));
		WC(p.a.scq, 50, SUCCESS);
		WC(p.b.rcq, i, SUCCESS);
	}
	IS(0, ibv_modify_srq(srq, &attr, IBV_SRQ_MAX_WR));
	IS(0, end_of(p.b.qp));
}

/* While a limit is armed no fewer receives are left, so that no permitted size is below it. */
static void resize_by_limit(long arg)
{
	struct ibv_srq_attr size = { .max_wr = 4 }, both = { .max_wr = 4, .srq_limit = 4 };
	struct ibv_srq *srq = make_srq(&hca[0], DEPTH);
	struct pair p;
	unsigned int i;

	(void)arg;
	PAIR(&p, .srq = srq);
	for (i = 0; i < 6; i++)
		RECV(&p.b, i, 64);
	set_limit(srq, 5);
	for (i = 0; i < 2; i++) {
		IS(EINVAL, ibv_modify_srq(srq, &size, IBV_SRQ_MAX_WR));
		IS(EINVAL, ibv_modify_srq(srq, &both, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT));
		IS(5, limit_of(srq));
		IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 50, .len = 8));
		WC(p.a.scq, 50, SUCCESS);
		WC(p.b.rcq, i, SUCCESS);
	}
	/* four are left, and the limit is disarmed */
	EVENT(&hca[0], SRQ_LIMIT_REACHED, srq);
	IS(0, ibv_modify_srq(srq, &both, IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT));
	IS(4, limit_of(srq));
	IS(0, end_of(p.b.qp));
}

/* A QP that fails leaves the receives to the others, and reports its last WQE by an event. */
static void last_wqe(long arg)
{
	struct ibv_srq *srq = make_srq(&hca[0], DEPTH);
	struct pair p, q;

	(void)arg;
	PAIR(&p, .srq = srq);
	PAIR(&q, .srq = srq);
	RECV(&p.b, 1, 64);
	IS(0, go(p.b.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_ERR, 0));
	EVENT(&hca[0], QP_LAST_WQE_REACHED, p.b.qp);
	NO_WC(p.b.rcq);
	IS(0, POST(&q.a, .op = IBV_WR_SEND, .id = 50, .len = 8));
	WC(q.a.scq, 50, SUCCESS);
	WC(q.b.rcq, 1, SUCCESS);
	IS(0, end_of(p.b.qp));
	IS(0, end_of(q.b.qp));
}

/* ---- extended reliable connections ---- */

struct xrc {
	struct ibv_xrcd *xrcd;
	struct ibv_srq *srq;
	uint32_t srqn;
	struct end ini, tgt;
	struct ibv_cq *srq_cq;
};

static int no_xrcd(void *obj) { return ibv_close_xrcd(obj); }
static int no_srq(void *obj) { return ibv_destroy_srq(obj); }
static int no_qp(void *obj) { return ibv_destroy_qp(obj); }

static struct ibv_xrcd *open_xrcd(void)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.fd = -1, .oflags = O_CREAT,
	};
	struct ibv_xrcd *xrcd = ibv_open_xrcd(hca[0].ctx, &attr);

	keep(xrcd, no_xrcd);
	return xrcd;
}

static struct ibv_srq *xrc_srq(struct ibv_xrcd *xrcd, struct ibv_cq *cq, struct ibv_pd *pd,
			       uint32_t *srqn)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC, .pd = pd, .xrcd = xrcd, .cq = cq,
	};
	struct ibv_srq *srq = ibv_create_srq_ex(hca[0].ctx, &attr);

	keep(srq, no_srq);
	IS(0, ibv_get_srq_num(srq, srqn));
	return srq;
}

static void xrc_up(struct xrc *x)
{
	struct opts ini = { .type = IBV_QPT_XRC_SEND, .rnr_retry = 7 };
	struct ibv_qp_init_attr_ex init = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD,
	};
	struct opts tgt = { .type = IBV_QPT_XRC_RECV };
	struct opts plain = { 0 };

	x->xrcd = open_xrcd();
	x->srq_cq = make_cq(&hca[0], 64, NULL);
	x->srq = xrc_srq(x->xrcd, x->srq_cq, hca[0].pd, &x->srqn);
	x->tgt = make_end(&hca[0], &plain, NULL);
	IS(0, end_of(x->tgt.qp));
	init.xrcd = x->xrcd;
	x->tgt.qp = ibv_create_qp_ex(hca[0].ctx, &init);
	keep(x->tgt.qp, no_qp);
	x->ini = make_end(&hca[0], &plain, NULL);
	IS(0, end_of(x->ini.qp));
	x->ini.rcq = NULL;
	x->ini.qp = make_qp(&x->ini, &ini, NULL);
	bring(&x->ini, &x->tgt, &ini);
	bring(&x->tgt, &x->ini, &tgt);
}

static void xrc_sends(long op)
{
	struct ibv_wc wc;
	struct xrc x;

	xrc_up(&x);
	IS(0, srq_recv(x.srq, 21, &x.tgt));
	IS(0, POST(&x.ini, .op = op, .id = 1, .len = 16, .to = &x.tgt, .imm = 3,
		   .srqn = x.srqn));
	WC(x.ini.scq, 1, SUCCESS);
	wc = WC(x.srq_cq, 21, SUCCESS);
	IS(16, wc.byte_len);
	IS(op == IBV_WR_SEND ? 0 : IBV_WC_WITH_IMM, wc.wc_flags);
	NO_WC(x.tgt.rcq);
}

static void xrc_one_sided(long op)
{
	struct xrc x;

	xrc_up(&x);
	x.tgt.buf[0] = 9;
	x.ini.buf[0] = 9;
	IS(0, POST(&x.ini, .op = op, .id = 1, .len = 8, .to = &x.tgt, .add = 1, .srqn = x.srqn));
	WC(x.ini.scq, 1, SUCCESS);
	IS(op == IBV_WR_ATOMIC_FETCH_AND_ADD ? 10 : 9, x.tgt.buf[0]);
	IS(9, x.ini.buf[0]);
	NO_WC(x.srq_cq);
}

enum xrc_fault { NO_SUCH_SRQ, PLAIN_SRQ, OTHER_DOMAIN, KEY_OF_OTHER_PD };

static void xrc_fails(long why)
{
	struct ibv_xrcd *other;
	uint32_t srqn, rkey = 0;
	struct ibv_srq *plain;
	struct xrc x;

	xrc_up(&x);
	srqn = x.srqn;
	if (why == NO_SUCH_SRQ) {
		srqn = 0xfffff;
	} else if (why == PLAIN_SRQ) {
		plain = make_srq(&hca[0], 4);
		IS(0, ibv_get_srq_num(plain, &srqn));
	} else if (why == OTHER_DOMAIN) {
		other = open_xrcd();
		xrc_srq(other, x.srq_cq, hca[0].pd, &srqn);
	} else {
		rkey = make_mr(hca[0].other_pd, x.tgt.buf, BUF, ALL_RIGHTS)->rkey;
	}
	IS(0, POST(&x.ini, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 8, .to = &x.tgt, .rkey = rkey,
		   .srqn = srqn));
	IS(0, POST(&x.ini, .op = IBV_WR_SEND, .id = 2, .len = 8, .srqn = x.srqn));
	WC_IS(x.ini.scq, 1, why == KEY_OF_OTHER_PD ? IBV_WC_REM_ACCESS_ERR :
	      IBV_WC_REM_INV_REQ_ERR);
	WC(x.ini.scq, 2, WR_FLUSH_ERR);
	if (why == KEY_OF_OTHER_PD)
		EVENT(&hca[0], QP_ACCESS_ERR, x.tgt.qp);
	else
		EVENT(&hca[0], QP_REQ_ERR, x.tgt.qp);
	EVENT(&hca[0], QP_LAST_WQE_REACHED, x.tgt.qp);
	IS(IBV_QPS_ERR, state_of(x.tgt.qp));
	NO_WC(x.srq_cq);
}

/* Several SRQs behind one connection: each message names its SRQ. */
static void xrc_two_srqs(long arg)
{
	struct ibv_cq *second_cq;
	struct ibv_srq *second;
	uint32_t srqn;
	struct xrc x;

	(void)arg;
	xrc_up(&x);
	second_cq = make_cq(&hca[0], 8, NULL);
	second = xrc_srq(x.xrcd, second_cq, hca[0].pd, &srqn);
	IS(1, srqn != x.srqn);
	IS(0, srq_recv(x.srq, 21, &x.tgt));
	IS(0, srq_recv(second, 22, &x.tgt));
	IS(0, POST(&x.ini, .op = IBV_WR_SEND, .id = 1, .len = 8, .srqn = srqn));
	WC(x.ini.scq, 1, SUCCESS);
	WC(second_cq, 22, SUCCESS);
	NO_WC(x.srq_cq);
	IS(0, POST(&x.ini, .op = IBV_WR_SEND, .id = 2, .len = 8, .srqn = x.srqn));
	WC(x.ini.scq, 2, SUCCESS);
	WC(x.srq_cq, 21, SUCCESS);
	NO_WC(second_cq);
	IS(0, end_of(second));
}

static void xrc_in_use(long arg)
{
	struct xrc x;

	(void)arg;
	xrc_up(&x);
	IS(EBUSY, end_of(x.xrcd));
	IS(EBUSY, end_of(x.srq_cq));
	IS(EINVAL, post_recv(&x.ini, 1, 0, 8, 0));
}

static const struct test tests[] = {
	{ "SRQ: first come, first served", first_come, 0 },
	{ "SRQ: its QPs have no receives of their own", no_receives_of_its_own, 0 },
	{ "SRQ: the limit is reached", limit, 0 },
	{ "SRQ: the limit is reached at once", limit, 1 },
	{ "SRQ: values that there cannot be", limit_values, 0 },
	{ "SRQ: resized with receives", resize_srq, 0 },
	{ "SRQ: resized with a limit", resize_by_limit, 0 },
	{ "SRQ: a QP that fails takes no more", last_wqe, 0 },
	{ "XRC: SEND", xrc_sends, IBV_WR_SEND },
	{ "XRC: SEND with immediate", xrc_sends, IBV_WR_SEND_WITH_IMM },
	{ "XRC: WRITE with immediate", xrc_sends, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "XRC: WRITE", xrc_one_sided, IBV_WR_RDMA_WRITE },
	{ "XRC: READ", xrc_one_sided, IBV_WR_RDMA_READ },
	{ "XRC: fetch and add", xrc_one_sided, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "XRC: two SRQs", xrc_two_srqs, 0 },
	{ "XRC: an SRQ that is not there", xrc_fails, NO_SUCH_SRQ },
	{ "XRC: a plain SRQ", xrc_fails, PLAIN_SRQ },
	{ "XRC: an SRQ of another domain", xrc_fails, OTHER_DOMAIN },
	{ "XRC: a key of another PD than the SRQ's", xrc_fails, KEY_OF_OTHER_PD },
	{ "XRC: what is used is not destroyed", xrc_in_use, 0 },
};

const struct suite shared_suite = SUITE(tests);
