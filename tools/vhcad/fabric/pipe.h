/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Links from inside.  A pipe is one direction of a link, with its rate, its latency and its queues,
 * as in dummynet (the traffic shaper of FreeBSD).
 */
#ifndef VHCAD_FABRIC_PIPE_H
#define VHCAD_FABRIC_PIPE_H

#include "lib/timer.h"
#include "fabric/internal.h"

/* An adapter's port at the end of a topology's link. */
struct topo_end {
	char name[TOPO_NAME_MAX];
	u32 no;
	struct fab_port *port;		/* NULL: not plugged in */
	bool outside;			/* @port stands for the guests' network adapters */
	struct fab_pipe *out;
	struct fab_switch *sw;		/* at the link's other end */
	struct list_head send[PORT_VLS];	/* packets that wait to be sent, by their VLs */
	u32 nsend;
};

#define NO_VL	UINT32_MAX

/**
 * struct pipe_lane - one data VL of a link
 * @pipe: the link
 * @arrived: packets that wait at its far end, a switch
 * @used: packets that wait there, or are on their way there
 * @turn: number of the switch's port at the near end whose packet was sent last on this VL
 * @hoq: the first of @arrived has waited too long
 */
struct pipe_lane {
	struct fab_pipe *pipe;
	struct list_head arrived;
	u32 used;
	u32 turn;
	struct timer hoq;
};

/**
 * struct vl_arb - state of VL arbitration; arrays: tables for low priority and high priority
 * @at: entry that has its turn
 * @left: bytes that it may still send
 * @high: bytes of high priority that may still be sent before one of low priority has its turn
 * @last: VL that was sent from last; where the tables say nothing, VLs take turns
 * @table: the table that has chosen the packet that is sent now
 */
struct vl_arb {
	u8 at[2];
	u32 left[2];
	u32 high;
	u8 last;
	u8 table;
};

/**
 * struct fab_pipe - one direction of a link; or a switch's own packets, which only arrive
 * @from, @to: switches at this end and at the far one; NULL: an adapter's port
 * @from_end, @to_end: adapters' ports at the ends; NULL: a switch
 * @out_no, @in_no: port numbers, from 0, at @from and at @to
 * @near, @far: the ports at this end and at the other one; NULL: not plugged in
 * @vl15: packets of VL15 that wait to be sent, before all others
 * @nvl15: number of them
 * @flight: packets under way, in order of arrival
 * @lane: its data VLs
 * @busy: a bit for each lane where packets wait at the far end
 * @arb: arbitration among them
 * @free_at, @frac: when the last bit of the last packet is out, in ns and ps
 * @last: when the last packet that was not overtaken arrives
 * @held: packets arrive no earlier than this, see fab_fault_kind
 * @blocked: since when a packet waits for room at the far end; 0: none does
 * @go: timer: a packet could be sent
 * @land: timer: a packet arrives
 */
struct fab_pipe {
	struct fab_link *link;
	struct topo *topo;
	struct fab_switch *from, *to;
	struct topo_end *from_end, *to_end;
	u32 out_no, in_no;
	struct port *near, *far;
	struct list_head vl15;
	u32 nvl15;
	struct list_head flight;
	struct pipe_lane lane[PORT_VLS];
	u8 busy;
	struct vl_arb arb;
	u64 free_at;
	u32 frac;
	u64 last;
	u64 held;
	u64 blocked;
	struct timer go, land;
	struct fab_link_count count;
};

struct fab_link {
	struct topo_link l;
	struct fab_pipe pipe[2];	/* from l.end[0], and back */
	u64 kbps;
	bool up;			/* not taken down by fab_link_up() */
	u64 flap_until;			/* down by a fault until then; 0: it is not */
	struct timer rise;
};

