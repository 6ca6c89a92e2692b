// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory windows: their keys, what binding them writes, and what is refused.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "cm.h"
#include "fake.h"

static struct vhca_context *ctx;
static struct ibv_cq *cq;
static struct ibv_qp *qp;
static struct ibv_mw *one, *two;	/* of type 1 and of type 2 */
static struct ibv_mr mr;

static const struct ibv_qp_cap cap = {
	.max_send_wr = 32, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1,
};

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	cq = fake_make_cq(ctx, 64);
	qp = fake_make_qp(ctx, cq, cq, &cap, IBV_QP_EX_WITH_BIND_MW | IBV_QP_EX_WITH_SEND);
	one = fake_ops()->alloc_mw(&fake_pd, IBV_MW_TYPE_1);
	two = fake_ops()->alloc_mw(&fake_pd, IBV_MW_TYPE_2);
	assert_true(one && two);
	mr = (struct ibv_mr) { .pd = &fake_pd, .lkey = 0xabcdef01, .rkey = 0x10fedcba };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	assert_int_equal(fake_ops()->dealloc_mw(one), 0);
	assert_int_equal(fake_ops()->dealloc_mw(two), 0);
	fake_end(ctx, cq, qp);
	return 0;
}

static uint64_t posted(struct ibv_qp *of)
{
	return fake_rec(fake_qp(of)->slot);
}

static struct ibv_qp_ex *ex(void)
{
	return &to_vhca_qp(qp)->vqp.qp_ex;
}

/* A bind is one block. */
struct bind {
	struct vhca_wqe_ctrl ctrl;
	struct vhca_wqe_bind bind;
};

static const struct bind *bind_at(uint64_t block)
{
	const struct bind *ring = (const void *)(uintptr_t)fake_qp(qp)->req.sq_addr;

	return &ring[block % (1U << fake_qp(qp)->req.log_sq_blocks)];
}

static struct ibv_mw_bind_info some_memory(void)
{
	return (struct ibv_mw_bind_info) {
		.mr = &mr,
		.addr = 0x1122334455667788,
		.length = 0x99aabbccdd,
		.mw_access_flags = IBV_ACCESS_REMOTE_READ,
	};
}

static int bind_one(struct ibv_mw_bind_info info)
{
	struct ibv_mw_bind bind = {
		.wr_id = 77, .send_flags = IBV_SEND_SIGNALED, .bind_info = info,
	};

	return fake_ops()->bind_mw(qp, one, &bind);
}

typedef int (*bind_fn)(struct ibv_mw *mw, uint32_t key, struct ibv_mw_bind_info info);

/* Binds a window of type 2, behind another request. */
static int bind_two(struct ibv_mw *mw, uint32_t key, struct ibv_mw_bind_info info)
{
	struct ibv_send_wr wr[2] = {
		{ .opcode = IBV_WR_SEND, .next = &wr[1] },
		{ .wr_id = 78, .opcode = IBV_WR_BIND_MW, .send_flags = IBV_SEND_FENCE,
		  .bind_mw = { .mw = mw, .rkey = key, .bind_info = info } },
	}, *bad = NULL;
	uint64_t before = posted(qp);
	int err = fake_ops()->post_send(qp, wr, &bad);

	assert_ptr_equal(bad, err ? &wr[1] : NULL);
	assert_true(posted(qp) == before + (err ? 1 : 2));
	return err;
}

static int bind_two_ex(struct ibv_mw *mw, uint32_t key, struct ibv_mw_bind_info info)
{
	uint64_t before = posted(qp);
	int err;

	ibv_wr_start(ex());
	ex()->wr_id = 78;
	ex()->wr_flags = IBV_SEND_FENCE;
	ibv_wr_bind_mw(ex(), mw, key, &info);
	err = ibv_wr_complete(ex());
	assert_true(posted(qp) == before + (err ? 0 : 1));
	return err;
}

