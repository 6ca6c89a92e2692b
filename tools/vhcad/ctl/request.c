// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Commands of the control socket.
 */
#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/ctl.h"
#include "dev/device.h"
#include "log.h"
#include "server/server.h"

#define JSON_DEPTH	8

struct request {
	const struct ctl_hca *hca;
	u32 nhcas;
	struct json_object *in;
	struct json_object *out;
};

static void refuse(struct request *r, const char *why, const char *what)
{
	char text[160];

	snprintf(text, sizeof(text), what ? "%s: %s" : "%s", why, what);
	json_object_object_add(r->out, "error", json_object_new_string(text));
}

/* A member of the request that has to be a string; NULL after refusing. */
static const char *word(struct request *r, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(r->in, key, &v) ||
	    !json_object_is_type(v, json_type_string)) {
		refuse(r, "missing or not a string", key);
		return NULL;
	}
	return json_object_get_string(v);
}

static const struct ctl_hca *which_hca(struct request *r)
{
	const char *name = word(r, "hca");

	if (!name)
		return NULL;
	for (u32 i = 0; i < r->nhcas; i++)
		if (!strcmp(r->hca[i].name, name))
			return &r->hca[i];
	refuse(r, "no such adapter", name);
	return NULL;
}

static void add_u64(struct json_object *o, const char *key, u64 v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static void add_bool(struct json_object *o, const char *key, bool v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

static const char *port_state(u32 state)
{
	static const char *const names[] = { "NOP", "DOWN", "INIT", "ARMED", "ACTIVE" };

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

static struct json_object *counters_of(const struct vdev_status *st, u32 port)
{
	struct json_object *o = json_object_new_object();

	add_u64(o, "port", port + 1);
	add_u64(o, "tx_packets", st->port[port].tx_packets);
	add_u64(o, "tx_bytes", st->port[port].tx_bytes);
	add_u64(o, "rx_packets", st->port[port].rx_packets);
	add_u64(o, "rx_bytes", st->port[port].rx_bytes);
	add_u64(o, "drops", st->port[port].drops);
	return o;
}

static struct json_object *port_of(const struct vdev_status *st, u32 port)
{
	struct json_object *o = json_object_new_object();

	add_u64(o, "port", port + 1);
	json_object_object_add(o, "state",
			       json_object_new_string(port_state(st->port[port].state)));
	add_u64(o, "lid", st->port[port].lid);
	add_bool(o, "cable", st->port[port].cable);
	return o;
}

static struct json_object *objects_of(const struct vdev_status *st)
{
	struct json_object *o = json_object_new_object();

	add_u64(o, "uars", st->uars);
	add_u64(o, "eqs", st->eqs);
	add_u64(o, "pds", st->pds);
	add_u64(o, "mkeys", st->mkeys);
	add_u64(o, "cqs", st->cqs);
	add_u64(o, "qps", st->qps);
	return o;
}

static void add_hcas(struct request *r, bool counters)
{
	struct json_object *list = json_object_new_array();

	for (u32 i = 0; i < r->nhcas; i++) {
		struct json_object *o = json_object_new_object();
		struct json_object *ports = json_object_new_array();
		struct vdev_status st;
		char guid[24];

		vdev_status(r->hca[i].dev, &st);
		json_object_object_add(o, "name", json_object_new_string(r->hca[i].name));
		if (!counters) {
			snprintf(guid, sizeof(guid), "0x%016llx", (unsigned long long)st.node_guid);
			json_object_object_add(o, "node_guid", json_object_new_string(guid));
			json_object_object_add(o, "socket",
					       json_object_new_string(r->hca[i].socket));
			add_bool(o, "guest", server_connected(r->hca[i].server));
			add_bool(o, "driver", st.enabled);
			add_u64(o, "fatal", st.fatal);
			add_u64(o, "dma_ranges", gmem_ranges(server_mem(r->hca[i].server)));
			json_object_object_add(o, "objects", objects_of(&st));
		}
		for (u32 p = 0; p < st.ports; p++)
			json_object_array_add(ports, counters ? counters_of(&st, p) :
								port_of(&st, p));
		json_object_object_add(o, "ports", ports);
		json_object_array_add(list, o);
	}
	json_object_object_add(r->out, "hcas", list);
}

static void do_status(struct request *r)
{
	add_hcas(r, false);
}

static void do_counters(struct request *r)
{
	add_hcas(r, true);
}

static void do_link(struct request *r)
{
	const struct ctl_hca *hca = which_hca(r);
	struct json_object *up, *port;
	s64 n = 1;

	if (!hca)
		return;
	if (!json_object_object_get_ex(r->in, "up", &up) ||
	    !json_object_is_type(up, json_type_boolean)) {
		refuse(r, "missing or not true or false", "up");
		return;
	}
	if (json_object_object_get_ex(r->in, "port", &port)) {
		if (!json_object_is_type(port, json_type_int)) {
			refuse(r, "not a number", "port");
			return;
		}
		n = json_object_get_int64(port);
	}
	if (n < 1 || n > VDEV_MAX_PORTS ||
	    vdev_set_link(hca->dev, n, json_object_get_boolean(up))) {
		refuse(r, "no such port of", hca->name);
		return;
	}
	log_line("%s: link of port %u %s", hca->name, (u32)n,
		 json_object_get_boolean(up) ? "up" : "down");
}

static void do_fault(struct request *r)
{
	const char *kind = word(r, "kind");
	const struct ctl_hca *hca;
	struct vdev_status st;

	if (!kind)
		return;
	if (strcmp(kind, "fatal")) {
		refuse(r, "no such fault", kind);
		return;
	}
	hca = which_hca(r);
	if (!hca)
		return;
	vdev_status(hca->dev, &st);
	if (!st.enabled) {
		refuse(r, "no driver runs", hca->name);
		return;
	}
	vdev_inject_fatal(hca->dev);
	log_line("%s: fatal error injected", hca->name);
}

static const struct {
	const char *name;
	void (*run)(struct request *r);
} commands[] = {
	{ "status", do_status },
	{ "counters", do_counters },
	{ "link", do_link },
	{ "fault", do_fault },
};

static void dispatch(struct request *r)
{
	const char *name;

	if (!json_object_is_type(r->in, json_type_object)) {
		refuse(r, "not a JSON object", NULL);
		return;
	}
	name = word(r, "command");
	if (!name)
		return;
	for (u32 i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(name, commands[i].name)) {
			commands[i].run(r);
			return;
		}
	}
	refuse(r, "no such command", name);
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

char *ctl_answer(const struct ctl_hca *hca, u32 nhcas, const char *line)
{
	struct request r = { .hca = hca, .nhcas = nhcas };
	const char *text;
	char *answer = NULL;

	r.out = json_object_new_object();
	if (!r.out)
		return NULL;
	r.in = parse(line);
	dispatch(&r);
	add_bool(r.out, "ok", !json_object_object_get_ex(r.out, "error", NULL));
	text = json_object_to_json_string_ext(r.out, JSON_C_TO_STRING_PLAIN);
	if (!text || asprintf(&answer, "%s\n", text) < 0)
		answer = NULL;
	json_object_put(r.in);
	json_object_put(r.out);
	return answer;
}
