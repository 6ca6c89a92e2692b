/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Ethernet ports: they share a segment, in which packets go where their Ethernet address, VLAN and
 * GID say, and which may be joined with that of the guests' network adapters (ether/ether.h).
 * Without a topology of Ethernet the segment takes no time.
 *
 * An Ethernet port is active while its cable is plugged in.  Its driver writes the table of its
 * GIDs and enables it: before that it neither sends nor receives, and frames for its addresses go
 * to the network adapter that has them.  Everything here runs under the engine's lock.
 */
#ifndef VHCAD_FABRIC_ETH_H
#define VHCAD_FABRIC_ETH_H

#include "fabric/fabric.h"
#include "wire/wire.h"

struct ether;

#define ETH_GIDS	255u
#define ETH_PORTS	256u		/* of a fabric */

/**
 * struct eth_addr - an address that a port sends from and receives at
 * @mac: Ethernet address
 * @vlan: 1..4094, or WIRE_NO_TAG
 * @gid: IPv6 address, or an IPv4 address mapped to IPv6
 */
struct eth_addr {
	u8 mac[WIRE_MAC_LEN];
	u16 vlan;
	u8 gid[16];
};

/**
 * struct eth_gid - an entry of a port's table
 * @valid: the entry is in use
 * @addr: its address
 * @port: the port that has the table
 * @in_stations, @in_gids: links in the segment's tables of the same names
 */
struct eth_gid {
	bool valid;
	struct eth_addr addr;
	struct fab_port *port;
	struct list_head in_stations, in_gids;
};

/**
 * struct fab_eth - what only Ethernet ports have
 * @mac: permanent address
 * @strict: packets of other addresses are neither sent nor taken
 * @enabled: a driver has enabled the port
 * @socket: the other end of its cable
 * @spoofed: packets that were not sent because the port is strict
 * @vlans: VLANs of the table's entries, a bit each; 0: none
 * @gid: the table
 */
struct fab_eth {
	u8 mac[WIRE_MAC_LEN];
	bool strict;
	bool enabled;
	struct port socket;
	u64 spoofed;
	u64 vlans[4096 / 64];
	struct eth_gid gid[ETH_GIDS];
};

/**
 * fab_plug_eth() - make an Ethernet port
 * @f: fabric
 * @port: ops, owner, number and ib.guid filled in, the rest zero
 * @name: for captures, and in a topology
 * @mac: permanent address
 * @strict: see struct fab_eth
 *
 * Its link comes up at once, before the owner is notified of anything.  fab_unplug() undoes it.
 * Returns 0; -ENOSPC: there are ETH_PORTS already; -ENOMEM; -ENOENT: the topology of Ethernet has
 * no link for it.
 */
int fab_plug_eth(struct fabric *f, struct fab_port *port, const char *name, const u8 *mac,
		 bool strict);

/**
 * fab_eth_set_gid() - write an entry of the table
 * @port: Ethernet port
 * @i: entry, below ETH_GIDS
 * @addr: NULL: the entry is not in use any more
 *
 * The owner is notified that GIDs have changed.
 */
void fab_eth_set_gid(struct fab_port *port, u32 i, const struct eth_addr *addr);

/** fab_eth_enable() - begin or stop to receive packets for the port's addresses */
void fab_eth_enable(struct fab_port *port, bool enabled);

/** fab_eth_reset() - the port is as after fab_plug_eth(), except for its counters */
void fab_eth_reset(struct fab_port *port);

/**
 * fabric_set_ether() - join Ethernet ports with the segment of the guests' network adapters
 * @f: fabric, whose topologies are set
 * @e: segment that has not been started; is freed before the fabric
 *
 * With a topology of Ethernet they are joined by the link to TOPO_OUTSIDE, and without that link
 * not at all.
 * Returns 0 or -ENOMEM.
 */
int fabric_set_ether(struct fabric *f, struct ether *e);

#endif /* VHCAD_FABRIC_ETH_H */
