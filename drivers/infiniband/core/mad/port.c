// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life of ports and agents. A port outlives its device as long as it has agents, for which it is
 * closed then.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "mad_priv.h"

/* Protects @ports. */
static DEFINE_SPINLOCK(ports_lock);
/* All struct mad_port that can be found. Look-ups are rare, so a list suffices. */
static LIST_HEAD(ports);

/* Time that a posted send may take to complete before its QP is taken as stuck, in jiffies. */
unsigned long mad_patience = 20 * HZ;
EXPORT_SYMBOL_IF_KUNIT(mad_patience);

/**
 * mad_port_alloc() - allocate a port without QPs
 * @device: its device
 * @port_num: its number
 *
 * Context: may sleep.
 * Return: the port with a reference, closed; or NULL.
 */
struct mad_port *mad_port_alloc(struct ib_device *device, u32 port_num)
{
	struct mad_port *port = kzalloc(sizeof(*port), GFP_KERNEL);

	if (!port)
		return NULL;
	INIT_LIST_HEAD(&port->entry);
	refcount_set(&port->refs, 1);
	port->device = device;
	port->port_num = port_num;
	port->opa = rdma_cap_opa_mad(device, port_num);
	spin_lock_init(&port->lock);
	INIT_LIST_HEAD(&port->agents);
	port->requests = RB_ROOT;
	hash_init(port->partials);
	timerqueue_init_head(&port->timers);
	INIT_LIST_HEAD(&port->done);
	INIT_LIST_HEAD(&port->loop);
	for (unsigned int i = 0; i < ARRAY_SIZE(port->qp); i++) {
		port->qp[i].port = port;
		port->qp[i].index = i;
		INIT_LIST_HEAD(&port->qp[i].eager);
		init_waitqueue_head(&port->qp[i].idle);
		INIT_LIST_HEAD(&port->qp[i].posted);
		mutex_init(&port->qp[i].posting);
		timerqueue_init(&port->qp[i].recover_timer.node);
		mad_table_init(&port->qp[i].table);
	}
	return port;
}

/**
 * mad_port_show() - let agents find a port
 * @port: port that works
 */
void mad_port_show(struct mad_port *port)
{
	guard(spinlock_irqsave)(&ports_lock);
	list_add_tail(&port->entry, &ports);
}

/**
 * mad_port_hide() - undo mad_port_show()
 * @port: port, shown or not
 */
void mad_port_hide(struct mad_port *port)
{
	guard(spinlock_irqsave)(&ports_lock);
	list_del_init(&port->entry);
}

/**
 * mad_port_get() - find a port
 * @device: its device
 * @port_num: its number
 *
 * Context: any.
 * Return: the port with a reference, or NULL if it exchanges no MADs.
 */
struct mad_port *mad_port_get(struct ib_device *device, u32 port_num)
{
	struct mad_port *port;

	guard(spinlock_irqsave)(&ports_lock);
	list_for_each_entry(port, &ports, entry) {
		if (port->device != device || port->port_num != port_num)
			continue;
		refcount_inc(&port->refs);
		return port;
	}
	return NULL;
}

/**
 * mad_port_put() - drop a reference
 * @port: port
 *
 * Context: any.
 */
void mad_port_put(struct mad_port *port)
{
	if (refcount_dec_and_test(&port->refs))
		kfree(port);
}

/**
 * mad_agent_put() - drop a reference
 * @agent: agent
 *
 * Context: any.
 */
void mad_agent_put(struct mad_agent *agent)
{
	if (refcount_dec_and_test(&agent->refs))
		complete(&agent->gone);
}
