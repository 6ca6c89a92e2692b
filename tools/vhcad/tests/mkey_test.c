// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory keys: commands, levels, page sizes, bounds, modification.
 */
#include <string.h>

#include "qp/qp.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define REQ_OFF(f)	(offsetof(struct vhca_asqe, req) + offsetof(struct vhca_create_mkey_req, f))

struct fixture {
	struct tpair p;
};

static int setup(void **state)
{
	static struct fixture f;

	t_pair_init(&f.p, 5, 1, 2);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_pair_fini(&f->p);
	return 0;
}

/* Every level and page size, odd offsets and lengths across page borders. */
static void levels_and_page_sizes(void **state)
{
	static const struct {
		u32 levels, shift;
		u64 len;
	} c[] = {
		{ 0, 12, 1 }, { 0, 12, 70000 }, { 1, 12, 1 }, { 1, 12, 70000 }, { 1, 13, 70000 },
		{ 1, 16, 300000 }, { 2, 12, 70000 }, { 2, 12, 513 * 4096 }, { 2, 12, 1500 * 4096 },
		{ 2, 16, 300000 }, { 1, 21, 5 << 20 },
	};

	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct tpair p;
		struct tmr l, r;
		u64 len = c[i].len;
		struct twr wr;

		t_pair_init(&p, 4, 1, 2);
		t_mr_init(&p.h[0], &l, 0xdeadbeef1234567ull, len, RW, c[i].levels, c[i].shift);
		t_mr_init(&p.h[1], &r, 0x123, len, RW, c[i].levels, c[i].shift);
		t_mr_fill(&l, 5);
		t_mr_fill(&r, 6);
		wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, len, &r, 0);
		t_send(&p.qp[0], &wr);
		t_expect_cqe(&p.cq[0], 1, VHCA_CS_SUCCESS);
		t_mr_expect(&r, 0, len, 5, 0);
		/* the last byte alone */
		t_mr_fill(&l, 7);
		wr = t_wr(VHCA_OP_WRITE, 2, &l, len - 1, 1, &r, len - 1);
		t_send(&p.qp[0], &wr);
		t_expect_cqe(&p.cq[0], 2, VHCA_CS_SUCCESS);
		t_mr_expect(&r, 0, len - 1, 5, 0);
		t_mr_expect(&r, len - 1, 1, 7, len - 1);
		/* and one more than that */
		wr = t_wr(VHCA_OP_READ, 3, &l, 0, 1, &r, len);
		t_send(&p.qp[0], &wr);
		t_expect_cqe(&p.cq[0], 3, VHCA_CS_REM_ACCESS_ERR);
		t_pair_fini(&p);
	}
}

/* A page of 1 GiB: only its first part is really there. */
static void huge_page(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];
	u64 list = t_alloc(h, 4096);
	struct vhca_create_mkey_req req = {
		.buf = { .addr = htole64(list), .npages = htole32(2), .page_shift = 30,
			 .levels = 1, .offset = htole64((1 << 30) - 0x800) },
		.iova = htole64(0x1000), .length = htole64(0x1000),
		.pdn = htole32(h->pd), .access = htole32(RW),
	};
	u64 a = t_alloc(h, 8192);
	struct tmr r;
	struct twr wr;

	/* the region ends one page and begins another, 2 KiB each */
	((__le64 *)t_cpu(h, list))[0] = htole64(a + 0x800 - (1ull << 30));
	((__le64 *)t_cpu(h, list))[1] = htole64(a + 4096);
	t_mr_init(&f->p.h[1], &r, 0, 4096, RW, 0, 12);
	t_mr_fill(&r, 3);
	wr = (struct twr){ .opcode = VHCA_OP_READ, .wr_id = 1, .nsge = 1, .raddr = 0,
			   .rkey = r.key };
	wr.sge[0] = (struct vhca_sge){
		0x1000, 4096, t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req)),
	};
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
	for (u32 i = 0; i < 2048; i++) {
		assert_int_equal(((u8 *)t_cpu(h, a))[i], t_pattern(3, i));
		assert_int_equal(((u8 *)t_cpu(h, a + 4096))[i], t_pattern(3, 2048 + i));
	}
}

