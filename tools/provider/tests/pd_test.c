// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Thread domains and parent domains: which locks are left out, which allocator's memory
 * rings are in, and the order in which domains can be freed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

/* Behaviour of the program's allocator. */
enum answer { GIVES, LEAVES_IT, HAS_NONE, IS_CROOKED };

/* Header in front of each allocation. */
struct note {
	uint64_t type;
};

static struct vhca_context *ctx;
static struct ibv_context *context;
static struct ibv_pd *pd;
static struct ibv_td *td;
static enum answer answer;
static struct ibv_pd *asked_by;
static unsigned int given, taken_back;
static uint64_t last_type;
static const struct ibv_qp_cap cap = {
	.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 1, .max_recv_sge = 1,
};

static void *give(struct ibv_pd *by, void *pd_context, size_t size, size_t alignment,
		  uint64_t type)
{
	uint8_t *memory;

	assert_ptr_equal(pd_context, &answer);
	assert_int_equal(alignment, VHCA_DB_PAGE_SIZE);
	assert_int_equal(size % alignment, 0);
	asked_by = by;
	last_type = type;
	if (answer == HAS_NONE)
		return NULL;
	if (answer == LEAVES_IT)
		return IBV_ALLOCATOR_USE_DEFAULT;
	given++;
	memory = aligned_alloc(alignment, size + 2 * alignment);
	assert_non_null(memory);
	/* not cleared, as memory of a program is */
	memset(memory, 0xff, size + 2 * alignment);
	memory += alignment;
	((struct note *)memory - 1)->type = type;
	return answer == IS_CROOKED ? memory + 64 : memory;
}

static void take_back(struct ibv_pd *by, void *pd_context, void *ptr, uint64_t type)
{
	assert_ptr_equal(pd_context, &answer);
	assert_ptr_equal(by, asked_by);
	ptr = (void *)((uintptr_t)ptr & ~(uintptr_t)(VHCA_DB_PAGE_SIZE - 1));
	/* freed for the same purpose as it was allocated for */
	assert_true(((struct note *)ptr - 1)->type == type);
	taken_back++;
	free((uint8_t *)ptr - VHCA_DB_PAGE_SIZE);
}

static struct ibv_pd *parent(struct ibv_td *thread, bool allocators)
{
	struct ibv_parent_domain_init_attr attr = {
		.pd = pd,
		.td = thread,
		.comp_mask = allocators ? IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS |
					  IBV_PARENT_DOMAIN_INIT_ATTR_PD_CONTEXT : 0,
		.alloc = give,
		.free = take_back,
		.pd_context = &answer,
	};

	return fake_ops()->alloc_parent_domain(context, &attr);
}

static struct ibv_cq *make_cq(struct ibv_pd *in, uint32_t flags)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 4,
		.comp_mask = (in ? IBV_CQ_INIT_ATTR_MASK_PD : 0) |
			     (flags ? IBV_CQ_INIT_ATTR_MASK_FLAGS : 0),
		.flags = flags,
		.parent_domain = in,
	};
	struct ibv_cq_ex *cq = fake_ops()->create_cq_ex(context, &attr);

	return cq ? ibv_cq_ex_to_cq(cq) : NULL;
}

static struct ibv_qp *make_qp(struct ibv_pd *in, struct ibv_cq *send_cq, struct ibv_cq *recv_cq)
{
	struct ibv_qp_init_attr attr = {
		.send_cq = send_cq, .recv_cq = recv_cq, .cap = cap, .qp_type = IBV_QPT_RC,
	};

	return fake_ops()->create_qp(in, &attr);
}

static struct ibv_srq *make_srq(struct ibv_pd *in)
{
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 4, .max_sge = 1 } };

	return fake_ops()->create_srq(in, &attr);
}

#define NONE(err, made) do {	\
	errno = 0;		\
	assert_null(made);	\
	assert_int_equal(errno, err);	\
} while (0)
#define GONE(call)	assert_int_equal(fake_ops()->call, 0)

static int setup(void **state)
{
	struct ibv_td_init_attr attr = {};

	(void)state;
	ctx = fake_open();
	context = &ctx->vctx.context;
	pd = fake_ops()->alloc_pd(context);
	td = fake_ops()->alloc_td(context, &attr);
	assert_non_null(td);
	assert_ptr_equal(td->context, context);
	answer = GIVES;
	given = 0;
	taken_back = 0;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	GONE(dealloc_td(td));
	GONE(dealloc_pd(pd));
	fake_close(ctx);
	assert_int_equal(taken_back, given);
	return 0;
}

