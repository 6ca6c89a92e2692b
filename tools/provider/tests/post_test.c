// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What posting writes into the rings, what it refuses, and when it kicks.
 */
#include <errno.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

static struct vhca_context *ctx;
static struct ibv_cq *cq;
static struct ibv_qp *qp;

static const struct ibv_qp_cap cap = {
	.max_send_wr = 4,
	.max_recv_wr = 3,
	.max_send_sge = 4,
	.max_recv_sge = 2,
	.max_inline_data = 200,
};

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	cq = fake_make_cq(ctx, 64);
	qp = fake_make_qp(ctx, cq, cq, &cap, vhca_known_send_ops(ctx, IBV_QPT_RC));
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_end(ctx, cq, qp);
	return 0;
}

static int post(struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	*bad = NULL;
	return fake_ops()->post_send(qp, wr, bad);
}

/* The device completes everything up to a count of blocks. */
static void finish(uint64_t blocks)
{
	struct ibv_wc wc;

	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num),
		.wqe_index = htole32((uint32_t)blocks),
	});
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
}

static void a_write_has_all_segments(void **state)
{
	struct ibv_sge sge[2] = {
		{ .addr = 0x1122334455667788, .length = 100, .lkey = 0xabc },
		{ .addr = 0x8000, .length = 0, .lkey = 0xdef },
	};
	struct ibv_send_wr wr = {
		.wr_id = 0xfedcba9876543210,
		.sg_list = sge,
		.num_sge = 2,
		.opcode = IBV_WR_RDMA_WRITE_WITH_IMM,
		.send_flags = IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_FENCE,
		.imm_data = htobe32(0x01020304),
		.wr.rdma = { .remote_addr = 0x99aabbccddeeff00, .rkey = 0x777 },
	}, *bad;
	struct {
		struct vhca_wqe_ctrl ctrl;
		struct vhca_wqe_raddr raddr;
		struct vhca_sge sge[2];
	} got;

	(void)state;
	assert_int_equal(post(&wr, &bad), 0);
	fake_read_sq(qp, 0, &got, sizeof(got));
	assert_int_equal(got.ctrl.opcode, VHCA_OP_WRITE_IMM);
	assert_int_equal(got.ctrl.flags,
			 VHCA_WQE_SIGNALED | VHCA_WQE_SOLICITED | VHCA_WQE_FENCE);
	assert_int_equal(got.ctrl.nblk, 2);
	assert_int_equal(got.ctrl.nsge, 2);
	assert_true(got.ctrl.imm == htobe32(0x01020304));
	assert_true(got.ctrl.wr_id == htole64(wr.wr_id));
	assert_true(got.ctrl.index == 0);
	assert_true(got.ctrl.inline_len == 0);
	assert_true(got.raddr.addr == htole64(wr.wr.rdma.remote_addr));
	assert_true(got.raddr.rkey == htole32(0x777));
	assert_true(got.sge[0].addr == htole64(sge[0].addr));
	assert_true(got.sge[0].length == htole32(100));
	assert_true(got.sge[0].lkey == htole32(0xabc));
	assert_true(got.sge[1].length == 0);
	assert_true(fake_rec(fake_qp(qp)->slot) == 2);

	wr.opcode = IBV_WR_SEND;
	wr.num_sge = 0;
	wr.send_flags = 0;
	assert_int_equal(post(&wr, &bad), 0);
	fake_read_sq(qp, 2, &got, sizeof(got));
	assert_int_equal(got.ctrl.opcode, VHCA_OP_SEND);
	assert_int_equal(got.ctrl.flags, 0);
	assert_int_equal(got.ctrl.nblk, 1);
	assert_true(got.ctrl.imm == 0);
	assert_true(got.ctrl.index == htole32(2));
	assert_true(fake_rec(fake_qp(qp)->slot) == 3);
}

