// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registration and invalidation in the send queue of an unreliable connection of a QP with
 * itself.
 */
#include "kmem.h"

#define UC_PAGES	4

static struct ib_qp *make_uc(struct kmem *k)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 8, .max_recv_wr = 2, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.send_cq = k->cq, .recv_cq = k->cq, .port_num = 1,
		.sq_sig_type = IB_SIGNAL_REQ_WR, .qp_type = IB_QPT_UC,
	};

	return ib_create_qp(k->pd, &attr);
}

/* Writes a word to the beginning of the MR; true when the message has completed. */
static bool write_word(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr, u32 word)
{
	struct ib_sge sge = { k->out_dma, sizeof(word), k->pd->local_dma_lkey };
	struct ib_rdma_wr write = {
		.wr = { .opcode = IB_WR_RDMA_WRITE, .sg_list = &sge, .num_sge = 1 },
		.remote_addr = mr->iova, .rkey = mr->rkey,
	};
	struct ib_recv_wr recv = { .wr_cqe = &k->tx.cqe };
	struct ib_send_wr behind = { .opcode = IB_WR_SEND };

	k->out->op = word;
	kmem_prepare(&k->tx);
	return !ib_post_recv(qp, &recv, NULL) && kmem_post(qp, &k->part, &write.wr) &&
	       kmem_post(qp, &k->part, &behind) && kmem_came(&k->tx);
}

static void use_key(struct kmem *k, struct ib_qp *qp, struct ib_mr *mr)
{
	for (u32 turn = 1; turn <= 3; turn++) {
		CHECK(kmem_register(k, qp, mr, UC_PAGES) && k->part.wc.opcode == IB_WC_REG_MR);
		CHECK(write_word(k, qp, mr, turn) && k->own.mem[0] == turn);
		CHECK(kmem_invalidate(k, qp, mr) && k->part.wc.opcode == IB_WC_LOCAL_INV);
		/* a message for an invalid key is dropped, and the connection goes on */
		CHECK(write_word(k, qp, mr, ~turn) && k->own.mem[0] == turn);
	}
	/* another variant of the key: the request fails, and what follows is flushed */
	CHECK(kmem_register(k, qp, mr, UC_PAGES));
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	CHECK(!kmem_invalidate(k, qp, mr) && k->part.wc.status == IB_WC_LOC_QP_OP_ERR);
	CHECK(!kmem_invalidate(k, qp, mr) && k->part.wc.status == IB_WC_WR_FLUSH_ERR);
}

void kmem_uc_test(struct kmem *k)
{
	struct ib_mr *mr = ib_alloc_mr(k->pd, IB_MR_TYPE_MEM_REG, UC_PAGES);
	struct ib_qp *qp;

	if (!CHECK(!IS_ERR(mr)))
		return;
	qp = make_uc(k);
	if (CHECK(!IS_ERR(qp))) {
		if (CHECK(!kmem_connect(k, qp, k->lid, qp->qp_num)))
			use_key(k, qp, mr);
		CHECK(!ib_destroy_qp(qp));
	}
	CHECK(!ib_dereg_mr(mr));
}
