/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fabric: what all InfiniBand ports of the daemon are plugged into.  It is one switch that
 * takes no time, or the switches and links of a topology, see topo.h.
 *
 * Once ports are plugged in everything here runs under the engine's lock.
 */
#ifndef VHCAD_FABRIC_H
#define VHCAD_FABRIC_H

#include "lib/list.h"
#include "fabric/rate.h"
#include "fabric/run.h"
#include "lib/types.h"
#include "port/port.h"

struct fabric;
struct capture;
struct topo_end;
struct fab_port;

/**
 * struct fab_port_ops - what a port's owner does
 * @prefetch: a hint: packets for this QP are likely to arrive next; or NULL
 * @rx: packets arrive.  Must not send; the run and its payload are gone when
 *	it returns
 * @rx_mcast: a multicast arrives; as @rx, but other ports get it too
 * @state: the port's state was @old and is port->ib.state now.  Not told of PORT_ARMED: to the
 *	owner that is the same as PORT_INIT
 * @changed: the port's addresses have changed, see struct port_ops
 */
struct fab_port_ops {
	void (*prefetch)(struct fab_port *port, u32 qpn);
	void (*rx)(struct fab_port *port, struct run *run);
	void (*rx_mcast)(struct fab_port *port, struct datagram *d);
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
 * @end: its link in the fabric's topology, if there is one
 * @at: number of the switch's port that it is plugged into, from 1
 * @rate: of its link
 * @cap_port: interface of the capture, or -1
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
	struct topo_end *end;
	u16 at;
	struct fab_rate rate;
	int cap_port;
	struct list_head queue;
	u64 out_held, in_held;
};

/** fabric_new - make a switch without ports; NULL without memory */
struct fabric *fabric_new(void);

/**
 * fabric_free - free a switch
 * @f: fabric without ports, or NULL
 */
void fabric_free(struct fabric *f);

/**
 * fabric_set_capture - record every packet
 * @f: fabric; no port must be plugged in yet
 * @c: capture file; stays the caller's
 */
void fabric_set_capture(struct fabric *f, struct capture *c);

/** fabric_set_stamps - captures have engine time, not the clock's: traces that can be compared */
void fabric_set_stamps(struct fabric *f);

/**
 * fab_plug - plug a port into the fabric
 * @f: fabric
 * @port: ops, owner, number and ib.guid filled in, the rest zero
 * @name: for captures, and in a topology
 *
 * The port is down until port_enable().  Returns 0; -ENOSPC: the switch, or the subnet, takes no
 * more ports; -ENOMEM; -ENOENT: the topology has no link for it.
 */
int fab_plug(struct fabric *f, struct fab_port *port, const char *name);

/** fab_unplug - take a port out of the fabric; it has left every group */
void fab_unplug(struct fab_port *port);

/**
 * fab_mc_join - a port wants to hear a multicast LID, once more
 * @port: plugged in
 * @mlid: MLID_FIRST..MLID_LAST
 *
 * The fabric's subnet is asked to let it.  Returns 0 or -ENOMEM.
 */
int fab_mc_join(struct fab_port *port, u16 mlid);

/** fab_mc_leave - takes back one fab_mc_join() */
void fab_mc_leave(struct fab_port *port, u16 mlid);

/** fab_room - packets that a port may send now without loss */
u32 fab_room(const struct fab_port *port);

/**
 * fab_send - send packets
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
 * fab_send_some - fab_send() of a multicast, to as many as there is time for
 * @port: sender's port
 * @run: the packet; the same each time
 * @c: all zero the first time, and afterwards when all have got it
 * @bytes: of copies to make at the most, used up; not 0
 *
 * Who comes to the group meanwhile gets it, or does not.  Returns true when all have got it.
 */
bool fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c, u32 *bytes);

/**
 * fab_follow - where forwarding tables lead
 * @from: sender's port
 * @dlid: a unicast LID
 *
 * Returns the port at the end of the way, or NULL: it has no end, or nobody is there.
 */
struct fab_port *fab_follow(const struct fab_port *from, u16 dlid);

/** fab_prefetch - a hint: what is sent next is likely to take this path */
void fab_prefetch(const struct fab_port *port, const struct wire_path *path);

/**
 * fab_poll - deliver queued packets whose time has come
 * @f: fabric
 * @now: engine time
 * @most: packets to deliver at the most
 *
 * Returns the number delivered.
 */
u32 fab_poll(struct fabric *f, u64 now, u32 most);

/** fab_next - when the next queued packet arrives, or UINT64_MAX */
u64 fab_next(const struct fabric *f);

/** fab_idle - the engine is about to sleep */
void fab_idle(struct fabric *f);

/** fab_set_now - engine time, for arrival times */
void fab_set_now(struct fabric *f, u64 now);

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
 * fab_set_packet_hook - decide what happens to every packet
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
