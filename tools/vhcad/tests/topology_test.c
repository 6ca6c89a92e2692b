// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Topology files in the daemon, and the fabric in vhcactl.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/tprog.h"
#include "tests/tdaemon.h"

#define GOOD								\
	"{ \"defaults\": { \"latency\": 500, \"queue\": 16 },\n"	\
	"  \"switches\": [ { \"name\": \"leaf1\" },\n"			\
	"    { \"name\": \"leaf2\", \"hoq_life\": 20,\n"		\
	"      \"routes\": { \"hca0\": \"spare\" } } ],\n"		\
	"  \"links\": [\n"						\
	"    { \"ends\": [ \"hca0\", \"leaf1\" ] },\n"			\
	"    { \"ends\": [ \"leaf1\", \"hca0:2\" ], \"name\": \"second\" },\n"	\
	"    { \"ends\": [ \"leaf2\", \"hca1\" ], \"rate\": \"4X HDR\", \"latency\": 0 },\n"	\
	"    { \"ends\": [ \"leaf1\", \"leaf2\" ], \"rate\": \"10 Gb/s\" },\n"	\
	"    { \"ends\": [ \"leaf1\", \"leaf2\" ], \"name\": \"spare\", \"queue\": 4 } ] }\n"

/* An adapter has the name of a switch. */
#define NAMESAKES							\
	"{ \"switches\": [ { \"name\": \"hca0\" }, { \"name\": \"leaf2\" } ], \"links\": [\n" \
	"    { \"ends\": [ \"hca0:1\", \"leaf2\" ] }, { \"ends\": [ \"hca0:2\", \"leaf2\" ] },\n" \
	"    { \"ends\": [ \"hca1\", \"leaf2\" ] }, { \"ends\": [ \"hca0\", \"leaf2\" ] } ] }\n"

