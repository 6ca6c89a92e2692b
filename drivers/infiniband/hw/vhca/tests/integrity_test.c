// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* INTEGRITY keys: the parameters that the device gets, and the errors that it reports. */
#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>

#include "../verbs/mr.h"
#include "../verbs/qp.h"
#include "test_queues.h"

#define ENTRIES		4
#define TEST_KEY	0x1200

struct fixture {
	struct bench *b;
	struct vhca_fast_mr fast;
	struct ib_sig_attrs attrs;
	struct scatterlist data[ENTRIES], meta[ENTRIES];
};

static struct fixture *make(struct kunit *test)
{
	struct bench *b = test->priv;
	struct fixture *f = kunit_kzalloc(test, sizeof(*f), GFP_KERNEL);
	struct vhca_fast_mr *fast = &f->fast;

	KUNIT_ASSERT_NOT_NULL(test, f);
	f->b = b;
	fast->pi = kunit_kzalloc(test, sizeof(*fast->pi) + ENTRIES * sizeof(struct vhca_sg_entry),
				 GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fast->pi);
	fast->mr.fast = true;
	fast->mr.ibmr.device = &b->dev.ibdev;
	fast->mr.ibmr.lkey = TEST_KEY;
	fast->mr.ibmr.sig_attrs = &f->attrs;
	fast->gaps = true;
	fast->max = ENTRIES;
	sg_init_table(f->data, ENTRIES);
	sg_init_table(f->meta, ENTRIES);
	return f;
}

static void piece(struct scatterlist *sg, u64 addr, u32 len)
{
	sg_dma_address(sg) = addr;
	sg_dma_len(sg) = len;
}

static int map(struct fixture *f, int data, int meta)
{
	return vhca_map_mr_sg_pi(&f->fast.mr.ibmr, f->data, data, NULL, f->meta, meta, NULL);
}

static void expect_piece(struct kunit *test, struct fixture *f, u32 i, u64 addr, u64 end)
{
	struct vhca_sg_entry *entry = (void *)(f->fast.pi + 1);

	KUNIT_EXPECT_EQ(test, le64_to_cpu(entry[i].addr), addr);
	KUNIT_EXPECT_EQ(test, le64_to_cpu(entry[i].end), end);
}

/* Each list begins at its own byte 0. */
static void test_two_lists(struct kunit *test)
{
	struct fixture *f = make(test);

	piece(&f->data[0], 0x10100, 0x300);
	piece(&f->data[1], 0x40000, 0x100);
	piece(&f->meta[0], 0x7008, 8);
	piece(&f->meta[1], 0x9000, 8);
	f->fast.pi->error = cpu_to_le32(VHCA_DIF_BAD_GUARD);
	KUNIT_EXPECT_EQ(test, map(f, 2, 2), 0);
	KUNIT_EXPECT_EQ(test, f->fast.entries, 4);
	KUNIT_EXPECT_EQ(test, f->fast.data_entries, 2);
	KUNIT_EXPECT_EQ(test, f->fast.mr.ibmr.iova, 0x10100);
	KUNIT_EXPECT_EQ(test, f->fast.mr.ibmr.length, 0x400 + 16);
	KUNIT_EXPECT_EQ(test, f->attrs.meta_length, 16);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(f->fast.pi->error), VHCA_DIF_GOOD);
	expect_piece(test, f, 0, 0x10100, 0x300);
	expect_piece(test, f, 1, 0x40000, 0x400);
	expect_piece(test, f, 2, 0x7008, 8);
	expect_piece(test, f, 3, 0x9000, 16);
	/* Fields are interleaved with the data. */
	KUNIT_EXPECT_EQ(test, map(f, 2, 0), 0);
	KUNIT_EXPECT_EQ(test, f->fast.entries, 2);
	KUNIT_EXPECT_EQ(test, f->fast.data_entries, 2);
	KUNIT_EXPECT_EQ(test, f->fast.mr.ibmr.length, 0x400);
	KUNIT_EXPECT_EQ(test, f->attrs.meta_length, 0);
}

