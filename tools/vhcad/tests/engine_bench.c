// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the engine costs: bandwidth against memcpy of the same buffers in the
 * same run, and the time from a WQE to its completion.
 *
 * Everything runs on one thread and is measured in its processor time, so that
 * the figures are the device's own work whatever else the machine does.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/fault.h"
#include "tests/tbench.h"
#include "tests/testmem.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define REGION	(7u << 20)		/* a set of them is larger than the caches */
#define SETS	5u
#define ROUNDS	7

/* Copies the pages of one set of regions to the other, piece by piece. */
static double memcpy_gbs(struct tmr (*m)[2])
{
	u64 t = bench_ns(), bytes = 0;

	for (u32 s = 0; s < SETS; s++)
		for (u32 i = 0; i < m[s][0].npages; i++, bytes += 4096)
			memcpy(t_cpu(m[s][1].h, m[s][1].page[i]),
			       t_cpu(m[s][0].h, m[s][0].page[i]), 4096);
	return (double)bytes / (bench_ns() - t);
}

static double write_gbs(struct tpair *p, struct tmr (*m)[2], u8 op, u32 size)
{
	u64 t = bench_ns(), bytes = 0;
	struct vhca_cqe e;

	for (u32 s = 0; s < SETS; s++) {
		for (u32 off = 0; off + size <= REGION; off += size) {
			struct twr wr = t_wr(op, off, &m[s][0], off, size, &m[s][1], off);

			t_post(&p->qp[0], &wr);
			bytes += size;
			if (off / size % 16 == 15 || off + 2 * size > REGION) {
				t_ring_sq(&p->qp[0]);
				t_poll(&p->w);
				while (t_cq_poll(&p->cq[0], &e))
					assert_int_equal(e.status, 0);
			}
		}
	}
	return (double)bytes / (bench_ns() - t);
}

/* Returns the bandwidth as a part of memcpy's. */
static double bandwidth(struct tpair *p, struct tmr (*m)[2], const char *name, u8 op, u32 size)
{
	double ours[ROUNDS], base[ROUNDS], o, b;

	for (u32 i = 0; i < ROUNDS; i++) {
		base[i] = memcpy_gbs(m);
		ours[i] = write_gbs(p, m, op, size);
	}
	o = bench_median(ours, ROUNDS);
	b = bench_median(base, ROUNDS);
	printf("%-10s %7u bytes  %6.2f GB/s  memcpy %6.2f GB/s  %3.0f %%\n", name, size, o, b,
	       100 * o / b);
	return o / b;
}

/* ---- messages larger than the cache, from and to memory that is not cached ---- */

#define COLD		(64u << 20)
#define COLD_SETS	3u
#define COLD_BASE	(1ull << 40)

struct cold {
	u8 *cpu[2];
	struct tmr mr[2];
};

static void cold_init(struct tpair *p, struct cold *c)
{
	struct vhca_create_mkey_req req = {
		.iova = htole64(COLD_BASE),
		.length = htole64((u64)COLD_SETS * COLD),
		.access = htole32(RW),
		.buf.addr = htole64(COLD_BASE),
	};

	for (u32 i = 0; i < 2; i++) {
		struct thca *h = &p->h[i];

		c->cpu[i] = testmem_add(h->mem, COLD_BASE, (u64)COLD_SETS * COLD);
		memset(c->cpu[i], i + 1, (u64)COLD_SETS * COLD);
		req.pdn = htole32(h->pd);
		c->mr[i] = (struct tmr){ .h = h, .iova = COLD_BASE,
					 .len = (u64)COLD_SETS * COLD };
		c->mr[i].key = t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	}
}

/* GB/s of WRITEs, or of memcpy between the same buffers; no buffer is used twice in a row. */
static double cold_gbs(struct tpair *p, struct cold *c, bool write)
{
	u64 t = bench_ns();
	struct vhca_cqe e;

	for (u64 off = 0; off < (u64)COLD_SETS * COLD; off += COLD) {
		struct twr wr = t_wr(VHCA_OP_WRITE, 1, &c->mr[0], off, COLD, &c->mr[1], off);

		if (!write) {
			memcpy(c->cpu[1] + off, c->cpu[0] + off, COLD);
			continue;
		}
		t_post(&p->qp[0], &wr);
		t_ring_sq(&p->qp[0]);
		do
			t_poll(&p->w);
		while (!t_cq_poll(&p->cq[0], &e));
		assert_int_equal(e.status, VHCA_CS_SUCCESS);
	}
	return (double)COLD_SETS * COLD / (bench_ns() - t);
}

