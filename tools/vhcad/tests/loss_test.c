// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A fabric that loses packets: how many, that the same are lost another time, and that reliable
 * connections do not mind.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/room.h"
#include "tests/tfail.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define THROWS	100000u

/* Which of the first so many packets are lost; their number. */
static u32 throws(u32 permille, u32 seed, u8 *lost)
{
	struct fabric *f = fabric_new(FABRIC_SUBNET_STATIC);
	u32 n = 0;

	assert_int_equal(fabric_set_loss(f, permille, seed), 0);
	for (u32 i = 0; i < THROWS; i++) {
		struct fab_verdict v = { .copies = 1 };

		f->judge(f->judge_arg, NULL, NULL, &v);
		assert_int_equal(v.delay, 0);
		lost[i] = !v.copies;
		n += lost[i];
	}
	fabric_free(f);
	return n;
}

static void as_many_as_asked(void **state)
{
	static const u32 permille[] = { 1, 10, 250, 500, 999, 1000 };
	static u8 lost[THROWS];

	for (u32 i = 0; i < ARRAY_SIZE(permille); i++) {
		s64 wanted = THROWS / 1000 * permille[i];
		s64 n = throws(permille[i], 1 + i, lost);

		/* six times the deviation of honest dice, at the most */
		assert_true((n - wanted) * (n - wanted) <=
			    36 * wanted * (1000 - permille[i]) / 1000);
	}
}

/* Neither at regular intervals nor in bursts: any two places tell nothing of one another. */
static void no_pattern(void **state)
{
	static u8 lost[THROWS];

	throws(500, 7, lost);
	for (u32 apart = 1; apart <= 64; apart++) {
		s32 same = 0;

		for (u32 i = 0; i + apart < THROWS; i++)
			same += lost[i] == lost[i + apart] ? 1 : -1;
		assert_true(abs(same) < 2000);
	}
}

static void same_again(void **state)
{
	static u8 lost[3][THROWS];

	throws(10, 1, lost[0]);
	throws(10, 1, lost[1]);
	throws(10, 2, lost[2]);
	assert_memory_equal(lost[0], lost[1], THROWS);
	assert_memory_not_equal(lost[0], lost[2], THROWS);
}

/* Drops of a conversation over a fabric that loses so many. */
static u64 converse(u32 permille, u32 seed)
{
	struct tmr l, r;
	struct tpair p;
	u64 drops;

	t_pair_init(&p, 1, 1, 0xfffffa);
	t_mr_init(&p.h[0], &l, 1ull << 40, 100000, RW, 1, 12);
	t_mr_init(&p.h[1], &r, 1ull << 41, 100000, RW, 1, 12);
	t_mr_fill(&l, 1);
	t_mr_fill(&r, 2);
	assert_int_equal(fabric_set_loss(p.w.fabric, permille, seed), 0);
	for (u32 i = 0; i < 8; i++) {
		struct twr wr = t_wr(i % 2 ? VHCA_OP_READ : VHCA_OP_WRITE, i, &l, i * 10000, 9999,
				     &r, i * 10000);

		t_post(&p.qp[0], &wr);
	}
	t_ring_sq(&p.qp[0]);
	t_settle(&p.w, 60ull * 1000000000);
	for (u32 i = 0; i < 8; i++) {
		t_expect_cqe(&p.cq[0], i, VHCA_CS_SUCCESS);
		t_mr_expect(i % 2 ? &l : &r, i * 10000, 9999, i % 2 ? 2 : 1, i * 10000);
	}
	drops = p.w.fabric->ports[0]->drops + p.w.fabric->ports[1]->drops;
	t_pair_fini(&p);
	return drops;
}

static void reliable_all_the_same(void **state)
{
	u64 one = converse(50, 1);

	assert_int_equal(converse(0, 1), 0);
	assert_true(one > 5);
	assert_int_equal(converse(50, 1), one);
}

/* Nothing is judged, so nothing is slower, when nothing is lost. */
static void none(void **state)
{
	struct fabric *f = fabric_new(FABRIC_SUBNET_STATIC);

	assert_int_equal(fabric_set_loss(f, 0, 1), 0);
	assert_false(fab_queues(f));
	fabric_free(f);
}

static void no_memory(void **state)
{
	struct fabric *f = fabric_new(FABRIC_SUBNET_STATIC);
	int err;
	u32 n;

	tfail_each_alloc(n, err = fabric_set_loss(f, 10, 1), ({
		assert_int_equal(err, -ENOMEM);
		assert_false(fab_queues(f));
	}));
	assert_int_equal(n, 1);
	assert_true(fab_queues(f));
	fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_many_as_asked),
		cmocka_unit_test(no_pattern),
		cmocka_unit_test(same_again),
		cmocka_unit_test(reliable_all_the_same),
		cmocka_unit_test(none),
		cmocka_unit_test(no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
