// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The commands of the control socket, by their names.
 */
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>

#include "ctl/request.h"
#include "ctl/scenario.h"

#define JSON_DEPTH	8

static const struct {
	const char *name;
	void (*run)(struct request *r);
} commands[] = {
	{ "status", request_status },
	{ "counters", request_counters },
	{ "link", request_link },
	{ "reroute", request_reroute },
	{ "links", request_links },
	{ "switches", request_switches },
	{ "routes", request_routes },
	{ "ethernet", request_ethernet },
	{ "port", request_change },
	{ "objects", request_objects },
	{ "work", request_work },
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
