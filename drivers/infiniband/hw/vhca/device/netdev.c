// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Net devices of Ethernet ports.
 *
 * A port's net device is the one whose permanent address is the port's. It is paired with the port
 * when it is registered, whether before or after the RDMA device, and stays so if its address or
 * name changes, or if it joins a bond. A move to another network namespace unregisters it and
 * registers it again.
 *
 * Notifiers run under the RTNL lock, which must not be held while commands to the device run. So
 * they only set and clear the port's net device; a work item programs the device according to the
 * net device's state, and reports the port's new state to the core. Each run compares the whole
 * state, so one run is enough for any number of changes.
 */
#include <kunit/visibility.h>
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <rdma/ib_verbs.h>

#include "../cmd/cmd.h"
#include "../verbs/eth.h"
#include "device.h"

static bool has_address(const struct net_device *ndev, const struct vhca_port *p)
{
	return p->eth && ndev->type == ARPHRD_ETHER &&
	       ether_addr_equal_unaligned(ndev->perm_addr, p->mac);
}

/* Finds the port of a net device by its permanent address; 0 for none. */
static u32 port_of(struct vhca_dev *dev, const struct net_device *ndev)
{
	for (u32 port = 1; port <= dev->hw.limits.ports; port++)
		if (has_address(ndev, &dev->ports[port - 1]))
			return port;
	return 0;
}

/* Is @ndev the port's net device? With NULL: has the port none? */
static bool stands_on(struct vhca_dev *dev, u32 port, const struct net_device *ndev)
{
	struct net_device *now = ib_device_get_netdev(&dev->ibdev, port);

	dev_put(now);
	return now == ndev;
}

static void pair(struct vhca_dev *dev, u32 port, struct net_device *ndev)
{
	int err;

	/* If two net devices have the address, the first one stays paired. */
	if (!stands_on(dev, port, NULL))
		return;
	err = ib_device_set_netdev(&dev->ibdev, ndev, port);
	if (err)
		dev_warn(dev->hw.dev, "port %u does not get its net device %s (%d)\n", port,
			 netdev_name(ndev), err);
}

static void part(struct vhca_dev *dev, u32 port, struct net_device *ndev)
{
	if (stands_on(dev, port, ndev))
		ib_device_set_netdev(&dev->ibdev, NULL, port);
}

static int netdev_event(struct notifier_block *nb, unsigned long event, void *info)
{
	struct vhca_dev *dev = container_of(nb, struct vhca_dev, netdev_nb);
	struct net_device *ndev = netdev_notifier_info_to_dev(info);
	u32 port = port_of(dev, ndev);

	if (port && event == NETDEV_REGISTER)
		pair(dev, port, ndev);
	else if (port && event == NETDEV_UNREGISTER)
		part(dev, port, ndev);
	/* GIDs may belong to upper devices of the port's net device, such as VLANs. */
	if (port || event == NETDEV_CHANGEADDR)
		vhca_netdevs_follow(dev);
	return NOTIFY_DONE;
}

/* Enables or disables the port, and sets its MTU. */
static void program(struct vhca_dev *dev, u32 port, const struct vhca_eth_link *link)
{
	struct vhca_port *p = &dev->ports[port - 1];
	struct vhca_modify_port_req req = { .port = port };

	if (link->running != p->enabled)
		req.flags = link->running ? VHCA_PORT_ENABLE : VHCA_PORT_DISABLE;
	if (link->mtu && link->mtu != p->mtu)
		req.mtu = link->mtu;
	if (!req.flags && !req.mtu)
		return;
	if (vhca_cmd_modify_port(&dev->hw, &req)) {
		if (!vhca_hw_dead(&dev->hw))
			dev_err_ratelimited(dev->hw.dev, "port %u does not follow its net device\n",
					    port);
		return;
	}
	p->enabled = link->running;
	if (req.mtu)
		p->mtu = req.mtu;
}

static bool is_active(struct vhca_dev *dev, u32 port)
{
	struct vhca_port_attr attr;

	return dev->ports[port - 1].enabled && !vhca_cmd_query_port(&dev->hw, port, &attr) &&
	       attr.state == IB_PORT_ACTIVE;
}

static void report_state(struct vhca_dev *dev, u32 port)
{
	struct vhca_port *p = &dev->ports[port - 1];
	bool active = is_active(dev, port);

	if (active == p->active)
		return;
	p->active = active;
	vhca_port_event(dev, port, active ? IB_EVENT_PORT_ACTIVE : IB_EVENT_PORT_ERR);
}

static void warn_lonely(struct vhca_dev *dev, u32 port)
{
	struct vhca_port *p = &dev->ports[port - 1];

	if (p->said_lonely)
		return;
	p->said_lonely = true;
	dev_notice(dev->hw.dev, "port %u is down: no net device has its address %pM\n", port,
		   p->mac);
}

static void follow_port(struct vhca_dev *dev, u32 port)
{
	struct vhca_eth_link link;

	vhca_eth_get_link(dev, port, &link);
	if (!link.present)
		warn_lonely(dev, port);
	program(dev, port, &link);
	vhca_eth_refresh_gids(dev, port);
	report_state(dev, port);
}

static void follow_netdevs(struct work_struct *work)
{
	struct vhca_dev *dev = container_of(work, struct vhca_dev, follow_work);

	for (u32 port = 1; port <= dev->hw.limits.ports; port++)
		if (dev->ports[port - 1].eth)
			follow_port(dev, port);
}

static bool has_eth(const struct vhca_dev *dev)
{
	for (u32 port = 1; port <= dev->hw.limits.ports; port++)
		if (dev->ports[port - 1].eth)
			return true;
	return false;
}

/**
 * vhca_netdevs_start() - pair Ethernet ports with existing and future net devices
 * @dev: the device, about to be registered; its phys_port_cnt is set
 *
 * Context: takes the RTNL lock.
 * Return: 0 or an error of register_netdevice_notifier().
 */
int vhca_netdevs_start(struct vhca_dev *dev)
{
	INIT_WORK(&dev->follow_work, follow_netdevs);
	if (!has_eth(dev))
		return 0;
	dev->netdev_nb.notifier_call = netdev_event;
	/* Runs before the core's notifier, which fills in the GIDs of a port's net device. */
	dev->netdev_nb.priority = 1;
	return register_netdevice_notifier(&dev->netdev_nb);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_netdevs_start);

/**
 * vhca_netdevs_open() - begin to adapt ports to the state of their net devices
 * @dev: the device, registered
 *
 * Context: any process context.
 */
void vhca_netdevs_open(struct vhca_dev *dev)
{
	if (!has_eth(dev))
		return;
	WRITE_ONCE(dev->following, true);
	vhca_netdevs_follow(dev);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_netdevs_open);

/**
 * vhca_netdevs_stop() - stop adapting ports to their net devices
 * @dev: the device, not registered any more
 *
 * Context: takes the RTNL lock; waits for the work item.
 */
void vhca_netdevs_stop(struct vhca_dev *dev)
{
	if (has_eth(dev))
		/* This calls the notifier with NETDEV_UNREGISTER, which ends the pairing. */
		unregister_netdevice_notifier(&dev->netdev_nb);
	/* Events of the device may still try to queue it, so it is disabled. */
	disable_work_sync(&dev->follow_work);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_netdevs_stop);