static void inline_data_cross_the_end(void **state)
{
	uint8_t data[200], got[sizeof(struct vhca_wqe_ctrl) + sizeof(data)];
	struct ibv_sge sge[2] = {
		{ .addr = (uintptr_t)data, .length = 7 },
		{ .addr = (uintptr_t)data + 7, .length = 193 },
	};
	struct ibv_send_wr wr = {
		.sg_list = sge,
		.num_sge = 2,
		.opcode = IBV_WR_SEND,
		.send_flags = IBV_SEND_INLINE,
	}, *bad;
	const struct vhca_wqe_ctrl *ctrl = (const void *)got;
	uint64_t block = 0;

	(void)state;
	/* 4 blocks each, over a ring of 16: shift by one-block requests in between */
	for (unsigned int lap = 0; lap < 40; lap++) {
		for (size_t i = 0; i < sizeof(data); i++)
			data[i] = lap + i * 3;
		wr.num_sge = 2;
		assert_int_equal(post(&wr, &bad), 0);
		fake_read_sq(qp, block, got, sizeof(got));
		assert_int_equal(ctrl->nblk, 4);
		assert_int_equal(ctrl->nsge, 0);
		assert_int_equal(ctrl->flags, VHCA_WQE_INLINE);
		assert_true(ctrl->inline_len == htole32(200));
		assert_true(ctrl->index == htole32((uint32_t)block));
		assert_memory_equal(got + sizeof(*ctrl), data, sizeof(data));
		block += 4;

		wr.num_sge = 1;
		assert_int_equal(post(&wr, &bad), 0);
		block += 1;
		assert_true(fake_rec(fake_qp(qp)->slot) == block);
		finish(block);
	}
}

