// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Network devices whose data path an RDMA driver provides.
 */
#include <linux/netdevice.h>
#include "verbs_priv.h"

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
 * @type: what it is for
 * @name: name or pattern
 * @name_assign_type: NET_NAME_*
 * @setup: called as by alloc_netdev()
 *
 * Context: may sleep.
 * Return: the network device, to be filled with rdma_init_netdev(); -EOPNOTSUPP when
 * the driver has none, the driver's error or -ENOMEM as an ERR_PTR.
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
 * @type: what it is for
 * @name: as it was allocated with
 * @name_assign_type: as it was allocated with
 * @setup: as it was allocated with
 * @netdev: what rdma_alloc_netdev() gave
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the driver has none; the driver's error.
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
