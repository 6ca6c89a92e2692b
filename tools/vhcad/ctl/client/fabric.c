// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fabric: which nodes are joined by which links, and their states.
 *
 * It is collected from several answers into one object: nodes, which are vhcad's own switches and
 * adapters, and edges, each with the names of both nodes ("a", "b"), the adapter's "port" if it
 * leads to one, and the "link" if the topology has it.  One switch joins all InfiniBand ports that
 * no link of a topology leads to, and the segment all such Ethernet ports; the rates of those edges
 * are not known.
 * no link of a topology leads to, and the segment all such Ethernet ports, and nothing tells rates.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/vhcactl.h"

#define SHARED		"switch"	/* of a fabric without a topology */
#define SEGMENT		"ethernet"	/* what joins Ethernet ports */

struct json_object *find(struct json_object *list, const char *key, const char *value)
{
	for (size_t i = 0; i < items(list); i++) {
		struct json_object *o = json_object_array_get_idx(list, i);

		if (!strcmp(str(o, key), value))
			return o;
	}
	return NULL;
}

/* ---- words that text and graph have in common ---- */

void fabric_port(struct json_object *port, char *words, size_t room)
{
	if (get(port, "mac"))
		snprintf(words, room, "%s  %s", str(port, "state"), str(port, "mac"));
	else
		snprintf(words, room, "%s  lid %llu", str(port, "state"), num(port, "lid"));
}

void fabric_fault(struct json_object *fault, char *words, size_t room)
{
	if (get(fault, "permille"))
		snprintf(words, room, "%s permille=%llu", str(fault, "kind"),
			 num(fault, "permille"));
	else
		snprintf(words, room, "%s", str(fault, "kind"));
}

const char *fabric_hca(struct json_object *hca)
{
	if (num(hca, "fatal"))
		return "FATAL";
	if (!yes(hca, "guest"))
		return "no guest";
	return yes(hca, "driver") ? "guest, driver" : "guest, no driver";
}

unsigned long long fabric_losses(struct json_object *link)
{
	struct json_object *ways = get(link, "ways");
	unsigned long long lost = 0;

	for (size_t i = 0; i < items(ways); i++) {
		struct json_object *way = json_object_array_get_idx(ways, i);

		lost += num(way, "lost") + num(way, "bad") + num(way, "discards");
	}
	return lost;
}

/* ---- collecting ---- */

static struct json_object *look_at(const struct options *opt, const char *command,
				   const char *list)
{
	struct json_object *request = json_object_new_object(), *answer;

	add_word(request, "command", command);
	answer = ask_whole(opt, request, list);
	json_object_put(request);
	return answer;
}

static void add_shared(struct json_object *o, const char *key, struct json_object *value)
{
	json_object_object_add(o, key, json_object_get(value));
}

static struct json_object *find_port(struct json_object *hca, unsigned long long port)
{
	struct json_object *ports = get(hca, "ports");

	for (size_t i = 0; i < items(ports); i++)
		if (num(json_object_array_get_idx(ports, i), "port") == port)
			return json_object_array_get_idx(ports, i);
	return NULL;
}

/* Adds the faults in @from that are armed at this link or port, in a few words. */
static void add_faults(struct json_object *edge, struct json_object *from, const char *link,
		       unsigned long long port)
{
	struct json_object *faults = get(edge, "faults");

	for (size_t i = 0; i < items(from); i++) {
		struct json_object *f = json_object_array_get_idx(from, i);
		char words[96];

		if (link ? strcmp(str(f, "link"), link) : num(f, "port") != port)
			continue;
		fabric_fault(f, words, sizeof(words));
		json_object_array_add(faults, json_object_new_string(words));
	}
}

static void new_edge(struct json_object *fabric, const char *a, const char *b,
		     struct json_object *port, struct json_object *link)
{
	struct json_object *edge = json_object_new_object();
	struct json_object *hca = find(get(fabric, "hcas"), "name", a);

