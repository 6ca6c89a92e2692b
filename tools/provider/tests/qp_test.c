// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Making and destroying objects: layout of rings, sharing of CQs, reset,
 * refusals, and what is left behind.
 */
#include <errno.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

static struct vhca_context *ctx;

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_close(ctx);
	return 0;
}

static const struct ibv_qp_cap small = {
	.max_send_wr = 1,
	.max_recv_wr = 1,
	.max_send_sge = 1,
	.max_recv_sge = 1,
};

static void post_send(struct ibv_qp *qp)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;

	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
}

static struct {
	struct ibv_pd *pd;
	struct ibv_cq *send_cq, *recv_cq;
	struct ibv_srq *srq;
} parts;

/* Destroys the parts of a QP: the kernel allows that, as nothing uses them any more. */
static void destroy_parts(void)
{
	if (parts.srq)
		assert_int_equal(fake_ops()->destroy_srq(parts.srq), 0);
	if (parts.recv_cq != parts.send_cq)
		assert_int_equal(fake_ops()->destroy_cq(parts.recv_cq), 0);
	assert_int_equal(fake_ops()->destroy_cq(parts.send_cq), 0);
	assert_int_equal(fake_ops()->dealloc_pd(parts.pd), 0);
}

static void complete(struct ibv_cq *cq, struct ibv_qp *qp, uint32_t index, uint64_t wr_id)
{
	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num),
		.wqe_index = htole32(index),
		.wr_id = htole64(wr_id),
	});
}

static void rings_hold_what_was_asked_for(void **state)
{
	static const struct {
		struct ibv_qp_cap cap;
		uint8_t sq, rq, stride;
		uint64_t ops;		/* 0: any */
	} cases[] = {
		{ { 1, 1, 1, 1, 0 }, 0, 0, 5, IBV_QP_EX_WITH_SEND },
		{ { 5, 5, 1, 3, 0 }, 3, 3, 6, IBV_QP_EX_WITH_BIND_MW },
		{ { 5, 5, 2, 4, 0 }, 4, 3, 7, 0 },	/* 80 bytes: two blocks; 80: 128 */
		{ { 5, 0, 1, 0, 16 }, 3, VHCA_NO_QUEUE, 0, IBV_QP_EX_WITH_RDMA_READ },
		{ { 5, 0, 1, 0, 17 }, 4, VHCA_NO_QUEUE, 0, IBV_QP_EX_WITH_RDMA_READ },
		{ { 0, 9, 0, 0, 0 }, VHCA_NO_QUEUE, 4, 5, 0 },	/* the smallest stride */
		{ { 16, 16, 16, 16, 512 }, 8, 4, 9, 0 },
		{ { 16, 16, 32, 32, 0 }, 8, 4, 10, 0 },
		/* an atomic has two blocks, so requests of two must fit */
		{ { 1, 0, 1, 0, 0 }, 1, VHCA_NO_QUEUE, 0, 0 },
		{ { 5, 0, 1, 0, 0 }, 4, VHCA_NO_QUEUE, 0, IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP },
		{ { 5, 0, 1, 0, 0 }, 4, VHCA_NO_QUEUE, 0, IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD },
		{ { 5, 0, 0, 0, 0 }, 3, VHCA_NO_QUEUE, 0, 0 },
		{ { 5, 0, 1, 0, 0 }, 3, VHCA_NO_QUEUE, 0,
		  IBV_QP_EX_WITH_ATOMIC_WRITE | IBV_QP_EX_WITH_FLUSH },
	};
	struct ibv_cq *cq = fake_make_cq(ctx, 1);

	(void)state;
	assert_int_equal(fake_cq(cq)->req.log_cqe, 0);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibv_qp *qp = fake_make_qp(ctx, cq, cq, &cases[i].cap,
						 cases[i].ops);
		struct vhca_create_qp_req *req = &fake_qp(qp)->req;

		assert_int_equal(req->log_sq_blocks, cases[i].sq);
		assert_int_equal(req->log_rq_strides, cases[i].rq);
		assert_int_equal(req->log_rq_stride, cases[i].stride);
		assert_int_equal(req->sq_addr % VHCA_DB_PAGE_SIZE, 0);
		assert_int_equal(req->rq_addr % VHCA_DB_PAGE_SIZE, 0);
		assert_int_equal(!req->sq_addr, cases[i].sq == VHCA_NO_QUEUE);
		assert_int_equal(!req->rq_addr, cases[i].rq == VHCA_NO_QUEUE);
		assert_true(req->rq_addr != req->sq_addr || !req->sq_addr);
		assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	}
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
}

