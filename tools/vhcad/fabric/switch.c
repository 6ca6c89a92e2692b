// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Switches: their ports and their forwarding tables: writing, looking up, and following them from
 * switch to switch.
 */
#include <errno.h>
#include <stdlib.h>

#include "fabric/pipe.h"

/* ------------------------------------------------------------------------
 * Ports
 */
void fab_look(struct fab_port *port)
{
	const struct port *at = port->ib.peer;

	port->open = port->ib.state == PORT_ACTIVE;
	/* in a topology links make their own checks */
	if (!port->fabric->topo)
		port->open = port->open && at && at->state == PORT_ACTIVE &&
			     !at->setup.enforce_in && !at->setup.enforce_out && !port->foreign;
}

/* The adapter's port that is plugged into a port of the one switch, or NULL. */
static struct fab_port *plugged_in(const struct fab_switch *sw, u32 n)
{
	const struct fabric *f = sw->fabric;

	return !f->topo && n && n <= f->nports ? f->ports[n - 1] : NULL;
}

static void look_at(const struct fab_switch_port *p)
{
	struct fab_port *port = plugged_in(p->sw, p - p->sw->port);

	if (port)
		fab_look(port);
}

static void on_state(struct port *ib, u8 old)
{
	struct fab_switch_port *p = container_of(ib, struct fab_switch_port, ib);
	struct fab_switch *sw = p->sw;
	struct fabric *f = sw->fabric;
	u32 n = p - sw->port;
	u8 state = ib->state;

	/* the manager is not notified of changes that it makes itself */
	sw->changed |= old == PORT_DOWN || state == PORT_DOWN;
	look_at(p);
	if (state == PORT_DOWN && f->topo)
		link_cut(sw->out[n - 1]->link);
	else if (old == PORT_DOWN && f->subnet)
		f->subnet->link_up(f->subnet_arg, ib);
	if (f->agents && ib->state == state)
		f->agents->state(f->agents_arg, sw->no, n, old);
}

static void on_changed(struct port *ib, u32 what)
{
	if (what & PORT_SETUP_CHANGED)
		look_at(container_of(ib, struct fab_switch_port, ib));
}

static const struct port_ops port_ops = { .state = on_state, .changed = on_changed };

int switch_make_ports(struct fab_switch *sw)
{
	const struct fab_rate usual = FAB_RATE_USUAL;

	sw->port = calloc(sw->nports + 1, sizeof(*sw->port));
	sw->sl2vl = calloc((sw->nports + 1) * sw->nports, sizeof(*sw->sl2vl));
	if (!sw->port || !sw->sl2vl)
		return -ENOMEM;
	for (u32 n = 0; n <= sw->nports; n++) {
		struct fab_switch_port *p = &sw->port[n];

		port_init(&p->ib, sw->guid);
		p->ib.setup.hoq_life = sw->hoq_life;
		p->ib.ops = &port_ops;
		p->sw = sw;
		fab_rate_codes(&usual, &p->ib.speed);
	}
	/* port 0 has no cable, and is always active */
	sw->port->ib.state = PORT_ACTIVE;
	sw->port->ib.phys_state = PORT_PHYS_LINKUP;
	sw->setup.linear_top = LID_SWITCH;
	return 0;
}

void switch_free(struct fab_switch *sw)
{
	if (!sw)
		return;
	free(sw->port);
	free(sw->sl2vl);
	free(sw);
}

/* ------------------------------------------------------------------------
 * What a manager sees of a switch
 */
u32 fab_switches(const struct fabric *f)
{
	return f->topo ? f->topo->nsw : 1;
}

const char *fab_switch_name(const struct fabric *f, u32 sw)
{
	return switch_of(f, sw)->name;
}

u64 fab_switch_guid(const struct fabric *f, u32 sw)
{
	return switch_of(f, sw)->guid;
}

u32 fab_switch_ports(const struct fabric *f, u32 sw)
{
	return switch_of(f, sw)->nports;
}