static void test_too_many(struct kunit *test)
{
	struct fixture *f = make(test);

	for (int i = 0; i < ENTRIES; i++) {
		piece(&f->data[i], (2 * i + 1) * SZ_4K, SZ_4K);
		piece(&f->meta[i], (2 * i + 1) * SZ_4K + SZ_1M, 8);
	}
	KUNIT_EXPECT_EQ(test, map(f, ENTRIES, 0), 0);
	KUNIT_EXPECT_EQ(test, map(f, ENTRIES, 1), -ENOMEM);
	KUNIT_EXPECT_EQ(test, f->fast.entries, 0);	/* it cannot be registered */
	KUNIT_EXPECT_EQ(test, map(f, 2, 3), -ENOMEM);
	KUNIT_EXPECT_EQ(test, map(f, 2, 2), 0);
	KUNIT_EXPECT_EQ(test, map(f, 0, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, map(f, 2, -1), -EINVAL);
	KUNIT_EXPECT_EQ(test, f->fast.entries, 0);
	/* ib_map_mr_sg() is not allowed for such a key. */
	KUNIT_EXPECT_EQ(test, vhca_map_mr_sg(&f->fast.mr.ibmr, f->data, 1, NULL), -EINVAL);
}

static struct ib_sig_domain domain(enum ib_t10_dif_bg_type guard)
{
	return (struct ib_sig_domain) {
		.sig_type = IB_SIG_TYPE_T10_DIF,
		.sig.dif = {
			.bg_type = guard, .pi_interval = 512, .bg = 0x1122, .app_tag = 0x3344,
			.ref_tag = 0x55667788, .apptag_check_mask = 0x99aa,
		},
	};
}

static void test_header(struct kunit *test)
{
	struct fixture *f = make(test);
	struct vhca_integrity want = {
		.mem = {
			.guard = VHCA_DIF_CSUM, .flags = VHCA_DIF_REMAP | VHCA_DIF_REF_ESCAPE,
			.seed = cpu_to_le16(0x1122), .app_tag = cpu_to_le16(0x3344),
			.app_mask = cpu_to_le16(0x99aa), .ref_tag = cpu_to_le32(0x55667788),
		},
		.interval = cpu_to_le16(512), .check = 0xc3, .data_entries = cpu_to_le32(1),
	};

	piece(&f->data[0], 0x1000, 512);
	piece(&f->meta[0], 0x3000, 8);
	KUNIT_ASSERT_EQ(test, map(f, 1, 1), 0);
	f->attrs.check_mask = 0xc3;
	f->attrs.mem = domain(IB_T10DIF_CSUM);
	f->attrs.mem.sig.dif.ref_remap = true;
	f->attrs.mem.sig.dif.ref_escape = true;
	/* The attributes of a side without fields are ignored. */
	f->attrs.wire.sig.dif.app_tag = 7;
	vhca_write_integrity(&f->fast);
	KUNIT_EXPECT_MEMEQ(test, (void *)f->fast.pi, (void *)&want, sizeof(want));

	f->attrs.mem.sig_type = IB_SIG_TYPE_NONE;
	f->attrs.wire = domain(IB_T10DIF_CRC);
	f->attrs.wire.sig.dif.app_escape = true;
	want.wire = want.mem;
	want.wire.guard = VHCA_DIF_CRC;
	want.wire.flags = VHCA_DIF_APP_ESCAPE;
	want.mem = (struct vhca_dif){};
	vhca_write_integrity(&f->fast);
	KUNIT_EXPECT_MEMEQ(test, (void *)f->fast.pi, (void *)&want, sizeof(want));
}

static struct ib_reg_wr reg(struct fixture *f, enum ib_wr_opcode opcode)
{
	return (struct ib_reg_wr) {
		.wr = { .opcode = opcode }, .mr = &f->fast.mr.ibmr, .key = TEST_KEY + 1,
		.access = IB_ACCESS_LOCAL_WRITE,
	};
}

static int post(struct fixture *f, const struct ib_reg_wr *wr)
{
	const struct ib_send_wr *bad;

	return vhca_post_send(&f->b->qp.ibqp, &wr->wr, &bad);
}

static void test_request(struct kunit *test)
{
	struct fixture *f = make(test);
	struct ib_reg_wr wr = reg(f, IB_WR_REG_MR_INTEGRITY), plain = reg(f, IB_WR_REG_MR);
	struct vhca_qp *qp = &f->b->qp;

	piece(&f->data[0], 0x1000, 512);
	piece(&f->meta[0], 0x3000, 8);
	KUNIT_ASSERT_EQ(test, map(f, 1, 1), 0);
	f->attrs.wire = domain(IB_T10DIF_CRC);
	KUNIT_EXPECT_EQ(test, post(f, &wr), -EINVAL);	/* the QP lacks the flag */
	qp->create_flags |= IB_QP_CREATE_INTEGRITY_EN;
	KUNIT_EXPECT_EQ(test, post(f, &plain), -EINVAL);
	f->attrs.wire.sig.dif.pi_interval = VHCA_DIF_MIN_INTERVAL - 1;
	KUNIT_EXPECT_EQ(test, post(f, &wr), -EINVAL);
	f->attrs.wire.sig.dif.pi_interval = VHCA_DIF_MAX_INTERVAL + 1;
	KUNIT_EXPECT_EQ(test, post(f, &wr), -EINVAL);
	f->attrs.wire.sig.dif.pi_interval = 4096;
	f->attrs.mem = domain(IB_T10DIF_CRC);
	KUNIT_EXPECT_EQ(test, post(f, &wr), -EINVAL);	/* intervals differ */
	f->attrs.wire.sig.dif.pi_interval = 512;
	f->attrs.mem.sig_type = IB_SIG_TYPE_T10_DIF + 1;
	KUNIT_EXPECT_EQ(test, post(f, &wr), -EINVAL);
	f->attrs.mem.sig_type = IB_SIG_TYPE_T10_DIF;
	/* The parameters are written when the key is registered, not before. */
	KUNIT_EXPECT_EQ(test, le32_to_cpu(f->fast.pi->data_entries), 0);
	KUNIT_EXPECT_EQ(test, post(f, &wr), 0);
	KUNIT_EXPECT_EQ(test, le32_to_cpu(f->fast.pi->data_entries), 1);
	qp->create_flags &= ~IB_QP_CREATE_INTEGRITY_EN;
}

static u64 length_posted(struct fixture *f, const struct ib_reg_wr *wr)
{
	u64 head = f->b->qpk.sq.head;
	struct vhca_wqe_ctrl *ctrl;

	KUNIT_ASSERT_EQ(f->b->test, post(f, wr), 0);
	ctrl = vhca_kbuf_at(&f->b->qpk.sq.ring.mem,
			    vhca_ring_slot(head, BENCH_SQ_LOG) * VHCA_WQE_BLOCK);
	return le64_to_cpu(((struct vhca_wqe_reg *)(ctrl + 1))->length);
}

/* The key's length is that of the data stream on the wire; inconsistent lengths are refused. */
static void test_lengths(struct kunit *test)
{
	struct fixture *f = make(test);
	struct ib_reg_wr wr = reg(f, IB_WR_REG_MR_INTEGRITY);
	struct vhca_qp *qp = &f->b->qp;

	qp->create_flags |= IB_QP_CREATE_INTEGRITY_EN;
	piece(&f->data[0], 0x1000, 1024);
	piece(&f->meta[0], 0x3000, 16);
	f->attrs.wire = domain(IB_T10DIF_CRC);
	KUNIT_ASSERT_EQ(test, map(f, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, length_posted(f, &wr), 1040);	/* fields are generated */
	KUNIT_EXPECT_EQ(test, f->fast.mr.ibmr.length, 1024);
	f->attrs.mem = domain(IB_T10DIF_CRC);
	KUNIT_EXPECT_EQ(test, post(f, &wr), -EINVAL);	/* 1024 is no multiple of 520 */
	KUNIT_ASSERT_EQ(test, map(f, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, length_posted(f, &wr), 1040);
	f->attrs.wire.sig_type = IB_SIG_TYPE_NONE;
	KUNIT_EXPECT_EQ(test, length_posted(f, &wr), 1040);	/* what the consumer takes it for */
	sg_dma_len(&f->meta[0]) = 15;
	KUNIT_ASSERT_EQ(test, map(f, 1, 1), 0);
	KUNIT_EXPECT_EQ(test, post(f, &wr), -EINVAL);
	f->attrs.mem.sig_type = IB_SIG_TYPE_NONE;
	KUNIT_EXPECT_EQ(test, post(f, &wr), 0);
	f->attrs.wire = domain(IB_T10DIF_CRC);
	sg_dma_len(&f->data[0]) = 1025;
	KUNIT_ASSERT_EQ(test, map(f, 1, 0), 0);
	KUNIT_EXPECT_EQ(test, post(f, &wr), -EINVAL);
	qp->create_flags &= ~IB_QP_CREATE_INTEGRITY_EN;
}

static void test_status(struct kunit *test)
{
	static const struct {
		u32 error;
		enum ib_sig_err_type type;
	} errors[] = {
		{ VHCA_DIF_BAD_GUARD, IB_SIG_BAD_GUARD },
		{ VHCA_DIF_BAD_APP_TAG, IB_SIG_BAD_APPTAG },
		{ VHCA_DIF_BAD_REF_TAG, IB_SIG_BAD_REFTAG },
	};
	struct fixture *f = make(test);
	struct ib_mr *mr = &f->fast.mr.ibmr;
	struct vhca_integrity *pi = f->fast.pi;
	struct ib_mr_status status;

	pi->interval = cpu_to_le16(520);
	for (unsigned int i = 0; i < ARRAY_SIZE(errors); i++) {
		pi->expected = cpu_to_le32(0x11223344);
		pi->actual = cpu_to_le32(i);
		pi->interval_nr = cpu_to_le64(10000000000 + i);
		pi->error = cpu_to_le32(errors[i].error);
		KUNIT_EXPECT_EQ(test, vhca_check_mr_status(mr, 0, &status), 0);
		KUNIT_EXPECT_EQ(test, status.fail_status, 0);
		KUNIT_EXPECT_EQ(test, vhca_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status), 0);
		KUNIT_EXPECT_EQ(test, status.fail_status, IB_MR_CHECK_SIG_STATUS);
		KUNIT_EXPECT_EQ(test, status.sig_err.err_type, errors[i].type);
		KUNIT_EXPECT_EQ(test, status.sig_err.expected, 0x11223344);
		KUNIT_EXPECT_EQ(test, status.sig_err.actual, i);
		KUNIT_EXPECT_EQ(test, status.sig_err.sig_err_offset, (10000000000 + i) * 528);
		KUNIT_EXPECT_EQ(test, status.sig_err.key, TEST_KEY);
		KUNIT_EXPECT_EQ(test, vhca_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status), 0);
		KUNIT_EXPECT_EQ(test, status.fail_status, 0);
	}
	KUNIT_EXPECT_EQ(test, vhca_check_mr_status(mr, 2, &status), -EINVAL);
	f->fast.pi = NULL;
	KUNIT_EXPECT_EQ(test, vhca_check_mr_status(mr, IB_MR_CHECK_SIG_STATUS, &status), -EINVAL);
	f->fast.pi = pi;
}

static struct kunit_case integrity_cases[] = {
	KUNIT_CASE(test_two_lists),
	KUNIT_CASE(test_too_many),
	KUNIT_CASE(test_header),
	KUNIT_CASE(test_request),
	KUNIT_CASE(test_lengths),
	KUNIT_CASE(test_status),
	{}
};

struct kunit_suite vhca_integrity_suite = {
	.name = "vhca_integrity",
	.init = bench_init,
	.exit = bench_exit,
	.test_cases = integrity_cases,
};
