// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a multicast costs against a unicast: 64-byte datagrams to one QP, and to
 * eight that are attached to a group, on one adapter and on eight.
 *
 * Only the device's work is measured, in processor time: posting and polling is
 * the consumers'.  All take turns, and are compared turn by turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "res/dev.h"
#include "tests/tbench.h"
#include "tests/thca.h"

#define QKEY	5u
#define MLID	0xc000u
#define QPS	8u
#define BATCH	64u
#define LOOPS	300u
#define ROUNDS	9u
#define BYTES	64u

struct bench {
	struct tworld w;
	struct thca h[1 + QPS];
	struct tcq cq[1 + QPS];
	struct tmr mr[1 + QPS];
	struct tqp sender, qp[QPS];
	struct tqp same[QPS];		/* all on one adapter */
};

/* Each group has a LID of its own: no adapter receives the other's. */
static const u8 mgid[2][16] = { { 0xff, 0x12, [15] = 1 }, { 0xff, 0x12, [15] = 2 } };

static void attach(struct tqp *qp, u32 group)
{
	struct vhca_mcg_req req = { .qpn = htole32(qp->qpn), .mlid = htole16(MLID + group) };

	memcpy(req.mgid, mgid[group], sizeof(req.mgid));
	assert_int_equal(t_admin(qp->h, VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL), VHCA_ST_OK);
}

static void drain(struct tcq *cq)
{
	struct vhca_cqe e;

	while (t_cq_poll(cq, &e))
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
	t_set_rec(cq->h, cq->slot, cq->ci);
}

/* Nanoseconds a message, of messages to n QPs. */
static double cost(struct bench *b, const struct vhca_wqe_ud *to, struct tqp *qp, u32 n)
{
	struct twr wr = t_wr(VHCA_OP_SEND, 1, &b->mr[0], 0, BYTES, NULL, 0);
	u64 spent = 0, t;

	wr.ud = *to;
	for (u32 i = 0; i < LOOPS; i++) {
		for (u32 k = 0; k < n; k++) {
			struct tmr *mr = &b->mr[qp[k].h - b->h];
			struct vhca_sge sge = t_sge(mr, k * 128, 128);

			for (u32 m = 0; m < BATCH; m++)
				t_recv(&qp[k], m, 1, &sge);
		}
		for (u32 m = 0; m < BATCH; m++)
			t_post(&b->sender, &wr);
		t_ring_sq(&b->sender);
		t = bench_ns();
		t_poll(&b->w);
		spent += bench_ns() - t;
		for (u32 k = 0; k <= QPS; k++)
			drain(&b->cq[k]);
	}
	return (double)spent / LOOPS / BATCH;
}

static struct vhca_wqe_ud to_group(u32 group)
{
	struct vhca_wqe_ud ud = {
		.av = { .port = 1, .dlid = htole16(MLID + group), .grh = 1, .hop_limit = 1 },
		.dqpn = htole32(0xffffff), .qkey = htole32(QKEY),
	};

	memcpy(ud.av.dgid, mgid[group], sizeof(ud.av.dgid));
	return ud;
}

/* Port 1's, made of the subnet's prefix and the port's GUID. */
static const u8 *gid_of(struct thca *h)
{
	return h->dev->port[0].fab.ib.gid[0];
}

static void make_qp(struct tqp *qp, struct bench *b, u32 hca)
{
	t_qp_init_size(&b->h[hca], qp, &b->cq[hca], &b->cq[hca], 8, 6, 5, 0);
	t_ud_up(qp, QKEY);
}

int main(void)
{
	struct bench *b = calloc(1, sizeof(*b));
	struct vhca_wqe_ud one, global, group[2];
	double plain[ROUNDS], unicast[ROUNDS], spread[ROUNDS], same[ROUNDS];
	double spread_by[ROUNDS], same_by[ROUNDS], by;

	freopen("/dev/null", "w", stderr);
	t_world_init(&b->w);
	for (u32 i = 0; i <= QPS; i++) {
		t_hca_init(&b->h[i], &b->w, 0x1000 * (i + 1));
		b->h[i].qp_type = VHCA_QPT_UD;
		t_cq_init(&b->h[i], &b->cq[i], 10, 0);
		t_mr_init(&b->h[i], &b->mr[i], 0, 4096, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
	}
	make_qp(&b->sender, b, 0);
	for (u32 i = 0; i < QPS; i++) {
		make_qp(&b->qp[i], b, 1 + i);
		attach(&b->qp[i], 0);
		make_qp(&b->same[i], b, 1);
		attach(&b->same[i], 1);
	}
	one = t_ud_to(&b->qp[0], QKEY);
	global = one;
	global.av.grh = 1;
	global.av.hop_limit = 1;
	memcpy(global.av.dgid, gid_of(&b->h[1]), sizeof(global.av.dgid));
	group[0] = to_group(0);
	group[1] = to_group(1);
	for (u32 i = 0; i < ROUNDS; i++) {
		plain[i] = cost(b, &one, b->qp, 1);
		unicast[i] = cost(b, &global, b->qp, 1);
		spread[i] = cost(b, &group[0], b->qp, QPS);
		same[i] = cost(b, &group[1], b->same, QPS);
		spread_by[i] = spread[i] / plain[i];
		same_by[i] = same[i] / plain[i];
	}
	by = bench_median(spread_by, ROUNDS);
	printf("UD 64 bytes to one QP: %.0f ns (with a GRH, as multicasts have one: %.0f ns)\n",
	       bench_median(plain, ROUNDS), bench_median(unicast, ROUNDS));
	printf("multicast to 8 QPs of an adapter: %.0f ns (%.1f times the first)\n",
	       bench_median(same, ROUNDS), bench_median(same_by, ROUNDS));
	printf("multicast to 8 QPs of 8 adapters: %.0f ns (%.1f times)\n",
	       bench_median(spread, ROUNDS), by);
	bench_at_most("multicast to 8 adapters, by a unicast without GRH", by, 3);
	for (u32 i = 0; i <= QPS; i++)
		t_hca_fini(&b->h[i]);
	t_world_fini(&b->w);
	free(b);
	return bench_end();
}