static void by_vhcactl(void **state)
{
	static const struct twords cases[] = {
		{ 0, "leaf1  guid 0x0a56485357000100  lid 49151  hoq life 18  no way 0  "
		     "links hca0:1 second leaf1-leaf2 spare\n"
		     "leaf2  guid 0x0a56485357000200  lid 49150  hoq life 20  no way 0  "
		     "links hca1:1 leaf1-leaf2 spare\n",
		  { "switches" } },
		{ 0, "{\"name\":\"leaf1\",\"guid\":\"0x0a56485357000100\",\"lid\":49151,"
		     "\"hoq_life\":18,\"no_way\":0,\"links\":[\"hca0:1\",",
		  { "--json", "switches" } },
		{ 0, "hca0:1  4X EDR  latency 500 ns  queue 16  up\n"
		     "    hca0:1 > leaf1  queued 0  packets 0  bytes 0  wait 0 ns  lost 0  bad 0  "
		     "discards 0\n    leaf1 > hca0:1  queued 0", { "links" } },
		{ 0, "leaf1-leaf2  4X SDR  latency 500 ns  queue 16  up\n", { "links" } },
		{ 0, "spare  4X EDR  latency 500 ns  queue 4  up\n", { "links" } },
		{ 0, "{\"name\":\"hca1:1\",\"rate\":\"4X HDR\",\"latency\":0,\"queue\":16,"
		     "\"up\":true,\"ways\":[{\"from\":\"leaf2\",\"to\":\"hca1:1\",",
		  { "--json", "links" } },
		{ 0, "         1  hca0:1\n         2  second\n         3  leaf1-leaf2\n",
		  { "routes", "leaf1" } },
		/* given by the file, and the shorter of equals */
		{ 0, "         1  spare\n         2  leaf1-leaf2\n         3  hca1:1\n",
		  { "routes", "leaf2" } },
		/* to the first switch, which has the highest LID */
		{ 0, "     49151  leaf1-leaf2\n", { "routes", "leaf2" } },
		{ 1, "no such switch: leaf3", { "routes", "leaf3" } },
		/* changes */
		{ 0, "", { "link", "leaf1-leaf2", "rate", "EDR 12X" } },
		{ 0, "", { "link", "leaf1-leaf2", "latency", "77" } },
		{ 0, "leaf1-leaf2  12X EDR  latency 77 ns  queue 16  up\n", { "links" } },
		{ 0, "", { "link", "hca0:2", "rate", "2.5 Gb/s" } },
		{ 0, "second  1X SDR  latency 500 ns", { "links" } },
		{ 0, "", { "link", "spare", "down" } },
		{ 0, "spare  4X EDR  latency 500 ns  queue 4  down\n", { "links" } },
		{ 0, "", { "link", "spare", "up" } },
		{ 0, "spare  4X EDR  latency 500 ns  queue 4  up\n", { "links" } },
		{ 0, "", { "link", "hca0:2", "down" } },
		{ 0, "port 2  DOWN    lid 2  cable pulled", { "status" } },
		{ 1, "no rate of a link: 3X EDR", { "link", "spare", "rate", "3X EDR" } },
		{ 1, "not a number of ns, up to a second: latency",
		  { "link", "spare", "latency", "1000000001" } },
		{ 1, "no such adapter: second", { "link", "second", "down" } },
		{ 1, "no such port of: hca1", { "link", "hca1:2", "rate", "EDR" } },
		{ 2, "'soon' is not a number of ns", { "link", "spare", "latency", "soon" } },
		{ 2, "'off' is neither up nor down nor", { "link", "spare", "off" } },
		{ 2, "'up' is neither up nor down nor", { "link", "spare", "up", "2" } },
		/* faults */
		{ 0, "", { "fault", "loss", "spare", "permille=7", "direction=out" } },
		{ 0, "link spare\n    fault loss direction=out permille=7 ", { "status" } },
		{ 1, "still armed: {\"kind\":\"loss\",\"link\":\"spare\"",
		  { "fault", "spent", "spare" } },
		{ 0, "", { "fault", "spent", "leaf1-leaf2" } },
		{ 0, "", { "fault", "spent", "all" } },
		{ 0, "", { "fault", "clear", "leaf1-leaf2" } },
		{ 1, "still armed", { "fault", "spent", "spare" } },
		{ 0, "", { "fault", "clear", "spare" } },
		{ 0, "", { "fault", "spent", "spare" } },
		{ 1, "no such adapter: spare", { "fault", "fatal", "spare" } },
		/* routes */
		{ 0, "out of some switch's reach: 0 ports\n", { "reroute" } },
		{ 0, "\"unreachable\":0", { "--json", "reroute" } },
		{ 2, "", { "reroute", "leaf1" } },
	};
	struct tdaemon *r = *state;

	td_write(r, GOOD);
	td_start(r, "--topology", r->file);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		td_ctl(r, &cases[i]);
	td_stop(r);
}

/* A program dot of this test, found before graphviz's */
static void write_dot(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	assert_true(fprintf(f, "#!/bin/sh\n%s\n", text) > 0);
	assert_int_equal(fchmod(fileno(f), 0700), 0);
	assert_int_equal(fclose(f), 0);
}

