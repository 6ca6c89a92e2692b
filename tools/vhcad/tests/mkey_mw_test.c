// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows: which binds are allowed, who may use a window, and how it ends.
 */
#include <string.h>

#include "tests/tkey.h"

#define LEN		0x3000u
#define IOVA		0x700000345ull
#define REFUSED		VHCA_CS_MW_BIND_ERR
#define BINDABLE	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_MW_BIND)
#define REMOTE		(VHCA_ACCESS_REMOTE_READ | VHCA_ACCESS_REMOTE_WRITE | \
			 VHCA_ACCESS_REMOTE_ATOMIC)

struct fixture {
	struct tpair p;
	struct thca *h;
	struct tqp *qp, qp2;	/* of the same PD */
	struct tmr mr;
	u32 mw1, mw2;
};

static int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_pair_init(&f.p, 5, 1, 2);
	f.h = &f.p.h[1];
	f.qp = &f.p.qp[1];
	t_key_caps(f.h);
	t_qp_init(f.h, &f.qp2, &f.p.cq[1], &f.p.cq[1]);
	t_mr_init(f.h, &f.mr, IOVA, LEN, BINDABLE, 1, 12);
	f.mw1 = t_key(f.h, VHCA_MKEY_MW_1, 0, 0, 0x11);
	f.mw2 = t_key(f.h, VHCA_MKEY_MW_2, 0, 0, 0x22);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_pair_fini(&f->p);
	return 0;
}

static u64 place(const struct fixture *f, u64 off)
{
	off += f->mr.first;
	return f->mr.page[off >> 12] + (off & 4095);
}

static u32 windows(const struct fixture *f, u32 key)
{
	struct vmkey *mk = table_get(&f->h->dev->mkeys, key >> 8);

	return mk->windows;
}

/* Type 1: any QP of the PD, bound repeatedly, to less and to nothing. */
static void type_1(void **state)
{
	struct fixture *f = *state;
	u32 key = f->mw1;

	assert_false(t_grants(f->qp, key, IOVA, 0, MKEY_READ_REMOTE));
	assert_int_equal(t_bind(f->qp, ++key, f->mr.key, IOVA + 5, 0x2000, REMOTE), 0);
	assert_int_equal(windows(f, f->mr.key), 1);
	assert_true(t_grants(f->qp, key, IOVA + 5, 0x2000, REMOTE));
	assert_true(t_grants(&f->qp2, key, IOVA + 5, 0x2000, REMOTE));
	assert_false(t_grants(f->qp, key, IOVA + 5, 0x2001, REMOTE));
	assert_false(t_grants(f->qp, key, IOVA + 4, 1, REMOTE));
	assert_false(t_grants(f->qp, key - 1, IOVA + 5, 1, REMOTE));
	assert_int_equal(t_where(f->qp, key, IOVA + 6, 1, REMOTE), place(f, 6));
	/* the region itself gave the peer nothing */
	assert_false(t_grants(f->qp, f->mr.key, IOVA, 1, MKEY_READ_REMOTE));

	assert_int_equal(t_bind(&f->qp2, ++key, f->mr.key, IOVA + LEN - 1, 1,
				VHCA_ACCESS_REMOTE_READ), 0);
	assert_int_equal(windows(f, f->mr.key), 1);
	assert_int_equal(t_where(f->qp, key, IOVA + LEN - 1, 1, MKEY_READ_REMOTE),
			 place(f, LEN - 1));
	assert_false(t_grants(f->qp, key, IOVA + LEN - 1, 1, MKEY_WRITE_REMOTE));
	assert_false(t_grants(f->qp, key - 1, IOVA + 5, 1, MKEY_READ_REMOTE));

	/* with any region key, as it is not checked */
	assert_int_equal(t_bind(f->qp, ++key, 0xffffffff, 0, 0, REMOTE), 0);
	assert_int_equal(windows(f, f->mr.key), 0);
	assert_false(t_grants(f->qp, key, IOVA, 0, MKEY_READ_REMOTE));
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), key, false), VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(t_bind(f->qp, ++key, f->mr.key, IOVA, LEN, REMOTE), 0);
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), key, false), VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), key, true), VHCA_CS_REM_INV_REQ_ERR);
	assert_true(t_grants(f->qp, key, IOVA, LEN, REMOTE));
}

