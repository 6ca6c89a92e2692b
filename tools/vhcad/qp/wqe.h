/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work queue entries: copied from guest memory once, checked, in host byte order.
 */
#ifndef VHCAD_WQE_H
#define VHCAD_WQE_H

#include "qp/qp.h"
#include "res/sgl.h"

struct send_wqe {
	const struct vqp *qp;	/* QP whose entry this is; NULL: none */
	u32 blk;		/* block count where it starts */
	u8 opcode;		/* enum vhca_wqe_opcode */
	u8 flags;		/* VHCA_WQE_* */
	u8 nblk;
	u32 nsge;
	u32 imm;		/* wire order */
	u32 inv_key;		/* SEND_INV, READ_INV, LOCAL_INV */
	u32 srqn;		/* XRC_INI */
	u64 wr_id;
	u64 raddr;
	u32 rkey;
	struct vhca_av av;	/* datagrams, and the next two */
	u32 dqpn;
	u32 qkey;
	u16 pkey_index;		/* GSI */
	union {
		struct matomic atomic;
		struct {
			const u8 *header;	/* in @raw */
			u16 mss;
			u16 hlen;
		} lso;
		struct {
			u32 len;
			u8 type;	/* VHCA_FLUSH_* */
			u8 level;
		} flush;
		struct vhca_wqe_bind bind;	/* as they stand in the entry */
		struct vhca_wqe_reg reg;
	};
	u64 len;		/* bytes of the message */
	const u8 *data;		/* inline data, or NULL */
	struct sge sge[VDEV_MAX_SGE];
	u8 raw[VHCA_WQE_MAX_BLOCKS * VHCA_WQE_BLOCK];
};

/* An answer completes it, which may be requested again: at most max_rd_atomic are under way. */
static inline bool op_is_answered(u8 opcode)
{
	return opcode >= VHCA_OP_READ && opcode <= VHCA_OP_FLUSH;
}

static inline bool op_is_read(u8 opcode)
{
	return opcode == VHCA_OP_READ || opcode == VHCA_OP_READ_INV;
}

static inline bool op_is_atomic(u8 opcode)
{
	return opcode >= VHCA_OP_CMP_SWAP && opcode <= VHCA_OP_MASKED_FETCH_ADD;
}

/* It is executed without sending a packet. */
static inline bool op_is_local(u8 opcode)
{
	return opcode >= VHCA_OP_LOCAL_INV && opcode <= VHCA_OP_REG_MR;
}

struct recv_wqe {
	struct vqp *qp;		/* QP whose receive this is; NULL: none */
	u32 index;		/* receive count of this entry */
	bool shared;		/* from an SRQ, where it cannot be read again */
	u32 nsge;
	u64 wr_id;
	u64 len;		/* bytes it has room for */
	struct sge sge[VDEV_MAX_SGE];
};

/**
 * wqe_load_send() - take a send queue entry
 * @qp: QP
 * @blk: block count where it starts
 * @prod: block count it must end at or before
 * @w: filled in; after an error wr_id and nblk are as good as can be, and it has no QP
 *
 * Returns VHCA_CS_SUCCESS, the status to complete it with, or -EFAULT if the
 * ring cannot be read.
 */
int wqe_load_send(struct vqp *qp, u32 blk, u32 prod, struct send_wqe *w);

/**
 * wqe_load_recv() - take a receive queue entry
 * @mem: guest memory
 * @r: ring
 * @log_stride: log2 of the bytes of a stride
 * @index: its receive count
 * @w: filled in, without a QP; after an error wr_id is as good as can be
 *
 * Returns as wqe_load_send().
 */
int wqe_load_recv(struct guest_mem *mem, struct vring *r, u32 log_stride, u32 index,
		  struct recv_wqe *w);

/** wqe_prefetch() - a hint: these blocks of the send queue are loaded next */
void wqe_prefetch(const struct vqp *qp, u32 blocks);
/** wqe_forget() - drop the worker's copies of a QP whose rings have changed or are freed */
void wqe_forget(const struct vqp *qp);

#endif /* VHCAD_WQE_H */