static void cold(struct tpair *p)
{
	double ours[ROUNDS], base[ROUNDS], o, b;
	struct cold c;

	cold_init(p, &c);
	for (u32 i = 0; i < ROUNDS; i++) {
		base[i] = cold_gbs(p, &c, false);
		ours[i] = cold_gbs(p, &c, true);
	}
	for (u32 i = 0; i < COLD_SETS * COLD; i += 4096)
		assert_int_equal(c.cpu[1][i], 1);
	o = bench_median(ours, ROUNDS);
	b = bench_median(base, ROUNDS);
	printf("WRITE of %u MiB, cold to cold: %.2f GB/s  memcpy %.2f GB/s\n", COLD >> 20, o, b);
	bench_at_least("WRITE of 64 MiB, cold to cold, by memcpy", o / b, 0.9);
	for (u32 i = 0; i < 2; i++)
		testmem_drop(c.cpu[i], (u64)COLD_SETS * COLD);
}

/* One 64-byte WRITE after the other, each waited for. */
static void latency(struct tpair *p, struct tmr (*m)[2])
{
	enum { N = 200000 };
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &m[0][0], 0, 64, &m[0][1], 0);
	double per[ROUNDS], copy[ROUNDS];
	struct vhca_cqe e;

	for (u32 r = 0; r < ROUNDS; r++) {
		u64 t = bench_ns();

		for (u32 i = 0; i < N; i++) {
			t_post(&p->qp[0], &wr);
			t_ring_sq(&p->qp[0]);
			do
				t_poll(&p->w);
			while (!t_cq_poll(&p->cq[0], &e));
		}
		per[r] = (double)(bench_ns() - t) / N;
		t = bench_ns();
		for (u32 i = 0; i < N; i++) {
			memcpy(t_cpu(&p->h[1], m[0][1].page[1]), t_cpu(&p->h[0], m[0][0].page[1]),
			       4096);
			__asm__ volatile("" ::: "memory");
		}
		copy[r] = (double)(bench_ns() - t) / N;
	}
	printf("WRITE 64 bytes, WQE to CQE: %.0f ns (%.1f cached 4 KiB memcpys of %.0f ns)\n",
	       bench_median(per, ROUNDS), bench_median(per, ROUNDS) / bench_median(copy, ROUNDS),
	       bench_median(copy, ROUNDS));
	bench_at_most("WRITE 64 bytes, WQE to CQE, in cached 4 KiB memcpys",
		      bench_median(per, ROUNDS) / bench_median(copy, ROUNDS), 8);
}

/* Deep queue of 64-byte WRITEs. */
static void rate(struct tpair *p, struct tmr (*m)[2])
{
	enum { N = 2000, BATCH = 128 };
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &m[0][0], 0, 64, &m[0][1], 0);
	double per[ROUNDS];
	struct vhca_cqe e;

	for (u32 r = 0; r < ROUNDS; r++) {
		u64 t = bench_ns();

		for (u32 i = 0; i < N; i++) {
			for (u32 k = 0; k < BATCH; k++)
				t_post(&p->qp[0], &wr);
			t_ring_sq(&p->qp[0]);
			t_poll(&p->w);
			for (u32 k = 0; k < BATCH; k++)
				assert_true(t_cq_poll(&p->cq[0], &e));
		}
		per[r] = (double)(bench_ns() - t) / N / BATCH;
	}
	printf("WRITE 64 bytes, deep queue: %.2f M/s\n", 1000 / bench_median(per, ROUNDS));
}

/* Pairs of QPs, and the queues of those that receive. */
struct crowd {
	struct tqp *a, *b;
	struct tcq cq[2];
	struct tsrq *srq;	/* NULL: each has its own ring */
};

/*
 * Nanoseconds a message: SENDs of 64 bytes to n QPs, one each, all of them
 * rung before the engine looks; the total number of messages does not depend on the number
 * of QPs.
 */
