// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * vhcactl: the command line, and the order of requests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ctl/client/vhcactl.h"
#include "ctl/scenario.h"

static const char usage[] =
"usage: vhcactl [--control SOCKET] [--json] COMMAND [, COMMAND]...\n"
"       vhcactl --help\n"
"\n"
"  status [-v]              adapters, their guests, drivers, objects and ports; with -v\n"
"                           their QPs, CQs, SRQs, multicast groups and memory\n"
"                           keys as well\n"
"  counters [-v]            packets and bytes of every port, and what else it has\n"
"                           counted; with -v what is zero as well\n"
"  qps HCA                  queue pairs: state, peer, requests under way + blocks\n"
"                           waiting, receives posted, messages\n"
"  cqs HCA                  completion queues and how full they are\n"
"  srqs HCA                 shared receive queues and what is left in them\n"
"  groups HCA               multicast groups and the QPs attached to them\n"
"  keys HCA                 memory keys, what they reach and who may\n"
"  top [--interval SECONDS] [--once]\n"
"                           what the engine does and waits for, traffic of ports and QPs\n"
"                           a second, live; q ends it\n"
"  draw [text|dot|svg]      the fabric as a picture: states, addresses, rates and faults;\n"
"                           dot is graphviz's language, and svg needs its program\n"
"  link HCA[:PORT]|LINK up|down\n"
"                           plug or pull the cable of a port, or one between switches\n"
"  link HCA[:PORT]|LINK rate RATE\n"
"                           another rate: \"4X EDR\", \"100 Gb/s\"\n"
"  link HCA[:PORT]|LINK latency NS\n"
"  reroute                  find routes again, over links that are up; prints how many\n"
"                           ports some switch does not reach\n"
"  links                    links of the topology, what is on them and what has been\n"
"  switches                 switches and the links of their ports\n"
"  ethernet                 ports of the Ethernet segment\n"
"  routes SWITCH            by which links a switch sends to each LID; one of Ethernet: to\n"
"                           each port, and multicasts\n"
"  port HCA[:PORT] [NAME=VALUE]...\n"
"                           addresses of a port, as they are after these changes:\n"
"                           lid=N sm_lid=N pkeyI=N gidI=ADDRESS reregister=1\n"
"  objects HCA [KIND=N]...  how many objects there are; with KIND=N: are there N?\n"
"  fault KIND HCA [ARG=VALUE]...\n"
"                           have an adapter misbehave:\n"
"    fatal                  it stops as if its hardware had failed\n"
"    command                admin commands: opcode=NAME status=NAME delay=MS\n"
"                           answer=none|twice|stale|unknown|nonsense\n"
"                           skip=N count=N\n"
"    interrupt              interrupts get lost: vector=N skip=N count=N\n"
"    reset                  resets take long: delay=MS skip=N count=N\n"
"    event                  entries of event queues lie: event=N skip=N count=N\n"
"                           lie=chance|number|kind|port|flags seed=N\n"
"    completion             entries of CQs lie: cq=N skip=N count=N seed=N\n"
"                           lie=chance|number|kind|port|flags|length|index|id\n"
"  fault KIND HCA[:PORT]|LINK|all [ARG=VALUE]...\n"
"                           have a link misbehave, or every link:\n"
"    loss, corrupt          packets get lost, or arrive spoiled\n"
"    delay, reorder, stall  they are late: usec=N jitter=N\n"
"    duplicate              they come twice: usec=N jitter=N\n"
"    flap                   the link is down for a while: usec=N jitter=N\n"
"                           all: permille=N seed=N direction=both|out|in opcode=NAME\n"
"                           dqpn=N mgmt_class=N skip=N count=N after=MS until=MS\n"
"    clear                  disarm what was armed\n"
"    spent                  has everything struck that was armed?\n"
"  scenario FILE            arm the faults that a file lists\n"
"\n"
"HCA is an adapter's name, or its node GUID with 0x before it.  Commands, with a\n"
"word that is a comma between them, are carried out in order until one fails.\n"
"SOCKET is what vhcad was given with --control; without the option it is taken\n"
"from the environment variable VHCAD_CONTROL.  --json prints vhcad's answers as\n"
"they came.  Exit status: 0 done, 1 vhcad refused, 2 wrong use or no vhcad.\n";

static bool show_more(const struct options *opt, struct json_object *answer);

