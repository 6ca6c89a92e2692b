// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Operations on memory through an emulated HCA: atomics, keys registered and invalidated by work
 * requests, and FMRs. A connection talks to itself: the first half of its memory is the
 * requester's, the second half the responder's.
 */
#include <linux/mman.h>
#include <linux/scatterlist.h>
#include <linux/uaccess.h>
#include <rdma/rdma_ext.h>

#include "../verbs/mr.h"
#include "hca_test.h"

#define HALF	(CONN_BYTES / 2)
#define PAGES	4

static struct conn *loop(struct kunit *test)
{
	return conn_get(test, &hca_need_device(test->priv)->ibdev, true, 7);
}

static struct conn *pair(struct kunit *test)
{
	return conn_get(test, &hca_need_device(test->priv)->ibdev, false, 7);
}

/* Post a request as tx[0] of QP 0 and wait for it. */
static enum ib_wc_status go(struct kunit *test, struct conn *c, struct ib_send_wr *wr)
{
	conn_wr_init(c, &c->tx[0]);
	wr->wr_cqe = &c->tx[0].cqe;
	wr->send_flags |= IB_SEND_SIGNALED;
	KUNIT_ASSERT_EQ(test, ib_post_send(c->qp[0], wr, NULL), 0);
	return conn_wait(&c->tx[0]);
}

/* ---- atomics ---- */

struct atomic_case {
	enum ib_wr_opcode opcode;
	enum ib_wc_opcode wc;
	u64 compare_add, swap, compare_mask, swap_mask;
	u64 before, after;
};

static const struct atomic_case atomic_cases[] = {
	{ IB_WR_ATOMIC_CMP_AND_SWP, IB_WC_COMP_SWAP, 5, 9, 0, 0, 5, 9 },
	{ IB_WR_ATOMIC_CMP_AND_SWP, IB_WC_COMP_SWAP, 5, 9, 0, 0, 6, 6 },
	{ IB_WR_ATOMIC_FETCH_AND_ADD, IB_WC_FETCH_ADD, 3, 0, 0, 0, U64_MAX, 2 },
	{ IB_WR_MASKED_ATOMIC_CMP_AND_SWP, IB_WC_MASKED_COMP_SWAP, 0x12, 0xabcd, 0xff, 0xff00,
	  0x7712, 0xab12 },
	{ IB_WR_MASKED_ATOMIC_CMP_AND_SWP, IB_WC_MASKED_COMP_SWAP, 0x12, 0xabcd, 0xff, 0xff00,
	  0x7713, 0x7713 },
	/* two sums of four bits each, without a carry between them */
	{ IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, IB_WC_MASKED_FETCH_ADD, 0x11, 0, 0x88, 0, 0xff,
	  0x00 },
};

static void test_atomic_write(struct kunit *test)
{
	u64 value = 0x1122334455667788;
	struct conn *c = loop(test);
	u64 *word = (u64 *)(c->buf + HALF + 8);
	struct ib_sge sge = { c->dma + 64, sizeof(value), c->pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_ATOMIC_WRITE, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = c->dma + HALF + 8, .rkey = c->pd->unsafe_global_rkey,
	};

	conn_fill(c, 1);
	*(u64 *)(c->buf + 64) = value;
	KUNIT_ASSERT_EQ(test, go(test, c, &wr.wr), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, c->tx[0].wc.opcode, IB_WC_ATOMIC_WRITE);
	KUNIT_EXPECT_EQ(test, *word, value);
	value = ~value;
	sge.addr = (uintptr_t)&value;
	wr.wr.send_flags = IB_SEND_INLINE;
	KUNIT_ASSERT_EQ(test, go(test, c, &wr.wr), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, *word, value);
	KUNIT_EXPECT_EQ(test, word[1], 0);
}

/* ---- keys registered by work requests ---- */

static void drop_mr(void *mr)
{
	ib_dereg_mr(mr);
}

static struct ib_mr *make_mr(struct kunit *test, struct conn *c, enum ib_mr_type type)
{
	struct ib_mr *mr = ib_alloc_mr(c->pd, type, PAGES);

	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop_mr, mr), 0);
	return mr;
}