static void a_missing_queue_takes_nothing(void **state)
{
	const struct ibv_qp_cap no_send = { .max_recv_wr = 1 }, no_recv = { .max_send_wr = 1 };
	struct ibv_cq *cq = fake_make_cq(ctx, 1);
	struct ibv_qp *qp = fake_make_qp(ctx, cq, cq, &no_send, 0);
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr rwr = {}, *rbad;

	(void)state;
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), EINVAL);
	assert_ptr_equal(bad, &wr);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	qp = fake_make_qp(ctx, cq, cq, &no_recv, 0);
	assert_int_equal(fake_ops()->post_recv(qp, &rwr, &rbad), EINVAL);
	assert_ptr_equal(rbad, &rwr);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	/* neither: there is no memory at all */
	qp = fake_make_qp(ctx, cq, cq, &(struct ibv_qp_cap) {}, 0);
	assert_null(to_vhca_qp(qp)->buf.addr);
	assert_int_equal(fake_qp(qp)->req.sq_addr, 0);
	assert_int_equal(fake_qp(qp)->req.rq_addr, 0);
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), EINVAL);
	assert_int_equal(fake_ops()->post_recv(qp, &rwr, &rbad), EINVAL);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
}

static void a_cq_finds_each_of_many_qps(void **state)
{
	enum { QPS = 300 };
	struct ibv_cq *cq = fake_make_cq(ctx, 512), *other = fake_make_cq(ctx, 1);
	static struct ibv_qp *qp[QPS];
	struct ibv_wc wc;

	(void)state;
	for (unsigned int i = 0; i < QPS; i++) {
		qp[i] = fake_make_qp(ctx, cq, i % 2 ? cq : other, &small, 0);
		post_send(qp[i]);
	}
	for (unsigned int i = 0; i < QPS; i++)
		complete(cq, qp[QPS - 1 - i], 1, QPS - 1 - i);
	for (unsigned int i = 0; i < QPS; i++) {
		assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
		assert_int_equal(wc.qp_num, qp[wc.wr_id]->qp_num);
	}
	/* every other one is destroyed, the rest is still found */
	for (unsigned int i = 0; i < QPS; i += 2)
		assert_int_equal(fake_ops()->destroy_qp(qp[i]), 0);
	for (unsigned int i = 1; i < QPS; i += 2) {
		post_send(qp[i]);
		complete(cq, qp[i], 2, i);
		assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
		assert_int_equal(wc.wr_id, i);
		assert_int_equal(fake_ops()->destroy_qp(qp[i]), 0);
	}
	assert_int_equal(fake_logged, 0);
	assert_int_equal(to_vhca_cq(cq)->num_users, 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
	assert_int_equal(fake_ops()->destroy_cq(other), 0);
}

/* Completions of one QP are dropped, those of the other stay in order, at every ring position. */
static void destruction_purges_the_cq(void **state)
{
	struct ibv_qp_cap cap = small;
	struct ibv_cq *cq = fake_make_cq(ctx, 8);
	struct ibv_qp *stays, *goes;
	struct ibv_wc wc[8];
	uint32_t posted = 0;

	(void)state;
	cap.max_send_wr = 64;
	stays = fake_make_qp(ctx, cq, cq, &cap, 0);
	for (uint32_t round = 0; round < 20; round++) {
		goes = fake_make_qp(ctx, cq, cq, &cap, 0);
		for (uint32_t i = 0; i < 3; i++) {
			post_send(goes);
			complete(cq, goes, i + 1, 1000);
			post_send(stays);
			posted++;
			complete(cq, stays, posted, posted);
		}
		/* the newest entry is dropped, or stays where it is */
		if (round % 2) {
			post_send(goes);
			complete(cq, goes, 4, 1000);
		}
		assert_int_equal(fake_ops()->destroy_qp(goes), 0);
		assert_int_equal(fake_ops()->poll_cq(cq, 8, wc), 3);
		for (uint32_t i = 0; i < 3; i++)
			assert_true(wc[i].wr_id == posted - 2 + i);
		assert_true(fake_rec(fake_cq(cq)->slot) == fake_cq(cq)->prod);
	}
	assert_int_equal(fake_logged, 0);
	assert_int_equal(fake_ops()->destroy_qp(stays), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
}

/* Another thread destroys the parts of a QP while the provider still destroys the QP. */
static void parts_go_before_their_qp(void **state)
{
	struct ibv_srq_init_attr srq = { .attr = { .max_wr = 4, .max_sge = 1 } };
	struct ibv_qp_init_attr init;
	struct ibv_qp *qp;

	(void)state;
	fake_behind_destroy_qp = destroy_parts;
	for (unsigned int shared = 0; shared < 2; shared++) {
		for (unsigned int with_srq = 0; with_srq < 2; with_srq++) {
			parts.pd = fake_ops()->alloc_pd(&ctx->vctx.context);
			assert_non_null(parts.pd);
			parts.pd->context = &ctx->vctx.context;
			parts.send_cq = fake_make_cq(ctx, 8);
			parts.recv_cq = shared ? parts.send_cq : fake_make_cq(ctx, 8);
			parts.srq = with_srq ? fake_ops()->create_srq(parts.pd, &srq) : NULL;
			init = (struct ibv_qp_init_attr) {
				.qp_type = IBV_QPT_RC,
				.send_cq = parts.send_cq,
				.recv_cq = parts.recv_cq,
				.srq = parts.srq,
				.cap = small,
			};
			qp = fake_ops()->create_qp(parts.pd, &init);
			assert_non_null(qp);
			complete(parts.recv_cq, qp, 1, 1000);
			assert_int_equal(fake_ops()->destroy_qp(qp), 0);
		}
	}
}

static void reset_starts_over(void **state)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_cq *cq = fake_make_cq(ctx, 8);
	struct ibv_qp *qp = fake_make_qp(ctx, cq, cq, &small, 0);
	struct ibv_recv_wr rwr = {}, *rbad;
	struct ibv_wc wc;

	(void)state;
	for (unsigned int i = 0; i < 5; i++) {
		post_send(qp);
		assert_int_equal(fake_ops()->post_recv(qp, &rwr, &rbad), 0);
		complete(cq, qp, 1, 0);
		assert_int_equal(fake_ops()->modify_qp(qp, &attr, IBV_QP_STATE), 0);
		assert_true(fake_rec(fake_qp(qp)->slot) == 0);
		assert_true(fake_rec(fake_qp(qp)->slot + 1) == 0);
		assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 0);
	}
	/* other changes leave the queues alone */
	post_send(qp);
	attr.qp_state = IBV_QPS_ERR;
	assert_int_equal(fake_ops()->modify_qp(qp, &attr, IBV_QP_STATE), 0);
	attr.qp_state = IBV_QPS_RESET;
	assert_int_equal(fake_ops()->modify_qp(qp, &attr, IBV_QP_PKEY_INDEX), 0);
	assert_true(fake_rec(fake_qp(qp)->slot) == 1);
	complete(cq, qp, 1, 5);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
}

