// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a guest writes for the device is read once: here all of it changes as soon as it was read,
 * so that a second read would not find what was checked.
 */
#include <string.h>

#include "qp/qp.h"
#include "tests/tatomic.h"
#include "tests/tkey.h"

#define MEMORY	(ACCESS | VHCA_ACCESS_MW_BIND | VHCA_ACCESS_FLUSH_GLOBAL)
#define RINGS	8u

int __real_dma_read(struct guest_mem *m, void *dst, u64 iova, size_t len);
int __real_dma_ref_read(struct gmem_ref *ref, u32 off, void *dst, u32 len);
int __real_dma_ref_read_line(struct gmem_ref *ref, u32 off, void *dst);
int __wrap_dma_read(struct guest_mem *m, void *dst, u64 iova, size_t len);
int __wrap_dma_ref_read(struct gmem_ref *ref, u32 off, void *dst, u32 len);
int __wrap_dma_ref_read_line(struct gmem_ref *ref, u32 off, void *dst);

/* Rings of entries that change. */
static struct {
	struct thca *h;
	u8 *at;
	u32 bytes;
	u64 changed;
} ring[RINGS];
static u32 nrings;

static u32 watch(struct thca *h, void *at, u32 bytes)
{
	assert_true(nrings < RINGS);
	ring[nrings].h = h;
	ring[nrings].at = at;
	ring[nrings].bytes = bytes;
	ring[nrings].changed = 0;
	return nrings++;
}

/* These bytes were read: changes all of them. */
static void was_read(const struct guest_mem *m, u64 iova, size_t len)
{
	for (u32 i = 0; i < nrings; i++) {
		u8 *at;

		if (ring[i].h->mem != m)
			continue;
		at = t_cpu(ring[i].h, iova);
		for (size_t k = 0; k < len; k++, at++) {
			if (at < ring[i].at || at >= ring[i].at + ring[i].bytes)
				break;
			*at = ~*at;
			ring[i].changed++;
		}
	}
}

int __wrap_dma_read(struct guest_mem *m, void *dst, u64 iova, size_t len)
{
	int err = __real_dma_read(m, dst, iova, len);

	if (!err)
		was_read(m, iova, len);
	return err;
}

int __wrap_dma_ref_read(struct gmem_ref *ref, u32 off, void *dst, u32 len)
{
	int err = __real_dma_ref_read(ref, off, dst, len);

	if (!err)
		was_read(ref->mem, ref->iova + off, len);
	return err;
}

int __wrap_dma_ref_read_line(struct gmem_ref *ref, u32 off, void *dst)
{
	int err = __real_dma_ref_read_line(ref, off, dst);

	if (!err)
		was_read(ref->mem, ref->iova + off, GMEM_LINE);
	return err;
}

struct fixture {
	struct tpair p;
	struct tmr l, r;
	u32 sq, rq;		/* in ring[] */
};

/* The commands that make all this are read once too. */
static int setup(void **state)
{
	static struct fixture f;

	nrings = 0;
	memset(&f, 0, sizeof(f));
	t_pair_init_regions(&f.p, 0xfffff0, 5, &f.l, &f.r, REGION, MEMORY,
			    ACCESS | VHCA_ACCESS_FLUSH_GLOBAL);
	for (u32 i = 0; i < 2; i++)
		watch(&f.p.h[i], f.p.h[i].asq, VHCA_ASQE_SIZE << T_ADMIN_LOG);
	f.sq = watch(&f.p.h[0], f.p.qp[0].sq, VHCA_WQE_BLOCK << f.p.qp[0].log_sq);
	f.rq = watch(&f.p.h[1], f.p.qp[1].rq, 1u << (f.p.qp[1].log_rq + f.p.qp[1].log_stride));
	t_mr_fill(&f.l, 1);
	t_mr_fill(&f.r, 2);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	nrings = 0;
	t_pair_fini(&f->p);
	return 0;
}

