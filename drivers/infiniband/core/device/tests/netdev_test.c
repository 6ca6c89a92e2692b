// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: net devices of ports: while they are unregistered, when they are replaced, and while a
 * task looks up a device by one of them.
 */
#include <kunit/test.h>
#include <linux/etherdevice.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/workqueue.h>
#include <net/sock.h>
#include <rdma/rdma_netlink.h>

#include "test_device.h"

static const struct net_device_ops no_ops = {};

static struct net_device *new_netdev(struct kunit *test)
{
	struct net_device *netdev = alloc_etherdev(0);

	KUNIT_ASSERT_NOT_NULL(test, netdev);
	netdev->netdev_ops = &no_ops;
	eth_hw_addr_random(netdev);
	KUNIT_ASSERT_EQ(test, register_netdev(netdev), 0);
	return netdev;
}

static void netdev_gone(struct net_device *netdev)
{
	unregister_netdev(netdev);
	free_netdev(netdev);
}

/* A driver's notifier: it compares net devices, and drops its own. */
struct driver_notifier {
	struct notifier_block nb;
	struct ib_device *device;
	struct net_device *netdev, *seen;
};

static int driver_hears(struct notifier_block *nb, unsigned long event, void *info)
{
	struct driver_notifier *driver = container_of(nb, struct driver_notifier, nb);
	struct net_device *netdev = netdev_notifier_info_to_dev(info);

	if (event != NETDEV_UNREGISTER || netdev != driver->netdev)
		return NOTIFY_DONE;
	driver->seen = ib_device_get_netdev(driver->device, 1);
	dev_put(driver->seen);
	ib_device_set_netdev(driver->device, NULL, 1);
	return NOTIFY_DONE;
}

static void seen_while_it_goes(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_going");
	struct driver_notifier driver = {
		.nb.notifier_call = driver_hears, .device = &device->ib,
		.netdev = new_netdev(test),
	};

	KUNIT_ASSERT_EQ(test, ib_device_set_netdev(&device->ib, driver.netdev, 1), 0);
	KUNIT_ASSERT_EQ(test, register_netdevice_notifier(&driver.nb), 0);
	unregister_netdev(driver.netdev);
	unregister_netdevice_notifier(&driver.nb);
	KUNIT_EXPECT_PTR_EQ(test, driver.seen, driver.netdev);
	KUNIT_EXPECT_NULL(test, ib_device_get_netdev(&device->ib, 1));
	free_netdev(driver.netdev);
	test_device_gone(device);
}

/* Unregistering a device drops its net device: its structure may live on for long. */
static void let_go_when_unregistered(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_let_go");
	struct net_device *netdev = new_netdev(test);
	int references = netdev_refcnt_read(netdev);

	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, netdev, 1), 0);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(netdev), references + 1);
	ib_unregister_device(&device->ib);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(netdev), references);
	ib_dealloc_device(&device->ib);
	netdev_gone(netdev);
}

/* Returns how many messages are queued at a listener. */
static unsigned int news(struct socket *listener)
{
	u8 buffer[256];
	struct kvec part = { .iov_base = buffer, .iov_len = sizeof(buffer) };
	struct msghdr msg = {};
	unsigned int n = 0;

	while (kernel_recvmsg(listener, &msg, &part, 1, sizeof(buffer), MSG_DONTWAIT) > 0) {
		part = (struct kvec){ .iov_base = buffer, .iov_len = sizeof(buffer) };
		n++;
	}
	return n;
}

static void named_again(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_again");
	struct net_device *netdev = new_netdev(test);
	/* It has a port number of its own: a socket without one counts as the sender. */
	struct sockaddr_nl address = {
		.nl_family = AF_NETLINK, .nl_groups = BIT(RDMA_NL_GROUP_NOTIFY - 1),
	};
	struct socket *listener;

	KUNIT_ASSERT_EQ(test, sock_create_kern(&init_net, PF_NETLINK, SOCK_RAW, NETLINK_RDMA,
					       &listener), 0);
	KUNIT_ASSERT_EQ(test, kernel_bind(listener, (struct sockaddr *)&address, sizeof(address)),
			0);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, NULL, 1), 0);
	KUNIT_EXPECT_EQ(test, news(listener), 0);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, netdev, 1), 0);
	KUNIT_EXPECT_EQ(test, news(listener), 1);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, netdev, 1), 0);
	KUNIT_EXPECT_EQ(test, news(listener), 0);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, NULL, 1), 0);
	KUNIT_EXPECT_EQ(test, news(listener), 1);
	sock_release(listener);
	test_device_gone(device);
	netdev_gone(netdev);
}

/* A driver sets no net device and then another, on another CPU than the test's. */
static struct {
	struct work_struct work;
	struct ib_device *device;
	struct net_device *netdev;
	bool done;
} naming;

static void name_another(struct work_struct *work)
{
	ib_device_set_netdev(naming.device, NULL, 1);
	ib_device_set_netdev(naming.device, naming.netdev, 1);
	WRITE_ONCE(naming.done, true);
}

/* A look-up may have reached the port's entry in the chain: it must not move to another chain. */
static void reader_stays_in_its_chain(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_chain");
	struct net_device *first = new_netdev(test), *second = new_netdev(test);
	bool early;

	naming.device = &device->ib;
	naming.netdev = second;
	naming.done = false;
	INIT_WORK(&naming.work, name_another);
	KUNIT_ASSERT_EQ(test, ib_device_set_netdev(&device->ib, first, 1), 0);
	rcu_read_lock();
	queue_work(system_unbound_wq, &naming.work);
	for (unsigned long end = jiffies + HZ / 5;
	     !READ_ONCE(naming.done) && time_before(jiffies, end);)
		cpu_relax();
	early = READ_ONCE(naming.done);
	rcu_read_unlock();
	KUNIT_EXPECT_FALSE(test, early);
	flush_work(&naming.work);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_netdev(first, RDMA_DRIVER_UNKNOWN));
	test_device_gone(device);
	netdev_gone(first);
	netdev_gone(second);
}

static struct kunit_case netdev_cases[] = {
	KUNIT_CASE(seen_while_it_goes),
	KUNIT_CASE(let_go_when_unregistered),
	KUNIT_CASE(named_again),
	KUNIT_CASE(reader_stays_in_its_chain),
	{}
};

static struct kunit_suite netdev_suite = {
	.name = "ib_core_netdev",
	.test_cases = netdev_cases,
};

kunit_test_suite(netdev_suite);
