// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A device without hardware on which programs post and poll through the kernel, which vhca does not
 * offer. What is posted to a QP completes at once; receives of an SRQ are counted and stay there.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_ioctl.h>

#define ENTRIES	16	/* of each CQ */

static unsigned int shared_receives;
module_param(shared_receives, uint, 0444);
MODULE_PARM_DESC(shared_receives, "receives that were posted to SRQs");

struct ufake_cq {
	struct ib_cq ib;
	spinlock_t lock;		/* protects what follows */
	struct ib_wc ring[ENTRIES];
	unsigned int taken;
	unsigned int made;
};

static struct ib_device *dev;

static struct ufake_cq *cq_of(struct ib_cq *ib)
{
	return container_of(ib, struct ufake_cq, ib);
}

/* ---- device and port ---- */

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->max_qp = 64;
	attr->max_cq = 64;
	attr->max_cqe = ENTRIES;
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 1;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_USNIC;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 1;
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port, int index, union ib_gid *gid)
{
	memset(gid, 0, sizeof(*gid));
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	*pkey = IB_DEFAULT_PKEY_FULL;
	return 0;
}

/* ---- objects that only are there ---- */

static int alloc_ucontext(struct ib_ucontext *context, struct ib_udata *udata)
{
	return 0;
}

static void dealloc_ucontext(struct ib_ucontext *context)
{
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int create_srq(struct ib_srq *srq, struct ib_srq_init_attr *attr, struct ib_udata *udata)
{
	return 0;
}

static int destroy_srq(struct ib_srq *srq, struct ib_udata *udata)
{
	return 0;
}

static struct ib_dm *alloc_dm(struct ib_device *ib, struct ib_ucontext *context,
			      struct ib_dm_alloc_attr *attr, struct uverbs_attr_bundle *attrs)
{
	struct ib_dm *dm = kzalloc(sizeof(*dm), GFP_KERNEL);

	return dm ?: ERR_PTR(-ENOMEM);
}

static int dealloc_dm(struct ib_dm *dm, struct uverbs_attr_bundle *attrs)
{
	kfree(dm);
	return 0;
}

static struct ib_mr *reg_dm_mr(struct ib_pd *pd, struct ib_dm *dm, struct ib_dm_mr_attr *attr,
			       struct uverbs_attr_bundle *attrs)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ?: ERR_PTR(-ENOMEM);
}

static struct ib_mr *reg_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 va, int access,
				 struct ib_udata *udata)
{
	struct ib_mr *mr = kzalloc(sizeof(*mr), GFP_KERNEL);

	return mr ?: ERR_PTR(-ENOMEM);
}

static int dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	kfree(mr);
	return 0;
}

static int advise_mr(struct ib_pd *pd, enum ib_uverbs_advise_mr_advice advice, u32 flags,
		     struct ib_sge *list, u32 num, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

/* ---- queues ---- */

static int create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		     struct uverbs_attr_bundle *attrs)
{
	spin_lock_init(&cq_of(ib)->lock);
	ib->cqe = ENTRIES;
	return 0;
}

static int destroy_cq(struct ib_cq *ib, struct ib_udata *udata)
{
	return 0;
}

static int req_notify_cq(struct ib_cq *ib, enum ib_cq_notify_flags flags)
{
	return 0;
}

static int poll_cq(struct ib_cq *ib, int room, struct ib_wc *wc)
{
	struct ufake_cq *cq = cq_of(ib);
	int i;

	guard(spinlock)(&cq->lock);
	for (i = 0; i < room && cq->taken != cq->made; i++)
		wc[i] = cq->ring[cq->taken++ % ENTRIES];
	return i;
}

static int complete_one(struct ib_cq *ib, struct ib_qp *qp, u64 wr_id, enum ib_wc_opcode opcode)
{
	struct ufake_cq *cq = cq_of(ib);

	guard(spinlock)(&cq->lock);
	if (cq->made - cq->taken == ENTRIES)
		return -ENOMEM;
	cq->ring[cq->made++ % ENTRIES] = (struct ib_wc){
		.wr_id = wr_id, .qp = qp, .opcode = opcode, .port_num = 1,
	};
	return 0;
}

