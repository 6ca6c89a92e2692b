// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The device as a whole: what it can do, its ports and tables, and the tables of operations. */
#include <linux/sysfs.h>

#include "../cmd/cmd.h"
#include "verbs.h"

static int vhca_query_device(struct ib_device *ibdev, struct ib_device_attr *a,
			     struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibdev);
	const struct vhca_limits *l = &dev->hw.limits;
	int err;

	err = vhca_udata_none(dev, udata, "query_device");
	if (err)
		return err;

	memset(a, 0, sizeof(*a));
	a->fw_ver = l->fw_version;
	a->sys_image_guid = cpu_to_be64(l->sys_image_guid);
	a->max_mr_size = l->max_mr_size;
	a->page_size_cap = l->page_sizes;
	a->vendor_id = dev->fn->pdev->vendor;
	a->vendor_part_id = dev->fn->pdev->device;
	a->hw_ver = dev->fn->pdev->revision;
	a->max_qp = min_t(u32, l->max_qps, INT_MAX);
	/* of the largest requests: a send ring has room for more of small ones */
	a->max_qp_wr = min3(l->max_sq_blocks / VHCA_WQE_MAX_BLOCKS, l->max_rq_wr, (u32)INT_MAX);
	a->max_send_sge = l->max_send_sge;
	a->max_recv_sge = l->max_recv_sge;
	a->max_sge_rd = l->max_send_sge;
	a->max_cq = min_t(u32, l->max_cqs, INT_MAX);
	a->max_cqe = min_t(u32, l->max_cqe, INT_MAX);
	a->max_mr = min_t(u32, l->max_mkeys, INT_MAX);
	a->max_pd = min_t(u32, l->max_pds, INT_MAX);
	a->max_qp_rd_atom = l->max_rd_atomic;
	a->max_res_rd_atom = min_t(u64, (u64)l->max_rd_atomic * l->max_qps, INT_MAX);
	a->max_qp_init_rd_atom = l->max_init_rd_atomic;
	a->max_pkeys = dev->max_pkeys;
	a->local_ca_ack_delay = l->ack_delay;
	if (vhca_hw_has(&dev->hw, VHCA_CAP_CLOCK)) {
		a->timestamp_mask = U64_MAX;
		a->hca_core_clock = l->clock_khz;
	}
	vhca_offer_attr(dev, a);
	a->device_cap_flags |= vhca_ext_cap_flags();
	return 0;
}

static int vhca_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *p)
{
	struct vhca_dev *dev = to_vdev(ibdev);
	struct vhca_port_attr a;
	union ib_gid gid;
	int err;

	err = vhca_cmd_query_port(&dev->hw, port, &a) ?:
	      vhca_cmd_query_gid(&dev->hw, port, 0, gid.raw);
	if (err)
		return err;
	/* The core would take it from the last entry of the GID table, which may be empty. */
	p->subnet_prefix = be64_to_cpu(gid.global.subnet_prefix);
	p->state = a.state;
	p->phys_state = a.phys_state;
	p->max_mtu = a.max_mtu;
	p->active_mtu = a.active_mtu;
	p->phys_mtu = ib_mtu_enum_to_int(a.active_mtu);
	p->gid_tbl_len = le32_to_cpu(a.gid_entries);
	p->pkey_tbl_len = le32_to_cpu(a.pkey_entries);
	p->port_cap_flags = le32_to_cpu(a.cap_mask);
	p->max_msg_sz = le32_to_cpu(a.max_msg);
	p->bad_pkey_cntr = le32_to_cpu(a.pkey_viol);
	p->qkey_viol_cntr = le32_to_cpu(a.qkey_viol);
	p->lid = le16_to_cpu(a.lid);
	p->sm_lid = le16_to_cpu(a.sm_lid);
	p->lmc = a.lmc;
	p->max_vl_num = a.max_vl;
	p->sm_sl = a.sm_sl;
	p->subnet_timeout = a.subnet_timeout;
	p->init_type_reply = a.init_type_reply;
	p->active_width = a.active_width;
	p->active_speed = le16_to_cpu(a.active_speed);
	return 0;
}

static int vhca_get_port_immutable(struct ib_device *ibdev, u32 port,
				   struct ib_port_immutable *immutable)
{
	struct ib_port_attr attr = {};
	int err;

