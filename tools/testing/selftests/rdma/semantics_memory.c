// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Data of every shape, atomics, regions, windows, and keys that are invalidated. */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "semantics.h"

static uint64_t *word(struct end *e, uint32_t off)
{
	return (uint64_t *)(e->buf + off);
}

/* ---- data ---- */

static void no_bytes(long op)
{
	struct ibv_wc wc;
	struct pair p;

	PAIR(&p, 0);
	RECV(&p.b, 21, 64);
	/* no byte is accessed, so that no key is checked */
	IS(0, POST(&p.a, .op = op, .id = 1, .rkey = 0xffffff00, .imm = 5));
	WC(p.a.scq, 1, SUCCESS);
	if (op == IBV_WR_RDMA_WRITE || op == IBV_WR_RDMA_READ) {
		NO_WC(p.b.rcq);
		return;
	}
	wc = WC(p.b.rcq, 21, SUCCESS);
	IS(0, wc.byte_len);
	IS(op == IBV_WR_SEND ? 0 : IBV_WC_WITH_IMM, wc.wc_flags);
	if (op != IBV_WR_SEND)
		IS(5, ntohl(wc.imm_data));
	IS(p.b.qp->qp_num, wc.qp_num);
}

/* The part of a receive behind the message is not written. */
static void as_long_as_it_is(long len)
{
	struct ibv_wc wc;
	struct pair p;

	PAIR(&p, 0);
	for (long i = 0; i < len; i++)
		p.a.buf[i] = i * 7 + 1;
	memset(p.b.buf, 0xcc, BUF);
	RECV(&p.b, 21, len + 8);
	IS(0, POST(&p.a, .op = IBV_WR_SEND, .id = 1, .len = len));
	WC(p.a.scq, 1, SUCCESS);
	wc = WC(p.b.rcq, 21, SUCCESS);
	IS(len, wc.byte_len);
	IS(0, memcmp(p.a.buf, p.b.buf + 32768, len));
	IS(0xcc, p.b.buf[32768 + len]);
	IS(0xcc, p.b.buf[32767]);
}

/* Lists with pieces of every length, also empty ones. */
static void lists(long arg)
{
	static const uint32_t lens[] = { 3, 0, 1021, 1, 2048, 0, 7, 20 };
	struct ibv_sge from[8], to[8];
	struct ibv_send_wr wr = {
		.wr_id = 1, .opcode = IBV_WR_SEND, .sg_list = from, .num_sge = 8,
		.send_flags = IBV_SEND_SIGNALED,
	}, *bad;
	struct ibv_recv_wr recv = { .wr_id = 21, .sg_list = to, .num_sge = 8 }, *bad_recv;
	uint32_t sum = 0, at = 0, seen = 0;
	struct ibv_wc wc;
	struct pair p;

	(void)arg;
	PAIR(&p, .caps = { .max_send_sge = 8, .max_recv_sge = 8 });
	for (uint32_t i = 0; i < 8; i++) {
		from[i] = (struct ibv_sge) { (uintptr_t)p.a.buf + i * 4096, lens[i], p.a.mr->lkey };
		to[i] = (struct ibv_sge) { (uintptr_t)p.b.buf + i * 4096, lens[7 - i],
					   p.b.mr->lkey };
		for (uint32_t j = 0; j < lens[i]; j++)
			p.a.buf[i * 4096 + j] = ++sum * 13;
	}
	IS(0, ibv_post_recv(p.b.qp, &recv, &bad_recv));
	IS(0, ibv_post_send(p.a.qp, &wr, &bad));
	WC(p.a.scq, 1, SUCCESS);
	wc = WC(p.b.rcq, 21, SUCCESS);
	IS(sum, wc.byte_len);
	for (uint32_t i = 0; i < 8; i++)
		for (uint32_t j = 0; j < lens[7 - i]; j++, at++)
			seen += p.b.buf[i * 4096 + j] == (uint8_t)((at + 1) * 13);
	IS(sum, seen);
}

