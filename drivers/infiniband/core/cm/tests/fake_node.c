// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See fake_net.h: the devices.
 */
#include <linux/module.h>

#include "fake_net.h"

struct fake_ah {
	struct ib_ah ib;
	struct rdma_ah_attr attr;
};

static struct fake_node *node_of(struct ib_device *ib)
{
	return container_of(ib, struct fake_node, ib);
}

/* ---- the devices ---- */

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->max_pkeys = 2;
	/* so that TIMEWAIT is short */
	attr->local_ca_ack_delay = 2;
	attr->kernel_cap_flags = IBK_LOCAL_DMA_LKEY;
	return 0;
}

static int get_port_immutable(struct ib_device *ib, u32 port_num,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = 1;
	immutable->pkey_tbl_len = 2;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB | RDMA_CORE_CAP_IB_CM;
	return 0;
}

static int query_port(struct ib_device *ib, u32 port_num, struct ib_port_attr *attr)
{
	attr->state = IB_PORT_ACTIVE;
	attr->lid = node_of(ib)->moved_to ?: node_of(ib)->lid;
	attr->gid_tbl_len = 1;
	attr->pkey_tbl_len = 2;
	return 0;
}

static int query_gid(struct ib_device *ib, u32 port_num, int index, union ib_gid *gid)
{
	gid->global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	gid->global.interface_id = cpu_to_be64(node_of(ib)->lid);
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port_num, u16 index, u16 *pkey)
{
	*pkey = index ? FAKE_PKEY : IB_DEFAULT_PKEY_FULL;
	return 0;
}

static int modify_port(struct ib_device *ib, u32 port_num, int mask, struct ib_port_modify *modify)
{
	struct fake_node *node = node_of(ib);

	node->caps |= modify->set_port_cap_mask;
	node->caps &= ~modify->clr_port_cap_mask;
	return 0;
}

static int alloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int dealloc_pd(struct ib_pd *pd, struct ib_udata *udata)
{
	return 0;
}

static int create_ah(struct ib_ah *ah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	struct fake_node *node = node_of(ah->device);

	container_of(ah, struct fake_ah, ib)->attr = *attr->ah_attr;
	atomic_inc(&node->ahs);
	atomic_inc(&node->ahs_made);
	if (node->on_ah_made)
		node->on_ah_made(node);
	return 0;
}

static int destroy_ah(struct ib_ah *ah, u32 flags)
{
	struct fake_node *node = node_of(ah->device);

	atomic_dec(&node->ahs);
	if (node->on_ah_gone)
		node->on_ah_gone(node);
	return 0;
}

/* The rest makes the device one for kernel consumers; nobody calls it. */
static struct ib_mr *no_mr(struct ib_pd *pd, int access)
{
	return ERR_PTR(-EIO);
}

static struct ib_mr *no_user_mr(struct ib_pd *pd, u64 start, u64 length, u64 va, int access,
				struct ib_udata *udata)
{
	return ERR_PTR(-EIO);
}

static int no_dereg_mr(struct ib_mr *mr, struct ib_udata *udata)
{
	return -EIO;
}

static int no_create_cq(struct ib_cq *cq, const struct ib_cq_init_attr *attr,
			struct uverbs_attr_bundle *attrs)
{
	return -EIO;
}

static int no_destroy_cq(struct ib_cq *cq, struct ib_udata *udata)
{
	return -EIO;
}

static int no_poll_cq(struct ib_cq *cq, int room, struct ib_wc *wc)
{
	return -EIO;
}

static int no_notify(struct ib_cq *cq, enum ib_cq_notify_flags flags)
{
	return -EIO;
}

static int no_create_qp(struct ib_qp *qp, struct ib_qp_init_attr *attr, struct ib_udata *udata)
{
	return -EIO;
}

static int no_modify_qp(struct ib_qp *qp, struct ib_qp_attr *attr, int mask,
			struct ib_udata *udata)
{
	return -EIO;
}

static int no_destroy_qp(struct ib_qp *qp, struct ib_udata *udata)
{
	return -EIO;
}

static int no_send(struct ib_qp *qp, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	return -EIO;
}

static int post_recv(struct ib_qp *qp, const struct ib_recv_wr *wr, const struct ib_recv_wr **bad)
{
	struct fake_node *node = node_of(qp->device);

	if (!node->recvs_left)
		return -ENOMEM;
	node->recvs_left--;
	return 0;
}

static const struct ib_device_ops fake_ops = {
	.owner = THIS_MODULE,
	.get_dma_mr = no_mr,
	.reg_user_mr = no_user_mr,
	.dereg_mr = no_dereg_mr,
	.create_cq = no_create_cq,
	.destroy_cq = no_destroy_cq,
	.poll_cq = no_poll_cq,
	.req_notify_cq = no_notify,
	.create_qp = no_create_qp,
	.modify_qp = no_modify_qp,
	.destroy_qp = no_destroy_qp,
	.post_send = no_send,
	.post_recv = post_recv,
	.size_ib_cq = sizeof(struct ib_cq),
	.size_ib_qp = sizeof(struct ib_qp),
	.query_device = query_device,
	.get_port_immutable = get_port_immutable,
	.query_port = query_port,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.modify_port = modify_port,
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.create_ah = create_ah,
	.create_user_ah = create_ah,
	.destroy_ah = destroy_ah,
	.size_ib_pd = sizeof(struct ib_pd),
	INIT_RDMA_OBJ_SIZE(ib_ah, fake_ah, ib),
};

/**
 * fake_node_alloc() - make a device that is not registered
 * @net: its net
 * @lid: of its port
 *
 * Return: the device, for ib_dealloc_device(); or NULL.
 */
struct fake_node *fake_node_alloc(struct fake_net *net, u16 lid)
{
	struct fake_node *node = ib_alloc_device(fake_node, ib);

	if (!node)
		return NULL;
	node->net = net;
	node->lid = lid;
	node->ib.node_type = RDMA_NODE_IB_CA;
	node->ib.phys_port_cnt = 1;
	node->ib.num_comp_vectors = 1;
	node->ib.node_guid = cpu_to_be64((u64)net->number << 16 | lid);
	ib_set_device_ops(&node->ib, &fake_ops);
	return node;
}

/* Where an address handle of a fake device leads */
u32 fake_ah_dlid(struct ib_ah *ah)
{
	return rdma_ah_get_dlid(&container_of(ah, struct fake_ah, ib)->attr);
}
