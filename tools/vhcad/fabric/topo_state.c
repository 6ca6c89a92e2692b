// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * State of links and switches of a fabric, and changes to it.  They are numbered in one sequence:
 * those of InfiniBand first, then those of Ethernet.
 */
#include <string.h>

#include "fabric/pipe.h"

/* ------------------------------------------------------------------------
 * Numbers
 */
static struct fab_link *nth_link(const struct fabric *f, u32 n)
{
	const struct topo *const both[] = { f->topo, f->eth_topo };

	for (u32 i = 0; i < ARRAY_SIZE(both); i++) {
		if (both[i] && n < both[i]->nlinks)
			return both[i]->link[n];
		n -= both[i] ? both[i]->nlinks : 0;
	}
	return NULL;
}

static struct fab_switch *nth_switch(const struct fabric *f, u32 n)
{
	const struct topo *const both[] = { f->topo, f->eth_topo };

	for (u32 i = 0; i < ARRAY_SIZE(both); i++) {
		if (both[i] && n < both[i]->nsw)
			return both[i]->sw[n];
		n -= both[i] ? both[i]->nsw : 0;
	}
	return NULL;
}

static u32 number_of(const struct fabric *f, const struct fab_link *l)
{
	u32 n = 0;

	while (nth_link(f, n) != l)
		n++;
	return n;
}

bool fab_has_topology(const struct fabric *f)
{
	return f->topo || f->eth_topo;
}

int fab_link_find(const struct fabric *f, const char *name)
{
	const struct fab_link *l;

	for (u32 n = 0; (l = nth_link(f, n)); n++)
		if (!strcmp(l->l.name, name))
			return n;
	return -1;
}

int fab_switch_find(const struct fabric *f, const char *name)
{
	const struct fab_switch *sw;

	for (u32 n = 0; (sw = nth_switch(f, n)); n++)
		if (!strcmp(sw->name, name))
			return n;
	return -1;
}

struct fab_link *fab_link_at(struct fabric *f, u32 n)
{
	return nth_link(f, n);
}

u32 fab_port_link(const struct fab_port *port)
{
	return number_of(port->fabric, port->end->out->link);
}

bool fab_port_has_link(const struct fab_port *port)
{
	return port->end;
}

bool fab_link_is_between(const struct fabric *f, u32 n)
{
	return link_is_between(nth_link(f, n));
}

/* ------------------------------------------------------------------------
 * State
 */
bool fab_link_state(const struct fabric *f, u32 n, struct fab_link_state *s)
{
	const struct fab_link *l = nth_link(f, n);

	if (!l)
		return false;
	s->l = l->l;
	s->up = pipe_open(&l->pipe[0]);
	for (u32 i = 0; i < 2; i++) {
		const struct topo_end *end = l->pipe[i].from_end;

		s->count[i] = l->pipe[i].count;
		s->queued[i] = end ? end->nsend : 0;
		for (u32 vl = 0; vl < PORT_VLS; vl++)
			s->queued[i] += l->pipe[i].lane[vl].used;
	}
	return true;
}

bool fab_switch_state(const struct fabric *f, u32 n, struct fab_switch_state *s)
{
	const struct fab_switch *sw = nth_switch(f, n);

	if (!sw)
		return false;
	s->name = sw->name;
	s->ethernet = sw->own->topo->ethernet;
	s->hoq_life = sw->hoq_life;
	s->ports = sw->nports;
	s->no_way = sw->no_way;
	for (u32 i = 0; i < sw->nports; i++)
		s->link[i] = number_of(f, sw->out[i]->link);
	return true;
}

const char *fab_eth_ways(struct fabric *f, u32 n, u32 end, struct port_mask *ports)
{
	const struct fab_switch *sw = nth_switch(f, n);
	struct topo *t = sw->own->topo;

	if (end > t->nends)
		return NULL;
	if (t->stale)
		eth_renew(t);
	*ports = (struct port_mask){ 0 };
	if (end == t->nends)
		*ports = *eth_tree(sw);
	else if (sw->linear[eth_lid(t->end[end])])
		port_mask_set(ports, sw->linear[eth_lid(t->end[end])]);
	return end == t->nends ? "multicasts" : t->end[end]->name;
}

/* ------------------------------------------------------------------------
 * Changes
 */
void fab_link_up(struct fabric *f, u32 n, bool up)
{
	struct fab_link *l = nth_link(f, n);

	l->up = up;
	port_set_cable(l->pipe->near, up);
}

void fab_link_rate(struct fabric *f, u32 n, const struct fab_rate *rate)
{
	struct fab_link *l = nth_link(f, n);

	l->l.rate = *rate;
	l->kbps = fab_rate_kbps(rate);
	for (u32 i = 0; i < 2; i++) {
		if (l->pipe[i].near)
			fab_rate_codes(rate, &l->pipe[i].near->speed);
		if (l->pipe[i].from_end && l->pipe[i].from_end->port)
			l->pipe[i].from_end->port->rate = *rate;
	}
}

void fab_link_latency(struct fabric *f, u32 n, u32 latency)
{
	nth_link(f, n)->l.latency = latency;
}
