// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Every kind of send request, byte by byte as the device reads it, and refused requests. */
#include "../verbs/ah.h"
#include "../verbs/caps.h"
#include "../verbs/mr.h"
#include "test_queues.h"

#define TEST_KEY	0x00345600

static struct vhca_wqe_ctrl *block(struct bench *b, u32 n)
{
	return vhca_kbuf_at(&b->qpk.sq.ring.mem, n * VHCA_WQE_BLOCK);
}

static int post(struct bench *b, const struct ib_send_wr *wr)
{
	const struct ib_send_wr *bad = NULL;
	int err = vhca_post_send(&b->qp.ibqp, wr, &bad);

	KUNIT_EXPECT_PTR_EQ(b->test, bad, err ? wr : NULL);
	return err;
}

/* Posts a request and returns its blocks. */
static struct vhca_wqe_ctrl *posted(struct bench *b, const struct ib_send_wr *wr)
{
	u64 head = b->qpk.sq.head;

	KUNIT_ASSERT_EQ(b->test, post(b, wr), 0);
	return block(b, vhca_ring_slot(head, BENCH_SQ_LOG));
}

/* Completes the last request, and returns the consumer's completion. */
static struct ib_wc completed(struct bench *b)
{
	struct ib_wc wc;

	bench_complete(b, bench_done(b->qpk.sq.head, 0));
	KUNIT_ASSERT_EQ(b->test, bench_poll(b, 1, &wc), 1);
	return wc;
}

static void check_ctrl(struct bench *b, const struct vhca_wqe_ctrl *ctrl, u8 opcode, u8 nblk,
		       u8 nsge)
{
	KUNIT_EXPECT_EQ(b->test, ctrl->opcode, opcode);
	KUNIT_EXPECT_EQ(b->test, ctrl->flags, VHCA_WQE_SIGNALED | VHCA_WQE_FENCE);
	KUNIT_EXPECT_EQ(b->test, ctrl->nblk, nblk);
	KUNIT_EXPECT_EQ(b->test, ctrl->nsge, nsge);
	KUNIT_EXPECT_EQ(b->test, le64_to_cpu(ctrl->wr_id), 0x77);
	KUNIT_EXPECT_EQ(b->test, le32_to_cpu(ctrl->inline_len), 0);
	KUNIT_EXPECT_NULL(b->test, memchr_inv(ctrl->rsvd, 0, sizeof(ctrl->rsvd)));
}

#define WR(op, list, n)								\
	{									\
		.wr_id = 0x77, .opcode = IB_WR_##op, .sg_list = list,		\
		.num_sge = n, .send_flags = IB_SEND_SIGNALED | IB_SEND_FENCE,	\
	}

static const struct {
	enum ib_wr_opcode wr;
	u8 op;
	enum ib_wc_opcode wc;
	struct vhca_wqe_atomic seg;
} atomics[] = {
	{
		IB_WR_ATOMIC_CMP_AND_SWP, VHCA_OP_CMP_SWAP, IB_WC_COMP_SWAP,
		{ cpu_to_le64(0x22), cpu_to_le64(0x11), 0, 0 },
	},
	{
		IB_WR_ATOMIC_FETCH_AND_ADD, VHCA_OP_FETCH_ADD, IB_WC_FETCH_ADD,
		{ cpu_to_le64(0x11), 0, 0, 0 },
	},
	{
		IB_WR_MASKED_ATOMIC_CMP_AND_SWP, VHCA_OP_MASKED_CMP_SWAP, IB_WC_MASKED_COMP_SWAP,
		{ cpu_to_le64(0x22), cpu_to_le64(0x11), cpu_to_le64(0x44), cpu_to_le64(0x33) },
	},
	{
		IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, VHCA_OP_MASKED_FETCH_ADD,
		IB_WC_MASKED_FETCH_ADD, { cpu_to_le64(0x11), 0, cpu_to_le64(0x33), 0 },
	},
};

