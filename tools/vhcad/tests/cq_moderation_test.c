// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Moderation: how many entries, or how long, an event waits for.
 */
#include <string.h>

#include "tests/thca.h"

#define USEC	1000ull

/* Two QPs on two devices; what is looked at is the receiver's CQ. */
static int setup(void **state)
{
	static struct tpair p;

	memset(&p, 0, sizeof(p));
	t_pair_init(&p, 3, 1, 1);
	*state = &p;
	return 0;
}

static int teardown(void **state)
{
	t_pair_fini(*state);
	return 0;
}

static void arrive(struct tpair *p, u32 n, u8 flags)
{
	while (n--) {
		struct twr wr = { .opcode = VHCA_OP_SEND, .flags = flags };

		t_recv(&p->qp[1], 0, 0, NULL);
		t_send(&p->qp[0], &wr);
	}
}

static void poll_all(struct tpair *p)
{
	struct vhca_cqe e;

	for (u32 i = 0; i < 2; i++)
		while (t_cq_poll(&p->cq[i], &e))
			;
}

/* As a consumer does: arms, and polls what is there. */
static void arm(struct tpair *p, bool solicited)
{
	poll_all(p);
	t_cq_arm(&p->cq[1], solicited);
	poll_all(p);
}

static bool event(struct tpair *p)
{
	struct vhca_eqe e;

	t_poll(&p->w);
	if (!t_eq_get(&p->h[1], &p->h[1].comp, &e))
		return false;
	assert_int_equal(e.event, VHCA_EV_COMPLETION);
	assert_int_equal(le32toh(e.number), p->cq[1].cqn);
	return true;
}

static void pass(struct tpair *p, u64 ns)
{
	p->w.now += ns;
	t_poll(&p->w);
}

static void moderate(struct tpair *p, u32 count, u32 usec)
{
	assert_int_equal(t_cq_moderate(&p->cq[1], count, usec), VHCA_ST_OK);
}

/* The event comes with the entry that completes the count, and the count starts over. */
static void count(void **state)
{
	struct tpair *p = *state;

	moderate(p, 5, 50000);
	for (u32 i = 0; i < 4; i++) {
		arm(p, false);
		arrive(p, 4, 0);
		assert_false(event(p));
		arrive(p, 1, 0);
		assert_true(event(p));
		/* not armed, but they count */
		arrive(p, 3, 0);
		arm(p, false);
		arrive(p, 1, 0);
		assert_false(event(p));
		arrive(p, 1, 0);
		assert_true(event(p));
	}
	/* one arming, one event, however long one waits */
	arrive(p, 20, 0);
	pass(p, 100000 * USEC);
	assert_false(event(p));
}

/* To the nanosecond: the period counts from the first entry since the last event. */
static void period(void **state)
{
	struct tpair *p = *state;

	moderate(p, 1000, 100);
	arm(p, false);
	pass(p, 500 * USEC);
	arrive(p, 1, 0);
	pass(p, 60 * USEC);
	arrive(p, 2, 0);
	pass(p, 40 * USEC - 1);
	assert_false(event(p));
	pass(p, 1);
	assert_true(event(p));
	/* the timer does not start by itself */
	assert_int_equal(p->w.next, ENGINE_NEVER);
	pass(p, 1000 * USEC);
	assert_false(event(p));

	/* the engine knows how long it may sleep */
	arm(p, false);
	arrive(p, 1, 0);
	assert_true(t_advance(&p->w));
	assert_true(event(p));

	/* the first entry was taken before the CQ was armed: that one counts */
	arrive(p, 1, 0);
	pass(p, 70 * USEC);
	arm(p, false);
	arrive(p, 1, 0);
	pass(p, 29 * USEC);
	assert_false(event(p));
	pass(p, 1 * USEC);
	assert_true(event(p));
	arrive(p, 1, 0);
	pass(p, 150 * USEC);
	arm(p, false);
	assert_false(event(p));
	arrive(p, 1, 0);
	assert_true(event(p));
}

/* Settings without moderation. */
static void at_once(void **state)
{
	static const struct { u16 count, usec; } off[] = {
		{ 0, 0 }, { 0, 100 }, { 1, 100 }, { 100, 0 }, { 1, 0 },
	};
	struct tpair *p = *state;

	for (u32 i = 0; i < ARRAY_SIZE(off); i++) {
		moderate(p, 10, 100);
		moderate(p, off[i].count, off[i].usec);
		for (u32 k = 0; k < 3; k++) {
			arm(p, false);
			assert_false(event(p));
			arrive(p, 1, 0);
			assert_true(event(p));
			arrive(p, 1, 0);
			assert_false(event(p));
		}
	}
	/* the highest values */
	moderate(p, UINT16_MAX, UINT16_MAX);
	arm(p, false);
	arrive(p, 3, 0);
	pass(p, UINT16_MAX * USEC - 1);
	assert_false(event(p));
	pass(p, 1);
	assert_true(event(p));
}

