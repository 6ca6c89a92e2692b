// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer of shared objects: an SRQ with its limit, another size and its last WQE; a CQ
 * that is resized and peeked at; datagrams and multicasts from one QP to others. It runs when a
 * device is added, leaves its verdict in its parameters and nothing else behind.
 */
#include <linux/device/driver.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>

#include "kcheck.h"

#define QPS		4
#define DEPTH		32
#define LEN		256	/* of a message */
#define GRH		40
#define ROOM		512	/* of a receive */
#define QKEY		0x1234
#define MLID		0xc042
#define PATIENCE	(20 * HZ)

struct request {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

/* One kind of QPs and what they use. */
struct kit {
	struct ib_device *dev;
	enum ib_qp_type type;
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_srq *srq;
	struct ib_qp *qp[QPS];
	struct ib_ah *ah;
	u8 *buf;		/* DEPTH receives, then a message for each */
	u64 dma;
	u16 lid;
	struct completion limit;
	struct request tx[DEPTH], rx[DEPTH];
};

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct request *r = container_of(wc->wr_cqe, struct request, cqe);

	r->wc = *wc;
	complete(&r->done);
}

static void prepare(struct request *r)
{
	r->cqe.done = request_done;
	init_completion(&r->done);
}

static bool came(struct request *r)
{
	return wait_for_completion_timeout(&r->done, PATIENCE) && !r->wc.status;
}

static u8 *message(struct kit *k, int i)
{
	return k->buf + ROOM * DEPTH + LEN * i;
}

static int post_recv(struct kit *k, int qp, int i)
{
	struct ib_sge sge = {
		.addr = k->dma + ROOM * i, .length = ROOM, .lkey = k->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &k->rx[i].cqe, .sg_list = &sge, .num_sge = 1 };

	prepare(&k->rx[i]);
	return k->srq ? ib_post_srq_recv(k->srq, &wr, NULL) : ib_post_recv(k->qp[qp], &wr, NULL);
}

/* RC: the QP is its own peer. */
static int post_send(struct kit *k, int qp, int i, struct ib_ah *ah, u32 to)
{
	struct ib_sge sge = {
		.addr = k->dma + ROOM * DEPTH + LEN * i, .length = LEN,
		.lkey = k->pd->local_dma_lkey,
	};
	struct ib_ud_wr wr = {
		.wr = {
			.wr_cqe = &k->tx[i].cqe, .opcode = IB_WR_SEND, .sg_list = &sge,
			.num_sge = 1, .send_flags = IB_SEND_SIGNALED,
		},
		.ah = ah, .remote_qpn = to, .remote_qkey = QKEY,
	};

	prepare(&k->tx[i]);
	memset(message(k, i), 0x40 + i, LEN);
	memset(k->buf + ROOM * i, 0, ROOM);
	return ib_post_send(k->qp[qp], &wr.wr, NULL);
}

static bool arrived(struct kit *k, int i, int qp)
{
	u32 head = k->type == IB_QPT_UD ? GRH : 0;

	return came(&k->rx[i]) && k->rx[i].wc.byte_len == LEN + head &&
	       k->rx[i].wc.qp == k->qp[qp] &&
	       !memcmp(k->buf + ROOM * i + head, message(k, i), LEN);
}

static void srq_event(struct ib_event *event, void *context)
{
	struct kit *k = context;

	if (event->event == IB_EVENT_SRQ_LIMIT_REACHED)
		complete(&k->limit);
}

static int connect_rc(struct kit *k, struct ib_qp *qp)
{
	struct ib_qp_attr init = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_qp_attr rtr = {
		.qp_state = IB_QPS_RTR, .path_mtu = IB_MTU_1024, .dest_qp_num = qp->qp_num,
		.rq_psn = 77, .max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.sq_psn = 77, .max_rd_atomic = 1,
	};

	rdma_ah_set_dlid(&rtr.ah_attr, k->lid);
	rdma_ah_set_port_num(&rtr.ah_attr, 1);
	return ib_modify_qp(qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS) ?:
	       ib_modify_qp(qp, &rtr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU | IB_QP_DEST_QPN |
			    IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC | IB_QP_MIN_RNR_TIMER) ?:
	       ib_modify_qp(qp, &rts, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

static int start_ud(struct ib_qp *qp)
{
	struct ib_qp_attr init = { .qp_state = IB_QPS_INIT, .port_num = 1, .qkey = QKEY };
	struct ib_qp_attr rtr = { .qp_state = IB_QPS_RTR }, rts = { .qp_state = IB_QPS_RTS };

	return ib_modify_qp(qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY) ?:
	       ib_modify_qp(qp, &rtr, IB_QP_STATE) ?:
	       ib_modify_qp(qp, &rts, IB_QP_STATE | IB_QP_SQ_PSN);
}

static int make_qp(struct kit *k, int i)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH, .max_send_sge = 1 },
		.send_cq = k->cq, .recv_cq = k->cq, .srq = k->srq,
		.sq_sig_type = IB_SIGNAL_REQ_WR, .qp_type = k->type,
	};

	if (!k->srq) {
		attr.cap.max_recv_wr = DEPTH;
		attr.cap.max_recv_sge = 1;
	}
	k->qp[i] = ib_create_qp(k->pd, &attr);
	if (IS_ERR(k->qp[i]))
		return PTR_ERR(k->qp[i]);
	return k->type == IB_QPT_UD ? start_ud(k->qp[i]) : connect_rc(k, k->qp[i]);
}

