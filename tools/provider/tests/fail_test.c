// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Failures of every step of every verb: what the program is told, that nothing is
 * left of a failed call, and that existing objects work as before.
 *
 * Allocations and mappings fail here by number: the program is linked so that
 * the provider's calls of these functions come here.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "cm.h"
#include "fake.h"

/* ---- calls that fail ---- */

static unsigned int fail_alloc, fail_map;	/* calls until the one that fails; 0: none does */
static bool failed;
static int mappings;

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);
void *__real_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *addr, size_t len);
int __wrap_munmap(void *addr, size_t len);

static bool fails(unsigned int *left)
{
	if (!*left || --*left)
		return false;
	failed = true;
	errno = ENOMEM;
	return true;
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails(&fail_alloc) ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails(&fail_alloc) ? NULL : __real_realloc(old, size);
}

void *__wrap_mmap64(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	void *at = fails(&fail_map) ? MAP_FAILED :
				      __real_mmap64(addr, len, prot, flags, fd, offset);

	mappings += at != MAP_FAILED;
	return at;
}

int __wrap_munmap(void *addr, size_t len)
{
	mappings--;
	return __real_munmap(addr, len);
}

/* ---- verbs that make objects, and may fail ---- */

static struct vhca_context *ctx;
static struct ibv_cq *cq;

static const struct ibv_qp_cap cap = {
	.max_send_wr = 4, .max_recv_wr = 4, .max_send_sge = 2, .max_recv_sge = 1,
	.max_inline_data = 100,
};

static void *make_context(void)
{
	return fake_try_open();
}

static void *make_pd(void)
{
	return fake_ops()->alloc_pd(&ctx->vctx.context);
}

static void *make_import(void)
{
	return fake_import();
}

static void *make_import_pd(void)
{
	return fake_ops()->import_pd(&ctx->vctx.context, FAKE_OTHERS_PD);
}

static void *make_import_mr(void)
{
	static struct vhca_pd pd = { .holds = 1 };

	return fake_ops()->import_mr(&pd.pd, FAKE_OTHERS_MR);
}

static void *make_td(void)
{
	struct ibv_td_init_attr attr = {};

	return fake_ops()->alloc_td(&ctx->vctx.context, &attr);
}

static void *make_domain(void)
{
	static struct vhca_pd pd = { .holds = 1 };
	struct ibv_parent_domain_init_attr attr = { .pd = &pd.pd };

	pd.pd.context = &ctx->vctx.context;
	return fake_ops()->alloc_parent_domain(&ctx->vctx.context, &attr);
}

static void *make_mr(void)
{
	static struct vhca_pd pd = { .holds = 1 };
	static char byte;

	return fake_ops()->reg_mr(&pd.pd, &byte, 1, (uintptr_t)&byte, 0);
}

static void *make_dmabuf_mr(void)
{
	static struct vhca_pd pd = { .holds = 1 };

	return fake_ops()->reg_dmabuf_mr(&pd.pd, 0, 1, 0, -1, 0);
}

static void *make_mw(void)
{
	static struct vhca_pd pd = { .holds = 1 };

	return fake_ops()->alloc_mw(&pd.pd, IBV_MW_TYPE_1);
}

static void *make_cq(void)
{
	return fake_ops()->create_cq(&ctx->vctx.context, 4, NULL, 0);
}

static void *make_cq_ex(void)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 4, .wc_flags = IBV_WC_EX_WITH_BYTE_LEN };
	struct ibv_cq_ex *ex = fake_ops()->create_cq_ex(&ctx->vctx.context, &attr);

	return ex ? ibv_cq_ex_to_cq(ex) : NULL;
}

/* A program whose QP or SRQ could not be made can call again: its attributes are unchanged. */
static void *asked_with(void *made, const void *attr, const void *before, size_t size)
{
	if (!made && memcmp(attr, before, size))
		fail_msg("attributes have changed, although nothing was made");
	return made;
}

static void *make_qp(void)
{
	static struct vhca_pd pd = { .holds = 1 };
	struct ibv_qp_init_attr attr = {
		.send_cq = cq, .recv_cq = cq, .cap = cap, .qp_type = IBV_QPT_RC,
	}, before = attr;

	pd.pd.context = &ctx->vctx.context;
	return asked_with(fake_ops()->create_qp(&pd.pd, &attr), &attr, &before, sizeof(attr));
}