/* Inline data is part of the request: no key, and the program may overwrite its buffer at once. */
static void inline_data(long arg)
{
	uint8_t bytes[64];
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	for (unsigned int i = 0; i < 64; i++)
		bytes[i] = i;
	IS(0, go(p.a.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_SQD, 0));
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .addr = (uintptr_t)bytes, .len = 64,
		   .lkey = 0xffffff00, .flags = IBV_SEND_INLINE, .to = &p.b));
	memset(bytes, 0xee, sizeof(bytes));
	IS(0, go(p.a.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_RTS, 0));
	WC(p.a.scq, 1, SUCCESS);
	for (unsigned int i = 0; i < 64; i++)
		IS(i, p.b.buf[i]);
}

/* A READ completes without the other side's help; a request with a fence waits for it. */
static void fence(long arg)
{
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	for (unsigned int i = 0; i < 20; i++) {
		memset(p.a.buf, 0, 64);
		memset(p.b.buf, i + 1, 64);
		IS(0, POST(&p.a, .op = IBV_WR_RDMA_READ, .id = 1, .len = 64, .to = &p.b));
		IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 2, .len = 64, .to = &p.b,
			   .raddr = 4096, .flags = IBV_SEND_FENCE));
		WC(p.a.scq, 1, SUCCESS);
		WC(p.a.scq, 2, SUCCESS);
		IS(i + 1, p.b.buf[4096 + 63]);
	}
}

/* ---- atomics ---- */

static void adds(long arg)
{
	struct ibv_wc wc;
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	*word(&p.b, 0) = UINT64_MAX - 2;
	IS(0, POST(&p.a, .op = IBV_WR_ATOMIC_FETCH_AND_ADD, .id = 1, .len = 8, .to = &p.b,
		   .add = 5));
	wc = WC(p.a.scq, 1, SUCCESS);
	IS(IBV_WC_FETCH_ADD, wc.opcode);
	IS(8, wc.byte_len);
	IS(UINT64_MAX - 2, *word(&p.a, 0));
	IS(2, *word(&p.b, 0));
}

static void swaps(long matches)
{
	const uint64_t before = 0x1122334455667788, after = 0x99aabbccddeeff00;
	struct ibv_wc wc;
	struct pair p;

	PAIR(&p, 0);
	*word(&p.b, 8) = before;
	IS(0, POST(&p.a, .op = IBV_WR_ATOMIC_CMP_AND_SWP, .id = 1, .len = 8, .to = &p.b,
		   .raddr = 8, .cmp = matches ? before : before + 1, .add = after));
	wc = WC(p.a.scq, 1, SUCCESS);
	IS(IBV_WC_COMP_SWAP, wc.opcode);
	IS(before, *word(&p.a, 0));
	IS(matches ? after : before, *word(&p.b, 8));
	IS(0, *word(&p.b, 0));
	IS(0, *word(&p.b, 16));
}

/* Those of one connection are carried out in order, none of them twice. */
static void many_atomics(long arg)
{
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	for (unsigned int i = 0; i < DEPTH; i++)
		IS(0, POST(&p.a, .op = IBV_WR_ATOMIC_FETCH_AND_ADD, .id = i, .off = 8 * i,
			   .len = 8, .to = &p.b, .add = 3));
	for (unsigned int i = 0; i < DEPTH; i++) {
		WC(p.a.scq, i, SUCCESS);
		IS(3 * i, *word(&p.a, 8 * i));
	}
	IS(3 * DEPTH, *word(&p.b, 0));
}

/* ---- regions ---- */

static int try_mr(void *addr, size_t len, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(hca[0].pd, addr, len, access);

	return mr ? ibv_dereg_mr(mr) : errno;
}

static void regions_refused(long arg)
{
	uint8_t *buf = make_memory(8192);
	uint8_t *fixed = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)arg;
	IS(1, fixed != MAP_FAILED);
	IS(EINVAL, try_mr(buf, 8192, IBV_ACCESS_REMOTE_WRITE));
	IS(EINVAL, try_mr(buf, 8192, IBV_ACCESS_REMOTE_ATOMIC));
	IS(0, try_mr(buf, 8192, IBV_ACCESS_REMOTE_READ));
	IS(EFAULT, try_mr(fixed, 8192, IBV_ACCESS_LOCAL_WRITE));
	IS(0, try_mr(fixed, 8192, IBV_ACCESS_REMOTE_READ));
	IS(0, munmap(fixed, 8192));
	IS(EFAULT, try_mr(fixed, 8192, 0));
	IS(EINVAL, try_mr((void *)-4096, 8192, 0));
}

