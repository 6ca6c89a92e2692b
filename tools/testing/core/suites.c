// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Runs the KUnit suites that are linked with it, and prints results as cmocka does.
 */
#include "kunit.h"

static struct kunit_suite *suites[16];
static unsigned int suite_count;

void kunit_add(struct kunit_suite *suite)
{
	if (suite_count == ARRAY_SIZE(suites))
		abort();
	suites[suite_count++] = suite;
}

void *kunit_allocate(struct kunit *test, size_t size)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(test->allocated); i++)
		if (!test->allocated[i])
			return test->allocated[i] = calloc(1, size);
	abort();
}

void kunit_kfree(struct kunit *test, const void *p)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(test->allocated); i++)
		if (test->allocated[i] == p) {
			free(test->allocated[i]);
			test->allocated[i] = NULL;
			return;
		}
	abort();
}

static bool passes(const struct kunit_suite *suite, const struct kunit_case *test_case)
{
	struct kunit test = { 0 };

	printf("[ RUN      ] %s: %s\n", suite->name, test_case->name);
	fflush(stdout);
	if (suite->init && suite->init(&test))
		abort();
	test_case->run(&test);
	for (unsigned int i = 0; i < ARRAY_SIZE(test.allocated); i++)
		free(test.allocated[i]);
	printf("[  %s ] %s: %s\n", test.failures ? "FAILED " : "     OK", suite->name,
	       test_case->name);
	return !test.failures;
}

int main(void)
{
	unsigned int passed = 0, failed = 0;

	for (unsigned int i = 0; i < suite_count; i++)
		for (const struct kunit_case *test_case = suites[i]->test_cases; test_case->run;
		     test_case++) {
			if (passes(suites[i], test_case))
				passed++;
			else
				failed++;
		}
	printf("[  PASSED  ] %u test(s).\n", passed);
	if (failed)
		printf("[  FAILED  ] %u test(s)\n", failed);
	return failed != 0;
}
