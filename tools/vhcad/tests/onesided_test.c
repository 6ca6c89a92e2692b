// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Atomic writes, flushes, and requests that invalidate a key: SEND with invalidate at
 * the receiver, READ with invalidate at the sender.
 */
#include <string.h>

#include "fabric/internal.h"
#include "tests/thca.h"

#define FLUSHES	(VHCA_ACCESS_FLUSH_GLOBAL | VHCA_ACCESS_FLUSH_PERSISTENT)
#define ACCESS	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ | \
		 FLUSHES)
#define REGION	32768u
#define WORD	1024u
#define SETTLE	(600ull * 1000000000)

struct fixture {
	struct tpair p;
	struct tmr l, r;
};

static void setup(struct fixture *f)
{
	t_pair_init_regions(&f->p, 0xfffffd, 9, &f->l, &f->r, REGION, ACCESS, ACCESS);
	t_mr_fill(&f->l, 1);
	t_mr_fill(&f->r, 2);
}

static void done(struct fixture *f)
{
	t_pair_fini(&f->p);
}

/* Answers take longer than the requester's timeout. */
static void slow_answers(void *arg, const struct fab_port *from, const struct wire_hdr *h,
			 struct fab_effect *v)
{
	u32 *left = arg;
	u8 kind = wire_op(h->opcode)->kind;

	if (*left && (kind == WIRE_READ_RESP || kind == WIRE_ACK)) {
		--*left;
		v->copies = 0;
	}
}

/* A packet that our own devices would not send. */
static void forge(struct fixture *f, const struct wire_hdr *h, const void *data, u32 len)
{
	struct wire_hdr mine = *h;
	struct payload pl;
	struct run run;

	mine.dlid = t_lid(&f->p.h[1]);
	mine.slid = t_lid(&f->p.h[0]);
	mine.pkey = 0xffff;
	mine.dqpn = f->p.qp[1].qpn;
	mine.ackreq = true;
	run_from_packet(&run, &pl, &mine, data, len);
	fab_send(f->p.w.fabric->ports[0], &run);
	t_poll(&f->p.w);
}

/* ------------------------------------------------------------------------
 * Atomic writes
 */
static void atomic_write(void **state)
{
	for (u32 way = 0; way < 3; way++) {
		struct tseen seen = { .n = 0 };
		struct fixture f;
		struct vhca_cqe e;
		struct twr wr;

		setup(&f);
		fab_set_packet_hook(f.p.w.fabric, t_watch, &seen);
		wr = t_wr(VHCA_OP_ATOMIC_WRITE, 1, &f.l, 100, 8, &f.r, WORD);
		if (way == 1) {
			/* from three places, one of them across a page */
			wr.nsge = 3;
			wr.sge[0] = t_sge(&f.l, 100, 1);
			wr.sge[1] = t_sge(&f.l, 4094, 4);
			wr.sge[2] = t_sge(&f.l, 77, 3);
		} else if (way == 2) {
			wr.nsge = 0;
			wr.flags = VHCA_WQE_INLINE;
			wr.data = "\1\2\3\4\5\6\7";
			wr.data_len = 8;
		}
		t_send(&f.p.qp[0], &wr);
		e = t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
		assert_int_equal(e.opcode, VHCA_CQE_ATOMIC_WRITE);
		t_expect_no_cqe(&f.p.cq[1]);
		t_mr_expect(&f.r, 0, WORD, 2, 0);
		t_mr_expect(&f.r, WORD + 8, 1000, 2, WORD + 8);
		if (way == 0) {
			t_mr_expect(&f.r, WORD, 8, 1, 100);
		} else if (way == 1) {
			t_mr_expect(&f.r, WORD, 1, 1, 100);
			t_mr_expect(&f.r, WORD + 1, 4, 1, 4094);
			t_mr_expect(&f.r, WORD + 5, 3, 1, 77);
		} else {
			u8 got[8];

			t_mr_get(&f.r, WORD, got, 8);
			assert_memory_equal(got, wr.data, 8);
		}
		assert_int_equal(seen.n, 2);
		assert_int_equal(seen.h[0].opcode, OP_RC_ATOMIC_WRITE);
		assert_int_equal(seen.h[0].dmalen, 8);
		assert_int_equal(seen.h[0].rkey, f.r.key);
		assert_int_equal(seen.h[1].opcode, OP_RC_READ_RESP_ONLY);
		done(&f);
	}
}

