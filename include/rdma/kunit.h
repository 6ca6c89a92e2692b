/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Helpers for the KUnit tests of several modules.
 */
#ifndef RDMA_KUNIT_H
#define RDMA_KUNIT_H

#include <kunit/test.h>

/**
 * rdma_kunit_again() - suite_init of suites with tests that cannot run while the kernel boots
 * @suite: the suite
 *
 * Suites that are built in run while the kernel boots; their tests that need user space then skip
 * themselves. KUnit keeps the status SKIPPED of a test, and would also skip it when the suite is
 * run later through debugfs. This resets the status.
 *
 * Return: 0.
 */
static inline int rdma_kunit_again(struct kunit_suite *suite)
{
	struct kunit_case *test_case;

	/* In a module, tests that have not run yet were skipped by a filter, and stay skipped. */
	if (__is_defined(MODULE))
		return 0;
	kunit_suite_for_each_test_case(suite, test_case)
		test_case->status = KUNIT_SUCCESS;
	return 0;
}

#endif /* RDMA_KUNIT_H */