/* The same memory under several keys, each with rights of its own. */
static void many_keys(long arg)
{
	struct ibv_mr *read, *write;
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	read = make_mr(p.b.h->pd, p.b.buf, BUF, IBV_ACCESS_REMOTE_READ);
	write = make_mr(p.b.h->pd, p.b.buf, BUF, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
	IS(1, read->rkey != write->rkey && read->rkey != p.b.mr->rkey);
	p.a.buf[0] = 0x5a;
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 1, .to = &p.b,
		   .rkey = write->rkey));
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_READ, .id = 2, .off = 64, .len = 1, .to = &p.b,
		   .rkey = read->rkey));
	WC(p.a.scq, 1, SUCCESS);
	WC(p.a.scq, 2, SUCCESS);
	IS(0x5a, p.a.buf[64]);
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_READ, .id = 3, .len = 1, .to = &p.b,
		   .rkey = write->rkey));
	WC(p.a.scq, 3, REM_ACCESS_ERR);
	EVENT(p.b.h, QP_ACCESS_ERR, p.b.qp);
}

/* Addresses of a region that is based on zero begin there. */
static void zero_based(long arg)
{
	struct ibv_mr *mr;
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	mr = make_mr(p.b.h->pd, p.b.buf + 256, 1024, ALL_RIGHTS | IBV_ACCESS_ZERO_BASED);
	p.a.buf[0] = 0x33;
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 1, .raddr = 1023,
		   .rkey = mr->rkey));
	WC(p.a.scq, 1, SUCCESS);
	IS(0x33, p.b.buf[256 + 1023]);
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 2, .len = 1, .raddr = 1024,
		   .rkey = mr->rkey));
	WC(p.a.scq, 2, REM_ACCESS_ERR);
	EVENT(p.b.h, QP_ACCESS_ERR, p.b.qp);
}

/* A region loses its rights; its key stays valid, and requests without the right are refused. */
static void rereg_rights(long arg)
{
	struct ibv_mr *mr;
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	mr = make_mr(p.b.h->pd, p.b.buf, BUF, ALL_RIGHTS);
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 8, .to = &p.b,
		   .rkey = mr->rkey));
	WC(p.a.scq, 1, SUCCESS);
	IS(0, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, NULL, NULL, 0,
			   IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ));
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_READ, .id = 2, .len = 8, .to = &p.b,
		   .rkey = mr->rkey));
	WC(p.a.scq, 2, SUCCESS);
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 3, .len = 8, .to = &p.b,
		   .rkey = mr->rkey));
	WC(p.a.scq, 3, REM_ACCESS_ERR);
	EVENT(p.b.h, QP_ACCESS_ERR, p.b.qp);
}

static void rereg_pd(long arg)
{
	struct ibv_mr *mr;
	struct pair p;

	(void)arg;
	PAIR(&p, 0);
	mr = make_mr(p.b.h->pd, p.b.buf, BUF, ALL_RIGHTS);
	IS(0, ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, p.b.h->other_pd, NULL, 0, 0));
	IS(0, POST(&p.a, .op = IBV_WR_RDMA_WRITE, .id = 1, .len = 8, .to = &p.b,
		   .rkey = mr->rkey));
	WC(p.a.scq, 1, REM_ACCESS_ERR);
	EVENT(p.b.h, QP_ACCESS_ERR, p.b.qp);
}

/* ---- deregistration under traffic ---- */

