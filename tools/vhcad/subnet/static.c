// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The static subnet: LIDs of ports, members of groups, and the tables that follow from them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fabric.h"
#include "fabric/subnet.h"
#include "lib/log.h"
#include "subnet/route.h"
#include "subnet/static.h"

/* The ports that are in a multicast group. */
struct group {
	u32 n, room;
	struct member {
		struct fab_port *port;
		u32 joins;
	} member[];
};

/* Most entries of the arrays are zero and never touched, so they use no memory. */
struct subnet {
	struct fabric *fabric;
	bool begun;				/* ports are plugged in: switches are set up, and */
	struct routes routes;			/* routes computed, in a topology */
	struct fab_port *owner[LID_LAST + 1];	/* of each LID */
	struct group *group[MLID_LAST - MLID_FIRST + 1];
};

/* ------------------------------------------------------------------------
 * Linear forwarding tables
 */

/* Writes where each switch sends a LID: to the port, or nowhere. */
static void write_lid(struct subnet *s, u16 lid, const struct fab_port *port)
{
	const struct topo *t = fab_topology(s->fabric);

	for (u32 sw = 0; sw < fab_switches(s->fabric); sw++) {
		u32 to = 0;

		if (port)
			to = t ? routes_port(&s->routes, sw, fab_port_end(port)) : port->at;
		fab_switch_set_port(s->fabric, sw, lid, to);
	}
}

/* LIDs of switches count down from the last one. */
static u16 lid_of_switch(u32 sw)
{
	return LID_SWITCH - sw;
}

static bool is_of_switch(const struct subnet *s, u16 lid)
{
	return lid > lid_of_switch(fab_switches(s->fabric)) && lid <= LID_SWITCH;
}

/* The routes to the switches themselves. */
static void write_switches(struct subnet *s)
{
	const struct topo *t = fab_topology(s->fabric);
	u32 nsw = fab_switches(s->fabric);
	u8 port[TOPO_MAX_SWITCHES] = { 0 };

	for (u32 to = 0; to < nsw; to++) {
		if (t)
			routes_to_switch(t, to, port);
		for (u32 sw = 0; sw < nsw; sw++)
			fab_switch_set_port(s->fabric, sw, lid_of_switch(to), port[sw]);
	}
}

static void set_up_switches(struct subnet *s)
{
	for (u32 sw = 0; sw < fab_switches(s->fabric); sw++) {
		struct port *ib = fab_switch_ib(s->fabric, sw, 0);

		port_set_lid(ib, lid_of_switch(sw), 0);
		port_set_sm(ib, LID_SWITCH, 0);
	}
	write_switches(s);
	s->begun = true;
}

static void give_lid(struct subnet *s, struct fab_port *port, u16 lid)
{
	s->owner[lid] = port;
	write_lid(s, lid, port);
}

static void take_lid(struct subnet *s, struct fab_port *port)
{
	s->owner[port->ib.lid] = NULL;
	write_lid(s, port->ib.lid, NULL);
}

/* ------------------------------------------------------------------------
 * Multicast forwarding tables
 */
static void write_group(struct subnet *s, u16 mlid)
{
	const struct group *g = s->group[mlid - MLID_FIRST];
	const struct topo *t = fab_topology(s->fabric);
	struct port_mask mask[TOPO_MAX_SWITCHES] = { 0 };
	u32 nsw = fab_switches(s->fabric);

	for (u32 i = 0; g && i < g->n; i++) {
		const struct fab_port *port = g->member[i].port;
		u32 at = port->at, sw = t ? topo_end_switch(t, fab_port_end(port), &at) : 0;

		port_mask_set(&mask[sw], at);
	}
	if (t)
		routes_tree(t, mlid % nsw, mask);
	for (u32 sw = 0; sw < nsw; sw++)
		fab_switch_set_mask(s->fabric, sw, mlid, &mask[sw]);
}

static struct member *find_member(struct group *g, const struct fab_port *port)
{
	for (u32 i = 0; g && i < g->n; i++)
		if (g->member[i].port == port)
			return &g->member[i];
	return NULL;
}

/* A group with room for one more; NULL without memory. */
static struct group *grow(struct group *g)
{
	u32 room = g ? 2 * g->room : 2;
	struct group *bigger;

	if (g && g->n < g->room)
		return g;
	bigger = realloc(g, sizeof(*g) + room * sizeof(g->member[0]));
	if (!bigger)
		return NULL;
	if (!g)
		bigger->n = 0;
	bigger->room = room;
	return bigger;
}

static int on_join(void *subnet, struct fab_port *port, u16 mlid)
{
	struct subnet *s = subnet;
	struct group **slot = &s->group[mlid - MLID_FIRST], *g;
	struct member *m = find_member(*slot, port);

	if (m) {
		m->joins++;
		return 0;
	}
	g = grow(*slot);
	if (!g)
		return -ENOMEM;
	*slot = g;
	g->member[g->n++] = (struct member){ .port = port, .joins = 1 };
	write_group(s, mlid);
	return 0;
}