static void a_full_queue_refuses_and_recovers(void **state)
{
	struct ibv_send_wr wr[3] = {}, *bad;
	uint32_t n = 0;

	(void)state;
	for (int i = 0; i < 3; i++) {
		wr[i].opcode = IBV_WR_SEND;
		wr[i].next = i < 2 ? &wr[i + 1] : NULL;
	}
	wr[2].next = NULL;
	while (!post(&wr[2], &bad))
		n++;
	assert_int_equal(n, cap.max_send_wr);
	assert_ptr_equal(bad, &wr[2]);
	assert_int_equal(post(&wr[0], &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[0]);
	assert_true(fake_rec(fake_qp(qp)->slot) == n);

	/* room for one of a list of three: only that one is posted */
	finish(1);
	assert_int_equal(post(&wr[0], &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[1]);
	assert_true(fake_rec(fake_qp(qp)->slot) == n + 1);
}

/*
 * Of requests of any sizes max_send_wr are under way and no more, for which the ring has room,
 * wherever they lie in it and however many a completion stands for.
 */
static void no_more_than_max_send_wr(void **state)
{
	struct ibv_qp_ex *ex = &to_vhca_qp(qp)->vqp.qp_ex;
	struct ibv_sge sge[4] = {};
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = sge }, *bad;
	uint64_t ends[4] = {};
	unsigned int waiting = 0;

	(void)state;
	for (unsigned int round = 1; round < 500; round++) {
		while (waiting < cap.max_send_wr) {
			wr.num_sge = (round + waiting) % 5;
			assert_int_equal(post(&wr, &bad), 0);
			ends[waiting++] = fake_rec(fake_qp(qp)->slot);
		}
		assert_int_equal(post(&wr, &bad), ENOMEM);
		ibv_wr_start(ex);
		ibv_wr_send(ex);
		assert_int_equal(ibv_wr_complete(ex), ENOMEM);
		assert_true(fake_rec(fake_qp(qp)->slot) == ends[waiting - 1]);

		/* A completion of one to all of them. */
		finish(ends[round % 4]);
		waiting -= round % 4 + 1;
		for (unsigned int i = 0; i < waiting; i++)
			ends[i] = ends[i + round % 4 + 1];
		ibv_wr_start(ex);
		ibv_wr_send(ex);
		ibv_wr_abort(ex);
	}
}

static void max_send_wr_of_the_largest_fit(void **state)
{
	struct ibv_sge sge[4] = {};
	struct ibv_send_wr wr = { .opcode = IBV_WR_RDMA_READ, .sg_list = sge, .num_sge = 4 }, *bad;
	uint8_t data[200] = {};

	(void)state;
	for (uint32_t i = 0; i < cap.max_send_wr; i++)
		assert_int_equal(post(&wr, &bad), 0);
	finish(fake_rec(fake_qp(qp)->slot));
	sge[0] = (struct ibv_sge) { .addr = (uintptr_t)data, .length = sizeof(data) };
	wr.opcode = IBV_WR_RDMA_WRITE;
	wr.send_flags = IBV_SEND_INLINE;
	wr.num_sge = 1;
	for (uint32_t i = 0; i < cap.max_send_wr; i++)
		assert_int_equal(post(&wr, &bad), 0);
}

static void nonsense_is_refused(void **state)
{
	uint8_t data[201] = {};
	struct ibv_sge sge[5] = { { .addr = (uintptr_t)data, .length = sizeof(data) } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge, .num_sge = 5 }, *bad;
	struct ibv_recv_wr rwr = { .sg_list = sge, .num_sge = 3 }, *rbad = NULL;
	static const enum ibv_qp_state no_sends[] = {
		IBV_QPS_RESET, IBV_QPS_INIT, IBV_QPS_RTR,
	};

	(void)state;
	assert_int_equal(post(&wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	wr.num_sge = -1;
	assert_int_equal(post(&wr, &bad), EINVAL);
	wr.num_sge = 1;
	wr.opcode = IBV_WR_BIND_MW;
	assert_int_equal(post(&wr, &bad), EINVAL);
	wr.opcode = (enum ibv_wr_opcode)1000;
	assert_int_equal(post(&wr, &bad), EINVAL);
	wr.opcode = IBV_WR_SEND;
	wr.send_flags = IBV_SEND_INLINE;
	assert_int_equal(post(&wr, &bad), EINVAL);	/* a byte too long */
	sge[0].length = 10;
	wr.opcode = IBV_WR_RDMA_READ;
	assert_int_equal(post(&wr, &bad), EINVAL);	/* nothing to read into */
	wr.opcode = IBV_WR_SEND;
	sge[1] = (struct ibv_sge) { .length = UINT32_MAX };
	sge[2] = (struct ibv_sge) { .length = 1 };
	wr.num_sge = 3;
	assert_int_equal(post(&wr, &bad), EINVAL);	/* sums do not overflow */
	wr.num_sge = 1;
	for (unsigned int i = 0; i < sizeof(no_sends) / sizeof(no_sends[0]); i++) {
		qp->state = no_sends[i];
		assert_int_equal(post(&wr, &bad), EINVAL);
	}
	assert_true(fake_rec(fake_qp(qp)->slot) == 0);
	qp->state = IBV_QPS_ERR;
	assert_int_equal(post(&wr, &bad), 0);
	assert_true(fake_rec(fake_qp(qp)->slot) == 1);

	assert_int_equal(fake_ops()->post_recv(qp, &rwr, &rbad), EINVAL);
	assert_ptr_equal(rbad, &rwr);
	rwr.num_sge = -1;
	assert_int_equal(fake_ops()->post_recv(qp, &rwr, &rbad), EINVAL);
	qp->state = IBV_QPS_RESET;
	rwr.num_sge = 1;
	assert_int_equal(fake_ops()->post_recv(qp, &rwr, &rbad), EINVAL);
	assert_true(fake_rec(fake_qp(qp)->slot + 1) == 0);
}

static void the_device_is_kicked_once_when_it_sleeps(void **state)
{
	struct ibv_send_wr wr[2] = { { .opcode = IBV_WR_SEND }, { .opcode = IBV_WR_SEND } }, *bad;
	struct vhca_db_page *page0 = fake_page(0);

	(void)state;
	wr[0].next = &wr[1];
	assert_int_equal(post(&wr[1], &bad), 0);
	assert_int_equal(fake_kicks(), 0);
	page0->armed = htole32(1);
	assert_int_equal(post(&wr[0], &bad), 0);
	assert_true(fake_kicks() == htole32(VHCA_KICK));
	assert_true(page0->armed == 0);
	assert_int_equal(post(&wr[1], &bad), 0);
	assert_int_equal(fake_kicks(), 0);
	/* if the QP's records are not in page 0, the summary has the bit of their page */
	assert_true(fake_qp(qp)->slot < VHCA_DB_SLOTS ||
		    page0->summary[0] & htole64(UINT64_C(1) << fake_qp(qp)->slot / VHCA_DB_SLOTS));
}

static void receives_fill_strides_and_never_ring(void **state)
{
	struct ibv_sge sge[2] = { { 0x1000, 64, 5 }, { 0x2000, 32, 6 } };
	struct ibv_recv_wr wr = { .wr_id = 42, .sg_list = sge, .num_sge = 2 }, *bad;
	const struct vhca_create_qp_req *req = &fake_qp(qp)->req;
	const struct vhca_rwqe *rwqe = (const void *)(uintptr_t)req->rq_addr;
	const struct vhca_sge *seg = (const void *)(rwqe + 1);
	uint32_t slot;

	(void)state;
	assert_int_equal(req->rq_addr % VHCA_DB_PAGE_SIZE, 0);
	assert_int_equal(1 << req->log_rq_stride, 64);	/* 16 + 2 * 16, next power of two */
	assert_int_equal(1 << req->log_rq_strides, 4);
	for (uint32_t i = 0; i < cap.max_recv_wr; i++) {
		assert_int_equal(fake_ops()->post_recv(qp, &wr, &bad), 0);
		assert_true(fake_rec(fake_qp(qp)->slot + 1) == i + 1);
	}
	assert_int_equal(fake_ops()->post_recv(qp, &wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr);
	rwqe = (const void *)((const uint8_t *)rwqe + (2 << req->log_rq_stride));
	seg = (const void *)(rwqe + 1);
	assert_true(rwqe->wr_id == htole64(42));
	assert_true(rwqe->index == htole32(2));
	assert_int_equal(rwqe->nsge, 2);
	assert_true(seg[1].addr == htole64(0x2000) && seg[1].length == htole32(32) &&
		    seg[1].lkey == htole32(6));
	slot = fake_qp(qp)->slot;
	assert_true(fake_page(slot)->news[(slot + 1) % VHCA_DB_SLOTS / 64] == 0);
}

static struct ibv_qp_ex *ex(void)
{
	return &to_vhca_qp(qp)->vqp.qp_ex;
}

static void extended_posting_writes_the_same(void **state)
{
	uint8_t one[512], two[512], data[30] = "inline";
	struct ibv_sge sge = { .addr = 0x5000, .length = 9, .lkey = 3 };
	struct ibv_send_wr wr[3] = {
		{ .wr_id = 1, .next = &wr[1], .opcode = IBV_WR_SEND_WITH_IMM, .sg_list = &sge,
		  .num_sge = 1, .imm_data = 99, .send_flags = IBV_SEND_SIGNALED },
		{ .wr_id = 2, .next = &wr[2], .opcode = IBV_WR_RDMA_READ, .sg_list = &sge,
		  .num_sge = 1, .wr.rdma = { 0x9000, 17 } },
		{ .wr_id = 3, .opcode = IBV_WR_SEND },
	}, *bad;
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };

	(void)state;
	assert_int_equal(post(wr, &bad), 0);
	fake_read_sq(qp, 0, one, sizeof(one));
	assert_int_equal(fake_ops()->modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_true(fake_rec(fake_qp(qp)->slot) == 0);
	memset((void *)(uintptr_t)fake_qp(qp)->req.sq_addr, 0, fake_sq_blocks(qp) * VHCA_WQE_BLOCK);

	ibv_wr_start(ex());
	ex()->wr_id = 1;
	ex()->wr_flags = IBV_SEND_SIGNALED;
	ibv_wr_send_imm(ex(), 99);
	ibv_wr_set_sge(ex(), 3, 0x5000, 9);
	ex()->wr_id = 2;
	ex()->wr_flags = 0;
	ibv_wr_rdma_read(ex(), 17, 0x9000);
	ibv_wr_set_sge_list(ex(), 1, &sge);
	ex()->wr_id = 3;
	ibv_wr_send(ex());
	assert_true(fake_rec(fake_qp(qp)->slot) == 0);
	assert_int_equal(ibv_wr_complete(ex()), 0);
	fake_read_sq(qp, 0, two, sizeof(two));
	assert_memory_equal(one, two, sizeof(one));
	assert_true(fake_rec(fake_qp(qp)->slot) == 3);

	ibv_wr_start(ex());
	ibv_wr_rdma_write_imm(ex(), 8, 0x7000, 5);
	ibv_wr_set_inline_data(ex(), data, sizeof(data));
	assert_int_equal(ibv_wr_complete(ex()), 0);
	fake_read_sq(qp, 3, two, sizeof(two));
	assert_memory_equal(two + 48, data, sizeof(data));
	assert_int_equal(((struct vhca_wqe_ctrl *)two)->flags, VHCA_WQE_INLINE);
	assert_true(fake_rec(fake_qp(qp)->slot) == 5);
}

static void extended_posting_is_all_or_nothing(void **state)
{
	struct ibv_sge sge[5] = {};
	uint8_t data[201] = {};
	uint64_t before;

	(void)state;
	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_rdma_write(ex(), 1, 2);
	ibv_wr_set_sge_list(ex(), 5, sge);
	ibv_wr_send(ex());
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);
	assert_true(fake_rec(fake_qp(qp)->slot) == 0);

	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_set_inline_data(ex(), data, sizeof(data));
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);

	ibv_wr_start(ex());
	ibv_wr_rdma_read(ex(), 1, 2);
	ibv_wr_set_inline_data(ex(), data, 1);
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);

	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_abort(ex());
	ibv_wr_start(ex());
	assert_int_equal(ibv_wr_complete(ex()), 0);
	assert_true(fake_rec(fake_qp(qp)->slot) == 0);

	ibv_wr_start(ex());
	for (uint32_t i = 0; i <= fake_sq_blocks(qp); i++)
		ibv_wr_send(ex());
	assert_int_equal(ibv_wr_complete(ex()), ENOMEM);
	before = fake_rec(fake_qp(qp)->slot);
	assert_true(before == 0);

	qp->state = IBV_QPS_INIT;
	ibv_wr_start(ex());
	ibv_wr_send(ex());
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);
}

