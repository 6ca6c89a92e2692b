// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Shared receive queues: their ring at every fill and place, resizing,
 * and the QPs that receive from it.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

#define MAX_WR	8	/* what a ring for ASKED receives holds */
#define ASKED	6
#define MAX_SGE	2

static struct vhca_context *ctx;
static struct vhca_pd pd = { .holds = 1 };
static struct ibv_srq *srq;

static struct ibv_srq *make(uint32_t max_wr, uint32_t max_sge)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = max_wr, .max_sge = max_sge } };

	return fake_ops()->create_srq(&pd.pd, &attr);
}

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	pd.pd.context = &ctx->vctx.context;
	srq = make(ASKED, MAX_SGE);
	assert_non_null(srq);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fake_ops()->destroy_srq(srq), 0);
	fake_close(ctx);
	return 0;
}

static int post(uint64_t wr_id)
{
	struct ibv_sge sge = { .addr = wr_id << 12, .length = 64, .lkey = (uint32_t)wr_id };
	struct ibv_recv_wr wr = { .wr_id = wr_id, .sg_list = &sge, .num_sge = 1 }, *bad = NULL;
	int err = fake_ops()->post_srq_recv(srq, &wr, &bad);

	assert_ptr_equal(bad, err ? &wr : NULL);
	return err;
}

static int resize(uint32_t max_wr)
{
	struct ibv_srq_attr attr = { .max_wr = max_wr };

	return fake_ops()->modify_srq(srq, &attr, IBV_SRQ_MAX_WR);
}

static uint64_t posted(void)
{
	return fake_rec(fake_srq(srq)->slot);
}

