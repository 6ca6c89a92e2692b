// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>

#include "ether/stations.h"

static u32 place_of(const u8 *mac)
{
	u32 h = 0;

	for (u32 i = 0; i < MAC_LEN; i++)
		h = (h ^ mac[i]) * 0x01000193u;
	return (h ^ h >> 15) % STATIONS;
}

void stations_learn(struct stations *s, const u8 *mac, u32 port)
{
	struct station *at = &s->at[place_of(mac)];

	memcpy(at->mac, mac, MAC_LEN);
	at->port = port;
	at->known = true;
}

u32 stations_find(const struct stations *s, const u8 *mac)
{
	const struct station *at = &s->at[place_of(mac)];

	return at->known && !memcmp(at->mac, mac, MAC_LEN) ? at->port : NOWHERE_KNOWN;
}

void stations_forget(struct stations *s, u32 port)
{
	for (u32 i = 0; i < STATIONS; i++)
		if (s->at[i].port == port)
			s->at[i].known = false;
}

u32 stations_at(const struct stations *s, u32 port)
{
	u32 n = 0;

	for (u32 i = 0; i < STATIONS; i++)
		n += s->at[i].known && s->at[i].port == port;
	return n;
}
