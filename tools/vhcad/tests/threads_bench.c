// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What several threads gain and cost: two pairs of adapters that do not send to each other, each
 * with a thread of its own, against two processes of one thread that work at the same time; and one
 * pair on one of two threads, against the same on the only one.
 *
 * A worker posts, has its shard work until nothing is left, and polls the completions: it is a
 * guest and the thread that works for it in one, so that two workers need only two processors.
 * They share caches and memory; so wall time counts, and compared runs take turns.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "engine/internal.h"
#include "res/dev.h"
#include "tests/tbench.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE)
#define REGION	(7u << 20)		/* together they exceed the caches */
#define REGIONS	4u
#define ROUNDS	9u
#define PAIRS	2u

/* WRITEs of @len bytes, @batch of them at once, @times. */
struct load {
	u32 len, batch, times;
};

enum { SMALL, LARGE, LOADS };

static const struct load loads[LOADS] = {
	[SMALL] = { .len = 64, .batch = 128, .times = 8000 },
	[LARGE] = { .len = 1u << 20, .batch = 16, .times = 64 },
};

/* A pair of adapters, and the shard that has both. */
struct pair {
	struct thca h[2];
	struct tcq cq[2];
	struct tqp qp[2];
	struct tmr mr[2][REGIONS];
	struct shard *shard;
};

/* Shared by workers, which are threads or processes. */
static struct common {
	pthread_barrier_t together;
	double rate[PAIRS][LOADS];	/* in messages a nanosecond */
} *all;

/* A worker that is a thread. */
struct worker_thread {
	pthread_t thread;
	struct pair *pair;
	u32 number;
};

static u64 wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void pair_init(struct pair *p, struct tworld *w, u32 shard, u64 guid)
{
	p->shard = &w->engine->shard[shard];
	for (u32 i = 0; i < 2; i++) {
		struct adapter *a;

		t_hca_init(&p->h[i], w, guid + (i << 8));
		t_cq_init(&p->h[i], &p->cq[i], 9, 0);
		for (u32 k = 0; k < REGIONS; k++) {
			t_mr_init(&p->h[i], &p->mr[i][k], 0, REGION, RW, 1, 12);
			t_mr_fill(&p->mr[i][k], i);
		}
		t_qp_init_size(&p->h[i], &p->qp[i], &p->cq[i], &p->cq[i], 9, 0, 5,
			       VHCA_QP_SIGNAL_ALL);
		a = &p->h[i].dev->adapter;
		if (a->home != p->shard)
			adapter_send_off(a, p->shard);
		t_poll(w);
	}
	t_connect(&p->qp[0], &p->qp[1], 5, 1, 2);
}

static void pair_fini(struct pair *p)
{
	for (u32 i = 0; i < 2; i++) {
		/* they have sent to no others */
		assert_ptr_equal(p->h[i].dev->adapter.home, p->shard);
		t_hca_fini(&p->h[i]);
	}
}

/* Messages a nanosecond. */
static double work(struct pair *p, const struct load *o)
{
	u64 start = wall_ns();
	u32 off = 0, at = 0;
	struct vhca_cqe e;

	for (u32 i = 0; i < o->times; i++) {
		for (u32 k = 0; k < o->batch; k++) {
			struct twr wr = t_wr(VHCA_OP_WRITE, k, &p->mr[0][at], off, o->len,
					     &p->mr[1][at], off);

			t_post(&p->qp[0], &wr);
			off = (off + o->len) % REGION;
			if (!off)
				at = (at + 1) % REGIONS;
		}
		t_ring_sq(&p->qp[0]);
		shard_poll(p->shard);
		for (u32 k = 0; k < o->batch; k++) {
			assert_true(t_cq_poll(&p->cq[0], &e));
			assert_int_equal(e.status, VHCA_CS_SUCCESS);
		}
	}
	return (double)o->times * o->batch / (wall_ns() - start);
}

static void work_together(struct pair *p, u32 number)
{
	for (u32 l = 0; l < LOADS; l++) {
		pthread_barrier_wait(&all->together);
		all->rate[number][l] = work(p, &loads[l]);
	}
}

static void *worker_thread(void *arg)
{
	struct worker_thread *t = arg;

	work_together(t->pair, t->number);
	return NULL;
}