/* Without a send queue there is no ring to write a request to. */
static void extended_posting_without_a_send_queue(void **state)
{
	const struct ibv_qp_cap receives = { .max_recv_wr = 1, .max_recv_sge = 1 };
	struct ibv_qp *mute = fake_make_qp(ctx, cq, cq, &receives, IBV_QP_EX_WITH_SEND);
	struct ibv_qp_ex *exmute = &to_vhca_qp(mute)->vqp.qp_ex;

	(void)state;
	mute->state = IBV_QPS_RTS;
	ibv_wr_start(exmute);
	assert_int_equal(ibv_wr_complete(exmute), EINVAL);
	ibv_wr_start(exmute);
	ibv_wr_send(exmute);
	ibv_wr_set_sge(exmute, 1, 2, 3);
	assert_int_equal(ibv_wr_complete(exmute), EINVAL);
	assert_int_equal(fake_ops()->destroy_qp(mute), 0);
}

/* One block is free: a request of two is refused, and the device sees nothing of it. */
static void a_request_that_does_not_fit_is_not_posted(void **state)
{
	struct ibv_sge sge[4] = {};
	uint8_t data[200] = {};
	struct ibv_send_wr small = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_send_wr big = { .opcode = IBV_WR_RDMA_WRITE, .sg_list = sge, .num_sge = 4 };
	uint64_t used = 0;

	(void)state;
	/* as if the kernel had promised more than the ring was laid out for */
	to_vhca_qp(qp)->sq.max_wr = fake_sq_blocks(qp);
	for (; used < fake_sq_blocks(qp) - 1; used++)
		assert_int_equal(post(&small, &bad), 0);
	assert_int_equal(post(&big, &bad), ENOMEM);
	assert_ptr_equal(bad, &big);
	sge[0] = (struct ibv_sge) { .addr = (uintptr_t)data, .length = sizeof(data) };
	big.num_sge = 1;
	big.send_flags = IBV_SEND_INLINE;
	assert_int_equal(post(&big, &bad), ENOMEM);

	ibv_wr_start(ex());
	ibv_wr_rdma_write(ex(), 1, 2);
	ibv_wr_set_sge_list(ex(), 4, sge);
	assert_int_equal(ibv_wr_complete(ex()), ENOMEM);
	ibv_wr_start(ex());
	ibv_wr_rdma_write(ex(), 1, 2);
	ibv_wr_set_inline_data(ex(), data, sizeof(data));
	assert_int_equal(ibv_wr_complete(ex()), ENOMEM);
	assert_true(fake_rec(fake_qp(qp)->slot) == used);

	/* a request that fits is posted all the same */
	assert_int_equal(post(&small, &bad), 0);
	assert_true(fake_rec(fake_qp(qp)->slot) == used + 1);
	finish(used + 1);
	assert_int_equal(post(&big, &bad), 0);
	assert_true(fake_rec(fake_qp(qp)->slot) == used + 1 + 4);
}

