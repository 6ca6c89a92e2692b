// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How long a guest waits, in wall time, beside one that finds work which takes longer than it
 * seems.  The victim writes 64 bytes now and then; it rings while the other guest's work is about
 * to begin, and looks whenever the engine changes from one adapter to another.
 *
 * What this program does meanwhile is no part of the waiting.  Nor is the time for which the
 * kernel gave the processor to somebody else: if the thread was switched off involuntarily
 * (RUSAGE_THREAD) between doorbell and completion, its processor time counts for that message, and
 * wall time for all others.  What cannot be seen, as interrupts and what a hypervisor takes,
 * meets the victim alone as well; both are measured in turns in the same run, and compared.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "engine/adapter.h"
#include "tests/tbench.h"
#include "tests/tgreedy.h"

#define SMALL		64u
#define ROUNDS		4u
#define MESSAGES	5000u		/* of a round */
#define SLICES		2000u

bool __real_doorbell_poll(struct vhca_dev *dev);
bool __wrap_doorbell_poll(struct vhca_dev *dev);
void __real_fab_send(struct fab_port *port, struct run *run);
void __wrap_fab_send(struct fab_port *port, struct run *run);
bool __real_fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c,
			  u32 *bytes);
bool __wrap_fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c,
			  u32 *bytes);
void __real_cost_add(struct adapter *a, u64 free_ns);
void __wrap_cost_add(struct adapter *a, u64 free_ns);

/* Waits of one kind, in ns. */
struct waits {
	const char *beside;
	u64 ns[ROUNDS * MESSAGES];
	u32 n;
	u32 switched;		/* in how many of them the thread was */
};

static struct {
	struct tworld w;
	struct thca h[3];	/* two that write 64 bytes, and the other one */
	struct tcq cq[3];
	struct tqp qp[2];
	struct tmr mr[2];
	struct tgreedy g;
	void (*keep_busy)(struct tgreedy *g);
	struct waits *waits;
	u64 own;		/* ns of this program */
	u64 rung_at, rung_cpu;
	long rung_switches;
	bool waiting, over;
	u32 left, rng;
} f;

static u64 wall(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static u64 engine_time(void *arg)
{
	return wall() - f.own;
}

static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nivcsw;
}

static u32 any(u32 n)
{
	f.rng = f.rng * 1103515245 + 12345;
	return f.rng / 65536 % n;
}

static void look_for_completion(u64 at)
{
	struct waits *s = f.waits;
	struct vhca_cqe e;
	u64 took;

	if (!f.waiting || !t_cq_poll(&f.cq[0], &e))
		return;
	assert_int_equal(e.status, VHCA_CS_SUCCESS);
	took = at - f.rung_at;
	if (switches() != f.rung_switches) {
		u64 ran = bench_ns() - f.rung_cpu;

		took = MIN(took, ran);
		s->switched++;
	}
	s->ns[s->n++] = took;
	f.waiting = false;
	f.over = !--f.left;
}

static void ring(void)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &f.mr[0], 0, SMALL, &f.mr[1], 0);

	f.waiting = true;
	t_post(&f.qp[0], &wr);
	t_ring_sq(&f.qp[0]);
	f.rung_switches = switches();
	f.rung_cpu = bench_ns();
}

/* The engine has done a piece of work; or, with @begins, the other guest's is about to begin. */
static void between(bool begins)
{
	u64 now, at;

	if (!f.waits)
		return;
	now = wall();
	at = now - f.own;
	look_for_completion(at);
	if (begins && !f.over) {
		if (f.keep_busy)
			f.keep_busy(&f.g);
		if (!f.waiting && !any(3)) {
			ring();
			f.rung_at = at;
		}
	}
	f.own += wall() - now;
}

bool __wrap_doorbell_poll(struct vhca_dev *dev)
{
	if (dev == f.h[2].dev)
		between(true);
	return __real_doorbell_poll(dev);
}

void __wrap_fab_send(struct fab_port *port, struct run *run)
{
	between(true);
	__real_fab_send(port, run);
}

bool __wrap_fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c,
			  u32 *bytes)
{
	between(true);
	return __real_fab_send_some(port, run, c, bytes);
}

void __wrap_cost_add(struct adapter *a, u64 free_ns)
{
	__real_cost_add(a, free_ns);
	between(false);
}

