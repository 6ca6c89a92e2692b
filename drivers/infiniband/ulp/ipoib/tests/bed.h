/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What tests of an interface stand on: a device that is not registered and can do nothing but what
 * the test adds, and an interface of it whose network device is not registered either.
 */
#ifndef _IPOIB_TESTS_BED_H
#define _IPOIB_TESTS_BED_H

#include <kunit/test.h>

#include "../dev.h"

/**
 * struct ipoib_bed - a device and its interface
 * @ca: the device, with one port
 * @ipoib: the interface, which counts as running, without carrier; @wq is a queue of its own
 * @tx_timer: what the interface's timer for completions of sends does; in a test it does nothing
 * @pd: protection domain of @qp
 * @qp: the datagram QP that ipoib_bed_give_qp() gives it
 */
struct ipoib_bed {
	struct ib_device *ca;
	struct ipoib_dev *ipoib;
	void (*tx_timer)(struct timer_list *timer);
	struct ib_pd pd;
	struct ib_qp qp;
};

void ipoib_bed_init(struct kunit *test, struct ipoib_bed *bed);
void ipoib_bed_give_qp(struct ipoib_bed *bed);
void ipoib_bed_no_work(struct work_struct *work);

/*
 * Which of this task's next allocations fails; 0 for none. Return: whether the one that was asked
 * for last has failed.
 */
static inline bool ipoib_bed_fail(unsigned int nth)
{
#ifdef CONFIG_FAILSLAB
	bool failed = !current->fail_nth;

	current->fail_nth = nth;
	return failed;
#else
	return false;
#endif
}

#endif
