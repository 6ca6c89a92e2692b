// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Doorbell areas: slots, growth, and the contents of the pages after ringing. */
#include <kunit/test.h>

#include "../queue/uar.h"
#include "vhca_test.h"

struct area {
	struct vhca_hw hw;
	struct vhca_uar uar;
	unsigned int kicks;
	unsigned int given;	/* number of pages that the device has */
	unsigned int added;
	unsigned int gone;
	int refuse_at;		/* page that the device refuses, or -1 */
};

static struct area *uar_to_area(struct vhca_uar *uar)
{
	return container_of(uar, struct area, uar);
}

static int area_add(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	struct area *a = uar_to_area(uar);

	if (page->index == a->refuse_at)
		return -ENOSPC;
	a->given++;
	return 0;
}

static int area_added(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	uar_to_area(uar)->added++;
	return 0;
}

static void area_gone(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	uar_to_area(uar)->gone++;
}

static void area_kick(struct vhca_uar *uar)
{
	uar_to_area(uar)->kicks++;
}

static const struct vhca_uar_ops area_ops = {
	.add_page = area_add,
	.page_added = area_added,
	.page_gone = area_gone,
	.kick = area_kick,
};

static int db_test_init(struct kunit *test)
{
	struct area *a = kunit_kzalloc(test, sizeof(*a), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, a);
	a->hw.dev = vhca_test_device(test);
	a->refuse_at = -1;
	KUNIT_ASSERT_EQ(test, vhca_uar_open(&a->uar, &a->hw, &area_ops), 0);
	test->priv = a;
	return 0;
}

static void db_test_exit(struct kunit *test)
{
	struct area *a = test->priv;

	vhca_uar_exit(&a->uar);
	KUNIT_EXPECT_EQ(test, a->added, a->gone);
}

static void test_slots_are_distinct(struct kunit *test)
{
	const u32 n = 2 * VHCA_DB_PAIRS + 10;
	struct vhca_db *db = kunit_kcalloc(test, n, sizeof(*db), GFP_KERNEL);
	unsigned long *seen = kunit_kcalloc(test, BITS_TO_LONGS(3 * VHCA_DB_SLOTS), sizeof(long),
					    GFP_KERNEL);
	struct area *a = test->priv;
	u32 slot;

	KUNIT_ASSERT_NOT_NULL(test, db);
	KUNIT_ASSERT_NOT_NULL(test, seen);
	for (u32 i = 0; i < n; i++) {
		KUNIT_ASSERT_EQ(test, vhca_db_alloc(&a->uar, &db[i]), 0);
		slot = vhca_db_slot(&db[i]);
		KUNIT_ASSERT_LT(test, slot, 3 * VHCA_DB_SLOTS);
		KUNIT_ASSERT_EQ(test, slot % 2, 0);
		KUNIT_ASSERT_FALSE(test, __test_and_set_bit(slot, seen));
	}
	/* Pages are added when they are needed and not before. */
	KUNIT_EXPECT_EQ(test, a->given, 3);
	for (u32 i = 0; i < n; i++)
		vhca_db_free(&db[i]);
	for (u32 i = 0; i < 3 * VHCA_DB_PAIRS; i++)
		KUNIT_ASSERT_EQ(test, vhca_db_alloc(&a->uar, &db[i % n]), 0);
	KUNIT_EXPECT_EQ(test, a->given, 3);
}

static void test_records_start_at_zero(struct kunit *test)
{
	struct area *a = test->priv;
	struct vhca_db db;
	u32 slot;

	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&a->uar, &db), 0);
	slot = vhca_db_slot(&db);
	vhca_db_store(&db, 0, 77);
	vhca_db_store(&db, 1, 78);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(a->uar.page0->rec[slot]), 77);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(a->uar.page0->rec[slot + 1]), 78);
	vhca_db_free(&db);
	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&a->uar, &db), 0);
	KUNIT_EXPECT_EQ(test, vhca_db_slot(&db), slot);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(a->uar.page0->rec[slot]), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(a->uar.page0->rec[slot + 1]), 0);
}