static void on_leave(void *subnet, struct fab_port *port, u16 mlid)
{
	struct subnet *s = subnet;
	struct group **slot = &s->group[mlid - MLID_FIRST], *g = *slot;
	struct member *m = find_member(g, port);

	if (--m->joins)
		return;
	g->n--;
	memmove(m, m + 1, (g->member + g->n - m) * sizeof(*m));
	/* a group without ports does not exist */
	if (!g->n) {
		free(g);
		*slot = NULL;
	}
	write_group(s, mlid);
}

/* ------------------------------------------------------------------------
 * Calls from the fabric
 */
static int on_plug(void *subnet, struct fab_port *port)
{
	struct subnet *s = subnet;
	const struct topo *t = fab_topology(s->fabric);
	u32 lid = 1;

	if (t && !s->routes.next && routes_init(&s->routes, t))
		return -ENOMEM;
	if (!s->begun)
		set_up_switches(s);
	while (!is_of_switch(s, lid) && s->owner[lid])
		lid++;
	if (is_of_switch(s, lid))
		return -ENOSPC;
	port_set_sm(&port->ib, LID_SWITCH, 0);
	port_set_lid(&port->ib, lid, 0);
	give_lid(s, port, lid);
	return 0;
}

static void on_unplug(void *subnet, struct fab_port *port)
{
	take_lid(subnet, port);
}

static void on_link_up(void *subnet, struct port *ib)
{
	port_set_state(ib, PORT_ARMED);
	port_set_state(ib, PORT_ACTIVE);
}

static bool on_heard(const void *subnet, const struct fab_port *from, u16 dlid)
{
	const struct subnet *s = subnet;
	const struct fab_port *to;
	const struct group *g;

	if (lid_is_mcast(dlid)) {
		g = s->group[dlid - MLID_FIRST];
		return g && (g->n > 1 || g->member[0].port != from);
	}
	if (is_of_switch(s, dlid))
		return true;
	to = dlid <= LID_LAST ? s->owner[dlid] : NULL;
	return to && to != from && to->ib.state == PORT_ACTIVE;
}

static int on_reroute(void *subnet)
{
	struct subnet *s = subnet;
	int lost, err;

	/* routes are computed when the first port is plugged in */
	err = s->routes.next ? 0 : routes_init(&s->routes, fab_topology(s->fabric));
	if (err)
		return err;
	lost = routes_renew(&s->routes);
	write_switches(s);
	for (u32 lid = 1; lid <= LID_LAST; lid++)
		if (s->owner[lid])
			write_lid(s, lid, s->owner[lid]);
	for (u32 i = 0; i < ARRAY_SIZE(s->group); i++)
		if (s->group[i])
			write_group(s, MLID_FIRST + i);
	return lost;
}

static void on_free(void *subnet)
{
	struct subnet *s = subnet;

	routes_free(&s->routes);
	for (u32 i = 0; i < ARRAY_SIZE(s->group); i++)
		free(s->group[i]);
	free(s);
}

static const struct fab_subnet_ops static_ops = {
	.plug = on_plug,
	.unplug = on_unplug,
	.link_up = on_link_up,
	.join = on_join,
	.leave = on_leave,
	.heard = on_heard,
	.reroute = on_reroute,
	.free = on_free,
};

int subnet_static(struct fabric *f)
{
	struct subnet *s = calloc(1, sizeof(*s));

	if (!s)
		return -ENOMEM;
	s->fabric = f;
	fabric_set_subnet(f, &static_ops, s);
	return 0;
}

bool subnet_is_static(const struct fabric *f)
{
	return fab_subnet(f, &static_ops);
}

void subnet_static_yield(struct fabric *f)
{
	if (!subnet_is_static(f))
		return;
	log_line("a subnet manager has come: the static subnet ends");
	on_free(fab_subnet(f, &static_ops));
	fabric_set_subnet(f, NULL, NULL);
}

/* ------------------------------------------------------------------------
 * For operators
 */
bool subnet_check_routes(const struct topo *t, char *why, size_t room)
{
	struct routes r;
	bool ok;

	if (routes_init(&r, t)) {
		snprintf(why, room, "no memory");
		return false;
	}
	ok = routes_check(&r, why, room);
	routes_free(&r);
	return ok;
}

/* Makes the tables lead to another LID of a port, which itself still has the old one. */
static int move_lid(struct subnet *s, struct fab_port *port, u16 lid)
{
	if (is_of_switch(s, lid) || (s->owner[lid] && s->owner[lid] != port))
		return -EBUSY;
	take_lid(s, port);
	give_lid(s, port, lid);
	return 0;
}

int subnet_set_lid(struct fab_port *port, u16 lid)
{
	int err = move_lid(fab_subnet(port->fabric, &static_ops), port, lid);

	if (!err)
		port_set_lid(&port->ib, lid, 0);
	return err;
}

const char *subnet_set_addrs(struct fab_port *port, const struct port_addrs *a, bool reregister)
{
	struct subnet *s = fab_subnet(port->fabric, &static_ops);
	const char *why;

	if (!s)
		return "the subnet is not a static one";
	why = port_addrs_wrong(a);
	if (why)
		return why;
	if (move_lid(s, port, a->lid))
		return "another port has this LID";
	port_set_addrs(&port->ib, a, reregister);
	return NULL;
}
