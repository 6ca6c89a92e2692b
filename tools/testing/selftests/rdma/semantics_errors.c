// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that fail: their status, the other side's event or completion, and the state of both
 * queues afterwards.
 */
#include <errno.h>
#include <string.h>

#include "semantics.h"

/* What is wrong with a request. */
enum fault {
	/* faults in the requester's own memory */
	LKEY_UNKNOWN, LKEY_VARIANT, LKEY_OTHER_PD, LKEY_TOO_LONG, LKEY_READ_ONLY,
	/* in the responder's memory */
	RKEY_UNKNOWN, RKEY_VARIANT, RKEY_OTHER_PD, RKEY_BEFORE, RKEY_TOO_LONG, RKEY_WRAPS,
	RKEY_NO_RIGHT, RKEY_GONE,
	/* in its QP */
	QP_NO_RIGHT, UNALIGNED,
	/* in its receive */
	RECV_SHORT, RECV_LKEY, RECV_READ_ONLY,
};

#define CASE(op, fault)		((long)(op) << 8 | (fault))

static bool is_atomic(enum ibv_wr_opcode op)
{
	return op == IBV_WR_ATOMIC_CMP_AND_SWP || op == IBV_WR_ATOMIC_FETCH_AND_ADD;
}

static int right_of(enum ibv_wr_opcode op)
{
	return is_atomic(op) ? IBV_ACCESS_REMOTE_ATOMIC : op == IBV_WR_RDMA_READ ?
	       IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
}

/* Puts the fault into the request @r, which is valid otherwise. */
static void spoil(struct pair *p, enum fault why, struct req *r)
{
	struct ibv_mr *mr;

	switch (why) {
	case LKEY_UNKNOWN:
		r->lkey = 0xffffff00;
		break;
	case LKEY_VARIANT:
		r->lkey = p->a.mr->lkey ^ 1;
		break;
	case LKEY_OTHER_PD:
		r->lkey = make_mr(p->a.h->other_pd, p->a.buf, BUF, ALL_RIGHTS)->lkey;
		break;
	case LKEY_TOO_LONG:
		r->off = BUF - r->len + 1;
		break;
	case LKEY_READ_ONLY:
		r->lkey = make_mr(p->a.h->pd, p->a.buf, BUF, 0)->lkey;
		break;
	case RKEY_UNKNOWN:
		r->rkey = 0xffffff00;
		break;
	case RKEY_VARIANT:
		r->rkey = p->b.mr->rkey ^ 1;
		break;
	case RKEY_OTHER_PD:
		r->rkey = make_mr(p->b.h->other_pd, p->b.buf, BUF, ALL_RIGHTS)->rkey;
		break;
	case RKEY_BEFORE:
		r->raddr = -8;
		break;
	case RKEY_TOO_LONG:
		r->raddr = BUF - r->len + 8;
		break;
	case RKEY_WRAPS:
		r->raddr = -(uint64_t)(uintptr_t)p->b.buf - 8;
		break;
	case RKEY_NO_RIGHT:
		r->rkey = make_mr(p->b.h->pd, p->b.buf, BUF,
				  ALL_RIGHTS & ~right_of(r->op))->rkey;
		break;
	case RKEY_GONE:
		mr = make_mr(p->b.h->pd, p->b.buf, BUF, ALL_RIGHTS);
		r->rkey = mr->rkey;
		IS(0, end_of(mr));
		break;
	case UNALIGNED:
		r->raddr = 4;
		break;
	default:
		break;
	}
}

static enum ibv_wc_status status_of(enum fault fault)
{
	if (fault <= LKEY_READ_ONLY)
		return IBV_WC_LOC_PROT_ERR;
	if (fault <= RKEY_GONE)
		return IBV_WC_REM_ACCESS_ERR;
	if (fault == RECV_LKEY || fault == RECV_READ_ONLY)
		return IBV_WC_REM_OP_ERR;
	return IBV_WC_REM_INV_REQ_ERR;
}

