// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The large ones, for which "make bench SCALE=1" asks: 100,000 connected QPs over eight adapters
 * that all write and are written to, and 64 adapters, each of which writes to the next.  All data
 * are compared.  It takes about two GiB, most of it the guests' memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "qp/qp.h"
#include "qp/recv.h"
#include "tests/tbench.h"
#include "tests/tkey.h"
#include "tests/tprog.h"
#include "tests/tscale.h"

#define QPS		100000u
#define QP_BYTES	1024u		/* of memory, besides records() */
#define ADAPTERS	64u
#define MESSAGE		(1u << 20)
#define TIMES		8u

/* All connections write from this end; returns nanoseconds a message. */
static double write_all(struct tscale *s, u32 end)
{
	u64 t;
	u32 n;

	for (u32 i = 0; i < s->connections; i++)
		tscale_write(s, i, end);
	t = bench_ns();
	t_poll(&s->w);
	t = bench_ns() - t;
	for (u32 i = 0; i < s->connections; i++)
		assert_true(tscale_take(s, &n));
	return (double)t / s->connections;
}

/* Connections whose bytes at @end are what the other end has written. */
static u32 arrived(struct tscale *s, u32 end)
{
	u32 good = 0;

	for (u32 i = 0; i < s->connections; i++) {
		struct tscale_pair *p = &s->pair[i % TSCALE_PAIRS];
		u32 off = i / TSCALE_PAIRS * TSCALE_BYTES, same = 0;
		u8 got[TSCALE_BYTES];

		t_mr_get(&p->mr[end], off, got, sizeof(got));
		while (same < sizeof(got) && got[same] == t_pattern(!end, off + same))
			same++;
		good += same == sizeof(got);
	}
	return good;
}

static void refill(struct tscale *s, u32 end)
{
	for (u32 i = 0; i < TSCALE_PAIRS; i++)
		t_mr_fill(&s->pair[i].mr[end], end);
}

/* Bytes of a QP for its requests, for answers that it may repeat, for a receive that waits. */
static u64 records(void)
{
	const struct vqp *qp;

	return (sizeof(*qp->req.q) << TSCALE_LOG_SQ) +
	       VDEV_MAX_RD_ATOMIC * sizeof(*qp->resp.res) + sizeof(*qp->recv.kept);
}

/* Bytes of this process for each QP since then, without this program's own. */
static u64 memory_of_qp(u64 before)
{
	return (tprog_private_bytes(getpid()) - before) / QPS - sizeof(struct tqp);
}

static void queue_pairs(void)
{
	static struct tscale s;
	u64 before = tprog_private_bytes(getpid()), t = bench_ns(), each, used;
	double there, back;
	u32 good;

	tscale_init(&s, QPS);
	each = memory_of_qp(before);
	printf("%u connected QPs on %u adapters, made in %.1f s of processor time\n", QPS,
	       2 * TSCALE_PAIRS, (bench_ns() - t) / 1e9);
	there = write_all(&s, 0);
	good = arrived(&s, 1);
	refill(&s, 1);
	/* the other way, from bytes that are not those any more which have arrived */
	for (u32 i = 0; i < TSCALE_PAIRS; i++)
		t_mr_fill(&s.pair[i].mr[0], 2);
	back = write_all(&s, 1);
	good += arrived(&s, 0);
	used = memory_of_qp(before);
	printf("WRITE of 64 bytes on each, %.0f ns; and back, %.0f ns; a QP: %llu bytes idle, %llu "
	       "afterwards, of which %llu are records\n", there, back, (unsigned long long)each,
	       (unsigned long long)used, (unsigned long long)records());
	bench_at_least("of 100,000 QPs over 8 adapters have sent data that arrived", good, QPS);
	bench_at_most("bytes of an idle QP of 100,000, besides its records", each - records(),
		      QP_BYTES);
	bench_at_most("bytes of one that has sent, besides its records", used - records(),
		      QP_BYTES);
	tscale_fini(&s);
}

/* An adapter, its QPs to the next one and from the one before, and what it sends and receives. */
struct member {
	struct thca h;
	struct tcq cq;
	struct tqp to, from;
	struct tmr mr[2];
};

static void ring_of_adapters(void)
{
	struct member *m = calloc(ADAPTERS, sizeof(*m));
	u64 t, spent = 0;
	struct vhca_cqe e;
	struct tworld w;
	u32 good = 0;

	assert_non_null(m);
	t_world_init(&w);
	for (u32 i = 0; i < ADAPTERS; i++) {
		t_hca_init(&m[i].h, &w, 0x1000 * (i + 1));
		t_cq_init(&m[i].h, &m[i].cq, 4, 0);
		t_qp_init_size(&m[i].h, &m[i].to, &m[i].cq, &m[i].cq, 4, 0, 5,
			       VHCA_QP_SIGNAL_ALL);
		t_qp_init_size(&m[i].h, &m[i].from, &m[i].cq, &m[i].cq, 0, 0, 5, 0);
		for (u32 k = 0; k < 2; k++)
			t_mr_init(&m[i].h, &m[i].mr[k], 0, MESSAGE, T_RW, 1, 12);
		t_mr_fill(&m[i].mr[0], i);
	}
	for (u32 i = 0; i < ADAPTERS; i++)
		t_connect(&m[i].to, &m[(i + 1) % ADAPTERS].from, 5, 100, 9000);
	for (u32 n = 0; n < TIMES; n++) {
		for (u32 i = 0; i < ADAPTERS; i++) {
			struct twr wr = t_wr(VHCA_OP_WRITE, i, &m[i].mr[0], 0, MESSAGE,
					     &m[(i + 1) % ADAPTERS].mr[1], 0);

			t_post(&m[i].to, &wr);
			t_ring_sq(&m[i].to);
		}
		t = bench_ns();
		t_poll(&w);
		spent += bench_ns() - t;
		for (u32 i = 0; i < ADAPTERS; i++) {
			assert_true(t_cq_poll(&m[i].cq, &e));
			good += e.status == VHCA_CS_SUCCESS;
		}
	}
	for (u32 i = 0; i < ADAPTERS; i++)
		t_mr_expect(&m[(i + 1) % ADAPTERS].mr[1], 0, MESSAGE, i, 0);
	printf("WRITE of 1 MiB by each of %u adapters to the next: %.2f GB/s\n", ADAPTERS,
	       (double)TIMES * ADAPTERS * MESSAGE / spent);
	bench_at_least("WRITEs of 1 MiB of 64 adapters that are complete, of 512", good,
		       ADAPTERS * TIMES);
	for (u32 i = 0; i < ADAPTERS; i++)
		t_hca_fini(&m[i].h);
	t_world_fini(&w);
	free(m);
}

int main(void)
{
	freopen("/dev/null", "w", stderr);
	queue_pairs();
	ring_of_adapters();
	return bench_end();
}
