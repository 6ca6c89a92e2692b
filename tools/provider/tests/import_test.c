// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Contexts, PDs and regions that another process has made.
 */
#include <errno.h>

#include "cm.h"
#include "fake.h"

static struct vhca_context *ctx;
static struct ibv_context *context;

static int setup(void **state)
{
	(void)state;
	fake_start();
	ctx = fake_import();
	assert_non_null(ctx);
	context = &ctx->vctx.context;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_close(ctx);
	return 0;
}

static void an_imported_context_is_like_the_first(void **state)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
	};
	struct ibv_send_wr wr = { .wr_id = 7, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_cq *cq;
	struct ibv_qp *qp;
	struct ibv_wc wc;

	(void)state;
	assert_true(ctx->features == VHCA_FEATURES);
	assert_int_equal(ctx->send_ops, FAKE_ALL_OPS);
	assert_int_equal(ctx->max_inline, FAKE_INLINE);
	assert_int_equal(ctx->max_send_sge, FAKE_SGE);
	assert_int_equal(ctx->max_recv_sge, FAKE_SGE);
	cq = fake_make_cq(ctx, 4);
	qp = fake_make_qp(ctx, cq, cq, &cap, 0);
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
	assert_true(fake_rec(fake_qp(qp)->slot) == 1);
	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num), .wqe_index = htole32(1), .wr_id = htole64(7),
	});
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
}

static void a_context_that_cannot_be_imported(void **state)
{
	int live = fake_live;

	(void)state;
	fake_err[FAKE_QUERY_CONTEXT] = EIO;
	errno = 0;
	assert_null(fake_import());
	assert_int_equal(errno, EIO);
	fake_err[FAKE_QUERY_CONTEXT] = 0;
	fake_err[FAKE_INIT_CONTEXT] = ENOMEM;
	assert_null(fake_import());
	assert_int_equal(errno, ENOMEM);
	fake_err[FAKE_INIT_CONTEXT] = 0;
	assert_int_equal(fake_live, live);
}

static void memory_of_others(void **state)
{
	struct ibv_parent_domain_init_attr attr = {};
	struct ibv_pd *pd, *domain;
	struct ibv_mr *mr;

	(void)state;
	errno = 0;
	assert_null(fake_ops()->import_pd(context, FAKE_OTHERS_PD + 1));
	assert_int_equal(errno, ENOENT);
	pd = fake_ops()->import_pd(context, FAKE_OTHERS_PD);
	assert_non_null(pd);
	assert_ptr_equal(pd->context, context);
	assert_int_equal(pd->handle, FAKE_OTHERS_PD);
	assert_int_equal(to_vhca_pd(pd)->pdn, 78);

	assert_null(fake_ops()->import_mr(pd, FAKE_OTHERS_MR + 1));
	assert_int_equal(errno, ENOENT);
	attr.pd = pd;
	domain = fake_ops()->alloc_parent_domain(context, &attr);
	mr = fake_ops()->import_mr(domain, FAKE_OTHERS_MR);
	assert_non_null(mr);
	assert_ptr_equal(mr->pd, domain);
	assert_int_equal(mr->handle, FAKE_OTHERS_MR);
	assert_int_equal(mr->lkey, 0x1234);
	assert_int_equal(mr->rkey, 0x5678);
	assert_true(mr->length == 0x3000);
	/* the parent domain has to be freed first */
	assert_int_equal(fake_ops()->dealloc_pd(domain), EBUSY);
	fake_ops()->unimport_mr(mr);
	fake_ops()->unimport_pd(pd);
	assert_int_equal(fake_logged, 1);
	assert_int_equal(fake_ops()->dealloc_pd(domain), 0);
	fake_ops()->unimport_pd(pd);
	assert_int_equal(fake_logged, 1);
}

/* A region of another process may be longer than this one's address space. */
static void memory_that_is_too_long(void **state)
{
	struct ibv_pd *pd = fake_ops()->import_pd(context, FAKE_OTHERS_PD);
	struct ibv_mr *mr;

	(void)state;
	fake_others_length = (UINT64_C(1) << 32) + 0x3000;
	errno = 0;
	mr = fake_ops()->import_mr(pd, FAKE_OTHERS_MR);
	if (fake_others_length <= SIZE_MAX) {
		assert_non_null(mr);
		assert_true(mr->length == fake_others_length);
		fake_ops()->unimport_mr(mr);
	} else {
		assert_null(mr);
		assert_int_equal(errno, EOVERFLOW);
	}
	fake_ops()->unimport_pd(pd);
	assert_int_equal(fake_logged, 0);
}

/* Destroying frees the kernel's object itself, not only the provider's memory of it. */
static void what_is_imported_can_be_destroyed(void **state)
{
	struct ibv_pd *pd = fake_ops()->import_pd(context, FAKE_OTHERS_PD);
	struct ibv_mr *mr = fake_ops()->import_mr(pd, FAKE_OTHERS_MR);
	int live = fake_live;

	(void)state;
	assert_int_equal(fake_ops()->dereg_mr(verbs_get_mr(mr)), 0);
	assert_int_equal(fake_live, live - 1);
	assert_int_equal(fake_ops()->dealloc_pd(pd), 0);
	assert_int_equal(fake_live, live - 2);
	fake_live = live;
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(an_imported_context_is_like_the_first),
		TEST(a_context_that_cannot_be_imported),
		TEST(memory_of_others),
		TEST(memory_that_is_too_long),
		TEST(what_is_imported_can_be_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