/* Map the responder's half from @off on, in @n pieces that lie @step apart. */
static int map(struct conn *c, struct ib_mr *mr, u32 off, int n, u32 len, u32 step)
{
	struct scatterlist sg[PAGES + 1];

	sg_init_table(sg, ARRAY_SIZE(sg));
	for (int i = 0; i < n; i++) {
		sg_dma_address(&sg[i]) = c->dma + HALF + off + i * step;
		sg_dma_len(&sg[i]) = len;
	}
	return ib_map_mr_sg(mr, sg, n, NULL, SZ_4K);
}

static enum ib_wc_status register_mr(struct kunit *test, struct conn *c, struct ib_mr *mr,
				     int access)
{
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR }, .mr = mr, .key = mr->rkey, .access = access,
	};

	return go(test, c, &wr.wr);
}

static enum ib_wc_status invalidate(struct kunit *test, struct conn *c, u32 key)
{
	struct ib_send_wr wr = { .opcode = IB_WR_LOCAL_INV, .ex.invalidate_rkey = key };

	return go(test, c, &wr);
}

static enum ib_wc_status write_to(struct kunit *test, struct conn *c, u32 from, u32 len, u64 addr,
				  u32 rkey)
{
	struct ib_sge sge = { c->dma + from, len, c->pd->local_dma_lkey };
	struct ib_rdma_wr wr = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = addr, .rkey = rkey,
	};

	return go(test, c, &wr.wr);
}

static void test_atomics(struct kunit *test)
{
	struct conn *c = loop(test);
	u64 *got = (u64 *)(c->buf + 64), *word = (u64 *)(c->buf + HALF + 8);
	struct ib_sge sge = { c->dma + 64, sizeof(*got), c->pd->local_dma_lkey };
	struct ib_mr *mr = make_mr(test, c, IB_MR_TYPE_MEM_REG);

	KUNIT_ASSERT_EQ(test, map(c, mr, 0, 1, SZ_4K, 0), 1);
	KUNIT_ASSERT_EQ(test, register_mr(test, c, mr, IB_ACCESS_LOCAL_WRITE |
					  IB_ACCESS_REMOTE_ATOMIC), IB_WC_SUCCESS);
	for (unsigned int i = 0; i < ARRAY_SIZE(atomic_cases); i++) {
		const struct atomic_case *a = &atomic_cases[i];
		struct ib_atomic_wr wr = {
			.wr = { .opcode = a->opcode, .sg_list = &sge, .num_sge = 1 },
			.remote_addr = mr->iova + 8, .rkey = mr->rkey,
			.compare_add = a->compare_add, .swap = a->swap,
			.compare_add_mask = a->compare_mask, .swap_mask = a->swap_mask,
		};

		*word = a->before;
		*got = 0;
		KUNIT_ASSERT_EQ(test, go(test, c, &wr.wr), IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, c->tx[0].wc.opcode, a->wc);
		KUNIT_EXPECT_EQ(test, c->tx[0].wc.byte_len, sizeof(*got));
		KUNIT_EXPECT_EQ(test, *got, a->before);
		KUNIT_EXPECT_EQ(test, *word, a->after);
	}
}

/* More cycles than a key has variants. */
static void test_registration_cycles(struct kunit *test)
{
	const int rights = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	struct conn *c = loop(test);
	struct ib_mr *mr = make_mr(test, c, IB_MR_TYPE_MEM_REG);
	u32 off, first = mr->rkey;

	for (int i = 0; i < 300; i++) {
		off = i * 16 % SZ_8K;
		conn_fill(c, i);
		ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
		KUNIT_ASSERT_EQ(test, map(c, mr, off, 1, SZ_8K, 0), 1);
		KUNIT_ASSERT_EQ(test, register_mr(test, c, mr, rights), IB_WC_SUCCESS);
		KUNIT_ASSERT_EQ(test, c->tx[0].wc.opcode, IB_WC_REG_MR);
		KUNIT_ASSERT_EQ(test, write_to(test, c, off + 100, 5000, mr->iova + 100, mr->rkey),
				IB_WC_SUCCESS);
		KUNIT_ASSERT_TRUE(test, conn_arrived(c, off + 100, 5000));
		KUNIT_ASSERT_EQ(test, invalidate(test, c, mr->rkey), IB_WC_SUCCESS);
		KUNIT_ASSERT_EQ(test, c->tx[0].wc.opcode, IB_WC_LOCAL_INV);
	}
	KUNIT_EXPECT_EQ(test, mr->rkey & ~0xffU, first & ~0xffU);
}

