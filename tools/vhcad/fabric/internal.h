/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of fabric/ share among themselves.
 */
#ifndef VHCAD_FABRIC_INTERNAL_H
#define VHCAD_FABRIC_INTERNAL_H

#include "fabric/fault.h"
#include "fabric/port.h"

/* Packets that can be under way at a time, once anything queues them. */
#define FABRIC_PACKETS	2048u

/**
 * struct fab_packet - a packet under way
 * @due: when it arrives; of one that waits in a topology, since when it does
 * @from, @dlid, @opcode: its sender (NULL: gone), where it goes and what it is; in a topology
 * @ways: ports by which it is to leave the switch where it is the first in line
 * @spoiled: a fault has changed a bit of it
 * @at: of a multicast that has arrived: who gets it next, as in struct datagram
 */
struct fab_packet {
	struct link link;
	u64 due;
	struct fab_port *from;
	u64 ways;
	u16 dlid;
	u8 opcode;
	bool spoiled;
	u32 len;
	u64 at;
	u8 bytes[WIRE_MAX_PKT];
};

/* The ports that hear a multicast LID. */
struct fab_group {
	u32 n, room;
	u64 *ways;			/* of each switch of a topology, a bit a port */
	struct fab_member {
		struct fab_port *port;
		u64 number;		/* ascending; none comes again */
		u32 joins;
	} member[];
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

/* The tables are mostly zeros that nobody ever touches. */
struct fabric {
	enum fabric_subnet subnet;
	struct topo *topo;		/* NULL: one switch that takes no time */
	struct capture *capture;
	u64 cap_time;			/* stamp of the next packet, at the earliest */
	bool cap_engine;		/* stamps are engine time */
	struct fab_port **ports;	/* in the order they were plugged; holes are NULL */
	u32 nports;
	struct fab_port *route[LID_LAST + 1];
	struct fab_group *group[MLID_LAST - MLID_FIRST + 1];
	u32 *wide;			/* groups of so many ports, up to nports */
	u32 widest;			/* most ports of a group */
	u64 last_member;		/* number that was given last */
	u64 now;
	fab_packet_hook hook;
	void *hook_arg;
	struct fab_armed fault[FAB_MAX_FAULTS];
	u32 nfaults;
	u32 nflapped;			/* ports that a fault holds down */
	struct fab_packet *pool;
	struct link free;
	u32 nfree;
	u32 nqueued;
};

/* Do packets travel singly, through the queues? */
static inline bool fab_queues(const struct fabric *f)
{
	return f->hook || f->nfaults || f->nqueued;
}

/* fabric.c: packets that nobody can get */
void fab_discard(struct fab_port *port, const struct run *run);
/** fab_port_flap - hold a port down until then */
void fab_port_flap(struct fab_port *port, u64 until);
/** fab_flaps_end - let ports come up whose time is over */
void fab_flaps_end(struct fabric *f);

/* mcast.c */
/** fab_forward_mcast - to all, or with @c as fab_send_some() */
bool fab_forward_mcast(struct fab_port *from, const struct run *run, u64 bytes,
		       struct fab_cursor *c, u32 *budget);

/* fault.c: @effect is changed by the faults that the packet meets */
void fab_faults_meet(struct fabric *f, const struct fab_crossing *c, u8 opcode,
		     struct fab_effect *effect);

/* queue.c */
/** fab_pool - have packets to queue; 0 or -ENOMEM */
int fab_pool(struct fabric *f);
/** fab_queue_run - send packets singly; takes its own copy of those that have to wait */
void fab_queue_run(struct fab_port *from, struct fab_port *to, const struct run *run);
void fab_queue_drop(struct fab_port *port);
/** fab_queue_forget - what is under way from a port goes on without a sender */
void fab_queue_forget(const struct fab_port *port);
/**
 * fab_deliver - a packet has arrived
 * @to: receiver
 * @p: packet; stays the caller's, with @p->at 0 the first time
 * @bytes: of copies that may be made, used up; not 0
 *
 * Returns false if it has to be called again, because the port has not given it to all yet.
 */
bool fab_deliver(struct fab_port *to, struct fab_packet *p, u32 *bytes);

/* topo.c */
/** topo_plug - a port takes its link; 0, or -ENOENT: there is none of that name */
int topo_plug(struct fab_port *port, const char *name);
void topo_unplug(struct fab_port *port);
/** topo_port_down - what is under way to and from a port is lost */
void topo_port_down(struct fab_port *port);

/* pipe.c */
/** topo_send - packets set out; there is room for them, or they are dropped */
void topo_send(struct fab_port *port, const struct run *run);
/** topo_room - packets that a port may send */
u32 topo_room(const struct fab_port *port);
/** topo_run - all that happens until then, or until so many packets have arrived; how much did */
u32 topo_run(struct topo *t, u64 now, u32 most);
/** topo_next - when something happens, or UINT64_MAX */
u64 topo_next(struct topo *t);
/** fab_link_flap - hold a link between switches down until then */
void fab_link_flap(struct fab_link *l, u64 until);

/* ways.c */
/** ways_mcast - ports of a switch that lead to a multicast LID's members, along one tree */
void fab_mc_reroute(struct fabric *f);

void ways_mcast(const struct topo *t, const struct fab_group *g, u16 mlid, u64 *mask);

#endif /* VHCAD_FABRIC_INTERNAL_H */
