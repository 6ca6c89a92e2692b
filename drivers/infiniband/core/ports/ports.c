// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watchers of ports: a new watcher is notified of the present ports, and then of changes.
 *
 * The event handler only records an event of the driver, as the handlers after it, such as those of
 * the caches, must not wait for watchers; a work item handles it.
 *
 * After each event of a port its attributes are queried and compared with those reported last. So
 * it does not matter how many events a driver reports for a change, or whether several changes are
 * one event; a state that the port has left again by then is not reported, but the loss of the link
 * always is, since the device reports it.
 *
 * Locks, outermost first: watchers_rwsem, watched_device.lock. The work item holds the first for
 * reading.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "../device/device.h"
#include "ports.h"

/* Stands for a change without an event, which the driver reports by ib_port_changed(). */
#define NO_EVENT (BITS_PER_LONG - 1)

/**
 * struct watched_port - a port
 * @attr: attributes as they were reported last
 * @noted: events that are not handled yet, bits numbered by enum ib_event_type and by NO_EVENT
 */
struct watched_port {
	struct ib_port_attr attr;
	unsigned long noted;
};

/**
 * struct watched_device - a device whose ports are watched
 * @entry: in @devices, in the order of registration
 * @named: in @by_name, from before it is shown until its handler is unregistered
 * @device: the device
 * @handler: called for its events
 * @work: handles recorded events
 * @lock: serializes events; protects the ports' attributes and the watchers' contexts
 * @shown: in @devices
 * @views: struct device_view of each watcher, in the watchers' order
 * @port: ports by number; entry 0 is that of a switch
 */
struct watched_device {
	struct list_head entry;
	struct list_head named;
	struct ib_device *device;
	struct ib_event_handler handler;
	struct work_struct work;
	struct mutex lock;
	bool shown;
	struct list_head views;
	struct watched_port port[];
};

/**
 * struct port_view - a port as one watcher sees it
 * @context: the watcher's
 * @watched: the watcher is called for it
 */
struct port_view {
	void *context;
	bool watched;
};

/**
 * struct device_view - the ports of a device as one watcher sees them
 * @entry: in the device's list
 * @watcher: the watcher
 * @port: ports by number; entry 0 is that of a switch
 */
struct device_view {
	struct list_head entry;
	struct ib_port_watcher *watcher;
	struct port_view port[];
};

/*
 * Protects both lists and those of the devices; held for reading while watchers are called with an
 * event.
 */
static DECLARE_RWSEM(watchers_rwsem);
static LIST_HEAD(watchers);
static LIST_HEAD(devices);

/* List in which ib_port_changed() finds a device, whatever watchers are doing. */
static DEFINE_SPINLOCK(name_lock);
static LIST_HEAD(by_name);

static struct workqueue_struct *ports_wq;

/* ---- notification ---- */

static void notify(struct watched_device *dev, struct device_view *view, u32 port_num,
		   enum ib_port_event_type type)
{
	struct port_view *port = &view->port[port_num];
	struct ib_port_event event = {
		.type = type,
		.device = dev->device,
		.port_num = port_num,
		.attr = &dev->port[port_num].attr,
		.context = &port->context,
	};

	if (port->watched && view->watcher->event(view->watcher, &event))
		port->watched = false;
}

static void notify_all(struct watched_device *dev, u32 port_num, enum ib_port_event_type type)
{
	struct device_view *view;

	list_for_each_entry(view, &dev->views, entry)
		notify(dev, view, port_num, type);
}

static enum ib_port_event_type state_event(const struct ib_port_attr *attr)
{
	switch (attr->state) {
	case IB_PORT_INIT:
		return IB_PORT_EVENT_INIT;
	case IB_PORT_ARMED:
		return IB_PORT_EVENT_ARMED;
	case IB_PORT_ACTIVE:
	case IB_PORT_ACTIVE_DEFER:
		return IB_PORT_EVENT_ACTIVE;
	default:
		return IB_PORT_EVENT_DOWN;
	}
}

