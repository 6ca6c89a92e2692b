// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bringing the interface's QP up and down, and what has to be renewed when the port, its LID, its
 * P_Keys, its GIDs or the subnet manager change.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/rtnetlink.h>
#include <net/arp.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_reject.h>

#include "cm.h"
#include "dev.h"
#include "mcast.h"
#include "path.h"

/* How long a path may be unused before it is forgotten. */
#define PATH_IDLE	(600 * HZ)

/**
 * ipoib_find_pkey() - look for the P_Key in the port's table
 * @ipoib: interface
 *
 * A table that cannot be read tells nothing: the P_Key is taken to be where it was, until the table
 * can be read.
 *
 * Context: RTNL is held.
 */
void ipoib_find_pkey(struct ipoib_dev *ipoib)
{
	u16 index;
	int ret;

	ret = ib_find_pkey(ipoib->ca, ipoib->port, ipoib->pkey, &index);
	if (!ret) {
		WRITE_ONCE(ipoib->pkey_index, index);
		set_bit(IPOIB_PKEY_FOUND, &ipoib->flags);
	} else if (ret == -ENOENT) {
		clear_bit(IPOIB_PKEY_FOUND, &ipoib->flags);
	} else {
		set_bit(IPOIB_PKEY_UNREAD, &ipoib->flags);
	}
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_find_pkey);

/* The own GID: the subnet's prefix, and the port's GUID unless the administrator chose another. */
static void find_guid(struct ipoib_dev *ipoib)
{
	union ib_gid first, own;
	bool found;
	u16 index;
	u32 port;

	if (rdma_query_gid(ipoib->ca, ipoib->port, 0, &first))
		return;
	own = first;
	if (ipoib_is(ipoib, IPOIB_OWN_GUID))
		own.global.interface_id = ipoib->gid.global.interface_id;
	found = !ib_find_gid(ipoib->ca, &own, &port, &index) && port == ipoib->port;
	if (found && !index)
		clear_bit(IPOIB_OWN_GUID, &ipoib->flags);
	assign_bit(IPOIB_GUID_FOUND, &ipoib->flags, found);
	if (!memcmp(&own, &ipoib->gid, sizeof(own)))
		return;
	netif_addr_lock_bh(ipoib->netdev);
	ipoib->gid = own;
	dev_addr_mod(ipoib->netdev, 4, own.raw, sizeof(own));
	netif_addr_unlock_bh(ipoib->netdev);
}

/**
 * ipoib_up() - begin to send and receive
 * @ipoib: interface, down
 *
 * Context: RTNL is held.
 * Return: 0; -ENXIO if the port does not have the P_Key; or what the operations of the interface's
 * engine or the connection manager answer.
 */
int ipoib_up(struct ipoib_dev *ipoib)
{
	struct net_device *netdev = ipoib->netdev;
	struct rdma_netdev *rn = netdev_priv(netdev);
	int ret;

	KUNIT_STATIC_STUB_REDIRECT(ipoib_up, ipoib);
	ipoib_find_pkey(ipoib);
	if (!ipoib_is(ipoib, IPOIB_PKEY_FOUND))
		return rdma_refuse(-ENXIO, "P_Key %#x is not in the table of port %u", ipoib->pkey,
				   ipoib->port);
	if (rn->set_id)
		rn->set_id(netdev, ipoib->pkey_index);
	ret = ipoib->engine->ndo_open(netdev);
	if (ret)
		return ret;
	ret = ipoib_cm_start(ipoib);
	if (ret) {
		ipoib->engine->ndo_stop(netdev);
		return ret;
	}
	set_bit(IPOIB_STARTED, &ipoib->flags);
	find_guid(ipoib);
	ipoib_mcast_start(ipoib);
	queue_delayed_work(ipoib->wq, &ipoib->age_work, 2 * arp_tbl.gc_interval);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_up);

/**
 * ipoib_down() - end sending and receiving
 * @ipoib: interface; if it is down, only the carrier is turned off
 *
 * Context: RTNL is held.
 */
void ipoib_down(struct ipoib_dev *ipoib)
{
	netif_carrier_off(ipoib->netdev);
	if (!test_and_clear_bit(IPOIB_STARTED, &ipoib->flags))
		return;
	/* A sender that has not seen the flag change is done after this. */
	netif_tx_lock_bh(ipoib->netdev);
	netif_tx_unlock_bh(ipoib->netdev);
	cancel_delayed_work_sync(&ipoib->age_work);
	ipoib_mcast_stop(ipoib);
	ipoib_path_flush(ipoib);
	ipoib_cm_stop(ipoib);
	ipoib->engine->ndo_stop(ipoib->netdev);
}

