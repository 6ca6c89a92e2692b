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
/* The packets of mad.c, on links with long latencies too. */
#define FABRIC_MADS	8192u
/* Hosts may use only these: the others are for agents, which answer managers. */
#define FABRIC_HOST_MADS	(FABRIC_MADS / 2)

/**
 * struct fab_packet - a packet under way
 * @due: when it arrives; for one that waits in a topology: since when it could go on
 * @from: its sender; NULL: unplugged, or a switch
 * @dlid, @opcode, @pkey: fields of its headers, in a topology.  For a frame see eth_lid()
 * @out: ports by which it leaves the switch where it is the first of its queue
 * @spoiled: a fault has corrupted a bit of it
 * @mad: it belongs to mad.c, whichever list it is on
 * @vl15: a packet of VL15, which needs no buffer of the receiver
 * @host: for a packet of mad.c that waits to leave its port: the host has sent it, not the agent
 * @sl, @vl: its SL, and the VL of the link that it takes
 * @hops: number of switches that it has come to by links
 * @step, @sw, @port, @in: for a packet of mad.c: see there
 * @at: for a multicast that has arrived: which receiver is next, as in struct datagram
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

/* A port of a switch; they are in an array, in the order of their numbers. */
struct fab_switch_port {
	struct port ib;
	struct fab_switch *sw;
	u64 relay_errors;	/* see struct port_count */
	u32 nsends;		/* answers to packets that came by it, waiting to leave */
};

/**
 * struct fab_switch - a switch of a topology, or the one switch of a fabric without one
 * @name: its name in the topology
 * @no: its number
 * @hoq_life: as topo_switch() was given it
 * @guid: of the node
 * @fabric: the fabric it is part of; NULL: its topology is not given to a fabric yet
 * @nports: external ports; in a topology those with links
 * @port: port 0 and the external ones
 * @sl2vl: see fab_switch_sl2vl(): @nports tables for each port of @port
 * @setup, @changed: attributes of SwitchInfo
 * @out, @in: links of a topology in both directions, by the port's number less one
 * @own: packets that the switch itself sends arrive by this; in a topology
 * @adapters: ports whose links lead to adapters
 * @no_way: packets for which the tables have no port
 * @linear: linear forwarding table
 * @multicast: multicast forwarding table
 *
 * Most entries of the tables are zero and never touched, so they use no memory.
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
 * struct fab_crossing - a packet on a link
 * @from, @to: the ports of adapters at its ends; NULL: switches.  With the one switch, which takes
 *	no time: the ports that send and receive
 * @between: a link between switches, or to network adapters outside, else NULL
 * @back: the packet goes from the second end of @between to its first one
 * @opcode, @dqpn: of the packet
 * @mgmt_class: of a management packet; 0 for others
 * @held: for a link between switches, see fab_fault_kind
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
 * struct fab_mad_ops - where management packets go that links have carried
 * @at_switch: a packet of VL15 has come to a switch by a port; the callee owns the packet
 * @at_port: it has come to an adapter's port; the callee owns the packet
 * @to_agents: a packet is for the switch itself; the caller keeps the packet
 */
struct fab_mad_ops {
	void (*at_switch)(struct fab_switch *sw, u32 port, struct fab_packet *p);
	void (*at_port)(struct fab_port *to, struct fab_packet *p);
	void (*to_agents)(struct fab_switch *sw, u32 port, const struct fab_packet *p);
};

