// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: R/W contexts, on a device whose DMA addresses are kernel virtual addresses.
 */
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/mr_pool.h>
#include <rdma/rw.h>
#include "../../verbs/tests/test_verbs.h"

#define PORT	1
#define ORDER	4	/* order of the memory from which lists are made */
#define REMOTE	0x100000000ULL
#define RKEY	0x777

/**
 * struct rw_test - a QP and memory
 * @ports: port data of the device
 * @memory: pages
 * @pd: PD
 * @cq: CQ
 * @qp: QP of new_qp()
 * @sg: scatter list
 */
struct rw_test {
	struct ib_port_data ports[2];
	void *memory;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct scatterlist sg[16];
};

static struct rw_test rw;

static int rw_init(struct kunit *test)
{
	struct ib_device *device;
	int ret = test_verbs_init(test);

	if (ret)
		return ret;
	memset(&rw, 0, sizeof(rw));
	device = test->priv;
	device->attrs.kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	device->local_dma_lkey = 0xabc;
	device->attrs.max_sge_rd = 2;
	device->attrs.max_qp_wr = 1000;
	device->attrs.max_fast_reg_page_list_len = 4;
	device->phys_port_cnt = 1;
	rw.ports[PORT].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	device->port_data = rw.ports;
	rw.memory = (void *)__get_free_pages(GFP_KERNEL, ORDER);
	KUNIT_ASSERT_NOT_NULL(test, rw.memory);
	rw.pd = ib_alloc_pd(device, 0);
	rw.cq = test_verbs_cq(device);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rw.pd) || IS_ERR(rw.cq));
	return 0;
}

static void rw_exit(struct kunit *test)
{
	struct ib_device *device = test->priv;

	device->port_data = NULL;
	free_pages((unsigned long)rw.memory, ORDER);
	test_verbs_exit(test);
}

static struct ib_qp *try_qp(u32 ctxs, u32 flags)
{
	struct ib_qp_init_attr attr = {
		.qp_type = IB_QPT_RC, .send_cq = rw.cq, .recv_cq = rw.cq,
		.port_num = PORT, .create_flags = flags,
		.cap = { .max_send_wr = 1, .max_send_sge = 3, .max_rdma_ctxs = ctxs },
	};

	return ib_create_qp(rw.pd, &attr);
}

static void new_qp(struct kunit *test, u32 ctxs)
{
	rw.qp = try_qp(ctxs, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rw.qp));
}

/* Makes a list of n pieces of this many bytes, at a distance, from byte first on. */
static void pieces(unsigned int n, unsigned int first, unsigned int bytes, unsigned int distance)
{
	sg_init_table(rw.sg, n);
	for (unsigned int i = 0; i < n; i++)
		sg_set_buf(&rw.sg[i], rw.memory + first + i * distance, bytes);
}

static int init(struct rdma_rw_ctx *ctx, unsigned int n, u32 skip, enum dma_data_direction dir)
{
	return rdma_rw_ctx_init(ctx, rw.qp, PORT, rw.sg, n, skip, REMOTE, RKEY, dir);
}

static void done(struct kunit *test, struct rdma_rw_ctx *ctx, unsigned int n,
		 enum dma_data_direction dir)
{
	rdma_rw_ctx_destroy(ctx, rw.qp, PORT, rw.sg, n, dir);
	KUNIT_EXPECT_EQ(test, 0, rw.qp->mrs_used);
}

/* Posts a transfer, and expects one signalled request at the end. */
static void post(struct kunit *test, struct rdma_rw_ctx *ctx, unsigned int wrs)
{
	struct ib_cqe cqe = {};

	KUNIT_EXPECT_EQ(test, 0, rdma_rw_ctx_post(ctx, rw.qp, PORT, &cqe, NULL));
	KUNIT_ASSERT_EQ(test, wrs, test_verbs.posts);
	for (unsigned int i = 0; i < wrs; i++)
		KUNIT_EXPECT_EQ(test, i == wrs - 1 ? IB_SEND_SIGNALED : 0,
				test_verbs.post[i]->send_flags);
	KUNIT_EXPECT_PTR_EQ(test, &cqe, test_verbs.post[wrs - 1]->wr_cqe);
}

/* Returns the offset in memory of a request without MRs. */
static unsigned int place(const struct ib_sge *sge)
{
	return sge->addr - (unsigned long)rw.memory;
}

