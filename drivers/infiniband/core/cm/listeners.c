// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listens: a tree by service and private data. Of listens for the same service and data, each of
 * which takes requests of another direction, one is in the tree, and the others are in a ring with
 * it.
 */
#include <linux/cleanup.h>

#include "cm.h"

/**
 * struct listen_key - the key of the tree of listens
 * @service: the service, in host order
 * @data: private data
 * @length: bytes of them, the same for all listens of a service
 */
struct listen_key {
	u64 service;
	const u8 *data;
	u8 length;
};

static struct listen_key key_of(const struct cm_id *id)
{
	struct listen_key key = { .service = be64_to_cpu(id->ib.service_id) };

	if (!id->direction)
		return key;
	key.data = id->direction->data;
	key.length = id->direction->param.length;
	return key;
}

static struct cm_id *id_of(const struct rb_node *node)
{
	return rb_entry(node, struct cm_id, listen_node);
}

static int compare(const struct listen_key *one, const struct listen_key *other)
{
	if (one->service != other->service)
		return one->service < other->service ? -1 : 1;
	return one->length ? memcmp(one->data, other->data, one->length) : 0;
}

static int compare_key(const void *key, const struct rb_node *node)
{
	struct listen_key other = key_of(id_of(node));

	return compare(key, &other);
}

static int compare_nodes(struct rb_node *node, const struct rb_node *other)
{
	struct listen_key key = key_of(id_of(node));

	return compare_key(&key, other);
}

static int compare_service(const void *service, const struct rb_node *node)
{
	u64 one = *(const u64 *)service, other = be64_to_cpu(id_of(node)->ib.service_id);

	return one < other ? -1 : one > other;
}

/* Any that listens for a service */
static struct cm_id *of_service(struct cm_device *device, __be64 service_id)
{
	u64 service = be64_to_cpu(service_id);
	struct rb_node *node = rb_find(&service, &device->listens, compare_service);

	return node ? id_of(node) : NULL;
}

/* The one in the tree that listens for a service and these private data */
static struct cm_id *of_data(const struct cm_ask *ask)
{
	struct cm_id *id = of_service(ask->port->device, ask->service_id);
	struct listen_key key = { .service = be64_to_cpu(ask->service_id) };
	const struct ib_cm_listen_param *param;
	struct rb_node *node;

	if (!id || !id->direction || !id->direction->param.length)
		return id;
	/* All listens of a service compare the same part of the private data. */
	param = &id->direction->param;
	if (param->offset + param->length > ask->len)
		return NULL;
	key.data = ask->data + param->offset;
	key.length = param->length;
	node = rb_find(&key, &ask->port->device->listens, compare_key);
	return node ? id_of(node) : NULL;
}

/**
 * cm_listen_find() - find the listener for a request
 * @ask: the request
 *
 * Return: the id, for cm_id_put(); or NULL.
 */
struct cm_id *cm_listen_find(const struct cm_ask *ask)
{
	struct cm_id *first, *id;

	guard(spinlock_irqsave)(&ask->port->device->listen_lock);
	first = of_data(ask);
	if (!first)
		return NULL;
	id = first;
	do {
		if (cm_direction_takes(id->direction, ask)) {
			refcount_inc(&id->refs);
			return id;
		}
		id = list_next_entry(id, listen_same);
	} while (id != first);
	return NULL;
}

static bool compare_alike(const struct cm_id *one, const struct cm_id *other)
{
	const struct cm_direction *a = one->direction, *b = other->direction;
	u8 length = a ? a->param.length : 0;

	if (length != (b ? b->param.length : 0))
		return false;
	return !length || a->param.offset == b->param.offset;
}

/* An id of the ring whose listen takes requests that this one would take, too; or NULL */
static struct cm_id *rival(const struct cm_id *id, struct cm_id *first)
{
	struct cm_id *other = first;

	do {
		if (cm_directions_overlap(id->direction, other->direction))
			return other;
		other = list_next_entry(other, listen_same);
	} while (other != first);
	return NULL;
}

/**
 * cm_listen_add() - let an id be found by requests
 * @id: id with its service and direction
 *
 * Context: the lock of listens is held.
 * Return: NULL; or an id whose listen takes requests that this one would take, or compares other
 * bytes of private data.
 */
struct cm_id *cm_listen_add(struct cm_id *id)
{
	struct cm_device *device = id->device;
	struct cm_id *other = of_service(device, id->ib.service_id);
	struct rb_node *node;

	lockdep_assert_held(&device->listen_lock);
	if (other && !compare_alike(id, other))
		return other;
	node = rb_find_add(&id->listen_node, &device->listens, compare_nodes);
	if (node) {
		other = rival(id, id_of(node));
		if (other)
			return other;
		list_add_tail(&id->listen_same, &id_of(node)->listen_same);
	}
	if (id->direction)
		list_add_tail(&id->direction->entry, &device->directed);
	id->sharers = 1;
	return NULL;
}

/* Another of the ring takes the id's place in the tree, if it has one. */
static void leave_tree(struct cm_id *id)
{
	struct rb_root *root = &id->device->listens;

	if (RB_EMPTY_NODE(&id->listen_node))
		return;
	if (list_empty(&id->listen_same))
		rb_erase(&id->listen_node, root);
	else
		rb_replace_node(&id->listen_node, &list_next_entry(id, listen_same)->listen_node,
				root);
	RB_CLEAR_NODE(&id->listen_node);
}

/**
 * cm_listen_end() - give up listening
 * @id: any id
 *
 * Return: true if the id may end, false if there are others who use it to listen.
 */
bool cm_listen_end(struct cm_id *id)
{
	guard(spinlock_irqsave)(&id->device->listen_lock);
	if (!id->sharers)
		return true;
	if (--id->sharers)
		return false;
	leave_tree(id);
	list_del_init(&id->listen_same);
	if (id->direction)
		list_del_init(&id->direction->entry);
	return true;
}
