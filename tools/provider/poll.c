// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Polling, in the classic form and the extended one.
 *
 * An entry is copied once and only the copy is used.  What it says about
 * the QP's queue counts only if it fits what was posted there.
 */
#include <errno.h>
#include <string.h>

#include "clock.h"
#include "cq.h"
#include "qp.h"
#include "srq.h"
#include "wq.h"

static enum ibv_wc_status wc_status(const struct vhca_cqe *cqe)
{
	switch (cqe->status) {
	case VHCA_CS_SUCCESS:
		return IBV_WC_SUCCESS;
	case VHCA_CS_LOC_LEN_ERR:
		return IBV_WC_LOC_LEN_ERR;
	case VHCA_CS_LOC_QP_OP_ERR:
		return IBV_WC_LOC_QP_OP_ERR;
	case VHCA_CS_LOC_EEC_OP_ERR:
		return IBV_WC_LOC_EEC_OP_ERR;
	case VHCA_CS_LOC_PROT_ERR:
		return IBV_WC_LOC_PROT_ERR;
	case VHCA_CS_WR_FLUSH_ERR:
		return IBV_WC_WR_FLUSH_ERR;
	case VHCA_CS_MW_BIND_ERR:
		return IBV_WC_MW_BIND_ERR;
	case VHCA_CS_BAD_RESP_ERR:
		return IBV_WC_BAD_RESP_ERR;
	case VHCA_CS_LOC_ACCESS_ERR:
		return IBV_WC_LOC_ACCESS_ERR;
	case VHCA_CS_REM_INV_REQ_ERR:
		return IBV_WC_REM_INV_REQ_ERR;
	case VHCA_CS_REM_ACCESS_ERR:
		return IBV_WC_REM_ACCESS_ERR;
	case VHCA_CS_REM_OP_ERR:
		return IBV_WC_REM_OP_ERR;
	case VHCA_CS_RETRY_EXC_ERR:
		return IBV_WC_RETRY_EXC_ERR;
	case VHCA_CS_RNR_RETRY_EXC_ERR:
		return IBV_WC_RNR_RETRY_EXC_ERR;
	case VHCA_CS_REM_ABORT_ERR:
		return IBV_WC_REM_ABORT_ERR;
	case VHCA_CS_FATAL_ERR:
		return IBV_WC_FATAL_ERR;
	default:
		return IBV_WC_GENERAL_ERR;
	}
}

static enum ibv_wc_opcode wc_opcode(const struct vhca_cqe *cqe)
{
	switch (cqe->opcode) {
	case VHCA_CQE_WRITE:
		return IBV_WC_RDMA_WRITE;
	case VHCA_CQE_READ:
		return IBV_WC_RDMA_READ;
	case VHCA_CQE_CMP_SWAP:
		return IBV_WC_COMP_SWAP;
	case VHCA_CQE_FETCH_ADD:
		return IBV_WC_FETCH_ADD;
	case VHCA_CQE_ATOMIC_WRITE:
		return IBV_WC_ATOMIC_WRITE;
#ifdef VHCA_HAS_FLUSH
	case VHCA_CQE_FLUSH:
		return IBV_WC_FLUSH;
#endif
	case VHCA_CQE_LOCAL_INV:
		return IBV_WC_LOCAL_INV;
	case VHCA_CQE_BIND_MW:
		return IBV_WC_BIND_MW;
	case VHCA_CQE_RECV:
		return IBV_WC_RECV;
	case VHCA_CQE_RECV_WRITE_IMM:
		return IBV_WC_RECV_RDMA_WITH_IMM;
	default:
		return cqe->flags & VHCA_CQE_F_RQ ? IBV_WC_RECV : IBV_WC_SEND;
	}
}

static unsigned int wc_flags(const struct vhca_cqe *cqe)
{
	return (cqe->flags & VHCA_CQE_F_IMM ? IBV_WC_WITH_IMM : 0) |
	       (cqe->flags & VHCA_CQE_F_INV ? IBV_WC_WITH_INV : 0) |
	       (cqe->flags & VHCA_CQE_F_GRH ? IBV_WC_GRH : 0);
}

/*
 * One word of a completion is immediate data, as it came on the wire, or a
 * number: the key that was invalidated.
 */
static __be32 wc_word(const struct vhca_cqe *cqe)
{
	const union {
		uint32_t key;
		__be32 imm;
	} word = { .key = le32toh(cqe->inv_key) };

	return cqe->flags & VHCA_CQE_F_INV ? word.imm : cqe->imm;
}

