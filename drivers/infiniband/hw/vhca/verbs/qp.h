/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Queue pairs, and the send and receive queues of the kernel. */
#ifndef VHCA_QP_H
#define VHCA_QP_H

#include <linux/wait.h>
#include <rdma/vhca-abi.h>

#include "../defs/qp.h"
#include "../hw/ring.h"
#include "udata.h"

/**
 * struct vhca_wr - the driver's record of a posted request
 * @wr_id: the consumer's wr_id
 * @room: number of bytes for which a receive has room
 * @opcode: enum ib_wc_opcode its completion will have
 * @nslots: ring slots it takes
 */
struct vhca_wr {
	u64 wr_id;
	u32 room;
	u8 opcode;
	u8 nslots;
};

/**
 * struct vhca_wq - a send or receive queue of the kernel
 * @ring: the slots: blocks of sends, or receives
 * @wrs: requests by the slot they start in
 * @max_sge: gather or scatter entries of a request
 * @max_inline: inline bytes of a request
 * @lock: protects @head
 * @head: slots posted; read under the CQ's lock
 * @tail: slots completed; written under the CQ's lock
 * @link: in the CQ's list; under the CQ's lock
 *
 * The ring was written by the driver, but the device could overwrite it. Therefore completions are
 * made from @wrs.
 */
struct vhca_wq {
	struct vhca_ring ring;
	struct vhca_wr *wrs;
	u32 max_sge;
	u32 max_inline;
	spinlock_t lock;
	u64 head;
	u64 tail;
	struct list_head link;
};

/*
 * Posting writes a record (@wrs) and then the head; polling reads the head, then the record, and
 * then writes the tail; posting reads the tail before it overwrites the record.
 */
static inline u64 vhca_wq_head(const struct vhca_wq *wq)
{
	/* Pairs with vhca_wq_post(). */
	return smp_load_acquire(&wq->head);
}

static inline void vhca_wq_post(struct vhca_wq *wq, u32 slots)
{
	/* Pairs with vhca_wq_head(). */
	smp_store_release(&wq->head, wq->head + slots);
}

static inline u64 vhca_wq_tail(const struct vhca_wq *wq)
{
	/* Pairs with vhca_wq_finish(). */
	return smp_load_acquire(&wq->tail);
}

static inline void vhca_wq_finish(struct vhca_wq *wq, u64 tail)
{
	/* Pairs with vhca_wq_tail(). */
	smp_store_release(&wq->tail, tail);
}

/**
 * struct vhca_qp_kernel - additional part of a kernel QP
 * @qp: the QP
 * @sq: send queue
 * @rq: receive queue; nothing is ever posted to that of a QP with an SRQ
 * @broken: in the error state: each posted receive rings. Changes under the receive queue's lock.
 * @given_back: since its last reset, a QP with an SRQ has raised the last-WQE event
 * @resets: how often it was reset. Under the QP's lock.
 * @wait: for @given_back, or for @resets to change
 */
struct vhca_qp_kernel {
	struct vhca_qp *qp;
	struct vhca_wq sq;
	struct vhca_wq rq;
	bool broken;
	bool given_back;
	unsigned int resets;
	wait_queue_head_t wait;
};

/**
 * struct vhca_qp - queue pair; its number is ibqp.qp_num
 * @ibqp: its base
 * @port: port of a management QP (QP 0 or 1), which cannot change; 0 for QPs of other types
 * @id: vhca_qp_id(), by which events and completions look it up
 * @db: send slot and receive record
 * @lock: serialises modify
 * @state: last state to which it was moved
 * @cap: its sizes
 * @sig_type: as created
 * @create_flags: as created
 * @async: found by asynchronous events
 * @user_sq: send ring of a user QP
 * @user_rq: receive ring of a user QP
 * @kernel: kernel QPs only
 */