static void must_bind(const struct bind *got, uint32_t key, uint8_t access)
{
	assert_int_equal(got->ctrl.opcode, VHCA_OP_BIND_MW);
	assert_int_equal(got->ctrl.nblk, 1);
	assert_int_equal(got->ctrl.nsge, 0);
	assert_true(got->ctrl.imm == 0 && got->ctrl.inline_len == 0);
	assert_true(got->bind.key == htole32(key));
	assert_true(got->bind.mr_key == htole32(0xabcdef01));
	assert_true(got->bind.addr == htole64(0x1122334455667788));
	assert_true(got->bind.length == htole64(0x99aabbccdd));
	assert_int_equal(got->bind.access, access);
	assert_memory_equal(got->bind.rsvd, (uint8_t [7]) {}, 7);
}

static void requests_say_what_is_bound(void **state)
{
	static const struct {
		unsigned int verbs;
		uint8_t device;
	} rights[] = {
		{ 0, 0 },
		{ IBV_ACCESS_LOCAL_WRITE, 0 },
		{ IBV_ACCESS_REMOTE_READ, VHCA_ACCESS_REMOTE_READ },
		{ IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_LOCAL_WRITE, VHCA_ACCESS_REMOTE_WRITE },
		{ IBV_ACCESS_REMOTE_ATOMIC, VHCA_ACCESS_REMOTE_ATOMIC },
		{ IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_READ,
		  VHCA_ACCESS_ZERO_BASED | VHCA_ACCESS_REMOTE_READ },
	};
	const uint32_t key = (two->rkey & ~0xffU) | 0x3c;

	(void)state;
	for (unsigned int i = 0; i < sizeof(rights) / sizeof(rights[0]); i++) {
		struct ibv_mw_bind_info info = some_memory();
		uint64_t block = posted(qp);

		info.mw_access_flags = rights[i].verbs;
		assert_int_equal(bind_two(two, key, info), 0);
		must_bind(bind_at(block + 1), key, rights[i].device);
		assert_true(bind_at(block + 1)->ctrl.wr_id == htole64(78));
		assert_int_equal(bind_at(block + 1)->ctrl.flags, VHCA_WQE_FENCE);
		assert_int_equal(bind_two_ex(two, key, info), 0);
		must_bind(bind_at(block + 2), key, rights[i].device);
		assert_true(bind_at(block + 2)->ctrl.wr_id == htole64(78));
	}
	/* the program changes the key itself, once the bind is known to have succeeded */
	assert_int_equal(two->rkey & 0xff, 0xfe);
}

/* The low byte is counted up and wraps, the rest stays; each bind has a key of its own. */
static void type_1_keys_go_on(void **state)
{
	static const uint8_t low[] = { 0xff, 0x00, 0x01, 0x02 };
	uint32_t index = one->rkey >> 8;

	(void)state;
	assert_int_equal(one->rkey & 0xff, 0xfe);
	for (unsigned int i = 0; i < sizeof(low); i++) {
		assert_int_equal(bind_one(some_memory()), 0);
		assert_int_equal(one->rkey, index << 8 | low[i]);
		must_bind(bind_at(i), one->rkey, VHCA_ACCESS_REMOTE_READ);
		assert_true(bind_at(i)->ctrl.wr_id == htole64(77));
		assert_int_equal(bind_at(i)->ctrl.flags, VHCA_WQE_SIGNALED);
	}
}

/* Length 0 unbinds a type 1 window: no fields of a region are set. */
static void type_1_bound_to_nothing(void **state)
{
	struct ibv_mw_bind_info info = { .mr = NULL };
	const struct vhca_wqe_bind none = {};
	struct vhca_wqe_bind got;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(bind_one(info), 0);
		got = bind_at(i)->bind;
		assert_true(got.key == htole32(one->rkey));
		got.key = 0;
		assert_memory_equal(&got, &none, sizeof(none));
		info = some_memory();
		info.length = 0;
	}
}

