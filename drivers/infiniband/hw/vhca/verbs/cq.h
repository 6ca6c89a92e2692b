/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues. */
#ifndef VHCA_CQ_H
#define VHCA_CQ_H

#include <linux/workqueue.h>
#include <rdma/vhca-abi.h>

#include "../hw/ring.h"
#include "udata.h"

struct vhca_qp;

/* QP number written to completions of a destroyed QP; real QP numbers have 24 bits. */
#define VHCA_QPN_NONE	0xffffffffU

/**
 * struct vhca_cq_kernel - additional part of a kernel CQ
 * @cq: the CQ
 * @ring: the entries
 * @lock: protects the fields below, and fields of QPs whose comments refer to it
 * @ci: consumer count
 * @seq: sequence number of the last arm record, 0 if there was none
 * @any_seq: that of the last record for any completion, 0 if it is not valid any more
 * @any_ci: consumer count at that record
 * @any_at: count of the entry for which it requests the event
 * @qps: QPs that complete to this CQ, by vhca_qp_id(); a QP is removed before its destruction takes
 *	the lock the last time
 * @senders: QPs that complete sends here
 * @receivers: QPs that complete receives here
 * @wake: calls the completion handler for a dead device
 * @owed: the device is dead, and its consumer has not yet polled until nothing was left
 * @moving: the ring is being replaced: nothing can be polled
 * @asked: smallest number of completions for which an event was requested meanwhile, 0 for none
 */
struct vhca_cq_kernel {
	struct vhca_cq *cq;
	struct vhca_ring ring;
	spinlock_t lock;
	u64 ci;
	u32 seq;
	u32 any_seq;
	u64 any_ci;
	u64 any_at;
	struct xarray qps;
	struct list_head senders;
	struct list_head receivers;
	struct work_struct wake;
	bool owed;
	bool moving;
	unsigned int asked;
};

/**
 * struct vhca_cq - completion queue
 * @ibcq: its base
 * @vector: completion vector to which it reports
 * @cqn: the device's number for it
 * @resize: held while the ring is replaced, and while entries of a QP are marked
 * @log: log2 of its entries; changed under @resize and the kernel part's lock
 * @db: consumer slot and arm record
 * @comp: found by completion events
 * @async: found by asynchronous events
 * @user: ring of a user CQ
 * @kernel: kernel CQs only
 */
struct vhca_cq {
	struct ib_cq ibcq;
	struct vhca_vector *vector;
	u32 cqn;
	struct mutex resize;
	u8 log;
	struct vhca_db db;
	struct vhca_target comp;
	struct vhca_target async;
	struct vhca_user_ring user;
	struct vhca_cq_kernel *kernel;
};

VHCA_TO(cq, ibcq)

/**
 * vhca_cq_wake_soft() - queue a call of a kernel CQ's handler, when the device raises no event
 * @cq: the CQ
 *
 * Context: any.
 */
static inline void vhca_cq_wake_soft(struct vhca_cq *cq)
{
	queue_work(vhca_reclaim_wq, &cq->kernel->wake);
}

/**
 * vhca_cq_was_armed() - has a kernel CQ's consumer ever requested an event?
 * @k: the kernel's part of the CQ
 *
 * A consumer that has not polls by itself, and its handler must not be called: the core warns.
 *
 * Context: any.
 * Return: true if it has.
 */
static inline bool vhca_cq_was_armed(const struct vhca_cq_kernel *k)
{
	return READ_ONCE(k->seq);
}

/* Where an entry of a kernel CQ lies. Context: any. */
static inline struct vhca_cqe *vhca_cq_entry(struct vhca_cq *cq, u64 count)
{
	return vhca_ring_at(&cq->kernel->ring, count);
}

/* Has the device written an entry of a kernel CQ? Context: the CQ's lock is held. */
static inline bool vhca_cq_pending(struct vhca_cq *cq, u64 count)
{
	return vhca_ring_fresh(READ_ONCE(vhca_cq_entry(cq, count)->owner), count,
			       cq->kernel->ring.log);
}

int vhca_create_cq(struct ib_cq *ibcq, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);
int vhca_modify_cq(struct ib_cq *ibcq, u16 count, u16 period);
int vhca_destroy_cq(struct ib_cq *ibcq, struct ib_udata *udata);

/* cq_resize.c */
int vhca_resize_cq(struct ib_cq *ibcq, int cqe, struct ib_udata *udata);
void vhca_cq_move_begin(struct vhca_cq *cq, struct vhca_ring *to);
int vhca_cq_move_end(struct vhca_cq *cq, struct vhca_ring *to, u32 first, bool *call);
void vhca_cq_move_cancel(struct vhca_cq *cq, bool *call);

/* cq_poll.c: the kernel's completions */
int vhca_poll_cq(struct ib_cq *ibcq, int n, struct ib_wc *wc);
int vhca_peek_cq(struct ib_cq *ibcq, int n);
int vhca_req_notify_cq(struct ib_cq *ibcq, enum ib_cq_notify_flags flags);
int vhca_req_ncomp_notif(struct ib_cq *ibcq, int n);
unsigned int vhca_cq_waiting(struct vhca_cq *cq, unsigned int max);
int vhca_cq_attach_qp(struct vhca_qp *qp);
void vhca_cq_purge_qp(struct vhca_qp *qp, bool detach);

/* cq_dead.c: the kernel's completions of a dead device */
int vhca_cq_flush(struct vhca_cq *cq, int n, struct ib_wc *wc);
void vhca_cq_settle(struct vhca_cq *cq);
void vhca_cq_armed_dead(struct vhca_cq *cq);
void vhca_cq_wake_work(struct work_struct *work);
void vhca_cq_wake_users(struct vhca_cq *cq);
void vhca_cq_wait_flushed(struct vhca_dev *dev);

#endif /* VHCA_CQ_H */