static void rings_hold_what_was_asked_for(void **state)
{
	static const struct {
		uint32_t max_wr, max_sge;
		uint8_t strides, stride;
	} cases[] = {
		{ 1, 1, 0, 5 }, { 1, 0, 0, 5 }, { 2, 2, 1, 6 }, { 3, 3, 2, 6 }, { 64, 4, 6, 7 },
		{ 65, 16, 7, 9 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibv_srq *made = make(cases[i].max_wr, cases[i].max_sge);
		uint32_t num = 0;

		assert_non_null(made);
		assert_int_equal(fake_srq(made)->req.log_strides, cases[i].strides);
		assert_int_equal(fake_srq(made)->req.log_stride, cases[i].stride);
		assert_int_equal(fake_ops()->get_srq_num(made, &num), 0);
		assert_int_equal(num, 1000 + made->handle);
		assert_int_equal(fake_ops()->destroy_srq(made), 0);
	}
}

static void receives_fill_strides_and_never_ring(void **state)
{
	struct ibv_sge sge[3] = { { 0x1000, 64, 5 }, { 0x2000, 32, 6 } };
	struct ibv_recv_wr wr[3] = {
		{ .wr_id = 41, .next = &wr[1] },
		{ .wr_id = 42, .next = &wr[2], .sg_list = sge, .num_sge = 2 },
		{ .wr_id = 43, .sg_list = sge, .num_sge = 3 },
	}, *bad;
	const struct vhca_create_srq_req *req = &fake_srq(srq)->req;
	uint32_t slot = fake_srq(srq)->slot;
	const struct vhca_rwqe *rwqe;
	const struct vhca_sge *seg;

	(void)state;
	/* the third has too long a list: the two before it are posted */
	assert_int_equal(fake_ops()->post_srq_recv(srq, wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr[2]);
	assert_true(posted() == 2);
	wr[2].num_sge = -1;
	assert_int_equal(fake_ops()->post_srq_recv(srq, &wr[2], &bad), EINVAL);
	assert_true(posted() == 2);

	rwqe = (const void *)(uintptr_t)(req->buf_addr + (1 << req->log_stride));
	seg = (const void *)(rwqe + 1);
	assert_true(rwqe->wr_id == htole64(42));
	assert_true(rwqe->index == htole32(1));
	assert_int_equal(rwqe->nsge, 2);
	assert_true(seg[0].addr == htole64(0x1000) && seg[0].length == htole32(64) &&
		    seg[0].lkey == htole32(5));
	assert_true(seg[1].addr == htole64(0x2000) && seg[1].length == htole32(32) &&
		    seg[1].lkey == htole32(6));
	assert_true(fake_page(slot)->news[slot % VHCA_DB_SLOTS / 64] == 0);
	assert_int_equal(fake_kicks(), 0);
	assert_true(fake_take(srq) == 41);
	assert_true(fake_take(srq) == 42);
}

/* There is room for each receive that the device has taken, at once and not earlier. */
static void a_full_queue_refuses_and_recovers(void **state)
{
	struct ibv_recv_wr wr[3] = { { .next = &wr[1] }, { .next = &wr[2] }, {} }, *bad;
	uint64_t next = 0, got = 0;

	(void)state;
	for (unsigned int lap = 0; lap < 20; lap++) {
		while (fake_left(srq) < MAX_WR)
			assert_int_equal(post(next++), 0);
		assert_int_equal(post(999), ENOMEM);
		assert_true(posted() == next);
		for (unsigned int i = 0; i <= lap % MAX_WR; i++)
			assert_true(fake_take(srq) == got++);
	}
	while (fake_left(srq))
		assert_true(fake_take(srq) == got++);
	assert_true(got == next);

	/* room for two of a chain of three */
	for (unsigned int i = 0; i < MAX_WR - 2; i++)
		assert_int_equal(post(7), 0);
	assert_int_equal(fake_ops()->post_srq_recv(srq, wr, &bad), ENOMEM);
	assert_ptr_equal(bad, &wr[2]);
	assert_int_equal(fake_left(srq), MAX_WR);
}

/* The device's record is used only if it is possible. */
static void nonsense_of_the_device_makes_no_room(void **state)
{
	static const uint64_t nonsense[] = {
		MAX_WR + 1, UINT64_MAX, 0, 1, UINT64_C(1) << 32, UINT64_C(1) << 63,
	};
	uint32_t slot = fake_srq(srq)->slot + 1;
	__le64 *taken = &fake_page(slot)->rec[slot % VHCA_DB_SLOTS];

	(void)state;
	for (unsigned int i = 0; i < MAX_WR; i++)
		assert_int_equal(post(i), 0);
	assert_true(fake_take(srq) == 0);
	assert_true(fake_take(srq) == 1);
	assert_int_equal(post(MAX_WR), 0);
	assert_int_equal(post(MAX_WR + 1), 0);
	for (unsigned int i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		*taken = htole64(nonsense[i] > 2 ? nonsense[i] + 2 : nonsense[i]);
		assert_int_equal(post(99), ENOMEM);
		assert_int_equal(resize(MAX_WR / 2), EINVAL);
	}
	*taken = htole64(3);
	assert_int_equal(post(MAX_WR + 2), 0);
	assert_int_equal(post(99), ENOMEM);
}

/* Number of receives that a queue of max_wr holds. */
static uint32_t room(uint32_t max_wr)
{
	return ring_size(ring_log(max_wr));
}

/* A new ring has the receives that were not taken; the device may go on in the middle of it. */
static void a_resize_keeps_every_receive(void **state)
{
	static const uint32_t sizes[] = { 1, 2, 3, 5, 8, 13, 64, 100 };
	const unsigned int num = sizeof(sizes) / sizeof(sizes[0]);
	uint64_t next = 0, got = 0;
	uint32_t takes;

	(void)state;
	for (unsigned int from = 0; from < num; from++) {
		for (unsigned int to = 0; to < num; to++) {
			uint32_t was = room(sizes[from]), is = room(sizes[to]);

			for (uint32_t fill = 0; fill <= was; fill += 1 + fill / 8) {
				bool fits = fill <= is;

				assert_int_equal(resize(sizes[from]), 0);
				/* with the ring's start at any place */
				assert_int_equal(post(next++), 0);
				assert_true(fake_take(srq) == got++);
				for (uint32_t i = 0; i < fill; i++)
					assert_int_equal(post(next++), 0);

				/* the device may take receives at the last moment */
				takes = fits ? fill / 2 : fill % 2 ? 0 : fill - is;
				fits = fill - takes <= is;
				fake_srq(srq)->takes = takes;
				assert_int_equal(resize(sizes[to]), fits ? 0 : EINVAL);
				got += takes;
				assert_int_equal(fake_left(srq), fill - takes);
				for (uint32_t i = fill - takes; i < (fits ? is : was); i++)
					assert_int_equal(post(next++), 0);
				assert_int_equal(post(99), ENOMEM);
				while (fake_left(srq))
					assert_true(fake_take(srq) == got++);
				assert_true(got == next);
			}
		}
	}
}

/* Nothing changes when the kernel refuses. */
static void a_refused_resize_changes_nothing(void **state)
{
	struct vhca_create_srq_req before = fake_srq(srq)->req;
	uint64_t got = 0, next = 0;

	(void)state;
	while (next < MAX_WR - 1)
		assert_int_equal(post(next++), 0);
	fake_err[FAKE_MODIFY_SRQ] = EACCES;
	assert_int_equal(resize(100), EACCES);
	assert_int_equal(resize(MAX_WR / 2), EACCES);
	fake_err[FAKE_MODIFY_SRQ] = 0;
	fake_err[FAKE_DONTFORK] = EINVAL;
	assert_int_equal(resize(100), EINVAL);
	fake_err[FAKE_DONTFORK] = 0;
	assert_int_equal(resize(VHCA_MAX_WR + 1), EINVAL);
	assert_int_equal(resize(UINT32_MAX), EINVAL);
	assert_memory_equal(&before, &fake_srq(srq)->req, sizeof(before));
	assert_int_equal(post(next++), 0);
	assert_int_equal(post(99), ENOMEM);
	while (fake_left(srq))
		assert_true(fake_take(srq) == got++);
	assert_true(got == next);
	assert_int_equal(resize(0), EINVAL);
}

static void limits_are_the_kernels(void **state)
{
	struct ibv_srq_attr attr = { .srq_limit = 3, .max_wr = 77 }, got = {};

	(void)state;
	assert_int_equal(fake_ops()->modify_srq(srq, &attr, IBV_SRQ_LIMIT), 0);
	assert_int_equal(fake_srq(srq)->last.log_strides, VHCA_NO_QUEUE);
	assert_int_equal(fake_ops()->query_srq(srq, &got), 0);
	assert_int_equal(got.srq_limit, 3);
	assert_int_equal(got.max_wr, MAX_WR);
	assert_int_equal(got.max_sge, MAX_SGE);
	attr.srq_limit = MAX_WR + 1;
	assert_int_equal(fake_ops()->modify_srq(srq, &attr, IBV_SRQ_LIMIT), EINVAL);

	/* both attributes at once */
	attr.max_wr = 20;
	attr.srq_limit = 5;
	assert_int_equal(fake_ops()->modify_srq(srq, &attr, IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR), 0);
	assert_int_equal(fake_ops()->query_srq(srq, &got), 0);
	assert_int_equal(got.srq_limit, 5);
	assert_int_equal(got.max_wr, 32);
	fake_err[FAKE_QUERY_SRQ] = EIO;
	assert_int_equal(fake_ops()->query_srq(srq, &got), EIO);
}

/* Random operations, compared with a list of the expected receives. */
static void random_use_follows_a_model(void **state)
{
	uint64_t next = 0, got = 0;
	uint32_t max_wr = MAX_WR, n;

	(void)state;
	srand(4711);
	for (unsigned int step = 0; step < 30000; step++) {
		switch (rand() % 8) {
		case 0: case 1: case 2:
			for (n = rand() % (max_wr + 2); n; n--) {
				bool full = next - got == max_wr;

				assert_int_equal(post(next), full ? ENOMEM : 0);
				next += !full;
			}
			break;
		case 3: case 4: case 5:
			for (n = rand() % (max_wr + 1); n && got < next; n--)
				assert_true(fake_take(srq) == got++);
			break;
		case 6:
			fake_err[FAKE_MODIFY_SRQ] = EIO;
			assert_true(resize(1 + rand() % 200) != 0);
			fake_err[FAKE_MODIFY_SRQ] = 0;
			break;
		default:
			n = 1 + rand() % (rand() % 2 ? 10 : 300);
			assert_int_equal(resize(n), room(n) < next - got ? EINVAL : 0);
			if (room(n) >= next - got)
				max_wr = room(n);
			break;
		}
		assert_int_equal(fake_left(srq), next - got);
	}
	assert_true(got > 10000);
}

/* ---- QPs ---- */

static const struct ibv_qp_cap cap = {
	.max_send_wr = 4, .max_send_sge = 1, .max_recv_wr = 5, .max_recv_sge = 3,
};

static void complete_recv(struct ibv_cq *cq, struct ibv_qp *qp, uint64_t wr_id, uint8_t status)
{
	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num),
		.wr_id = htole64(wr_id),
		.opcode = VHCA_CQE_RECV,
		.status = status,
		.flags = VHCA_CQE_F_RQ,
	});
}

