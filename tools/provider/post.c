// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Posting work: a request becomes an entry of the ring, a list of them one doorbell. */
#include <errno.h>

#include "vhca.h"

enum { DB_SEND, DB_RECV };

/**
 * struct op - what a send opcode asks of its entry
 * @hw: the device's opcode
 * @raddr: a remote address segment follows the control segment
 * @imm: immediate data are carried
 * @may_inline: data may stand in the entry
 */
struct op {
	uint8_t hw;
	bool raddr;
	bool imm;
	bool may_inline;
};

static const struct op ops[] = {
	[IBV_WR_SEND]		     = { VHCA_OP_SEND, false, false, true },
	[IBV_WR_SEND_WITH_IMM]	     = { VHCA_OP_SEND_IMM, false, true, true },
	[IBV_WR_RDMA_WRITE]	     = { VHCA_OP_WRITE, true, false, true },
	[IBV_WR_RDMA_WRITE_WITH_IMM] = { VHCA_OP_WRITE_IMM, true, true, true },
	[IBV_WR_RDMA_READ]	     = { VHCA_OP_READ, true, false, false },
};

static const struct op *find_op(enum ibv_wr_opcode opcode)
{
	if ((unsigned int)opcode >= sizeof(ops) / sizeof(ops[0]) || !ops[opcode].hw)
		return NULL;
	return &ops[opcode];
}

/* Bytes of inline data, or more than any limit when they do not add up. */
static uint64_t inline_bytes(const struct ibv_send_wr *wr)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < wr->num_sge; i++)
		sum += wr->sg_list[i].length;
	return sum;
}

static void put_inline(struct vhca_qp *qp, uint32_t pos, const struct ibv_send_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ibv_sge *sge = &wr->sg_list[i];

		vhca_ring_copy(&qp->sq, qp->sq.head, pos, (void *)(uintptr_t)sge->addr,
			       sge->length);
		pos += sge->length;
	}
}

static void put_sge(struct vhca_sge *to, const struct ibv_sge *sge)
{
	to->addr = htole64(sge->addr);
	to->length = htole32(sge->length);
	to->lkey = htole32(sge->lkey);
}

static void put_gather(struct vhca_qp *qp, uint32_t pos, const struct ibv_send_wr *wr)
{
	int i;

	for (i = 0; i < wr->num_sge; i++, pos += sizeof(struct vhca_sge))
		put_sge(vhca_ring_at(&qp->sq, qp->sq.head, pos), &wr->sg_list[i]);
}

/* Write one request at the head of the send ring.  Return: 0, EINVAL or ENOMEM. */
static int put_send(struct vhca_qp *qp, const struct ibv_send_wr *wr)
{
	bool is_inline = wr->send_flags & IBV_SEND_INLINE;
	const struct op *op = find_op(wr->opcode);
	uint32_t pos = sizeof(struct vhca_wqe_ctrl);
	struct vhca_wqe_ctrl *ctrl;
	uint64_t data, blocks;

	if (!op || wr->num_sge < 0 || (is_inline && !op->may_inline))
		return EINVAL;
	if (is_inline) {
		data = inline_bytes(wr);
		if (data > qp->max_inline)
			return EINVAL;
	} else {
		if ((uint32_t)wr->num_sge > qp->max_send_sge)
			return EINVAL;
		data = wr->num_sge * sizeof(struct vhca_sge);
	}
	if (op->raddr)
		pos += sizeof(struct vhca_wqe_raddr);
	blocks = (pos + data + VHCA_WQE_BLOCK - 1) / VHCA_WQE_BLOCK;
	if (blocks > vhca_ring_space(&qp->sq))
		return ENOMEM;

	ctrl = vhca_ring_at(&qp->sq, qp->sq.head, 0);
	*ctrl = (struct vhca_wqe_ctrl){
		.opcode = op->hw,
		.flags = (wr->send_flags & IBV_SEND_SIGNALED || qp->sq_sig_all ?
			  VHCA_WQE_SIGNALED : 0) |
			 (wr->send_flags & IBV_SEND_SOLICITED ? VHCA_WQE_SOLICITED : 0) |
			 (wr->send_flags & IBV_SEND_FENCE ? VHCA_WQE_FENCE : 0) |
			 (is_inline ? VHCA_WQE_INLINE : 0),
		.nblk = blocks,
		.nsge = is_inline ? 0 : wr->num_sge,
		.imm = op->imm ? wr->imm_data : 0,
		.wr_id = htole64(wr->wr_id),
		.index = htole32(qp->sq.head),
		.inline_len = htole32(is_inline ? data : 0),
	};
	if (op->raddr) {
		struct vhca_wqe_raddr *raddr = vhca_ring_at(&qp->sq, qp->sq.head, sizeof(*ctrl));

		*raddr = (struct vhca_wqe_raddr){
			.addr = htole64(wr->wr.rdma.remote_addr),
			.rkey = htole32(wr->wr.rdma.rkey),
		};
	}
	if (is_inline)
		put_inline(qp, pos, wr);
	else
		put_gather(qp, pos, wr);
	__atomic_store_n(&qp->sq.head, qp->sq.head + (uint32_t)blocks, __ATOMIC_RELAXED);
	return 0;
}

