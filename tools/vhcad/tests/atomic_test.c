// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Atomics: their effect on memory, their format on the wire, and that
 * each is executed exactly once, whatever the wire does to its packets.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/tatomic.h"

static u64 rnd(u64 *rng)
{
	*rng ^= *rng << 13;
	*rng ^= *rng >> 7;
	*rng ^= *rng << 17;
	return *rng;
}

/* Values that are equal now and then, with masks of all kinds. */
static void values(void **state)
{
	static const u8 cqe_op[] = { VHCA_CQE_CMP_SWAP, VHCA_CQE_FETCH_ADD,
				     VHCA_CQE_MASKED_CMP_SWAP, VHCA_CQE_MASKED_FETCH_ADD };
	u32 changed = 0, kept = 0;
	struct tatomic f;
	u64 rng = 4711;

	ta_setup(&f, 0xffff00);
	for (u32 i = 0; i < 2000; i++) {
		u8 op = VHCA_OP_CMP_SWAP + i % 4;
		u64 was = rnd(&rng) >> rnd(&rng) % 64, want, off = rnd(&rng) % (REGION / 8) * 8;
		struct vhca_wqe_atomic a = {
			.swap_add = rnd(&rng),
			.compare = rnd(&rng) % 2 ? was : was ^ 1ull << rnd(&rng) % 64,
			.mask = ta_masked(op) ? rnd(&rng) & rnd(&rng) : 0,
			.compare_mask = ta_masked(op) ? rnd(&rng) : 0,
		};
		struct twr wr = ta_wr(op, i, &f.l, i % 100 * 8, &f.r, off, &a);
		struct vhca_cqe e;

		ta_set_word(&f.r, off, was);
		t_send(&f.p.qp[0], &wr);
		e = t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
		assert_int_equal(e.opcode, cqe_op[i % 4]);
		assert_int_equal(le32toh(e.byte_len), 8);
		assert_true(ta_word(&f.l, i % 100 * 8) == was);
		want = ta_result(op, was, &a);
		assert_true(ta_word(&f.r, off) == want);
		changed += want != was;
		kept += want == was;
	}
	/* neither result of a comparison is rare */
	assert_true(changed > 600 && kept > 200);
	t_mr_expect(&f.l, 800, REGION - 800, 1, 800);
	t_expect_no_cqe(&f.p.cq[1]);
	t_expect_no_event(&f.p.h[1]);
	ta_done(&f);
}

/* Packets and memory, byte by byte: big-endian on the wire, the host's order in memory. */
static void byte_order(void **state)
{
	static const struct vhca_wqe_atomic a = {
		.swap_add = 0x0102030405060708, .compare = 0x1112131415161718,
		.mask = 0x2122232425262728, .compare_mask = 0x3132333435363738,
	};
	static const u8 in_memory[] = { 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11 };
	static const u8 on_wire[] = {
		0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x04, 0x00,
		0, 0, 0, 0,
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
	};
	static const u8 number[] = { 0x13, 0x14, 0xd3, 0xd4 };

	for (u32 i = 0; i < 4; i++) {
		u8 op = VHCA_OP_CMP_SWAP + i, buf[WIRE_MAX_PKT], want[sizeof(on_wire)], got[8];
		u32 bth = WIRE_LRH_LEN + WIRE_BTH_LEN, n;
		struct vhca_wqe_atomic mine = a;
		struct tseen seen = { .n = 0 };
		struct tatomic f;
		struct twr wr;

		if (!ta_masked(op))
			mine.mask = mine.compare_mask = 0;
		ta_setup(&f, 77);
		t_mr_put(&f.r, WORD, in_memory, 8);
		fab_set_packet_hook(f.p.w.fabric, t_watch, &seen);
		wr = ta_wr(op, 1, &f.l, 0, &f.r, WORD, &mine);
		t_send(&f.p.qp[0], &wr);
		t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
		t_mr_get(&f.l, 0, got, 8);
		assert_memory_equal(got, in_memory, 8);
		assert_true(ta_word(&f.r, WORD) == ta_result(op, 0x1112131415161718, &mine));
		assert_int_equal(seen.n, 2);
		memcpy(want, on_wire, sizeof(want));
		put_be32(want + 8, f.r.key);
		n = wire_put(&seen.h[0], 0, buf);
		assert_int_equal(buf[WIRE_LRH_LEN], number[i]);
		assert_int_equal(n, bth + (ta_masked(op) ? 44 : 28));
		assert_memory_equal(buf + bth, want, n - bth);
		n = wire_put(&seen.h[1], 0, buf);
		assert_int_equal(buf[WIRE_LRH_LEN], OP_RC_ATOMIC_ACK);
		assert_int_equal(n, bth + 12);
		assert_memory_equal(buf + bth + 4, want + 20, 8);
		ta_done(&f);
	}
}