static void qps_share_the_queue(void **state)
{
	static const enum ibv_qp_type types[] = { IBV_QPT_RC, IBV_QPT_UC, IBV_QPT_UD };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_cq *cq = fake_make_cq(ctx, 16);
	struct ibv_recv_wr rwr = {}, *rbad;
	struct ibv_ah *ah = fake_make_ah(ctx, 1);
	struct ibv_qp *qp[3];
	struct ibv_wc wc;

	(void)state;
	wr.wr.ud.ah = ah;
	for (unsigned int i = 0; i < 3; i++) {
		struct vhca_create_qp_req *req;

		qp[i] = fake_make_srq_qp(ctx, types[i], cq, srq, &cap);
		req = &fake_qp(qp[i])->req;
		assert_int_equal(req->log_rq_strides, VHCA_NO_QUEUE);
		assert_int_equal(req->log_rq_stride, 0);
		assert_true(req->rq_addr == 0);
		/* receives are posted only to the SRQ */
		assert_int_equal(fake_ops()->post_recv(qp[i], &rwr, &rbad), EINVAL);
		assert_ptr_equal(rbad, &rwr);
		assert_int_equal(fake_ops()->post_send(qp[i], &wr, &bad), 0);
	}
	for (unsigned int i = 0; i < 6; i++)
		assert_int_equal(post(i), 0);
	for (unsigned int i = 0; i < 6; i++)
		assert_true(fake_take(srq) == i);
	/* they complete in another order than they were taken in */
	for (unsigned int i = 0; i < 6; i++)
		complete_recv(cq, qp[i % 3], 5 - i, VHCA_CS_SUCCESS);
	for (unsigned int i = 0; i < 6; i++) {
		assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
		assert_int_equal(wc.wr_id, 5 - i);
		assert_int_equal(wc.qp_num, qp[i % 3]->qp_num);
		assert_int_equal(wc.opcode, IBV_WC_RECV);
	}
	/* room in the send queue is counted as usual */
	for (unsigned int i = 0; i < 3; i++) {
		uint64_t blocks = fake_rec(fake_qp(qp[i])->slot);

		fake_complete(cq, (struct vhca_cqe) {
			.qpn = htole32(qp[i]->qp_num), .wqe_index = htole32(blocks),
		});
		assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
		assert_int_equal(wc.opcode, IBV_WC_SEND);
		assert_true(to_vhca_qp(qp[i])->sq.tail == blocks);
	}
	assert_int_equal(fake_logged, 0);

	/* more completions than receives were posted */
	complete_recv(cq, qp[1], 5, VHCA_CS_SUCCESS);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 0);
	assert_int_equal(fake_logged, 1);
	fake_logged = 0;

	for (unsigned int i = 10; i < 13; i++)
		assert_int_equal(post(i), 0);
	/* completions of a destroyed QP that were not polled are dropped, those of others stay */
	complete_recv(cq, qp[0], 10, VHCA_CS_SUCCESS);
	complete_recv(cq, qp[1], 11, VHCA_CS_SUCCESS);
	complete_recv(cq, qp[0], 12, VHCA_CS_SUCCESS);
	assert_int_equal(fake_ops()->destroy_qp(qp[0]), 0);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 11);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 0);
	assert_int_equal(fake_ops()->destroy_qp(qp[1]), 0);
	assert_int_equal(fake_ops()->destroy_qp(qp[2]), 0);
	assert_int_equal(fake_ops()->destroy_ah(ah), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
}