static void test_atomics(struct kunit *test)
{
	struct ib_sge sge = { 0x1000, 8, 5 };
	struct ib_atomic_wr wr = {
		.wr = WR(ATOMIC_CMP_AND_SWP, &sge, 1),
		.remote_addr = 0x1122334455667788, .rkey = 0x99,
		.compare_add = 0x11, .swap = 0x22, .compare_add_mask = 0x33, .swap_mask = 0x44,
	};
	struct bench *b = test->priv;
	struct vhca_wqe_ctrl *ctrl;
	struct vhca_wqe_raddr *raddr;
	struct vhca_sge *seg;
	u8 bytes[sizeof(struct vhca_wqe_atomic)];

	/* The last of these wraps at the end of the ring of eight blocks. */
	KUNIT_ASSERT_EQ(test, bench_send(b, 1, 1), 0);
	completed(b);
	for (unsigned int i = 0; i < ARRAY_SIZE(atomics); i++) {
		wr.wr.opcode = atomics[i].wr;
		ctrl = posted(b, &wr.wr);
		check_ctrl(b, ctrl, atomics[i].op, 2, 1);
		raddr = (void *)(ctrl + 1);
		KUNIT_EXPECT_EQ(test, le64_to_cpu(raddr->addr), 0x1122334455667788);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(raddr->rkey), 0x99);
		/* The segment's first half ends its block. */
		memcpy(bytes, raddr + 1, 16);
		memcpy(bytes + 16, block(b, (2 * i + 2) % 8), 16);
		KUNIT_EXPECT_MEMEQ(test, bytes, &atomics[i].seg, sizeof(bytes));
		seg = (void *)block(b, (2 * i + 2) % 8) + 16;
		KUNIT_EXPECT_EQ(test, le64_to_cpu(seg->addr), 0x1000);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(seg->length), 8);
		KUNIT_EXPECT_EQ(test, le32_to_cpu(seg->lkey), 5);
		KUNIT_EXPECT_EQ(test, completed(b).opcode, atomics[i].wc);
	}
	wr.wr.num_sge = 2;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
	wr.wr.num_sge = 0;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
	wr.wr.num_sge = 1;
	wr.wr.send_flags = IB_SEND_INLINE;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
}

static void test_atomic_write(struct kunit *test)
{
	u64 value = 0xa1a2a3a4a5a6a7a8;
	struct ib_sge sge = { 0x1000, 8, 5 };
	struct ib_rdma_wr wr = { .wr = WR(ATOMIC_WRITE, &sge, 1), .remote_addr = 16, .rkey = 7 };
	struct bench *b = test->priv;
	struct vhca_wqe_raddr *raddr;
	struct vhca_wqe_ctrl *ctrl;

	ctrl = posted(b, &wr.wr);
	check_ctrl(b, ctrl, VHCA_OP_ATOMIC_WRITE, 1, 1);
	raddr = (void *)(ctrl + 1);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(raddr->addr), 16);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(raddr->rkey), 7);
	KUNIT_EXPECT_EQ(test, completed(b).opcode, IB_WC_ATOMIC_WRITE);

	sge.addr = (uintptr_t)&value;
	wr.wr.send_flags |= IB_SEND_INLINE;
	ctrl = posted(b, &wr.wr);
	KUNIT_EXPECT_EQ(test, ctrl->nsge, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(ctrl->inline_len), 8);
	KUNIT_EXPECT_MEMEQ(test, (void *)ctrl + 48, &value, sizeof(value));
}

static void test_invalidations(struct kunit *test)
{
	struct ib_sge sge = { 0x1000, 64, TEST_KEY + 3 };
	struct ib_send_wr send = WR(SEND_WITH_INV, &sge, 1);
	struct ib_send_wr local = WR(LOCAL_INV, NULL, 0);
	struct ib_rdma_wr read = { .wr = WR(RDMA_READ_WITH_INV, &sge, 1), .remote_addr = 16 };
	struct bench *b = test->priv;
	struct vhca_wqe_ctrl *ctrl;

	send.ex.invalidate_rkey = 0xa1b2c3d4;
	ctrl = posted(b, &send);
	check_ctrl(b, ctrl, VHCA_OP_SEND_INV, 1, 1);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(ctrl->inv_key), 0xa1b2c3d4);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(((struct vhca_sge *)(ctrl + 1))->lkey), TEST_KEY + 3);
	KUNIT_EXPECT_EQ(test, completed(b).opcode, IB_WC_SEND);

	local.ex.invalidate_rkey = TEST_KEY + 9;
	ctrl = posted(b, &local);
	check_ctrl(b, ctrl, VHCA_OP_LOCAL_INV, 1, 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(ctrl->inv_key), TEST_KEY + 9);
	KUNIT_EXPECT_EQ(test, completed(b).opcode, IB_WC_LOCAL_INV);
	local.num_sge = 1;
	KUNIT_EXPECT_EQ(test, post(b, &local), -EINVAL);

	read.wr.ex.invalidate_rkey = TEST_KEY + 3;
	ctrl = posted(b, &read.wr);
	check_ctrl(b, ctrl, VHCA_OP_READ_INV, 1, 1);
	KUNIT_EXPECT_EQ(test, completed(b).opcode, IB_WC_RDMA_READ);
	/* The key to be invalidated must be that of the entry, as the request has no other key. */
	read.wr.ex.invalidate_rkey++;
	KUNIT_EXPECT_EQ(test, post(b, &read.wr), -EINVAL);
	read.wr.ex.invalidate_rkey--;
	read.wr.num_sge = 2;
	KUNIT_EXPECT_EQ(test, post(b, &read.wr), -EINVAL);
}