struct port *fab_switch_ib(const struct fabric *f, u32 sw, u32 n)
{
	return &switch_of(f, sw)->port[n].ib;
}

const struct fab_switch_setup *fab_switch_setup(const struct fabric *f, u32 sw)
{
	return &switch_of(f, sw)->setup;
}

void fab_switch_set_setup(struct fabric *f, u32 sw, const struct fab_switch_setup *setup)
{
	switch_of(f, sw)->setup = *setup;
}

bool fab_switch_changed(const struct fabric *f, u32 sw)
{
	return switch_of(f, sw)->changed;
}

void fab_switch_clear_changed(struct fabric *f, u32 sw)
{
	switch_of(f, sw)->changed = false;
}

u8 *fab_switch_sl2vl(const struct fabric *f, u32 sw, u32 in, u32 out)
{
	const struct fab_switch *s = switch_of(f, sw);

	return s->sl2vl[in * s->nports + out - 1];
}

/* ------------------------------------------------------------------------
 * Forwarding tables
 */

/* Counts that the one switch sends a LID to a port now, or does not any more. */
static void count_foreign(struct fab_port *port, u16 lid, bool more)
{
	if (!port || port_has_lid(&port->ib, lid))
		return;
	port->foreign += more ? 1 : -1;
	fab_look(port);
}

void switch_recount(struct fab_port *port)
{
	const struct fab_switch *sw = port->fabric->shared;

	port->foreign = 0;
	for (u32 lid = 0; sw && lid <= LID_SWITCH; lid++)
		port->foreign += sw->linear[lid] == port->at && !port_has_lid(&port->ib, lid);
	fab_look(port);
}

void fab_switch_set_port(struct fabric *f, u32 sw, u16 lid, u8 port)
{
	struct fab_switch *s = switch_of(f, sw);

	count_foreign(plugged_in(s, s->linear[lid]), lid, false);
	s->linear[lid] = port;
	count_foreign(plugged_in(s, port), lid, true);
}

u32 fab_switch_port(const struct fabric *f, u32 sw, u16 lid)
{
	return switch_of(f, sw)->linear[lid];
}

/* Number of adapters' ports in a set. */
static u32 adapters_in(const struct fab_switch *sw, const struct port_mask *m)
{
	u32 n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(m->word); i++)
		n += __builtin_popcountll(m->word[i] & sw->adapters.word[i]);
	return n;
}

/* A multicast LID leads to @now adapters' ports instead of @before. */
static void count_width(struct fabric *f, u32 before, u32 now)
{
	if (before)
		f->wide[before]--;
	if (now)
		f->wide[now]++;
	f->widest = MAX(f->widest, now);
	while (f->widest && !f->wide[f->widest])
		f->widest--;
}

void fab_switch_set_mask(struct fabric *f, u32 sw, u16 mlid, const struct port_mask *mask)
{
	struct fab_switch *s = switch_of(f, sw);
	struct port_mask *m = &s->multicast[mlid - MLID_FIRST];
	u16 *width = &f->width[mlid - MLID_FIRST];
	u32 now = *width - adapters_in(s, m) + adapters_in(s, mask);

	count_width(f, *width, now);
	*width = now;
	*m = *mask;
}

const struct port_mask *fab_switch_mask(const struct fabric *f, u32 sw, u16 mlid)
{
	return &switch_of(f, sw)->multicast[mlid - MLID_FIRST];
}

struct fab_port *fab_follow(const struct fab_port *from, u16 dlid)
{
	const struct fabric *f = from->fabric;
	const struct fab_switch *sw;

	if (!f->topo)
		return shared_port(f, dlid);
	sw = from->end->sw;
	for (u32 hops = 0; dlid <= LID_SWITCH && hops <= f->topo->nsw; hops++) {
		const struct fab_pipe *out = switch_out(sw, sw->linear[dlid]);

		if (!out || out->to_end)
			return out ? out->to_end->port : NULL;
		sw = out->to;
	}
	return NULL;
}
