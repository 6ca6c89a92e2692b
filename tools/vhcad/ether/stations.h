/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Who is behind which port.  An address is its first owner's until that port is free again:
 * nobody else gets what is sent to it, or speaks in its name.  A port has so many addresses and
 * no more, so that none can fill the table; frames to those beyond go everywhere.
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
	u64 seed;			/* nobody outside chooses which row it is */
	u32 behind[ETHER_PORTS];
	struct station {
		u8 mac[MAC_LEN];
		bool known;
		u32 port;
	} at[STATION_ROWS][STATION_PLACES];
};

/** mac_is_group - is it no single station's? */
static inline bool mac_is_group(const u8 *mac)
{
	return mac[0] & 1;
}

/** stations_init - nobody is known */
void stations_init(struct stations *s);

/** stations_learn - it was heard at this port; false: it is somebody's at another one */
bool stations_learn(struct stations *s, const u8 *mac, u32 port);

/** stations_find - the port that it belongs to, or NOWHERE_KNOWN */
u32 stations_find(struct stations *s, const u8 *mac);

/** stations_forget - nobody is at this port any more */
void stations_forget(struct stations *s, u32 port);

/** stations_at - how many are behind a port */
u32 stations_at(const struct stations *s, u32 port);

#endif /* VHCAD_ETHER_STATIONS_H */
