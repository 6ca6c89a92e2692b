// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Adapters that nothing happens to rest: no pass looks at them, and whatever happens then is
 * noticed all the same.
 */
#include <string.h>

#include "engine/internal.h"
#include "fabric/fault.h"
#include "qp/qp.h"
#include "tests/thca.h"
#include "tests/tkey.h"

/* As engine/rest.c has it. */
#define REST_PASSES	64u
/* Looks of an engine after which all adapters of a world rest, those with doorbells included. */
#define LONG		(4 * REST_PASSES)

#define GUESTS	3u
#define QKEY	5u

/**
 * struct guest - an adapter without a device
 * @a: adapter
 * @news: that its guest has for it
 * @polls: how often a pass has looked at it
 * @asked: how often it was asked whether it rests
 * @kick_at: its guest kicks as it answers that for this time
 * @kicks: another guest kicks as this one is armed
 * @found: news that polls have found
 * @fired: its timer has
 * @timer: timer
 * @item: for one of its lists
 */
struct guest {
	struct adapter a;
	u32 news, polls, asked, kick_at, found, fired;
	struct guest *kicks;
	struct timer timer;
	struct list_head item;
};

static struct fixture {
	u64 now;
	struct engine *engine;
	struct guest guest[GUESTS];
} f;

static u64 time_is(void *arg)
{
	return f.now;
}

static const struct engine_clock clock_of_test = { .now = time_is };

static struct guest *guest_of(struct adapter *a)
{
	return container_of(a, struct guest, a);
}

static bool poll_guest(struct adapter *a)
{
	struct guest *g = guest_of(a);
	bool any = g->news;

	g->polls++;
	g->found += g->news;
	g->news = 0;
	return any;
}

static void kick(struct guest *g)
{
	g->news++;
	adapter_attend(&g->a);
}

static bool arm_guest(struct adapter *a)
{
	struct guest *g = guest_of(a), *other = g->kicks;

	g->kicks = NULL;
	if (other)
		kick(other);
	return g->news;
}

static u32 run_guest(struct adapter *a)
{
	list_pop(&a->ready);
	return 1;
}

static bool no_room(struct adapter *a)
{
	return false;
}

static void tell_guest(struct adapter *a)
{
}

/* Its guest's thread comes in between: the answer is from before that. */
static bool guest_rests(struct adapter *a)
{
	struct guest *g = guest_of(a);
	bool rests = !g->news;

	if (++g->asked == g->kick_at)
		kick(g);
	return rests;
}

static const struct adapter_ops ops = {
	.poll = poll_guest, .arm = arm_guest, .run = run_guest, .room = no_room, .tell = tell_guest,
	.rests = guest_rests, .scratch = 8,
};

static void on_timer(struct timer *t)
{
	container_of(t, struct guest, timer)->fired++;
}

static void pass(u32 n)
{
	while (n--)
		engine_poll(f.engine);
}

static int start_with(u32 threads)
{
	memset(&f, 0, sizeof(f));
	f.now = 1000;
	f.engine = engine_make(&clock_of_test, NULL, threads);
	assert_non_null(f.engine);
	engine_set_help(f.engine, 0);
	for (u32 i = 0; i < GUESTS; i++) {
		struct guest *g = &f.guest[i];

		g->a.ops = &ops;
		INIT_LIST_HEAD(&g->item);
		assert_int_equal(adapter_init(&g->a, f.engine), 0);
		assert_int_equal(timer_init(&g->a.timers, &g->timer, on_timer), 0);
		adapter_add(&g->a);
	}
	return 0;
}

static int start(void **state)
{
	return start_with(1);
}

static int stop(void **state)
{
	for (u32 i = 0; i < GUESTS; i++) {
		timer_fini(&f.guest[i].a.timers, &f.guest[i].timer);
		adapter_del(&f.guest[i].a);
		adapter_fini(&f.guest[i].a);
	}
	engine_free(f.engine);
	return 0;
}

