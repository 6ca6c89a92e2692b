// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys that the send queue registers: their lists, registration and invalidation, and refusals.
 */
#include <string.h>

#include "tests/spoil.h"
#include "tests/tkey.h"
#include "tests/trandom.h"

#define PAGES	40u
#define SIZE	4096u
#define PIECES	300u
#define REQ(f)	(offsetof(struct vhca_asqe, req) + offsetof(struct vhca_create_mkey_req, f))

#define REFUSED		VHCA_CS_LOC_QP_OP_ERR

struct fixture {
	struct tpair p;
	struct thca *h;		/* the one whose keys they are */
	struct tqp *qp;
	u64 page[PAGES];
	u64 list;
	u64 sg;
	u32 key;		/* FAST, of all pages */
	u32 sg_key;		/* FAST_SG, of PIECES entries */
};

static u64 rng = 88172645463325252ull;

static u32 any(u32 below)
{
	return (t_random(&rng) >> 16) % below;
}

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_pair_init(&f.p, 5, 1, 2);
	f.h = &f.p.h[1];
	f.qp = &f.p.qp[1];
	t_key_caps(f.h);
	f.list = t_alloc(f.h, SIZE);
	f.sg = t_alloc(f.h, PIECES * sizeof(struct vhca_sg_entry));
	for (u32 i = PAGES; i--; ) {
		f.page[i] = t_alloc(f.h, SIZE);
		((__le64 *)t_cpu(f.h, f.list))[i] = htole64(f.page[i]);
	}
	f.key = t_key(f.h, VHCA_MKEY_FAST, f.list, PAGES, 0x11);
	f.sg_key = t_key(f.h, VHCA_MKEY_FAST_SG, f.sg, PIECES, 0x22);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_pair_fini(&f->p);
	return 0;
}

static void piece(struct fixture *f, u32 i, u64 addr, u64 end)
{
	struct vhca_sg_entry *e = t_cpu(f->h, f->sg);

	e[i] = (struct vhca_sg_entry){ htole64(addr), htole64(end) };
}

/* A key is not valid before it is registered, nor after it was invalidated. */
static void life(void **state)
{
	struct fixture *f = *state;
	u64 iova = 0x7654321000ull + 0x123;
	struct tmr l;
	struct twr wr;

	assert_int_equal(f->key & 0xff, 0x11);
	assert_false(t_grants(f->qp, f->key, 0, 1, MKEY_READ_REMOTE));
	assert_false(t_grants(f->qp, f->key, 0, 0, MKEY_READ_REMOTE));
	assert_int_equal(t_register(f->qp, f->key, 3, iova, 2 * SIZE, T_RW, 12), 0);
	assert_true(t_grants(f->qp, f->key, iova, 2 * SIZE, T_RW));
	assert_true(t_grants(f->qp, f->key, 5, 0, MKEY_READ_REMOTE));
	assert_false(t_grants(f->qp, f->key, iova, 2 * SIZE + 1, T_RW));
	assert_false(t_grants(f->qp, f->key, iova - 1, 1, T_RW));
	assert_int_equal(t_where(f->qp, f->key, iova, 1, T_RW), f->page[0] + 0x123);
	assert_int_equal(t_where(f->qp, f->key, iova + SIZE, 1, T_RW), f->page[1] + 0x123);

	t_mr_init(&f->p.h[0], &l, 0, 2 * SIZE, T_RW, 0, 12);
	t_mr_fill(&l, 5);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, 2 * SIZE, NULL, 0);
	wr.raddr = iova;
	wr.rkey = f->key;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
	for (u32 i = 0; i < 2 * SIZE; i++)
		assert_int_equal(*(u8 *)t_cpu(f->h, f->page[(i + 0x123) / SIZE] +
					      (i + 0x123) % SIZE), t_pattern(5, i));

	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), f->key, false), 0);
	assert_false(t_grants(f->qp, f->key, iova, 1, MKEY_READ_REMOTE));
	wr.wr_id = 2;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 2, VHCA_CS_REM_ACCESS_ERR);
	/* its owner may invalidate it twice; the peer may not */
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), f->key, false), 0);
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), f->key, true), VHCA_CS_REM_INV_REQ_ERR);
}