/* Every port and every link between switches is listed once for each of its ends. */
static void drawn(void **state)
{
	static const struct twords cases[] = {
		{ 0, "", { "fault", "loss", "hca1", "permille=30" } },
		{ 0, "", { "fault", "corrupt", "spare", "permille=4" } },
		{ 0, "", { "fault", "delay", "all", "permille=2", "usec=1" } },
		{ 0, "", { "link", "hca0:2", "down" } },
		{ 0, "every link: delay permille=2\n"
		     "leaf1  lid 49151\n"
		     "    hca0:1                ACTIVE  lid 1               4X EDR   "
		     "  latency 500 ns  no guest\n"
		     "    hca0:2                DOWN  lid 2                 4X EDR   "
		     "  latency 500 ns  no guest\n"
		     "    leaf2                 up                          4X SDR   "
		     "  latency 500 ns\n"
		     "    leaf2                 up                          4X EDR   "
		     "  latency 500 ns  corrupt permille=4\n"
		     "leaf2  lid 49150\n"
		     "    hca1:1                ACTIVE  lid 3               4X HDR   "
		     "  no guest  loss permille=30\n"
		     "    leaf1                 up                          4X SDR   "
		     "  latency 500 ns\n", { "draw" } },
		{ 0, "\t\"hca hca0\" -- \"switch leaf1\" [color=\"#2a7f3f\", "
		     "fontcolor=\"#2a7f3f\", label=<<table border=\"0\" cellpadding=\"5\">"
		     "<tr><td>port 1<br align=\"left\"/>ACTIVE  lid 1<br align=\"left\"/>"
		     "4X EDR<br align=\"left\"/>latency 500 ns<br align=\"left\"/></td></tr>"
		     "</table>>];\n", { "draw", "dot" } },
		{ 0, "color=\"#b3261e\", fontcolor=\"#b3261e\", style=dashed",
		  { "draw", "dot" } },
		{ 0, "\t\"switch leaf2\" [shape=box, style=filled, fillcolor=\"#dfe7f5\", "
		     "label=\"leaf2\\nlid 49150\"];\n", { "draw", "dot" } },
		{ 0, "\"edges\":[{\"a\":\"hca0\",\"b\":\"leaf1\",", { "--json", "draw" } },
		{ 2, "draw: 'png' is neither text nor dot nor svg", { "draw", "png" } },
	};
	static const struct twords svg[] = {
		{ 2, "draw: there is no program dot here: install graphviz", { "draw", "svg" } },
		{ 0, "-Tsvg\ngraph fabric {\n", { "draw", "svg" } },
		{ 2, "draw: dot has failed", { "draw", "svg" } },
	};
	char *path = strdup(getenv("PATH")), dot[TPROG_PATH];
	struct tdaemon *r = *state;

	tprog_in(r->dir, "dot", dot);
	td_write(r, GOOD);
	td_start(r, "--topology", r->file);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		td_ctl(r, &cases[i]);
	setenv("PATH", r->dir, 1);
	td_ctl(r, &svg[0]);
	write_dot(dot, "echo $1; while read -r line; do echo \"$line\"; done");
	td_ctl(r, &svg[1]);
	write_dot(dot, "exit 1");
	td_ctl(r, &svg[2]);
	unlink(dot);
	setenv("PATH", path, 1);
	free(path);
	td_stop(r);
}

static void drawn_namesakes(void **state)
{
	static const struct twords cases[] = {
		{ 0, "hca0  lid 49151\n"
		     "    leaf2                 up                          4X EDR   "
		     "\nleaf2  lid 49150\n", { "draw" } },
		{ 0, "\t\"hca hca0\" -- \"switch leaf2\" [", { "draw", "dot" } },
		{ 0, "\t\"switch hca0\" -- \"switch leaf2\" [", { "draw", "dot" } },
	};
	struct tdaemon *r = *state;

	td_write(r, NAMESAKES);
	td_start(r, "--topology", r->file);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		td_ctl(r, &cases[i]);
	td_stop(r);
}

/* Without a file there is nothing to list, and there are no rates. */
static void without(void **state)
{
	static const struct twords cases[] = {
		{ 0, "{\"links\":[],\"list\":\"links\",\"ok\":true}", { "--json", "links" } },
		{ 0, "{\"switches\":[],", { "--json", "switches" } },
		{ 1, "no such switch: a", { "routes", "a" } },
		{ 1, "links have no rates and latencies without a topology, see vhcad --topology",
		  { "link", "hca0", "rate", "EDR" } },
		{ 1, "without a topology", { "link", "hca0", "latency", "5" } },
		{ 1, "no such adapter: a-b", { "link", "a-b", "down" } },
		{ 1, "there is one switch without a topology, see vhcad --topology",
		  { "reroute" } },
		{ 0, "", { "link", "hca0", "down" } },
		/* one switch for all */
		{ 0, "switch\n    hca0:1                DOWN  lid 1                 no guest\n"
		     "    hca0:2                ACTIVE  lid 2               no guest\n"
		     "    hca1:1                ACTIVE  lid 3               no guest\n",
		  { "draw" } },
	};
	struct tdaemon *r = *state;

	td_start(r, NULL, NULL);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		td_ctl(r, &cases[i]);
	td_stop(r);
}

