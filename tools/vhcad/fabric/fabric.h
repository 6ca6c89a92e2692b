/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fabric: what all ports of the daemon are plugged into.  For InfiniBand it is one switch that
 * takes no time, or the switches and links of a topology, see topo.h.  Ethernet ports share a
 * segment beside it, see eth.h, which may have a topology of its own.
 *
 * Once ports are plugged in everything here runs under the engine's lock, or on one of its threads;
 * see fabric_set_threads().
 */
#ifndef VHCAD_FABRIC_H
#define VHCAD_FABRIC_H

#include "lib/list.h"
#include "fabric/rate.h"
#include "fabric/run.h"
#include "lib/types.h"
#include "port/port.h"
#include "wire/wire.h"

struct fabric;
struct capture;
struct topo_end;
struct fab_eth;
struct fab_port;

/**
 * struct fab_port_ops - what a port's owner does
 * @rx: packets arrive, those of VL15 included.  Must not send but by fab_send_mad(); the run and
 *	its payload are gone when it returns
 * @rx_mcast: a multicast arrives; as @rx, but other ports get it too
 * @rx_bytes: a packet arrives that had to travel as bytes, whatever they are; NULL: the port takes
 *	only what can be read
 * @state: the port's state was @old and is port->ib.state now
 * @changed: addresses or setup of the port have changed, see struct port_ops
 */
struct fab_port_ops {
	void (*rx)(struct fab_port *port, struct run *run);
	void (*rx_mcast)(struct fab_port *port, struct datagram *d);
	void (*rx_bytes)(struct fab_port *port, const u8 *bytes, u32 len);
	void (*state)(struct fab_port *port, u8 old);
	void (*changed)(struct fab_port *port, u32 what);
};

/**
 * struct fab_port - an adapter's port, where it is plugged into the fabric
 * @ib: the port itself
 * @ops: what its owner does
 * @owner: for @ops
 * @number: of the owner's ports, from 1
 * @fabric: what it is plugged into
 * @eth: an Ethernet port; NULL: InfiniBand's, which most of what follows here is about
 * @end: its link in a topology of the fabric, if there is one; of Ethernet ports, too
 * @at: number of the switch's port that it is plugged into, from 1
 * @rate: of its link
 * @cap_port: interface of the capture, or -1; of Ethernet ports, too, as is what queues need
 * @trace_row: of what it sends; set by the owner before the port is plugged in
 * @recorded: somebody wants to know what it sends: the capture, or the trace
 * @open: packets pass it both ways without a further look: this end and the switch's are active,
 *	neither enforces P_Keys, and all that the one switch sends here is to LIDs of the port.  An
 *	Ethernet port's link has to be up, and not one of a topology
 * @foreign: LIDs that the one switch sends here and that are not the port's
 * @plugged: from now on the owner is told of changes
 * @nmads: packets that wait to leave, of fab_send_mad() and of fab_send_host_mad()
 * @joins: how often it has joined each multicast LID, from MLID_FIRST on; NULL before the first
 * @queue: packets on their way to this port, ordered by arrival time
 * @out_held: what it has sent arrives no earlier, see fab_fault_kind
 * @in_held: the same for what is sent to it
 */
struct fab_port {
	struct port ib;
	const struct fab_port_ops *ops;
	void *owner;
	u8 number;
	struct fabric *fabric;
	struct fab_eth *eth;
	struct topo_end *end;
	u16 at;
	struct fab_rate rate;
	bool open;
	bool plugged;
	bool recorded;
	int cap_port;
	u32 trace_row;
	u32 foreign;
	u32 nmads[2];
	u16 *joins;
	struct list_head queue;
	u64 out_held, in_held;
};

/** fabric_new() - make a switch without ports; NULL without memory */
struct fabric *fabric_new(void);

/**
 * fabric_free() - free a switch
 * @f: fabric without ports, or NULL
 */
void fabric_free(struct fabric *f);