static void a_parent_domain_is_its_pd_to_the_kernel(void **state)
{
	struct ibv_pd *domain;

	(void)state;
	pd->handle = 9;
	domain = parent(NULL, false);
	assert_non_null(domain);
	assert_int_equal(domain->handle, 9);
	assert_ptr_equal(domain->context, context);
	/* parent domains have to be freed first */
	assert_int_equal(fake_ops()->dealloc_pd(pd), EBUSY);
	GONE(dealloc_pd(domain));

	domain = parent(td, false);
	assert_int_equal(fake_ops()->dealloc_td(td), EBUSY);
	GONE(dealloc_pd(domain));
}

/* Whether a lock is left out: 0 and 1 of the send queue, the receive queue and the CQ. */
static void one_thread_needs_no_locks(void **state)
{
	struct ibv_td_init_attr attr = {};
	struct ibv_td *other_td = fake_ops()->alloc_td(context, &attr);
	struct ibv_pd *plain = parent(NULL, false), *one = parent(td, false);
	struct ibv_pd *same = parent(td, false), *other = parent(other_td, false);
	const struct {
		struct ibv_pd *qp, *send_cq, *recv_cq;
		uint32_t flags;
		bool sq, rq, cq;
	} cases[] = {
		{ pd, NULL, NULL, 0, false, false, false },
		{ pd, NULL, NULL, IBV_CREATE_CQ_ATTR_SINGLE_THREADED, false, false, true },
		{ pd, NULL, NULL, IBV_CREATE_CQ_ATTR_IGNORE_OVERRUN, false, false, false },
		{ plain, plain, plain, 0, false, false, false },
		{ one, NULL, NULL, 0, true, false, false },
		{ one, one, one, 0, true, true, true },
		{ one, same, one, 0, true, true, true },
		/* another thread polls, and so rings receives of a QP in error */
		{ one, other, one, 0, true, false, true },
		{ one, one, other, 0, true, false, true },
		{ one, NULL, one, IBV_CREATE_CQ_ATTR_SINGLE_THREADED, true, false, true },
		{ pd, one, one, 0, false, false, true },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibv_cq *send_cq = make_cq(cases[i].send_cq, cases[i].flags);
		struct ibv_cq *recv_cq = make_cq(cases[i].recv_cq, cases[i].flags);
		struct ibv_qp *qp = make_qp(cases[i].qp, send_cq, recv_cq);
		struct ibv_srq *srq = make_srq(cases[i].qp);

		assert_int_equal(to_vhca_qp(qp)->sq.lock.elided, cases[i].sq);
		assert_int_equal(to_vhca_qp(qp)->rq.lock.elided, cases[i].rq);
		assert_int_equal(to_vhca_cq(send_cq)->lock.elided, cases[i].cq);
		assert_int_equal(to_vhca_srq(srq)->wq.lock.elided, cases[i].sq);
		GONE(destroy_srq(srq));
		GONE(destroy_qp(qp));
		GONE(destroy_cq(recv_cq));
		GONE(destroy_cq(send_cq));
	}
	/* Where a thread that takes events cannot have this one execute a barrier. */
	to_vhca_td(td)->fenced = false;
	{
		struct ibv_cq *in_one = make_cq(one, 0);
		struct ibv_qp *qp = make_qp(one, in_one, in_one);

		assert_true(to_vhca_qp(qp)->sq.lock.elided);
		assert_false(to_vhca_qp(qp)->rq.lock.elided);
		GONE(destroy_qp(qp));
		GONE(destroy_cq(in_one));
	}
	GONE(dealloc_pd(other));
	GONE(dealloc_pd(same));
	GONE(dealloc_pd(one));
	GONE(dealloc_pd(plain));
	GONE(dealloc_td(other_td));
}

/* Everything works as with locks. */
static void queues_without_locks_work(void **state)
{
	struct ibv_pd *domain = parent(td, true);
	struct ibv_cq *cq = make_cq(domain, 0);
	struct ibv_qp *qp = make_qp(domain, cq, cq);
	struct ibv_send_wr wr = { .wr_id = 7, .opcode = IBV_WR_SEND }, *bad;
	struct ibv_recv_wr rwr = { .wr_id = 8 }, *rbad;
	struct ibv_wc wc;

	(void)state;
	qp->state = IBV_QPS_RTS;
	assert_int_equal(fake_ops()->post_recv(qp, &rwr, &rbad), 0);
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 0);
	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num), .wqe_index = htole32(1), .wr_id = htole64(7),
	});
	assert_int_equal(fake_ops()->req_notify_cq(cq, 0), 0);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &wc), 1);
	assert_true(wc.wr_id == 7);
	GONE(destroy_qp(qp));
	GONE(destroy_cq(cq));
	GONE(dealloc_pd(domain));
}