static void *make_qp_ex(enum ibv_qp_type type, uint32_t mask, uint64_t ops)
{
	static struct vhca_pd pd = { .holds = 1 };
	struct ibv_qp_init_attr_ex attr = {
		.send_cq = cq, .recv_cq = cq, .cap = cap, .qp_type = type,
		.comp_mask = mask, .pd = &pd.pd, .send_ops_flags = ops,
	}, before;

	attr.cap.max_inline_data = 0;
	before = attr;
	pd.pd.context = &ctx->vctx.context;
	return asked_with(fake_ops()->create_qp_ex(&ctx->vctx.context, &attr), &attr, &before,
			  sizeof(attr));
}

/* With eight bytes inline. */
static void *make_atomic_writer(void)
{
	return make_qp_ex(IBV_QPT_RC, IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
			  IBV_QP_EX_WITH_ATOMIC_WRITE);
}

static void *make_initiator(void)
{
	return make_qp_ex(IBV_QPT_XRC_SEND, IBV_QP_INIT_ATTR_PD, 0);
}

static void *make_target(void)
{
	return make_qp_ex(IBV_QPT_XRC_RECV, IBV_QP_INIT_ATTR_XRCD, 0);
}

/* The kernel gives more than it was asked for. */
static void *make_srq(void)
{
	static struct vhca_pd pd = { .holds = 1 };
	struct ibv_srq_init_attr attr = { .attr = { .max_wr = 3, .max_sge = 1 } }, before = attr;

	pd.pd.context = &ctx->vctx.context;
	return asked_with(fake_ops()->create_srq(&pd.pd, &attr), &attr, &before, sizeof(attr));
}

static void *make_xrc_srq(void)
{
	static struct vhca_pd pd = { .holds = 1 };
	static struct verbs_xrcd domain;
	struct ibv_srq_init_attr_ex attr = {
		.attr = { .max_wr = 3, .max_sge = 1 },
		.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD |
			     IBV_SRQ_INIT_ATTR_XRCD | IBV_SRQ_INIT_ATTR_CQ,
		.srq_type = IBV_SRQT_XRC, .pd = &pd.pd, .xrcd = &domain.xrcd, .cq = cq,
	}, before = attr;

	pd.pd.context = &ctx->vctx.context;
	return asked_with(fake_ops()->create_srq_ex(&ctx->vctx.context, &attr), &attr, &before,
			  sizeof(attr));
}

static void *make_ah(void)
{
	struct vhca_pd pd = { .pd.context = &ctx->vctx.context, .holds = 1 };
	struct ibv_ah_attr attr = { .dlid = 1, .port_num = 1 };

	return fake_ops()->create_ah(&pd.pd, &attr);
}

static void *make_device(void)
{
	return fake_driver()->alloc_device(NULL);
}

static void end_context(void *made)
{
	struct vhca_context *opened = made;

	fake_ops()->free_context(&opened->vctx.context);
}

static void end_pd(void *made)
{
	assert_int_equal(fake_ops()->dealloc_pd(made), 0);
}

static void end_import_pd(void *made)
{
	fake_ops()->unimport_pd(made);
}

static void end_import_mr(void *made)
{
	fake_ops()->unimport_mr(made);
}

static void end_td(void *made)
{
	assert_int_equal(fake_ops()->dealloc_td(made), 0);
}

static void end_mr(void *made)
{
	assert_int_equal(fake_ops()->dereg_mr(verbs_get_mr(made)), 0);
}

static void end_mw(void *made)
{
	assert_int_equal(fake_ops()->dealloc_mw(made), 0);
}

static void end_cq(void *made)
{
	assert_int_equal(fake_ops()->destroy_cq(made), 0);
}

static void end_qp(void *made)
{
	assert_int_equal(fake_ops()->destroy_qp(made), 0);
}

static void end_srq(void *made)
{
	assert_int_equal(fake_ops()->destroy_srq(made), 0);
}

static void end_ah(void *made)
{
	assert_int_equal(fake_ops()->destroy_ah(made), 0);
}

static void end_device(void *made)
{
	fake_driver()->uninit_device(made);
}

