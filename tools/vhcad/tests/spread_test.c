// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How work is spread over threads: which adapters move, and which do not.
 */
#include <string.h>

#include "engine/internal.h"
#include "fabric/fabric.h"
#include "tests/cm.h"

#define SHARDS	3u
#define ALL	9u
#define MS	1000000u

static struct fixture {
	u64 now;
	struct fabric *fabric;
	struct engine *engine;
	struct adapter a[ALL];
} f;

static bool never(struct adapter *a)
{
	return false;
}

static u32 no_turn(struct adapter *a)
{
	return 0;
}

static void nothing(struct adapter *a)
{
}

static const struct adapter_ops ops = {
	.poll = never, .arm = never, .run = no_turn, .room = never, .tell = nothing, .scratch = 8,
};

static u64 now(void *arg)
{
	return f.now;
}

/* All adapters are in the first shard, which is due to spread them. */
static int setup(void **state)
{
	const struct engine_clock clock = { .now = now };

	memset(&f, 0, sizeof(f));
	f.fabric = fabric_new();
	f.engine = engine_make(&clock, f.fabric, SHARDS);
	assert_non_null(f.engine);
	for (u32 i = 0; i < ALL; i++) {
		f.a[i].ops = &ops;
		assert_int_equal(adapter_init(&f.a[i], f.engine), 0);
		adapter_add(&f.a[i]);
	}
	f.engine->shard[0].worker.now = 10 * MS;
	for (u32 i = 1; i < SHARDS; i++)
		f.engine->shard[i].asleep = 1;
	return 0;
}

static int teardown(void **state)
{
	for (u32 i = 0; i < ALL; i++) {
		adapter_del(&f.a[i]);
		adapter_fini(&f.a[i]);
	}
	engine_free(f.engine);
	fabric_free(f.fabric);
	return 0;
}

static void worked(u32 i, u64 ns)
{
	f.a[i].worked += ns;
}

/* Two adapters send to each other, and use @ns of work. */
static void pair(u32 i, u64 ns)
{
	adapter_note(&f.a[i], &f.a[i + 1]);
	adapter_note(&f.a[i + 1], &f.a[i]);
	worked(i, ns / 2);
	worked(i + 1, ns / 2);
}

static void spread(void)
{
	shard_spread(&f.engine->shard[0]);
}

/* Adapters that are moving, as bits; all to the same shard. */
static u32 going(u32 to)
{
	u32 bits = 0;

	for (u32 i = 0; i < ALL; i++) {
		if (!f.a[i].going)
			continue;
		assert_ptr_equal(f.a[i].going, &f.engine->shard[to]);
		bits |= 1u << i;
	}
	return bits;
}

/* One of two pairs moves to the shard with less load, whatever its number. */
static void two_pairs(void **state)
{
	f.engine->shard[1].asleep = 0;
	f.engine->shard[1].load = 500;
	pair(0, 5 * MS);
	pair(2, 5 * MS);
	spread();
	assert_int_equal(going(2), 0x3);
	/* a thread that looks for an idle one next sees that it has load */
	assert_int_equal(f.engine->shard[2].load, 500);
	assert_true(f.engine->shard[0].news);
}

static void one_pair(void **state)
{
	pair(0, 10 * MS);
	spread();
	assert_int_equal(going(1), 0);
	/*
	 * an adapter that is sent to its own shard does not move: it would be in no list until the
	 * next pass
	 */
	adapter_send_off(&f.a[0], &f.engine->shard[0]);
	assert_int_equal(going(0), 0);
}

/* An adapter does not move if it has sent to one that stays, directly or by way of others. */
static void one_group(void **state)
{
	pair(0, 4 * MS);
	pair(2, 4 * MS);
	pair(4, 2 * MS);
	adapter_note(&f.a[5], &f.a[0]);
	adapter_note(&f.a[4], &f.a[3]);
	spread();
	assert_int_equal(going(1), 0);
}

/* Of several groups the one moves that makes both loads most alike. */
static void best_of_three(void **state)
{
	pair(0, 6 * MS);
	pair(2, 3 * MS);
	pair(4, 1 * MS);
	spread();
	assert_int_equal(going(1), 0x3);
}

