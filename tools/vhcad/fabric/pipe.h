/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Links from inside.  A pipe is one direction of a link, with its rate, its latency and its
 * queues, as in dummynet.
 */
#ifndef VHCAD_FABRIC_PIPE_H
#define VHCAD_FABRIC_PIPE_H

#include "lib/timer.h"
#include "fabric/internal.h"

/* A port of an adapter, from the topology's side. */
struct topo_end {
	char name[TOPO_NAME_MAX];
	u32 no;
	struct fab_port *port;		/* NULL: not plugged in */
	bool outside;			/* @port stands for the guests' network adapters */
	struct fab_pipe *out;
	struct fab_switch *sw;		/* at the link's other end */
	struct list_head send[PORT_VLS];	/* packets that wait to set out, by their VLs */
	u32 nsend;
};

#define NO_VL	UINT32_MAX

/**
 * struct pipe_lane - one data VL of a link
 * @pipe: the link
 * @arrived: packets that wait at its far end, a switch
 * @used: packets that wait there, or are on their way there
 * @turn: whose packet on this VL went last, of those who arrive at the near end, a switch
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
 * struct vl_arb - where VL arbitration is, in the tables for low priority and high priority
 * @at: entry
 * @left: bytes that it may still send
 * @high: bytes of high priority before one of low priority has its turn
 * @last: VL that went last; where tables say nothing they take turns
 * @table: the one that has decided of the packet that sets out
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
 * @from, @to: the switch at this end, NULL: a port of an adapter
 * @from_end, @to_end: the port, NULL: a switch
 * @out_no, @in_no: number of the port, from 0, of @from and of @to
 * @near, @far: the ports at this end and at the other one; NULL: not plugged in
 * @vl15: packets of VL15 that wait to set out, before all others
 * @nvl15: how many
 * @flight: packets under way, by arrival
 * @lane: its data VLs
 * @busy: a bit for each lane where packets wait at the far end
 * @arb: whose turn it is among them
 * @free_at, @frac: when the last bit of the last packet is out, in ns and ps
 * @last: when the last packet that was not overtaken arrives
 * @held: packets arrive no earlier, see fab_fault_kind
 * @blocked: since when a packet waits for room at the far end; 0: none does
 * @go: a packet could set out
 * @land: one arrives
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
	bool up;			/* nobody has cut it */
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
	bool stale;			/* it has to be called */
	struct timers timers;
	u64 now;			/* of what happens now: fab_poll() may be late */
	u64 landed;			/* packets delivered */
	struct fab_packet *pool;
	u32 npool;
	struct list_head free;
};

/* lane.c */
/** lane_of() - the VL by which a packet takes a link, at a switch: that has come to it by @in */
u32 lane_of(const struct fab_pipe *p, const struct fab_pipe *in, const struct fab_packet *packet);
/** lane_drops() - does the SL of a packet lead to no data VL of the link? */
bool lane_drops(const struct fab_pipe *p, const struct fab_pipe *in,
		const struct fab_packet *packet);
/** lanes_waiting() - VLs on which a packet waits to take a link, a bit each */
u32 lanes_waiting(const struct fab_pipe *p, u64 now);
/** lane_choose() - the one that goes next, of those with room at the far end; or NO_VL */
u32 lane_choose(struct fab_pipe *p, u32 waiting);
/** lane_sent() - a packet of @len bytes sets out by what lane_choose() has said */
void lane_sent(struct fab_pipe *p, u32 len);
/** lane_next() - whose packet goes next, of those that wait at a switch for a link by this VL */
struct pipe_lane *lane_next(struct fab_pipe *p, u32 vl);

/* pool.c */
/** topo_take() - a packet; NULL: all are under way */
struct fab_packet *topo_take(struct topo *t);
/** topo_give_back() - it has come to its end */
void topo_give_back(struct topo *t, struct fab_packet *p);
/** topo_lose() - the same, and its sender counts it */
void topo_lose(struct topo *t, struct fab_packet *p);
/** topo_copy() - one more like it; NULL: all are under way */
struct fab_packet *topo_copy(struct topo *t, const struct fab_packet *p);

/** topo_end_mads() - the fabric ends: packets that are not the pool's go */
void topo_end_mads(struct topo *t);

