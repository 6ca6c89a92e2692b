/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The segment of Ethernet ports, for the files of fabric/ that know it.
 */
#ifndef VHCAD_FABRIC_ETH_INTERNAL_H
#define VHCAD_FABRIC_ETH_INTERNAL_H

#include <pthread.h>

#include "fabric/eth.h"
#include "fabric/internal.h"

#define ETH_BUCKETS	1024u
#define ETH_BOX		(1u << 20)	/* bytes of frames that wait for the engine */

/* Frames, each behind its length in four bytes. */
struct eth_box {
	u8 *bytes;
	u32 len;
};

/**
 * struct eth_segment - a fabric's Ethernet ports
 * @lock: protects what other threads than the engine's touch: @stations, @gids, @enabled, @filling
 *	and @news.  The first three may be read under the engine's lock alone
 * @seed: secret, so that guests cannot choose buckets
 * @stations: entries of all tables by Ethernet address and VLAN
 * @gids: entries of all tables by Ethernet address, VLAN and GID
 * @enabled: number of enabled ports
 * @port: ports, in the order in which they were plugged in
 * @ether: the guests' network adapters, or NULL
 * @far: multicasts go also to those adapters, or to links
 * @out: stands for the network adapters, as sender and as receiver
 * @socket: the other end of the cable of @out, which faults of every link take down as well
 * @filling: frames from the network adapters, as they arrive
 * @taking: frames from there that the engine takes now
 * @taken: bytes of @taking that are done
 * @news: there is something in @filling; atomic
 * @frame: the frame of @taking that is being given to the ports, or NULL
 * @len: bytes of @frame
 * @cursor: which ports have got @frame
 */
struct eth_segment {
	pthread_mutex_t lock;
	u64 seed;
	struct list_head stations[ETH_BUCKETS];
	struct list_head gids[ETH_BUCKETS];
	u32 enabled;
	struct fab_port *port[ETH_PORTS];
	u32 nports;
	struct ether *ether;
	bool far;
	struct fab_port out;
	struct port socket;
	struct eth_box filling, taking;
	u32 taken;
	bool news;
	const u8 *frame;
	u32 len;
	struct fab_cursor cursor;
};

/** fab_all() - number of places for ports, of both link layers and of what is outside */
static inline u32 fab_all(const struct fabric *f)
{
	return f->nports + (f->eth ? f->eth->nports + 1 : 0);
}

/** fab_nth() - the port in one of these places; NULL: it is empty */
static inline struct fab_port *fab_nth(const struct fabric *f, u32 i)
{
	if (i < f->nports)
		return f->ports[i];
	i -= f->nports;
	return i < f->eth->nports ? f->eth->port[i] : &f->eth->out;
}

/* eth_gid.c */
/** eth_gids_init() - no port has an address */
void eth_gids_init(struct eth_segment *s);
/** eth_station() - the first enabled port with this address in this VLAN, or NULL */
struct fab_port *eth_station(struct eth_segment *s, const u8 *mac, u16 vlan);
/** eth_receiver() - the first enabled port whose table has the GID that a path leads to, or NULL */
struct fab_port *eth_receiver(struct eth_segment *s, const struct wire_path *path);
/** eth_gids_clear() - empty a port's table; its owner is not notified */
void eth_gids_clear(struct eth_segment *s, struct fab_port *port);

/* eth.c */
/** eth_segment_of() - a fabric's segment, which is made if there is none; NULL without memory */
struct eth_segment *eth_segment_of(struct fabric *f);
/** eth_segment_free() - free the segment of a fabric that ends; NULL is allowed */
void eth_segment_free(struct eth_segment *s);
/** eth_plug_outside() - give the network adapters their link, if the topology has one for them */
void eth_plug_outside(struct eth_segment *s);
/** eth_unplug() - undo fab_plug_eth() for a port that is unplugged from everything else */
void eth_unplug(struct fab_port *port);
/**
 * eth_goes_active() - Ethernet has no manager that activates ports: true if the port, whose state
 * has changed, has gone on to another state here
 */
static inline bool eth_goes_active(struct port *ib)
{
	u8 on = ib->state == PORT_INIT ? PORT_ARMED : ib->state == PORT_ARMED ? PORT_ACTIVE : 0;

	if (on)
		port_set_state(ib, on);
	return on;
}

/* eth_send.c */
/** eth_send() - fab_send() of an Ethernet port */
void eth_send(struct fab_port *port, struct run *run);
/** eth_send_some() - fab_send_some() of an Ethernet port */
bool eth_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c, u32 *bytes);
/** eth_hears() - does an end of a link take multicasts of this VLAN? */
static inline bool eth_hears(const struct fab_port *port, u16 vlan)
{
	u32 bit = vlan == WIRE_NO_TAG ? 0 : vlan;

	return port->eth->enabled && port->eth->vlans[bit / 64] >> bit % 64 & 1;
}

/** eth_receivers() - fab_receivers() of a multicast */
void eth_receivers(struct eth_segment *s, const struct wire_path *path, fab_port_fn fn, void *arg);
/**
 * eth_arrive() - packets of a sender have arrived; only one if there are several receivers
 * @from: sender
 * @run: packets
 * @c: for a multicast, as for fab_send_some(); NULL: all receivers get it at once
 * @budget: bytes of copies to make at the most, used up; NULL with @c
 *
 * Returns false if it has to be called again with the same packet.
 */
bool eth_arrive(struct fab_port *from, struct run *run, struct fab_cursor *c, u32 *budget);

/* eth_out.c */
/**
 * eth_take() - give a frame from outside, which may hold anything, to the ports
 * @s: segment
 * @frame: the frame
 * @len: its bytes
 * @bytes: of copies to make at the most, used up; NULL: no limit
 *
 * Returns false if it has to be called again with the same frame, because some ports have not got
 * it.
 */
bool eth_take(struct eth_segment *s, const u8 *frame, u32 len, u32 *bytes);
/** eth_has_room() - has the link, if there is one, room for what comes from outside? */
bool eth_has_room(const struct eth_segment *s);
/** eth_poll() - take frames that have come from outside, up to @most; returns how many */
u32 eth_poll(struct fabric *f, u32 most);
/** eth_waiting() - are there frames to take? */
static inline bool eth_waiting(const struct eth_segment *s)
{
	return s->frame || s->taken < s->taking.len || __atomic_load_n(&s->news, __ATOMIC_ACQUIRE);
}

#endif /* VHCAD_FABRIC_ETH_INTERNAL_H */