/* ------------------------------------------------------------------------
 * Exactly once
 */
struct storm {
	u64 rng;
	u32 loss, dup, late;	/* of a thousand packets */
};

static void storm_hook(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		       struct fab_effect *v)
{
	struct storm *s = arg;
	u32 dice = rnd(&s->rng) % 1000;

	if (dice < s->loss)
		v->copies = 0;
	else if (dice < s->loss + s->dup)
		v->copies = 2;
	else if (dice < s->loss + s->dup + s->late)
		v->delay = rnd(&s->rng) % 3 ? rnd(&s->rng) % 20000 : rnd(&s->rng) % 100000000;
}

#define MAX_QPS	16u
#define EACH	60u

static int ascending(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return x < y ? -1 : x > y;
}

/*
 * Many QPs count in one word.  Each must fetch numbers that no other has
 * fetched, in ascending order, and none may be missing.
 */
static void count_in(struct tatomic *f, struct tqp *qp, u32 nqps, struct tcq *cq)
{
	static u64 seen[MAX_QPS * EACH];
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };
	u32 n = nqps * EACH, got = 0;
	struct vhca_cqe e;

	ta_set_word(&f->r, WORD, 0);
	for (u32 q = 0; q < nqps; q++) {
		for (u32 i = 0; i < EACH; i++) {
			struct twr wr = ta_wr(VHCA_OP_FETCH_ADD, i, &f->l, (q * EACH + i) * 8,
						  &f->r, WORD, &one);

			t_post(&qp[q], &wr);
		}
		t_ring_sq(&qp[q]);
	}
	t_settle(&f->p.w, SETTLE);
	while (t_cq_poll(cq, &e)) {
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
		got++;
	}
	assert_int_equal(got, n);
	assert_true(ta_word(&f->r, WORD) == n);
	for (u32 i = 0; i < n; i++) {
		seen[i] = ta_word(&f->l, i * 8);
		assert_true(!(i % EACH) || seen[i] > seen[i - 1]);
	}
	qsort(seen, n, sizeof(seen[0]), ascending);
	for (u32 i = 0; i < n; i++)
		assert_true(seen[i] == i);
}

/*
 * Swaps in the same word: one that finds what it expects writes a number of its
 * own.  The numbers written form one chain from the first to the final value.
 */
static void chain_in(struct tatomic *f, struct tqp *qp, u32 nqps, struct tcq *cq)
{
	static u64 expected[MAX_QPS * EACH], written[MAX_QPS * EACH];
	u64 at = 1000000, rng = nqps;
	u32 n = 0, links = 0;
	struct vhca_cqe e;

	ta_set_word(&f->r, WORD, at);
	for (u32 round = 0; round < EACH; round++) {
		u64 now = ta_word(&f->r, WORD);

		for (u32 q = 0; q < nqps; q++, n++) {
			/* all but the first are late, or were wrong from the start */
			struct vhca_wqe_atomic a = {
				.compare = rnd(&rng) % 4 ? now : ~now, .swap_add = n + 1,
			};
			struct twr wr = ta_wr(VHCA_OP_CMP_SWAP, n, &f->l, n * 8, &f->r, WORD,
						  &a);

			expected[n] = a.compare;
			written[n] = a.swap_add;
			t_post(&qp[q], &wr);
			t_ring_sq(&qp[q]);
		}
		t_settle(&f->p.w, SETTLE);
	}
	for (u32 i = 0; i < n; i++) {
		assert_true(t_cq_poll(cq, &e));
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
	}
	/* within a round the order does not matter; only swaps that succeed follow each other */
	for (u32 i = 0; i < n; i++) {
		u64 was = ta_word(&f->l, i * 8);

		if (was != expected[i])
			continue;
		if (was != at)
			fail_msg("swap %u met %llu, which was not there", i,
				 (unsigned long long)was);
		at = written[i];
		links++;
	}
	assert_true(at == ta_word(&f->r, WORD));
	assert_true(links > EACH / 2);
}

