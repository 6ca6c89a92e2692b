// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: devices and network namespaces that begin, end and fail at the same time.
 */
#include <kunit/static_stub.h>
#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/device.h>
#include <linux/kthread.h>
#include <rdma/rdma_netlink.h>

#include "../../device/tests/test_device.h"
#include "../register_priv.h"

/* ---- ids of namespaces ---- */

static struct {
	struct compat_net net;
	bool asked;
	int ret;
} coming;

/* Simulates a namespace that begins on another CPU. */
static void enter_meanwhile(struct ib_device *device, u32 id)
{
	if (coming.asked)
		return;
	coming.asked = true;
	coming.ret = ib_compat_net_enter(&coming.net);
}

/* Otherwise the removal of one namespace's compat devices would remove the other's. */
static void number_is_kept_until_devices_have_left(struct kunit *test)
{
	struct compat_net going = {};
	struct test_device *device;

	/*
	 * No compat devices are made, since two could not have the same name in the initial
	 * namespace.
	 */
	KUNIT_ASSERT_EQ(test, rdma_compatdev_set(0, NULL), 0);
	device = test_device_registered(test, "kt_netns");
	memset(&coming, 0, sizeof(coming));
	KUNIT_ASSERT_EQ(test, ib_compat_net_enter(&going), 0);
	kunit_activate_static_stub(test, ib_compat_remove, enter_meanwhile);
	ib_compat_net_leave(&going);
	kunit_deactivate_static_stub(test, ib_compat_remove);
	KUNIT_EXPECT_TRUE(test, coming.asked);
	KUNIT_ASSERT_EQ(test, coming.ret, 0);
	KUNIT_EXPECT_NE(test, coming.net.id, going.id);
	ib_compat_net_leave(&coming.net);
	/* Nothing of either is left. */
	KUNIT_EXPECT_EQ(test, rdma_compatdev_set(1, NULL), 0);
	test_device_gone(device);
}

/* ---- the namespace of a device ---- */

/* A device that a failed move has hidden leaves its namespace, too, when that ends. */
static void hidden_device_leaves_a_namespace(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_hidden");
	struct net *net = kunit_kzalloc(test, sizeof(*net), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, net);
	/* This namespace has no socket for uevents. */
	dev_set_uevent_suppress(&device->ib.dev, true);
	device->fails = TEST_OP_ENABLE;
	device->spares = 1;
	KUNIT_EXPECT_EQ(test, ib_device_move(&device->ib, &init_net, net), -EIO);
	KUNIT_EXPECT_EQ(test, device->calls[TEST_OP_ENABLE], 2);
	KUNIT_EXPECT_PTR_EQ(test, read_pnet(&device->ib.coredev.rdma_net), net);
	KUNIT_EXPECT_FALSE(test, ib_device_try_get(&device->ib));

	KUNIT_EXPECT_EQ(test, ib_device_move(&device->ib, &init_net, net), -ENODEV);
	KUNIT_EXPECT_EQ(test, ib_device_move(&device->ib, net, &init_net), 0);
	KUNIT_EXPECT_PTR_EQ(test, read_pnet(&device->ib.coredev.rdma_net), &init_net);
	/* It stays hidden. */
	KUNIT_EXPECT_EQ(test, device->calls[TEST_OP_ENABLE], 2);
	KUNIT_EXPECT_FALSE(test, ib_device_try_get(&device->ib));
	/* Whatever has happened, netlink's listeners must be in a valid namespace. */
	write_pnet(&device->ib.coredev.rdma_net, &init_net);
	test_device_gone(device);
}

/* ---- sub-devices ---- */

static struct {
	struct ib_device *parent;
	struct completion tried;
	int ret;
	unsigned int ended;
} below;

static struct ib_device *add_sub_dev(struct ib_device *parent, enum rdma_nl_dev_type type,
				     const char *name)
{
	struct test_device *sub = test_device_alloc();

	return sub ? &sub->ib : ERR_PTR(-ENOMEM);
}

static void del_sub_dev(struct ib_device *sub)
{
	below.ended++;
	ib_dealloc_device(sub);
}

static int add_below(void *context)
{
	below.ret = ib_add_sub_device(below.parent, RDMA_DEVICE_TYPE_SMI, "kt_below");
	complete(&below.tried);
	return 0;
}

/* The device can be found by now, so a program may request a sub-device. */
static int take_one_and_fail(struct ib_device *device)
{
	kthread_run(add_below, NULL, "kt_below");
	wait_for_completion(&below.tried);
	return -EIO;
}

static const struct ib_device_ops parent_ops = {
	.add_sub_dev = add_sub_dev,
	.del_sub_dev = del_sub_dev,
};

/*
 * A sub-device that is added between the first look-up and the end of a registration ends with it.
 */
static void failed_registration_ends_what_is_below(struct kunit *test)
{
	struct test_device *device = test_device_alloc();

	KUNIT_ASSERT_NOT_NULL(test, device);
	memset(&below, 0, sizeof(below));
	below.parent = &device->ib;
	init_completion(&below.tried);
	ib_set_device_ops(&device->ib, &parent_ops);
	device->ib.ops.enable_driver = take_one_and_fail;
	KUNIT_EXPECT_EQ(test, ib_register_device(&device->ib, "kt_above", NULL), -EIO);
	KUNIT_EXPECT_EQ(test, below.ret, 0);
	KUNIT_EXPECT_EQ(test, below.ended, 1);
	/* No further sub-devices are accepted. */
	KUNIT_EXPECT_EQ(test, ib_add_sub_device(&device->ib, RDMA_DEVICE_TYPE_SMI, "kt_below"),
			-ENODEV);
	ib_dealloc_device(&device->ib);
}

static struct kunit_case register_cases[] = {
	KUNIT_CASE(number_is_kept_until_devices_have_left),
	KUNIT_CASE(hidden_device_leaves_a_namespace),
	KUNIT_CASE(failed_registration_ends_what_is_below),
	{}
};

static struct kunit_suite register_suite = {
	.name = "ib_core_register",
	.test_cases = register_cases,
};

kunit_test_suite(register_suite);
