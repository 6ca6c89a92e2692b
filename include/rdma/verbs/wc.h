/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work completions.
 */
#ifndef RDMA_VERBS_WC_H
#define RDMA_VERBS_WC_H

#include <rdma/verbs/types.h>

enum ib_wc_status {
	IB_WC_SUCCESS,
	IB_WC_LOC_LEN_ERR,
	IB_WC_LOC_QP_OP_ERR,
	IB_WC_LOC_EEC_OP_ERR,
	IB_WC_LOC_PROT_ERR,
	IB_WC_WR_FLUSH_ERR,
	IB_WC_MW_BIND_ERR,
	IB_WC_BAD_RESP_ERR,
	IB_WC_LOC_ACCESS_ERR,
	IB_WC_REM_INV_REQ_ERR,
	IB_WC_REM_ACCESS_ERR,
	IB_WC_REM_OP_ERR,
	IB_WC_RETRY_EXC_ERR,
	IB_WC_RNR_RETRY_EXC_ERR,
	IB_WC_LOC_RDD_VIOL_ERR,
	IB_WC_REM_INV_RD_REQ_ERR,
	IB_WC_REM_ABORT_ERR,
	IB_WC_INV_EECN_ERR,
	IB_WC_INV_EEC_STATE_ERR,
	IB_WC_FATAL_ERR,
	IB_WC_RESP_TIMEOUT_ERR,
	IB_WC_GENERAL_ERR
};

const char *__attribute_const__ ib_wc_status_msg(enum ib_wc_status status);

/* Operation that completed; the bit IB_WC_RECV is set in every receive completion. */
enum ib_wc_opcode {
	IB_WC_SEND = IB_UVERBS_WC_SEND,
	IB_WC_RDMA_WRITE = IB_UVERBS_WC_RDMA_WRITE,
	IB_WC_RDMA_READ = IB_UVERBS_WC_RDMA_READ,
	IB_WC_COMP_SWAP = IB_UVERBS_WC_COMP_SWAP,
	IB_WC_FETCH_ADD = IB_UVERBS_WC_FETCH_ADD,
	IB_WC_BIND_MW = IB_UVERBS_WC_BIND_MW,
	IB_WC_LOCAL_INV = IB_UVERBS_WC_LOCAL_INV,
	IB_WC_LSO = IB_UVERBS_WC_TSO,
	IB_WC_ATOMIC_WRITE = IB_UVERBS_WC_ATOMIC_WRITE,
	IB_WC_REG_MR,
	IB_WC_MASKED_COMP_SWAP,
	IB_WC_MASKED_FETCH_ADD,
	IB_WC_FLUSH = IB_UVERBS_WC_FLUSH,

	IB_WC_RECV			= 1 << 7,
	IB_WC_RECV_RDMA_WITH_IMM
};

/* Which members of struct ib_wc are valid beyond the common ones. */
enum ib_wc_flags {
	IB_WC_GRH		= 1,
	IB_WC_WITH_IMM		= (1 << 1),
	IB_WC_WITH_INVALIDATE	= (1 << 2),
	IB_WC_IP_CSUM_OK	= (1 << 3),
	IB_WC_WITH_SMAC		= (1 << 4),
	IB_WC_WITH_VLAN		= (1 << 5),
	IB_WC_WITH_NETWORK_HDR_TYPE	= (1 << 6),
};

/**
 * struct ib_wc - one completion
 * @wr_id: wr_id of the work request
 * @wr_cqe: wr_cqe of the work request, for CQs that ib_alloc_cq() allocated
 * @status: status; on an error only @qp and @vendor_err of the members below are valid
 * @opcode: operation that completed
 * @vendor_err: the device's own number for the cause of an error
 * @byte_len: bytes received or read
 * @qp: queue pair
 * @ex: immediate data, or the key that the peer invalidated
 * @src_qp: sender's QP number (UD)
 * @slid: sender's LID
 * @wc_flags: enum ib_wc_flags
 * @pkey_index: P_Key index (GSI)
 * @sl: service level
 * @dlid_path_bits: low bits of the destination LID
 * @port_num: port that received the packet (SMI)
 * @smac: sender's MAC
 * @vlan_id: VLAN of the packet
 * @network_hdr_type: enum rdma_network_type of the header in the buffer
 */
struct ib_wc {
	union {
		u64		wr_id;
		struct ib_cqe	*wr_cqe;
	};
	enum ib_wc_status	status;
	enum ib_wc_opcode	opcode;
	u32			vendor_err;
	u32			byte_len;
	struct ib_qp	       *qp;
	union {
		__be32		imm_data;
		u32		invalidate_rkey;
	} ex;
	u32			src_qp;
	u32			slid;
	int			wc_flags;
	u16			pkey_index;
	u8			sl;
	u8			dlid_path_bits;
	u32 port_num;
	u8			smac[ETH_ALEN];
	u16			vlan_id;
	u8			network_hdr_type;
};

#endif /* RDMA_VERBS_WC_H */