/* An invalidated key, and one of an earlier cycle, give no access. */
static void test_keys_that_ended(struct kunit *test)
{
	const int rights = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	struct conn *c;
	struct ib_mr *mr;
	u32 old;

	for (int i = 0; i < 2; i++) {
		c = pair(test);
		mr = make_mr(test, c, IB_MR_TYPE_MEM_REG);
		conn_fill(c, 1);
		KUNIT_ASSERT_EQ(test, map(c, mr, 0, 1, SZ_4K, 0), 1);
		KUNIT_ASSERT_EQ(test, register_mr(test, c, mr, rights), IB_WC_SUCCESS);
		KUNIT_ASSERT_EQ(test, invalidate(test, c, mr->rkey), IB_WC_SUCCESS);
		old = mr->rkey;
		if (i) {
			ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
			KUNIT_ASSERT_EQ(test, register_mr(test, c, mr, rights), IB_WC_SUCCESS);
		}
		KUNIT_EXPECT_EQ(test, write_to(test, c, 0, 64, mr->iova, old),
				IB_WC_REM_ACCESS_ERR);
		KUNIT_EXPECT_TRUE(test, conn_arrived(c, 0, 0));
	}
}

/* A registration that the device refuses ends the QP; the key can be used by another one. */
static void test_registered_twice(struct kunit *test)
{
	struct conn *c = pair(test);
	struct ib_mr *mr = make_mr(test, c, IB_MR_TYPE_MEM_REG);

	KUNIT_ASSERT_EQ(test, map(c, mr, 0, 1, SZ_4K, 0), 1);
	KUNIT_ASSERT_EQ(test, register_mr(test, c, mr, IB_ACCESS_REMOTE_READ), IB_WC_SUCCESS);
	KUNIT_EXPECT_NE(test, register_mr(test, c, mr, IB_ACCESS_REMOTE_READ), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, invalidate(test, c, mr->rkey), IB_WC_WR_FLUSH_ERR);
}

static void test_gaps(struct kunit *test)
{
	struct conn *c = loop(test);
	struct ib_mr *mr = make_mr(test, c, IB_MR_TYPE_SG_GAPS);
	u8 *to = c->buf + HALF;

	conn_fill(c, 5);
	/* One piece more than fits. */
	KUNIT_ASSERT_EQ(test, map(c, mr, 3, PAGES + 1, 1001, 2000), PAGES);
	KUNIT_EXPECT_EQ(test, mr->length, PAGES * 1001);
	mr->iova = 0x12345;
	KUNIT_ASSERT_EQ(test, register_mr(test, c, mr, IB_ACCESS_LOCAL_WRITE |
					  IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ),
			IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, write_to(test, c, 0, PAGES * 1001, 0x12345, mr->rkey),
			IB_WC_SUCCESS);
	for (int i = 0; i < PAGES; i++) {
		KUNIT_EXPECT_EQ(test, memcmp(to + 3 + 2000 * i, c->buf + 1001 * i, 1001), 0);
		KUNIT_EXPECT_NULL(test, memchr_inv(to + 3 + 2000 * i + 1001, 0, 999));
	}
	KUNIT_EXPECT_EQ(test, invalidate(test, c, mr->rkey), IB_WC_SUCCESS);
}

