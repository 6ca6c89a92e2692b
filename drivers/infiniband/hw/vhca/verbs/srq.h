/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Shared receive queues. */
#ifndef VHCA_SRQ_H
#define VHCA_SRQ_H

#include "../hw/ring.h"
#include "udata.h"

/**
 * struct vhca_srq_note - the driver's record (note) of a receive posted to an SRQ
 * @wr_id: the consumer's wr_id
 * @room: number of bytes for which it has room
 * @gen: generation, which changes with every use of the note
 * @next: next free note
 * @busy: the receive has not completed
 */
struct vhca_srq_note {
	u64 wr_id;
	u32 room;
	u32 gen;
	u32 next;
	bool busy;
};

/**
 * struct vhca_srq_kernel - additional part of a kernel SRQ
 * @ring: the entries
 * @db: records of the queue
 * @max_sge: scatter entries of a receive
 * @lock: protects everything below, and @ring
 * @head: number of receives posted
 * @tail: number of receives that the device had taken when the record was last read
 * @notes: notes, at least as many as entries
 * @nnotes: their number
 * @free: first free note
 * @busy: notes in use
 * @other: ring that is about to replace @ring, or NULL
 */
struct vhca_srq_kernel {
	struct vhca_ring ring;
	const struct vhca_db *db;
	u32 max_sge;
	spinlock_t lock;
	u64 head;
	u64 tail;
	struct vhca_srq_note *notes;
	u32 nnotes;
	u32 free;
	u32 busy;
	struct vhca_ring *other;
};

/**
 * struct vhca_srq - shared receive queue
 * @ibsrq: its base
 * @srqn: the device's number for it
 * @db: record of posted receives, and record of those that the device has taken
 * @resize: serialises replacing the ring
 * @log: log2 of its entries; changed under @resize
 * @log_stride: log2 of the bytes of an entry
 * @max_sge: scatter entries of a receive
 * @async: found by asynchronous events
 * @user: ring of a user SRQ
 * @kernel: kernel SRQs only
 */
struct vhca_srq {
	struct ib_srq ibsrq;
	u32 srqn;
	struct vhca_db db;
	struct mutex resize;
	u8 log;
	u8 log_stride;
	u32 max_sge;
	struct vhca_target async;
	struct vhca_user_ring user;
	struct vhca_srq_kernel *kernel;
};

VHCA_TO(srq, ibsrq)

int vhca_create_srq(struct ib_srq *ibsrq, struct ib_srq_init_attr *attr, struct ib_udata *udata);
int vhca_modify_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr, enum ib_srq_attr_mask mask,
		    struct ib_udata *udata);
int vhca_query_srq(struct ib_srq *ibsrq, struct ib_srq_attr *attr);
int vhca_destroy_srq(struct ib_srq *ibsrq, struct ib_udata *udata);
int vhca_post_srq_recv(struct ib_srq *ibsrq, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);

/* srq_ring.c: rings of the kernel's SRQs */
int vhca_srq_ring_make(struct vhca_srq_kernel *k, struct device *dev, const struct vhca_db *db,
		       u8 log, u32 max_sge);
void vhca_srq_ring_free(struct vhca_srq_kernel *k);
int vhca_srq_ring_post(struct vhca_srq_kernel *k, const struct ib_recv_wr *wr,
		       const struct ib_recv_wr **bad_wr);
bool vhca_srq_ring_finish(struct vhca_srq_kernel *k, u64 id, u32 len, u64 *wr_id);
int vhca_srq_ring_move_begin(struct vhca_srq_kernel *k, struct vhca_ring *to);
void vhca_srq_ring_move_end(struct vhca_srq_kernel *k, struct vhca_ring *to, bool moved);

#endif /* VHCA_SRQ_H */