/* Each registration has a variant of its own; all others are stale, also after a wrap. */
static void variants(void **state)
{
	struct fixture *f = *state;
	u32 index = f->key & ~0xffu;

	for (u32 i = 0; i < 600; i++) {
		u32 key = index | (i & 0xff), old = index | ((i - 1) & 0xff);

		assert_int_equal(t_register(f->qp, key, 1, i, 1, T_RW, 12), 0);
		/* a valid key is not registered again */
		assert_int_equal(t_register(f->qp, key, 1, i, 1, T_RW, 12), REFUSED);
		assert_int_equal(t_register(f->qp, old, 1, i, 1, T_RW, 12), REFUSED);
		for (u32 v = 0; v < 256; v++)
			assert_int_equal(t_grants(f->qp, index | v, i, 1, T_RW), v == (i & 0xff));
		assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), old, false), REFUSED);
		assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), old, true),
				 VHCA_CS_REM_INV_REQ_ERR);
		assert_true(t_grants(f->qp, key, i, 1, T_RW));
		assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), key, i & 1), 0);
	}
	/* commands know it by its index */
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, index), VHCA_ST_OK);
	assert_int_equal(t_register(f->qp, index, 1, 0, 1, T_RW, 12), REFUSED);
}

static void not_registered_so(void **state)
{
	struct fixture *f = *state;
	const struct vhca_wqe_reg good = {
		.key = htole32(f->key), .entries = htole32(2), .iova = htole64(0x1800),
		.length = htole64(0x1800), .access = T_RW, .page_shift = 12,
	};
	struct vhca_wqe_reg sg = good;
	const struct {
		u32 off, size;
		u64 v;
	} c[] = {
#define C(f, v)	{ offsetof(struct vhca_wqe_reg, f), sizeof(good.f), v }
		C(key, 0), C(key, f->key + 0x10000), C(entries, 0), C(entries, 1),
		C(entries, PAGES + 1), C(length, 0), C(length, 0x1801), C(iova, 0x1801),
		C(iova, UINT64_MAX - 0x7ff), C(access, VHCA_ACCESS_REMOTE_WRITE),
		C(access, VHCA_ACCESS_REMOTE_ATOMIC), C(access, VHCA_ACCESS_ZERO_BASED),
		C(access, VHCA_ACCESS_FLUSH_GLOBAL), C(page_shift, 11), C(page_shift, 31),
		C(page_shift, 0), C(rsvd[0], 1), C(rsvd[5], 1),
	};
	struct mkey_scope s = qp_scope(t_vqp(f->qp));

	f->h->dev->caps &= ~(1ull << VHCA_CAP_FLUSH);
	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct vhca_wqe_reg reg = good;
		u64 v = htole64(c[i].v);

		memcpy((u8 *)&reg + c[i].off, &v, c[i].size);
		if (mkey_register(&s, &reg) != REFUSED)
			fail_msg("case %u", i);
		assert_false(t_grants(f->qp, f->key, 0x1800, 1, MKEY_READ_REMOTE));
	}
	assert_int_equal(mkey_register(&s, &good), 0);

	/* pieces: as many bytes as there are behind the last entry, no page size */
	sg.key = htole32(f->sg_key);
	sg.page_shift = 0;
	piece(f, 1, f->page[0], 0x17ff);
	assert_int_equal(mkey_register(&s, &sg), REFUSED);
	piece(f, 1, f->page[0], 0x1800);
	sg.page_shift = 12;
	assert_int_equal(mkey_register(&s, &sg), REFUSED);
	sg.page_shift = 0;
	assert_int_equal(mkey_register(&s, &sg), 0);
}

/* A QP cannot use keys of another PD. */
static void another_pd(void **state)
{
	struct fixture *f = *state;
	u32 pd = f->h->pd, key;

	f->h->pd = t_create(f->h, VHCA_CMD_CREATE_PD, NULL, 0);
	key = t_key(f->h, VHCA_MKEY_FAST, f->list, PAGES, 1);
	assert_int_equal(t_register(f->qp, key, 1, 0, 1, T_RW, 12), REFUSED);
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), key, false), REFUSED);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_PD, f->h->pd), VHCA_ST_BUSY);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, key), VHCA_ST_OK);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_PD, f->h->pd), VHCA_ST_OK);
	f->h->pd = pd;
}