static void receives(struct pair *p, enum fault fault)
{
	struct end *b = &p->b;

	if (fault == RECV_LKEY) {
		IS(0, post_recv(b, 21, 32768, 64, 0xffffff00));
	} else if (fault == RECV_READ_ONLY) {
		struct ibv_mr *mr = make_mr(b->h->pd, b->buf, BUF, 0);

		IS(0, post_recv(b, 21, 32768, 64, mr->lkey));
	} else {
		IS(0, post_recv(b, 21, 32768, fault == RECV_SHORT ? 63 : 64, 0));
	}
	RECV(b, 22, 64);
}

/* A request that fails in the middle of a queue, and the effects on the others. */
static void fails(long arg)
{
	const enum ibv_wr_opcode op = arg >> 8;
	const enum fault fault = arg & 0xff;
	const enum ibv_wc_status status = status_of(fault);
	const bool remote = fault > LKEY_READ_ONLY;
	struct opts o = { .access = fault == QP_NO_RIGHT ? ALL_REMOTE & ~right_of(op) : 0 };
	struct pair p;
	struct req r = {
		.op = op, .id = 2, .len = is_atomic(op) ? 8 : 64, .to = &p.b, .quiet = true,
		.imm = 99,
	};

	if (fault == QP_NO_RIGHT && !o.access)
		o.access = NONE;
	pair_up(&p, &o);
	memset(p.b.buf, 0x11, BUF);
	receives(&p, fault);
	RECV(&p.a, 11, 64);
	spoil(&p, fault, &r);

	/* requests before it are done, those behind it are not, signaled or not */
	if (fault != QP_NO_RIGHT)
		IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .off = 1024, .len = 8,
			   .to = &p.b, .raddr = 2048));
	IS(0, post(&p.a, &r));
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 3, .len = 8));
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 4, .len = 8, .to = &p.b, .raddr = 512,
		   .quiet = true));
	if (fault != QP_NO_RIGHT)
		WC(p.a.scq, 1, SUCCESS);
	WC_IS(p.a.scq, 2, status);
	WC(p.a.scq, 3, WR_FLUSH_ERR);
	WC(p.a.scq, 4, WR_FLUSH_ERR);
	WC(p.a.rcq, 11, WR_FLUSH_ERR);
	IS(IBV_QPS_ERR, state_of(p.a.qp));

	/* requests that are posted now are flushed too */
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 5, .len = 8, .quiet = true));
	WC(p.a.scq, 5, WR_FLUSH_ERR);
	RECV(&p.a, 12, 64);
	WC(p.a.rcq, 12, WR_FLUSH_ERR);
	NO_WC(p.a.scq);
	NO_WC(p.a.rcq);

	/* memory that was not meant is untouched */
	if (fault != RKEY_GONE && fault != RECV_SHORT)
		IS(0x11, p.b.buf[0]);
	IS(0x11, p.b.buf[512]);
	if (!remote) {
		/* no packet was sent: the other side has no event */
		NO_WC(p.b.rcq);
		IS(IBV_QPS_RTS, state_of(p.b.qp));
		return;
	}
	if (fault == RECV_SHORT)
		WC(p.b.rcq, 21, LOC_LEN_ERR);
	else if (fault == RECV_LKEY || fault == RECV_READ_ONLY)
		WC(p.b.rcq, 21, LOC_PROT_ERR);
	else
		WC(p.b.rcq, 21, WR_FLUSH_ERR);
	WC(p.b.rcq, 22, WR_FLUSH_ERR);
	NO_WC(p.b.rcq);
	if (fault <= RKEY_GONE)
		EVENT(p.b.h, QP_ACCESS_ERR, p.b.qp);
	else if (fault <= UNALIGNED)
		EVENT(p.b.h, QP_REQ_ERR, p.b.qp);
	IS(IBV_QPS_ERR, state_of(p.b.qp));
}