	err = vhca_query_port(ibdev, port, &attr);
	if (err)
		return err;
	immutable->pkey_tbl_len = attr.pkey_tbl_len;
	immutable->gid_tbl_len = attr.gid_tbl_len;
	/* Without management QPs there are no MADs, no SA and no CM: InfiniBand transport alone. */
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	return 0;
}

static enum rdma_link_layer vhca_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return IB_LINK_LAYER_INFINIBAND;
}

static int vhca_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	if (index < 0)
		return -EINVAL;
	return vhca_cmd_query_gid(&to_vdev(ibdev)->hw, port, index, gid->raw);
}

static int vhca_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	return vhca_cmd_query_pkey(&to_vdev(ibdev)->hw, port, index, pkey);
}

static int vhca_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify)
{
	struct vhca_dev *dev = to_vdev(ibdev);
	int err;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "modify_device: mask %#x", mask);
	if (!(mask & IB_DEVICE_MODIFY_NODE_DESC))
		return 0;
	mutex_lock(&dev->desc_lock);
	err = vhca_cmd_set_node_desc(&dev->hw, modify->node_desc);
	if (!err)
		memcpy(ibdev->node_desc, modify->node_desc, sizeof(ibdev->node_desc));
	mutex_unlock(&dev->desc_lock);
	return err;
}

static void vhca_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	u64 v = to_vdev(ibdev)->hw.limits.fw_version;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%u", (u32)(v >> 32), (u16)(v >> 16), (u16)v);
}

static const struct cpumask *vhca_get_vector_affinity(struct ib_device *ibdev, int vector)
{
	struct vhca_dev *dev = to_vdev(ibdev);

	if (vector < 0 || vector >= dev->nvectors)
		return NULL;
	return cpumask_of(dev->vectors[vector].cpu);
}

static ssize_t hw_rev_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct vhca_dev *dev = rdma_device_to_drv_device(device, struct vhca_dev, ibdev);

	return sysfs_emit(buf, "%u.%u\n", dev->hw.version >> 16, dev->hw.version & 0xffff);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *device, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "VHCA\n");
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *device, struct device_attribute *attr, char *buf)
{
	struct vhca_dev *dev = rdma_device_to_drv_device(device, struct vhca_dev, ibdev);

	return sysfs_emit(buf, "VHCA_%04x:%04x\n", dev->fn->pdev->vendor, dev->fn->pdev->device);
}
static DEVICE_ATTR_RO(board_id);

static struct attribute *vhca_attrs[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	NULL
};

static const struct attribute_group vhca_attr_group = {
	.attrs = vhca_attrs,
};

static const struct ib_device_ops base_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = VHCA_UVERBS_ABI_VERSION,
	.device_group = &vhca_attr_group,

	.alloc_pd = vhca_alloc_pd,
	.alloc_ucontext = vhca_alloc_ucontext,
	.create_cq = vhca_create_cq,
	.create_qp = vhca_create_qp,
	.dealloc_pd = vhca_dealloc_pd,
	.dealloc_ucontext = vhca_dealloc_ucontext,
	.dereg_mr = vhca_dereg_mr,
	.destroy_cq = vhca_destroy_cq,
	.destroy_qp = vhca_destroy_qp,
	.disassociate_ucontext = vhca_disassociate_ucontext,
	.get_dev_fw_str = vhca_get_dev_fw_str,
	.get_dma_mr = vhca_get_dma_mr,
	.get_link_layer = vhca_get_link_layer,
	.get_port_immutable = vhca_get_port_immutable,
	.get_vector_affinity = vhca_get_vector_affinity,
	.mmap = vhca_mmap,
	.mmap_free = vhca_mmap_free,
	.modify_device = vhca_modify_device,
	.modify_qp = vhca_modify_qp,
	.peek_cq = vhca_peek_cq,
	.poll_cq = vhca_poll_cq,
	.post_recv = vhca_post_recv,
	.post_send = vhca_post_send,
	.query_device = vhca_query_device,
	.query_gid = vhca_query_gid,
	.query_pkey = vhca_query_pkey,
	.query_port = vhca_query_port,
	.query_qp = vhca_query_qp,
	.query_ucontext = vhca_query_ucontext,
	.reg_user_mr = vhca_reg_user_mr,
	.reg_user_mr_dmabuf = vhca_reg_user_mr_dmabuf,
	.req_notify_cq = vhca_req_notify_cq,
	.rereg_user_mr = vhca_rereg_user_mr,

	INIT_RDMA_OBJ_SIZE(ib_cq, vhca_cq, ibcq),
	INIT_RDMA_OBJ_SIZE(ib_pd, vhca_pd, ibpd),
	INIT_RDMA_OBJ_SIZE(ib_qp, vhca_qp, ibqp),
	INIT_RDMA_OBJ_SIZE(ib_ucontext, vhca_ucontext, ibucontext),
};