/* Frees what an entry completes; false if no such request is outstanding. */
static bool complete(struct vhca_cq *cq, const struct vhca_cqe *cqe)
{
	struct vhca_cq_user *user = vhca_cq_find_user(cq, vhca_cqe_key(cqe));
	uint64_t tail, head, end;
	struct vhca_wq *wq;

	if (!user)
		return false;
	if (user->srq)
		return cqe->flags & VHCA_CQE_F_RQ && vhca_srq_complete(user->srq);
	if (cqe->flags & VHCA_CQE_F_RQ && user->qp->vqp.qp.srq)
		return vhca_srq_complete(to_vhca_srq(user->qp->vqp.qp.srq));
	wq = cqe->flags & VHCA_CQE_F_RQ ? &user->qp->rq : &user->qp->sq;
	tail = atomic_load_explicit(&wq->tail, memory_order_relaxed);
	head = atomic_load_explicit(&wq->head, memory_order_acquire);
	end = vhca_ring_widen(tail, le32toh(cqe->wqe_index));
	if (end == tail || end > head)
		return false;
	if (wq->nth)
		atomic_store_explicit(&wq->done, wq->nth[vhca_ring_slot(end - 1, wq->log)],
				      memory_order_relaxed);
	/* The device has read the request: its place may be written again. */
	atomic_store_explicit(&wq->tail, end, memory_order_release);
	if (cqe->status != VHCA_CS_SUCCESS)
		vhca_qp_broken(user->qp);
	return true;
}

/**
 * next_entry() - take the next completion of a CQ
 * @cq: CQ; its lock is held
 * @cqe: receives the entry
 *
 * Return: false when there is none.
 */
static bool next_entry(struct vhca_cq *cq, struct vhca_cqe *cqe)
{
	while (vhca_cqe_fresh(cq, cq->cons)) {
		memcpy(cqe, vhca_cqe_at(cq, cq->cons), sizeof(*cqe));
		cq->cons++;
		if (complete(cq, cqe))
			return true;
		verbs_err(&to_vhca_context(cq->vcq.cq.context)->vctx,
			  "CQ %u: completion of QP %#x, count %#x, of nothing that was posted\n",
			  cq->vcq.cq.handle, le32toh(cqe->qpn), le32toh(cqe->wqe_index));
	}
	return false;
}

/* Stores for the device how far the CQ was emptied. */
static void store_consumer(struct vhca_cq *cq)
{
	db_store(&cq->db, 0, cq->cons);
}

static void fill_wc(struct ibv_wc *wc, const struct vhca_cqe *cqe)
{
	wc->wr_id = le64toh(cqe->wr_id);
	wc->status = wc_status(cqe);
	wc->opcode = wc_opcode(cqe);
	wc->vendor_err = cqe->vendor_err;
	wc->byte_len = le32toh(cqe->byte_len);
	wc->imm_data = wc_word(cqe);
	wc->qp_num = le32toh(cqe->qpn);
	wc->src_qp = le32toh(cqe->src_qpn);
	wc->wc_flags = wc_flags(cqe);
	wc->pkey_index = le16toh(cqe->pkey_index);
	wc->slid = le16toh(cqe->slid);
	wc->sl = cqe->sl;
	wc->dlid_path_bits = cqe->dlid_path_bits;
}

int vhca_poll_cq(struct ibv_cq *ibcq, int num, struct ibv_wc *wc)
{
	struct vhca_cq *cq = to_vhca_cq(ibcq);
	struct vhca_cqe cqe;
	uint64_t start;
	int n = 0;

	vhca_lock(&cq->lock);
	start = cq->cons;
	while (n < num && next_entry(cq, &cqe))
		fill_wc(&wc[n++], &cqe);
	if (cq->cons != start)
		store_consumer(cq);
	vhca_unlock(&cq->lock);
	return n;
}

/* ---- extended polling: the lock is held from start_poll to end_poll ---- */

static int load_entry(struct vhca_cq *cq)
{
	uint64_t start = cq->cons;
	bool found = next_entry(cq, &cq->entry);

	cq->polled |= cq->cons != start;
	if (!found)
		return ENOENT;
	cq->vcq.cq_ex.wr_id = le64toh(cq->entry.wr_id);
	cq->vcq.cq_ex.status = wc_status(&cq->entry);
	return 0;
}

