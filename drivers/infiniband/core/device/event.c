// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Asynchronous events: from the driver's interrupt to the handlers, in order. Also changes of
 * devices, of which the folders above are notified.
 *
 * A driver reports an event in any context. The event waits in the device's list until a work item
 * delivers it: first to the pre-handlers, with which the cache refreshes what the event may have
 * changed and security/ stops QPs that have lost their permission, then to the handlers, so that
 * these see the new state. Events of one device never overtake each other; devices do not wait for
 * each other.
 */
#include <linux/cleanup.h>
#include <linux/mempool.h>
#include <linux/slab.h>
#include <rdma/rdma_compat.h>

#include "device.h"

struct queued_event {
	struct list_head entry;
	struct ib_event event;
};

/* Number of events of a burst that are delivered even if there is no memory for them. */
#define RESERVED_EVENTS 128

static mempool_t *event_pool;

/* All struct ib_event_prehandler. The list changes only while there is no device. */
static LIST_HEAD(prehandlers);

/*
 * Work queue for kernel consumers of RDMA devices. Work on it may sleep and may allocate. Events
 * are delivered on it.
 */
struct workqueue_struct *ib_wq;
EXPORT_SYMBOL_GPL(ib_wq);

static struct queued_event *pop_event(struct rdma_device_core *core)
{
	struct queued_event *queued;

	guard(spinlock_irqsave)(&core->event_lock);
	queued = list_first_entry_or_null(&core->events, struct queued_event, entry);
	if (queued)
		list_del(&queued->entry);
	return queued;
}

static void hand_out_events(struct work_struct *work)
{
	struct rdma_device_core *core = container_of(work, struct rdma_device_core, event_work);
	struct ib_event_prehandler *prehandler;
	struct queued_event *queued;

	while ((queued = pop_event(core))) {
		struct ib_event event = queued->event;

		mempool_free(queued, event_pool);
		list_for_each_entry(prehandler, &prehandlers, entry)
			prehandler->handle(&event);
		ib_dispatch_event_clients(&event);
	}
}

/**
 * ib_events_add_prehandler() - let a folder of the core see every event before the handlers
 * @prehandler: called after those that were added before; lives as long as the module
 *
 * Context: while the module is initialised.
 */
void ib_events_add_prehandler(struct ib_event_prehandler *prehandler)
{
	list_add_tail(&prehandler->entry, &prehandlers);
}

/**
 * ib_dispatch_event() - report an event to its handlers
 * @event: the event; copied
 *
 * Called by drivers. Events of a device that is not registered are dropped. Context: any.
 */
void ib_dispatch_event(const struct ib_event *event)
{
	struct rdma_device_core *core = event->device->core;
	struct queued_event *queued = mempool_alloc(event_pool, GFP_ATOMIC);

	if (!queued) {
		ibdev_err_ratelimited(event->device, "event %d lost, no memory\n", event->event);
		return;
	}
	queued->event = *event;
	scoped_guard(spinlock_irqsave, &core->event_lock) {
		if (core->events_open) {
			list_add_tail(&queued->entry, &core->events);
			queue_work(ib_wq, &core->event_work);
			return;
		}
	}
	mempool_free(queued, event_pool);
}
EXPORT_SYMBOL(ib_dispatch_event);

/**
 * ib_event_changes_port() - may a port's attributes or tables have changed with an event?
 * @type: type of the event
 *
 * Return: true for events of a port, whose number the event has.
 */
bool ib_event_changes_port(enum ib_event_type type)
{
	switch (type) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
	case IB_EVENT_LID_CHANGE:
	case IB_EVENT_PKEY_CHANGE:
	case IB_EVENT_SM_CHANGE:
	case IB_EVENT_CLIENT_REREGISTER:
	case IB_EVENT_GID_CHANGE:
		return true;
	default:
		return false;
	}
}

/**
 * ib_dispatch_event_clients() - run the handlers for an event now
 * @event: the event
 *
 * Context: may sleep; not from a handler.
 */
void ib_dispatch_event_clients(struct ib_event *event)
{
	struct rdma_device_core *core = event->device->core;
	struct ib_event_handler *handler;

	guard(rwsem_read)(&core->handlers_rwsem);
	list_for_each_entry(handler, &core->handlers, list)
		handler->handler(handler, event);
}