static void one_piece(struct kunit *test)
{
	const struct ib_rdma_wr *wr;
	struct rdma_rw_ctx ctx;

	new_qp(test, 4);
	/* A device of this kind registers nothing. */
	KUNIT_EXPECT_EQ(test, 0, test_verbs.mrs);
	pieces(1, 100, 1000, 0);
	KUNIT_ASSERT_EQ(test, 1, init(&ctx, 1, 10, DMA_TO_DEVICE));
	post(test, &ctx, 1);
	wr = rdma_wr(test_verbs.post[0]);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, wr->wr.opcode);
	KUNIT_EXPECT_EQ(test, REMOTE, wr->remote_addr);
	KUNIT_EXPECT_EQ(test, RKEY, wr->rkey);
	KUNIT_EXPECT_EQ(test, 1, wr->wr.num_sge);
	KUNIT_EXPECT_EQ(test, 110, place(&wr->wr.sg_list[0]));
	KUNIT_EXPECT_EQ(test, 990, wr->wr.sg_list[0].length);
	KUNIT_EXPECT_EQ(test, 0xabc, wr->wr.sg_list[0].lkey);
	done(test, &ctx, 1, DMA_TO_DEVICE);
}

static void chain(struct kunit *test)
{
	struct ib_send_wr more = { .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED };
	const struct ib_rdma_wr *wr;
	struct rdma_rw_ctx ctx;

	new_qp(test, 4);
	pieces(8, 0, 512, 4096);
	/* The first entry and 12 bytes are skipped; a WRITE has three entries, a READ two. */
	KUNIT_ASSERT_EQ(test, 3, init(&ctx, 8, 524, DMA_TO_DEVICE));
	post(test, &ctx, 3);
	wr = rdma_wr(test_verbs.post[1]);
	KUNIT_EXPECT_EQ(test, REMOTE + 3 * 512 - 12, wr->remote_addr);
	KUNIT_EXPECT_EQ(test, 4 * 4096, place(&wr->wr.sg_list[0]));
	KUNIT_EXPECT_EQ(test, 4096 + 12, place(&rdma_wr(test_verbs.post[0])->wr.sg_list[0]));
	KUNIT_EXPECT_EQ(test, 1, test_verbs.post[2]->num_sge);
	done(test, &ctx, 8, DMA_TO_DEVICE);

	KUNIT_ASSERT_EQ(test, 4, init(&ctx, 8, 0, DMA_FROM_DEVICE));
	KUNIT_EXPECT_EQ(test, 0, rdma_rw_ctx_post(&ctx, rw.qp, PORT, NULL, &more));
	KUNIT_ASSERT_EQ(test, 5, test_verbs.posts);
	KUNIT_EXPECT_EQ(test, IB_WR_RDMA_READ, test_verbs.post[3]->opcode);
	KUNIT_EXPECT_EQ(test, 0, test_verbs.post[3]->send_flags);
	KUNIT_EXPECT_PTR_EQ(test, &more, test_verbs.post[4]);
	done(test, &ctx, 8, DMA_FROM_DEVICE);

	/* Nothing is left to transfer. */
	KUNIT_EXPECT_EQ(test, -EIO, init(&ctx, 8, 8 * 512, DMA_TO_DEVICE));
	KUNIT_EXPECT_EQ(test, -EIO, init(&ctx, 8, 9 * 512, DMA_TO_DEVICE));
	rw.qp->max_read_sge = 0;
	KUNIT_EXPECT_EQ(test, -EINVAL, init(&ctx, 8, 0, DMA_FROM_DEVICE));
}