static struct ibv_qp *try_create(struct ibv_cq *cq, struct ibv_qp_init_attr_ex attr)
{
	static struct vhca_pd pd = { .holds = 1 };

	pd.pd.context = &ctx->vctx.context;
	attr.send_cq = cq;
	attr.recv_cq = cq;
	attr.pd = &pd.pd;
	attr.comp_mask |= IBV_QP_INIT_ATTR_PD;
	if (!attr.qp_type)
		attr.qp_type = IBV_QPT_RC;
	errno = 0;
	return fake_ops()->create_qp_ex(&ctx->vctx.context, &attr);
}

#define CREATE(_cq, ...) try_create(_cq, (struct ibv_qp_init_attr_ex) { __VA_ARGS__ })

static void refusals_leave_nothing(void **state)
{
	struct ibv_cq *cq = fake_make_cq(ctx, 8);
	struct ibv_qp *qp;

	(void)state;
	assert_null(CREATE(cq, .cap = small, .comp_mask = IBV_QP_INIT_ATTR_MAX_TSO_HEADER));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(CREATE(cq, .cap = small, .comp_mask = IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			   .send_ops_flags = IBV_QP_EX_WITH_TSO));
	assert_int_equal(errno, EOPNOTSUPP);
	/* the kernel would refuse these with a reason; if it does not, the provider does */
	assert_null(CREATE(cq, .cap = small, .qp_type = IBV_QPT_RAW_PACKET));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(CREATE(cq, .cap = { 1, 1, FAKE_SGE + 60, 1, 0 }));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(CREATE(cq, .cap = { 1, 1, 1, FAKE_SGE + 32, 0 }));
	assert_int_equal(errno, EOPNOTSUPP);
	assert_null(CREATE(cq, .cap = { 1, 1, 1, 1, 1000 }));
	assert_int_equal(errno, EOPNOTSUPP);

	fake_err[FAKE_CREATE_QP] = EINVAL;
	assert_null(CREATE(cq, .cap = { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX,
					UINT32_MAX }));
	assert_int_equal(errno, EINVAL);
	fake_err[FAKE_CREATE_QP] = 0;
	fake_err[FAKE_CREATE_CQ] = ENOMEM;
	assert_null(fake_ops()->create_cq(&ctx->vctx.context, INT32_MAX, NULL, 0));
	assert_int_equal(errno, ENOMEM);
	fake_err[FAKE_CREATE_CQ] = 0;
	assert_int_equal(to_vhca_cq(cq)->num_users, 0);

	/* a QP that the kernel does not destroy stays usable */
	qp = CREATE(cq, .cap = small);
	assert_non_null(qp);
	qp->state = IBV_QPS_RTS;
	fake_err[FAKE_DESTROY_QP] = EBUSY;
	assert_int_equal(fake_ops()->destroy_qp(qp), EBUSY);
	fake_err[FAKE_DESTROY_QP] = 0;
	post_send(qp);
	complete(cq, qp, 1, 1);
	{
		struct ibv_wc wc;

		assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	}
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
}

