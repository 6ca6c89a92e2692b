// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Slot reset and system suspend of an HCA. Both lose the state that the driver had programmed, and
 * the device comes back afterwards. The test calls the PCI core's functions for this HCA alone.
 */
#include <linux/pm.h>

#include "hca_test.h"

static void need_sleep(struct kunit *test)
{
	if (!IS_ENABLED(CONFIG_SUSPEND))
		kunit_skip(test, "this kernel does not sleep");
}

/* Does what the PCI core does with the function on suspend. */
static void fall_asleep(struct hca_test *h)
{
	const struct dev_pm_ops *pm = h->pdev->dev.bus->pm;
	struct device *dev = &h->pdev->dev;

	device_lock(dev);
	KUNIT_EXPECT_EQ(h->test, pm->suspend(dev), 0);
	KUNIT_EXPECT_EQ(h->test, pm->suspend_late(dev), 0);
	KUNIT_EXPECT_EQ(h->test, pm->suspend_noirq(dev), 0);
	device_unlock(dev);
}

static void wake_up_again(struct hca_test *h)
{
	const struct dev_pm_ops *pm = h->pdev->dev.bus->pm;
	struct device *dev = &h->pdev->dev;

	device_lock(dev);
	KUNIT_EXPECT_EQ(h->test, pm->resume_noirq(dev), 0);
	KUNIT_EXPECT_EQ(h->test, pm->resume_early(dev), 0);
	KUNIT_EXPECT_EQ(h->test, pm->resume(dev), 0);
	device_unlock(dev);
}

static bool is_master(struct hca_test *h)
{
	u16 command = 0;

	pci_read_config_word(h->pdev, PCI_COMMAND, &command);
	return command & PCI_COMMAND_MASTER;
}

/* Does what the PCI core does after a fatal error of the function. */
static void lose_slot(struct hca_test *h)
{
	const struct pci_error_handlers *handlers = to_pci_driver(h->drv)->err_handler;
	struct pci_dev *port = h->pdev->bus->self;
	u32 bar = 0;

	device_lock(&h->pdev->dev);
	KUNIT_EXPECT_TRUE(h->test, handlers->error_detected(h->pdev, pci_channel_io_frozen) ==
				   PCI_ERS_RESULT_NEED_RESET);
	/* An emulated root port may not report that its link is up, so this is not checked. */
	pci_cfg_access_lock(port);
	pci_bridge_secondary_bus_reset(port);
	pci_cfg_access_unlock(port);
	pci_read_config_dword(h->pdev, PCI_BASE_ADDRESS_0, &bar);
	KUNIT_EXPECT_EQ_MSG(h->test, bar & PCI_BASE_ADDRESS_MEM_MASK, 0, "nothing was reset");
	KUNIT_EXPECT_TRUE(h->test, handlers->slot_reset(h->pdev) == PCI_ERS_RESULT_RECOVERED);
	KUNIT_EXPECT_FALSE(h->test, is_master(h));
	handlers->resume(h->pdev);
	device_unlock(&h->pdev->dev);
}

/* Expects that the client has lost all its objects and was added to a new device. */
static void expect_again(struct hca_watch *w, int times)
{
	struct kunit *test = w->h->test;

	KUNIT_EXPECT_EQ(test, w->removed, times);
	KUNIT_EXPECT_EQ(test, w->added, times + 1);
	KUNIT_EXPECT_EQ(test, w->open_err, 0);
	KUNIT_EXPECT_EQ(test, w->flushed, w->held);
}

static void test_slot_reset(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w = hca_watch(h);

	lose_slot(h);
	expect_again(w, 1);
	lose_slot(h);
	expect_again(w, 2);
	conn_works(test, conn_get(test, &hca_need_device(h)->ibdev, true, 7));
}

/* Restoring the saved PCI state invalidates it, so it must be saved again. */
static void test_slot_reset_after_function_reset(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w = hca_watch(h);

	hca_reset(h);
	expect_again(w, 1);
	lose_slot(h);
	expect_again(w, 2);
	conn_works(test, conn_get(test, &hca_need_device(h)->ibdev, true, 7));
}

