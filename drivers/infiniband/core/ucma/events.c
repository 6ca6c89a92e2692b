// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events of ids: room for them is made before they are promised, so that none is lost for want of
 * memory; they wait in the queue of the id's file.
 */
#include <linux/poll.h>
#include <linux/slab.h>
#include <rdma/ib_marshall.h>

#include "ucma.h"

/* ---- room ---- */

/**
 * ucma_event_alloc() - make room for an event
 *
 * Return: an empty event, or NULL.
 */
struct ucma_event *ucma_event_alloc(void)
{
	return kzalloc(sizeof(struct ucma_event), GFP_KERNEL_ACCOUNT);
}

/**
 * ucma_event_free() - free an event
 * @event: an event in no list, or NULL; one that nobody asks for goes with its id
 */
void ucma_event_free(struct ucma_event *event)
{
	if (event && event->room < UCMA_UNASKED)
		kfree(event);
}

static struct ucma_event *take_room(struct ucma_id *id, enum ucma_room room)
{
	struct ucma_event *event;

	lockdep_assert_held(&id->room_lock);
	list_for_each_entry(event, &id->room, entry) {
		if (event->room == room) {
			list_del(&event->entry);
			return event;
		}
	}
	return NULL;
}

/**
 * ucma_unreserve() - give up room that is not needed
 * @id: the id
 * @room: which
 * @events: how many events will not come
 */
void ucma_unreserve(struct ucma_id *id, enum ucma_room room, unsigned int events)
{
	struct ucma_event *event;

	while (events--) {
		scoped_guard(spinlock, &id->room_lock)
			event = take_room(id, room);
		ucma_event_free(event);
	}
}

/**
 * ucma_reserve() - make room for events that may come
 * @id: the id
 * @room: which events
 * @events: how many more
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
int ucma_reserve(struct ucma_id *id, enum ucma_room room, unsigned int events)
{
	for (unsigned int made = 0; made < events; made++) {
		struct ucma_event *event = ucma_event_alloc();

		if (!event) {
			ucma_unreserve(id, room, made);
			return -ENOMEM;
		}
		event->room = room;
		scoped_guard(spinlock, &id->room_lock)
			list_add(&event->entry, &id->room);
	}
	return 0;
}

static enum ucma_room room_of(enum rdma_cm_event_type type)
{
	switch (type) {
	case RDMA_CM_EVENT_ADDR_CHANGE:
		return UCMA_ADDR_CHANGE;
	case RDMA_CM_EVENT_UNREACHABLE:
		return UCMA_UNREACHABLE;
	case RDMA_CM_EVENT_DISCONNECTED:
		return UCMA_DISCONNECTED;
	case RDMA_CM_EVENT_TIMEWAIT_EXIT:
		return UCMA_TIMEWAIT_EXIT;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		return UCMA_DEVICE_REMOVAL;
	case RDMA_CM_EVENT_MULTICAST_JOIN:
	case RDMA_CM_EVENT_MULTICAST_ERROR:
		return UCMA_OF_GROUP;
	default:
		return UCMA_ANSWER;
	}
}

/*
 * The bit of an event that may come again and again, and of which a second one has nothing new:
 * reading the first shows the newest address, and a neighbour is still another one.
 */
static u32 repeats(u32 type, int status)
{
	if (type == RDMA_CM_EVENT_ADDR_CHANGE ||
	    (type == RDMA_CM_EVENT_UNREACHABLE && status == -ETIMEDOUT))
		return BIT(type);
	return 0;
}

/*
 * Room for an event that has come; NULL if nothing new is to be told.  If more came than was
 * promised there may still be memory.
 */
static struct ucma_event *room_for(struct ucma_id *id, const struct rdma_cm_event *told)
{
	enum ucma_room room = room_of(told->event);
	struct ucma_event *event;

