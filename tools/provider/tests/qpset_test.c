// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The set of QPs against a plain array, through random insertions and removals. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

#include "qpset.h"

#define NUMBERS 512

/* Numbers as a device gives them: few indices, many generations. */
static uint32_t qpn_of(uint32_t i)
{
	return i % 16 | i / 16 << 12;
}

static struct vhca_qp *qp_of(uint32_t i)
{
	return (struct vhca_qp *)(uintptr_t)(i + 1);
}

static void empty_set_finds_nothing(void **state)
{
	struct vhca_qpset set = { 0 };

	(void)state;
	assert_null(vhca_qpset_find(&set, 0));
	vhca_qpset_remove(&set, 7);
	assert_int_equal(vhca_qpset_reserve(&set), 0);
	assert_null(vhca_qpset_find(&set, 0));
	vhca_qpset_remove(&set, 7);
	assert_int_equal(set.used, 0);
	vhca_qpset_free(&set);
}

static void agrees_with_an_array(void **state)
{
	struct vhca_qpset set = { 0 };
	bool in[NUMBERS] = { false };
	uint32_t used = 0, step, i;

	(void)state;
	srand(1);
	for (step = 0; step < 20000; step++) {
		/* phases that mostly fill, then mostly drain */
		bool insert = rand() % 8 < (step / 2000 % 2 ? 2 : 6);

		i = rand() % NUMBERS;
		if (insert && !in[i]) {
			assert_int_equal(vhca_qpset_reserve(&set), 0);
			vhca_qpset_insert(&set, qpn_of(i), qp_of(i));
			in[i] = true;
			used++;
		} else if (!insert) {
			vhca_qpset_remove(&set, qpn_of(i));
			used -= in[i];
			in[i] = false;
		}
		assert_int_equal(set.used, used);
		if (step % 50)
			continue;
		for (i = 0; i < NUMBERS; i++)
			assert_ptr_equal(vhca_qpset_find(&set, qpn_of(i)), in[i] ? qp_of(i) : NULL);
	}
	vhca_qpset_free(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_set_finds_nothing),
		cmocka_unit_test(agrees_with_an_array),
	};

	return cmocka_run_group_tests_name("provider QP set", tests, NULL, NULL);
}
