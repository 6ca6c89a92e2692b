// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: PD, CQ, QP, MR and SRQ of kernel consumers.
 */
#include <kunit/test.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <rdma/mr_pool.h>
#include <rdma/rdma_ext.h>
#include "test_verbs.h"
#include "../verbs_priv.h"

static int fake_modify_cq(struct ib_cq *cq, u16 count, u16 period)
{
	test_verbs.count = count;
	test_verbs.period = period;
	return test_verbs.create;
}

static int fake_resize_cq(struct ib_cq *cq, int cqe, struct ib_udata *udata)
{
	if (!test_verbs.create)
		cq->cqe = cqe;
	return test_verbs.create;
}

static int fake_peek_cq(struct ib_cq *cq, int wc_cnt)
{
	return min(wc_cnt, test_verbs.waiting);
}

static int fake_req_ncomp(struct ib_cq *cq, int wc_cnt)
{
	test_verbs.armed = wc_cnt;
	return test_verbs.waiting >= wc_cnt;
}

static const struct rdma_ext_ops fake_ext = {
	.req_ncomp_notif = fake_req_ncomp,
};

/* Calls that not every device has. */
static const struct ib_device_ops fake_cq_ops = {
	.modify_cq = fake_modify_cq,
	.resize_cq = fake_resize_cq,
	.peek_cq = fake_peek_cq,
	.ext = &fake_ext,
};

static int fake_attach(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	test_verbs.mlid = lid;
	return test_verbs_made(&test_verbs.groups);
}

static int fake_detach(struct ib_qp *qp, union ib_gid *gid, u16 lid)
{
	return test_verbs_gone(&test_verbs.groups);
}

static const struct ib_device_ops fake_mcast_ops = {
	.attach_mcast = fake_attach,
	.detach_mcast = fake_detach,
};

static void pd_keys(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd;

	/* If the device has no reserved lkey, the PD gets an MR of the core. */
	pd = ib_alloc_pd(device, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, 1, test_verbs.mrs);
	KUNIT_EXPECT_EQ(test, 0x120100, pd->local_dma_lkey);
	/* That MR is neither counted as user of the PD nor tracked. */
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pd->usecnt));
	KUNIT_EXPECT_EQ(test, 0, rdma_restrack_count(device, RDMA_RESTRACK_MR, true));
	ib_dealloc_pd(pd);
	KUNIT_EXPECT_EQ(test, 0, test_verbs.mrs);

	device->attrs.kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	device->local_dma_lkey = 0xabc;
	pd = ib_alloc_pd(device, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, 0, test_verbs.mrs);
	KUNIT_EXPECT_EQ(test, 0xabc, pd->local_dma_lkey);
	ib_dealloc_pd(pd);

	pd = ib_alloc_pd(device, IB_PD_UNSAFE_GLOBAL_RKEY);
	KUNIT_ASSERT_FALSE(test, IS_ERR(pd));
	KUNIT_EXPECT_EQ(test, 0xabc, pd->local_dma_lkey);
	KUNIT_EXPECT_EQ(test, 0x340100, pd->unsafe_global_rkey);
	ib_dealloc_pd(pd);
}

static struct ib_mr *no_dma_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-ENOSPC);
}

static void pd_without_keys(struct kunit *test)
{
	struct ib_device *device = test->priv;

	device->ops.get_dma_mr = no_dma_mr;
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(ib_alloc_pd(device, 0)));
	KUNIT_EXPECT_EQ(test, 0, test_verbs.pds);
}

static void parents(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_srq_init_attr srq_attr = { .srq_type = IB_SRQT_BASIC };
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_cq *cq = test_verbs_cq(device);
	struct ib_srq *srq = ib_create_srq(pd, &srq_attr);
	struct ib_qp *qp = test_verbs_qp(pd, cq, srq);
	struct ib_mr *mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4);

	KUNIT_EXPECT_EQ(test, 3, atomic_read(&pd->usecnt));
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&cq->usecnt));
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&srq->usecnt));
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_dealloc_pd_user(pd, NULL));
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_destroy_cq_user(cq, NULL));
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_destroy_srq_user(srq, NULL));

	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(qp));
	ib_destroy_cq(cq);
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_srq_user(srq, NULL));
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_dealloc_pd_user(pd, NULL));
	KUNIT_EXPECT_EQ(test, 0, ib_dereg_mr(mr));
	ib_dealloc_pd(pd);
}

