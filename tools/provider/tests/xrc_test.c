// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * XRC: domains and targets, which the kernel owns; requests that name an SRQ;
 * receives that complete for an SRQ, whatever QP they came by.
 */
#include <errno.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

static struct vhca_context *ctx;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_xrcd *xrcd;
static struct ibv_srq *srq;

#define ALL_OF_IT	(IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD | \
			 IBV_SRQ_INIT_ATTR_CQ)

static struct ibv_srq *make_srq(uint32_t comp_mask, enum ibv_srq_type type)
{
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 6, .max_sge = 2 }, .comp_mask = comp_mask, .srq_type = type,
		.pd = pd, .xrcd = xrcd, .cq = cq,
	};

	return fake_ops()->create_srq_ex(pd->context, &attr);
}

static int setup(void **state)
{
	struct ibv_xrcd_init_attr attr = { .fd = -1 };

	(void)state;
	ctx = fake_open();
	pd = fake_ops()->alloc_pd(&ctx->vctx.context);
	assert_non_null(pd);
	cq = fake_make_cq(ctx, 16);
	xrcd = fake_ops()->open_xrcd(pd->context, &attr);
	assert_non_null(xrcd);
	srq = make_srq(ALL_OF_IT, IBV_SRQT_XRC);
	assert_non_null(srq);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fake_ops()->destroy_srq(srq), 0);
	assert_int_equal(fake_ops()->close_xrcd(xrcd), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
	assert_int_equal(fake_ops()->dealloc_pd(pd), 0);
	fake_close(ctx);
	return 0;
}

static void post(struct ibv_srq *to, uint64_t wr_id)
{
	struct ibv_recv_wr wr = { .wr_id = wr_id }, *bad;

	assert_int_equal(fake_ops()->post_srq_recv(to, &wr, &bad), 0);
}

static uint32_t number(struct ibv_srq *of)
{
	uint32_t num;

	assert_int_equal(fake_ops()->get_srq_num(of, &num), 0);
	return num;
}

/* Completes a receive of an SRQ for a QP that this process may not have. */
static void complete(uint32_t srqn, uint64_t wr_id)
{
	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(0xdef), .wr_id = htole64(wr_id), .byte_len = htole32(7),
		.opcode = VHCA_CQE_RECV, .flags = VHCA_CQE_F_RQ | VHCA_CQE_F_XRC,
		.srqn = htole32(srqn),
	});
}

static void receives_are_the_srqs(void **state)
{
	struct ibv_wc wc;

	(void)state;
	post(srq, 5);
	complete(number(srq), fake_take(srq));
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 5);
	assert_int_equal(wc.qp_num, 0xdef);
	assert_int_equal(wc.opcode, IBV_WC_RECV);
	/* more completions than receives posted, and some of an SRQ that does not exist */
	complete(number(srq), 6);
	complete(number(srq) + 1, 6);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 0);
	assert_int_equal(fake_logged, 2);
}

/* A QP and an SRQ may have the same number. */
static void numbers_are_two(void **state)
{
	const struct ibv_qp_cap cap = { .max_send_wr = 2, .max_recv_wr = 2, .max_send_sge = 1,
					.max_recv_sge = 1 };
	struct ibv_qp *qp = fake_make_qp(ctx, cq, cq, &cap, 0);
	struct ibv_wc wc;

	(void)state;
	post(srq, 9);
	fake_take(srq);
	/* the QP has no receives posted: a completion of the SRQ is not taken for one of the QP */
	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num), .wr_id = htole64(9), .opcode = VHCA_CQE_RECV,
		.flags = VHCA_CQE_F_RQ | VHCA_CQE_F_XRC, .srqn = htole32(number(srq)),
	});
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	/* destroying the QP drops only its own completions */
	post(srq, 10);
	complete(number(srq), fake_take(srq));
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 10);
}

static void an_srq_takes_its_completions_along(void **state)
{
	struct ibv_srq *other = make_srq(ALL_OF_IT, IBV_SRQT_XRC);
	struct ibv_wc wc;

	(void)state;
	assert_non_null(other);
	post(srq, 1);
	post(other, 2);
	complete(number(other), fake_take(other));
	complete(number(srq), fake_take(srq));
	assert_int_equal(fake_ops()->destroy_srq(other), 0);
	assert_int_equal(fake_ops()->poll_cq(cq, 2, &wc), 1);
	assert_int_equal(wc.wr_id, 1);
}