static void refused_binds_keep_the_key(void **state)
{
	struct ibv_pd other_pd = { .context = &ctx->vctx.context, .handle = 5 };
	struct ibv_mw_bind bind = { .bind_info = some_memory() };
	struct ibv_mw_bind_info info = some_memory();
	uint32_t key = one->rkey;

	(void)state;
#define KEEPS(err, with) do {							\
	uint64_t before_ = posted(qp);						\
	assert_int_equal(with, err);						\
	assert_int_equal(one->rkey, key);					\
	assert_true(posted(qp) == before_);					\
} while (0)
	for (unsigned int bit = 0; bit < 32; bit++) {
		info.mw_access_flags = 1U << bit;
		/* only windows of type 2 can be zero-based */
		if (info.mw_access_flags & (IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
					    IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC))
			continue;
		KEEPS(EINVAL, bind_one(info));
	}
	info = some_memory();
	info.mr = NULL;
	KEEPS(EINVAL, bind_one(info));
	mr.pd = &other_pd;
	KEEPS(EPERM, bind_one(some_memory()));
	mr.pd = &fake_pd;
	qp->pd = &other_pd;
	KEEPS(EPERM, bind_one(some_memory()));
	qp->pd = &fake_pd;
	bind.send_flags = IBV_SEND_INLINE;
	KEEPS(EINVAL, fake_ops()->bind_mw(qp, one, &bind));
	qp->state = IBV_QPS_RTR;
	KEEPS(EINVAL, bind_one(some_memory()));
	qp->state = IBV_QPS_RTS;
	ctx->send_ops &= ~(1U << VHCA_OP_BIND_MW);
	KEEPS(EOPNOTSUPP, bind_one(some_memory()));
	ctx->send_ops = FAKE_ALL_OPS;
	/* this call is not for windows of type 2 */
	bind.send_flags = 0;
	KEEPS(EINVAL, fake_ops()->bind_mw(qp, two, &bind));
	assert_int_equal(two->rkey & 0xff, 0xfe);
	/* a full ring */
	while (!bind_one(some_memory()))
		key = one->rkey;
	KEEPS(ENOMEM, bind_one(some_memory()));
}

static void type_2_is_refused(void **state)
{
	struct ibv_pd other_pd = { .context = &ctx->vctx.context, .handle = 5 };
	const bind_fn bind[] = { bind_two, bind_two_ex };
	uint32_t key = two->rkey + 1;

	(void)state;
	assert_int_equal(bind_two(NULL, key, some_memory()), EINVAL);
	for (unsigned int i = 0; i < 2; i++) {
		struct ibv_mw_bind_info info = some_memory();

		assert_int_equal(bind[i](one, one->rkey, info), EINVAL);
		/* the key of another window, and of no window */
		assert_int_equal(bind[i](two, key + 0x100, info), EINVAL);
		assert_int_equal(bind[i](two, 0, info), EINVAL);
		info.mw_access_flags = IBV_ACCESS_FLUSH_GLOBAL;
		assert_int_equal(bind[i](two, key, info), EINVAL);
		info = some_memory();
		info.length = 0;
		assert_int_equal(bind[i](two, key, info), EINVAL);
		info = some_memory();
		info.mr = NULL;
		assert_int_equal(bind[i](two, key, info), EINVAL);
		mr.pd = &other_pd;
		assert_int_equal(bind[i](two, key, some_memory()), EPERM);
		mr.pd = &fake_pd;
		qp->pd = &other_pd;
		assert_int_equal(bind[i](two, key, some_memory()), EPERM);
		qp->pd = &fake_pd;
		assert_int_equal(bind[i](two, key, some_memory()), 0);
	}
}

