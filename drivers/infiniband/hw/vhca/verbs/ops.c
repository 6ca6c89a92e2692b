// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Operations for the core, depending on a device's capabilities, and sysfs attributes. */
#include <linux/pci.h>
#include <linux/sysfs.h>

#include "ah.h"
#include "caps.h"
#include "counters.h"
#include "cq.h"
#include "eth.h"
#include "mad.h"
#include "mr.h"
#include "ops.h"
#include "pd.h"
#include "qp.h"
#include "query.h"
#include "srq.h"
#include "ucontext.h"

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
	const struct pci_dev *pdev = to_pci_dev(dev->hw.dev);

	return sysfs_emit(buf, "VHCA_%04x:%04x\n", pdev->vendor, pdev->device);
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

VHCA_ADAPTERS()

static const struct ib_device_ops base_ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_UNKNOWN,
	.uverbs_abi_ver = VHCA_UVERBS_ABI_VERSION,
	.device_group = &vhca_attr_group,

	.alloc_pd = vhca_alloc_pd,
	.alloc_ucontext = vhca_alloc_ucontext,
	.create_cq = vhca_create_cq,
	VHCA_OP_CREATE_USER_CQ
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
	VHCA_OP_VECTOR_AFFINITY
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
	.reg_user_mr = vhca_op_reg_user_mr,
	.reg_user_mr_dmabuf = vhca_op_reg_user_mr_dmabuf,
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

static const struct ib_device_ops mad_ops = {
	.modify_port = vhca_modify_port,
	.process_mad = vhca_process_mad,
};

/* The core calls these for Ethernet ports only. */
static const struct ib_device_ops eth_ops = {
	.add_gid = vhca_add_gid,
	.del_gid = vhca_del_gid,
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
	VHCA_OP_RESIZE_CQ
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
	.counter_bind_qp = vhca_op_counter_bind_qp,
	.counter_dealloc = vhca_counter_dealloc,
	.counter_unbind_qp = vhca_op_counter_unbind_qp,
	.counter_update_stats = vhca_counter_update_stats,

	VHCA_OP_COUNTER_SIZE
};

static const struct ib_device_ops fast_reg_ops = {
	.alloc_mr = vhca_alloc_mr,
	.map_mr_sg = vhca_map_mr_sg,
};

static const struct ib_device_ops integrity_ops = {
	.alloc_mr_integrity = vhca_alloc_mr_integrity,
	.check_mr_status = vhca_check_mr_status,
	.map_mr_sg_pi = vhca_map_mr_sg_pi,
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
	{ VHCA_CAP_SMI_GSI, &mad_ops },
	{ VHCA_CAP_MCAST, &mcast_ops },
	{ VHCA_CAP_SRQ, &srq_ops },
	{ VHCA_CAP_XRC, &xrc_ops },
	{ VHCA_CAP_CQ_RESIZE, &resize_ops },
	{ VHCA_CAP_CQ_MODERATION, &moderation_ops },
	{ VHCA_CAP_COUNTERS, &counter_ops },
	{ VHCA_CAP_QP_COUNTERS, &qp_counter_ops },
	{ VHCA_CAP_FAST_REG, &fast_reg_ops },
	{ VHCA_CAP_INTEGRITY, &integrity_ops },
	{ VHCA_CAP_MW, &mw_ops },
};

#ifdef VHCA_HAVE_EXT
static void give_up(struct ib_device *ibdev)
{
	vhca_hw_kill(&to_vdev(ibdev)->hw, "it keeps an object that has to end");
}

static const struct rdma_ext_ops ext_ops = {
	.req_ncomp_notif = vhca_req_ncomp_notif,
	.give_up = give_up,
};

static const struct ib_device_ops ops_with_ext = {
	.ext = &ext_ops,
};

static const struct rdma_ext_ops ext_ops_with_fmr = {
	.req_ncomp_notif = vhca_req_ncomp_notif,
	.alloc_fmr = vhca_alloc_fmr,
	.map_phys_fmr = vhca_map_phys_fmr,
	.unmap_fmr = vhca_unmap_fmr,
	.dealloc_fmr = vhca_dealloc_fmr,
	.give_up = give_up,
};

static const struct ib_device_ops ops_with_fmr = {
	.ext = &ext_ops_with_fmr,
};
#endif

/**
 * vhca_set_ops() - set the operations of a device
 * @dev: the device, its limits known
 *
 * Context: any.
 */
void vhca_set_ops(struct vhca_dev *dev)
{
	vhca_caps_init(dev);
	ib_set_device_ops(&dev->ibdev, &base_ops);
	ib_set_device_ops(&dev->ibdev, &eth_ops);
	dev->ibdev.driver_def = vhca_uapi_defs;
	for (unsigned int i = 0; i < ARRAY_SIZE(optional_ops); i++)
		if (vhca_hw_has(&dev->hw, optional_ops[i].cap))
			ib_set_device_ops(&dev->ibdev, optional_ops[i].ops);
#ifdef VHCA_HAVE_EXT
	ib_set_device_ops(&dev->ibdev, vhca_hw_has(&dev->hw, VHCA_CAP_FMR) ? &ops_with_fmr :
									      &ops_with_ext);
#endif
}
