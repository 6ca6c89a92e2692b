// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keeps the GID table of a port up to date with the net devices.
 *
 * A table is not changed by the contents of an event, but compared with the present state of the
 * net devices. So a lost event does no lasting harm, and a late one does no harm at all.
 */
#include <rdma/ib_cache.h>

#include "../cache/cache.h"
#include "roce_priv.h"

static bool is_wanted(const struct roce_gids *wanted, const struct ib_gid_attr *attr,
		      bool standard)
{
	const struct net_device *netdev = rcu_access_pointer(attr->ndev);

	for (unsigned int i = 0; i < wanted->count; i++) {
		const struct roce_gid *gid = &wanted->gid[i];

		if (gid->standard == standard && gid->netdev == netdev &&
		    !memcmp(&gid->gid, &attr->gid, sizeof(attr->gid)))
			return true;
	}
	return false;
}

/*
 * GIDs of a net device with a new MAC address are removed and added again, for the driver has the
 * old address.
 */
static bool keep(const struct ib_gid_attr *attr, bool standard, void *context)
{
	const struct net_device *netdev = rcu_access_pointer(attr->ndev);
	const struct roce_gids *wanted = context;

	if (!roce_concerns(wanted->change, netdev, &attr->gid))
		return true;
	if (wanted->change->type == ROCE_CHANGE_MAC && wanted->change->netdev == netdev)
		return false;
	return is_wanted(wanted, attr, standard);
}

/*
 * Errors are logged for the administrator. Returns the last one after which it is worth trying
 * again with the next change; not that of a full table, since the cache reports when an index is
 * free.
 */
static int add_gid(struct ib_device *device, u32 port_num, const struct roce_gid *gid,
		   bool *changed)
{
	struct ib_gid_attr attr = {
		.device = device,
		.port_num = port_num,
		.gid = gid->gid,
	};
	unsigned long types = roce_gid_type_mask_support(device, port_num);
	int ret, lacking = 0;
	unsigned int type;

	RCU_INIT_POINTER(attr.ndev, gid->netdev);
	for_each_set_bit(type, &types, IB_GID_TYPE_SIZE) {
		attr.gid_type = type;
		ret = ib_cache_gid_add(&attr, gid->standard, changed);
		if (!ret)
			continue;
		ibdev_warn_ratelimited(device, "port %u: cannot add GID %pI6c: %d\n", port_num,
				       gid->gid.raw, ret);
		if (ret != -ENOSPC)
			lacking = ret;
	}
	return lacking;
}

static void report_change(struct ib_device *device, u32 port_num)
{
	struct ib_event event = {
		.device = device,
		.event = IB_EVENT_GID_CHANGE,
		.element.port_num = port_num,
	};

	ib_dispatch_event(&event);
}

/**
 * roce_port_follow() - update a port's GID table after a change
 * @device: device that is registered or being registered
 * @port_num: RoCE port
 * @change: the change
 *
 * Dispatches IB_EVENT_GID_CHANGE if the table has changed.
 *
 * Context: may sleep; calls of one port do not overlap.
 * Return: 0; -ENOMEM, or the driver's error, if the table could not be updated completely.
 */
int roce_port_follow(struct ib_device *device, u32 port_num, const struct roce_change *change)
{
	struct net_device *netdev = ib_device_get_netdev(device, port_num);
	struct roce_gids wanted;
	int ret = roce_gids_collect(&wanted, netdev, change);
	bool changed;

	dev_put(netdev);
	if (ret)
		return ret;
	changed = ib_cache_gid_prune(device, port_num, keep, &wanted);
	for (unsigned int i = 0; i < wanted.count; i++)
		ret = add_gid(device, port_num, &wanted.gid[i], &changed) ?: ret;
	roce_gids_release(&wanted);
	if (changed)
		report_change(device, port_num);
	return ret;
}

static bool is_elsewhere(const struct ib_gid_attr *attr, bool standard, void *netdev)
{
	return rcu_access_pointer(attr->ndev) != netdev;
}

/**
 * roce_del_all_netdev_gids() - remove the GIDs of a net device from a port
 * @ib_dev: registered device
 * @port: RoCE port
 * @ndev: net device
 *
 * Called by drivers when the port does not use the net device any more. If it still does, its GIDs
 * are added again with the next change of a net device. Context: may sleep.
 */
void roce_del_all_netdev_gids(struct ib_device *ib_dev, u32 port, struct net_device *ndev)
{
	if (ib_cache_gid_prune(ib_dev, port, is_elsewhere, ndev))
		report_change(ib_dev, port);
}
EXPORT_SYMBOL(roce_del_all_netdev_gids);
