// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Data through an emulated HCA and back, and requests that fail. */
#include "hca_test.h"

static struct conn *loop(struct kunit *test)
{
	return conn_get(test, &hca_need_device(test->priv)->ibdev, true, 7);
}

static struct conn *pair(struct kunit *test, u8 rnr_retry)
{
	return conn_get(test, &hca_need_device(test->priv)->ibdev, false, rnr_retry);
}

/* Lengths around the MTU of 1024, and more than a slice of it. */
static const u32 lengths[] = { 0, 1, 3, 63, 64, 1023, 1024, 1025, 4096, 30000 };

static void test_send(struct kunit *test)
{
	struct conn *c = loop(test);
	struct conn_wr *tx = &c->tx[0], *rx = &c->rx[0];

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		conn_fill(c, i);
		KUNIT_ASSERT_EQ(test, conn_recv(c, 0, rx, 5, 30100), 0);
		KUNIT_ASSERT_EQ(test, conn_send(c, 0, tx, IB_WR_SEND, IB_SEND_SIGNALED, 5,
						lengths[i], 0), 0);
		KUNIT_ASSERT_EQ(test, conn_wait(tx), IB_WC_SUCCESS);
		KUNIT_ASSERT_EQ(test, conn_wait(rx), IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, tx->wc.opcode, IB_WC_SEND);
		KUNIT_EXPECT_EQ(test, rx->wc.opcode, IB_WC_RECV);
		KUNIT_EXPECT_EQ(test, rx->wc.byte_len, lengths[i]);
		KUNIT_EXPECT_EQ(test, rx->wc.wc_flags & IB_WC_WITH_IMM, 0);
		KUNIT_EXPECT_EQ(test, rx->wc.src_qp, c->qp[0]->qp_num);
		KUNIT_EXPECT_PTR_EQ(test, rx->wc.qp, c->qp[0]);
		KUNIT_EXPECT_TRUE(test, conn_arrived(c, 5, lengths[i]));
	}
}

static void test_write_and_read(struct kunit *test)
{
	struct conn *c = loop(test);
	u32 rkey = c->pd->unsafe_global_rkey;
	struct conn_wr *tx = &c->tx[0];

	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		conn_fill(c, i);
		KUNIT_ASSERT_EQ(test, conn_write(c, 0, lengths[i], rkey), 0);
		KUNIT_ASSERT_EQ(test, conn_wait(tx), IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, tx->wc.opcode, IB_WC_RDMA_WRITE);
		KUNIT_EXPECT_TRUE(test, conn_arrived(c, 0, lengths[i]));

		conn_fill(c, 100 + i);
		KUNIT_ASSERT_EQ(test, conn_send(c, 0, tx, IB_WR_RDMA_READ, IB_SEND_SIGNALED, 9,
						lengths[i], rkey), 0);
		KUNIT_ASSERT_EQ(test, conn_wait(tx), IB_WC_SUCCESS);
		KUNIT_EXPECT_EQ(test, tx->wc.opcode, IB_WC_RDMA_READ);
		KUNIT_EXPECT_TRUE(test, conn_arrived(c, 9, lengths[i]));
	}
}

static void test_immediate(struct kunit *test)
{
	struct conn *c = loop(test);
	struct conn_wr *tx = &c->tx[0], *rx = &c->rx[0];

	conn_fill(c, 3);
	KUNIT_ASSERT_EQ(test, conn_recv(c, 0, rx, 16, 4096), 0);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, tx, IB_WR_SEND_WITH_IMM, IB_SEND_SIGNALED, 16, 2000,
					0), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(tx), IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, conn_wait(rx), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, rx->wc.opcode, IB_WC_RECV);
	KUNIT_EXPECT_EQ(test, rx->wc.wc_flags & IB_WC_WITH_IMM, IB_WC_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rx->wc.ex.imm_data), 0xabcd0010);
	KUNIT_EXPECT_EQ(test, rx->wc.byte_len, 2000);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, 16, 2000));

	/* A WRITE with immediate data consumes a receive, but writes no data to its buffer. */
	conn_fill(c, 4);
	KUNIT_ASSERT_EQ(test, conn_recv(c, 0, rx, 0, 0), 0);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, tx, IB_WR_RDMA_WRITE_WITH_IMM, IB_SEND_SIGNALED, 32,
					3000, c->pd->unsafe_global_rkey), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(tx), IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, conn_wait(rx), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, rx->wc.opcode, IB_WC_RECV_RDMA_WITH_IMM);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rx->wc.ex.imm_data), 0xabcd0020);
	KUNIT_EXPECT_EQ(test, rx->wc.byte_len, 3000);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, 32, 3000));
}