static int open_kit(struct kit *k, bool shared)
{
	struct ib_srq_init_attr srq = {
		.event_handler = srq_event, .srq_context = k,
		.attr = { .max_wr = DEPTH, .max_sge = 1 },
	};
	struct ib_port_attr port;
	int err;

	err = ib_query_port(k->dev, 1, &port);
	if (err)
		return err;
	k->lid = port.lid;
	init_completion(&k->limit);
	k->buf = kzalloc((ROOM + LEN) * DEPTH, GFP_KERNEL);
	if (!k->buf)
		return -ENOMEM;
	k->dma = ib_dma_map_single(k->dev, k->buf, (ROOM + LEN) * DEPTH, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(k->dev, k->dma)) {
		k->dma = 0;
		return -ENOMEM;
	}
	k->pd = ib_alloc_pd(k->dev, 0);
	if (IS_ERR(k->pd))
		return PTR_ERR(k->pd);
	k->cq = ib_alloc_cq(k->dev, NULL, 8 * DEPTH, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(k->cq))
		return PTR_ERR(k->cq);
	if (shared)
		k->srq = ib_create_srq(k->pd, &srq);
	err = PTR_ERR_OR_ZERO(k->srq);
	for (int i = 0; i < QPS && !err; i++)
		err = make_qp(k, i);
	return err;
}

static void close_kit(struct kit *k)
{
	for (int i = 0; i < QPS; i++)
		if (!IS_ERR_OR_NULL(k->qp[i])) {
			ib_drain_qp(k->qp[i]);
			CHECK(!ib_destroy_qp(k->qp[i]));
		}
	if (!IS_ERR_OR_NULL(k->ah))
		rdma_destroy_ah(k->ah, 0);
	if (!IS_ERR_OR_NULL(k->srq))
		ib_destroy_srq(k->srq);
	if (!IS_ERR_OR_NULL(k->cq))
		ib_free_cq(k->cq);
	if (!IS_ERR_OR_NULL(k->pd))
		ib_dealloc_pd(k->pd);
	if (k->dma)
		ib_dma_unmap_single(k->dev, k->dma, (ROOM + LEN) * DEPTH, DMA_BIDIRECTIONAL);
	kfree(k->buf);
}

/* Rounds of messages to all QPs; receives are taken in the order they were posted. */
static void exchange(struct kit *k, int n)
{
	u32 bad = 0;

	for (int i = 0; i < n; i++)
		bad += !!post_recv(k, 0, i);
	for (int i = 0; i < n; i++)
		bad += post_send(k, i % QPS, i, NULL, 0) || !came(&k->tx[i]) ||
		       !arrived(k, i, i % QPS);
	CHECK(!bad);
}

static void test_srq(struct kit *k)
{
	struct ib_srq_attr attr = { .srq_limit = 3 }, now;
	static const u32 sizes[] = { 64, 8, 128, DEPTH };

	exchange(k, DEPTH);
	exchange(k, DEPTH - 1);

	/* The limit raises the event, not the receives that were taken before. */
	CHECK(!ib_modify_srq(k->srq, &attr, IB_SRQ_LIMIT) &&
	      wait_for_completion_timeout(&k->limit, PATIENCE));
	CHECK(!ib_query_srq(k->srq, &now) && !now.srq_limit && now.max_wr >= DEPTH);
	attr.srq_limit = now.max_wr + 1;
	CHECK(ib_modify_srq(k->srq, &attr, IB_SRQ_LIMIT) == -EINVAL);

	for (int i = 0; i < ARRAY_SIZE(sizes); i++) {
		attr.max_wr = sizes[i];
		CHECK(!ib_modify_srq(k->srq, &attr, IB_SRQ_MAX_WR));
		CHECK(!ib_query_srq(k->srq, &now) && now.max_wr >= sizes[i]);
		exchange(k, min_t(u32, sizes[i], DEPTH));
	}
	for (int i = 0; i < 8; i++)
		CHECK(!post_recv(k, 0, i));
	attr.max_wr = 4;
	CHECK(ib_modify_srq(k->srq, &attr, IB_SRQ_MAX_WR) == -EINVAL);
	for (int i = 0; i < 8; i++)
		CHECK(!post_send(k, 1, i, NULL, 0) && came(&k->tx[i]) && arrived(k, i, 1));
}