/**
 * fabric_set_threads() - several threads send
 * @f: fabric
 *
 * Each sends what its ports send to each other, by fab_send() and fab_send_host_mad(), and what it
 * shares with other threads then is under a lock.  Everything else, fab_poll() included, is called
 * while none of them sends.
 */
void fabric_set_threads(struct fabric *f);

/**
 * fabric_is_single() - is there anything on the way that treats packets singly?
 * @f: fabric
 *
 * A topology, faults and hooks take packets in the order of one row of events, so that one thread
 * has to send all of them.
 */
bool fabric_is_single(const struct fabric *f);

/**
 * fabric_set_capture() - record every packet
 * @f: fabric; no port must be plugged in yet
 * @c: capture file; stays the caller's
 */
void fabric_set_capture(struct fabric *f, struct capture *c);

/** fabric_set_stamps() - captures have engine time, not the clock's: traces that can be compared */
void fabric_set_stamps(struct fabric *f);

/**
 * fab_plug() - plug a port into the fabric
 * @f: fabric
 * @port: ops, owner, number and ib.guid filled in, the rest zero
 * @name: for captures, and in a topology
 *
 * Its link comes up at once, before the owner is told of anything.  Returns 0; -ENOSPC: the switch,
 * or the subnet, takes no more ports; -ENOMEM; -ENOENT: the topology has no link for it.
 */
int fab_plug(struct fabric *f, struct fab_port *port, const char *name);

/** fab_unplug() - take a port of either kind out of the fabric; it has left every group */
void fab_unplug(struct fab_port *port);

/**
 * fab_mc_join() - a port wants to hear a multicast LID, once more
 * @port: plugged in
 * @mlid: MLID_FIRST..MLID_LAST, or 0 for a group of Ethernet
 *
 * The fabric's subnet is asked to let it; a manager in a guest hears of it from that guest.  What
 * the port itself sends to the LID it hears from now on, whatever switches do.  Ethernet ports hear
 * all groups, and nothing happens where port and LID are of two kinds.  Returns 0 or -ENOMEM.
 */
int fab_mc_join(struct fab_port *port, u16 mlid);

/** path_is_mcast() - do several ports get what takes this path? */
static inline bool path_is_mcast(const struct wire_path *path)
{
	return path->eth ? mac_is_mcast(path->dmac) : lid_is_mcast(path->dlid);
}

/** fab_mc_leave() - takes back one fab_mc_join() */
void fab_mc_leave(struct fab_port *port, u16 mlid);

/** fab_port_count() - what an adapter's port has counted */
void fab_port_count(const struct fab_port *port, struct port_count *c);

/** fab_room() - packets that a port may send now without loss */
u32 fab_room(const struct fab_port *port);

/**
 * fab_prefetch() - have what the one switch's table says of a LID come into the caches
 * @port: sender's port
 * @dlid: where it is about to send; any
 *
 * A hint: the table is larger than a first-level cache.
 */
void fab_prefetch(const struct fab_port *port, u16 dlid);

/**
 * fab_send() - send packets
 * @port: sender's port
 * @run: packets; changed
 *
 * Their way is what the switches' forwarding tables say, see fabric/switch.h.  The receiver has
 * got them when this returns, unless the fabric queues: then it has its own copy.  Packets to
 * nowhere are lost.  What a sender gets of its own multicast is neither queued nor counted as
 * received.
 */
void fab_send(struct fab_port *port, struct run *run);

/**
 * struct fab_cursor - how far a multicast has come that is sent a part at a time
 * @going: it is under way, and counted and recorded
 * @next: number of the switch's port that gets it next
 * @at: of that one's receiver, as in struct datagram
 */
struct fab_cursor {
	bool going;
	u32 next;
	u64 at;
};

/**
 * fab_send_some() - fab_send() of a multicast, to as many as there is time for
 * @port: sender's port
 * @run: the packet; the same each time
 * @c: all zero the first time, and afterwards when all have got it
 * @bytes: of copies to make at the most, used up; not 0
 *
 * Who comes to the group meanwhile gets it, or does not.  Returns true when all have got it.
 */