/* A fabric has either @shared or @topo, and for Ethernet @eth with or without @eth_topo. */
struct fabric {
	const struct fab_subnet_ops *subnet;	/* NULL: the subnet has no manager */
	void *subnet_arg;
	const struct fab_agent_ops *agents;	/* NULL: switches answer nothing */
	void *agents_arg;
	u64 agents_at;			/* see fab_agents_at() */
	struct list_head mads;		/* packets of mad.c, by the time of their next step */
	const struct fab_mad_ops *mad_ops;
	u32 nmads;			/* all packets of mad.c, wherever they are */
	struct fab_switch *shared;	/* the one switch, which takes no time */
	struct topo *topo;
	struct topo *eth_topo;		/* links of Ethernet ports; NULL: they have none */
	struct eth_segment *eth;	/* Ethernet ports; NULL: there are none */
	void (*wake)(void *arg);	/* see fabric_set_wake(); or NULL */
	void *wake_arg;
	struct capture *capture;
	u64 cap_time;			/* earliest stamp of the next packet */
	bool cap_engine;		/* stamps are engine time */
	struct fab_port **ports;	/* at @shared, by number less one; NULL: empty place */
	u32 nports;
	u16 width[MLID_LAST - MLID_FIRST + 1];	/* adapters' ports per MLID */
	u32 wide[TOPO_MAX_LINKS + 1];	/* [n]: number of MLIDs that lead to n ports */
	u32 widest;			/* the most ports that one MLID leads to */
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
	bool news;			/* a packet is due earlier than what fab_next() has said */
	pthread_mutex_t lock;		/* see fab_lock() */
};

/* Bytes of multicast copies that one call of fab_poll() makes. */
#define POLL_BYTES	(64u << 10)

/* Counts a hop of a packet.  Returns true if it has more than a path without loops can have. */
static inline bool goes_round(struct fab_packet *p)
{
	return ++p->hops > TOPO_MAX_SWITCHES;
}

/* Do packets travel one by one, through the queues? */
static inline bool fab_queues(const struct fabric *f)
{
	return f->hook || f->nfaults || f->nqueued;
}

/* The port to which the one switch sends a unicast LID; NULL: there is none. */
static inline struct fab_port *shared_port(const struct fabric *f, u16 dlid)
{
	u32 n = dlid <= f->shared->setup.linear_top ? f->shared->linear[dlid] : 0;

	return n && n <= f->nports ? f->ports[n - 1] : NULL;
}

/* Drops packets that have no receiver, and counts them at their sender. */
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
/** switch_make_ports() - make the ports of a switch whose number of ports is known; 0 or -ENOMEM */
int switch_make_ports(struct fab_switch *sw);
/** switch_free() - free a switch, with or without ports; NULL is allowed */
void switch_free(struct fab_switch *sw);
/** switch_recount() - a port's LIDs have changed, or it was plugged in: see fab_port.foreign */
void switch_recount(struct fab_port *port);
/** fab_look() - compute again whether packets pass a port without further checks, see @open */
void fab_look(struct fab_port *port);

/* pass.c */
/** fab_enters() - does the one switch take what a port sends, after all checks? */
bool fab_enters(struct fab_port *port, const struct run *run);
/**
 * fab_takes() - does the one switch send to this port, and the port take it, after all checks?
 * @from: sender, which counts what is lost; NULL: the switch
 */
bool fab_takes(struct fab_port *from, struct fab_port *to, const struct run *run);
/** switch_lets_in() - check the P_Key of a packet that enters; false: it is lost, and counted */
bool switch_lets_in(struct fab_switch *sw, u32 port, const struct fab_packet *p);

/* pool.c */
/** mad_take() - a packet for mad.c; NULL: there are @most already, or there is no memory */
struct fab_packet *mad_take(struct fabric *f, u32 most);
/** mad_copy() - a copy of it, or NULL */
struct fab_packet *mad_copy(struct fabric *f, const struct fab_packet *p);
/** mad_free() - free a packet of mad.c */
void mad_free(struct fabric *f, struct fab_packet *p);

/* mad.c */
extern const struct fab_mad_ops fab_mad_ops;
/** mads_run() - take steps that are due, up to @most; returns how many */
u32 mads_run(struct fabric *f, u32 most);
/** mads_forget() - a port is being unplugged */
void mads_forget(struct fab_port *port);
/** mads_end() - free all packets of mad.c, as the fabric ends */
void mads_end(struct fabric *f);
/** mads_next() - when the next step is due, or UINT64_MAX */
static inline u64 mads_next(const struct fabric *f)
{
	if (list_empty(&f->mads))
		return UINT64_MAX;
	return container_of(f->mads.next, struct fab_packet, link)->due;
}