static inline struct fab_packet *first_of(const struct list_head *list)
{
	return list_empty(list) ? NULL : container_of(list->next, struct fab_packet, link);
}

/** pipe_init() - make it ready; 0 or -ENOMEM.  Its timers go with all of the topology's. */
int pipe_init(struct fab_pipe *p);

/* Does it take packets?  An armed port receives, and is active then. */
static inline bool pipe_open(const struct fab_pipe *p)
{
	return p->near && p->far && p->near->state == PORT_ACTIVE && p->far->state >= PORT_ARMED;
}

/* The other direction. */
static inline struct fab_pipe *pipe_back(struct fab_pipe *p)
{
	return &p->link->pipe[p == p->link->pipe];
}

/* Does nothing keep it from being up, whatever a manager wants? */
static inline bool link_whole(const struct fab_link *l)
{
	return l->up && !l->flap_until;
}

/* Is it no adapter's: one between switches, or to network adapters outside, if there are any? */
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
 * Frames have no LIDs.  In their place switches of Ethernet have, in the same tables, one for each
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
/** eth_renew() - have tables written for the links that are up; as topo_set_writer() says */
int eth_renew(struct topo *t);
/** eth_ways() - ports by which a frame that has come by @in leaves a switch, to @lid's end */
struct port_mask eth_ways(const struct fab_pipe *in, u16 lid);

/* pass.c */
/**
 * forward_ports() - ports by which a packet leaves a switch
 * @in: the link by which it has come
 * @p: packet
 *
 * Those that the tables send it to, and that take it now; what is lost is counted.
 */
struct port_mask forward_ports(struct fab_pipe *in, const struct fab_packet *p);

/** forward_lifetime() - how long a packet to these ports may be first in line, ns; 0: no end */
u64 forward_lifetime(const struct fab_switch *sw, const struct port_mask *out);

/** link_cut() - what is under way is lost, and what waits for it */
void link_cut(struct fab_link *l);

/** link_init_timer() - so that it can rise again; 0 or -ENOMEM */
int link_init_timer(struct fab_link *l);

/** topo_join() - it is a fabric's now */
void topo_join(struct topo *t, struct fabric *f);

/** topo_pool() - have packets for all queues; 0 or -ENOMEM */
int topo_pool(struct topo *t);

/** topo_forget() - a port goes: nobody tells it any more what became of its packets */
void topo_forget(struct topo *t, const struct fab_port *port);

/* topo.c */
/** topo_plug() - a port takes its link in @t; 0, or -ENOENT: there is none of that name */
int topo_plug(struct fab_port *port, struct topo *t, const char *name);
/** topo_unplug() - it gives it back */
void topo_unplug(struct fab_port *port);

/* pipe.c */
/** topo_send() - packets set out to a LID; there is room for them, or they are dropped */
void topo_send(struct fab_port *port, const struct run *run, u16 dlid);
/** topo_send_mad() - a packet of VL15 sets out from a port; it is taken */
void topo_send_mad(struct fab_port *port, struct fab_packet *p);
/** topo_switch_mad() - the same from a port of a switch, from 1 */
void topo_switch_mad(struct fab_switch *sw, u32 port, struct fab_packet *p);
/** topo_switch_data() - a switch's own packet that waits for room as others do; it is taken */
void topo_switch_data(struct fab_switch *sw, struct fab_packet *p);
/** topo_room() - packets that a port may send */
u32 topo_room(const struct fab_port *port);
/** topo_port_down() - what is under way to and from a port is lost */
void topo_port_down(struct fab_port *port);
/** topo_run() - what happens until @now, or until @most packets arrive; returns how many steps */
u32 topo_run(struct topo *t, u64 now, u32 most);
/** topo_next() - when something happens, or UINT64_MAX */
u64 topo_next(struct topo *t);
/** fab_link_flap() - hold a link between switches down until then */
void fab_link_flap(struct fab_link *l, u64 until);

static inline struct fab_switch *switch_of(const struct fabric *f, u32 sw)
{
	return f->topo ? f->topo->sw[sw] : f->shared;
}

/* By number, from 0 on: links that lead to a switch, and behind them its own packets. */
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