static double crowd_ns(struct tpair *p, struct tmr (*m)[2], struct crowd *c, u32 qps)
{
	enum { MESSAGES = 16000 };
	struct twr wr = t_wr(VHCA_OP_SEND, 1, &m[0][0], 0, 64, NULL, 0);
	struct vhca_sge to = t_sge(&m[0][1], 0, 64);
	u64 spent = 0, t;
	struct vhca_cqe e;

	for (u32 round = 0; round < MESSAGES / qps; round++) {
		for (u32 i = 0; i < qps; i++) {
			if (c->srq)
				t_srq_recv(c->srq, i, 1, &to);
			else
				t_recv(&c->b[i], i, 1, &to);
			t_post(&c->a[i], &wr);
			t_ring_sq(&c->a[i]);
		}
		t = bench_ns();
		t_poll(&p->w);
		spent += bench_ns() - t;
		for (u32 k = 0; k < 2; k++)
			for (u32 i = 0; i < qps; i++)
				assert_true(t_cq_poll(&c->cq[k], &e));
	}
	return (double)spent / MESSAGES;
}

#define FEW	16u
#define MANY	1000u

static void crowd_init(struct tpair *p, struct crowd *c, struct tsrq *srq)
{
	c->a = calloc(2 * MANY, sizeof(*c->a));
	assert_non_null(c->a);
	c->b = c->a + MANY;
	c->srq = srq;
	for (u32 i = 0; i < 2; i++)
		t_cq_init(&p->h[i], &c->cq[i], 10, 0);
	for (u32 i = 0; i < MANY; i++) {
		t_qp_init_size(&p->h[0], &c->a[i], &c->cq[0], &c->cq[0], 2, 0, 5,
			       VHCA_QP_SIGNAL_ALL);
		if (srq)
			t_qp_init_srq(&p->h[1], &c->b[i], &c->cq[1], &c->cq[1], srq);
		else
			t_qp_init_size(&p->h[1], &c->b[i], &c->cq[1], &c->cq[1], 0, 2, 5, 0);
		t_connect(&c->a[i], &c->b[i], 5, 100, 9000);
	}
}

/* In turns: few and many QPs with one SRQ, and with receive queues of their own. */
static void shared(struct tpair *p, struct tmr (*m)[2])
{
	double ns[4][ROUNDS], srq_few, srq_many, own_few, own_many;
	struct crowd own, one;
	struct tsrq srq;

	for (u32 i = 0; i < 2; i++)
		t_db_pages(&p->h[i]);
	t_srq_init(&p->h[1], &srq, 10, 5);
	crowd_init(p, &one, &srq);
	crowd_init(p, &own, NULL);
	for (u32 i = 0; i < ROUNDS; i++) {
		ns[0][i] = crowd_ns(p, m, &one, FEW);
		ns[1][i] = crowd_ns(p, m, &one, MANY);
		ns[2][i] = crowd_ns(p, m, &own, FEW);
		ns[3][i] = crowd_ns(p, m, &own, MANY);
	}
	srq_few = bench_median(ns[0], ROUNDS);
	srq_many = bench_median(ns[1], ROUNDS);
	own_few = bench_median(ns[2], ROUNDS);
	own_many = bench_median(ns[3], ROUNDS);
	printf("SEND 64 bytes to %u QPs with one SRQ: %.0f ns; to %u: %.0f ns (%.2f)\n", FEW,
	       srq_few, MANY, srq_many, srq_many / srq_few);
	printf("  with receive queues of their own: %.0f ns; %.0f ns (%.2f)\n", own_few, own_many,
	       own_many / own_few);
	bench_at_least("message rate of 1,000 QPs on one SRQ, by that of 16",
		       srq_few / srq_many, 1);
	bench_at_most("1,000 QPs on one SRQ, by as many with rings of their own",
		      srq_many / own_many, 1);
	free(one.a);
	free(own.a);
}

/* One 64-byte SEND after the other, from the WQE to the receiver's completion. */
static double send_ns(struct tpair *p, struct tmr *l, struct tmr *r)
{
	enum { N = 100000 };
	struct twr wr = t_wr(VHCA_OP_SEND, 1, l, 0, 64, NULL, 0);
	struct vhca_sge to = t_sge(r, 0, 128);
	struct vhca_cqe e;
	u64 t = bench_ns();

	if (p->qp[0].type == VHCA_QPT_UD)
		wr.ud = t_ud_to(&p->qp[1], 0);
	for (u32 i = 0; i < N; i++) {
		t_recv(&p->qp[1], i, 1, &to);
		t_post(&p->qp[0], &wr);
		t_ring_sq(&p->qp[0]);
		do
			t_poll(&p->w);
		while (!t_cq_poll(&p->cq[1], &e));
		assert_int_equal(e.status, 0);
		while (t_cq_poll(&p->cq[0], &e))
			;
	}
	return (double)(bench_ns() - t) / N;
}

