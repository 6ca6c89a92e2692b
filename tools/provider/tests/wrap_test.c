// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queues that have been in use for so long that a count of theirs is about to
 * exceed the bits that both sides share.
 */
#include <errno.h>

#include "cm.h"
#include "fake.h"

#define WRAP	(UINT64_C(1) << 32)
/* An even lap of any ring here: a cleared entry is not valid in it. */
#define START	(WRAP - 64)
#define ENTRIES	8U

static struct vhca_context *ctx;
static struct ibv_cq *cq;

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	fake_pd.context = &ctx->vctx.context;
	cq = fake_make_cq(ctx, ENTRIES);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fake_logged, 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
	fake_close(ctx);
	return 0;
}

/* Sets a CQ up as after that many entries were written and polled. */
static void cq_used(uint64_t count)
{
	to_vhca_cq(cq)->cons = count;
	db_store(&to_vhca_cq(cq)->db, 0, count);
	fake_cq(cq)->prod = count;
}

/* So many units have been posted and completed, each a request. */
static void wq_used(struct vhca_wq *wq, uint64_t count)
{
	atomic_store(&wq->head, count);
	atomic_store(&wq->tail, count);
	if (wq->nth) {
		wq->built = count;
		wq->nth[vhca_ring_slot(count - 1, wq->log)] = count;
		atomic_store(&wq->done, count);
	}
}

static struct ibv_qp *make_qp(struct ibv_srq *srq)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = ENTRIES, .max_recv_wr = srq ? 0 : ENTRIES,
		.max_send_sge = 2, .max_recv_sge = srq ? 0 : 1,
	};

	return srq ? fake_make_srq_qp(ctx, IBV_QPT_RC, cq, srq, &cap) :
		     fake_make_qp(ctx, cq, cq, &cap, IBV_QP_EX_WITH_SEND);
}

static void complete(const struct ibv_qp *qp, uint8_t flags, uint64_t end, uint64_t wr_id)
{
	struct ibv_wc wc;

	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num),
		.flags = flags,
		.wqe_index = htole32((uint32_t)end),
		.wr_id = htole64(wr_id),
	});
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_true(wc.wr_id == wr_id);
}

/* Requests of one block and of two, by either way of posting. */
static void send_queue(void **state)
{
	struct ibv_qp *qp = make_qp(NULL);
	const struct vhca_wq *sq = &to_vhca_qp(qp)->sq;
	struct ibv_qp_ex *ex = &to_vhca_qp(qp)->vqp.qp_ex;
	struct ibv_sge sge[2] = { { .length = 1 }, { .length = 2 } };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .sg_list = sge }, *bad;
	uint64_t head = START, wr_id = 0;
	const struct vhca_wqe_ctrl *ctrl;

	(void)state;
	wq_used(&to_vhca_qp(qp)->sq, START);
	while (head < WRAP + 64) {
		const uint64_t first_id = wr_id;
		uint64_t end;

		for (wr.num_sge = 1; !fake_ops()->post_send(qp, &wr, &bad);
		     wr.num_sge ^= 3, wr.wr_id = wr_id) {
			wr_id++;
			ctrl = (const void *)((uint8_t *)sq->ring +
					      (vhca_ring_slot(head, sq->log) << sq->log_unit));
			assert_true(ctrl->index == htole32((uint32_t)head));
			head += ctrl->nblk;
			assert_true(fake_rec(fake_qp(qp)->slot) == head);
		}
		/* full, and not a request later */
		assert_int_equal(wr_id - first_id, ENTRIES);
		complete(qp, 0, head, 7);
		assert_true(atomic_load(&sq->tail) == head);

		ex->wr_start(ex);
		ex->wr_id = 9;
		ex->wr_send(ex);
		ex->wr_set_sge(ex, 1, 2, 3);
		assert_int_equal(ex->wr_complete(ex), 0);
		end = atomic_load(&sq->head);
		assert_true(end > head && fake_rec(fake_qp(qp)->slot) == end);
		head = end;
		complete(qp, 0, head, 9);
	}
	assert_true(sq->built < START);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
}

static int post_recv(struct ibv_qp *qp, uint64_t wr_id)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id }, *bad;

	return fake_ops()->post_recv(qp, &wr, &bad);
}

/* Fills and empties it, with one receive more each time. */
static void receive_queue(void **state)
{
	struct ibv_qp *qp = make_qp(NULL);
	uint64_t head = START, tail = START;
	unsigned int n = 0;

	(void)state;
	wq_used(&to_vhca_qp(qp)->rq, START);
	while (tail < WRAP + 64) {
		while (head - tail < ENTRIES) {
			assert_int_equal(post_recv(qp, head), 0);
			assert_true(fake_rec(fake_qp(qp)->slot + 1) == ++head);
		}
		assert_int_equal(post_recv(qp, 0), ENOMEM);
		n = n % ENTRIES + 1;
		for (unsigned int i = 0; i < n; i++, tail++)
			complete(qp, VHCA_CQE_F_RQ, tail + 1, tail);
	}
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
}

