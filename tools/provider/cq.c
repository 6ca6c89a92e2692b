// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues: polling and arming never enter the kernel. */
#include <errno.h>
#include <stdlib.h>

#include "vhca.h"

/* Records of a CQ's two slots. */
enum { DB_CONSUMER, DB_ARM };

static unsigned int log2_ceil(uint32_t n)
{
	return n <= 1 ? 0 : 32 - __builtin_clz(n - 1);
}

struct ibv_cq *vhca_create_cq(struct ibv_context *ibctx, int cqe,
			      struct ibv_comp_channel *channel, int vector)
{
	struct vhca_context *ctx = to_vctx(ibctx);
	struct uvhca_create_cq_resp resp = {};
	struct uvhca_create_cq cmd = {};
	struct vhca_cq *cq;
	int err;

	if (cqe < 1 || cqe > 1 << 30) {
		errno = EINVAL;
		return NULL;
	}
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return NULL;
	err = vhca_ring_alloc(&cq->ring, log2_ceil(cqe), __builtin_ctz(sizeof(struct vhca_cqe)),
			      ctx->page_size);
	if (err)
		goto err_free;

	cmd.buf_addr = (uintptr_t)cq->ring.buf;
	cmd.log_cqe = cq->ring.log_size;
	err = ibv_cmd_create_cq(ibctx, cqe, channel, vector, &cq->vcq.cq, &cmd.ibv_cmd,
				sizeof(cmd), &resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_ring;
	cq->cqn = resp.cqn;
	cq->arm_seq = 1;
	err = vhca_db_map(ctx, &cq->db, resp.db_slot, resp.db_mmap);
	if (err)
		goto err_destroy;
	pthread_spin_init(&cq->lock, PTHREAD_PROCESS_PRIVATE);
	return &cq->vcq.cq;

err_destroy:
	ibv_cmd_destroy_cq(&cq->vcq.cq);
err_ring:
	vhca_ring_free(&cq->ring, ctx->page_size);
err_free:
	free(cq);
	errno = err;
	return NULL;
}

int vhca_destroy_cq(struct ibv_cq *ibcq)
{
	struct vhca_cq *cq = to_vcq(ibcq);
	int err = ibv_cmd_destroy_cq(ibcq);

	if (err)
		return err;
	vhca_ring_free(&cq->ring, to_vctx(ibcq->context)->page_size);
	vhca_qpset_free(&cq->qps);
	pthread_spin_destroy(&cq->lock);
	free(cq);
	return 0;
}

/* The one event of an arming was taken: the next arming asks for another. */
void vhca_cq_event(struct ibv_cq *ibcq)
{
	struct vhca_cq *cq = to_vcq(ibcq);

	pthread_spin_lock(&cq->lock);
	cq->arm_seq++;
	if (!(cq->arm_seq & VHCA_ARM_SEQ_MASK))
		cq->arm_seq++;	/* 0 stands for "never" after creation */
	pthread_spin_unlock(&cq->lock);
}

int vhca_req_notify_cq(struct ibv_cq *ibcq, int solicited_only)
{
	struct vhca_cq *cq = to_vcq(ibcq);

	pthread_spin_lock(&cq->lock);
	vhca_db_store(&cq->db, DB_ARM,
		      vhca_arm_record(cq->ring.tail, cq->arm_seq, solicited_only));
	pthread_spin_unlock(&cq->lock);
	/*
	 * The device writes an entry and then looks at the arm record; the
	 * caller stores the record and then polls.  One of them sees the other
	 * only if neither side's load passes its store.
	 */
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return 0;
}

static enum ibv_wc_opcode wc_opcode(uint8_t opcode)
{
	switch (opcode) {
	case VHCA_CQE_WRITE:
		return IBV_WC_RDMA_WRITE;
	case VHCA_CQE_READ:
		return IBV_WC_RDMA_READ;
	case VHCA_CQE_RECV:
		return IBV_WC_RECV;
	case VHCA_CQE_RECV_WRITE_IMM:
		return IBV_WC_RECV_RDMA_WITH_IMM;
	default:
		return IBV_WC_SEND;
	}
}

static void fill_wc(struct ibv_wc *wc, const struct vhca_cqe *cqe)
{
	uint8_t flags = cqe->flags;

	wc->wr_id = le64toh(cqe->wr_id);
	wc->status = (enum ibv_wc_status)cqe->status;
	wc->opcode = wc_opcode(cqe->opcode);
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = le32toh(cqe->byte_len);
	wc->imm_data = cqe->imm;
	wc->qp_num = le32toh(cqe->qpn);
	wc->src_qp = le32toh(cqe->src_qpn);
	wc->wc_flags = (flags & VHCA_CQE_F_IMM ? IBV_WC_WITH_IMM : 0) |
		       (flags & VHCA_CQE_F_GRH ? IBV_WC_GRH : 0);
	wc->pkey_index = le16toh(cqe->pkey_index);
	wc->slid = le16toh(cqe->slid);
	wc->sl = cqe->sl;
	wc->dlid_path_bits = cqe->dlid_path_bits;
	/* programs that look at the opcode of a failed receive want to know the queue */
	if (cqe->status && (flags & VHCA_CQE_F_RQ))
		wc->opcode = IBV_WC_RECV;
}

/* Give back the ring space that the completed entry, and all before it, took. */
static void retire(struct vhca_cq *cq, const struct vhca_cqe *cqe)
{
	uint32_t qpn = le32toh(cqe->qpn);
	struct vhca_qp *qp = cq->last;

	if (!qp || qp->vqp.qp.qp_num != qpn) {
		qp = vhca_qpset_find(&cq->qps, qpn);
		if (!qp)
			return;
		cq->last = qp;
	}
	vhca_ring_retire(cqe->flags & VHCA_CQE_F_RQ ? &qp->rq : &qp->sq,
			 le32toh(cqe->wqe_index));
}

int vhca_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct vhca_cq *cq = to_vcq(ibcq);
	int n;

