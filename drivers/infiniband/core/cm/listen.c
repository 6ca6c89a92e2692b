// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listening: the consumer's calls. A request has one id that listens for it, or none.
 */
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <rdma/rdma_reject.h>

#include "cm.h"

/* The next of the numbers that the manager assigns itself, in host order. */
static atomic64_t next_service;

/* An assigned number comes from here alone. Returns 0 or -EINVAL. */
static int choose_service(struct cm_id *id, __be64 service_id)
{
	u64 first = be64_to_cpu(IB_CM_ASSIGN_SERVICE_ID);

	if (service_id == IB_CM_ASSIGN_SERVICE_ID)
		service_id = cpu_to_be64(first + atomic64_fetch_inc(&next_service));
	else if ((service_id & IB_SERVICE_ID_AGN_MASK) == IB_CM_ASSIGN_SERVICE_ID)
		return rdma_refuse(-EINVAL, "service %#llx is one of those that are assigned",
				   be64_to_cpu(service_id));
	id->ib.service_id = service_id;
	return 0;
}

/* Listens by the direction's criteria; on success the direction belongs to the id. */
static int listen_to(struct cm_id *id, __be64 service_id, struct cm_direction *direction)
{
	struct cm_rule rule;
	int ret;

	guard(spinlock_irqsave)(&id->lock);
	ret = cm_call_rule(id, CM_IN_CALL_LISTEN, &rule);
	if (!ret)
		ret = choose_service(id, service_id);
	if (ret)
		return ret;
	scoped_guard(spinlock, &id->device->listen_lock) {
		id->direction = direction;
		if (!cm_listen_add(id))
			break;
		id->direction = NULL;
		return rdma_refuse(-EBUSY, "service %#llx has an id",
				   be64_to_cpu(id->ib.service_id));
	}
	cm_follow(id, &rule, NULL);
	return 0;
}

/**
 * ib_cm_listen() - let requests for a service make events of an id
 * @cm_id: id that does nothing yet. Each request has an id of its own, with the handler and the
 *	context of this one.
 * @service_id: number of the service in network order; IB_CM_ASSIGN_SERVICE_ID: one that nobody
 *	else has, which is in the id then
 *
 * Context: any.
 * Return: 0; -EINVAL if the id is in use, or for another number among those that are assigned;
 * -EBUSY if the device has an id for this service.
 */
int ib_cm_listen(struct ib_cm_id *cm_id, __be64 service_id)
{
	return listen_to(to_cm_id(cm_id), service_id, NULL);
}
EXPORT_SYMBOL(ib_cm_listen);

/**
 * ib_cm_listen_directed() - let some of the requests for a service make events of an id
 * @cm_id: id that does nothing yet, as for ib_cm_listen()
 * @param: which requests. All listens of a service compare the same bytes of private data, or none
 *	does.
 *
 * When the device's ports change so that none has what @param names, the error handler is called,
 * once; requests would be taken again if the change were undone. Datagram services count as well as
 * connections.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if the id is in use, for a number among those that are assigned, or more
 * private data than a request has; -EADDRNOTAVAIL if no port has the GUID or LID; -ENOENT if none
 * of these has the P_Key; -EBUSY if another listen takes requests that this one would take, or
 * compares other bytes; -ENODEV when the device is gone; -ENOMEM.
 */
int ib_cm_listen_directed(struct ib_cm_id *cm_id, const struct ib_cm_listen_param *param)
{
	struct cm_id *id = to_cm_id(cm_id);
	struct cm_direction *direction;
	int ret;

	if (READ_ONCE(id->device->gone))
		return -ENODEV;
	direction = cm_direction_new(id, param);
	if (IS_ERR(direction))
		return PTR_ERR(direction);
	ret = cm_direction_resolve(direction);
	if (!ret)
		ret = listen_to(id, param->service_id, direction);
	if (ret)
		cm_direction_free(direction);
	return ret;
}
EXPORT_SYMBOL(ib_cm_listen_directed);

/* One more listens by an id that is there. */
static bool share(struct cm_id *id, ib_cm_handler handler)
{
	if (id->ib.cm_handler != handler || id->ib.context || id->direction)
		return false;
	id->sharers++;
	return true;
}

/**
 * ib_cm_insert_listen() - let requests for a service make events of an id that several may share
 * @device: device that is listened at
 * @cm_handler: called for the events
 * @service_id: as for ib_cm_listen()
 *
 * Context: may sleep.
 * Return: a new id without context, or the one that has listened with the same handler, and without
 * context; each to be destroyed as often as it was returned. -EINVAL if another handler listens for
 * this service, or for a number among those that are assigned; -ENODEV, -ENOMEM as
 * ib_create_cm_id().
 */