static void test_cq(struct kit *k)
{
	static const int sizes[] = { 1024, 64, 512, 8 * DEPTH };
	u32 bad = 0;

	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < DEPTH / 2; i++)
			bad += !!post_recv(k, 0, i);
		for (int i = 0; i < DEPTH / 2; i++)
			bad += !!post_send(k, 2, i, NULL, 0);
		bad += !!ib_resize_cq(k->cq, sizes[round % ARRAY_SIZE(sizes)]);
		for (int i = 0; i < DEPTH / 2; i++)
			bad += !came(&k->tx[i]) || !arrived(k, i, 2);
	}
	CHECK(!bad);
	CHECK(ib_resize_cq(k->cq, 0) == -EINVAL);
	CHECK(k->dev->ops.peek_cq(k->cq, 1) == 0);
}

static struct ib_ah *way_to(struct kit *k, u16 lid, union ib_gid *gid)
{
	struct rdma_ah_attr attr = { .type = RDMA_AH_ATTR_TYPE_IB };
	struct ib_ah *ah;

	rdma_ah_set_dlid(&attr, lid);
	rdma_ah_set_port_num(&attr, 1);
	if (gid)
		rdma_ah_set_grh(&attr, gid, 0, 0, 1, 0);
	local_bh_disable();
	ah = rdma_create_ah(k->pd, &attr, 0);
	local_bh_enable();
	return ah;
}

static void test_datagrams(struct kit *k)
{
	u32 bad = 0;

	k->ah = way_to(k, k->lid, NULL);
	if (!CHECK(!IS_ERR(k->ah)))
		return;
	for (int i = 0; i < DEPTH; i++) {
		bad += post_recv(k, i % QPS, i) ||
		       post_send(k, (i + 1) % QPS, i, k->ah, k->qp[i % QPS]->qp_num) ||
		       !arrived(k, i, i % QPS) ||
		       k->rx[i].wc.src_qp != k->qp[(i + 1) % QPS]->qp_num ||
		       k->rx[i].wc.slid != k->lid;
	}
	CHECK(!bad);
	rdma_destroy_ah(k->ah, 0);
	k->ah = NULL;
}

static void test_multicast(struct kit *k)
{
	union ib_gid gid = { .raw = { 0xff, 0x12, [15] = 7 } };

	k->ah = way_to(k, MLID, &gid);
	if (!CHECK(!IS_ERR(k->ah)))
		return;
	for (int i = 0; i < QPS; i++)
		CHECK(!ib_attach_mcast(k->qp[i], &gid, MLID) && !post_recv(k, i, i));
	CHECK(!post_send(k, 0, 0, k->ah, IB_MULTICAST_QPN) && came(&k->tx[0]));
	for (int i = 0; i < QPS; i++) {
		memset(message(k, i), 0x40, LEN);
		CHECK(arrived(k, i, i) && k->rx[i].wc.wc_flags & IB_WC_GRH);
	}
	for (int i = 0; i < QPS; i++)
		CHECK(!ib_detach_mcast(k->qp[i], &gid, MLID));
}

static void with_kit(struct ib_device *dev, enum ib_qp_type type, bool shared,
		     void (*test)(struct kit *k), void (*more)(struct kit *k))
{
	struct kit *k = kzalloc(sizeof(*k), GFP_KERNEL);

	if (!CHECK(k))
		return;
	k->dev = dev;
	k->type = type;
	if (CHECK(!open_kit(k, shared))) {
		test(k);
		more(k);
	}
	close_kit(k);
	kfree(k);
}

static int kqueues_add(struct ib_device *dev)
{
	with_kit(dev, IB_QPT_RC, true, test_srq, test_cq);
	with_kit(dev, IB_QPT_UD, false, test_datagrams, test_multicast);
	return 0;
}

static struct ib_client kqueues_client = {
	.name = "rdma_kqueues",
	.add = kqueues_add,
};
module_driver(kqueues_client, ib_register_client, ib_unregister_client);
MODULE_DESCRIPTION("Test of shared queues and datagrams as kernel consumers use them");
MODULE_LICENSE("Dual BSD/GPL");