/*
 * Their answers are lost and they are sent again: they are answered again, and memory that
 * was changed by others meanwhile stays as it is.
 */
static void not_twice(void **state)
{
	static const u8 later[16] = "somebody else's";
	struct fixture f;
	u32 lose = 3;
	struct twr wr;

	setup(&f);
	fab_set_packet_hook(f.p.w.fabric, slow_answers, &lose);
	for (u32 i = 0; i < 2; i++) {
		wr = t_wr(VHCA_OP_ATOMIC_WRITE, i, &f.l, i * 64, 8, &f.r, WORD + i * 8);
		t_post(&f.p.qp[0], &wr);
	}
	wr = t_wr(VHCA_OP_FLUSH, 2, NULL, 0, 0, &f.r, WORD);
	wr.flush = (struct vhca_wqe_flush){ .length = htole32(16), .type = VHCA_FLUSH_GLOBAL };
	t_post(&f.p.qp[0], &wr);
	t_ring_sq(&f.p.qp[0]);
	t_poll(&f.p.w);
	t_expect_no_cqe(&f.p.cq[0]);
	assert_int_equal(lose, 0);
	t_mr_expect(&f.r, WORD, 8, 1, 0);
	t_mr_expect(&f.r, WORD + 8, 8, 1, 64);
	t_mr_put(&f.r, WORD, later, sizeof(later));
	t_settle(&f.p.w, SETTLE);
	for (u32 i = 0; i < 3; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
	for (u32 i = 0; i < sizeof(later); i++) {
		u8 got;

		t_mr_get(&f.r, WORD + i, &got, 1);
		assert_int_equal(got, later[i]);
	}
	assert_int_equal(t_stats(&f.p.h[1]).duplicates, 3);
	done(&f);
}

static void bad_atomic_writes(void **state)
{
	static const struct {
		u32 len, off, qp_access, access;
		u8 status;
		bool here;	/* fails before it is sent */
	} bad[] = {
		{ 4, WORD, ACCESS, ACCESS, VHCA_CS_LOC_LEN_ERR, true },
		{ 16, WORD, ACCESS, ACCESS, VHCA_CS_LOC_LEN_ERR, true },
		{ 8, WORD + 2, ACCESS, ACCESS, VHCA_CS_REM_INV_REQ_ERR, false },
		{ 8, REGION, ACCESS, ACCESS, VHCA_CS_REM_ACCESS_ERR, false },
		{ 8, WORD, ACCESS & ~VHCA_ACCESS_REMOTE_WRITE, ACCESS, VHCA_CS_REM_INV_REQ_ERR,
		  false },
		{ 8, WORD, ACCESS, ACCESS & ~VHCA_ACCESS_REMOTE_WRITE, VHCA_CS_REM_ACCESS_ERR,
		  false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct fixture f;
		struct tmr r;
		struct twr wr;

		setup(&f);
		t_allow(&f.p.qp[1], bad[i].qp_access);
		t_mr_init(&f.p.h[1], &r, 1ull << 42, REGION, bad[i].access, 1, 12);
		t_mr_fill(&r, 3);
		wr = t_wr(VHCA_OP_ATOMIC_WRITE, 1, &f.l, 0, bad[i].len, &r, bad[i].off);
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, bad[i].status);
		t_mr_expect(&r, 0, REGION, 3, 0);
		assert_int_equal(t_state(&f.p.qp[1]), bad[i].here ? T_RTS : T_ERR);
		done(&f);
	}
}

/* The value is in unmapped memory: nothing arrives, and the sender gets an error. */
static void no_such_memory(void **state)
{
	for (u32 hooked = 0; hooked < 2; hooked++) {
		struct tseen seen = { .n = 0 };
		struct vhca_create_mkey_req req = {
			.buf.addr = htole64(0x10000), .length = htole64(4096), .access = 0,
		};
		struct fixture f;
		struct twr wr;

		setup(&f);
		req.pdn = htole32(f.p.h[0].pd);
		if (hooked)
			fab_set_packet_hook(f.p.w.fabric, t_watch, &seen);
		wr = t_wr(VHCA_OP_ATOMIC_WRITE, 1, &f.l, 0, 8, &f.r, WORD);
		wr.sge[0].addr = 0;
		wr.sge[0].lkey = t_create(&f.p.h[0], VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
		t_mr_expect(&f.r, 0, REGION, 2, 0);
		assert_int_equal(t_state(&f.p.qp[1]), T_RTS);
		done(&f);
	}
}

/* Lengths that our own devices do not send. */
static void forged_lengths(void **state)
{
	static const struct { u32 dmalen, len; } bad[] = { { 8, 4 }, { 4, 4 }, { 16, 16 },
							    { 16, 8 }, { 8, 0 } };

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct wire_hdr h = { .opcode = OP_RC_ATOMIC_WRITE, .psn = 0xfffffd,
				      .dmalen = bad[i].dmalen };
		struct fixture f;

		setup(&f);
		h.va = f.r.iova + WORD;
		h.rkey = f.r.key;
		forge(&f, &h, "0123456789abcdef", bad[i].len);
		t_expect_event(&f.p.h[1], VHCA_EV_QP_REQ_ERR, f.p.qp[1].qpn);
		t_mr_expect(&f.r, 0, REGION, 2, 0);
		done(&f);
	}
}

/* ------------------------------------------------------------------------
 * Flushes
 */
static struct twr flush_wr(struct fixture *f, u64 off, u32 len, u8 type, u8 level)
{
	struct twr wr = t_wr(VHCA_OP_FLUSH, 1, NULL, 0, 0, &f->r, off);

	wr.flush.length = htole32(len);
	wr.flush.type = type;
	wr.flush.level = level;
	return wr;
}

#define GLOBAL		VHCA_FLUSH_GLOBAL
#define PERSISTENT	VHCA_FLUSH_PERSISTENT

static void flush(void **state)
{
	static const struct { u64 off; u32 len; u8 type, level; } good[] = {
		{ 0, REGION, GLOBAL, VHCA_FLUSH_RANGE },
		{ 77, 1, PERSISTENT, VHCA_FLUSH_RANGE },
		{ 100, 0, GLOBAL | PERSISTENT, VHCA_FLUSH_RANGE },
		{ 1u << 30, 0, GLOBAL, VHCA_FLUSH_MR },
	};

	for (u32 i = 0; i < ARRAY_SIZE(good); i++) {
		struct tseen seen = { .n = 0 };
		struct vhca_cqe e;
		struct fixture f;
		struct twr wr;

		setup(&f);
		fab_set_packet_hook(f.p.w.fabric, t_watch, &seen);
		wr = flush_wr(&f, good[i].off, good[i].len, good[i].type, good[i].level);
		t_send(&f.p.qp[0], &wr);
		e = t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
		assert_int_equal(e.opcode, VHCA_CQE_FLUSH);
		assert_int_equal(seen.n, 2);
		assert_int_equal(seen.h[0].opcode, OP_RC_FLUSH);
		assert_int_equal(seen.h[0].flush_type, good[i].type);
		assert_int_equal(seen.h[0].flush_level, good[i].level);
		assert_int_equal(seen.h[0].dmalen, good[i].len);
		assert_true(seen.h[0].va == f.r.iova + good[i].off);
		assert_int_equal(seen.h[1].opcode, OP_RC_READ_RESP_ONLY);
		t_mr_expect(&f.r, 0, REGION, 2, 0);
		done(&f);
	}
}

static void bad_flushes(void **state)
{
	static const struct {
		u64 off;
		u32 len;
		u8 type, level;
		u32 qp_access, access;
		u8 status;
		bool here;
	} bad[] = {
		{ 0, 8, 0, 0, ACCESS, ACCESS, VHCA_CS_LOC_QP_OP_ERR, true },
		{ 0, 8, 4, 0, ACCESS, ACCESS, VHCA_CS_LOC_QP_OP_ERR, true },
		{ 0, 8, GLOBAL, 2, ACCESS, ACCESS, VHCA_CS_LOC_QP_OP_ERR, true },
		{ 0, 8, GLOBAL, VHCA_FLUSH_MR, ACCESS, ACCESS, VHCA_CS_LOC_QP_OP_ERR, true },
		{ REGION - 8, 9, GLOBAL, 0, ACCESS, ACCESS, VHCA_CS_REM_ACCESS_ERR, false },
		{ 0, 8, GLOBAL | PERSISTENT, 0, ACCESS & ~VHCA_ACCESS_FLUSH_PERSISTENT, ACCESS,
		  VHCA_CS_REM_INV_REQ_ERR, false },
		{ 0, 8, GLOBAL, 0, ACCESS & ~VHCA_ACCESS_FLUSH_GLOBAL, ACCESS,
		  VHCA_CS_REM_INV_REQ_ERR, false },
		{ 0, 8, GLOBAL | PERSISTENT, 0, ACCESS, ACCESS & ~VHCA_ACCESS_FLUSH_GLOBAL,
		  VHCA_CS_REM_ACCESS_ERR, false },
		{ 0, 0, PERSISTENT, VHCA_FLUSH_MR, ACCESS, ACCESS & ~VHCA_ACCESS_FLUSH_PERSISTENT,
		  VHCA_CS_REM_ACCESS_ERR, false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct fixture f;
		struct tmr r;
		struct twr wr;

		setup(&f);
		t_allow(&f.p.qp[1], bad[i].qp_access);
		t_mr_init(&f.p.h[1], &r, 1ull << 42, REGION, bad[i].access, 1, 12);
		wr = flush_wr(&f, bad[i].off, bad[i].len, bad[i].type, bad[i].level);
		wr.raddr = r.iova + bad[i].off;
		wr.rkey = r.key;
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, bad[i].status);
		assert_int_equal(t_state(&f.p.qp[1]), bad[i].here ? T_RTS : T_ERR);
		done(&f);
	}
}

/* Reserved bits and undefined levels of a FETH. */
static void forged_flushes(void **state)
{
	static const struct { u8 type, level; } bad[] = { { 0, 0 }, { 4, 0 }, { 9, 0 }, { 1, 2 },
							  { 1, 3 } };

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct wire_hdr h = { .opcode = OP_RC_FLUSH, .psn = 0xfffffd, .dmalen = 8,
				      .flush_type = bad[i].type, .flush_level = bad[i].level };
		struct fixture f;

		setup(&f);
		h.va = f.r.iova;
		h.rkey = f.r.key;
		forge(&f, &h, NULL, 0);
		t_expect_event(&f.p.h[1], VHCA_EV_QP_REQ_ERR, f.p.qp[1].qpn);
		done(&f);
	}
}