static const struct verb {
	const char *name;
	void *(*make)(void);
	void (*end)(void *made);
	enum fake_command command;	/* FAKE_COMMANDS: no command to the kernel */
	unsigned int allocs, maps;	/* how many it takes at the least */
} verbs[] = {
	{ "open", make_context, end_context, FAKE_GET_CONTEXT, 1, 2 },
	{ "device", make_device, end_device, FAKE_COMMANDS, 1, 0 },
	{ "alloc_pd", make_pd, end_pd, FAKE_ALLOC_PD, 1, 0 },
	{ "reg_mr", make_mr, end_mr, FAKE_REG_MR, 1, 0 },
	{ "create_cq", make_cq, end_cq, FAKE_CREATE_CQ, 2, 1 },
	{ "create_cq_ex", make_cq_ex, end_cq, FAKE_CREATE_CQ, 2, 1 },
	{ "create_qp", make_qp, end_qp, FAKE_CREATE_QP, 1, 1 },
	{ "create_srq", make_srq, end_srq, FAKE_CREATE_SRQ, 1, 1 },
	{ "create_ah", make_ah, end_ah, FAKE_CREATE_AH, 1, 0 },
	{ "reg_dmabuf_mr", make_dmabuf_mr, end_mr, FAKE_REG_DMABUF_MR, 1, 0 },
	{ "alloc_td", make_td, end_td, FAKE_COMMANDS, 1, 0 },
	{ "alloc_parent_domain", make_domain, end_pd, FAKE_COMMANDS, 1, 0 },
	{ "alloc_mw", make_mw, end_mw, FAKE_ALLOC_MW, 1, 0 },
	{ "import_context", make_import, end_context, FAKE_QUERY_CONTEXT, 1, 2 },
	{ "import_pd", make_import_pd, end_import_pd, FAKE_QUERY_PD, 1, 0 },
	{ "import_mr", make_import_mr, end_import_mr, FAKE_QUERY_MR, 1, 0 },
	{ "create_qp_ex", make_atomic_writer, end_qp, FAKE_CREATE_QP, 1, 1 },
	{ "create_qp_ex, initiator", make_initiator, end_qp, FAKE_CREATE_QP, 1, 1 },
	{ "create_qp_ex, target", make_target, end_qp, FAKE_CREATE_QP, 1, 0 },
	{ "create_srq_ex", make_xrc_srq, end_srq, FAKE_CREATE_SRQ, 1, 1 },
};

/* The last verbs, whose numbers change when a verb is added in front. */
#define INITIATOR	(verbs + sizeof(verbs) / sizeof(verbs[0]) - 3)
#define XRC_SRQ		(verbs + sizeof(verbs) / sizeof(verbs[0]) - 1)

#define for_each_verb(v) \
	for (v = verbs; v < verbs + sizeof(verbs) / sizeof(verbs[0]); v++)

static int setup(void **state)
{
	(void)state;
	fail_alloc = 0;
	fail_map = 0;
	ctx = fake_open();
	cq = fake_make_cq(ctx, 4);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fake_ops()->destroy_cq(cq), 0);
	fake_close(ctx);
	return 0;
}

/* The verb fails with this errno and leaves nothing; pages of doorbells may stay mapped. */
static void must_fail(const struct verb *v, int err)
{
	int live = fake_live, before = mappings;
	uint32_t pages = ctx->num_db_pages, more = 0;

	errno = 0;
	if (v->make())
		fail_msg("%s went well in spite of errno %d", v->name, err);
	if (errno != err)
		fail_msg("%s: errno %d in place of %d", v->name, errno, err);
	if (fake_live != live)
		fail_msg("%s: %d objects are left", v->name, fake_live - live);
	for (uint32_t i = pages; i < ctx->num_db_pages; i++)
		more += !!ctx->db_pages[i];
	if (mappings != before + (int)more)
		fail_msg("%s: %d mappings are left", v->name, mappings - before);
	assert_int_equal(to_vhca_cq(cq)->num_users, 0);
}

static void must_work(const struct verb *v)
{
	void *made = v->make();

	if (!made)
		fail_msg("%s: does not work afterwards: errno %d", v->name, errno);
	v->end(made);
}

static void the_kernels_refusal_is_passed_on(void **state)
{
	static const int errors[] = { ENOMEM, EACCES, EINVAL, EIO };
	const unsigned int num = sizeof(errors) / sizeof(errors[0]);
	const struct verb *v;

	(void)state;
	for_each_verb(v) {
		for (unsigned int i = 0; v->command != FAKE_COMMANDS && i < num; i++) {
			fake_err[v->command] = errors[i];
			must_fail(v, errors[i]);
			fake_err[v->command] = 0;
		}
		must_work(v);
	}
	fake_err[FAKE_INIT_CONTEXT] = ENOMEM;
	must_fail(&verbs[0], ENOMEM);
}

