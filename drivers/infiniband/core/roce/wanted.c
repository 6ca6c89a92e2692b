// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The GIDs that a RoCE port should have.
 *
 * The port belongs to a net device. Its GIDs are the IP addresses of this one and of all net
 * devices above it: VLANs, bonds, macvlans, bridges and so on, in whatever network namespace they
 * are. In addition there is the standard GID, which is the link-local address that is derived from
 * the MAC address. For a net device that is a slave of a bond it is the standard GID of the bond
 * instead.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <net/addrconf.h>
#include <net/bonding.h>
#include <net/if_inet6.h>
#include <rdma/ib_addr.h>

#include "roce_priv.h"

/* Room beyond the GIDs that were counted, since addresses may be added meanwhile. */
#define SPARE 8

/* A net device can be above another one in two ways, and is then visited twice. */
static bool is_there(const struct roce_gids *gids, const struct net_device *netdev,
		     const union ib_gid *gid)
{
	for (unsigned int i = 0; i < min(gids->count, gids->room); i++)
		if (gids->gid[i].netdev == netdev &&
		    !memcmp(&gids->gid[i].gid, gid, sizeof(*gid)))
			return true;
	return false;
}

/* GIDs for which there is no room are only counted. */
static void put(struct roce_gids *gids, struct net_device *netdev, const union ib_gid *gid,
		bool standard)
{
	if (!roce_concerns(gids->change, netdev, gid) || is_there(gids, netdev, gid))
		return;
	if (gids->count < gids->room) {
		dev_hold(netdev);
		gids->gid[gids->count] = (struct roce_gid){
			.netdev = netdev, .gid = *gid, .standard = standard,
		};
	}
	gids->count++;
}

/* A net device without a MAC address, a tunnel for example, has no standard GID. */
static void put_standard(struct roce_gids *gids, struct net_device *netdev)
{
	union ib_gid gid = { .global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48) };

	if (!addrconf_ifid_eui48(&gid.raw[8], netdev))
		put(gids, netdev, &gid, true);
}

static void put_ipv4(struct roce_gids *gids, struct net_device *netdev)
{
	struct in_device *in_dev = __in_dev_get_rcu(netdev);
	const struct in_ifaddr *address;
	union ib_gid gid;

	if (!in_dev)
		return;
	in_dev_for_each_ifa_rcu(address, in_dev) {
		ipv6_addr_set_v4mapped(address->ifa_address, (struct in6_addr *)gid.raw);
		put(gids, netdev, &gid, false);
	}
}

/*
 * An address may be in the list for a while after its removal was reported. An address that is kept
 * while the link is down (net.ipv6.conf.*.keep_addr_on_down), or is added then, is like any other.
 */
static void put_ipv6(struct roce_gids *gids, struct net_device *netdev)
{
	struct inet6_dev *in6_dev = __in6_dev_get(netdev);
	const struct inet6_ifaddr *address;
	union ib_gid gid;

	if (!in6_dev)
		return;
	list_for_each_entry_rcu(address, &in6_dev->addr_list, if_list) {
		if (READ_ONCE(address->state) == INET6_IFADDR_STATE_DEAD)
			continue;
		memcpy(gid.raw, &address->addr, sizeof(gid));
		put(gids, netdev, &gid, false);
	}
}

static void put_addresses(struct roce_gids *gids, struct net_device *netdev)
{
	put_ipv4(gids, netdev);
	if (IS_ENABLED(CONFIG_IPV6))
		put_ipv6(gids, netdev);
}

/* Is the upper one a bond that sends through another slave? */
static bool is_idle_slave(struct net_device *netdev, struct net_device *upper)
{
	struct net_device *active;

	if (!netif_is_bond_master(upper))
		return false;
	active = bond_option_active_slave_get_rcu(netdev_priv(upper));
	return active && active != netdev;
}

/* The flags of a slave are set only after it is linked to the bond, which is what events report. */
static bool is_slave(struct net_device *netdev)
{
	struct net_device *master = netdev_master_upper_dev_get_rcu(netdev);

	return master && netif_is_bond_master(master);
}

/*
 * Visits the net device and those above it, which are at most MAX_NEST_DEV levels. Below a bond
 * that sends through another slave, the addresses of the bond are not this port's, but its standard
 * GID is.
 */
static void visit(struct roce_gids *gids, struct net_device *bottom, struct net_device *netdev,
		  bool addresses)
{
	struct net_device *upper;
	struct list_head *iter;

	if (READ_ONCE(netdev->reg_state) != NETREG_REGISTERED)
		return;
	if (netif_is_bond_master(netdev) || (netdev == bottom && !is_slave(netdev)))
		put_standard(gids, netdev);
	if (addresses)
		put_addresses(gids, netdev);
	netdev_for_each_upper_dev_rcu(netdev, upper, iter)
		visit(gids, bottom, upper, addresses && !is_idle_slave(netdev, upper));
}

/**
 * roce_gids_collect() - collect the GIDs that a port should have because of its net device
 * @gids: receives them, each with a reference to its net device; to be released by
 *	roce_gids_release()
 * @bottom: the net device, or NULL for a port without one, which has no GIDs
 * @change: GIDs that it does not concern are left out
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int roce_gids_collect(struct roce_gids *gids, struct net_device *bottom,
		      const struct roce_change *change)
{
	unsigned int room = 0;

	for (;;) {
		*gids = (struct roce_gids){ .change = change, .room = room };
		if (!bottom)
			return 0;
		if (room)
			gids->gid = kvcalloc(room, sizeof(*gids->gid), GFP_KERNEL);
		if (room && !gids->gid)
			return -ENOMEM;
		scoped_guard(rcu)
			visit(gids, bottom, bottom, true);
		if (gids->count <= gids->room)
			return 0;
		room = gids->count + SPARE;
		roce_gids_release(gids);
	}
}
EXPORT_SYMBOL_IF_KUNIT(roce_gids_collect);

/**
 * roce_gids_release() - end what roce_gids_collect() began
 * @gids: the GIDs
 *
 * Context: may sleep.
 */
void roce_gids_release(struct roce_gids *gids)
{
	for (unsigned int i = 0; i < min(gids->count, gids->room); i++)
		dev_put(gids->gid[i].netdev);
	kvfree(gids->gid);
	*gids = (struct roce_gids){};
}
EXPORT_SYMBOL_IF_KUNIT(roce_gids_release);
