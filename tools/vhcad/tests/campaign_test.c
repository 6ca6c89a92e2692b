// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Random campaigns: a short one as a test, and any by CAMPAIGN_SEED and CAMPAIGN_MESSAGES in the
 * environment, with a capture file by CAMPAIGN_TRACE, and with CAMPAIGN_THREADS, stepped by
 * CAMPAIGN_STEPPED=1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "tests/campaign.h"
#include "tests/cm.h"

#define SHORT	50000u
#define TRACED	600u

/* Something of everything has happened. */
static void few_messages(void **state)
{
	const struct campaign_options o = { .seed = 1, .messages = SHORT };
	struct campaign_result r;

	campaign_run(&o, &r);
	assert_true(r.messages >= SHORT);
	assert_true(r.lost && r.bad && r.duplicates && r.timeouts && r.rnr_naks && r.atomics);
	assert_true(r.registered && r.windows && r.read_inv && r.send_inv && r.migrated);
	assert_true(r.arrived > SHORT / 4);
}

/* The same by way of three switches, where packets wait for each other too. */
static void three_switches(void **state)
{
	const struct campaign_options o = { .seed = 1, .messages = SHORT / 4, .switches = true };
	struct campaign_result r;

	campaign_run(&o, &r);
	assert_true(r.messages >= SHORT / 4);
	assert_true(r.lost && r.bad && r.duplicates && r.timeouts && r.atomics && r.waits);
	assert_true(r.arrived > SHORT / 16);
}

static void trace(u32 seed, char *path, struct campaign_result *r)
{
	const struct campaign_options o = { .seed = seed, .messages = TRACED, .trace = path };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	campaign_run(&o, r);
}

static bool same(const char *a, const char *b)
{
	FILE *fa = fopen(a, "r"), *fb = fopen(b, "r");
	int x, y;

	assert_true(fa && fb);
	do {
		x = fgetc(fa);
		y = fgetc(fb);
	} while (x == y && x != EOF);
	fclose(fa);
	fclose(fb);
	return x == y;
}

/* The same seed is the same campaign, to the last byte on the wire and its time. */
static void traces(void **state)
{
	char path[3][32];
	struct campaign_result r[3];

	for (u32 i = 0; i < 3; i++) {
		strcpy(path[i], "/tmp/vhcad-test-XXXXXX");
		trace(i == 2 ? 6 : 5, path[i], &r[i]);
	}
	assert_true(same(path[0], path[1]));
	assert_false(same(path[0], path[2]));
	assert_memory_equal(&r[0], &r[1], sizeof(r[0]));
	assert_true(r[0].packets > TRACED);
	for (u32 i = 0; i < 3; i++)
		unlink(path[i]);
}

static u32 from_env(const char *name, u32 otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoul(text, NULL, 0) : otherwise;
}

static void as_asked(void **state)
{
	const struct campaign_options o = {
		.seed = from_env("CAMPAIGN_SEED", 1),
		.messages = from_env("CAMPAIGN_MESSAGES", 1000000),
		.switches = from_env("CAMPAIGN_SWITCHES", 0) == 3,
		.threads = from_env("CAMPAIGN_THREADS", 0),
		.real = from_env("CAMPAIGN_THREADS", 0) && !from_env("CAMPAIGN_STEPPED", 0),
		.trace = getenv("CAMPAIGN_TRACE"),
		.talk = true,
	};
	time_t start = time(NULL);
	struct campaign_result r;

	campaign_run(&o, &r);
	printf("seed %u: %llu messages in %llu packets, %llu arrived; %llu packets lost, %llu "
	       "spoiled, %llu doubled;\n  %llu timeouts, %llu RNR NAKs, %llu connections broken; "
	       "%llu atomics, each once;\n  %llu registrations, %llu windows bound, %llu and %llu "
	       "keys ended by READs and SENDs; %llu times another path; %.1f s simulated in "
	       "%llu s\n", o.seed,
	       (unsigned long long)r.messages, (unsigned long long)r.packets,
	       (unsigned long long)r.arrived, (unsigned long long)r.lost,
	       (unsigned long long)r.bad, (unsigned long long)r.duplicates,
	       (unsigned long long)r.timeouts, (unsigned long long)r.rnr_naks,
	       (unsigned long long)r.broken, (unsigned long long)r.atomics,
	       (unsigned long long)r.registered, (unsigned long long)r.windows,
	       (unsigned long long)r.read_inv, (unsigned long long)r.send_inv,
	       (unsigned long long)r.migrated, r.end / 1e9,
	       (unsigned long long)(time(NULL) - start));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_messages),
		cmocka_unit_test(three_switches),
		cmocka_unit_test(traces),
	};
	const struct CMUnitTest asked[] = {
		cmocka_unit_test(as_asked),
	};

	/* many links go up and down */
	log_open("/dev/null");
	if (getenv("CAMPAIGN_SEED"))
		return cmocka_run_group_tests(asked, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