static struct ibv_srq *heir;

/* The number of a destroyed SRQ is given to a new one, in which a receive completes. */
static void number_given_away(void)
{
	fake_behind_destroy_srq = NULL;
	heir = make_srq(ALL_OF_IT, IBV_SRQT_XRC);
	assert_non_null(heir);
	post(heir, 7);
	complete(number(heir), fake_take(heir));
}

/* Destroying an SRQ drops its own completions, not those of the next SRQ with its number. */
static void a_number_comes_again(void **state)
{
	struct ibv_srq *other = make_srq(ALL_OF_IT, IBV_SRQT_XRC), *more[40];
	struct ibv_wc wc;

	(void)state;
	assert_non_null(other);
	post(other, 2);
	complete(number(other), fake_take(other));
	fake_behind_destroy_srq = number_given_away;
	fake_next_srqn = number(other);
	assert_int_equal(fake_ops()->destroy_srq(other), 0);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 7);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 0);
	/* it is also found after the table has grown */
	for (unsigned int i = 0; i < sizeof(more) / sizeof(more[0]); i++) {
		more[i] = make_srq(ALL_OF_IT, IBV_SRQT_XRC);
		assert_non_null(more[i]);
	}
	post(heir, 8);
	complete(number(heir), fake_take(heir));
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_int_equal(wc.wr_id, 8);
	assert_int_equal(fake_logged, 0);
	for (unsigned int i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		assert_int_equal(fake_ops()->destroy_srq(more[i]), 0);
	assert_int_equal(fake_ops()->destroy_srq(heir), 0);
}

static void refused(void **state)
{
	static const struct { uint32_t mask; enum ibv_srq_type type; int err; } cases[] = {
		{ ALL_OF_IT & ~IBV_SRQ_INIT_ATTR_PD, IBV_SRQT_XRC, EINVAL },
		{ ALL_OF_IT & ~IBV_SRQ_INIT_ATTR_XRCD, IBV_SRQT_XRC, EINVAL },
		{ ALL_OF_IT & ~IBV_SRQ_INIT_ATTR_CQ, IBV_SRQT_XRC, EINVAL },
		{ ALL_OF_IT, IBV_SRQT_TM, EOPNOTSUPP },
		{ ALL_OF_IT | IBV_SRQ_INIT_ATTR_TM, IBV_SRQT_XRC, EOPNOTSUPP },
	};
	struct ibv_qp_init_attr_ex target = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD | 1U << 30,
		.xrcd = xrcd,
	};
	struct ibv_qp_open_attr open = { .qp_num = 1 };
	struct ibv_xrcd_init_attr domain = { .fd = -1 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		errno = 0;
		assert_null(make_srq(cases[i].mask, cases[i].type));
		assert_int_equal(errno, cases[i].err);
	}
	fake_err[FAKE_CREATE_SRQ] = ENOSPC;
	assert_null(make_srq(ALL_OF_IT, IBV_SRQT_XRC));
	assert_int_equal(errno, ENOSPC);
	fake_err[FAKE_CREATE_SRQ] = 0;
	assert_null(fake_ops()->create_qp_ex(pd->context, &target));
	assert_int_equal(errno, EOPNOTSUPP);
	fake_err[FAKE_OPEN_QP] = EINVAL;
	assert_null(fake_ops()->open_qp(pd->context, &open));
	assert_int_equal(errno, EINVAL);
	fake_err[FAKE_OPEN_QP] = 0;
	fake_err[FAKE_OPEN_XRCD] = EAGAIN;
	assert_null(fake_ops()->open_xrcd(pd->context, &domain));
	assert_int_equal(errno, EAGAIN);
	fake_err[FAKE_OPEN_XRCD] = 0;
	fake_err[FAKE_CLOSE_XRCD] = EBUSY;
	assert_int_equal(fake_ops()->close_xrcd(xrcd), EBUSY);
	fake_err[FAKE_CLOSE_XRCD] = 0;
}

