// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Net devices of ports: the net device of a port, and the device of a net device; also net devices
 * whose data path an RDMA driver provides.
 */
#include <linux/cleanup.h>
#include <linux/hashtable.h>
#include <linux/netdevice.h>
#include <rdma/ib_verbs.h>

#include "device.h"

/* The ports (struct rdma_port_core) by their net devices. The table is walked under RCU. */
static DEFINE_HASHTABLE(ports_by_netdev, 5);
static DEFINE_SPINLOCK(ports_by_netdev_lock);

static void unlink_port(struct rdma_port_core *port)
{
	guard(spinlock)(&ports_by_netdev_lock);
	hash_del_rcu(&port->netdev_link);
}

static void link_port(struct rdma_port_core *port, struct net_device *netdev)
{
	guard(spinlock)(&ports_by_netdev_lock);
	hash_add_rcu(ports_by_netdev, &port->netdev_link, (unsigned long)netdev);
}

/* Returns true if the port had a net device, by which RCU readers may still find it. */
static bool clear_netdev(struct rdma_port_core *port)
{
	struct net_device *old;

	guard(spinlock)(&port->netdev_lock);
	old = rcu_dereference_protected(port->netdev, lockdep_is_held(&port->netdev_lock));
	if (!old)
		return false;
	unlink_port(port);
	rcu_assign_pointer(port->netdev, NULL);
	netdev_put(old, &port->netdev_tracker);
	return true;
}

static void set_netdev(struct rdma_port_core *port, struct net_device *netdev)
{
	guard(spinlock)(&port->netdev_lock);
	netdev_hold(netdev, &port->netdev_tracker, GFP_ATOMIC);
	rcu_assign_pointer(port->netdev, netdev);
	link_port(port, netdev);
}

/**
 * ib_device_set_netdev() - set the net device of a port
 * @ib_dev: the device, registered or not
 * @ndev: the net device, or NULL to remove it
 * @port: port number
 *
 * Called by drivers without a get_netdev operation. The core holds a reference to the net device
 * until the driver sets another one, or NULL, or unregisters or frees the device. So a driver sets
 * NULL when the net device is being unregistered. Setting the same net device again does nothing.
 * Calls for one port must not overlap. Context: may sleep.
 *
 * Return: 0, -EINVAL for a bad port, or what making the ports returned.
 */
int ib_device_set_netdev(struct ib_device *ib_dev, struct net_device *ndev, u32 port)
{
	struct rdma_port_core *core;
	int ret;

	if (!rdma_is_port_valid(ib_dev, port))
		return -EINVAL;
	/* A driver may call this while it prepares the device. */
	ret = ib_ports_setup(ib_dev);
	if (ret)
		return ret;
	core = rdma_port(ib_dev, port);
	if (rcu_access_pointer(core->netdev) == ndev)
		return 0;
	if (clear_netdev(core))
		/*
		 * A reader that has reached the port in a hash chain must not follow it into the
		 * chain of its next net device, whenever that is set.
		 */
		synchronize_rcu();
	if (ndev)
		set_netdev(core, ndev);
	/* The first net devices of a device are reported when it is registered. */
	if (ib_registry_shown(ib_dev))
		ib_device_notify(ib_dev, port, ndev ? RDMA_NETDEV_ATTACH_EVENT :
						      RDMA_NETDEV_DETACH_EVENT);
	return 0;
}
EXPORT_SYMBOL(ib_device_set_netdev);

/**
 * ib_device_get_netdev() - get the net device of a port
 * @ib_dev: the device
 * @port: port number
 *
 * It may be a net device that is being unregistered, so that a driver which handles that can
 * compare it with those of its ports.
 * Context: may sleep.
 *
 * Return: the net device with a reference for dev_put(), or NULL.
 */
struct net_device *ib_device_get_netdev(struct ib_device *ib_dev, u32 port)
{
	struct net_device *netdev;
	struct rdma_port_core *core;

	if (!rdma_is_port_valid(ib_dev, port) || !ib_dev->port_data)
		return NULL;
	if (ib_dev->ops.get_netdev)
		return ib_dev->ops.get_netdev(ib_dev, port);
	core = rdma_port(ib_dev, port);
	guard(spinlock)(&core->netdev_lock);
	netdev = rcu_dereference_protected(core->netdev, lockdep_is_held(&core->netdev_lock));
	dev_hold(netdev);
	return netdev;
}
EXPORT_SYMBOL(ib_device_get_netdev);

