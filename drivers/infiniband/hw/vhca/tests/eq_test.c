// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Event queues, with a device that writes entries, holds some back, or never stops. */
#include <kunit/test.h>

#include "../hw/ring.h"
#include "../queue/eq.h"
#include "vhca_test.h"

#define LOG		2
#define ENTRIES		(1U << LOG)
#define SEEN_MAX	64

struct bench {
	struct kunit *test;
	struct vhca_hw hw;
	struct vhca_uar uar;
	struct vhca_eq eq;
	u64 pi;			/* entries the device has written */
	unsigned int kicks;
	u32 seen[SEEN_MAX];
	unsigned int nseen;
	unsigned int late;	/* entries to write from inside the handler */
	bool endless;
};

static int give_page(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	return 0;
}

static void kick(struct vhca_uar *uar)
{
	container_of(uar, struct bench, uar)->kicks++;
}

static const struct vhca_uar_ops ops = { .add_page = give_page, .kick = kick };

static void device_writes(struct bench *b, u8 flags)
{
	struct vhca_eqe *e = vhca_ring_at(&b->eq.ring, b->pi);

	e->number = cpu_to_le32(b->pi);
	e->event = VHCA_EV_COMPLETION;
	e->flags = flags;
	WRITE_ONCE(e->owner, vhca_ring_lap(b->pi, LOG));
	b->pi++;
}

static void handler(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count)
{
	struct bench *b = container_of(eq, struct bench, eq);

	/* The device writes the low bits of the count. */
	KUNIT_EXPECT_EQ(b->test, (u32)count, le32_to_cpu(eqe->number));

	if (b->nseen < SEEN_MAX)
		b->seen[b->nseen] = le32_to_cpu(eqe->number);
	b->nseen++;
	if (b->late || b->endless) {
		b->late -= !!b->late;
		device_writes(b, 0);
	}
}

static int eq_test_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	b->test = test;
	b->hw.dev = vhca_test_device(test);
	KUNIT_ASSERT_EQ(test, vhca_uar_open(&b->uar, &b->hw, &ops), 0);
	KUNIT_ASSERT_EQ(test, vhca_ring_alloc(&b->eq.ring, b->hw.dev, LOG,
					      order_base_2(sizeof(struct vhca_eqe))), 0);
	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&b->uar, &b->eq.db), 0);
	b->eq.hw = &b->hw;
	b->eq.fn = handler;
	spin_lock_init(&b->eq.lock);
	test->priv = b;
	return 0;
}

static void eq_test_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	vhca_ring_free(&b->eq.ring);
	vhca_uar_exit(&b->uar);
}

static u64 consumer(struct bench *b)
{
	return le64_to_cpu(*vhca_db_rec(&b->eq.db, 0));
}

static u64 arm_record(struct bench *b)
{
	return le64_to_cpu(*vhca_db_rec(&b->eq.db, 1));
}

static void test_in_order_over_laps(struct kunit *test)
{
	struct bench *b = test->priv;
	unsigned int i;

	for (i = 0; i < 5 * ENTRIES; i += 3) {
		device_writes(b, 0);
		device_writes(b, 0);
		device_writes(b, 0);
		KUNIT_ASSERT_FALSE(test, vhca_eq_poll(&b->eq));
	}
	KUNIT_ASSERT_EQ(test, b->nseen, i);
	while (i--)
		KUNIT_EXPECT_EQ(test, b->seen[i], i);
	KUNIT_EXPECT_EQ(test, consumer(b), b->pi);
	KUNIT_EXPECT_EQ(test, b->kicks, 0);
}

static void test_every_poll_arms_anew(struct kunit *test)
{
	struct bench *b = test->priv;
	u64 first;

	vhca_eq_poll(&b->eq);
	first = arm_record(b);
	device_writes(b, 0);
	vhca_eq_poll(&b->eq);
	KUNIT_EXPECT_NE(test, first >> VHCA_ARM_SEQ_SHIFT, arm_record(b) >> VHCA_ARM_SEQ_SHIFT);
	KUNIT_EXPECT_EQ(test, arm_record(b) & VHCA_ARM_CI_MASK, 1);
	/* An empty poll arms as well, since the arming before may have raised its event. */
	first = arm_record(b);
	vhca_eq_poll(&b->eq);
	KUNIT_EXPECT_NE(test, first, arm_record(b));
}

/* Sequence number 0 is that of a record that was never stored, and does not arm. */
static void test_arm_number_wraps(struct kunit *test)
{
	struct bench *b = test->priv;

	b->eq.seq = VHCA_ARM_SEQ_MASK;
	/* An empty poll arms once. */
	vhca_eq_poll(&b->eq);
	KUNIT_EXPECT_EQ(test, arm_record(b) >> VHCA_ARM_SEQ_SHIFT, 1);
}

static void test_entries_that_come_meanwhile(struct kunit *test)
{
	struct bench *b = test->priv;

	device_writes(b, 0);
	b->late = 2;
	KUNIT_EXPECT_FALSE(test, vhca_eq_poll(&b->eq));
	KUNIT_EXPECT_EQ(test, b->nseen, 3);
	KUNIT_EXPECT_EQ(test, arm_record(b) & VHCA_ARM_CI_MASK, 3);
}