static void notify_present(struct watched_device *dev, struct device_view *view)
{
	u32 port_num;

	guard(mutex)(&dev->lock);
	rdma_for_each_port(dev->device, port_num) {
		view->port[port_num].watched = true;
		notify(dev, view, port_num, IB_PORT_EVENT_ADD);
		notify(dev, view, port_num, state_event(&dev->port[port_num].attr));
	}
}

static void notify_gone(struct watched_device *dev, struct device_view *view)
{
	u32 port_num;

	guard(mutex)(&dev->lock);
	rdma_for_each_port(dev->device, port_num)
		notify(dev, view, port_num, IB_PORT_EVENT_REMOVE);
}

/* If a port comes up, its addresses are reported before its state. */
static void step(struct watched_device *dev, u32 port_num, const struct ib_port_attr *now)
{
	struct ib_port_attr *attr = &dev->port[port_num].attr, was = *attr;
	enum ib_port_event_type state = state_event(now);
	bool other_state = state != state_event(&was);

	*attr = *now;
	if (other_state && state == IB_PORT_EVENT_DOWN)
		notify_all(dev, port_num, state);
	if (now->lid != was.lid || now->lmc != was.lmc)
		notify_all(dev, port_num, IB_PORT_EVENT_LID_CHANGE);
	if (now->sm_lid != was.sm_lid || now->sm_sl != was.sm_sl)
		notify_all(dev, port_num, IB_PORT_EVENT_SM_CHANGE);
	if (now->subnet_timeout != was.subnet_timeout)
		notify_all(dev, port_num, IB_PORT_EVENT_SUBNET_TIMEOUT);
	if (other_state && state != IB_PORT_EVENT_DOWN)
		notify_all(dev, port_num, state);
}

/* Reports what has changed since the last event, and the event itself if it is about a table. */
static void follow(struct watched_device *dev, u32 port_num, unsigned int event)
{
	struct ib_port_attr now, down;

	guard(mutex)(&dev->lock);
	/* There is no watcher yet, and the first one queries the attributes itself. */
	if (list_empty(&dev->views))
		return;
	if (ib_query_port(dev->device, port_num, &now)) {
		now = dev->port[port_num].attr;
		if (event == IB_EVENT_PORT_ERR)
			now.state = IB_PORT_DOWN;
	}
	if (event == IB_EVENT_PORT_ERR) {
		down = now;
		down.state = IB_PORT_DOWN;
		step(dev, port_num, &down);
	}
	step(dev, port_num, &now);
	if (event == IB_EVENT_PKEY_CHANGE)
		notify_all(dev, port_num, IB_PORT_EVENT_PKEY_CHANGE);
	else if (event == IB_EVENT_GID_CHANGE)
		notify_all(dev, port_num, IB_PORT_EVENT_GID_CHANGE);
	else if (event == IB_EVENT_CLIENT_REREGISTER)
		notify_all(dev, port_num, IB_PORT_EVENT_REREGISTER);
}

/* The loss of the link is reported first. */
static void follow_port(struct watched_device *dev, u32 port_num)
{
	unsigned long noted = xchg(&dev->port[port_num].noted, 0);
	unsigned int event;

	if (__test_and_clear_bit(IB_EVENT_PORT_ERR, &noted))
		follow(dev, port_num, IB_EVENT_PORT_ERR);
	for_each_set_bit(event, &noted, BITS_PER_LONG)
		follow(dev, port_num, event);
}

/* The ports of a device that is not shown yet are queried when it is. */
static void follow_all(struct work_struct *work)
{
	struct watched_device *dev = container_of(work, struct watched_device, work);
	u32 port_num;

	guard(rwsem_read)(&watchers_rwsem);
	if (!dev->shown)
		return;
	rdma_for_each_port(dev->device, port_num)
		follow_port(dev, port_num);
}

static void note(struct watched_device *dev, u32 port_num, unsigned int event)
{
	set_bit(event, &dev->port[port_num].noted);
	queue_work(ports_wq, &dev->work);
}

static void handle_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct watched_device *dev = container_of(handler, struct watched_device, handler);

	if (ib_event_changes_port(event->event) &&
	    rdma_is_port_valid(dev->device, event->element.port_num))
		note(dev, event->element.port_num, event->event);
}

