// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The table of verbs opcodes: adding an operation to the provider begins here. */
#include "send_ops.h"

#define ON_RC	(1 << IBV_QPT_RC)
#define ON_UC	(1 << IBV_QPT_UC)
#define ON_UD	(1 << IBV_QPT_UD)
#define ON_XRC	(1 << IBV_QPT_XRC_SEND)

const struct vhca_send_op vhca_send_ops[VHCA_NUM_SEND_OPS] = {
	[IBV_WR_SEND] = {
		.opcode = VHCA_OP_SEND,
		.types = ON_RC | ON_XRC | ON_UC | ON_UD,
		.ex = IBV_QP_EX_WITH_SEND,
		.data = VHCA_DATA_OUT,
	},
	[IBV_WR_SEND_WITH_IMM] = {
		.opcode = VHCA_OP_SEND_IMM,
		.types = ON_RC | ON_XRC | ON_UC | ON_UD,
		.ex = IBV_QP_EX_WITH_SEND_WITH_IMM,
		.data = VHCA_DATA_OUT,
	},
	[IBV_WR_SEND_WITH_INV] = {
		.opcode = VHCA_OP_SEND_INV,
		.types = ON_RC | ON_XRC,
		.ex = IBV_QP_EX_WITH_SEND_WITH_INV,
		.data = VHCA_DATA_OUT,
	},
	[IBV_WR_RDMA_WRITE] = {
		.opcode = VHCA_OP_WRITE,
		.types = ON_RC | ON_XRC | ON_UC,
		.ex = IBV_QP_EX_WITH_RDMA_WRITE,
		.data = VHCA_DATA_OUT,
		.remote = true,
	},
	[IBV_WR_RDMA_WRITE_WITH_IMM] = {
		.opcode = VHCA_OP_WRITE_IMM,
		.types = ON_RC | ON_XRC | ON_UC,
		.ex = IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM,
		.data = VHCA_DATA_OUT,
		.remote = true,
	},
	[IBV_WR_RDMA_READ] = {
		.opcode = VHCA_OP_READ,
		.types = ON_RC | ON_XRC,
		.ex = IBV_QP_EX_WITH_RDMA_READ,
		.data = VHCA_DATA_IN,
		.remote = true,
	},
	[IBV_WR_ATOMIC_CMP_AND_SWP] = {
		.opcode = VHCA_OP_CMP_SWAP,
		.types = ON_RC | ON_XRC,
		.ex = IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP,
		.data = VHCA_DATA_WORD_IN,
		.remote = true,
	},
	[IBV_WR_ATOMIC_FETCH_AND_ADD] = {
		.opcode = VHCA_OP_FETCH_ADD,
		.types = ON_RC | ON_XRC,
		.ex = IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD,
		.data = VHCA_DATA_WORD_IN,
		.remote = true,
	},
	[IBV_WR_ATOMIC_WRITE] = {
		.opcode = VHCA_OP_ATOMIC_WRITE,
		.types = ON_RC,
		.ex = IBV_QP_EX_WITH_ATOMIC_WRITE,
		.data = VHCA_DATA_WORD_OUT,
		.remote = true,
	},
#ifdef VHCA_HAS_FLUSH
	[IBV_WR_FLUSH] = {
		.opcode = VHCA_OP_FLUSH,
		.types = ON_RC,
		.ex = IBV_QP_EX_WITH_FLUSH,
		.remote = true,
	},
#endif
	[IBV_WR_LOCAL_INV] = {
		.opcode = VHCA_OP_LOCAL_INV,
		.types = ON_RC | ON_XRC | ON_UC,
		.ex = IBV_QP_EX_WITH_LOCAL_INV,
	},
	[IBV_WR_BIND_MW] = {
		.opcode = VHCA_OP_BIND_MW,
		.types = ON_RC | ON_XRC | ON_UC,
		.ex = IBV_QP_EX_WITH_BIND_MW,
	},
};
