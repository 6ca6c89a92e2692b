// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events: one at a time for each id, in the order in which things have happened.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "cm.h"

/**
 * cm_event_new() - make an event
 * @device: device of its id
 * @gfp: how memory may be allocated
 *
 * Return: the event, for cm_event_queue() or cm_event_free(); or NULL.
 */
struct cm_event *cm_event_new(struct cm_device *device, gfp_t gfp)
{
	struct cm_event *event = kzalloc(sizeof(*event), gfp);

	if (!event)
		return NULL;
	cm_device_get(device);
	event->device = device;
	return event;
}

/**
 * cm_event_free() - free an event, with what it refers to
 * @event: event that is not queued, or NULL
 *
 * Context: any for one that refers to nothing; else may sleep.
 */
void cm_event_free(struct cm_event *event)
{
	if (!event)
		return;
	if (event->wc)
		event->device->mad->free_recv(event->wc);
	if (event->listener)
		cm_id_put(event->listener);
	cm_route_put(event->route);
	cm_device_put(event->device);
	kfree(event);
}

/**
 * cm_event_queue() - let an id's handler be told
 * @id: id that its consumer has not destroyed yet
 * @event: the event, which is the id's from now on
 *
 * Context: the id's lock is held.
 */
void cm_event_queue(struct cm_id *id, struct cm_event *event)
{
	lockdep_assert_held(&id->lock);
	list_add_tail(&event->entry, &id->events);
	if (id->running || id->dead)
		return;
	id->running = true;
	refcount_inc(&id->refs);
	queue_work(cm_wq, &id->work);
}
