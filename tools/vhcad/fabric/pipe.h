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
	struct fab_pipe *out;
	struct fab_switch *sw;		/* at the link's other end */
	struct list_head send;		/* packets that wait to set out */
	u32 nsend;
};

/**
 * struct fab_pipe - one direction of a link
 * @from, @to: the switch at this end, NULL: a port of an adapter
 * @from_end, @to_end: the port, NULL: a switch
 * @out_no, @in_no: number of the port, from 0, of @from and of @to
 * @flight: packets under way, by arrival
 * @arrived: packets that wait at @to
 * @used: packets in both
 * @free_at, @frac: when the last bit of the last packet is out, in ns and ps
 * @last: when the last packet that was not overtaken arrives
 * @held: packets arrive no earlier, see fab_fault_kind
 * @blocked: since when a packet waits for room at the far end; 0: none does
 * @turn: whose packet went last, of those who arrive at @from
 * @go: a packet could set out
 * @land: one arrives
 * @hoq: the first of @arrived has waited too long
 */
struct fab_pipe {
	struct fab_link *link;
	struct topo *topo;
	struct fab_switch *from, *to;
	struct topo_end *from_end, *to_end;
	u32 out_no, in_no;
	struct list_head flight, arrived;
	u32 used;
	u64 free_at;
	u32 frac;
	u64 last;
	u64 held;
	u64 blocked;
	u32 turn;
	struct timer go, land, hoq;
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
	struct fabric *fabric;
	struct fab_switch *sw[TOPO_MAX_SWITCHES];
	u32 nsw;
	struct fab_link *link[TOPO_MAX_LINKS];
	u32 nlinks;
	struct topo_end *end[TOPO_MAX_LINKS];
	u32 nends;
	u8 *by_hand;			/* see topo_by_hand(); NULL: nothing is */
	struct timers timers;
	u64 now;			/* of what happens now: fab_poll() may be late */
	u64 landed;			/* packets delivered */
	struct fab_packet *pool;
	u32 npool;
	struct list_head free;
};

/** pipe_init - make it ready; 0 or -ENOMEM.  Its timers go with all of the topology's. */
int pipe_init(struct fab_pipe *p);

/** pipe_open - does it take packets? */
bool pipe_open(const struct fab_pipe *p);

/** link_cut - what is under way is lost, and what waits for it */
void link_cut(struct fab_link *l);

/** link_init_timer - so that it can rise again; 0 or -ENOMEM */
int link_init_timer(struct fab_link *l);

/** topo_join - it is a fabric's now */
void topo_join(struct topo *t, struct fabric *f);

/** topo_pool - have packets for all queues; 0 or -ENOMEM */
int topo_pool(struct topo *t);

/** topo_forget - a port goes: nobody tells it any more what became of its packets */
void topo_forget(struct topo *t, const struct fab_port *port);

/* The link by which a switch sends from a port, 1..; NULL: there is none. */
static inline struct fab_pipe *switch_out(const struct fab_switch *sw, u32 port)
{
	return port && port <= sw->nports ? sw->out[port - 1] : NULL;
}

#endif /* VHCAD_FABRIC_PIPE_H */
