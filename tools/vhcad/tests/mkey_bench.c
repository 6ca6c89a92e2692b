// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The time that looking up a key takes, with few keys and with very many, and the memory of each
 * key.
 *
 * One device has sixteen keys, the other as many as possible.  They are
 * measured in turns, in the thread's processor time, and compared turn by turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/tbench.h"
#include "tests/tkey.h"
#include "tests/tprog.h"

#define MANY	(1u << 20)
#define FEW	16u
#define ROUNDS	15
#define LOOKUPS	(2u << 20)

/* Looks the same sixteen up again and again, in an order that changes. */
static double lookup_ns(const struct vqp *qp, const u32 *key)
{
	u64 t = bench_ns();
	u32 at = 0;

	for (u32 i = 0; i < LOOKUPS; i++) {
		at = (at * 5 + 3 + i / FEW) % FEW;
		if (!qp_mkey_find(qp, key[at], 4096 + at, 64, MKEY_WRITE_REMOTE))
			abort();
	}
	return (double)(bench_ns() - t) / LOOKUPS;
}

static u32 make(struct thca *h)
{
	struct vhca_create_mkey_req req = {
		.buf.addr = htole64(4096), .iova = htole64(4096), .length = htole64(4096),
		.pdn = htole32(h->pd), .access = htole32(T_RW), .variant = 7,
	};

	return t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
}

/* Two devices with limits for their keys, and a QP of each. */
static void init(struct tpair *p)
{
	struct vdev_config cfg = {
		.name = "t", .ports = 1, .vectors = 4, .limit[VLIM_MKEYS] = MANY,
	};

	t_world_init(&p->w);
	for (u32 i = 0; i < 2; i++) {
		cfg.node_guid = 0x1000 * (i + 1);
		t_hca_init_cfg(&p->h[i], &p->w, &cfg);
		t_cq_init(&p->h[i], &p->cq[i], 4, 0);
		t_qp_init(&p->h[i], &p->qp[i], &p->cq[i], &p->cq[i]);
	}
}

int main(void)
{
	double few[ROUNDS], many[ROUNDS], spread[ROUNDS], by_few[ROUNDS], f, m, s, by;
	u32 key[3][FEW], made;
	const struct vqp *qp[2];
	struct tpair p;
	u64 memory;

	freopen("/dev/null", "w", stderr);
	init(&p);
	for (u32 i = 0; i < 2; i++) {
		qp[i] = t_vqp(&p.qp[i]);
		for (u32 k = 0; k < FEW; k++)
			key[i][k] = make(&p.h[i]);
	}
	memory = tprog_private_bytes(getpid());
	for (made = FEW; made < MANY; made++) {
		u32 k = make(&p.h[1]);

		if (made % (MANY / FEW) == 4711)
			key[2][made / (MANY / FEW)] = k;
	}
	memory = (tprog_private_bytes(getpid()) - memory) / (MANY - FEW);
	for (u32 i = 0; i < ROUNDS; i++) {
		few[i] = lookup_ns(qp[0], key[0]);
		many[i] = lookup_ns(qp[1], key[1]);
		spread[i] = lookup_ns(qp[1], key[2]);
		by_few[i] = many[i] / few[i];
	}
	f = bench_median(few, ROUNDS);
	m = bench_median(many, ROUNDS);
	s = bench_median(spread, ROUNDS);
	by = bench_median(by_few, ROUNDS);
	printf("key lookup, %u keys: %.1f ns; the same of %u: %.1f ns (%.2f); far apart: %.1f ns"
	       " (%.2f)\n", FEW, f, made, m, by, s, s / f);
	bench_at_most("lookup of 16 keys, of 1 Mi by 16", by, 1.05);
	bench_at_most("memory of a region of 1 Mi, in bytes", memory, 128);
	t_pair_fini(&p);
	return bench_end();
}
