// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Extended posting, ibv_wr_*().
 *
 * The send queue's lock is held from ibv_wr_start() to ibv_wr_complete() or
 * ibv_wr_abort().  A request is begun by its operation, filled in by setters and
 * finished by the next call of another kind; the device sees none before ibv_wr_complete().
 */
#include "mr.h"
#include "qp.h"
#include "send_ops.h"
#include "wqe.h"

static void note_error(struct vhca_qp *qp, int err)
{
	if (err && !qp->build_err)
		qp->build_err = err;
}

/* Has the request under construction all addresses that it needs besides the connection's? */
static bool needs_address(const struct vhca_qp *qp)
{
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND)
		return !vhca_is_local(qp->wqe.op);
	return qp->sq.datagram;
}

/* Ends the request under construction, if there is one. */
static void end_request(struct vhca_qp *qp)
{
	if (qp->building && !qp->addressed && needs_address(qp))
		note_error(qp, EINVAL);
	if (qp->building && qp->wqe.op->data == VHCA_DATA_WORD_IN && !qp->wqe.ctrl.nsge)
		note_error(qp, EINVAL);
	if (qp->building && !qp->build_err)
		qp->next = wqe_end(&qp->wqe);
	qp->building = false;
}

/* Begins a request; false when this or an earlier one failed. */
static bool begin_request(struct vhca_qp *qp, enum ibv_wr_opcode opcode)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	end_request(qp);
	if (!qp->build_err)
		note_error(qp, wqe_begin(&qp->wqe, &qp->sq, qp->next, &vhca_send_ops[opcode],
					 ex->wr_id, wqe_flags(ex->wr_flags, qp->sig_all)));
	qp->building = !qp->build_err;
	qp->addressed = false;
	return qp->building;
}

static void wr_start(struct ibv_qp_ex *ibqp)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);
	enum ibv_qp_state state = qp->vqp.qp.state;

	vhca_lock(&qp->sq.lock);
	qp->next = atomic_load_explicit(&qp->sq.head, memory_order_relaxed);
	qp->building = false;
	qp->build_err = 0;
	if (!qp->sq.ring || state == IBV_QPS_RESET || state == IBV_QPS_INIT || state == IBV_QPS_RTR)
		qp->build_err = EINVAL;
}

static int wr_complete(struct ibv_qp_ex *ibqp)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);
	int err;

	end_request(qp);
	err = qp->build_err;
	if (!err && qp->next != atomic_load_explicit(&qp->sq.head, memory_order_relaxed)) {
		atomic_store_explicit(&qp->sq.head, qp->next, memory_order_release);
		vhca_db_ring(to_vhca_context(qp->vqp.qp.context), &qp->db, 0, qp->next);
	} else if (err && qp->sq.ring) {
		wqe_forget(&qp->sq);
	}
	vhca_unlock(&qp->sq.lock);
	return err;
}

static void wr_abort(struct ibv_qp_ex *ibqp)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (qp->sq.ring)
		wqe_forget(&qp->sq);
	vhca_unlock(&qp->sq.lock);
}

static void wr_send(struct ibv_qp_ex *ibqp)
{
	begin_request(ex_to_vhca_qp(ibqp), IBV_WR_SEND);
}

static void wr_send_imm(struct ibv_qp_ex *ibqp, __be32 imm)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (begin_request(qp, IBV_WR_SEND_WITH_IMM))
		qp->wqe.ctrl.imm = imm;
}

static void wr_send_inv(struct ibv_qp_ex *ibqp, uint32_t rkey)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (begin_request(qp, IBV_WR_SEND_WITH_INV))
		qp->wqe.ctrl.inv_key = htole32(rkey);
}

static void wr_local_inv(struct ibv_qp_ex *ibqp, uint32_t rkey)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (begin_request(qp, IBV_WR_LOCAL_INV))
		qp->wqe.ctrl.inv_key = htole32(rkey);
}

