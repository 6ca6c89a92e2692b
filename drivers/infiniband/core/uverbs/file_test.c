// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: files, and opening one while the device goes.
 */
#include <linux/fs.h>

#include "test_uverbs.h"

/*
 * Removal that waits for the last file ends with it.  A file that is being opened then comes too
 * late, although requests are still served.
 */
static void opened_while_going(struct kunit *test)
{
	struct uverbs_test *t = test->priv, other = *t;

	tu_close(t);
	KUNIT_ASSERT_TRUE(test, refcount_dec_and_test(&t->udev->users));
	KUNIT_EXPECT_EQ(test, tu_open_file(&other), -ENXIO);
	refcount_set(&t->udev->users, 1);
	KUNIT_EXPECT_EQ(test, tu_open_file(&other), 0);
	tu_close(&other);
}

static struct kunit_case file_cases[] = {
	KUNIT_CASE(opened_while_going),
	{}
};

static struct kunit_suite file_suite = {
	.name = "rdma_uverbs_file",
	.init = tu_init,
	.exit = tu_exit,
	.test_cases = file_cases,
};

kunit_test_suite(file_suite);
