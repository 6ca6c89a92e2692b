// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>

#include "engine/worker.h"
#include "res/uar.h"
#include "tests/tgreedy.h"

#define MGID_LID	0xc001u
#define QKEY		0x1234u
#define RECEIVERS	250u
#define RECEIVES	128u		/* the least number of receives of each */
#define SENDS		16u		/* posted at a time */
#define BIG		4096u
#define DB_PAGES	1024u
#define PIECES		4096u
#define HUGE_LEN	(1ull << 31)
#define HUGE_SHIFT	21u

void tgreedy_qps(struct tgreedy *g, u32 log_sq)
{
	t_qp_init_size(g->h, &g->from, g->cq, g->cq, log_sq, 0, 5, 0);
	t_qp_init_size(g->h, &g->to, g->cq, g->cq, 0, 0, 5, 0);
	t_connect(&g->from, &g->to, 5, 100, 9000);
}

/* Are fewer than @blocks blocks posted that have not begun? */
static bool can_post(const struct tgreedy *g, u32 blocks)
{
	return g->from.sq_prod - t_vqp(&g->from)->req.blk_next < blocks;
}

static void prepare_huge(struct tgreedy *g)
{
	struct vhca_create_mkey_req req = {
		.buf = { .npages = htole32(HUGE_LEN >> HUGE_SHIFT), .page_shift = HUGE_SHIFT,
			 .levels = 1 },
		.length = htole64(HUGE_LEN), .access = htole32(T_RW),
	};
	struct thca *h = g->h;
	__le64 *list;
	u64 page, at;

	h->ram_used = (h->ram_used | ((1u << HUGE_SHIFT) - 1)) + 1;
	page = t_alloc(h, 1u << HUGE_SHIFT);
	at = t_alloc(h, (HUGE_LEN >> HUGE_SHIFT) * sizeof(*list));
	list = t_cpu(h, at);
	for (u32 i = 0; i < HUGE_LEN >> HUGE_SHIFT; i++)
		list[i] = htole64(page);
	req.buf.addr = htole64(at);
	req.pdn = htole32(h->pd);
	g->huge_key = t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	tgreedy_qps(g, 6);
}

static void write_huge(struct tgreedy *g)
{
	struct twr wr = {
		.opcode = VHCA_OP_WRITE, .nsge = 1, .rkey = g->huge_key,
		.sge = { { 0, HUGE_LEN, g->huge_key } },
	};

	if (!can_post(g, 1))
		return;
	t_post(&g->from, &wr);
	t_ring_sq(&g->from);
}

/* QPs with receives of 4 KiB, in a group. */
static void prepare_group(struct tgreedy *g)
{
	struct vhca_mcg_req req = { .mgid = { 0xff, 0x12 }, .mlid = htole16(MGID_LID) };
	struct thca *h = g->h;

	t_mr_init(h, &g->l, 0, 2 * BIG, T_RW, 1, 12);
	t_db_pages(h);
	h->qp_type = VHCA_QPT_UD;
	g->members = calloc(RECEIVERS, sizeof(*g->members));
	g->member = calloc(RECEIVERS, sizeof(struct vqp *));
	assert_non_null(g->members);
	assert_non_null(g->member);
	for (u32 i = 0; i < RECEIVERS; i++) {
		t_qp_init_size(h, &g->members[i], g->cq, g->cq, 0, 8, 5, 0);
		t_ud_up(&g->members[i], QKEY);
		g->member[i] = t_vqp(&g->members[i]);
		req.qpn = htole32(g->members[i].qpn);
		assert_int_equal(t_admin(h, VHCA_CMD_ATTACH_MCG, &req, sizeof(req), NULL),
				 VHCA_ST_OK);
	}
	t_qp_init_size(h, &g->from, g->cq, g->cq, 7, 0, 5, 0);
	t_ud_up(&g->from, QKEY);
}

static void send_to_group(struct tgreedy *g)
{
	struct twr wr = {
		.opcode = VHCA_OP_SEND, .nsge = 1, .sge = { { 0, BIG, g->l.key } },
		.ud = { .av = { .port = 1, .dlid = htole16(MGID_LID), .grh = 1, .hop_limit = 1,
				.dgid = { 0xff, 0x12 } },
			.dqpn = htole32(0xffffff), .qkey = htole32(QKEY) },
	};
	struct vhca_sge sge = t_sge(&g->l, 0, BIG + 40);

	for (u32 i = 0; i < RECEIVERS; i++)
		while (g->members[i].rq_prod - g->member[i]->recv.next < RECEIVES)
			t_recv(&g->members[i], 0, 1, &sge);
	while (can_post(g, 3 * SENDS))
		t_post(&g->from, &wr);
	t_ring_sq(&g->from);
}

