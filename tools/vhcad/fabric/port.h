/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ports of the fabric, for the devices that own them.  Everything here runs
 * under the engine's lock.
 */
#ifndef VHCAD_PORT_H
#define VHCAD_PORT_H

#include "engine/list.h"
#include "fabric/fabric.h"
#include "fabric/rate.h"
#include "fabric/run.h"

/* As enum ib_port_state and enum ib_port_phys_state. */
enum port_state {
	PORT_DOWN	= 1,
	PORT_INIT	= 2,
	PORT_ARMED	= 3,
	PORT_ACTIVE	= 4,
};

enum port_phys_state {
	PORT_PHYS_POLLING	= 2,
	PORT_PHYS_DISABLED	= 3,
	PORT_PHYS_LINKUP	= 5,
};

#define PORT_GIDS	8u
#define PORT_PKEYS	32u
#define PKEY_FULL	0x8000u

/* Unicast LIDs of ports; the one above them is the switch's.  Multicast LIDs. */
#define LID_LAST	0xbffeu
#define LID_SWITCH	0xbfffu
#define MLID_FIRST	0xc000u
#define MLID_LAST	0xfffeu

static inline bool lid_is_mcast(u16 lid)
{
	return lid >= MLID_FIRST && lid <= MLID_LAST;
}

struct fab_port;

/**
 * struct fab_port_ops - what a port's owner does
 * @prefetch: a hint: packets for this QP are likely to arrive next; or NULL
 * @rx: packets arrive.  Must not send; the run and its payload are gone when
 *	it returns
 * @rx_mcast: a multicast arrives; as @rx, but other ports get it too
 * @state: the port's state changed from @old to port->state
 */
struct fab_port_ops {
	void (*prefetch)(struct fab_port *port, u32 qpn);
	void (*rx)(struct fab_port *port, struct run *run);
	void (*rx_mcast)(struct fab_port *port, struct datagram *d);
	void (*state)(struct fab_port *port, u8 old);
};

/**
 * struct fab_port - one end of a cable
 * @queue: packets on their way to this port, ordered by arrival time
 * @out_held: what it has sent arrives no earlier, see fab_fault_kind
 * @in_held: the same for what is sent to it
 */
struct fab_port {
	const struct fab_port_ops *ops;
	void *owner;
	u8 number;		/* of the owner's ports, from 1 */
	struct fabric *fabric;
	struct topo_end *end;	/* its link in the fabric's topology, if there is one */
	struct fab_rate rate;	/* of its link */
	int cap_port;		/* interface of the capture, or -1 */
	u64 guid;
	u16 lid;
	u16 sm_lid;
	u8 state;		/* enum port_state */
	u8 phys_state;
	bool cable;		/* plugged in */
	bool enabled;		/* a driver runs the owner */
	u64 flap_until;		/* held down by a fault until then; 0: it is not */
	u8 gid[PORT_GIDS][16];
	u16 pkey[PORT_PKEYS];
	struct link queue;
	u64 out_held, in_held;
	u64 tx_packets, tx_bytes;
	u64 rx_packets, rx_bytes;
	u64 tx_mcast, rx_mcast;	/* packets, counted above as well */
	u64 discards;		/* packets that could not even set out */
	u64 drops;		/* packets that arrived nowhere, counted by the sender */
	u64 bad;		/* packets that arrived spoiled */
};

/**
 * fab_plug - plug a port into the switch
 * @f: fabric
 * @port: ops, owner, number and guid filled in, the rest zero
 * @name: for captures
 *
 * The port is down until it is enabled.  Returns 0, -ENOSPC, -ENOMEM, or -ENOENT: the
 * topology has no link for it.
 */
int fab_plug(struct fabric *f, struct fab_port *port, const char *name);

/** fab_unplug - take a port off the switch; it has left every group */
void fab_unplug(struct fab_port *port);

/** fab_port_enable - the owner's driver started or stopped */
void fab_port_enable(struct fab_port *port, bool on);

/** fab_port_cable - plug or pull the cable */
void fab_port_cable(struct fab_port *port, bool plugged);

/** fab_static - is it the operator who gives ports their addresses? */
bool fab_static(const struct fabric *f);

/**
 * fab_port_set_lid - give a port another LID
 * @port: plugged into a switch with a static subnet
 * @lid: 1..LID_LAST
 *
 * Packets under way to the old one still arrive.  Returns 0, or -EBUSY when
 * another port has it.
 */
int fab_port_set_lid(struct fab_port *port, u16 lid);

/**
 * fab_mc_join - a port wants to hear a multicast LID, once more
 * @port: plugged in
 * @mlid: MLID_FIRST..MLID_LAST
 *
 * Returns 0 or -ENOMEM.
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
 * The receiver has got them when this returns, unless the switch queues: then
 * it has its own copy.  Packets to nowhere are lost.  Multicasts go to every
 * port that hears them, the sender's included: what it gets of its own is
 * neither queued nor counted as received.
 */
void fab_send(struct fab_port *port, struct run *run);

/**
 * struct fab_cursor - how far a multicast has come that is sent a part at a time
 * @going: it is under way, and counted and recorded
 * @member: number of the port that gets it next, in the group
 * @at: of that one's receiver, as in struct datagram
 */
struct fab_cursor {
	bool going;
	u64 member, at;
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

/** fab_route - the port that has a LID, or NULL */
struct fab_port *fab_route(const struct fab_port *from, u16 dlid);

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
 * @overtaken: the packets behind it do not wait for it
 * @corrupt: one bit of it arrives wrong: @bit, modulo the packet's bits
 */
struct fab_effect {
	u32 copies;
	u64 delay;
	u64 apart;
	u64 bit;
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

#endif /* VHCAD_PORT_H */
