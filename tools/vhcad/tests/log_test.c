// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The log: whole lines, no forged ones, and a limit for each source.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "tests/cm.h"
#include "lib/types.h"

static char path[] = "/tmp/vhcad-test-XXXXXX";

static int setup(void **state)
{
	close(mkstemp(path));
	return log_open(path);
}

static int teardown(void **state)
{
	return unlink(path);
}

/* Lines of the log that contain the text. */
static u32 lines_with(const char *text)
{
	char line[2048];
	u32 n = 0;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		assert_non_null(strchr(line, '\n'));
		n += !!strstr(line, text);
	}
	fclose(f);
	return n;
}

static void whole_lines(void **state)
{
	char big[5000];

	log_line("plain: %d", 42);
	assert_int_equal(lines_with("Z vhcad: plain: 42\n"), 1);
	log_line("forged: one\n2026-01-01T00:00:00.000000Z vhcad: two\033[2J");
	assert_int_equal(lines_with("vhcad: two"), 1);
	assert_int_equal(lines_with("one?2026"), 1);
	assert_int_equal(lines_with("\033"), 0);
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	log_line("long: %s", big);
	assert_int_equal(lines_with("vhcad: long: xxx"), 1);
}

/* Number of lines that the log says were left out. */
static u32 left_out(void)
{
	char line[2048];
	u32 sum = 0;
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const char *more = strrchr(line, '(');
		u32 n;

		if (more && sscanf(more, "(%u lines before this left out)", &n) == 1)
			sum += n;
	}
	fclose(f);
	return sum;
}

static u64 now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ull + t.tv_nsec / 1000000;
}

/* Its allowance grows by ten lines a second, however long the test takes. */
static void talkative_source(void **state)
{
	u64 start = now_ms();
	u32 said;

	for (int i = 0; i < 5000; i++)
		log_line("loud: line");
	said = lines_with("loud: line");
	assert_in_range(said, 100, 101 + (now_ms() - start) / 100);
	log_line("quiet: line");
	assert_int_equal(lines_with("quiet: line"), 1);
	assert_int_equal(lines_with("quiet: line ("), 0);
	nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	log_line("loud: again");
	assert_int_equal(lines_with("loud: again"), 1);
	/* the number of lines left out is logged */
	assert_int_equal(said + left_out(), 5000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_lines),
		cmocka_unit_test(talkative_source),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