/* Another function behind the port needs a reset: there was no error callback for this one. */
static void test_slot_reset_of_a_live_device(struct kunit *test)
{
	struct hca_test *h = test->priv;
	const struct pci_error_handlers *handlers = to_pci_driver(h->drv)->err_handler;
	struct hca_watch *w = hca_watch(h);

	device_lock(&h->pdev->dev);
	KUNIT_EXPECT_TRUE(test, handlers->error_detected(h->pdev, pci_channel_io_normal) ==
				PCI_ERS_RESULT_CAN_RECOVER);
	KUNIT_EXPECT_TRUE(test, handlers->slot_reset(h->pdev) == PCI_ERS_RESULT_RECOVERED);
	handlers->resume(h->pdev);
	device_unlock(&h->pdev->dev);
	expect_again(w, 1);
	conn_works(test, conn_get(test, &hca_need_device(h)->ibdev, true, 7));
}

static void test_sleep(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	need_sleep(test);
	w = hca_watch(h);
	for (int i = 1; i <= 2; i++) {
		fall_asleep(h);
		KUNIT_EXPECT_EQ(test, w->removed, i);
		/* The device was awake when its client was called. */
		KUNIT_EXPECT_EQ(test, w->query_err, 0);
		KUNIT_EXPECT_FALSE(test, is_master(h));
		wake_up_again(h);
		expect_again(w, i);
	}
	conn_works(test, conn_get(test, &hca_need_device(h)->ibdev, true, 7));
}

static void test_slot_reset_after_sleep(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	need_sleep(test);
	w = hca_watch(h);
	fall_asleep(h);
	wake_up_again(h);
	lose_slot(h);
	expect_again(w, 2);
	conn_works(test, conn_get(test, &hca_need_device(h)->ibdev, true, 7));
}

/* A device that was taken down before suspend is up after resume. */
static void test_sleep_of_a_dead_device(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct hca_watch *w;

	need_sleep(test);
	hca_need_faults(h);
	w = hca_watch(h);
	hca_fault(h, "fatal @");
	hca_wait_gone(w);
	fall_asleep(h);
	wake_up_again(h);
	expect_again(w, 1);
	conn_works(test, conn_get(test, &hca_need_device(h)->ibdev, true, 7));
}

/* A device that failed to resume does not prevent the next suspend or a reset. */
static void test_waking_fails(struct kunit *test)
{
	struct hca_test *h = test->priv;
	struct device *dev = &h->pdev->dev;
	struct hca_watch *w;

	need_sleep(test);
	hca_need_faults(h);
	w = hca_watch(h);
	hca_fault(h, "command @ opcode=QUERY_DEVICE status=INTERNAL");
	fall_asleep(h);
	device_lock(dev);
	KUNIT_EXPECT_EQ(test, dev->bus->pm->resume_noirq(dev), 0);
	KUNIT_EXPECT_EQ(test, dev->bus->pm->resume_early(dev), 0);
	KUNIT_EXPECT_EQ(test, dev->bus->pm->resume(dev), -EIO);
	device_unlock(dev);
	hca_struck(h);
	KUNIT_EXPECT_NULL(test, hca_device(h));
	fall_asleep(h);
	wake_up_again(h);
	expect_again(w, 1);
}

static struct kunit_case power_cases[] = {
	KUNIT_CASE_SLOW(test_slot_reset),
	KUNIT_CASE_SLOW(test_slot_reset_after_function_reset),
	KUNIT_CASE(test_slot_reset_of_a_live_device),
	KUNIT_CASE(test_sleep),
	KUNIT_CASE_SLOW(test_slot_reset_after_sleep),
	KUNIT_CASE(test_sleep_of_a_dead_device),
	KUNIT_CASE(test_waking_fails),
	{}
};

struct kunit_suite hca_power_suite = {
	.name = "vhca_hca_power",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = power_cases,
};
