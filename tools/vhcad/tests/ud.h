/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared by ud_test.c and ud_send_test.c.
 */
#ifndef VHCAD_TESTS_UD_H
#define VHCAD_TESTS_UD_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/capture.h"
#include "fabric/internal.h"
#include "tests/tcheck.h"
#include "tests/thca.h"

#define RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ)
#define QKEY	0x11223344u
#define GRH	40u

struct fixture {
	struct tpair p;
	struct tmr l, r;
};

static inline void setup(struct fixture *f)
{
	t_pair_init_ud(&f->p, QKEY);
	t_mr_init(&f->p.h[0], &f->l, 1ull << 40, 220000, RW, 1, 12);
	t_mr_init(&f->p.h[1], &f->r, 1ull << 41, 220000, RW, 1, 12);
	t_mr_fill(&f->l, 1);
	t_mr_fill(&f->r, 2);
}

static inline void done(struct fixture *f)
{
	t_pair_fini(&f->p);
}

static inline void post_recv(struct fixture *f, u64 wr_id, u32 off, u32 len)
{
	struct vhca_sge s = t_sge(&f->r, off, len);

	t_recv(&f->p.qp[1], wr_id, 1, &s);
}

static inline struct twr wr_to(struct fixture *f, u8 op, u64 wr_id, u32 off, u32 len)
{
	struct twr wr = t_wr(op, wr_id, &f->l, off, len, NULL, 0);

	wr.ud = t_ud_to(&f->p.qp[1], QKEY);
	return wr;
}

static inline void send(struct fixture *f, u64 wr_id, u32 off, u32 len)
{
	struct twr wr = wr_to(f, VHCA_OP_SEND, wr_id, off, len);

	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], wr_id, VHCA_CS_SUCCESS);
}

#define EXPECT_COUNT(f, member, n) do {						\
	assert_int_equal(t_stats(&(f)->p.h[1]).member, n);			\
	t_expect_no_cqe(&(f)->p.cq[1]);						\
} while (0)

#endif /* VHCAD_TESTS_UD_H */