static void the_kernels_verbs_pass_through(void **state)
{
	struct ibv_qp_init_attr init = { .cap = small, .qp_type = IBV_QPT_RC, .sq_sig_all = 1 };
	const unsigned int all_rights = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
		IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND |
		IBV_ACCESS_ZERO_BASED | IBV_ACCESS_ON_DEMAND | IBV_ACCESS_HUGETLB |
		IBV_ACCESS_FLUSH_GLOBAL | IBV_ACCESS_FLUSH_PERSISTENT |
		IBV_ACCESS_OPTIONAL_RANGE;
	struct ibv_device_attr_ex dattr = {};
	struct ibv_port_attr pattr = {};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_context *context = &ctx->vctx.context;
	struct ibv_cq *cq = fake_make_cq(ctx, 1);
	const struct vhca_wqe_ctrl *ctrl;
	struct ibv_qp *qp;
	struct ibv_pd *pd;
	struct ibv_mr *mr;
	char byte;

	(void)state;
	assert_int_equal(fake_ops()->query_device_ex(context, NULL, &dattr, sizeof(dattr)), 0);
	assert_string_equal(dattr.orig_attr.fw_ver, "3.12.7");
	assert_int_equal(fake_ops()->query_port(context, 2, &pattr), 0);
	assert_int_equal(pattr.lid, 2);
	assert_true(ctx->features == VHCA_FEATURES);	/* the AND of both */

	pd = fake_ops()->alloc_pd(context);
	assert_int_equal(to_vhca_pd(pd)->pdn, 77);
	mr = fake_ops()->reg_mr(pd, &byte, 1, (uintptr_t)&byte, 0);
	assert_non_null(mr);
	assert_int_equal(fake_ops()->dereg_mr(verbs_get_mr(mr)), 0);
	/* the kernel checks access rights, also those that it may ignore */
	mr = fake_ops()->reg_mr(pd, &byte, 1, 0x1234567, (int)all_rights);
	assert_non_null(mr);
	assert_ptr_equal(fake_asked.addr, &byte);
	assert_true(fake_asked.length == 1 && fake_asked.iova == 0x1234567);
	assert_int_equal(fake_asked.access, all_rights);
	assert_ptr_equal(fake_asked.pd, pd);
	assert_null(fake_ops()->reg_mr(pd, &byte, 0, (uintptr_t)&byte, 0));
	assert_int_equal(errno, EINVAL);
	assert_int_equal(fake_ops()->rereg_mr(verbs_get_mr(mr), IBV_REREG_MR_CHANGE_TRANSLATION,
					      NULL, &byte, 1, 0), 0);
	assert_int_equal(fake_ops()->rereg_mr(verbs_get_mr(mr), IBV_REREG_MR_CHANGE_TRANSLATION,
					      NULL, &byte, 0, 0), EINVAL);
	assert_int_equal(fake_ops()->rereg_mr(verbs_get_mr(mr), IBV_REREG_MR_CHANGE_ACCESS |
					      IBV_REREG_MR_CHANGE_PD, pd, NULL, 0,
					      (int)all_rights), 0);
	assert_int_equal(fake_asked.access, all_rights);
	assert_ptr_equal(fake_asked.pd, pd);
	assert_int_equal(fake_ops()->dereg_mr(verbs_get_mr(mr)), 0);
	mr = fake_ops()->reg_dmabuf_mr(pd, 4096, 512, 0x7654321, 9, (int)all_rights);
	assert_non_null(mr);
	assert_true(fake_asked.offset == 4096 && fake_asked.length == 512);
	assert_true(fake_asked.iova == 0x7654321 && fake_asked.fd == 9);
	assert_int_equal(fake_asked.access, all_rights);
	assert_int_equal(fake_ops()->dereg_mr(verbs_get_mr(mr)), 0);

	init.send_cq = cq;
	init.recv_cq = cq;
	qp = fake_ops()->create_qp(pd, &init);
	assert_non_null(qp);
	qp->state = IBV_QPS_RTS;
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
	ctrl = (const void *)(uintptr_t)fake_qp(qp)->req.sq_addr;
	assert_int_equal(ctrl->flags, VHCA_WQE_SIGNALED);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
	assert_int_equal(fake_ops()->dealloc_pd(pd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(rings_hold_what_was_asked_for, setup, teardown),
		cmocka_unit_test_setup_teardown(a_missing_queue_takes_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_cq_finds_each_of_many_qps, setup, teardown),
		cmocka_unit_test_setup_teardown(destruction_purges_the_cq, setup, teardown),
		cmocka_unit_test_setup_teardown(parts_go_before_their_qp, setup, teardown),
		cmocka_unit_test_setup_teardown(reset_starts_over, setup, teardown),
		cmocka_unit_test_setup_teardown(refusals_leave_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(the_kernels_verbs_pass_through, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
