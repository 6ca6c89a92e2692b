/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by admin_test.c, qp_admin_test.c and refuse_test.c.
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

static inline int setup_as(void **state, const struct vdev_config *config)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_world_init(&f.w);
	t_hca_init_cfg(&f.h, &f.w, config);
	t_expect_event(&f.h, VHCA_EV_PORT_ACTIVE, 0);
	t_cq_init(&f.h, &f.cq, 4, 0);
	t_qp_init(&f.h, &f.qp, &f.cq, &f.cq);
	*state = &f;
	return 0;
}

static inline int setup(void **state)
{
	return setup_as(state, &cfg);
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	t_hca_fini(&f->h);
	t_world_fini(&f->w);
	return 0;
}

#endif /* VHCAD_TESTS_ADMIN_H */
