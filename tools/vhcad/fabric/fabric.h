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
 * @rx: packets arrive, those of VL15 included.  Must not send except by fab_send_mad(); the run and
 *	its payload are not valid any more when it has returned
 * @rx_mcast: a multicast arrives; as @rx, but other ports get it too
 * @rx_bytes: a packet arrives that had to travel as bytes, valid or not; NULL: the port takes only
 *	packets that can be parsed
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
 * struct fab_port - an adapter's port, as the fabric sees it
 * @ib: state and tables of the port
 * @ops: what its owner does
 * @owner: for @ops
 * @number: of the port at its adapter, from 1
 * @fabric: fabric that it is plugged into
 * @eth: an Ethernet port; NULL: an InfiniBand port, which most of what follows is about
 * @end: its link in a topology of the fabric, if there is one; also of Ethernet ports
 * @at: number of the switch's port that it is plugged into, from 1
 * @rate: of its link
 * @cap_port: interface of the capture, or -1; also of Ethernet ports, as are the queues
 * @trace_row: of what it sends; set by the owner before the port is plugged in
 * @recorded: its packets are recorded, by the capture or by the trace
 * @open: packets pass it both ways without further checks: this end and the switch's are active,
 *	neither enforces P_Keys, and all that the one switch sends here is to LIDs of the port.  An
 *	Ethernet port's link has to be up, and not one of a topology
 * @foreign: LIDs that the one switch sends here and that are not the port's
 * @plugged: from now on the owner is notified of changes
 * @nmads: packets that wait to leave, of fab_send_mad() and of fab_send_host_mad()
 * @joins: how often it has joined each multicast LID, from MLID_FIRST on; NULL before the first
 * @queue: packets on their way to this port, ordered by arrival time
 * @out_held: packets that it sends arrive no earlier than this, see fab_fault_kind
 * @in_held: the same for packets that are sent to it
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
 * Each sends what its ports send to each other, by fab_send() and fab_send_host_mad(), and a lock
 * protects what it shares with other threads then.  Everything else, fab_poll() included, is called
 * while none of them sends.
 */
void fabric_set_threads(struct fabric *f);

/**
 * fabric_is_single() - does something on the way handle packets one by one?
 * @f: fabric
 *
 * A topology, faults and hooks handle packets in one order of events, so that one thread has to
 * send all of them.
 */
bool fabric_is_single(const struct fabric *f);

/**
 * fabric_set_capture() - record every packet
 * @f: fabric; no port must be plugged in yet
 * @c: capture file; stays the caller's
 */
void fabric_set_capture(struct fabric *f, struct capture *c);

/** fabric_set_stamps() - stamp captures with engine time, so that two runs can be compared */
void fabric_set_stamps(struct fabric *f);

/**
 * fab_plug() - plug a port into the fabric
 * @f: fabric
 * @port: ops, owner, number and ib.guid filled in, the rest zero
 * @name: for captures, and in a topology
 *
 * Its link comes up at once, before the owner is notified of anything.  Returns 0; -ENOSPC: the
 * switch, or the subnet, takes no more ports; -ENOMEM; -ENOENT: the topology has no link for it.
 */
int fab_plug(struct fabric *f, struct fab_port *port, const char *name);

/** fab_unplug() - take a port of either kind out of the fabric; it has left every group */
void fab_unplug(struct fab_port *port);

/**
 * fab_mc_join() - a port joins a multicast LID, once more
 * @port: plugged in
 * @mlid: MLID_FIRST..MLID_LAST, or 0 for a group of Ethernet
 *
 * The fabric's subnet manager is asked to let it; a manager in a guest learns of it from the
 * joining guest.  From now on the port receives what it sends to the LID itself, whatever switches
 * do.  Ethernet ports receive all groups, and nothing happens if port and LID are not of one link
 * layer.  Returns 0 or -ENOMEM.
 */
int fab_mc_join(struct fab_port *port, u16 mlid);

/** path_is_mcast() - does the path lead to a multicast group? */
static inline bool path_is_mcast(const struct wire_path *path)
{
	return path->eth ? mac_is_mcast(path->dmac) : lid_is_mcast(path->dlid);
}

/** fab_mc_leave() - takes back one fab_mc_join() */
void fab_mc_leave(struct fab_port *port, u16 mlid);

/** fab_port_count() - counters of an adapter's port */
void fab_port_count(const struct fab_port *port, struct port_count *c);

/** fab_room() - number of packets that a port may send now without loss */
u32 fab_room(const struct fab_port *port);

