// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: lines about a device in the kernel's log.
 */
#include <kunit/test.h>
#include <linux/kmsg_dump.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <rdma/ib_verbs.h>

#include "../../object/object.h"
#include "test_device.h"

#define LINE	256

/*
 * Returns the number of records that end with this text; @line receives the last of them, which
 * begins with its level.
 */
static unsigned int logged(struct kunit *test, const char *text, char line[LINE])
{
	struct kmsg_dump_iter iter;
	unsigned int found = 0;
	char *record;
	size_t len;

	record = kunit_kzalloc(test, LINE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, record);
	kmsg_dump_rewind(&iter);
	while (kmsg_dump_get_line(&iter, true, record, LINE - 1, &len)) {
		record[len] = '\0';
		strim(record);
		len = strlen(record);
		if (len < strlen(text) || strcmp(record + len - strlen(text), text))
			continue;
		strscpy(line, record, LINE);
		found++;
	}
	return found;
}

/* Expects that the text was logged once at this level. */
static void expect_logged(struct kunit *test, int level, const char *text)
{
	char line[LINE] = "", prefix[8];

	KUNIT_EXPECT_EQ_MSG(test, logged(test, text, line), 1, "'%s'", text);
	snprintf(prefix, sizeof(prefix), "<%d>", level);
	KUNIT_EXPECT_EQ_MSG(test, strncmp(line, prefix, strlen(prefix)), 0, "'%s'", line);
}

static const struct {
	__printf(2, 3) void (*say)(const struct ib_device *device, const char *format, ...);
	int level;
} levels[] = {
	{ ibdev_emerg, LOGLEVEL_EMERG }, { ibdev_alert, LOGLEVEL_ALERT },
	{ ibdev_crit, LOGLEVEL_CRIT }, { ibdev_err, LOGLEVEL_ERR },
	{ ibdev_warn, LOGLEVEL_WARNING }, { ibdev_notice, LOGLEVEL_NOTICE },
	{ ibdev_info, LOGLEVEL_INFO },
};

static unsigned int runs;	/* makes the lines of this run unique */

/* A device without parent, a device with one, and none: each line names its device. */
static void levels_and_names(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_log");
	char expected[LINE];

	runs++;
	for (unsigned int i = 0; i < ARRAY_SIZE(levels); i++) {
		levels[i].say(&device->ib, "level %u of run %u\n", i, runs);
		snprintf(expected, LINE, "kt_log: level %u of run %u", i, runs);
		expect_logged(test, levels[i].level, expected);
		levels[i].say(NULL, "no device, level %u of run %u\n", i, runs);
		snprintf(expected, LINE, "(NULL ib_device): no device, level %u of run %u", i,
			 runs);
		expect_logged(test, levels[i].level, expected);
	}
	ibdev_printk(KERN_NOTICE, &device->ib, "%s of run %u\n", "printk", runs);
	snprintf(expected, LINE, "kt_log: printk of run %u", runs);
	expect_logged(test, LOGLEVEL_NOTICE, expected);
	test_device_gone(device);
}

static void parent_is_named(struct kunit *test)
{
	struct device *parent = root_device_register("kt_log_parent");
	struct test_device *device;
	char expected[LINE];

	KUNIT_ASSERT_FALSE(test, IS_ERR(parent));
	runs++;
	device = test_device_alloc();
	KUNIT_ASSERT_NOT_NULL(test, device);
	device->ib.dev.parent = parent;
	KUNIT_ASSERT_EQ(test, ib_register_device(&device->ib, "kt_log", NULL), 0);
	ibdev_warn(&device->ib, "child of run %u\n", runs);
	snprintf(expected, LINE, "%s kt_log_parent kt_log: child of run %u",
		 dev_driver_string(parent), runs);
	expect_logged(test, LOGLEVEL_WARNING, expected);
	test_device_gone(device);
	root_device_unregister(parent);
}

