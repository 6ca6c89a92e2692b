/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Send operations of the verbs and of the device. */
#ifndef VHCA_SEND_OPS_H
#define VHCA_SEND_OPS_H

#include "vhca.h"

/**
 * enum vhca_send_data - data of a request
 * @VHCA_DATA_NONE: it has none
 * @VHCA_DATA_OUT: a gather list, or inline
 * @VHCA_DATA_WORD_OUT: the same, of eight bytes in all
 * @VHCA_DATA_IN: a scatter list
 * @VHCA_DATA_WORD_IN: a scatter list of one entry
 */
enum vhca_send_data {
	VHCA_DATA_NONE,
	VHCA_DATA_OUT,
	VHCA_DATA_WORD_OUT,
	VHCA_DATA_IN,
	VHCA_DATA_WORD_IN,
};

/**
 * struct vhca_send_op - a send operation of the verbs
 * @opcode: enum vhca_wqe_opcode
 * @types: types of QPs that have it, a bit each (1 << enum ibv_qp_type); 0: not supported
 * @ex: its bit in send_ops_flags of the extended posting calls
 * @data: enum vhca_send_data
 * @remote: it has a remote address
 */
struct vhca_send_op {
	uint8_t opcode;
	uint16_t types;
	uint16_t ex;
	uint8_t data;
	bool remote;
};

#define VHCA_NUM_SEND_OPS	(IBV_WR_ATOMIC_WRITE + 1)

/* By enum ibv_wr_opcode. Hidden, so that accesses need no global offset table. */
extern const struct vhca_send_op vhca_send_ops[VHCA_NUM_SEND_OPS]
	__attribute__((visibility("hidden")));

/* It is executed without sending a packet. */
static inline bool vhca_is_local(const struct vhca_send_op *op)
{
	return op->opcode == VHCA_OP_LOCAL_INV || op->opcode == VHCA_OP_BIND_MW;
}

/* NULL: QPs of this type do not have the operation in the device. */
static inline const struct vhca_send_op *vhca_find_op(enum ibv_qp_type type,
						      enum ibv_wr_opcode opcode)
{
	if ((unsigned int)opcode >= VHCA_NUM_SEND_OPS ||
	    !(vhca_send_ops[opcode].types >> type & 1))
		return NULL;
	return &vhca_send_ops[opcode];
}

/* Do the device and the driver support it for this type of QP? */
static inline bool vhca_has_op(const struct vhca_context *ctx, enum ibv_qp_type type,
			       const struct vhca_send_op *op)
{
	return (type == IBV_QPT_UC ? ctx->uc_send_ops : ctx->send_ops) >> op->opcode & 1;
}

static inline bool vhca_takes_inline(const struct vhca_send_op *op)
{
	return op->data == VHCA_DATA_OUT || op->data == VHCA_DATA_WORD_OUT;
}

#endif /* VHCA_SEND_OPS_H */