static void campaign(u64 seed, u32 nqps, u32 loss, u32 dup, u32 late)
{
	struct storm storm = { .rng = seed * 0x9e3779b97f4a7c15ull + 1, .loss = loss, .dup = dup,
			       .late = late };
	struct tqp a[MAX_QPS], b[MAX_QPS];
	struct tatomic f;
	struct tcq cq;

	ta_setup(&f, 1);
	t_cq_init(&f.p.h[0], &cq, 11, 0);
	for (u32 i = 0; i < nqps; i++) {
		t_qp_init(&f.p.h[0], &a[i], &cq, &cq);
		t_qp_init(&f.p.h[1], &b[i], &f.p.cq[1], &f.p.cq[1]);
		t_connect(&a[i], &b[i], 1 + i % 5, (0xffffe0 + i * 5) & PSN_MASK, 9);
		t_allow(&b[i], VHCA_ACCESS_REMOTE_ATOMIC);
	}
	fab_set_packet_hook(f.p.w.fabric, storm_hook, &storm);
	count_in(&f, a, nqps, &cq);
	chain_in(&f, a, nqps, &cq);
	t_expect_no_event(&f.p.h[0]);
	t_expect_no_event(&f.p.h[1]);
	ta_done(&f);
}

static void storms(void **state)
{
	for (u32 seed = 1; seed <= 4; seed++) {
		campaign(seed, 2, 50, 50, 100);
		campaign(seed, 5, 10, 100, 10);
		campaign(seed, 16, 30, 30, 50);
		campaign(seed, 7, 0, 200, 0);
		campaign(seed, 3, 0, 0, 200);
	}
}

/* Every packet of a conversation lost, duplicated or delayed, one after the other. */
static void each_packet(void **state)
{
	static const struct { u32 copies; u64 delay; } what[] = {
		{ 0, 0 }, { 2, 0 }, { 3, 100000000 }, { 1, 50000 }, { 1, 200000000 },
	};
	static const struct vhca_wqe_atomic add = { .swap_add = 5 };
	static const u8 between[] = { VHCA_OP_WRITE, VHCA_OP_READ };

	for (u32 w = 0; w < ARRAY_SIZE(what); w++) {
		s32 total = 1;

		for (s32 victim = -1; victim < total; victim++) {
			struct tnth n = { .victim = victim, .copies = what[w].copies,
					  .delay = what[w].delay };
			struct tatomic f;
			struct twr wr;

			ta_setup(&f, 0xfffffc);
			ta_set_word(&f.r, WORD, 100);
			fab_set_packet_hook(f.p.w.fabric, t_nth_hook, &n);
			for (u32 i = 0; i < 6; i++) {
				wr = ta_wr(VHCA_OP_FETCH_ADD, 2 * i, &f.l, i * 8, &f.r, WORD,
					       &add);
				t_post(&f.p.qp[0], &wr);
				wr = t_wr(between[i % 2], 2 * i + 1, &f.l, 4096, 2000, &f.r, 8192);
				t_post(&f.p.qp[0], &wr);
			}
			t_ring_sq(&f.p.qp[0]);
			t_settle(&f.p.w, SETTLE);
			for (u32 i = 0; i < 12; i++)
				t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
			for (u32 i = 0; i < 6; i++)
				assert_true(ta_word(&f.l, i * 8) == 100 + 5 * i);
			assert_true(ta_word(&f.r, WORD) == 130);
			if (victim < 0)
				total = n.seen;
			ta_done(&f);
		}
		assert_true(total >= 20);
	}
}

/* ------------------------------------------------------------------------
 * Depth, fences, order
 */
