// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Look-up of objects by numbers, which the device may use again. */
#include "../hw/ring.h"
#include "../queue/eq.h"
#include "../queue/id_table.h"
#include "vhca_test.h"

#define LOG	2

struct bench {
	struct vhca_eq eq;
	struct vhca_id_table numbers;
	struct vhca_target a, b;
};

static int number_test_init(struct kunit *test)
{
	struct bench *b = kunit_kzalloc(test, sizeof(*b), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, b);
	KUNIT_ASSERT_EQ(test, vhca_ring_alloc(&b->eq.ring, vhca_test_device(test), LOG,
					      order_base_2(sizeof(struct vhca_eqe))), 0);
	spin_lock_init(&b->eq.lock);
	vhca_id_table_init(&b->numbers, &b->eq);
	test->priv = b;
	return 0;
}

static void number_test_exit(struct kunit *test)
{
	struct bench *b = test->priv;

	vhca_id_table_exit(&b->numbers);
	vhca_ring_free(&b->eq.ring);
}

/* Expects that an event of this number and count finds the object, and drops the reference. */
static void found(struct kunit *test, struct vhca_target *expected, u64 count)
{
	struct bench *b = test->priv;
	struct vhca_target *target = vhca_id_get(&b->numbers, 5, count);

	KUNIT_EXPECT_PTR_EQ(test, target, expected);
	if (target)
		vhca_target_put(target);
}

static void test_given_out_twice(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_id_table *n = &b->numbers;

	KUNIT_EXPECT_EQ(test, vhca_id_add(n, 5, &b->a), 0);
	KUNIT_EXPECT_EQ(test, vhca_id_add(n, 5, &b->b), -EBUSY);
	found(test, &b->a, VHCA_NO_ENTRY);
	/* The device refused to destroy it. */
	vhca_id_retire(n, 5);
	vhca_id_keep(n, 5);
	KUNIT_EXPECT_EQ(test, vhca_id_add(n, 5, &b->b), -EBUSY);
	vhca_id_del(n, 5, &b->a);
	KUNIT_EXPECT_TRUE(test, xa_empty(&n->targets));
}

static void test_given_out_again(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_id_table *n = &b->numbers;

	KUNIT_EXPECT_EQ(test, vhca_id_add(n, 5, &b->a), 0);
	vhca_id_retire(n, 5);
	found(test, &b->a, VHCA_NO_ENTRY);
	KUNIT_EXPECT_EQ(test, vhca_id_add(n, 5, &b->b), 0);
	vhca_id_del(n, 5, &b->a);
	found(test, &b->b, VHCA_NO_ENTRY);
	/* The new object is not marked as being destroyed. */
	KUNIT_EXPECT_EQ(test, vhca_id_add(n, 5, &b->a), -EBUSY);
	vhca_id_retire(n, 5);
	vhca_id_del(n, 5, &b->b);
	KUNIT_EXPECT_EQ(test, vhca_id_add(n, 5, &b->a), 0);
	KUNIT_EXPECT_EQ(test, vhca_id_add(n, 5, &b->b), -EBUSY);
	vhca_id_del(n, 5, &b->a);
	KUNIT_EXPECT_TRUE(test, xa_empty(&n->targets));
}

/* An object that is added while entries are unhandled is found by later entries only. */
static void test_born_behind_what_waits(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_eqe *ring = vhca_ring_at(&b->eq.ring, 0);
	u64 pi;

	for (pi = 0; pi < 2; pi++)
		ring[pi].owner = vhca_ring_lap(pi, LOG);
	KUNIT_ASSERT_EQ(test, vhca_id_add(&b->numbers, 5, &b->a), 0);
	for (pi = 0; pi < 2; pi++)
		found(test, NULL, pi);
	for (; pi < 5; pi++)
		found(test, &b->a, pi);
	vhca_id_del(&b->numbers, 5, &b->a);
	found(test, NULL, pi);
}

struct waiter {
	struct work_struct work;
	struct bench *b;
	struct completion gone;
};

static void go(struct work_struct *work)
{
	struct waiter *w = container_of(work, struct waiter, work);

	vhca_id_del(&w->b->numbers, 5, &w->b->a);
	complete(&w->gone);
}

/* Removal of an object waits until the reference of an event is dropped. */
static void test_found_stays(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_target *target;
	struct waiter w = { .b = b };

	KUNIT_ASSERT_EQ(test, vhca_id_add(&b->numbers, 5, &b->a), 0);
	target = vhca_id_get(&b->numbers, 5, 0);
	KUNIT_ASSERT_PTR_EQ(test, target, &b->a);
	init_completion(&w.gone);
	INIT_WORK_ONSTACK(&w.work, go);
	queue_work(system_unbound_wq, &w.work);
	while (!xa_empty(&b->numbers.targets))
		cond_resched();
	KUNIT_EXPECT_FALSE(test, completion_done(&w.gone));
	found(test, NULL, 0);
	vhca_target_put(target);
	flush_work(&w.work);
	KUNIT_EXPECT_TRUE(test, completion_done(&w.gone));
	destroy_work_on_stack(&w.work);
}

static struct kunit_case number_cases[] = {
	KUNIT_CASE(test_given_out_twice),
	KUNIT_CASE(test_given_out_again),
	KUNIT_CASE(test_born_behind_what_waits),
	KUNIT_CASE(test_found_stays),
	{}
};

struct kunit_suite vhca_number_suite = {
	.name = "vhca_number",
	.init = number_test_init,
	.exit = number_test_exit,
	.test_cases = number_cases,
};
