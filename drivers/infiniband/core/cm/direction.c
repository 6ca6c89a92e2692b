// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Directions of listens: port, LID, P_Key and private data of the requests that they take; and what
 * becomes of them when the device's ports change.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_reject.h>

#include "cm.h"

/**
 * cm_direction_new() - make a listen's direction
 * @id: the id that is to listen
 * @param: parameters of its consumer; the bytes to compare are copied
 *
 * Context: may sleep.
 * Return: the direction, for cm_direction_resolve() and cm_direction_free(); -EINVAL if no request
 * has so much private data; -ENOMEM.
 */
struct cm_direction *cm_direction_new(struct cm_id *id, const struct ib_cm_listen_param *param)
{
	struct cm_direction *direction;

	if (param->offset + param->length > IB_CM_SIDR_REQ_PRIVATE_DATA_SIZE)
		return ERR_PTR(rdma_refuse(-EINVAL,
					   "listen: no request has %u bytes of private data",
					   param->offset + param->length));
	direction = kzalloc(struct_size(direction, data, param->length), GFP_KERNEL);
	if (!direction)
		return ERR_PTR(-ENOMEM);
	INIT_LIST_HEAD(&direction->entry);
	direction->id = id;
	direction->param = *param;
	direction->param.data = NULL;
	if (param->length)
		memcpy(direction->data, param->data, param->length);
	if (!param->error_handler)
		return direction;
	direction->event = cm_event_new(id->device, GFP_KERNEL);
	if (direction->event)
		return direction;
	kfree(direction);
	return ERR_PTR(-ENOMEM);
}

/**
 * cm_direction_free() - free a direction
 * @direction: direction of an id that does not listen, or NULL
 */
void cm_direction_free(struct cm_direction *direction)
{
	if (!direction)
		return;
	cm_event_free(direction->event);
	kfree(direction);
}

/* Asks the ports who they are. What cannot be found out is as it was. */
static void look_at_ports(struct cm_device *device)
{
	for (u32 i = 0; i < device->num_ports; i++) {
		struct cm_port *port = device->ports[i];
		struct ib_port_attr attr;
		union ib_gid gid;

		if (!port || ib_query_port(device->ib, port->num, &attr) ||
		    rdma_query_gid(device->ib, port->num, 0, &gid))
			continue;
		guard(spinlock_irqsave)(&device->listen_lock);
		port->guid = gid.global.interface_id;
		port->lid = attr.lid;
		port->lmc = attr.lmc;
	}
}

/* Returns which of the listen's criteria a port does not meet; 0: it meets all. */
static unsigned int lacks(const struct cm_port *port, const struct ib_cm_listen_param *param)
{
	u16 index;

	if (param->port_guid && param->port_guid != port->guid)
		return IB_CM_LISTEN_PORT_GUID;
	if (param->lid && (param->lid ^ port->lid) >> port->lmc)
		return IB_CM_LISTEN_LID;
	if (param->pkey && ib_find_cached_pkey(port->device->ib, port->num, param->pkey, &index))
		return IB_CM_LISTEN_PKEY;
	return 0;
}

/*
 * The port, or one of the ports, that the direction leads to; under the lock of listens. If there
 * is none, @error says what is missing at the port that meets most of the criteria.
 */
static struct cm_port *port_of(const struct cm_direction *direction, unsigned int *error)
{
	struct cm_device *device = direction->id->device;

	*error = 0;
	for (u32 i = 0; i < device->num_ports; i++) {
		struct cm_port *port = device->ports[i];
		unsigned int lack;

		if (!port || (direction->port && direction->port != port->num))
			continue;
		lack = lacks(port, &direction->param);
		if (!lack)
			return port;
		*error = max(*error, lack);
	}
	return NULL;
}

