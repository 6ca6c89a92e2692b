// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Scenario files, for vhcad and for vhcactl.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/scenario.h"

#define SCENARIO_DEPTH	8
#define SCENARIO_MAX	65536	/* bytes of a file */

/* The whole of a file, ending in a NUL; NULL with errno. */
static char *slurp(const char *path)
{
	FILE *f = fopen(path, "r");
	char *text = f ? malloc(SCENARIO_MAX + 1) : NULL;
	size_t n;

	if (!text) {
		if (f)
			fclose(f);
		return NULL;
	}
	n = fread(text, 1, SCENARIO_MAX + 1, f);
	if (ferror(f) || n > SCENARIO_MAX) {
		if (n > SCENARIO_MAX)
			errno = EFBIG;
		fclose(f);
		free(text);
		return NULL;
	}
	fclose(f);
	text[n] = '\0';
	return text;
}

static unsigned int line_of(const char *text, size_t at)
{
	unsigned int line = 1;

	for (size_t i = 0; i < at && text[i]; i++)
		line += text[i] == '\n';
	return line;
}

static struct json_object *parse(const char *path, const char *text, char *why, size_t room)
{
	struct json_tokener *tok = json_tokener_new_ex(SCENARIO_DEPTH);
	struct json_object *o;

	if (!tok) {
		snprintf(why, room, "%s: no memory", path);
		return NULL;
	}
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT);
	o = json_tokener_parse_ex(tok, text, strlen(text) + 1);
	if (!o)
		snprintf(why, room, "%s:%u: not JSON: %s", path,
			 line_of(text, json_tokener_get_parse_end(tok)),
			 json_tokener_error_desc(json_tokener_get_error(tok)));
	json_tokener_free(tok);
	return o;
}

/* Makes requests of the faults; what is wrong, or NULL. */
static const char *make_requests(struct json_object *faults, struct json_object *seed, size_t *at)
{
	static const char *const links[] = {
		"loss", "delay", "reorder", "duplicate", "corrupt", "stall", "flap",
	};

	for (*at = 0; *at < json_object_array_length(faults); ++*at) {
		struct json_object *o = json_object_array_get_idx(faults, *at), *kind;

		if (!json_object_is_type(o, json_type_object))
			return "not an object";
		if (json_object_object_get_ex(o, "command", NULL))
			return "a fault has no member: command";
		json_object_object_add(o, "command", json_object_new_string("fault"));
		if (!seed || json_object_object_get_ex(o, "seed", NULL) ||
		    !json_object_object_get_ex(o, "kind", &kind))
			continue;
		for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
			if (!strcmp(links[i], json_object_get_string(kind) ?: ""))
				json_object_object_add(o, "seed", json_object_get(seed));
	}
	return NULL;
}

/* Picks out the faults, as requests. */
static struct json_object *pick(const char *path, struct json_object *all, char *why, size_t room)
{
	struct json_object *faults = NULL, *seed = NULL;
	const char *wrong;
	size_t at;

	if (!json_object_is_type(all, json_type_object)) {
		snprintf(why, room, "%s: not a JSON object", path);
		return NULL;
	}
	json_object_object_foreach(all, key, v) {
		if (!strcmp(key, "faults") && json_object_is_type(v, json_type_array)) {
			faults = v;
		} else if (!strcmp(key, "seed") && json_object_is_type(v, json_type_int)) {
			seed = v;
		} else {
			snprintf(why, room, "%s: '%s' is neither a seed (a number) nor faults "
				 "(an array)", path, key);
			return NULL;
		}
	}
	if (!faults) {
		snprintf(why, room, "%s: no faults", path);
		return NULL;
	}
	wrong = make_requests(faults, seed, &at);
	if (wrong) {
		snprintf(why, room, "%s: fault %zu: %s", path, at + 1, wrong);
		return NULL;
	}
	return json_object_get(faults);
}

struct json_object *scenario_read(const char *path, char *why, size_t room)
{
	char *text = slurp(path);
	struct json_object *all, *faults = NULL;

	if (!text) {
		snprintf(why, room, "%s: %s", path, strerror(errno));
		return NULL;
	}
	all = parse(path, text, why, room);
	free(text);
	if (all)
		faults = pick(path, all, why, room);
	json_object_put(all);
	return faults;
}