/* Rights that a registration may not ask for, and who may invalidate. */
static void rights(void **state)
{
	struct fixture *f = *state;
	struct vqp *qp = t_vqp(f->qp);
	struct tmr plain;

	assert_int_equal(t_register(f->qp, f->key, 1, 0, SIZE, VHCA_ACCESS_REMOTE_READ, 12), 0);
	assert_true(t_grants(f->qp, f->key, 0, SIZE, MKEY_READ_REMOTE));
	assert_false(t_grants(f->qp, f->key, 0, SIZE, MKEY_WRITE_REMOTE));
	assert_false(t_grants(f->qp, f->key, 0, SIZE, MKEY_ATOMIC_REMOTE));
	assert_int_equal(qp_mkey_invalidate(qp, f->key, true), 0);
	/* the peer cannot invalidate a key that it cannot use */
	assert_int_equal(t_register(f->qp, f->key, 1, 0, SIZE, VHCA_ACCESS_LOCAL_WRITE, 12), 0);
	assert_int_equal(qp_mkey_invalidate(qp, f->key, true), VHCA_CS_REM_INV_REQ_ERR);
	assert_int_equal(qp_mkey_invalidate(qp, f->key, false), 0);
	/* nor can a region that was made by a command be invalidated this way */
	t_mr_init(f->h, &plain, 0, SIZE, T_RW, 0, 12);
	assert_int_equal(qp_mkey_invalidate(qp, plain.key, false), REFUSED);
	assert_int_equal(qp_mkey_invalidate(qp, plain.key, true), VHCA_CS_REM_INV_REQ_ERR);
	assert_int_equal(t_register(f->qp, plain.key, 1, 0, SIZE, T_RW, 12), REFUSED);
	assert_true(t_grants(f->qp, plain.key, 0, SIZE, T_RW));
	assert_int_equal(qp_mkey_invalidate(qp, 0xffffff00, false), REFUSED);
}

/* Any part of a list of pieces against a model that knows each byte's place. */
static void pieces(void **state)
{
	static u64 place[PIECES * 600];
	struct fixture *f = *state;
	struct vqp *qp = t_vqp(f->qp);

	for (u32 round = 0; round < 300; round++) {
		u32 n = 1 + any(PIECES), all = 0;
		u64 iova = any(3) ? any(1000000) : UINT64_MAX - 500000;
		u32 next = 0;

		for (u32 i = 0; i < n; i++) {
			/* some are empty, some are neighbours */
			u32 len = any(5) ? 1 + any(any(2) ? 600 : 10) : 0;
			u64 at = all && any(3) == 0 ? place[all - 1] + 1 : 0x1000000ull * any(5000);

			for (u32 k = 0; k < len; k++)
				place[all++] = at + k;
			piece(f, i, at, all);
		}
		if (!all)
			continue;
		assert_int_equal(t_register(f->qp, f->sg_key, n, iova, all, T_RW, 0), 0);
		for (u32 k = 0; k < 50; k++) {
			/* anywhere, or behind the part before, as packets are */
			u32 off = next < all && any(2) ? next : any(all);
			u32 len = 1 + any(all - off), nseg, at = off;
			u32 max = 1 + any(PAYLOAD_SEGS);
			const struct sge sge = { iova + off, len, f->sg_key };
			const struct sglist l = { &sge, 1, MKEY_WRITE_REMOTE, qp_scope(qp) };
			struct dma_seg seg[PAYLOAD_SEGS];
			u64 got = sgl_map(&l, 0, len, seg, &nseg, max);

			assert_true(got == len || nseg == max);
			for (u32 s = 0; s < nseg; s++)
				for (u64 b = 0; b < seg[s].len; b++)
					assert_true(seg[s].addr + b == place[at++]);
			assert_int_equal(at, off + got);
			/* no room was left unused */
			if (got < len)
				assert_true(place[at] != place[at - 1] + 1);
			next = at;
		}
		assert_int_equal(qp_mkey_invalidate(qp, f->sg_key, false), 0);
	}
}

