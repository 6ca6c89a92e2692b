// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ids that call their peers, which may call them at the same time: a tree by service and peer.
 */
#include <linux/cleanup.h>

#include "cm.h"

struct call {
	__be64 service_id;
	union ib_gid peer;
};

static struct cm_id *id_of(const struct rb_node *node)
{
	return rb_entry(node, struct cm_id, listen_node);
}

static struct call call_of(const struct cm_id *id)
{
	return (struct call) { .service_id = id->ib.service_id, .peer = id->peer_gid };
}

static int compare_call(const void *call, const struct rb_node *node)
{
	struct call other = call_of(id_of(node));

	return memcmp(call, &other, sizeof(other));
}

static bool is_less(struct rb_node *node, const struct rb_node *other)
{
	struct call call = call_of(id_of(node));

	return compare_call(&call, other) < 0;
}

/**
 * cm_caller_add() - add an id that calls its peer
 * @id: id with a service, which does not listen
 * @peer: the peer's GID
 *
 * Context: the id's lock is held.
 */
void cm_caller_add(struct cm_id *id, const union ib_gid *peer)
{
	lockdep_assert_held(&id->lock);
	id->peer_gid = *peer;
	id->calls = true;
	guard(spinlock)(&id->device->listen_lock);
	rb_add(&id->listen_node, &id->device->callers, is_less);
}

/**
 * cm_caller_end() - remove an id that does not call any more
 * @id: id that does
 *
 * Context: the id's lock is held.
 */
void cm_caller_end(struct cm_id *id)
{
	lockdep_assert_held(&id->lock);
	id->calls = false;
	guard(spinlock)(&id->device->listen_lock);
	rb_erase(&id->listen_node, &id->device->callers);
	RB_CLEAR_NODE(&id->listen_node);
}

/**
 * cm_caller_find() - find the id that calls the sender of a request
 * @ask: request that has arrived
 * @msg: the REQ
 *
 * Return: the id, for cm_id_put(); or NULL. It is never the one that has sent @msg.
 */
struct cm_id *cm_caller_find(const struct cm_ask *ask, const struct cm_msg *msg)
{
	struct call call = { .service_id = ask->service_id, .peer = msg->req.primary.local_gid };
	struct cm_device *device = ask->port->device;
	struct rb_node *node;

	guard(spinlock_irqsave)(&device->listen_lock);
	rb_for_each(node, &call, &device->callers, compare_call) {
		struct cm_id *id = id_of(node);

		if (id->local_id == msg->local_id &&
		    be64_to_cpu(device->ib->node_guid) == msg->req.ca_guid)
			continue;
		refcount_inc(&id->refs);
		return id;
	}
	return NULL;
}
