/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which MAC address is at which port.  An address belongs to the port that was the first to send
 * from it, until that port's client disconnects: no other port receives what is sent to it, or
 * sends from it.  The number of addresses of a port is limited, so that no client can fill the
 * table; frames to further addresses go to all ports.
 */
#ifndef VHCAD_ETHER_STATIONS_H
#define VHCAD_ETHER_STATIONS_H

#include "ether/ether.h"
#include "lib/types.h"

#define MAC_LEN			6u
#define STATION_ROWS		512u
#define STATION_PLACES		8u	/* in each row */
#define STATIONS_OF_PORT	64u
#define NOWHERE_KNOWN		UINT32_MAX

struct stations {
	u64 seed;			/* secret, so that no client can choose rows */
	u32 behind[ETHER_PORTS];
	struct station {
		u8 mac[MAC_LEN];
		bool known;
		u32 port;
	} at[STATION_ROWS][STATION_PLACES];
};

/** mac_is_group() - is it a multicast or the broadcast address? */
static inline bool mac_is_group(const u8 *mac)
{
	return mac[0] & 1;
}

/** stations_init() - begin with no addresses */
void stations_init(struct stations *s);

/** stations_learn() - a port has sent from this address; false if it belongs to another port */
bool stations_learn(struct stations *s, const u8 *mac, u32 port);

/** stations_find() - the port that an address belongs to, or NOWHERE_KNOWN */
u32 stations_find(struct stations *s, const u8 *mac);

/** stations_forget() - forget all addresses of a port */
void stations_forget(struct stations *s, u32 port);

/** stations_at() - the number of addresses of a port */
u32 stations_at(const struct stations *s, u32 port);

#endif /* VHCAD_ETHER_STATIONS_H */
