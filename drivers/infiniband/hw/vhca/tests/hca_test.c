// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit suites on an emulated HCA. They find it by its PCI id and inject faults into the daemon
 * behind it: the lab runs vhcactl on the host when a guest requests it. Without an HCA, or without
 * the lab, tests are skipped.
 */
#include <linux/base64.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/iopoll.h>
#include <linux/module.h>
#include <rdma/ib_cache.h>

#include "hca_test.h"

/*
 * The lab's pipes (tools/testing/lab/guest/agent). The tests use them directly, since to start a
 * program takes most of a second in a guest that is fully emulated.
 */
#define LAB_REQUESTS	"/run/lab/requests"
#define LAB_ANSWERS	"/run/lab/answer.kunit"
#define ANSWER_MAX	PAGE_SIZE

static void put_pdev(void *pdev)
{
	pci_dev_put(pdev);
}

static void put_driver(void *drv)
{
	module_put(((struct device_driver *)drv)->owner);
}

/**
 * hca_device() - get the device of the function, if it is up
 * @h: HCA under test
 *
 * Waits while another task brings it up or takes it down.
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
 * hca_need_device() - get the device of the function, which has to be up
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

/* Put the HCA's name where an @ stands, and all on one line. */
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
	return text ? strreplace(text, '\n', ' ') : NULL;
}

static void print_base64(const char *text)
{
	char *plain __free(kfree) = kzalloc(strlen(text) + 1, GFP_KERNEL);

	if (plain && base64_decode(text, strlen(text), plain) > 0)
		pr_info("vhcactl: %s", plain);
}

/*
 * Waits for the answer: a line with vhcactl's status and its output in base64. A line longer than
 * ANSWER_MAX is truncated.
 */
static int take_answer(struct file *pipe)
{
	char *answer __free(kfree) = kzalloc(ANSWER_MAX + 1, GFP_KERNEL), *text = answer;
	size_t len = 0;
	int ret;

	if (!answer)
		return -ENOMEM;
	while (len < ANSWER_MAX && !strchr(answer, '\n')) {
		ret = kernel_read(pipe, answer + len, ANSWER_MAX - len, NULL);
		if (ret <= 0)
			return ret ?: -EIO;
		len += ret;
	}
	strim(answer);
	if (kstrtoint(strsep(&text, " "), 10, &ret))
		return -EPROTO;
	if (text)
		print_base64(text);
	return ret;
}

static int run_vhcactl(const char *words)
{
	struct file *to __free(fput) = filp_open(LAB_REQUESTS, O_RDWR, 0);
	struct file *from __free(fput) = filp_open(LAB_ANSWERS, O_RDWR, 0);
	char *line __free(kfree) = kasprintf(GFP_KERNEL, "kunit vhcactl %s\n", words);
	ssize_t n;

	if (IS_ERR(to))
		return PTR_ERR(to);
	if (IS_ERR(from))
		return PTR_ERR(from);
	if (!line)
		return -ENOMEM;
	n = kernel_write(to, line, strlen(line), NULL);
	return n < 0 ? n : take_answer(from);
}

/**
 * hca_ctl() - run vhcactl on the host
 * @h: HCA under test
 * @fmt: its arguments; an @ stands for the HCA's name
 *
 * A comma between commands puts several of them into one call.
 *
 * Context: process context. Waits for the host.
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
 * hca_need_faults() - skip the test if faults cannot be injected
 * @h: HCA under test
 */
void hca_need_faults(struct hca_test *h)
{
	static bool reached;

	/* The lab is there when the kernel has booted. */
	if (!reached)
		reached = !hca_ctl(h, "fault clear @");
	if (!reached)
		kunit_skip(h->test, "the HCA's daemon is not reached by " LAB_REQUESTS);
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
 * hca_struck() - expect that every armed fault has occurred
 * @h: HCA under test
 */
void hca_struck(struct hca_test *h)
{
	int ret = hca_ctl(h, "fault spent @");

	KUNIT_EXPECT_EQ_MSG(h->test, ret, 0, "a fault has not struck: nothing was tested");
	h->faults = ret;
}

/**
 * hca_let_go() - end the delays of faults with HCA_HELD
 * @h: HCA under test
 *
 * Every armed fault must have occurred.
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
 * hca_expect_objects() - expect numbers of objects, as the device reports them
 * @h: HCA under test; its driver is up
 * @pds: protection domains
 * @mkeys: memory keys
 * @cqs: completion queues
 * @qps: queue pairs
 *
 * Objects of the MAD layer are added: a PD with its key, a CQ and two QPs for each port.
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

/* After any test, brings the device up and disarms all faults, for the next test. */
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

/*
 * Waits until the driver issues no more commands after the device came up, since these could meet
 * faults that are meant for the test.
 */
static void settle(struct hca_test *h, struct vhca_dev *dev)
{
	enum ib_port_state state;
	int ret, err;
	u32 port;

	rdma_for_each_port(&dev->ibdev, port) {
		ret = read_poll_timeout(ib_get_cached_port_state, err,
					err || state == IB_PORT_ACTIVE, 1000,
					jiffies_to_usecs(HCA_PATIENCE), false, &dev->ibdev, port,
					&state);
		KUNIT_ASSERT_EQ_MSG(h->test, ret ?: err, 0, "port %u is not active", port);
	}
	/* Handlers of the ports' ACTIVE events may still query the device. */
	flush_work(&dev->report_work);
	flush_workqueue(ib_wq);
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
	settle(h, dev);
	return 0;
}

kunit_test_suites(&hca_probe_suite, &hca_data_suite, &hca_command_suite, &hca_time_suite,
		  &hca_life_suite, &hca_srq_suite, &hca_xrc_suite, &hca_cq_suite, &hca_ud_suite,
		  &hca_mem_suite, &hca_import_suite, &hca_qp_suite, &hca_lies_suite,
		  &hca_power_suite, &hca_event_suite, &hca_mad_suite);

MODULE_DESCRIPTION("KUnit tests of the vhca driver on an emulated HCA");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