/* A physical key's addresses are DMA addresses, bounded or not. */
static void physical(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];
	struct vhca_create_mkey_req req = {
		.pdn = htole32(h->pd), .access = htole32(RW), .type = VHCA_MKEY_PHYSICAL,
		.variant = 9,
	};
	u64 a = t_alloc(h, 4096);
	struct tmr r;
	struct twr wr;
	u32 key;

	t_mr_init(&f->p.h[1], &r, 0, 4096, RW, 0, 12);
	key = t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	assert_int_equal(key & 0xff, 9);
	memset(t_cpu(h, a), 0x77, 4096);
	wr = t_wr(VHCA_OP_WRITE, 1, NULL, 0, 0, &r, 0);
	wr.nsge = 1;
	wr.sge[0] = (struct vhca_sge){ a, 4096, key };
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
	assert_memory_equal(t_cpu(&f->p.h[1], r.page[0]), t_cpu(h, a), 4096);
	/* memory that is not mapped */
	wr.wr_id = 2;
	wr.sge[0].addr = 4096;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 2, VHCA_CS_LOC_PROT_ERR);
	/* with a buffer it is refused */
	req.buf.npages = htole32(1);
	assert_int_equal(t_admin(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_FIELD);
	assert_int_equal(h->bad_field, REQ_OFF(buf.npages));
	req.buf.npages = 0;
	req.iova = htole64(UINT64_MAX - 9);
	req.length = htole64(11);
	assert_int_equal(t_admin(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_FIELD);
	assert_int_equal(h->bad_field, REQ_OFF(length));
	req.length = htole64(10);
	t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
}

static void fields(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];
	const struct vhca_create_mkey_req good = {
		.buf = { .addr = htole64(0x8000), .npages = htole32(3), .page_shift = 12,
			 .levels = 2, .offset = htole64(100) },
		.iova = htole64(100), .length = htole64(3 * 4096 - 100),
		.pdn = htole32(h->pd), .access = htole32(RW),
	};
	const struct {
		u32 off, size;
		u64 v;
		u32 status, named;
	} c[] = {
#define C(f, v, st, n) \
	{ offsetof(struct vhca_create_mkey_req, f), sizeof(good.f), v, st, REQ_OFF(n) }
		C(pdn, 999, VHCA_ST_BAD_HANDLE, pdn),
		C(type, VHCA_MKEY_INTEGRITY + 1, VHCA_ST_BAD_FIELD, type),
		C(access, VHCA_ACCESS_ZERO_BASED, VHCA_ST_BAD_FIELD, access),
		C(access, 0x100, VHCA_ST_BAD_FIELD, access),
		C(access, VHCA_ACCESS_REMOTE_WRITE, VHCA_ST_BAD_FIELD, access),
		C(access, VHCA_ACCESS_REMOTE_ATOMIC, VHCA_ST_BAD_FIELD, access),
		C(rsvd[0], 1, VHCA_ST_BAD_FIELD, rsvd[0]),
		C(rsvd[5], 1, VHCA_ST_BAD_FIELD, rsvd[5]),
		C(length, 3 * 4096 - 99, VHCA_ST_BAD_FIELD, buf.npages),
		C(length, UINT64_MAX, VHCA_ST_BAD_FIELD, length),
		C(iova, UINT64_MAX - 100, VHCA_ST_BAD_FIELD, length),
		C(buf.npages, 2, VHCA_ST_BAD_FIELD, buf.npages),
		C(buf.levels, 3, VHCA_ST_BAD_FIELD, buf.levels),
		C(buf.levels, 0, VHCA_ST_BAD_FIELD, buf.offset),
		C(buf.page_shift, 11, VHCA_ST_BAD_FIELD, buf.page_shift),
		C(buf.page_shift, 31, VHCA_ST_BAD_FIELD, buf.page_shift),
		C(buf.offset, 4096, VHCA_ST_BAD_FIELD, buf.offset),
		C(buf.addr, 0x8001, VHCA_ST_BAD_FIELD, buf.addr),
		C(buf.rsvd[1], 1, VHCA_ST_BAD_FIELD, buf.rsvd[1]),
	};

	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		struct vhca_create_mkey_req req = good;
		u64 v = htole64(c[i].v);
		u32 st;

		memcpy((u8 *)&req + c[i].off, &v, c[i].size);
		st = t_admin(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req), NULL);
		if (st != c[i].status || h->bad_field != c[i].named)
			fail_msg("case %u: %u %u", i, st, h->bad_field);
	}
	t_create(h, VHCA_CMD_CREATE_MKEY, &good, sizeof(good));
}

