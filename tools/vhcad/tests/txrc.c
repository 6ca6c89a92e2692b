// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The test driver: extended reliable connections.
 */
#include "tests/txrc.h"

void t_ini_init(struct thca *h, struct tqp *qp, struct tcq *cq, u8 flags)
{
	u64 sq = t_alloc(h, VHCA_WQE_BLOCK << 8);
	struct vhca_create_qp_hw_req req = {
		.sq.addr = htole64(sq), .pdn = htole32(h->pd), .uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot), .send_cqn = htole32(cq->cqn),
		.type = VHCA_QPT_XRC_INI, .flags = flags, .log_sq_blocks = 8,
		.log_rq_strides = VHCA_NO_QUEUE,
	};

	*qp = (struct tqp){
		.h = h, .type = req.type, .slot = h->next_slot, .scq = cq, .sq = t_cpu(h, sq),
		.log_sq = 8,
	};
	h->next_slot += 2;
	qp->qpn = t_create(h, VHCA_CMD_CREATE_QP, &req, sizeof(req));
}

void t_tgt_init(struct thca *h, struct tqp *qp, u32 xrcd)
{
	struct vhca_create_qp_hw_req req = {
		.uar = htole32(h->uar), .db_slot = htole32(h->next_slot),
		.type = VHCA_QPT_XRC_TGT, .log_sq_blocks = VHCA_NO_QUEUE,
		.log_rq_strides = VHCA_NO_QUEUE, .xrcdn = htole32(xrcd),
	};

	*qp = (struct tqp){ .h = h, .type = req.type, .slot = h->next_slot };
	h->next_slot += 2;
	qp->qpn = t_create(h, VHCA_CMD_CREATE_QP, &req, sizeof(req));
}

void t_xsrq_init(struct thca *h, struct tsrq *srq, u32 xrcd, u32 cqn, u32 log)
{
	u64 ring = t_alloc(h, 128ull << log);
	struct vhca_create_srq_hw_req req = {
		.buf.addr = htole64(ring), .pdn = htole32(h->pd), .uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot), .log_strides = log, .log_stride = 7,
		.flags = VHCA_SRQ_XRC, .xrcdn = htole32(xrcd), .cqn = htole32(cqn),
	};

	*srq = (struct tsrq){
		.h = h, .slot = h->next_slot, .log = log, .log_stride = 7, .ring = t_cpu(h, ring),
	};
	h->next_slot += 2;
	srq->srqn = t_create(h, VHCA_CMD_CREATE_SRQ, &req, sizeof(req));
}