/* Invalid lists: nothing outside of the entries' ranges is ever found. */
static void hostile_lists(void **state)
{
	struct fixture *f = *state;
	struct vqp *qp = t_vqp(f->qp);
	const struct vhca_sg_entry *e = t_cpu(f->h, f->sg);
	struct dma_seg seg[PAYLOAD_SEGS];
	struct sge sge = { 0, 3000, f->sg_key };
	const struct sglist l = { &sge, 1, MKEY_WRITE_REMOTE, qp_scope(qp) };
	u32 nseg, whole = 0;

	for (u32 i = 0; i < 3; i++)
		piece(f, i, f->page[i], (i + 1) * 1000);
	assert_int_equal(t_register(f->qp, f->sg_key, 3, 0, 3000, T_RW, 0), 0);
	assert_int_equal(sgl_map(&l, 0, 3000, seg, &nseg, PAYLOAD_SEGS), 3000);
	/* an entry that ends before the one in front of it */
	piece(f, 1, f->page[1], 999);
	assert_int_equal(sgl_map(&l, 0, 3000, seg, &nseg, PAYLOAD_SEGS), 1000);
	/* the last one ends too early */
	piece(f, 1, f->page[1], 2000);
	piece(f, 2, f->page[2], 2001);
	assert_int_equal(sgl_map(&l, 0, 3000, seg, &nseg, PAYLOAD_SEGS), 2001);
	assert_int_equal(sgl_map(&l, 2500, 1, seg, &nseg, PAYLOAD_SEGS), 0);
	/* an address that wraps is not mapped */
	piece(f, 0, UINT64_MAX - 10, 1000);
	assert_int_equal(sgl_map(&l, 0, 1000, seg, &nseg, PAYLOAD_SEGS), 1000);
	assert_int_not_equal(gmem_check(f->h->mem, seg[0].addr, seg[0].len, true), 0);
	assert_int_equal(qp_mkey_invalidate(qp, f->sg_key, false), 0);

	for (u32 round = 0; round < 20000; round++) {
		u32 n = 1 + any(20), off = any(3000), len = 1 + any(3000 - off);
		u64 got, sum = 0;

		for (u32 i = 0; i < n; i++)
			piece(f, i, 0x10000ull * (i + 1), any(8) ? 150 * i + any(400) :
			      UINT64_MAX - any(3));
		piece(f, n - 1, 0x10000ull * n, 3000);
		assert_int_equal(t_register(f->qp, f->sg_key, n, 0, 3000, T_RW, 0), 0);
		got = sgl_map(&l, off, len, seg, &nseg, PAYLOAD_SEGS);
		assert_true(got <= len);
		for (u32 s = 0; s < nseg; s++) {
			u32 i = seg[s].addr / 0x10000 - 1;

			assert_true(i < n);
			assert_true((seg[s].addr & 0xffff) + seg[s].len <= le64toh(e[i].end));
			sum += seg[s].len;
		}
		assert_int_equal(sum, got);
		whole += got == len;
		assert_int_equal(qp_mkey_invalidate(qp, f->sg_key, false), 0);
	}
	assert_true(whole > 500);
}

/*
 * A walk goes on in the entry where the last one has ended, or behind it: an end that a search
 * looks at, and a walk does not, leads the search away.
 */
static void goes_on(void **state)
{
	struct fixture *f = *state;
	struct dma_seg seg[PAYLOAD_SEGS];
	const struct sge sge = { 0, 400, f->sg_key };
	const struct sglist l = { &sge, 1, MKEY_WRITE_REMOTE, qp_scope(t_vqp(f->qp)) };
	u32 nseg;

	for (u32 i = 0; i < 4; i++)
		piece(f, i, 0x10000ull * (i + 1), (i + 1) * 100);
	assert_int_equal(t_register(f->qp, f->sg_key, 4, 0, 400, T_RW, 0), 0);
	assert_int_equal(sgl_map(&l, 0, 130, seg, &nseg, PAYLOAD_SEGS), 130);
	piece(f, 2, 0x30000, 10);
	assert_int_equal(sgl_map(&l, 130, 20, seg, &nseg, PAYLOAD_SEGS), 20);
	assert_int_equal(seg[0].addr, 0x20000 + 30);
	assert_int_equal(sgl_map(&l, 150, 50, seg, &nseg, PAYLOAD_SEGS), 50);
	assert_int_equal(seg[0].addr, 0x20000 + 50);
	/* at the end of an entry the next one is due */
	piece(f, 2, 0x30000, 300);
	piece(f, 1, 0x20000, 200);
	assert_int_equal(f->h->dev->adapter.worker->next_piece, 2);
	assert_int_equal(sgl_map(&l, 200, 200, seg, &nseg, PAYLOAD_SEGS), 200);
	assert_int_equal(seg[0].addr, 0x30000);
	assert_int_equal(nseg, 2);
}

