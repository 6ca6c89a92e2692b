// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The doorbell and arming races, with a real second thread: the engine's.
 *
 * The guest's side rings, or arms, and waits; if a ring or an event were ever
 * lost, the engine would sleep and the test would hang (and be killed).
 */
#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/thca.h"
#include "tests/tprog.h"
#include "tests/trandom.h"

#define ROUNDS	10000u

static void *engine_thread(void *arg)
{
	engine_run(arg);
	return NULL;
}

struct fixture {
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp qp[4];
	pthread_t thread;
	struct vhca_cqe cqe;		/* this and the rest: of two_ringers() */
	u32 done[4], count[4];
};

/* With help the thread that rings works itself; without, the engine's thread does everything. */
static u32 help;

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	t_world_init_threaded(&f->w);
	engine_set_help(f->w.engine, help);
	assert_int_equal(pthread_create(&f->thread, NULL, engine_thread, f->w.engine), 0);
}

static void devices(struct fixture *f)
{
	const struct vdev_config cfg = {
		.name = "d", .node_guid = 1, .ports = 1, .vectors = 4,
	};
	struct vhca_open_uar_req uar = { 0 };

	t_hca_bare(&f->h, &f->w, &cfg);
	f->h.db_iova = t_alloc(&f->h, 4096);
	f->h.db = t_cpu(&f->h, f->h.db_iova);
	uar.db_page = htole64(f->h.db_iova);
	f->h.uar = t_create(&f->h, VHCA_CMD_OPEN_UAR, &uar, sizeof(uar));
	t_eq_init(&f->h, &f->h.async, 6, 1, VHCA_EQ_ASYNC);
	t_eq_init(&f->h, &f->h.comp, 6, 2, 0);
	f->h.pd = t_create(&f->h, VHCA_CMD_CREATE_PD, NULL, 0);
	t_cq_init(&f->h, &f->cq, 8, 0);
	for (u32 i = 0; i < ARRAY_SIZE(f->qp); i++) {
		t_qp_init(&f->h, &f->qp[i], &f->cq, &f->cq);
		t_connect(&f->qp[i], &f->qp[i], 3, 1, 1);
	}
}

static void finish(struct fixture *f)
{
	t_hca_fini(&f->h);
	engine_stop(f->w.engine);
	assert_int_equal(pthread_join(f->thread, NULL), 0);
	t_world_fini(&f->w);
}

/* So that the next ring kicks. */
static bool asleep(void *arg)
{
	struct thca *h = arg;

	return __atomic_load_n(&h->db->armed, __ATOMIC_SEQ_CST);
}

static bool cqe_there(void *arg)
{
	struct vhca_cqe e;

	if (!t_cq_poll(arg, &e))
		return false;
	assert_int_equal(e.status, 0);
	return true;
}

static void pause_ns(long ns)
{
	const struct timespec ts = { 0, ns };

	nanosleep(&ts, NULL);
}

/* Rings at every phase of the engine's falling asleep. */
static void ring_against_sleep(void **state)
{
	struct twr nop = { .opcode = VHCA_OP_NOP };
	struct fixture f;
	u64 rng = 88172645463325252ull;

	setup(&f);
	devices(&f);
	for (u32 i = 0; i < ROUNDS; i++) {
		/* now and then more than the engine can handle in one look */
		u32 n = i % 64 == 63 ? 200 : 1 + i % 3;

		for (u32 k = 0; k < n; k++) {
			struct tqp *qp = &f.qp[(i + k) % ARRAY_SIZE(f.qp)];

			t_post(qp, &nop);
			if (n > 3 && k + ARRAY_SIZE(f.qp) < n)
				continue;
			t_ring_sq(qp);
			t_random(&rng);
			for (volatile u32 spin = rng % (4u << (rng >> 32) % 10); spin; spin--)
				;
		}
		for (u32 k = 0; k < n; k++)
			t_wait(&f.h, cqe_there, &f.cq);
	}
	/* it did sleep */
	assert_true(f.h.kicks > 0);
	finish(&f);
}

static bool retries_over(void *arg)
{
	struct vhca_cqe e;

	if (!t_cq_poll(arg, &e))
		return false;
	assert_int_equal(e.status, VHCA_CS_RETRY_EXC_ERR);
	return true;
}