struct vhca_qp {
	struct ib_qp ibqp;
	u8 port;
	u32 id;
	struct vhca_db db;
	struct mutex lock;
	enum ib_qp_state state;
	struct ib_qp_cap cap;
	enum ib_sig_type sig_type;
	u32 create_flags;
	struct vhca_target async;
	struct vhca_user_ring user_sq;
	struct vhca_user_ring user_rq;
	struct vhca_qp_kernel *kernel;
};

VHCA_TO(qp, ibqp)

/**
 * vhca_qp_id() - make a unique id of a QP
 * @port: port of a management QP, ignored for other QPs
 * @qpn: number of the QP
 *
 * Every port has a QP 0 and a QP 1. Their ids have the port in the bits above the 24 bits of QP
 * numbers.
 *
 * Context: any.
 * Return: the id, which no other QP of the device has.
 */
static inline u32 vhca_qp_id(u8 port, u32 qpn)
{
	return qpn < VHCA_SPECIAL_QPS ? (u32)port << 24 | qpn : qpn;
}

/* Is it a management QP? The values of these types are also the QP numbers. */
static inline bool vhca_qp_is_management(enum ib_qp_type type)
{
	return type == IB_QPT_SMI || type == IB_QPT_GSI;
}

/* Does each of its requests carry an address? */
static inline bool vhca_qp_is_datagram(enum ib_qp_type type)
{
	return type == IB_QPT_UD || vhca_qp_is_management(type);
}

int vhca_create_qp(struct ib_qp *ibqp, struct ib_qp_init_attr *attr, struct ib_udata *udata);
int vhca_modify_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata);
int vhca_query_qp(struct ib_qp *ibqp, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init_attr);
int vhca_destroy_qp(struct ib_qp *ibqp, struct ib_udata *udata);
void vhca_qp_given_back(struct vhca_qp *qp);
int vhca_attach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);
int vhca_detach_mcast(struct ib_qp *ibqp, union ib_gid *gid, u16 lid);

/* Does it have receives: a queue of its own, or the SRQ that it was created with? */
static inline bool vhca_qp_has_receives(enum ib_qp_type type)
{
	return type != IB_QPT_XRC_INI && type != IB_QPT_XRC_TGT;
}

/* qp_ring.c: rings */
int vhca_qp_take_user_rings(struct vhca_dev *dev, struct vhca_qp *qp,
			    const struct vhca_create_qp_req *req,
			    struct vhca_create_qp_hw_req *hw);
int vhca_qp_make_kernel_rings(struct vhca_dev *dev, struct vhca_qp *qp,
			      struct vhca_create_qp_hw_req *hw);
void vhca_qp_free_rings(struct vhca_qp *qp);

/* qp_attr.c: attributes in the device's format */
void vhca_qp_attr_to_hw(const struct ib_qp_attr *attr, int mask, struct vhca_qp_attr *hw);
void vhca_qp_attr_from_hw(const struct vhca_dev *dev, const struct vhca_qp_attr *hw,
			  struct ib_qp_attr *attr);

/* wqe.c: send requests in the device's format */
u32 vhca_send_wqe_blocks(const struct vhca_dev *dev, enum ib_qp_type type, u32 nsge,
			 u32 inline_len);
u32 vhca_lso_wqe_blocks(u32 nsge);
int vhca_put_send(struct vhca_qp *qp, const struct ib_send_wr *wr);

/* post.c: posting by kernel consumers */
int vhca_post_send(struct ib_qp *ibqp, const struct ib_send_wr *wr,
		   const struct ib_send_wr **bad_wr);
int vhca_post_recv(struct ib_qp *ibqp, const struct ib_recv_wr *wr,
		   const struct ib_recv_wr **bad_wr);
u32 vhca_write_rwqe(struct vhca_rwqe *rwqe, const struct ib_recv_wr *wr, u64 id, u64 count);
void vhca_wq_reset(struct vhca_wq *wq);
void vhca_qp_broken(struct vhca_qp *qp);

#endif /* VHCA_QP_H */