/**
 * fab_prefetch() - prefetch the entry of the one switch's table for a LID
 * @port: port of the sender
 * @dlid: destination of the next packets; any value
 *
 * A hint: the table is larger than a first-level cache.
 */
void fab_prefetch(const struct fab_port *port, u16 dlid);

/**
 * fab_send() - send packets
 * @port: sender's port
 * @run: packets; changed
 *
 * They take the route that the switches' forwarding tables say, see fabric/switch.h.  The receiver
 * has got them when this returns, unless the fabric queues them: then it has its own copy.  Packets
 * to a destination that does not exist are lost.  A sender's own copy of its multicast is neither
 * queued nor counted as received.
 */
void fab_send(struct fab_port *port, struct run *run);

/**
 * struct fab_cursor - progress of a multicast that is sent a part at a time
 * @going: sending has begun; it is counted and recorded
 * @next: number of the switch's port that gets it next
 * @at: which receiver of that port is next, as in struct datagram
 */
struct fab_cursor {
	bool going;
	u32 next;
	u64 at;
};

/**
 * fab_send_some() - fab_send() of a multicast, to as many receivers as there is time for
 * @port: sender's port
 * @run: the packet; the same each time
 * @c: all zero the first time, and again when all receivers have got it
 * @bytes: of copies to make at the most, used up; not 0
 *
 * A port that joins the group meanwhile gets it, or does not.  Returns true when all have got it.
 */
bool fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c, u32 *bytes);

/**
 * fab_follow() - where forwarding tables lead
 * @from: sender's InfiniBand port
 * @dlid: a unicast LID
 *
 * Returns the port where the route ends, or NULL: it does not end at a port.
 */
struct fab_port *fab_follow(const struct fab_port *from, u16 dlid);

/**
 * fab_receiver() - the port that receives what takes a path
 * @port: sender's port, of either kind
 * @path: to one receiver
 *
 * Returns the port by the present tables, or NULL: it is outside, or there is none.
 */
struct fab_port *fab_receiver(const struct fab_port *port, const struct wire_path *path);

typedef void (*fab_port_fn)(void *arg, struct fab_port *to);

/**
 * fab_receivers() - the ports that receive what takes a path
 * @port: sender's port, of either kind
 * @path: to one receiver, or to many
 * @fn: called for each of them by the present tables, the sender included if it has joined itself
 * @arg: given to @fn
 *
 * In a topology the receivers of a multicast are not known.
 */
void fab_receivers(struct fab_port *port, const struct wire_path *path, fab_port_fn fn, void *arg);

/**
 * fab_poll() - deliver queued packets whose time has come
 * @f: fabric
 * @now: engine time
 * @most: packets to deliver at the most of each kind: management, from outside, queued, on links
 *
 * Returns the number delivered.
 */
u32 fab_poll(struct fabric *f, u64 now, u32 most);

/** fab_next() - when the next queued packet arrives, or UINT64_MAX */
u64 fab_next(struct fabric *f);

/** fab_idle() - the engine is about to sleep: write out the capture */
void fab_idle(struct fabric *f);

/** fab_now() - engine time in the fabric */
u64 fab_now(const struct fabric *f);

/** fab_set_now() - set the engine time, which arrival times count from */
void fab_set_now(struct fabric *f, u64 now);

/**
 * fab_advance() - set the engine time, on a thread that does not poll the fabric
 * @f: fabric
 * @now: engine time
 *
 * The thread that polls it may sleep for long, and packets that are sent meanwhile have to be timed
 * to about a millisecond.
 */
void fab_advance(struct fabric *f, u64 now);

/**
 * fabric_set_wake() - what to call if packets have come while the engine sleeps
 * @f: fabric
 * @wake: called by any thread; fab_next() tells when the engine has to run
 * @arg: given to @wake
 */
void fabric_set_wake(struct fabric *f, void (*wake)(void *arg), void *arg);

/**
 * struct fab_effect - what happens to one packet on its way
 * @copies: how often it arrives; 0: it is lost
 * @delay: ns that it takes longer
 * @apart: ns between its copies
 * @bit: see @corrupt
 * @cut_until: the link between switches that it takes goes down until this time; 0: it does not
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
 * @hook: called with an effect of one copy and no delay, of which it may change @copies and @delay;
 *	NULL: remove the hook
 * @arg: given to @hook
 *
 * While there is a hook, packets travel one by one, as bytes, through the queues.  With a topology
 * it is called only for packets that a port sends to itself.
 * Returns 0 or -ENOMEM.
 */
int fab_set_packet_hook(struct fabric *f, fab_packet_hook hook, void *arg);

#endif /* VHCAD_FABRIC_H */