static struct vhca_fast_mr *key(struct bench *b, bool gaps)
{
	struct vhca_fast_mr *fast = kunit_kzalloc(b->test, sizeof(*fast), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(b->test, fast);
	fast->mr.fast = true;
	fast->mr.ibmr.device = &b->dev.ibdev;
	fast->mr.ibmr.lkey = TEST_KEY + 1;
	fast->mr.ibmr.page_size = SZ_64K;
	fast->mr.ibmr.iova = 0x7000012345;
	fast->mr.ibmr.length = 100000;
	fast->gaps = gaps;
	fast->entries = 2;
	fast->start = 0x12345;
	return fast;
}

static void test_registration(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_fast_mr *fast = key(b, false);
	struct ib_reg_wr wr = {
		.wr = WR(REG_MR, NULL, 0), .mr = &fast->mr.ibmr, .key = TEST_KEY + 2,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC |
			  IB_ACCESS_FLUSH_PERSISTENT | IB_ACCESS_RELAXED_ORDERING,
	};
	struct vhca_wqe_ctrl *ctrl = posted(b, &wr.wr);
	struct vhca_wqe_reg want = {
		.key = cpu_to_le32(TEST_KEY + 2), .entries = cpu_to_le32(2),
		.iova = cpu_to_le64(0x7000012345), .length = cpu_to_le64(100000),
		.access = VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_ATOMIC |
			  VHCA_ACCESS_FLUSH_PERSISTENT,
		.page_shift = 16,
	};

	check_ctrl(b, ctrl, VHCA_OP_REG_MR, 1, 0);
	KUNIT_EXPECT_MEMEQ(test, (void *)(ctrl + 1), &want, sizeof(want));
	KUNIT_EXPECT_EQ(test, completed(b).opcode, IB_WC_REG_MR);

	fast->gaps = true;
	fast->mr.ibmr.iova = 3;	/* lists of pieces have no page size: any address is valid */
	ctrl = posted(b, &wr.wr);
	want.iova = cpu_to_le64(3);
	want.page_shift = 0;
	KUNIT_EXPECT_MEMEQ(test, (void *)(ctrl + 1), &want, sizeof(want));
}

/* Local operations on UC QPs, which need a capability; UD QPs have none. */
static void test_unreliable_registration(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_fast_mr *fast = key(b, false);
	struct ib_reg_wr reg = {
		.wr = WR(REG_MR, NULL, 0), .mr = &fast->mr.ibmr, .key = TEST_KEY + 2,
		.access = IB_ACCESS_LOCAL_WRITE,
	};
	struct ib_send_wr inv = WR(LOCAL_INV, NULL, 0);

	b->qp.ibqp.qp_type = IB_QPT_UC;
	check_ctrl(b, posted(b, &reg.wr), VHCA_OP_REG_MR, 1, 0);
	KUNIT_EXPECT_EQ(test, completed(b).opcode, IB_WC_REG_MR);
	check_ctrl(b, posted(b, &inv), VHCA_OP_LOCAL_INV, 1, 0);
	KUNIT_EXPECT_EQ(test, completed(b).opcode, IB_WC_LOCAL_INV);

	b->dev.hw.limits.caps = ~BIT_ULL(VHCA_CAP_UC_FAST_REG);
	vhca_caps_init(&b->dev);
	KUNIT_EXPECT_EQ(test, post(b, &reg.wr), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(b, &inv), -EINVAL);
	b->qp.ibqp.qp_type = IB_QPT_RC;
	KUNIT_EXPECT_EQ(test, post(b, &reg.wr), 0);
	b->dev.hw.limits.caps = U64_MAX;
	vhca_caps_init(&b->dev);
	b->qp.ibqp.qp_type = IB_QPT_UD;
	KUNIT_EXPECT_EQ(test, post(b, &reg.wr), -EINVAL);
	KUNIT_EXPECT_EQ(test, post(b, &inv), -EINVAL);
	b->qp.ibqp.qp_type = IB_QPT_RC;
}

static void test_bad_registrations(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_fast_mr *fast = key(b, false);
	struct ib_reg_wr wr = {
		.wr = WR(REG_MR, NULL, 0), .mr = &fast->mr.ibmr, .key = TEST_KEY + 2,
		.access = IB_ACCESS_LOCAL_WRITE,
	};

	wr.key += 0x100;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
	wr.key -= 0x100;
	/* The key is zero-based, but the data do not begin at a page boundary. */
	fast->mr.ibmr.iova = 0;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
	fast->start = 0x50000;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), 0);
	wr.access |= IB_ACCESS_ON_DEMAND;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EOPNOTSUPP);
	wr.access = IB_ACCESS_REMOTE_READ;
	fast->entries = 0;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
	fast->entries = 2;
	wr.wr.num_sge = 1;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
	wr.wr.num_sge = 0;
	fast->mr.fast = false;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
	KUNIT_EXPECT_EQ(test, b->qpk.sq.head, 1);
}

