// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rings of CQs that are replaced while entries are written and polled, ib_peek_cq(), and events
 * after a number of completions.
 */
#include <linux/prandom.h>

#include "test_queues.h"

/* The device's state. Sends of one block each are posted and completed. */
struct resize_bench {
	struct bench *b;
	struct vhca_ring to;
	struct vhca_ring *ring;
	u64 posted;
	u64 written;
	u64 polled;
};

static struct resize_bench *make(struct kunit *test)
{
	struct resize_bench *r = kunit_kzalloc(test, sizeof(*r), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, r);
	r->b = test->priv;
	r->ring = &r->b->cqk.ring;
	return r;
}

static void post(struct resize_bench *r)
{
	KUNIT_ASSERT_EQ(r->b->test, bench_send(r->b, r->posted++, 1), 0);
}

/* Completes the next request, unless there is none or the ring is full. */
static bool write_one(struct resize_bench *r)
{
	struct vhca_cqe cqe = bench_done(r->written + 1, 0);

	if (r->written == r->posted || r->written - r->polled == vhca_ring_entries(r->ring))
		return false;
	cqe.owner = vhca_ring_lap(r->written, r->ring->log);
	memcpy(vhca_ring_at(r->ring, r->written), &cqe, sizeof(cqe));
	r->written++;
	return true;
}

static void poll_some(struct resize_bench *r, int n)
{
	struct kunit *test = r->b->test;
	struct ib_wc wc;

	while (n-- && r->polled < r->written) {
		KUNIT_ASSERT_EQ(test, bench_poll(r->b, 1, &wc), 1);
		KUNIT_ASSERT_EQ(test, wc.wr_id, r->polled);
		r->polled++;
	}
	if (r->polled == r->written)
		KUNIT_ASSERT_EQ(test, bench_poll(r->b, 1, &wc), 0);
}

static void begin(struct resize_bench *r, u8 log)
{
	KUNIT_ASSERT_EQ(r->b->test, vhca_ring_alloc(&r->to, r->b->dev.hw.dev, log,
						    order_base_2(sizeof(struct vhca_cqe))), 0);
	vhca_cq_move_begin(&r->b->cq, &r->to);
}

static bool end(struct resize_bench *r, u64 first)
{
	bool call = false;

	KUNIT_ASSERT_EQ(r->b->test, vhca_cq_move_end(&r->b->cq, &r->to, first, &call), 0);
	vhca_ring_free(&r->to);
	r->ring = &r->b->cqk.ring;
	return call;
}

static bool cancel(struct resize_bench *r)
{
	bool call = false;

	vhca_cq_move_cancel(&r->b->cq, &call);
	vhca_ring_free(&r->to);
	return call;
}

static unsigned int pick(struct rnd_state *rnd, unsigned int n)
{
	return prandom_u32_state(rnd) % n;
}

/* Replaces the ring, with entries before, during and after the replacement. */
static void replace(struct resize_bench *r, struct rnd_state *rnd, u8 log)
{
	struct kunit *test = r->b->test;
	struct ib_wc wc;
	u64 first;

	begin(r, log);
	for (unsigned int n = pick(rnd, 4); n--;)
		write_one(r);
	KUNIT_ASSERT_EQ(test, bench_poll(r->b, 1, &wc), 0);
	if (r->written - r->polled > 1ull << log || !pick(rnd, 8)) {
		KUNIT_ASSERT_FALSE(test, cancel(r));
		return;
	}
	first = r->written;
	r->ring = &r->to;
	for (unsigned int n = pick(rnd, 6); n--;)
		write_one(r);
	KUNIT_ASSERT_EQ(test, bench_poll(r->b, 1, &wc), 0);
	KUNIT_ASSERT_FALSE(test, end(r, first));
}

/* Runs replacements on queues whose counts begin at @start. */
static void use(struct kunit *test, u64 start)
{
	struct resize_bench *r = make(test);
	unsigned int moved = 0;
	struct rnd_state rnd;

	r->posted = start;
	r->written = start;
	r->polled = start;
	r->b->cqk.ci = start;
	r->b->qpk.sq.head = start;
	r->b->qpk.sq.tail = start;
	prandom_seed_state(&rnd, 4);
	for (unsigned int round = 0; round < 6000; round++) {
		switch (pick(&rnd, 8)) {
		case 0 ... 2:
			if (r->posted - r->polled < 1 << BENCH_SQ_LOG)
				post(r);
			break;
		case 3 ... 4:
			write_one(r);
			break;
		case 5 ... 6:
			poll_some(r, pick(&rnd, 4));
			break;
		case 7:
			moved++;
			replace(r, &rnd, pick(&rnd, 5));
			break;
		}
		KUNIT_ASSERT_EQ(test, vhca_peek_cq(&r->b->cq.ibcq, 100), r->written - r->polled);
	}
	KUNIT_EXPECT_GT(test, moved, 100);
	KUNIT_EXPECT_GT(test, r->polled, start + 500);
}

static void test_in_use(struct kunit *test)
{
	use(test, 0);
}

/*
 * The device reports counts in 32 bits, which all of them exceed. The lap is an even one, so that
 * no entry of the cleared ring is valid.
 */
static void test_counts_wrap(struct kunit *test)
{
	use(test, BIT_ULL(32) - 256);
}

