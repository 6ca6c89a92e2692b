// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * R/W contexts of 1 MiB in pages of 4 KiB: the server reads or writes what the client has
 * registered, as a storage target does, in one context or several at a time, with or without MRs
 * (ib_core's force_mr).
 */
#include <linux/slab.h>

#include "kmem.h"

static uint rw_mrs;
module_param(rw_mrs, uint, 0444);
MODULE_PARM_DESC(rw_mrs, "most MRs that R/W contexts have had at a time");

/* A server's transfer: contexts of equal parts of its memory. */
struct transfer {
	struct rdma_rw_ctx ctx[RW_PARTS];
	struct request done[RW_PARTS];
	u32 parts, made;
	enum dma_data_direction dir;
};

static u32 part_pages(const struct transfer *t)
{
	return PAGES / t->parts;
}

static struct scatterlist *part_sg(struct kmem *k, const struct transfer *t, u32 part)
{
	return &k->rw.sg[part * part_pages(t)];
}

static int make_part(struct kmem *k, struct transfer *t, u32 skip, u64 addr, u32 rkey)
{
	u32 part = t->made, pages = part_pages(t);
	int wrs = rdma_rw_ctx_init(&t->ctx[part], k->qp, 1, part_sg(k, t, part), pages, skip,
				   addr + (u64)part * pages * PAGE_SIZE, rkey, t->dir);

	if (wrs < 0)
		return wrs;
	t->made++;
	rw_mrs = max_t(uint, rw_mrs, k->qp->mrs_used);
	return wrs ? 0 : -EINVAL;
}

static void end_parts(struct kmem *k, struct transfer *t)
{
	while (t->made--)
		rdma_rw_ctx_destroy(&t->ctx[t->made], k->qp, 1, part_sg(k, t, t->made),
				    part_pages(t), t->dir);
	t->made = 0;
}

static bool begin(struct kmem *k, struct transfer *t, const struct msg *m,
		  enum dma_data_direction dir)
{
	if (m->parts < 1 || m->parts > RW_PARTS)
		return false;
	t->parts = m->parts;
	t->made = 0;
	t->dir = dir;
	while (t->made < t->parts)
		if (!CHECK(!make_part(k, t, m->offset * sizeof(u32), m->addr, m->rkey))) {
			end_parts(k, t);
			return false;
		}
	return true;
}

/* The word of the client's memory that belongs to word @i of the server's, or -1. */
static int other_word(const struct msg *m, u32 i)
{
	u32 words = PAGES * PAGE_SIZE / sizeof(u32) / m->parts;

	return i % words < m->offset ? -1 : (int)(i - m->offset);
}

static u32 wrong(struct kmem *k, const struct msg *m)
{
	u32 bad = 0;

	for (u32 i = 0; i < PAGES * PAGE_SIZE / sizeof(u32); i++) {
		int other = other_word(m, i);

		bad += k->rw.mem[i] != (other < 0 ? 0 : kmem_word(m->seed, other));
	}
	return bad;
}

/* Reads the client's memory, and reports errors in it in the answer. */
bool kmem_rw_read(struct kmem *k, const struct msg *m)
{
	struct transfer *t = kzalloc(sizeof(*t), GFP_KERNEL);
	bool ok;

	memset(k->rw.mem, 0, PAGES * PAGE_SIZE);
	ok = t && begin(k, t, m, DMA_FROM_DEVICE);
	for (u32 i = 0; ok && i < t->parts; i++) {
		kmem_prepare(&t->done[i]);
		ok = CHECK(!rdma_rw_ctx_post(&t->ctx[i], k->qp, 1, &t->done[i].cqe, NULL));
	}
	for (u32 i = 0; ok && i < t->parts; i++)
		ok = CHECK(kmem_came(&t->done[i]));
	if (ok) {
		end_parts(k, t);
		ok = CHECK(!k->qp->mrs_used);
		k->out->bad = wrong(k, m);
	}
	kfree(t);
	return ok;
}

/* Writes to the client; the last context is chained to the answer, which invalidates the key. */
bool kmem_rw_write(struct kmem *k, const struct msg *m)
{
	struct transfer *t = kzalloc(sizeof(*t), GFP_KERNEL);
	struct ib_sge sge = { k->out_dma, sizeof(*k->out), k->pd->local_dma_lkey };
	struct ib_send_wr answer = {
		.wr_cqe = &k->tx.cqe, .opcode = IB_WR_SEND_WITH_INV, .sg_list = &sge, .num_sge = 1,
		.send_flags = IB_SEND_SIGNALED, .ex.invalidate_rkey = m->rkey,
	};
	bool ok;

	for (u32 i = 0; i < PAGES * PAGE_SIZE / sizeof(u32); i++)
		k->rw.mem[i] = kmem_word(m->seed, i);
	kmem_prepare(&k->tx);
	ok = t && begin(k, t, m, DMA_TO_DEVICE);
	for (u32 i = 0; ok && i < t->parts; i++) {
		bool last = i + 1 == t->parts;

		kmem_prepare(&t->done[i]);
		ok = CHECK(!rdma_rw_ctx_post(&t->ctx[i], k->qp, 1, last ? NULL : &t->done[i].cqe,
					     last ? &answer : NULL));
	}
	for (u32 i = 0; ok && i + 1 < t->parts; i++)
		ok = CHECK(kmem_came(&t->done[i]));
	ok = ok && CHECK(kmem_came(&k->tx));
	if (ok) {
		end_parts(k, t);
		ok = CHECK(!k->qp->mrs_used);
	}
	kfree(t);
	return ok;
}

/* ---- client ---- */

static bool got_back(struct kmem *k, const struct msg *m)
{
	u32 bad = 0;

	for (u32 i = 0; i < PAGES * PAGE_SIZE / sizeof(u32); i++) {
		int other = other_word(m, i);

		if (other >= 0)
			bad += k->own.mem[other] != kmem_word(m->seed, i);
	}
	return !bad;
}

static bool turn(struct kmem *k, enum op ask, u32 parts, u32 offset, u32 seed)
{
	struct msg m = {
		.parts = parts, .offset = offset, .seed = seed,
		.words = PAGES * PAGE_SIZE / sizeof(u32),
	};

	memset(k->own.mem, 0, PAGES * PAGE_SIZE);
	for (u32 i = 0; ask == OP_RW_PUT && i < m.words; i++)
		k->own.mem[i] = kmem_word(seed, i);
	if (!kmem_register(k, k->qp, k->mr, PAGES))
		return false;
	m.rkey = k->mr->rkey;
	m.addr = k->mr->iova;
	*k->out = m;
	return kmem_ask(k, ask) && k->rx.wc.wc_flags & IB_WC_WITH_INVALIDATE &&
	       k->rx.wc.ex.invalidate_rkey == m.rkey && (ask == OP_RW_PUT || got_back(k, &m));
}

/* As many contexts as the QP was created for have MRs, if contexts use MRs; the next has none. */
static void test_exhaustion(struct kmem *k)
{
	u32 most = RW_PARTS * rdma_rw_mr_factor(k->dev, 1, PAGES), n;
	struct rdma_rw_ctx *ctx = kcalloc(most + 1, sizeof(*ctx), GFP_KERNEL);
	int ret = 0;

	if (!CHECK(ctx))
		return;
	for (n = 0; n <= most; n++) {
		ret = rdma_rw_ctx_init(&ctx[n], k->qp, 1, &k->rw.sg[n], 1, 0, 0, 0,
				       DMA_FROM_DEVICE);
		if (ret < 0)
			break;
	}
	rw_mrs = max_t(uint, rw_mrs, k->qp->mrs_used);
	if (k->qp->mrs_used)
		CHECK(n == most && ret == -EAGAIN && k->qp->mrs_used == most);
	else
		CHECK(n == most + 1);
	while (n--)
		rdma_rw_ctx_destroy(&ctx[n], k->qp, 1, &k->rw.sg[n], 1, DMA_FROM_DEVICE);
	CHECK(!k->qp->mrs_used);
#ifdef HAVE_EXT	/* for Linux's own it also logs a warning */
	CHECK(rdma_rw_ctx_init(&ctx[0], k->qp, 1, k->rw.sg, 1, PAGE_SIZE, 0, 0,
			       DMA_FROM_DEVICE) == -EIO);
#endif
	kfree(ctx);
}

void kmem_rw_test(struct kmem *k)
{
	static const u32 parts[] = { 1, 2, RW_PARTS }, offsets[] = { 0, 25, 1023 };

	test_exhaustion(k);
	for (u32 i = 0; i < ARRAY_SIZE(parts) * ARRAY_SIZE(offsets); i++) {
		u32 n = parts[i / ARRAY_SIZE(offsets)], offset = offsets[i % ARRAY_SIZE(offsets)];

		CHECK(turn(k, OP_RW_PUT, n, offset, 100 + i));
		CHECK(turn(k, OP_RW_GET, n, offset, 200 + i));
	}
}

/* ---- load, for draining ---- */

/* Posts contexts that write to the server's memory, and returns how many were posted. */
unsigned int kmem_rw_load(struct kmem *k, struct ib_cqe *cqe, struct rdma_rw_ctx *ctx)
{
	const u32 pages = PAGES / RW_PARTS;
	u32 n;

	for (n = 0; n < RW_PARTS; n++) {
		struct scatterlist *sg = &k->rw.sg[n * pages];

		if (rdma_rw_ctx_init(&ctx[n], k->qp, 1, sg, pages, 0, k->in->addr, k->in->rkey,
				     DMA_TO_DEVICE) < 0)
			break;
		atomic_inc(&k->load_left);
		if (rdma_rw_ctx_post(&ctx[n], k->qp, 1, cqe, NULL)) {
			atomic_dec(&k->load_left);
			rdma_rw_ctx_destroy(&ctx[n], k->qp, 1, sg, pages, DMA_TO_DEVICE);
			break;
		}
	}
	return n;
}

void kmem_rw_unload(struct kmem *k, struct rdma_rw_ctx *ctx, unsigned int n)
{
	const u32 pages = PAGES / RW_PARTS;

	while (n--)
		rdma_rw_ctx_destroy(&ctx[n], k->qp, 1, &k->rw.sg[n * pages], pages,
				    DMA_TO_DEVICE);
	CHECK(!k->qp->mrs_used);
}
