// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Prints answers for people.
 */
#include <stdio.h>
#include <string.h>

#include "ctl/client/vhcactl.h"

static void show_objects(struct json_object *answer)
{
	struct json_object *objects = get(answer, "objects");

	if (!json_object_is_type(objects, json_type_object))
		return;
	json_object_object_foreach(objects, kind, count)
		printf(" %s %llu ", kind, (unsigned long long)json_object_get_uint64(count));
}

/* Prints a fault as the command that arms it. */
static void show_fault(struct json_object *fault)
{
	printf("    fault %s", str(fault, "kind"));
	json_object_object_foreach(fault, key, value) {
		if (strcmp(key, "kind") && strcmp(key, "struck") && strcmp(key, "link"))
			printf(" %s=%s", key, json_object_get_string(value));
	}
	if (get(fault, "struck"))
		printf("  (struck %llu)", num(fault, "struck"));
	putchar('\n');
}

static void show_status(struct json_object *hca)
{
	struct json_object *faults = get(hca, "faults"), *ports = get(hca, "ports");

	printf("%s  guid %s  guest %s  driver %s%s", str(hca, "name"), str(hca, "node_guid"),
	       yes(hca, "guest") ? "attached" : "none", yes(hca, "driver") ? "running" : "none",
	       num(hca, "fatal") ? "  FATAL" : "");
	if (get(hca, "thread"))
		printf("  thread %llu", num(hca, "thread"));
	fputs("\n   ", stdout);
	show_objects(hca);
	printf(" dma ranges %llu\n", num(hca, "dma_ranges"));
	for (size_t i = 0; i < items(ports); i++) {
		struct json_object *p = json_object_array_get_idx(ports, i);

		printf("    port %llu  %-6s  ", num(p, "port"), str(p, "state"));
		if (get(p, "mac"))
			printf("%s  %s  gids %llu  spoofed %llu", str(p, "mac"),
			       yes(p, "enabled") ? "enabled" : "not enabled", num(p, "gids"),
			       num(p, "spoofed"));
		else
			printf("lid %llu", num(p, "lid"));
		printf("  cable %s\n", yes(p, "cable") ? "plugged" : "pulled");
	}
	for (size_t i = 0; i < items(faults); i++)
		show_fault(json_object_array_get_idx(faults, i));
}

/* Prints traffic in a line, and below it other counters: those that are not 0, or all. */
static void show_counters(struct json_object *hca, bool all)
{
	static const char *const shown[] = {
		"port", "tx_packets", "tx_bytes", "rx_packets", "rx_bytes", "drops", NULL,
	};
	struct json_object *ports = get(hca, "ports");

	for (size_t i = 0; i < items(ports); i++) {
		struct json_object *p = json_object_array_get_idx(ports, i);
		bool any = false;

		printf("%s:%llu  tx %llu packets %llu bytes", str(hca, "name"), num(p, "port"),
		       num(p, "tx_packets"), num(p, "tx_bytes"));
		printf("  rx %llu packets %llu bytes  drops %llu\n", num(p, "rx_packets"),
		       num(p, "rx_bytes"), num(p, "drops"));
		json_object_object_foreach(p, key, value) {
			const char *const *s = shown;

			while (*s && strcmp(*s, key))
				s++;
			if (*s || !(all || json_object_get_uint64(value)))
				continue;
			printf("%s%s %llu", any ? "  " : "    ", key,
			       (unsigned long long)json_object_get_uint64(value));
			any = true;
		}
		if (any)
			putchar('\n');
	}
}

static void show_words(struct json_object *o)
{
	if (!json_object_is_type(o, json_type_object))
		return;
	json_object_object_foreach(o, key, value)
		printf(" %s=%s", key, json_object_get_string(value));
}

/* Prints a port's addresses as the arguments that set them. */
static void show_port(struct json_object *answer)
{
	printf("lid=%llu sm_lid=%llu", num(answer, "lid"), num(answer, "sm_lid"));
	show_words(get(answer, "pkeys"));
	show_words(get(answer, "gids"));
	putchar('\n');
}

static void show_qp(struct json_object *q)
{
	char peer[32] = "-", sq[48], rq[32];

	if (num(q, "dlid"))
		snprintf(peer, sizeof(peer), "lid %llu qp 0x%06llx", num(q, "dlid"),
			 num(q, "dest_qpn"));
	snprintf(sq, sizeof(sq), "%llu+%llu", num(q, "sq_requests"), num(q, "sq_blocks"));
	if (get(q, "srqn"))
		snprintf(rq, sizeof(rq), "srq %llu", num(q, "srqn"));
	else
		snprintf(rq, sizeof(rq), "%llu", num(q, "rq_left"));
	printf("    0x%06llx  %-4s  %-5s  %4llu  %-22s  %9s  %9s  %12llu  %12llu  %6llu\n",
	       num(q, "qpn"), str(q, "type"), str(q, "state"), num(q, "port"), peer, sq,
	       rq, num(q, "tx_msgs"), num(q, "rx_msgs"), num(q, "errors"));
}

static void show_cq(struct json_object *q)
{
	printf("    %8llu  %4llu  %8llu  %8llu  %5llu%s\n", num(q, "cqn"), num(q, "eqn"),
	       num(q, "size"), num(q, "filled"), num(q, "qps"),
	       yes(q, "error") ? "  in error" : "");
}

static void show_srq(struct json_object *q)
{
	printf("    %8llu  %8llu  %8llu  %8llu  %5llu%s\n", num(q, "srqn"), num(q, "size"),
	       num(q, "left"), num(q, "limit"), num(q, "qps"),
	       yes(q, "error") ? "  in error" : "");
}

