// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Turns command lines into requests.
 */
#include <stdlib.h>
#include <string.h>

#include "ctl/client/vhcactl.h"

void add_word(struct json_object *o, const char *key, const char *word)
{
	json_object_object_add(o, key, json_object_new_string(word));
}

/* Adds HCA or HCA:PORT. */
static void add_port(struct json_object *o, char *arg)
{
	char *colon = strchr(arg, ':'), *end;
	long port = 1;

	if (colon) {
		*colon = '\0';
		port = strtol(colon + 1, &end, 10);
		if (end == colon + 1 || *end)
			fail("'%s' is not a port number", colon + 1);
	}
	add_word(o, "hca", arg);
	json_object_object_add(o, "port", json_object_new_int64(port));
}

/* Adds KEY=VALUE; a value of digits alone is a number. */
static void add_pair(struct json_object *o, char *arg)
{
	char *equals = strchr(arg, '='), *end;
	long long n;

	if (!equals || equals == arg || !equals[1])
		fail("'%s' is not KEY=VALUE", arg);
	*equals = '\0';
	if (get(o, arg))
		fail("'%s' is given twice", arg);
	n = strtoll(equals + 1, &end, 10);
	if (*end)
		add_word(o, arg, equals + 1);
	else
		json_object_object_add(o, arg, json_object_new_int64(n));
}

static void add_pairs(struct json_object *o, int n, char **args)
{
	while (n--)
		add_pair(o, *args++);
}

static void take_link(struct json_object *o, int argc, char **argv)
{
	bool up = !strcmp(argv[2], "up");
	char *end;

	add_port(o, argv[1]);
	if (argc == 3 && (up || !strcmp(argv[2], "down"))) {
		json_object_object_add(o, "up", json_object_new_boolean(up));
	} else if (argc == 4 && !strcmp(argv[2], "rate")) {
		add_word(o, "rate", argv[3]);
	} else if (argc == 4 && !strcmp(argv[2], "latency")) {
		long long ns = strtoll(argv[3], &end, 10);

		json_object_object_add(o, "latency", json_object_new_int64(ns));
		if (end == argv[3] || *end)
			fail("link: '%s' is not a number of ns", argv[3]);
	} else {
		fail("link: '%s' is neither up nor down nor rate RATE nor latency NS", argv[2]);
	}
}

static void take_switch(struct json_object *o, int argc, char **argv)
{
	add_word(o, "switch", argv[1]);
}

static void take_port(struct json_object *o, int argc, char **argv)
{
	add_port(o, argv[1]);
	add_pairs(o, argc - 2, argv + 2);
}

static void take_hca(struct json_object *o, int argc, char **argv)
{
	add_word(o, "hca", argv[1]);
	add_pairs(o, argc - 2, argv + 2);
}

static void take_fault(struct json_object *o, int argc, char **argv)
{
	add_word(o, "kind", argv[1]);
	if (strchr(argv[2], ':'))
		add_port(o, argv[2]);
	else
		add_word(o, "hca", argv[2]);
	add_pairs(o, argc - 3, argv + 3);
}

static const struct {
	const char *name;
	int least, most;	/* words with the name; most 0: any number */
	void (*take)(struct json_object *o, int argc, char **argv);
} commands[] = {
	{ "status", 1, 1, NULL },
	{ "counters", 1, 1, NULL },
	{ "link", 3, 4, take_link },
	{ "reroute", 1, 1, NULL },
	{ "links", 1, 1, NULL },
	{ "switches", 1, 1, NULL },
	{ "routes", 2, 2, take_switch },
	{ "ethernet", 1, 1, NULL },
	{ "port", 2, 0, take_port },
	{ "qps", 2, 2, take_hca },
	{ "cqs", 2, 2, take_hca },
	{ "srqs", 2, 2, take_hca },
	{ "groups", 2, 2, take_hca },
	{ "keys", 2, 2, take_hca },
	{ "objects", 2, 0, take_hca },
	{ "fault", 3, 0, take_fault },
};

struct json_object *make_request(int argc, char **argv)
{
	struct json_object *o;

	for (size_t i = 0; argc && i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (strcmp(argv[0], commands[i].name) || argc < commands[i].least ||
		    (commands[i].most && argc > commands[i].most))
			continue;
		o = json_object_new_object();
		add_word(o, "command", argv[0]);
		if (commands[i].take)
			commands[i].take(o, argc, argv);
		return o;
	}
	return NULL;
}
