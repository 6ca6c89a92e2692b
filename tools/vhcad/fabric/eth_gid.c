// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tables of GIDs, and which port has an address: of two ports that claim one, the first has it.
 */
#include <string.h>
#include <sys/auxv.h>

#include "fabric/eth_internal.h"
#include "lib/bytes.h"
#include "lib/hash.h"

void eth_gids_init(struct eth_segment *s)
{
	memcpy(&s->seed, (const void *)getauxval(AT_RANDOM), sizeof(s->seed));
	for (u32 i = 0; i < ETH_BUCKETS; i++) {
		INIT_LIST_HEAD(&s->stations[i]);
		INIT_LIST_HEAD(&s->gids[i]);
	}
}

static u32 bucket(const struct eth_segment *s, u64 key)
{
	return hash_seeded(key, s->seed) >> 40 & (ETH_BUCKETS - 1);
}

static u64 station_key(const u8 *mac, u16 vlan)
{
	return (u64)get_be32(mac) << 32 | (u32)get_be16(mac + 4) << 16 | vlan;
}

static struct list_head *station_bucket(struct eth_segment *s, const u8 *mac, u16 vlan)
{
	return &s->stations[bucket(s, station_key(mac, vlan))];
}

static struct list_head *gid_bucket(struct eth_segment *s, const u8 *gid, const u8 *mac, u16 vlan)
{
	/*
	 * each is hashed in turn: keys with one sum, which a guest could choose, must not share a
	 * bucket
	 */
	u64 key = hash_seeded(hash_seeded(station_key(mac, vlan), s->seed) ^ get_be64(gid),
			      s->seed);

	return &s->gids[bucket(s, key ^ get_be64(gid + 8))];
}

static bool same_station(const struct eth_addr *a, const u8 *mac, u16 vlan)
{
	return a->vlan == vlan && !memcmp(a->mac, mac, sizeof(a->mac));
}

struct fab_port *eth_station(struct eth_segment *s, const u8 *mac, u16 vlan)
{
	list_for_each_safe(l, station_bucket(s, mac, vlan)) {
		struct eth_gid *g = container_of(l, struct eth_gid, in_stations);

		if (g->port->eth->enabled && same_station(&g->addr, mac, vlan))
			return g->port;
	}
	return NULL;
}

struct fab_port *eth_receiver(struct eth_segment *s, const struct wire_path *path)
{
	u16 vlan = roce_vlan(path->vlan);

	list_for_each_safe(l, gid_bucket(s, path->dgid, path->dmac, vlan)) {
		struct eth_gid *g = container_of(l, struct eth_gid, in_gids);

		if (g->port->eth->enabled && same_station(&g->addr, path->dmac, vlan) &&
		    !memcmp(g->addr.gid, path->dgid, sizeof(path->dgid)))
			return g->port;
	}
	return NULL;
}

static void count_vlans(struct fab_eth *eth)
{
	memset(eth->vlans, 0, sizeof(eth->vlans));
	for (u32 i = 0; i < ETH_GIDS; i++) {
		const struct eth_gid *g = &eth->gid[i];
		u16 vlan = g->addr.vlan == WIRE_NO_TAG ? 0 : g->addr.vlan;

		if (g->valid)
			eth->vlans[vlan / 64] |= 1ull << vlan % 64;
	}
}

static void take_out(struct eth_gid *g)
{
	if (!g->valid)
		return;
	g->valid = false;
	list_del_init(&g->in_stations);
	list_del_init(&g->in_gids);
}

/* A strict port receives at its own address alone, so entries with others are not looked up. */
static void put_in(struct eth_segment *s, struct eth_gid *g, const struct eth_addr *a)
{
	const struct fab_eth *eth = g->port->eth;

	g->valid = true;
	g->addr = *a;
	if (eth->strict && memcmp(a->mac, eth->mac, sizeof(a->mac)))
		return;
	list_add_tail(&g->in_stations, station_bucket(s, a->mac, a->vlan));
	list_add_tail(&g->in_gids, gid_bucket(s, a->gid, a->mac, a->vlan));
}

void fab_eth_set_gid(struct fab_port *port, u32 i, const struct eth_addr *addr)
{
	struct eth_segment *s = port->fabric->eth;
	struct eth_gid *g = &port->eth->gid[i];

	pthread_mutex_lock(&s->lock);
	take_out(g);
	if (addr)
		put_in(s, g, addr);
	pthread_mutex_unlock(&s->lock);
	count_vlans(port->eth);
	port->ops->changed(port, PORT_GID_CHANGED);
}

void eth_gids_clear(struct eth_segment *s, struct fab_port *port)
{
	pthread_mutex_lock(&s->lock);
	for (u32 i = 0; i < ETH_GIDS; i++)
		take_out(&port->eth->gid[i]);
	pthread_mutex_unlock(&s->lock);
	count_vlans(port->eth);
}
