/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of fabric/ share among themselves.
 */
#ifndef VHCAD_FABRIC_INTERNAL_H
#define VHCAD_FABRIC_INTERNAL_H

#include "fabric/fabric.h"
#include "fabric/fault.h"
#include "fabric/subnet.h"
#include "fabric/switch.h"
#include "fabric/topo.h"

/* Packets that can be under way at a time, once anything queues them. */
#define FABRIC_PACKETS	2048u

/**
 * struct fab_packet - a packet under way
 * @due: when it arrives; of one that waits in a topology, since when it does
 * @from, @dlid, @opcode: its sender (NULL: gone), where it goes and what it is; in a topology
 * @out: ports by which it is to leave the switch where it is the first in line
 * @spoiled: a fault has changed a bit of it
 * @at: of a multicast that has arrived: who gets it next, as in struct datagram
 */
struct fab_packet {
	struct list_head link;
	u64 due;
	struct fab_port *from;
	struct port_mask out;
	u16 dlid;
	u8 opcode;
	bool spoiled;
	u32 len;
	u64 at;
	u8 bytes[WIRE_MAX_PKT];
};

/**
 * struct fab_switch - a switch of a topology, or all that a fabric without one is
 * @name: its name in the topology
 * @no: its number
 * @hoq_life: as it was given, see topo_switch()
 * @lifetime: the same in ns; 0: no end
 * @nports: ports with links
 * @out, @in: their links in both directions, by the port's number less one
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
	u64 lifetime;
	u32 nports;
	struct fab_pipe *out[TOPO_SWITCH_PORTS];
	struct fab_pipe *in[TOPO_SWITCH_PORTS];
	struct port_mask adapters;
	u64 no_way;
	u16 linear[LID_LAST + 1];
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
 * @between: a link between switches, else NULL
 * @back: from its second end to its first one
 * @held: of a link between switches, see fab_fault_kind
 */
struct fab_crossing {
	struct fab_port *from, *to;
	struct fab_link *between;
	bool back;
	u64 *held;
};

/* A fabric has either @shared or @topo. */
struct fabric {
	const struct fab_subnet_ops *subnet;	/* NULL: nobody manages it */
	void *subnet_arg;
	struct fab_switch *shared;	/* the one switch, which takes no time */
	struct topo *topo;
	struct capture *capture;
	u64 cap_time;			/* stamp of the next packet, at the earliest */
	bool cap_engine;		/* stamps are engine time */
	struct fab_port **ports;	/* at @shared by their numbers less one; holes are NULL */
	u32 nports;
	u16 width[MLID_LAST - MLID_FIRST + 1];	/* adapters' ports that an MLID leads to */
	u32 wide[TOPO_MAX_LINKS + 1];	/* MLIDs of so many ports */
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
};

/* Do packets travel singly, through the queues? */
static inline bool fab_queues(const struct fabric *f)
{
	return f->hook || f->nfaults || f->nqueued;
}

/* The port to which the one switch leads a unicast LID; NULL: nobody is there. */
static inline struct fab_port *shared_port(const struct fabric *f, u16 dlid)
{
	u32 n = dlid <= LID_LAST ? f->shared->linear[dlid] : 0;

	return n && n <= f->nports ? f->ports[n - 1] : NULL;
}

/* Packets that nobody can get. */
static inline void fab_discard(struct fab_port *port, const struct run *run)
{
	port->ib.discards += run->npkts;
	port->ib.drops += run->npkts;
}

/* packet.c */
/** fab_pool - have packets to queue; 0 or -ENOMEM */
int fab_pool(struct fabric *f);
/** fab_take_packet - one of them; NULL: all are under way */
struct fab_packet *fab_take_packet(struct fabric *f);
/** fab_free_packet - it has arrived, or is lost */
void fab_free_packet(struct fabric *f, struct fab_packet *p);
/**
 * fab_deliver - a packet has arrived
 * @to: receiver
 * @p: packet; stays the caller's, with @p->at 0 the first time
 * @bytes: of copies that may be made, used up; not 0
 *
 * Returns false if it has to be called again, because the port has not given it to all yet.
 */
bool fab_deliver(struct fab_port *to, struct fab_packet *p, u32 *bytes);

/* fault.c */
/** fab_faults_meet - a packet meets the faults that are armed; they change @effect */
void fab_faults_meet(struct fabric *f, const struct fab_crossing *c, u8 opcode,
		     struct fab_effect *effect);
/** fab_flap_ends - nothing holds a port down any more */
void fab_flap_ends(struct fab_port *port);
/** fab_flaps_end - let ports come up whose time is over */
void fab_flaps_end(struct fabric *f);

/* queue.c */
/** fab_queue_run - send packets singly; takes its own copy of those that have to wait */
void fab_queue_run(struct fab_port *from, struct fab_port *to, const struct run *run);
/** fab_queue_drop - what is queued for a port is lost */
void fab_queue_drop(struct fab_port *port);
/** fab_queue_forget - what is under way from a port goes on without a sender */
void fab_queue_forget(const struct fab_port *port);
/** fab_queue_poll - deliver what is due; returns how many packets, up to @most */
u32 fab_queue_poll(struct fabric *f, u32 most);
/** fab_queue_next - when the next one is due, or UINT64_MAX */
u64 fab_queue_next(const struct fabric *f);

/* mcast.c */
/** fab_forward_mcast - to all, or with @c as fab_send_some() */
bool fab_forward_mcast(struct fab_port *from, const struct run *run, u64 bytes,
		       struct fab_cursor *c, u32 *budget);

/* topo.c */
/** topo_plug - a port takes its link; 0, or -ENOENT: there is none of that name */
int topo_plug(struct fab_port *port, const char *name);
/** topo_unplug - it gives it back */
void topo_unplug(struct fab_port *port);

/* pipe.c */
/** topo_send - packets set out; there is room for them, or they are dropped */
void topo_send(struct fab_port *port, const struct run *run);
/** topo_room - packets that a port may send */
u32 topo_room(const struct fab_port *port);
/** topo_port_down - what is under way to and from a port is lost */
void topo_port_down(struct fab_port *port);
/** topo_run - all that happens until then, or until so many packets have arrived; how much did */
u32 topo_run(struct topo *t, u64 now, u32 most);
/** topo_next - when something happens, or UINT64_MAX */
u64 topo_next(struct topo *t);
/** fab_link_flap - hold a link between switches down until then */
void fab_link_flap(struct fab_link *l, u64 until);

/** fab_heard - would another port get this?  See struct fab_subnet_ops */
static inline bool fab_heard(const struct fab_port *from, u16 dlid)
{
	const struct fabric *f = from->fabric;

	return !f->subnet || !f->subnet->heard || f->subnet->heard(f->subnet_arg, from, dlid);
}

#endif /* VHCAD_FABRIC_INTERNAL_H */