/* No group moves if the other shard then has as much load. */
static void both_busy(void **state)
{
	for (u32 i = 1; i < SHARDS; i++) {
		f.engine->shard[i].asleep = 0;
		f.engine->shard[i].load = 450;
	}
	pair(0, 5 * MS);
	pair(2, 5 * MS);
	spread();
	assert_int_equal(going(1), 0);
}

static void has_slept(void **state)
{
	f.engine->shard[0].napped = 2 * MS;
	pair(0, 4 * MS);
	pair(2, 4 * MS);
	spread();
	assert_int_equal(going(1), 0);
	assert_int_equal(f.engine->shard[0].load, 800);
}

static void too_early(void **state)
{
	f.engine->shard[0].worker.now = 10 * MS - 1;
	pair(0, 5 * MS);
	pair(2, 5 * MS);
	spread();
	assert_int_equal(going(1), 0);
	assert_int_equal(f.a[0].nmet, 1);
}

/* An adapter that has sent to more than it remembers belongs to one group with all. */
static void met_many(void **state)
{
	for (u32 i = 1; i <= ADAPTER_MET + 1; i++)
		adapter_note(&f.a[0], &f.a[i]);
	assert_true(f.a[0].met_many);
	worked(0, 5 * MS);
	worked(8, 5 * MS);
	spread();
	assert_int_equal(going(1), 0);
}

/* Earlier periods are forgotten: each is measured by itself. */
static void anew(void **state)
{
	pair(0, 10 * MS);
	adapter_note(&f.a[1], &f.a[2]);
	worked(2, 1 * MS);
	spread();
	assert_int_equal(going(1), 0);
	f.engine->shard[0].worker.now = 20 * MS;
	pair(0, 5 * MS);
	pair(2, 5 * MS);
	spread();
	assert_int_equal(going(1), 0x3);
}

/* Adapters that it has sent to may have moved. */
static void met_one_elsewhere(void **state)
{
	adapter_note(&f.a[0], &f.a[4]);
	adapter_note(&f.a[2], &f.a[4]);
	engine_lock(f.engine);
	f.a[4].going = &f.engine->shard[1];
	engine_unlock(f.engine);
	shard_answer(&f.engine->shard[0]);
	engine_lock(f.engine);
	engine_unlock(f.engine);
	worked(0, 5 * MS);
	worked(2, 5 * MS);
	spread();
	assert_int_equal(going(1), 0x1);
}

/* An adapter that is moving back and has not arrived is in no group. */
static void met_one_on_its_way(void **state)
{
	struct shard *here = &f.engine->shard[0], *there = &f.engine->shard[1];

	adapter_note(&f.a[0], &f.a[4]);
	f.a[4].going = there;
	shard_answer(here);
	shard_take(there);
	f.a[4].going = here;
	shard_answer(there);
	assert_false(inbox_empty(&here->inbox));
	worked(0, 5 * MS);
	worked(2, 5 * MS);
	spread();
	assert_int_equal(going(1), 0x1);
}

static void hook(void *arg, const struct fab_port *from, const struct wire_hdr *h,
		 struct fab_effect *effect)
{
}

/* If packets are handled one by one all adapters are on one thread. */
static void single(void **state)
{
	assert_int_equal(fab_set_packet_hook(f.fabric, hook, NULL), 0);
	pair(0, 5 * MS);
	pair(2, 5 * MS);
	spread();
	assert_int_equal(going(1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(two_pairs, setup, teardown),
		cmocka_unit_test_setup_teardown(one_pair, setup, teardown),
		cmocka_unit_test_setup_teardown(one_group, setup, teardown),
		cmocka_unit_test_setup_teardown(best_of_three, setup, teardown),
		cmocka_unit_test_setup_teardown(both_busy, setup, teardown),
		cmocka_unit_test_setup_teardown(has_slept, setup, teardown),
		cmocka_unit_test_setup_teardown(too_early, setup, teardown),
		cmocka_unit_test_setup_teardown(met_many, setup, teardown),
		cmocka_unit_test_setup_teardown(anew, setup, teardown),
		cmocka_unit_test_setup_teardown(met_one_elsewhere, setup, teardown),
		cmocka_unit_test_setup_teardown(met_one_on_its_way, setup, teardown),
		cmocka_unit_test_setup_teardown(single, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