/* packet.c */
/** fab_pool() - allocate the pool of packets to queue; 0 or -ENOMEM */
int fab_pool(struct fabric *f);
/** fab_take_packet() - take one from the pool; NULL: all are under way */
struct fab_packet *fab_take_packet(struct fabric *f);
/** fab_free_packet() - give one that has arrived, or is lost, back to the pool */
void fab_free_packet(struct fabric *f, struct fab_packet *p);
/**
 * fab_deliver() - a packet has arrived
 * @to: receiver
 * @p: packet; stays the caller's, with @p->at 0 the first time
 * @bytes: of copies that may be made, used up; not 0 at the call
 *
 * Returns false if it has to be called again, because some receivers have not got it yet.
 */
bool fab_deliver(struct fab_port *to, struct fab_packet *p, u32 *bytes);

/* fault.c */
/** fab_faults_meet() - apply the armed faults to a packet; they change @effect */
void fab_faults_meet(struct fabric *f, const struct fab_crossing *c, struct fab_effect *effect);
/** crossing_packet() - fill in the fields of an InfiniBand packet that takes a link */
void crossing_packet(struct fab_crossing *c, const u8 *bytes, u32 len);
/** crossing_frame() - the same for a RoCEv2 frame */
void crossing_frame(struct fab_crossing *c, const u8 *bytes, u32 len);
/** fab_flap_ends() - no fault holds a port down any more */
void fab_flap_ends(struct fab_port *port);
/** fab_flaps_end() - let ports come up whose flaps are over */
void fab_flaps_end(struct fabric *f);

/* queue.c */
/** fab_give() - give packets to their receiver, or queue them */
void fab_give(struct fab_port *from, struct fab_port *to, struct run *run, u64 bytes);
/** fab_queue_run() - send packets one by one; copies those that have to wait */
void fab_queue_run(struct fab_port *from, struct fab_port *to, const struct run *run);
/** fab_queue_drop() - drop the packets that are queued for a port */
void fab_queue_drop(struct fab_port *port);
/** fab_queue_forget() - packets under way from a port go on without a sender */
void fab_queue_forget(const struct fab_port *port);
/** fab_queue_poll() - deliver packets that are due, up to @most; returns how many */
u32 fab_queue_poll(struct fabric *f, u32 most);
/** fab_queue_next() - when the next packet is due, or UINT64_MAX */
u64 fab_queue_next(const struct fabric *f);

/* mcast.c */
/** fab_give_mcast() - fab_give() of a multicast to one of its receivers */
void fab_give_mcast(struct fab_port *from, struct fab_port *to, struct datagram *d, u64 bytes);
/** fab_come_again() - remember that a multicast goes on with port @n at @at; returns false */
bool fab_come_again(struct fab_cursor *c, u32 n, u64 at);
/** shared_receivers() - fab_receivers() of a multicast, for the one switch */
void shared_receivers(const struct fab_port *from, u16 mlid, fab_port_fn fn, void *arg);
/** fab_forward_mcast() - forward to all receivers, or with @c as fab_send_some() */
bool fab_forward_mcast(struct fab_port *from, const struct run *run, u64 bytes,
		       struct fab_cursor *c, u32 *budget);

/** fab_heard() - would another port receive this?  See @heard in struct fab_subnet_ops */
static inline bool fab_heard(const struct fab_port *from, u16 dlid)
{
	const struct fabric *f = from->fabric;

	return !f->subnet || !f->subnet->heard || f->subnet->heard(f->subnet_arg, from, dlid);
}

#endif /* VHCAD_FABRIC_INTERNAL_H */
