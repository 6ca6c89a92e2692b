// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * How long a guest waits for its turn: another one has a thousand QPs with 2 GiB
 * WRITEs, and this one sends 64 bytes now and then.
 *
 * Waiting is counted in bytes of the other guest that are sent between the
 * doorbell and the completion, as time is mostly spent on these; the clock advances
 * by the same measure.  Doorbells are rung in the middle of a slice: this program
 * sees packets when they are sent, and the guest rings then.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/worker.h"
#include "fabric/internal.h"
#include "tests/thca.h"

#define RW		(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE)
#define QPS		1000u
#define MESSAGES	500u
#define HUGE_LEN	(1ull << 31)
#define HUGE_SHIFT	21u		/* of its pages, which are all the same one */
#define HUGE_PAGES	(HUGE_LEN >> HUGE_SHIFT)
#define SMALL		64u
#define BYTES_A_NS	10u

void __real_fab_send(struct fab_port *port, struct run *run);
void __wrap_fab_send(struct fab_port *port, struct run *run);

struct greedy {
	struct thca h;
	struct tcq cq;
	struct tqp *qp;
	__le64 *list;
	u32 key;
};

static struct {
	struct tworld w;
	struct greedy from, to;
	struct thca h[2];
	struct tcq cq[2];
	struct tqp qp[2];
	struct tmr mr[2];
	u64 moved;		/* bytes of the other guest */
	u64 rung_at;		/* what it was when the doorbell rang */
	u64 ring_at;		/* and when it is to ring next */
	bool waiting;
	u64 waited[MESSAGES];
	u32 n;
	u32 rng;
} f;

/* Its page lists point nowhere now: all its requests fail. */
static void stop_greedy(void)
{
	for (u32 i = 0; i < HUGE_PAGES; i++)
		f.from.list[i] = htole64(~0ull << HUGE_SHIFT);
}

static void look_for_completion(void)
{
	struct vhca_cqe e;

	if (!f.waiting || !t_cq_poll(&f.cq[0], &e))
		return;
	assert_int_equal(e.status, VHCA_CS_SUCCESS);
	f.waited[f.n++] = f.moved - f.rung_at;
	f.waiting = false;
	f.rng = f.rng * 1103515245 + 12345;
	f.ring_at = f.moved + f.rng / 65536 % (3 * SLICE_BYTES);
	if (f.n == MESSAGES)
		stop_greedy();
}

static void ring_if_due(void)
{
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &f.mr[0], 0, SMALL, &f.mr[1], 0);

	if (f.waiting || f.n == MESSAGES || f.moved < f.ring_at)
		return;
	f.waiting = true;
	f.rung_at = f.moved;
	t_post(&f.qp[0], &wr);
	t_ring_sq(&f.qp[0]);
}

void __wrap_fab_send(struct fab_port *port, struct run *run)
{
	u32 len = port == f.w.fabric->ports[0] ? run->len : 0;

	look_for_completion();
	f.moved += len / 2;
	ring_if_due();
	__real_fab_send(port, run);
	f.moved += len - len / 2;
	f.w.now += len / BYTES_A_NS;
}

static void make_greedy(struct greedy *g, u64 guid)
{
	struct vhca_create_mkey_req req = {
		.buf = { .npages = htole32(HUGE_PAGES), .page_shift = HUGE_SHIFT, .levels = 1 },
		.length = htole64(HUGE_LEN), .access = htole32(RW),
	};
	u64 list, page;

	t_hca_init(&g->h, &f.w, guid);
	t_db_pages(&g->h);
	t_cq_init(&g->h, &g->cq, 10, 0);
	g->h.ram_used = (g->h.ram_used | ((1u << HUGE_SHIFT) - 1)) + 1;
	page = t_alloc(&g->h, 1u << HUGE_SHIFT);
	list = t_alloc(&g->h, HUGE_PAGES * sizeof(__le64));
	g->list = t_cpu(&g->h, list);
	for (u32 i = 0; i < HUGE_PAGES; i++)
		g->list[i] = htole64(page);
	req.buf.addr = htole64(list);
	req.pdn = htole32(g->h.pd);
	g->key = t_create(&g->h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	g->qp = calloc(QPS, sizeof(*g->qp));
	assert_non_null(g->qp);
	for (u32 i = 0; i < QPS; i++)
		t_qp_init_size(&g->h, &g->qp[i], &g->cq, &g->cq, 0, 0, 5, VHCA_QP_SIGNAL_ALL);
}

/* Posts for all its QPs, and rings only when all are posted, so that none begins earlier. */
static void be_greedy(void)
{
	for (u32 i = 0; i < QPS; i++) {
		struct twr wr = {
			.opcode = VHCA_OP_WRITE, .nsge = 1, .rkey = f.to.key,
			.sge = { { 0, HUGE_LEN, f.from.key } },
		};

		t_connect(&f.from.qp[i], &f.to.qp[i], 5, 100, 9000);
		t_post(&f.from.qp[i], &wr);
	}
	for (u32 i = 0; i < QPS; i++)
		t_ring_sq(&f.from.qp[i]);
}

static int compare(const void *a, const void *b)
{
	u64 x = *(const u64 *)a, y = *(const u64 *)b;

	return (x > y) - (x < y);
}

/* The peer is on an adapter of its own, or on the one that the other guest writes to. */
static void small_beside_huge(bool own)
{
	struct thca *peer = own ? &f.h[1] : &f.to.h;
	u64 p99;

	memset(&f, 0, sizeof(f));
	t_world_init(&f.w);
	make_greedy(&f.from, 0x1000);
	make_greedy(&f.to, 0x2000);
	t_hca_init(&f.h[0], &f.w, 0x3000);
	t_hca_init(&f.h[1], &f.w, 0x4000);
	for (u32 i = 0; i < 2; i++) {
		struct thca *h = i ? peer : &f.h[0];

		t_cq_init(h, &f.cq[i], 4, 0);
		t_qp_init(h, &f.qp[i], &f.cq[i], &f.cq[i]);
		t_mr_init(h, &f.mr[i], 0, SMALL, RW, 1, 12);
	}
	t_connect(&f.qp[0], &f.qp[1], 5, 100, 9000);
	f.rng = 1;
	be_greedy();
	t_poll(&f.w);
	look_for_completion();
	assert_int_equal(f.n, MESSAGES);
	qsort(f.waited, MESSAGES, sizeof(f.waited[0]), compare);
	p99 = f.waited[MESSAGES * 99 / 100];
	printf("%u bytes beside %u WRITEs of 2 GiB, %s: waits %.2f slices, %.2f (99 %%), %.2f\n",
	       SMALL, QPS, own ? "elsewhere" : "to the same adapter",
	       (double)f.waited[MESSAGES / 2] / SLICE_BYTES, (double)p99 / SLICE_BYTES,
	       (double)f.waited[MESSAGES - 1] / SLICE_BYTES);
	assert_true(p99 <= 2 * SLICE_BYTES);
	/* and the other guest was not kept from working */
	assert_true(f.moved > MESSAGES * SLICE_BYTES);
	for (u32 i = 0; i < 2; i++)
		t_hca_fini(&f.h[i]);
	t_hca_fini(&f.from.h);
	t_hca_fini(&f.to.h);
	t_world_fini(&f.w);
	free(f.from.qp);
	free(f.to.qp);
}

static void peer_elsewhere(void **state)
{
	small_beside_huge(true);
}

static void peer_shared(void **state)
{
	small_beside_huge(false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peer_elsewhere),
		cmocka_unit_test(peer_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