/* Type 2: one QP's, bound once, then invalidated by that QP or its peer. */
static void type_2(void **state)
{
	struct fixture *f = *state;
	struct vqp *qp = t_vqp(f->qp), *qp2 = t_vqp(&f->qp2);
	u32 key = f->mw2;

	assert_int_equal(qp_mkey_invalidate(qp, key, false), VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(t_bind(f->qp, key, f->mr.key, IOVA, 0, REMOTE), REFUSED);
	for (u32 i = 0; i < 600; i++) {
		key = (key & ~0xffu) | (i & 0xff);
		assert_int_equal(t_bind(f->qp, key, f->mr.key, IOVA + i, LEN - i, REMOTE), 0);
		assert_int_equal(t_bind(f->qp, key, f->mr.key, IOVA + i, LEN - i, REMOTE), REFUSED);
		assert_int_equal(t_bind(f->qp, key + 1, f->mr.key, IOVA, 1, REMOTE), REFUSED);
		assert_true(t_grants(f->qp, key, IOVA + i, LEN - i, REMOTE));
		assert_false(t_grants(&f->qp2, key, IOVA + i, 1, MKEY_READ_REMOTE));
		assert_int_equal(qp_mkey_invalidate(qp2, key, false), VHCA_CS_LOC_QP_OP_ERR);
		assert_int_equal(qp_mkey_invalidate(qp2, key, true), VHCA_CS_REM_INV_REQ_ERR);
		assert_int_equal(qp_mkey_invalidate(qp, key ^ 1, true), VHCA_CS_REM_INV_REQ_ERR);
		assert_int_equal(windows(f, f->mr.key), 1);
		assert_int_equal(qp_mkey_invalidate(qp, key, i & 1), 0);
		assert_int_equal(windows(f, f->mr.key), 0);
		assert_false(t_grants(f->qp, key, IOVA + i, 1, MKEY_READ_REMOTE));
	}
}

/* Addresses from 0: the peer does not learn where the region is. */
static void zero_based(void **state)
{
	struct fixture *f = *state;
	u8 access = REMOTE | VHCA_ACCESS_ZERO_BASED;

	assert_int_equal(t_bind(f->qp, f->mw1, f->mr.key, IOVA, LEN, access), REFUSED);
	assert_int_equal(t_bind(f->qp, f->mw2, f->mr.key, IOVA + 0x1001, 0x1000, access), 0);
	assert_true(t_grants(f->qp, f->mw2, 0, 0x1000, REMOTE));
	assert_false(t_grants(f->qp, f->mw2, 0, 0x1001, REMOTE));
	assert_false(t_grants(f->qp, f->mw2, 0x1000, 1, REMOTE));
	assert_false(t_grants(f->qp, f->mw2, IOVA + 0x1001, 1, REMOTE));
	assert_int_equal(t_where(f->qp, f->mw2, 0, 1, REMOTE), place(f, 0x1001));
	assert_int_equal(t_where(f->qp, f->mw2, 0xfff, 1, REMOTE), place(f, 0x2000));
}

/* The kind of the region determines how a window translates. */
static void other_regions(void **state)
{
	struct fixture *f = *state;
	struct vhca_create_mkey_req req = {
		.pdn = htole32(f->h->pd), .access = htole32(BINDABLE),
		.type = VHCA_MKEY_PHYSICAL,
	};
	u32 phys = t_create(f->h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req)), sg_key;
	u64 list = t_alloc(f->h, 4096), at = f->mr.page[1];
	struct vhca_sg_entry *sg = t_cpu(f->h, list);

	assert_int_equal(t_bind(f->qp, f->mw1, phys, at, 100, REMOTE), 0);
	assert_int_equal(t_where(f->qp, f->mw1, at + 99, 1, REMOTE), at + 99);
	assert_false(t_grants(f->qp, f->mw1, at + 100, 1, REMOTE));
	sg[0] = (struct vhca_sg_entry){ htole64(at + 1), htole64(10) };
	sg[1] = (struct vhca_sg_entry){ htole64(f->mr.page[0]), htole64(30) };
	sg_key = t_key(f->h, VHCA_MKEY_FAST_SG, list, 2, 0);
	assert_int_equal(t_register(f->qp, sg_key, 2, IOVA, 30, BINDABLE, 0), 0);
	assert_int_equal(t_bind(f->qp, f->mw2, sg_key, IOVA + 5, 20,
				REMOTE | VHCA_ACCESS_ZERO_BASED), 0);
	assert_int_equal(t_where(f->qp, f->mw2, 0, 1, REMOTE), at + 6);
	assert_int_equal(t_where(f->qp, f->mw2, 5, 1, REMOTE), f->mr.page[0]);
	assert_int_equal(t_where(f->qp, f->mw2, 19, 1, REMOTE), f->mr.page[0] + 14);
	assert_false(t_grants(f->qp, f->mw2, 20, 1, REMOTE));
}

