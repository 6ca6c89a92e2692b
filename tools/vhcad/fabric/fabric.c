// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fabric as a whole: it is made here, and its time advances here.
 */
#include <stdio.h>
#include <stdlib.h>

#include "capture/capture.h"
#include "fabric/eth_internal.h"
#include "fabric/pipe.h"
#include "fabric/threads.h"

/* The one switch of a fabric without a topology. */
static struct fab_switch *shared_switch(struct fabric *f)
{
	struct fab_switch *sw = calloc(1, sizeof(*sw));

	if (!sw)
		return NULL;
	snprintf(sw->name, sizeof(sw->name), "switch");
	sw->hoq_life = TOPO_HOQ_USUAL;
	sw->guid = SWITCH_GUIDS;
	sw->fabric = f;
	sw->nports = SWITCH_MAX_PORTS;
	for (u32 port = 1; port <= SWITCH_MAX_PORTS; port++)
		port_mask_set(&sw->adapters, port);
	if (!switch_make_ports(sw))
		return sw;
	switch_free(sw);
	return NULL;
}

struct fabric *fabric_new(void)
{
	struct fabric *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->shared = shared_switch(f);
	if (!f->shared) {
		free(f);
		return NULL;
	}
	INIT_LIST_HEAD(&f->free);
	INIT_LIST_HEAD(&f->mads);
	pthread_mutex_init(&f->lock, NULL);
	f->mad_ops = &fab_mad_ops;
	f->agents_at = UINT64_MAX;
	return f;
}

void fabric_free(struct fabric *f)
{
	if (!f)
		return;
	if (f->subnet)
		f->subnet->free(f->subnet_arg);
	if (f->agents)
		f->agents->free(f->agents_arg);
	mads_end(f);
	topo_free(f->topo);
	topo_free(f->eth_topo);
	switch_free(f->shared);
	free(f->pool);
	free(f->ports);
	eth_segment_free(f->eth);
	pthread_mutex_destroy(&f->lock);
	free(f);
}

bool fabric_is_single(const struct fabric *f)
{
	return fab_has_topology(f) || fab_queues(f) || f->nflapped;
}

void fabric_set_topology(struct fabric *f, struct topo *t)
{
	if (t->ethernet) {
		f->eth_topo = t;
	} else {
		switch_free(f->shared);
		f->shared = NULL;
		f->topo = t;
	}
	topo_join(t, f);
}

void fabric_set_subnet(struct fabric *f, const struct fab_subnet_ops *ops, void *subnet)
{
	f->subnet = ops;
	f->subnet_arg = subnet;
}

void *fab_subnet(const struct fabric *f, const struct fab_subnet_ops *ops)
{
	return f->subnet == ops ? f->subnet_arg : NULL;
}

void fabric_set_agents(struct fabric *f, const struct fab_agent_ops *ops, void *agents)
{
	f->agents = ops;
	f->agents_arg = agents;
	f->agents_at = UINT64_MAX;
}

void *fab_agents(const struct fabric *f, const struct fab_agent_ops *ops)
{
	return f->agents == ops ? f->agents_arg : NULL;
}

void fab_agents_at(struct fabric *f, u64 at)
{
	f->news |= at < f->agents_at;
	f->agents_at = MIN(f->agents_at, at);
}

void fabric_set_capture(struct fabric *f, struct capture *c)
{
	f->capture = c;
}

void fabric_set_stamps(struct fabric *f)
{
	f->cap_engine = true;
}

/* ------------------------------------------------------------------------
 * Time
 */
u32 fab_room(const struct fab_port *port)
{
	const struct fabric *f = port->fabric;
	/* every packet may be duplicated on its way, and go to the largest group */
	u32 most = 2 * MAX(port->eth ? f->eth->nports + 1 : f->widest, 1u);
	u32 room = fab_queues(f) ? f->nfree / most : UINT32_MAX;

	return port->end ? MIN(room, topo_room(port)) : room;
}

u32 fab_poll(struct fabric *f, u64 now, u32 most)
{
	u32 n = 0;

	__atomic_store_n(&f->now, now, __ATOMIC_RELAXED);
	fab_flaps_end(f);
	if (f->agents_at <= now) {
		f->agents_at = UINT64_MAX;
		f->agents->run(f->agents_arg, now);
	}
	/*
	 * each has its own share: a port that sends MADs or frames all the time does not delay
	 * links
	 */
	if (!list_empty(&f->mads))
		n = mads_run(f, most);
	if (f->eth && eth_waiting(f->eth))
		n += eth_poll(f, most);
	if (f->nqueued)
		n += fab_queue_poll(f, most);
	if (f->topo)
		n += topo_run(f->topo, now, most);
	if (f->eth_topo)
		n += topo_run(f->eth_topo, now, most);
	return n;
}

u64 fab_next(struct fabric *f)
{
	u64 next;

	fab_lock(f);
	next = MIN(mads_next(f), f->agents_at);
	fab_unlock(f);
	if (f->nqueued)
		next = MIN(next, fab_queue_next(f));
	if (f->topo)
		next = MIN(next, topo_next(f->topo));
	if (f->eth_topo)
		next = MIN(next, topo_next(f->eth_topo));
	for (u32 i = 0; f->nflapped && i < fab_all(f); i++)
		if (fab_nth(f, i) && fab_nth(f, i)->ib.down_until)
			next = MIN(next, fab_nth(f, i)->ib.down_until);
	if (f->eth && eth_waiting(f->eth) && eth_has_room(f->eth))
		next = MIN(next, fab_now(f));
	return next;
}

void fab_idle(struct fabric *f)
{
	if (f->capture)
		capture_flush(f->capture);
}
