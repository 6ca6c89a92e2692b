// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rings: space, wrap, lap bits, purging. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "ring.h"

#define LOG_SIZE 3
#define SIZE (1U << LOG_SIZE)

static struct vhca_ring make_ring(unsigned int shift, uint32_t start)
{
	return (struct vhca_ring){
		.buf = calloc(SIZE, 1U << shift),
		.shift = shift,
		.log_size = LOG_SIZE,
		.head = start,
		.tail = start,
	};
}

/* Starts that bring the free-running counts over every kind of wrap. */
static const uint32_t starts[] = { 0, 1, SIZE - 1, SIZE, UINT32_MAX - 2, UINT32_MAX };

static void space_follows_head_and_tail(void **state)
{
	unsigned int i, n;

	(void)state;
	for (i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
		struct vhca_ring r = make_ring(6, starts[i]);

		for (n = 0; n < SIZE; n++) {
			assert_int_equal(vhca_ring_space(&r), SIZE - n);
			r.head++;
		}
		assert_int_equal(vhca_ring_space(&r), 0);
		vhca_ring_retire(&r, starts[i] + 3);
		assert_int_equal(vhca_ring_space(&r), 3);
		free(r.buf);
	}
}

static void retire_ignores_counts_not_outstanding(void **state)
{
	struct vhca_ring r = make_ring(6, UINT32_MAX - 1);

	(void)state;
	r.head += 4;
	vhca_ring_retire(&r, r.head + 1);
	assert_int_equal(r.tail, UINT32_MAX - 1);
	vhca_ring_retire(&r, r.tail - 1);
	assert_int_equal(r.tail, UINT32_MAX - 1);
	vhca_ring_retire(&r, r.head);
	assert_int_equal(r.tail, r.head);
	free(r.buf);
}

static void copy_goes_over_the_end(void **state)
{
	struct vhca_ring r = make_ring(6, 0);
	char src[200];
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(src); i++)
		src[i] = i + 1;
	/* block 6 at byte 48: 80 bytes to the end, the rest at the start */
	vhca_ring_copy(&r, SIZE + 6, 48, src, sizeof(src));
	assert_memory_equal(r.buf + 6 * 64 + 48, src, 80);
	assert_memory_equal(r.buf, src + 80, sizeof(src) - 80);
	assert_int_equal(r.buf[sizeof(src) - 80], 0);
	assert_int_equal(r.buf[6 * 64 + 47], 0);
	assert_ptr_equal(vhca_ring_at(&r, SIZE + 7, 64), r.buf);
	free(r.buf);
}

static void put_cqe(struct vhca_ring *r, uint32_t count, uint32_t qpn, uint64_t id)
{
	struct vhca_cqe *cqe = vhca_cqe_at(r, count);

	cqe->qpn = htole32(qpn);
	cqe->wr_id = htole64(id);
	cqe->owner = vhca_cqe_lap(r, count);
}

static void entries_are_valid_on_their_lap_only(void **state)
{
	struct vhca_ring r = make_ring(6, 0);
	uint32_t count;

	(void)state;
	for (count = 0; count < 4 * SIZE; count++) {
		assert_null(vhca_cqe_valid(&r, count));
		put_cqe(&r, count, 1, count);
		assert_non_null(vhca_cqe_valid(&r, count));
		assert_null(vhca_cqe_valid(&r, count + SIZE));
	}
	free(r.buf);
}

/*
 * Every fill, place of the ring and pattern of two QPs' entries: what is left
 * are the other QP's, in order, and the entry behind is still not valid.
 */
static void purge_drops_one_qp_and_keeps_order(void **state)
{
	uint32_t start, fill, pattern, i;

	(void)state;
	for (start = 0; start < 2 * SIZE; start++)
	for (fill = 0; fill <= SIZE; fill++)
	for (pattern = 0; pattern < 1U << fill; pattern++) {
		struct vhca_ring r = make_ring(6, 0);
		uint32_t left = 0;

		for (i = 0; i < start; i++)
			put_cqe(&r, i, 9, 0);
		r.tail = start;
		for (i = 0; i < fill; i++)
			put_cqe(&r, start + i, pattern & (1U << i) ? 5 : 6, i);
		assert_int_equal(vhca_cq_purge(&r, 5), __builtin_popcount(pattern));
		for (i = 0; i < fill; i++) {
			struct vhca_cqe *cqe;

			if (pattern & (1U << i))
				continue;
			cqe = vhca_cqe_valid(&r, r.tail + left++);
			assert_non_null(cqe);
			assert_int_equal(le32toh(cqe->qpn), 6);
			assert_int_equal(le64toh(cqe->wr_id), i);
		}
		assert_int_equal(r.tail + left, start + fill);
		assert_null(vhca_cqe_valid(&r, start + fill));
		free(r.buf);
	}
}

static void arm_record_has_its_fields(void **state)
{
	uint64_t rec = vhca_arm_record(0xdeadbeef, 0x1abcdef, true);

	(void)state;
	assert_int_equal(rec & VHCA_ARM_CI_MASK, 0xdeadbeef);
	assert_int_equal(rec >> VHCA_ARM_SEQ_SHIFT, 0xabcdef);
	assert_true(rec & VHCA_ARM_SOLICITED);
	assert_false(vhca_arm_record(UINT32_MAX, UINT32_MAX, false) & VHCA_ARM_SOLICITED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(space_follows_head_and_tail),
		cmocka_unit_test(retire_ignores_counts_not_outstanding),
		cmocka_unit_test(copy_goes_over_the_end),
		cmocka_unit_test(entries_are_valid_on_their_lap_only),
		cmocka_unit_test(purge_drops_one_qp_and_keeps_order),
		cmocka_unit_test(arm_record_has_its_fields),
	};

	return cmocka_run_group_tests_name("provider rings", tests, NULL, NULL);
}