/* Remote writes and atomics need the local right to write: in all kinds of keys. */
static void writing_rights(void **state)
{
	static const u32 writing[] = { VHCA_ACCESS_REMOTE_WRITE, VHCA_ACCESS_REMOTE_ATOMIC };
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];

	for (u32 i = 0; i < 2 * ARRAY_SIZE(writing); i++) {
		u32 with = i % 2 ? VHCA_ACCESS_LOCAL_WRITE : 0, want, named;
		struct vhca_create_mkey_req req = {
			.buf.addr = htole64(4096), .length = htole64(1), .pdn = htole32(h->pd),
			.access = htole32(writing[i / 2] | VHCA_ACCESS_REMOTE_READ | with),
		};
		struct vhca_modify_mkey_req mod = {
			.mask = htole32(VHCA_MKEY_MOD_ACCESS), .attr.access = req.access,
		};
		struct vmkey *mk;

		want = with ? VHCA_ST_OK : VHCA_ST_BAD_FIELD;
		named = with ? VHCA_NO_FIELD : REQ_OFF(access);
		assert_int_equal(t_admin(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req), NULL), want);
		assert_int_equal(h->bad_field, named);
		req.access = htole32(VHCA_ACCESS_REMOTE_READ);
		mod.key = htole32(t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req)));
		assert_int_equal(t_admin(h, VHCA_CMD_MODIFY_MKEY, &mod, sizeof(mod), NULL), want);
		if (!with)
			assert_int_equal(h->bad_field, offsetof(struct vhca_asqe, req) +
					 offsetof(struct vhca_modify_mkey_req, attr.access));
		/* a refused command changes nothing */
		mk = table_get(&h->dev->mkeys, le32toh(mod.key) >> 8);
		assert_int_equal(mk->access, with ? le32toh(mod.attr.access) :
						    VHCA_ACCESS_REMOTE_READ);
		req = (struct vhca_create_mkey_req){
			.type = VHCA_MKEY_PHYSICAL, .iova = htole64(4096), .length = htole64(1),
			.pdn = htole32(h->pd), .access = mod.attr.access,
		};
		assert_int_equal(t_admin(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req), NULL), want);
		assert_int_equal(h->bad_field, named);
	}
}

/* Rights that need a capability, of regions and of QPs. */
static void rights(void **state)
{
	static const struct {
		u32 right;
		u64 caps;	/* that it needs */
		bool qp;	/* QPs have it too */
	} c[] = {
		{ VHCA_ACCESS_LOCAL_WRITE, 0, true }, { VHCA_ACCESS_REMOTE_ATOMIC, 0, true },
		{ VHCA_ACCESS_MW_BIND, 1ull << VHCA_CAP_MW, false },
		{ VHCA_ACCESS_FLUSH_GLOBAL, 1ull << VHCA_CAP_FLUSH, true },
		{ VHCA_ACCESS_FLUSH_PERSISTENT, 1ull << VHCA_CAP_FLUSH, true },
		{ VHCA_ACCESS_ZERO_BASED, 1ull << 63, false },
	};
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];

	for (u32 with = 0; with < 2; with++) {
		h->dev->caps = with ? (1ull << 63) - 1 : 0;
		for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
			bool ok = !(c[i].caps & ~h->dev->caps);
			struct vhca_create_mkey_req req = {
				.buf.addr = htole64(4096), .length = htole64(1),
				.pdn = htole32(h->pd),
				.access = htole32(c[i].right | VHCA_ACCESS_LOCAL_WRITE),
			};
			struct vhca_modify_mkey_req mod = {
				.mask = htole32(VHCA_MKEY_MOD_ACCESS), .attr.access = req.access,
			};
			struct vhca_modify_qp_req qp = {
				.qpn = htole32(f->p.qp[0].qpn), .attr.access = c[i].right,
				.mask = htole32(VHCA_QPA_ACCESS_FLAGS),
			};

			assert_int_equal(t_admin(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req), NULL),
					 ok ? VHCA_ST_OK : VHCA_ST_BAD_FIELD);
			if (!ok)
				assert_int_equal(h->bad_field, REQ_OFF(access));
			req.access = 0;
			mod.key = htole32(t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req)));
			assert_int_equal(t_admin(h, VHCA_CMD_MODIFY_MKEY, &mod, sizeof(mod), NULL),
					 ok ? VHCA_ST_OK : VHCA_ST_BAD_FIELD);
			ok = ok && c[i].qp;
			assert_int_equal(t_admin(h, VHCA_CMD_MODIFY_QP, &qp, sizeof(qp), NULL),
					 ok ? VHCA_ST_OK : VHCA_ST_BAD_FIELD);
			if (!ok)
				assert_int_equal(h->bad_field, offsetof(struct vhca_asqe, req) +
						 offsetof(struct vhca_modify_qp_req, attr.access));
		}
	}
}

