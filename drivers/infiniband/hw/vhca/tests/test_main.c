// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* KUnit suites of the driver. */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/platform_device.h>

#include "vhca_test.h"

static void drop_device(void *pdev)
{
	platform_device_unregister(pdev);
}

/**
 * vhca_test_device() - make a device that can do DMA
 * @test: the test; the device is freed when it ends
 *
 * Return: the device; the test is aborted when there is none.
 */
struct device *vhca_test_device(struct kunit *test)
{
	struct platform_device *pdev;

	pdev = platform_device_register_simple("vhca-kunit", PLATFORM_DEVID_AUTO, NULL, 0);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, pdev);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop_device, pdev), 0);
	KUNIT_ASSERT_EQ(test, dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64)), 0);
	return &pdev->dev;
}

kunit_test_suites(&vhca_admin_suite, &vhca_ring_suite, &vhca_buf_suite, &vhca_db_suite,
		  &vhca_eq_suite, &vhca_queue_suite, &vhca_ud_suite,
		  &vhca_srq_suite, &vhca_cq_resize_suite, &vhca_wqe_suite, &vhca_fast_mr_suite,
		  &vhca_integrity_suite,
		  &vhca_offer_suite, &vhca_number_suite, &vhca_order_suite, &vhca_event_suite,
		  &vhca_irq_suite, &vhca_mad_suite, &vhca_eth_suite, &vhca_qp_modify_suite);

MODULE_DESCRIPTION("KUnit tests of the vhca driver");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