static void on_threads(struct pair *pairs)
{
	struct worker_thread t[PAIRS];

	for (u32 i = 0; i < PAIRS; i++) {
		t[i].pair = &pairs[i];
		t[i].number = i;
		assert_int_equal(pthread_create(&t[i].thread, NULL, worker_thread, &t[i]), 0);
	}
	for (u32 i = 0; i < PAIRS; i++)
		assert_int_equal(pthread_join(t[i].thread, NULL), 0);
}

/* A daemon of one thread, of its own. */
static void process(u32 number)
{
	struct tworld w;
	struct pair p;

	t_world_init(&w);
	pair_init(&p, &w, 0, 0x1000);
	work_together(&p, number);
	pair_fini(&p);
	t_world_fini(&w);
	exit(0);
}

static void as_processes(void)
{
	pid_t pid[PAIRS];
	int status;

	fflush(stdout);
	for (u32 i = 0; i < PAIRS; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (!pid[i])
			process(i);
	}
	for (u32 i = 0; i < PAIRS; i++) {
		assert_true(wait(&status) > 0);
		/* the other one waits for this process */
		for (u32 k = 0; k < PAIRS && status; k++)
			kill(pid[k], SIGKILL);
		assert_int_equal(status, 0);
	}
}

static double sum(u32 load)
{
	double s = 0;

	for (u32 i = 0; i < PAIRS; i++)
		s += all->rate[i][load];
	return s;
}

static struct tworld one, two;
static struct pair single, pairs[PAIRS];

static void init(void)
{
	pthread_barrierattr_t attr;

	all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(all != MAP_FAILED);
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	assert_int_equal(pthread_barrier_init(&all->together, &attr, PAIRS), 0);
	t_world_init(&one);
	pair_init(&single, &one, 0, 0x1000);
	t_world_init_threads(&two, PAIRS, false);
	for (u32 i = 0; i < PAIRS; i++)
		pair_init(&pairs[i], &two, i, 0x1000 * (i + 1));
}

static void fini(void)
{
	for (u32 i = 0; i < PAIRS; i++)
		pair_fini(&pairs[i]);
	t_world_fini(&two);
	pair_fini(&single);
	t_world_fini(&one);
}

static void print(const char *what, double small, double large)
{
	printf("%s: 64 bytes %.2f M/s, 1 MiB %.2f GB/s\n", what, 1000 * small,
	       large * loads[LARGE].len);
}

/* The threads' rates as fractions of the processes'. */
static void two_pairs(double ratio[LOADS])
{
	double by_processes[LOADS];

	as_processes();
	for (u32 l = 0; l < LOADS; l++)
		by_processes[l] = sum(l);
	on_threads(pairs);
	for (u32 l = 0; l < LOADS; l++)
		ratio[l] = sum(l) / by_processes[l];
	print("two processes", by_processes[SMALL], by_processes[LARGE]);
	print("two threads", sum(SMALL), sum(LARGE));
}

static double one_pair(void)
{
	double on_one = work(&single, &loads[SMALL]), on_two = work(&pairs[0], &loads[SMALL]);

	printf("one pair, 64 bytes: one thread %.2f M/s, two threads %.2f M/s\n", 1000 * on_one,
	       1000 * on_two);
	return on_two / on_one;
}

int main(void)
{
	double together[LOADS][ROUNDS], alone[ROUNDS], ratio[LOADS];

	if (sysconf(_SC_NPROCESSORS_ONLN) < (long)PAIRS) {
		printf("two threads: not measured, as there is one processor\n");
		return 0;
	}
	freopen("/dev/null", "w", stderr);
	init();
	for (u32 r = 0; r < ROUNDS; r++) {
		two_pairs(ratio);
		for (u32 l = 0; l < LOADS; l++)
			together[l][r] = ratio[l];
		alone[r] = one_pair();
	}
	bench_at_least("64 B messages of two pairs on two threads, by two processes",
		       bench_median(together[SMALL], ROUNDS), 0.9);
	bench_at_least("bytes of two pairs on two threads, by two processes",
		       bench_median(together[LARGE], ROUNDS), 0.8);
	bench_at_least("64 B messages of one pair on two threads, by one thread",
		       bench_median(alone, ROUNDS), 0.95);
	fini();
	return bench_end();
}
