// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How long a guest waits, in wall time, beside one that finds work which takes longer than its size
 * suggests.  The victim writes 64 bytes now and then; it rings when the other guest's work is about
 * to begin, and looks whenever the engine changes from one adapter to another.
 *
 * Time that this program uses itself does not count.  Nor does time for which the kernel gave the
 * processor to another program: if the thread was switched off involuntarily (RUSAGE_THREAD)
 * between doorbell and completion, its processor time counts for that message, and wall time for
 * all others.
 *
 * Disturbances that the thread cannot see, such as interrupts and the hypervisor, are compared with
 * figures of the same run without the other guest.  Half and 99 % of the messages are compared with
 * those of the victim alone.  The longer something lasts the more often it meets an interrupt; so
 * what the worst of a thousand waits take is compared with what the worst of a thousand rows of the
 * victim's WRITEs take beyond their median, alone; a row is so long that it takes two slices.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "engine/adapter.h"
#include "tests/tbench.h"
#include "tests/tgreedy.h"
#include "tests/tvictim.h"

#define ROUNDS		4u
#define MESSAGES	5000u		/* of a round */
/* What the promise calls a slice; those of the engine are shorter. */
#define PROMISED_NS	20000u

bool __real_doorbell_poll(struct vhca_dev *dev);
bool __wrap_doorbell_poll(struct vhca_dev *dev);
void __real_fab_send(struct fab_port *port, struct run *run);
void __wrap_fab_send(struct fab_port *port, struct run *run);
bool __real_fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c,
			  u32 *bytes);
bool __wrap_fab_send_some(struct fab_port *port, struct run *run, struct fab_cursor *c,
			  u32 *bytes);
u64 __real_cost_add(struct adapter *a, u64 free_ns);
u64 __wrap_cost_add(struct adapter *a, u64 free_ns);

/* Waits of one kind, in ns. */
struct waits {
	char what[60];
	u64 ns[ROUNDS * MESSAGES];
	u32 n;
	u32 switched;		/* waits in which the thread was switched off */
};

