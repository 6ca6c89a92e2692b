// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * This host's ports, and when they search for I/O units.
 *
 * While there are watchers, each port that has subnet administration searches when it becomes
 * active, when the subnet manager, the port's addresses or its partitions change, when the manager
 * forwards a notice of ports that have appeared, disappeared, or changed their device management
 * capability, and when a consumer calls ib_search_io(). A search that fails is repeated at growing
 * intervals; otherwise no timer is used.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/rdma_ext_port.h>

#include "ioscan_priv.h"

/* Seconds until a search that failed is repeated: at first, and at most. */
#define RETRY_FIRST 1
#define RETRY_MOST 64

static LIST_HEAD(ports);
static struct workqueue_struct *ios_wq;

/* All ports that were present when watching began are in the list. */
static bool all_there;

/* ---- searching ---- */

static void search_now(struct ios_port *port)
{
	guard(spinlock_irqsave)(&port->lock);
	if (!port->gone)
		mod_delayed_work(ios_wq, &port->work, 0);
}

/* If another reason has queued the work while it ran, it is not delayed. */
static void search_later(struct ios_port *port)
{
	unsigned int seconds = port->retry;

	port->retry = min(2 * port->retry, RETRY_MOST);
	guard(spinlock_irqsave)(&port->lock);
	if (!port->gone)
		queue_delayed_work(ios_wq, &port->work, seconds * HZ);
}

/* Without a subnet manager there is no reason to repeat: an event will tell of a new one. */
static bool is_worth_repeating(int ret)
{
	return ret && ret != -EAGAIN && ret != -EINTR && ret != -ENODEV;
}

/**
 * ios_ports_settle() - report to watchers that the initial objects are complete, if all ports have
 * searched
 *
 * Context: with ios_lock held; may sleep.
 */
void ios_ports_settle(void)
{
	struct ios_port *port;

	lockdep_assert_held(&ios_lock);
	if (!all_there)
		return;
	list_for_each_entry(port, &ports, entry)
		if (!port->searched)
			return;
	ios_tell_replayed();
}

static void search(struct work_struct *work)
{
	struct ios_port *port = container_of(work, struct ios_port, work.work);
	LIST_HEAD(found);
	int ret = ios_search(port, &found);

	scoped_guard(mutex, &ios_lock) {
		/* A port that is not active reaches nothing, whatever the search has found. */
		if (!port->active)
			break;
		if (ret >= 0 && ios_know(port, &found))
			ret = -ENOMEM;
		port->searched = true;
		ios_ports_settle();
	}
	ios_units_free(&found);
	if (is_worth_repeating(ret))
		search_later(port);
	else
		port->retry = RETRY_FIRST;
}

static void take_notice(struct ios_port *port, const struct ib_sa_notice *notice)
{
	if (!notice || ios_notice(port, notice))
		search_now(port);
}

/* ---- ports ---- */

static struct ios_port *begin(const struct ib_port_event *event)
{
	struct ios_port *port = kzalloc(sizeof(*port), GFP_KERNEL);
	int ret;

	if (!port)
		return ERR_PTR(-ENOMEM);
	port->device = event->device;
	port->port_num = event->port_num;
	port->retry = RETRY_FIRST;
	port->notice = take_notice;
	spin_lock_init(&port->lock);
	xa_init(&port->noticed);
	INIT_DELAYED_WORK(&port->work, search);
	ret = ios_ops->open(port);
	if (ret) {
		kfree(port);
		return ERR_PTR(ret);
	}
	guard(mutex)(&ios_lock);
	list_add_tail(&port->entry, &ports);
	return port;
}

static void set_active(struct ios_port *port, bool active)
{
	LIST_HEAD(nothing);

	scoped_guard(mutex, &ios_lock) {
		port->active = active;
		if (active)
			break;
		ios_know(port, &nothing);
		port->searched = true;
		ios_ports_settle();
	}
	if (active)
		search_now(port);
	else
		ios_notices_forget(port);
}