/* The caller posts: the requests are linked, and the last one is linked to the caller's chain. */
static void posted_by_caller(struct kunit *test)
{
	struct ib_send_wr more = { .opcode = IB_WR_SEND };
	struct ib_send_wr *wr, *last = NULL;
	struct rdma_rw_ctx ctx;
	struct ib_cqe cqe = {};
	unsigned int n = 0;

	new_qp(test, 4);
	pieces(8, 0, 512, 4096);
	KUNIT_ASSERT_EQ(test, 3, init(&ctx, 8, 0, DMA_TO_DEVICE));
	wr = rdma_rw_ctx_wrs(&ctx, rw.qp, PORT, NULL, &more);
	for (; wr && wr != &more; wr = wr->next, n++) {
		KUNIT_EXPECT_EQ(test, IB_WR_RDMA_WRITE, wr->opcode);
		KUNIT_EXPECT_EQ(test, 0, wr->send_flags);
	}
	KUNIT_EXPECT_EQ(test, 3, n);
	KUNIT_EXPECT_PTR_EQ(test, &more, wr);
	KUNIT_EXPECT_EQ(test, 0, more.send_flags);
	KUNIT_EXPECT_EQ(test, 0, test_verbs.posts);
	done(test, &ctx, 8, DMA_TO_DEVICE);

	/* Without a chain the last request reports the completion of the transfer. */
	for (unsigned int pass = 1; pass < 8; pass += 6) {
		KUNIT_ASSERT_GT(test, init(&ctx, pass, 0, DMA_TO_DEVICE), 0);
		wr = rdma_rw_ctx_wrs(&ctx, rw.qp, PORT, &cqe, NULL);
		for (; wr; wr = wr->next) {
			last = wr;
			KUNIT_EXPECT_EQ(test, wr->next ? 0 : IB_SEND_SIGNALED, wr->send_flags);
		}
		KUNIT_ASSERT_NOT_NULL(test, last);
		KUNIT_EXPECT_PTR_EQ(test, &cqe, last->wr_cqe);
		done(test, &ctx, pass, DMA_TO_DEVICE);
	}
}

/* READs of more entries than the device supports go through MRs while there are any. */
static void registered(struct kunit *test)
{
	struct ib_device *device = test->priv;
	const struct ib_rdma_wr *wr;
	struct rdma_rw_ctx ctx;
	u32 key[2];

	device->attrs.max_sgl_rd = 3;
	new_qp(test, 2);
	KUNIT_EXPECT_EQ(test, 2, test_verbs.mrs);
	pieces(8, 0, 4096, 4096);

	KUNIT_ASSERT_EQ(test, 4, init(&ctx, 8, 0, DMA_FROM_DEVICE));
	KUNIT_EXPECT_EQ(test, 2, ctx.nr_ops);
	KUNIT_EXPECT_EQ(test, 2, rw.qp->mrs_used);
	for (unsigned int i = 0; i < 2; i++)
		key[i] = ctx.reg[i].mr->lkey;
	post(test, &ctx, 4);
	for (unsigned int i = 0; i < 2; i++) {
		const struct ib_reg_wr *reg = reg_wr(test_verbs.post[2 * i]);

		wr = rdma_wr(test_verbs.post[2 * i + 1]);
		KUNIT_EXPECT_EQ(test, IB_WR_REG_MR, reg->wr.opcode);
		KUNIT_EXPECT_EQ(test, IB_ACCESS_LOCAL_WRITE, reg->access);
		KUNIT_EXPECT_EQ(test, ib_inc_rkey(key[i]), reg->key);
		KUNIT_EXPECT_EQ(test, IB_WR_RDMA_READ, wr->wr.opcode);
		KUNIT_EXPECT_EQ(test, REMOTE + i * 4 * 4096, wr->remote_addr);
		KUNIT_EXPECT_EQ(test, reg->key, wr->wr.sg_list[0].lkey);
		KUNIT_EXPECT_EQ(test, 4 * 4096, wr->wr.sg_list[0].length);
		KUNIT_EXPECT_EQ(test, i * 4 * 4096, place(&wr->wr.sg_list[0]));
	}
	/* Without another MR there is no room in the send queue, either. */
	{
		struct rdma_rw_ctx other;

		KUNIT_EXPECT_EQ(test, -EAGAIN, init(&other, 8, 0, DMA_FROM_DEVICE));
		KUNIT_EXPECT_EQ(test, 2, rw.qp->mrs_used);
	}
	done(test, &ctx, 8, DMA_FROM_DEVICE);

	/* MRs that have been registered are invalidated first, under their former key. */
	KUNIT_ASSERT_EQ(test, 6, init(&ctx, 8, 0, DMA_FROM_DEVICE));
	key[0] = ctx.reg[0].mr->lkey;
	post(test, &ctx, 6);
	KUNIT_EXPECT_EQ(test, IB_WR_LOCAL_INV, test_verbs.post[0]->opcode);
	KUNIT_EXPECT_EQ(test, key[0], test_verbs.post[0]->ex.invalidate_rkey);
	KUNIT_EXPECT_EQ(test, ib_inc_rkey(key[0]), reg_wr(test_verbs.post[1])->key);
	KUNIT_EXPECT_EQ(test, IB_WR_LOCAL_INV, test_verbs.post[3]->opcode);
	done(test, &ctx, 8, DMA_FROM_DEVICE);

	/* Few entries, and all WRITEs, need no MR. */
	KUNIT_EXPECT_EQ(test, 2, init(&ctx, 3, 0, DMA_FROM_DEVICE));
	KUNIT_EXPECT_EQ(test, 0, rw.qp->mrs_used);
	done(test, &ctx, 3, DMA_FROM_DEVICE);
	KUNIT_EXPECT_EQ(test, 3, init(&ctx, 8, 0, DMA_TO_DEVICE));
	done(test, &ctx, 8, DMA_TO_DEVICE);
}