bool fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c, u32 *bytes);

/**
 * fab_follow() - where forwarding tables lead
 * @from: sender's InfiniBand port
 * @dlid: a unicast LID
 *
 * Returns the port at the end of the way, or NULL: it has no end, or nobody is there.
 */
struct fab_port *fab_follow(const struct fab_port *from, u16 dlid);

/**
 * fab_receiver() - the port that gets what takes a path
 * @port: sender's port, of either kind
 * @path: to one receiver
 *
 * Returns the port as tables are now, or NULL: it is outside, or there is none.
 */
struct fab_port *fab_receiver(const struct fab_port *port, const struct wire_path *path);

typedef void (*fab_port_fn)(void *arg, struct fab_port *to);

/**
 * fab_receivers() - the ports that get what takes a path
 * @port: sender's port, of either kind
 * @path: to one receiver, or to many
 * @fn: called for each of them as tables are now, the sender included if it hears itself
 * @arg: given to @fn
 *
 * In a topology those of multicasts are not known.
 */
void fab_receivers(struct fab_port *port, const struct wire_path *path, fab_port_fn fn, void *arg);

/**
 * fab_poll() - deliver queued packets whose time has come
 * @f: fabric
 * @now: engine time
 * @most: packets to deliver at the most: of management, from outside, queued, and of links each
 *
 * Returns the number delivered.
 */
u32 fab_poll(struct fabric *f, u64 now, u32 most);

/** fab_next() - when the next queued packet arrives, or UINT64_MAX */
u64 fab_next(struct fabric *f);

/** fab_idle() - the engine is about to sleep */
void fab_idle(struct fabric *f);

/** fab_now() - engine time of what happens in the fabric */
u64 fab_now(const struct fabric *f);

/** fab_set_now() - engine time, for arrival times */
void fab_set_now(struct fabric *f, u64 now);

/**
 * fab_advance() - engine time, on a thread that does not poll the fabric
 * @f: fabric
 * @now: as above
 *
 * The thread that does may sleep for long, and what is sent meanwhile has to be in time to about a
 * millisecond.
 */
void fab_advance(struct fabric *f, u64 now);

/**
 * fabric_set_wake() - who is told of packets that have come while the engine slept
 * @f: fabric
 * @wake: called by any thread; fab_next() says the rest
 * @arg: given to @wake
 */
void fabric_set_wake(struct fabric *f, void (*wake)(void *arg), void *arg);

/**
 * struct fab_effect - what happens to one packet on its way
 * @copies: how often it arrives; 0: it is lost
 * @delay: ns that it takes longer
 * @apart: ns between its copies
 * @bit: see @corrupt
 * @cut_until: the link between switches that it takes goes down until then; 0: it does not
 * @overtaken: the packets behind it do not wait for it
 * @corrupt: one bit of it arrives wrong: @bit, modulo the packet's bits
 */
struct fab_effect {
	u32 copies;
	u64 delay;
	u64 apart;
	u64 bit;
	u64 cut_until;
	bool overtaken;
	bool corrupt;
};

typedef void (*fab_packet_hook)(void *arg, const struct fab_port *from, const struct wire_hdr *h,
				struct fab_effect *effect);

/**
 * fab_set_packet_hook() - decide what happens to every packet
 * @f: fabric
 * @hook: called with an effect of one copy and no delay, of which it may change @copies and
 *	@delay; NULL: no hook any more
 * @arg: given to @hook
 *
 * While there is a hook, packets travel singly, as bytes, through the queues.  With a topology it
 * is called only for what a port sends to itself.
 * Returns 0 or -ENOMEM.
 */
int fab_set_packet_hook(struct fabric *f, fab_packet_hook hook, void *arg);

#endif /* VHCAD_FABRIC_H */
