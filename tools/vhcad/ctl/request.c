// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of the control socket.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/request.h"
#include "ctl/scenario.h"
#include "dev/device.h"
#include "dev/list.h"
#include "lib/log.h"
#include "server/server.h"

#define JSON_DEPTH	8

void request_refuse(struct request *r, const char *why, const char *what)
{
	char text[256];

	snprintf(text, sizeof(text), what ? "%s: %s" : "%s", why, what);
	json_object_object_add(r->out, "error", json_object_new_string(text));
}

/* A member of the request that has to be a string; NULL after refusing. */
const char *request_word(struct request *r, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(r->in, key, &v) ||
	    !json_object_is_type(v, json_type_string)) {
		request_refuse(r, "missing or not a string", key);
		return NULL;
	}
	return json_object_get_string(v);
}

static bool has_guid(const struct ctl_hca *hca, const char *name)
{
	struct vdev_status st;
	unsigned long long guid;
	char *end;

	if (strncmp(name, "0x", 2))
		return false;
	guid = strtoull(name, &end, 16);
	vdev_status(hca->dev, &st);
	return !*end && guid == st.node_guid;
}

const struct ctl_hca *request_hca(struct request *r)
{
	const char *name = request_word(r, "hca");

	if (!name)
		return NULL;
	for (u32 i = 0; i < r->nhcas; i++)
		if (!strcmp(r->hca[i].name, name))
			return &r->hca[i];
	for (u32 i = 0; i < r->nhcas; i++)
		if (has_guid(&r->hca[i], name))
			return &r->hca[i];
	request_refuse(r, "no such adapter", name);
	return NULL;
}

u32 request_port(struct request *r, const struct ctl_hca *hca)
{
	struct json_object *v;
	struct vdev_status st;
	s64 n = 1;

	if (json_object_object_get_ex(r->in, "port", &v)) {
		if (!json_object_is_type(v, json_type_int)) {
			request_refuse(r, "not a number", "port");
			return 0;
		}
		n = json_object_get_int64(v);
	}
	vdev_status(hca->dev, &st);
	if (n >= 1 && n <= st.ports)
		return n;
	request_refuse(r, "no such port of", hca->name);
	return 0;
}