/* MODIFY changes exactly what the mask names. */
static void modify(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[1];
	struct vhca_modify_mkey_req req = { 0 };
	struct tmr l, r, r2;
	struct twr wr;
	u32 pd2;

	t_mr_init(&f->p.h[0], &l, 0, 4096, RW, 0, 12);
	t_mr_init(h, &r, 0, 4096, VHCA_ACCESS_LOCAL_WRITE, 0, 12);
	t_mr_init(h, &r2, 0x5000, 8192, RW, 1, 12);
	t_mr_fill(&l, 1);
	req.key = htole32(r.key ^ 1);
	req.mask = htole32(VHCA_MKEY_MOD_ACCESS);
	assert_int_equal(t_admin(h, VHCA_CMD_MODIFY_MKEY, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_HANDLE);
	req.key = htole32(r.key);
	req.mask = htole32(8);
	assert_int_equal(t_admin(h, VHCA_CMD_MODIFY_MKEY, &req, sizeof(req), NULL),
			 VHCA_ST_BAD_FIELD);
	req.mask = htole32(VHCA_MKEY_MOD_ACCESS);
	req.attr.access = htole32(RW);
	assert_int_equal(t_admin(h, VHCA_CMD_MODIFY_MKEY, &req, sizeof(req), NULL), VHCA_ST_OK);
	wr = t_wr(VHCA_OP_WRITE, 1, &l, 0, 4096, &r, 0);
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_SUCCESS);
	t_mr_expect(&r, 0, 4096, 1, 0);
	/* another place */
	req.mask = htole32(VHCA_MKEY_MOD_BUF);
	req.attr.access = 0;
	req.attr.iova = htole64(0x9000);
	req.attr.length = htole64(100);
	req.attr.buf.addr = htole64(r2.page[0] + 24);
	assert_int_equal(t_admin(h, VHCA_CMD_MODIFY_MKEY, &req, sizeof(req), NULL), VHCA_ST_OK);
	wr = t_wr(VHCA_OP_WRITE, 2, &l, 0, 100, &r, 0);
	wr.raddr = 0x9000;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 2, VHCA_CS_SUCCESS);
	t_mr_expect(&r2, 24, 100, 1, 0);
	/* another PD: the QP has no access any more, and the old PD can be freed */
	pd2 = t_create(h, VHCA_CMD_CREATE_PD, NULL, 0);
	req.mask = htole32(VHCA_MKEY_MOD_PD);
	req.attr.pdn = htole32(pd2);
	assert_int_equal(t_admin(h, VHCA_CMD_MODIFY_MKEY, &req, sizeof(req), NULL), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_PD, pd2), VHCA_ST_BUSY);
	wr.wr_id = 3;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 3, VHCA_CS_REM_ACCESS_ERR);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_MKEY, r.key), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_PD, pd2), VHCA_ST_OK);
}

/* Destroyed keys are not found any more, also in the middle of the table. */
static void stale(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];
	struct vhca_create_mkey_req req = {
		.buf.addr = htole64(4096), .length = htole64(1), .pdn = htole32(h->pd),
		.access = htole32(VHCA_ACCESS_LOCAL_WRITE),
	};
	struct vqp *qp = qp_find(h->dev, f->p.qp[0].qpn);
	u32 key[1000];

	for (u32 i = 0; i < ARRAY_SIZE(key); i++) {
		req.variant = i;
		key[i] = t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
		assert_true(key[i] >> 8);
		for (u32 k = 0; k < i; k += 97)
			assert_int_not_equal(key[i] >> 8, key[k] >> 8);
	}
	for (u32 i = 0; i < ARRAY_SIZE(key); i += 2)
		assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_MKEY, key[i]), VHCA_ST_OK);
	for (u32 i = 0; i < ARRAY_SIZE(key); i++) {
		assert_int_equal(!!qp_mkey_find(qp, key[i], 0, 1, 0), i % 2);
		assert_null(qp_mkey_find(qp, key[i] ^ 1, 0, 1, 0));
		assert_null(qp_mkey_find(qp, key[i], 0, 2, 0));
		assert_null(qp_mkey_find(qp, key[i], 1, 1, 0));
		assert_null(qp_mkey_find(qp, key[i], UINT64_MAX, 1, 0));
		assert_null(qp_mkey_find(qp, key[i], 0, UINT64_MAX, 0));
		assert_null(qp_mkey_find(qp, key[i], 0, 1, VHCA_ACCESS_REMOTE_READ));
	}
	assert_null(qp_mkey_find(qp, 0xffffffff, 0, 1, 0));
}

