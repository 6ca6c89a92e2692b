// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs a fuzz target over its corpus, without libFuzzer.
 *
 * FUZZ_CORPUS names the folder of all corpora; the program's name says which of them to run.  An
 * input is a line of hexadecimal digits; lines that begin with '#' are skipped.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fuzz/input.h"
#include "tests/cm.h"

static u8 input[1u << 16];

static int digit(char c)
{
	return c >= 'a' ? c - 'a' + 10 : c - '0';
}

static size_t unhex(const char *line)
{
	size_t len = strcspn(line, "\n");

	assert_int_equal(strspn(line, "0123456789abcdef"), len);
	assert_true(len % 2 == 0 && len / 2 <= sizeof(input));
	for (size_t i = 0; i < len / 2; i++)
		input[i] = digit(line[2 * i]) << 4 | digit(line[2 * i + 1]);
	return len / 2;
}

static void corpus(void **state)
{
	const char *folder = getenv("FUZZ_CORPUS");
	char path[4096], *line = NULL;
	size_t room = 0;
	u32 n = 0;
	FILE *file;

	if (!folder)
		fail_msg("FUZZ_CORPUS is not set: run the tests with 'make check'");
	snprintf(path, sizeof(path), "%s/%s.hex", folder, program_invocation_short_name);
	file = fopen(path, "r");
	if (!file)
		fail_msg("%s: %s", path, strerror(errno));
	while (getline(&line, &room, file) >= 0) {
		size_t len;
		u8 *data;

		if (*line == '#')
			continue;
		len = unhex(line);
		/* of the exact size, so that AddressSanitizer sees reads behind it */
		data = malloc(len + !len);
		assert_non_null(data);
		memcpy(data, input, len);
		LLVMFuzzerTestOneInput(data, len);
		free(data);
		n++;
	}
	free(line);
	fclose(file);
	assert_true(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
