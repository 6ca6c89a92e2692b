// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The driver of test_verbs.h.
 */
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include "test_verbs.h"

struct test_verbs test_verbs;

/**
 * test_verbs_made() - account for a driver call that makes an object
 * @count: number of such objects
 *
 * Return: 0 or the error that the test has set.
 */
int test_verbs_made(int *count)
{
	if (test_verbs.create)
		return test_verbs.create;
	if (test_verbs.fuse && !--test_verbs.fuse)
		return -ENOMEM;
	(*count)++;
	return 0;
}

/**
 * test_verbs_gone() - account for a driver call that destroys an object
 * @count: number of such objects
 *
 * Return: 0 or the error that the test has set.
 */
int test_verbs_gone(int *count)
{
	if (!test_verbs.destroy)
		(*count)--;
	return test_verbs.destroy;
}

static int fake_alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return test_verbs_made(&test_verbs.pds);
}

static int fake_dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return test_verbs_gone(&test_verbs.pds);
}

static int fake_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			  struct uverbs_attr_bundle *attrs)
{
	cq->cqe = attr->cqe;
	return test_verbs_made(&test_verbs.cqs);
}

static int fake_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return test_verbs_gone(&test_verbs.cqs);
}

static int fake_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	qp->qp_num = 100 + test_verbs.qps;
	return test_verbs_made(&test_verbs.qps);
}

static int fake_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	test_verbs.modified = *attr;
	return test_verbs.create;
}

static int fake_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return test_verbs_gone(&test_verbs.qps);
}

static int fake_create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr,
			   struct ib_udata *udata)
{
	return test_verbs_made(&test_verbs.srqs);
}

static int fake_destroy_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	return test_verbs_gone(&test_verbs.srqs);
}

/**
 * test_verbs_mr() - make an MR as the driver does
 * @room: pages it can hold
 *
 * Return: the MR or an ERR_PTR.
 */
struct ib_mr *test_verbs_mr(u32 room)
{
	struct test_mr *mr;
	int ret = test_verbs_made(&test_verbs.mrs);

	if (ret)
		return ERR_PTR(ret);
	mr = kzalloc(struct_size(mr, page, room), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->room = room;
	mr->mr.lkey = (0x1200 + test_verbs.mrs) << 8;
	mr->mr.rkey = (0x3400 + test_verbs.mrs) << 8;
	return &mr->mr;
}

static struct ib_mr *fake_get_dma_mr(struct ib_pd *pd, int access)
{
	return test_verbs_mr(0);
}

static struct ib_mr *fake_alloc_mr(struct ib_pd *pd, enum ib_mr_type type, u32 max_num_sg)
{
	return test_verbs_mr(max_num_sg);
}

static int fake_set_page(struct ib_mr *ibmr, u64 address)
{
	struct test_mr *mr = container_of(ibmr, struct test_mr, mr);

	if (mr->used == mr->room)
		return -ENOMEM;
	mr->page[mr->used++] = address;
	return 0;
}

static int fake_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int nents,
			  unsigned int *sg_offset)
{
	struct test_mr *test_mr = container_of(mr, struct test_mr, mr);

	/* Some drivers count entries instead of pages. */
	if (nents > test_mr->room)
		return -ENOMEM;
	test_mr->used = 0;
	return ib_sg_to_pages(mr, sg, nents, sg_offset, fake_set_page);
}

static int fake_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	int ret = test_verbs_gone(&test_verbs.mrs);

	if (!ret)
		kfree(container_of(mr, struct test_mr, mr));
	return ret;
}

static int fake_post_send(struct ib_qp *qp, const struct ib_send_wr *wr,
			  const struct ib_send_wr **bad_wr)
{
	for (test_verbs.posts = 0; wr; wr = wr->next) {
		if (test_verbs.posts == ARRAY_SIZE(test_verbs.post))
			return -ENOMEM;
		test_verbs.post[test_verbs.posts++] = wr;
	}
	return 0;
}

static const struct ib_device_ops fake_ops = {
	.alloc_pd = fake_alloc_pd,
	.dealloc_pd = fake_dealloc_pd,
	.create_cq = fake_create_cq,
	.destroy_cq = fake_destroy_cq,
	.create_qp = fake_create_qp,
	.modify_qp = fake_modify_qp,
	.post_send = fake_post_send,
	.destroy_qp = fake_destroy_qp,
	.create_srq = fake_create_srq,
	.destroy_srq = fake_destroy_srq,
	.get_dma_mr = fake_get_dma_mr,
	.alloc_mr = fake_alloc_mr,
	.map_mr_sg = fake_map_mr_sg,
	.dereg_mr = fake_dereg_mr,
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_cq = sizeof(struct ib_cq),
	.size_ib_qp = sizeof(struct ib_qp),
	.size_ib_srq = sizeof(struct ib_srq),
};

/**
 * test_verbs_init() - begin a case: test->priv is a device that is not registered
 * @test: the case
 *
 * Return: 0
 */
int test_verbs_init(struct kunit *test)
{
	struct ib_device *device = _ib_alloc_device(sizeof(*device));

	KUNIT_ASSERT_NOT_NULL(test, device);
	memset(&test_verbs, 0, sizeof(test_verbs));
	ib_set_device_ops(device, &fake_ops);
	test->priv = device;
	return 0;
}

/**
 * test_verbs_exit() - end a case and reap the objects that are left
 * @test: the case; it fails if the driver still has an object afterwards
 */
void test_verbs_exit(struct kunit *test)
{
	struct ib_device *device = test->priv;

	KUNIT_EXPECT_EQ(test, 0, ib_reap_objects(device));
	KUNIT_EXPECT_EQ(test, 0, test_verbs.pds + test_verbs.cqs + test_verbs.qps +
			test_verbs.mrs + test_verbs.srqs);
	ib_dealloc_device(device);
}

/**
 * test_verbs_cq() - make a CQ of 16 entries
 * @device: device
 *
 * Return: the CQ or an ERR_PTR.
 */
struct ib_cq *test_verbs_cq(struct ib_device *device)
{
	struct ib_cq_init_attr attr = { .cqe = 16 };

	return ib_create_cq(device, NULL, NULL, NULL, &attr);
}

/**
 * test_verbs_qp_of() - make a QP
 * @type: type
 * @pd: PD
 * @cq: CQ of both queues
 * @srq: SRQ or NULL
 *
 * Return: the QP or an ERR_PTR.
 */
struct ib_qp *test_verbs_qp_of(enum ib_qp_type type, struct ib_pd *pd, struct ib_cq *cq,
			       struct ib_srq *srq)
{
	struct ib_qp_init_attr attr = {
		.qp_type = type, .send_cq = cq, .recv_cq = cq, .srq = srq,
		.cap = { .max_send_wr = 1, .max_send_sge = 3 },
	};

	return ib_create_qp(pd, &attr);
}

/**
 * test_verbs_qp() - make an RC QP
 * @pd: PD
 * @cq: CQ of both queues
 * @srq: SRQ or NULL
 *
 * Return: the QP or an ERR_PTR.
 */
struct ib_qp *test_verbs_qp(struct ib_pd *pd, struct ib_cq *cq, struct ib_srq *srq)
{
	return test_verbs_qp_of(IB_QPT_RC, pd, cq, srq);
}