/* A doorbell area of the maximum size. */
static void prepare_doorbells(struct tgreedy *g)
{
	struct thca *h = g->h;
	u64 at = t_alloc(h, DB_PAGES * VHCA_DB_PAGE_SIZE);
	struct vhca_open_uar_req open = { .db_page = htole64(at) };

	g->uar = t_create(h, VHCA_CMD_OPEN_UAR, &open, sizeof(open));
	g->pages = t_cpu(h, at);
	for (u32 i = 1; i < DB_PAGES; i++) {
		struct vhca_add_db_page_req req = {
			.uar = htole32(g->uar), .page = htole32(i),
			.db_page = htole64(at + i * VHCA_DB_PAGE_SIZE),
		};

		assert_int_equal(t_admin(h, VHCA_CMD_ADD_DB_PAGE, &req, sizeof(req), NULL),
				 VHCA_ST_OK);
	}
}

static void ring_all(struct tgreedy *g)
{
	for (u32 i = 0; i < VHCA_DB_SUMMARY_WORDS; i++) {
		if (g->pages->summary[i])
			continue;
		for (u32 n = 0; n < 64 * VHCA_DB_NEWS_WORDS; n++)
			__atomic_store_n(&g->pages[64 * i + n / VHCA_DB_NEWS_WORDS]
					 .news[n % VHCA_DB_NEWS_WORDS], ~0ull, __ATOMIC_RELEASE);
		__atomic_store_n(&g->pages->summary[i], ~0ull, __ATOMIC_SEQ_CST);
	}
	if (__atomic_exchange_n(&g->pages->armed, 0, __ATOMIC_SEQ_CST))
		vdev_kick(g->h->dev, g->uar);
}

/* A page of single bytes in reverse order: bytes in sequence would count as one piece. */
static void prepare_bytes(struct tgreedy *g)
{
	struct thca *h = g->h;

	t_key_caps(h);
	tgreedy_qps(g, 8);
	t_mr_init(h, &g->r, 0, BIG, T_RW, 1, 12);
	for (u32 k = 0; k < 2; k++) {
		u64 at = t_alloc(h, BIG * sizeof(struct vhca_sg_entry));
		struct vhca_sg_entry *list = t_cpu(h, at);

		for (u32 i = 0; i < BIG; i++)
			list[i] = (struct vhca_sg_entry){
				.addr = htole64(g->r.page[0] + BIG - 1 - i),
				.end = htole64(i + 1),
			};
		g->list_key[k] = t_key(h, VHCA_MKEY_FAST_SG, at, BIG, k);
		assert_int_equal(t_register(&g->from, g->list_key[k], BIG, 0, BIG, T_RW, 0), 0);
	}
	t_allow(&g->to, VHCA_ACCESS_REMOTE_WRITE);
}

static void write_bytes(struct tgreedy *g)
{
	struct twr wr = {
		.opcode = VHCA_OP_WRITE, .nsge = 1, .sge[0] = { 0, BIG, g->list_key[0] },
		.rkey = g->list_key[1],
	};

	while (can_post(g, SENDS))
		t_post(&g->from, &wr);
	t_ring_sq(&g->from);
}

/* Lists of a byte, many empty pieces, and another byte. */
static void prepare_lists(struct tgreedy *g)
{
	struct thca *h = g->h;

	t_key_caps(h);
	tgreedy_qps(g, 8);
	t_mr_init(h, &g->r, 0, BIG, T_RW, 1, 12);
	for (u32 k = 0; k < GREEDY_LISTS; k++) {
		u64 at = t_alloc(h, PIECES * sizeof(struct vhca_sg_entry));
		struct vhca_sg_entry *list = t_cpu(h, at);

		for (u32 i = 0; i < PIECES; i++)
			list[i] = (struct vhca_sg_entry){
				.addr = htole64(g->r.page[0]),
				.end = htole64(i + 1 < PIECES ? 1 : 2),
			};
		g->list_key[k] = t_key(h, VHCA_MKEY_FAST_SG, at, PIECES, k);
		assert_int_equal(t_register(&g->from, g->list_key[k], PIECES, 0, 2, T_RW, 0), 0);
	}
}

static void write_from_lists(struct tgreedy *g)
{
	struct twr wr = {
		.opcode = VHCA_OP_WRITE, .nsge = GREEDY_LISTS, .raddr = g->r.iova, .rkey = g->r.key,
	};

	for (u32 k = 0; k < GREEDY_LISTS; k++)
		wr.sge[k] = (struct vhca_sge){ 0, 2, g->list_key[k] };
	while (can_post(g, 2 * SENDS))
		t_post(&g->from, &wr);
	t_ring_sq(&g->from);
}

const struct tgreedy_kind tgreedy_huge = { "WRITEs of 2 GiB", prepare_huge, write_huge };

const struct tgreedy_kind tgreedy_sly[3] = {
	{ "doorbells", prepare_doorbells, ring_all },
	{ "multicasts", prepare_group, send_to_group },
	{ "lists of pieces", prepare_lists, write_from_lists },
};

const struct tgreedy_kind tgreedy_pieces = {
	"packets of single bytes", prepare_bytes, write_bytes
};

void tgreedy_end(struct tgreedy *g)
{
	free(g->members);
	free(g->member);
}
