// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The state of the engine and of its adapters, which "vhcactl top" shows.
 */
#include "engine/adapter.h"
#include "tests/thca.h"

static u32 run(struct adapter *a)
{
	list_pop(&a->ready);
	return 1;
}

static bool no(struct adapter *a)
{
	return false;
}

static void tell(struct adapter *a)
{
}

static void fires(struct timer *t)
{
}

static const struct adapter_ops ops = {
	.poll = no, .arm = no, .run = run, .room = no, .tell = tell, .scratch = 8,
};

static u64 now(void *arg)
{
	return *(u64 *)arg;
}

static void expect(const struct adapter *a, const char *why, u32 qps)
{
	struct adapter_status st;

	adapter_status(a, &st);
	assert_string_equal(st.why, why);
	assert_int_equal(st.qps, qps);
}

/* An adapter without a device, in each state of waiting. */
static void adapter_waits(void **state)
{
	u64 time = 1;
	const struct engine_clock clock = { .now = now, .spent = now, .arg = &time };
	struct list_head qp[3], port;
	struct adapter a = { .ops = &ops };
	struct adapter_status st;
	struct fabric *f = fabric_new();
	struct engine *e = engine_new(&clock, f);
	struct timer t;

	assert_non_null(e);
	assert_int_equal(adapter_init(&a, e), 0);
	adapter_add(&a);
	assert_int_equal(timer_init(&a.timers, &t, fires), 0);
	expect(&a, "idle", 0);

	for (u32 i = 0; i < 3; i++) {
		list_add_tail(&qp[i], &a.ready);
		adapter_ready(&a);
	}
	expect(&a, "waits for its turn", 3);
	a.debt = SLICE_NS;
	expect(&a, "lets others go first", 3);
	a.debt = 0;
	engine_poll(e);
	expect(&a, "idle", 0);
	adapter_status(&a, &st);
	assert_int_equal(st.turns, 3);

	timer_set(&a.timers, &t, 1000);
	expect(&a, "waits for a timer, or an answer", 0);
	adapter_status(&a, &st);
	assert_int_equal(st.timers, 1);
	list_add_tail(&port, &a.no_room);
	expect(&a, "waits for room in the fabric", 0);
	list_del_init(&port);

	/* the work that it is charged for is its @worked */
	cost_begin(a.worker);
	time += 5000;
	cost_add(&a, 0);
	adapter_status(&a, &st);
	assert_int_equal(st.worked, 5000);
	assert_int_equal(st.owed, 5000);

	timer_fini(&a.timers, &t);
	adapter_del(&a);
	adapter_fini(&a);
	engine_free(e);
	fabric_free(f);
}

/* More QPs than are counted. */
static void many_qps(void **state)
{
	static struct list_head qp[2 * ADAPTER_COUNTED];
	u64 time = 1;
	const struct engine_clock clock = { .now = now, .arg = &time };
	struct adapter a = { .ops = &ops };
	struct fabric *f = fabric_new();
	struct engine *e = engine_new(&clock, f);

	assert_int_equal(adapter_init(&a, e), 0);
	for (u32 i = 0; i < ARRAY_SIZE(qp); i++)
		list_add_tail(&qp[i], &a.ready);
	adapter_ready(&a);
	expect(&a, "waits for its turn", ADAPTER_COUNTED);
	adapter_del(&a);
	adapter_fini(&a);
	engine_free(e);
	fabric_free(f);
}

static void two_devices(void **state)
{
	struct adapter_status a;
	struct engine_status e;
	struct tmr m[2];
	struct tpair p;
	struct twr wr;
	u64 before;

	t_pair_init_regions(&p, 1, 2, &m[0], &m[1], 4096,
			    VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE,
			    VHCA_ACCESS_REMOTE_WRITE);
	vdev_work(p.h[0].dev, &a, &e);
	before = a.turns;
	assert_string_equal(a.why, "idle");
	assert_string_equal(e.why, "works");
	wr = t_wr(VHCA_OP_WRITE, 1, &m[0], 0, 64, &m[1], 0);
	t_post(&p.qp[0], &wr);
	t_ring_sq(&p.qp[0]);
	t_expect_cqe(&p.cq[0], 1, VHCA_CS_SUCCESS);
	vdev_work(p.h[0].dev, &a, &e);
	assert_true(a.turns > before);
	t_pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(adapter_waits),
		cmocka_unit_test(many_qps),
		cmocka_unit_test(two_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