/* ------------------------------------------------------------------------
 * Invalidated keys
 */
struct fast {
	struct tmr mr;		/* whose pages it has; the key is its own */
	u64 list;
	u32 key;
};

static void fast_init(struct thca *h, struct fast *k, u64 iova)
{
	struct vhca_create_mkey_req req = { .pdn = htole32(h->pd), .type = VHCA_MKEY_FAST };
	__le64 *list;

	t_mr_init(h, &k->mr, iova, REGION, ACCESS, 1, 12);
	k->list = t_alloc(h, 4096);
	list = t_cpu(h, k->list);
	for (u32 i = 0; i < k->mr.npages; i++)
		list[i] = htole64(k->mr.page[i]);
	req.buf.addr = htole64(k->list);
	req.buf.npages = htole32(k->mr.npages);
	req.buf.levels = 1;
	k->key = t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req)) | 0x21;
}

static void fast_register(struct tqp *qp, struct tcq *cq, struct fast *k)
{
	struct twr wr = { .opcode = VHCA_OP_REG_MR, .wr_id = 99 };

	wr.reg = (struct vhca_wqe_reg){
		.key = htole32(k->key), .entries = htole32(k->mr.npages),
		.iova = htole64(k->mr.iova), .length = htole64(k->mr.len), .access = ACCESS,
		.page_shift = 12,
	};
	t_send(qp, &wr);
	assert_int_equal(t_expect_cqe(cq, 99, VHCA_CS_SUCCESS).opcode, VHCA_CQE_REG_MR);
}