/* Number of polls of a guest in some passes. */
static u32 polls(struct guest *g, u32 passes)
{
	u32 before = g->polls;

	pass(passes);
	return g->polls - before;
}

/* Nothing happens to any of them: no pass looks at them any more. */
static void idle(void **state)
{
	assert_int_equal(polls(&f.guest[0], REST_PASSES), REST_PASSES);
	assert_false(f.guest[0].a.resting);
	pass(2);
	for (u32 i = 0; i < GUESTS; i++)
		assert_true(f.guest[i].a.resting);
	assert_int_equal(polls(&f.guest[0], LONG), 0);
}

/* A kick is noticed, and only the one whose guest has kicked is looked at for it. */
static void kicked(void **state)
{
	pass(LONG);
	kick(&f.guest[1]);
	assert_int_equal(polls(&f.guest[0], 1), 0);
	assert_int_equal(f.guest[1].found, 1);
	assert_int_equal(polls(&f.guest[2], LONG), 0);
	assert_true(f.guest[1].a.resting);
	/* and again, for another one */
	kick(&f.guest[2]);
	kick(&f.guest[1]);
	pass(1);
	assert_int_equal(f.guest[1].found, 2);
	assert_int_equal(f.guest[2].found, 1);
}

/* News now and then keep it awake. */
static void sometimes(void **state)
{
	for (u32 i = 0; i < 10; i++) {
		pass(REST_PASSES / 2);
		f.guest[0].news++;
	}
	assert_false(f.guest[0].a.resting);
	assert_int_equal(f.guest[0].found, 9);
	assert_true(f.guest[1].a.resting);
}

/* The guest kicks just as the adapter begins to rest: before it is marked, and after. */
static void kick_in_between(void **state)
{
	struct guest *g = &f.guest[0];

	for (u32 at = 1; at <= 2; at++) {
		g->kick_at = g->asked + at;
		adapter_lock(&g->a);
		adapter_unlock(&g->a);
		pass(LONG);
		assert_int_equal(g->found, at);
		assert_true(g->asked > g->kick_at);
		assert_true(g->a.resting);
	}
}

/* The engine is about to sleep when a guest kicks: it does not. */
static void kick_before_sleep(void **state)
{
	struct guest *awake = &f.guest[0], *other = &f.guest[1];

	timer_set(&awake->a.timers, &awake->timer, 5000);
	pass(LONG);
	awake->kicks = other;
	pass(1);
	assert_int_equal(other->found, 1);
}

/* What has a timer, or QPs or ports that wait, does not rest. */
static void waits(void **state)
{
	struct guest *g = &f.guest[0];
	struct list_head *lists[] = { &g->a.no_room, &g->a.away };

	timer_set(&g->a.timers, &g->timer, 5000);
	pass(LONG);
	assert_false(g->a.resting);
	assert_int_equal(engine_poll(f.engine), 5000);
	f.now = 5000;
	pass(1);
	assert_int_equal(g->fired, 1);
	pass(LONG);
	assert_true(g->a.resting);
	for (u32 i = 0; i < ARRAY_SIZE(lists); i++) {
		list_add_tail(&g->item, lists[i]);
		adapter_lock(&g->a);
		adapter_unlock(&g->a);
		pass(LONG);
		assert_false(g->a.resting);
		list_del_init(&g->item);
		pass(LONG);
		assert_true(g->a.resting);
	}
}

/* Whoever has held its lock, or the engine's, may have changed it. */
static void locked(void **state)
{
	struct guest *g = &f.guest[0];

	pass(LONG);
	adapter_lock(&g->a);
	timer_set(&g->a.timers, &g->timer, 5000);
	adapter_unlock(&g->a);
	assert_int_equal(engine_poll(f.engine), 5000);
	assert_true(f.guest[1].a.resting);
	engine_lock(f.engine);
	engine_unlock(f.engine);
	assert_false(f.guest[1].a.resting);
	assert_true(polls(&f.guest[1], 1) > 0);
}