static void end_poll(struct ibv_cq_ex *ibcq)
{
	struct vhca_cq *cq = ex_to_vhca_cq(ibcq);

	if (cq->polled)
		store_consumer(cq);
	vhca_unlock(&cq->lock);
}

static int start_poll(struct ibv_cq_ex *ibcq, struct ibv_poll_cq_attr *attr)
{
	struct vhca_cq *cq = ex_to_vhca_cq(ibcq);
	int err;

	if (attr->comp_mask)
		return EINVAL;
	vhca_lock(&cq->lock);
	cq->polled = false;
	err = load_entry(cq);
	if (err)
		end_poll(ibcq);
	return err;
}

static int next_poll(struct ibv_cq_ex *ibcq)
{
	return load_entry(ex_to_vhca_cq(ibcq));
}

static enum ibv_wc_opcode read_opcode(struct ibv_cq_ex *cq)
{
	return wc_opcode(&ex_to_vhca_cq(cq)->entry);
}

static uint32_t read_vendor_err(struct ibv_cq_ex *cq)
{
	return ex_to_vhca_cq(cq)->entry.vendor_err;
}

static uint32_t read_byte_len(struct ibv_cq_ex *cq)
{
	return le32toh(ex_to_vhca_cq(cq)->entry.byte_len);
}

static __be32 read_imm_data(struct ibv_cq_ex *cq)
{
	return wc_word(&ex_to_vhca_cq(cq)->entry);
}

static uint32_t read_qp_num(struct ibv_cq_ex *cq)
{
	return le32toh(ex_to_vhca_cq(cq)->entry.qpn);
}

static uint32_t read_src_qp(struct ibv_cq_ex *cq)
{
	return le32toh(ex_to_vhca_cq(cq)->entry.src_qpn);
}

static unsigned int read_wc_flags(struct ibv_cq_ex *cq)
{
	return wc_flags(&ex_to_vhca_cq(cq)->entry);
}

static uint32_t read_slid(struct ibv_cq_ex *cq)
{
	return le16toh(ex_to_vhca_cq(cq)->entry.slid);
}

static uint8_t read_sl(struct ibv_cq_ex *cq)
{
	return ex_to_vhca_cq(cq)->entry.sl;
}

static uint8_t read_dlid_path_bits(struct ibv_cq_ex *cq)
{
	return ex_to_vhca_cq(cq)->entry.dlid_path_bits;
}

static uint64_t read_completion_ts(struct ibv_cq_ex *cq)
{
	return le64toh(ex_to_vhca_cq(cq)->entry.timestamp);
}

static uint64_t read_completion_wallclock_ns(struct ibv_cq_ex *ibcq)
{
	struct vhca_cq *cq = ex_to_vhca_cq(ibcq);

	return vhca_clock_real(ibcq->context, &cq->clock, le64toh(cq->entry.timestamp));
}

/**
 * vhca_cq_set_poll_ops() - make a CQ ready for extended polling
 * @cq: CQ
 * @wc_flags: fields that the program wants to read
 */
void vhca_cq_set_poll_ops(struct vhca_cq *cq, uint64_t wc_flags)
{
	struct ibv_cq_ex *ex = &cq->vcq.cq_ex;

	ex->start_poll = start_poll;
	ex->next_poll = next_poll;
	ex->end_poll = end_poll;
	ex->read_opcode = read_opcode;
	ex->read_vendor_err = read_vendor_err;
	ex->read_wc_flags = read_wc_flags;
	if (wc_flags & IBV_WC_EX_WITH_BYTE_LEN)
		ex->read_byte_len = read_byte_len;
	if (wc_flags & IBV_WC_EX_WITH_IMM)
		ex->read_imm_data = read_imm_data;
	if (wc_flags & IBV_WC_EX_WITH_QP_NUM)
		ex->read_qp_num = read_qp_num;
	if (wc_flags & IBV_WC_EX_WITH_SRC_QP)
		ex->read_src_qp = read_src_qp;
	if (wc_flags & IBV_WC_EX_WITH_SLID)
		ex->read_slid = read_slid;
	if (wc_flags & IBV_WC_EX_WITH_SL)
		ex->read_sl = read_sl;
	if (wc_flags & IBV_WC_EX_WITH_DLID_PATH_BITS)
		ex->read_dlid_path_bits = read_dlid_path_bits;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP)
		ex->read_completion_ts = read_completion_ts;
	if (wc_flags & IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK)
		ex->read_completion_wallclock_ns = read_completion_wallclock_ns;
}
