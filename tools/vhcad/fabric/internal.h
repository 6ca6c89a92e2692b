/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of fabric/ share among themselves.
 */
#ifndef VHCAD_FABRIC_INTERNAL_H
#define VHCAD_FABRIC_INTERNAL_H

#include <pthread.h>

#include "fabric/fabric.h"
#include "fabric/fault.h"
#include "fabric/subnet.h"
#include "fabric/switch.h"
#include "fabric/topo.h"

/* Packets that can be under way at a time, once anything queues them. */
#define FABRIC_PACKETS	2048u
/* Those of mad.c, on links with long latencies too. */
#define FABRIC_MADS	8192u
/* Hosts send no more than these: the others are for agents, who answer managers. */
#define FABRIC_HOST_MADS	(FABRIC_MADS / 2)

/**
 * struct fab_packet - a packet under way
 * @due: when it arrives; of one that waits in a topology, since when it does
 * @from: its sender; NULL: gone, or a switch
 * @dlid, @opcode, @pkey: where it goes and what it is; in a topology.  Of a frame see eth_lid()
 * @out: ports by which it is to leave the switch where it is the first in line
 * @spoiled: a fault has changed a bit of it
 * @mad: it is one of mad.c, whoever has it now
 * @vl15: it waits for nobody's room
 * @host: of one of mad.c that waits to leave its port: the host has sent it, and not the agent
 * @sl, @vl: its SL, and the VL of the link that it takes
 * @hops: switches that links have brought it to
 * @step, @sw, @port, @in: of one of mad.c: see there
 * @at: of a multicast that has arrived: who gets it next, as in struct datagram
 */
struct fab_packet {
	struct list_head link;
	u64 due;
	struct fab_port *from;
	struct port_mask out;
	u16 dlid;
	u16 pkey;
	u8 opcode;
	bool spoiled;
	bool mad, vl15, host;
	u8 sl, vl, hops, step;
	u8 sw, port, in;
	u32 len;
	u64 at;
	u8 bytes[WIRE_MAX_PKT];
};

/* A port of a switch; all of them stand in a row, by their numbers. */
struct fab_switch_port {
	struct port ib;
	struct fab_switch *sw;
	u64 relay_errors;	/* see struct port_count */
	u32 nsends;		/* answers to what came by it that wait to leave */
};

/**
 * struct fab_switch - a switch of a topology, or all that a fabric without one is
 * @name: its name in the topology
 * @no: its number
 * @hoq_life: as it was given, see topo_switch()
 * @guid: of the node
 * @fabric: whose it is; NULL: a topology that is nobody's yet
 * @nports: external ports; in a topology those with links
 * @port: port 0 and the external ones
 * @sl2vl: see fab_switch_sl2vl(): @nports tables for each port of @port
 * @setup, @changed: SwitchInfo's
 * @out, @in: links of a topology in both directions, by the port's number less one
 * @own: what it sends itself arrives at it by this; in a topology
 * @adapters: ports whose links lead to adapters
 * @no_way: packets that no entry of a table led anywhere
 * @linear: linear forwarding table
 * @multicast: multicast forwarding table
 *
 * The tables are mostly zeros that nobody ever touches.
 */
struct fab_switch {
	char name[TOPO_NAME_MAX];
	u32 no;
	u32 hoq_life;
	u64 guid;
	struct fabric *fabric;
	u32 nports;
	struct fab_switch_port *port;
	u8 (*sl2vl)[16];
	struct fab_switch_setup setup;
	bool changed;
	struct fab_pipe *out[TOPO_SWITCH_PORTS];
	struct fab_pipe *in[TOPO_SWITCH_PORTS];
	struct fab_pipe *own;
	struct port_mask adapters;
	u64 no_way;
	u8 linear[LID_SWITCH + 1];
	struct port_mask multicast[MLID_LAST - MLID_FIRST + 1];
};

/* A fault that is armed. */
struct fab_armed {
	struct fab_fault fault;
	u64 opcodes[4];
	u64 seed;
	u64 at;				/* when it was armed */
	u64 seen;			/* packets that met it */
};

/**
 * struct fab_crossing - a link that a packet takes
 * @from, @to: the ports of adapters at its ends; NULL: switches.  Where all ports are at one
 *	switch that takes no time: the ports that send and receive
 * @between: a link between switches, or to network adapters outside, else NULL
 * @back: from its second end to its first one
 * @opcode, @dqpn: the packet's
 * @mgmt_class: of a management packet, else 0
 * @held: of a link between switches, see fab_fault_kind
 */
struct fab_crossing {
	struct fab_port *from, *to;
	struct fab_link *between;
	bool back;
	u8 opcode;
	u8 mgmt_class;
	u32 dqpn;
	u64 *held;
};