static void commands(void **state)
{
	struct fixture *f = *state;
	struct thca *h = &f->p.h[0];
	struct tsrq srq;
	struct tcq cq;
	struct tqp qp;
	struct tmr mr;
	u32 n = h->admin_tail, xrcd;

	t_cq_init(h, &cq, 5, 0);
	assert_int_equal(t_cq_resize(&cq, 6), VHCA_ST_OK);
	assert_int_equal(t_cq_moderate(&cq, 3, 10), VHCA_ST_OK);
	t_srq_init(h, &srq, 5, 7);
	assert_int_equal(t_srq_limit(&srq, 3), VHCA_ST_OK);
	t_mr_init(h, &mr, 1ull << 33, 3 * 4096, MEMORY, 2, 12);
	t_key(h, VHCA_MKEY_MW_2, 0, 0, 5);
	xrcd = t_create(h, VHCA_CMD_CREATE_XRCD, NULL, 0);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_XRCD, xrcd), VHCA_ST_OK);
	t_qp_init(h, &qp, &cq, &cq);
	t_connect(&qp, &qp, 3, 1, 1);
	assert_int_equal(t_state(&qp), T_RTS);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_QP, qp.qpn), VHCA_ST_OK);
	assert_int_equal(t_destroy(h, VHCA_CMD_DESTROY_MKEY, mr.key), VHCA_ST_OK);
	assert_int_equal(ring[0].changed, (h->admin_tail - n) * VHCA_ASQE_SIZE);
}

/* One entry, to its completion; none of its blocks is looked at twice. */
static void request(struct fixture *f, struct twr *wr)
{
	u64 before = ring[f->sq].changed;
	u32 prod = f->p.qp[0].sq_prod;

	wr->wr_id = prod;
	t_send(&f->p.qp[0], wr);
	t_expect_cqe(&f->p.cq[0], prod, VHCA_CS_SUCCESS);
	assert_int_equal(ring[f->sq].changed - before,
			 (f->p.qp[0].sq_prod - prod) * VHCA_WQE_BLOCK);
}

/* A receive of @nsge pieces, and a message of three packets for it. */
static void receive(struct fixture *f, u32 nsge)
{
	struct vhca_sge sge[15];
	struct twr wr = t_wr(VHCA_OP_SEND, 0, &f->l, 0, 2500, NULL, 0);
	u64 before = ring[f->rq].changed;

	for (u32 i = 0; i < nsge; i++)
		sge[i] = t_sge(&f->r, 3000 * i, i + 1 < nsge ? 100 : 3000);
	t_recv(&f->p.qp[1], nsge, nsge, sge);
	request(f, &wr);
	assert_int_equal(le32toh(t_expect_cqe(&f->p.cq[1], nsge, VHCA_CS_SUCCESS).byte_len), 2500);
	for (u32 i = 0; i < nsge; i++)
		t_mr_expect(&f->r, 3000 * i, i + 1 < nsge ? 100 : 2500 - 100 * (nsge - 1), 1,
			    100 * i);
	assert_int_equal(ring[f->rq].changed - before, MAX(64u, 16 + 16 * nsge));
}

static void receives(void **state)
{
	struct fixture *f = *state;

	for (u32 nsge = 1; nsge <= 15; nsge++)
		receive(f, nsge);
}

