// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An assertion that fails in a thread fails the test, prints where and why, and does not affect the
 * tests after it (tests/tthread.c).  This program runs itself for that, with tests that fail.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/types.h"
#include "tests/cm.h"
#include "tests/tprog.h"

#define FAILING	"VHCAD_FAILING_THREADS"

/* How an assertion fails. */
enum { TRUE, EQUAL, NOT_EQUAL, STRING, BYTES, RANGE, FAIL, KINDS };

static void *assert_it(void *arg)
{
	switch (*(int *)arg) {
	case TRUE:
		assert_true(strlen("") == 1);
		break;
	case EQUAL:
		assert_int_equal(17, 18);
		break;
	case NOT_EQUAL:
		assert_int_not_equal(19, 19);
		break;
	case STRING:
		assert_string_equal("left", "right");
		break;
	case BYTES:
		assert_memory_equal("abc", "abx", 3);
		break;
	case RANGE:
		assert_in_range(9, 2, 4);
		break;
	default:
		fail();
	}
	return arg;
}

static void *assert_nothing(void *arg)
{
	assert_non_null(arg);
	assert_int_equal(1, 1);
	assert_int_not_equal(1, 2);
	assert_string_equal("a", "a");
	assert_memory_equal("a", "a", 2);
	assert_in_range(1, 1, 1);
	return arg;
}

static void fails(void **state)
{
	int kind = atoi(getenv(FAILING));
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, assert_it, &kind), 0);
	pthread_join(thread, NULL);
}

static void holds(void **state)
{
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, assert_nothing, state), 0);
	assert_int_equal(pthread_join(thread, &result), 0);
	assert_ptr_equal(result, state);
}

static void threads_fail(void **state)
{
	static const char *const says[KINDS] = {
		[TRUE] = "error in a thread: strlen(\"\") == 1", [EQUAL] = "0x11 != 0x12",
		[NOT_EQUAL] = "0x13 twice", [STRING] = "\"left\" != \"right\"",
		[BYTES] = "3 bytes differ", [RANGE] = "0x9 is not in 0x2-0x4", [FAIL] = "failure",
	};

	for (int kind = 0; kind < KINDS; kind++) {
		char out[4096], number[16];

		snprintf(number, sizeof(number), "%d", kind);
		setenv(FAILING, number, 1);
		assert_int_equal(tprog_run("/proc/self/exe", (char *[]){ "self", NULL }, 0, out,
					   sizeof(out)), 1);
		unsetenv(FAILING);
		assert_non_null(strstr(out, says[kind]));
		assert_non_null(strstr(out, "tests/tthread_test.c:"));
		assert_non_null(strstr(out, "[  FAILED  ] fails"));
		assert_non_null(strstr(out, "[       OK ] holds"));
	}
}

int main(void)
{
	const struct CMUnitTest failing[] = { cmocka_unit_test(fails), cmocka_unit_test(holds) };
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_fail), cmocka_unit_test(holds),
	};

	if (getenv(FAILING))
		return cmocka_run_group_tests(failing, NULL, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
