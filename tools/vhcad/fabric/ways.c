// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Forwarding tables: the shortest ways to ports, and a tree for each multicast LID, over links
 * that are up.
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

			if (!in->from || !pipe_open(in) || in->from == root ||
			    back[in->from->no] != NO_PORT)
				continue;
			back[in->from->no] = in->out_no;
			order[n++] = in->from;
		}
	}
	return n;
}

/* @given: by the links that were given, where they are up */
static void find_to(struct topo *t, u32 e, bool given)
{
	struct topo_sw *order[TOPO_MAX_SWITCHES];
	struct topo_end *end = t->end[e];
	u8 back[TOPO_MAX_SWITCHES];

	spread(t, end->sw, order, back);
	for (u32 i = 0; i < t->nsw; i++) {
		struct topo_sw *sw = t->sw[i];
		u8 by = sw->given[e];

		if (sw == end->sw)
			sw->next[e] = end->out->in_no;
		else if (given && by != NO_PORT && back[i] != NO_PORT && pipe_open(sw->out[by]))
			sw->next[e] = by;
		else
			sw->next[e] = back[i];
	}
}

void ways_find(struct topo *t)
{
	for (u32 e = 0; e < t->nends; e++)
		find_to(t, e, true);
}

/*
 * Follows a packet from a switch.  Where it does not arrive it has made more hops than there
 * are switches, if it goes round for ever.
 */
static bool arrives(const struct topo *t, const struct topo_sw *sw, u32 e, u32 *hops)
{
	for (*hops = 0; sw && sw->next[e] != NO_PORT && *hops <= t->nsw; ++*hops)
		sw = sw->out[sw->next[e]]->to;
	return !sw;
}

/* Whoever has a way to the port has one that ends there. */
static bool ways_end(const struct topo *t, u32 e)
{
	u32 hops;

	for (u32 i = 0; i < t->nsw; i++)
		if (t->sw[i]->next[e] != NO_PORT && !arrives(t, t->sw[i], e, &hops))
			return false;
	return true;
}

static bool reached_by_all(const struct topo *t, u32 e)
{
	for (u32 i = 0; i < t->nsw; i++)
		if (t->sw[i]->next[e] == NO_PORT)
			return false;
	return true;
}

u32 ways_renew(struct topo *t)
{
	u32 lost = 0;

	for (u32 e = 0; e < t->nends; e++) {
		find_to(t, e, true);
		/* what was given fits the links that are there no more */
		if (!ways_end(t, e))
			find_to(t, e, false);
		lost += !reached_by_all(t, e);
	}
	return lost;
}

bool ways_check(const struct topo *t, char *why, size_t room)
{
	u32 hops;

	for (u32 i = 0; i < t->nsw; i++) {
		for (u32 e = 0; e < t->nends; e++) {
			if (arrives(t, t->sw[i], e, &hops))
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

/* The tree of the switches of one root, in order of their distance from it. */
static void grow_tree(struct topo_sw *const *order, u32 n, const u8 *back, u32 *members, u64 *mask)
{
	u32 all = 0;

	for (u32 i = 0; i < n; i++)
		all += members[order[i]->no];
	/* from the leaves to the root: each tells the one before it, and asks it for the rest */
	while (--n) {
		u32 no = order[n]->no;
		const struct fab_pipe *up = order[n]->out[back[no]];

		members[up->to->no] += members[no];
		if (members[no])
			mask[up->to->no] |= 1ull << up->in_no;
		if (members[no] < all)
			mask[no] |= 1ull << back[no];
	}
}

void ways_mcast(const struct topo *t, const struct fab_group *g, u16 mlid, u64 *mask)
{
	struct topo_sw *order[TOPO_MAX_SWITCHES];
	u32 members[TOPO_MAX_SWITCHES] = { 0 };	/* there and behind it */
	bool done[TOPO_MAX_SWITCHES] = { 0 };
	u8 back[TOPO_MAX_SWITCHES];

	memset(mask, 0, t->nsw * sizeof(*mask));
	for (u32 i = 0; i < g->n; i++) {
		const struct topo_end *end = g->member[i].port->end;

		members[end->sw->no]++;
		mask[end->sw->no] |= 1ull << end->out->in_no;
	}
	/* a tree for every part that links which are down have left */
	for (u32 i = 0; i < t->nsw; i++) {
		struct topo_sw *root = t->sw[(mlid + i) % t->nsw];
		u32 n;

		if (done[root->no])
			continue;
		n = spread(t, root, order, back);
		for (u32 k = 0; k < n; k++)
			done[order[k]->no] = true;
		grow_tree(order, n, back, members, mask);
	}
}
