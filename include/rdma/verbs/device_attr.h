/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Attributes of a device: capability bits and limits.
 */
#ifndef RDMA_VERBS_DEVICE_ATTR_H
#define RDMA_VERBS_DEVICE_ATTR_H

#include <rdma/verbs/types.h>

/* Capabilities that are visible to user programs too, in ib_device_attr.device_cap_flags. */
enum ib_device_cap_flags {
	IB_DEVICE_RESIZE_MAX_WR = IB_UVERBS_DEVICE_RESIZE_MAX_WR,
	IB_DEVICE_BAD_PKEY_CNTR = IB_UVERBS_DEVICE_BAD_PKEY_CNTR,
	IB_DEVICE_BAD_QKEY_CNTR = IB_UVERBS_DEVICE_BAD_QKEY_CNTR,
	IB_DEVICE_RAW_MULTI = IB_UVERBS_DEVICE_RAW_MULTI,
	IB_DEVICE_AUTO_PATH_MIG = IB_UVERBS_DEVICE_AUTO_PATH_MIG,
	IB_DEVICE_CHANGE_PHY_PORT = IB_UVERBS_DEVICE_CHANGE_PHY_PORT,
	IB_DEVICE_UD_AV_PORT_ENFORCE = IB_UVERBS_DEVICE_UD_AV_PORT_ENFORCE,
	IB_DEVICE_CURR_QP_STATE_MOD = IB_UVERBS_DEVICE_CURR_QP_STATE_MOD,
	IB_DEVICE_SHUTDOWN_PORT = IB_UVERBS_DEVICE_SHUTDOWN_PORT,

	IB_DEVICE_PORT_ACTIVE_EVENT = IB_UVERBS_DEVICE_PORT_ACTIVE_EVENT,
	IB_DEVICE_SYS_IMAGE_GUID = IB_UVERBS_DEVICE_SYS_IMAGE_GUID,
	IB_DEVICE_RC_RNR_NAK_GEN = IB_UVERBS_DEVICE_RC_RNR_NAK_GEN,
	IB_DEVICE_SRQ_RESIZE = IB_UVERBS_DEVICE_SRQ_RESIZE,
	IB_DEVICE_N_NOTIFY_CQ = IB_UVERBS_DEVICE_N_NOTIFY_CQ,

	IB_DEVICE_MEM_WINDOW = IB_UVERBS_DEVICE_MEM_WINDOW,

	IB_DEVICE_UD_IP_CSUM = IB_UVERBS_DEVICE_UD_IP_CSUM,
	IB_DEVICE_XRC = IB_UVERBS_DEVICE_XRC,

	IB_DEVICE_MEM_MGT_EXTENSIONS = IB_UVERBS_DEVICE_MEM_MGT_EXTENSIONS,
	IB_DEVICE_MEM_WINDOW_TYPE_2A = IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2A,
	IB_DEVICE_MEM_WINDOW_TYPE_2B = IB_UVERBS_DEVICE_MEM_WINDOW_TYPE_2B,
	IB_DEVICE_RC_IP_CSUM = IB_UVERBS_DEVICE_RC_IP_CSUM,

	IB_DEVICE_RAW_IP_CSUM = IB_UVERBS_DEVICE_RAW_IP_CSUM,
	IB_DEVICE_MANAGED_FLOW_STEERING =
		IB_UVERBS_DEVICE_MANAGED_FLOW_STEERING,

	IB_DEVICE_RAW_SCATTER_FCS = IB_UVERBS_DEVICE_RAW_SCATTER_FCS,

	IB_DEVICE_PCI_WRITE_END_PADDING =
		IB_UVERBS_DEVICE_PCI_WRITE_END_PADDING,

	IB_DEVICE_FLUSH_GLOBAL = IB_UVERBS_DEVICE_FLUSH_GLOBAL,
	IB_DEVICE_FLUSH_PERSISTENT = IB_UVERBS_DEVICE_FLUSH_PERSISTENT,
	IB_DEVICE_ATOMIC_WRITE = IB_UVERBS_DEVICE_ATOMIC_WRITE,
};

/* Capabilities for kernel consumers only, in ib_device_attr.kernel_cap_flags. */
enum ib_kernel_cap_flags {
	IBK_LOCAL_DMA_LKEY = 1 << 0,