/**
 * ib_register_event_handler() - listen to a device's port and device events
 * @event_handler: prepared with INIT_IB_EVENT_HANDLER()
 *
 * Events of single QPs, CQs and SRQs go to the handler given at their creation instead. Context:
 * may sleep; not from a handler.
 */
void ib_register_event_handler(struct ib_event_handler *event_handler)
{
	struct rdma_device_core *core = event_handler->device->core;

	guard(rwsem_write)(&core->handlers_rwsem);
	list_add_tail(&event_handler->list, &core->handlers);
}
EXPORT_SYMBOL(ib_register_event_handler);

/**
 * ib_unregister_event_handler() - stop listening
 * @event_handler: a registered handler, which is not running any more when this returns
 *
 * Context: may sleep; not from a handler.
 */
void ib_unregister_event_handler(struct ib_event_handler *event_handler)
{
	struct rdma_device_core *core = event_handler->device->core;

	guard(rwsem_write)(&core->handlers_rwsem);
	list_del(&event_handler->list);
}
EXPORT_SYMBOL(ib_unregister_event_handler);

/**
 * ib_events_setup() - prepare the event part of a new device
 * @core: the device's core part
 */
void ib_events_setup(struct rdma_device_core *core)
{
	init_rwsem(&core->handlers_rwsem);
	INIT_LIST_HEAD(&core->handlers);
	spin_lock_init(&core->event_lock);
	INIT_LIST_HEAD(&core->events);
	INIT_WORK(&core->event_work, hand_out_events);
}

/**
 * ib_events_open() - accept events from now on
 * @device: device with ports, whose caches are filled after this
 */
void ib_events_open(struct ib_device *device)
{
	guard(spinlock_irqsave)(&device->core->event_lock);
	device->core->events_open = true;
}

/**
 * ib_events_close() - accept no more events and deliver those that are queued
 * @device: device that is being unregistered, or whose registration has failed
 */
void ib_events_close(struct ib_device *device)
{
	scoped_guard(spinlock_irqsave, &device->core->event_lock)
		device->core->events_open = false;
	flush_work(&device->core->event_work);
}

/* The subscribers to changes of devices. The chain changes only while there is no device. */
static RAW_NOTIFIER_HEAD(device_chain);

/**
 * ib_device_notifier_register() - subscribe to changes of devices
 * @nb: called with a number of enum rdma_nl_notify_event_type and a struct ib_device_change; may
 *	sleep
 *
 * Context: while the module is initialised.
 * Return: 0 or -EEXIST if it has subscribed already.
 */
int ib_device_notifier_register(struct notifier_block *nb)
{
	return raw_notifier_chain_register(&device_chain, nb);
}

/**
 * ib_device_notifier_unregister() - end what ib_device_notifier_register() began
 * @nb: the subscriber
 *
 * Context: when there is no device any more.
 */
void ib_device_notifier_unregister(struct notifier_block *nb)
{
	raw_notifier_chain_unregister(&device_chain, nb);
}

/**
 * ib_device_notify() - notify subscribers that a device was registered or unregistered, or got
 * another net device
 * @device: the device
 * @port_num: the port whose net device it is about, 0 for changes of the device
 * @type: type of the event
 *
 * Context: may sleep.
 */
void ib_device_notify(struct ib_device *device, u32 port_num, enum rdma_nl_notify_event_type type)
{
	struct ib_device_change change = { .device = device, .port_num = port_num };

	raw_notifier_call_chain(&device_chain, type, &change);
}

int ib_events_init(void)
{
	event_pool = mempool_create_kmalloc_pool(RESERVED_EVENTS, sizeof(struct queued_event));
	if (!event_pool)
		return -ENOMEM;
	ib_wq = alloc_workqueue("infiniband", WQ_PERCPU, 0);
	if (!ib_wq) {
		mempool_destroy(event_pool);
		return -ENOMEM;
	}
	return 0;
}

void ib_events_exit(void)
{
	destroy_workqueue(ib_wq);
	mempool_destroy(event_pool);
}
