/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A fabric of several switches, with links that have a rate, a latency and queues.  It is one of
 * InfiniBand or one of Ethernet; a fabric may have one of each.
 *
 * Without one the ports of a fabric share a switch that takes no time.  What goes to another
 * port travels here as bytes, link by link: a switch has all of a packet before it sends it on,
 * and a link takes a packet when its far end has room for it, so that nothing is lost where
 * there is too much: those behind wait, up to the sender.
 *
 * A topology is made, described and finished before it becomes a fabric's.  Functions that say
 * what is wrong answer NULL if nothing is.  Everything about a topology that a fabric has runs
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

/* The end of a link of Ethernet that leads to the guests' network adapters: fabric_set_ether(). */
#define TOPO_OUTSIDE		"ethernet"

/* PortInfo:HOQLife: 4.096 us times a power of two; what is above this is no end. */
#define TOPO_HOQ_LAST		19u
#define TOPO_HOQ_MOST		31u
#define TOPO_HOQ_USUAL		18u		/* about a second */

/**
 * struct topo_link - a link as it is described
 * @name: its own
 * @end: a switch's name, and a switch's, or that of an adapter's port, "hca0:1", or TOPO_OUTSIDE
 * @rate: both ways
 * @latency: ns from one end to the other
 * @queue: packets that wait at each end
 */
struct topo_link {
	char name[TOPO_NAME_MAX];
	char end[2][TOPO_NAME_MAX];
	struct fab_rate rate;
	u32 latency;
	u32 queue;
};

/** topo_new() - one without switches, of Ethernet or of InfiniBand; NULL without memory */
struct topo *topo_new(bool ethernet);

/** topo_free() - one that is no fabric's; or NULL */
void topo_free(struct topo *t);

/**
 * topo_switch() - add a switch
 * @t: topology
 * @name: its name
 * @hoq_life: how long a packet waits as the first of a queue before it is lost, as PortInfo has it
 */
const char *topo_switch(struct topo *t, const char *name, u32 hoq_life);

/** topo_switch_guid() - give the switch that was added last this GUID, which no other has */
const char *topo_switch_guid(struct topo *t, u64 guid);

/** topo_link() - add a link; its switches are there */
const char *topo_link(struct topo *t, const struct topo_link *l);

/**
 * topo_route() - say by which link a switch reaches a port
 * @t: topology with all links
 * @sw: the switch's name; it is there
 * @end: the port
 * @link: name of the link
 *
 * Ports of which nothing is said are reached by the fewest links.
 */
const char *topo_route(struct topo *t, const char *sw, const char *end, const char *link);

/** topo_has_switch() - is there a switch of this name? */
bool topo_has_switch(const struct topo *t, const char *name);

/** topo_has_link() - is there a link of this name? */
bool topo_has_link(const struct topo *t, const char *name);

/** topo_has_end() - has the adapter's port of this name a link? */
bool topo_has_end(const struct topo *t, const char *name);

/**
 * topo_set_writer() - say who writes the tables of switches of Ethernet
 * @t: topology of Ethernet
 * @write: writes all of them, by topo_set_way() and topo_set_tree(), for the links that are up.
 *	Called before a switch looks into them when links between switches have come or gone.
 *	Returns how many ends some switch does not reach, or -ENOMEM
 */
void topo_set_writer(struct topo *t, int (*write)(struct topo *t));

/** topo_set_way() - the port by which a switch of Ethernet sends to an end; 0: it has no way */
void topo_set_way(struct topo *t, u32 sw, u32 end, u8 port);

/** topo_set_tree() - the ports by which a switch of Ethernet sends and takes multicasts */
void topo_set_tree(struct topo *t, u32 sw, const struct port_mask *ports);

/**
 * topo_check() - all is described: look whether it can be
 * @t: topology
 * @why: receives what is wrong
 * @room: of @why
 *
 * Whether every packet would arrive is another question, see subnet_check_routes().  Returns
 * false when something is wrong.
 */
bool topo_check(const struct topo *t, char *why, size_t room);

/** topo_finish() - make the queues of a topology that is all described; 0 or -ENOMEM */
int topo_finish(struct topo *t);

