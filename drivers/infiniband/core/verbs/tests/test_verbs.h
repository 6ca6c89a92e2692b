/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the suites of kernel verbs share: a driver that only counts, and can be told
 * to refuse.
 */
#ifndef CORE_TEST_VERBS_H
#define CORE_TEST_VERBS_H

#include <kunit/test.h>
#include <rdma/ib_verbs.h>

/**
 * struct test_verbs - objects that the driver holds, and what it answers to each call
 * @pds: PDs
 * @cqs: CQs
 * @qps: QPs
 * @mrs: MRs
 * @srqs: SRQs
 * @create: answer to creations, 0 or an errno
 * @destroy: answer to destructions, 0 or an errno
 * @fuse: creation, counted from 1, that is refused with -ENOMEM; 0: none
 * @modified: what a QP was last modified to
 * @waiting: completions that wait in each CQ
 * @armed: count that a CQ was last armed for
 * @count: moderation of the last CQ
 * @period: the same
 * @groups: multicast groups that QPs are attached to
 * @mlid: LID of the last one
 * @post: send requests posted last, in order
 * @posts: their number
 */
struct test_verbs {
	int pds, cqs, qps, mrs, srqs;
	int create, destroy, fuse;
	struct ib_qp_attr modified;
	int waiting, armed;
	u16 count, period;
	int groups;
	u16 mlid;
	const struct ib_send_wr *post[16];
	unsigned int posts;
};

extern struct test_verbs test_verbs;

/**
 * struct test_mr - MR of the driver
 * @mr: as the core sees it
 * @room: pages it can hold
 * @used: pages it holds
 * @page: their addresses
 */
struct test_mr {
	struct ib_mr mr;
	u32 room, used;
	u64 page[];
};

int test_verbs_made(int *count);
int test_verbs_gone(int *count);
int test_verbs_init(struct kunit *test);
void test_verbs_exit(struct kunit *test);
struct ib_mr *test_verbs_mr(u32 room);
struct ib_cq *test_verbs_cq(struct ib_device *device);
struct ib_qp *test_verbs_qp_of(enum ib_qp_type type, struct ib_pd *pd, struct ib_cq *cq,
			       struct ib_srq *srq);
struct ib_qp *test_verbs_qp(struct ib_pd *pd, struct ib_cq *cq, struct ib_srq *srq);

#endif
