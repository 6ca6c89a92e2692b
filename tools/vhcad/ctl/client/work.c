// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The part of the live view that shows the engine and what each adapter waits for.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/client/vhcactl.h"

struct json_object *work_look(const struct options *opt)
{
	struct json_object *request = json_object_new_object(), *all;

	add_word(request, "command", "work");
	all = ask_whole(opt, request, "hcas");
	json_object_put(request);
	return all;
}

/* How much a counter has grown, in a second. */
static double rate(struct json_object *old, struct json_object *now, const char *key, double passed)
{
	return (num(now, key) - num(old, key)) / passed;
}

static void add_rate(struct json_object *o, const char *name, double v)
{
	json_object_object_add(o, name, json_object_new_double(v));
}

static void add_same(struct json_object *o, struct json_object *from, const char *key)
{
	json_object_object_add(o, key, json_object_get(get(from, key)));
}

/* Nanoseconds of work in a second, as a fraction of that second. */
static double busy(struct json_object *old, struct json_object *now, double passed)
{
	return rate(old, now, "worked_ns", passed) / 1e9;
}

struct json_object *work_rates(struct json_object *old, struct json_object *now, double passed)
{
	struct json_object *all = json_object_new_object(), *list = json_object_new_array();
	struct json_object *engine = json_object_new_object();
	double sum = 0;

	for (size_t i = 0; i < items(get(now, "hcas")); i++) {
		struct json_object *a = json_object_array_get_idx(get(old, "hcas"), i);
		struct json_object *b = json_object_array_get_idx(get(now, "hcas"), i);
		struct json_object *o = json_object_new_object();

		add_same(o, b, "name");
		add_rate(o, "busy", busy(a, b, passed));
		add_rate(o, "turns", rate(a, b, "turns", passed));
		add_same(o, b, "qps");
		add_same(o, b, "timers");
		add_same(o, b, "owed_ns");
		add_same(o, b, "thread");
		add_same(o, b, "why");
		json_object_array_add(list, o);
		sum += busy(a, b, passed);
	}
	add_rate(engine, "busy", sum);
	for (size_t i = 0; i < 3; i++) {
		static const char *const counts[] = { "sleeps", "wakes", "helped" };

		add_rate(engine, counts[i], rate(get(old, "engine"), get(now, "engine"), counts[i],
						 passed));
	}
	if (get(now, "engine")) {
		add_same(engine, get(now, "engine"), "threads");
		add_same(engine, get(now, "engine"), "awake");
		add_same(engine, get(now, "engine"), "why");
	}
	json_object_object_add(all, "engine", engine);
	json_object_object_add(all, "adapters", list);
	return all;
}

size_t work_rows(struct json_object *rates)
{
	return items(get(rates, "adapters")) + 5;
}

static double real(struct json_object *o, const char *key)
{
	return json_object_get_double(get(o, key));
}

void work_print(struct json_object *rates)
{
	struct json_object *e = get(rates, "engine"), *list = get(rates, "adapters");
	bool several = num(e, "threads") > 1;
	char state[40];

	if (several)
		snprintf(state, sizeof(state), "%llu of %llu threads awake", num(e, "awake"),
			 num(e, "threads"));
	printf("%-24s %8s %10s %10s %10s  %s\n", "engine", "busy %", "sleeps/s", "wakes/s",
	       "helped/s", "state");
	printf("%-24s %8.1f %10.0f %10.0f %10.0f  %s\n\n", "", 100 * real(e, "busy"),
	       real(e, "sleeps"), real(e, "wakes"), real(e, "helped"),
	       several ? state : str(e, "why"));
	printf("%-24s %8s %10s %10s %10s %s %s\n", "adapter", "busy %", "turns/s", "ready QPs",
	       "timers", several ? " thread" : "", "state");
	for (size_t i = 0; i < items(list); i++) {
		struct json_object *a = json_object_array_get_idx(list, i);

		printf("%-24s %8.1f %10.0f %10llu %10llu ", str(a, "name"),
		       100 * real(a, "busy"), real(a, "turns"), num(a, "qps"), num(a, "timers"));
		if (several)
			printf(" %6llu", num(a, "thread"));
		printf(" %s\n", str(a, "why"));
	}
	putchar('\n');
}
