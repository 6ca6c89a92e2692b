// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * RoCE devices, and changes of net devices after which their GID tables are updated.
 *
 * Net devices report their changes under locks of the network stack, or in atomic context. The
 * changes are queued, and a work item updates the tables for one after another.
 */
#include <linux/cleanup.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/if_inet6.h>
#include <rdma/ib_addr.h>

#include "../cache/cache.h"
#include "../device/device.h"
#include "roce_priv.h"

/*
 * Protects devices, and serializes the handling of changes. Drivers are called with it held; it is
 * never taken under locks of the network stack.
 */
static DEFINE_MUTEX(devices_lock);
/* All devices with ports, by core->roce_entry. */
static LIST_HEAD(devices);

/* Protects changes and missed. */
static DEFINE_SPINLOCK(changes_lock);
static LIST_HEAD(changes);
/* A change could not be queued or handled: memory was short, or a driver has refused a GID. */
static bool missed;

static void follow_changes(struct work_struct *work);
static DECLARE_WORK(changes_work, follow_changes);

/*
 * If a table could not be updated, all tables are compared with the net devices at the next change.
 */
static void port_follow(struct ib_device *device, u32 port_num, const struct roce_change *change)
{
	if (!roce_port_follow(device, port_num, change))
		return;
	guard(spinlock_irqsave)(&changes_lock);
	missed = true;
}

static void device_follow(struct ib_device *device, const struct roce_change *change)
{
	u32 port_num;

	rdma_for_each_port(device, port_num)
		if (rdma_protocol_roce(device, port_num))
			port_follow(device, port_num, change);
}

static void all_follow(const struct roce_change *change)
{
	struct rdma_device_core *core;

	guard(mutex)(&devices_lock);
	list_for_each_entry(core, &devices, roce_entry)
		device_follow(core->device, change);
}

static bool take_missed(void)
{
	bool was;

	guard(spinlock_irqsave)(&changes_lock);
	was = missed;
	missed = false;
	return was;
}

static struct roce_change *pop_change(void)
{
	struct roce_change *change;

	guard(spinlock_irqsave)(&changes_lock);
	change = list_first_entry_or_null(&changes, struct roce_change, entry);
	if (change)
		list_del(&change->entry);
	return change;
}

static void follow_changes(struct work_struct *work)
{
	const struct roce_change any = { .type = ROCE_CHANGE_ANY };
	struct roce_change *change;

	if (take_missed())
		all_follow(&any);
	while ((change = pop_change())) {
		all_follow(change);
		dev_put(change->netdev);
		kfree(change);
	}
}

static void queue_change(enum roce_change_type type, struct net_device *netdev,
			 const union ib_gid *gid)
{
	struct roce_change *change = kzalloc(sizeof(*change), GFP_ATOMIC);

	if (change) {
		change->type = type;
		change->netdev = netdev;
		dev_hold(netdev);
		if (gid)
			change->gid = *gid;
	}
	scoped_guard(spinlock_irqsave, &changes_lock) {
		if (change)
			list_add_tail(&change->entry, &changes);
		else
			missed = true;
	}
	queue_work(ib_wq, &changes_work);
}

/* A GID without users has freed an index in a table that has refused a GID. */
static void index_freed(void)
{
	queue_change(ROCE_CHANGE_ANY, NULL, NULL);
}

static int netdev_changed(struct notifier_block *nb, unsigned long event, void *info)
{
	struct net_device *netdev = netdev_notifier_info_to_dev(info);

	if (netdev->type != ARPHRD_ETHER)
		return NOTIFY_DONE;
	switch (event) {
	case NETDEV_REGISTER:
	case NETDEV_UNREGISTER:
	case NETDEV_UP:
	case NETDEV_CHANGEUPPER:
	case NETDEV_BONDING_FAILOVER:
		queue_change(ROCE_CHANGE_ANY, NULL, NULL);
		break;
	case NETDEV_CHANGEADDR:
		queue_change(ROCE_CHANGE_MAC, netdev, NULL);
		break;
	}
	return NOTIFY_DONE;
}

static void address_changed(unsigned long event, struct net_device *netdev,
			    const union ib_gid *gid)
{
	if (netdev->type == ARPHRD_ETHER && (event == NETDEV_UP || event == NETDEV_DOWN))
		queue_change(ROCE_CHANGE_ADDRESS, netdev, gid);
}

static int ipv4_changed(struct notifier_block *nb, unsigned long event, void *address)
{
	const struct in_ifaddr *in = address;
	union ib_gid gid;

	ipv6_addr_set_v4mapped(in->ifa_address, (struct in6_addr *)gid.raw);
	address_changed(event, in->ifa_dev->dev, &gid);
	return NOTIFY_DONE;
}