/**
 * ib_port_changed() - report a change of a port for which Linux 6.12 has no event
 * @device: device; nothing happens if it is not registered
 * @port_num: port
 *
 * Called by drivers after a port has become INIT or ARMED or has got another subnet timeout.
 * Watchers are notified of all changes later. Context: any.
 */
void ib_port_changed(struct ib_device *device, u32 port_num)
{
	struct watched_device *dev;

	guard(spinlock_irqsave)(&name_lock);
	list_for_each_entry(dev, &by_name, named)
		if (dev->device == device && rdma_is_port_valid(device, port_num))
			note(dev, port_num, NO_EVENT);
}
EXPORT_SYMBOL(ib_port_changed);

/**
 * ports_flush() - wait until watchers have been notified of all recorded events
 *
 * Context: may sleep; not from a watcher's callback.
 */
void ports_flush(void)
{
	flush_workqueue(ports_wq);
}
EXPORT_SYMBOL_IF_KUNIT(ports_flush);

/* The query covers events that were recorded before, and later changes are recorded. */
static void ask_ports(struct watched_device *dev)
{
	u32 port_num;

	rdma_for_each_port(dev->device, port_num) {
		xchg(&dev->port[port_num].noted, 0);
		if (ib_query_port(dev->device, port_num, &dev->port[port_num].attr))
			dev->port[port_num].attr.state = IB_PORT_DOWN;
	}
}

/* ---- watchers ---- */

static int add_view(struct watched_device *dev, struct ib_port_watcher *watcher)
{
	struct device_view *view = kzalloc(struct_size(view, port, rdma_end_port(dev->device) + 1),
					   GFP_KERNEL);

	if (!view)
		return -ENOMEM;
	view->watcher = watcher;
	list_add_tail(&view->entry, &dev->views);
	return 0;
}

static void remove_view(struct device_view *view)
{
	list_del(&view->entry);
	kfree(view);
}

static struct device_view *view_of(struct watched_device *dev, struct ib_port_watcher *watcher)
{
	struct device_view *view;

	list_for_each_entry(view, &dev->views, entry)
		if (view->watcher == watcher)
			return view;
	return NULL;
}

static void remove_views_of(struct ib_port_watcher *watcher)
{
	struct watched_device *dev;
	struct device_view *view;

	list_for_each_entry_reverse(dev, &devices, entry) {
		view = view_of(dev, watcher);
		if (!view)
			continue;
		notify_gone(dev, view);
		remove_view(view);
	}
}

/**
 * ib_watch_ports() - watch all ports and their events
 * @watcher: its callback filled in
 *
 * Before this returns, each present port is reported by IB_PORT_EVENT_ADD and by its state, and
 * finally IB_PORT_EVENT_REPLAYED. The ports of a later device are reported before clients that were
 * registered after the core are attached, and their removal after those are removed: MADs and
 * subnet administration can be used until IB_PORT_EVENT_REMOVE has been handled. Watchers are
 * notified in the order in which they were added, and of REMOVE in the reverse order. Devices of
 * all network namespaces are watched.
 *
 * Context: may sleep; without RTNL, and without locks that a watcher's callback takes; not from a
 * watcher's callback.
 * Return: 0; -ENOMEM, with no notification.
 */
int ib_watch_ports(struct ib_port_watcher *watcher)
{
	const struct ib_port_event replayed = { .type = IB_PORT_EVENT_REPLAYED };
	struct watched_device *dev;

	guard(rwsem_write)(&watchers_rwsem);
	list_for_each_entry(dev, &devices, entry) {
		if (list_empty(&dev->views))
			ask_ports(dev);
		if (add_view(dev, watcher)) {
			/* No port is watched yet: nothing is reported. */
			remove_views_of(watcher);
			return -ENOMEM;
		}
	}
	list_add_tail(&watcher->entry, &watchers);
	list_for_each_entry(dev, &devices, entry)
		notify_present(dev, view_of(dev, watcher));
	watcher->event(watcher, &replayed);
	return 0;
}
EXPORT_SYMBOL(ib_watch_ports);