static void refused_creation_leaves_nothing(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_cq *cq = test_verbs_cq(device);

	test_verbs.create = -ENOSPC;
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(ib_alloc_pd(device, 0)));
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(test_verbs_cq(device)));
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(test_verbs_qp(pd, cq, NULL)));
	KUNIT_EXPECT_EQ(test, -ENOSPC, PTR_ERR(ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4)));
	test_verbs.create = 0;
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&pd->usecnt));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&cq->usecnt));
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
}

static void refused_destruction_keeps_all(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_cq *cq = test_verbs_cq(device);
	struct ib_qp *qp = test_verbs_qp(pd, cq, NULL);
	struct ib_mr *mr = ib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, 4);
	struct rdma_restrack_entry *res;

	test_verbs.destroy = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_destroy_qp(qp));
	KUNIT_EXPECT_EQ(test, -EIO, ib_dereg_mr(mr));
	KUNIT_EXPECT_EQ(test, 4, __ib_reap_objects(device, KBUILD_MODNAME));
	test_verbs.destroy = 0;
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&pd->usecnt));
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&cq->usecnt));
	/* Resource tracking knows a QP by its number. */
	res = rdma_restrack_get_byid(device, RDMA_RESTRACK_QP, qp->qp_num);
	KUNIT_ASSERT_FALSE(test, IS_ERR(res));
	KUNIT_EXPECT_PTR_EQ(test, &qp->res, res);
	KUNIT_EXPECT_TRUE(test, rdma_is_kernel_res(res));
	rdma_restrack_put(res);
	/* The other objects are reaped when the case ends. */
}

static void qp_of_kernel(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_cq *cq = test_verbs_cq(device);
	struct ib_qp *qp;

	device->attrs.max_sge_rd = 2;
	qp = test_verbs_qp(pd, cq, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, 3, qp->max_write_sge);
	KUNIT_EXPECT_EQ(test, 2, qp->max_read_sge);
	KUNIT_EXPECT_PTR_EQ(test, qp, qp->real_qp);
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(qp));
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
}

static void mr_pool(struct kunit *test)
{
	struct ib_pd *pd = ib_alloc_pd(test->priv, 0);
	struct ib_cq *cq = test_verbs_cq(test->priv);
	struct ib_qp *qp = test_verbs_qp(pd, cq, NULL);
	struct ib_mr *mr[3];

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			ib_mr_pool_init(qp, &qp->sig_mrs, 2, IB_MR_TYPE_INTEGRITY, 4, 4));
	KUNIT_EXPECT_EQ(test, 0, ib_mr_pool_init(qp, &qp->rdma_mrs, 2, IB_MR_TYPE_MEM_REG, 4, 0));
	for (unsigned int i = 0; i < ARRAY_SIZE(mr); i++)
		mr[i] = ib_mr_pool_get(qp, &qp->rdma_mrs);
	KUNIT_EXPECT_EQ(test, 2, qp->mrs_used);
	/* MRs of the pool cannot be deregistered, including those that are taken. */
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_dereg_mr(mr[0]));
	KUNIT_EXPECT_PTR_NE(test, mr[0], mr[1]);
	KUNIT_EXPECT_PTR_EQ(test, NULL, mr[2]);
	ib_mr_pool_put(qp, &qp->rdma_mrs, mr[0]);
	ib_mr_pool_put(qp, &qp->rdma_mrs, mr[1]);
	/* The MR that was returned last is taken first. */
	KUNIT_EXPECT_PTR_EQ(test, mr[1], ib_mr_pool_get(qp, &qp->rdma_mrs));
	ib_mr_pool_put(qp, &qp->rdma_mrs, mr[1]);
	ib_mr_pool_destroy(qp, &qp->rdma_mrs);
	KUNIT_EXPECT_EQ(test, 0, qp->mrs_used);
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(qp));
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
}

