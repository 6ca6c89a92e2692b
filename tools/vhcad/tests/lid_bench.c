// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a full linear forwarding table costs: 64-byte datagrams to random LIDs, of all that there
 * are, against two of them.  One port has all LIDs, so that nothing else differs.
 *
 * Only the device's work is measured, in processor time.  Both take turns, and are compared turn by
 * turn.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fabric/switch.h"
#include "res/dev.h"
#include "tests/tbench.h"
#include "tests/thca.h"
#include "tests/trandom.h"

#define QKEY	5u
#define BATCH	64u
#define LOOPS	300u
#define ROUNDS	15u
#define BYTES	64u
#define ALL_LIDS	16u		/* an LMC that no manager sets */

struct bench {
	struct tworld w;
	struct thca h[2];
	struct tcq cq[2];
	struct tmr mr[2];
	struct tqp qp[2];
};

static void drain(struct tcq *cq)
{
	struct vhca_cqe e;

	while (t_cq_poll(cq, &e))
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
	t_set_rec(cq->h, cq->slot, cq->ci);
}

/* Nanoseconds a message, to LIDs 1..@n at random. */
static double cost(struct bench *b, u32 n)
{
	struct twr wr = t_wr(VHCA_OP_SEND, 1, &b->mr[0], 0, BYTES, NULL, 0);
	struct vhca_sge sge = t_sge(&b->mr[1], 0, 128);
	u64 spent = 0, dice = 1, t;

	wr.ud = t_ud_to(&b->qp[1], QKEY);
	for (u32 i = 0; i < LOOPS; i++) {
		for (u32 m = 0; m < BATCH; m++) {
			wr.ud.av.dlid = htole16(1 + t_random(&dice) % n);
			t_recv(&b->qp[1], m, 1, &sge);
			t_post(&b->qp[0], &wr);
		}
		t_ring_sq(&b->qp[0]);
		t = bench_ns();
		t_poll(&b->w);
		spent += bench_ns() - t;
		for (u32 k = 0; k < 2; k++)
			drain(&b->cq[k]);
	}
	return (double)spent / LOOPS / BATCH;
}

int main(void)
{
	struct bench *b = calloc(1, sizeof(*b));
	double two[ROUNDS], all[ROUNDS], by[ROUNDS];
	struct fab_port *to;

	freopen("/dev/null", "w", stderr);
	t_world_init(&b->w);
	for (u32 i = 0; i < 2; i++) {
		t_hca_init(&b->h[i], &b->w, 0x1000 * (i + 1));
		b->h[i].qp_type = VHCA_QPT_UD;
		t_cq_init(&b->h[i], &b->cq[i], 10, 0);
		t_mr_init(&b->h[i], &b->mr[i], 0, 4096, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
		t_qp_init_size(&b->h[i], &b->qp[i], &b->cq[i], &b->cq[i], 8, 6, 5, 0);
		t_ud_up(&b->qp[i], QKEY);
	}
	to = &b->h[1].dev->port[0].fab;
	port_set_lid(&to->ib, 1, ALL_LIDS);
	for (u32 lid = 1; lid <= LID_SWITCH; lid++)
		fab_switch_set_port(b->w.fabric, 0, lid, to->at);
	for (u32 i = 0; i < ROUNDS; i++) {
		two[i] = cost(b, 2);
		all[i] = cost(b, LID_LAST);
		by[i] = all[i] / two[i];
	}
	printf("UD 64 bytes to 2 LIDs: %.0f ns; to %u: %.0f ns\n", bench_median(two, ROUNDS),
	       LID_LAST, bench_median(all, ROUNDS));
	bench_at_most("a message to one of 48 K LIDs, by one to one of 2", bench_median(by, ROUNDS),
		      1.1);
	for (u32 i = 0; i < 2; i++)
		t_hca_fini(&b->h[i]);
	t_world_fini(&b->w);
	free(b);
	return bench_end();
}
