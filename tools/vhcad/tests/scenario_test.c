// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of links by vhcactl and by scenario files: what is armed, what is refused and the reasons
 * of refusals.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cm.h"
#include "tests/tprog.h"
#include "tests/tdaemon.h"

static void by_vhcactl(void **state)
{
	static const struct twords cases[] = {
		{ 0, "", { "fault", "loss", "hca0:2", "permille=10", "direction=in",
			   "opcode=READ_RESP", "seed=7" } },
		{ 0, "fault loss port=2 direction=in opcode=READ_RESP permille=10 seed=7 skip=0 "
		     "count=0 after=0 until=0  (struck 0)\n", { "status" } },
		{ 1, "still armed: {\"kind\":\"loss\",\"port\":2", { "fault", "spent", "hca0" } },
		{ 0, "", { "fault", "spent", "hca1" } },
		{ 0, "", { "fault", "spent", "all" } },
		{ 0, "", { "fault", "delay", "all", "usec=50", "jitter=10" } },
		{ 0, "every link\n    fault delay direction=both permille=1000 seed=1 skip=0 "
		     "count=0 after=0 until=0 usec=50 jitter=10  (struck 0)\n", { "status" } },
		{ 1, "still armed: {\"kind\":\"delay\"", { "fault", "spent", "all" } },
		{ 0, "", { "fault", "clear", "hca0" } },
		{ 0, "", { "fault", "spent", "hca0" } },
		{ 1, "still armed", { "fault", "spent", "all" } },
		{ 0, "", { "fault", "clear", "all" } },
		{ 0, "", { "fault", "spent", "all" } },
		{ 0, "", { "fault", "corrupt", "hca1", "count=3", "skip=5" } },
		{ 0, "", { "fault", "reorder", "hca1", "usec=9" } },
		{ 0, "", { "fault", "duplicate", "hca1" } },
		{ 0, "", { "fault", "stall", "hca1", "usec=9", "after=10", "until=20" } },
		{ 0, "", { "fault", "flap", "hca1", "usec=9" } },
		{ 0, "fault flap port=1", { "status" } },
		{ 0, "", { "fault", "loss", "hca0", "dqpn=0", "mgmt_class=129" } },
		{ 0, "fault loss port=1 direction=both dqpn=0 mgmt_class=129 permille=1000 seed=1",
		  { "status" } },
		{ 0, "", { "fault", "clear", "hca0" } },
		/* what is wrong with it */
		{ 1, "it has to say how long: usec: flap", { "fault", "flap", "hca1" } },
		{ 1, "this fault has no argument: usec", { "fault", "loss", "hca1", "usec=1" } },
		{ 1, "this fault has no argument: struck",
		  { "fault", "loss", "hca1", "struck=1" } },
		{ 1, "not a value of this argument: permille, 1 to 1000",
		  { "fault", "loss", "hca1", "permille=0" } },
		{ 1, "not a value of this argument: permille, 1 to 1000",
		  { "fault", "loss", "hca1", "permille=1001" } },
		{ 1, "not a value of this argument: permille",
		  { "fault", "loss", "hca1", "permille=many" } },
		{ 1, "not a value of this argument: dqpn, 0 to 16777215",
		  { "fault", "loss", "hca1", "dqpn=16777216" } },
		{ 1, "not a value of this argument: mgmt_class, 1 to 255",
		  { "fault", "loss", "hca1", "mgmt_class=0" } },
		{ 1, "not a value of this argument: direction",
		  { "fault", "loss", "hca1", "direction=up" } },
		{ 1, "not a value of this argument: opcode",
		  { "fault", "loss", "hca1", "opcode=4" } },
		{ 1, "not a value of this argument: opcode", { "fault", "loss", "hca1",
		     "opcode=ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF" } },
		{ 1, "no opcode has this in its name: loss",
		  { "fault", "loss", "hca1", "opcode=DANCE" } },
		{ 1, "it is over before it begins: until, after: loss",
		  { "fault", "loss", "hca1", "after=5", "until=4" } },
		{ 1, "no such port of: hca1", { "fault", "loss", "hca1:2" } },
		{ 1, "every link has no: port", { "fault", "loss", "all:1" } },
		{ 1, "no such adapter: hca9", { "fault", "loss", "hca9" } },
		{ 1, "no such adapter: all", { "fault", "fatal", "all" } },
		{ 1, "no such adapter: all", { "fault", "command", "all", "delay=1" } },
		{ 1, "no argument: count", { "fault", "clear", "all", "count=1" } },
		{ 2, "usage:", { "scenario" } },
		{ 2, "/nowhere: No such file", { "scenario", "/nowhere" } },
	};
	const struct twords full = { 1, "too many faults of links are armed: loss",
				    { "fault", "loss", "all" } };
	struct tdaemon *r = *state;

	td_start(r, NULL, NULL);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++)
		td_ctl(r, &cases[i]);
	/* five are armed */
	for (u32 i = 5; i < 32; i++)
		td_ctl(r, &(struct twords){ 0, "", { "fault", "loss", "all" } });
	td_ctl(r, &full);
	td_stop(r);
}

/* --loss is one of them. */
static void loss_option(void **state)
{
	struct tdaemon *r = *state;

	td_start(r, "--loss", "25");
	td_ctl(r, &(struct twords){ 0, "every link\n    fault loss direction=both permille=25 ",
				    { "status" } });
	td_ctl(r, &(struct twords){ 0, "", { "fault", "clear", "all" } });
	td_ctl(r, &(struct twords){ 0, "", { "fault", "spent", "all" } });
	td_stop(r);
}