/* Every inline length, with several laps of the ring; only the last of a batch is signaled. */
static void test_inline(struct kunit *test)
{
	const int batch = CONN_DEPTH / 2;
	struct conn *c = loop(test);
	u32 len = 0, first;
	int i;

	while (len <= CONN_INLINE) {
		conn_fill(c, len);
		first = len;
		for (i = 0; i < batch && len <= CONN_INLINE; i++, len++) {
			bool last = i == batch - 1 || len == CONN_INLINE;

			KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[i], 512 * i, 512), 0);
			KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[i], IB_WR_SEND,
							IB_SEND_INLINE |
							(last ? IB_SEND_SIGNALED : 0), 512 * i,
							len, 0), 0);
		}
		KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[i - 1]), IB_WC_SUCCESS);
		while (i--) {
			KUNIT_ASSERT_EQ(test, conn_wait(&c->rx[i]), IB_WC_SUCCESS);
			KUNIT_EXPECT_EQ(test, c->rx[i].wc.byte_len, first + i);
			KUNIT_EXPECT_TRUE(test, conn_arrived(c, 512 * i, first + i));
		}
	}
	KUNIT_EXPECT_EQ(test, conn_send(c, 0, &c->tx[0], IB_WR_SEND, IB_SEND_INLINE, 0,
					CONN_INLINE + 1, 0), -EINVAL);
	KUNIT_EXPECT_EQ(test, conn_send(c, 0, &c->tx[0], IB_WR_RDMA_READ, IB_SEND_INLINE, 0, 8,
					c->pd->unsafe_global_rkey), -EINVAL);
}

/* A message gathered from four pieces and scattered to three others. */
static void test_gather_and_scatter(struct kunit *test)
{
	struct conn *c = loop(test);
	u32 key = c->pd->local_dma_lkey;
	struct ib_sge from[4], to[4];
	struct ib_send_wr tx = {
		.wr_cqe = &c->tx[0].cqe, .opcode = IB_WR_SEND, .send_flags = IB_SEND_SIGNALED,
		.sg_list = from, .num_sge = 4,
	};
	struct ib_recv_wr rx = { .wr_cqe = &c->rx[0].cqe, .sg_list = to, .num_sge = 4 };
	u8 *dst = c->buf + CONN_BYTES / 2, *at;

	/* This initialises both requests; their entries are set below. */
	KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[0], 0, 8), 0);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[0], IB_WR_SEND, IB_SEND_SIGNALED, 0, 8, 0), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->rx[0]), IB_WC_SUCCESS);
	reinit_completion(&c->tx[0].done);
	reinit_completion(&c->rx[0].done);

	conn_fill(c, 9);
	for (int i = 0; i < 4; i++)
		from[i] = (struct ib_sge){ c->dma + 5000 * i, 700 + i, key };
	to[0] = (struct ib_sge){ c->dma + CONN_BYTES / 2 + 1, 1000, key };
	to[1] = (struct ib_sge){ 0, 0, 0 };	/* an empty entry needs no key */
	to[2] = (struct ib_sge){ c->dma + CONN_BYTES / 2 + 2001, 1500, key };
	to[3] = (struct ib_sge){ c->dma + CONN_BYTES / 2 + 7000, 5000, key };
	KUNIT_ASSERT_EQ(test, ib_post_recv(c->qp[0], &rx, NULL), 0);
	KUNIT_ASSERT_EQ(test, ib_post_send(c->qp[0], &tx, NULL), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->rx[0]), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, c->rx[0].wc.byte_len, 700 + 701 + 702 + 703);

	at = kunit_kzalloc(test, 2806, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, at);
	memcpy(at, dst + 1, 1000);
	memcpy(at + 1000, dst + 2001, 1500);
	memcpy(at + 2500, dst + 7000, 306);
	for (int i = 0; i < 4; i++) {
		KUNIT_EXPECT_EQ(test, memcmp(at, c->buf + 5000 * i, 700 + i), 0);
		at += 700 + i;
	}
	KUNIT_EXPECT_EQ(test, dst[7000 + 306], 0);
	KUNIT_EXPECT_EQ(test, dst[1001], 0);
}

