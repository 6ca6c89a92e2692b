// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The barriers between the kernel and the device, in every interleaving.
 *
 * Tests with threads find races only by chance, and a processor with strong memory ordering hides a
 * missing barrier. Here the kernel's side runs on a model of a weakly ordered processor,
 * test_order.c, and the device's side, which is sequentially consistent, runs between any two of
 * its accesses.
 */
#include <kunit/test.h>

#include "test_order.h"
#include "vhca_test.h"

/* Runs the device before each of the kernel's accesses in turn, and after the last of them. */
static unsigned int every_place(struct kunit *test, int hold, void (*kernel)(void),
				void (*device)(void), bool (*good)(void))
{
	unsigned int place = 0;
	bool within;

	do {
		within = order_run(hold, place, kernel, device);
		KUNIT_EXPECT_TRUE_MSG(test, good(), "store %d is delayed, the device comes %s %u",
				      hold, within ? "before access" : "at the end,", place);
		place++;
	} while (within);
	return place;
}

static void every_interleaving(struct kunit *test, void (*kernel)(void), void (*device)(void),
			       bool (*good)(void))
{
	int stores;

	KUNIT_EXPECT_GT(test, every_place(test, ORDER_HOLD_NONE, kernel, device, good), 1U);
	stores = order_stores();
	KUNIT_EXPECT_GT(test, stores, 0);
	KUNIT_ASSERT_LE(test, stores, ORDER_STORES);
	for (int hold = ORDER_HOLD_ALL; hold < stores; hold++)
		every_place(test, hold, kernel, device, good);
}

static bool nothing_wrong(void)
{
	return !order_model.wrong;
}

/* ---- ringing, and a device that is about to sleep ---- */

static void device_sleeps(void)
{
	struct order_model *w = &order_model;

	w->page->armed = cpu_to_le32(1);
	w->asleep = !w->page->summary[0];
	if (w->asleep)
		return;
	/* When the summary is visible, news bit and record must be visible, too. */
	w->wrong = !(w->page->news[0] & cpu_to_le64(1)) || le64_to_cpu(w->page->rec[0]) != 7;
}

static bool work_is_known(void)
{
	return nothing_wrong() && (!order_model.asleep || order_model.kicked);
}

static void test_ring_and_sleep(struct kunit *test)
{
	every_interleaving(test, order_rings, device_sleeps, work_is_known);
}

/* ---- arming, and a device that writes an entry ---- */

static void device_completes(void)
{
	order_model.entry = 1;
	order_model.seen = order_model.page->rec[1] != 0;
}

static bool entry_is_known(void)
{
	return order_model.found || order_model.seen;
}

static void test_arm_and_complete(struct kunit *test)
{
	every_interleaving(test, order_arms, device_completes, entry_is_known);
}

/* ---- a work request, and the record with its count ---- */

static void device_fetches(void)
{
	order_model.wrong = order_model.page->rec[0] && order_model.entry != 42;
}

static void test_post_and_fetch(struct kunit *test)
{
	every_interleaving(test, order_posts, device_fetches, nothing_wrong);
}

/* ---- an entry that was read, and a device that overwrites it ---- */

static void device_overwrites(void)
{
	if (order_model.page->rec[0])
		order_model.entry = 43;
}

static bool entry_is_whole(void)
{
	return order_model.got == 42;
}

static void test_take_and_overwrite(struct kunit *test)
{
	every_interleaving(test, order_takes, device_overwrites, entry_is_whole);
}

static void test_take_and_ring(struct kunit *test)
{
	every_interleaving(test, order_takes_and_rings, device_overwrites, entry_is_whole);
}

static int order_test_init(struct kunit *test)
{
	order_model.page = kunit_kzalloc(test, sizeof(*order_model.page), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, order_model.page);
	return 0;
}

static struct kunit_case order_cases[] = {
	KUNIT_CASE(test_ring_and_sleep),
	KUNIT_CASE(test_arm_and_complete),
	KUNIT_CASE(test_post_and_fetch),
	KUNIT_CASE(test_take_and_overwrite),
	KUNIT_CASE(test_take_and_ring),
	{}
};

struct kunit_suite vhca_order_suite = {
	.name = "vhca_order",
	.init = order_test_init,
	.test_cases = order_cases,
};