struct topo {
	bool ethernet;
	struct fabric *fabric;
	struct fab_switch *sw[TOPO_MAX_SWITCHES];
	u32 nsw;
	struct fab_link *link[TOPO_MAX_LINKS];
	u32 nlinks;
	struct topo_end *end[TOPO_MAX_LINKS];
	u32 nends;
	u8 *by_hand;			/* see topo_by_hand(); NULL: nothing is */
	int (*write)(struct topo *t);	/* see topo_set_writer() */
	bool stale;			/* @write has to be called */
	struct timers timers;
	u64 now;			/* time of the event at hand: fab_poll() may be late */
	u64 landed;			/* packets delivered */
	struct fab_packet *pool;
	u32 npool;
	struct list_head free;
};

/* lane.c */
/** lane_of() - the VL by which a packet takes a link; at a switch: that has come to it by @in */
u32 lane_of(const struct fab_pipe *p, const struct fab_pipe *in, const struct fab_packet *packet);
/** lane_drops() - does the SL of a packet lead to no data VL of the link? */
bool lane_drops(const struct fab_pipe *p, const struct fab_pipe *in,
		const struct fab_packet *packet);
/** lanes_waiting() - VLs on which a packet waits to take a link, a bit each */
u32 lanes_waiting(const struct fab_pipe *p, u64 now);
/** lane_choose() - the VL that sends next, of those with room at the far end; or NO_VL */
u32 lane_choose(struct fab_pipe *p, u32 waiting);
/** lane_sent() - a packet of @len bytes was sent on the VL that lane_choose() has returned */
void lane_sent(struct fab_pipe *p, u32 len);
/** lane_next() - the lane whose packet is sent next, of those at a switch that wait for this VL */
struct pipe_lane *lane_next(struct fab_pipe *p, u32 vl);

/* pool.c */
/** topo_take() - take a packet from the pool; NULL: all are under way */
struct fab_packet *topo_take(struct topo *t);
/** topo_give_back() - give one back to the pool */
void topo_give_back(struct topo *t, struct fab_packet *p);
/** topo_lose() - give one back that is lost, which its sender counts */
void topo_lose(struct topo *t, struct fab_packet *p);
/** topo_copy() - take a copy of one; NULL: all are under way */
struct fab_packet *topo_copy(struct topo *t, const struct fab_packet *p);

/** topo_end_mads() - free packets that are not the pool's, as the fabric ends */
void topo_end_mads(struct topo *t);

static inline struct fab_packet *first_of(const struct list_head *list)
{
	return list_empty(list) ? NULL : container_of(list->next, struct fab_packet, link);
}

/** pipe_init() - initialise a pipe; 0 or -ENOMEM.  Its timers are freed with the topology's. */
int pipe_init(struct fab_pipe *p);

/* Does the link take packets?  An armed port receives them, and becomes active by that. */
static inline bool pipe_open(const struct fab_pipe *p)
{
	return p->near && p->far && p->near->state == PORT_ACTIVE && p->far->state >= PORT_ARMED;
}

/* The other direction. */
static inline struct fab_pipe *pipe_back(struct fab_pipe *p)
{
	return &p->link->pipe[p == p->link->pipe];
}

/* Is the link up, apart from the port states that a manager sets? */
static inline bool link_whole(const struct fab_link *l)
{
	return l->up && !l->flap_until;
}

/* Is the link between switches, or to network adapters outside, if there are any? */
static inline bool link_is_between(const struct fab_link *l)
{
	const struct topo_end *end = l->pipe[0].from_end ? : l->pipe[0].to_end;

	return !end || end->outside;
}

/** plug_socket() - the port of the switch that an adapter's port is plugged into */
static inline struct port *plug_socket(const struct fab_port *port)
{
	struct fab_switch *sw = port->end ? port->end->sw : port->fabric->shared;

	return &sw->port[port->at].ib;
}

/*
 * Frames have no LIDs.  In their place Ethernet switches use, in the same tables, a number for each
 * end, and one for all multicasts.
 */
#define ETH_MLID	MLID_FIRST

