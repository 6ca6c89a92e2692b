// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device's clock, and time stamps in terms of the host's.
 */
#include <errno.h>
#include <limits.h>

#include "cm.h"
#include "fake.h"

#define SECOND	UINT64_C(1000000000)

/* Both clocks when the CQ is made: the host's is read 100 before and 300 after the device's. */
#define DEVICE	(77 * SECOND)
#define REAL	(1800000000 * SECOND)

static struct vhca_context *ctx;
static struct ibv_context *context;

static int setup(void **state)
{
	(void)state;
	ctx = fake_open();
	context = &ctx->vctx.context;
	fake_clock.now = (struct vhca_clock_query_resp) {
		.device = DEVICE, .real_before = REAL - 100, .real_after = REAL + 300,
	};
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_close(ctx);
	return 0;
}

static void the_raw_clock(void **state)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	(void)state;
	fake_clock.now.device = LONG_MAX;
	assert_int_equal(fake_ops()->query_rt_values(context, &values), 0);
	assert_int_equal(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	assert_int_equal(values.raw_clock.tv_sec, 0);
	assert_true(values.raw_clock.tv_nsec == LONG_MAX);

	/* more than fits into a long */
	fake_clock.now.device = (uint64_t)LONG_MAX + 1;
	assert_int_equal(fake_ops()->query_rt_values(context, &values), 0);
	assert_true((uint64_t)values.raw_clock.tv_sec == fake_clock.now.device / SECOND);
	assert_true((uint64_t)values.raw_clock.tv_nsec == fake_clock.now.device % SECOND);
	assert_int_equal(fake_clock.asked, 2);
}

static void values_that_nobody_knows(void **state)
{
	struct ibv_values_ex values = { .comp_mask = 2 };

	(void)state;
	assert_int_equal(fake_ops()->query_rt_values(context, &values), 0);
	assert_int_equal(values.comp_mask, 0);
	assert_int_equal(fake_clock.asked, 0);
	values.comp_mask = 2 | IBV_VALUES_MASK_RAW_CLOCK;
	assert_int_equal(fake_ops()->query_rt_values(context, &values), 0);
	assert_int_equal(values.comp_mask, IBV_VALUES_MASK_RAW_CLOCK);
	assert_true(values.raw_clock.tv_sec * SECOND + values.raw_clock.tv_nsec == DEVICE);
}

static struct ibv_cq_ex *make_cq(void)
{
	struct ibv_cq_init_attr_ex attr = {
		.cqe = 8, .wc_flags = IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK,
	};

	return fake_ops()->create_cq_ex(context, &attr);
}

static void a_clock_that_cannot_be_asked(void **state)
{
	struct ibv_values_ex values = { .comp_mask = IBV_VALUES_MASK_RAW_CLOCK };

	(void)state;
	fake_err[FAKE_QUERY_CLOCK] = EIO;
	assert_int_equal(fake_ops()->query_rt_values(context, &values), EIO);
	errno = 0;
	assert_null(make_cq());
	assert_int_equal(errno, EIO);

	/* a kernel or a device without the feature is not asked */
	fake_lacks = VHCA_UCTX_F_CLOCK;
	fake_close(ctx);
	fake_start();
	fake_lacks = VHCA_UCTX_F_CLOCK;
	ctx = fake_try_open();
	context = &ctx->vctx.context;
	assert_int_equal(fake_ops()->query_rt_values(context, &values), EOPNOTSUPP);
	errno = 0;
	assert_null(make_cq());
	assert_int_equal(errno, EOPNOTSUPP);
	assert_int_equal(fake_clock.asked, 0);
}

/* Time of day of the next completion, which has this stamp. */
static uint64_t wall(struct ibv_cq_ex *ex, struct ibv_qp *qp, uint64_t stamp)
{
	struct ibv_recv_wr wr = {}, *bad;
	struct ibv_poll_cq_attr none = {};
	static uint32_t posted;
	uint64_t ns;

	if (!to_vhca_qp(qp)->rq.head)
		posted = 0;
	assert_int_equal(fake_ops()->post_recv(qp, &wr, &bad), 0);
	fake_complete(ibv_cq_ex_to_cq(ex), (struct vhca_cqe) {
		.qpn = htole32(qp->qp_num), .wqe_index = htole32(++posted),
		.timestamp = htole64(stamp), .opcode = VHCA_CQE_RECV, .flags = VHCA_CQE_F_RQ,
	});
	assert_int_equal(ibv_start_poll(ex, &none), 0);
	ns = ibv_wc_read_completion_wallclock_ns(ex);
	ibv_end_poll(ex);
	return ns;
}

static void stamps_by_the_hosts_clock(void **state)
{
	const struct ibv_qp_cap cap = {
		.max_send_wr = 1, .max_recv_wr = 8, .max_send_sge = 1, .max_recv_sge = 1,
	};
	struct ibv_cq_ex *ex = make_cq();
	struct ibv_qp *qp;

	(void)state;
	assert_non_null(ex);
	qp = fake_make_qp(ctx, ibv_cq_ex_to_cq(ex), ibv_cq_ex_to_cq(ex), &cap, 0);
	assert_int_equal(fake_clock.asked, 1);
	/*
	 * the middle of the two readings of the host's clock; earlier stamps too, and up to a
	 * second later
	 */
	assert_true(wall(ex, qp, DEVICE) == REAL + 100);
	assert_true(wall(ex, qp, DEVICE - 5 * SECOND) == REAL + 100 - 5 * SECOND);
	assert_true(wall(ex, qp, DEVICE + SECOND) == REAL + 100 + SECOND);
	assert_int_equal(fake_clock.asked, 1);

	/* the host's clock was set back meanwhile, even between the two readings */
	fake_clock.now = (struct vhca_clock_query_resp) {
		.device = DEVICE + 2 * SECOND, .real_before = 5000, .real_after = 3000,
	};
	assert_true(wall(ex, qp, DEVICE + SECOND + 1) == 4000 - SECOND + 1);
	assert_int_equal(fake_clock.asked, 2);
	assert_true(wall(ex, qp, DEVICE + 2 * SECOND + 7) == 4007);
	assert_int_equal(fake_clock.asked, 2);

	/* the device is removed, and completions are left */
	fake_err[FAKE_QUERY_CLOCK] = EIO;
	assert_true(wall(ex, qp, DEVICE + 4 * SECOND) == 4000 + 2 * SECOND);
	assert_int_equal(fake_clock.asked, 3);
	assert_int_equal(fake_ops()->destroy_qp(qp), 0);
	assert_int_equal(fake_ops()->destroy_cq(ibv_cq_ex_to_cq(ex)), 0);
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(the_raw_clock),
		TEST(values_that_nobody_knows),
		TEST(a_clock_that_cannot_be_asked),
		TEST(stamps_by_the_hosts_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