static void every_allocation_fails_in_turn(void **state)
{
	const struct verb *v;
	unsigned int n;

	(void)state;
	for_each_verb(v) {
		for (n = 1; ; n++) {
			void *made;

			fail_alloc = n;
			failed = false;
			made = v->make();
			fail_alloc = 0;
			if (!failed) {
				assert_non_null(made);
				v->end(made);
				break;
			}
			assert_null(made);
			fail_alloc = n;
			must_fail(v, ENOMEM);
		}
		assert_true(n > v->allocs);
		must_work(v);
	}
}

static void every_mapping_fails_in_turn(void **state)
{
	const struct verb *v;

	(void)state;
	for_each_verb(v) {
		for (unsigned int n = 1; n <= v->maps; n++) {
			fail_map = n;
			must_fail(v, ENOMEM);
			assert_int_equal(fail_map, 0);
		}
		must_work(v);
	}
}

/* If memory cannot be kept from a forked child, no queue is made. */
static void memory_that_a_child_would_get_is_not_used(void **state)
{
	(void)state;
	fake_err[FAKE_DONTFORK] = EINVAL;
	must_fail(&verbs[4], EINVAL);
	must_fail(&verbs[5], EINVAL);
	must_fail(&verbs[6], EINVAL);
	must_fail(&verbs[7], EINVAL);
	fake_err[FAKE_DONTFORK] = 0;
	must_work(&verbs[6]);
	must_work(&verbs[7]);
}

/* The third queue's records are in a page that is not mapped yet. */
static void a_doorbell_page_that_cannot_be_had(void **state)
{
	struct ibv_cq *second = make_cq();

	(void)state;
	assert_int_equal(ctx->num_db_pages, 1);
	fail_map = 2;
	must_fail(&verbs[4], ENOMEM);
	assert_int_equal(fail_map, 0);
	fail_map = 2;
	must_fail(&verbs[6], ENOMEM);
	fail_map = 2;
	must_fail(&verbs[7], ENOMEM);
	fail_map = 2;
	must_fail(INITIATOR, ENOMEM);
	fail_map = 2;
	must_fail(XRC_SRQ, ENOMEM);
	must_work(&verbs[6]);
	assert_true(ctx->num_db_pages > 1);
	must_work(&verbs[7]);
	end_cq(second);
}

/* Slots that no doorbell area has: the kernel's answer is refused. */
static void impossible_slots_are_refused(void **state)
{
	(void)state;
	fake_slot_shift = VHCA_DB_MAX_PAGES * VHCA_DB_SLOTS;
	must_fail(&verbs[4], EPROTO);
	must_fail(&verbs[6], EPROTO);
	must_fail(&verbs[7], EPROTO);
	/* a pair that would straddle two pages */
	fake_slot_shift = 0;
	assert_int_equal(vhca_db_slots(ctx, &to_vhca_cq(cq)->db, VHCA_DB_SLOTS - 1, 0), EPROTO);
	assert_int_equal(vhca_db_slots(ctx, &to_vhca_cq(cq)->db, UINT32_MAX, 0), EPROTO);
	must_work(&verbs[6]);
}

static void what_will_not_go_stays_whole(void **state)
{
	struct ibv_qp *qp = make_qp();
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_pd *pd = make_pd();
	struct ibv_mr *mr = make_mr();
	struct ibv_srq *srq = make_srq();
	struct ibv_ah *ah = make_ah();
	struct ibv_recv_wr rwr = {}, *rbad;

	(void)state;
	fake_err[FAKE_DESTROY_SRQ] = EBUSY;
	assert_int_equal(fake_ops()->destroy_srq(srq), EBUSY);
	fake_err[FAKE_DESTROY_AH] = EBUSY;
	assert_int_equal(fake_ops()->destroy_ah(ah), EBUSY);
	fake_err[FAKE_DEALLOC_PD] = EBUSY;
	fake_err[FAKE_DEREG_MR] = EBUSY;
	fake_err[FAKE_DESTROY_CQ] = EBUSY;
	assert_int_equal(fake_ops()->dealloc_pd(pd), EBUSY);
	assert_int_equal(fake_ops()->dereg_mr(verbs_get_mr(mr)), EBUSY);
	assert_int_equal(fake_ops()->destroy_cq(cq), EBUSY);
	memset(fake_err, 0, sizeof(fake_err));
	/* the CQ's lock, ring and table are still there */
	qp->state = IBV_QPS_RTS;
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
	fake_complete(cq, (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num), .wqe_index = htole32(1), .wr_id = htole64(3),
	});
	assert_int_equal(fake_ops()->req_notify_cq(cq, 0), 0);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &(struct ibv_wc) {}), 1);
	/* the SRQ still has its ring and its records */
	assert_int_equal(fake_ops()->post_srq_recv(srq, &rwr, &rbad), 0);
	assert_true(fake_take(srq) == 0);
	end_qp(qp);
	end_srq(srq);
	end_mr(mr);
	end_ah(ah);
	end_pd(pd);
}