static void wr_bind_mw(struct ibv_qp_ex *ibqp, struct ibv_mw *mw, uint32_t rkey,
		       const struct ibv_mw_bind_info *info)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);
	int err;

	if (!begin_request(qp, IBV_WR_BIND_MW))
		return;
	err = mw->type == IBV_MW_TYPE_2 ? vhca_check_bind(&qp->vqp.qp, mw, rkey, info) : EINVAL;
	if (err)
		note_error(qp, err);
	else
		wqe_bind(&qp->wqe, rkey, info);
}

static void wr_rdma_write(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t addr)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (begin_request(qp, IBV_WR_RDMA_WRITE))
		wqe_remote(&qp->wqe, addr, rkey);
}

static void wr_rdma_write_imm(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t addr, __be32 imm)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (!begin_request(qp, IBV_WR_RDMA_WRITE_WITH_IMM))
		return;
	qp->wqe.ctrl.imm = imm;
	wqe_remote(&qp->wqe, addr, rkey);
}

static void wr_rdma_read(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t addr)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (begin_request(qp, IBV_WR_RDMA_READ))
		wqe_remote(&qp->wqe, addr, rkey);
}

static void wr_atomic_cmp_swp(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t addr,
			      uint64_t compare, uint64_t swap)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (!begin_request(qp, IBV_WR_ATOMIC_CMP_AND_SWP))
		return;
	wqe_remote(&qp->wqe, addr, rkey);
	note_error(qp, wqe_atomic(&qp->wqe, swap, compare));
}

static void wr_atomic_fetch_add(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t addr, uint64_t add)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (!begin_request(qp, IBV_WR_ATOMIC_FETCH_AND_ADD))
		return;
	wqe_remote(&qp->wqe, addr, rkey);
	note_error(qp, wqe_atomic(&qp->wqe, add, 0));
}

static void wr_atomic_write(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t addr,
			    const void *word)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (!begin_request(qp, IBV_WR_ATOMIC_WRITE))
		return;
	wqe_remote(&qp->wqe, addr, rkey);
	note_error(qp, wqe_inline(&qp->wqe, word, VHCA_WORD));
}

#ifdef VHCA_HAS_FLUSH
static void wr_flush(struct ibv_qp_ex *ibqp, uint32_t rkey, uint64_t addr, size_t len,
		     uint8_t type, uint8_t level)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (!begin_request(qp, IBV_WR_FLUSH))
		return;
	wqe_remote(&qp->wqe, addr, rkey);
	note_error(qp, wqe_flush(&qp->wqe, len, type, level));
}
#endif

static void wr_set_ud_addr(struct ibv_qp_ex *ibqp, struct ibv_ah *ah, uint32_t remote_qpn,
			   uint32_t remote_qkey)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (!qp->building)
		return;
	note_error(qp, wqe_destination(&qp->wqe, qp, ah, remote_qpn, remote_qkey));
	qp->addressed = true;
}

static void wr_set_xrc_srqn(struct ibv_qp_ex *ibqp, uint32_t remote_srqn)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (!qp->building)
		return;
	qp->wqe.ctrl.xrc_srqn = htole32(remote_srqn);
	qp->addressed = true;
}

/* Can the request under construction have a list, and one as long as this? */
static bool takes_list(const struct vhca_qp *qp, size_t num)
{
	switch (qp->wqe.op->data) {
	case VHCA_DATA_OUT:
	case VHCA_DATA_IN:
		return num <= qp->sq.max_sge;
	case VHCA_DATA_WORD_IN:
		return num == 1 && qp->sq.max_sge;
	default:
		return false;
	}
}

static void wr_set_sge_list(struct ibv_qp_ex *ibqp, size_t num, const struct ibv_sge *list)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);

	if (!qp->building)
		return;
	note_error(qp, takes_list(qp, num) ? wqe_list(&qp->wqe, list, num) : EINVAL);
}

static void wr_set_sge(struct ibv_qp_ex *ibqp, uint32_t lkey, uint64_t addr, uint32_t length)
{
	const struct ibv_sge sge = { .addr = addr, .length = length, .lkey = lkey };

	wr_set_sge_list(ibqp, 1, &sge);
}