/* SEND with invalidate ends the receiver's key, and READ with invalidate its local key. */
static void test_invalidated_from_afar(struct kunit *test)
{
	struct conn *c = loop(test);
	struct ib_mr *mr = make_mr(test, c, IB_MR_TYPE_MEM_REG);
	struct ib_sge sge = { c->dma, 100, c->pd->local_dma_lkey };
	struct ib_rdma_wr wr = { .wr = { .sg_list = &sge, .num_sge = 1 } };

	conn_fill(c, 6);
	KUNIT_ASSERT_EQ(test, map(c, mr, 0, 1, SZ_4K, 0), 1);
	KUNIT_ASSERT_EQ(test, register_mr(test, c, mr, IB_ACCESS_LOCAL_WRITE |
					  IB_ACCESS_REMOTE_WRITE), IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[0], SZ_8K, 100), 0);
	wr.wr.opcode = IB_WR_SEND_WITH_INV;
	wr.wr.ex.invalidate_rkey = mr->rkey;
	KUNIT_ASSERT_EQ(test, go(test, c, &wr.wr), IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->rx[0]), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, c->rx[0].wc.wc_flags & IB_WC_WITH_INVALIDATE, IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, c->rx[0].wc.ex.invalidate_rkey, mr->rkey);
	KUNIT_EXPECT_EQ(test, memcmp(c->buf, c->buf + HALF + SZ_8K, 100), 0);

	/* An invalidated key can be registered again. */
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	KUNIT_ASSERT_EQ(test, register_mr(test, c, mr, IB_ACCESS_LOCAL_WRITE), IB_WC_SUCCESS);
	wr.wr.opcode = IB_WR_RDMA_READ_WITH_INV;
	wr.wr.ex.invalidate_rkey = mr->lkey;
	wr.remote_addr = c->dma + 200;
	wr.rkey = c->pd->unsafe_global_rkey;
	sge = (struct ib_sge){ mr->iova, 100, mr->lkey };
	KUNIT_ASSERT_EQ(test, go(test, c, &wr.wr), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, c->tx[0].wc.opcode, IB_WC_RDMA_READ);
	KUNIT_EXPECT_EQ(test, memcmp(c->buf + 200, c->buf + HALF, 100), 0);
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	KUNIT_EXPECT_EQ(test, register_mr(test, c, mr, IB_ACCESS_LOCAL_WRITE), IB_WC_SUCCESS);
}

static void test_bad_mrs(struct kunit *test)
{
	struct conn *c = loop(test);
	u32 limit = c->dev->attrs.max_fast_reg_page_list_len;
	struct ib_mr *mr = make_mr(test, c, IB_MR_TYPE_MEM_REG);

	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG, 0)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr(c->pd, IB_MR_TYPE_SG_GAPS, limit + 1)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr(c->pd, IB_MR_TYPE_DM, 1)), -EOPNOTSUPP);
	/* The largest list that the device supports. */
	mr = ib_alloc_mr(c->pd, IB_MR_TYPE_SG_GAPS, limit);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_EXPECT_EQ(test, ib_dereg_mr(mr), 0);
}

/* ---- memory of a process ---- */

/*
 * A zero-based region that the peer may read, and later also write, for which it has to be pinned
 * again: it must stay zero-based, whatever address the core passes.
 */
static void test_zero_based(struct kunit *test)
{
	const int rights = IB_ZERO_BASED | IB_ACCESS_REMOTE_READ;
	const int more = rights | IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	struct conn *c = loop(test);
	unsigned long at = kunit_vm_mmap(test, NULL, 0, SZ_8K, PROT_READ | PROT_WRITE,
					 MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct ib_mr *mr;
	u8 back[64];

	KUNIT_ASSERT_NE(test, at, 0UL);
	mr = ib_reg_user_mr(c->pd, at, SZ_8K, at, rights);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop_mr, mr), 0);
	KUNIT_EXPECT_EQ(test, mr->iova, at);
	KUNIT_ASSERT_NULL(test, c->dev->ops.rereg_user_mr(mr, IB_MR_REREG_ACCESS |
							  IB_MR_REREG_TRANS, at, SZ_8K, at, more,
							  c->pd, NULL));
	conn_fill(c, 7);
	KUNIT_ASSERT_EQ(test, write_to(test, c, 0, sizeof(back), SZ_4K - 10, mr->rkey),
			IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, copy_from_user(back, (void __user *)at + SZ_4K - 10, sizeof(back)),
			0UL);
	KUNIT_EXPECT_MEMEQ(test, back, c->buf, sizeof(back));
}

