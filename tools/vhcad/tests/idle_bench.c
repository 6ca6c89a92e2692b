// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What idle adapters cost those that work: WRITEs of 64 bytes, one after the other, between two of
 * 64 adapters, by the same between two that are alone.  Both take turns.
 */
#include <stdio.h>

#include "tests/tbench.h"
#include "tests/thca.h"
#include "tests/tkey.h"

#define IDLE	62u
#define BYTES	64u
#define WRITES	20000u
#define ROUNDS	9u

struct world {
	struct tpair p;
	struct tmr from, to;
	struct thca idle[IDLE];
	u32 n;
};

static void init(struct world *w, u32 idle)
{
	t_pair_init(&w->p, 5, 1, 2);
	t_mr_init(&w->p.h[0], &w->from, 0, 4096, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
	t_mr_init(&w->p.h[1], &w->to, 0, 4096, T_RW, 0, 12);
	for (; w->n < idle; w->n++)
		t_hca_init(&w->idle[w->n], &w->p.w, 0x100000 * (w->n + 1));
}

static void fini(struct world *w)
{
	while (w->n)
		t_hca_fini(&w->idle[--w->n]);
	t_pair_fini(&w->p);
}

/* Nanoseconds a WRITE, with what posts it and polls for its completion. */
static double write_ns(struct world *w)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &w->from, 0, BYTES, &w->to, 0);
	struct tpair *p = &w->p;
	struct vhca_cqe e;
	u64 begin = bench_ns();

	for (u32 i = 0; i < WRITES; i++) {
		t_post(&p->qp[0], &wr);
		t_ring_sq(&p->qp[0]);
		do
			t_poll(&p->w);
		while (!t_cq_poll(&p->cq[0], &e));
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
	}
	return (double)(bench_ns() - begin) / WRITES;
}

int main(void)
{
	static struct world alone, among;
	double ns[2][ROUNDS], a, b;

	freopen("/dev/null", "w", stderr);
	init(&alone, 0);
	init(&among, IDLE);
	for (u32 i = 0; i < ROUNDS; i++) {
		ns[0][i] = write_ns(&alone);
		ns[1][i] = write_ns(&among);
	}
	a = bench_median(ns[0], ROUNDS);
	b = bench_median(ns[1], ROUNDS);
	printf("WRITE of 64 bytes: %.0f ns, beside %u idle adapters: %.0f ns\n", a, IDLE, b);
	bench_at_most("WRITE of 64 bytes beside 62 idle adapters, by alone", b / a, 1.1);
	fini(&among);
	fini(&alone);
	return bench_end();
}