static void show_group(struct json_object *g)
{
	struct json_object *qpns = get(g, "qpns");

	printf("    %-39s  0x%04llx  %8llu ", str(g, "mgid"), num(g, "mlid"), num(g, "attached"));
	for (size_t i = 0; i < items(qpns); i++)
		printf(" 0x%06llx", (unsigned long long)
		       json_object_get_uint64(json_object_array_get_idx(qpns, i)));
	puts(items(qpns) < num(g, "attached") ? " ..." : "");
}

static void show_key(struct json_object *k)
{
	char tie[48] = "";

	if (num(k, "windows"))
		snprintf(tie, sizeof(tie), "  %llu windows", num(k, "windows"));
	else if (num(k, "qpn"))
		snprintf(tie, sizeof(tie), "  of 0x%08llx, qp 0x%06llx", num(k, "region"),
			 num(k, "qpn"));
	else if (num(k, "region"))
		snprintf(tie, sizeof(tie), "  of 0x%08llx", num(k, "region"));
	printf("    0x%08llx  %-8s  %6llu  0x%016llx  0x%-16llx  %-7s%s\n", num(k, "key"),
	       str(k, "type"), num(k, "pdn"), num(k, "addr"), num(k, "length"),
	       str(k, "access"), tie);
}

/* Prints a link, with a line for each direction. */
static void show_link(struct json_object *l)
{
	struct json_object *ways = get(l, "ways");

	printf("%s  %s  latency %llu ns  queue %llu  %s\n", str(l, "name"), str(l, "rate"),
	       num(l, "latency"), num(l, "queue"), yes(l, "up") ? "up" : "down");
	for (size_t i = 0; i < items(ways); i++) {
		struct json_object *w = json_object_array_get_idx(ways, i);

		printf("    %s > %s  queued %llu  packets %llu  bytes %llu  wait %llu ns  "
		       "lost %llu  bad %llu  discards %llu\n", str(w, "from"), str(w, "to"),
		       num(w, "queued"), num(w, "packets"), num(w, "bytes"), num(w, "wait"),
		       num(w, "lost"), num(w, "bad"), num(w, "discards"));
	}
}

static void show_names(struct json_object *list)
{
	for (size_t i = 0; i < items(list); i++)
		printf(" %s", json_object_get_string(json_object_array_get_idx(list, i)));
	putchar('\n');
}

static void show_switch(struct json_object *s)
{
	printf("%s  ", str(s, "name"));
	if (get(s, "guid"))
		printf("guid %s  lid %llu", str(s, "guid"), num(s, "lid"));
	else
		printf("ethernet");
	printf("  hoq life %llu  no way %llu  links", num(s, "hoq_life"), num(s, "no_way"));
	show_names(get(s, "links"));
}

static void show_route(struct json_object *route)
{
	printf("    %6llu ", num(route, "lid"));
	show_names(get(route, "links"));
}

static void show_way(struct json_object *way)
{
	printf("    %-20s ", str(way, "to"));
	show_names(get(way, "links"));
}

static void show_ethernet(struct json_object *p)
{
	printf("    %4llu  %8llu  rx %llu frames %llu bytes  tx %llu frames %llu bytes  "
	       "dropped %llu  bad %llu\n", num(p, "port"), num(p, "stations"),
	       num(p, "rx_frames"), num(p, "rx_bytes"), num(p, "tx_frames"), num(p, "tx_bytes"),
	       num(p, "dropped"), num(p, "bad"));
}

static const struct {
	const char *name;
	const char *head;
	void (*show)(struct json_object *o);
} lists[] = {
	{ "qps", "    qpn       type  state  port  peer                    sending"
		 "       recvs       tx msgs       rx msgs  errors", show_qp },
	{ "cqs", "         cqn    eq   entries    filled   used", show_cq },
	{ "srqs", "        srqn      size      left     limit   used", show_srq },
	{ "groups", "    mgid                                     mlid    attached  qpns",
	  show_group },
	{ "keys", "    key         type          pd  from                length"
		  "              access", show_key },
	{ "links", NULL, show_link },
	{ "switches", NULL, show_switch },
	{ "routes", "       lid  links", show_route },
	{ "ways", "    to                    links", show_way },
	{ "ethernet", "    port  stations", show_ethernet },
};

static void show_list(struct json_object *answer, bool first)
{
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		struct json_object *list = get(answer, lists[i].name);

		if (strcmp(lists[i].name, str(answer, "list")))
			continue;
		if (first && lists[i].head)
			puts(lists[i].head);
		for (size_t k = 0; k < items(list); k++)
			lists[i].show(json_object_array_get_idx(list, k));
	}
}

void show(const struct options *opt, const char *command, struct json_object *answer, bool first)
{
	struct json_object *hcas = get(answer, "hcas"), *faults = get(answer, "faults");

	for (size_t i = 0; i < items(faults); i++) {
		struct json_object *fault = json_object_array_get_idx(faults, i);

		/* faults of all links come first */
		if (!get(fault, "link") && !i)
			puts("every link");
		else if (get(fault, "link"))
			printf("link %s\n", str(fault, "link"));
		show_fault(fault);
	}
	if (get(answer, "objects")) {
		show_objects(answer);
		putchar('\n');
	}
	if (get(answer, "unreachable"))
		printf("out of some switch's reach: %llu ports\n", num(answer, "unreachable"));
	if (get(answer, "gids"))
		show_port(answer);
	if (get(answer, "list"))
		show_list(answer, first);
	for (size_t i = 0; i < items(hcas); i++) {
		struct json_object *hca = json_object_array_get_idx(hcas, i);

		if (!strcmp(command, "status"))
			show_status(hca);
		else
			show_counters(hca, opt->verbose);
	}
}