static int never_refuses(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static const struct ib_device_ops pd_ops = {
	.alloc_pd = never_refuses,
	.dealloc_pd = never_refuses,
	.size_ib_pd = sizeof(struct ib_pd),
};

/* Returns how often the test's module was reported to have left this on the device. */
static unsigned int reported(struct kunit *test, const struct test_device *device,
			     const char *objects)
{
	char expected[LINE], line[LINE];

	snprintf(expected, LINE, "%s: " KBUILD_MODNAME " has left behind:%s",
		 dev_name(&device->ib.dev), objects);
	return logged(test, expected, line);
}

/* A module is named with its objects while it has any. */
static void left_behind_is_named(struct kunit *test)
{
	struct test_device *device;
	struct rdma_owner *owner;
	struct ib_pd *pd, *other;
	char name[IB_DEVICE_NAME_MAX];

	snprintf(name, sizeof(name), "kt_log_left%u", ++runs);
	device = test_device_registered(test, name);
	ib_set_device_ops(&device->ib, &pd_ops);
	device->ib.attrs.kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;

	/* An owner without objects. */
	owner = rdma_owner_kernel(&device->ib, KBUILD_MODNAME);
	KUNIT_EXPECT_NOT_NULL(test, owner);
	rdma_objects_report(&device->ib);
	KUNIT_EXPECT_EQ(test, reported(test, device, ""), 0);

	pd = ib_alloc_pd(&device->ib, 0);
	other = ib_alloc_pd(&device->ib, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd) || IS_ERR(other));
	rdma_objects_report(&device->ib);
	KUNIT_EXPECT_EQ(test, reported(test, device, " 2 PD"), 1);
	ib_dealloc_pd(other);
	rdma_objects_report(&device->ib);
	KUNIT_EXPECT_EQ(test, reported(test, device, " 1 PD"), 1);
	ib_dealloc_pd(pd);
	rdma_objects_report(&device->ib);
	KUNIT_EXPECT_EQ(test, reported(test, device, " 2 PD"), 1);
	KUNIT_EXPECT_EQ(test, reported(test, device, " 1 PD"), 1);
	KUNIT_EXPECT_EQ(test, reported(test, device, ""), 0);
	rdma_owner_put(owner);
	test_device_gone(device);
}

static int lacks_memory(struct ib_device *device)
{
	return -ENOMEM;
}

static int not_for_it(struct ib_device *device)
{
	return -EOPNOTSUPP;
}

/* What a client cannot do with a device is said; that it is not for such a device is not. */
static void client_that_fails_is_named(struct kunit *test)
{
	struct ib_client lacks = {
		.name = "kt_lacks", .add = lacks_memory, .no_kverbs_req = true,
	}, other = {
		.name = "kt_other", .add = not_for_it, .no_kverbs_req = true,
	};
	char name[IB_DEVICE_NAME_MAX], expected[LINE], line[LINE];
	struct test_device *device;

	snprintf(name, sizeof(name), "kt_log_client%u", ++runs);
	device = test_device_registered(test, name);
	KUNIT_EXPECT_EQ(test, ib_register_client(&lacks), 0);
	KUNIT_EXPECT_EQ(test, ib_register_client(&other), 0);
	snprintf(expected, LINE, "%s: client kt_lacks cannot use it: %d", name, -ENOMEM);
	expect_logged(test, LOGLEVEL_ERR, expected);
	snprintf(expected, LINE, "%s: client kt_other cannot use it: %d", name, -EOPNOTSUPP);
	KUNIT_EXPECT_EQ(test, logged(test, expected, line), 0);
	ib_unregister_client(&other);
	ib_unregister_client(&lacks);
	test_device_gone(device);
}

static struct kunit_case log_cases[] = {
	KUNIT_CASE(levels_and_names),
	KUNIT_CASE(parent_is_named),
	KUNIT_CASE(left_behind_is_named),
	KUNIT_CASE(client_that_fails_is_named),
	{}
};

static struct kunit_suite log_suite = {
	.name = "ib_core_log",
	.test_cases = log_cases,
};

kunit_test_suite(log_suite);