static void age(struct work_struct *work)
{
	struct ipoib_dev *ipoib = container_of(work, struct ipoib_dev, age_work.work);
	unsigned long period = 2 * arp_tbl.gc_interval;

	ipoib_mcast_age(ipoib, period);
	ipoib_path_age(ipoib, PATH_IDLE);
	ipoib_cm_age(ipoib);
	if (ipoib_is(ipoib, IPOIB_PKEY_UNREAD))
		ipoib_flush(ipoib, IPOIB_FLUSH_HEAVY);
	queue_delayed_work(ipoib->wq, &ipoib->age_work, period);
}

/* ---- events ---- */

static void restart(struct ipoib_dev *ipoib)
{
	int ret;

	ipoib_down(ipoib);
	ret = ipoib_up(ipoib);
	if (ret)
		netdev_warn(ipoib->netdev, "does not work: error %d\n", ret);
	else
		netif_tx_start_all_queues(ipoib->netdev);
}

/* A parent has whatever P_Key stands first in the table, a child its own wherever that stands. */
static bool pkey_moved(struct ipoib_dev *ipoib)
{
	u16 old = ipoib->pkey, index = ipoib->pkey_index, first;
	bool found = ipoib_is(ipoib, IPOIB_PKEY_FOUND);

	clear_bit(IPOIB_PKEY_UNREAD, &ipoib->flags);
	if (!ipoib_is(ipoib, IPOIB_CHILD)) {
		if (ib_query_pkey(ipoib->ca, ipoib->port, 0, &first)) {
			set_bit(IPOIB_PKEY_UNREAD, &ipoib->flags);
			return false;
		}
		ipoib->pkey = first | IPOIB_FULL_MEMBER;
		ipoib->netdev->broadcast[8] = ipoib->pkey >> 8;
		ipoib->netdev->broadcast[9] = ipoib->pkey;
	}
	ipoib_find_pkey(ipoib);
	return ipoib->pkey != old || ipoib->pkey_index != index ||
	       ipoib_is(ipoib, IPOIB_PKEY_FOUND) != found;
}

/*
 * Paths are asked for, and groups joined, with the own GID, so that is looked for before. Groups
 * come before connections: it takes long to end many of these. Connections that work notice by
 * themselves when their peer is no more where it was; those that are not established yet would go
 * on asking there.
 */
static void renew(struct ipoib_dev *ipoib, bool forget)
{
	ipoib_mcast_stop(ipoib);
	find_guid(ipoib);
	if (forget)
		ipoib_path_flush(ipoib);
	else
		ipoib_path_stale(ipoib);
	ipoib_mcast_start(ipoib);
	if (forget)
		ipoib_cm_flush(ipoib);
	else
		ipoib_cm_renew(ipoib);
}

/* A start that has failed is tried again with the next event, whichever. */
static bool wants_start(struct ipoib_dev *ipoib)
{
	return ipoib_is(ipoib, IPOIB_PKEY_FOUND) && !ipoib_is(ipoib, IPOIB_STARTED);
}

static void flush_one(struct ipoib_dev *ipoib, enum ipoib_flush level)
{
	/* A P_Key table that could not be read at its event is read at the next one. */
	bool look = level == IPOIB_FLUSH_HEAVY || ipoib_is(ipoib, IPOIB_PKEY_UNREAD);
	/* A P_Key table that has changed only in other entries needs nothing. */
	bool moved = look && pkey_moved(ipoib);

	if (!netif_running(ipoib->netdev)) {
		find_guid(ipoib);
		return;
	}
	ipoib_dbg(ipoib, "flush level %d\n", level);
	if (moved || level == IPOIB_FLUSH_RESTART || wants_start(ipoib)) {
		restart(ipoib);
	} else if (level != IPOIB_FLUSH_HEAVY && ipoib_is(ipoib, IPOIB_STARTED)) {
		if (level == IPOIB_FLUSH_NORMAL)
			netif_carrier_off(ipoib->netdev);
		renew(ipoib, level == IPOIB_FLUSH_NORMAL);
	}
}

/* A higher level does not include the lower ones: it does nothing if the P_Key is where it was. */
static void flush_levels(struct ipoib_dev *ipoib, unsigned long levels)
{
	unsigned int level;

	for_each_set_bit(level, &levels, IPOIB_FLUSH_RESTART + 1)
		flush_one(ipoib, level);
}

