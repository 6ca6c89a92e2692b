// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues of the kernel, on a device that the test plays: it takes receives in order,
 * completes them in any order, and writes invalid completions.
 */
#include <linux/prandom.h>

#include "../verbs/srq.h"
#include "test_queues.h"

#define SRQ_LOG		3
#define SRQ_SIZE	(1 << SRQ_LOG)
#define ROOM		96	/* bytes of a receive */

/* The device's view of a ring. */
struct srq_bench {
	struct bench *b;
	struct vhca_srq srq;
	struct vhca_srq_kernel k;
	struct vhca_ring other;
	struct vhca_ring *ring;		/* from which the device takes receives */
	u64 taken;
};

static void free_srq(void *data)
{
	struct srq_bench *s = data;

	vhca_srq_ring_free(&s->k);
}

static struct srq_bench *make_srq(struct kunit *test)
{
	struct bench *b = test->priv;
	struct srq_bench *s = kunit_kzalloc(test, sizeof(*s), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, s);
	s->b = b;
	s->srq.ibsrq.device = &b->dev.ibdev;
	s->srq.kernel = &s->k;
	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&b->uar, &s->srq.db), 0);
	KUNIT_ASSERT_EQ(test, vhca_srq_ring_make(&s->k, b->dev.hw.dev, &s->srq.db, SRQ_LOG, 3), 0);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, free_srq, s), 0);
	s->ring = &s->k.ring;
	b->qp.ibqp.srq = &s->srq.ibsrq;
	return s;
}

static int post(struct srq_bench *s, u64 wr_id)
{
	struct ib_sge sge[2] = { { 0x5000 + wr_id, ROOM - 32, 5 }, { 0x6000, 32, 6 } };
	struct ib_recv_wr wr = { .wr_id = wr_id, .sg_list = sge, .num_sge = 2 };
	const struct ib_recv_wr *bad = NULL;
	int err = vhca_srq_ring_post(&s->k, &wr, &bad);

	KUNIT_EXPECT_PTR_EQ(s->b->test, bad, err ? (const struct ib_recv_wr *)&wr : NULL);
	return err;
}

static u64 posted(struct srq_bench *s)
{
	return le64_to_cpu(*vhca_db_rec(&s->srq.db, 0));
}

static void tell_taken(struct srq_bench *s, u64 taken)
{
	*vhca_db_rec(&s->srq.db, 1) = cpu_to_le64(taken);
}

/* Takes the next receive, and returns its id for the completion. */
static u64 take(struct srq_bench *s, u64 wr_id)
{
	struct kunit *test = s->b->test;
	struct vhca_rwqe *rwqe = vhca_ring_at(s->ring, s->taken);
	struct vhca_sge *seg = (void *)(rwqe + 1);

	KUNIT_ASSERT_LT(test, s->taken, posted(s));
	KUNIT_EXPECT_EQ(test, le32_to_cpu(rwqe->index), (u32)s->taken);
	KUNIT_EXPECT_EQ(test, rwqe->nsge, 2);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(seg[0].addr), 0x5000 + wr_id);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(seg[1].lkey), 6);
	tell_taken(s, ++s->taken);
	return le64_to_cpu(rwqe->wr_id);
}

static void complete_len(struct srq_bench *s, u64 id, u32 len)
{
	struct vhca_cqe cqe = bench_done(0, VHCA_CQE_F_RQ);

	cqe.wr_id = cpu_to_le64(id);
	cqe.byte_len = cpu_to_le32(len);
	bench_complete(s->b, cqe);
}

static void complete_id(struct srq_bench *s, u64 id)
{
	complete_len(s, id, ROOM);
}