static int ipv6_changed(struct notifier_block *nb, unsigned long event, void *address)
{
	const struct inet6_ifaddr *in6 = address;
	union ib_gid gid;

	memcpy(gid.raw, &in6->addr, sizeof(gid));
	address_changed(event, in6->idev->dev, &gid);
	return NOTIFY_DONE;
}

/* A driver may set a port's net device under locks of the network stack. */
static int device_changed(struct notifier_block *nb, unsigned long type, void *change)
{
	if (type == RDMA_NETDEV_ATTACH_EVENT || type == RDMA_NETDEV_DETACH_EVENT)
		queue_change(ROCE_CHANGE_ANY, NULL, NULL);
	return NOTIFY_DONE;
}

static struct notifier_block netdev_nb = { .notifier_call = netdev_changed };
static struct notifier_block ipv4_nb = { .notifier_call = ipv4_changed };
static struct notifier_block ipv6_nb = { .notifier_call = ipv6_changed };
static struct notifier_block device_nb = { .notifier_call = device_changed };

/**
 * roce_setup_one() - fill the GID tables of a device's RoCE ports, and keep them up to date
 * @device: device with ports and cache, being registered
 *
 * GIDs that are missing for lack of memory, or because the driver has refused them, are added with
 * the next change.
 * Context: may sleep; not under locks of the network stack.
 */
void roce_setup_one(struct ib_device *device)
{
	const struct roce_change any = { .type = ROCE_CHANGE_ANY };

	guard(mutex)(&devices_lock);
	list_add_tail(&device->core->roce_entry, &devices);
	device_follow(device, &any);
}

/**
 * roce_cleanup_one() - stop updating the GID tables of a device
 * @device: device of roce_setup_one()
 *
 * On return its driver is not called any more by roce/. Context: may sleep; not under locks of the
 * network stack.
 */
void roce_cleanup_one(struct ib_device *device)
{
	guard(mutex)(&devices_lock);
	list_del_init(&device->core->roce_entry);
}

/**
 * rdma_roce_rescan_device() - compare the GID tables of a device with the net devices
 * @ibdev: device; nothing happens if it is not registered
 *
 * Called by drivers whose ports use other net devices now. Context: may sleep; not under locks of
 * the network stack.
 */
void rdma_roce_rescan_device(struct ib_device *ibdev)
{
	const struct roce_change any = { .type = ROCE_CHANGE_ANY };

	guard(mutex)(&devices_lock);
	if (!list_empty(&ibdev->core->roce_entry))
		device_follow(ibdev, &any);
}
EXPORT_SYMBOL(rdma_roce_rescan_device);

/**
 * rdma_roce_rescan_port() - compare the GID table of a port with the net devices
 * @ib_dev: device; nothing happens if it is not registered
 * @port: port number; nothing happens if it is no RoCE port
 *
 * Context: may sleep; not under locks of the network stack.
 */
void rdma_roce_rescan_port(struct ib_device *ib_dev, u32 port)
{
	const struct roce_change any = { .type = ROCE_CHANGE_ANY };

	guard(mutex)(&devices_lock);
	if (!list_empty(&ib_dev->core->roce_entry) && rdma_is_port_valid(ib_dev, port) &&
	    rdma_protocol_roce(ib_dev, port))
		port_follow(ib_dev, port, &any);
}
EXPORT_SYMBOL(rdma_roce_rescan_port);

/**
 * roce_init() - begin to watch net devices
 *
 * Return: 0 or an error of the network stack's notifiers.
 */
int roce_init(void)
{
	int ret = ib_device_notifier_register(&device_nb);

	if (ret)
		return ret;
	ret = register_inetaddr_notifier(&ipv4_nb);
	if (ret)
		goto device;
	ret = IS_ENABLED(CONFIG_IPV6) ? register_inet6addr_notifier(&ipv6_nb) : 0;
	if (ret)
		goto ipv4;
	ret = register_netdevice_notifier(&netdev_nb);
	if (ret)
		goto ipv6;
	ib_cache_gid_on_free(index_freed);
	return 0;

ipv6:
	if (IS_ENABLED(CONFIG_IPV6))
		unregister_inet6addr_notifier(&ipv6_nb);
ipv4:
	unregister_inetaddr_notifier(&ipv4_nb);
device:
	ib_device_notifier_unregister(&device_nb);
	return ret;
}

/**
 * roce_exit() - end what roce_init() began
 *
 * Context: when there is no device any more.
 */
void roce_exit(void)
{
	ib_cache_gid_on_free(NULL);
	unregister_netdevice_notifier(&netdev_nb);
	if (IS_ENABLED(CONFIG_IPV6))
		unregister_inet6addr_notifier(&ipv6_nb);
	unregister_inetaddr_notifier(&ipv4_nb);
	ib_device_notifier_unregister(&device_nb);
	flush_work(&changes_work);
}