static void not_bound_so(void **state)
{
	struct fixture *f = *state;
	struct vqp *qp = t_vqp(f->qp);
	struct mkey_scope s = qp_scope(qp);
	struct tmr closed, read_only;
	u32 fast = t_key(f->h, VHCA_MKEY_FAST, f->mr.page[0], 4, 0);
	u32 other, pd = f->h->pd, far_mw, far_mr;
	const struct vhca_wqe_bind good = {
		.key = htole32(f->mw2), .mr_key = htole32(f->mr.key), .addr = htole64(IOVA),
		.length = htole64(LEN), .access = REMOTE,
	};
	struct tmr far;

	t_mr_init(f->h, &closed, IOVA, LEN, T_RW, 0, 12);
	t_mr_init(f->h, &read_only, IOVA, LEN, VHCA_ACCESS_MW_BIND | VHCA_ACCESS_REMOTE_READ, 0,
		  12);
	other = t_key(f->h, VHCA_MKEY_MW_1, 0, 0, 0);
	assert_int_equal(t_bind(f->qp, other, f->mr.key, IOVA, LEN, REMOTE), 0);
	f->h->pd = t_create(f->h, VHCA_CMD_CREATE_PD, NULL, 0);
	t_mr_init(f->h, &far, IOVA, LEN, BINDABLE, 0, 12);
	far_mr = far.key;
	far_mw = t_key(f->h, VHCA_MKEY_MW_2, 0, 0, 0);
	f->h->pd = pd;

	const struct {
		u32 off, size;
		u64 v;
	} c[] = {
#define C(f, v)	{ offsetof(struct vhca_wqe_bind, f), sizeof(good.f), v }
		/* no window, no region, none of this PD, none that may be bound to */
		C(key, 0), C(key, f->mr.key), C(key, fast), C(key, far_mw), C(key, 0xffffff00),
		C(mr_key, 0), C(mr_key, f->mr.key ^ 1), C(mr_key, other), C(mr_key, far_mr),
		C(mr_key, fast), C(mr_key, closed.key), C(mr_key, read_only.key),
		C(addr, IOVA - 1), C(addr, IOVA + 1), C(length, LEN + 1), C(length, UINT64_MAX),
		C(length, 0), C(access, 0x10 | REMOTE), C(access, VHCA_ACCESS_LOCAL_WRITE),
		C(access, VHCA_ACCESS_FLUSH_GLOBAL), C(rsvd[0], 1), C(rsvd[6], 1),
	};

	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct vhca_wqe_bind bind = good;
		u64 v = htole64(c[i].v);

		memcpy((u8 *)&bind + c[i].off, &v, c[i].size);
		if (mkey_bind(&s, &qp->keys, &bind) != REFUSED)
			fail_msg("case %u", i);
		assert_int_equal(windows(f, f->mr.key), 1);
	}
	/* reading alone needs no right to write */
	assert_int_equal(t_bind(f->qp, f->mw1, read_only.key, IOVA, LEN, VHCA_ACCESS_REMOTE_READ),
			 0);
	assert_int_equal(mkey_bind(&s, &qp->keys, &good), 0);
	/* a window that is refused another region keeps the one it has */
	assert_int_equal(t_bind(f->qp, f->mw1 ^ 1, closed.key, IOVA, LEN, REMOTE), REFUSED);
	assert_true(t_grants(f->qp, f->mw1, IOVA, LEN, MKEY_READ_REMOTE));
}

/* Windows are for the peer: a gather or scatter list cannot use one. */
static void no_local_keys(void **state)
{
	struct fixture *f = *state;
	struct vqp *qp = t_vqp(f->qp);
	const struct sge sge = { IOVA, 1, f->mw1 };
	const struct sglist local = { &sge, 1, MKEY_READ_LOCAL, qp_local_scope(qp, qp->pd) };
	struct dma_seg seg;
	struct twr wr;
	struct tmr r;
	u32 nseg;

	assert_int_equal(t_bind(f->qp, f->mw1, f->mr.key, IOVA, LEN, REMOTE), 0);
	assert_false(sgl_check(&local));
	assert_int_equal(sgl_map(&local, 0, 1, &seg, &nseg, 1), 0);
	t_mr_init(&f->p.h[0], &r, 0, 4096, T_RW, 0, 12);
	wr = t_wr(VHCA_OP_WRITE, 1, NULL, 0, 0, &r, 0);
	wr.nsge = 1;
	wr.sge[0] = (struct vhca_sge){ IOVA, 100, f->mw1 };
	t_send(f->qp, &wr);
	t_expect_cqe(&f->p.cq[1], 1, VHCA_CS_LOC_PROT_ERR);
}