static void rings_lie_in_the_programs_memory(void **state)
{
	struct ibv_pd *domain = parent(NULL, true);
	struct ibv_srq_attr more = { .max_wr = 100 };
	struct ibv_cq *cq = make_cq(domain, 0);
	struct ibv_srq *srq;
	struct ibv_qp *qp;

	(void)state;
	assert_int_equal(given, 1);
	assert_ptr_equal(asked_by, domain);
	assert_true(last_type == VHCA_RES_CQ);
	/* the memory was used before: no entry may seem valid */
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &(struct ibv_wc) {}), 0);
	assert_int_equal(fake_ops()->resize_cq(cq, 100), 0);
	assert_int_equal(given, 2);
	assert_int_equal(taken_back, 1);

	qp = make_qp(domain, cq, cq);
	assert_int_equal(given, 3);
	assert_true(last_type == VHCA_RES_QP);
	GONE(destroy_qp(qp));
	srq = make_srq(domain);
	assert_true(last_type == VHCA_RES_SRQ);
	assert_int_equal(fake_ops()->modify_srq(srq, &more, IBV_SRQ_MAX_WR), 0);
	assert_int_equal(given, 5);
	/* the objects are made in it */
	assert_int_equal(fake_ops()->dealloc_pd(domain), EBUSY);
	GONE(destroy_srq(srq));
	assert_int_equal(taken_back, 4);
	assert_int_equal(fake_ops()->dealloc_pd(domain), EBUSY);
	GONE(destroy_cq(cq));
	GONE(dealloc_pd(domain));
}

static void allocators_that_do_not_give(void **state)
{
	struct ibv_pd *domain = parent(NULL, true);
	struct ibv_cq *cq;
	struct ibv_qp *qp;

	(void)state;
	answer = LEAVES_IT;
	cq = make_cq(domain, 0);
	assert_non_null(cq);
	qp = make_qp(domain, cq, cq);
	assert_non_null(qp);
	assert_int_equal(given, 0);
	GONE(destroy_qp(qp));

	answer = HAS_NONE;
	NONE(ENOMEM, make_cq(domain, 0));
	NONE(ENOMEM, make_qp(domain, cq, cq));
	NONE(ENOMEM, make_srq(domain));
	assert_int_equal(fake_ops()->resize_cq(cq, 100), ENOMEM);
	/* memory that the device could not use is given back */
	answer = IS_CROOKED;
	NONE(EINVAL, make_cq(domain, 0));
	NONE(EINVAL, make_qp(domain, cq, cq));
	NONE(EINVAL, make_srq(domain));
	assert_int_equal(taken_back, 3);

	/* and so is memory of an object that could not be made */
	answer = GIVES;
	fake_err[FAKE_CREATE_QP] = EIO;
	NONE(EIO, make_qp(domain, cq, cq));
	fake_err[FAKE_CREATE_QP] = 0;
	fake_err[FAKE_DONTFORK] = EINVAL;
	NONE(EINVAL, make_qp(domain, cq, cq));
	fake_err[FAKE_DONTFORK] = 0;
	assert_int_equal(given, 5);
	assert_int_equal(taken_back, 5);
	GONE(destroy_cq(cq));
	GONE(dealloc_pd(domain));
}

static void memory_is_registered_in_a_parent_domain(void **state)
{
	struct ibv_pd *one = parent(NULL, false), *two = parent(NULL, false);
	struct ibv_mw *mw;
	struct ibv_mr *mr;
	char byte;

	(void)state;
	mr = fake_ops()->reg_mr(one, &byte, 1, (uintptr_t)&byte, 0);
	assert_int_equal(fake_ops()->dealloc_pd(one), EBUSY);
	fake_err[FAKE_REREG_MR] = EPERM;
	assert_int_equal(fake_ops()->rereg_mr(verbs_get_mr(mr), IBV_REREG_MR_CHANGE_PD, two, NULL,
					      0, 0), EPERM);
	fake_err[FAKE_REREG_MR] = 0;
	assert_int_equal(fake_ops()->rereg_mr(verbs_get_mr(mr), IBV_REREG_MR_CHANGE_PD, two, NULL,
					      0, 0), 0);
	mr->pd = two;	/* as libibverbs does */
	GONE(dealloc_pd(one));
	assert_int_equal(fake_ops()->dealloc_pd(two), EBUSY);
	fake_err[FAKE_DEREG_MR] = EBUSY;
	assert_int_equal(fake_ops()->dereg_mr(verbs_get_mr(mr)), EBUSY);
	fake_err[FAKE_DEREG_MR] = 0;
	GONE(dereg_mr(verbs_get_mr(mr)));
	mw = fake_ops()->alloc_mw(two, IBV_MW_TYPE_1);
	assert_int_equal(fake_ops()->dealloc_pd(two), EBUSY);
	GONE(dealloc_mw(mw));
	GONE(dealloc_pd(two));
}