static struct {
	struct tvictim v;
	struct tgreedy g;
	void (*keep_busy)(struct tgreedy *g);
	struct waits *waits;
	u64 own, own_cpu;	/* ns of this program: wall time, and the processor's */
	u64 rung_at, rung_cpu;
	long rung_switches;
	bool over;
	u32 left;
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

/* The request that was rung for is done. */
static void count_wait(struct waits *s, u64 at, u64 cpu)
{
	u64 took = at - f.rung_at;

	if (switches() != f.rung_switches) {
		took = MIN(took, cpu - f.rung_cpu);
		s->switched++;
	}
	s->ns[s->n++] = took;
}

static void look_for_completion(u64 at, u64 cpu)
{
	if (!tvictim_done(&f.v))
		return;
	count_wait(f.waits, at, cpu);
	f.over = !--f.left;
}

static void ring(void)
{
	tvictim_ring(&f.v);
	f.rung_switches = switches();
	f.rung_cpu = bench_ns() - f.own_cpu;
}

/* The engine has done a piece of work; or, with @begins, the other guest's is about to begin. */
static void between(bool begins)
{
	u64 now, cpu, at;
	bool waits;

	if (!f.waits)
		return;
	now = wall();
	at = now - f.own;
	cpu = f.v.waiting ? bench_ns() : 0;
	look_for_completion(at, cpu - f.own_cpu);
	waits = f.v.waiting;
	if (begins && !f.over) {
		if (f.keep_busy)
			f.keep_busy(&f.g);
		if (!f.v.waiting && !tvictim_any(&f.v, 3)) {
			ring();
			f.rung_at = at;
		}
	}
	if (waits)
		f.own_cpu += bench_ns() - cpu;
	f.own += wall() - now;
}

bool __wrap_doorbell_poll(struct vhca_dev *dev)
{
	if (dev == f.v.h[2].dev) {
		between(true);
		/* its looks are what this program goes by: it does not rest */
		dev->adapter.quiet = 0;
	}
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

u64 __wrap_cost_add(struct adapter *a, u64 free_ns)
{
	u64 took = __real_cost_add(a, free_ns);

	between(false);
	return took;
}

static void furnish(void)
{
	memset(&f, 0, sizeof(f));
	tvictim_init(&f.v, engine_time);
	f.g.h = &f.v.h[2];
	f.g.cq = &f.v.cq[2];
}

static void strip(void)
{
	f.waits = NULL;
	tvictim_fini(&f.v);
	tgreedy_end(&f.g);
}

/* A round of messages; @kind: the other guest, NULL: it does nothing. */
static void measure(struct waits *s, const struct tgreedy_kind *kind, u32 seed)
{
	furnish();
	if (kind)
		kind->prepare(&f.g);
	f.v.rng = seed;
	f.left = MESSAGES;
	f.keep_busy = kind ? kind->keep_busy : NULL;
	f.waits = s;
	while (!f.over)
		t_poll(&f.v.w);
	strip();
}

/* The victim's WRITEs alone, @length in a row, which take two slices together. */
static void measure_rows(struct waits *s, u32 length)
{
	furnish();
	for (u32 i = 0; i < MESSAGES; i++) {
		f.rung_switches = switches();
		f.rung_cpu = bench_ns();
		f.rung_at = wall();
		for (u32 n = 0; n < length; n++) {
			tvictim_ring(&f.v);
			t_poll(&f.v.w);
			assert_true(tvictim_done(&f.v));
		}
		count_wait(s, wall(), bench_ns());
	}
	strip();
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

static void sort(struct waits *s)
{
	qsort(s->ns, s->n, sizeof(s->ns[0]), compare);
}

static void print(struct waits *s)
{
	sort(s);
	printf("%s: %.1f us, %.1f (99 %%), %.1f (99.9 %%), %.1f; switched off in %u of %u\n",
	       s->what, share(s, 500) / 1e3, share(s, 990) / 1e3, share(s, 999) / 1e3,
	       share(s, 1000) / 1e3, s->switched, s->n);
}

/* @permille of a thousand messages wait no longer than two slices, besides what they take alone. */
static void promise(const struct waits *s, u32 permille, u64 usual)
{
	u64 wait = share(s, permille);
	char what[100];

	snprintf(what, sizeof(what), "%s: slices of waiting, %.1f %%", s->what, permille / 10.0);
	bench_at_most(what, (double)(wait - MIN(wait, usual)) / PROMISED_NS, 2);
}

/* Number of WRITEs that take two slices. */
static u32 row_length(void)
{
	static struct waits one;

	measure_rows(&one, 1);
	sort(&one);
	return 2 * PROMISED_NS / share(&one, 500);
}

/* Number of slices for a packet that consists of pieces of one byte, which cannot be divided. */
static double pieces(void)
{
	double slices[100];

	furnish();
	tgreedy_pieces.prepare(&f.g);
	for (u32 i = 0; i < ARRAY_SIZE(slices); i++) {
		u32 before = f.g.from.sq_prod;
		u64 began;

		tgreedy_pieces.keep_busy(&f.g);
		began = bench_ns();
		t_settle(&f.v.w, 0);
		slices[i] = (double)(bench_ns() - began) / PROMISED_NS /
			    (f.g.from.sq_prod - before);
	}
	strip();
	return bench_median(slices, ARRAY_SIZE(slices));
}

int main(void)
{
	static struct waits alone = { .what = "WRITE of 64 bytes, alone" };
	static struct waits rows = { .what = "WRITEs in a row, for two slices, alone" };
	static struct waits busy[1 + ARRAY_SIZE(tgreedy_sly)];
	u32 length;
	u64 host;

	freopen("/dev/null", "w", stderr);
	length = row_length();
	for (u32 i = 0; i < ROUNDS; i++) {
		measure_rows(&rows, length);
		measure(&alone, NULL, i + 1);
		for (u32 k = 0; k < ARRAY_SIZE(busy); k++) {
			const struct tgreedy_kind *kind = k ? &tgreedy_sly[k - 1] : &tgreedy_huge;

			snprintf(busy[k].what, sizeof(busy[k].what), "WRITE of 64 bytes beside %s",
				 kind->what);
			measure(&busy[k], kind, i + 1);
		}
	}
	print(&alone);
	print(&rows);
	host = share(&rows, 999) - share(&rows, 500);
	for (u32 k = 0; k < ARRAY_SIZE(busy); k++) {
		print(&busy[k]);
		promise(&busy[k], 500, share(&alone, 500));
		promise(&busy[k], 990, share(&alone, 990));
		promise(&busy[k], 999, share(&alone, 500) + host);
	}
	bench_at_most("a packet of 4,096 pieces, from and to as many: slices", pieces(), 4);
	return bench_end();
}
