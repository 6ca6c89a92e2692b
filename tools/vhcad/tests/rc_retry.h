/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by rc_retry_test.c and rc_storm_test.c.
 */
#ifndef VHCAD_TESTS_RC_RETRY_H
#define VHCAD_TESTS_RC_RETRY_H

#include <stdlib.h>
#include <string.h>

#include "fabric/internal.h"
#include "tests/tkey.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ | \
		 VHCA_ACCESS_REMOTE_ATOMIC | VHCA_ACCESS_FLUSH_GLOBAL)
#define REGION	600000u

struct fixture {
	struct tpair p;
	struct tmr l, r;
};

static inline void setup(struct fixture *f, u8 mtu, u32 psn)
{
	t_pair_init(&f->p, mtu, psn, 0xfffffa);
	t_mr_init(&f->p.h[0], &f->l, 1ull << 40, REGION, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 1ull << 41, REGION, RW, 1, 12);
	t_mr_fill(&f->l, 1);
	t_mr_fill(&f->r, 2);
}

static inline void done(struct fixture *f)
{
	t_pair_fini(&f->p);
}

#endif /* VHCAD_TESTS_RC_RETRY_H */