	pthread_spin_lock(&cq->lock);
	for (n = 0; n < num; n++) {
		const struct vhca_cqe *cqe = vhca_cqe_valid(&cq->ring, cq->ring.tail);

		if (!cqe)
			break;
		fill_wc(&wc[n], cqe);
		retire(cq, cqe);
		cq->ring.tail++;
	}
	if (n)
		vhca_db_store(&cq->db, DB_CONSUMER, cq->ring.tail);
	pthread_spin_unlock(&cq->lock);
	return n;
}

/* ---- what a QP asks of its CQs; the two may be one ---- */

static int cq_attach(struct vhca_cq *cq, struct vhca_qp *qp)
{
	int err;

	pthread_spin_lock(&cq->lock);
	err = vhca_qpset_reserve(&cq->qps);
	if (!err)
		vhca_qpset_insert(&cq->qps, qp->vqp.qp.qp_num, qp);
	pthread_spin_unlock(&cq->lock);
	return err;
}

static void cq_purge(struct vhca_cq *cq, struct vhca_qp *qp, bool detach)
{
	uint32_t qpn = qp->vqp.qp.qp_num;

	pthread_spin_lock(&cq->lock);
	if (vhca_cq_purge(&cq->ring, qpn))
		vhca_db_store(&cq->db, DB_CONSUMER, cq->ring.tail);
	if (detach) {
		vhca_qpset_remove(&cq->qps, qpn);
		if (cq->last == qp)
			cq->last = NULL;
	}
	pthread_spin_unlock(&cq->lock);
}

static void cqs_purge(struct vhca_qp *qp, bool detach)
{
	struct ibv_cq *send_cq = qp->vqp.qp.send_cq, *recv_cq = qp->vqp.qp.recv_cq;

	cq_purge(to_vcq(send_cq), qp, detach);
	if (recv_cq != send_cq)
		cq_purge(to_vcq(recv_cq), qp, detach);
}

int vhca_cqs_attach(struct vhca_qp *qp)
{
	struct ibv_cq *send_cq = qp->vqp.qp.send_cq, *recv_cq = qp->vqp.qp.recv_cq;
	int err;

	err = cq_attach(to_vcq(send_cq), qp);
	if (err || recv_cq == send_cq)
		return err;
	err = cq_attach(to_vcq(recv_cq), qp);
	if (err)
		cq_purge(to_vcq(send_cq), qp, true);
	return err;
}

/* The QP was reset: its completions of before go. */
void vhca_cqs_purge(struct vhca_qp *qp)
{
	cqs_purge(qp, false);
}

/* The QP is no more. */
void vhca_cqs_detach(struct vhca_qp *qp)
{
	cqs_purge(qp, true);
}
