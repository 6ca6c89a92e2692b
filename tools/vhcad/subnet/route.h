/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Routes over a topology: from each switch to each adapter's port, and trees for groups.
 */
#ifndef VHCAD_SUBNET_ROUTE_H
#define VHCAD_SUBNET_ROUTE_H

#include "fabric/switch.h"
#include "fabric/topo.h"

/**
 * struct routes - by which port each switch sends to each end
 * @t: topology
 * @next: by switch, then by end; 0: the end is not reached
 */
struct routes {
	const struct topo *t;
	u32 nsw, nends;
	u8 *next;
};

/** routes_init() - compute routes, by topo_route() where it was called; 0 or -ENOMEM */
int routes_init(struct routes *r, const struct topo *t);

void routes_free(struct routes *r);

/** routes_port() - the port by which a switch sends to an end; 0: there is no route */
u32 routes_port(const struct routes *r, u32 sw, u32 end);

/**
 * routes_to_switch() - the port by which each switch sends to one of them, over links that are up
 * @t: topology
 * @to: that one
 * @port: TOPO_MAX_SWITCHES bytes; receives 0 for the switch itself and those that do not reach it
 */
void routes_to_switch(const struct topo *t, u32 to, u8 *port);

/**
 * routes_renew() - compute routes again over the links that are up
 * @r: routes
 *
 * Routes of topo_route() are ignored for an end to which they do not lead.  Returns how many ends
 * some switch does not reach.
 */
u32 routes_renew(struct routes *r);

/** routes_check() - does every packet arrive?  Returns false after saying why not */
bool routes_check(const struct routes *r, char *why, size_t room);

/**
 * routes_tree() - where switches send a multicast, so that it comes once to every member
 * @t: topology
 * @root: where to look for roots: in each connected part of the topology the root is the first
 *	switch from this one on.  So another root gives other trees
 * @mask: a set for each switch, which has its members' ports; receives the tree's ports as well
 */
void routes_tree(const struct topo *t, u32 root, struct port_mask *mask);

#endif /* VHCAD_SUBNET_ROUTE_H */
