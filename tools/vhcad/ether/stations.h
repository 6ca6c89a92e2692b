/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Which stations are behind which port.  An address belongs to the port where it was heard first,
 * until that port is free again: no other port gets what is sent to it, or sends in its name.  The
 * number of addresses of a port is limited, so that none can fill the table; frames to further
 * addresses go to all ports.
 */
#ifndef VHCAD_ETHER_STATIONS_H
#define VHCAD_ETHER_STATIONS_H

#include "ether/ether.h"
#include "lib/types.h"

#define MAC_LEN			6u
#define STATION_ROWS		512u
#define STATION_PLACES		8u	/* in each */
#define STATIONS_OF_PORT	64u
#define NOWHERE_KNOWN		UINT32_MAX

struct stations {
	u64 seed;			/* secret, so that nobody can choose rows */
	u32 behind[ETHER_PORTS];
	struct station {
		u8 mac[MAC_LEN];
		bool known;
		u32 port;
	} at[STATION_ROWS][STATION_PLACES];
};

/** mac_is_group() - is it the address of a group of stations? */
static inline bool mac_is_group(const u8 *mac)
{
	return mac[0] & 1;
}

/** stations_init() - nobody is known */
void stations_init(struct stations *s);

/** stations_learn() - an address was heard at this port; false if it belongs to another one */
bool stations_learn(struct stations *s, const u8 *mac, u32 port);

/** stations_find() - the port that an address belongs to, or NOWHERE_KNOWN */
u32 stations_find(struct stations *s, const u8 *mac);

/** stations_forget() - nobody is at this port any more */
void stations_forget(struct stations *s, u32 port);

/** stations_at() - how many stations are behind a port */
u32 stations_at(const struct stations *s, u32 port);

#endif /* VHCAD_ETHER_STATIONS_H */
