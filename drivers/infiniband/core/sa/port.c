// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * References to a port, and the address of its subnet manager.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "sa_priv.h"

/* GUID under which the subnet manager's port can be reached in every subnet by a GRH. */
#define WELL_KNOWN_GUID 0x0200000000000002ULL

/* The SA data of a port, or NULL if it has no subnet administration. */
struct sa_port *sa_port_find(struct ib_device *device, u32 port_num)
{
	if (!rdma_is_port_valid(device, port_num))
		return NULL;
	return READ_ONCE(rdma_port(device, port_num)->sa);
}

/* Takes a reference, for sa_port_put(). Returns false if the port is being removed. */
bool sa_port_get(struct sa_port *port)
{
	guard(spinlock_irqsave)(&port->lock);
	if (!port->gone)
		refcount_inc(&port->users);
	return !port->gone;
}

void sa_port_put(struct sa_port *port)
{
	if (refcount_dec_and_test(&port->users))
		complete(&port->idle);
}

/* ---- the subnet manager's address ---- */

static void manager_release(struct kref *ref)
{
	struct sa_manager *manager = container_of(ref, struct sa_manager, ref);

	rdma_destroy_ah(manager->ah, 0);
	kfree(manager);
}

void sa_manager_put(struct sa_manager *manager)
{
	if (manager)
		kref_put(&manager->ref, manager_release);
}

/* The port's manager with a reference, or NULL if there is none. */
struct sa_manager *sa_manager_get(struct sa_port *port)
{
	guard(spinlock_irqsave)(&port->lock);
	if (port->manager)
		kref_get(&port->manager->ref);
	return port->manager;
}

static int find_default_pkey(struct sa_port *port, u16 *index)
{
	int ret = ib_find_exact_cached_pkey(port->device, port->port_num, IB_DEFAULT_PKEY_FULL,
					    index);

	return ret ? ib_find_cached_pkey(port->device, port->port_num, IB_DEFAULT_PKEY_FULL,
					 index) : 0;
}

static struct ib_ah *make_ah(struct sa_port *port, const struct sa_manager *manager)
{
	struct rdma_ah_attr attr = {
		.type = rdma_ah_find_type(port->device, port->port_num),
		.port_num = port->port_num,
		.sl = manager->sl,
	};

	rdma_ah_set_dlid(&attr, manager->lid);
	if (rdma_is_grh_required(port->device, port->port_num)) {
		rdma_ah_set_grh(&attr, NULL, 0, 0, 1, 0);
		rdma_ah_set_subnet_prefix(&attr, cpu_to_be64(manager->prefix));
		rdma_ah_set_interface_id(&attr, cpu_to_be64(WELL_KNOWN_GUID));
	}
	return rdma_create_ah(port->agent->qp->pd, &attr, RDMA_CREATE_AH_SLEEPABLE);
}

/**
 * sa_manager_look_up() - get the address of the port's subnet manager from the cache
 * @port: port
 * @manager: receives the address, without a handle
 *
 * Return: true if there is a subnet manager.
 */
bool sa_manager_look_up(struct sa_port *port, struct sa_manager *manager)
{
	struct rdma_cached_port attrs;

	if (ib_cache_get_port(port->device, port->port_num, &attrs) || !attrs.sm_lid ||
	    attrs.sm_lid >= be16_to_cpu(IB_MULTICAST_LID_BASE) ||
	    find_default_pkey(port, &manager->pkey_index))
		return false;
	manager->lid = attrs.sm_lid;
	manager->sl = attrs.sm_sl;
	ib_get_cached_subnet_prefix(port->device, port->port_num, &manager->prefix);
	return true;
}

bool sa_manager_same(const struct sa_manager *a, const struct sa_manager *b)
{
	return a->lid == b->lid && a->sl == b->sl && a->pkey_index == b->pkey_index &&
	       a->prefix == b->prefix;
}

/*
 * Makes a manager, with one reference, from an address that was looked up. Returns NULL on failure.
 */
struct sa_manager *sa_manager_make(struct sa_port *port, const struct sa_manager *seen)
{
	struct sa_manager *manager = kmemdup(seen, sizeof(*seen), GFP_KERNEL);

	if (!manager)
		return NULL;
	kref_init(&manager->ref);
	manager->ah = make_ah(port, manager);
	if (IS_ERR(manager->ah)) {
		ibdev_warn(port->device, "port %u: no address handle for the subnet manager: %pe\n",
			   port->port_num, manager->ah);
		kfree(manager);
		return NULL;
	}
	return manager;
}