/* An adapter with a port of each kind, and switches of each. */
#define BOTH								\
	"{ \"defaults\": { \"link\": \"eth\", \"latency\": 500 },\n"	\
	"  \"switches\": [ { \"name\": \"leaf1\" }, { \"name\": \"leaf2\" },\n"	\
	"    { \"name\": \"core\", \"link\": \"ib\" } ],\n"		\
	"  \"links\": [\n"						\
	"    { \"ends\": [ \"hca0\", \"leaf1\" ] },\n"			\
	"    { \"ends\": [ \"leaf2\", \"hca1\" ], \"rate\": \"4X HDR\" },\n"	\
	"    { \"ends\": [ \"leaf1\", \"leaf2\" ], \"rate\": \"10 Gb/s\" },\n"	\
	"    { \"ends\": [ \"ethernet\", \"leaf2\" ], \"name\": \"out\" },\n"	\
	"    { \"ends\": [ \"hca0:2\", \"core\" ] } ] }\n"

static void with_ethernet(struct tdaemon *r)
{
	snprintf(r->sock[0], sizeof(r->sock[0]), "%s,ports=2,link1=eth,mac=52:54:00:77:00:01",
		 r->path[0]);
	snprintf(r->sock[1], sizeof(r->sock[1]), "%s,link=eth,mac=52:54:00:77:00:02", r->path[1]);
}

static void ethernet(void **state)
{
	static const struct twords cases[] = {
		{ 0, "core  guid 0x0a56485357000100  lid 49151  hoq life 18  no way 0  "
		     "links hca0:2\n"
		     "leaf1  ethernet  hoq life 18  no way 0  links hca0:1 leaf1-leaf2\n"
		     "leaf2  ethernet  hoq life 18  no way 0  links hca1:1 leaf1-leaf2 out\n",
		  { "switches" } },
		{ 0, "{\"name\":\"leaf1\",\"hoq_life\":18,\"no_way\":0,"
		     "\"links\":[\"hca0:1\",\"leaf1-leaf2\"],\"link\":\"eth\"}",
		  { "--json", "switches" } },
		{ 0, "hca0:1  4X EDR  latency 500 ns  queue 32  up\n", { "links" } },
		{ 0, "out  4X EDR  latency 500 ns  queue 32  up\n    ethernet > leaf2  queued 0",
		  { "links" } },
		{ 0, "    to                    links\n"
		     "    hca0:1                hca0:1\n"
		     "    hca1:1                leaf1-leaf2\n"
		     "    ethernet              leaf1-leaf2\n"
		     "    multicasts            hca0:1 leaf1-leaf2\n", { "routes", "leaf1" } },
		{ 0, "         1  hca0:2\n", { "routes", "core" } },
		/* the drawing of them */
		{ 0, "core  lid 49151\n"
		     "    hca0:2                ACTIVE  lid 1               4X EDR   "
		     "  latency 500 ns  no guest\n"
		     "leaf1\n"
		     "    hca0:1                ACTIVE  52:54:00:77:00:01   4X EDR   "
		     "  latency 500 ns  no guest\n"
		     "    leaf2                 up                          4X SDR   "
		     "  latency 500 ns\n"
		     "leaf2\n"
		     "    hca1:1                ACTIVE  52:54:00:77:00:02   4X HDR   "
		     "  latency 500 ns  no guest\n"
		     "    leaf1                 up                          4X SDR   "
		     "  latency 500 ns\n"
		     "    ethernet              up                          4X EDR   "
		     "  latency 500 ns\n"
		     "ethernet\n"
		     "    leaf2                 up                          4X EDR   "
		     "  latency 500 ns\n", { "draw" } },
		/* changes */
		{ 0, "", { "link", "hca1", "rate", "2.5 Gb/s" } },
		{ 0, "", { "link", "hca1", "latency", "7" } },
		{ 0, "hca1:1  1X SDR  latency 7 ns", { "links" } },
		{ 0, "", { "link", "hca1", "down" } },
		{ 0, "hca1:1  1X SDR  latency 7 ns  queue 32  down\n", { "links" } },
		{ 0, "port 1  DOWN    52:54:00:77:00:02", { "status" } },
		{ 0, "", { "link", "leaf1-leaf2", "down" } },
		{ 0, "{\"to\":\"hca1:1\",\"links\":[]},{\"to\":\"ethernet\",\"links\":[]},"
		     "{\"to\":\"multicasts\",\"links\":[\"hca0:1\"]}],",
		  { "--json", "routes", "leaf1" } },
		{ 0, "out of some switch's reach: 3 ports\n", { "reroute" } },
		{ 0, "", { "link", "leaf1-leaf2", "up" } },
		{ 0, "out of some switch's reach: 0 ports\n", { "reroute" } },
		{ 0, "", { "link", "out", "down" } },
		{ 0, "out  4X EDR  latency 500 ns  queue 32  down\n", { "links" } },
		{ 0, "", { "fault", "loss", "leaf1-leaf2", "permille=7" } },
		{ 0, "", { "fault", "delay", "out", "usec=7" } },
		{ 0, "", { "fault", "flap", "hca1", "usec=7" } },
		{ 0, "link leaf1-leaf2\n    fault loss direction=both permille=7 ", { "status" } },
		{ 0, "link out\n    fault delay direction=both ", { "status" } },
	};
	static const char only_one[] =
		"{ \"switches\": [ { \"name\": \"a\", \"link\": \"eth\" } ],\n"
		"  \"links\": [ { \"ends\": [ \"a\", \"hca0\" ] } ] }\n";
	static const char as_ib[] =
		"{ \"switches\": [ { \"name\": \"a\" } ], \"links\": [ { \"ends\": [ \"a\", "
		"\"hca0\" ] } ] }\n";
	static const struct { const char *text, *says; } bad[] = {
		{ only_one, "scenario: hca1:1: no link leads to this port" },
		{ as_ib, "hca0:1: an Ethernet port has a link to a switch of InfiniBand" },
		{ BOTH, "scenario: ethernet: there are no network adapters without --ethernet" },
	};
	char segment[TPROG_PATH], out[4096];
	struct tdaemon *r = *state;
	char *args[] = { "vhcad", "--hca", r->sock[0], "--hca", r->sock[1], "--control", r->ctl,
			 "--log", r->log, "--topology", r->file, NULL, segment, NULL };

	with_ethernet(r);
	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		td_write(r, bad[i].text);
		assert_int_equal(tprog_run(tprog_path("VHCAD"), args, 0, out, sizeof(out)), 2);
		if (!strstr(out, bad[i].says))
			fail_msg("'%s' does not say '%s'", out, bad[i].says);
	}
	tprog_in(r->dir, "ethernet", segment);
	args[11] = "--ethernet";
	r->pid = tprog_start(tprog_path("VHCAD"), args);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		td_ctl(r, &cases[i]);
	td_stop(r);
	unlink(segment);
}

