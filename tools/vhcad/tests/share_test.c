// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How the adapters of a thread share its turns: in which order, and how much each may do beside
 * one that has little to do.  The adapters have no devices; a turn takes and costs what the test
 * says.
 */
#include "engine/internal.h"
#include "tests/thca.h"

#define LEAST	(SLICE_BYTES / 4)	/* as engine/turn.c has it */
#define SHORT	(3 * SLICE_BYTES / 8)
#define TURNS	64u

/* An adapter, and the only QP that it has. */
struct guest {
	struct adapter a;
	struct list_head qp;
	u32 cost, ns;		/* of a turn */
	bool greedy;		/* there is always more to do */
	bool acks;		/* it only acknowledges */
	struct guest *peer;	/* has something to do behind each turn */
};

static struct {
	struct fabric *fabric;
	struct engine *engine;
	u64 now;
	struct guest g[3];
	u32 nturns;
	struct {
		u32 guest, bytes, ns;
	} turn[TURNS];
} f;

static void give_work(struct guest *g)
{
	if (list_empty(&g->qp))
		list_add_tail(&g->qp, &g->a.ready);
	adapter_ready(&g->a);
}

static u32 run(struct adapter *a)
{
	struct guest *g = container_of(a, struct guest, a);

	assert_true(f.nturns < TURNS);
	f.turn[f.nturns].guest = g - f.g;
	f.turn[f.nturns].bytes = a->worker->turn_bytes;
	f.turn[f.nturns++].ns = a->worker->turn_ns;
	f.now += g->ns;
	a->worker->moved = !g->acks;
	if (!g->greedy)
		list_del_init(&g->qp);
	if (g->peer)
		give_work(g->peer);
	return g->cost;
}

static bool no(struct adapter *a)
{
	return false;
}

static void tell(struct adapter *a)
{
}

static const struct adapter_ops ops = {
	.poll = no, .arm = no, .run = run, .room = no, .tell = tell, .scratch = 8,
};

static u64 now(void *arg)
{
	return f.now;
}

static int furnish(void **state)
{
	const struct engine_clock clock = { .now = now, .spent = now };

	memset(&f, 0, sizeof(f));
	f.now = 1;
	f.fabric = fabric_new();
	f.engine = engine_new(&clock, f.fabric);
	assert_non_null(f.engine);
	for (u32 i = 0; i < ARRAY_SIZE(f.g); i++) {
		struct guest *g = &f.g[i];

		g->a.ops = &ops;
		assert_int_equal(adapter_init(&g->a, f.engine), 0);
		adapter_add(&g->a);
		INIT_LIST_HEAD(&g->qp);
	}
	return 0;
}

static int strip(void **state)
{
	for (u32 i = 0; i < ARRAY_SIZE(f.g); i++) {
		list_del_init(&f.g[i].qp);
		adapter_idle(&f.g[i].a);
		adapter_del(&f.g[i].a);
		adapter_fini(&f.g[i].a);
	}
	engine_free(f.engine);
	fabric_free(f.fabric);
	return 0;
}

static void pass(void)
{
	shard_step(&f.engine->shard[0]);
}

/* The next turns, in this order; -1 ends them, and nobody has another. */
static void expect_turns(const int *guests)
{
	u32 n = 0;

	for (; guests[n] >= 0; n++) {
		if (n == f.nturns || f.turn[n].guest != (u32)guests[n])
			fail_msg("turn %u", n);
	}
	assert_int_equal(f.nturns, n);
	f.nturns = 0;
}

/* What the greedy guest 2 may do in its next turn. */
static u32 worth_of_next(void)
{
	f.nturns = 0;
	while (!f.nturns || f.turn[f.nturns - 1].guest != 2)
		pass();
	return f.turn[f.nturns - 1].bytes;
}

/* Its turns are whole ones but beside a guest that has done all it had to do. */
static void short_turns(void **state)
{
	struct guest *few = &f.g[0], *greedy = &f.g[2];

	greedy->greedy = true;
	greedy->cost = SLICE_BYTES;
	give_work(greedy);
	assert_int_equal(worth_of_next(), SLICE_BYTES);

	few->cost = SHORT;
	give_work(few);
	assert_int_equal(worth_of_next(), SHORT);
	assert_int_equal(f.turn[f.nturns - 1].ns, TURN_NS * 3 / 8);
	/* once; and the clock of other work is as it was */
	assert_int_equal(greedy->a.worker->turn_ns, TURN_NS);
	assert_int_equal(worth_of_next(), SLICE_BYTES);

	few->cost = 1;
	give_work(few);
	assert_int_equal(worth_of_next(), LEAST);
	few->cost = 2 * SLICE_BYTES;
	give_work(few);
	assert_int_equal(worth_of_next(), SLICE_BYTES);

	/* time counts as well as bytes */
	few->cost = 1;
	few->ns = TURN_NS / 2;
	give_work(few);
	assert_int_equal(worth_of_next(), SLICE_BYTES / 2);
	few->ns = 0;

	few->acks = true;
	give_work(few);
	assert_int_equal(worth_of_next(), SLICE_BYTES);
	few->acks = false;

	/* two that want all they can get */
	few->greedy = true;
	give_work(few);
	for (u32 i = 0; i < 4; i++)
		assert_int_equal(worth_of_next(), SLICE_BYTES);
}