	scoped_guard(spinlock, &id->room_lock) {
		if (id->unread & repeats(told->event, told->status))
			return NULL;
		event = take_room(id, room);
		/* Such an event is a neighbour's, or the outcome of a connection. */
		if (!event && room == UCMA_UNREACHABLE)
			event = take_room(id, UCMA_ANSWER);
		if (event)
			return event;
	}
	event = ucma_event_alloc();
	if (!event) {
		guard(spinlock)(&id->room_lock);
		guard(spinlock)(&id->file->lock);
		id->file->lost++;
	}
	return event;
}

/* ---- what is told ---- */

static void put_data(u8 *dst, u8 *dst_len, const void *data, u8 len)
{
	if (!data)
		len = 0;
	*dst_len = len;
	memcpy(dst, data, len);
}

static void put_conn(struct rdma_ucm_conn_param *dst, const struct rdma_conn_param *src)
{
	put_data(dst->private_data, &dst->private_data_len, src->private_data,
		 src->private_data_len);
	dst->qp_num = src->qp_num;
	dst->srq = src->srq;
	dst->responder_resources = src->responder_resources;
	dst->initiator_depth = src->initiator_depth;
	dst->flow_control = src->flow_control;
	dst->retry_count = src->retry_count;
	dst->rnr_retry_count = src->rnr_retry_count;
}

static bool is_of_group(const struct rdma_cm_event *told)
{
	return told->event == RDMA_CM_EVENT_MULTICAST_JOIN ||
	       told->event == RDMA_CM_EVENT_MULTICAST_ERROR;
}

/*
 * An event of a multicast group has its struct ucma_group as private data.
 *
 * The device may be asked for its port, so this sleeps.
 */
static void describe(struct ucma_event *event, const struct rdma_cm_event *told,
		     struct rdma_cm_id *cm)
{
	struct rdma_ucm_event_resp *resp = &event->resp;
	struct rdma_ud_param ud = told->param.ud;

	memset(resp, 0, sizeof(*resp));
	resp->event = told->event;
	resp->status = told->status;
	resp->ece = told->ece;
	event->group = NULL;
	if (is_of_group(told)) {
		event->group = (struct ucma_group *)ud.private_data;
		ud.private_data = NULL;
	}
	if (cm->qp_type == IB_QPT_UD) {
		put_data(resp->param.ud.private_data, &resp->param.ud.private_data_len,
			 ud.private_data, ud.private_data_len);
		resp->param.ud.qp_num = ud.qp_num;
		resp->param.ud.qkey = ud.qkey;
		ib_copy_ah_attr_to_user(cm->device, &resp->param.ud.ah_attr, &ud.ah_attr);
	} else if (!event->group) {
		put_conn(&resp->param.conn, &told->param.conn);
	}
}

/* ---- the queue ---- */

/* Appends an event to the queue of its id's file and wakes readers. */
static void append(struct ucma_event *event)
{
	struct ucma_id *id = event->id;
	struct ucma_file *file = id->file;

	lockdep_assert_held(&id->room_lock);
	guard(spinlock)(&file->lock);
	list_add_tail(&event->entry, &file->events);
	list_add_tail(&event->of_id, &id->events);
	wake_up_interruptible_poll(&file->wait, EPOLLIN | EPOLLRDNORM);
}

/**
 * ucma_tell() - queue an event for the program
 * @id: the id
 * @cm: its CM id
 * @told: the event
 *
 * No more than one event of a changed address is unread at a time, nor of a changed neighbour.
 *
 * Context: may sleep; @cm is kept by the handler's lock or by the id's.
 */
void ucma_tell(struct ucma_id *id, struct rdma_cm_id *cm, const struct rdma_cm_event *told)
{
	struct ucma_event *event = room_for(id, told);

	if (!event)
		return;
	event->id = id;
	event->request = NULL;
	describe(event, told, cm);
	event->resp.uid = event->group ? event->group->uid : id->uid;
	event->resp.id = event->group ? event->group->number : id->number;

	guard(spinlock)(&id->room_lock);
	id->unread |= repeats(told->event, told->status);
	if (event->group)
		event->group->told++;
	append(event);
}