/* No receive was posted when the responder failed: an event must report the error. */
static void responder_with_nothing_posted(long query)
{
	struct pair p;

	PAIR(&p, 0);
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 8, .to = &p.b,
		   .rkey = p.b.mr->rkey ^ 1));
	WC(p.a.scq, 1, REM_ACCESS_ERR);
	if (query)
		while (state_of(p.b.qp) != IBV_QPS_ERR)
			;
	else
		EVENT(p.b.h, QP_ACCESS_ERR, p.b.qp);
	RECV(&p.b, 21, 64);
	WC(p.b.rcq, 21, WR_FLUSH_ERR);
	if (query)
		EVENT(p.b.h, QP_ACCESS_ERR, p.b.qp);
}

/* ---- requests that are not posted ---- */

static void not_posted(long arg)
{
	struct ibv_sge sge[9] = { { 0, 0, 0 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge }, *bad;
	struct ibv_recv_wr recv = { .sg_list = sge }, *bad_recv;
	struct pair p;

	(void)arg;
	PAIR(&p, .caps = { .max_send_sge = 8, .max_recv_sge = 8 });
	wr.num_sge = 9;
	IS(EINVAL, ibv_post_send(p.a.qp, &wr, &bad));
	recv.num_sge = 9;
	IS(EINVAL, ibv_post_recv(p.a.qp, &recv, &bad_recv));
	/* inline data beyond what the QP was made for, and where there are none */
	IS(EINVAL, POST(&p.a, .op = IBV_WR_SEND, .len = 4096, .flags = IBV_SEND_INLINE));
	IS(EINVAL, POST(&p.a, .op = IBV_WR_RDMA_READ, .len = 8, .to = &p.b,
			.flags = IBV_SEND_INLINE));
	/* of a list with a bad request in the middle, those before it are posted */
	wr = (struct ibv_send_wr) {
		.wr_id = 1, .opcode = IBV_WR_RDMA_WRITE, .send_flags = IBV_SEND_SIGNALED,
		.next = &(struct ibv_send_wr) {
			.wr_id = 2, .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 9,
			.next = &(struct ibv_send_wr) { .wr_id = 3, .opcode = IBV_WR_SEND },
		},
	};
	IS(EINVAL, ibv_post_send(p.a.qp, &wr, &bad));
	IS(2, bad->wr_id);
	WC(p.a.scq, 1, SUCCESS);
	NO_WC(p.a.scq);
	round_trip(&p);
}

static void not_for_its_type(long arg)
{
	static const enum ibv_wr_opcode not_uc[] = {
		IBV_WR_RDMA_READ, IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD,
		IBV_WR_SEND_WITH_INV,
	};
	struct pair p;

	(void)arg;
	PAIR(&p, .type = IBV_QPT_UC);
	for (unsigned int i = 0; i < sizeof(not_uc) / sizeof(not_uc[0]); i++)
		IS(EINVAL, POST(&p.a, .op = not_uc[i], .len = 8, .to = &p.b));
	PAIR(&p, .type = IBV_QPT_UD);
	for (unsigned int i = 0; i < sizeof(not_uc) / sizeof(not_uc[0]); i++)
		IS(EINVAL, POST(&p.a, .op = not_uc[i], .len = 8, .to = &p.b));
	IS(EINVAL, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .len = 8, .to = &p.b));
}

/*
 * The longest message that a port takes is reported by a query, and one byte more is an error of
 * its own; so is an atomic that does not fetch eight bytes.
 */
static void wrong_length(long op)
{
	struct pair p;

	PAIR(&p, 0);
	IS(0, POST(&p.a, .op = op, .id = 1, .to = &p.b,
		   .len = op == IBV_WR_RDMA_WRITE ? p.a.h->port.max_msg_sz + 1 : 4));
	WC(p.a.scq, 1, LOC_LEN_ERR);
	IS(IBV_QPS_ERR, state_of(p.a.qp));
	IS(IBV_QPS_RTS, state_of(p.b.qp));
}

/* ---- retries ---- */

enum gone { DESTROYED, IN_RESET, IN_INIT, IN_ERR };

