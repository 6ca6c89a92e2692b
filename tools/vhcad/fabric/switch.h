/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Switches and their forwarding tables.
 *
 * These tables alone decide the way of every packet, hop by hop: a switch looks a unicast LID up
 * in its linear table, a multicast LID in its multicast table, and sends the packet out of the
 * ports that stand there.  Whoever manages the subnet writes them; nothing in fabric/ does.
 *
 * Switches are counted from 0: those of a topology in the order of topo_switch(); without a
 * topology there is one.  Ports of a switch are counted from 1; port 0 is the switch itself.
 * Everything here runs under the engine's lock.
 */
#ifndef VHCAD_FABRIC_SWITCH_H
#define VHCAD_FABRIC_SWITCH_H

#include "lib/types.h"

/* Ports of the switch that a fabric without a topology is. */
#define SWITCH_MAX_PORTS	256u

struct fabric;

/* A set of ports of a switch, 1..SWITCH_MAX_PORTS. */
struct port_mask {
	u64 word[SWITCH_MAX_PORTS / 64];
};

static inline void port_mask_set(struct port_mask *m, u32 port)
{
	m->word[(port - 1) / 64] |= 1ull << ((port - 1) % 64);
}

static inline void port_mask_clear(struct port_mask *m, u32 port)
{
	m->word[(port - 1) / 64] &= ~(1ull << ((port - 1) % 64));
}

static inline bool port_mask_test(const struct port_mask *m, u32 port)
{
	return m->word[(port - 1) / 64] >> ((port - 1) % 64) & 1;
}

/** port_mask_next - the first port of a set from @port on; 0: there is none */
static inline u32 port_mask_next(const struct port_mask *m, u32 port)
{
	u32 i = (port - 1) / 64;
	u64 word;

	if (i >= ARRAY_SIZE(m->word))
		return 0;
	word = m->word[i] & (~0ull << ((port - 1) % 64));
	while (!word && ++i < ARRAY_SIZE(m->word))
		word = m->word[i];
	return word ? i * 64 + __builtin_ctzll(word) + 1 : 0;
}

static inline bool port_mask_empty(const struct port_mask *m)
{
	return !port_mask_next(m, 1);
}

/** port_mask_for_each - each port of a set, ascending; the one at hand may be cleared */
#define port_mask_for_each(port, m) \
	for ((port) = port_mask_next(m, 1); (port); (port) = port_mask_next(m, (port) + 1))

/** fab_switches - how many switches there are */
u32 fab_switches(const struct fabric *f);

/**
 * fab_switch_set_port - write an entry of a switch's linear forwarding table
 * @f: fabric
 * @sw: switch
 * @lid: 0..LID_LAST
 * @port: by which packets to @lid leave; 0, or a port that nothing is plugged into: they are lost
 *
 * Counts from the next packet on that is the first in its line at the switch.
 */
void fab_switch_set_port(struct fabric *f, u32 sw, u16 lid, u16 port);

/** fab_switch_port - the port by which a switch sends to a unicast LID; 0: none */
u32 fab_switch_port(const struct fabric *f, u32 sw, u16 lid);

/**
 * fab_switch_set_mask - write an entry of a switch's multicast forwarding table
 * @f: fabric
 * @sw: switch
 * @mlid: MLID_FIRST..MLID_LAST
 * @mask: ports that a packet to @mlid leaves by; it never goes back where it came from
 */
void fab_switch_set_mask(struct fabric *f, u32 sw, u16 mlid, const struct port_mask *mask);

/** fab_switch_mask - the ports by which a switch sends to a multicast LID */
const struct port_mask *fab_switch_mask(const struct fabric *f, u32 sw, u16 mlid);

#endif /* VHCAD_FABRIC_SWITCH_H */