/* A message arrives whole or is refused, and nothing writes to a region that is deregistered. */
static void dereg_under_traffic(long op)
{
	unsigned int done;
	struct ibv_wc wc;
	struct ibv_mr *mr;
	uint64_t after;
	struct pair p;
	int n;

	for (unsigned int round = 0; round < 8; round++) {
		struct opts o = { 0 };
		bool failed = false;

		pair_up(&p, &o);
		mr = make_mr(p.b.h->pd, p.b.buf, BUF, ALL_RIGHTS);
		memset(p.a.buf, round + 1, BUF);
		/* in the first round no message has begun when the region is deregistered */
		if (!round)
			IS(0, go(p.a.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_SQD, 0));
		for (unsigned int i = 0; i < DEPTH; i++)
			IS(0, POST(&p.a, .op = op, .id = i, .len = BUF / 2, .to = &p.b,
				   .rkey = mr->rkey));
		for (done = 0; done < round; done++)
			WC(p.a.scq, done, SUCCESS);
		IS(0, end_of(mr));
		memset(p.b.buf, 0, BUF);
		if (!round)
			IS(0, go(p.a.qp, (struct ibv_qp_attr) { 0 }, IBV_QPS_RTS, 0));
		for (; done < DEPTH; done++) {
			while (!(n = ibv_poll_cq(p.a.scq, 1, &wc)))
				;
			IS(1, n);
			IS(done, wc.wr_id);
			if (failed)
				IS(IBV_WC_WR_FLUSH_ERR, wc.status);
			else if (wc.status != IBV_WC_SUCCESS)
				IS(IBV_WC_REM_ACCESS_ERR, wc.status);
			failed |= wc.status != IBV_WC_SUCCESS;
		}
		memcpy(&after, p.b.buf, 8);
		IS(0, after);
		if (failed)
			EVENT(p.b.h, QP_ACCESS_ERR, p.b.qp);
		IS(failed ? IBV_QPS_ERR : IBV_QPS_RTS, state_of(p.a.qp));
		if (!round)
			IS(true, failed);
		IS(0, end_of(p.a.qp));
		IS(0, end_of(p.b.qp));
	}
}

/* ---- windows ---- */

static int bind_1(struct end *e, struct ibv_mw *mw, uint64_t id, struct ibv_mr *mr, uint32_t off,
		  uint32_t len, unsigned int access)
{
	struct ibv_mw_bind bind = {
		.wr_id = id, .send_flags = IBV_SEND_SIGNALED,
		.bind_info = { mr, (uintptr_t)e->buf + off, len, access },
	};

	return ibv_bind_mw(e->qp, mw, &bind);
}

static int bind_2(struct end *e, struct ibv_mw *mw, uint32_t rkey, uint64_t id, uint32_t off,
		  uint32_t len)
{
	struct ibv_send_wr wr = {
		.wr_id = id, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_SIGNALED,
		.bind_mw = { mw, rkey, { e->mr, (uintptr_t)e->buf + off, len, ALL_REMOTE } },
	}, *bad;

	return ibv_post_send(e->qp, &wr, &bad);
}

static void refused_at(struct pair *p, uint32_t rkey, uint64_t off)
{
	IS(0, POST(&p->a, .op = IBV_WR_RDMA_WRITE, .id = 77, .len = 8, .to = &p->b, .raddr = off,
		   .rkey = rkey));
	WC(p->a.scq, 77, REM_ACCESS_ERR);
	EVENT(p->b.h, QP_ACCESS_ERR, p->b.qp);
}

static void works_at(struct pair *p, uint32_t rkey, uint64_t off)
{
	IS(0, POST(&p->a, .op = IBV_WR_RDMA_WRITE, .id = 78, .len = 8, .to = &p->b, .raddr = off,
		   .rkey = rkey));
	WC(p->a.scq, 78, SUCCESS);
}

enum window { INSIDE_BUT_NOT_OUTSIDE, OLD_KEY, UNBOUND, NO_RIGHT };

static void window_1(long what)
{
	struct ibv_mw *mw;
	struct ibv_wc wc;
	uint32_t old;
	struct pair p;

	PAIR(&p, 0);
	mw = make_mw(hca[0].pd, IBV_MW_TYPE_1);
	IS(0, bind_1(&p.b, mw, 1, p.b.mr, 1024, 512, what == NO_RIGHT ? IBV_ACCESS_REMOTE_READ :
		     ALL_REMOTE));
	wc = WC(p.b.scq, 1, SUCCESS);
	IS(IBV_WC_BIND_MW, wc.opcode);
	old = mw->rkey;
	if (what == NO_RIGHT) {
		refused_at(&p, mw->rkey, 1024);
	} else if (what == INSIDE_BUT_NOT_OUTSIDE) {
		works_at(&p, mw->rkey, 1024);
		works_at(&p, mw->rkey, 1024 + 504);
		refused_at(&p, mw->rkey, 1024 + 505);
	} else if (what == OLD_KEY) {
		IS(0, bind_1(&p.b, mw, 2, p.b.mr, 1024, 512, ALL_REMOTE));
		WC(p.b.scq, 2, SUCCESS);
		IS(1, mw->rkey != old && (mw->rkey ^ old) < 256);
		works_at(&p, mw->rkey, 1024);
		refused_at(&p, old, 1024);
	} else {
		IS(0, bind_1(&p.b, mw, 2, p.b.mr, 0, 0, 0));
		WC(p.b.scq, 2, SUCCESS);
		refused_at(&p, mw->rkey, 1024);
	}
}