/* Packets of more pieces than a run can hold: sent, answered, and received. */
static void too_many_pieces(void **state)
{
	struct fixture *f = *state;
	u32 len = PIECES * 30 - 7;
	struct vhca_sge sge;
	struct tmr r;
	struct twr wr;

	t_mr_init(&f->p.h[0], &r, 0, len, T_RW, 0, 12);
	for (u32 i = 0; i < PIECES; i++)
		piece(f, i, f->page[i % PAGES] + i / PAGES * 64 + i % 3, (i + 1) * 30);
	assert_int_equal(t_register(f->qp, f->sg_key, PIECES, 0, PIECES * 30, T_RW, 0), 0);
	for (u32 i = 0; i < PIECES; i++)
		for (u32 k = 0; k < 30; k++)
			*(u8 *)t_cpu(f->h, f->page[i % PAGES] + i / PAGES * 64 + i % 3 + k) =
				t_pattern(5, i * 30 + k);
	sge = t_sge(&r, 0, len);
	t_recv(&f->p.qp[0], 1, 1, &sge);
	wr = (struct twr){ .opcode = VHCA_OP_SEND, .wr_id = 2, .nsge = 1,
			   .sge[0] = { 7, len, f->sg_key } };
	t_send(f->qp, &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
	t_expect_cqe(&f->p.cq[1], 2, VHCA_CS_SUCCESS);
	t_mr_expect(&r, 0, len, 5, 7);

	t_mr_fill(&r, 6);
	wr = t_wr(VHCA_OP_READ, 3, &r, 0, len, NULL, 0);
	wr.rkey = f->sg_key;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 3, VHCA_CS_SUCCESS);
	t_mr_expect(&r, 0, len, 5, 0);

	t_mr_fill(&r, 7);
	wr = t_wr(VHCA_OP_WRITE, 4, &r, 0, len, NULL, 0);
	wr.rkey = f->sg_key;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 4, VHCA_CS_SUCCESS);
	for (u32 b = 0; b < len; b++)
		assert_int_equal(*(u8 *)t_cpu(f->h, f->page[b / 30 % PAGES] + b / 30 / PAGES * 64 +
					      b / 30 % 3 + b % 30), t_pattern(7, b));

	/* one of them is not mapped: packets before it arrive, no others */
	piece(f, 200, 4096, 201 * 30);
	t_mr_fill(&r, 8);
	wr = t_wr(VHCA_OP_READ, 5, &r, 0, len, NULL, 0);
	wr.rkey = f->sg_key;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 5, VHCA_CS_REM_ACCESS_ERR);
	t_mr_expect(&r, 0, 4096, 7, 0);
	t_mr_expect(&r, 4096, len - 4096, 8, 4096);
}

/*
 * Memory in very many pieces, so that the packets of a message are not placed in one go.  They are
 * sent again, which is not an error and counts as no retry: the QP has none.
 */
static void pieces_without_retries(void **state)
{
	const u32 n = 3000, each = 10;
	struct fixture *f = *state;
	u64 list = t_alloc(f->h, n * sizeof(struct vhca_sg_entry)), at = t_alloc(f->h, n * 16);
	u32 key = t_key(f->h, VHCA_MKEY_FAST_SG, list, n, 0x33);
	struct vhca_sg_entry *e = t_cpu(f->h, list);
	struct vhca_qp_attr a = { .state = T_SQD };
	struct tmr l;
	struct twr wr;

	assert_int_equal(t_modify(&f->p.qp[0], &a, VHCA_QPA_STATE), VHCA_ST_OK);
	assert_int_equal(t_modify(&f->p.qp[0], &a, VHCA_QPA_RETRY_CNT), VHCA_ST_OK);
	a.state = T_RTS;
	assert_int_equal(t_modify(&f->p.qp[0], &a, VHCA_QPA_STATE), VHCA_ST_OK);
	for (u32 i = 0; i < n; i++)
		e[i] = (struct vhca_sg_entry){ htole64(at + i * 16), htole64((i + 1) * each) };
	assert_int_equal(t_register(f->qp, key, n, 0, n * each, T_RW, 0), 0);
	t_mr_init(&f->p.h[0], &l, 0, n * each, T_RW, 1, 12);
	t_mr_fill(&l, 5);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, n * each, NULL, 0);
	wr.rkey = key;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
	for (u32 b = 0; b < n * each; b++)
		assert_int_equal(*(u8 *)t_cpu(f->h, at + b / each * 16 + b % each),
				 t_pattern(5, b));
}

