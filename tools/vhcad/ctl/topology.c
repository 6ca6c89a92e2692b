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
#include "subnet/static.h"

#define USUAL_QUEUE	32u

struct reader {
	const char *path;
	char *why;
	size_t room;
	struct topo *t;
	struct topo_link usual;		/* defaults for links */
	u32 hoq_life;
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
	u32 hoq_life = r->hoq_life;
	u64 guid = 0;
	const char *why;

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
		else if (strcmp(key, "routes"))
			ok = wrong(r, "%s: a switch has no such member", place);
		if (!ok)
			return false;
	}
	if (!*name)
		return wrong(r, "switches[%zu]: it has no name", i);
	why = topo_switch(r->t, name, hoq_life);
	if (!why && guid)
		why = topo_switch_guid(r->t, guid);
	return !why || wrong(r, "switches[%zu] (%s): %s", i, name, why);
}

/* An end that names no switch is an adapter's port; without a number it is port 1. */
static void complete_end(struct json_object *switches, char *end)
{
	size_t len = strlen(end);
	struct json_object *name;

	for (size_t i = 0; i < json_object_array_length(switches); i++)
		if (json_object_object_get_ex(json_object_array_get_idx(switches, i), "name",
					      &name) &&
		    !strcmp(json_object_get_string(name), end))
			return;
	if (!strchr(end, ':'))
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
	why = topo_link(r->t, &l);
	return !why || wrong(r, "links[%zu] (%s): %s", i, l.name, why);
}

static bool take_routes(struct reader *r, size_t i, struct json_object *sw)
{
	char end[TOPO_NAME_MAX];
	struct json_object *routes;
	const char *why;

	if (!json_object_object_get_ex(sw, "routes", &routes))
		return true;
	if (!json_object_is_type(routes, json_type_object))
		return wrong(r, "switches[%zu].routes: not an object", i);
	json_object_object_foreach(routes, key, v) {
		if (!json_object_is_type(v, json_type_string) || !name_good(key, true))
			return wrong(r, "switches[%zu].routes: not the name of a port, or of a "
				     "link: %.40s", i, key);
		snprintf(end, sizeof(end), strchr(key, ':') ? "%s" : "%s:1", key);
		why = topo_route(r->t, i, end, json_object_get_string(v));
		if (why)
			return wrong(r, "switches[%zu].routes.%s: %s", i, key, why);
	}
	return true;
}

static bool take_all(struct reader *r, struct json_object *all)
{
	struct json_object *switches = NULL, *links = NULL, *defaults = NULL;
	char why[256];

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
	if (!topo_check(r->t, why, sizeof(why)) || !subnet_check_routes(r->t, why, sizeof(why)))
		return wrong(r, "%s", why);
	return !topo_finish(r->t) || wrong(r, "no memory");
}

struct topo *topology_read(const char *path, char *why, size_t room)
{
	struct json_object *all = json_file_read(path, why, room);
	struct reader r = {
		.path = path, .why = why, .room = room, .t = topo_new(),
		.usual = { .rate = FAB_RATE_USUAL, .queue = USUAL_QUEUE },
		.hoq_life = TOPO_HOQ_USUAL,
	};
	bool ok = false;

	if (all && !r.t)
		wrong(&r, "no memory");
	else if (all)
		ok = take_all(&r, all);
	json_object_put(all);
	if (ok)
		return r.t;
	topo_free(r.t);
	return NULL;
}