enum unbindable { NO_MW_BIND, OUTSIDE, NO_LOCAL_WRITE, OTHER_PD };

/* The window's owner gets an event, and its queue is flushed as after any error. */
static void not_bound(long why)
{
	struct ibv_mw *mw = make_mw(hca[0].pd, IBV_MW_TYPE_1);
	struct ibv_mr *mr;
	struct pair p;
	int err;

	PAIR(&p, 0);
	mr = make_mr(why == OTHER_PD ? p.b.h->other_pd : p.b.h->pd, p.b.buf, BUF,
		     why == NO_MW_BIND ? IBV_ACCESS_LOCAL_WRITE :
		     why == NO_LOCAL_WRITE ? IBV_ACCESS_MW_BIND : ALL_RIGHTS);
	err = bind_1(&p.b, mw, 1, mr, why == OUTSIDE ? BUF - 8 : 0, 64, ALL_REMOTE);
	if (why == OTHER_PD) {
		/* refused when it is posted */
		IS(EPERM, err);
		round_trip(&p);
		return;
	}
	IS(0, err);
	WC(p.b.scq, 1, MW_BIND_ERR);
	IS(IBV_QPS_ERR, state_of(p.b.qp));
	RECV(&p.b, 21, 8);
	WC(p.b.rcq, 21, WR_FLUSH_ERR);
}

enum end2 { LOCALLY, BY_THE_PEER, NOT_AT_ALL };

static void window_2(long how)
{
	struct ibv_mw *mw = make_mw(hca[0].pd, IBV_MW_TYPE_2);
	uint32_t rkey;
	struct ibv_wc wc;
	struct pair p, q;

	PAIR(&p, 0);
	rkey = ibv_inc_rkey(mw->rkey);
	IS(0, bind_2(&p.b, mw, rkey, 1, 1024, 512));
	WC(p.b.scq, 1, SUCCESS);
	works_at(&p, rkey, 1024);
	if (how == NOT_AT_ALL) {
		/* only by its own QP, and only if it is not bound */
		PAIR(&q, 0);
		IS(0, POST(&q.a, .op = IBV_WR_RDMA_WRITE, .id = 5, .len = 8,
			   .raddr = (uintptr_t)p.b.buf + 1024, .rkey = rkey));
		WC(q.a.scq, 5, REM_ACCESS_ERR);
		EVENT(q.b.h, QP_ACCESS_ERR, q.b.qp);
		IS(0, bind_2(&p.b, mw, ibv_inc_rkey(rkey), 2, 1024, 512));
		WC(p.b.scq, 2, MW_BIND_ERR);
		return;
	}
	if (how == LOCALLY) {
		IS(0, POST(&p.b, .op = IBV_WR_LOCAL_INV, .id = 2, .imm = rkey));
		wc = WC(p.b.scq, 2, SUCCESS);
		IS(IBV_WC_LOCAL_INV, wc.opcode);
	} else {
		RECV(&p.b, 21, 64);
		IS(0, POST(&p.a, .op = IBV_WR_SEND_WITH_INV, .id = 2, .len = 8, .imm = rkey));
		WC(p.a.scq, 2, SUCCESS);
		wc = WC(p.b.rcq, 21, SUCCESS);
		IS(IBV_WC_WITH_INV, wc.wc_flags);
		IS(rkey, wc.invalidated_rkey);
	}
	/* it may be bound again */
	IS(0, bind_2(&p.b, mw, ibv_inc_rkey(rkey), 3, 1024, 512));
	WC(p.b.scq, 3, SUCCESS);
	works_at(&p, ibv_inc_rkey(rkey), 1024);
	refused_at(&p, rkey, 1024);
}