/* A window, its QP and its region may be made in different domains over one PD. */
static void domains_over_one_pd_are_that_pd(void **state)
{
	struct ibv_pd *domain = parent(NULL, false);
	struct ibv_cq *cq = make_cq(NULL, 0);
	struct ibv_qp *qp = make_qp(domain, cq, cq);
	struct ibv_mw *mw = fake_ops()->alloc_mw(pd, IBV_MW_TYPE_1);
	static char bytes[8];
	struct ibv_mr *mr = fake_ops()->reg_mr(domain, bytes, 8, (uintptr_t)bytes, 0);
	struct ibv_mw_bind bind = {
		.bind_info = { .mr = mr, .addr = (uintptr_t)bytes, .length = 8 },
	};
	struct ibv_pd *foreign = fake_ops()->alloc_pd(context);

	(void)state;
	qp->state = IBV_QPS_RTS;
	assert_int_equal(fake_ops()->bind_mw(qp, mw, &bind), 0);
	foreign->handle = pd->handle + 1;
	mr->pd = foreign;
	assert_int_equal(fake_ops()->bind_mw(qp, mw, &bind), EPERM);
	mr->pd = domain;
	GONE(dereg_mr(verbs_get_mr(mr)));
	GONE(dealloc_mw(mw));
	GONE(destroy_qp(qp));
	GONE(destroy_cq(cq));
	GONE(dealloc_pd(foreign));
	GONE(dealloc_pd(domain));
}

static void what_there_cannot_be_is_refused(void **state)
{
	struct ibv_td_init_attr unknown = { .comp_mask = 1 };
	struct vhca_context other = {};
	struct vhca_pd foreign = { .pd.context = &other.vctx.context, .holds = 1 };
	struct vhca_td foreign_td = { .td.context = &other.vctx.context };
	struct ibv_pd *domain = parent(td, false);
	struct ibv_cq_init_attr_ex cq = { .cqe = 4, .comp_mask = IBV_CQ_INIT_ATTR_MASK_PD };
	struct ibv_parent_domain_init_attr attr = {};

	(void)state;
#define NO_DOMAIN(err) NONE(err, fake_ops()->alloc_parent_domain(context, &attr))
	NONE(EOPNOTSUPP, fake_ops()->alloc_td(context, &unknown));
	NO_DOMAIN(EINVAL);			/* without a PD */
	attr.pd = &foreign.pd;
	NO_DOMAIN(EINVAL);
	attr.pd = domain;			/* over another parent domain */
	NO_DOMAIN(EINVAL);
	attr.pd = pd;
	attr.td = &foreign_td.td;
	NO_DOMAIN(EINVAL);
	attr.td = NULL;
	attr.comp_mask = 4;
	NO_DOMAIN(EOPNOTSUPP);
	attr.comp_mask = IBV_PARENT_DOMAIN_INIT_ATTR_ALLOCATORS;
	NO_DOMAIN(EINVAL);
	attr.alloc = give;
	NO_DOMAIN(EINVAL);
	attr.alloc = NULL;
	attr.free = take_back;
	NO_DOMAIN(EINVAL);

#define NO_CQ(err) NONE(err, fake_ops()->create_cq_ex(context, &cq))
	NO_CQ(EINVAL);
	cq.parent_domain = pd;			/* a PD is no parent domain */
	NO_CQ(EINVAL);
	foreign.protects = to_vhca_pd(pd);
	cq.parent_domain = &foreign.pd;
	NO_CQ(EINVAL);
	/* failed calls have taken no reference */
	GONE(dealloc_pd(domain));
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(a_parent_domain_is_its_pd_to_the_kernel),
		TEST(one_thread_needs_no_locks),
		TEST(queues_without_locks_work),
		TEST(rings_lie_in_the_programs_memory),
		TEST(allocators_that_do_not_give),
		TEST(memory_is_registered_in_a_parent_domain),
		TEST(domains_over_one_pd_are_that_pd),
		TEST(what_there_cannot_be_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
