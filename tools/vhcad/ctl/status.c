// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands about whole adapters: "status", "counters", "objects", "work".
 */
#include <stdio.h>
#include <string.h>

#include "ctl/request.h"
#include "dev/device.h"
#include "dev/listing.h"
#include "engine/adapter.h"
#include "server/server.h"

static const char *port_state(u32 state)
{
	static const char *const names[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE" };

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

#define COUNTER(name)	{ #name, offsetof(struct vport_stats, name) }

static const struct {
	const char *name;
	u32 offset;
} port_counters[] = {
	COUNTER(tx_packets),
	COUNTER(tx_bytes),
	COUNTER(rx_packets),
	COUNTER(rx_bytes),
	COUNTER(tx_mcast_packets),
	COUNTER(rx_mcast_packets),
	COUNTER(tx_discards),
	COUNTER(rx_no_qp),
	COUNTER(rx_no_receive),
	COUNTER(rx_uc_gaps),
	COUNTER(qkey_violations),
	COUNTER(pkey_violations),
	COUNTER(rnr_naks_sent),
	COUNTER(rnr_naks_received),
	COUNTER(seq_naks_sent),
	COUNTER(seq_naks_received),
	COUNTER(error_naks_sent),
	COUNTER(error_naks_received),
	COUNTER(duplicates),
	COUNTER(timeouts),
};

static struct json_object *counters_of(const struct vdev_status *st, u32 port)
{
	const u8 *stats = (const u8 *)&st->port[port].stats;
	struct json_object *o = json_object_new_object();

	request_add_u64(o, "port", port + 1);
	for (u32 i = 0; i < ARRAY_SIZE(port_counters); i++)
		request_add_u64(o, port_counters[i].name,
				*(const u64 *)(stats + port_counters[i].offset));
	request_add_u64(o, "drops", st->port[port].drops);
	request_add_u64(o, "bad", st->port[port].bad);
	return o;
}

static void add_ethernet(struct json_object *o, const struct vdev_eth_status *eth)
{
	const u8 *m = eth->mac;
	char mac[20];

	snprintf(mac, sizeof(mac), "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4],
		 m[5]);
	request_add_word(o, "mac", mac);
	request_add_bool(o, "enabled", eth->enabled);
	request_add_u64(o, "gids", eth->gids);
	request_add_u64(o, "spoofed", eth->spoofed);
}

static struct json_object *port_of(const struct vdev_status *st, u32 port)
{
	struct json_object *o = json_object_new_object();

	request_add_u64(o, "port", port + 1);
	request_add_word(o, "state", port_state(st->port[port].state));
	request_add_u64(o, "lid", st->port[port].lid);
	request_add_bool(o, "cable", st->port[port].cable);
	request_add_word(o, "link", st->port[port].eth.ethernet ? "eth" : "ib");
	if (st->port[port].eth.ethernet)
		add_ethernet(o, &st->port[port].eth);
	return o;
}

static struct json_object *objects_of(const struct ctl_hca *hca)
{
	struct json_object *o = json_object_new_object();
	struct vdev_status st;

	vdev_status(hca->dev, &st);
	request_add_u64(o, "uars", st.uars);
	request_add_u64(o, "eqs", st.eqs);
	request_add_u64(o, "pds", st.pds);
	request_add_u64(o, "mkeys", st.mkeys);
	request_add_u64(o, "cqs", st.cqs);
	request_add_u64(o, "srqs", st.srqs);
	request_add_u64(o, "xrcds", st.xrcds);
	request_add_u64(o, "counters", st.counters);
	request_add_u64(o, "qps", st.qps);
	request_add_u64(o, "mcgs", st.mcgs);
	return o;
}

/* Adds a page of the list of adapters, each with its name and what @describe adds to it. */
static void add_hcas(struct request *r, u32 from,
		     void (*describe)(const struct ctl_hca *hca, struct json_object *o))
{
	struct json_object *list = json_object_new_array();
	u32 end = MIN(r->nhcas, from + VLIST_PAGE);

	for (u32 i = from; i < end; i++) {
		struct json_object *o = json_object_new_object();

		request_add_word(o, "name", r->hca[i].name);
		describe(&r->hca[i], o);
		json_object_array_add(list, o);
	}
	json_object_object_add(r->out, "hcas", list);
}

/* Says where the next page begins, if there is one. */
static void add_next(struct request *r, u32 from)
{
	if (from + VLIST_PAGE < r->nhcas)
		request_add_u64(r->out, "next", from + VLIST_PAGE);
}

static void add_ports(struct json_object *o, const struct vdev_status *st,
		      struct json_object *(*describe)(const struct vdev_status *st, u32 port))
{
	struct json_object *ports = json_object_new_array();

	for (u32 p = 0; p < st->ports; p++)
		json_object_array_add(ports, describe(st, p));
	json_object_object_add(o, "ports", ports);
}

static void add_status(const struct ctl_hca *hca, struct json_object *o)
{
	struct engine_status engine;
	struct adapter_status work;
	struct vdev_status st;
	char guid[24];

	vdev_status(hca->dev, &st);
	snprintf(guid, sizeof(guid), "0x%016llx", (unsigned long long)st.node_guid);
	request_add_word(o, "node_guid", guid);
	request_add_word(o, "socket", hca->socket);
	request_add_bool(o, "guest", server_connected(hca->server));
	request_add_bool(o, "driver", st.enabled);
	request_add_u64(o, "fatal", st.fatal);
	vdev_work(hca->dev, &work, &engine);
	if (engine.threads > 1)
		request_add_u64(o, "thread", work.thread);
	request_add_u64(o, "dma_ranges", gmem_ranges(server_mem(hca->server)));
	json_object_object_add(o, "objects", objects_of(hca));
	json_object_object_add(o, "faults", request_faults(hca));
	add_ports(o, &st, port_of);
}

void request_status(struct request *r)
{
	u32 from;

	if (!request_from(r, &from))
		return;
	add_hcas(r, from, add_status);
	if (!from)
		json_object_object_add(r->out, "faults", request_every_links_faults(r));
	add_next(r, from);
}

static void add_counters(const struct ctl_hca *hca, struct json_object *o)
{
	struct vdev_status st;

	vdev_status(hca->dev, &st);
	add_ports(o, &st, counters_of);
}

void request_counters(struct request *r)
{
	u32 from;

	if (!request_from(r, &from))
		return;
	add_hcas(r, from, add_counters);
	add_next(r, from);
}

static void add_work(const struct ctl_hca *hca, struct json_object *o)
{
	struct engine_status engine;
	struct adapter_status a;

	vdev_work(hca->dev, &a, &engine);
	request_add_u64(o, "turns", a.turns);
	request_add_u64(o, "worked_ns", a.worked);
	request_add_u64(o, "owed_ns", a.owed);
	request_add_u64(o, "qps", a.qps);
	request_add_u64(o, "timers", a.timers);
	request_add_u64(o, "thread", a.thread);
	request_add_word(o, "why", a.why);
}

static struct json_object *engine_of(const struct ctl_hca *hca)
{
	struct json_object *o = json_object_new_object();
	struct engine_status engine;
	struct adapter_status a;

	vdev_work(hca->dev, &a, &engine);
	request_add_u64(o, "threads", engine.threads);
	request_add_u64(o, "awake", engine.awake);
	request_add_u64(o, "sleeps", engine.sleeps);
	request_add_u64(o, "wakes", engine.wakes);
	request_add_u64(o, "helped", engine.helped);
	request_add_word(o, "why", engine.why);
	return o;
}

/* What the engine and each adapter do, and what they wait for. */
void request_work(struct request *r)
{
	u32 from;

	if (!request_from(r, &from))
		return;
	add_hcas(r, from, add_work);
	if (from < r->nhcas)
		json_object_object_add(r->out, "engine", engine_of(&r->hca[from]));
	add_next(r, from);
}

/* Are there as many objects as the request says?  Kinds that it leaves out do not count. */
void request_objects(struct request *r)
{
	const struct ctl_hca *hca = request_hca(r);
	struct json_object *have, *v;
	char text[64];

	if (!hca)
		return;
	have = objects_of(hca);
	json_object_object_foreach(r->in, key, want) {
		if (!strcmp(key, "command") || !strcmp(key, "hca"))
			continue;
		if (!json_object_object_get_ex(have, key, &v)) {
			request_refuse(r, "no such kind of object", key);
			break;
		}
		if (!json_object_is_type(want, json_type_int)) {
			request_refuse(r, "not a number", key);
			break;
		}
		if (json_object_get_int64(want) != json_object_get_int64(v)) {
			snprintf(text, sizeof(text), "%s: %lld, not %lld", key,
				 (long long)json_object_get_int64(v),
				 (long long)json_object_get_int64(want));
			request_refuse(r, "other objects", text);
			break;
		}
	}
	json_object_object_add(r->out, "objects", have);
}