static void wr_set_inline_data_list(struct ibv_qp_ex *ibqp, size_t num,
				    const struct ibv_data_buf *list)
{
	struct vhca_qp *qp = ex_to_vhca_qp(ibqp);
	size_t i;

	if (!qp->building)
		return;
	if (qp->wqe.op->data != VHCA_DATA_OUT) {
		note_error(qp, EINVAL);
		return;
	}
	qp->wqe.ctrl.flags |= VHCA_WQE_INLINE;
	for (i = 0; i < num && !qp->build_err; i++)
		note_error(qp, wqe_inline(&qp->wqe, list[i].addr, list[i].length));
}

static void wr_set_inline_data(struct ibv_qp_ex *ibqp, void *addr, size_t length)
{
	const struct ibv_data_buf data = { .addr = addr, .length = length };

	wr_set_inline_data_list(ibqp, 1, &data);
}

/**
 * vhca_known_send_ops() - operations that the extended posting calls support
 * @ctx: context
 * @type: of the QP, any
 *
 * Return: IBV_QP_EX_WITH_*; none for a type that is not known.
 */
uint64_t vhca_known_send_ops(const struct vhca_context *ctx, enum ibv_qp_type type)
{
	uint64_t known = 0;
	unsigned int i;

	if (type != IBV_QPT_RC && type != IBV_QPT_UC && type != IBV_QPT_UD &&
	    type != IBV_QPT_XRC_SEND)
		return 0;
	for (i = 0; i < VHCA_NUM_SEND_OPS; i++)
		if (vhca_find_op(type, i) && vhca_has_op(ctx, type, &vhca_send_ops[i]))
			known |= vhca_send_ops[i].ex;
	return known;
}

/**
 * vhca_qp_set_post_ops() - make a QP ready for extended posting
 * @qp: QP
 * @send_ops: operations the program wants, all of them in vhca_known_send_ops()
 */
void vhca_qp_set_post_ops(struct vhca_qp *qp, uint64_t send_ops)
{
	struct ibv_qp_ex *ex = &qp->vqp.qp_ex;

	ex->wr_start = wr_start;
	ex->wr_complete = wr_complete;
	ex->wr_abort = wr_abort;
	ex->wr_set_sge = wr_set_sge;
	ex->wr_set_sge_list = wr_set_sge_list;
	ex->wr_set_inline_data = wr_set_inline_data;
	ex->wr_set_inline_data_list = wr_set_inline_data_list;
	if (send_ops & IBV_QP_EX_WITH_SEND)
		ex->wr_send = wr_send;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_IMM)
		ex->wr_send_imm = wr_send_imm;
	if (send_ops & IBV_QP_EX_WITH_SEND_WITH_INV)
		ex->wr_send_inv = wr_send_inv;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE)
		ex->wr_rdma_write = wr_rdma_write;
	if (send_ops & IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM)
		ex->wr_rdma_write_imm = wr_rdma_write_imm;
	if (send_ops & IBV_QP_EX_WITH_RDMA_READ)
		ex->wr_rdma_read = wr_rdma_read;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP)
		ex->wr_atomic_cmp_swp = wr_atomic_cmp_swp;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD)
		ex->wr_atomic_fetch_add = wr_atomic_fetch_add;
	if (send_ops & IBV_QP_EX_WITH_ATOMIC_WRITE)
		ex->wr_atomic_write = wr_atomic_write;
#ifdef VHCA_HAS_FLUSH
	if (send_ops & IBV_QP_EX_WITH_FLUSH)
		ex->wr_flush = wr_flush;
#endif
	if (send_ops & IBV_QP_EX_WITH_LOCAL_INV)
		ex->wr_local_inv = wr_local_inv;
	if (send_ops & IBV_QP_EX_WITH_BIND_MW)
		ex->wr_bind_mw = wr_bind_mw;
	if (qp->sq.datagram)
		ex->wr_set_ud_addr = wr_set_ud_addr;
	if (qp->vqp.qp.qp_type == IBV_QPT_XRC_SEND)
		ex->wr_set_xrc_srqn = wr_set_xrc_srqn;
	qp->vqp.comp_mask |= VERBS_QP_EX;
}
