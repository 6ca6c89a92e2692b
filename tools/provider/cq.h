/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Completion queues, and the tables of QPs and SRQs that complete in them. */
#ifndef VHCA_CQ_H
#define VHCA_CQ_H

#include "buf.h"
#include "clock.h"

DECLARE_DRV_CMD(vhca_cmd_cq, IB_USER_VERBS_EX_CMD_CREATE_CQ, vhca_create_cq_req,
		vhca_create_cq_resp);

DECLARE_DRV_CMD(vhca_cmd_resize_cq, IB_USER_VERBS_CMD_RESIZE_CQ, vhca_resize_cq_req,
		vhca_resize_cq_resp);

struct vhca_qp;
struct vhca_srq;

/* Tells the number of an XRC SRQ from one of a QP, which has 24 bits too. */
#define VHCA_SRQ_KEY	(1U << 31)

/* A QP, or an XRC SRQ, in the table of a CQ. */
struct vhca_cq_user {
	struct vhca_cq_user *next;
	struct vhca_qp *qp;
	struct vhca_srq *srq;
	uint32_t key;		/* QP number, or SRQ number and VHCA_SRQ_KEY */
};

/**
 * struct vhca_cq - completion queue
 * @vcq: base
 * @lock: protects everything but what @arm_lock protects; held from start_poll to end_poll
 * @buf: ring
 * @log: log2 of its entries
 * @cons: consumer count
 * @db: consumer and arm record
 * @arm_lock: protects the next four; taken alone
 * @arm_seq: sequence number of the last arm record
 * @any_seq: that of the last record for any completion; 0: there was none
 * @any_cons: consumer count of that record
 * @armed_any: armed for any completion, and no event was read since
 * @users: QPs and XRC SRQs that complete here, by number
 * @log_users: log2 of the table's length
 * @num_users: entries of the table
 * @last_user: the entry that was looked up last
 * @entry: the entry that extended polling reads now
 * @polled: entries were taken in this round of extended polling
 * @clock: both clocks, if extended polling offers the time of day
 * @pd: parent domain that it was made in, or NULL
 * @refs: one of the program, until it destroys the CQ, and one of each entry of the table: the
 *	kernel allows a CQ to be destroyed while the provider still destroys a QP that completed
 *	here
 */
struct vhca_cq {
	struct verbs_cq vcq;
	struct vhca_lock lock;
	struct vhca_buf buf;
	uint8_t log;
	uint64_t cons;
	struct vhca_slots db;
	struct vhca_lock arm_lock;
	uint32_t arm_seq;
	uint32_t any_seq;
	uint64_t any_cons;
	bool armed_any;
	struct vhca_cq_user **users;
	uint8_t log_users;
	uint32_t num_users;
	struct vhca_cq_user *last_user;
	struct vhca_cqe entry;
	bool polled;
	struct vhca_clock_sync clock;
	struct ibv_pd *pd;
	_Atomic uint32_t refs;
};

static inline struct vhca_cq *to_vhca_cq(struct ibv_cq *cq)
{
	return container_of(cq, struct vhca_cq, vcq.cq);
}

static inline struct vhca_cq *ex_to_vhca_cq(struct ibv_cq_ex *cq)
{
	return container_of(cq, struct vhca_cq, vcq.cq_ex);
}

/* The key of the queue that a completion belongs to: the QP, or an XRC SRQ for any QP. */
static inline uint32_t vhca_cqe_key(const struct vhca_cqe *cqe)
{
	return cqe->flags & VHCA_CQE_F_XRC ? le32toh(cqe->srqn) | VHCA_SRQ_KEY :
					     le32toh(cqe->qpn);
}

/* Where an entry lies in the CQ's ring. */
static inline struct vhca_cqe *vhca_cqe_at(const struct vhca_cq *cq, uint64_t count)
{
	return (struct vhca_cqe *)cq->buf.addr + vhca_ring_slot(count, cq->log);
}

/* Has the device written this entry?  If so, all of it can be read. */
static inline bool vhca_cqe_fresh(const struct vhca_cq *cq, uint64_t count)
{
	return vhca_ring_fresh(__atomic_load_n(&vhca_cqe_at(cq, count)->owner, __ATOMIC_ACQUIRE),
			       count, cq->log);
}

struct ibv_cq *vhca_create_cq(struct ibv_context *context, int cqe,
			      struct ibv_comp_channel *channel, int comp_vector);
struct ibv_cq_ex *vhca_create_cq_ex(struct ibv_context *context,
				    struct ibv_cq_init_attr_ex *attr);
int vhca_destroy_cq(struct ibv_cq *cq);
int vhca_req_notify_cq(struct ibv_cq *cq, int solicited_only);
int vhca_modify_cq(struct ibv_cq *cq, struct ibv_modify_cq_attr *attr);
void vhca_cq_event(struct ibv_cq *cq);

/* cq_users.c: QPs and XRC SRQs that complete in a CQ */
void vhca_cq_get(struct vhca_cq *cq);
void vhca_cq_put(struct vhca_cq *cq);
int vhca_cq_users_init(struct vhca_cq *cq);
void vhca_cq_users_exit(struct vhca_cq *cq);
void vhca_cq_add_user(struct vhca_cq *cq, struct vhca_cq_user *user);
void vhca_cq_remove_user(struct vhca_cq *cq, struct vhca_cq_user *user);
void vhca_cq_purge(struct vhca_cq *cq, struct vhca_cq_user *user);
struct vhca_cq_user *vhca_cq_find_user(struct vhca_cq *cq, uint32_t key);

/* cq_resize.c */
int vhca_resize_cq(struct ibv_cq *cq, int cqe);

/* poll.c */
int vhca_poll_cq(struct ibv_cq *cq, int num, struct ibv_wc *wc);
void vhca_cq_set_poll_ops(struct vhca_cq *cq, uint64_t wc_flags);

#endif /* VHCA_CQ_H */