/* MRs left in a pool are deregistered with its QP, and are not reaped before. */
static void mr_pool_reaped(struct kunit *test)
{
	struct ib_pd *pd = ib_alloc_pd(test->priv, 0);
	struct ib_cq *cq = test_verbs_cq(test->priv);
	struct ib_qp *qp = test_verbs_qp(pd, cq, NULL);

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	test_verbs.fuse = 2;
	KUNIT_EXPECT_EQ(test, -ENOMEM,
			ib_mr_pool_init(qp, &qp->rdma_mrs, 3, IB_MR_TYPE_MEM_REG, 4, 0));
	KUNIT_EXPECT_TRUE(test, list_empty(&qp->rdma_mrs));
	KUNIT_EXPECT_TRUE(test, list_empty(&qp->pool_mrs));
	KUNIT_EXPECT_EQ(test, 0, ib_mr_pool_init(qp, &qp->rdma_mrs, 3, IB_MR_TYPE_MEM_REG, 4, 0));
	/* All objects are reaped when the case ends. */
}

static enum rdma_link_layer eth_on_port_1(struct ib_device *device, u32 port)
{
	return port == 1 ? IB_LINK_LAYER_ETHERNET : IB_LINK_LAYER_INFINIBAND;
}

/* Modifications that the core passes to the driver, on two InfiniBand ports. */
static void qp_modified(struct kunit *test)
{
	struct ib_qp_attr attr = { .port_num = 2, .rq_psn = 0xff123456, .sq_psn = 0x1654321 };
	const int identity = IB_QP_PORT | IB_QP_RQ_PSN | IB_QP_SQ_PSN;
	struct ib_device *device = test->priv;
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_cq *cq = test_verbs_cq(device);
	struct ib_qp *qp = test_verbs_qp(pd, cq, NULL);
	struct ib_port_data ports[3] = {};

	KUNIT_ASSERT_FALSE(test, IS_ERR(qp));
	for (int port = 1; port <= 2; port++)
		ports[port].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	device->phys_port_cnt = 2;
	device->port_data = ports;

	/* After a refused modification the QP still has its port. */
	test_verbs.create = -EINVAL;
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_modify_qp(qp, &attr, identity));
	KUNIT_EXPECT_EQ(test, 0, qp->port);
	test_verbs.create = 0;

	/* PSNs are cut to 24 bits; see Documentation/core/verbs.rst. */
	KUNIT_EXPECT_EQ(test, 0, ib_modify_qp(qp, &attr, identity));
	KUNIT_EXPECT_EQ(test, 2, qp->port);
	KUNIT_EXPECT_EQ(test, 0x123456, test_verbs.modified.rq_psn);
	KUNIT_EXPECT_EQ(test, 0x654321, test_verbs.modified.sq_psn);
	/* A PSN that the mask does not name is not changed. */
	attr.rq_psn = 0xff123456;
	KUNIT_EXPECT_EQ(test, 0, ib_modify_qp(qp, &attr, IB_QP_SQ_PSN));
	KUNIT_EXPECT_EQ(test, 0xff123456, test_verbs.modified.rq_psn);

	/* Address vectors must name a port of the device. */
	attr.ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	attr.ah_attr.port_num = 2;
	KUNIT_EXPECT_EQ(test, 0, ib_modify_qp(qp, &attr, IB_QP_AV));
	KUNIT_EXPECT_PTR_EQ(test, NULL, qp->av_sgid_attr);
	attr.ah_attr.port_num = 3;
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_modify_qp(qp, &attr, IB_QP_AV));
	/* They must have a GRH if the port requires one. */
	ports[1].immutable.core_cap_flags |= RDMA_CORE_CAP_IB_GRH_REQUIRED;
	attr.ah_attr.port_num = 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_modify_qp(qp, &attr, IB_QP_AV));

	/* Alternate paths need InfiniBand ports. */
	attr.alt_ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	attr.alt_ah_attr.port_num = 2;
	KUNIT_EXPECT_EQ(test, 0, ib_modify_qp(qp, &attr, IB_QP_ALT_PATH));
	ports[2].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IWARP;
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_modify_qp(qp, &attr, IB_QP_ALT_PATH));

	device->port_data = NULL;
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(qp));
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
}

