/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For the suites of kernel verbs: a driver that counts its objects, and whose calls a
 * test can make fail.
 */
#ifndef CORE_TEST_VERBS_H
#define CORE_TEST_VERBS_H

#include <kunit/test.h>
#include <rdma/ib_verbs.h>

/**
 * struct test_verbs - numbers of the driver's objects, results and arguments of its calls
 * @pds: PDs
 * @cqs: CQs
 * @qps: QPs
 * @mrs: MRs
 * @srqs: SRQs
 * @create: result of calls that make an object, 0 or an errno
 * @destroy: result of calls that destroy an object, 0 or an errno
 * @fuse: number of the creation, from 1 on, that fails with -ENOMEM; 0 for none
 * @modified: attributes of the last modification of a QP
 * @waiting: number of completions in each CQ
 * @armed: number of completions for which a CQ was last armed
 * @count: last moderation of a CQ: number of completions
 * @period: last moderation of a CQ: microseconds
 * @groups: number of attachments of QPs to multicast groups
 * @mlid: LID of the last group
 * @post: last send requests posted, in order
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