/* Setters without a request, or after one that failed, do nothing; the first error is returned. */
static void extended_setters_out_of_turn(void **state)
{
	struct ibv_sge sge[5] = {};
	uint8_t data[64] = { 1 }, before[64], after[64];

	(void)state;
	fake_read_sq(qp, 0, before, sizeof(before));
	ibv_wr_start(ex());
	ibv_wr_set_sge(ex(), 3, 0x5000, 9);
	ibv_wr_set_inline_data(ex(), data, sizeof(data));
	assert_int_equal(ibv_wr_complete(ex()), 0);
	assert_true(fake_rec(fake_qp(qp)->slot) == 0);

	ibv_wr_start(ex());
	ibv_wr_send(ex());
	ibv_wr_set_sge_list(ex(), 5, sge);		/* too many: EINVAL */
	ibv_wr_rdma_write_imm(ex(), 8, 0x7000, 5);
	ibv_wr_set_inline_data(ex(), data, sizeof(data));
	ibv_wr_rdma_write(ex(), 8, 0x7000);
	ibv_wr_send_imm(ex(), 5);
	ibv_wr_rdma_read(ex(), 8, 0x7000);
	ibv_wr_set_sge(ex(), 3, 0x5000, 9);
	assert_int_equal(ibv_wr_complete(ex()), EINVAL);
	fake_read_sq(qp, 0, after, sizeof(after));
	assert_memory_equal(before, after, sizeof(after));
	assert_true(fake_rec(fake_qp(qp)->slot) == 0);
}

