// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit suites on an emulated HCA. They find it by its PCI id and have the daemon behind it make
 * faults by running vhcactl. Without an HCA, or without vhcactl, tests are skipped.
 */
#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string_helpers.h>

#include "hca_test.h"

static char *vhcactl = "/lab/guest/bin/lab-vhcactl";
module_param(vhcactl, charp, 0444);
MODULE_PARM_DESC(vhcactl, "program that takes vhcactl's arguments");

static void put_pdev(void *pdev)
{
	pci_dev_put(pdev);
}

static void put_driver(void *drv)
{
	module_put(((struct device_driver *)drv)->owner);
}

/**
 * hca_device() - the device of the function, when it is up
 * @h: HCA under test
 *
 * Waits for whoever is bringing it up or taking it down.
 *
 * Return: the device, or NULL.
 */
struct vhca_dev *hca_device(struct hca_test *h)
{
	struct vhca_dev *dev = NULL;
	struct vhca_fn *fn;

	device_lock(&h->pdev->dev);
	fn = h->pdev->dev.driver ? pci_get_drvdata(h->pdev) : NULL;
	if (fn) {
		mutex_lock(&fn->lock);
		dev = fn->dev;
		mutex_unlock(&fn->lock);
	}
	device_unlock(&h->pdev->dev);
	return dev;
}

/**
 * hca_need_device() - the device of the function, which has to be up
 * @h: HCA under test
 *
 * Return: the device; the test is aborted when there is none.
 */
struct vhca_dev *hca_need_device(struct hca_test *h)
{
	struct vhca_dev *dev = hca_device(h);

	KUNIT_ASSERT_NOT_NULL_MSG(h->test, dev, "the HCA is not up");
	return dev;
}

/* Put the HCA's name where an @ stands. */
static char *name_hca(const struct hca_test *h, const char *words)
{
	size_t len = strlen(words) + 1, name = strlen(h->id);
	const char *from;
	char *text, *to;

	for (from = words; *from; from++)
		len += *from == '@' ? name : 0;
	text = kmalloc(len, GFP_KERNEL);
	for (from = words, to = text; text && (*to = *from); from++)
		to = *from == '@' ? memcpy(to, h->id, name) + name : to + 1;
	return text;
}

static int run_vhcactl(char *words)
{
	char *envp[3] = {}, *argv[6] = {};
	int ret;

	envp[0] = "PATH=/lab/guest/bin:/usr/sbin:/usr/bin:/sbin:/bin";
	envp[1] = "HOME=/";
	argv[0] = "/bin/sh";
	argv[1] = "-c";
	argv[2] = "exec $0 $1 </dev/null >/dev/console 2>&1";
	argv[3] = vhcactl;
	argv[4] = words;
	ret = call_usermodehelper(argv[0], argv, envp, UMH_WAIT_PROC);
	return ret < 0 ? ret : ret >> 8;
}

/**
 * hca_ctl() - have vhcactl do something
 * @h: HCA under test
 * @fmt: its arguments; an @ stands for the HCA's name
 *
 * In an emulated guest this takes a second or two: tests put several commands into one call.
 *
 * Return: its exit status; negative errno when it could not be run.
 */
int hca_ctl(struct hca_test *h, const char *fmt, ...)
{
	char *words, *named;
	int ret = -ENOMEM;
	va_list args;

	va_start(args, fmt);
	words = kvasprintf(GFP_KERNEL, fmt, args);
	va_end(args);
	named = words ? name_hca(h, words) : NULL;
	if (named)
		ret = run_vhcactl(named);
	kfree(named);
	kfree(words);
	return ret;
}

/**
 * hca_need_faults() - skip the test when nobody can make faults
 * @h: HCA under test
 */
void hca_need_faults(struct hca_test *h)
{
	static bool reached;

	/* Asked once, since it takes a second. No program can be run while the kernel boots. */
	if (!reached)
		reached = !hca_ctl(h, "fault clear @");
	if (!reached)
		kunit_skip(h->test, "%s does not reach the HCA's daemon", vhcactl);
}

/**
 * hca_fault() - arm faults; the test is aborted when that fails
 * @h: HCA under test
 * @fmt: vhcactl's arguments behind "fault"; more such commands behind commas
 */
void hca_fault(struct hca_test *h, const char *fmt, ...)
{
	va_list args;
	char *words;
	int ret;

	va_start(args, fmt);
	words = kvasprintf(GFP_KERNEL, fmt, args);
	va_end(args);
	KUNIT_ASSERT_NOT_NULL(h->test, words);
	ret = hca_ctl(h, "fault %s", words);
	kfree(words);
	KUNIT_ASSERT_EQ(h->test, ret, 0);
	h->faults = true;
}

