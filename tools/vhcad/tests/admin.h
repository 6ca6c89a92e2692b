/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What admin_test.c and qp_admin_test.c share.
 */
#ifndef VHCAD_TESTS_ADMIN_H
#define VHCAD_TESTS_ADMIN_H

#include <string.h>

#include "tests/spoil.h"
#include "tests/thca.h"

#define REQ_OFF(type, f)	(offsetof(struct vhca_asqe, req) + offsetof(struct type, f))

static const struct vdev_config cfg = {
	.name = "t", .node_guid = 0xabc00, .ports = 2, .vectors = 4,
};

struct fixture {
	struct tworld w;
	struct thca h;
	struct tcq cq;
	struct tqp qp;
};

static inline int setup(void **state)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_world_init(&f.w);
	t_hca_init_cfg(&f.h, &f.w, &cfg);
	t_expect_event(&f.h, VHCA_EV_PORT_ACTIVE, 0);
	t_cq_init(&f.h, &f.cq, 4, 0);
	t_qp_init(&f.h, &f.qp, &f.cq, &f.cq);
	*state = &f;
	return 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	t_hca_fini(&f->h);
	t_world_fini(&f->w);
	return 0;
}

static inline void refused(struct thca *h, u32 have, u32 want, u32 field)
{
	assert_int_equal(have, want);
	assert_int_equal(h->bad_field, field);
}

#endif /* VHCAD_TESTS_ADMIN_H */