static void test_device_refuses_page(struct kunit *test)
{
	struct area *a = test->priv;
	struct vhca_db db;

	a->refuse_at = 1;
	for (u32 i = 0; i < VHCA_DB_PAIRS; i++)
		KUNIT_ASSERT_EQ(test, vhca_db_alloc(&a->uar, &db), 0);
	KUNIT_EXPECT_EQ(test, vhca_db_alloc(&a->uar, &db), -ENOSPC);
	KUNIT_EXPECT_EQ(test, a->added - a->gone, 1);
	/* The number of the page is used again. */
	a->refuse_at = -1;
	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&a->uar, &db), 0);
	KUNIT_EXPECT_EQ(test, vhca_db_slot(&db), VHCA_DB_SLOTS);
}

static void test_ring(struct kunit *test)
{
	struct area *a = test->priv;
	struct vhca_db_page *page0 = a->uar.page0;
	struct vhca_db db;
	u32 slot;

	for (u32 i = 0; i < 40; i++)
		KUNIT_ASSERT_EQ(test, vhca_db_alloc(&a->uar, &db), 0);
	slot = vhca_db_slot(&db);

	/* A device that is awake is not kicked. */
	vhca_db_ring(&db, 0, 5);
	KUNIT_EXPECT_EQ(test, a->kicks, 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(page0->rec[slot]), 5);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(page0->news[slot / 64]), BIT_ULL(slot % 64));
	KUNIT_EXPECT_EQ(test, le64_to_cpu(page0->summary[0]), 1);

	/* One that is about to sleep is kicked once. */
	page0->armed = cpu_to_le32(1);
	vhca_db_ring(&db, 0, 6);
	KUNIT_EXPECT_EQ(test, a->kicks, 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(page0->armed), 0);
	vhca_db_ring(&db, 0, 7);
	KUNIT_EXPECT_EQ(test, a->kicks, 1);

	/* The other record has a bit of its own. */
	page0->news[slot / 64] = 0;
	vhca_db_ring(&db, 1, 8);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(page0->rec[slot + 1]), 8);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(page0->news[slot / 64]), BIT_ULL((slot + 1) % 64));
}

static void test_ring_on_second_page(struct kunit *test)
{
	struct area *a = test->priv;
	struct vhca_db db;

	for (u32 i = 0; i <= VHCA_DB_PAIRS; i++)
		KUNIT_ASSERT_EQ(test, vhca_db_alloc(&a->uar, &db), 0);
	KUNIT_ASSERT_EQ(test, db.page->index, 1);
	vhca_db_ring(&db, 0, 9);
	/* The news bit is on the slot's own page, summary and armed are on page 0. */
	KUNIT_EXPECT_EQ(test, le64_to_cpu(db.page->va->news[0]), 1);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(a->uar.page0->news[0]), 0);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(a->uar.page0->summary[0]), 2);
}

static void test_arm(struct kunit *test)
{
	struct area *a = test->priv;
	struct vhca_db db;

	KUNIT_ASSERT_EQ(test, vhca_db_alloc(&a->uar, &db), 0);
	vhca_db_arm(&db, 0x123456789ULL, VHCA_ARM_SOLICITED, 0x1000002);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(*vhca_db_rec(&db, 1)),
			0x23456789ULL | VHCA_ARM_SOLICITED | 2ULL << VHCA_ARM_SEQ_SHIFT);
	/* Arming does not ring. */
	KUNIT_EXPECT_EQ(test, le64_to_cpu(a->uar.page0->summary[0]), 0);
}

static struct kunit_case db_cases[] = {
	KUNIT_CASE(test_slots_are_distinct),
	KUNIT_CASE(test_records_start_at_zero),
	KUNIT_CASE(test_device_refuses_page),
	KUNIT_CASE(test_ring),
	KUNIT_CASE(test_ring_on_second_page),
	KUNIT_CASE(test_arm),
	{}
};

struct kunit_suite vhca_db_suite = {
	.name = "vhca_db",
	.init = db_test_init,
	.exit = db_test_exit,
	.test_cases = db_cases,
};
