// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The life of ids, and what their handlers are told.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "cm.h"

static struct cm_event *next_event(struct cm_id *id)
{
	struct cm_event *event = NULL;

	guard(spinlock_irqsave)(&id->lock);
	if (!id->dead)
		event = list_first_entry_or_null(&id->events, struct cm_event, entry);
	if (event)
		list_del(&event->entry);
	else
		id->running = false;
	return event;
}

static int call_handler(struct cm_id *id, struct cm_event *event)
{
	if (event->listen_error)
		return id->direction->param.error_handler(&id->ib, event->listen_error);
	return id->ib.cm_handler(&id->ib, &event->ib);
}

/*
 * Calls an id's handler. What that returns, if it is not 0, destroys the id, and events that are
 * left are nobody's.
 */
static void events_work(struct work_struct *work)
{
	struct cm_id *id = container_of(work, struct cm_id, work);
	struct cm_event *event;
	int ret;

	while ((event = next_event(id))) {
		ret = call_handler(id, event);
		cm_event_free(event);
		if (!ret)
			continue;
		/* The consumer's reference is given up by cm_id_end(), so this one goes first. */
		cm_id_put(id);
		cm_id_end(id, ret);
		return;
	}
	cm_id_put(id);
}

/**
 * cm_id_new() - make an id that nobody finds
 * @device: its device
 * @handler: called for its events
 * @context: for the consumer
 *
 * Context: may sleep.
 * Return: the id, for cm_id_publish() or cm_id_drop(); or -ENOMEM.
 */
struct cm_id *cm_id_new(struct cm_device *device, ib_cm_handler handler, void *context)
{
	struct cm_id *id = kzalloc(sizeof(*id), GFP_KERNEL);
	int ret;

	if (!id)
		return ERR_PTR(-ENOMEM);
	ret = cm_number_reserve(id);
	if (ret) {
		kfree(id);
		return ERR_PTR(ret);
	}
	id->ib.device = device->ib;
	id->ib.cm_handler = handler;
	id->ib.context = context;
	id->ib.local_id = cpu_to_be32(id->local_id);
	id->ib.remote_cm_qpn = 1;
	cm_device_get(device);
	id->device = device;
	refcount_set(&id->refs, 1);
	init_completion(&id->unused);
	spin_lock_init(&id->lock);
	INIT_LIST_HEAD(&id->events);
	INIT_WORK(&id->work, events_work);
	RB_CLEAR_NODE(&id->listen_node);
	INIT_LIST_HEAD(&id->listen_same);
	return id;
}

/* Frees an id to which there is no other reference. */
static void release(struct cm_id *id)
{
	struct cm_event *event, *next;
	struct cm_routes routes;

	list_for_each_entry_safe(event, next, &id->events, entry)
		cm_event_free(event);
	cm_routes_leave(id, &routes);
	cm_routes_free(&routes);
	cm_remote_free(id->remote);
	cm_direction_free(id->direction);
	kfree(id->said.data);
	cm_device_put(id->device);
	kfree_rcu(id, rcu);
}

/**
 * cm_id_drop() - end an id without a word
 * @id: id that nobody has found, or whose consumer has been told nothing
 *
 * Context: may sleep.
 */
void cm_id_drop(struct cm_id *id)
{
	cm_sidr_forget(id);
	cm_number_release(id);
	cm_id_put(id);
	wait_for_completion(&id->unused);
	release(id);
}

/* The input that ends an id: it decides whether the peer gets a last message. */
static enum cm_input last_input(const struct cm_id *id, int err)
{
	/* A request that there is no memory for now may be repeated. */
	if (err == -ENOMEM && id->ib.state == IB_CM_REQ_RCVD)
		return CM_IN_CALL_DESTROY_QUIETLY;
	/* The initiators' QPs end on their own. */
	if (id->qp_type == IB_QPT_XRC_TGT && id->ib.state == IB_CM_ESTABLISHED)
		return CM_IN_CALL_DESTROY_QUIETLY;
	return CM_IN_CALL_DESTROY;
}

/**
 * cm_id_end() - end an id
 * @id: id that its consumer does not use any more
 * @err: return value of its handler, or 0
 *
 * Context: may sleep until its handler has returned.
 */
void cm_id_end(struct cm_id *id, int err)
{
	if (!cm_listen_end(id))
		return;
	scoped_guard(spinlock_irqsave, &id->lock) {
		struct cm_rule rule = cm_id_rule(id, last_input(id, err));
		struct cm_msg msg = {};

		id->dead = true;
		cm_say(id, &rule, &msg);
		cm_follow(id, &rule, NULL);
		cm_timewait_cancel(id);
		cm_pending_cancel(id);
	}
	cm_id_drop(id);
}

static void leave(struct cm_id *id)
{
	struct cm_routes routes;

	scoped_guard(spinlock_irqsave, &id->lock) {
		cm_routes_leave(id, &routes);
		/* Its completion reports the failure, of which the consumer gets an event. */
		if (id->pending)
			id->device->mad->modify(id->pending, 0);
	}
	cm_routes_free(&routes);
}

/**
 * cm_ids_leave() - take their routes from all ids of a device that goes
 * @device: device
 *
 * Context: may sleep.
 */
void cm_ids_leave(struct cm_device *device)
{
	unsigned long number = 0;
	struct cm_id *id;

	cm_ids_close(device);
	while ((id = cm_id_after(device, &number))) {
		leave(id);
		cm_id_put(id);
		number++;
	}
}

/**
 * ib_create_cm_id() - make an id
 * @device: device that it uses, while that exists
 * @cm_handler: called for each event, one at a time, in a context that may sleep. If it does not
 *	return 0 the id is destroyed then. It must not destroy its own id itself.
 * @context: for the consumer
 *
 * Context: may sleep.
 * Return: the id, for ib_destroy_cm_id(); -ENODEV if the device has no port with a communication
 * manager, or is being removed; -ENOMEM.
 */
struct ib_cm_id *ib_create_cm_id(struct ib_device *device, ib_cm_handler cm_handler, void *context)
{
	struct cm_device *cm_device = cm_device_of(device);
	struct cm_id *id;
	int ret;

	if (!cm_device)
		return ERR_PTR(-ENODEV);
	id = cm_id_new(cm_device, cm_handler, context);
	cm_device_put(cm_device);
	if (IS_ERR(id))
		return ERR_CAST(id);
	ret = cm_id_publish(id);
	if (ret) {
		cm_id_drop(id);
		return ERR_PTR(ret);
	}
	return &id->ib;
}
EXPORT_SYMBOL(ib_create_cm_id);

/**
 * ib_destroy_cm_id() - destroy an id
 * @cm_id: id
 *
 * The peer of a connection is sent a message, whose arrival is not waited for. Nobody tells when
 * the connection's QP has been in TIMEWAIT for long enough: a consumer that uses a QP again waits
 * for IB_CM_TIMEWAIT_EXIT before it destroys the id.
 *
 * No more events are delivered. An id that ib_cm_insert_listen() has returned several times stays
 * until it has been destroyed as often.
 *
 * Context: may sleep until the id's handler has returned; so not from there.
 */
void ib_destroy_cm_id(struct ib_cm_id *cm_id)
{
	cm_id_end(to_cm_id(cm_id), 0);
}
EXPORT_SYMBOL(ib_destroy_cm_id);