	IBK_INTEGRITY_HANDOVER = 1 << 1,

	IBK_ON_DEMAND_PAGING = 1 << 2,

	IBK_SG_GAPS_REG = 1 << 3,

	IBK_ALLOW_USER_UNREG = 1 << 4,

	IBK_BLOCK_MULTICAST_LOOPBACK = 1 << 5,

	IBK_UD_TSO = 1 << 6,

	IBK_VIRTUAL_FUNCTION = 1 << 7,

	IBK_RDMA_NETDEV_OPA = 1 << 8,
};

/* Scope in which the device's atomics are atomic. */
enum ib_atomic_cap {
	IB_ATOMIC_NONE,
	IB_ATOMIC_HCA,
	IB_ATOMIC_GLOB
};

enum ib_odp_general_cap_bits {
	IB_ODP_SUPPORT		= 1 << 0,
	IB_ODP_SUPPORT_IMPLICIT = 1 << 1,
};

enum ib_odp_transport_cap_bits {
	IB_ODP_SUPPORT_SEND	= 1 << 0,
	IB_ODP_SUPPORT_RECV	= 1 << 1,
	IB_ODP_SUPPORT_WRITE	= 1 << 2,
	IB_ODP_SUPPORT_READ	= 1 << 3,
	IB_ODP_SUPPORT_ATOMIC	= 1 << 4,
	IB_ODP_SUPPORT_SRQ_RECV	= 1 << 5,
};

/* Operations that support on-demand paging, by transport. */
struct ib_odp_caps {
	u64 general_caps;
	struct {
		u32  rc_odp_caps;
		u32  uc_odp_caps;
		u32  ud_odp_caps;
		u32  xrc_odp_caps;
	} per_transport_caps;
};

/**
 * struct ib_rss_caps - receive side scaling
 * @supported_qpts: mask of 1 << enum ib_qp_type that may use an indirection table
 * @max_rwq_indirection_tables: number of tables
 * @max_rwq_indirection_table_size: entries of one table
 */
struct ib_rss_caps {
	u32 supported_qpts;
	u32 max_rwq_indirection_tables;
	u32 max_rwq_indirection_table_size;
};

enum ib_tm_cap_flags {
	IB_TM_CAP_RNDV_RC = 1 << 0,
};

/**
 * struct ib_tm_caps - tag matching SRQs
 * @max_rndv_hdr_size: bytes of a rendezvous header
 * @max_num_tags: entries of a matching list
 * @flags: enum ib_tm_cap_flags
 * @max_ops: list operations outstanding
 * @max_sge: scatter entries of a tagged buffer
 */
struct ib_tm_caps {
	u32 max_rndv_hdr_size;

	u32 max_num_tags;

	u32 flags;

	u32 max_ops;

	u32 max_sge;
};

/* Limits of CQ moderation: completions, and microseconds. */
struct ib_cq_caps {
	u16     max_cq_moderation_count;
	u16     max_cq_moderation_period;
};

