/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Declarations for the driver's KUnit suites. */
#ifndef VHCA_TEST_H
#define VHCA_TEST_H

#include <kunit/test.h>

struct device;

struct device *vhca_test_device(struct kunit *test);

extern struct kunit_suite vhca_admin_suite;
extern struct kunit_suite vhca_ring_suite;
extern struct kunit_suite vhca_buf_suite;
extern struct kunit_suite vhca_db_suite;
extern struct kunit_suite vhca_eq_suite;
extern struct kunit_suite vhca_queue_suite;
extern struct kunit_suite vhca_ud_suite;
extern struct kunit_suite vhca_srq_suite;
extern struct kunit_suite vhca_cq_resize_suite;
extern struct kunit_suite vhca_wqe_suite;
extern struct kunit_suite vhca_fast_mr_suite;
extern struct kunit_suite vhca_integrity_suite;
extern struct kunit_suite vhca_offer_suite;
extern struct kunit_suite vhca_number_suite;
extern struct kunit_suite vhca_order_suite;
extern struct kunit_suite vhca_event_suite;
extern struct kunit_suite vhca_irq_suite;
extern struct kunit_suite vhca_mad_suite;
extern struct kunit_suite vhca_eth_suite;
extern struct kunit_suite vhca_qp_modify_suite;

#endif /* VHCA_TEST_H */