static int refuse(const struct ib_cm_listen_param *param, enum ib_cm_listen_error error)
{
	switch (error) {
	case IB_CM_LISTEN_PORT_GUID:
		return rdma_refuse(-EADDRNOTAVAIL, "listen: no port has the GUID %#llx",
				   be64_to_cpu(param->port_guid));
	case IB_CM_LISTEN_LID:
		return rdma_refuse(-EADDRNOTAVAIL, "listen: no such port has the LID %u",
				   param->lid);
	case IB_CM_LISTEN_PKEY:
		break;
	}
	return rdma_refuse(-ENOENT, "listen: no such port has the P_Key %#x", param->pkey);
}

/**
 * cm_direction_resolve() - find out where a direction leads
 * @direction: new direction
 *
 * Context: may sleep.
 * Return: 0; -EADDRNOTAVAIL if no port has the GUID or LID; -ENOENT for the P_Key.
 */
int cm_direction_resolve(struct cm_direction *direction)
{
	const struct ib_cm_listen_param *param = &direction->param;
	struct cm_device *device = direction->id->device;
	struct cm_port *port;
	unsigned int error;

	look_at_ports(device);
	scoped_guard(spinlock_irqsave, &device->listen_lock) {
		port = port_of(direction, &error);
		if (!port)
			break;
		if (param->port_guid || param->lid)
			direction->port = port->num;
		direction->path_bits = param->lid & ((1U << port->lmc) - 1);
	}
	return port ? 0 : refuse(param, error);
}

/* Do two P_Keys name one partition? */
static bool same_partition(u16 one, u16 other)
{
	return !((one ^ other) & 0x7fff);
}

/**
 * cm_direction_takes() - is a request among those that a listen takes?
 * @direction: direction of a listen for its service, or NULL
 * @ask: request whose private data fit
 *
 * Context: the lock of listens is held.
 * Return: true if it is.
 */
bool cm_direction_takes(const struct cm_direction *direction, const struct cm_ask *ask)
{
	if (!direction)
		return true;
	if (direction->port && direction->port != ask->port->num)
		return false;
	if (direction->param.lid && direction->path_bits != ask->path_bits)
		return false;
	return !direction->param.pkey || same_partition(direction->param.pkey, ask->pkey);
}

/**
 * cm_directions_overlap() - is there a request that both listens would take?
 * @one: direction of a listen for a service and private data, or NULL
 * @other: direction of another listen for them, or NULL
 *
 * Context: the lock of listens is held.
 * Return: true if there is.
 */
bool cm_directions_overlap(const struct cm_direction *one, const struct cm_direction *other)
{
	if (!one || !other)
		return true;
	if (one->port && other->port && one->port != other->port)
		return false;
	if (one->param.lid && other->param.lid && one->path_bits != other->path_bits)
		return false;
	return !one->param.pkey || !other->param.pkey ||
	       same_partition(one->param.pkey, other->param.pkey);
}

/* Directions that lead nowhere give their events away, each with its id and a reference. */
static void collect(struct cm_device *device, struct list_head *events)
{
	struct cm_direction *direction;
	unsigned int error;

	guard(spinlock_irqsave)(&device->listen_lock);
	list_for_each_entry(direction, &device->directed, entry) {
		struct cm_port *port = port_of(direction, &error);

		if (port)
			direction->path_bits = direction->param.lid & ((1U << port->lmc) - 1);
		if (port || !direction->event)
			continue;
		direction->event->listen_error = error;
		direction->event->listener = direction->id;
		refcount_inc(&direction->id->refs);
		list_add_tail(&direction->event->entry, events);
		direction->event = NULL;
	}
}

/**
 * cm_directions_check() - tell those who listen for what the device does not have any more
 * @device: device whose ports have changed
 *
 * Context: may sleep.
 */
void cm_directions_check(struct cm_device *device)
{
	struct cm_event *event, *next;
	LIST_HEAD(events);

	look_at_ports(device);
	collect(device, &events);
	list_for_each_entry_safe(event, next, &events, entry) {
		struct cm_id *id = event->listener;

		event->listener = NULL;
		scoped_guard(spinlock_irqsave, &id->lock)
			cm_event_queue(id, event);
		cm_id_put(id);
	}
}