	add_word(edge, "a", a);
	add_word(edge, "b", b);
	json_object_object_add(edge, "faults", json_object_new_array());
	if (port) {
		add_shared(edge, "port", port);
		add_faults(edge, get(hca, "faults"), NULL, num(port, "port"));
	} else {
		add_faults(edge, get(fabric, "faults"), str(link, "name"), 0);
	}
	if (link)
		add_shared(edge, "link", link);
	json_object_array_add(get(fabric, "edges"), edge);
}

/*
 * A link's ends are a switch's name, or an adapter's with a colon and the port's number, or the
 * segment, which comes second here.
 */
static void add_link(struct json_object *fabric, struct json_object *link)
{
	struct json_object *ways = get(link, "ways"), *way, *port = NULL;
	const char *end[2];
	unsigned int hca;
	char name[128];

	if (!items(ways))
		return;
	way = json_object_array_get_idx(ways, 0);
	end[0] = str(way, "from");
	end[1] = str(way, "to");
	hca = !strchr(end[0], ':') && (strchr(end[1], ':') || !strcmp(end[0], SEGMENT));
	snprintf(name, sizeof(name), "%s", end[hca]);
	if (strchr(name, ':')) {
		char *colon = strrchr(name, ':');

		*colon = '\0';
		port = find_port(find(get(fabric, "hcas"), "name", name),
				 strtoull(colon + 1, NULL, 10));
	}
	new_edge(fabric, name, end[!hca], port, link);
}

static bool has_edge(struct json_object *fabric, const char *hca, struct json_object *port)
{
	struct json_object *edges = get(fabric, "edges");

	for (size_t i = 0; i < items(edges); i++) {
		struct json_object *edge = json_object_array_get_idx(edges, i);

		if (get(edge, "port") == port && !strcmp(str(edge, "a"), hca))
			return true;
	}
	return false;
}

/* Adds edges for ports that no link of a topology leads to. */
static void add_ports(struct json_object *fabric, struct json_object *hca)
{
	struct json_object *ports = get(hca, "ports");
	const char *name = str(hca, "name");

	for (size_t i = 0; i < items(ports); i++) {
		struct json_object *port = json_object_array_get_idx(ports, i);

		if (!has_edge(fabric, name, port))
			new_edge(fabric, name, get(port, "mac") ? SEGMENT : SHARED, port, NULL);
	}
}

/* Moves a member of an answer, which is released. */
static bool take(struct json_object *fabric, struct json_object *answer, const char *list)
{
	if (answer)
		add_shared(fabric, list, get(answer, list));
	if (answer && get(answer, "faults"))
		add_shared(fabric, "faults", get(answer, "faults"));
	json_object_put(answer);
	return answer;
}

/* Adds nodes that no answer lists. */
static void add_nodes(struct json_object *fabric)
{
	static const char *const others[] = { SHARED, SEGMENT };

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct json_object *node;

		if (!find(get(fabric, "edges"), "b", others[i]) ||
		    find(get(fabric, "switches"), "name", others[i]))
			continue;
		node = json_object_new_object();
		add_word(node, "name", others[i]);
		json_object_array_add(get(fabric, "switches"), node);
	}
}

struct json_object *fabric_look(const struct options *opt)
{
	struct json_object *fabric = json_object_new_object(), *links = json_object_new_object();

	json_object_object_add(fabric, "edges", json_object_new_array());
	if (!take(fabric, look_at(opt, "status", "hcas"), "hcas") ||
	    !take(fabric, look_at(opt, "switches", "switches"), "switches") ||
	    !take(links, look_at(opt, "links", "links"), "links")) {
		json_object_put(fabric);
		fabric = NULL;
	}
	for (size_t i = 0; fabric && i < items(get(links, "links")); i++)
		add_link(fabric, json_object_array_get_idx(get(links, "links"), i));
	for (size_t i = 0; fabric && i < items(get(fabric, "hcas")); i++)
		add_ports(fabric, json_object_array_get_idx(get(fabric, "hcas"), i));
	if (fabric)
		add_nodes(fabric);
	json_object_put(links);
	return fabric;
}
