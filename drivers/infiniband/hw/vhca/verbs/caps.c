// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Operations of send queues, access rights, and capability bits of the core that follow from the
 * capabilities of a device.
 */
#include <kunit/visibility.h>
#include <rdma/vhca-abi.h>

#include "caps.h"

struct cap_effect {
	u8 cap;			/* enum vhca_cap */
	u32 send_ops;
	int access;
	u64 device_caps;
	u64 kernel_caps;
};

#define OP(op)	BIT(VHCA_OP_##op)

static const struct cap_effect cap_effects[] = {
	{
		.cap = VHCA_CAP_RNR_NAK,
		.device_caps = IB_DEVICE_RC_RNR_NAK_GEN,
	},
	{
		.cap = VHCA_CAP_UD,
		.device_caps = IB_DEVICE_BAD_QKEY_CNTR | IB_DEVICE_UD_AV_PORT_ENFORCE,
	},
	{
		.cap = VHCA_CAP_MCAST,
		.kernel_caps = IBK_BLOCK_MULTICAST_LOOPBACK,
	},
	{
		.cap = VHCA_CAP_SRQ,
		.device_caps = IB_DEVICE_SRQ_RESIZE,
	},
	{
		.cap = VHCA_CAP_XRC,
		.device_caps = IB_DEVICE_XRC,
	},
	{
		.cap = VHCA_CAP_APM,
		.device_caps = IB_DEVICE_AUTO_PATH_MIG,
	},
	{
		.cap = VHCA_CAP_ATOMIC,
		.send_ops = OP(CMP_SWAP) | OP(FETCH_ADD),
		.access = IB_ACCESS_REMOTE_ATOMIC,
	},
	{
		.cap = VHCA_CAP_MASKED_ATOMIC,
		.send_ops = OP(MASKED_CMP_SWAP) | OP(MASKED_FETCH_ADD),
	},
	{
		.cap = VHCA_CAP_ATOMIC_WRITE,
		.send_ops = OP(ATOMIC_WRITE),
		.device_caps = IB_DEVICE_ATOMIC_WRITE,
	},
	{
		.cap = VHCA_CAP_FLUSH,
		.send_ops = OP(FLUSH),
		.access = IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT,
		.device_caps = IB_DEVICE_FLUSH_GLOBAL | IB_DEVICE_FLUSH_PERSISTENT,
	},
	{
		.cap = VHCA_CAP_FAST_REG,
		.send_ops = OP(REG_MR) | OP(LOCAL_INV) | OP(SEND_INV) | OP(READ_INV),
		.device_caps = IB_DEVICE_MEM_MGT_EXTENSIONS,
	},
	{
		.cap = VHCA_CAP_SG_GAPS,
		.kernel_caps = IBK_SG_GAPS_REG,
	},
	{
		.cap = VHCA_CAP_INTEGRITY,
		.kernel_caps = IBK_INTEGRITY_HANDOVER,
	},
	{
		.cap = VHCA_CAP_MW,
		.send_ops = OP(BIND_MW),
		.access = IB_ACCESS_MW_BIND,
		.device_caps = IB_DEVICE_MEM_WINDOW,
	},
	{
		.cap = VHCA_CAP_MW_2A,
		.device_caps = IB_DEVICE_MEM_WINDOW_TYPE_2A,
	},
	{
		.cap = VHCA_CAP_MW_2B,
		.device_caps = IB_DEVICE_MEM_WINDOW_TYPE_2B,
	},
	{
		.cap = VHCA_CAP_UD_CSUM,
		.device_caps = IB_DEVICE_UD_IP_CSUM,
	},
	{
		.cap = VHCA_CAP_UD_LSO,
		.send_ops = OP(LSO),
		.kernel_caps = IBK_UD_TSO,
	},
#ifdef IBK_UD_IPV6_CSUM
	{
		.cap = VHCA_CAP_UD_CSUM6,
		.kernel_caps = IBK_UD_IPV6_CSUM,
	},
	{
		.cap = VHCA_CAP_UD_LSO6,
		.kernel_caps = IBK_UD_IPV6_TSO,
	},
#endif
};

/* Operations and attributes that every device has. */
#define BASE_OPS	(OP(NOP) | OP(SEND) | OP(SEND_IMM) | OP(WRITE) | OP(WRITE_IMM) | OP(READ))
#define BASE_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)
#define BASE_CAPS	(IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_PORT_ACTIVE_EVENT |	\
			 IB_DEVICE_BAD_PKEY_CNTR | IB_DEVICE_CHANGE_PHY_PORT |		\
			 IB_DEVICE_CURR_QP_STATE_MOD)