/* The peer's operations go through a window as through a region. */
static void used(void **state)
{
	struct fixture *f = *state;
	struct tmr l;
	struct twr wr;

	t_mr_init(&f->p.h[0], &l, 0, LEN, T_RW, 0, 12);
	t_mr_fill(&l, 3);
	t_mr_fill(&f->mr, 4);
	assert_int_equal(t_bind(f->qp, f->mw2, f->mr.key, IOVA + 7, 0x2000,
				REMOTE | VHCA_ACCESS_ZERO_BASED), 0);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, 0x2000, NULL, 0);
	wr.rkey = f->mw2;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&f->mr, 0, 7, 4, 0);
	t_mr_expect(&f->mr, 7, 0x2000, 3, 0);
	t_mr_expect(&f->mr, 0x2007, LEN - 0x2007, 4, 0x2007);
	wr = t_wr(VHCA_OP_READ, 2, &l, 0x2000, 100, NULL, 0);
	wr.raddr = 50;
	wr.rkey = f->mw2;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 2, VHCA_CS_SUCCESS);
	t_mr_expect(&l, 0x2000, 100, 3, 50);
	wr.wr_id = 3;
	wr.raddr = 0x2000 - 99;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 3, VHCA_CS_REM_ACCESS_ERR);
}

static void atomics(void **state)
{
	struct fixture *f = *state;
	struct matomic op = { .opcode = VHCA_OP_FETCH_ADD, .swap_add = 5 };
	struct mkey_scope s = qp_scope(t_vqp(f->qp));
	u64 at = (IOVA + 8) & ~7ull, old, *w = t_cpu(f->h, place(f, at - IOVA));

	*w = 37;
	assert_int_equal(t_bind(f->qp, f->mw1, f->mr.key, IOVA, LEN, VHCA_ACCESS_REMOTE_ATOMIC),
			 0);
	assert_int_equal(mkey_atomic(&s, f->mw1, at, &op, &old), 0);
	assert_int_equal(old, 37);
	assert_int_equal(*w, 42);
	op.opcode = VHCA_OP_ATOMIC_WRITE;
	assert_int_equal(mkey_atomic(&s, f->mw1, at, &op, &old), VHCA_CS_REM_ACCESS_ERR);
	assert_int_equal(*w, 42);
}

/* A region cannot be changed, invalidated or destroyed while windows are bound to it. */
static void region_busy(void **state)
{
	struct fixture *f = *state;
	struct vhca_modify_mkey_req mod = {
		.key = htole32(f->mr.key), .mask = htole32(VHCA_MKEY_MOD_ACCESS),
	};
	u64 list = t_alloc(f->h, 4096);
	u32 fast;

	*(__le64 *)t_cpu(f->h, list) = htole64(f->mr.page[0]);
	fast = t_key(f->h, VHCA_MKEY_FAST, list, 1, 0);
	assert_int_equal(t_register(f->qp, fast, 1, 0, 4096, BINDABLE | T_RW, 12), 0);
	assert_int_equal(t_bind(f->qp, f->mw1, f->mr.key, IOVA, LEN, REMOTE), 0);
	assert_int_equal(t_bind(f->qp, f->mw2, fast, 8, 100, REMOTE), 0);
	assert_int_equal(t_where(f->qp, f->mw2, 9, 1, REMOTE), f->mr.page[0] + 9);

	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, f->mr.key), VHCA_ST_BUSY);
	assert_int_equal(t_admin(f->h, VHCA_CMD_MODIFY_MKEY, &mod, sizeof(mod), NULL),
			 VHCA_ST_BUSY);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, fast), VHCA_ST_BUSY);
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), fast, false), VHCA_CS_LOC_QP_OP_ERR);
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), fast, true), VHCA_CS_REM_INV_REQ_ERR);

	/* bound to another region, the first is free; after its destruction, the second */
	assert_int_equal(t_bind(f->qp, f->mw1, fast, 8, 100, REMOTE), 0);
	assert_int_equal(windows(f, fast), 2);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, f->mr.key), VHCA_ST_OK);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, f->mw1), VHCA_ST_OK);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, f->mw2), VHCA_ST_OK);
	assert_int_equal(windows(f, fast), 0);
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), fast, true), 0);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, fast), VHCA_ST_OK);
}