static void mcast(struct kunit *test)
{
	union ib_gid group = { .raw = { 0xff, 0x12, [15] = 1 } };
	union ib_gid single = { .raw = { 0xfe, 0x80 } };
	struct ib_device *device = test->priv;
	struct ib_pd *pd = ib_alloc_pd(device, 0);
	struct ib_cq *cq = test_verbs_cq(device);
	struct ib_qp *rc = test_verbs_qp(pd, cq, NULL);
	struct ib_qp *ud = test_verbs_qp_of(IB_QPT_UD, pd, cq, NULL);
	struct ib_port_data ports[3] = {};

	KUNIT_ASSERT_FALSE(test, IS_ERR(rc) || IS_ERR(ud));
	for (int port = 1; port <= 2; port++)
		ports[port].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	device->node_type = RDMA_NODE_IB_CA;
	device->phys_port_cnt = 2;
	device->port_data = ports;

	/* The device has no multicast. */
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_attach_mcast(ud, &group, 0xc001));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_detach_mcast(ud, &group, 0xc001));
	ib_set_device_ops(device, &fake_mcast_ops);

	KUNIT_EXPECT_EQ(test, -EINVAL, ib_attach_mcast(ud, &single, 0xc001));
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_attach_mcast(rc, &group, 0xc001));
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_attach_mcast(ud, &group, 0xbfff));
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_attach_mcast(ud, &group, 0xffff));
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_detach_mcast(ud, &single, 0xc001));
	test_verbs.create = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOMEM, ib_attach_mcast(ud, &group, 0xc001));
	test_verbs.create = 0;
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&ud->usecnt));

	/* Each attachment keeps the QP, also one that the driver refused to end. */
	KUNIT_EXPECT_EQ(test, 0, ib_attach_mcast(ud, &group, 0xc000));
	KUNIT_EXPECT_EQ(test, 0, ib_attach_mcast(ud, &group, 0xfffe));
	KUNIT_EXPECT_EQ(test, -EBUSY, ib_destroy_qp(ud));
	test_verbs.destroy = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, ib_detach_mcast(ud, &group, 0xc000));
	test_verbs.destroy = 0;
	KUNIT_EXPECT_EQ(test, 2, atomic_read(&ud->usecnt));
	KUNIT_EXPECT_EQ(test, 0, ib_detach_mcast(ud, &group, 0xc000));
	KUNIT_EXPECT_EQ(test, 0, ib_detach_mcast(ud, &group, 0xfffe));

	/* The LID is ignored if the QP may be assigned an Ethernet port. */
	ports[1].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_ROCE;
	device->ops.get_link_layer = eth_on_port_1;
	KUNIT_EXPECT_EQ(test, 0, ib_attach_mcast(ud, &group, 0));
	KUNIT_EXPECT_EQ(test, 0, ib_detach_mcast(ud, &group, 0));
	ud->port = 2;
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_attach_mcast(ud, &group, 0));
	ud->port = 1;
	KUNIT_EXPECT_EQ(test, 0, ib_attach_mcast(ud, &group, 1));
	KUNIT_EXPECT_EQ(test, 1, test_verbs.mlid);
	KUNIT_EXPECT_EQ(test, 0, ib_detach_mcast(ud, &group, 1));
	KUNIT_EXPECT_EQ(test, 0, test_verbs.groups);

	device->port_data = NULL;
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(ud));
	KUNIT_EXPECT_EQ(test, 0, ib_destroy_qp(rc));
	ib_destroy_cq(cq);
	ib_dealloc_pd(pd);
}