#define SW(more)	"{\"switches\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"links\":[" more "]}"
#define MIXED(more)							\
	"{\"switches\":[{\"name\":\"a\"},{\"name\":\"b\",\"link\":\"eth\"}],\"links\":[" more "]}"
#define HCAS		"{\"ends\":[\"a\",\"hca0\"]},{\"ends\":[\"a\",\"hca0:2\"]}," \
			"{\"ends\":[\"b\",\"hca1\"]},{\"ends\":[\"a\",\"b\"]}"

/* Errors in files, and their places. */
static void bad_files(void **state)
{
	static const struct { const char *text, *says; } cases[] = {
		{ "", "scenario:1: not JSON" },
		{ "{\n\n oops }", "scenario:3: not JSON" },
		{ "[]", "scenario: not a JSON object" },
		{ "{}", "scenario: no switches" },
		{ "{\"switches\":[]}", "scenario: no links" },
		{ "{\"switches\":3}", "'switches' is neither switches nor links (arrays)" },
		{ "{\"switch\":[]}", "'switch' is neither switches nor links" },
		{ "{\"switches\":[],\"links\":[]}", "no link leads to an adapter" },
		{ "{\"switches\":[5],\"links\":[]}", "switches[0]: not an object" },
		{ "{\"switches\":[{}],\"links\":[]}", "switches[0]: it has no name" },
		{ "{\"switches\":[{\"name\":\"a b\"}],\"links\":[]}",
		  "switches[0].name: a name is 1 to 45 letters" },
		{ "{\"switches\":[{\"name\":\"a:1\"}],\"links\":[]}",
		  "switches[0].name: a name is 1 to 45 letters" },
		{ "{\"switches\":[{\"name\":7}],\"links\":[]}", "switches[0].name: a name is" },
		{ "{\"switches\":[{\"name\":\"a\"},{\"name\":\"a\"}],\"links\":[]}",
		  "switches[1] (a): another switch has this name" },
		{ "{\"switches\":[{\"name\":\"a\",\"hoq_life\":32}],\"links\":[]}",
		  "switches[0] (a): hoq_life is 0 to 31" },
		{ "{\"switches\":[{\"name\":\"a\",\"hoq_life\":-1}],\"links\":[]}",
		  "switches[0].hoq_life: not a number" },
		{ "{\"switches\":[{\"name\":\"a\",\"guid\":7}],\"links\":[]}",
		  "switches[0].guid: no GUID: 7" },
		{ "{\"switches\":[{\"name\":\"a\",\"guid\":\"0x10000000000000000\"}],\"links\":[]}",
		  "switches[0].guid: no GUID: 0x10000000000000000" },
		{ "{\"switches\":[{\"name\":\"a\",\"guid\":\"7g\"}],\"links\":[]}",
		  "switches[0].guid: no GUID: 7g" },
		{ "{\"switches\":[{\"name\":\"a\",\"guid\":\"7\"},"
		  "{\"name\":\"b\",\"guid\":\"0x7\"}],\"links\":[]}",
		  "switches[1] (b): another switch has this GUID" },
		{ "{\"switches\":[{\"name\":\"a\",\"colour\":1}],\"links\":[]}",
		  "switches[0].colour: a switch has no such member" },
		{ "{\"switches\":[{\"name\":\"a\",\"routes\":1}],\"links\":[]}",
		  "switches[0].routes: not an object" },
		{ "{\"switches\":[{\"name\":\"a\",\"link\":\"tr\"}],\"links\":[]}",
		  "switches[0].link: neither ib nor eth" },
		{ "{\"defaults\":{\"link\":7},\"switches\":[],\"links\":[]}",
		  "defaults.link: neither ib nor eth" },
		{ "{\"switches\":[{\"name\":\"a\",\"guid\":\"7\",\"link\":\"eth\"}],"
		  "\"links\":[]}",
		  "switches[0] (a): a switch of Ethernet has no GUID" },
		{ "{\"switches\":[{\"name\":\"a\"},{\"name\":\"a\",\"link\":\"eth\"}],"
		  "\"links\":[]}",
		  "switches[1] (a): another switch has this name" },
		{ "{\"switches\":[{\"name\":\"a\",\"link\":\"eth\"}],\"links\":[]}",
		  "no link leads to an adapter" },
		{ MIXED("{\"ends\":[\"a\",\"b\"]}"),
		  "links[0] (a-b): one of its switches is of InfiniBand, the other of Ethernet" },
		{ MIXED("{\"ends\":[\"a\",\"hca0\"]},{\"ends\":[\"b\",\"hca0\"],\"name\":\"l\"}"),
		  "links[1] (l): this port of an adapter has a link already" },
		{ MIXED("{\"ends\":[\"a\",\"hca0\"]},{\"ends\":[\"b\",\"hca1\"],\"name\":\"l\"},"
			"{\"ends\":[\"a\",\"hca0:2\"],\"name\":\"l\"}"),
		  "links[2] (l): another link has this name" },
		{ MIXED("{\"ends\":[\"a\",\"hca0\"]},{\"ends\":[\"a\",\"hca0:2\"]},"
			"{\"ends\":[\"b\",\"hca1\"]}"),
		  "hca1:1: an InfiniBand port has a link to a switch of Ethernet" },
		{ "{\"defaults\":{\"hue\":1},\"switches\":[],\"links\":[]}",
		  "defaults.hue: there is no such default" },
		{ "{\"defaults\":1,\"switches\":[],\"links\":[]}", "defaults: not an object" },
		{ "{\"defaults\":{\"hoq_life\":\"x\"},\"switches\":[],\"links\":[]}",
		  "defaults.hoq_life: not a number" },
		{ "{\"defaults\":{\"rate\":\"fast\"},\"switches\":[],\"links\":[]}",
		  "defaults.rate: no rate of a link: fast" },
		{ SW("1"), "links[0]: not an object" },
		{ SW("{}"), "links[0]: it has no ends" },
		{ SW("{\"ends\":\"a\"}"), "links[0].ends: not an array of two names" },
		{ SW("{\"ends\":[\"a\"]}"), "links[0].ends: not an array of two names" },
		{ SW("{\"ends\":[\"a\",1]}"), "links[0].ends: a name is" },
		{ SW("{\"ends\":[\"a\",\"a\"]}"), "links[0] (a-a): both ends are one switch" },
		{ SW("{\"ends\":[\"x\",\"y\"]}"),
		  "links[0] (x:1): neither of its ends is a switch" },
		{ SW("{\"ends\":[\"a\",\"b\"],\"length\":3}"),
		  "links[0].length: a link has no such member" },
		{ SW("{\"ends\":[\"a\",\"b\"],\"rate\":7}"),
		  "links[0].rate: no rate of a link: 7" },
		{ SW("{\"ends\":[\"a\",\"b\"],\"latency\":1.5}"),
		  "links[0].latency: not a number" },
		{ SW("{\"ends\":[\"a\",\"b\"],\"latency\":2000000000}"),
		  "links[0] (a-b): latency is at most 1000000000 ns" },
		{ SW("{\"ends\":[\"a\",\"b\"],\"queue\":0}"),
		  "links[0] (a-b): queue is 1 to 1024 packets" },
		{ SW("{\"ends\":[\"a\",\"b\"]},{\"ends\":[\"a\",\"b\"]}"),
		  "links[1] (a-b): another link has this name" },
		{ SW("{\"ends\":[\"a\",\"hca0\"]},{\"ends\":[\"b\",\"hca0:1\"],\"name\":\"l\"}"),
		  "links[1] (l): this port of an adapter has a link already" },
		{ SW("{\"ends\":[\"a\",\"hca0\"]}"), "no way leads from 'b' to 'hca0:1'" },
		{ SW("{\"ends\":[\"a\",\"hca0\"]},{\"ends\":[\"a\",\"b\"]}"),
		  "scenario: hca0:2: no link leads to this port" },
		{ SW(HCAS ",{\"ends\":[\"b\",\"hca7\"]}"),
		  "scenario: hca7:1: no adapter has this port" },
		{ "{\"switches\":[{\"name\":\"a\"},{\"name\":\"b\",\"routes\":{\"hca0\":\"x\"}}],"
		  "\"links\":[" HCAS "]}", "switches[1].routes.hca0: no link has this name" },
		{ "{\"switches\":[{\"name\":\"a\"},{\"name\":\"b\",\"routes\":{\"hca0\":4}}],"
		  "\"links\":[" HCAS "]}", "switches[1].routes: not the name of a port" },
		{ "{\"switches\":[{\"name\":\"a\"},{\"name\":\"b\",\"routes\":{\"hca0\":\"b-c\"}},"
		  "{\"name\":\"c\"}],\"links\":[" HCAS ",{\"ends\":[\"b\",\"c\"]}]}",
		  "routes from 'b' to 'hca0:1' go round for ever" },
	};
	struct tdaemon *r = *state;
	char out[8192], *args[] = { "vhcad", "--hca", r->sock[0], "--hca", r->sock[1], "--topology",
				    r->file, NULL };

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		int rc;

		td_write(r, cases[i].text);
		rc = tprog_run(tprog_path("VHCAD"), args, 0, out, sizeof(out));
		if (rc != 2 || !strstr(out, cases[i].says) || !strstr(out, "vhcad: --topology: "))
			fail_msg("%s: came %d and '%s'", cases[i].text, rc, out);
	}
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, td_setup, td_teardown)

/* If a manager computes the routes, vhcad does not claim to have done so. */
static void managed(void **state)
{
	static const struct twords asked = {
		1, "routes are the subnet manager's", { "reroute" },
	};
	struct tdaemon *r = *state;
	char *args[] = { "vhcad", "--hca", r->sock[0], "--hca", r->sock[1], "--control", r->ctl,
			 "--log", r->log, "--topology", r->file, "--subnet", "none", NULL };

	td_write(r, GOOD);
	r->pid = tprog_start(tprog_path("VHCAD"), args);
	td_ctl(r, &asked);
	td_stop(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_vhcactl),
		TEST(drawn),
		TEST(drawn_namesakes),
		TEST(managed),
		TEST(ethernet),
		TEST(without),
		TEST(bad_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
