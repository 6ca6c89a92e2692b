// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Arithmetic of rings and layout of records.
 */
#include "cm.h"
#include "ring.h"

static void log_is_the_smallest_that_holds(void **state)
{
	(void)state;
	assert_int_equal(ring_log(0), 0);
	for (uint64_t n = 1; n < 5000; n++) {
		uint8_t log = ring_log(n);

		assert_true(ring_size(log) >= n);
		assert_true(log == 0 || ring_size(log - 1) < n);
	}
	assert_int_equal(ring_log(UINT64_C(1) << 40), 40);
}

static void slot_wraps(void **state)
{
	(void)state;
	assert_int_equal(vhca_ring_slot(0, 3), 0);
	assert_int_equal(vhca_ring_slot(7, 3), 7);
	assert_int_equal(vhca_ring_slot(8, 3), 0);
	assert_int_equal(vhca_ring_slot(UINT64_C(0x100000009), 3), 1);
	assert_int_equal(vhca_ring_slot(12345, 0), 0);
}

static void extend_crosses_32_bits(void **state)
{
	(void)state;
	assert_true(vhca_ring_widen(0, 0) == 0);
	assert_true(vhca_ring_widen(5, 9) == 9);
	assert_true(vhca_ring_widen(UINT64_C(0xfffffffe), 1) == UINT64_C(0x100000001));
	assert_true(vhca_ring_widen(UINT64_C(0x2fffffff0), 0xfffffff5) == UINT64_C(0x2fffffff5));
	/* one less: nearly 2^32 ahead, which no ring has */
	assert_true(vhca_ring_widen(5, 4) == UINT64_C(0x100000004));
}

static void fresh_is_the_parity_of_the_lap(void **state)
{
	(void)state;
	for (uint64_t count = 0; count < 64; count++) {
		uint8_t lap = (count / 8) % 2;

		assert_int_equal(vhca_ring_fresh(1, count, 3), lap == 0);
		assert_int_equal(vhca_ring_fresh(0, count, 3), lap == 1);
		/* the other bits of the byte do not count */
		assert_int_equal(vhca_ring_fresh(0xff, count, 3), lap == 0);
		assert_int_equal(vhca_ring_fresh(0xfe, count, 3), lap == 1);
	}
	/* the parity goes on where 32 bits end */
	assert_true(vhca_ring_fresh(0, UINT64_C(0xffffffff), 3));
	assert_true(vhca_ring_fresh(1, UINT64_C(0x100000000), 3));
}

static void arm_record_has_its_fields(void **state)
{
	uint64_t value = arm_value(UINT64_C(0x123456789), 0xabcdef, false);

	(void)state;
	assert_true(value == UINT64_C(0xabcdef0023456789));
	value = arm_value(1, 0x1000002, true);
	assert_int_equal(value & VHCA_ARM_CI_MASK, 1);
	assert_true(value & VHCA_ARM_SOLICITED);
	assert_int_equal(value >> VHCA_ARM_SEQ_SHIFT, 2);
}

static void publish_sets_record_bits_and_takes_the_kick(void **state)
{
	static struct vhca_db_page pages[66];
	struct vhca_slots db = {
		.page = &pages[65],
		.page0 = &pages[0],
		.index = 65,
		.slot = 130,
	};

	(void)state;
	assert_false(db_publish(&db, 0, 7));
	assert_true(pages[65].rec[130] == htole64(7));
	assert_true(pages[65].news[2] == htole64(UINT64_C(1) << 2));
	assert_true(pages[0].summary[1] == htole64(UINT64_C(1) << 1));
	assert_true(pages[0].news[2] == 0);
	assert_true(pages[65].summary[1] == 0);

	pages[0].armed = htole32(1);
	assert_true(db_publish(&db, 0, 8));
	assert_true(pages[0].armed == 0);
	assert_false(db_publish(&db, 0, 9));
	assert_true(pages[65].rec[130] == htole64(9));

	db_store(&db, 1, 3);
	assert_true(pages[65].rec[131] == htole64(3));
	db_arm(&db, 5);
	assert_true(pages[65].rec[131] == htole64(5));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log_is_the_smallest_that_holds),
		cmocka_unit_test(slot_wraps),
		cmocka_unit_test(extend_crosses_32_bits),
		cmocka_unit_test(fresh_is_the_parity_of_the_lap),
		cmocka_unit_test(arm_record_has_its_fields),
		cmocka_unit_test(publish_sets_record_bits_and_takes_the_kick),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