static void cq_features(struct kunit *test)
{
	struct ib_device *device = test->priv;
	struct ib_cq *cq = test_verbs_cq(device);

	KUNIT_ASSERT_FALSE(test, IS_ERR(cq));
	/* The device does not have these calls. */
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_resize_cq(cq, 32));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, rdma_set_cq_moderation(cq, 4, 5));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_peek_cq(cq, 1));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, ib_req_ncomp_notif(cq, 1));

	ib_set_device_ops(device, &fake_cq_ops);
	KUNIT_EXPECT_EQ(test, 0, ib_modify_cq(cq, 4, 5));
	KUNIT_EXPECT_EQ(test, 4, test_verbs.count);
	KUNIT_EXPECT_EQ(test, 5, test_verbs.period);
	test_verbs.waiting = 3;
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_peek_cq(cq, 0));
	KUNIT_EXPECT_EQ(test, 2, ib_peek_cq(cq, 2));
	KUNIT_EXPECT_EQ(test, 3, ib_peek_cq(cq, 9));
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_req_ncomp_notif(cq, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_req_ncomp_notif(cq, 17));
	KUNIT_EXPECT_EQ(test, 0, test_verbs.armed);
	KUNIT_EXPECT_EQ(test, 0, ib_req_ncomp_notif(cq, 16));
	KUNIT_EXPECT_EQ(test, 16, test_verbs.armed);
	KUNIT_EXPECT_EQ(test, 1, ib_req_ncomp_notif(cq, 3));
	/* The count to arm for is limited by the size of the CQ, which a refused resize keeps. */
	test_verbs.create = -ENOMEM;
	KUNIT_EXPECT_EQ(test, -ENOMEM, ib_resize_cq(cq, 32));
	KUNIT_EXPECT_EQ(test, -EINVAL, ib_req_ncomp_notif(cq, 17));
	test_verbs.create = 0;
	KUNIT_EXPECT_EQ(test, 0, ib_resize_cq(cq, 32));
	KUNIT_EXPECT_EQ(test, 0, ib_req_ncomp_notif(cq, 17));
	ib_destroy_cq(cq);
}

/* ---- scatter lists ---- */

struct page_list {
	struct ib_mr mr;
	u64 pages[8];
	int used, room;
};

static int take_page(struct ib_mr *mr, u64 address)
{
	struct page_list *list = container_of(mr, struct page_list, mr);

	if (list->used == list->room)
		return -ENOMEM;
	list->pages[list->used++] = address;
	return 0;
}

struct sg_range {
	u64 address;
	unsigned int length;
};

/* Calls ib_sg_to_pages() for up to four ranges, with pages of 4 KiB. */
static int cut(struct page_list *list, const struct sg_range *in, int n, unsigned int *skip)
{
	struct scatterlist sgl[4];

	sg_init_table(sgl, n);
	for (int i = 0; i < n; i++) {
		sg_dma_address(&sgl[i]) = in[i].address;
		sg_dma_len(&sgl[i]) = in[i].length;
	}
	list->used = 0;
	list->mr.page_size = 4096;
	return ib_sg_to_pages(&list->mr, sgl, n, skip, take_page);
}

static void sg_whole_pages(struct kunit *test)
{
	static const struct sg_range in[] = { { 0x10800, 0x1800 }, { 0x40000, 0x1000 },
					      { 0x50000, 0x123 } };
	struct page_list list = { .room = 8 };

	KUNIT_EXPECT_EQ(test, 3, cut(&list, in, 3, NULL));
	KUNIT_EXPECT_EQ(test, 4, list.used);
	KUNIT_EXPECT_EQ(test, 0x10000, list.pages[0]);
	KUNIT_EXPECT_EQ(test, 0x11000, list.pages[1]);
	KUNIT_EXPECT_EQ(test, 0x40000, list.pages[2]);
	KUNIT_EXPECT_EQ(test, 0x50000, list.pages[3]);
	KUNIT_EXPECT_EQ(test, 0x10800, list.mr.iova);
	KUNIT_EXPECT_EQ(test, 0x1800 + 0x1000 + 0x123, list.mr.length);
}