/* Lists that do not fit into MRs entry by entry. */
static void odd_lists(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct rdma_rw_ctx ctx;

	device->attrs.max_sgl_rd = 1;
	new_qp(test, 8);
	/* Two entries of six pages and a bit each, four pages per MR. */
	pieces(2, 0, 6 * 4096 + 64, 8 * 4096);
	KUNIT_ASSERT_EQ(test, 8, init(&ctx, 2, 0, DMA_FROM_DEVICE));
	KUNIT_EXPECT_EQ(test, 4, ctx.nr_ops);
	KUNIT_EXPECT_EQ(test, 4 * 4096, ctx.reg[0].sge.length);
	KUNIT_EXPECT_EQ(test, 2 * 4096 + 64, ctx.reg[1].sge.length);
	KUNIT_EXPECT_EQ(test, REMOTE + 6 * 4096 + 64, ctx.reg[2].wr.remote_addr);
	KUNIT_EXPECT_EQ(test, 12 * 4096, place(&ctx.reg[3].sge));
	done(test, &ctx, 2, DMA_FROM_DEVICE);

	/* The same from within the second page on. */
	KUNIT_ASSERT_EQ(test, 8, init(&ctx, 2, 4096 + 100, DMA_FROM_DEVICE));
	KUNIT_EXPECT_EQ(test, 4096 + 100, place(&ctx.reg[0].sge));
	KUNIT_EXPECT_EQ(test, 4 * 4096 - 100, ctx.reg[0].sge.length);
	KUNIT_EXPECT_EQ(test, 4096 + 64, ctx.reg[1].sge.length);
	done(test, &ctx, 2, DMA_FROM_DEVICE);

	/* Gaps within pages. */
	pieces(3, 0, 512, 4096);
	KUNIT_ASSERT_EQ(test, 6, init(&ctx, 3, 0, DMA_FROM_DEVICE));
	KUNIT_EXPECT_EQ(test, 3, ctx.nr_ops);
	KUNIT_EXPECT_EQ(test, REMOTE + 1024, ctx.reg[2].wr.remote_addr);
	done(test, &ctx, 3, DMA_FROM_DEVICE);

	/* Adjoining entries within a page; an MR takes no more entries than pages. */
	pieces(16, 256, 512, 512);
	KUNIT_ASSERT_EQ(test, 8, init(&ctx, 16, 0, DMA_FROM_DEVICE));
	KUNIT_EXPECT_EQ(test, 4, ctx.nr_ops);
	for (unsigned int i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, 2048, ctx.reg[i].sge.length);
		KUNIT_EXPECT_EQ(test, 256 + i * 2048, place(&ctx.reg[i].sge));
	}
	done(test, &ctx, 16, DMA_FROM_DEVICE);

	/* A piece that begins in one MR and ends in the next is counted for both. */
	pieces(6, 2048, 4096, 4096);
	KUNIT_ASSERT_EQ(test, 4, init(&ctx, 6, 0, DMA_FROM_DEVICE));
	KUNIT_EXPECT_EQ(test, 2, ctx.nr_ops);
	KUNIT_EXPECT_EQ(test, 4 * 4096 - 2048, ctx.reg[0].sge.length);
	KUNIT_EXPECT_EQ(test, 2 * 4096 + 2048, ctx.reg[1].sge.length);
	done(test, &ctx, 6, DMA_FROM_DEVICE);
}