/**
 * ucma_tell_request() - queue a connection request to a listening id
 * @listener: the listening id
 * @event: room for the event; its @request is the new id, which the event has from now on
 * @cm: the new id's CM id
 * @told: the event
 *
 * Context: may sleep; under the handler's lock.
 * Return: 0; -ENOMEM if the backlog is full, and nothing has changed.
 */
int ucma_tell_request(struct ucma_id *listener, struct ucma_event *event, struct rdma_cm_id *cm,
		      const struct rdma_cm_event *told)
{
	event->id = listener;
	describe(event, told, cm);
	event->resp.uid = listener->uid;
	event->resp.id = event->request->number;

	guard(spinlock)(&listener->room_lock);
	if (listener->requests >= listener->backlog)
		return -ENOMEM;
	listener->requests++;
	event->request->file = listener->file;
	append(event);
	return 0;
}

/* Under the file's deliver mutex and both locks. */
static void unlink(struct ucma_event *event)
{
	struct ucma_id *id = event->id;

	list_del(&event->entry);
	list_del(&event->of_id);
	id->unread &= ~repeats(event->resp.event, event->resp.status);
	if (event->request)
		id->requests--;
}

/**
 * ucma_event_done() - handle an event that has been read
 * @event: the event, which becomes room for another or is freed
 *
 * Context: under the file's deliver mutex.
 */
void ucma_event_done(struct ucma_event *event)
{
	struct ucma_id *id = event->id;

	scoped_guard(spinlock, &id->room_lock) {
		scoped_guard(spinlock, &id->file->lock) {
			unlink(event);
			id->reported++;
			if (event->group)
				event->group->reported++;
		}
		/* What nobody asks for may come again and again */
		if (event->room >= UCMA_UNASKED) {
			list_add(&event->entry, &id->room);
			return;
		}
	}
	ucma_event_free(event);
}

/**
 * ucma_events_take() - take unread events of an id away
 * @id: the id
 * @group: take only those of this group, if not NULL
 * @taken: gets the events, linked by @entry
 *
 * Context: under the deliver mutex of the id's file.
 */
void ucma_events_take(struct ucma_id *id, const struct ucma_group *group, struct list_head *taken)
{
	struct ucma_event *event, *next;

	lockdep_assert_held(&id->file->deliver);
	guard(spinlock)(&id->room_lock);
	guard(spinlock)(&id->file->lock);
	list_for_each_entry_safe(event, next, &id->events, of_id) {
		if (group && event->group != group)
			continue;
		unlink(event);
		list_add_tail(&event->entry, taken);
	}
}

/**
 * ucma_events_move() - give an id with its unread events to another file
 * @id: the id, which is locked
 * @to: the file
 *
 * The new ids of unread connection requests move too, as the program does not know them yet.
 *
 * Context: under the deliver mutex of the id's present file.
 * Return: how many events of the id were read.
 */
u32 ucma_events_move(struct ucma_id *id, struct ucma_file *to)
{
	struct ucma_event *event;
	LIST_HEAD(moving);
	u32 reported;

	lockdep_assert_held(&id->lock);
	lockdep_assert_held(&id->file->deliver);
	guard(spinlock)(&id->room_lock);
	scoped_guard(spinlock, &id->file->lock) {
		list_del(&id->entry);
		list_for_each_entry(event, &id->events, of_id)
			list_move_tail(&event->entry, &moving);
		reported = id->reported;
	}
	list_for_each_entry(event, &moving, entry)
		if (event->request)
			event->request->file = to;
	WRITE_ONCE(id->file, to);
	scoped_guard(spinlock, &to->lock) {
		list_add_tail(&id->entry, &to->ids);
		list_splice_tail(&moving, &to->events);
		if (!list_empty(&id->events))
			wake_up_interruptible_poll(&to->wait, EPOLLIN | EPOLLRDNORM);
	}
	return reported;
}
