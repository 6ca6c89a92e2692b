/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Switches and their forwarding tables.
 *
 * These tables alone decide the route of every packet, hop by hop: a switch looks a unicast LID up
 * in its linear table, a multicast LID in its multicast table, and sends the packet out of the
 * ports in that entry.  The subnet's manager writes them; nothing in fabric/ does.
 *
 * Switches are counted from 0: those of a topology in the order of topo_switch(); without a
 * topology there is one.  Ports of a switch are counted from 1; port 0 is the switch itself.
 * Everything here runs under the engine's lock.
 */
#ifndef VHCAD_FABRIC_SWITCH_H
#define VHCAD_FABRIC_SWITCH_H

#include "lib/types.h"

#define SWITCH_MAX_PORTS	254u
/* Entry of a linear table by which packets are lost. */
#define SWITCH_NO_PORT		255u
#define SWITCH_GUIDS		0x0a56485357000000ull

struct fabric;
struct port;
struct port_count;

/* A set of ports of a switch, 0..SWITCH_MAX_PORTS.  Packets are sent to those from 1 on. */
struct port_mask {
	u64 word[256 / 64];
};

static inline void port_mask_set(struct port_mask *m, u32 port)
{
	m->word[port / 64] |= 1ull << (port % 64);
}

static inline void port_mask_clear(struct port_mask *m, u32 port)
{
	m->word[port / 64] &= ~(1ull << (port % 64));
}

static inline bool port_mask_test(const struct port_mask *m, u32 port)
{
	return m->word[port / 64] >> (port % 64) & 1;
}

/** port_mask_next() - the first port of a set from @port on, which is at least 1; 0: none */
static inline u32 port_mask_next(const struct port_mask *m, u32 port)
{
	u32 i = port / 64;
	u64 word;

	if (i >= ARRAY_SIZE(m->word))
		return 0;
	word = m->word[i] & (~0ull << (port % 64));
	while (!word && ++i < ARRAY_SIZE(m->word))
		word = m->word[i];
	return word ? i * 64 + __builtin_ctzll(word) : 0;
}

static inline bool port_mask_empty(const struct port_mask *m)
{
	return !port_mask_next(m, 1);
}

/** port_mask_for_each() - each port of a set, ascending; the current one may be cleared */
#define port_mask_for_each(port, m) \
	for ((port) = port_mask_next(m, 1); (port); (port) = port_mask_next(m, (port) + 1))

/** fab_switches() - how many switches there are */
u32 fab_switches(const struct fabric *f);

/** fab_switch_name() - a switch's name in its topology, or "switch" */
const char *fab_switch_name(const struct fabric *f, u32 sw);

/** fab_switch_guid() - a switch's GUID: of the node, and of all its ports */
u64 fab_switch_guid(const struct fabric *f, u32 sw);

/** fab_switch_ports() - a switch's external ports, 1..SWITCH_MAX_PORTS of them */
u32 fab_switch_ports(const struct fabric *f, u32 sw);

/**
 * fab_switch_ib() - a port of a switch
 * @f: fabric
 * @sw: switch
 * @n: 0..fab_switch_ports()
 *
 * All that a manager sets is set by the functions of port/port.h.  Port 0 is always active.
 */
struct port *fab_switch_ib(const struct fabric *f, u32 sw, u32 n);

/** fab_switch_count() - counters of a port of a switch, from 0 */
void fab_switch_count(const struct fabric *f, u32 sw, u32 n, struct port_count *c);

/**
 * struct fab_switch_setup - attributes of SwitchInfo that a manager writes and vhcad only keeps
 * @linear_top: unicast LIDs above it are lost; up to LID_SWITCH
 * @default_port, @default_mcast_primary, @default_mcast_notprimary: only kept: the tables have room
 *	for all LIDs
 * @lifetime: LifeTimeValue; only kept: PortInfo:HOQLife of its ports says how long a packet may
 *	wait
 */
struct fab_switch_setup {
	u16 linear_top;
	u8 default_port, default_mcast_primary, default_mcast_notprimary;
	u8 lifetime;
};

/** fab_switch_setup() - what a manager has written; after fabric_new() the top is LID_SWITCH */
const struct fab_switch_setup *fab_switch_setup(const struct fabric *f, u32 sw);

/** fab_switch_set_setup() - write all of it; the caller has checked it */
void fab_switch_set_setup(struct fabric *f, u32 sw, const struct fab_switch_setup *setup);

/**
 * fab_switch_changed() - has a link of the switch come up, or gone down?
 * SwitchInfo:PortStateChange
 */
bool fab_switch_changed(const struct fabric *f, u32 sw);

/** fab_switch_clear_changed() - the manager has read it */
void fab_switch_clear_changed(struct fabric *f, u32 sw);

/**
 * fab_switch_sl2vl() - the VL by which a switch sends a packet, for each SL
 * @f: fabric
 * @sw: switch
 * @in: port that the packet came by; 0: the switch itself
 * @out: port that the packet leaves by, from 1
 *
 * Returns 16 entries, which may be written.
 */
u8 *fab_switch_sl2vl(const struct fabric *f, u32 sw, u32 in, u32 out);

/**
 * fab_switch_set_port() - write an entry of a switch's linear forwarding table
 * @f: fabric
 * @sw: switch
 * @lid: 0..LID_SWITCH
 * @port: by which packets to @lid leave; 0: they are for the switch itself.  SWITCH_NO_PORT, or a
 *	port that nothing is plugged into: they are lost
 *
 * Takes effect with the next packet that becomes the first of its queue at the switch.
 */
void fab_switch_set_port(struct fabric *f, u32 sw, u16 lid, u8 port);

/** fab_switch_port() - what a switch's linear table says of a LID, 0..LID_SWITCH */
u32 fab_switch_port(const struct fabric *f, u32 sw, u16 lid);

/**
 * fab_switch_set_mask() - write an entry of a switch's multicast forwarding table
 * @f: fabric
 * @sw: switch
 * @mlid: MLID_FIRST..MLID_LAST
 * @mask: ports that a packet to @mlid leaves by; it never goes back where it came from
 */
void fab_switch_set_mask(struct fabric *f, u32 sw, u16 mlid, const struct port_mask *mask);

/** fab_switch_mask() - the ports by which a switch sends to a multicast LID */
const struct port_mask *fab_switch_mask(const struct fabric *f, u32 sw, u16 mlid);

#endif /* VHCAD_FABRIC_SWITCH_H */
