// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Object tables and the timer heap, against simple models.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <errno.h>
#include <cmocka.h>

#include "lib/hash.h"
#include "lib/table.h"
#include "lib/timer.h"

static void numbers(void **state)
{
	struct table t;
	u32 idx;
	int objs[600];

	table_init(&t, 2, 600, TABLE_NONE);
	assert_null(table_get(&t, 0));
	assert_null(table_get(&t, 1));
	assert_null(table_get(&t, UINT32_MAX));
	for (u32 i = 2; i < 600; i++) {
		assert_int_equal(table_add(&t, &objs[i], 0, &idx), 0);
		assert_int_equal(idx, i);
		assert_null(table_get(&t, i + 1));
	}
	assert_int_equal(table_add(&t, &objs[0], 0, &idx), -ENOSPC);
	for (u32 i = 2; i < 600; i++)
		assert_ptr_equal(table_get(&t, i), &objs[i]);
	/* oldest freed first, each use another generation */
	table_del(&t, 300, 0);
	table_del(&t, 5, 0);
	assert_null(table_get(&t, 300));
	assert_int_equal(table_next(&t, 300), 301);
	assert_int_equal(table_add(&t, &objs[0], 0, &idx), 0);
	assert_int_equal(idx, 300);
	assert_int_equal(table_gen(&t, 300), 1);
	assert_int_equal(table_gen(&t, 301), 0);
	assert_int_equal(table_add(&t, &objs[0], 0, &idx), 0);
	assert_int_equal(idx, 5);
	assert_int_equal(table_add(&t, &objs[0], 0, &idx), -ENOSPC);
	assert_int_equal(t.used, 598);
	table_fini(&t);
}

/* Whichever bits of a key a guest chooses, keys are spread over 1024 buckets. */
static void spread(void **state)
{
	static const u64 seeds[] = { 0x9e3779b97f4a7c15, 0x51ed270b0a1f39c1, 0xc2b2ae3d27d4eb4f };

	for (u32 s = 0; s < ARRAY_SIZE(seeds); s++)
		for (u32 shift = 0; shift <= 54; shift++) {
			u32 bucket[1024] = { 0 }, most = 0;

			for (u64 key = 0; key < 1024; key++) {
				u64 sum = hash_seeded(key << shift, seeds[s]);

				most = MAX(most, ++bucket[sum >> 32 & 1023]);
			}
			assert_in_range(most, 1, 24);
		}
}

static void rest(void **state)
{
	struct table t;
	u32 idx;
	int obj;

	table_init(&t, 0, 3, TABLE_NONE);
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(table_add(&t, &obj, 100, &idx), 0);
	table_del(&t, 0, 200);
	assert_int_equal(table_add(&t, &obj, 199, &idx), 0);
	assert_int_equal(idx, 2);			/* grows instead */
	assert_int_equal(table_add(&t, &obj, 199, &idx), -ENOSPC);
	assert_int_equal(table_add(&t, &obj, 200, &idx), 0);
	assert_int_equal(idx, 0);
	table_fini(&t);
}

/* An unused table of a million costs next to nothing. */
static void memory(void **state)
{
	struct table t;
	u32 idx, chunks = 0;
	int obj;

	table_init(&t, 0, 1u << 20, TABLE_NONE);
	for (u32 i = 0; i < 1000; i++)
		assert_int_equal(table_add(&t, &obj, 0, &idx), 0);
	for (u32 i = 0; i < (1u << 20) / TABLE_CHUNK; i++)
		chunks += !!t.chunk[i];
	assert_int_equal(chunks, 4);
	table_fini(&t);
}

struct test_timer {
	struct timer t;
	u64 fired;
	u64 want;
};

static u64 clock_now;

static void fire(struct timer *t)
{
	struct test_timer *x = (struct test_timer *)t;

	assert_true(x->want <= clock_now);
	x->fired++;
	x->want = TIMER_OFF;
}

static void heap(void **state)
{
	enum { N = 300 };
	static struct test_timer x[N];
	struct timers ts = { 0 };
	u64 expected = 0, fired = 0;

	srand(1);
	clock_now = 0;
	for (u32 i = 0; i < N; i++) {
		assert_int_equal(timer_init(&ts, &x[i].t, fire), 0);
		x[i].want = TIMER_OFF;
	}
	for (u32 round = 0; round < 20000; round++) {
		struct test_timer *p = &x[rand() % N];
		u64 next = TIMER_OFF;

		switch (rand() % 4) {
		case 0:
			timer_stop(&p->t);
			p->want = TIMER_OFF;
			break;
		case 1:
			clock_now += rand() % 100;
			for (u32 i = 0; i < N; i++)
				expected += x[i].want <= clock_now;
			timers_run(&ts, clock_now, UINT32_MAX);
			break;
		default:
			p->want = clock_now + 1 + rand() % 2000;
			timer_set(&ts, &p->t, p->want);
		}
		fired = 0;
		for (u32 i = 0; i < N; i++) {
			fired += x[i].fired;
			if (x[i].want < next)
				next = x[i].want;
		}
		assert_int_equal(fired, expected);
		assert_true(timers_next(&ts) == next);
	}
	assert_true(fired > 1000);
	for (u32 i = 0; i < N; i++)
		timer_fini(&ts, &x[i].t);
	assert_int_equal(ts.n, 0);
	timers_free(&ts);
}

/* Timers that are due at the same time fire a few at a time, so that others have their turns. */
static void heap_in_parts(void **state)
{
	enum { N = 200, MOST = 64 };
	static struct test_timer x[N];
	struct timers ts = { 0 };
	u32 fired, runs = 0;

	clock_now = 10;
	for (u32 i = 0; i < N; i++) {
		assert_int_equal(timer_init(&ts, &x[i].t, fire), 0);
		x[i].want = clock_now;
		timer_set(&ts, &x[i].t, clock_now);
	}
	assert_false(timers_run(&ts, clock_now - 1, MOST));
	while (timers_run(&ts, clock_now, MOST)) {
		runs++;
		fired = 0;
		for (u32 i = 0; i < N; i++)
			fired += x[i].fired;
		assert_int_equal(fired, MIN(runs * MOST, (u32)N));
	}
	assert_int_equal(runs, N / MOST + 1);
	for (u32 i = 0; i < N; i++) {
		assert_int_equal(x[i].fired, 1);
		timer_fini(&ts, &x[i].t);
	}
	timers_free(&ts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(spread), cmocka_unit_test(rest),
		cmocka_unit_test(memory),
		cmocka_unit_test(heap),
		cmocka_unit_test(heap_in_parts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