static void iwarp(struct kunit *test)
{
	struct rdma_rw_ctx ctx, other;

	rw.ports[PORT].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IWARP;
	new_qp(test, 1);
	KUNIT_EXPECT_EQ(test, 1, test_verbs.mrs);
	pieces(2, 0, 4096, 4096);
	/* The peer writes into a READ's memory, and the READ invalidates the MR. */
	for (unsigned int round = 0; round < 2; round++) {
		KUNIT_ASSERT_EQ(test, 2, init(&ctx, 2, 0, DMA_FROM_DEVICE));
		KUNIT_EXPECT_EQ(test, -EAGAIN, init(&other, 2, 0, DMA_FROM_DEVICE));
		post(test, &ctx, 2);
		KUNIT_EXPECT_EQ(test, IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
				reg_wr(test_verbs.post[0])->access);
		KUNIT_EXPECT_EQ(test, IB_WR_RDMA_READ_WITH_INV, test_verbs.post[1]->opcode);
		KUNIT_EXPECT_EQ(test, ctx.reg[0].mr->lkey,
				test_verbs.post[1]->ex.invalidate_rkey);
		KUNIT_EXPECT_FALSE(test, ctx.reg[0].mr->need_inval);
		done(test, &ctx, 2, DMA_FROM_DEVICE);
	}
	KUNIT_EXPECT_EQ(test, 1, init(&ctx, 2, 0, DMA_TO_DEVICE));
	KUNIT_EXPECT_EQ(test, 0, rw.qp->mrs_used);
	done(test, &ctx, 2, DMA_TO_DEVICE);
}

/* ---- protection fields ---- */

static int sig_map_answer;

static struct ib_mr *sig_alloc_mr(struct ib_pd *pd, u32 data, u32 meta)
{
	return test_verbs_mr(data + meta);
}

static int sig_map(struct ib_mr *mr, struct scatterlist *data, int n, unsigned int *skip,
		   struct scatterlist *meta, int meta_n, unsigned int *meta_skip)
{
	mr->iova = 0;
	mr->length = 4096 * n + 8 * meta_n;
	/* The driver sets the length of the integrity fields, which it finds in the lists. */
	mr->sig_attrs->meta_length = 8 * meta_n;
	return sig_map_answer;
}

static const struct ib_device_ops sig_ops = {
	.alloc_mr_integrity = sig_alloc_mr,
	.map_mr_sg_pi = sig_map,
};

static void signatures(struct kunit *test)
{
	struct ib_sig_attrs attrs = {};
	struct ib_device *device = test->priv;
	struct scatterlist meta[2];
	struct rdma_rw_ctx ctx;

	/* A device without protection fields leaves nothing behind. */
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, PTR_ERR(try_qp(1, IB_QP_CREATE_INTEGRITY_EN)));
	KUNIT_EXPECT_EQ(test, 0, test_verbs.mrs + test_verbs.qps);

	ib_set_device_ops(device, &sig_ops);
	device->attrs.max_pi_fast_reg_page_list_len = 2;
	rw.qp = try_qp(1, IB_QP_CREATE_INTEGRITY_EN);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rw.qp));
	KUNIT_EXPECT_TRUE(test, rw.qp->integrity_en);
	KUNIT_EXPECT_EQ(test, 2, test_verbs.mrs);
	pieces(3, 0, 4096, 4096);
	sg_init_table(meta, 2);
	sg_set_buf(&meta[0], rw.memory + 0x8000, 8);
	sg_set_buf(&meta[1], rw.memory + 0x9000, 8);

	KUNIT_EXPECT_EQ(test, -EINVAL,
			rdma_rw_ctx_signature_init(&ctx, rw.qp, PORT, rw.sg, 3, meta, 2, &attrs,
						   REMOTE, RKEY, DMA_FROM_DEVICE));
	sig_map_answer = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO,
			rdma_rw_ctx_signature_init(&ctx, rw.qp, PORT, rw.sg, 2, meta, 2, &attrs,
						   REMOTE, RKEY, DMA_FROM_DEVICE));
	KUNIT_EXPECT_EQ(test, 0, rw.qp->mrs_used);
	sig_map_answer = 0;
	for (unsigned int round = 0; round < 2; round++) {
		KUNIT_ASSERT_EQ(test, 2 + round,
				rdma_rw_ctx_signature_init(&ctx, rw.qp, PORT, rw.sg, 2, meta, 2,
							   &attrs, REMOTE, RKEY, DMA_FROM_DEVICE));
		KUNIT_EXPECT_EQ(test, 16, ctx.reg->mr->sig_attrs->meta_length);
		post(test, &ctx, 2 + round);
		KUNIT_EXPECT_EQ(test, IB_WR_REG_MR_INTEGRITY, test_verbs.post[round]->opcode);
		/* The fields are not on the wire. */
		KUNIT_EXPECT_EQ(test, 8192, test_verbs.post[round + 1]->sg_list[0].length);
		rdma_rw_ctx_destroy_signature(&ctx, rw.qp, PORT, rw.sg, 2, meta, 2,
					      DMA_FROM_DEVICE);
	}
	KUNIT_EXPECT_EQ(test, 0, rw.qp->mrs_used);
}

