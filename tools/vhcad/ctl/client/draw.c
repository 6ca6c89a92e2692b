// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fabric as text; draw_dot.c draws it for graphviz.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/client/vhcactl.h"

static void print_edge(struct json_object *fabric, struct json_object *edge, const char *far)
{
	struct json_object *port = get(edge, "port"), *link = get(edge, "link");
	struct json_object *faults = get(edge, "faults");
	char name[96], state[64];

	snprintf(name, sizeof(name), "%s", far);
	snprintf(state, sizeof(state), "%s", yes(link, "up") ? "up" : "down");
	if (port) {
		snprintf(name, sizeof(name), "%s:%llu", far, num(port, "port"));
		fabric_port(port, state, sizeof(state));
	}
	printf("    %-20s  %-26s", name, state);
	if (link)
		printf("  %-9s", str(link, "rate"));
	if (num(link, "latency"))
		printf("  latency %llu ns", num(link, "latency"));
	if (fabric_losses(link))
		printf("  lost %llu", fabric_losses(link));
	if (port)
		printf("  %s", fabric_hca(find(get(fabric, "hcas"), "name", far)));
	for (size_t i = 0; i < items(faults); i++)
		printf("  %s", json_object_get_string(json_object_array_get_idx(faults, i)));
	putchar('\n');
}

static void print_switch(struct json_object *fabric, struct json_object *node)
{
	struct json_object *edges = get(fabric, "edges");
	const char *name = str(node, "name");

	fputs(name, stdout);
	if (get(node, "lid"))
		printf("  lid %llu", num(node, "lid"));
	putchar('\n');
	for (size_t i = 0; i < items(edges); i++) {
		struct json_object *edge = json_object_array_get_idx(edges, i);

		if (!strcmp(str(edge, "b"), name))
			print_edge(fabric, edge, str(edge, "a"));
		else if (!get(edge, "port") && !strcmp(str(edge, "a"), name))
			print_edge(fabric, edge, str(edge, "b"));
	}
}

static void draw_text(struct json_object *fabric)
{
	struct json_object *faults = get(fabric, "faults"), *switches = get(fabric, "switches");

	char words[96];

	for (size_t i = 0; i < items(faults); i++) {
		struct json_object *f = json_object_array_get_idx(faults, i);

		fabric_fault(f, words, sizeof(words));
		if (!get(f, "link"))
			printf("every link: %s\n", words);
	}
	for (size_t i = 0; i < items(switches); i++)
		print_switch(fabric, json_object_array_get_idx(switches, i));
}

bool draw(const struct options *opt, const char *how)
{
	bool dot = !strcmp(how, "dot"), svg = !strcmp(how, "svg");
	struct json_object *fabric;

	if (!dot && !svg && strcmp(how, "text"))
		fail("draw: '%s' is neither text nor dot nor svg", how);
	fabric = fabric_look(opt);
	if (!fabric)
		return false;
	if (opt->json)
		puts(json_object_to_json_string_ext(fabric, JSON_C_TO_STRING_PLAIN));
	else if (svg)
		draw_svg(fabric);
	else if (dot)
		draw_dot(fabric, stdout);
	else
		draw_text(fabric);
	json_object_put(fabric);
	return true;
}
