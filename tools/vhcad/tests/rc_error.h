/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by rc_error_test.c and rc_state_test.c.
 */
#ifndef VHCAD_TESTS_RC_ERROR_H
#define VHCAD_TESTS_RC_ERROR_H

#include <string.h>

#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)

struct fixture {
	struct tpair p;
	struct tmr l, r;
};

static inline void setup(struct fixture *f)
{
	t_pair_init(&f->p, 3, 0xfffff0, 5);
	t_mr_init(&f->p.h[0], &f->l, 1ull << 40, 40000, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 1ull << 41, 40000, RW, 1, 12);
	t_mr_fill(&f->l, 1);
	t_mr_fill(&f->r, 2);
}

static inline void done(struct fixture *f)
{
	t_pair_fini(&f->p);
}

#endif /* VHCAD_TESTS_RC_ERROR_H */
