// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The shortest routes to ports, and a tree for each multicast LID, over links that are up.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "subnet/route.h"

static u8 *next_of(const struct routes *r, u32 sw, u32 end)
{
	return &r->next[sw * r->nends + end];
}

u32 routes_port(const struct routes *r, u32 sw, u32 end)
{
	return *next_of(r, sw, end);
}

/*
 * The switches in the order of their distance from one of them.  @back is the port of each that
 * leads towards that one, or 0.  Of several routes of equal length the one is taken that begins at
 * the lowest port of the nearer switch.  Returns the number of switches reached.
 */
static u32 spread(const struct topo *t, u32 root, u32 *order, u8 *back)
{
	struct topo_far far;
	u32 n = 1;

	memset(back, 0, TOPO_MAX_SWITCHES);
	order[0] = root;
	for (u32 i = 0; i < n; i++) {
		for (u32 port = 1; topo_far(t, order[i], port, &far); port++) {
			if (!far.is_switch || !far.open || far.no == root || back[far.no])
				continue;
			back[far.no] = far.port;
			order[n++] = far.no;
		}
	}
	return n;
}

/* @by_hand: by the links that topo_route() has set, if they are up. */
static void find_to(struct routes *r, u32 end, bool by_hand)
{
	u32 order[TOPO_MAX_SWITCHES], port, home = topo_end_switch(r->t, end, &port);
	u8 back[TOPO_MAX_SWITCHES];
	struct topo_far far;

	spread(r->t, home, order, back);
	for (u32 sw = 0; sw < r->nsw; sw++) {
		u32 given = by_hand && back[sw] ? topo_by_hand(r->t, sw, end) : 0;

		if (sw == home)
			*next_of(r, sw, end) = port;
		else if (given && topo_far(r->t, sw, given, &far) && far.open)
			*next_of(r, sw, end) = given;
		else
			*next_of(r, sw, end) = back[sw];
	}
}

void routes_to_switch(const struct topo *t, u32 to, u8 *port)
{
	u32 order[TOPO_MAX_SWITCHES];

	spread(t, to, order, port);
}

int routes_init(struct routes *r, const struct topo *t)
{
	r->t = t;
	r->nsw = topo_switches(t);
	for (r->nends = 0; topo_end(t, r->nends); r->nends++)
		;
	/* one more, for a topology without ends: NULL must mean that there is no memory */
	r->next = calloc(r->nsw, r->nends + 1);
	if (!r->next)
		return -ENOMEM;
	for (u32 end = 0; end < r->nends; end++)
		find_to(r, end, true);
	return 0;
}

void routes_free(struct routes *r)
{
	free(r->next);
}

/*
 * Follows a packet from a switch.  If it has made more hops than there are switches, its route is a
 * loop.
 */
static bool arrives(const struct routes *r, u32 sw, u32 end, u32 *hops)
{
	struct topo_far far;

	for (*hops = 0; *hops <= r->nsw; ++*hops) {
		if (!topo_far(r->t, sw, routes_port(r, sw, end), &far))
			return false;
		if (!far.is_switch)
			return true;
		sw = far.no;
	}
	return false;
}

/* Does every switch that has a route to the end have one that arrives there? */
static bool all_end(const struct routes *r, u32 end)
{
	u32 hops;

	for (u32 sw = 0; sw < r->nsw; sw++)
		if (routes_port(r, sw, end) && !arrives(r, sw, end, &hops))
			return false;
	return true;
}

static bool reached_by_all(const struct routes *r, u32 end)
{
	for (u32 sw = 0; sw < r->nsw; sw++)
		if (!routes_port(r, sw, end))
			return false;
	return true;
}

u32 routes_renew(struct routes *r)
{
	u32 lost = 0;

	for (u32 end = 0; end < r->nends; end++) {
		find_to(r, end, true);
		/* the routes of topo_route() may lead over links that are down */
		if (!all_end(r, end))
			find_to(r, end, false);
		lost += !reached_by_all(r, end);
	}
	return lost;
}

bool routes_check(const struct routes *r, char *why, size_t room)
{
	u32 hops;

	for (u32 sw = 0; sw < r->nsw; sw++) {
		for (u32 end = 0; end < r->nends; end++) {
			if (arrives(r, sw, end, &hops))
				continue;
			if (hops > r->nsw)
				snprintf(why, room, "routes from '%s' to '%s' go round for ever",
					 topo_switch_name(r->t, sw), topo_end(r->t, end));
			else
				snprintf(why, room, "no way leads from '%s' to '%s'",
					 topo_switch_name(r->t, sw), topo_end(r->t, end));
			return false;
		}
	}
	return true;
}

static u32 count(const struct port_mask *m)
{
	u32 n = 0;

	for (u32 i = 0; i < ARRAY_SIZE(m->word); i++)
		n += __builtin_popcountll(m->word[i]);
	return n;
}

/* The tree of the switches of one root, in order of their distance from it. */
static void grow_tree(const struct topo *t, const u32 *order, u32 n, const u8 *back,
		      struct port_mask *mask)
{
	u32 members[TOPO_MAX_SWITCHES], all = 0;	/* at each switch and behind it */

	for (u32 i = 0; i < n; i++) {
		members[order[i]] = count(&mask[order[i]]);
		all += members[order[i]];
	}
	/* from the leaves to the root: each adds its members to those of the switch before it */
	while (--n) {
		u32 sw = order[n];
		struct topo_far up;

		topo_far(t, sw, back[sw], &up);
		members[up.no] += members[sw];
		if (members[sw])
			port_mask_set(&mask[up.no], up.port);
		if (members[sw] < all)
			port_mask_set(&mask[sw], back[sw]);
	}
}

void routes_tree(const struct topo *t, u32 root, struct port_mask *mask)
{
	u32 order[TOPO_MAX_SWITCHES], nsw = topo_switches(t);
	bool done[TOPO_MAX_SWITCHES] = { 0 };
	u8 back[TOPO_MAX_SWITCHES];

	/* a tree for each connected part, as links may be down */
	for (u32 i = 0; i < nsw; i++) {
		u32 sw = (root + i) % nsw, n;

		if (done[sw])
			continue;
		n = spread(t, sw, order, back);
		for (u32 k = 0; k < n; k++)
			done[order[k]] = true;
		grow_tree(t, order, n, back, mask);
	}
}