/**
 * struct fab_mad_ops - where links take packets of management
 * @at_switch: a packet of VL15 has come to a switch by a port; the packet is taken
 * @at_port: it has come to an adapter's port; the packet is taken
 * @to_agents: a packet is for the switch itself; it stays the caller's
 */
struct fab_mad_ops {
	void (*at_switch)(struct fab_switch *sw, u32 port, struct fab_packet *p);
	void (*at_port)(struct fab_port *to, struct fab_packet *p);
	void (*to_agents)(struct fab_switch *sw, u32 port, const struct fab_packet *p);
};

/* A fabric has either @shared or @topo, and for Ethernet @eth with or without @eth_topo. */
struct fabric {
	const struct fab_subnet_ops *subnet;	/* NULL: nobody manages it */
	void *subnet_arg;
	const struct fab_agent_ops *agents;	/* NULL: switches answer nothing */
	void *agents_arg;
	u64 agents_at;			/* see fab_agents_at() */
	struct list_head mads;		/* packets of mad.c, by the time of their next step */
	const struct fab_mad_ops *mad_ops;
	u32 nmads;			/* all of mad.c, wherever they are */
	struct fab_switch *shared;	/* the one switch, which takes no time */
	struct topo *topo;
	struct topo *eth_topo;		/* links of Ethernet ports; NULL: they have none */
	struct eth_segment *eth;	/* Ethernet ports; NULL: there are none */
	void (*wake)(void *arg);	/* see fabric_set_wake(); or NULL */
	void *wake_arg;
	struct capture *capture;
	u64 cap_time;			/* stamp of the next packet, at the earliest */
	bool cap_engine;		/* stamps are engine time */
	struct fab_port **ports;	/* at @shared by their numbers less one; holes are NULL */
	u32 nports;
	u16 width[MLID_LAST - MLID_FIRST + 1];	/* adapters' ports that an MLID leads to */
	u32 wide[TOPO_MAX_LINKS + 1];	/* MLIDs that lead to n ports */
	u32 widest;			/* most ports of one */
	u64 now;
	fab_packet_hook hook;
	void *hook_arg;
	struct fab_armed fault[FAB_MAX_FAULTS];
	u32 nfaults;
	u32 nflapped;			/* ports that a fault holds down */
	struct fab_packet *pool;
	struct list_head free;
	u32 nfree;
	u32 nqueued;
	bool threads;			/* see fabric_set_threads() */
	bool news;			/* something is due that was not before */
	pthread_mutex_t lock;		/* see fab_lock() */
};

/* Copies of multicasts that are made in one go, in bytes. */
#define POLL_BYTES	(64u << 10)

/* Counts a switch.  Returns true if a path without a loop has fewer, so that tables form one. */
static inline bool goes_round(struct fab_packet *p)
{
	return ++p->hops > TOPO_MAX_SWITCHES;
}

/* Do packets travel singly, through the queues? */
static inline bool fab_queues(const struct fabric *f)
{
	return f->hook || f->nfaults || f->nqueued;
}

/* The port to which the one switch leads a unicast LID; NULL: nobody is there. */
static inline struct fab_port *shared_port(const struct fabric *f, u16 dlid)
{
	u32 n = dlid <= f->shared->setup.linear_top ? f->shared->linear[dlid] : 0;

	return n && n <= f->nports ? f->ports[n - 1] : NULL;
}

/* Packets that nobody can get. */
static inline void fab_discard(struct fab_port *port, const struct run *run)
{
	port->ib.discards += run->npkts;
	port->ib.drops += run->npkts;
}

/* Is a LID one of the switch's own? */
static inline bool switch_has_lid(const struct fab_switch *sw, u16 dlid)
{
	return dlid <= LID_SWITCH && !sw->linear[dlid] && port_has_lid(&sw->port->ib, dlid);
}

/* switch.c */
/** switch_make_ports() - ports of a switch whose number is known; 0 or -ENOMEM */
int switch_make_ports(struct fab_switch *sw);
/** switch_free() - a switch, with or without ports; or NULL */
void switch_free(struct fab_switch *sw);
/** switch_recount() - a port's LIDs have changed, or it was plugged in: see fab_port.foreign */
void switch_recount(struct fab_port *port);
/** fab_look() - find out again whether packets pass a port without a further look */
void fab_look(struct fab_port *port);

/* pass.c */
/** fab_enters() - does the one switch take what a port sends, on a further look? */
bool fab_enters(struct fab_port *port, const struct run *run);
/**
 * fab_takes() - does the one switch send to this port and the port take it, on a further look?
 * @from: sender, who counts what is lost; NULL: the switch
 */