/**
 * struct ib_device_attr - limits and capabilities, filled in by query_device()
 * @fw_ver: firmware version, major << 32 | minor << 16 | sub
 * @sys_image_guid: GUID of the system of which the device is a part
 * @max_mr_size: bytes of the largest MR
 * @page_size_cap: mask of page sizes
 * @vendor_id: vendor
 * @vendor_part_id: vendor's part number
 * @hw_ver: hardware revision
 * @max_qp: QPs
 * @max_qp_wr: work requests outstanding in one queue
 * @device_cap_flags: enum ib_device_cap_flags
 * @kernel_cap_flags: enum ib_kernel_cap_flags
 * @max_send_sge: gather entries of a send
 * @max_recv_sge: scatter entries of a receive
 * @max_sge_rd: scatter entries of an RDMA READ
 * @max_cq: CQs
 * @max_cqe: entries of one CQ
 * @max_mr: MRs
 * @max_pd: PDs
 * @max_qp_rd_atom: READs and atomics outstanding at a QP as responder
 * @max_ee_rd_atom: the same of an end-to-end context
 * @max_res_rd_atom: resources for READs and atomics of all QPs together
 * @max_qp_init_rd_atom: READs and atomics outstanding of a QP as initiator
 * @max_ee_init_rd_atom: the same of an end-to-end context
 * @atomic_cap: scope of atomics
 * @masked_atomic_cap: scope of masked atomics
 * @max_ee: end-to-end contexts
 * @max_rdd: reliable datagram domains
 * @max_mw: memory windows
 * @max_raw_ipv6_qp: raw IPv6 QPs
 * @max_raw_ethy_qp: raw Ethertype QPs
 * @max_mcast_grp: multicast groups
 * @max_mcast_qp_attach: QPs of one group
 * @max_total_mcast_qp_attach: QPs of all groups together
 * @max_ah: address handles
 * @max_srq: SRQs
 * @max_srq_wr: work requests outstanding in one SRQ
 * @max_srq_sge: scatter entries of a receive of an SRQ
 * @max_fast_reg_page_list_len: pages of a fast registration
 * @max_pi_fast_reg_page_list_len: pages of one with protection information
 * @max_pkeys: P_Keys of a port
 * @local_ca_ack_delay: longest delay of an acknowledgment, 4.096 us << n
 * @sig_prot_cap: enum ib_signature_prot_cap
 * @sig_guard_cap: enum ib_signature_guard_cap
 * @odp_caps: on-demand paging
 * @timestamp_mask: valid bits of a completion time stamp
 * @hca_core_clock: frequency of the clock of time stamps, kHz
 * @rss_caps: receive side scaling
 * @max_wq_type_rq: work queues
 * @raw_packet_caps: enum ib_raw_packet_caps
 * @tm_caps: tag matching
 * @cq_caps: CQ moderation
 * @max_dm_size: bytes of device memory
 * @max_sgl_rd: scatter entries of an RDMA READ that rdma/rw.h does without registration
 *
 * All maxima are numbers of objects, or of entries of one object; 0 if the device has none.
 */
struct ib_device_attr {
	u64			fw_ver;
	__be64			sys_image_guid;
	u64			max_mr_size;
	u64			page_size_cap;
	u32			vendor_id;
	u32			vendor_part_id;
	u32			hw_ver;
	int			max_qp;
	int			max_qp_wr;
	u64			device_cap_flags;
	u64			kernel_cap_flags;
	int			max_send_sge;
	int			max_recv_sge;
	int			max_sge_rd;
	int			max_cq;
	int			max_cqe;
	int			max_mr;
	int			max_pd;
	int			max_qp_rd_atom;
	int			max_ee_rd_atom;
	int			max_res_rd_atom;
	int			max_qp_init_rd_atom;
	int			max_ee_init_rd_atom;
	enum ib_atomic_cap	atomic_cap;
	enum ib_atomic_cap	masked_atomic_cap;
	int			max_ee;
	int			max_rdd;
	int			max_mw;
	int			max_raw_ipv6_qp;
	int			max_raw_ethy_qp;
	int			max_mcast_grp;
	int			max_mcast_qp_attach;
	int			max_total_mcast_qp_attach;
	int			max_ah;
	int			max_srq;
	int			max_srq_wr;
	int			max_srq_sge;
	unsigned int		max_fast_reg_page_list_len;
	unsigned int		max_pi_fast_reg_page_list_len;
	u16			max_pkeys;
	u8			local_ca_ack_delay;
	int			sig_prot_cap;
	int			sig_guard_cap;
	struct ib_odp_caps	odp_caps;
	u64		timestamp_mask;
	u64		hca_core_clock;
	struct ib_rss_caps	rss_caps;
	u32			max_wq_type_rq;
	u32			raw_packet_caps;
	struct ib_tm_caps	tm_caps;
	struct ib_cq_caps       cq_caps;
	u64			max_dm_size;

	u32			max_sgl_rd;
};

enum ib_device_modify_flags {
	IB_DEVICE_MODIFY_SYS_IMAGE_GUID	= 1 << 0,
	IB_DEVICE_MODIFY_NODE_DESC	= 1 << 1
};

/* Bytes of a node description, the terminating NUL included. */
#define IB_DEVICE_NODE_DESC_MAX 64

struct ib_device_modify {
	u64	sys_image_guid;
	char	node_desc[IB_DEVICE_NODE_DESC_MAX];
};

#endif /* RDMA_VERBS_DEVICE_ATTR_H */
