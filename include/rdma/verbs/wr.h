/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Work requests.
 */
#ifndef RDMA_VERBS_WR_H
#define RDMA_VERBS_WR_H

#include <linux/container_of.h>
#include <rdma/verbs/types.h>

enum ib_wr_opcode {
	IB_WR_RDMA_WRITE = IB_UVERBS_WR_RDMA_WRITE,
	IB_WR_RDMA_WRITE_WITH_IMM = IB_UVERBS_WR_RDMA_WRITE_WITH_IMM,
	IB_WR_SEND = IB_UVERBS_WR_SEND,
	IB_WR_SEND_WITH_IMM = IB_UVERBS_WR_SEND_WITH_IMM,
	IB_WR_RDMA_READ = IB_UVERBS_WR_RDMA_READ,
	IB_WR_ATOMIC_CMP_AND_SWP = IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
	IB_WR_ATOMIC_FETCH_AND_ADD = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD,
	IB_WR_BIND_MW = IB_UVERBS_WR_BIND_MW,
	IB_WR_LSO = IB_UVERBS_WR_TSO,
	IB_WR_SEND_WITH_INV = IB_UVERBS_WR_SEND_WITH_INV,
	IB_WR_RDMA_READ_WITH_INV = IB_UVERBS_WR_RDMA_READ_WITH_INV,
	IB_WR_LOCAL_INV = IB_UVERBS_WR_LOCAL_INV,
	IB_WR_MASKED_ATOMIC_CMP_AND_SWP =
		IB_UVERBS_WR_MASKED_ATOMIC_CMP_AND_SWP,
	IB_WR_MASKED_ATOMIC_FETCH_AND_ADD =
		IB_UVERBS_WR_MASKED_ATOMIC_FETCH_AND_ADD,
	IB_WR_FLUSH = IB_UVERBS_WR_FLUSH,
	IB_WR_ATOMIC_WRITE = IB_UVERBS_WR_ATOMIC_WRITE,

	IB_WR_REG_MR = 0x20,
	IB_WR_REG_MR_INTEGRITY,

	IB_WR_RESERVED1 = 0xf0,
	IB_WR_RESERVED2,
	IB_WR_RESERVED3,
	IB_WR_RESERVED4,
	IB_WR_RESERVED5,
	IB_WR_RESERVED6,
	IB_WR_RESERVED7,
	IB_WR_RESERVED8,
	IB_WR_RESERVED9,
	IB_WR_RESERVED10,
};

enum ib_send_flags {
	IB_SEND_FENCE		= 1,
	IB_SEND_SIGNALED	= (1 << 1),
	IB_SEND_SOLICITED	= (1 << 2),
	IB_SEND_INLINE		= (1 << 3),
	IB_SEND_IP_CSUM		= (1 << 4),

	IB_SEND_RESERVED_START	= (1 << 26),
	IB_SEND_RESERVED_END	= (1 << 31),
};

/**
 * struct ib_sge - a piece of registered memory
 * @addr: address that the key translates
 * @length: bytes
 * @lkey: key
 */
struct ib_sge {
	u64	addr;
	u32	length;
	u32	lkey;
};

struct ib_wc;

/* The wr_cqe of a work request points to this; done() is called on its completion. */
struct ib_cqe {
	void (*done)(struct ib_cq *cq, struct ib_wc *wc);
};

/**
 * struct ib_send_wr - work for the send queue; the structures below embed it
 * @next: next request of the chain
 * @wr_id: returned in the completion
 * @wr_cqe: takes the place of @wr_id for CQs that ib_alloc_cq() allocated
 * @sg_list: gather list
 * @num_sge: number of its entries
 * @opcode: operation
 * @send_flags: enum ib_send_flags
 * @ex: immediate data, or the key to invalidate
 */
struct ib_send_wr {
	struct ib_send_wr      *next;
	union {
		u64		wr_id;
		struct ib_cqe	*wr_cqe;
	};
	struct ib_sge	       *sg_list;
	int			num_sge;
	enum ib_wr_opcode	opcode;
	int			send_flags;
	union {
		__be32		imm_data;
		u32		invalidate_rkey;
	} ex;
};

/* RDMA READ and WRITE. */
struct ib_rdma_wr {
	struct ib_send_wr	wr;
	u64			remote_addr;
	u32			rkey;
};

/* Atomic operations; only the masked operations use the masks. */
struct ib_atomic_wr {
	struct ib_send_wr	wr;
	u64			remote_addr;
	u64			compare_add;
	u64			swap;
	u64			compare_add_mask;
	u64			swap_mask;
	u32			rkey;
};

/* Datagrams; only IB_WR_LSO uses header, hlen and mss. */
struct ib_ud_wr {
	struct ib_send_wr	wr;
	struct ib_ah		*ah;
	void			*header;
	int			hlen;
	int			mss;
	u32			remote_qpn;
	u32			remote_qkey;
	u16			pkey_index;
	u32			port_num;
};

/* IB_WR_REG_MR: registers the pages that ib_map_mr_sg() has put into the MR. */
struct ib_reg_wr {
	struct ib_send_wr	wr;
	struct ib_mr		*mr;
	u32			key;
	int			access;
};

static inline const struct ib_rdma_wr *rdma_wr(const struct ib_send_wr *wr)
{
	return container_of_const(wr, struct ib_rdma_wr, wr);
}

static inline const struct ib_atomic_wr *atomic_wr(const struct ib_send_wr *wr)
{
	return container_of_const(wr, struct ib_atomic_wr, wr);
}

static inline const struct ib_ud_wr *ud_wr(const struct ib_send_wr *wr)
{
	return container_of_const(wr, struct ib_ud_wr, wr);
}

static inline const struct ib_reg_wr *reg_wr(const struct ib_send_wr *wr)
{
	return container_of_const(wr, struct ib_reg_wr, wr);
}

/**
 * struct ib_recv_wr - a buffer for the receive queue
 * @next: next request of the chain
 * @wr_id: returned in the completion
 * @wr_cqe: takes the place of @wr_id for CQs that ib_alloc_cq() allocated
 * @sg_list: scatter list
 * @num_sge: number of its entries
 */
struct ib_recv_wr {
	struct ib_recv_wr      *next;
	union {
		u64		wr_id;
		struct ib_cqe	*wr_cqe;
	};
	struct ib_sge	       *sg_list;
	int			num_sge;
};

#endif /* RDMA_VERBS_WR_H */