/* Can the peer still read through the key? */
static bool readable(struct fixture *f, struct fast *k)
{
	struct twr wr = t_wr(VHCA_OP_READ, 50, &f->l, 0, 100, &k->mr, 0);
	struct vhca_cqe e;

	wr.rkey = k->key;
	t_send(&f->p.qp[0], &wr);
	assert_true(t_cq_poll(&f->p.cq[0], &e));
	return e.status == VHCA_CS_SUCCESS;
}

static void send_inv(void **state)
{
	static const u32 sizes[] = { 0, 10, 512, 3000 };

	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct tseen seen = { .n = 0 };
		struct vhca_sge s;
		struct vhca_cqe e;
		struct fixture f;
		struct fast k;
		struct twr wr;

		setup(&f);
		fast_init(&f.p.h[1], &k, 1ull << 43);
		fast_register(&f.p.qp[1], &f.p.cq[1], &k);
		assert_true(readable(&f, &k));
		s = t_sge(&f.r, 0, 4000);
		t_recv(&f.p.qp[1], 7, 1, &s);
		fab_set_packet_hook(f.p.w.fabric, t_watch, &seen);
		wr = t_wr(VHCA_OP_SEND_INV, 1, &f.l, 8000, sizes[i], NULL, 0);
		wr.imm = htole32(k.key);
		t_send(&f.p.qp[0], &wr);
		assert_int_equal(t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS).opcode,
				 VHCA_CQE_SEND);
		e = t_expect_cqe(&f.p.cq[1], 7, VHCA_CS_SUCCESS);
		assert_int_equal(e.opcode, VHCA_CQE_RECV);
		assert_int_equal(e.flags, VHCA_CQE_F_RQ | VHCA_CQE_F_INV);
		assert_int_equal(le32toh(e.inv_key), k.key);
		assert_int_equal(le32toh(e.byte_len), sizes[i]);
		t_mr_expect(&f.r, 0, sizes[i], 1, 8000);
		for (u32 n = 0; n + 2 < seen.n; n++)
			assert_false(wire_op(seen.h[n].opcode)->flags & WIRE_F_INV);
		assert_false(readable(&f, &k));
		done(&f);
	}
}