/* A timer that is set while another thread helps must fire all the same. */
static void timers_run_out(void **state)
{
	struct twr wr = { .opcode = VHCA_OP_SEND };
	struct vhca_qp_attr a;
	struct fixture f;

	setup(&f);
	devices(&f);
	for (u32 i = 0; i < 3; i++) {
		struct tqp *qp = &f.qp[i];

		assert_int_equal(t_to(qp, T_RESET), 0);
		t_attr_init(&a, 1);
		assert_int_equal(t_modify(qp, &a, T_MASK_INIT), 0);
		t_attr_rtr(&a, 1, 0x777777, 0, 3);
		assert_int_equal(t_modify(qp, &a, T_MASK_RTR), 0);
		t_attr_rts(&a, 0);
		a.timeout = 9;
		assert_int_equal(t_modify(qp, &a, T_MASK_RTS), 0);
		t_wait(&f.h, asleep, &f.h);
		t_post(qp, &wr);
		t_ring_sq(qp);
		t_wait(&f.h, retries_over, &f.cq);
	}
	finish(&f);
}

/* A helper whose time is over leaves a message half sent: the engine must go on with it. */
static void long_message_is_finished(void **state)
{
	const u32 access = VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE;
	struct fixture f;
	struct tmr l, r;
	struct twr wr;

	setup(&f);
	devices(&f);
	t_mr_init(&f.h, &l, 0x100000, 1 << 20, access, 1, 12);
	t_mr_init(&f.h, &r, 0x900000, 1 << 20, access, 1, 12);
	t_mr_fill(&l, 7);
	/* two QPs in turn: when the time is over, everything sent may be acknowledged */
	assert_int_equal(t_to(&f.qp[0], T_RESET), 0);
	assert_int_equal(t_to(&f.qp[1], T_RESET), 0);
	t_connect(&f.qp[0], &f.qp[1], 5, 1, 1);
	for (u32 i = 0; i < 50; i++) {
		t_wait(&f.h, asleep, &f.h);
		wr = t_wr(VHCA_OP_WRITE, i, &l, 0, 1 << 20, &r, 0);
		wr.flags = VHCA_WQE_SIGNALED;
		t_post(&f.qp[0], &wr);
		t_ring_sq(&f.qp[0]);
		t_wait(&f.h, cqe_there, &f.cq);
	}
	t_mr_expect(&r, 0, 1 << 20, 7, 0);
	finish(&f);
}

static bool event_there(void *arg)
{
	struct fixture *f = arg;
	struct vhca_eqe e;

	if (!t_eq_get(&f->h, &f->h.comp, &e))
		return false;
	assert_int_equal(e.event, VHCA_EV_COMPLETION);
	return true;
}

/*
 * Rings, then arms while the completion may be on its way: either the poll
 * after arming finds it or the event comes.
 */
static void arm_against_completion(void **state)
{
	struct twr nop = { .opcode = VHCA_OP_NOP };
	struct fixture f;
	u32 polled = 0, told = 0;

	setup(&f);
	devices(&f);
	for (u32 i = 0; i < ROUNDS; i++) {
		struct vhca_cqe e;

		t_post(&f.qp[0], &nop);
		t_ring_sq(&f.qp[0]);
		for (volatile u32 spin = (i * 37) % 4000; spin; spin--)
			;
		t_cq_arm(&f.cq, false);
		if (t_cq_poll(&f.cq, &e)) {
			polled++;
			continue;
		}
		/* the first event may belong to the arming before: then another one comes */
		do
			t_wait(&f.h, event_there, &f);
		while (!t_cq_poll(&f.cq, &e));
		told++;
	}
	assert_int_equal(polled + told, ROUNDS);
	assert_true(told > 0 || help);
	finish(&f);
}

static u32 irqs_seen;

static bool irq_there(void *arg)
{
	struct fixture *f = arg;

	return __atomic_load_n(&f->h.irqs[2], __ATOMIC_SEQ_CST) != irqs_seen;
}

/* The same one level up: EQ armed against EQE and interrupt. */
static void eq_arm_against_event(void **state)
{
	struct twr nop = { .opcode = VHCA_OP_NOP };
	struct fixture f;

	setup(&f);
	devices(&f);
	irqs_seen = 0;
	for (u32 i = 0; i < ROUNDS / 4; i++) {
		struct vhca_cqe e;
		struct vhca_eqe ev;

		t_cq_arm(&f.cq, false);
		t_post(&f.qp[0], &nop);
		t_ring_sq(&f.qp[0]);
		for (volatile u32 spin = (i * 53) % 5000; spin; spin--)
			;
		irqs_seen = __atomic_load_n(&f.h.irqs[2], __ATOMIC_SEQ_CST);
		t_eq_arm(&f.h, &f.h.comp);
		while (!t_eq_get(&f.h, &f.h.comp, &ev)) {
			/* it may be that of an event found before: then another one comes */
			t_wait(&f.h, irq_there, &f);
			irqs_seen = __atomic_load_n(&f.h.irqs[2], __ATOMIC_SEQ_CST);
		}
		assert_true(t_cq_poll(&f.cq, &e));
	}
	finish(&f);
}