static void furnish(void)
{
	memset(&f, 0, sizeof(f));
	t_world_init_timed(&f.w, engine_time);
	for (u32 i = 0; i < 3; i++) {
		t_hca_init(&f.h[i], &f.w, 0x1000 * (i + 1));
		t_cq_init(&f.h[i], &f.cq[i], 10, VHCA_CQ_IGNORE_OVERRUN);
	}
	for (u32 i = 0; i < 2; i++) {
		t_qp_init(&f.h[i], &f.qp[i], &f.cq[i], &f.cq[i]);
		t_mr_init(&f.h[i], &f.mr[i], 0, SMALL, T_RW, 1, 12);
	}
	t_connect(&f.qp[0], &f.qp[1], 5, 100, 9000);
	f.g.h = &f.h[2];
	f.g.cq = &f.cq[2];
}

static void strip(void)
{
	f.waits = NULL;
	for (u32 i = 0; i < 3; i++)
		t_hca_fini(&f.h[i]);
	t_world_fini(&f.w);
	tgreedy_end(&f.g);
}

/* A round of messages; @kind: the other guest, NULL: it does nothing. */
static void measure(struct waits *s, const struct tgreedy_kind *kind, u32 seed)
{
	furnish();
	if (kind)
		kind->prepare(&f.g);
	f.rng = seed;
	f.left = MESSAGES;
	f.keep_busy = kind ? kind->keep_busy : NULL;
	f.waits = s;
	while (!f.over)
		t_poll(&f.w);
	strip();
}

/* What a slice of bytes takes here, if that is longer than a slice of time. */
static u64 slice_ns(void)
{
	static double ns[SLICES];
	struct vhca_cqe e;
	struct tpair p;
	struct tmr m[2];

	t_pair_init(&p, 5, 1, 2);
	for (u32 i = 0; i < 2; i++)
		t_mr_init(&p.h[i], &m[i], 0, SLICE_BYTES, T_RW, 1, 12);
	for (u32 i = 0; i < SLICES; i++) {
		struct twr wr = t_wr(VHCA_OP_WRITE, 1, &m[0], 0, SLICE_BYTES, &m[1], 0);
		u64 start;

		t_post(&p.qp[0], &wr);
		t_ring_sq(&p.qp[0]);
		start = wall();
		t_poll(&p.w);
		ns[i] = wall() - start;
		assert_true(t_cq_poll(&p.cq[0], &e));
	}
	t_pair_fini(&p);
	return MAX((u64)SLICE_NS, (u64)bench_median(ns, SLICES));
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

static u64 share(const struct waits *s, u32 permille)
{
	return s->ns[(u64)s->n * permille / 1000 - 1];
}

static void print(struct waits *s)
{
	qsort(s->ns, s->n, sizeof(s->ns[0]), compare);
	printf("WRITE 64 bytes beside %s: %.1f us, %.1f (99 %%), %.1f (99.9 %%), %.1f; switched off in %u of %u\n",
	       s->beside, share(s, 500) / 1e3, share(s, 990) / 1e3, share(s, 999) / 1e3,
	       share(s, 1000) / 1e3, s->switched, s->n);
}

static void promise(const struct waits *s, const struct waits *alone, u32 permille,
		    const char *name, u64 slice)
{
	u64 wait = share(s, permille), usual = share(alone, permille);
	char what[100];

	snprintf(what, sizeof(what), "slices that a WRITE waits beside %s%s", s->beside, name);
	bench_at_most(what, (double)(wait - MIN(wait, usual)) / slice, 2);
}

int main(void)
{
	static struct waits alone = { .beside = "nothing" }, busy[1 + ARRAY_SIZE(tgreedy_sly)];
	u64 slice;

	freopen("/dev/null", "w", stderr);
	slice = slice_ns();
	for (u32 i = 0; i < ROUNDS; i++) {
		measure(&alone, NULL, i + 1);
		for (u32 k = 0; k < ARRAY_SIZE(busy); k++) {
			const struct tgreedy_kind *kind = k ? &tgreedy_sly[k - 1] : &tgreedy_huge;

			busy[k].beside = kind->what;
			measure(&busy[k], kind, i + 1);
		}
	}
	print(&alone);
	printf("a slice: %.1f us\n", slice / 1e3);
	for (u32 k = 0; k < ARRAY_SIZE(busy); k++) {
		print(&busy[k]);
		promise(&busy[k], &alone, 500, "", slice);
		promise(&busy[k], &alone, 990, ", 99 %", slice);
		promise(&busy[k], &alone, 999, ", 99.9 %", slice);
	}
	return bench_end();
}