/* The services side by side, in turns. */
static void services(void)
{
	static const char *const name[] = { "RC", "UC", "UD" };
	double per[3][ROUNDS], rc;
	static struct tmr m[3][2];
	struct tpair p[3];

	t_pair_init(&p[0], 5, 1, 2);
	t_pair_init_uc(&p[1], 5, 1, 2);
	t_pair_init_ud(&p[2], 0);
	for (u32 s = 0; s < 3; s++)
		for (u32 i = 0; i < 2; i++)
			t_mr_init(&p[s].h[i], &m[s][i], 1ull << 33, 4096, RW, 1, 12);
	for (u32 i = 0; i < ROUNDS; i++)
		for (u32 s = 0; s < 3; s++)
			per[s][i] = send_ns(&p[s], &m[s][0], &m[s][1]);
	rc = bench_median(per[0], ROUNDS);
	for (u32 s = 0; s < 3; s++) {
		double ns = s ? bench_median(per[s], ROUNDS) : rc;

		printf("%s SEND 64 bytes, WQE to receive: %.0f ns (%.2f of RC)\n", name[s], ns,
		       ns / rc);
		t_pair_fini(&p[s]);
	}
}

/* ---- very many QPs, on four pairs of adapters ---- */

#define PAIRS		4u
#define CROWDED		2500u	/* QPs of each */
#define LONELY		4u
#define DEPTH		16u	/* WRITEs of each QP that are rung at once */

struct throng {
	struct thca h[2];
	struct tcq cq[2];
	struct tqp *qp[2];
	struct tmr mr[2];
};

static void throng_init(struct throng *t, struct tworld *w, u64 guid)
{
	for (u32 i = 0; i < 2; i++) {
		t_hca_init(&t->h[i], w, guid + (i << 8));
		t_db_pages(&t->h[i]);
		t_cq_init(&t->h[i], &t->cq[i], 16, 0);
		t_mr_init(&t->h[i], &t->mr[i], 0, 4096, RW, 1, 12);
		t->qp[i] = calloc(CROWDED, sizeof(*t->qp[i]));
		assert_non_null(t->qp[i]);
		for (u32 k = 0; k < CROWDED; k++)
			t_qp_init_size(&t->h[i], &t->qp[i][k], &t->cq[i], &t->cq[i], 4, 0, 5,
				       VHCA_QP_SIGNAL_ALL);
	}
	for (u32 k = 0; k < CROWDED; k++)
		t_connect(&t->qp[0][k], &t->qp[1][k], 5, 100, 9000);
}

/* Nanoseconds a message, with @qps QPs of each pair. */
static double throng_ns(struct tworld *w, struct throng *t, u32 qps)
{
	enum { MESSAGES = PAIRS * CROWDED * DEPTH };
	u64 spent = 0, start;
	struct vhca_cqe e;

	for (u32 round = 0; round < CROWDED / qps; round++) {
		for (u32 p = 0; p < PAIRS; p++) {
			struct twr wr = t_wr(VHCA_OP_WRITE, 1, &t[p].mr[0], 0, 64, &t[p].mr[1], 0);

			for (u32 i = 0; i < qps; i++) {
				for (u32 k = 0; k < DEPTH; k++)
					t_post(&t[p].qp[0][i], &wr);
				t_ring_sq(&t[p].qp[0][i]);
			}
		}
		start = bench_ns();
		t_poll(w);
		spent += bench_ns() - start;
		for (u32 p = 0; p < PAIRS; p++)
			for (u32 i = 0; i < qps * DEPTH; i++) {
				assert_true(t_cq_poll(&t[p].cq[0], &e));
				assert_int_equal(e.status, VHCA_CS_SUCCESS);
			}
	}
	return (double)spent / MESSAGES;
}