static const struct ib_device_ops ud_ops = {
	.create_ah = vhca_create_ah,
	.create_user_ah = vhca_create_ah,
	.destroy_ah = vhca_destroy_ah,
	.modify_ah = vhca_modify_ah,
	.query_ah = vhca_query_ah,

	INIT_RDMA_OBJ_SIZE(ib_ah, vhca_ah, ibah),
};

static const struct ib_device_ops mcast_ops = {
	.attach_mcast = vhca_attach_mcast,
	.detach_mcast = vhca_detach_mcast,
};

static const struct ib_device_ops srq_ops = {
	.create_srq = vhca_create_srq,
	.destroy_srq = vhca_destroy_srq,
	.modify_srq = vhca_modify_srq,
	.post_srq_recv = vhca_post_srq_recv,
	.query_srq = vhca_query_srq,

	INIT_RDMA_OBJ_SIZE(ib_srq, vhca_srq, ibsrq),
};

static const struct ib_device_ops xrc_ops = {
	.alloc_xrcd = vhca_alloc_xrcd,
	.dealloc_xrcd = vhca_dealloc_xrcd,

	INIT_RDMA_OBJ_SIZE(ib_xrcd, vhca_xrcd, ibxrcd),
};

static const struct ib_device_ops resize_ops = {
	.resize_cq = vhca_resize_cq,
};

static const struct ib_device_ops moderation_ops = {
	.modify_cq = vhca_modify_cq,
};

static const struct ib_device_ops counter_ops = {
	.alloc_hw_port_stats = vhca_alloc_hw_port_stats,
	.get_hw_stats = vhca_get_hw_stats,
};

static const struct ib_device_ops qp_counter_ops = {
	.counter_alloc_stats = vhca_counter_alloc_stats,
	.counter_bind_qp = vhca_counter_bind_qp,
	.counter_dealloc = vhca_counter_dealloc,
	.counter_unbind_qp = vhca_counter_unbind_qp,
	.counter_update_stats = vhca_counter_update_stats,
};

static const struct ib_device_ops fast_reg_ops = {
	.alloc_mr = vhca_alloc_mr,
	.map_mr_sg = vhca_map_mr_sg,
};

static const struct ib_device_ops mw_ops = {
	.alloc_mw = vhca_alloc_mw,
	.dealloc_mw = vhca_dealloc_mw,

	INIT_RDMA_OBJ_SIZE(ib_mw, vhca_mw, ibmw),
};

static const struct {
	enum vhca_cap cap;
	const struct ib_device_ops *ops;
} optional_ops[] = {
	{ VHCA_CAP_UD, &ud_ops },
	{ VHCA_CAP_MCAST, &mcast_ops },
	{ VHCA_CAP_SRQ, &srq_ops },
	{ VHCA_CAP_XRC, &xrc_ops },
	{ VHCA_CAP_CQ_RESIZE, &resize_ops },
	{ VHCA_CAP_CQ_MODERATION, &moderation_ops },
	{ VHCA_CAP_COUNTERS, &counter_ops },
	{ VHCA_CAP_QP_COUNTERS, &qp_counter_ops },
	{ VHCA_CAP_FAST_REG, &fast_reg_ops },
	{ VHCA_CAP_MW, &mw_ops },
};

/**
 * vhca_set_ops - tell the core what can be done with a device
 * @dev: the device, its limits known
 */
void vhca_set_ops(struct vhca_dev *dev)
{
	unsigned int i;

	vhca_offer_init(dev);
	ib_set_device_ops(&dev->ibdev, &base_ops);
	dev->ibdev.driver_def = vhca_uapi_defs;
	for (i = 0; i < ARRAY_SIZE(optional_ops); i++)
		if (vhca_hw_has(&dev->hw, optional_ops[i].cap))
			ib_set_device_ops(&dev->ibdev, optional_ops[i].ops);
	vhca_set_ext_ops(dev);
}