/**
 * hca_struck() - expect that every fault that was armed has struck
 * @h: HCA under test
 */
void hca_struck(struct hca_test *h)
{
	int ret = hca_ctl(h, "fault spent @");

	KUNIT_EXPECT_EQ_MSG(h->test, ret, 0, "a fault has not struck: nothing was tested");
	h->faults = ret;
}

/**
 * hca_let_go() - end what faults with HCA_HELD have begun
 * @h: HCA under test
 *
 * Every fault that was armed must have struck.
 */
void hca_let_go(struct hca_test *h)
{
	int ret = hca_ctl(h, "fault spent @ , fault clear @");

	KUNIT_EXPECT_EQ_MSG(h->test, ret, 0, "a fault has not struck: nothing was tested");
	/* Where it has not, none is cleared. */
	if (ret)
		hca_ctl(h, "fault clear @");
	h->faults = false;
}

/**
 * hca_expect_objects() - expect that the device has so many objects, by its own account
 * @h: HCA under test; its driver is up
 * @pds: protection domains
 * @mkeys: memory keys
 * @cqs: completion queues
 * @qps: queue pairs
 *
 * Those of the MAD layer come on top: a PD with its key, a CQ and two QPs for each port.
 */
void hca_expect_objects(struct hca_test *h, unsigned int pds, unsigned int mkeys,
			unsigned int cqs, unsigned int qps)
{
	struct vhca_dev *dev = hca_need_device(h);
	unsigned int mad_ports = 0;
	u32 port;
	int ret;

	rdma_for_each_port(&dev->ibdev, port)
		mad_ports += rdma_cap_ib_mad(&dev->ibdev, port);
	ret = hca_ctl(h, "objects @ uars=1 eqs=%u pds=%u mkeys=%u cqs=%u qps=%u",
		      dev->nvectors + 1, pds + mad_ports, mkeys + mad_ports, cqs + mad_ports,
		      qps + 2 * mad_ports);
	KUNIT_EXPECT_EQ_MSG(h->test, ret, 0, "the device has other objects");
}

/**
 * hca_reset() - reset the function; the device is up again afterwards
 * @h: HCA under test
 */
void hca_reset(struct hca_test *h)
{
	KUNIT_ASSERT_EQ(h->test, pci_reset_function(h->pdev), 0);
	hca_need_device(h);
}

/* Whatever a test did, the next one finds a device that is up and does as it is told. */
static void restore(void *data)
{
	struct hca_test *h = data;

	if (h->faults)
		hca_ctl(h, "fault clear @");
	if (!h->pdev->dev.driver)
		KUNIT_EXPECT_EQ(h->test, device_driver_attach(h->drv, &h->pdev->dev), 0);
	else if (!hca_device(h))
		KUNIT_EXPECT_EQ(h->test, pci_reset_function(h->pdev), 0);
	KUNIT_EXPECT_NOT_NULL(h->test, hca_device(h));
}

/**
 * hca_test_init() - init of all suites
 * @test: the test; skipped when there is no HCA with its driver
 *
 * Return: 0.
 */
int hca_test_init(struct kunit *test)
{
	struct hca_test *h = kunit_kzalloc(test, sizeof(*h), GFP_KERNEL);
	struct vhca_dev *dev;

	KUNIT_ASSERT_NOT_NULL(test, h);
	test->priv = h;
	h->test = test;
	h->pdev = pci_get_device(VHCA_PCI_VENDOR, VHCA_PCI_DEVICE, NULL);
	if (!h->pdev)
		kunit_skip(test, "no HCA is attached");
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_pdev, h->pdev), 0);
	h->drv = h->pdev->dev.driver;
	if (!h->drv || strcmp(h->drv->name, "vhca"))
		kunit_skip(test, "the HCA's driver is not loaded");
	KUNIT_ASSERT_TRUE(test, try_module_get(h->drv->owner));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, put_driver, h->drv), 0);
	dev = hca_need_device(h);
	snprintf(h->id, sizeof(h->id), "0x%016llx", dev->hw.limits.node_guid);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, restore, h), 0);
	return 0;
}

kunit_test_suites(&hca_probe_suite, &hca_data_suite, &hca_command_suite, &hca_time_suite,
		  &hca_life_suite, &hca_srq_suite, &hca_xrc_suite, &hca_cq_suite, &hca_ud_suite,
		  &hca_mem_suite, &hca_import_suite, &hca_qp_suite, &hca_lies_suite,
		  &hca_power_suite, &hca_event_suite, &hca_mad_suite);

MODULE_DESCRIPTION("KUnit tests of the vhca driver on an emulated HCA");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