struct ib_cm_id *ib_cm_insert_listen(struct ib_device *device, ib_cm_handler cm_handler,
				     __be64 service_id)
{
	struct ib_cm_id *ib = ib_create_cm_id(device, cm_handler, NULL);
	struct cm_id *id, *other;
	int ret;

	if (IS_ERR(ib))
		return ib;
	id = to_cm_id(ib);
	scoped_guard(spinlock_irqsave, &id->lock) {
		struct cm_rule rule;

		ret = cm_call_rule(id, CM_IN_CALL_LISTEN, &rule);
		if (!ret)
			ret = choose_service(id, service_id);
		if (ret)
			break;
		guard(spinlock)(&id->device->listen_lock);
		other = cm_listen_add(id);
		if (!other) {
			cm_follow(id, &rule, NULL);
			return ib;
		}
		if (!share(other, cm_handler))
			ret = rdma_refuse(-EINVAL, "service %#llx has another handler",
					  be64_to_cpu(service_id));
	}
	ib_destroy_cm_id(ib);
	return ret ? ERR_PTR(ret) : &other->ib;
}
EXPORT_SYMBOL(ib_cm_insert_listen);

/* ---- requests that change hands ---- */

static struct cm_id *listener_of(const struct cm_event *event, __be64 service_id)
{
	struct cm_ask ask = { .port = event->route->port, .service_id = service_id };
	struct cm_msg msg;

	/* It could be read when it arrived. */
	if (cm_msg_unpack(&msg, event->wc->recv_buf.mad))
		return NULL;
	ask.data = msg.private_data;
	ask.len = msg.private_data_len;
	ask.pkey = msg.req.pkey;
	ask.path_bits = event->wc->wc->dlid_path_bits;
	return cm_listen_find(&ask);
}

/* Moves an event to the next handler. The current handler keeps what it can still read. */
static void pass(struct cm_event *from, struct cm_event *to, struct cm_id *listener)
{
	struct ib_cm_req_event_param *param = &to->ib.param.req_rcvd;

	to->ib = from->ib;
	for (int i = 0; i < 2; i++) {
		to->path[i] = from->path[i];
		to->path[i].service_id = listener->ib.service_id;
	}
	param->listen_id = &listener->ib;
	param->primary_path = &to->path[0];
	if (param->alternate_path)
		param->alternate_path = &to->path[1];
	to->listener = listener;
	to->wc = from->wc;
	to->route = from->route;
	from->wc = NULL;
	from->route = NULL;
}

/**
 * ib_cm_handoff() - let the listener of another service have a request
 * @cm_id: id of the request, which has not been answered; an MRA is no answer
 * @event: the IB_CM_REQ_RECEIVED that @cm_id's handler is being called for
 * @service_id: the service
 *
 * Afterwards the id belongs to the other consumer. It has that one's handler and context, and gets
 * IB_CM_REQ_RECEIVED as if the request had come for that service. The caller does not use the id
 * any more, and its handler returns 0, or else the id is destroyed.
 *
 * Context: the id's handler.
 * Return: 0; or an error, and the request is still the caller's: -EINVAL for another event or
 * state, or if the request was handed on before; -ENOENT if nobody listens for the service, or for
 * such a request; -ENOMEM.
 */
int ib_cm_handoff(struct ib_cm_id *cm_id, const struct ib_cm_event *event, __be64 service_id)
{
	struct cm_event *from = (struct cm_event *)container_of(event, const struct cm_event, ib);
	struct cm_id *id = to_cm_id(cm_id), *listener;
	struct cm_event *to;
	struct cm_rule rule;
	int ret;

	if (event->event != IB_CM_REQ_RECEIVED || !from->wc)
		return rdma_refuse(-EINVAL, "hand off: the event has no request");
	listener = listener_of(from, service_id);
	if (!listener)
		return rdma_refuse(-ENOENT, "hand off: nobody listens for service %#llx",
				   be64_to_cpu(service_id));
	to = cm_event_new(id->device, GFP_KERNEL);
	scoped_guard(spinlock_irqsave, &id->lock) {
		ret = to ? cm_call_rule(id, CM_IN_CALL_HANDOFF, &rule) : -ENOMEM;
		if (ret)
			break;
		pass(from, to, listener);
		id->ib.cm_handler = listener->ib.cm_handler;
		id->ib.context = listener->ib.context;
		id->ib.service_id = service_id;
		cm_follow(id, &rule, to);
		return 0;
	}
	cm_event_free(to);
	cm_id_put(listener);
	return ret;
}
EXPORT_SYMBOL(ib_cm_handoff);
