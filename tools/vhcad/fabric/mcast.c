// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Multicast: which ports hear which multicast LID, and the copies they get.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"
#include "fabric/topo.h"

static struct fab_group **group_of(struct fabric *f, u16 mlid)
{
	return &f->group[mlid - MLID_FIRST];
}

static struct fab_member *find_member(struct fab_group *g, const struct fab_port *port)
{
	for (u32 i = 0; g && i < g->n; i++)
		if (g->member[i].port == port)
			return &g->member[i];
	return NULL;
}

/* A group with room for one more; NULL without memory. */
static struct fab_group *grow(struct fab_group *g)
{
	u32 room = g ? 2 * g->room : 2;
	struct fab_group *bigger;

	if (g && g->n < g->room)
		return g;
	bigger = realloc(g, sizeof(*g) + room * sizeof(g->member[0]));
	if (!bigger)
		return NULL;
	if (!g) {
		bigger->n = 0;
		bigger->ways = NULL;
	}
	bigger->room = room;
	return bigger;
}

/* A group without ports is none. */
static void end_empty(struct fab_group **slot)
{
	struct fab_group *g = *slot;

	if (g->n)
		return;
	free(g->ways);
	free(g);
	*slot = NULL;
}

/* A group has one port more or less than it had. */
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

int fab_mc_join(struct fab_port *port, u16 mlid)
{
	struct fabric *f = port->fabric;
	struct fab_group **slot = group_of(f, mlid), *g;
	struct fab_member *m = find_member(*slot, port);

	if (m) {
		m->joins++;
		return 0;
	}
	g = grow(*slot);
	if (!g)
		return -ENOMEM;
	*slot = g;
	if (f->topo && !g->ways) {
		g->ways = calloc(TOPO_MAX_SWITCHES, sizeof(*g->ways));
		if (!g->ways) {
			end_empty(slot);
			return -ENOMEM;
		}
	}
	g->member[g->n++] = (struct fab_member){ .port = port, .joins = 1,
						 .number = ++f->last_member };
	count_width(f, g->n - 1, g->n);
	if (f->topo)
		ways_mcast(f->topo, g, mlid, g->ways);
	return 0;
}

void fab_mc_leave(struct fab_port *port, u16 mlid)
{
	struct fab_group **slot = group_of(port->fabric, mlid), *g = *slot;
	struct fab_member *m = find_member(g, port);

	if (--m->joins)
		return;
	g->n--;
	count_width(port->fabric, g->n + 1, g->n);
	memmove(m, m + 1, (g->member + g->n - m) * sizeof(*m));
	if (g->n && port->fabric->topo)
		ways_mcast(port->fabric->topo, g, mlid, g->ways);
	end_empty(slot);
}

/* Links between switches have come or gone. */
void fab_mc_reroute(struct fabric *f)
{
	for (u32 i = 0; i < ARRAY_SIZE(f->group); i++)
		if (f->group[i])
			ways_mcast(f->topo, f->group[i], MLID_FIRST + i, f->group[i]->ways);
}

static void hand_over(struct fab_port *from, struct fab_port *to, struct datagram *d, u64 bytes)
{
	if (fab_queues(from->fabric)) {
		fab_queue_run(from, to, d->run);
		datagram_copied(d);
		return;
	}
	if (!d->at) {
		to->rx_packets += d->run->npkts;
		to->rx_bytes += bytes;
		to->rx_mcast += d->run->npkts;
	}
	to->ops->rx_mcast(to, d);
}

/* Is it among those that hear this, and somebody else too? */
static bool others_hear(const struct fab_group *g, const struct fab_port *from)
{
	return g && (g->n > 1 || (g->n && g->member[0].port != from));
}

/*
 * Every member port gets it.  To the sender's own it does not come over the
 * cable: the adapter gives it to its QPs itself, so nobody can lose it.
 */
bool fab_forward_mcast(struct fab_port *from, const struct run *run, u64 bytes,
		       struct fab_cursor *c, u32 *budget)
{
	const struct fab_group *g = *group_of(from->fabric, run->h.dlid);
	struct datagram d;

	if (!g && !(c && c->going))
		fab_discard(from, run);
	datagram_init(&d, run);
	d.bytes = budget;
	for (u32 i = 0; g && i < g->n; i++) {
		struct fab_port *to = g->member[i].port;
		u64 number = g->member[i].number;

		if (c && number < c->member)
			continue;
		/* the first one is never made to wait */
		if (c && number != c->member && datagram_pause(&d, 0)) {
			*c = (struct fab_cursor){ .going = true, .member = number };
			return false;
		}
		d.at = c && number == c->member ? c->at : 0;
		if (to == from)
			to->ops->rx_mcast(to, &d);
		else if (!from->fabric->topo && to->state == PORT_ACTIVE)
			hand_over(from, to, &d, bytes);
		if (run->pl && run->pl->fault)
			return true;
		if (c && d.more) {
			*c = (struct fab_cursor){ .going = true, .member = number, .at = d.at };
			return false;
		}
	}
	/* once, whoever hears it: switches make the copies */
	if (from->fabric->topo && others_hear(g, from))
		topo_send(from, run);
	return true;
}