/* A key that the peer may not invalidate: neither side takes it for invalidated. */
static void send_inv_refused(void **state)
{
	static const u32 sizes[] = { 10, 3000 };

	for (u32 i = 0; i < 2 * ARRAY_SIZE(sizes); i++) {
		struct vhca_sge s;
		struct fixture f;
		struct fast k;
		struct twr wr;

		setup(&f);
		fast_init(&f.p.h[1], &k, 1ull << 43);
		fast_register(&f.p.qp[1], &f.p.cq[1], &k);
		s = t_sge(&f.r, 0, 4000);
		t_recv(&f.p.qp[1], 7, 1, &s);
		wr = t_wr(VHCA_OP_SEND_INV, 1, &f.l, 0, sizes[i / 2], NULL, 0);
		/* another variant; a region for good */
		wr.imm = htole32(i % 2 ? k.key + 1 : f.r.key);
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
		t_expect_cqe(&f.p.cq[1], 7, VHCA_CS_REM_INV_REQ_ERR);
		t_expect_no_event(&f.p.h[1]);
		assert_int_equal(t_state(&f.p.qp[1]), T_ERR);
		done(&f);
	}
}

/* Each packet lost, duplicated or delayed: the key is invalidated and the message arrives once. */
static void send_inv_exactly_once(void **state)
{
	for (u32 w = 0; w < T_SPOILS; w++) {
		s32 total = 1;

		for (s32 victim = -1; victim < total; victim++) {
			struct tnth n = { .victim = victim, .copies = t_spoils[w].copies,
					  .delay = t_spoils[w].delay };
			struct vhca_sge s;
			struct fixture f;
			struct fast k[3];
			struct twr wr;

			setup(&f);
			s = t_sge(&f.r, 0, 4000);
			for (u32 i = 0; i < 3; i++) {
				fast_init(&f.p.h[1], &k[i], (i + 1ull) << 43);
				fast_register(&f.p.qp[1], &f.p.cq[1], &k[i]);
				t_recv(&f.p.qp[1], i, 1, &s);
			}
			fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
			for (u32 i = 0; i < 3; i++) {
				wr = t_wr(VHCA_OP_SEND_INV, i, &f.l, 0, 1500, NULL, 0);
				wr.imm = htole32(k[i].key);
				t_post(&f.p.qp[0], &wr);
			}
			t_ring_sq(&f.p.qp[0]);
			t_settle(&f.p.w, SETTLE);
			for (u32 i = 0; i < 3; i++) {
				t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
				t_expect_cqe(&f.p.cq[1], i, VHCA_CS_SUCCESS);
			}
			if (victim < 0)
				total = n.seen;
			done(&f);
		}
		assert_true(total >= 7);
	}
}