/* Destroying a QP frees its windows of type 2; those of type 1 stay. */
static void qp_goes(void **state)
{
	struct fixture *f = *state;
	u32 third = t_key(f->h, VHCA_MKEY_MW_2, 0, 0, 0);

	assert_int_equal(t_bind(&f->qp2, f->mw1, f->mr.key, IOVA, LEN, REMOTE), 0);
	assert_int_equal(t_bind(&f->qp2, f->mw2, f->mr.key, IOVA, LEN, REMOTE), 0);
	assert_int_equal(t_bind(&f->qp2, third, f->mr.key, IOVA, LEN, REMOTE), 0);
	assert_int_equal(windows(f, f->mr.key), 3);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_MKEY, third), VHCA_ST_OK);
	assert_int_equal(t_destroy(f->h, VHCA_CMD_DESTROY_QP, f->qp2.qpn), VHCA_ST_OK);
	assert_int_equal(windows(f, f->mr.key), 1);
	assert_true(t_grants(f->qp, f->mw1, IOVA, LEN, REMOTE));
	assert_false(t_grants(f->qp, f->mw2, IOVA, 1, MKEY_READ_REMOTE));
	assert_int_equal(t_bind(f->qp, f->mw2 ^ 3, f->mr.key, IOVA, LEN, REMOTE), 0);
	assert_true(t_grants(f->qp, f->mw2 ^ 3, IOVA, LEN, REMOTE));
	/* the device is freed with windows bound: cleanup, under the sanitizer */
}

/* Arguments of CREATE_MKEY for a window, and the capabilities that it needs. */
static void made_so(void **state)
{
	struct fixture *f = *state;
	const struct vhca_create_mkey_req good = {
		.pdn = htole32(f->h->pd), .type = VHCA_MKEY_MW_2, .variant = 5,
	};
	const struct {
		u32 off, size;
	} c[] = {
#undef C
#define C(f)	{ offsetof(struct vhca_create_mkey_req, f), sizeof(good.f) }
		C(access), C(iova), C(length), C(buf.addr), C(buf.npages), C(buf.levels),
		C(buf.page_shift), C(buf.rsvd[1]), C(rsvd[0]),
	};
	static const struct {
		u8 type;
		u64 caps;
		bool ok;
	} k[] = {
#define CAP(c)	(1ull << VHCA_CAP_##c)
		{ VHCA_MKEY_MW_1, 0, false }, { VHCA_MKEY_MW_1, CAP(MW), true },
		{ VHCA_MKEY_MW_1, CAP(MW_2A) | CAP(MW_2B), false },
		{ VHCA_MKEY_MW_2, CAP(MW), false }, { VHCA_MKEY_MW_2, CAP(MW_2A), true },
		{ VHCA_MKEY_MW_2, CAP(MW_2B), true }, { VHCA_MKEY_FAST, CAP(SG_GAPS), false },
		{ VHCA_MKEY_FAST_SG, CAP(FAST_REG), false },
		{ VHCA_MKEY_FMR, ~CAP(FMR), false },
	};

	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct vhca_create_mkey_req req = good;
		u32 field = offsetof(struct vhca_asqe, req) + c[i].off;

		((u8 *)&req)[c[i].off] = 1;
		assert_int_equal(t_admin(f->h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req), NULL),
				 VHCA_ST_BAD_FIELD);
		assert_int_equal(f->h->bad_field, field);
	}
	assert_int_equal(t_create(f->h, VHCA_CMD_CREATE_MKEY, &good, sizeof(good)) & 0xff, 5);
	for (u32 i = 0; i < ARRAY_SIZE(k); i++) {
		struct vhca_create_mkey_req req = good;
		u32 st;

		req.type = k[i].type;
		f->h->dev->caps = k[i].caps;
		st = t_admin(f->h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req), NULL);
		if (st != (k[i].ok ? VHCA_ST_OK : VHCA_ST_UNSUPPORTED))
			fail_msg("case %u: %u", i, st);
	}
}

#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(type_1), TEST(type_2), TEST(zero_based), TEST(other_regions),
		TEST(not_bound_so), TEST(no_local_keys), TEST(used), TEST(atomics),
		TEST(region_busy), TEST(qp_goes), TEST(made_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