/* The doorbells are looked at when a short turn is over, not after a slice of several. */
static void short_passes(void **state)
{
	for (u32 i = 0; i < ARRAY_SIZE(f.g); i++) {
		f.g[i].cost = LEAST;
		f.g[i].greedy = i;
		give_work(&f.g[i]);
	}
	pass();
	expect_turns((int []){ 0, 1, -1 });
}

/* But many with little to do are served in one pass. */
static void many_in_a_pass(void **state)
{
	for (u32 i = 0; i < ARRAY_SIZE(f.g); i++) {
		f.g[i].cost = LEAST;
		give_work(&f.g[i]);
	}
	pass();
	expect_turns((int []){ 0, 1, 2, -1 });
}

/*
 * Whoever has work anew keeps its place: before one that has had a turn since its own last.  So a
 * message, its acknowledgment and a slice of somebody else take turns.
 */
static void order(void **state)
{
	struct guest *few = &f.g[0], *peer = &f.g[1], *greedy = &f.g[2];

	few->cost = 1;
	peer->cost = 1;
	few->peer = peer;
	greedy->greedy = true;
	greedy->cost = SLICE_BYTES;
	give_work(greedy);
	pass();
	expect_turns((int []){ 2, -1 });
	for (u32 i = 0; i < 4; i++) {
		give_work(few);
		pass();
		expect_turns((int []){ 0, 1, 2, -1 });
	}
}

/* Two that give each other work all the time do not keep a third from its turns. */
static void nobody_starves(void **state)
{
	struct guest *one = &f.g[0], *other = &f.g[1], *third = &f.g[2];

	one->cost = 1;
	other->cost = 1;
	one->peer = other;
	other->peer = one;
	third->greedy = true;
	third->cost = SLICE_BYTES;
	give_work(one);
	give_work(third);
	for (u32 i = 0; i < 3; i++)
		pass();
	expect_turns((int []){ 0, 2, 1, 0, 2, 1, 0, 2, -1 });
}

/* A turn beside @few that is short, and takes two and a half times of what it is worth. */
static void long_short_turn(struct guest *few, struct guest *greedy)
{
	few->cost = SHORT;
	greedy->greedy = true;
	greedy->cost = SHORT;
	greedy->ns = SLICE_NS * 3 / 8 * 5 / 2;
	give_work(few);
	give_work(greedy);
	pass();
	expect_turns((int []){ 0, 2, -1 });
}

/* What a short turn has taken beyond its worth is paid for in short turns. */
static void short_debts(void **state)
{
	struct guest *few = &f.g[0], *acks = &f.g[1], *greedy = &f.g[2];

	long_short_turn(few, greedy);
	assert_int_equal(greedy->a.debt, SLICE_NS * 3 / 8 * 3 / 2);

	greedy->ns = 0;
	acks->greedy = true;
	acks->acks = true;
	give_work(few);
	give_work(acks);
	pass();
	/* it has let one turn go by */
	expect_turns((int []){ 1, 0, 1, -1 });
	pass();
	expect_turns((int []){ 2, -1 });
	assert_int_equal(greedy->a.debt, 0);
}

/*
 * And if nobody waits when its turn comes, the doorbells are looked at instead: whoever has done
 * all its work may have more.  Alone it owes nothing.
 */
static void debts_to_the_idle(void **state)
{
	struct guest *few = &f.g[0], *greedy = &f.g[2];

	long_short_turn(few, greedy);
	give_work(few);
	pass();
	expect_turns((int []){ 0, -1 });
	assert_int_equal(greedy->a.debt, SLICE_NS * 3 / 8 / 2);
	pass();
	expect_turns((int []){ 2, -1 });
	assert_true(greedy->a.debt > SLICE_NS * 3 / 8);
	greedy->ns = 3 * SLICE_NS;
	pass();
	assert_int_equal(greedy->a.debt, SLICE_NS * 3 / 8 * 2 + 2 * SLICE_NS);
	pass();
	expect_turns((int []){ 2, 2, -1 });
	assert_int_equal(greedy->a.debt, 2 * SLICE_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(short_turns, furnish, strip),
		cmocka_unit_test_setup_teardown(short_passes, furnish, strip),
		cmocka_unit_test_setup_teardown(many_in_a_pass, furnish, strip),
		cmocka_unit_test_setup_teardown(order, furnish, strip),
		cmocka_unit_test_setup_teardown(nobody_starves, furnish, strip),
		cmocka_unit_test_setup_teardown(short_debts, furnish, strip),
		cmocka_unit_test_setup_teardown(debts_to_the_idle, furnish, strip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