bool fab_takes(struct fab_port *from, struct fab_port *to, const struct run *run);
/** switch_lets_in() - P_Keys at the port a packet enters by; false: it is lost, and counted */
bool switch_lets_in(struct fab_switch *sw, u32 port, const struct fab_packet *p);

/* pool.c */
/** mad_take() - a packet for mad.c; NULL: there are @most already, or there is no memory */
struct fab_packet *mad_take(struct fabric *f, u32 most);
/** mad_copy() - one more like it, or NULL */
struct fab_packet *mad_copy(struct fabric *f, const struct fab_packet *p);
/** mad_free() - it has come to its end */
void mad_free(struct fabric *f, struct fab_packet *p);

/* mad.c */
extern const struct fab_mad_ops fab_mad_ops;
/** mads_run() - steps that are due, up to @most; returns how many */
u32 mads_run(struct fabric *f, u32 most);
/** mads_forget() - a port goes */
void mads_forget(struct fab_port *port);
/** mads_end() - the fabric ends */
void mads_end(struct fabric *f);
/** mads_next() - when the next step is due, or UINT64_MAX */
static inline u64 mads_next(const struct fabric *f)
{
	if (list_empty(&f->mads))
		return UINT64_MAX;
	return container_of(f->mads.next, struct fab_packet, link)->due;
}

/* packet.c */
/** fab_pool() - have packets to queue; 0 or -ENOMEM */
int fab_pool(struct fabric *f);
/** fab_take_packet() - one of them; NULL: all are under way */
struct fab_packet *fab_take_packet(struct fabric *f);
/** fab_free_packet() - it has arrived, or is lost */
void fab_free_packet(struct fabric *f, struct fab_packet *p);
/**
 * fab_deliver() - a packet has arrived
 * @to: receiver
 * @p: packet; stays the caller's, with @p->at 0 the first time
 * @bytes: of copies that may be made, used up; not 0
 *
 * Returns false if it has to be called again, because the port has not given it to all yet.
 */
bool fab_deliver(struct fab_port *to, struct fab_packet *p, u32 *bytes);

/* fault.c */
/** fab_faults_meet() - a packet meets the faults that are armed; they change @effect */
void fab_faults_meet(struct fabric *f, const struct fab_crossing *c, struct fab_effect *effect);
/** crossing_packet() - say which packet of InfiniBand it is that takes a link */
void crossing_packet(struct fab_crossing *c, const u8 *bytes, u32 len);
/** crossing_frame() - the same of a frame of RoCEv2 */
void crossing_frame(struct fab_crossing *c, const u8 *bytes, u32 len);
/** fab_flap_ends() - nothing holds a port down any more */
void fab_flap_ends(struct fab_port *port);
/** fab_flaps_end() - let ports come up whose time is over */
void fab_flaps_end(struct fabric *f);

/* queue.c */
/** fab_give() - packets reach their receiver, unless they are queued */
void fab_give(struct fab_port *from, struct fab_port *to, struct run *run, u64 bytes);
/** fab_queue_run() - send packets singly; takes its own copy of those that have to wait */
void fab_queue_run(struct fab_port *from, struct fab_port *to, const struct run *run);
/** fab_queue_drop() - what is queued for a port is lost */
void fab_queue_drop(struct fab_port *port);
/** fab_queue_forget() - what is under way from a port goes on without a sender */
void fab_queue_forget(const struct fab_port *port);
/** fab_queue_poll() - deliver what is due; returns how many packets, up to @most */
u32 fab_queue_poll(struct fabric *f, u32 most);
/** fab_queue_next() - when the next one is due, or UINT64_MAX */
u64 fab_queue_next(const struct fabric *f);

/* mcast.c */
/** fab_give_mcast() - fab_give() of a multicast to one of those who get it */
void fab_give_mcast(struct fab_port *from, struct fab_port *to, struct datagram *d, u64 bytes);
/** fab_come_again() - remember that a multicast goes on with number @n; returns false */
bool fab_come_again(struct fab_cursor *c, u32 n, u64 at);
/** shared_receivers() - fab_receivers() of a multicast, at the one switch */
void shared_receivers(const struct fab_port *from, u16 mlid, fab_port_fn fn, void *arg);
/** fab_forward_mcast() - to all, or with @c as fab_send_some() */
bool fab_forward_mcast(struct fab_port *from, const struct run *run, u64 bytes,
		       struct fab_cursor *c, u32 *budget);

/** fab_heard() - would another port get this?  See struct fab_subnet_ops */
static inline bool fab_heard(const struct fab_port *from, u16 dlid)
{
	const struct fabric *f = from->fabric;

	return !f->subnet || !f->subnet->heard || f->subnet->heard(f->subnet_arg, from, dlid);
}

#endif /* VHCAD_FABRIC_INTERNAL_H */
