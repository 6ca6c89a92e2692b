// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Numbers that the device gives out, and gives out again. */
#include "number.h"
#include "vhca_test.h"

struct numbers {
	struct xarray objects;
	int a, b;
};

static struct numbers *make(struct kunit *test)
{
	struct numbers *n = kunit_kzalloc(test, sizeof(*n), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, n);
	xa_init_flags(&n->objects, XA_FLAGS_LOCK_IRQ);
	return n;
}

static void test_given_out_twice(struct kunit *test)
{
	struct numbers *n = make(test);

	KUNIT_EXPECT_EQ(test, vhca_number_add(&n->objects, 5, &n->a), 0);
	KUNIT_EXPECT_EQ(test, vhca_number_add(&n->objects, 5, &n->b), -EBUSY);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&n->objects, 5), (void *)&n->a);
	/* The device refused to destroy it. */
	vhca_number_ends(&n->objects, 5);
	vhca_number_stays(&n->objects, 5);
	KUNIT_EXPECT_EQ(test, vhca_number_add(&n->objects, 5, &n->b), -EBUSY);
	vhca_number_del(&n->objects, 5, &n->a);
	KUNIT_EXPECT_TRUE(test, xa_empty(&n->objects));
}

static void test_given_out_again(struct kunit *test)
{
	struct numbers *n = make(test);

	KUNIT_EXPECT_EQ(test, vhca_number_add(&n->objects, 5, &n->a), 0);
	vhca_number_ends(&n->objects, 5);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&n->objects, 5), (void *)&n->a);
	KUNIT_EXPECT_EQ(test, vhca_number_add(&n->objects, 5, &n->b), 0);
	vhca_number_del(&n->objects, 5, &n->a);
	KUNIT_EXPECT_PTR_EQ(test, xa_load(&n->objects, 5), (void *)&n->b);
	/* The next one is not about to end. */
	KUNIT_EXPECT_EQ(test, vhca_number_add(&n->objects, 5, &n->a), -EBUSY);
	vhca_number_ends(&n->objects, 5);
	vhca_number_del(&n->objects, 5, &n->b);
	KUNIT_EXPECT_EQ(test, vhca_number_add(&n->objects, 5, &n->a), 0);
	KUNIT_EXPECT_EQ(test, vhca_number_add(&n->objects, 5, &n->b), -EBUSY);
	vhca_number_del(&n->objects, 5, &n->a);
	KUNIT_EXPECT_TRUE(test, xa_empty(&n->objects));
}

static struct kunit_case number_cases[] = {
	KUNIT_CASE(test_given_out_twice),
	KUNIT_CASE(test_given_out_again),
	{}
};

struct kunit_suite vhca_number_suite = {
	.name = "vhca_number",
	.test_cases = number_cases,
};