static struct ib_mr *rereg(struct ib_mr *mr, int flags, unsigned long at, int access)
{
	return mr->device->ops.rereg_user_mr(mr, flags, at, SZ_8K, at, access, mr->pd, NULL);
}

/*
 * A change of rights alone must not replace the memory, even if the process has mapped other memory
 * at the address: memory that was pinned for reading cannot become writable without
 * IB_MR_REREG_TRANS. A request that changes nothing succeeds.
 */
static void test_rereg_keeps_memory(struct kunit *test)
{
	const int wr = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	struct conn *c = loop(test);
	unsigned long at = kunit_vm_mmap(test, NULL, 0, SZ_8K, PROT_READ | PROT_WRITE,
					 MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct ib_umem *umem;
	struct ib_mr *mr;

	KUNIT_ASSERT_NE(test, at, 0UL);
	mr = ib_reg_user_mr(c->pd, at, SZ_8K, at, IB_ACCESS_REMOTE_READ);
	KUNIT_ASSERT_FALSE(test, IS_ERR(mr));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop_mr, mr), 0);
	umem = to_vmr(mr)->umem;
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rereg(mr, IB_MR_REREG_ACCESS, 0, wr)), -EACCES);
	KUNIT_EXPECT_EQ(test, PTR_ERR_OR_ZERO(rereg(mr, IB_MR_REREG_ACCESS | IB_MR_REREG_PD, 0,
						    wr)), -EACCES);
	KUNIT_EXPECT_PTR_EQ(test, to_vmr(mr)->umem, umem);
	KUNIT_EXPECT_EQ(test, to_vmr(mr)->access, IB_ACCESS_REMOTE_READ);
	KUNIT_EXPECT_NULL(test, rereg(mr, IB_MR_REREG_ACCESS, 0, 0));
	KUNIT_EXPECT_NULL(test, rereg(mr, 0, 0, 0));
	KUNIT_EXPECT_PTR_EQ(test, to_vmr(mr)->umem, umem);
	/* A region that was pinned for writing may lose write access and get it back. */
	KUNIT_EXPECT_NULL(test, rereg(mr, IB_MR_REREG_ACCESS | IB_MR_REREG_TRANS, at, wr));
	umem = to_vmr(mr)->umem;
	KUNIT_EXPECT_NULL(test, rereg(mr, IB_MR_REREG_ACCESS, 0, IB_ACCESS_REMOTE_READ));
	KUNIT_EXPECT_NULL(test, rereg(mr, IB_MR_REREG_ACCESS, 0, wr));
	KUNIT_EXPECT_PTR_EQ(test, to_vmr(mr)->umem, umem);
}

/* ---- FMRs ---- */

static void drop_fmr(void *fmr)
{
	ib_dealloc_fmr(fmr);
}

static struct ib_fmr *make_fmr(struct kunit *test, struct conn *c)
{
	struct ib_fmr_attr attr = { .max_pages = PAGES, .max_maps = 400, .page_shift = 12 };
	struct ib_fmr *fmr = ib_alloc_fmr(c->pd, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
					  &attr);

	KUNIT_ASSERT_FALSE(test, IS_ERR(fmr));
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, drop_fmr, fmr), 0);
	return fmr;
}

static void test_fmr(struct kunit *test)
{
	struct conn *c = loop(test);
	struct ib_fmr *fmr = make_fmr(test, c);
	LIST_HEAD(list);
	u64 pages[2];

	for (int i = 0; i < 300; i++) {
		if (!(i % 50))
			conn_fill(c, i);
		/* the later page first */
		pages[0] = c->dma + HALF + SZ_4K * (1 + i % 4);
		pages[1] = c->dma + HALF;
		KUNIT_ASSERT_EQ(test, ib_map_phys_fmr(fmr, pages, 2, 0x10000), 0);
		KUNIT_ASSERT_EQ(test, write_to(test, c, 0, SZ_8K, 0x10000, fmr->rkey),
				IB_WC_SUCCESS);
		KUNIT_ASSERT_EQ(test, memcmp(c->buf, c->buf + HALF + SZ_4K * (1 + i % 4), SZ_4K),
				0);
		KUNIT_ASSERT_EQ(test, memcmp(c->buf + SZ_4K, c->buf + HALF, SZ_4K), 0);
	}
	list_add(&fmr->list, &list);
	KUNIT_EXPECT_EQ(test, ib_unmap_fmr(&list), 0);
	KUNIT_EXPECT_EQ(test, write_to(test, c, 0, 8, 0x10000, fmr->rkey), IB_WC_REM_ACCESS_ERR);
}