/* A key that the peer may not invalidate: its message fails, and so does the receive. */
static void invalidates_what_it_may_not(long local)
{
	struct pair p;

	PAIR(&p, 0);
	if (local) {
		IS(0, POST(&p.a, .op = IBV_WR_LOCAL_INV, .id = 1, .imm = 0xffffff00));
		WC(p.a.scq, 1, LOC_QP_OP_ERR);
		IS(IBV_QPS_ERR, state_of(p.a.qp));
		IS(IBV_QPS_RTS, state_of(p.b.qp));
		return;
	}
	RECV(&p.b, 21, 64);
	IS(0, POST(&p.a, .op = IBV_WR_SEND_WITH_INV, .id = 1, .len = 8, .imm = p.b.mr->rkey));
	WC(p.a.scq, 1, REM_ACCESS_ERR);
	WC(p.b.rcq, 21, REM_INV_REQ_ERR);
	IS(IBV_QPS_ERR, state_of(p.b.qp));
	/* a region's key stays */
	PAIR(&p, 0);
	works_at(&p, p.b.mr->rkey, 0);
}

static const struct test tests[] = {
	{ "SEND of no bytes", no_bytes, IBV_WR_SEND },
	{ "SEND with immediate of no bytes", no_bytes, IBV_WR_SEND_WITH_IMM },
	{ "WRITE of no bytes, with a key of nothing", no_bytes, IBV_WR_RDMA_WRITE },
	{ "WRITE with immediate of no bytes", no_bytes, IBV_WR_RDMA_WRITE_WITH_IMM },
	{ "READ of no bytes, with a key of nothing", no_bytes, IBV_WR_RDMA_READ },
	{ "one byte", as_long_as_it_is, 1 },
	{ "one packet", as_long_as_it_is, 1024 },
	{ "one packet and a byte", as_long_as_it_is, 1025 },
	{ "many packets", as_long_as_it_is, 32000 },
	{ "lists with pieces of every length", lists, 0 },
	{ "inline data are taken when they are posted", inline_data, 0 },
	{ "a fence waits for READs", fence, 0 },
	{ "fetch and add goes round", adds, 0 },
	{ "compare and swap: equal", swaps, 1 },
	{ "compare and swap: not equal", swaps, 0 },
	{ "atomics are carried out in order, and once", many_atomics, 0 },
	{ "regions that are refused", regions_refused, 0 },
	{ "one memory, several keys", many_keys, 0 },
	{ "a region based on zero", zero_based, 0 },
	{ "rights of a region are changed", rereg_rights, 0 },
	{ "the PD of a region is changed", rereg_pd, 0 },
	{ "deregistration under WRITEs", dereg_under_traffic, IBV_WR_RDMA_WRITE },
	{ "deregistration under READs", dereg_under_traffic, IBV_WR_RDMA_READ },
	{ "window of type 1: its bounds", window_1, INSIDE_BUT_NOT_OUTSIDE },
	{ "window of type 1: the key of an earlier bind", window_1, OLD_KEY },
	{ "window of type 1: bound to nothing", window_1, UNBOUND },
	{ "window of type 1: its rights", window_1, NO_RIGHT },
	{ "window: the region lacks MW_BIND", not_bound, NO_MW_BIND },
	{ "window: outside of the region", not_bound, OUTSIDE },
	{ "window: the region lacks LOCAL_WRITE", not_bound, NO_LOCAL_WRITE },
	{ "window: a region of another PD", not_bound, OTHER_PD },
	{ "window of type 2: its own QP, and bound once", window_2, NOT_AT_ALL },
	{ "window of type 2: local invalidate", window_2, LOCALLY },
	{ "window of type 2: SEND with invalidate", window_2, BY_THE_PEER },
	{ "local invalidate of nothing", invalidates_what_it_may_not, 1 },
	{ "SEND with invalidate of a region", invalidates_what_it_may_not, 0 },
};

const struct suite memory_suite = SUITE(tests);