/* Windows can be bound by UC QPs, not by UD QPs. */
static void other_kinds_of_qps(void **state)
{
	struct ibv_qp *uc = fake_make_typed_qp(ctx, IBV_QPT_UC, cq, &cap, 0);
	struct ibv_qp *ud = fake_make_typed_qp(ctx, IBV_QPT_UD, cq, &cap, 0);
	struct ibv_mw_bind bind = { .bind_info = some_memory() };
	uint32_t key = one->rkey;

	(void)state;
	assert_int_equal(fake_ops()->bind_mw(ud, one, &bind), EINVAL);
	assert_int_equal(one->rkey, key);
	assert_int_equal(fake_ops()->bind_mw(uc, one, &bind), 0);
	assert_int_equal(one->rkey, ibv_inc_rkey(key));
	assert_true(posted(uc) == 1);
	assert_int_equal(fake_ops()->destroy_qp(uc), 0);
	assert_int_equal(fake_ops()->destroy_qp(ud), 0);
}

/* ---- several threads bind one window ---- */

#define BINDERS		3
#define BINDS_EACH	80
#define ROUNDS		60

static pthread_barrier_t start;

static void *binder_main(void *arg)
{
	struct ibv_mw_bind bind = { .bind_info = some_memory() };

	pthread_barrier_wait(&start);
	for (unsigned int i = 0; i < BINDS_EACH; i++)
		assert_int_equal(fake_ops()->bind_mw(arg, one, &bind), 0);
	return NULL;
}

/* The keys in the requests of one QP; each is new. */
static void must_be_new(struct ibv_qp *by, bool *seen)
{
	const struct bind *ring = (const void *)(uintptr_t)fake_qp(by)->req.sq_addr;

	assert_true(posted(by) == BINDS_EACH);
	for (unsigned int i = 0; i < BINDS_EACH; i++) {
		uint8_t low = le32toh(ring[i].bind.key);

		assert_false(seen[low]);
		seen[low] = true;
	}
}

static void no_key_is_given_twice(void **state)
{
	const struct ibv_qp_cap deep = { .max_send_wr = 128, .max_send_sge = 1 };
	struct ibv_qp *by[BINDERS];
	pthread_t threads[BINDERS];

	(void)state;
	assert_int_equal(pthread_barrier_init(&start, NULL, BINDERS), 0);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		uint32_t first = one->rkey;
		bool seen[256] = {};

		for (unsigned int i = 0; i < BINDERS; i++) {
			by[i] = fake_make_qp(ctx, cq, cq, &deep, 0);
			assert_int_equal(pthread_create(&threads[i], NULL, binder_main, by[i]), 0);
		}
		for (unsigned int i = 0; i < BINDERS; i++)
			assert_int_equal(pthread_join(threads[i], NULL), 0);
		for (unsigned int i = 0; i < BINDERS; i++) {
			must_be_new(by[i], seen);
			assert_int_equal(fake_ops()->destroy_qp(by[i]), 0);
		}
		assert_int_equal(one->rkey,
				 (first & ~0xffU) | ((first + BINDERS * BINDS_EACH) & 0xff));
	}
	pthread_barrier_destroy(&start);
}

static void a_window_that_cannot_be_had(void **state)
{
	(void)state;
	errno = 0;
	assert_null(fake_ops()->alloc_mw(&fake_pd, 3));
	assert_int_equal(errno, EINVAL);
	fake_err[FAKE_ALLOC_MW] = EOPNOTSUPP;
	errno = 0;
	assert_null(fake_ops()->alloc_mw(&fake_pd, IBV_MW_TYPE_1));
	assert_int_equal(errno, EOPNOTSUPP);
	/* a window that could not be freed can be bound as before */
	fake_err[FAKE_DEALLOC_MW] = EBUSY;
	assert_int_equal(fake_ops()->dealloc_mw(one), EBUSY);
	assert_int_equal(bind_one(some_memory()), 0);
	fake_err[FAKE_DEALLOC_MW] = 0;
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(requests_say_what_is_bound),
		TEST(type_1_keys_go_on),
		TEST(type_1_bound_to_nothing),
		TEST(refused_binds_keep_the_key),
		TEST(type_2_is_refused),
		TEST(other_kinds_of_qps),
		TEST(no_key_is_given_twice),
		TEST(a_window_that_cannot_be_had),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
