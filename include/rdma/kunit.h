/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the unit tests of several modules share.
 */
#ifndef RDMA_KUNIT_H
#define RDMA_KUNIT_H

#include <kunit/test.h>

/**
 * rdma_kunit_again() - suite_init of suites with tests that cannot run while the kernel boots
 * @suite: the suite
 *
 * Suites that are built in run while the kernel boots, when tests skip themselves that need user
 * space. KUnit keeps a test's SKIPPED and would skip it whenever the suite is run by debugfs.
 *
 * Return: 0.
 */
static inline int rdma_kunit_again(struct kunit_suite *suite)
{
	struct kunit_case *test_case;

	/* Where suites are modules, only a filter has skipped tests that have not run. */
	if (__is_defined(MODULE))
		return 0;
	kunit_suite_for_each_test_case(suite, test_case)
		test_case->status = KUNIT_SUCCESS;
	return 0;
}

#endif /* RDMA_KUNIT_H */
