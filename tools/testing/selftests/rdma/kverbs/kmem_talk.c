// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Common parts of rdma_kmem's checks: requests and messages, registered memory, connections.
 */
#include "kmem.h"

uint kmem_passed, kmem_failed;
module_param_named(passed, kmem_passed, uint, 0444);
MODULE_PARM_DESC(passed, "checks that held");
module_param_named(failed, kmem_failed, uint, 0444);
MODULE_PARM_DESC(failed, "checks that did not; the log says which");

#define RIGHTS		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE |	\
			 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct request *r = container_of(wc->wr_cqe, struct request, cqe);

	r->wc = *wc;
	complete(&r->done);
}

static void message_came(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kmem *k = container_of(wc->wr_cqe, struct kmem, rx.cqe);

	k->rx.wc = *wc;
	if (k->server && wc->status == IB_WC_SUCCESS)
		schedule_work(&k->serve);
	else
		complete(&k->rx.done);
}

void kmem_prepare(struct request *r)
{
	r->cqe.done = request_done;
	init_completion(&r->done);
}

bool kmem_came(struct request *r)
{
	return wait_for_completion_timeout(&r->done, PATIENCE) && !r->wc.status;
}

bool kmem_post(struct ib_qp *qp, struct request *r, struct ib_send_wr *wr)
{
	kmem_prepare(r);
	wr->wr_cqe = &r->cqe;
	wr->send_flags |= IB_SEND_SIGNALED;
	return !ib_post_send(qp, wr, NULL) && kmem_came(r);
}

/* ---- messages ---- */

int kmem_listen(struct kmem *k)
{
	struct ib_sge sge = { k->in_dma, sizeof(*k->in), k->pd->local_dma_lkey };
	struct ib_recv_wr wr = { .wr_cqe = &k->rx.cqe, .sg_list = &sge, .num_sge = 1 };

	k->rx.cqe.done = message_came;
	init_completion(&k->rx.done);
	return ib_post_recv(k->qp, &wr, NULL);
}

/* @inv is a key of the peer that the message invalidates, or 0. */
bool kmem_say(struct kmem *k, u32 inv)
{
	struct ib_sge sge = { k->out_dma, sizeof(*k->out), k->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.opcode = inv ? IB_WR_SEND_WITH_INV : IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.ex.invalidate_rkey = inv,
	};

	return kmem_post(k->qp, &k->tx, &wr);
}

/* The client sends its question and waits for the answer in k->in. */
bool kmem_ask(struct kmem *k, enum op op)
{
	k->out->op = op;
	return !kmem_listen(k) && kmem_say(k, 0) && kmem_came(&k->rx) && k->in->op == OP_DONE &&
	       !k->in->bad;
}

/* ---- memory ---- */

void kmem_fill(struct kmem *k, u32 seed, u32 words)
{
	for (u32 i = 0; i < words; i++)
		k->own.mem[i] = kmem_word(seed, i);
}

u32 kmem_wrong(struct kmem *k, u32 seed, u32 words)
{
	u32 bad = 0;

	for (u32 i = 0; i < words; i++)
		bad += k->own.mem[i] != kmem_word(seed, i);
	return bad;
}

bool kmem_register(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr, int pages)
{
	struct ib_reg_wr wr = {
		.wr = { .opcode = IB_WR_REG_MR }, .mr = mr, .access = RIGHTS,
	};

	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	wr.key = mr->rkey;
	return ib_map_mr_sg(mr, k->own.sg, pages, NULL, PAGE_SIZE) == pages &&
	       kmem_post(qp, &k->part, &wr.wr);
}

bool kmem_invalidate(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV, .ex.invalidate_rkey = mr->rkey,
	};

	return kmem_post(qp, &k->part, &wr);
}

/* The server reads this side's words, or writes its own. */
bool kmem_exchange(struct kmem *k, const struct msg *what, bool put)
{
	u32 words = what->words, seed = what->seed;

	if (put)
		kmem_fill(k, seed, words);
	else
		memset(k->own.mem, 0, words * sizeof(u32));
	*k->out = *what;
	return kmem_ask(k, put ? OP_PUT : OP_GET) && !kmem_wrong(k, seed, words);
}

/* ---- connections ---- */

int kmem_connect(struct kmem *k, struct ib_qp *qp, u16 lid, u32 qpn)
{
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT, .port_num = 1,
		.qp_access_flags = RIGHTS & ~IB_ACCESS_LOCAL_WRITE,
	};
	struct ib_qp_attr rtr = {
		.qp_state = IB_QPS_RTR, .path_mtu = k->mtu, .dest_qp_num = qpn,
		.rq_psn = 77, .max_dest_rd_atomic = 8, .min_rnr_timer = 12,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.sq_psn = 77, .max_rd_atomic = 8,
	};
	bool rc = qp->qp_type == IB_QPT_RC;

	rdma_ah_set_dlid(&rtr.ah_attr, lid);
	rdma_ah_set_port_num(&rtr.ah_attr, 1);
	return ib_modify_qp(qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS) ?:
	       ib_modify_qp(qp, &rtr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			    IB_QP_RQ_PSN |
			    (rc ? IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER : 0)) ?:
	       ib_modify_qp(qp, &rts, IB_QP_STATE | IB_QP_SQ_PSN |
			    (rc ? IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY |
				  IB_QP_MAX_QP_RD_ATOMIC : 0));
}

struct ib_qp *kmem_make_qp(struct ib_pd *pd, struct ib_cq *cq, u32 rw_ctxs)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = DEPTH, .max_recv_wr = 4, .max_send_sge = CHUNK,
			.max_recv_sge = 1, .max_rdma_ctxs = rw_ctxs,
		},
		.send_cq = cq, .recv_cq = cq, .port_num = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR, .qp_type = IB_QPT_RC,
	};

	return ib_create_qp(pd, &attr);
}