static void nobody_answers(long gone)
{
	struct pair p;

	PAIR(&p, .timeout = 8, .retry = 2);
	if (gone == DESTROYED)
		IS(0, end_of(p.b.qp));
	else if (gone == IN_ERR)
		IS(0, go(p.b.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_ERR, 0));
	else
		IS(0, go(p.b.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_RESET, 0));
	if (gone == IN_INIT)
		IS(0, go(p.b.qp, path_attr(&p.b, &p.a, &(struct opts) { 0 }), IBV_QPS_INIT,
			 mask_of(IBV_QPT_RC, IBV_QPS_INIT)));
	RECV(&p.a, 11, 64);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8));
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 2, .len = 8));
	WC(p.a.scq, 1, RETRY_EXC_ERR);
	WC(p.a.scq, 2, WR_FLUSH_ERR);
	WC(p.a.rcq, 11, WR_FLUSH_ERR);
	IS(IBV_QPS_ERR, state_of(p.a.qp));
}

/* No receive: the requester gives up, and the responder keeps its state. */
static void not_ready(long retries)
{
	struct pair p;

	PAIR(&p, .rnr_retry = retries ? retries : NONE);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = 8));
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 2, .len = 8, .to = &p.b));
	WC(p.a.scq, 1, RNR_RETRY_EXC_ERR);
	WC(p.a.scq, 2, WR_FLUSH_ERR);
	IS(IBV_QPS_ERR, state_of(p.a.qp));
	IS(IBV_QPS_RTS, state_of(p.b.qp));
	NO_WC(p.b.rcq);
}

/* Seven RNR retries never run out. */
static void ready_late(long op)
{
	struct pair p;
	struct ibv_wc wc;

	PAIR(&p, .rnr_retry = 7);
	IS(0, POST(&p.a, .op = op, .id = 1, .len = 8, .to = &p.b, .imm = 7));
	/* more than seven waits of 10 us: the queries alone take longer */
	IS(IBV_QPS_RTS, state_of(p.a.qp));
	IS(IBV_QPS_RTS, state_of(p.b.qp));
	NO_WC(p.a.scq);
	RECV(&p.b, 21, 64);
	WC(p.a.scq, 1, SUCCESS);
	wc = WC(p.b.rcq, 21, SUCCESS);
	IS(op == IBV_WR_RDMA_WRITE_WITH_IMM ? IBV_WC_RECV_RDMA_WITH_IMM : IBV_WC_RECV, wc.opcode);
	round_trip(&p);
}

/* ---- the responder's resources ---- */

static void more_reads_than_resources(long op)
{
	struct pair p;

	/* as many as the requester has under way are never too many */
	PAIR(&p, .rd = 1, .dest_rd = 1);
	for (unsigned int i = 0; i < 8; i++)
		IS(0, POST(&p.a, .op = op, .id = i, .len = 8, .to = &p.b));
	for (unsigned int i = 0; i < 8; i++)
		WC(p.a.scq, i, SUCCESS);
	/* a requester that may have none under way */
	PAIR(&p, .rd = NONE, .dest_rd = 1);
	IS(0, POST(&p.a, .op = op, .id = 8, .len = 8, .to = &p.b));
	WC(p.a.scq, 8, LOC_QP_OP_ERR);
	IS(IBV_QPS_RTS, state_of(p.b.qp));
	/* a responder that has none */
	PAIR(&p, .rd = 1, .dest_rd = NONE);
	IS(0, POST(&p.a, .op = op, .id = 9, .len = 8, .to = &p.b));
	WC(p.a.scq, 9, REM_INV_REQ_ERR);
	EVENT(p.b.h, QP_REQ_ERR, p.b.qp);
	IS(IBV_QPS_ERR, state_of(p.b.qp));
}

#define LOCAL(op, name)								\
	{ name ": lkey of nothing", fails, CASE(op, LKEY_UNKNOWN) },		\
	{ name ": lkey of another variant", fails, CASE(op, LKEY_VARIANT) },	\
	{ name ": lkey of another PD", fails, CASE(op, LKEY_OTHER_PD) },	\
	{ name ": local memory ends", fails, CASE(op, LKEY_TOO_LONG) }