/* Never more under way than max_rd_atomic, which is 4. */
static void depth(void **state)
{
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };
	struct tdepth d = { 0 };
	struct tatomic f;

	ta_setup(&f, 1);
	fab_set_packet_hook(f.p.w.fabric, ta_count_depth, &d);
	for (u32 i = 0; i < 40; i++) {
		struct twr wr = ta_wr(VHCA_OP_FETCH_ADD, i, &f.l, 0, &f.r, WORD, &one);

		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	t_settle(&f.p.w, SETTLE);
	for (u32 i = 0; i < 40; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
	assert_int_equal(d.most, 4);
	ta_done(&f);
}

/* A fenced SEND has in it what the atomic before it has fetched. */
static void fence(void **state)
{
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };
	struct tdepth d = { 0 };
	struct vhca_sge s;
	struct tatomic f;
	struct twr wr;

	ta_setup(&f, 1);
	ta_set_word(&f.r, WORD, 0x1234567);
	s = t_sge(&f.r, 0, 8);
	t_recv(&f.p.qp[1], 9, 1, &s);
	fab_set_packet_hook(f.p.w.fabric, ta_count_depth, &d);
	wr = ta_wr(VHCA_OP_FETCH_ADD, 1, &f.l, 0, &f.r, WORD, &one);
	t_post(&f.p.qp[0], &wr);
	wr = t_wr(VHCA_OP_SEND, 2, &f.l, 0, 8, NULL, 0);
	wr.flags = VHCA_WQE_FENCE;
	t_post(&f.p.qp[0], &wr);
	t_ring_sq(&f.p.qp[0]);
	t_settle(&f.p.w, SETTLE);
	t_expect_cqe(&f.p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[0], 2, VHCA_CS_SUCCESS);
	t_expect_cqe(&f.p.cq[1], 9, VHCA_CS_SUCCESS);
	assert_true(ta_word(&f.r, 0) == 0x1234567);
	ta_done(&f);
}

/* An atomic is executed after a WRITE to the same word before it, and before the next WRITE. */
static void between_writes(void **state)
{
	static const struct vhca_wqe_atomic add = { .swap_add = 1000 };
	struct tatomic f;
	struct twr wr;

	ta_setup(&f, 1);
	for (u32 i = 0; i < 32; i++) {
		ta_set_word(&f.l, 512 + i * 8, i);
		wr = t_wr(VHCA_OP_WRITE, 2 * i, &f.l, 512 + i * 8, 8, &f.r, WORD);
		t_post(&f.p.qp[0], &wr);
		wr = ta_wr(VHCA_OP_FETCH_ADD, 2 * i + 1, &f.l, i * 8, &f.r, WORD, &add);
		t_post(&f.p.qp[0], &wr);
	}
	t_ring_sq(&f.p.qp[0]);
	t_settle(&f.p.w, SETTLE);
	for (u32 i = 0; i < 64; i++)
		t_expect_cqe(&f.p.cq[0], i, VHCA_CS_SUCCESS);
	for (u32 i = 0; i < 32; i++)
		assert_true(ta_word(&f.l, i * 8) == i);
	assert_true(ta_word(&f.r, WORD) == 1031);
	ta_done(&f);
}

/* The fabric's queue is full of other packets: atomics wait for room like all others. */
static void no_room(void **state)
{
	enum { QPS = 8, ATOMICS = 20 };
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };
	struct tdepth d = { 0 };
	struct tqp a[QPS], b[QPS];
	struct tatomic f;
	struct tcq cq;
	struct twr wr;

	ta_setup(&f, 1);
	t_cq_init(&f.p.h[0], &cq, 10, 0);
	fab_set_packet_hook(f.p.w.fabric, ta_count_depth, &d);
	ta_set_word(&f.r, WORD, 0);
	for (u32 i = 0; i < QPS; i++) {
		t_qp_init(&f.p.h[0], &a[i], &cq, &cq);
		t_qp_init(&f.p.h[1], &b[i], &f.p.cq[1], &f.p.cq[1]);
		t_connect(&a[i], &b[i], 1, 5, 9);
		t_allow(&b[i], ACCESS);
		for (u32 k = 0; k < ATOMICS; k++) {
			wr = t_wr(VHCA_OP_WRITE, 2 * k, &f.l, 8192, 50000, &f.r, 8192);
			t_post(&a[i], &wr);
			wr = ta_wr(VHCA_OP_FETCH_ADD, 2 * k + 1, &f.l, 0, &f.r, WORD, &one);
			t_post(&a[i], &wr);
		}
	}
	for (u32 i = 0; i < QPS; i++)
		t_ring_sq(&a[i]);
	t_settle(&f.p.w, SETTLE);
	for (u32 i = 0; i < QPS * ATOMICS * 2; i++) {
		struct vhca_cqe e;

		assert_true(t_cq_poll(&cq, &e));
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
	}
	assert_true(ta_word(&f.r, WORD) == QPS * ATOMICS);
	ta_done(&f);
}