static void sg_gaps_and_neighbours(struct kunit *test)
{
	static const struct sg_range gap[] = { { 0x10000, 0x800 }, { 0x40000, 0x1000 } };
	static const struct sg_range one_page[] = { { 0x10000, 0x800 }, { 0x10800, 0x400 },
						    { 0x10c00, 0x1400 }, { 0x70000, 0x10 } };
	struct page_list list = { .room = 8 };

	KUNIT_EXPECT_EQ(test, 1, cut(&list, gap, 2, NULL));
	KUNIT_EXPECT_EQ(test, 0x800, list.mr.length);

	KUNIT_EXPECT_EQ(test, 4, cut(&list, one_page, 4, NULL));
	KUNIT_EXPECT_EQ(test, 3, list.used);
	KUNIT_EXPECT_EQ(test, 0x11000, list.pages[1]);
	KUNIT_EXPECT_EQ(test, 0x70000, list.pages[2]);
	KUNIT_EXPECT_EQ(test, 0x2010, list.mr.length);
}

static void sg_full_and_offset(struct kunit *test)
{
	static const struct sg_range in[] = { { 0x10000, 0x1000 }, { 0x20000, 0x4000 } };
	struct page_list list = { .room = 3 };
	unsigned int skip = 0x100;

	/* Three pages hold the first range from byte 0x100 on and half of the second range. */
	KUNIT_EXPECT_EQ(test, 1, cut(&list, in, 2, &skip));
	KUNIT_EXPECT_EQ(test, 0x10100, list.mr.iova);
	KUNIT_EXPECT_EQ(test, 0xf00 + 0x2000, list.mr.length);
	KUNIT_EXPECT_EQ(test, 0x2000, skip);

	list.room = 0;
	skip = 0;
	KUNIT_EXPECT_EQ(test, -ENOMEM, cut(&list, in, 2, &skip));
	skip = 0x1001;
	KUNIT_EXPECT_EQ(test, -EINVAL, cut(&list, in, 2, &skip));
}

static void names_and_rates(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, "transport retry counter exceeded",
			   ib_wc_status_msg(IB_WC_RETRY_EXC_ERR));
	KUNIT_EXPECT_STREQ(test, "unrecognized status", ib_wc_status_msg(1000));
	KUNIT_EXPECT_STREQ(test, "last WQE reached", ib_event_msg(IB_EVENT_QP_LAST_WQE_REACHED));
	KUNIT_EXPECT_STREQ(test, "unrecognized event", ib_event_msg(-1));
	for (int rate = -1; rate < 64; rate++) {
		int mult = ib_rate_to_mult(rate), mbps = ib_rate_to_mbps(rate);

		KUNIT_EXPECT_EQ(test, mult < 0, mbps < 0);
		if (mult < 0)
			continue;
		KUNIT_EXPECT_EQ(test, rate, mult_to_ib_rate(mult));
		/* Multiples of 2.5 Gb/s are inexact for low rates of other signalling. */
		KUNIT_EXPECT_TRUE(test, abs(mult * 2500 - mbps) * 8 <= mbps);
	}
	KUNIT_EXPECT_EQ(test, IB_RATE_PORT_CURRENT, mult_to_ib_rate(3));
	KUNIT_EXPECT_EQ(test, IB_RATE_PORT_CURRENT, mult_to_ib_rate(0));
}

static struct kunit_case verbs_cases[] = {
	KUNIT_CASE(pd_keys),
	KUNIT_CASE(pd_without_keys),
	KUNIT_CASE(parents),
	KUNIT_CASE(refused_creation_leaves_nothing),
	KUNIT_CASE(refused_destruction_keeps_all),
	KUNIT_CASE(qp_of_kernel),
	KUNIT_CASE(mr_pool),
	KUNIT_CASE(mr_pool_reaped),
	KUNIT_CASE(qp_modified),
	KUNIT_CASE(mcast),
	KUNIT_CASE(cq_features),
	KUNIT_CASE(sg_whole_pages),
	KUNIT_CASE(sg_gaps_and_neighbours),
	KUNIT_CASE(sg_full_and_offset),
	KUNIT_CASE(names_and_rates),
	{}
};

static struct kunit_suite verbs_suite = {
	.name = "rdma-verbs",
	.init = test_verbs_init,
	.exit = test_verbs_exit,
	.test_cases = verbs_cases,
};

kunit_test_suite(verbs_suite);

MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
MODULE_DESCRIPTION("KUnit tests of kernel verbs");
MODULE_LICENSE("Dual BSD/GPL");
