// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Forwarding tables: the shortest ways to ports, and a tree for each multicast LID.
 */
#include <stdio.h>
#include <string.h>

#include "fabric/pipe.h"

/*
 * The switches in the order of their distance from one of them; @back is the port of each
 * that leads towards it.  Of several ways of one length it is the first port's.
 */
static u32 spread(const struct topo *t, struct topo_sw *root, struct topo_sw **order, u8 *back)
{
	u32 n = 1;

	memset(back, NO_PORT, TOPO_MAX_SWITCHES);
	order[0] = root;
	for (u32 i = 0; i < n; i++) {
		for (u32 p = 0; p < order[i]->nports; p++) {
			const struct fab_pipe *in = order[i]->in[p];

			if (!in->from || in->from == root || back[in->from->no] != NO_PORT)
				continue;
			back[in->from->no] = in->out_no;
			order[n++] = in->from;
		}
	}
	return n;
}

void ways_find(struct topo *t)
{
	struct topo_sw *order[TOPO_MAX_SWITCHES];
	u8 back[TOPO_MAX_SWITCHES];

	for (u32 e = 0; e < t->nends; e++) {
		struct topo_end *end = t->end[e];

		spread(t, end->sw, order, back);
		for (u32 i = 0; i < t->nsw; i++) {
			struct topo_sw *sw = t->sw[i];

			if (sw == end->sw)
				sw->next[e] = end->out->in_no;
			else if (sw->next[e] == NO_PORT)
				sw->next[e] = back[i];
		}
	}
}

bool ways_check(const struct topo *t, char *why, size_t room)
{
	for (u32 i = 0; i < t->nsw; i++) {
		for (u32 e = 0; e < t->nends; e++) {
			const struct topo_sw *sw = t->sw[i];
			u32 hops = 0;

			while (sw && sw->next[e] != NO_PORT && hops++ <= t->nsw)
				sw = sw->out[sw->next[e]]->to;
			if (!sw)
				continue;
			if (hops > t->nsw)
				snprintf(why, room, "routes from '%s' to '%s' go round for ever",
					 t->sw[i]->name, t->end[e]->name);
			else
				snprintf(why, room, "no way leads from '%s' to '%s'",
					 t->sw[i]->name, t->end[e]->name);
			return false;
		}
	}
	return true;
}

void ways_mcast(const struct topo *t, const struct fab_group *g, u16 mlid, u64 *mask)
{
	struct topo_sw *order[TOPO_MAX_SWITCHES];
	u32 members[TOPO_MAX_SWITCHES] = { 0 };	/* there and behind it */
	u8 back[TOPO_MAX_SWITCHES];
	u32 n;

	n = spread(t, t->sw[mlid % t->nsw], order, back);
	memset(mask, 0, t->nsw * sizeof(*mask));
	for (u32 i = 0; i < g->n; i++) {
		const struct topo_end *end = g->member[i].port->end;

		members[end->sw->no]++;
		mask[end->sw->no] |= 1ull << end->out->in_no;
	}
	/* from the leaves to the root: each tells the one before it, and asks it for the rest */
	while (--n) {
		u32 no = order[n]->no;
		const struct fab_pipe *up = order[n]->out[back[no]];

		members[up->to->no] += members[no];
		if (members[no])
			mask[up->to->no] |= 1ull << up->in_no;
		if (members[no] < g->n)
			mask[no] |= 1ull << back[no];
	}
}
