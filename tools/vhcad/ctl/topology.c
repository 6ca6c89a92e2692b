// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Topology files.  Errors are reported with their place in the file: "links[2].rate".
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/json_file.h"
#include "ctl/topology.h"
#include "subnet/bridge.h"
#include "subnet/static.h"

#define USUAL_QUEUE	32u

enum { IB, ETH, LAYERS };

static const char *const layer_words[LAYERS] = { "ib", "eth" };

struct reader {
	const char *path;
	char *why;
	size_t room;
	struct topo *t[LAYERS];
	struct topo_link usual;		/* defaults for links */
	u32 hoq_life;			/* and for switches */
	u32 layer;
};

static bool wrong(struct reader *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(struct reader *r, const char *fmt, ...)
{
	int n = snprintf(r->why, r->room, "%s: ", r->path);
	va_list ap;

	va_start(ap, fmt);
	if (n >= 0 && (size_t)n < r->room)
		vsnprintf(r->why + n, r->room - n, fmt, ap);
	va_end(ap);
	return false;
}

/* Takes a number; false after reporting that it is none. */
static bool take_number(struct reader *r, const char *place, struct json_object *v, u32 *out)
{
	s64 n = json_object_get_int64(v);

	if (!json_object_is_type(v, json_type_int) || n < 0 || n > UINT32_MAX)
		return wrong(r, "%s: not a number", place);
	*out = n;
	return true;
}

/*
 * Takes a string of up to 16 hexadecimal digits, with or without 0x: a JSON number cannot hold
 * every GUID.
 */
static bool take_guid(struct reader *r, const char *place, struct json_object *v, u64 *out)
{
	const char *text = json_object_get_string(v);
	char *end = NULL;

	if (json_object_is_type(v, json_type_string) && isxdigit(*text) && strlen(text) <= 18) {
		errno = 0;
		*out = strtoull(text, &end, 16);
	}
	return (end && !*end && !errno && *out) || wrong(r, "%s: no GUID: %s", place, text);
}

/* Takes a link layer, as --hca has it. */
static bool take_layer(struct reader *r, const char *place, struct json_object *v, u32 *out)
{
	const char *text = json_object_get_string(v);

	for (*out = 0; *out < LAYERS; ++*out)
		if (json_object_is_type(v, json_type_string) && !strcmp(text, layer_words[*out]))
			return true;
	return wrong(r, "%s: neither ib nor eth", place);
}

static bool take_rate(struct reader *r, const char *place, struct json_object *v,
		      struct fab_rate *out)
{
	const char *text = json_object_get_string(v);

	if (!json_object_is_type(v, json_type_string) || !fab_rate_parse(text, out))
		return wrong(r, "%s: no rate of a link: %s", place, text);
	return true;
}

/* Names have letters, digits, '_', '-' and '.'; names of ports and of their links also a colon. */
static bool name_good(const char *name, bool colon)
{
	static const char letters[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.:";
	size_t n = strspn(name, letters);

	return n && !name[n] && n < TOPO_NAME_MAX - 2 && (colon || !strchr(name, ':'));
}

static bool take_name(struct reader *r, const char *place, struct json_object *v, bool colon,
		      char *out)
{
	const char *text = json_object_get_string(v);

	if (!json_object_is_type(v, json_type_string) || !name_good(text, colon))
		return wrong(r, "%s: a name is 1 to %u letters, digits, '_', '-' or '.'", place,
			     TOPO_NAME_MAX - 3);
	snprintf(out, TOPO_NAME_MAX, "%s", text);
	return true;
}

/* Takes a member that links and the defaults have in common; else @known becomes false. */
static bool take_common(struct reader *r, const char *place, const char *key,
			struct json_object *v, struct topo_link *l, bool *known)
{
	*known = true;
	if (!strcmp(key, "rate"))
		return take_rate(r, place, v, &l->rate);
	if (!strcmp(key, "latency"))
		return take_number(r, place, v, &l->latency);
	if (!strcmp(key, "queue"))
		return take_number(r, place, v, &l->queue);
	*known = false;
	return true;
}

static bool take_defaults(struct reader *r, struct json_object *o)
{
	char place[TOPO_NAME_MAX + 32];
	bool known;

	if (!json_object_is_type(o, json_type_object))
		return wrong(r, "defaults: not an object");
	json_object_object_foreach(o, key, v) {
		snprintf(place, sizeof(place), "defaults.%.40s", key);
		if (!strcmp(key, "hoq_life")) {
			if (!take_number(r, place, v, &r->hoq_life))
				return false;
			continue;
		}
		if (!strcmp(key, "link")) {
			if (!take_layer(r, place, v, &r->layer))
				return false;
			continue;
		}
		if (!take_common(r, place, key, v, &r->usual, &known))
			return false;
		if (!known)
			return wrong(r, "%s: there is no such default", place);
	}
	return true;
}

static bool take_switch(struct reader *r, size_t i, struct json_object *o)
{
	char name[TOPO_NAME_MAX] = "", place[TOPO_NAME_MAX + 32];
	u32 hoq_life = r->hoq_life, layer = r->layer;
	const char *why = NULL;
	u64 guid = 0;

	if (!json_object_is_type(o, json_type_object))
		return wrong(r, "switches[%zu]: not an object", i);
	json_object_object_foreach(o, key, v) {
		bool ok = true;

		snprintf(place, sizeof(place), "switches[%zu].%.40s", i, key);
		if (!strcmp(key, "name"))
			ok = take_name(r, place, v, false, name);
		else if (!strcmp(key, "hoq_life"))
			ok = take_number(r, place, v, &hoq_life);
		else if (!strcmp(key, "guid"))
			ok = take_guid(r, place, v, &guid);
		else if (!strcmp(key, "link"))
			ok = take_layer(r, place, v, &layer);
		else if (strcmp(key, "routes"))
			ok = wrong(r, "%s: a switch has no such member", place);
		if (!ok)
			return false;
	}
	if (!*name)
		return wrong(r, "switches[%zu]: it has no name", i);
	if (guid && layer == ETH)
		why = "a switch of Ethernet has no GUID";
	else if (topo_has_switch(r->t[!layer], name))
		why = "another switch has this name";
	if (!why)
		why = topo_switch(r->t[layer], name, hoq_life);
	if (!why && guid)
		why = topo_switch_guid(r->t[layer], guid);
	return !why || wrong(r, "switches[%zu] (%s): %s", i, name, why);
}

/*
 * An end that names no switch is an adapter's port; without a number it is port 1.  Or it is where
 * the guests' network adapters are.
 */
static void complete_end(struct json_object *switches, char *end)
{
	size_t len = strlen(end);
	struct json_object *name;

	for (size_t i = 0; i < json_object_array_length(switches); i++)
		if (json_object_object_get_ex(json_object_array_get_idx(switches, i), "name",
					      &name) &&
		    !strcmp(json_object_get_string(name), end))
			return;
	if (!strchr(end, ':') && strcmp(end, TOPO_OUTSIDE))
		snprintf(end + len, TOPO_NAME_MAX - len, ":1");
}

static bool take_ends(struct reader *r, const char *place, struct json_object *v,
		      struct json_object *switches, struct topo_link *l)
{
	if (!json_object_is_type(v, json_type_array) || json_object_array_length(v) != 2)
		return wrong(r, "%s: not an array of two names", place);
	for (u32 i = 0; i < 2; i++) {
		if (!take_name(r, place, json_object_array_get_idx(v, i), true, l->end[i]))
			return false;
		complete_end(switches, l->end[i]);
	}
	return true;
}

/* A link without a name gets that of its adapter's port, or of its two switches. */
static bool name_link(struct reader *r, size_t i, struct topo_link *l)
{
	char name[2 * TOPO_NAME_MAX];

	if (*l->name)
		return true;
	for (u32 k = 0; k < 2 && !*l->name; k++)
		if (strchr(l->end[k], ':'))
			snprintf(l->name, sizeof(l->name), "%s", l->end[k]);
	if (*l->name)
		return true;
	snprintf(name, sizeof(name), "%s-%s", l->end[0], l->end[1]);
	if (strlen(name) >= TOPO_NAME_MAX)
		return wrong(r, "links[%zu]: it has no name, and '%s' is too long", i, name);
	snprintf(l->name, sizeof(l->name), "%.*s", (int)sizeof(l->name) - 1, name);
	return true;
}

/* Adds a link to the switches that it is one of. */
static const char *add_link(struct reader *r, const struct topo_link *l)
{
	bool of[LAYERS] = { false };
	u32 layer;

	for (u32 i = 0; i < LAYERS; i++)
		of[i] = topo_has_switch(r->t[i], l->end[0]) || topo_has_switch(r->t[i], l->end[1]);
	if (of[IB] && of[ETH])
		return "one of its switches is of InfiniBand, the other of Ethernet";
	layer = of[ETH] ? ETH : IB;
	if (topo_has_link(r->t[!layer], l->name))
		return "another link has this name";
	for (u32 i = 0; i < 2; i++)
		if (topo_has_end(r->t[!layer], l->end[i]))
			return "this port of an adapter has a link already";
	return topo_link(r->t[layer], l);
}

static bool take_link(struct reader *r, size_t i, struct json_object *o,
		      struct json_object *switches)
{
	struct topo_link l = r->usual;
	char place[TOPO_NAME_MAX + 32];
	const char *why;

	if (!json_object_is_type(o, json_type_object))
		return wrong(r, "links[%zu]: not an object", i);
	json_object_object_foreach(o, key, v) {
		bool known = true, ok;

		snprintf(place, sizeof(place), "links[%zu].%.40s", i, key);
		if (!strcmp(key, "name"))
			ok = take_name(r, place, v, false, l.name);
		else if (!strcmp(key, "ends"))
			ok = take_ends(r, place, v, switches, &l);
		else
			ok = take_common(r, place, key, v, &l, &known);
		if (!ok)
			return false;
		if (!known)
			return wrong(r, "%s: a link has no such member", place);
	}
	if (!*l.end[0])
		return wrong(r, "links[%zu]: it has no ends", i);
	if (!name_link(r, i, &l))
		return false;
	why = add_link(r, &l);
	return !why || wrong(r, "links[%zu] (%s): %s", i, l.name, why);
}

static bool take_routes(struct reader *r, size_t i, struct json_object *sw)
{
	struct json_object *routes, *name;
	const char *why, *of;
	char end[TOPO_NAME_MAX];
	struct topo *t;

	if (!json_object_object_get_ex(sw, "routes", &routes))
		return true;
	if (!json_object_is_type(routes, json_type_object))
		return wrong(r, "switches[%zu].routes: not an object", i);
	/* take_switch() has checked that there is a name */
	json_object_object_get_ex(sw, "name", &name);
	of = json_object_get_string(name);
	t = r->t[topo_has_switch(r->t[ETH], of) ? ETH : IB];
	json_object_object_foreach(routes, key, v) {
		if (!json_object_is_type(v, json_type_string) || !name_good(key, true))
			return wrong(r, "switches[%zu].routes: not the name of a port, or of a "
				     "link: %.40s", i, key);
		snprintf(end, sizeof(end), strchr(key, ':') || topo_has_end(t, key) ? "%s" : "%s:1",
			 key);
		why = topo_route(t, of, end, json_object_get_string(v));
		if (why)
			return wrong(r, "switches[%zu].routes.%s: %s", i, key, why);
	}
	return true;
}

/*
 * Everything is read: checks and finishes the topologies.  A file without any switch is refused, as
 * an InfiniBand topology without switches.
 */
static bool finish(struct reader *r)
{
	char why[256];

	for (u32 i = 0; i < LAYERS; i++) {
		struct topo *t = r->t[i];

		if (!topo_switches(t) && (i == ETH || topo_switches(r->t[ETH]))) {
			topo_free(t);
			r->t[i] = NULL;
			continue;
		}
		if (!topo_check(t, why, sizeof(why)) || !subnet_check_routes(t, why, sizeof(why)))
			return wrong(r, "%s", why);
		if (topo_finish(t))
			return wrong(r, "no memory");
		topo_set_writer(t, i == ETH ? bridge_write : NULL);
	}
	return true;
}

static bool take_all(struct reader *r, struct json_object *all)
{
	struct json_object *switches = NULL, *links = NULL, *defaults = NULL;

	if (!json_object_is_type(all, json_type_object))
		return wrong(r, "not a JSON object");
	json_object_object_foreach(all, key, v) {
		if (!strcmp(key, "switches") && json_object_is_type(v, json_type_array))
			switches = v;
		else if (!strcmp(key, "links") && json_object_is_type(v, json_type_array))
			links = v;
		else if (!strcmp(key, "defaults"))
			defaults = v;
		else
			return wrong(r, "'%s' is neither switches nor links (arrays) nor defaults",
				     key);
	}
	if (!switches || !links)
		return wrong(r, "no %s", switches ? "links" : "switches");
	if (defaults && !take_defaults(r, defaults))
		return false;
	for (size_t i = 0; i < json_object_array_length(switches); i++)
		if (!take_switch(r, i, json_object_array_get_idx(switches, i)))
			return false;
	for (size_t i = 0; i < json_object_array_length(links); i++)
		if (!take_link(r, i, json_object_array_get_idx(links, i), switches))
			return false;
	for (size_t i = 0; i < json_object_array_length(switches); i++)
		if (!take_routes(r, i, json_object_array_get_idx(switches, i)))
			return false;
	return finish(r);
}

bool topology_read(const char *path, struct topology *t, char *why, size_t room)
{
	struct json_object *all = json_file_read(path, why, room);
	struct reader r = {
		.path = path, .why = why, .room = room, .t = { topo_new(false), topo_new(true) },
		.usual = { .rate = FAB_RATE_USUAL, .queue = USUAL_QUEUE },
		.hoq_life = TOPO_HOQ_USUAL,
	};
	bool ok = false;

	if (all && (!r.t[IB] || !r.t[ETH]))
		wrong(&r, "no memory");
	else if (all)
		ok = take_all(&r, all);
	json_object_put(all);
	for (u32 i = 0; !ok && i < LAYERS; i++) {
		topo_free(r.t[i]);
		r.t[i] = NULL;
	}
	*t = (struct topology){ .ib = r.t[IB], .eth = r.t[ETH] };
	return ok;
}