/* Operations without capability are refused, and so are those without a kernel structure. */
static void test_not_offered(struct kunit *test)
{
	static const struct {
		enum ib_wr_opcode op;
		enum vhca_cap cap;
	} ops[] = {
		{ IB_WR_ATOMIC_CMP_AND_SWP, VHCA_CAP_ATOMIC },
		{ IB_WR_ATOMIC_FETCH_AND_ADD, VHCA_CAP_ATOMIC },
		{ IB_WR_MASKED_ATOMIC_CMP_AND_SWP, VHCA_CAP_MASKED_ATOMIC },
		{ IB_WR_MASKED_ATOMIC_FETCH_AND_ADD, VHCA_CAP_MASKED_ATOMIC },
		{ IB_WR_ATOMIC_WRITE, VHCA_CAP_ATOMIC_WRITE },
		{ IB_WR_SEND_WITH_INV, VHCA_CAP_FAST_REG },
	};
	struct bench *b = test->priv;
	struct ib_sge sge = { 0x1000, 8, 5 };
	struct ib_atomic_wr wr = { .wr = WR(SEND, &sge, 1) };

	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		wr.wr.opcode = ops[i].op;
		b->dev.hw.limits.caps = ~BIT_ULL(ops[i].cap);
		vhca_caps_init(&b->dev);
		KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
		b->dev.hw.limits.caps = U64_MAX;
		vhca_caps_init(&b->dev);
		KUNIT_EXPECT_EQ(test, post(b, &wr.wr), 0);
		completed(b);
	}
	wr.wr.opcode = IB_WR_BIND_MW;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
	wr.wr.opcode = IB_WR_FLUSH;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
}

static void test_only_of_rc(struct kunit *test)
{
	static const enum ib_wr_opcode ops[] = {
		IB_WR_ATOMIC_CMP_AND_SWP, IB_WR_ATOMIC_WRITE, IB_WR_SEND_WITH_INV,
		IB_WR_RDMA_READ, IB_WR_RDMA_READ_WITH_INV,
	};
	struct bench *b = test->priv;
	struct ib_sge sge = { 0x1000, 8, 5 };
	struct ib_atomic_wr wr = { .wr = WR(SEND, &sge, 1) };

	b->qp.ibqp.qp_type = IB_QPT_UC;
	for (unsigned int i = 0; i < ARRAY_SIZE(ops); i++) {
		wr.wr.opcode = ops[i];
		KUNIT_EXPECT_EQ(test, post(b, &wr.wr), -EINVAL);
	}
	wr.wr.opcode = IB_WR_SEND;
	KUNIT_EXPECT_EQ(test, post(b, &wr.wr), 0);
	b->qp.ibqp.qp_type = IB_QPT_RC;
}