/* A list, or memory, that is not mapped any more, or never was. */
static void not_there(void **state)
{
	struct fixture *f = *state;
	u64 end = T_RAM_BASE + f->h->ram_size;
	u32 key = t_key(f->h, VHCA_MKEY_FAST, end, 4, 0);
	u32 sg_key = t_key(f->h, VHCA_MKEY_FAST_SG, end - sizeof(struct vhca_sg_entry), 4, 0);
	struct tmr l;
	struct twr wr;

	assert_int_equal(t_register(f->qp, key, 1, 0, SIZE, T_RW, 12), 0);
	assert_true(t_grants(f->qp, key, 0, SIZE, T_RW));
	assert_int_equal(t_where(f->qp, key, 0, 1, T_RW), UINT64_MAX);
	/* the end of the list gives its length: it must be readable at once */
	assert_int_equal(t_register(f->qp, sg_key, 2, 0, 1, T_RW, 0), REFUSED);
	*(struct vhca_sg_entry *)t_cpu(f->h, end - sizeof(struct vhca_sg_entry)) =
		(struct vhca_sg_entry){ htole64(f->page[0]), htole64(SIZE) };
	assert_int_equal(t_register(f->qp, sg_key, 1, 0, SIZE, T_RW, 0), 0);
	assert_int_equal(t_where(f->qp, sg_key, 7, 1, T_RW), f->page[0] + 7);

	((__le64 *)t_cpu(f->h, f->list))[1] = htole64(end);
	assert_int_equal(t_register(f->qp, f->key, 2, 0, 2 * SIZE, T_RW, 12), 0);
	t_mr_init(&f->p.h[0], &l, 0, 2 * SIZE, T_RW, 0, 12);
	t_mr_fill(&l, 1);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, 2 * SIZE, NULL, 0);
	wr.rkey = f->key;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
}

/* What CREATE_MKEY takes: the list and nothing else. */
static void made_so(void **state)
{
	struct fixture *f = *state;
	const struct vhca_create_mkey_req good = {
		.buf = { .addr = htole64(f->list), .npages = htole32(8), .levels = 1 },
		.pdn = htole32(f->h->pd), .type = VHCA_MKEY_FAST,
	};
	const struct spoilt c[] = {
#undef C
#define C(f, v)	{ F(vhca_create_mkey_req, f), v, VHCA_ST_BAD_FIELD, 0 }
		C(access, 1), C(iova, 1), C(length, 1), C(buf.levels, 0), C(buf.levels, 2),
		C(buf.page_shift, 12), C(buf.offset, 1), C(buf.npages, 0),
		C(buf.npages, VDEV_MAX_REG_ENTRIES + 1), C(buf.addr, 4), C(buf.rsvd[1], 1),
		C(buf.addr, UINT64_MAX - 55), C(rsvd[2], 1),
	};

	spoil_each(f->h, VHCA_CMD_CREATE_MKEY, &good, sizeof(good), c, ARRAY_SIZE(c));
}

/* MODIFY_MKEY is for regions that a command has given their memory. */
static void not_modified(void **state)
{
	struct fixture *f = *state;
	struct vhca_modify_mkey_req req = {
		.key = htole32(f->key), .mask = htole32(VHCA_MKEY_MOD_ACCESS),
	};

	assert_int_equal(t_admin(f->h, VHCA_CMD_MODIFY_MKEY, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_FIELD);
	assert_int_equal(f->h->bad_field, offsetof(struct vhca_asqe, req) +
			 offsetof(struct vhca_modify_mkey_req, key));
}

#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(life), TEST(variants), TEST(not_registered_so), TEST(another_pd),
		TEST(rights), TEST(pieces), TEST(goes_on), TEST(hostile_lists),
		TEST(too_many_pieces), TEST(pieces_without_retries), TEST(not_there), TEST(made_so),
		TEST(not_modified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
