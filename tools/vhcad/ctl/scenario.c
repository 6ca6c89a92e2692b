// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Scenario files, for vhcad and for vhcactl.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/json_file.h"
#include "ctl/scenario.h"

/* Turns the faults into requests.  Returns NULL, or what is wrong. */
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

/* Returns the faults of a file as requests. */
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
	struct json_object *all = json_file_read(path, why, room), *faults = NULL;

	if (all)
		faults = pick(path, all, why, room);
	json_object_put(all);
	return faults;
}
