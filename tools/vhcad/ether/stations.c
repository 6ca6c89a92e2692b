// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>
#include <sys/auxv.h>

#include "ether/stations.h"

void stations_init(struct stations *s)
{
	memset(s, 0, sizeof(*s));
	memcpy(&s->seed, (const u8 *)getauxval(AT_RANDOM) + sizeof(s->seed), sizeof(s->seed));
}

static struct station *row_of(struct stations *s, const u8 *mac)
{
	u64 sum = 0;

	memcpy(&sum, mac, MAC_LEN);
	sum *= s->seed | 1;
	return s->at[(sum ^ sum >> 29) * (s->seed | 1) >> 32 & (STATION_ROWS - 1)];
}

static struct station *find(struct stations *s, const u8 *mac)
{
	struct station *row = row_of(s, mac);

	for (u32 i = 0; i < STATION_PLACES; i++)
		if (row[i].known && !memcmp(row[i].mac, mac, MAC_LEN))
			return &row[i];
	return NULL;
}

bool stations_learn(struct stations *s, const u8 *mac, u32 port)
{
	struct station *at = find(s, mac), *row = row_of(s, mac);

	if (at)
		return at->port == port;
	if (s->behind[port] == STATIONS_OF_PORT)
		return true;
	for (u32 i = 0; i < STATION_PLACES; i++) {
		at = &row[i];
		if (at->known)
			continue;
		memcpy(at->mac, mac, MAC_LEN);
		at->port = port;
		at->known = true;
		s->behind[port]++;
		break;
	}
	return true;
}

u32 stations_find(struct stations *s, const u8 *mac)
{
	const struct station *at = find(s, mac);

	return at ? at->port : NOWHERE_KNOWN;
}

void stations_forget(struct stations *s, u32 port)
{
	for (u32 i = 0; i < STATION_ROWS; i++)
		for (u32 k = 0; k < STATION_PLACES; k++)
			if (s->at[i][k].port == port)
				s->at[i][k].known = false;
	s->behind[port] = 0;
}

u32 stations_at(const struct stations *s, u32 port)
{
	return s->behind[port];
}