/* ---- QPs ---- */

static void sizes(struct kunit *test)
{
	struct ib_qp_init_attr attr = {
		.port_num = PORT, .cap = { .max_send_wr = 10, .max_rdma_ctxs = 7 },
	};
	struct ib_device *device = test->priv;

	KUNIT_EXPECT_EQ(test, 8, rdma_rw_mr_factor(device, PORT, 16));
	KUNIT_EXPECT_EQ(test, 5, rdma_rw_max_send_wr(device, PORT, 5, 0));
	KUNIT_EXPECT_EQ(test, 15, rdma_rw_max_send_wr(device, PORT, 5, IB_QP_CREATE_INTEGRITY_EN));
	rdma_rw_init_qp(device, &attr);
	KUNIT_EXPECT_EQ(test, 17, attr.cap.max_send_wr);

	device->attrs.max_sgl_rd = 1;
	KUNIT_EXPECT_EQ(test, 4, rdma_rw_mr_factor(device, PORT, 16));
	device->attrs.max_fast_reg_page_list_len = 4096;
	KUNIT_EXPECT_EQ(test, 2, rdma_rw_mr_factor(device, PORT, 257));
	KUNIT_EXPECT_EQ(test, 15, rdma_rw_max_send_wr(device, PORT, 5, 0));
	KUNIT_EXPECT_EQ(test, UINT_MAX, rdma_rw_max_send_wr(device, PORT, UINT_MAX / 2, 0));
	attr.cap.max_send_wr = 10;
	rdma_rw_init_qp(device, &attr);
	KUNIT_EXPECT_EQ(test, 31, attr.cap.max_send_wr);
	/* Linux gives the device's maximum; see Documentation/core/verbs.rst. */
	attr.cap.max_send_wr = UINT_MAX;
	rdma_rw_init_qp(device, &attr);
	KUNIT_EXPECT_EQ(test, 1000, attr.cap.max_send_wr);

	/* A device that does not report how many entries a READ may have. */
	device->attrs.max_sgl_rd = 0;
	device->attrs.max_sge_rd = 0;
	KUNIT_EXPECT_EQ(test, 16, rdma_rw_mr_factor(device, PORT, 16));
}

/* Each MR of both pools is refused in turn. */
static void refused_mrs(struct kunit *test)
{
	struct ib_device *device = test->priv;

	ib_set_device_ops(device, &sig_ops);
	for (int fuse = 2; fuse <= 5; fuse++) {
		test_verbs.fuse = fuse;
		KUNIT_EXPECT_EQ(test, -ENOMEM, PTR_ERR(try_qp(2, IB_QP_CREATE_INTEGRITY_EN)));
		KUNIT_EXPECT_EQ(test, 0, test_verbs.fuse);
		KUNIT_EXPECT_EQ(test, 0, test_verbs.mrs + test_verbs.qps);
	}
	rw.qp = try_qp(2, IB_QP_CREATE_INTEGRITY_EN);
	KUNIT_ASSERT_FALSE(test, IS_ERR(rw.qp));
	KUNIT_EXPECT_EQ(test, 4, test_verbs.mrs);
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(rw.qp));
	KUNIT_EXPECT_EQ(test, 0, test_verbs.mrs);
}

static struct kunit_case rw_cases[] = {
	KUNIT_CASE(one_piece),
	KUNIT_CASE(chain),
	KUNIT_CASE(posted_by_caller),
	KUNIT_CASE(registered),
	KUNIT_CASE(odd_lists),
	KUNIT_CASE(iwarp),
	KUNIT_CASE(signatures),
	KUNIT_CASE(sizes),
	KUNIT_CASE(refused_mrs),
	{}
};

static struct kunit_suite rw_suite = {
	.name = "rdma-rw",
	.init = rw_init,
	.exit = rw_exit,
	.test_cases = rw_cases,
};

kunit_test_suite(rw_suite);
