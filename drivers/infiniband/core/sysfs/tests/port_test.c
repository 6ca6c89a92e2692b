// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: files that a client adds to a port's folder in sysfs.
 */
#include <kunit/test.h>
#include <linux/kernfs.h>
#include <linux/slab.h>
#include <rdma/ib_sysfs.h>
#include <rdma/ib_verbs.h>

#include "../../device/tests/test_device.h"
#include "../sysfs.h"

/* The port for which the client's files were read, and the value that was written */
static struct ib_device *asked_device;
static u32 asked_port;
static char stored[16];

static ssize_t first_show(struct ib_device *device, u32 port_num, struct ib_port_attribute *attr,
			  char *buf)
{
	asked_device = device;
	asked_port = port_num;
	return sysfs_emit(buf, "first of port %u\n", port_num);
}

static ssize_t second_show(struct ib_device *device, u32 port_num, struct ib_port_attribute *attr,
			   char *buf)
{
	return -EBUSY;
}

static ssize_t second_store(struct ib_device *device, u32 port_num,
			    struct ib_port_attribute *attr, const char *buf, size_t count)
{
	asked_port = port_num;
	strscpy(stored, buf, sizeof(stored));
	return count;
}

static IB_PORT_ATTR_RO(first);
static IB_PORT_ATTR_RW(second);

static struct attribute *plain_attrs[] = {
	&ib_port_attr_first.attr,
	NULL
};

static struct attribute *folder_attrs[] = {
	&ib_port_attr_second.attr,
	NULL
};

static const struct attribute_group plain = { .attrs = plain_attrs };
static const struct attribute_group folder = { .name = "folder", .attrs = folder_attrs };
static const struct attribute_group *groups[] = { &plain, &folder, NULL };

/* A file or folder below the device's folder, with a reference, or NULL */
static struct kernfs_node *find(struct test_device *device, const char *path)
{
	struct kernfs_node *node = device->ib.dev.kobj.sd, *next;
	char copy[32], *rest = copy, *name;

	strscpy(copy, path, sizeof(copy));
	kernfs_get(node);
	while (node && (name = strsep(&rest, "/"))) {
		next = kernfs_find_and_get(node, name);
		kernfs_put(node);
		node = next;
	}
	return node;
}

static bool there(struct test_device *device, const char *path)
{
	struct kernfs_node *found = find(device, path);

	kernfs_put(found);
	return found;
}

static void appear_and_go(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_sysfs");

	KUNIT_EXPECT_TRUE(test, there(device, "ports/2/state"));
	KUNIT_EXPECT_FALSE(test, there(device, "ports/2/first"));
	KUNIT_ASSERT_EQ(test, ib_port_register_client_groups(&device->ib, 2, groups), 0);
	KUNIT_EXPECT_TRUE(test, there(device, "ports/2/first"));
	KUNIT_EXPECT_TRUE(test, there(device, "ports/2/folder/second"));
	KUNIT_EXPECT_FALSE(test, there(device, "ports/1/first"));
	KUNIT_EXPECT_FALSE(test, there(device, "ports/1/folder"));

	ib_port_unregister_client_groups(&device->ib, 2, groups);
	KUNIT_EXPECT_FALSE(test, there(device, "ports/2/first"));
	KUNIT_EXPECT_FALSE(test, there(device, "ports/2/folder"));
	KUNIT_EXPECT_TRUE(test, there(device, "ports/2/state"));
	/* The client can add its files again. */
	KUNIT_ASSERT_EQ(test, ib_port_register_client_groups(&device->ib, 2, groups), 0);
	KUNIT_EXPECT_TRUE(test, there(device, "ports/2/first"));
	ib_port_unregister_client_groups(&device->ib, 2, groups);
	test_device_gone(device);
}

/* Reading and writing a file calls the client's functions with the device and port. */
static void lead_to_device_and_port(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_sysfs");
	char *buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	struct kernfs_node *node;
	struct kobject *kobj;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (u32 port_num = 1; port_num <= TEST_PORTS; port_num++) {
		char path[16];
		u32 found = 0;

		snprintf(path, sizeof(path), "ports/%u", port_num);
		node = find(device, path);
		KUNIT_ASSERT_NOT_NULL(test, node);
		kobj = node->priv;
		KUNIT_EXPECT_PTR_EQ(test, ib_port_sysfs_get_ibdev_kobj(kobj, &found), &device->ib);
		KUNIT_EXPECT_EQ(test, found, port_num);

		asked_device = NULL;
		KUNIT_EXPECT_GT(test, kobj->ktype->sysfs_ops->show(kobj, &ib_port_attr_first.attr,
								   buf), 0);
		snprintf(path, sizeof(path), "%u\n", port_num);
		KUNIT_EXPECT_NOT_NULL(test, strstr(buf, path));
		KUNIT_EXPECT_PTR_EQ(test, asked_device, &device->ib);
		KUNIT_EXPECT_EQ(test, asked_port, port_num);
		KUNIT_EXPECT_EQ(test, kobj->ktype->sysfs_ops->show(kobj, &ib_port_attr_second.attr,
								   buf), -EBUSY);
		asked_port = 0;
		KUNIT_EXPECT_EQ(test, kobj->ktype->sysfs_ops->store(kobj, &ib_port_attr_second.attr,
								    "word", 4), 4);
		KUNIT_EXPECT_EQ(test, asked_port, port_num);
		KUNIT_EXPECT_STREQ(test, stored, "word");
		kernfs_put(node);
	}
	test_device_gone(device);
}

static struct kunit_case port_cases[] = {
	KUNIT_CASE(appear_and_go),
	KUNIT_CASE(lead_to_device_and_port),
	{}
};

static struct kunit_suite port_suite = {
	.name = "ib_core_sysfs_port",
	.test_cases = port_cases,
};

kunit_test_suite(port_suite);