void request_add_u64(struct json_object *o, const char *key, u64 v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

void request_add_bool(struct json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

void request_add_word(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

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

static struct json_object *port_of(const struct vdev_status *st, u32 port)
{
	struct json_object *o = json_object_new_object();

	request_add_u64(o, "port", port + 1);
	request_add_word(o, "state", port_state(st->port[port].state));
	request_add_u64(o, "lid", st->port[port].lid);
	request_add_bool(o, "cable", st->port[port].cable);
	return o;
}

struct json_object *request_objects(const struct ctl_hca *hca)
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

bool request_from(struct request *r, u32 *from)
{
	struct json_object *v;
	s64 n = 0;

	if (json_object_object_get_ex(r->in, "from", &v)) {
		n = json_object_get_int64(v);
		if (!json_object_is_type(v, json_type_int) || n < 0 || n > INT32_MAX) {
			request_refuse(r, "not a place in the list", "from");
			return false;
		}
	}
	*from = n;
	return true;
}

/* A page of the adapters. */
static void add_hcas(struct request *r, bool counters)
{
	struct json_object *list;
	u32 from, end;

	if (!request_from(r, &from))
		return;
	end = MIN(r->nhcas, from + VLIST_PAGE);
	list = json_object_new_array();
	for (u32 i = from; i < end; i++) {
		struct json_object *o = json_object_new_object();
		struct json_object *ports = json_object_new_array();
		struct vdev_status st;
		char guid[24];

		vdev_status(r->hca[i].dev, &st);
		request_add_word(o, "name", r->hca[i].name);
		if (!counters) {
			snprintf(guid, sizeof(guid), "0x%016llx", (unsigned long long)st.node_guid);
			request_add_word(o, "node_guid", guid);
			request_add_word(o, "socket", r->hca[i].socket);
			request_add_bool(o, "guest", server_connected(r->hca[i].server));
			request_add_bool(o, "driver", st.enabled);
			request_add_u64(o, "fatal", st.fatal);
			request_add_u64(o, "dma_ranges", gmem_ranges(server_mem(r->hca[i].server)));
			json_object_object_add(o, "objects", request_objects(&r->hca[i]));
			json_object_object_add(o, "faults", request_faults(&r->hca[i]));
		}
		for (u32 p = 0; p < st.ports; p++)
			json_object_array_add(ports, counters ? counters_of(&st, p) :
								port_of(&st, p));
		json_object_object_add(o, "ports", ports);
		json_object_array_add(list, o);
	}
	json_object_object_add(r->out, "hcas", list);
	if (!counters && !from)
		json_object_object_add(r->out, "faults", request_every_links_faults(r));
	if (end < r->nhcas)
		request_add_u64(r->out, "next", end);
}

static void do_status(struct request *r)
{
	add_hcas(r, false);
}

static void do_counters(struct request *r)
{
	add_hcas(r, true);
}

/* Are there as many objects as the request believes?  What it leaves out may be any number. */
static void do_objects(struct request *r)
{
	const struct ctl_hca *hca = request_hca(r);
	struct json_object *have, *v;
	char text[64];

	if (!hca)
		return;
	have = request_objects(hca);
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

static const struct {
	const char *name;
	void (*run)(struct request *r);
} commands[] = {
	{ "status", do_status },
	{ "counters", do_counters },
	{ "link", request_link },
	{ "reroute", request_reroute },
	{ "links", request_links },
	{ "switches", request_switches },
	{ "routes", request_routes },
	{ "ethernet", request_ethernet },
	{ "port", request_change },
	{ "objects", do_objects },
	{ "qps", request_list },
	{ "cqs", request_list },
	{ "srqs", request_list },
	{ "groups", request_list },
	{ "keys", request_list },
	{ "fault", request_fault },
};

static void dispatch(struct request *r)
{
	const char *name;

	if (!json_object_is_type(r->in, json_type_object)) {
		request_refuse(r, "not a JSON object", NULL);
		return;
	}
	name = request_word(r, "command");
	if (!name)
		return;
	for (u32 i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(name, commands[i].name)) {
			commands[i].run(r);
			return;
		}
	}
	request_refuse(r, "no such command", name);
}

static struct json_object *parse(const char *line)
{
	struct json_tokener *tok = json_tokener_new_ex(JSON_DEPTH);
	struct json_object *in = NULL;

	if (!tok)
		return NULL;
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	in = json_tokener_parse_ex(tok, line, strlen(line) + 1);
	json_tokener_free(tok);
	return in;
}

static struct request request_in(const struct ctl_scope *s)
{
	return (struct request){
		.hca = s->hca,
		.nhcas = s->nhcas,
		.ether = s->ether,
		.out = json_object_new_object(),
	};
}

bool ctl_scenario(const struct ctl_scope *scope, const char *path, char *why, size_t room)
{
	struct json_object *faults = scenario_read(path, why, room), *error;
	bool ok = faults;

	for (size_t i = 0; ok && i < json_object_array_length(faults); i++) {
		struct request r = request_in(scope);

		r.in = json_object_array_get_idx(faults, i);
		dispatch(&r);
		ok = !json_object_object_get_ex(r.out, "error", &error);
		if (!ok)
			snprintf(why, room, "%s: fault %zu: %s", path, i + 1,
				 json_object_get_string(error));
		json_object_put(r.out);
	}
	json_object_put(faults);
	return ok;
}

char *ctl_answer(const struct ctl_scope *scope, const char *line)
{
	struct request r = request_in(scope);
	const char *text;
	char *answer = NULL;

	if (!r.out)
		return NULL;
	r.in = parse(line);
	dispatch(&r);
	request_add_bool(r.out, "ok", !json_object_object_get_ex(r.out, "error", NULL));
	text = json_object_to_json_string_ext(r.out, JSON_C_TO_STRING_PLAIN);
	if (!text || asprintf(&answer, "%s\n", text) < 0)
		answer = NULL;
	json_object_put(r.in);
	json_object_put(r.out);
	return answer;
}