static int post_shared(struct ibv_srq *srq, uint64_t wr_id)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id }, *bad;

	return fake_ops()->post_srq_recv(srq, &wr, &bad);
}

/*
 * The device's count has 32 bits; the queue is also resized between two sizes on both sides of the
 * wrap, with receives that were not taken.
 */
static void shared_receive_queue(void **state)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = ENTRIES, .max_sge = 1 } };
	struct ibv_srq_attr room = { .max_wr = ENTRIES };
	struct ibv_srq *srq = fake_ops()->create_srq(&fake_pd, &attr);
	struct ibv_qp *qp = make_qp(srq);
	uint64_t head = START, tail = START;
	unsigned int n = 0, takes;

	(void)state;
	wq_used(&to_vhca_srq(srq)->wq, START);
	atomic_store(&to_vhca_srq(srq)->completed, START);
	db_store(&to_vhca_srq(srq)->db, 0, START);
	db_store(&to_vhca_srq(srq)->db, 1, (uint32_t)START);
	fake_srq(srq)->taken = START;
	while (tail < WRAP + 64) {
		while (head - tail < room.max_wr)
			assert_int_equal(post_shared(srq, head++), 0);
		assert_int_equal(post_shared(srq, 0), ENOMEM);
		n = n % ENTRIES + 1;
		/* The receives that are left fit into the smaller ring. */
		takes = room.max_wr - ENTRIES + n;
		for (unsigned int i = 0; i < takes; i++, tail++) {
			assert_true(fake_take(srq) == tail);
			complete(qp, VHCA_CQE_F_RQ, 0, tail);
		}
		room.max_wr = room.max_wr == ENTRIES ? 4 * ENTRIES : ENTRIES;
		assert_int_equal(fake_ops()->modify_srq(srq, &room, IBV_SRQ_MAX_WR), 0);
	}
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_srq(srq), 0);
}

/* The CQ is also resized between two sizes, with entries that were not polled. */
static void completion_queue(void **state)
{
	struct ibv_qp *qp = make_qp(NULL);
	uint64_t got = START, done = START;
	struct ibv_wc wc[ENTRIES];
	unsigned int n = 0;
	bool wide = false;

	(void)state;
	cq_used(START);
	wq_used(&to_vhca_qp(qp)->rq, START);
	while (got < WRAP + 64) {
		for (; done - got < ENTRIES; done++) {
			assert_int_equal(post_recv(qp, done), 0);
			fake_complete(cq, (struct vhca_cqe) {
				.qpn = htole32(qp->qp_num),
				.flags = VHCA_CQE_F_RQ,
				.wqe_index = htole32((uint32_t)(done + 1)),
				.wr_id = htole64(done),
			});
		}
		wide = !wide;
		assert_int_equal(fake_ops()->resize_cq(cq, wide ? 4 * ENTRIES : ENTRIES), 0);
		n = n % ENTRIES + 1;
		assert_int_equal(fake_ops()->poll_cq(cq, n, wc), n);
		for (unsigned int i = 0; i < n; i++)
			assert_true(wc[i].wr_id == got++);
		assert_true(fake_rec(fake_cq(cq)->slot) == got);
	}
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
}

/* The arm record has the count of the CQ's entries, and a number other than the last one's. */
static void arm_record(void **state)
{
	uint32_t slot = fake_cq(cq)->slot + 1;
	uint64_t last = 0, now;

	(void)state;
	to_vhca_cq(cq)->arm_seq = VHCA_ARM_SEQ_MASK - 3;
	for (uint32_t i = 0; i < 8; i++, last = now) {
		cq_used(WRAP - 4 + i);
		assert_int_equal(fake_ops()->req_notify_cq(cq, 0), 0);
		now = fake_rec(slot);
		assert_true((now & VHCA_ARM_CI_MASK) == (uint32_t)(WRAP - 4 + i));
		assert_false(now & VHCA_ARM_SOLICITED);
		assert_true(now >> VHCA_ARM_SEQ_SHIFT != last >> VHCA_ARM_SEQ_SHIFT);
		/* for the device, the record of a CQ that was never armed */
		assert_true(now >> VHCA_ARM_SEQ_SHIFT != 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(send_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(receive_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(shared_receive_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(completion_queue, setup, teardown),
		cmocka_unit_test_setup_teardown(arm_record, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