static int create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	qp->qp_num = 2;
	return 0;
}

static int modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	return 0;
}

/* Completions name their QP, so they go with it. */
static void forget_completions(struct ib_cq *ib, const struct ib_qp *qp)
{
	struct ufake_cq *cq = cq_of(ib);
	unsigned int from, to;

	guard(spinlock)(&cq->lock);
	for (from = to = cq->taken; from != cq->made; from++)
		if (cq->ring[from % ENTRIES].qp != qp)
			cq->ring[to++ % ENTRIES] = cq->ring[from % ENTRIES];
	cq->made = to;
}

static int destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	forget_completions(qp->send_cq, qp);
	forget_completions(qp->recv_cq, qp);
	return 0;
}

static int post_send(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = complete_one(qp->send_cq, qp, wr->wr_id, IB_WC_SEND);
	}
	return ret;
}

static int post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	int ret = 0;

	for (; wr && !ret; wr = wr->next) {
		*bad = wr;
		ret = complete_one(qp->recv_cq, qp, wr->wr_id, IB_WC_RECV);
	}
	return ret;
}

static int post_srq_recv(struct ib_srq *srq, const struct ib_recv_wr *wr,
			 const struct ib_recv_wr **bad)
{
	for (; wr; wr = wr->next)
		shared_receives++;
	return 0;
}

static const struct ib_device_ops ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = 1,
	.query_device = query_device,
	.get_port_immutable = get_port_immutable,
	.query_port = query_port,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.alloc_ucontext = alloc_ucontext,
	.dealloc_ucontext = dealloc_ucontext,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_srq = create_srq,
	.destroy_srq = destroy_srq,
	.alloc_dm = alloc_dm,
	.dealloc_dm = dealloc_dm,
	.reg_dm_mr = reg_dm_mr,
	.reg_user_mr = reg_user_mr,
	.dereg_mr = dereg_mr,
	.advise_mr = advise_mr,
	.create_cq = create_cq,
	.destroy_cq = destroy_cq,
	.req_notify_cq = req_notify_cq,
	.poll_cq = poll_cq,
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.destroy_qp = destroy_qp,
	.post_send = post_send,
	.post_recv = post_recv,
	.post_srq_recv = post_srq_recv,
	.size_ib_ucontext = sizeof(struct ib_ucontext),
	.size_ib_pd = sizeof(struct ib_pd),
	.size_ib_cq = sizeof(struct ufake_cq),
	.size_ib_qp = sizeof(struct ib_qp),
	.size_ib_srq = sizeof(struct ib_srq),
};

static int __init ufake_init(void)
{
	int ret;

	dev = _ib_alloc_device(sizeof(*dev));
	if (!dev)
		return -ENOMEM;
	dev->node_type = RDMA_NODE_USNIC;
	dev->phys_port_cnt = 1;
	dev->num_comp_vectors = 1;
	dev->uverbs_cmd_mask |= BIT_ULL(IB_USER_VERBS_CMD_POLL_CQ) |
				BIT_ULL(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ) |
				BIT_ULL(IB_USER_VERBS_CMD_POST_SEND) |
				BIT_ULL(IB_USER_VERBS_CMD_POST_RECV) |
				BIT_ULL(IB_USER_VERBS_CMD_POST_SRQ_RECV);
	ib_set_device_ops(dev, &ops);
	ret = ib_register_device(dev, "ufake%d", NULL);
	if (ret)
		ib_dealloc_device(dev);
	return ret;
}

static void __exit ufake_exit(void)
{
	ib_unregister_device(dev);
	ib_dealloc_device(dev);
}

module_init(ufake_init);
module_exit(ufake_exit);
MODULE_DESCRIPTION("Device on which programs post and poll through the kernel");
MODULE_LICENSE("Dual BSD/GPL");