/**
 * vhca_caps_init() - derive operations and access rights from the capabilities, for later checks
 * @dev: the device, its limits known
 *
 * Context: any.
 */
void vhca_caps_init(struct vhca_dev *dev)
{
	dev->send_ops = BASE_OPS;
	dev->access = BASE_ACCESS;
	/* UC has these operations since interface version 1.4. */
	dev->uc_lacks = OP(REG_MR) | OP(LOCAL_INV);
	if (vhca_hw_has(&dev->hw, VHCA_CAP_UC_FAST_REG))
		dev->uc_lacks = 0;
	for (unsigned int i = 0; i < ARRAY_SIZE(cap_effects); i++) {
		if (!vhca_hw_has(&dev->hw, cap_effects[i].cap))
			continue;
		dev->send_ops |= cap_effects[i].send_ops;
		dev->access |= cap_effects[i].access;
	}
}
EXPORT_SYMBOL_IF_KUNIT(vhca_caps_init);

/* Limits that depend on capabilities. */
static void fill_limits(const struct vhca_hw *hw, struct ib_device_attr *a)
{
	const struct vhca_limits *l = &hw->limits;

	if (vhca_hw_has(hw, VHCA_CAP_UD)) {
		/* There is no limit but memory, as they are no objects of the device. */
		a->max_ah = INT_MAX;
	}
	if (vhca_hw_has(hw, VHCA_CAP_MCAST)) {
		a->max_mcast_grp = min_t(u32, l->max_mcgs, INT_MAX);
		a->max_mcast_qp_attach = min_t(u32, l->max_mcg_qps, INT_MAX);
		a->max_total_mcast_qp_attach = min_t(u64, (u64)l->max_mcgs * l->max_mcg_qps,
						     INT_MAX);
	}
	if (vhca_hw_has(hw, VHCA_CAP_SRQ)) {
		a->max_srq = min_t(u32, l->max_srqs, INT_MAX);
		a->max_srq_wr = min_t(u32, l->max_srq_wr, INT_MAX);
		a->max_srq_sge = l->max_recv_sge;
	}
	if (vhca_hw_has(hw, VHCA_CAP_CQ_MODERATION)) {
		a->cq_caps.max_cq_moderation_count = l->max_moderation_count;
		a->cq_caps.max_cq_moderation_period = l->max_moderation_period;
	}
	/* The device accesses host memory like a CPU: its atomics are atomic for CPUs as well. */
	if (vhca_hw_has(hw, VHCA_CAP_ATOMIC))
		a->atomic_cap = IB_ATOMIC_GLOB;
	if (vhca_hw_has(hw, VHCA_CAP_MASKED_ATOMIC))
		a->masked_atomic_cap = IB_ATOMIC_GLOB;
	if (vhca_hw_has(hw, VHCA_CAP_FAST_REG))
		a->max_fast_reg_page_list_len = l->max_reg_entries;
	if (vhca_hw_has(hw, VHCA_CAP_INTEGRITY)) {
		/* Data and protection fields share a list. */
		a->max_pi_fast_reg_page_list_len = l->max_reg_entries / 2;
		a->sig_prot_cap = IB_PROT_T10DIF_TYPE_1 | IB_PROT_T10DIF_TYPE_2 |
				  IB_PROT_T10DIF_TYPE_3;
		a->sig_guard_cap = IB_GUARD_T10DIF_CRC | IB_GUARD_T10DIF_CSUM;
	}
	if (vhca_hw_has(hw, VHCA_CAP_MW))
		a->max_mw = min_t(u32, l->max_mkeys, INT_MAX);
}

/**
 * vhca_caps_attr() - fill in the attributes that depend on capabilities
 * @dev: the device
 * @attr: those attributes are filled in
 *
 * Context: any.
 */
void vhca_caps_attr(const struct vhca_dev *dev, struct ib_device_attr *attr)
{
	attr->device_cap_flags = BASE_CAPS;
	attr->kernel_cap_flags = 0;
	attr->atomic_cap = IB_ATOMIC_NONE;
	attr->masked_atomic_cap = IB_ATOMIC_NONE;
	for (unsigned int i = 0; i < ARRAY_SIZE(cap_effects); i++) {
		if (!vhca_hw_has(&dev->hw, cap_effects[i].cap))
			continue;
		attr->device_cap_flags |= cap_effects[i].device_caps;
		attr->kernel_cap_flags |= cap_effects[i].kernel_caps;
	}
	fill_limits(&dev->hw, attr);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_caps_attr);