/* Ends the port's requests first, then removes all that it has found. */
static void end(struct ios_port *port)
{
	LIST_HEAD(nothing);

	scoped_guard(spinlock_irqsave, &port->lock)
		WRITE_ONCE(port->gone, true);
	ios_ops->cancel(port);
	cancel_delayed_work_sync(&port->work);
	scoped_guard(mutex, &ios_lock) {
		list_del(&port->entry);
		ios_know(port, &nothing);
		ios_ports_settle();
	}
	ios_ops->close(port);
	xa_destroy(&port->noticed);
	kfree(port);
}

static int add(const struct ib_port_event *event)
{
	struct ios_port *port = begin(event);

	if (!IS_ERR(port)) {
		*event->context = port;
		return 0;
	}
	if (PTR_ERR(port) != -EOPNOTSUPP)
		ibdev_err(event->device, "port %u cannot search for I/O units: %pe\n",
			  event->port_num, port);
	return PTR_ERR(port);
}

static int handle_event(struct ib_port_watcher *watcher, const struct ib_port_event *event)
{
	struct ios_port *port;

	if (event->type == IB_PORT_EVENT_REPLAYED) {
		guard(mutex)(&ios_lock);
		all_there = true;
		return 0;
	}
	if (event->type == IB_PORT_EVENT_ADD)
		return add(event);
	port = *event->context;
	switch (event->type) {
	case IB_PORT_EVENT_REMOVE:
		end(port);
		break;
	case IB_PORT_EVENT_DOWN:
	case IB_PORT_EVENT_INIT:
	case IB_PORT_EVENT_ARMED:
		set_active(port, false);
		break;
	case IB_PORT_EVENT_ACTIVE:
		set_active(port, true);
		break;
	case IB_PORT_EVENT_LID_CHANGE:
	case IB_PORT_EVENT_SM_CHANGE:
	case IB_PORT_EVENT_REREGISTER:
		ios_notices_forget(port);
		fallthrough;
	case IB_PORT_EVENT_PKEY_CHANGE:
	case IB_PORT_EVENT_GID_CHANGE:
		if (event->attr->state == IB_PORT_ACTIVE)
			search_now(port);
		break;
	default:
		break;
	}
	return 0;
}

static struct ib_port_watcher port_watcher = { .event = handle_event };

/**
 * ios_ports_begin() - let all ports search for units
 *
 * Context: may sleep, as ib_watch_ports().
 * Return: 0 or -ENOMEM.
 */
int ios_ports_begin(void)
{
	return ib_watch_ports(&port_watcher);
}

/**
 * ios_ports_end() - stop the searches of all ports
 *
 * No unit is known on return. Context: may sleep, as ib_unwatch_ports().
 */
void ios_ports_end(void)
{
	ib_unwatch_ports(&port_watcher);
	guard(mutex)(&ios_lock);
	all_there = false;
}

/**
 * ios_flush() - wait for searches that are running or queued
 *
 * Context: may sleep; not with ios_lock held.
 */
void ios_flush(void)
{
	flush_workqueue(ios_wq);
}
EXPORT_SYMBOL_IF_KUNIT(ios_flush);

/**
 * ios_ports_search() - let all ports search now, and wait until they have
 *
 * Context: as ios_flush().
 */
void ios_ports_search(void)
{
	struct ios_port *port;

	scoped_guard(mutex, &ios_lock)
		list_for_each_entry(port, &ports, entry)
			if (port->active)
				search_now(port);
	ios_flush();
}

/**
 * ios_ports_init() - prepare for searching
 *
 * Return: 0 or -ENOMEM.
 */
int ios_ports_init(void)
{
	ios_wq = alloc_workqueue("ib_ioscan", WQ_UNBOUND, 0);
	return ios_wq ? 0 : -ENOMEM;
}

/**
 * ios_ports_exit() - undo ios_ports_init()
 */
void ios_ports_exit(void)
{
	destroy_workqueue(ios_wq);
}