/* A QP in error has no receives of its own to flush: its slot is never rung. */
static void a_qp_in_error_rings_nothing(void **state)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_ERR };
	struct ibv_cq *cq = fake_make_cq(ctx, 4);
	struct ibv_qp *qp = fake_make_srq_qp(ctx, IBV_QPT_RC, cq, srq, &cap);
	uint32_t slot = fake_qp(qp)->slot;
	struct ibv_wc wc;

	(void)state;
	assert_int_equal(post(1), 0);
	complete_recv(cq, qp, 1, VHCA_CS_LOC_LEN_ERR);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.status, IBV_WC_LOC_LEN_ERR);
	assert_int_equal(fake_ops()->modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_true(fake_page(slot)->news[slot % VHCA_DB_SLOTS / 64] == 0);
	attr.qp_state = IBV_QPS_RESET;
	assert_int_equal(fake_ops()->modify_qp(qp, &attr, IBV_QP_STATE), 0);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
}

static void other_kinds_are_refused(void **state)
{
	struct ibv_srq_init_attr_ex attr = { .attr = { .max_wr = 3, .max_sge = 1 }, .pd = &pd.pd };
	struct ibv_context *context = &ctx->vctx.context;
	struct ibv_srq *made;

	(void)state;
#define NO_SRQ(err) do {						\
	errno = 0;							\
	assert_null(fake_ops()->create_srq_ex(context, &attr));		\
	assert_int_equal(errno, err);					\
} while (0)
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	attr.srq_type = IBV_SRQT_XRC;
	NO_SRQ(EINVAL);
	attr.srq_type = IBV_SRQT_TM;
	NO_SRQ(EOPNOTSUPP);
	attr.srq_type = IBV_SRQT_BASIC;
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
	NO_SRQ(EINVAL);
	attr.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
	NO_SRQ(EOPNOTSUPP);
	attr.comp_mask = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD;
	NO_SRQ(EOPNOTSUPP);
	fake_err[FAKE_CREATE_SRQ] = EPERM;
	attr.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
	NO_SRQ(EPERM);
	fake_err[FAKE_CREATE_SRQ] = 0;
	made = fake_ops()->create_srq_ex(context, &attr);
	assert_non_null(made);
	assert_int_equal(fake_srq(made)->attr.max_wr, 4);
	assert_int_equal(attr.attr.max_wr, 4);
	assert_int_equal(fake_ops()->destroy_srq(made), 0);

	/* the kernel would refuse these with a reason; if it does not, the provider does */
	errno = 0;
	assert_null(make(VHCA_MAX_WR + 1, 1));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(make(UINT32_MAX, 1));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(make(1, FAKE_SGE + 32));
	assert_int_equal(errno, EOPNOTSUPP);
	errno = 0;
	assert_null(make(1, UINT32_MAX));
	assert_int_equal(errno, EOPNOTSUPP);
}