/* If no new ring can be allocated, the old one stays in use. */
static void rings_that_cannot_move(void **state)
{
	struct ibv_srq_attr attr = { .max_wr = 1000 };
	struct ibv_srq *srq = make_srq();
	struct ibv_recv_wr wr = { .wr_id = 5 }, *bad;
	int before = mappings;

	(void)state;
	assert_int_equal(fake_ops()->post_srq_recv(srq, &wr, &bad), 0);
	fail_map = 1;
	assert_int_equal(fake_ops()->modify_srq(srq, &attr, IBV_SRQ_MAX_WR), ENOMEM);
	assert_int_equal(fail_map, 0);
	assert_int_equal(fake_srq(srq)->asked, 0);
	fake_err[FAKE_MODIFY_SRQ] = EIO;
	assert_int_equal(fake_ops()->modify_srq(srq, &attr, IBV_SRQ_MAX_WR), EIO);
	fake_err[FAKE_MODIFY_SRQ] = 0;
	assert_int_equal(mappings, before);
	assert_int_equal(fake_ops()->modify_srq(srq, &attr, IBV_SRQ_MAX_WR), 0);
	assert_int_equal(mappings, before);
	assert_true(fake_take(srq) == 5);
	end_srq(srq);

	before = mappings;
	fail_map = 1;
	assert_int_equal(fake_ops()->resize_cq(cq, 100), ENOMEM);
	assert_int_equal(fail_map, 0);
	fake_err[FAKE_RESIZE_CQ] = EIO;
	assert_int_equal(fake_ops()->resize_cq(cq, 100), EIO);
	fake_err[FAKE_RESIZE_CQ] = 0;
	assert_int_equal(mappings, before);
	assert_int_equal(fake_cq(cq)->req.log_cqe, 2);
	assert_int_equal(fake_ops()->resize_cq(cq, 100), 0);
	assert_int_equal(mappings, before);
	assert_int_equal(fake_ops()->poll_cq(cq, 1, &(struct ibv_wc) {}), 0);
}