#define LANDS(op, name)								\
	LOCAL(op, name),							\
	{ name ": into memory that may not be written", fails, CASE(op, LKEY_READ_ONLY) }

#define REMOTE(op, name)							\
	{ name ": rkey of nothing", fails, CASE(op, RKEY_UNKNOWN) },		\
	{ name ": rkey of another variant", fails, CASE(op, RKEY_VARIANT) },	\
	{ name ": rkey of another PD", fails, CASE(op, RKEY_OTHER_PD) },	\
	{ name ": before the region", fails, CASE(op, RKEY_BEFORE) },		\
	{ name ": behind the region", fails, CASE(op, RKEY_TOO_LONG) },		\
	{ name ": an address that wraps", fails, CASE(op, RKEY_WRAPS) },	\
	{ name ": the region lacks the right", fails, CASE(op, RKEY_NO_RIGHT) },\
	{ name ": rkey of a region that is gone", fails, CASE(op, RKEY_GONE) },	\
	{ name ": the QP lacks the right", fails, CASE(op, QP_NO_RIGHT) }

static const struct test tests[] = {
	LOCAL(IBV_WR_SEND, "SEND"),
	{ "SEND: the receive is too short", fails, CASE(IBV_WR_SEND, RECV_SHORT) },
	{ "SEND: the receive's lkey is of nothing", fails, CASE(IBV_WR_SEND, RECV_LKEY) },
	{ "SEND: the receive may not be written", fails, CASE(IBV_WR_SEND, RECV_READ_ONLY) },
	LOCAL(IBV_WR_RDMA_WRITE, "WRITE"),
	REMOTE(IBV_WR_RDMA_WRITE, "WRITE"),
	REMOTE(IBV_WR_RDMA_WRITE_WITH_IMM, "WRITE with immediate"),
	LANDS(IBV_WR_RDMA_READ, "READ"),
	REMOTE(IBV_WR_RDMA_READ, "READ"),
	LANDS(IBV_WR_ATOMIC_FETCH_AND_ADD, "fetch and add"),
	REMOTE(IBV_WR_ATOMIC_FETCH_AND_ADD, "fetch and add"),
	{ "fetch and add: not aligned", fails, CASE(IBV_WR_ATOMIC_FETCH_AND_ADD, UNALIGNED) },
	REMOTE(IBV_WR_ATOMIC_CMP_AND_SWP, "compare and swap"),
	{ "compare and swap: not aligned", fails, CASE(IBV_WR_ATOMIC_CMP_AND_SWP, UNALIGNED) },
	{ "a responder fails without a receive: its event", responder_with_nothing_posted, 0 },
	{ "a responder fails without a receive: a query", responder_with_nothing_posted, 1 },
	{ "requests that are not posted", not_posted, 0 },
	{ "requests that a QP's type has not", not_for_its_type, 0 },
	{ "a message longer than max_msg_sz", wrong_length, IBV_WR_RDMA_WRITE },
	{ "an atomic of four bytes", wrong_length, IBV_WR_ATOMIC_FETCH_AND_ADD },
	{ "retries: the peer is destroyed", nobody_answers, DESTROYED },
	{ "retries: the peer is in RESET", nobody_answers, IN_RESET },
	{ "retries: the peer is in INIT", nobody_answers, IN_INIT },
	{ "retries: the peer is in ERR", nobody_answers, IN_ERR },
	{ "RNR: no retry", not_ready, 0 },
	{ "RNR: three retries", not_ready, 3 },
	{ "RNR: SEND, a receive that comes late", ready_late, IBV_WR_SEND },
	{ "RNR: WRITE with immediate, a late receive", ready_late, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "READs and the responder's resources", more_reads_than_resources, IBV_WR_RDMA_READ },
	{ "atomics and the responder's resources", more_reads_than_resources,
	  IBV_WR_ATOMIC_FETCH_AND_ADD },
};

const struct suite errors_suite = SUITE(tests);
