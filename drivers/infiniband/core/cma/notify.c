// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the network tells ids: a neighbour has another link address than the one that a RoCE
 * connection was made with, so the peer is not there any more; a bond uses another interface now.
 */
#include <kunit/visibility.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <net/arp.h>
#include <net/ndisc.h>
#include <net/neighbour.h>
#include <net/netevent.h>

#include "cma_priv.h"

/* Protects the table, and neigh_entry of each id.  Neighbours change in softirq context. */
static DEFINE_SPINLOCK(neigh_lock);
static DEFINE_HASHTABLE(neigh_table, 10);

/* The hash of an id with this destination; 0 for an address that has no neighbour. */
static u32 neigh_hash(int interface, const struct sockaddr *addr)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)addr;
	const struct sockaddr_in *in = (const struct sockaddr_in *)addr;

	if (addr->sa_family == AF_INET)
		return jhash(&in->sin_addr, sizeof(in->sin_addr), interface);
	if (addr->sa_family == AF_INET6)
		return jhash(&in6->sin6_addr, sizeof(in6->sin6_addr), interface);
	return 0;
}

/* The id takes events until its device is removed or it is destroyed. */
static bool takes_events(struct cma_id *id)
{
	enum rdma_cm_state state = cma_state(id);

	return state != RDMA_CM_DEVICE_REMOVAL && state != RDMA_CM_DESTROYING;
}

static bool take_unreachable(struct cma_id *id, struct cma_report *report,
			     struct rdma_cm_event *event)
{
	event->event = RDMA_CM_EVENT_UNREACHABLE;
	event->status = -ETIMEDOUT;
	return takes_events(id);
}

static bool take_addr_change(struct cma_id *id, struct cma_report *report,
			     struct rdma_cm_event *event)
{
	event->event = RDMA_CM_EVENT_ADDR_CHANGE;
	return takes_events(id);
}

/**
 * cma_watch_neighbour() - tell an id when its destination has another link address
 * @id: id with a resolved RoCE route, whose destination, interface and link addresses do not change
 *	any more
 *
 * Context: any.
 */
void cma_watch_neighbour(struct cma_id *id)
{
	u32 hash = neigh_hash(id->id.route.addr.dev_addr.bound_dev_if, cma_dst_addr(id));

	guard(spinlock_irqsave)(&neigh_lock);
	id->neigh_report.take = take_unreachable;
	if (hash_hashed(&id->neigh_entry))
		hash_del(&id->neigh_entry);
	hash_add(neigh_table, &id->neigh_entry, hash);
}
EXPORT_SYMBOL_IF_KUNIT(cma_watch_neighbour);

/**
 * cma_unwatch_neighbour() - undo cma_watch_neighbour(), if it was called
 * @id: the id
 *
 * Context: any.
 */
void cma_unwatch_neighbour(struct cma_id *id)
{
	/* No call is under way any more, so the id cannot be added now. */
	if (!hash_hashed(&id->neigh_entry))
		return;
	guard(spinlock_irqsave)(&neigh_lock);
	hash_del(&id->neigh_entry);
}

/**
 * cma_neighbour_changed() - handle a neighbour that may have another link address
 * @net: network namespace of the interface: others number theirs alike
 * @interface: index of the interface
 * @addr: IP address of the neighbour
 * @link_addr: its link address
 * @length: bytes of that
 *
 * Context: any, except for hard interrupts.
 */
VISIBLE_IF_KUNIT void cma_neighbour_changed(const struct net *net, int interface,
					    const struct sockaddr *addr, const u8 *link_addr,
					    unsigned int length)
{
	struct cma_id *id;

	guard(spinlock_irqsave)(&neigh_lock);
	hash_for_each_possible(neigh_table, id, neigh_entry, neigh_hash(interface, addr)) {
		struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;

		if (net_eq(dev_addr->net, net) && dev_addr->bound_dev_if == interface &&
		    cma_addr_same(cma_dst_addr(id), addr) &&
		    memcmp(dev_addr->dst_dev_addr, link_addr, length))
			cma_report(id, &id->neigh_report);
	}
}
EXPORT_SYMBOL_IF_KUNIT(cma_neighbour_changed);