/**
 * ib_unwatch_ports() - stop watching ports
 * @watcher: watcher of ib_watch_ports()
 *
 * IB_PORT_EVENT_REMOVE is reported for each present port that is still watched, the latest device
 * first. The callback is not running any more on return. Context: as for ib_watch_ports().
 */
void ib_unwatch_ports(struct ib_port_watcher *watcher)
{
	guard(rwsem_write)(&watchers_rwsem);
	remove_views_of(watcher);
	list_del(&watcher->entry);
}
EXPORT_SYMBOL(ib_unwatch_ports);

/* ---- devices ---- */

static struct ib_client ports_client;

/* The handler is registered already, so that changes after the query are not missed. */
static int show(struct watched_device *dev)
{
	struct ib_port_watcher *watcher;
	struct device_view *view, *next;

	guard(rwsem_write)(&watchers_rwsem);
	list_for_each_entry(watcher, &watchers, entry) {
		if (add_view(dev, watcher)) {
			list_for_each_entry_safe(view, next, &dev->views, entry)
				remove_view(view);
			return -ENOMEM;
		}
	}
	if (!list_empty(&dev->views))
		ask_ports(dev);
	list_add_tail(&dev->entry, &devices);
	dev->shown = true;
	list_for_each_entry(view, &dev->views, entry)
		notify_present(dev, view);
	return 0;
}

static void hide(struct watched_device *dev)
{
	struct device_view *view, *next;

	guard(rwsem_write)(&watchers_rwsem);
	list_del(&dev->entry);
	dev->shown = false;
	list_for_each_entry_safe_reverse(view, next, &dev->views, entry) {
		notify_gone(dev, view);
		remove_view(view);
	}
}

/* Afterwards no event is recorded, and no watcher is called by the work item. */
static void stop_handling(struct watched_device *dev)
{
	ib_unregister_event_handler(&dev->handler);
	scoped_guard(spinlock_irq, &name_lock)
		list_del(&dev->named);
	cancel_work_sync(&dev->work);
}

static int attach(struct ib_device *device)
{
	struct watched_device *dev = kzalloc(struct_size(dev, port, rdma_end_port(device) + 1),
					     GFP_KERNEL);
	int ret;

	if (!dev)
		return -ENOMEM;
	dev->device = device;
	mutex_init(&dev->lock);
	INIT_LIST_HEAD(&dev->views);
	INIT_WORK(&dev->work, follow_all);
	ib_set_client_data(device, &ports_client, dev);
	INIT_IB_EVENT_HANDLER(&dev->handler, device, handle_event);
	ib_register_event_handler(&dev->handler);
	scoped_guard(spinlock_irq, &name_lock)
		list_add(&dev->named, &by_name);
	ret = show(dev);
	if (ret) {
		stop_handling(dev);
		mutex_destroy(&dev->lock);
		kfree(dev);
	}
	return ret;
}

static void detach(struct ib_device *device, void *client_data)
{
	struct watched_device *dev = client_data;

	stop_handling(dev);
	hide(dev);
	mutex_destroy(&dev->lock);
	kfree(dev);
}

static struct ib_client ports_client = {
	.name = "ports",
	.add = attach,
	.remove = detach,
	.no_kverbs_req = true,
};

/**
 * ports_init() - watch the ports of all devices
 *
 * Context: while the module is initialised, after sa/ and devmgt/, which watchers may use.
 * Return: 0 or -ENOMEM.
 */
int ports_init(void)
{
	int ret;

	ports_wq = alloc_workqueue("ib_ports", WQ_UNBOUND, 0);
	if (!ports_wq)
		return -ENOMEM;
	ret = ib_register_client(&ports_client);
	if (ret)
		destroy_workqueue(ports_wq);
	return ret;
}

/**
 * ports_exit() - end what ports_init() began
 */
void ports_exit(void)
{
	ib_unregister_client(&ports_client);
	WARN_ON(!list_empty(&watchers));
	destroy_workqueue(ports_wq);
}