static void test_room(struct kunit *test)
{
	struct srq_bench *s = make_srq(test);
	struct ib_wc wc;
	u64 id[2], i;

	for (i = 0; i < SRQ_SIZE; i++)
		KUNIT_ASSERT_EQ(test, post(s, i), 0);
	KUNIT_EXPECT_EQ(test, post(s, i), -ENOMEM);
	KUNIT_EXPECT_EQ(test, posted(s), SRQ_SIZE);
	/* A receive occupies its slot until its completion is polled, even after it was taken. */
	id[0] = take(s, 0);
	id[1] = take(s, 1);
	KUNIT_EXPECT_EQ(test, post(s, 8), -ENOMEM);
	complete_id(s, id[1]);
	KUNIT_ASSERT_EQ(test, bench_poll(s->b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wr_id, 1);
	KUNIT_EXPECT_EQ(test, wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_PTR_EQ(test, wc.qp, &s->b->qp.ibqp);
	KUNIT_EXPECT_EQ(test, post(s, 8), 0);
	KUNIT_EXPECT_EQ(test, post(s, 9), -ENOMEM);
	KUNIT_EXPECT_EQ(test, posted(s), SRQ_SIZE + 1);
}

static void test_bad_requests(struct kunit *test)
{
	struct srq_bench *s = make_srq(test);
	struct ib_sge sge[4] = {};
	struct ib_recv_wr wr[3] = {
		{ .wr_id = 1, .next = &wr[1] },
		{ .wr_id = 2, .sg_list = sge, .num_sge = 4, .next = &wr[2] },
		{ .wr_id = 3 },
	};
	const struct ib_recv_wr *bad;

	KUNIT_EXPECT_EQ(test, vhca_srq_ring_post(&s->k, wr, &bad), -EINVAL);
	KUNIT_EXPECT_PTR_EQ(test, bad, (const struct ib_recv_wr *)&wr[1]);
	KUNIT_EXPECT_EQ(test, posted(s), 1);
	/* The QP has no receives of its own. */
	KUNIT_EXPECT_EQ(test, bench_recv(s->b, 1), -EINVAL);
}

/* Receives are taken in order and completed in any order, over many laps of the ring. */
static void test_any_order(struct kunit *test)
{
	struct srq_bench *s = make_srq(test);
	struct rnd_state rnd;
	u64 ids[SRQ_SIZE], wr_ids[SRQ_SIZE], next = 0, oldest = 0;
	unsigned int n = 0, pick;
	struct ib_wc wc;

	prandom_seed_state(&rnd, 20);
	for (unsigned int round = 0; round < 4000; round++) {
		switch (prandom_u32_state(&rnd) % 3) {
		case 0:
			if (next - oldest + n < SRQ_SIZE)
				KUNIT_ASSERT_EQ(test, post(s, next++), 0);
			else
				KUNIT_ASSERT_EQ(test, post(s, next), -ENOMEM);
			break;
		case 1:
			if (s->taken == next)
				break;
			wr_ids[n] = oldest;
			ids[n++] = take(s, oldest++);
			break;
		case 2:
			if (!n)
				break;
			pick = prandom_u32_state(&rnd) % n;
			complete_id(s, ids[pick]);
			KUNIT_ASSERT_EQ(test, bench_poll(s->b, 1, &wc), 1);
			KUNIT_ASSERT_EQ(test, wc.wr_id, wr_ids[pick]);
			ids[pick] = ids[--n];
			wr_ids[pick] = wr_ids[n];
			break;
		}
	}
	KUNIT_EXPECT_GT(test, next, 10 * SRQ_SIZE);
}

static void test_lies(struct kunit *test)
{
	struct srq_bench *s = make_srq(test);
	struct ib_wc wc[8];
	u64 id;

	bench_expect_lies(s->b);
	KUNIT_ASSERT_EQ(test, post(s, 1), 0);
	id = take(s, 1);
	complete_id(s, id + 1);			/* nothing posted there */
	complete_id(s, id + SRQ_SIZE);		/* no such slot */
	complete_id(s, id ^ BIT_ULL(32));	/* another generation of the slot */
	complete_id(s, U64_MAX);
	complete_len(s, id, ROOM + 1);		/* more than it has room for */
	complete_len(s, id, U32_MAX);
	complete_id(s, id);
	complete_id(s, id);			/* the same once more */
	KUNIT_ASSERT_EQ(test, bench_poll(s->b, 8, wc), 1);
	KUNIT_EXPECT_EQ(test, wc[0].wr_id, 1);
	KUNIT_EXPECT_EQ(test, s->k.busy, 0);

	/* A taken count above the posted one, or below the last one, is ignored. */
	for (u64 i = 0; i < SRQ_SIZE; i++)
		KUNIT_ASSERT_EQ(test, post(s, i), 0);
	tell_taken(s, 100);
	vhca_srq_ring_finish(&s->k, take(s, 0), 0, &id);
	tell_taken(s, 100);
	KUNIT_EXPECT_EQ(test, post(s, 9), -ENOMEM);
	tell_taken(s, s->taken);
	KUNIT_EXPECT_EQ(test, post(s, 9), 0);
}

/* Unpolled completions of a QP that is destroyed free their receives. */
static void test_purge(struct kunit *test)
{
	struct srq_bench *s = make_srq(test);
	struct ib_wc wc;

	for (u64 i = 0; i < 3; i++)
		KUNIT_ASSERT_EQ(test, post(s, i), 0);
	complete_id(s, take(s, 0));
	complete_id(s, take(s, 1));
	complete_id(s, ~0ull);
	vhca_cq_purge_qp(&s->b->qp, false);
	KUNIT_EXPECT_EQ(test, s->k.busy, 1);
	KUNIT_EXPECT_EQ(test, bench_poll(s->b, 1, &wc), 0);
}

static void begin_move(struct srq_bench *s, u8 log, int err)
{
	struct kunit *test = s->b->test;

	KUNIT_ASSERT_EQ(test, vhca_ring_alloc(&s->other, s->b->dev.hw.dev, log,
					      s->k.ring.log_entry), 0);
	KUNIT_ASSERT_EQ(test, vhca_srq_ring_move_begin(&s->k, &s->other), err);
	if (err)
		vhca_ring_free(&s->other);
}

static void end_move(struct srq_bench *s, bool moved)
{
	vhca_srq_ring_move_end(&s->k, &s->other, moved);
	vhca_ring_free(&s->other);
	s->ring = &s->k.ring;
}

static void drain(struct srq_bench *s, u64 from, u64 to)
{
	struct kunit *test = s->b->test;
	struct ib_wc wc;

	for (; from < to; from++) {
		complete_id(s, take(s, from));
		KUNIT_ASSERT_EQ(test, bench_poll(s->b, 1, &wc), 1);
		KUNIT_EXPECT_EQ(test, wc.wr_id, from);
	}
}

/* With any number of receives: some are taken from the old ring and some from the new one. */
static void test_grow(struct kunit *test)
{
	struct srq_bench *s = make_srq(test);
	u64 next = 0, done = 0, early;
	struct ib_wc wc;
	u8 log = SRQ_LOG;

	for (unsigned int fill = 0; fill <= SRQ_SIZE; fill++) {
		while (next - done < fill)
			KUNIT_ASSERT_EQ(test, post(s, next++), 0);
		/* One receive is taken and not completed during the whole replacement. */
		early = fill ? take(s, done) : 0;
		begin_move(s, ++log, 0);
		while (next - done < SRQ_SIZE)
			KUNIT_ASSERT_EQ(test, post(s, next++), 0);
		if (fill > 1)
			drain(s, done + 1, done + 2);	/* the device still uses the old ring */
		s->ring = &s->other;
		if (fill > 2)
			drain(s, done + 2, done + 3);	/* and now in the new one */
		end_move(s, true);
		KUNIT_EXPECT_EQ(test, s->k.ring.log, log);
		if (fill) {
			complete_id(s, early);
			KUNIT_ASSERT_EQ(test, bench_poll(s->b, 1, &wc), 1);
			KUNIT_EXPECT_EQ(test, wc.wr_id, done);
		}
		while (next - done < SRQ_SIZE * 2)
			KUNIT_ASSERT_EQ(test, post(s, next++), 0);
		drain(s, done + min(fill, 3U), next);
		done = next;
	}
	while (next - done < 1ull << log)
		KUNIT_ASSERT_EQ(test, post(s, next++), 0);
	KUNIT_EXPECT_EQ(test, post(s, next), -ENOMEM);
}

static void test_shrink(struct kunit *test)
{
	struct srq_bench *s = make_srq(test);
	u64 out[3];

	for (u64 i = 0; i < 7; i++)
		KUNIT_ASSERT_EQ(test, post(s, i), 0);
	for (u64 i = 0; i < 2; i++)
		out[i] = take(s, i);
	begin_move(s, 2, -EINVAL);		/* five are posted, four would fit */
	KUNIT_EXPECT_EQ(test, post(s, 7), 0);
	KUNIT_EXPECT_EQ(test, post(s, 8), -ENOMEM);
	for (u64 i = 2; i < 4; i++)
		drain(s, i, i + 1);
	begin_move(s, 2, 0);			/* four are posted */
	KUNIT_EXPECT_EQ(test, post(s, 8), -ENOMEM);
	end_move(s, false);			/* the device refuses */
	KUNIT_EXPECT_EQ(test, s->k.ring.log, SRQ_LOG);
	KUNIT_EXPECT_EQ(test, post(s, 8), 0);
	drain(s, 4, 5);
	begin_move(s, 2, 0);
	s->ring = &s->other;
	end_move(s, true);
	KUNIT_EXPECT_EQ(test, post(s, 9), -ENOMEM);
	/* Receives that were taken are counted until their completions are polled. */
	drain(s, 5, 7);
	KUNIT_EXPECT_EQ(test, post(s, 9), -ENOMEM);
	for (u64 i = 0; i < 2; i++)
		KUNIT_EXPECT_TRUE(test, vhca_srq_ring_finish(&s->k, out[i], 0, &out[2]));
	KUNIT_EXPECT_EQ(test, post(s, 9), 0);
	drain(s, 7, 10);
}

/* The device reports the taken count in 32 bits, with zeros above. */
static void test_count_wraps(struct kunit *test)
{
	const u64 start = BIT_ULL(32) - 20;
	struct srq_bench *s = make_srq(test);
	struct ib_wc wc;
	u64 id;

	s->taken = start;
	s->k.head = start;
	s->k.tail = start;
	tell_taken(s, (u32)start);
	for (u64 i = start; i < start + SRQ_SIZE; i++)
		KUNIT_ASSERT_EQ(test, post(s, i), 0);
	for (u64 i = start; i < start + 40; i++) {
		KUNIT_ASSERT_EQ(test, post(s, i), -ENOMEM);
		id = take(s, i);
		tell_taken(s, (u32)s->taken);
		complete_id(s, id);
		KUNIT_ASSERT_EQ(test, bench_poll(s->b, 1, &wc), 1);
		KUNIT_ASSERT_EQ(test, wc.wr_id, i);
		KUNIT_ASSERT_EQ(test, post(s, i + SRQ_SIZE), 0);
	}
}

/* The ring is replaced repeatedly by one of another size, with receives posted and taken. */
static void test_count_wraps_in_moves(struct kunit *test)
{
	const u64 start = BIT_ULL(32) - 100;
	struct srq_bench *s = make_srq(test);
	u64 next = start, done = start, out;
	unsigned int left = 0;
	u8 log = SRQ_LOG;
	struct ib_wc wc;

	s->taken = start;
	s->k.head = start;
	s->k.tail = start;
	tell_taken(s, (u32)start);
	while (done < start + 200) {
		while (next - done < 1ull << log)
			KUNIT_ASSERT_EQ(test, post(s, next++), 0);
		KUNIT_ASSERT_EQ(test, post(s, next), -ENOMEM);
		/* The receives that are left fit either ring; one is taken during the move. */
		left = left % 4 + 2;
		drain(s, done, next - left);
		done = next - left;
		out = take(s, done);
		tell_taken(s, (u32)s->taken);
		log = log == SRQ_LOG ? SRQ_LOG + 1 : SRQ_LOG;
		begin_move(s, log, 0);
		KUNIT_ASSERT_EQ(test, post(s, next++), 0);
		s->ring = &s->other;
		end_move(s, true);
		complete_id(s, out);
		KUNIT_ASSERT_EQ(test, bench_poll(s->b, 1, &wc), 1);
		KUNIT_ASSERT_EQ(test, wc.wr_id, done);
		done++;
		tell_taken(s, (u32)s->taken);
	}
}

static struct kunit_case srq_cases[] = {
	KUNIT_CASE(test_room),
	KUNIT_CASE(test_bad_requests),
	KUNIT_CASE(test_any_order),
	KUNIT_CASE(test_lies),
	KUNIT_CASE(test_purge),
	KUNIT_CASE(test_grow),
	KUNIT_CASE(test_shrink),
	KUNIT_CASE(test_count_wraps),
	KUNIT_CASE(test_count_wraps_in_moves),
	{}
};

struct kunit_suite vhca_srq_suite = {
	.name = "vhca_srq",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = srq_cases,
};