static void test_key_that_ended(struct kunit *test)
{
	struct vhca_cqe cqe = bench_done(1, VHCA_CQE_F_RQ | VHCA_CQE_F_INV);
	struct bench *b = test->priv;
	struct ib_wc wc;

	cqe.inv_key = cpu_to_le32(TEST_KEY + 4);
	KUNIT_ASSERT_EQ(test, bench_recv(b, 1), 0);
	bench_complete(b, cqe);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_WITH_INVALIDATE);
	KUNIT_EXPECT_EQ(test, wc.ex.invalidate_rkey, TEST_KEY + 4);
}

struct large {
	struct vhca_ah ah;
	u8 header[VHCA_LSO_MAX_HEADER];
	struct ib_sge sge[2];
	struct ib_ud_wr wr;
};

static struct large *large(struct bench *b)
{
	struct large *l = kunit_kzalloc(b->test, sizeof(*l), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(b->test, l);
	b->qp.ibqp.qp_type = IB_QPT_UD;
	b->qp.create_flags = IB_QP_CREATE_IPOIB_UD_LSO;
	l->ah.ibah.pd = b->qp.ibqp.pd;
	l->ah.av.dlid = cpu_to_le16(0x1234);
	memset(l->header, 0xab, sizeof(l->header));
	l->sge[0] = (struct ib_sge) { 0x1000, 65536, 5 };
	l->wr = (struct ib_ud_wr) {
		.wr = WR(LSO, l->sge, 1), .ah = &l->ah.ibah, .header = l->header, .hlen = 61,
		.mss = 1000, .remote_qpn = 3, .remote_qkey = 4,
	};
	return l;
}

static void test_large_send(struct kunit *test)
{
	struct bench *b = test->priv;
	struct large *l = large(b);
	struct vhca_wqe_ctrl *ctrl;
	struct vhca_wqe_lso *seg;
	struct vhca_sge *sge;
	u8 *bytes;

	/* For LSO the device always sets the checksums: the flag is only for SEND. */
	l->wr.wr.send_flags |= IB_SEND_IP_CSUM;
	ctrl = posted(b, &l->wr.wr);
	check_ctrl(b, ctrl, VHCA_OP_LSO, 3, 1);
	/* The segment is in the second block, behind 16 bytes of the address. */
	seg = (void *)ctrl + VHCA_WQE_BLOCK + 16;
	bytes = (void *)(seg + 1);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(seg->mss), 1000);
	KUNIT_EXPECT_EQ(test, le16_to_cpu(seg->hlen), 61);
	KUNIT_EXPECT_NULL(test, memchr_inv(seg->rsvd, 0, sizeof(seg->rsvd)));
	KUNIT_EXPECT_NULL(test, memchr_inv(bytes, 0xab, 61));
	KUNIT_EXPECT_NULL(test, memchr_inv(bytes + 61, 0, 3));
	sge = (void *)(bytes + 64);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(sge->addr), 0x1000);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(sge->length), 65536);
	KUNIT_EXPECT_EQ(test, completed(b).opcode, IB_WC_LSO);
	b->qp.ibqp.qp_type = IB_QPT_RC;
}

static void test_bad_large_sends(struct kunit *test)
{
	struct bench *b = test->priv;
	struct large *l = large(b);
	struct ib_ud_wr good = l->wr;

#define BAD(change)								\
	do {									\
		l->wr = good;							\
		change;								\
		KUNIT_EXPECT_EQ(test, post(b, &l->wr.wr), -EINVAL);		\
	} while (0)
	BAD(l->wr.mss = 0);
	BAD(l->wr.mss = -1);
	BAD(l->wr.mss = 65536);
	BAD(l->wr.hlen = 0);
	BAD(l->wr.hlen = -1);
	BAD(l->wr.hlen = VHCA_LSO_MAX_HEADER + 1);
	BAD(l->wr.header = NULL);
	BAD(l->wr.wr.send_flags = IB_SEND_INLINE);
	l->sge[0].length++;
	BAD();
	l->sge[0].length--;
	b->qp.create_flags = 0;
	BAD();
	b->qp.create_flags = IB_QP_CREATE_IPOIB_UD_LSO;
	b->dev.hw.limits.caps = ~BIT_ULL(VHCA_CAP_UD_LSO);
	vhca_caps_init(&b->dev);
	BAD();
	b->dev.hw.limits.caps = U64_MAX;
	vhca_caps_init(&b->dev);
	b->qp.ibqp.qp_type = IB_QPT_RC;
	BAD();
#undef BAD
	KUNIT_EXPECT_EQ(test, b->qpk.sq.head, 0);
}