/* ---- posters, a device and a program that resizes at the same time ---- */

#define POSTERS		3
#define POSTED_EACH	20000

static _Atomic unsigned int posting;
static pthread_mutex_t moving = PTHREAD_MUTEX_INITIALIZER;

static void *poster_main(void *arg)
{
	uint64_t id = (uintptr_t)arg * POSTED_EACH;
	struct ibv_recv_wr wr = {}, *bad;
	int err = 0;

	for (unsigned int i = 0; i < POSTED_EACH && !err; i++) {
		wr.wr_id = id + i;
		while ((err = fake_ops()->post_srq_recv(srq, &wr, &bad)) == ENOMEM)
			sched_yield();
	}
	posting--;
	return err ? (void *)1 : NULL;
}

/* Resizes up and down; if more is posted than fits, the resize is refused. */
static void *resizer_main(void *arg)
{
	uint32_t *moved = arg;
	int err;

	for (unsigned int i = 0; posting || i < 64; i++) {
		/* The device reads no ring that is being exchanged. */
		pthread_mutex_lock(&moving);
		err = resize(1 + i * 7 % 40);
		pthread_mutex_unlock(&moving);
		*moved += !err;
		if (err && err != EINVAL)
			return (void *)1;
		sched_yield();
	}
	return NULL;
}

static void threads_lose_nothing(void **state)
{
	const uint64_t total = POSTERS * POSTED_EACH;
	static uint8_t seen[POSTERS * POSTED_EACH];
	pthread_t posters[POSTERS], resizer;
	uint32_t moved = 0;
	uint64_t got = 0;
	void *ret;

	(void)state;
	memset(seen, 0, sizeof(seen));
	posting = POSTERS;
	for (uintptr_t i = 0; i < POSTERS; i++)
		assert_int_equal(pthread_create(&posters[i], NULL, poster_main, (void *)i), 0);
	assert_int_equal(pthread_create(&resizer, NULL, resizer_main, &moved), 0);
	while (got < total) {
		pthread_mutex_lock(&moving);
		while (fake_left(srq)) {
			uint64_t id = fake_take(srq);

			assert_true(id < total);
			seen[id]++;
			got++;
		}
		pthread_mutex_unlock(&moving);
		sched_yield();
	}
	for (uintptr_t i = 0; i < POSTERS; i++) {
		pthread_join(posters[i], &ret);
		assert_null(ret);
	}
	pthread_join(resizer, &ret);
	assert_null(ret);
	for (uintptr_t i = 0; i < total; i++)
		assert_int_equal(seen[i], 1);
	print_message("# %u resizes\n", moved);
	assert_true(moved > 10);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(rings_hold_what_was_asked_for),
		TEST(receives_fill_strides_and_never_ring),
		TEST(a_full_queue_refuses_and_recovers),
		TEST(nonsense_of_the_device_makes_no_room),
		TEST(a_resize_keeps_every_receive),
		TEST(a_refused_resize_changes_nothing),
		TEST(limits_are_the_kernels),
		TEST(random_use_follows_a_model),
		TEST(qps_share_the_queue),
		TEST(a_qp_in_error_rings_nothing),
		TEST(other_kinds_are_refused),
		TEST(threads_lose_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