static void queries_and_changes_that_fail(void **state)
{
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_RESET };
	struct ibv_qp_init_attr init = {};
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_device_attr_ex dattr = {};
	struct ibv_port_attr pattr = {};
	struct ibv_qp *qp = make_qp();
	struct ibv_mr *mr = make_mr();
	char byte;

	(void)state;
	fake_err[FAKE_QUERY_DEVICE] = EIO;
	assert_int_equal(fake_ops()->query_device_ex(&ctx->vctx.context, NULL, &dattr,
						     sizeof(dattr)), EIO);
	assert_string_equal(dattr.orig_attr.fw_ver, "");
	fake_err[FAKE_QUERY_PORT] = EINVAL;
	assert_int_equal(fake_ops()->query_port(&ctx->vctx.context, 9, &pattr), EINVAL);
	fake_err[FAKE_REREG_MR] = EPERM;
	assert_int_equal(fake_ops()->rereg_mr(verbs_get_mr(mr), 0, NULL, &byte, 1, 0), EPERM);

	qp->state = IBV_QPS_RTS;
	assert_int_equal(fake_ops()->query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
	assert_int_equal(attr.qp_state, IBV_QPS_RTS);
	fake_err[FAKE_QUERY_QP] = EIO;
	assert_int_equal(fake_ops()->query_qp(qp, &attr, IBV_QP_STATE, &init), EIO);

	/* a reset that has failed leaves the queues */
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
	assert_int_equal(fake_ops()->post_send(qp, &wr, &bad), 0);
	fake_err[FAKE_MODIFY_QP] = EINVAL;
	attr.qp_state = IBV_QPS_RESET;
	assert_int_equal(fake_ops()->modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
	assert_true(fake_rec(fake_qp(qp)->slot) == 2);
	/* and a move to the error state that has failed does not make receives ring */
	attr.qp_state = IBV_QPS_ERR;
	assert_int_equal(fake_ops()->modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
	assert_false(atomic_load(&to_vhca_qp(qp)->broken));
	memset(fake_err, 0, sizeof(fake_err));
	end_qp(qp);
	end_mr(mr);
}

/* Without memory for a longer table the CQ still finds its QPs. */
static void a_table_that_cannot_grow(void **state)
{
	enum { QPS = 64 };
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad;
	struct ibv_cq *big = fake_make_cq(ctx, QPS), *kept = cq;
	struct ibv_qp *qp[QPS];
	struct ibv_wc wc;

	(void)state;
	cq = big;
	end_qp(make_qp());	/* the doorbell page of all of them is there */
	for (unsigned int i = 0; i < QPS; i++) {
		fail_alloc = i < QPS / 2 ? 3 : 0;	/* the QP's own come first */
		failed = false;
		qp[i] = make_qp();
		assert_non_null(qp[i]);
		assert_int_equal(failed, i >= 16 && i < QPS / 2);
		fail_alloc = 0;
		qp[i]->state = IBV_QPS_RTS;
		assert_int_equal(fake_ops()->post_send(qp[i], &wr, &bad), 0);
	}
	for (unsigned int i = 0; i < QPS; i++) {
		fake_complete(big, (struct vhca_cqe) {
			.qpn = htole32(qp[i]->qp_num), .wqe_index = htole32(1),
			.wr_id = htole64(i),
		});
		assert_int_equal(fake_ops()->poll_cq(big, 1, &wc), 1);
		assert_int_equal(wc.wr_id, i);
		assert_int_equal(wc.qp_num, qp[i]->qp_num);
		end_qp(qp[i]);
	}
	assert_int_equal(fake_logged, 0);
	end_cq(big);
	cq = kept;
}

static void attributes_nobody_knows(void **state)
{
	struct ibv_cq_init_attr_ex attr = { .cqe = 4 };
	struct vhca_pd pd = { .pd.context = &ctx->vctx.context, .holds = 1 };
	struct ibv_qp_init_attr_ex qattr = {
		.send_cq = cq, .recv_cq = cq, .cap = cap, .qp_type = IBV_QPT_RC, .pd = &pd.pd,
	};
	struct ibv_cq_ex *ex;

	(void)state;
#define NO_CQ(err) do {								\
	errno = 0;								\
	assert_null(fake_ops()->create_cq_ex(&ctx->vctx.context, &attr));	\
	assert_int_equal(errno, err);						\
} while (0)
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_PD << 1;
	NO_CQ(EOPNOTSUPP);
	attr.comp_mask = 0;
	attr.wc_flags = IBV_WC_EX_WITH_FLOW_TAG;
	NO_CQ(EOPNOTSUPP);
	attr.wc_flags = 0;
	attr.comp_mask = IBV_CQ_INIT_ATTR_MASK_FLAGS;
	attr.flags = 1 << 20;
	NO_CQ(EOPNOTSUPP);
	/* flags without their bit in comp_mask are ignored */
	attr.comp_mask = 0;
	ex = fake_ops()->create_cq_ex(&ctx->vctx.context, &attr);
	assert_non_null(ex);
	end_cq(ibv_cq_ex_to_cq(ex));
	/* a device without time stamps */
	ctx->features = 0;
	attr.wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP;
	NO_CQ(EOPNOTSUPP);

#define NO_QP(err) do {								\
	errno = 0;								\
	assert_null(fake_ops()->create_qp_ex(&ctx->vctx.context, &qattr));	\
	assert_int_equal(errno, err);						\
} while (0)
	NO_QP(EINVAL);		/* no PD, by the mask */
	qattr.comp_mask = IBV_QP_INIT_ATTR_PD;
	qattr.send_cq = NULL;
	NO_QP(EINVAL);
	qattr.send_cq = cq;
	qattr.recv_cq = NULL;
	NO_QP(EINVAL);
	assert_int_equal(to_vhca_cq(cq)->num_users, 0);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_kernels_refusal_is_passed_on),
		TEST(every_allocation_fails_in_turn),
		TEST(every_mapping_fails_in_turn),
		TEST(memory_that_a_child_would_get_is_not_used),
		TEST(a_doorbell_page_that_cannot_be_had),
		TEST(impossible_slots_are_refused),
		TEST(what_will_not_go_stays_whole),
		TEST(rings_that_cannot_move),
		TEST(queries_and_changes_that_fail),
		TEST(a_table_that_cannot_grow),
		TEST(attributes_nobody_knows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