/* Sends a request, again for each further page, and prints the answers.  Returns vhcad's "ok". */
static bool ask_and_show(const struct options *opt, const char *command,
			 struct json_object *request)
{
	bool more = opt->verbose && !strcmp(command, "status"), first = true, ok;
	char *line;

	do {
		struct json_object *answer = ask(opt->control, request, &line);

		ok = yes(answer, "ok");
		if (opt->json)
			fputs(line, stdout);
		else if (!ok)
			fprintf(stderr, "vhcactl: %s\n", str(answer, "error"));
		else
			show(opt, command, answer, first);
		free(line);
		first = false;
		if (ok && more)
			ok = show_more(opt, answer);
		if (!ask_on(request, answer))
			break;
	} while (ok);
	return ok;
}

/* Lists the objects of each adapter in an answer to "status". */
static bool show_more(const struct options *opt, struct json_object *answer)
{
	static const char *const lists[] = { "qps", "cqs", "srqs", "groups", "keys" };
	struct json_object *hcas = get(answer, "hcas");
	bool ok = true;

	for (size_t i = 0; i < items(hcas); i++) {
		const char *name = str(json_object_array_get_idx(hcas, i), "name");

		for (size_t k = 0; ok && k < sizeof(lists) / sizeof(lists[0]); k++) {
			struct json_object *request = json_object_new_object();

			add_word(request, "command", lists[k]);
			add_word(request, "hca", name);
			if (!opt->json)
				printf("%s %s\n", name, lists[k]);
			ok = ask_and_show(opt, lists[k], request);
			json_object_put(request);
		}
	}
	return ok;
}

/* Arms the faults of a scenario file, until one is refused. */
static bool scenario(const struct options *opt, const char *path)
{
	char why[512];
	struct json_object *faults = scenario_read(path, why, sizeof(why));
	bool ok = true;
	size_t i;

	if (!faults)
		fail("%s", why);
	for (i = 0; ok && i < items(faults); i++)
		ok = ask_and_show(opt, "fault", json_object_array_get_idx(faults, i));
	if (!ok)
		fprintf(stderr, "vhcactl: %s: fault %zu was refused\n", path, i);
	json_object_put(faults);
	return ok;
}

/* Carries out a command.  Returns whether it has succeeded. */
static bool carry_out(const struct options *opt, int argc, char **argv)
{
	struct json_object *request;
	bool ok;

	if (argc == 1 && !strcmp(argv[0], "top"))
		return top(opt);
	if (argc && argc <= 2 && !strcmp(argv[0], "draw"))
		return draw(opt, argc == 2 ? argv[1] : "text");
	if (argc == 2 && !strcmp(argv[0], "scenario"))
		return scenario(opt, argv[1]);
	request = make_request(argc, argv);
	if (!request) {
		fputs(usage, stderr);
		exit(2);
	}
	ok = ask_and_show(opt, argv[0], request);
	json_object_put(request);
	return ok;
}

static unsigned int seconds(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (end == text || *end || n < 1 || n > 3600)
		fail("--interval: '%s' is not a number of seconds, 1 to 3600", text);
	return n;
}

int main(int argc, char **argv)
{
	struct options opt = { .control = getenv("VHCAD_CONTROL"), .interval = 1 };
	bool ok = true;
	int n = 0, first = 0;
	char **word;

	/* options may stand anywhere */
	word = calloc(argc, sizeof(*word));
	if (!word)
		fail("no memory");
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--json")) {
			opt.json = true;
		} else if (!strcmp(argv[i], "-v")) {
			opt.verbose = true;
		} else if (!strcmp(argv[i], "--once")) {
			opt.once = true;
		} else if (!strcmp(argv[i], "--interval") && i + 1 < argc) {
			opt.interval = seconds(argv[++i]);
		} else if (!strcmp(argv[i], "--control") && i + 1 < argc) {
			opt.control = argv[++i];
		} else if (!strcmp(argv[i], "--help")) {
			fputs(usage, stdout);
			free(word);
			return 0;
		} else if (argv[i][0] == '-') {
			fail("unknown option '%s' (see vhcactl --help)", argv[i]);
		} else {
			word[n++] = argv[i];
		}
	}
	for (int i = 0; ok && i <= n; i++) {
		if (i < n && strcmp(word[i], ","))
			continue;
		ok = carry_out(&opt, i - first, word + first);
		first = i + 1;
	}
	free(word);
	return ok ? 0 : 1;
}
