// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Ring arithmetic, where laps and counts wrap. */
#include <kunit/test.h>

#include "../hw/ring.h"
#include "vhca_test.h"

static void test_slot_and_lap(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vhca_ring_slot(0, 3), 0);
	KUNIT_EXPECT_EQ(test, vhca_ring_slot(7, 3), 7);
	KUNIT_EXPECT_EQ(test, vhca_ring_slot(8, 3), 0);
	KUNIT_EXPECT_EQ(test, vhca_ring_slot((1ULL << 40) + 5, 3), 5);
	KUNIT_EXPECT_EQ(test, vhca_ring_lap(0, 3), 1);
	KUNIT_EXPECT_EQ(test, vhca_ring_lap(7, 3), 1);
	KUNIT_EXPECT_EQ(test, vhca_ring_lap(8, 3), 0);
	KUNIT_EXPECT_EQ(test, vhca_ring_lap(16, 3), 1);
	/* A ring of one entry changes its lap with every entry. */
	KUNIT_EXPECT_EQ(test, vhca_ring_slot(5, 0), 0);
	KUNIT_EXPECT_EQ(test, vhca_ring_lap(4, 0), 1);
	KUNIT_EXPECT_EQ(test, vhca_ring_lap(5, 0), 0);
}

static void test_fresh(struct kunit *test)
{
	/* A zeroed ring has no valid entry on the first lap. */
	KUNIT_EXPECT_FALSE(test, vhca_ring_fresh(0, 0, 3));
	KUNIT_EXPECT_TRUE(test, vhca_ring_fresh(1, 0, 3));
	/* Entries of the first lap are not valid on the second. */
	KUNIT_EXPECT_FALSE(test, vhca_ring_fresh(1, 8, 3));
	KUNIT_EXPECT_TRUE(test, vhca_ring_fresh(0, 8, 3));
	/* The other bits of the byte are ignored. */
	KUNIT_EXPECT_TRUE(test, vhca_ring_fresh(0xff, 0, 3));
	KUNIT_EXPECT_FALSE(test, vhca_ring_fresh(0xfe, 0, 3));
}

static void test_room(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vhca_ring_room(0, 0, 4), 16);
	KUNIT_EXPECT_EQ(test, vhca_ring_room(16, 0, 4), 0);
	KUNIT_EXPECT_EQ(test, vhca_ring_room((1ULL << 33) + 3, 1ULL << 33, 4), 13);
}

static void test_widen(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, vhca_ring_widen(0, 0), 0);
	KUNIT_EXPECT_EQ(test, vhca_ring_widen(5, 9), 9);
	KUNIT_EXPECT_EQ(test, vhca_ring_widen(0xfffffffeULL, 2), 0x100000002ULL);
	KUNIT_EXPECT_EQ(test, vhca_ring_widen(0x3fffffffeULL, 0xffffffff), 0x3ffffffffULL);
	KUNIT_EXPECT_EQ(test, vhca_ring_widen(0x300000010ULL, 0x10), 0x300000010ULL);
	/* A count before the tail is taken as one 2^32 later, which was not posted. */
	KUNIT_EXPECT_FALSE(test, vhca_ring_pending(vhca_ring_widen(100, 99), 200, 100));
}

static void test_pending(struct kunit *test)
{
	KUNIT_EXPECT_FALSE(test, vhca_ring_pending(10, 20, 10));
	KUNIT_EXPECT_TRUE(test, vhca_ring_pending(11, 20, 10));
	KUNIT_EXPECT_TRUE(test, vhca_ring_pending(20, 20, 10));
	KUNIT_EXPECT_FALSE(test, vhca_ring_pending(21, 20, 10));
	KUNIT_EXPECT_FALSE(test, vhca_ring_pending(0, 0, 0));
}

static struct kunit_case ring_cases[] = {
	KUNIT_CASE(test_slot_and_lap),
	KUNIT_CASE(test_fresh),
	KUNIT_CASE(test_room),
	KUNIT_CASE(test_widen),
	KUNIT_CASE(test_pending),
	{}
};

struct kunit_suite vhca_ring_suite = {
	.name = "vhca_ring",
	.test_cases = ring_cases,
};
