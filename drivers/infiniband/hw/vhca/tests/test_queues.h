/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel QP and its CQ on a device that the test plays: it reads the rings, writes completions,
 * valid and invalid ones, and dies.
 */
#ifndef VHCA_TEST_QUEUES_H
#define VHCA_TEST_QUEUES_H

#include <kunit/test.h>

#include "../hw/ring.h"
#include "../verbs/cq.h"
#include "../verbs/qp.h"
#include "vhca_test.h"

#define BENCH_QPN		0x20005
#define BENCH_CQ_LOG		4
#define BENCH_SQ_LOG		3	/* blocks */
#define BENCH_RQ_LOG		2	/* strides */
#define BENCH_STRIDE		64
#define BENCH_RECV_LEN		96
#define BENCH_INLINE_MAX	(4 * VHCA_WQE_BLOCK)

/**
 * struct bench - what a test has; kunit->priv
 * @test: the test
 * @dev: the device, filled in as far as the queues need it
 * @uar: its doorbell area
 * @cq: CQ of both queues
 * @cqk: its kernel part
 * @qp: an RC QP
 * @qpk: its kernel part
 * @pi: number of completions written
 * @called: number of calls of the completion handler
 */
struct bench {
	struct kunit *test;
	struct vhca_dev dev;
	struct vhca_uar uar;
	struct vhca_cq cq;
	struct vhca_cq_kernel cqk;
	struct vhca_qp qp;
	struct vhca_qp_kernel qpk;
	u64 pi;
	unsigned int called;
};

int bench_init(struct kunit *test);
void bench_make_qp(struct bench *b, struct vhca_qp *qp, struct vhca_qp_kernel *kernel,
		   enum ib_qp_type type, u8 port, u32 qpn);
void bench_free_qp(struct vhca_qp *qp);
void bench_exit(struct kunit *test);
int bench_send(struct bench *b, u64 wr_id, int nsge);
int bench_recv(struct bench *b, u64 wr_id);
void bench_complete(struct bench *b, struct vhca_cqe cqe);
struct vhca_cqe bench_done(u32 index, u8 flags);
int bench_poll(struct bench *b, int n, struct ib_wc *wc);
void bench_expect_lies(struct bench *b);

#endif /* VHCA_TEST_QUEUES_H */
