/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Who is behind which port.  A table of fixed size: who comes to the place of another one takes
 * it, and frames to the other one go everywhere until it is heard again.
 */
#ifndef VHCAD_ETHER_STATIONS_H
#define VHCAD_ETHER_STATIONS_H

#include "types.h"

#define MAC_LEN		6u
#define STATIONS	4096u
#define NOWHERE_KNOWN	UINT32_MAX

struct stations {
	struct station {
		u8 mac[MAC_LEN];
		bool known;
		u32 port;
	} at[STATIONS];
};

/** mac_is_group - is it no single station's? */
static inline bool mac_is_group(const u8 *mac)
{
	return mac[0] & 1;
}

/** stations_learn - it was heard at this port */
void stations_learn(struct stations *s, const u8 *mac, u32 port);

/** stations_find - the port where it was heard last, or NOWHERE_KNOWN */
u32 stations_find(const struct stations *s, const u8 *mac);

/** stations_forget - nobody is at this port any more */
void stations_forget(struct stations *s, u32 port);

/** stations_at - how many are behind a port */
u32 stations_at(const struct stations *s, u32 port);

#endif /* VHCAD_ETHER_STATIONS_H */