/* Entries that the arming does not ask for make no event due, but they count. */
static void solicited(void **state)
{
	struct tpair *p = *state;

	moderate(p, 4, 100);
	arm(p, true);
	arrive(p, 6, 0);
	pass(p, 200 * USEC);
	assert_false(event(p));
	arrive(p, 1, VHCA_WQE_SOLICITED);
	assert_true(event(p));
	/* due, and posted with those that follow */
	arm(p, true);
	arrive(p, 1, VHCA_WQE_SOLICITED);
	assert_false(event(p));
	arrive(p, 2, 0);
	assert_false(event(p));
	arrive(p, 1, 0);
	assert_true(event(p));
	/* or by the time */
	arm(p, true);
	arrive(p, 1, VHCA_WQE_SOLICITED);
	pass(p, 100 * USEC);
	assert_true(event(p));
	/* an error counts as solicited */
	arm(p, true);
	t_recv(&p->qp[1], 0, 0, NULL);
	assert_int_equal(t_to(&p->qp[1], T_ERR), VHCA_ST_OK);
	assert_false(event(p));
	pass(p, 100 * USEC);
	assert_true(event(p));
}

/* A consumer that arms again has polled: the event that was due for it is not posted. */
static void armed_again(void **state)
{
	struct tpair *p = *state;

	moderate(p, 10, 100);
	arm(p, false);
	arrive(p, 2, 0);
	pass(p, 50 * USEC);
	arm(p, false);
	pass(p, 50 * USEC);
	assert_false(event(p));
	/* but the entries have waited long enough for the next one */
	arrive(p, 1, 0);
	assert_true(event(p));

	/* armed for later entries */
	poll_all(p);
	p->cq[1].ci += 3;
	t_cq_arm(&p->cq[1], false);
	p->cq[1].ci -= 3;
	arrive(p, 3, 0);
	pass(p, 200 * USEC);
	assert_false(event(p));
	arrive(p, 1, 0);
	assert_true(event(p));
}

/* New values also apply to an event that waits. */
static void changed(void **state)
{
	struct tpair *p = *state;

	moderate(p, 10, 1000);
	arm(p, false);
	arrive(p, 3, 0);
	moderate(p, 4, 1000);
	assert_false(event(p));
	moderate(p, 3, 1000);
	assert_true(event(p));

	arm(p, false);
	arrive(p, 2, 0);
	moderate(p, 0, 0);
	assert_true(event(p));
	assert_int_equal(p->w.next, ENGINE_NEVER);

	moderate(p, 10, 1000);
	arm(p, false);
	arrive(p, 2, 0);
	pass(p, 300 * USEC);
	moderate(p, 10, 400);
	pass(p, 100 * USEC - 1);
	assert_false(event(p));
	pass(p, 1);
	assert_true(event(p));

	arm(p, false);
	arrive(p, 2, 0);
	moderate(p, 10, 2000);
	pass(p, 1999 * USEC);
	assert_false(event(p));
	pass(p, 1 * USEC);
	assert_true(event(p));

	arm(p, false);
	arrive(p, 2, 0);
	pass(p, 1000 * USEC);
	moderate(p, 10, 500);		/* has passed already */
	assert_true(event(p));

	/* nothing is due, nothing is posted */
	arrive(p, 2, 0);
	moderate(p, 2, 10);
	pass(p, 100 * USEC);
	assert_false(event(p));
	arm(p, false);
	moderate(p, 0, 0);
	assert_false(event(p));
}

/* A CQ, a driver, a device is removed while an event waits. */
static void gone(void **state)
{
	struct tpair *p = *state;

	moderate(p, 10, 100);
	arm(p, false);
	arrive(p, 1, 0);
	assert_int_equal(t_destroy(&p->h[1], VHCA_CMD_DESTROY_QP, p->qp[1].qpn), VHCA_ST_OK);
	assert_int_equal(t_destroy(&p->h[1], VHCA_CMD_DESTROY_CQ, p->cq[1].cqn), VHCA_ST_OK);
	pass(p, 200 * USEC);
	assert_false(event(p));

	t_cq_init(&p->h[1], &p->cq[1], 4, 0);
	t_qp_init(&p->h[1], &p->qp[1], &p->cq[1], &p->cq[1]);
	t_connect(&p->qp[1], &p->qp[1], 3, 1, 1);
	moderate(p, 10, 100);
	arm(p, false);
	{
		struct twr nop = { .opcode = VHCA_OP_NOP };

		t_send(&p->qp[1], &nop);
	}
	assert_false(event(p));
	vdev_inject_fatal(p->h[1].dev);
	pass(p, 200 * USEC);
	assert_false(event(p));
	t_expect_event(&p->h[1], VHCA_EV_DEVICE_FATAL, 0);
	vdev_reset(p->h[1].dev);
	pass(p, 200 * USEC);
	assert_false(event(p));
}

int main(void)
{
#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(count), TEST(period), TEST(at_once), TEST(solicited), TEST(armed_again),
		TEST(changed), TEST(gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