static int net_event(struct notifier_block *self, unsigned long event, void *ctx)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };
	const struct neighbour *neigh = ctx;
	const struct sockaddr *addr;
	u8 link_addr[MAX_ADDR_LEN];

	/* One whose link address is being looked for has none that could be another. */
	if (event != NETEVENT_NEIGH_UPDATE || !(READ_ONCE(neigh->nud_state) & NUD_VALID))
		return NOTIFY_DONE;
	if (neigh->tbl->family == AF_INET) {
		memcpy(&in.sin_addr, neigh->primary_key, sizeof(in.sin_addr));
		addr = (const struct sockaddr *)&in;
	} else if (neigh->tbl->family == AF_INET6) {
		memcpy(&in6.sin6_addr, neigh->primary_key, sizeof(in6.sin6_addr));
		in6.sin6_scope_id = neigh->dev->ifindex;
		addr = (const struct sockaddr *)&in6;
	} else {
		return NOTIFY_DONE;
	}
	neigh_ha_snapshot(link_addr, neigh, neigh->dev);
	cma_neighbour_changed(dev_net(neigh->dev), neigh->dev->ifindex, addr, link_addr,
			      neigh->dev->addr_len);
	return NOTIFY_DONE;
}

/* Is the id on this interface, with another link address than it has now? */
static bool was_on(struct cma_id *id, const struct net_device *ndev)
{
	const struct rdma_dev_addr *dev_addr = &id->id.route.addr.dev_addr;

	return dev_addr->bound_dev_if == ndev->ifindex && net_eq(dev_net(ndev), dev_addr->net) &&
	       memcmp(dev_addr->src_dev_addr, ndev->dev_addr, ndev->addr_len);
}

/**
 * cma_bond_changed() - handle a bond that uses another of its interfaces
 * @ndev: the bond
 *
 * Context: may sleep.
 */
VISIBLE_IF_KUNIT void cma_bond_changed(const struct net_device *ndev)
{
	struct cma_device *cma_dev;
	struct cma_id *id;

	guard(rwsem_read)(&cma_devices_lock);
	list_for_each_entry(cma_dev, &cma_devices, entry)
		scoped_guard(spinlock_irqsave, &cma_dev->lock)
			list_for_each_entry(id, &cma_dev->ids, device_entry)
				if (was_on(id, ndev)) {
					id->bond_report.take = take_addr_change;
					cma_report(id, &id->bond_report);
				}
}
EXPORT_SYMBOL_IF_KUNIT(cma_bond_changed);

static int netdev_event(struct notifier_block *self, unsigned long event, void *ptr)
{
	const struct net_device *ndev = netdev_notifier_info_to_dev(ptr);

	if (event == NETDEV_BONDING_FAILOVER && netif_is_bond_master(ndev))
		cma_bond_changed(ndev);
	return NOTIFY_DONE;
}

static struct notifier_block net_event_block = { .notifier_call = net_event };
static struct notifier_block netdev_event_block = { .notifier_call = netdev_event };

/**
 * cma_notify_begin() - listen to the network
 *
 * Return: 0 or -ENOMEM.
 */
int cma_notify_begin(void)
{
	int ret = register_netdevice_notifier(&netdev_event_block);

	if (ret)
		return ret;
	ret = register_netevent_notifier(&net_event_block);
	if (ret)
		unregister_netdevice_notifier(&netdev_event_block);
	return ret;
}

/**
 * cma_notify_end() - undo cma_notify_begin()
 */
void cma_notify_end(void)
{
	unregister_netevent_notifier(&net_event_block);
	unregister_netdevice_notifier(&netdev_event_block);
}
