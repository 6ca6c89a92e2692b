/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A fabric of several switches, with links that have a rate, a latency and queues.  It is one of
 * InfiniBand or one of Ethernet; a fabric may have one of each.
 *
 * Without one the ports of a fabric share a switch that takes no time.  In a topology a packet to
 * another port travels as bytes, link by link: a switch stores all of a packet before it forwards
 * it, and a link takes a packet when its far end has room for it, so that congestion loses nothing:
 * packets behind wait, back to the sender.
 *
 * A topology is made, described and finished before it is given to a fabric.  Functions that return
 * what is wrong return NULL if nothing is.  Everything about a topology that a fabric has runs
 * under the engine's lock.
 */
#ifndef VHCAD_FABRIC_TOPO_H
#define VHCAD_FABRIC_TOPO_H

#include "fabric/rate.h"
#include "lib/types.h"

struct fabric;
struct topo;
struct fab_link;
struct fab_port;
struct port_mask;

#define TOPO_MAX_SWITCHES	64u
#define TOPO_SWITCH_PORTS	254u
#define TOPO_MAX_LINKS		1024u
#define TOPO_NAME_MAX		48u
#define TOPO_MAX_LATENCY	1000000000u	/* ns */
#define TOPO_MAX_QUEUE		1024u		/* packets */
#define TOPO_MAX_PACKETS	32768u		/* of all queues together */

/* The end of an Ethernet link that leads to the guests' network adapters: fabric_set_ether(). */
#define TOPO_OUTSIDE		"ethernet"

/* PortInfo:HOQLife: 4.096 us times a power of two; larger values mean no limit. */
#define TOPO_HOQ_LAST		19u
#define TOPO_HOQ_MOST		31u
#define TOPO_HOQ_USUAL		18u		/* about a second */

/**
 * struct topo_link - description of a link
 * @name: name of the link
 * @end: a switch's name, and for the second end also that of an adapter's port, "hca0:1", or
 *	TOPO_OUTSIDE
 * @rate: in both directions
 * @latency: ns from one end to the other
 * @queue: packets that fit at each end
 */
struct topo_link {
	char name[TOPO_NAME_MAX];
	char end[2][TOPO_NAME_MAX];
	struct fab_rate rate;
	u32 latency;
	u32 queue;
};

/** topo_new() - make a topology without switches, of Ethernet or InfiniBand; NULL without memory */
struct topo *topo_new(bool ethernet);

/** topo_free() - free a topology that no fabric has; NULL is allowed */
void topo_free(struct topo *t);

/**
 * topo_switch() - add a switch
 * @t: topology
 * @name: its name
 * @hoq_life: how long a packet waits as the first of a queue before it is lost, as PortInfo has it
 */
const char *topo_switch(struct topo *t, const char *name, u32 hoq_life);

/** topo_switch_guid() - give the switch that was added last a GUID, which no other switch has */
const char *topo_switch_guid(struct topo *t, u64 guid);

/** topo_link() - add a link, between switches that were added before */
const char *topo_link(struct topo *t, const struct topo_link *l);

/**
 * topo_route() - say which link a switch takes to reach a port
 * @t: topology with all links
 * @sw: name of a switch that was added before
 * @end: the port
 * @link: name of the link
 *
 * Ports without such a statement are reached by the fewest links.
 */
const char *topo_route(struct topo *t, const char *sw, const char *end, const char *link);

/** topo_has_switch() - is there a switch of this name? */
bool topo_has_switch(const struct topo *t, const char *name);

/** topo_has_link() - is there a link of this name? */
bool topo_has_link(const struct topo *t, const char *name);

/** topo_has_end() - has the adapter's port of this name a link? */
bool topo_has_end(const struct topo *t, const char *name);

/**
 * topo_set_writer() - set the function that writes the tables of Ethernet switches
 * @t: topology of Ethernet
 * @write: writes all of them, by topo_set_way() and topo_set_tree(), for the links that are up.
 *	Called before a switch uses them when links between switches have come up or gone down.
 *	Returns how many ends some switch does not reach, or -ENOMEM
 */
void topo_set_writer(struct topo *t, int (*write)(struct topo *t));

/** topo_set_way() - set the port by which an Ethernet switch sends to an end; 0: it has no route */
void topo_set_way(struct topo *t, u32 sw, u32 end, u8 port);

/** topo_set_tree() - set the ports by which an Ethernet switch sends and takes multicasts */
void topo_set_tree(struct topo *t, u32 sw, const struct port_mask *ports);

/**
 * topo_check() - check the complete description
 * @t: topology
 * @why: receives what is wrong
 * @room: of @why
 *
 * Whether every packet would arrive is checked by subnet_check_routes().  Returns false if
 * something is wrong.
 */
bool topo_check(const struct topo *t, char *why, size_t room);

/** topo_finish() - make the queues of a completely described topology; 0 or -ENOMEM */
int topo_finish(struct topo *t);

/** topo_end() - the name of the n-th adapter's port that has a link; NULL: there are n or fewer */
const char *topo_end(const struct topo *t, u32 n);

/** topo_switches() - how many switches there are */
u32 topo_switches(const struct topo *t);

/** topo_switch_name() - the name of a switch */
const char *topo_switch_name(const struct topo *t, u32 sw);

/** topo_end_switch() - the switch that an adapter's port is linked to; @port: its port there */
u32 topo_end_switch(const struct topo *t, u32 end, u32 *port);