/* ------------------------------------------------------------------------
 * Answers that come while their request waits to be sent again
 */
struct late {
	u8 answer;		/* kind of the packets that are late */
	u8 request;		/* and of those that they answer */
	u32 requests, writes;	/* that were sent */
};

/*
 * The acknowledgment of the WRITE overtakes the answer before it.  Both arrive without a turn of
 * the requester in between.
 */
static void late_answer(void *arg, const struct fab_port *from, const struct wire_hdr *h,
			struct fab_effect *v)
{
	struct late *late = arg;
	u8 kind = wire_op(h->opcode)->kind;

	late->requests += kind == late->request;
	late->writes += kind == WIRE_WRITE;
	if (kind == late->answer)
		v->delay = 2000;
	else if (kind == WIRE_ACK)
		v->delay = 1000;
}

/*
 * A WRITE is acknowledged, and the READ or the atomic before it is not answered: the answer was
 * lost, and both are to be sent again.  Then an answer comes.  The requests under way must be
 * counted right all the same, or no READ and no atomic is ever sent again.
 */
static void answer_beats_resend(void **state)
{
	static const struct late ways[] = {
		{ .answer = WIRE_ATOMIC_ACK, .request = WIRE_FETCH_ADD },
		{ .answer = WIRE_READ_RESP, .request = WIRE_READ_REQ },
	};
	static const struct vhca_wqe_atomic one = { .swap_add = 1 };
	enum { ROUNDS = 6, LEN = 1000 };

	for (u32 way = 0; way < ARRAY_SIZE(ways); way++) {
		struct late late = ways[way];
		struct tatomic f;
		struct twr wr;

		ta_setup(&f, 1);
		ta_set_word(&f.r, WORD, 0);
		fab_set_packet_hook(f.p.w.fabric, late_answer, &late);
		for (u32 i = 0; i < ROUNDS; i++) {
			wr = ta_wr(VHCA_OP_FETCH_ADD, 2 * i, &f.l, 8192, &f.r, WORD, &one);
			if (late.request == WIRE_READ_REQ)
				wr = t_wr(VHCA_OP_READ, 2 * i, &f.l, 0, LEN, &f.r, 4096);
			t_post(&f.p.qp[0], &wr);
			wr = t_wr(VHCA_OP_WRITE, 2 * i + 1, &f.l, 0, LEN, &f.r, 4096);
			t_send(&f.p.qp[0], &wr);
			f.p.w.now += 5000;
			t_settle(&f.p.w, SETTLE);
			t_expect_cqe(&f.p.cq[0], 2 * i, VHCA_CS_SUCCESS);
			t_expect_cqe(&f.p.cq[0], 2 * i + 1, VHCA_CS_SUCCESS);
			/* the answer came before its request was sent again */
			assert_int_equal(late.requests, i + 1);
			assert_int_equal(late.writes, 2 * (i + 1));
		}
		ta_done(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values),
		cmocka_unit_test(byte_order),
		cmocka_unit_test(storms),
		cmocka_unit_test(each_packet),
		cmocka_unit_test(depth),
		cmocka_unit_test(fence),
		cmocka_unit_test(between_writes),
		cmocka_unit_test(no_room),
		cmocka_unit_test(answer_beats_resend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