/* A target, created or opened here, has no queue to post to. */
static void targets(void **state)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV, .comp_mask = IBV_QP_INIT_ATTR_XRCD, .xrcd = xrcd,
		.cap = { .max_send_wr = 5, .max_recv_wr = 5 },
	};
	struct ibv_qp_open_attr open = { .qp_num = 0xdef, .qp_type = IBV_QPT_XRC_RECV };
	struct ibv_qp *qp[2];

	(void)state;
	qp[0] = fake_ops()->create_qp_ex(pd->context, &attr);
	qp[1] = fake_ops()->open_qp(pd->context, &open);
	assert_non_null(qp[0]);
	assert_non_null(qp[1]);
	assert_int_equal(attr.cap.max_send_wr, 0);
	assert_int_equal(qp[1]->qp_num, 0xdef);
	for (unsigned int i = 0; i < 2; i++) {
		struct ibv_qp_attr reset = { .qp_state = IBV_QPS_RESET };
		struct ibv_send_wr send = {}, *bad_send;
		struct ibv_recv_wr recv = {}, *bad_recv;

		assert_int_equal(fake_ops()->post_send(qp[i], &send, &bad_send), EINVAL);
		assert_int_equal(fake_ops()->post_recv(qp[i], &recv, &bad_recv), EINVAL);
		assert_int_equal(fake_ops()->modify_qp(qp[i], &reset, IBV_QP_STATE), 0);
		assert_int_equal(fake_ops()->destroy_qp(qp[i]), 0);
	}
}

static const struct vhca_wqe_ctrl *entry(struct ibv_qp *qp, unsigned int block)
{
	const uint8_t *ring = (const uint8_t *)(uintptr_t)fake_qp(qp)->req.sq_addr;

	return (const void *)(ring + block * VHCA_WQE_BLOCK);
}

/* Both ways of posting name the SRQ; without it, an extended request has no destination. */
static void requests_name_an_srq(void **state)
{
	const struct ibv_qp_cap cap = { .max_send_wr = 8, .max_send_sge = 1, .max_recv_wr = 3 };
	uint64_t ops = vhca_known_send_ops(ctx, IBV_QPT_XRC_SEND);
	struct ibv_qp *qp = fake_make_typed_qp(ctx, IBV_QPT_XRC_SEND, cq, &cap, ops);
	struct ibv_send_wr wr = {
		.opcode = IBV_WR_SEND, .qp_type.xrc.remote_srqn = 0x123456,
	}, *bad;
	struct ibv_qp_ex *ex;

	(void)state;
	assert_true(ops & IBV_QP_EX_WITH_RDMA_READ);
	assert_false(ops & (IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH));
	assert_int_equal(fake_qp(qp)->req.log_rq_strides, VHCA_NO_QUEUE);
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
	assert_true(entry(qp, 0)->xrc_srqn == htole32(0x123456));
	wr.opcode = IBV_WR_ATOMIC_WRITE;
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), EINVAL);

	ex = &container_of(qp, struct vhca_qp, vqp.qp)->vqp.qp_ex;
	ex->wr_start(ex);
	ex->wr_send(ex);
	ex->wr_set_xrc_srqn(ex, 0x654321);
	ex->wr_set_sge(ex, 1, 2, 3);
	assert_int_equal(ex->wr_complete(ex), 0);
	assert_true(entry(qp, 1)->xrc_srqn == htole32(0x654321));
	ex->wr_start(ex);
	ex->wr_send(ex);
	ex->wr_set_sge(ex, 1, 2, 3);
	assert_int_equal(ex->wr_complete(ex), EINVAL);
	/* a local operation has no destination */
	ex->wr_start(ex);
	ex->wr_local_inv(ex, 77);
	assert_int_equal(ex->wr_complete(ex), 0);
	wr.opcode = IBV_WR_LOCAL_INV;
	wr.invalidate_rkey = 78;
	wr.qp_type.xrc.remote_srqn = 0xdeadbeef;
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
	for (unsigned int block = 2; block < 4; block++) {
		assert_int_equal(entry(qp, block)->opcode, VHCA_OP_LOCAL_INV);
		assert_true(entry(qp, block)->xrc_srqn == 0);
	}
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(receives_are_the_srqs), TEST(numbers_are_two),
		TEST(an_srq_takes_its_completions_along), TEST(a_number_comes_again),
		TEST(refused), TEST(targets), TEST(requests_name_an_srq),
	};

	return cmocka_run_group_tests_name("xrc", tests, NULL, NULL);
}