static int start_two(void **state)
{
	return start_with(2);
}

/* It moves while it rests: it is awake where it arrives, and is found there. */
static void moved(void **state)
{
	struct guest *g = &f.guest[0];

	pass(LONG);
	assert_true(g->a.resting);
	adapter_lock(&g->a);
	adapter_send_off(&g->a, &f.engine->shard[1]);
	adapter_unlock(&g->a);
	pass(1);
	assert_ptr_equal(g->a.home, &f.engine->shard[1]);
	assert_false(g->a.resting);
	pass(LONG);
	assert_true(g->a.resting);
	kick(g);
	pass(1);
	assert_int_equal(g->found, 1);
	/* all come back when the fabric has to be one thread's */
	pass(LONG);
	engine_lock(f.engine);
	engine_gather(f.engine);
	engine_unlock(f.engine);
	assert_ptr_equal(g->a.home, &f.engine->shard[0]);
	assert_true(polls(g, 1) > 0);
}

/* ---- devices ---- */

static struct tpair p;
static struct tmr l, r;

static int pair(void **state)
{
	t_pair_init(&p, 3, 1, 2);
	t_mr_init(&p.h[0], &l, 0, 4096, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
	t_mr_init(&p.h[1], &r, 0, 4096, T_RW, 0, 12);
	return 0;
}

static int pair_of_datagrams(void **state)
{
	t_pair_init_ud(&p, QKEY);
	t_mr_init(&p.h[0], &l, 0, 4096, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
	t_mr_init(&p.h[1], &r, 0, 4096, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
	return 0;
}

static int end_pair(void **state)
{
	t_pair_fini(&p);
	return 0;
}

/* All timers are over, and all doorbells armed. */
static void all_rest(void)
{
	t_settle(&p.w, 10000000000ull);
	for (u32 i = 0; i < LONG; i++)
		t_poll(&p.w);
	for (u32 i = 0; i < 2; i++)
		assert_true(p.h[i].dev->adapter.resting);
}

static void send(u64 wr_id)
{
	struct twr wr = t_wr(VHCA_OP_SEND, wr_id, &l, 0, 64, NULL, 0);

	t_send(&p.qp[0], &wr);
}

static void receive(u64 wr_id)
{
	struct vhca_sge s = t_sge(&r, 0, 128);

	t_recv(&p.qp[1], wr_id, 1, &s);
}

/* A doorbell of one that rests, and a packet for one that rests. */
static void message(void **state)
{
	for (u32 i = 1; i <= 3; i++) {
		receive(70 + i);
		all_rest();
		send(i);
		t_expect_cqe(&p.cq[0], i, VHCA_CS_SUCCESS);
		t_expect_cqe(&p.cq[1], 70 + i, VHCA_CS_SUCCESS);
	}
}

/* The receiver will be told of completions some time after they are written, and rests. */
static void rest_moderated(void)
{
	assert_int_equal(t_cq_moderate(&p.cq[1], 8, 50), VHCA_ST_OK);
	receive(71);
	t_cq_arm(&p.cq[1], false);
	all_rest();
}

static void told_later(void)
{
	struct vhca_eqe ev;

	assert_false(t_eq_get(&p.h[1], &p.h[1].comp, &ev));
	t_settle(&p.w, 100000);
	assert_true(t_eq_get(&p.h[1], &p.h[1].comp, &ev));
	t_expect_cqe(&p.cq[1], 71, VHCA_CS_SUCCESS);
}

/* The receiver rests when the packet arrives whose completion is told of later. */
static void moderated(void **state)
{
	rest_moderated();
	send(1);
	told_later();
}

/* The same, of a multicast. */
static void multicast(void **state)
{
	struct vhca_mcg_req req = { .qpn = htole32(p.qp[1].qpn), .mlid = htole16(0xc000),
				    .mgid = { 0xff, 0x12, [15] = 1 } };
	struct twr wr = t_wr(VHCA_OP_SEND, 1, &l, 0, 64, NULL, 0);

	wr.ud = (struct vhca_wqe_ud){
		.av = { .port = 1, .dlid = req.mlid, .grh = 1, .hop_limit = 1 },
		.dqpn = htole32(0xffffff), .qkey = htole32(QKEY),
	};
	memcpy(wr.ud.av.dgid, req.mgid, sizeof(req.mgid));
	assert_int_equal(t_admin(&p.h[1], VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL),
			 VHCA_ST_OK);
	rest_moderated();
	t_send(&p.qp[0], &wr);
	told_later();
}

/* Without a time-out the sender rests while its request is under way; then it has to wait anew. */
static void not_ready(void **state)
{
	const struct fab_fault slow = { .kind = FAB_DELAY, .permille = 1000, .count = 1,
					.opcode = "ACK", .usec = 1000 };
	struct vhca_qp_attr a = { .state = T_SQD };

	assert_int_equal(t_modify(&p.qp[0], &a, VHCA_QPA_STATE), VHCA_ST_OK);
	a = (struct vhca_qp_attr){ .state = T_RTS };
	assert_int_equal(t_modify(&p.qp[0], &a, VHCA_QPA_TIMEOUT), VHCA_ST_OK);
	assert_int_equal(t_modify(&p.qp[0], &a, VHCA_QPA_STATE), VHCA_ST_OK);
	assert_int_equal(fab_fault_arm(p.w.fabric, &slow), 0);
	send(1);
	for (u32 i = 0; i < LONG; i++)
		t_poll(&p.w);
	assert_true(p.h[0].dev->adapter.resting);
	receive(71);
	t_settle(&p.w, 1000000000);
	t_expect_cqe(&p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&p.cq[1], 71, VHCA_CS_SUCCESS);
}

/* Commands, events, and a device that breaks. */
static void managed(void **state)
{
	struct vhca_eqe ev;
	struct tcq cq;

	all_rest();
	t_cq_init(&p.h[0], &cq, 4, 0);
	all_rest();
	while (t_eq_get(&p.h[0], &p.h[0].async, &ev))
		;
	assert_int_equal(vdev_set_link(p.h[0].dev, 1, false), 0);
	t_poll(&p.w);
	assert_true(t_eq_get(&p.h[0], &p.h[0].async, &ev));
	assert_int_equal(ev.event, VHCA_EV_PORT_ERR);
	all_rest();
	assert_true(vdev_inject_fatal(p.h[0].dev));
	t_poll(&p.w);
	assert_true(t_eq_get(&p.h[0], &p.h[0].async, &ev));
	assert_int_equal(ev.event, VHCA_EV_DEVICE_FATAL);
	for (u32 i = 0; i < LONG; i++)
		t_poll(&p.w);
	assert_true(p.h[0].dev->adapter.resting);
	/* a kick of one that is broken does not keep anybody busy */
	vdev_kick(p.h[0].dev, p.h[0].uar);
	t_poll(&p.w);
	assert_true(p.h[0].dev->adapter.resting);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(idle, start, stop),
		cmocka_unit_test_setup_teardown(kicked, start, stop),
		cmocka_unit_test_setup_teardown(sometimes, start, stop),
		cmocka_unit_test_setup_teardown(kick_in_between, start, stop),
		cmocka_unit_test_setup_teardown(kick_before_sleep, start, stop),
		cmocka_unit_test_setup_teardown(waits, start, stop),
		cmocka_unit_test_setup_teardown(locked, start, stop),
		cmocka_unit_test_setup_teardown(moved, start_two, stop),
		cmocka_unit_test_setup_teardown(message, pair, end_pair),
		cmocka_unit_test_setup_teardown(moderated, pair, end_pair),
		cmocka_unit_test_setup_teardown(multicast, pair_of_datagrams, end_pair),
		cmocka_unit_test_setup_teardown(not_ready, pair, end_pair),
		cmocka_unit_test_setup_teardown(managed, pair, end_pair),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