/** topo_by_hand() - the port that topo_route() has set for a switch and an end; 0: none */
u32 topo_by_hand(const struct topo *t, u32 sw, u32 end);

/**
 * struct topo_far - what is at the far end of a switch's link
 * @is_switch: a switch; else an adapter's port
 * @no: number of the switch, or of the adapter's port as topo_end() has it
 * @port: port of the switch
 * @open: the link takes packets
 */
struct topo_far {
	bool is_switch;
	u32 no;
	u32 port;
	bool open;
};

/** topo_far() - fill in @far for port @port, from 1; false: the switch has no such port */
bool topo_far(const struct topo *t, u32 sw, u32 port, struct topo_far *far);

/**
 * fabric_set_topology() - let a fabric have these switches and links
 * @f: fabric without ports, and without a topology of this kind
 * @t: finished topology, which the fabric owns from now on
 *
 * Ports of its link layer that have no link in it cannot be plugged in.
 */
void fabric_set_topology(struct fabric *f, struct topo *t);

/** fab_topology() - a fabric's topology of InfiniBand, or NULL */
const struct topo *fab_topology(const struct fabric *f);

/** fab_port_end() - the number of a port that is plugged in, as topo_end() has it */
u32 fab_port_end(const struct fab_port *port);

/* Counters of one direction of a link. */
struct fab_link_count {
	u64 packets, bytes;	/* sent */
	u64 mcast;		/* multicasts among those sent */
	u64 arrived, arrived_bytes, arrived_mcast;
	u64 wait;		/* ns in which there was something to send, and no room for it */
	u64 lost;		/* of those sent: links that went down, faults */
	u64 bad;		/* arrived corrupted at a switch */
	u64 discards;		/* for this link, and never sent: no route, down, waited too long */
	u64 vl15_dropped;	/* of VL15, for which there was no room */
};

/**
 * struct fab_link_state - state of a link
 * @l: description
 * @up: in use
 * @queued: packets on their way and waiting at the far end, by direction
 * @count: counters, from @l.end[0] to the other and back
 */
struct fab_link_state {
	struct topo_link l;
	bool up;
	u32 queued[2];
	struct fab_link_count count[2];
};

/**
 * struct fab_switch_state - state of a switch
 * @name: its name
 * @ethernet: an Ethernet switch, not an InfiniBand one
 * @hoq_life: as topo_switch() was given it
 * @ports: number of ports
 * @link: number of the link at each port; ports count from 1, the array from 0
 * @no_way: packets to LIDs of no port, and to groups without members
 */
struct fab_switch_state {
	const char *name;
	bool ethernet;
	u32 hoq_life;
	u32 ports;
	u32 link[TOPO_SWITCH_PORTS];
	u64 no_way;
};

/** fab_has_topology() - has the fabric a topology, of either link layer? */
bool fab_has_topology(const struct fabric *f);

/** fab_link_find() - number of the link of that name; -1: there is none */
int fab_link_find(const struct fabric *f, const char *name);

/** fab_link_at() - the n-th link, for faults */
struct fab_link *fab_link_at(struct fabric *f, u32 n);

/** fab_link_state() - the n-th link; false: there are n or fewer */
bool fab_link_state(const struct fabric *f, u32 n, struct fab_link_state *s);

/**
 * fab_switch_state() - the n-th switch; false: there are n or fewer
 *
 * Those of Ethernet come behind those of InfiniBand, which are numbered as in fabric/switch.h.
 */
bool fab_switch_state(const struct fabric *f, u32 n, struct fab_switch_state *s);

/**
 * fab_eth_ways() - by which ports an Ethernet switch sends to an end
 * @f: fabric
 * @n: the switch, as fab_switch_state() has it
 * @end: the end's number; the number after the last one stands for multicasts
 * @ports: receives the ports by which the switch sends it
 *
 * Returns the end's name; NULL: there are no more.
 */
const char *fab_eth_ways(struct fabric *f, u32 n, u32 end, struct port_mask *ports);

/** fab_switch_find() - number of the switch of that name; -1: there is none */
int fab_switch_find(const struct fabric *f, const char *name);

/** fab_port_has_link() - has an adapter's port a link of a topology? */
bool fab_port_has_link(const struct fab_port *port);

/** fab_port_link() - number of the link of an adapter's port that has one */
u32 fab_port_link(const struct fab_port *port);

/** fab_link_is_between() - is the link between switches, or to network adapters outside? */
bool fab_link_is_between(const struct fabric *f, u32 n);

/**
 * fab_link_up() - bring a link of fab_link_is_between() up, or take it down
 *
 * Packets on it are lost, and so are those that would take it.
 */
void fab_link_up(struct fabric *f, u32 n, bool up);

/**
 * fab_reroute() - have the subnet manager of InfiniBand compute routes over the links that are up
 *
 * Routes of topology files are kept where they still lead to the port.  Ethernet switches, which
 * have rerouted by themselves already, do so once more.  Returns how many ports some switch does
 * not reach, without those of a subnet that has no manager; or -ENOMEM.
 */
int fab_reroute(struct fabric *f);

/** fab_link_rate() - change the rate, from the next packet on */
void fab_link_rate(struct fabric *f, u32 n, const struct fab_rate *rate);

/** fab_link_latency() - change the latency, ns, from the next packet on; packets stay in order */
void fab_link_latency(struct fabric *f, u32 n, u32 latency);

#endif /* VHCAD_FABRIC_TOPO_H */