static void requests(void **state)
{
	struct fixture *f = *state;
	static const u8 data[400] = { 1, 2, 3 };
	struct twr wr = { .opcode = VHCA_OP_NOP, .flags = VHCA_WQE_SIGNALED };
	u64 page = t_alloc(&f->p.h[0], 4096);
	u32 fast, mw;

	request(f, &wr);
	/* three pieces, and numbers of pieces whose entries take several blocks */
	for (u32 n = 3; n <= 30; n += 9) {
		wr = t_wr(VHCA_OP_WRITE, 0, NULL, 0, 0, &f->r, 7);
		for (wr.nsge = 0; wr.nsge < n; wr.nsge++)
			wr.sge[wr.nsge] = t_sge(&f->l, 500 * wr.nsge, 500);
		request(f, &wr);
		t_mr_expect(&f->r, 7, 500 * n, 1, 0);
	}
	wr = t_wr(VHCA_OP_WRITE, 0, NULL, 0, 0, &f->r, 0);
	wr.flags = VHCA_WQE_INLINE;
	wr.data = data;
	wr.data_len = sizeof(data);
	request(f, &wr);
	wr = t_wr(VHCA_OP_ATOMIC_WRITE, 0, &f->l, 16, 8, &f->r, 64);
	request(f, &wr);
	wr = t_wr(VHCA_OP_FLUSH, 0, NULL, 0, 0, &f->r, 0);
	wr.flush.type = VHCA_FLUSH_GLOBAL;
	wr.flush.length = htole32(100);
	request(f, &wr);
	mw = t_key(&f->p.h[0], VHCA_MKEY_MW_2, 0, 0, 5);
	wr = (struct twr){ .opcode = VHCA_OP_BIND_MW };
	wr.bind = (struct vhca_wqe_bind){
		.key = htole32(mw), .mr_key = htole32(f->l.key), .addr = htole64(f->l.iova),
		.length = htole64(100), .access = VHCA_ACCESS_REMOTE_READ,
	};
	request(f, &wr);
	assert_true(t_grants(&f->p.qp[0], mw, f->l.iova, 100, VHCA_ACCESS_REMOTE_READ));
	*(__le64 *)t_cpu(&f->p.h[0], page) = htole64(t_alloc(&f->p.h[0], 4096));
	fast = t_key(&f->p.h[0], VHCA_MKEY_FAST, page, 1, 1);
	wr = (struct twr){ .opcode = VHCA_OP_REG_MR };
	wr.reg = (struct vhca_wqe_reg){
		.key = htole32(fast), .entries = htole32(1), .length = htole64(4096),
		.access = MEMORY, .page_shift = 12,
	};
	request(f, &wr);
	assert_true(t_grants(&f->p.qp[0], fast, 0, 4096, VHCA_ACCESS_REMOTE_READ));
	wr = (struct twr){ .opcode = VHCA_OP_LOCAL_INV, .imm = htole32(fast) };
	request(f, &wr);
	assert_false(t_grants(&f->p.qp[0], fast, 0, 4096, VHCA_ACCESS_REMOTE_READ));
}

/*
 * The entry of a request is read when its answer arrives, and has changed by then: that is
 * detected, and nothing is written.
 */
static void answers(void **state)
{
	static const u8 ops[] = {
		VHCA_OP_READ, VHCA_OP_CMP_SWAP, VHCA_OP_FETCH_ADD, VHCA_OP_MASKED_CMP_SWAP,
		VHCA_OP_MASKED_FETCH_ADD,
	};
	struct fixture *f = *state;

	for (u32 i = 0; i < ARRAY_SIZE(ops); i++) {
		struct twr wr = t_wr(ops[i], i, &f->l, 8192, 8, &f->r, 64);

		t_send(&f->p.qp[0], &wr);
		t_expect_cqe(&f->p.cq[0], i, VHCA_CS_LOC_QP_OP_ERR);
		t_mr_expect(&f->l, 0, REGION, 1, 0);
		for (u32 k = 0; k < 2; k++) {
			assert_int_equal(t_to(&f->p.qp[k], T_RESET), VHCA_ST_OK);
			t_set_rec(&f->p.h[k], f->p.qp[k].slot, 0);
			f->p.qp[k].sq_prod = 0;
		}
		t_connect(&f->p.qp[0], &f->p.qp[1], 3, 7, 9);
		for (u32 k = 0; k < 2; k++)
			t_allow(&f->p.qp[k], ACCESS);
	}
}

/* A message of many slices keeps what was read of its entry. */
static void slices(void **state)
{
	struct fixture *f = *state;
	struct twr wr = t_wr(VHCA_OP_WRITE, 0, NULL, 0, 0, &f->r, 0);

	for (; wr.nsge < 30; wr.nsge++)
		wr.sge[wr.nsge] = t_sge(&f->l, 0, 2000);
	request(f, &wr);
	for (u32 i = 0; i < 30; i++)
		t_mr_expect(&f->r, 2000 * i, 2000, 1, 0);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(commands), TEST(requests), TEST(receives), TEST(answers),
		TEST(slices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