#define GOOD							\
	"{ \"seed\": 99,\n"					\
	"  \"faults\": [\n"					\
	"    { \"kind\": \"loss\", \"hca\": \"all\", \"permille\": 3 },\n"	\
	"    { \"kind\": \"flap\", \"hca\": \"hca0\", \"port\": 2, \"usec\": 70000,\n" \
	"      \"count\": 1, \"seed\": 4 },\n"			\
	"    { \"kind\": \"command\", \"hca\": \"hca1\", \"delay\": 5 }\n"	\
	"  ] }\n"

static const struct twords armed[] = {
	{ 0, "fault loss direction=both permille=3 seed=99 ", { "status" } },
	{ 0, "fault flap port=2 direction=both permille=1000 seed=4 skip=0 count=1 ",
	  { "status" } },
	{ 0, "fault command status=OK answer=once delay=5 ", { "status" } },
};

static void by_file(void **state)
{
	struct tdaemon *r = *state;

	td_write(r, GOOD);
	td_start(r, "--scenario", r->file);
	for (u32 i = 0; i < ARRAY_SIZE(armed); i++)
		td_ctl(r, &armed[i]);
	td_stop(r);

	td_start(r, NULL, NULL);
	td_ctl(r, &(struct twords){ 0, "", { "scenario", r->file } });
	for (u32 i = 0; i < ARRAY_SIZE(armed); i++)
		td_ctl(r, &armed[i]);
	td_stop(r);
}

/* Both programs report what is wrong with a file, and where. */
static void bad_files(void **state)
{
	static const struct {
		const char *text, *says;
		bool late;	/* only the daemon can check it */
	} cases[] = {
		{ "", "scenario:1: not JSON", false },
		{ "{ \"faults\": [\n {},\n oops ] }", "scenario:3: not JSON: ", false },
		{ "{ \"faults\": [ ] } more", "scenario:1: not JSON: ", false },
		{ "[]", "scenario: not a JSON object", false },
		{ "{}", "scenario: no faults", false },
		{ "{ \"seed\": 1 }", "scenario: no faults", false },
		{ "{ \"faults\": 3 }",
		  "'faults' is neither a seed (a number) nor faults (an array)", false },
		{ "{ \"seed\": \"x\", \"faults\": [] }", "'seed' is neither", false },
		{ "{ \"speed\": 1, \"faults\": [] }", "'speed' is neither", false },
		{ "{ \"faults\": [ 5 ] }", "scenario: fault 1: not an object", false },
		{ "{ \"faults\": [ { \"command\": \"link\" } ] }",
		  "scenario: fault 1: a fault has no member: command", false },
		{ "{ \"faults\": [ { \"hca\": \"hca0\" } ] }",
		  "missing or not a string: kind", true },
		{ "{ \"faults\": [ { \"kind\": 4 } ] }", "missing or not a string: kind", true },
		{ "{ \"seed\": 1, \"faults\": [ { \"kind\": null } ] }",
		  "missing or not a string: kind", true },
		{ "{ \"faults\": [ { \"kind\": \"rain\", \"hca\": \"hca0\" } ] }",
		  "no such fault: rain", true },
		{ "{ \"faults\": [ { \"kind\": \"loss\", \"hca\": \"all\" },"
		  " { \"kind\": \"loss\", \"hca\": \"hca0\", \"permille\": 1.5 } ] }",
		  "not a value of this argument: permille, 1 to 1000", true },
	};
	struct tdaemon *r = *state;
	char out[8192], *args[] = { "vhcad", "--hca", r->sock[0], "--scenario", r->file, NULL };

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		int rc;

		td_write(r, cases[i].text);
		rc = tprog_run(tprog_path("VHCAD"), args, 0, out, sizeof(out));
		if (rc != 2 || !strstr(out, cases[i].says))
			fail_msg("%s: came %d and '%s'", cases[i].text, rc, out);
	}
	/* says which of them it was */
	assert_non_null(strstr(out, "scenario: fault 2: "));
	td_start(r, NULL, NULL);
	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		td_write(r, cases[i].text);
		td_ctl(r, &(struct twords){ cases[i].late ? 1 : 2, cases[i].says,
					    { "scenario", r->file } });
	}
	td_stop(r);
}

/* Files that cannot be read. */
static void no_files(void **state)
{
	struct tdaemon *r = *state;
	char out[8192], *args[] = { "vhcad", "--hca", r->sock[0], "--scenario", r->dir, NULL };
	char *big = malloc(70000);

	assert_int_equal(tprog_run(tprog_path("VHCAD"), args, 0, out, sizeof(out)), 2);
	assert_non_null(strstr(out, "--scenario: "));
	assert_non_null(strstr(out, "Is a directory"));
	memset(big, ' ', 69999);
	big[69999] = '\0';
	td_write(r, big);
	free(big);
	args[4] = r->file;
	assert_int_equal(tprog_run(tprog_path("VHCAD"), args, 0, out, sizeof(out)), 2);
	assert_non_null(strstr(out, "File too large"));
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, td_setup, td_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(by_vhcactl),
		TEST(loss_option),
		TEST(by_file),
		TEST(bad_files),
		TEST(no_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