static void throngs(void)
{
	static struct throng t[PAIRS];
	double few[ROUNDS], many[ROUNDS], f, m;
	struct tworld w;

	t_world_init(&w);
	for (u32 p = 0; p < PAIRS; p++)
		throng_init(&t[p], &w, 0x1000 * (p + 1));
	for (u32 i = 0; i < ROUNDS; i++) {
		few[i] = throng_ns(&w, t, LONELY);
		many[i] = throng_ns(&w, t, CROWDED);
	}
	f = bench_median(few, ROUNDS);
	m = bench_median(many, ROUNDS);
	printf("WRITE 64 bytes, %u of each QP: %u QPs %.0f ns; %u QPs %.0f ns\n", DEPTH,
	       PAIRS * LONELY, f, PAIRS * CROWDED, m);
	bench_at_least("message rate of 10,000 QPs, by that of 16", f / m, 0.8);
	for (u32 p = 0; p < PAIRS; p++)
		for (u32 i = 0; i < 2; i++) {
			t_hca_fini(&t[p].h[i]);
			free(t[p].qp[i]);
		}
	t_world_fini(&w);
}

/* ---- over a link that loses packets ---- */

#define MESSAGE		65536u
#define AT_ONCE		16u	/* messages that are posted */

/*
 * GB/s of WRITEs, with @permille packets in a thousand lost.  The engine's own time counts, and all
 * the time that it waits for its timers.  The engine is faster than the poster, so that a message
 * is all there is to send when it is posted.
 */
static double lossy_gbs(u32 permille)
{
	enum { N = 3000 };
	const struct fab_fault loss = { .kind = FAB_LOSS, .permille = permille, .seed = 1 };
	struct tpair p;
	struct tmr l, r;
	struct vhca_cqe e;
	u64 start, spent;
	u32 sent = 0, done = 0;

	t_pair_init(&p, 5, 1, 2);
	t_mr_init(&p.h[0], &l, 0, AT_ONCE * MESSAGE, RW, 1, 12);
	t_mr_init(&p.h[1], &r, 0, AT_ONCE * MESSAGE, RW, 1, 12);
	if (permille)
		assert_int_equal(fab_fault_arm(p.w.fabric, &loss), 0);
	start = p.w.now;
	spent = bench_ns();
	while (done + AT_ONCE <= N) {
		if (sent < N && sent - done < AT_ONCE) {
			u32 off = sent % AT_ONCE * MESSAGE;
			struct twr wr = t_wr(VHCA_OP_WRITE, sent++, &l, off, MESSAGE, &r, off);

			t_post(&p.qp[0], &wr);
			t_ring_sq(&p.qp[0]);
			t_poll(&p.w);
		} else {
			assert_true(t_advance(&p.w));
		}
		for (; t_cq_poll(&p.cq[0], &e); done++)
			assert_int_equal(e.status, VHCA_CS_SUCCESS);
	}
	spent = bench_ns() - spent + p.w.now - start;
	t_pair_fini(&p);
	return (double)done * MESSAGE / spent;
}

static void lossy(void)
{
	double all[ROUNDS], some[ROUNDS], a, s;

	for (u32 i = 0; i < ROUNDS; i++) {
		all[i] = lossy_gbs(0);
		some[i] = lossy_gbs(10);
	}
	a = bench_median(all, ROUNDS);
	s = bench_median(some, ROUNDS);
	printf("WRITE of 64 KiB: %.2f GB/s; with 1 %% of the packets lost %.2f GB/s\n", a, s);
	bench_at_least("goodput at 1 % loss, by that without", s / a, 0.5);
}

int main(void)
{
	static struct tmr m[SETS][2];
	struct tpair p;

	freopen("/dev/null", "w", stderr);
	t_pair_init(&p, 5, 1, 2);
	for (u32 s = 0; s < SETS; s++)
		for (u32 i = 0; i < 2; i++) {
			t_mr_init(&p.h[i], &m[s][i], 1ull << 33, REGION, RW, 1, 12);
			t_mr_fill(&m[s][i], i);
		}
	bench_at_least("WRITE of 1 MiB, by memcpy",
		       bandwidth(&p, m, "WRITE", VHCA_OP_WRITE, 1u << 20), 0.8);
	bench_at_least("WRITE of 64 KiB, by memcpy",
		       bandwidth(&p, m, "WRITE", VHCA_OP_WRITE, 64u << 10), 0.7);
	bandwidth(&p, m, "READ", VHCA_OP_READ, 64u << 10);
	bandwidth(&p, m, "WRITE", VHCA_OP_WRITE, 4u << 10);
	cold(&p);
	latency(&p, m);
	rate(&p, m);
	shared(&p, m);
	t_pair_fini(&p);
	services();
	lossy();
	throngs();
	return bench_end();
}