/* A consumer that requests an event during the replacement is called afterwards. */
static void test_asked_meanwhile(struct kunit *test)
{
	struct resize_bench *r = make(test);
	struct ib_cq *cq = &r->b->cq.ibcq;

	for (int i = 0; i < 6; i++)
		post(r);
	begin(r, 5);
	KUNIT_EXPECT_EQ(test, vhca_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
	KUNIT_EXPECT_FALSE(test, cancel(r));		/* no completion has come */
	write_one(r);
	write_one(r);
	begin(r, 5);
	KUNIT_EXPECT_EQ(test, vhca_req_notify_cq(cq, IB_CQ_NEXT_COMP |
						     IB_CQ_REPORT_MISSED_EVENTS), 0);
	KUNIT_EXPECT_EQ(test, vhca_peek_cq(cq, 10), 0);
	KUNIT_EXPECT_TRUE(test, cancel(r));
	begin(r, 5);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 3), 0);
	KUNIT_EXPECT_FALSE(test, end(r, r->written));	/* only two completions of three */
	begin(r, 4);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 3), 0);
	r->ring = &r->to;
	write_one(r);
	KUNIT_EXPECT_TRUE(test, end(r, r->written - 1));
	/* A request for more completions does not cancel the earlier one. */
	begin(r, 4);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 3), 0);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 5), 0);
	KUNIT_EXPECT_TRUE(test, cancel(r));
	/* Without a request the consumer is not called. */
	begin(r, 4);
	KUNIT_EXPECT_FALSE(test, cancel(r));
	poll_some(r, 10);
	KUNIT_EXPECT_EQ(test, r->polled, 3);
}

static void test_impossible_count(struct kunit *test)
{
	struct resize_bench *r = make(test);
	bool call;

	begin(r, 5);
	KUNIT_EXPECT_EQ(test, vhca_cq_move_end(&r->b->cq, &r->to, 17, &call), -EPROTO);
	vhca_ring_free(&r->to);
	begin(r, 3);
	KUNIT_EXPECT_EQ(test, vhca_cq_move_end(&r->b->cq, &r->to, U32_MAX, &call), -EPROTO);
	vhca_ring_free(&r->to);
}

/* Unpolled completions of a QP that was destroyed are not counted. */
static void test_peek_passes_over(struct kunit *test)
{
	struct resize_bench *r = make(test);
	struct ib_cq *cq = &r->b->cq.ibcq;

	KUNIT_EXPECT_EQ(test, vhca_peek_cq(cq, 5), 0);
	for (int i = 0; i < 4; i++) {
		post(r);
		write_one(r);
	}
	KUNIT_EXPECT_EQ(test, vhca_peek_cq(cq, 3), 3);
	KUNIT_EXPECT_EQ(test, vhca_peek_cq(cq, 5), 4);
	vhca_cq_purge_qp(&r->b->qp, false);
	KUNIT_EXPECT_EQ(test, vhca_peek_cq(cq, 5), 0);
}

static void test_arm_for_many(struct kunit *test)
{
	struct resize_bench *r = make(test);
	struct ib_cq *cq = &r->b->cq.ibcq;
	__le64 *arm = vhca_db_rec(&r->b->cq.db, 1);
	u64 last;

	for (int i = 0; i < 6; i++)
		post(r);
	write_one(r);
	poll_some(r, 1);
	write_one(r);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 3), 0);
	/* The completion of count 1 is there: the event is for that of count 3. */
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*arm) & VHCA_ARM_CI_MASK, 3);
	last = le64_to_cpu(*arm) >> VHCA_ARM_SEQ_SHIFT;
	write_one(r);
	write_one(r);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 3), 1);
	KUNIT_EXPECT_NE(test, le64_to_cpu(*arm) >> VHCA_ARM_SEQ_SHIFT, last);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 4), 0);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 1), 1);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*arm) & VHCA_ARM_CI_MASK, 1);
}

/* A request for more completions must not lose an event for fewer that is still due. */
static void test_many_takes_nothing_back(struct kunit *test)
{
	struct resize_bench *r = make(test);
	struct ib_cq *cq = &r->b->cq.ibcq;
	__le64 *arm = vhca_db_rec(&r->b->cq.db, 1);

	for (int i = 0; i < 6; i++)
		post(r);
	KUNIT_EXPECT_EQ(test, vhca_req_notify_cq(cq, IB_CQ_NEXT_COMP), 0);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 4), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*arm) & VHCA_ARM_CI_MASK, 0);
	/* The event for count 0 has come, so the next one is for that of count 3. */
	write_one(r);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 4), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*arm) & VHCA_ARM_CI_MASK, 3);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 3), 0);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 6), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*arm) & VHCA_ARM_CI_MASK, 2);
	/* During the replacement the number of completions is unknown. */
	begin(r, 5);
	KUNIT_EXPECT_EQ(test, vhca_req_ncomp_notif(cq, 6), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*arm) & VHCA_ARM_CI_MASK, 2);
	cancel(r);
}

static struct kunit_case cq_resize_cases[] = {
	KUNIT_CASE(test_in_use),
	KUNIT_CASE(test_counts_wrap),
	KUNIT_CASE(test_asked_meanwhile),
	KUNIT_CASE(test_impossible_count),
	KUNIT_CASE(test_peek_passes_over),
	KUNIT_CASE(test_arm_for_many),
	KUNIT_CASE(test_many_takes_nothing_back),
	{}
};

struct kunit_suite vhca_cq_resize_suite = {
	.name = "vhca_cq_resize",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = cq_resize_cases,
};