static void follow(struct work_struct *work)
{
	struct ipoib_dev *ipoib = container_of(work, struct ipoib_dev, flush_work), *child;
	unsigned long levels;

	rtnl_lock();
	levels = atomic_xchg(&ipoib->flush, 0);
	if (ipoib->netdev->reg_state == NETREG_REGISTERED) {
		/* Children work also while their parent is down. */
		list_for_each_entry(child, &ipoib->children, entry)
			flush_levels(child, levels & ~BIT(IPOIB_FLUSH_RESTART));
		flush_levels(ipoib, levels);
	}
	rtnl_unlock();
	dev_put(ipoib->netdev);
}

/**
 * ipoib_flush() - have part of an interface's state renewed
 * @ipoib: interface; its children, too, but for IPOIB_FLUSH_RESTART
 * @level: which part
 *
 * Context: any.
 */
void ipoib_flush(struct ipoib_dev *ipoib, enum ipoib_flush level)
{
	atomic_or(BIT(level), &ipoib->flush);
	dev_hold(ipoib->netdev);
	if (!queue_work(ipoib_wq, &ipoib->flush_work))
		dev_put(ipoib->netdev);
}

/**
 * ipoib_event_waiting() - does an interface or a child of it wait for its GUID?
 * @ipoib: interface of a port
 *
 * A child looks for its GUID when it starts, so one that has not started waits for nothing.
 *
 * Context: any.
 * Return: whether one does.
 */
VISIBLE_IF_KUNIT bool ipoib_event_waiting(struct ipoib_dev *ipoib)
{
	struct ipoib_dev *child;

	if (!ipoib_is(ipoib, IPOIB_GUID_FOUND))
		return true;
	guard(rcu)();
	list_for_each_entry_rcu(child, &ipoib->children, entry)
		if (ipoib_is(child, IPOIB_STARTED) && !ipoib_is(child, IPOIB_GUID_FOUND))
			return true;
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(ipoib_event_waiting);

static void handle_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct ipoib_dev *ipoib = container_of(handler, struct ipoib_dev, handler);
	enum ipoib_flush level;

	if (event->element.port_num != ipoib->port)
		return;
	level = ipoib_event_flush(event->event, ipoib_event_waiting(ipoib));
	if (level != IPOIB_FLUSH_NONE)
		ipoib_flush(ipoib, level);
}

/*
 * The MTU is the broadcast group's unless a smaller one was asked for. What was asked for stays:
 * the next group may allow it.
 */
static void follow_mtu(struct ipoib_dev *ipoib)
{
	unsigned int wanted = ipoib->wanted_mtu;

	if (ipoib_is(ipoib, IPOIB_CONNECTED))
		return;
	dev_set_mtu(ipoib->netdev, min(READ_ONCE(ipoib->group_mtu), wanted));
	ipoib->wanted_mtu = wanted;
}

/* The broadcast group has been joined. It may have been left before this got RTNL. */
static void link_up(struct work_struct *work)
{
	struct ipoib_dev *ipoib = container_of(work, struct ipoib_dev, link_work);
	struct net_device *netdev = ipoib->netdev;

	rtnl_lock();
	if (netif_running(netdev) && ipoib_mcast_joined(ipoib)) {
		follow_mtu(ipoib);
		netif_carrier_on(netdev);
	}
	rtnl_unlock();
	dev_put(netdev);
}

/**
 * ipoib_event_init() - prepare to follow events
 * @ipoib: interface
 *
 * Context: any.
 */
void ipoib_event_init(struct ipoib_dev *ipoib)
{
	atomic_set(&ipoib->flush, 0);
	INIT_WORK(&ipoib->flush_work, follow);
	INIT_WORK(&ipoib->link_work, link_up);
	INIT_DELAYED_WORK(&ipoib->age_work, age);
}

/**
 * ipoib_event_start() - begin to follow the port
 * @ipoib: interface that is registered, not a child
 *
 * Context: may sleep.
 */
void ipoib_event_start(struct ipoib_dev *ipoib)
{
	INIT_IB_EVENT_HANDLER(&ipoib->handler, ipoib->ca, handle_event);
	ib_register_event_handler(&ipoib->handler);
	/* Something may have changed since the interface read the port. */
	ipoib_flush(ipoib, IPOIB_FLUSH_HEAVY);
}

/**
 * ipoib_event_stop() - stop following the port
 * @ipoib: interface; work that an earlier event began goes on
 *
 * Context: may sleep; RTNL is not held.
 */
void ipoib_event_stop(struct ipoib_dev *ipoib)
{
	ib_unregister_event_handler(&ipoib->handler);
}