/**
 * ib_device_get_by_netdev() - get the device that has a port on a net device
 * @ndev: net device that a driver named with ib_device_set_netdev()
 * @driver_id: only a device of this driver, or RDMA_DRIVER_UNKNOWN for any
 *
 * Context: any.
 * Return: a registered device with a reference for ib_device_put(), or NULL.
 */
struct ib_device *ib_device_get_by_netdev(struct net_device *ndev, enum rdma_driver_id driver_id)
{
	struct rdma_port_core *port;

	guard(rcu)();
	hash_for_each_possible_rcu(ports_by_netdev, port, netdev_link, (unsigned long)ndev) {
		struct ib_device *device = port->device;

		if (rcu_access_pointer(port->netdev) == ndev &&
		    (driver_id == RDMA_DRIVER_UNKNOWN || device->ops.driver_id == driver_id) &&
		    ib_device_try_get(device))
			return device;
	}
	return NULL;
}
EXPORT_SYMBOL(ib_device_get_by_netdev);

/**
 * ib_netdevs_release() - drop the net devices of all ports
 * @device: device with ports that look-ups do not find any more
 *
 * Context: may sleep.
 */
void ib_netdevs_release(struct ib_device *device)
{
	bool cleared = false;
	u32 port_num;

	rdma_for_each_port(device, port_num)
		cleared |= clear_netdev(rdma_port(device, port_num));
	if (cleared)
		/*
		 * For the reason given in ib_device_set_netdev(), which the driver may call again.
		 */
		synchronize_rcu();
}

static int netdev_params(struct ib_device *device, u32 port_num, enum rdma_netdev_t type,
			 struct rdma_netdev_alloc_params *params)
{
	const struct ib_device_ops *ops = &device->ops;

	return ops->rdma_netdev_get_params ?
	       ops->rdma_netdev_get_params(device, port_num, type, params) : -EOPNOTSUPP;
}

/**
 * rdma_alloc_netdev() - allocate a network device with room for the driver's part
 * @device: device
 * @port_num: port
 * @type: purpose of the network device
 * @name: name or pattern
 * @name_assign_type: NET_NAME_*
 * @setup: called as by alloc_netdev()
 *
 * Context: may sleep.
 * Return: the network device, to be filled with rdma_init_netdev(); -EOPNOTSUPP if the driver has
 * no such devices, the driver's error or -ENOMEM as an ERR_PTR.
 */
struct net_device *rdma_alloc_netdev(struct ib_device *device, u32 port_num,
				     enum rdma_netdev_t type, const char *name,
				     unsigned char name_assign_type,
				     void (*setup)(struct net_device *))
{
	struct rdma_netdev_alloc_params params = {};
	struct net_device *netdev;
	int ret = netdev_params(device, port_num, type, &params);

	if (ret)
		return ERR_PTR(ret);
	netdev = alloc_netdev_mqs(params.sizeof_priv, name, name_assign_type, setup, params.txqs,
				  params.rxqs);
	return netdev ?: ERR_PTR(-ENOMEM);
}
EXPORT_SYMBOL(rdma_alloc_netdev);

/**
 * rdma_init_netdev() - let the driver fill a network device
 * @device: device
 * @port_num: port
 * @type: purpose of the network device
 * @name: as it was allocated with
 * @name_assign_type: as it was allocated with
 * @setup: as it was allocated with
 * @netdev: what rdma_alloc_netdev() gave
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the driver has no such devices; the driver's error.
 */
int rdma_init_netdev(struct ib_device *device, u32 port_num, enum rdma_netdev_t type,
		     const char *name, unsigned char name_assign_type,
		     void (*setup)(struct net_device *), struct net_device *netdev)
{
	struct rdma_netdev_alloc_params params = {};
	int ret = netdev_params(device, port_num, type, &params);

	return ret ?: params.initialize_rdma_netdev(device, port_num, netdev, params.param);
}
EXPORT_SYMBOL(rdma_init_netdev);