static void test_full_ring_rings_back(struct kunit *test)
{
	struct bench *b = test->priv;

	for (unsigned int i = 0; i < ENTRIES; i++)
		device_writes(b, i == ENTRIES - 1 ? VHCA_EQE_F_MORE : 0);
	b->uar.page0->armed = cpu_to_le32(1);
	KUNIT_EXPECT_FALSE(test, vhca_eq_poll(&b->eq));
	/* There is room, of which the device is notified: news, summary and a kick. */
	KUNIT_EXPECT_EQ(test, consumer(b), ENTRIES);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(b->uar.page0->news[0]), 1);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(b->uar.page0->summary[0]), 1);
	KUNIT_EXPECT_EQ(test, b->kicks, 1);
}

static void test_endless_device_is_bounded(struct kunit *test)
{
	struct bench *b = test->priv;

	device_writes(b, 0);
	b->endless = true;
	/* It returns after a bounded number of events and reports that there are more. */
	KUNIT_EXPECT_TRUE(test, vhca_eq_poll(&b->eq));
	KUNIT_EXPECT_LE(test, b->nseen, 2 * ENTRIES);
	b->endless = false;
	KUNIT_EXPECT_FALSE(test, vhca_eq_poll(&b->eq));
	KUNIT_EXPECT_EQ(test, b->nseen, b->pi);
}

static void test_stuck(struct kunit *test)
{
	struct bench *b = test->priv;

	KUNIT_EXPECT_FALSE(test, vhca_eq_stuck(&b->eq));
	device_writes(b, 0);
	/* Its interrupt may still come. */
	KUNIT_EXPECT_FALSE(test, vhca_eq_stuck(&b->eq));
	KUNIT_EXPECT_TRUE(test, vhca_eq_stuck(&b->eq));
	vhca_eq_poll(&b->eq);
	KUNIT_EXPECT_FALSE(test, vhca_eq_stuck(&b->eq));
	/* Another entry at each check means traffic, not a lost interrupt. */
	device_writes(b, 0);
	KUNIT_EXPECT_FALSE(test, vhca_eq_stuck(&b->eq));
	vhca_eq_poll(&b->eq);
	device_writes(b, 0);
	KUNIT_EXPECT_FALSE(test, vhca_eq_stuck(&b->eq));
}

/* Unhandled entries on every lap, up to a full ring, and while one is being handled. */
static void test_end(struct kunit *test)
{
	struct bench *b = test->priv;

	for (unsigned int round = 0; round < 3 * ENTRIES; round++) {
		for (unsigned int i = 0; i < round % (ENTRIES + 1); i++) {
			device_writes(b, 0);
			KUNIT_EXPECT_EQ(test, vhca_eq_end(&b->eq), b->pi);
		}
		vhca_eq_poll(&b->eq);
		KUNIT_EXPECT_EQ(test, vhca_eq_end(&b->eq), b->pi);
	}
}

/*
 * A queue whose count exceeds the 32 bits of the arm record. The lap is an even one, so that no
 * entry of the cleared ring is valid.
 */
static void test_count_wraps(struct kunit *test)
{
	const u64 start = VHCA_ARM_CI_MASK + 1 - 2 * ENTRIES;
	struct bench *b = test->priv;
	u64 end = start + 5 * ENTRIES;
	unsigned int waiting;

	b->pi = start;
	b->eq.ci = start;
	while (b->pi != end) {
		/* An increasing number of entries, and then full rings, one across the wrap. */
		waiting = min_t(u64, (b->pi - start) % ENTRIES + 1, end - b->pi);
		KUNIT_ASSERT_EQ(test, vhca_eq_end(&b->eq), b->pi);
		for (unsigned int i = 0; i < waiting; i++) {
			device_writes(b, i == ENTRIES - 1 ? VHCA_EQE_F_MORE : 0);
			KUNIT_ASSERT_EQ(test, vhca_eq_end(&b->eq), b->pi);
		}
		KUNIT_ASSERT_FALSE(test, vhca_eq_stuck(&b->eq));
		KUNIT_ASSERT_TRUE(test, vhca_eq_stuck(&b->eq));
		KUNIT_ASSERT_FALSE(test, vhca_eq_poll(&b->eq));
		KUNIT_ASSERT_FALSE(test, vhca_eq_stuck(&b->eq));
		KUNIT_ASSERT_EQ(test, consumer(b), b->pi);
		KUNIT_ASSERT_EQ(test, arm_record(b) & VHCA_ARM_CI_MASK, b->pi & VHCA_ARM_CI_MASK);
	}
	KUNIT_ASSERT_EQ(test, b->nseen, 5 * ENTRIES);
	for (unsigned int i = 0; i < b->nseen; i++)
		KUNIT_EXPECT_EQ(test, b->seen[i], (u32)(start + i));
}

static struct kunit_case eq_cases[] = {
	KUNIT_CASE(test_in_order_over_laps),
	KUNIT_CASE(test_every_poll_arms_anew),
	KUNIT_CASE(test_arm_number_wraps),
	KUNIT_CASE(test_entries_that_come_meanwhile),
	KUNIT_CASE(test_full_ring_rings_back),
	KUNIT_CASE(test_endless_device_is_bounded),
	KUNIT_CASE(test_stuck),
	KUNIT_CASE(test_end),
	KUNIT_CASE(test_count_wraps),
	{}
};

struct kunit_suite vhca_eq_suite = {
	.name = "vhca_eq",
	.init = eq_test_init,
	.exit = eq_test_exit,
	.test_cases = eq_cases,
};