int vhca_post_send(struct ibv_qp *ibqp, struct ibv_send_wr *wr, struct ibv_send_wr **bad_wr)
{
	struct vhca_qp *qp = to_vqp(ibqp);
	uint32_t head;
	int err = 0;

	/* only these states take sends: before them the peer is unknown */
	if (!qp->sq.buf || ibqp->state < IBV_QPS_RTS) {
		*bad_wr = wr;
		return EINVAL;
	}
	pthread_spin_lock(&qp->sq_lock);
	head = qp->sq.head;
	for (; wr; wr = wr->next) {
		err = put_send(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (qp->sq.head != head) {
		vhca_db_store(&qp->db, DB_SEND, qp->sq.head);
		vhca_db_ring(&qp->db);
	}
	pthread_spin_unlock(&qp->sq_lock);
	return err;
}

static int put_recv(struct vhca_qp *qp, const struct ibv_recv_wr *wr)
{
	struct vhca_rwqe *rwqe;
	struct vhca_sge *sge;
	int i;

	if (wr->num_sge < 0 || (uint32_t)wr->num_sge > qp->max_recv_sge)
		return EINVAL;
	if (!vhca_ring_space(&qp->rq))
		return ENOMEM;

	rwqe = vhca_ring_entry(&qp->rq, qp->rq.head);
	*rwqe = (struct vhca_rwqe){
		.wr_id = htole64(wr->wr_id),
		.index = htole32(qp->rq.head),
		.nsge = wr->num_sge,
	};
	sge = (struct vhca_sge *)(rwqe + 1);
	for (i = 0; i < wr->num_sge; i++)
		put_sge(&sge[i], &wr->sg_list[i]);
	__atomic_store_n(&qp->rq.head, qp->rq.head + 1, __ATOMIC_RELAXED);
	return 0;
}

int vhca_post_recv(struct ibv_qp *ibqp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad_wr)
{
	struct vhca_qp *qp = to_vqp(ibqp);
	uint32_t head;
	int err = 0;

	if (!qp->rq.buf || ibqp->state == IBV_QPS_RESET) {
		*bad_wr = wr;
		return EINVAL;
	}
	pthread_spin_lock(&qp->rq_lock);
	head = qp->rq.head;
	for (; wr; wr = wr->next) {
		err = put_recv(qp, wr);
		if (err) {
			*bad_wr = wr;
			break;
		}
	}
	if (qp->rq.head != head)
		vhca_db_store(&qp->db, DB_RECV, qp->rq.head);
	pthread_spin_unlock(&qp->rq_lock);
	return err;
}
