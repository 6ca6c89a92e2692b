/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Event files, and the objects that report to them.
 */
#ifndef CORE_UVERBS_EVENTS_H
#define CORE_UVERBS_EVENTS_H

#include <rdma/ib_user_verbs.h>
#include <rdma/uverbs_types.h>

#include "uverbs.h"

struct ib_uxrcd_object;

/**
 * struct ib_uverbs_event_queue - events that an event file has to deliver
 * @lock: protects everything below, and the event members of the objects that report here
 * @closed: nothing will be added any more
 * @wait: readers
 * @fasync: SIGIO subscribers
 * @list: sources or events with something to deliver, oldest first
 */
struct ib_uverbs_event_queue {
	spinlock_t lock;
	bool closed;
	wait_queue_head_t wait;
	struct fasync_struct *fasync;
	struct list_head list;
};

/**
 * struct ib_uverbs_async_event - one asynchronous event
 * @entry: in the queue's list
 * @sibling: in the object's list, empty for events of the device
 * @source: object concerned, NULL for events of the device
 * @desc: the event as it is read
 */
struct ib_uverbs_async_event {
	struct list_head entry;
	struct list_head sibling;
	struct ib_uevent_object *source;
	struct ib_uverbs_async_event_desc desc;
};

/**
 * struct ib_uverbs_async_event_file - an asynchronous event file
 * @uobj: its object
 * @queue: events
 * @handler: subscription to the events of the device
 * @fatal: the event that ends the stream, which thus needs no allocation
 * @last_type: type of the event that was queued last, -1 for none; under the queue's lock
 * @unread: number of unread events of the device; under the queue's lock
 * @dropped: events that were not queued, since too many had not been read or for want of memory;
 *	under the queue's lock
 */
struct ib_uverbs_async_event_file {
	struct ib_uobject uobj;
	struct ib_uverbs_event_queue queue;
	struct ib_event_handler handler;
	struct ib_uverbs_async_event fatal;
	int last_type;
	u32 unread;
	u64 dropped;
};

/**
 * struct ib_uverbs_completion_event_file - a completion channel
 * @uobj: its object
 * @queue: CQs with completion events to deliver
 */
struct ib_uverbs_completion_event_file {
	struct ib_uobject uobj;
	struct ib_uverbs_event_queue queue;
};

/**
 * struct ib_uevent_object - part of every object that reports asynchronous events
 * @uobject: the object
 * @event_file: where its events go, referenced; may be NULL
 * @events: unread events, protected by the queue's lock
 * @unread: their number
 * @events_reported: number of events that were read; returned when the object is destroyed
 */
struct ib_uevent_object {
	struct ib_uobject uobject;
	struct ib_uverbs_async_event_file *event_file;
	struct list_head events;
	u32 unread;
	u32 events_reported;
};

/**
 * struct ib_ucq_object - a user's completion queue
 * @uevent: object and asynchronous events
 * @channel: completion channel, referenced; may be NULL
 * @comp_entry: in the channel's queue while @comp_pending is not 0
 * @comp_pending: unread completion events, whose number is not limited
 * @comp_events_reported: completion events read
 */
struct ib_ucq_object {
	struct ib_uevent_object uevent;
	struct ib_uverbs_completion_event_file *channel;
	struct list_head comp_entry;
	u64 comp_pending;
	u32 comp_events_reported;
};

/**
 * struct ib_uqp_object - a user's queue pair
 * @uevent: object and asynchronous events
 * @groups_lock: protects @groups; held while the driver attaches and detaches
 * @groups: multicast groups it is attached to
 * @uxrcd: handle of the XRC domain of a target, or NULL
 */
struct ib_uqp_object {
	struct ib_uevent_object uevent;
	struct mutex groups_lock;
	struct list_head groups;
	struct ib_uxrcd_object *uxrcd;
};

/**
 * struct ib_usrq_object - a user's shared receive queue
 * @uevent: object and asynchronous events
 * @uxrcd: handle of its XRC domain, or NULL
 */
struct ib_usrq_object {
	struct ib_uevent_object uevent;
	struct ib_uxrcd_object *uxrcd;
};

/**
 * struct ib_uwq_object - a user's work queue
 * @uevent: object and asynchronous events
 */
struct ib_uwq_object {
	struct ib_uevent_object uevent;
};

/* Code that does not know these types treats a pointer to one as one to its struct ib_uobject. */
static_assert(offsetof(struct ib_uevent_object, uobject) == 0);
static_assert(offsetof(struct ib_ucq_object, uevent.uobject) == 0);
static_assert(offsetof(struct ib_uqp_object, uevent.uobject) == 0);
static_assert(offsetof(struct ib_usrq_object, uevent.uobject) == 0);
static_assert(offsetof(struct ib_uwq_object, uevent.uobject) == 0);

extern const struct file_operations uverbs_comp_fops;
extern const struct file_operations uverbs_async_fops;

void uverbs_queue_init(struct ib_uverbs_event_queue *queue);
void uverbs_async_file_start(struct ib_uverbs_async_event_file *file);
void uverbs_async_file_stop(struct ib_uobject *uobj, enum rdma_remove_reason why);
void uverbs_comp_file_stop(struct ib_uobject *uobj, enum rdma_remove_reason why);
void uverbs_uevent_init(struct ib_uevent_object *uevent, struct ib_uobject *async_file);
void uverbs_uevent_release(struct ib_uevent_object *uevent);
void uverbs_ucq_release(struct ib_ucq_object *ucq);
void uverbs_comp_handler(struct ib_cq *cq, void *cq_context);
void uverbs_cq_event_handler(struct ib_event *event, void *context);
void uverbs_qp_event_handler(struct ib_event *event, void *context);
void uverbs_srq_event_handler(struct ib_event *event, void *context);
void uverbs_wq_event_handler(struct ib_event *event, void *context);

#endif /* CORE_UVERBS_EVENTS_H */