/* Idle means asleep: no context switches of the engine's thread. */
static void idle_sleeps(void **state)
{
	struct fixture f;
	struct timespec a, b;
	clockid_t clock;

	setup(&f);
	devices(&f);
	assert_int_equal(pthread_getcpuclockid(f.thread, &clock), 0);
	t_wait(&f.h, asleep, &f.h);
	tprog_asleep(getpid());
	clock_gettime(clock, &a);
	pause_ns(300000000);
	clock_gettime(clock, &b);
	assert_int_equal(a.tv_sec, b.tv_sec);
	assert_int_equal(a.tv_nsec, b.tv_nsec);
	finish(&f);
}

/* A reset while the engine is busy returns, and nothing happens after it. */
static void reset_while_busy(void **state)
{
	struct twr nop = { .opcode = VHCA_OP_NOP };

	for (u32 round = 0; round < 50; round++) {
		struct fixture f;
		u32 irqs;

		setup(&f);
		devices(&f);
		for (u32 i = 0; i < 100; i++) {
			t_post(&f.qp[i % 4], &nop);
			t_ring_sq(&f.qp[i % 4]);
		}
		t_cq_arm(&f.cq, false);
		vdev_reset(f.h.dev);
		irqs = __atomic_load_n(&f.h.irqs[2], __ATOMIC_SEQ_CST);
		memset(f.cq.ring, 0xee, 256 * sizeof(struct vhca_cqe));
		t_ring(&f.h, f.qp[0].slot, 7);
		pause_ns(100000);
		for (u32 i = 0; i < 256; i++)
			assert_int_equal(f.cq.ring[i].owner, 0xee);
		assert_int_equal(__atomic_load_n(&f.h.irqs[2], __ATOMIC_SEQ_CST), irqs);
		finish(&f);
	}
}

/* Two guests' threads ring at the same time: one helps, and the other must not wait. */
struct ringer {
	struct fixture *f;
	u32 first;
	struct tqp *qp;		/* the one to post to next */
};

static bool has_room(void *arg)
{
	struct ringer *r = arg;

	return r->qp->sq_prod - __atomic_load_n(&r->f->done[r->first], __ATOMIC_ACQUIRE) < 64;
}

static void *ringer(void *arg)
{
	struct ringer *r = arg;
	struct twr nop = { .opcode = VHCA_OP_NOP, .wr_id = r->first };

	for (u32 i = 0; i < ROUNDS; i++) {
		r->qp = &r->f->qp[r->first + i % 2];
		t_wait(&r->f->h, has_room, r);
		t_post(r->qp, &nop);
		t_ring_sq(r->qp);
		/* this thread may have done the engine's work */
		t_news(&r->f->w);
	}
	return NULL;
}

static bool next_cqe(void *arg)
{
	struct fixture *f = arg;

	return t_cq_poll(&f->cq, &f->cqe);
}

static void two_ringers(void **state)
{
	struct fixture f;
	struct ringer r[2] = { { .f = &f, .first = 0 }, { .f = &f, .first = 2 } };
	pthread_t t[2];

	setup(&f);
	devices(&f);
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, ringer, &r[i]), 0);
	for (u32 n = 0; n < 2 * ROUNDS; n++) {
		u32 of;

		t_wait(&f.h, next_cqe, &f);
		assert_int_equal(f.cqe.status, 0);
		/* half of them on each of a ringer's two queues */
		of = le64toh(f.cqe.wr_id);
		f.count[of]++;
		__atomic_store_n(&f.done[of], f.count[of] / 2, __ATOMIC_RELEASE);
		t_news(&f.w);
	}
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(pthread_join(t[i], NULL), 0);
	finish(&f);
}

static int with_help(void **state)
{
	help = 50;
	return 0;
}

static int without_help(void **state)
{
	help = 0;
	return 0;
}

/* A thread that helps for a moment only, so that it hands over all the time. */
static int little_help(void **state)
{
	help = 1;
	return 0;
}

#define THRICE(t)	cmocka_unit_test_setup(t, without_help), \
			cmocka_unit_test_setup(t, with_help), \
			cmocka_unit_test_setup(t, little_help)

int main(void)
{
	const struct CMUnitTest tests[] = {
		THRICE(ring_against_sleep), THRICE(timers_run_out),
		THRICE(long_message_is_finished), THRICE(arm_against_completion),
		THRICE(eq_arm_against_event), THRICE(two_ringers), THRICE(idle_sleeps),
		THRICE(reset_while_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
