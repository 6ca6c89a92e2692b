// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>

#include "tests/tkey.h"
#include "tests/tscale.h"

#define GUID	0x1000u
#define MTU	5u
#define DB_PAGES 64u		/* two records a QP, 480 a page */

/* The least logarithm of as many. */
static u32 log_of(u32 n)
{
	u32 log = 0;

	while (1u << log < n)
		log++;
	return log;
}

/* A UAR with records for more QPs than usual; what has been made before does not ring any more. */
static void open_large_uar(struct thca *h)
{
	u64 at = t_alloc(h, DB_PAGES * VHCA_DB_PAGE_SIZE);
	const struct vhca_open_uar_req open = { .db_page = htole64(at) };

	h->uar = t_create(h, VHCA_CMD_OPEN_UAR, &open, sizeof(open));
	h->db_iova = at;
	h->db = t_cpu(h, at);
	for (u32 i = 1; i < DB_PAGES; i++) {
		const struct vhca_add_db_page_req req = {
			.uar = htole32(h->uar), .page = htole32(i),
			.db_page = htole64(at + i * VHCA_DB_PAGE_SIZE),
		};

		assert_int_equal(t_admin(h, VHCA_CMD_ADD_DB_PAGE, &req, sizeof(req), NULL),
				 VHCA_ST_OK);
	}
}

static void init_end(struct tscale_pair *p, struct tworld *w, u32 end, u64 guid)
{
	struct thca *h = &p->h[end];

	t_hca_init(h, w, guid);
	open_large_uar(h);
	t_cq_init(h, &p->cq[end], log_of(p->n), 0);
	t_srq_init(h, &p->srq[end], 0, 5);
	t_mr_init(h, &p->mr[end], 0, (u64)p->n * TSCALE_BYTES, T_RW, 1, 12);
	t_mr_fill(&p->mr[end], end);
	p->qp[end] = calloc(p->n, sizeof(*p->qp[end]));
	assert_non_null(p->qp[end]);
	for (u32 i = 0; i < p->n; i++)
		t_qp_init_srq_size(h, &p->qp[end][i], &p->cq[end], &p->cq[end], &p->srq[end],
				   TSCALE_LOG_SQ, VHCA_QP_SIGNAL_ALL);
}

void tscale_init(struct tscale *s, u32 qps)
{
	s->connections = qps / 2;
	t_world_init(&s->w);
	for (u32 i = 0; i < TSCALE_PAIRS; i++) {
		struct tscale_pair *p = &s->pair[i];

		p->n = (s->connections + TSCALE_PAIRS - 1 - i) / TSCALE_PAIRS;
		for (u32 end = 0; end < 2; end++)
			init_end(p, &s->w, end, (2 * i + end + 1) * GUID);
		for (u32 k = 0; k < p->n; k++)
			t_connect(&p->qp[0][k], &p->qp[1][k], MTU, 100, 9000);
	}
}

void tscale_fini(struct tscale *s)
{
	for (u32 i = 0; i < TSCALE_PAIRS; i++)
		for (u32 end = 0; end < 2; end++) {
			t_hca_fini(&s->pair[i].h[end]);
			free(s->pair[i].qp[end]);
		}
	t_world_fini(&s->w);
}

void tscale_write(struct tscale *s, u32 n, u32 end)
{
	struct tscale_pair *p = &s->pair[n % TSCALE_PAIRS];
	u32 k = n / TSCALE_PAIRS, off = k * TSCALE_BYTES;
	struct twr wr = t_wr(VHCA_OP_WRITE, n, &p->mr[end], off, TSCALE_BYTES, &p->mr[!end], off);

	t_post(&p->qp[end][k], &wr);
	t_ring_sq(&p->qp[end][k]);
}

bool tscale_take(struct tscale *s, u32 *n)
{
	struct vhca_cqe e;

	for (u32 i = 0; i < TSCALE_PAIRS; i++)
		for (u32 end = 0; end < 2; end++)
			if (t_cq_poll(&s->pair[i].cq[end], &e)) {
				assert_int_equal(e.status, VHCA_CS_SUCCESS);
				*n = le64toh(e.wr_id);
				return true;
			}
	return false;
}