/* Eight bytes that the peer changes atomically; unchanged if it has no right. */
static void atomics(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[1];
	struct mkey_scope s = qp_scope(qp_find(h->dev, f->p.qp[1].qpn));
	const struct {
		struct matomic op;
		u64 after;
	} c[] = {
		{ { VHCA_OP_CMP_SWAP, 7, 41, 0, 0 }, 42 },
		{ { VHCA_OP_CMP_SWAP, 7, 42, 0, 0 }, 7 },
		{ { VHCA_OP_FETCH_ADD, UINT64_MAX, 99, 0, 0 }, 6 },
		{ { VHCA_OP_MASKED_CMP_SWAP, 0xff, 0x13, 0xf0, 0x0f }, 6 },
		{ { VHCA_OP_MASKED_CMP_SWAP, 0xff, 0x16, 0xf0, 0x0f }, 0xf6 },
		{ { VHCA_OP_MASKED_FETCH_ADD, 0x1a, 0, 0x80, 0 }, 0x10 },
		{ { VHCA_OP_ATOMIC_WRITE, 42, 0, 0, 0 }, 42 },
	};
	struct matomic add = { .opcode = VHCA_OP_FETCH_ADD, .swap_add = 1 };
	struct matomic put = { .opcode = VHCA_OP_ATOMIC_WRITE, .swap_add = 1 };
	struct vhca_create_mkey_req odd = {
		.length = htole64(64), .pdn = htole32(h->pd),
		.access = htole32(RW | VHCA_ACCESS_REMOTE_ATOMIC),
	};
	struct tmr r, w;
	u64 old, *word;
	u32 key;

	t_mr_init(h, &r, 0x10000, 64, VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_ATOMIC |
		  VHCA_ACCESS_REMOTE_WRITE, 1, 12);
	t_mr_init(h, &w, 0x10000, 64, VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_LOCAL_WRITE, 1, 12);
	word = t_cpu(h, r.page[0] + 8);
	memset(word - 1, 0, 24);
	*word = 42;
	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		u64 before = *word;

		assert_int_equal(mkey_atomic(&s, r.key, 0x10008, &c[i].op, &old), 0);
		assert_int_equal(old, c[i].op.opcode == VHCA_OP_ATOMIC_WRITE ? 0 : before);
		assert_int_equal(*word, c[i].after);
	}
	assert_int_equal(word[-1], 0);
	assert_int_equal(word[1], 0);

	for (u32 off = 1; off < 8; off++) {
		assert_int_equal(mkey_atomic(&s, r.key, 0x10008 + off, &add, &old),
				 VHCA_CS_REM_INV_REQ_ERR);
		assert_int_equal(mkey_atomic(&s, r.key, 0x10008 + off, &put, &old),
				 VHCA_CS_REM_INV_REQ_ERR);
	}
	/* behind the region, before it, with another key, without the right */
	assert_int_equal(mkey_atomic(&s, r.key, 0x10040, &add, &old), VHCA_CS_REM_ACCESS_ERR);
	assert_int_equal(mkey_atomic(&s, r.key, 0xfff8, &add, &old), VHCA_CS_REM_ACCESS_ERR);
	assert_int_equal(mkey_atomic(&s, r.key ^ 1, 0x10008, &add, &old), VHCA_CS_REM_ACCESS_ERR);
	assert_int_equal(mkey_atomic(&s, w.key, 0x10008, &add, &old), VHCA_CS_REM_ACCESS_ERR);
	assert_int_equal(mkey_atomic(&s, w.key, 0x10008, &put, &old), 0);
	/* aligned in the peer's addresses, but not in memory; or unmapped memory */
	odd.buf.addr = htole64(r.page[0] + 4);
	key = t_create(h, VHCA_CMD_CREATE_MKEY, &odd, sizeof(odd));
	assert_int_equal(mkey_atomic(&s, key, 8, &add, &old), VHCA_CS_REM_INV_REQ_ERR);
	assert_int_equal(mkey_atomic(&s, key, 8, &put, &old), VHCA_CS_REM_INV_REQ_ERR);
	odd.buf.addr = htole64(4096);
	key = t_create(h, VHCA_CMD_CREATE_MKEY, &odd, sizeof(odd));
	assert_int_equal(mkey_atomic(&s, key, 8, &add, &old), VHCA_CS_REM_ACCESS_ERR);
	assert_int_equal(mkey_atomic(&s, key, 8, &put, &old), VHCA_CS_REM_ACCESS_ERR);
	assert_int_equal(*word, 42);
	assert_int_equal(word[-1], 0);
	assert_int_equal(word[1], 0);
}

#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(levels_and_page_sizes), TEST(huge_page), TEST(physical),
		TEST(fields), TEST(writing_rights), TEST(rights), TEST(modify), TEST(stale),
		TEST(atomics),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