static inline u16 eth_lid(const struct topo_end *end)
{
	return end->no + 1;
}

static inline const struct port_mask *eth_tree(const struct fab_switch *sw)
{
	return &sw->multicast[ETH_MLID - MLID_FIRST];
}

/* eth_link.c */
/** eth_renew() - have the tables written for the links that are up, see topo_set_writer() */
int eth_renew(struct topo *t);
/** eth_ways() - ports by which a frame that has come by @in leaves a switch, to @lid's end */
struct port_mask eth_ways(const struct fab_pipe *in, u16 lid);

/* pass.c */
/**
 * forward_ports() - ports by which a packet leaves a switch
 * @in: the link by which it has come
 * @p: packet
 *
 * Returns the ports that the tables say and that take packets now; what is lost is counted.
 */
struct port_mask forward_ports(struct fab_pipe *in, const struct fab_packet *p);

/** forward_lifetime() - how long a packet to these ports may be first in line, ns; 0: no end */
u64 forward_lifetime(const struct fab_switch *sw, const struct port_mask *out);

/** link_cut() - drop the packets that are on a link, and those that wait for it */
void link_cut(struct fab_link *l);

/** link_init_timer() - initialise the timer by which a link comes up again; 0 or -ENOMEM */
int link_init_timer(struct fab_link *l);

/** topo_join() - make a topology part of a fabric */
void topo_join(struct topo *t, struct fabric *f);

/** topo_pool() - allocate packets for all queues; 0 or -ENOMEM */
int topo_pool(struct topo *t);

/** topo_forget() - a port is unplugged: losses of its packets are not counted there any more */
void topo_forget(struct topo *t, const struct fab_port *port);

/* topo.c */
/** topo_plug() - give a port its link in @t; 0, or -ENOENT: there is none of that name */
int topo_plug(struct fab_port *port, struct topo *t, const char *name);
/** topo_unplug() - take the link back */
void topo_unplug(struct fab_port *port);

/* pipe.c */
/** topo_send() - send packets to a LID; those that there is no room for are dropped */
void topo_send(struct fab_port *port, const struct run *run, u16 dlid);
/** topo_send_mad() - send a packet of VL15 from a port; the callee owns it */
void topo_send_mad(struct fab_port *port, struct fab_packet *p);
/** topo_switch_mad() - the same from a port of a switch, from 1 */
void topo_switch_mad(struct fab_switch *sw, u32 port, struct fab_packet *p);
/** topo_switch_data() - send a switch's own packet, which waits for room; the callee owns it */
void topo_switch_data(struct fab_switch *sw, struct fab_packet *p);
/** topo_room() - number of packets that a port may send */
u32 topo_room(const struct fab_port *port);
/** topo_port_down() - drop packets under way to and from a port */
void topo_port_down(struct fab_port *port);
/** topo_run() - handle events until @now, or until @most packets have arrived; returns how many */
u32 topo_run(struct topo *t, u64 now, u32 most);
/** topo_next() - when the next event is due, or UINT64_MAX */
u64 topo_next(struct topo *t);
/** fab_link_flap() - hold a link between switches down until then */
void fab_link_flap(struct fab_link *l, u64 until);

static inline struct fab_switch *switch_of(const struct fabric *f, u32 sw)
{
	return f->topo ? f->topo->sw[sw] : f->shared;
}

/* By number, from 0: the links that lead to a switch, then the one of its own packets. */
static inline struct fab_pipe *switch_in(const struct fab_switch *sw, u32 i)
{
	return i < sw->nports ? sw->in[i] : sw->own;
}

/* The link by which a switch sends from a port, 1..; NULL: there is none. */
static inline struct fab_pipe *switch_out(const struct fab_switch *sw, u32 port)
{
	return port && port <= sw->nports ? sw->out[port - 1] : NULL;
}

#endif /* VHCAD_FABRIC_PIPE_H */