/** topo_end() - the name of the n-th adapter's port that has a link; NULL: there are n or fewer */
const char *topo_end(const struct topo *t, u32 n);

/** topo_switches() - how many switches there are */
u32 topo_switches(const struct topo *t);

/** topo_switch_name() - the name of a switch */
const char *topo_switch_name(const struct topo *t, u32 sw);

/** topo_end_switch() - the switch that an adapter's port has its link to; @port: its port there */
u32 topo_end_switch(const struct topo *t, u32 end, u32 *port);

/** topo_by_hand() - the port that topo_route() has said for a switch and an end; 0: none */
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

/** topo_far() - see there; @port: 1..; false: the switch has no such port */
bool topo_far(const struct topo *t, u32 sw, u32 port, struct topo_far *far);

/**
 * fabric_set_topology() - let a fabric have these switches and links
 * @f: fabric without ports, and without a topology of this kind
 * @t: finished; the fabric's from now on
 *
 * Ports of the kind that have no link there cannot be plugged in.
 */
void fabric_set_topology(struct fabric *f, struct topo *t);

/** fab_topology() - a fabric's topology of InfiniBand, or NULL */
const struct topo *fab_topology(const struct fabric *f);

/** fab_port_end() - the number of a port that is plugged in, as topo_end() has it */
u32 fab_port_end(const struct fab_port *port);

/* What a link has counted of one direction. */
struct fab_link_count {
	u64 packets, bytes;	/* that have set out */
	u64 mcast;		/* those of them that are multicasts */
	u64 arrived, arrived_bytes, arrived_mcast;
	u64 wait;		/* ns in which there was something to send, and no room for it */
	u64 lost;		/* of those that set out: links that went down, faults */
	u64 bad;		/* arrived spoiled at a switch */
	u64 discards;		/* to this link, and never set out: no way, down, waited too long */
	u64 vl15_dropped;	/* of VL15, for which there was no room */
};

/**
 * struct fab_link_state - a link as it is
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
 * struct fab_switch_state - a switch as it is
 * @name: its name
 * @ethernet: of Ethernet, not of InfiniBand
 * @hoq_life: as it was given
 * @ports: how many
 * @link: number of the link at each port; ports count from 1, and this from 0
 * @no_way: packets to LIDs of nobody, and to groups that nobody is in
 */
struct fab_switch_state {
	const char *name;
	bool ethernet;
	u32 hoq_life;
	u32 ports;
	u32 link[TOPO_SWITCH_PORTS];
	u64 no_way;
};

/** fab_has_topology() - has the fabric one, of either kind? */
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
 * Those of Ethernet come behind those of InfiniBand, whose numbers are those of fabric/switch.h.
 */
bool fab_switch_state(const struct fabric *f, u32 n, struct fab_switch_state *s);

/**
 * fab_eth_ways() - where a switch of Ethernet sends what is for an end
 * @f: fabric
 * @n: the switch, as fab_switch_state() has it
 * @end: the end's number; the one behind the last stands for multicasts
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

/** fab_link_is_between() - is it one between switches, or to network adapters outside? */
bool fab_link_is_between(const struct fabric *f, u32 n);

/**
 * fab_link_up() - let a link of fab_link_is_between() be, or cut it
 *
 * What is on its way is lost, and so is what would take it.
 */
void fab_link_up(struct fabric *f, u32 n, bool up);

/**
 * fab_reroute() - have the subnet of InfiniBand find routes again over the links that are up
 *
 * What topology files say of routes holds where it still leads to the port.  Switches of Ethernet,
 * which have done so already, do it once more.  Returns how many ports some switch does not reach,
 * those of a subnet that nobody manages not among them; or -ENOMEM.
 */
int fab_reroute(struct fabric *f);

/** fab_link_rate() - another rate, from the next packet on */
void fab_link_rate(struct fabric *f, u32 n, const struct fab_rate *rate);

/** fab_link_latency() - another latency, ns, from the next packet on; none overtakes another */
void fab_link_latency(struct fabric *f, u32 n, u32 latency);

#endif /* VHCAD_FABRIC_TOPO_H */