static void test_queue_full(struct kunit *test)
{
	struct conn *c = loop(test);
	struct conn_wr *last = &c->rx[CONN_DEPTH - 1];

	for (int i = 0; i < CONN_DEPTH; i++)
		KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[i], 0, 64), 0);
	KUNIT_EXPECT_EQ(test, ib_post_recv(c->qp[0], &(struct ib_recv_wr){ .wr_cqe = &last->cqe },
					   NULL), -ENOMEM);
	for (int i = 0; i < CONN_DEPTH; i++) {
		KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[0], IB_WR_SEND, IB_SEND_SIGNALED, 0,
						8, 0), 0);
		KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
		KUNIT_ASSERT_EQ(test, conn_wait(&c->rx[i]), IB_WC_SUCCESS);
	}
	KUNIT_EXPECT_EQ(test, conn_recv(c, 0, &c->rx[0], 0, 64), 0);
}

/* The rkey is invalid: the responder refuses, and both QPs go to the error state. */
static void test_bad_rkey(struct kunit *test)
{
	struct conn *c = pair(test, 7);
	u32 rkey = c->pd->unsafe_global_rkey;
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	conn_fill(c, 1);
	KUNIT_ASSERT_EQ(test, conn_recv(c, 1, &c->rx[0], 0, 64), 0);
	KUNIT_ASSERT_EQ(test, conn_write(c, 0, 64, rkey ^ 0x55), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[0]), IB_WC_REM_ACCESS_ERR);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->rx[0]), IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, 0, 0));
	KUNIT_ASSERT_EQ(test, ib_query_qp(c->qp[0], &attr, IB_QP_STATE, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_ERR);
	KUNIT_ASSERT_EQ(test, ib_query_qp(c->qp[1], &attr, IB_QP_STATE, &init), 0);
	KUNIT_EXPECT_EQ(test, attr.qp_state, IB_QPS_ERR);
}

static void test_bad_lkey(struct kunit *test)
{
	struct conn *c = pair(test, 7);
	struct ib_sge sge = { c->dma, 64, c->pd->local_dma_lkey ^ 0x55 };
	struct ib_send_wr tx = {
		.wr_cqe = &c->tx[0].cqe, .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
	};

	/* The failure of an unsignaled request is reported all the same. */
	KUNIT_ASSERT_EQ(test, conn_recv(c, 1, &c->rx[0], 0, 64), 0);
	KUNIT_ASSERT_EQ(test, conn_write(c, 0, 8, c->pd->unsafe_global_rkey), 0);
	KUNIT_ASSERT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	reinit_completion(&c->tx[0].done);
	KUNIT_ASSERT_EQ(test, ib_post_send(c->qp[0], &tx, NULL), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[0]), IB_WC_LOC_PROT_ERR);
	/* The peer's receive has not completed. */
	KUNIT_EXPECT_FALSE(test, completion_done(&c->rx[0].done));
}

static void test_receive_too_small(struct kunit *test)
{
	struct conn *c = pair(test, 7);

	conn_fill(c, 1);
	KUNIT_ASSERT_EQ(test, conn_recv(c, 1, &c->rx[0], 0, 100), 0);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[0], IB_WR_SEND, IB_SEND_SIGNALED, 0, 101, 0),
			0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->rx[0]), IB_WC_LOC_LEN_ERR);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[0]), IB_WC_REM_INV_REQ_ERR);
}