static void test_checksums(struct kunit *test)
{
	struct bench *b = test->priv;
	struct large *l = large(b);
	struct vhca_cqe cqe = bench_done(1, VHCA_CQE_F_RQ);
	struct vhca_wqe_ctrl *ctrl;
	struct ib_wc wc;

	l->wr.wr.opcode = IB_WR_SEND;
	l->wr.wr.send_flags = IB_SEND_SIGNALED | IB_SEND_IP_CSUM;
	ctrl = posted(b, &l->wr.wr);
	KUNIT_EXPECT_EQ(test, ctrl->flags, VHCA_WQE_SIGNALED | VHCA_WQE_IP_CSUM);
	KUNIT_EXPECT_EQ(test, completed(b).opcode, IB_WC_SEND);
	l->wr.wr.opcode = IB_WR_SEND_WITH_IMM;
	KUNIT_EXPECT_EQ(test, post(b, &l->wr.wr), -EINVAL);
	l->wr.wr.opcode = IB_WR_SEND;
	b->dev.hw.limits.caps = ~BIT_ULL(VHCA_CAP_UD_CSUM);
	KUNIT_EXPECT_EQ(test, post(b, &l->wr.wr), -EINVAL);
	b->dev.hw.limits.caps = U64_MAX;
	b->qp.ibqp.qp_type = IB_QPT_RC;
	KUNIT_EXPECT_EQ(test, post(b, &l->wr.wr), -EINVAL);

	KUNIT_ASSERT_EQ(test, bench_recv(b, 1), 0);
	cqe.more_flags = VHCA_CQE_X_CSUM_OK;
	bench_complete(b, cqe);
	KUNIT_ASSERT_EQ(test, bench_poll(b, 1, &wc), 1);
	KUNIT_EXPECT_EQ(test, wc.wc_flags, IB_WC_IP_CSUM_OK);
}

static void test_block_counts(struct kunit *test)
{
	struct bench *b = test->priv;
	struct vhca_dev *dev = &b->dev;

	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_RC, 0, 0), 1);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_RC, 0, 16), 1);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_RC, 0, 17), 2);
	/* An atomic needs two blocks, and 61 entries need the maximum. */
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_RC, 1, 0), 2);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_UC, 1, 0), 1);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_RC, 32, 512), 9);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_RC, 61, 0), VHCA_WQE_MAX_BLOCKS);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_UD, 32, 512), 10);
	KUNIT_EXPECT_EQ(test, vhca_lso_wqe_blocks(18), 8);
	KUNIT_EXPECT_EQ(test, vhca_lso_wqe_blocks(32), 12);
	dev->hw.limits.caps = 0;
	vhca_caps_init(dev);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_RC, 1, 0), 1);
	KUNIT_EXPECT_EQ(test, vhca_send_wqe_blocks(dev, IB_QPT_RC, 2, 0), 2);
}

static struct kunit_case wqe_cases[] = {
	KUNIT_CASE(test_atomics),
	KUNIT_CASE(test_atomic_write),
	KUNIT_CASE(test_invalidations),
	KUNIT_CASE(test_registration),
	KUNIT_CASE(test_unreliable_registration),
	KUNIT_CASE(test_bad_registrations),
	KUNIT_CASE(test_not_offered),
	KUNIT_CASE(test_only_of_rc),
	KUNIT_CASE(test_key_that_ended),
	KUNIT_CASE(test_large_send),
	KUNIT_CASE(test_bad_large_sends),
	KUNIT_CASE(test_checksums),
	KUNIT_CASE(test_block_counts),
	{}
};

struct kunit_suite vhca_wqe_suite = {
	.name = "vhca_wqe",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = wqe_cases,
};