static void test_old_keys_of_fmrs(struct kunit *test)
{
	struct conn *c = pair(test);
	struct ib_fmr *fmr = make_fmr(test, c);
	u64 page = c->dma + HALF;
	u32 old;

	conn_fill(c, 2);
	KUNIT_ASSERT_EQ(test, ib_map_phys_fmr(fmr, &page, 1, 0), 0);
	old = fmr->rkey;
	KUNIT_ASSERT_EQ(test, ib_map_phys_fmr(fmr, &page, 1, 0), 0);
	KUNIT_ASSERT_EQ(test, write_to(test, c, 0, 8, 0, fmr->rkey), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, write_to(test, c, 8, 8, 8, old), IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, 0, 8));
}

static void test_bad_fmrs(struct kunit *test)
{
	struct conn *c = loop(test);
	struct ib_fmr_attr attr = { .max_pages = 1 << 30, .max_maps = 1, .page_shift = 12 };

	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_fmr(c->pd, 0, &attr)), -EINVAL);
	attr = (struct ib_fmr_attr){ .max_pages = 1, .max_maps = 1, .page_shift = 11 };
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_fmr(c->pd, 0, &attr)), -EINVAL);
	attr.page_shift = 12;
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_fmr(c->pd, IB_ACCESS_MW_BIND, &attr)),
			-EOPNOTSUPP);
}

/* After a command was refused no object is left, and the next call works. */
static void test_refused_commands(struct kunit *test)
{
	struct ib_fmr_attr attr = { .max_pages = 1, .max_maps = 1, .page_shift = 12 };
	struct hca_test *h = test->priv;
	struct ib_fmr *fmr;
	struct conn *c;
	LIST_HEAD(list);

	hca_need_faults(h);
	c = loop(test);
	hca_fault(h, "command @ opcode=CREATE_MKEY status=NO_RESOURCE ,\n"
		     "fault command @ opcode=CREATE_MKEY status=NO_RESOURCE ,\n"
		     "fault command @ opcode=FENCE_MKEYS status=INTERNAL");
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_mr(c->pd, IB_MR_TYPE_MEM_REG, 1)), -ENOMEM);
	KUNIT_EXPECT_EQ(test, PTR_ERR(ib_alloc_fmr(c->pd, 0, &attr)), -ENOMEM);
	make_mr(test, c, IB_MR_TYPE_MEM_REG);
	fmr = make_fmr(test, c);
	list_add(&fmr->list, &list);
	KUNIT_EXPECT_EQ(test, ib_unmap_fmr(&list), -EIO);
	hca_struck(h);
	KUNIT_EXPECT_EQ(test, ib_unmap_fmr(&list), 0);
	hca_expect_objects(h, 1, 3, 1, 2);
}

static struct kunit_case mem_cases[] = {
	KUNIT_CASE(test_atomics),
	KUNIT_CASE(test_atomic_write),
	KUNIT_CASE_SLOW(test_registration_cycles),
	KUNIT_CASE(test_keys_that_ended),
	KUNIT_CASE(test_registered_twice),
	KUNIT_CASE(test_gaps),
	KUNIT_CASE(test_invalidated_from_afar),
	KUNIT_CASE(test_bad_mrs),
	KUNIT_CASE(test_zero_based),
	KUNIT_CASE(test_rereg_keeps_memory),
	KUNIT_CASE(test_fmr),
	KUNIT_CASE(test_old_keys_of_fmrs),
	KUNIT_CASE(test_bad_fmrs),
	KUNIT_CASE_SLOW(test_refused_commands),
	{}
};

struct kunit_suite hca_mem_suite = {
	.name = "vhca_hca_mem",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = mem_cases,
};