/* Without a receive a SEND is retried until there is one, or as often as rnr_retry allows. */
static void test_receiver_not_ready(struct kunit *test)
{
	struct conn *c = loop(test), *once = pair(test, 0);

	conn_fill(c, 1);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[0], IB_WR_SEND, IB_SEND_SIGNALED, 0, 100, 0),
			0);
	KUNIT_ASSERT_EQ(test, conn_send(once, 0, &once->tx[0], IB_WR_SEND, IB_SEND_SIGNALED, 0,
					100, 0), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&once->tx[0]), IB_WC_RNR_RETRY_EXC_ERR);
	KUNIT_EXPECT_FALSE(test, completion_done(&c->tx[0].done));
	KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[0], 0, 100), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->rx[0]), IB_WC_SUCCESS);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[0]), IB_WC_SUCCESS);
	KUNIT_EXPECT_TRUE(test, conn_arrived(c, 0, 100));
}

/*
 * After a failed request all others are flushed in the order in which they were posted, signaled or
 * not, and so are requests that are posted later.
 */
static void test_flush_order(struct kunit *test)
{
	struct conn *c = pair(test, 7);
	const int n = 8;

	for (int i = 0; i < n; i++)
		KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[i], 0, 64), 0);
	KUNIT_ASSERT_EQ(test, conn_write(c, 0, 64, c->pd->unsafe_global_rkey ^ 0x55), 0);
	for (int i = 1; i < n; i++)
		KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[i], IB_WR_SEND,
						i % 2 ? IB_SEND_SIGNALED : 0, 0, 64, 0), 0);
	for (int i = 0; i < n; i++) {
		KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[i]),
				i ? IB_WC_WR_FLUSH_ERR : IB_WC_REM_ACCESS_ERR);
		KUNIT_EXPECT_EQ(test, conn_wait(&c->rx[i]), IB_WC_WR_FLUSH_ERR);
		if (i) {
			KUNIT_EXPECT_GT(test, c->tx[i].order, c->tx[i - 1].order);
			KUNIT_EXPECT_GT(test, c->rx[i].order, c->rx[i - 1].order);
		}
	}
	KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[n], 0, 64), 0);
	KUNIT_ASSERT_EQ(test, conn_send(c, 0, &c->tx[n], IB_WR_SEND, 0, 0, 64, 0), 0);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->rx[n]), IB_WC_WR_FLUSH_ERR);
	KUNIT_EXPECT_EQ(test, conn_wait(&c->tx[n]), IB_WC_WR_FLUSH_ERR);
}

static void test_reset_and_connect_again(struct kunit *test)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };
	struct conn *c = loop(test);

	for (int i = 0; i < 3; i++) {
		conn_works(test, c);
		/* A receive is posted; RESET discards it without a completion. */
		KUNIT_ASSERT_EQ(test, conn_recv(c, 0, &c->rx[i], 0, 64), 0);
		KUNIT_ASSERT_EQ(test, ib_modify_qp(c->qp[0], &reset, IB_QP_STATE), 0);
		KUNIT_ASSERT_EQ(test, conn_connect(c, 0, 0, 7), 0);
	}
	conn_works(test, c);
	for (int i = 0; i < 3; i++)
		KUNIT_EXPECT_FALSE(test, completion_done(&c->rx[i].done));
}

static struct kunit_case data_cases[] = {
	KUNIT_CASE(test_send),
	KUNIT_CASE(test_write_and_read),
	KUNIT_CASE(test_immediate),
	KUNIT_CASE(test_inline),
	KUNIT_CASE(test_gather_and_scatter),
	KUNIT_CASE(test_queue_full),
	KUNIT_CASE(test_bad_rkey),
	KUNIT_CASE(test_bad_lkey),
	KUNIT_CASE(test_receive_too_small),
	KUNIT_CASE(test_receiver_not_ready),
	KUNIT_CASE(test_flush_order),
	KUNIT_CASE(test_reset_and_connect_again),
	{}
};

struct kunit_suite hca_data_suite = {
	.name = "vhca_hca_data",
	.suite_init = rdma_kunit_again,
	.init = hca_test_init,
	.test_cases = data_cases,
};
