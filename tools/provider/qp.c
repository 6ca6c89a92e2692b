// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queue pairs: sizes of their rings, life, attributes. */
#include <errno.h>
#include <stdlib.h>

#include "vhca.h"

/* Records of a QP's two slots. */
enum { DB_SEND, DB_RECV };

static unsigned int log2_ceil(uint64_t n)
{
	return n <= 1 ? 0 : 64 - __builtin_clzll(n - 1);
}

/* Blocks of the longest entry that a QP with these capabilities posts. */
static uint32_t send_blocks(const struct ibv_qp_cap *cap)
{
	size_t gather = cap->max_send_sge * sizeof(struct vhca_sge);
	size_t data = gather > cap->max_inline_data ? gather : cap->max_inline_data;
	size_t bytes = sizeof(struct vhca_wqe_ctrl) + sizeof(struct vhca_wqe_raddr) + data;

	return (bytes + VHCA_WQE_BLOCK - 1) / VHCA_WQE_BLOCK;
}

static int check_cap(const struct vhca_context *ctx, const struct ibv_qp_cap *cap)
{
	if (cap->max_send_sge > ctx->max_send_sge || cap->max_recv_sge > ctx->max_recv_sge ||
	    cap->max_inline_data > ctx->max_inline ||
	    cap->max_send_wr > 1U << 26 || cap->max_recv_wr > 1U << 26)
		return EINVAL;
	return 0;
}

/* A queue for which no request may ever be outstanding has no ring. */
static int alloc_rings(struct vhca_qp *qp, const struct ibv_qp_cap *cap, size_t page_size)
{
	unsigned int stride = log2_ceil(VHCA_RWQE_SIZE(cap->max_recv_sge));
	int err;

	if (cap->max_send_wr) {
		uint64_t blocks = (uint64_t)cap->max_send_wr * send_blocks(cap);

		err = vhca_ring_alloc(&qp->sq, log2_ceil(blocks),
				      __builtin_ctz(VHCA_WQE_BLOCK), page_size);
		if (err)
			return err;
	}
	if (cap->max_recv_wr) {
		err = vhca_ring_alloc(&qp->rq, log2_ceil(cap->max_recv_wr), stride, page_size);
		if (err) {
			vhca_ring_free(&qp->sq, page_size);
			return err;
		}
	}
	return 0;
}

static void free_rings(struct vhca_qp *qp, size_t page_size)
{
	vhca_ring_free(&qp->sq, page_size);
	vhca_ring_free(&qp->rq, page_size);
}

struct ibv_qp *vhca_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	struct vhca_context *ctx = to_vctx(pd->context);
	struct uvhca_create_qp_resp resp = {};
	struct uvhca_create_qp cmd = {};
	struct vhca_qp *qp;
	int err;

	err = check_cap(ctx, &attr->cap);
	if (err)
		goto err_out;
	err = ENOMEM;
	qp = calloc(1, sizeof(*qp));
	if (!qp)
		goto err_out;
	qp->max_send_sge = attr->cap.max_send_sge;
	qp->max_recv_sge = attr->cap.max_recv_sge;
	qp->max_inline = attr->cap.max_inline_data;
	qp->sq_sig_all = attr->sq_sig_all;

	err = alloc_rings(qp, &attr->cap, ctx->page_size);
	if (err)
		goto err_free;
	cmd.sq_addr = (uintptr_t)qp->sq.buf;
	cmd.rq_addr = (uintptr_t)qp->rq.buf;
	cmd.log_sq_blocks = qp->sq.buf ? qp->sq.log_size : VHCA_NO_QUEUE;
	cmd.log_rq_strides = qp->rq.buf ? qp->rq.log_size : VHCA_NO_QUEUE;
	cmd.log_rq_stride = qp->rq.buf ? qp->rq.shift : 0;

	err = ibv_cmd_create_qp(pd, &qp->vqp.qp, attr, &cmd.ibv_cmd, sizeof(cmd),
				&resp.ibv_resp, sizeof(resp));
	if (err)
		goto err_rings;
	err = vhca_db_map(ctx, &qp->db, resp.db_slot, resp.db_mmap);
	if (err)
		goto err_destroy;
	pthread_spin_init(&qp->sq_lock, PTHREAD_PROCESS_PRIVATE);
	pthread_spin_init(&qp->rq_lock, PTHREAD_PROCESS_PRIVATE);

	/* libibverbs fills these in after the call; completions may need them before */
	qp->vqp.qp.send_cq = attr->send_cq;
	qp->vqp.qp.recv_cq = attr->recv_cq;
	err = vhca_cqs_attach(qp);
	if (err)
		goto err_locks;
	return &qp->vqp.qp;

err_locks:
	pthread_spin_destroy(&qp->rq_lock);
	pthread_spin_destroy(&qp->sq_lock);
err_destroy:
	ibv_cmd_destroy_qp(&qp->vqp.qp);
err_rings:
	free_rings(qp, ctx->page_size);
err_free:
	free(qp);
err_out:
	errno = err;
	return NULL;
}

int vhca_query_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask,
		  struct ibv_qp_init_attr *init_attr)
{
	struct ibv_query_qp cmd;

	return ibv_cmd_query_qp(ibqp, attr, mask, init_attr, &cmd, sizeof(cmd));
}

/*
 * In RESET the device has forgotten both queues.  Completions of before would
 * move the fresh tails, so they leave the CQs while both rings are locked.
 */
static void restart_rings(struct vhca_qp *qp)
{
	pthread_spin_lock(&qp->sq_lock);
	pthread_spin_lock(&qp->rq_lock);
	vhca_cqs_purge(qp);
	qp->sq.head = 0;
	qp->sq.tail = 0;
	qp->rq.head = 0;
	qp->rq.tail = 0;
	vhca_db_store(&qp->db, DB_SEND, 0);
	vhca_db_store(&qp->db, DB_RECV, 0);
	pthread_spin_unlock(&qp->rq_lock);
	pthread_spin_unlock(&qp->sq_lock);
}

int vhca_modify_qp(struct ibv_qp *ibqp, struct ibv_qp_attr *attr, int mask)
{
	struct ibv_modify_qp cmd = {};
	int err;

	err = ibv_cmd_modify_qp(ibqp, attr, mask, &cmd, sizeof(cmd));
	if (!err && (mask & IBV_QP_STATE) && attr->qp_state == IBV_QPS_RESET)
		restart_rings(to_vqp(ibqp));
	return err;
}

int vhca_destroy_qp(struct ibv_qp *ibqp)
{
	struct vhca_qp *qp = to_vqp(ibqp);
	int err = ibv_cmd_destroy_qp(ibqp);

	if (err)
		return err;
	vhca_cqs_detach(qp);
	free_rings(qp, to_vctx(ibqp->context)->page_size);
	pthread_spin_destroy(&qp->rq_lock);
	pthread_spin_destroy(&qp->sq_lock);
	free(qp);
	return 0;
}