static void inline_data_of_no_length(void **state)
{
	struct ibv_sge sge = {};
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .sg_list = &sge, .num_sge = 1, .send_flags = IBV_SEND_INLINE,
	}, *bad;
	struct vhca_wqe_ctrl ctrl;

	(void)state;
	assert_int_equal(post(&wr, &bad), 0);
	fake_read_sq(qp, 0, &ctrl, sizeof(ctrl));
	assert_int_equal(ctrl.nblk, 1);
	assert_int_equal(ctrl.flags, VHCA_WQE_INLINE);
	assert_true(ctrl.inline_len == 0);
	assert_int_equal(ctrl.nsge, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_write_has_all_segments, setup, teardown),
		cmocka_unit_test_setup_teardown(inline_data_cross_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_queue_refuses_and_recovers, setup, teardown),
		cmocka_unit_test_setup_teardown(no_more_than_max_send_wr, setup, teardown),
		cmocka_unit_test_setup_teardown(max_send_wr_of_the_largest_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(nonsense_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(the_device_is_kicked_once_when_it_sleeps, setup,
						teardown),
		cmocka_unit_test_setup_teardown(receives_fill_strides_and_never_ring, setup,
						teardown),
		cmocka_unit_test_setup_teardown(extended_posting_writes_the_same, setup, teardown),
		cmocka_unit_test_setup_teardown(extended_posting_is_all_or_nothing, setup,
						teardown),
		cmocka_unit_test_setup_teardown(extended_posting_without_a_send_queue, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_request_that_does_not_fit_is_not_posted, setup,
						teardown),
		cmocka_unit_test_setup_teardown(extended_setters_out_of_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(inline_data_of_no_length, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