/* READ_INV: the answer is written through a key that is invalidated with it. */
static void read_inv(void **state)
{
	struct fixture f;
	struct fast k;
	struct vhca_cqe e;
	struct twr wr;

	setup(&f);
	fast_init(&f.p.h[0], &k, 1ull << 43);
	fast_register(&f.p.qp[0], &f.p.cq[0], &k);
	wr = t_wr(VHCA_OP_READ_INV, 1, &k.mr, 100, 3000, &f.r, 500);
	wr.sge[0].lkey = k.key;
	t_send(&f.p.qp[0], &wr);
	e = t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_int_equal(e.opcode, VHCA_CQE_READ);
	assert_int_equal(le32toh(e.byte_len), 3000);
	t_mr_expect(&k.mr, 100, 3000, 2, 500);
	/* the key is invalidated: it can be registered, and not be used */
	fast_register(&f.p.qp[0], &f.p.cq[0], &k);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_send(&f.p.qp[0], &wr);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_LOC_PROT_ERR);
	done(&f);
}

static void read_inv_refused(void **state)
{
	static const struct { u32 nsge; bool lasting; u8 status; } bad[] = {
		{ 0, false, VHCA_CS_LOC_QP_OP_ERR },
		{ 2, false, VHCA_CS_LOC_QP_OP_ERR },
		/* read, but the key cannot be invalidated */
		{ 1, true, VHCA_CS_LOC_QP_OP_ERR },
	};

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct fixture f;
		struct fast k;
		struct twr wr;

		setup(&f);
		fast_init(&f.p.h[0], &k, 1ull << 43);
		fast_register(&f.p.qp[0], &f.p.cq[0], &k);
		wr = t_wr(VHCA_OP_READ_INV, 1, &k.mr, 100, 3000, &f.r, 500);
		wr.sge[0].lkey = bad[i].lasting ? k.mr.key : k.key;
		wr.sge[1] = wr.sge[0];
		wr.nsge = bad[i].nsge;
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, bad[i].status);
		done(&f);
	}
}

/* Neither UC nor UD has any of them. */
static void wrong_queue(void **state)
{
	static const u8 ops[] = { VHCA_OP_SEND_INV, VHCA_OP_READ_INV, VHCA_OP_ATOMIC_WRITE,
				  VHCA_OP_FLUSH, VHCA_OP_LOCAL_INV, VHCA_OP_REG_MR };

	for (u32 i = 0; i < 2 * ARRAY_SIZE(ops); i++) {
		struct tpair p;
		struct tmr mr;
		struct twr wr;

		if (i % 2)
			t_pair_init_uc(&p, 3, 1, 2);
		else
			t_pair_init_ud(&p, 3);
		t_mr_init(&p.h[0], &mr, 1ull << 40, 4096, ACCESS, 1, 12);
		wr = t_wr(ops[i / 2], 1, &mr, 0, 8, &mr, 0);
		wr.nsge = ops[i / 2] < VHCA_OP_FLUSH;
		wr.flush.type = GLOBAL;
		t_send(&p.qp[0], &wr);
		t_expect_cqe(&p.cq[0], 1, VHCA_CS_LOC_QP_OP_ERR);
		t_pair_fini(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(atomic_write),
		cmocka_unit_test(not_twice),
		cmocka_unit_test(bad_atomic_writes),
		cmocka_unit_test(no_such_memory),
		cmocka_unit_test(forged_lengths),
		cmocka_unit_test(flush),
		cmocka_unit_test(bad_flushes),
		cmocka_unit_test(forged_flushes),
		cmocka_unit_test(send_inv),
		cmocka_unit_test(send_inv_refused),
		cmocka_unit_test(send_inv_exactly_once),
		cmocka_unit_test(read_inv),
		cmocka_unit_test(read_inv_refused),
		cmocka_unit_test(wrong_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
