// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer of verbs, for tests: two RC QPs of one port connected to each other, one CQ
 * polled in soft interrupts, the other by a workqueue. It runs when a device is added, leaves its
 * verdict in its parameters, and keeps its QPs with receives posted until the device is removed,
 * when all of those must be completed.
 */
#include <linux/delay.h>
#include <linux/device/driver.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>
#include <rdma/ib_verbs.h>
#ifndef __CHECKER__	/* sparse does not know __has_include */
#if __has_include(<rdma/rdma_ext.h>)
#include <rdma/rdma_ext.h>
#endif
#endif

#include "kcheck.h"

static uint flushed, removed;
module_param(flushed, uint, 0444);
MODULE_PARM_DESC(flushed, "receives that came back when devices went away");
module_param(removed, uint, 0444);
MODULE_PARM_DESC(removed, "devices that went away");

#define BYTES		65536
#define DEPTH		64	/* requests of each queue */
#define INLINE		200
#define HELD		8	/* receives that wait for the removal of the device */
#define PATIENCE	(20 * HZ)

struct request {
	struct ib_cqe cqe;
	struct completion done;
	struct ib_wc wc;
};

struct side {
	struct ib_cq *cq;
	struct ib_qp *qp;
	u8 *buf;
	u64 dma;
};

struct pair {
	struct ib_device *dev;
	struct ib_pd *pd;
	struct side a, b;
	u16 lid;
	struct request tx[DEPTH], rx[DEPTH], held[HELD];
	struct request many;
	atomic_t many_left;
	struct work_struct late;
	bool leaves;
};

static void request_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct request *r = container_of(wc->wr_cqe, struct request, cqe);

	r->wc = *wc;
	complete(&r->done);
}

static void many_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct pair *p = container_of(wc->wr_cqe, struct pair, many.cqe);

	if (wc->status)
		p->many.wc = *wc;
	if (atomic_dec_and_test(&p->many_left))
		complete(&p->many.done);
}

static void prepare(struct request *r)
{
	r->cqe.done = request_done;
	init_completion(&r->done);
}

static bool came(struct request *r)
{
	return wait_for_completion_timeout(&r->done, PATIENCE);
}

static int post_send(struct pair *p, struct side *s, struct request *r, enum ib_wr_opcode opcode,
		     int flags, u32 offset, u32 len, u32 rkey)
{
	struct ib_sge sge = {
		.addr = flags & IB_SEND_INLINE ? (uintptr_t)s->buf + offset : s->dma + offset,
		.length = len,
		.lkey = p->pd->local_dma_lkey,
	};
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &r->cqe,
			.opcode = opcode,
			.send_flags = flags,
			.sg_list = &sge,
			.num_sge = 1,
			.ex.imm_data = cpu_to_be32(0xabcd),
		},
		.remote_addr = (s == &p->a ? &p->b : &p->a)->dma + offset,
		.rkey = rkey,
	};

	if (r != &p->many)
		prepare(r);
	return ib_post_send(s->qp, &wr.wr, NULL);
}

static int post_recv(struct pair *p, struct side *s, struct request *r, u32 offset, u32 len)
{
	struct ib_sge sge = {
		.addr = s->dma + offset, .length = len, .lkey = p->pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = { .wr_cqe = &r->cqe, .sg_list = &sge, .num_sge = 1 };

	prepare(r);
	return ib_post_recv(s->qp, &wr, NULL);
}

static void fill(struct side *s, u8 seed)
{
	for (u32 i = 0; i < BYTES; i++)
		s->buf[i] = seed + i * 7 + i / 256;
}

static void test_data(struct pair *p)
{
	u32 rkey = p->pd->unsafe_global_rkey;
	struct request *tx = &p->tx[0], *rx = &p->rx[0];

	fill(&p->a, 1);
	CHECK(!post_recv(p, &p->b, rx, 0, BYTES));
	CHECK(!post_send(p, &p->a, tx, IB_WR_SEND_WITH_IMM, IB_SEND_SIGNALED, 0, 10000, 0));
	CHECK(came(tx) && !tx->wc.status && tx->wc.opcode == IB_WC_SEND);
	CHECK(came(rx) && !rx->wc.status && rx->wc.opcode == IB_WC_RECV);
	CHECK(rx->wc.byte_len == 10000 && rx->wc.qp == p->b.qp);
	CHECK(rx->wc.wc_flags & IB_WC_WITH_IMM && rx->wc.ex.imm_data == cpu_to_be32(0xabcd));
	CHECK(!memcmp(p->a.buf, p->b.buf, 10000));

	memset(p->b.buf, 0, BYTES);
	CHECK(!post_send(p, &p->a, tx, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, 0, BYTES, rkey));
	CHECK(came(tx) && !tx->wc.status && tx->wc.opcode == IB_WC_RDMA_WRITE);
	CHECK(!memcmp(p->a.buf, p->b.buf, BYTES));

	fill(&p->b, 99);
	CHECK(!post_send(p, &p->a, tx, IB_WR_RDMA_READ, IB_SEND_SIGNALED, 0, BYTES, rkey));
	CHECK(came(tx) && !tx->wc.status && tx->wc.opcode == IB_WC_RDMA_READ);
	CHECK(!memcmp(p->a.buf, p->b.buf, BYTES));

	CHECK(!post_recv(p, &p->b, rx, 0, 0));
	CHECK(!post_send(p, &p->a, tx, IB_WR_RDMA_WRITE_WITH_IMM, IB_SEND_SIGNALED, 0, 4096,
			 rkey));
	CHECK(came(tx) && !tx->wc.status);
	CHECK(came(rx) && rx->wc.opcode == IB_WC_RECV_RDMA_WITH_IMM && rx->wc.byte_len == 4096);
}

/* Inline data of every length, unsignaled but for the last, many times round the rings. */
static void test_inline(struct pair *p)
{
	u32 len, bad = 0;

	fill(&p->a, 17);
	for (u32 round = 0; round < 20 && !bad; round++) {
		memset(p->b.buf, 0, BYTES);
		for (u32 i = 0; i < DEPTH / 2; i++)
			bad += !!post_recv(p, &p->b, &p->rx[i], 1024 * i, 1024);
		for (u32 i = 0; i < DEPTH / 2; i++)
			bad += !!post_send(p, &p->a, &p->tx[i], IB_WR_SEND, IB_SEND_INLINE |
					   (i == DEPTH / 2 - 1 ? IB_SEND_SIGNALED : 0), 1024 * i,
					   (i * 5 + round) % (INLINE + 1), 0);
		bad += !came(&p->tx[DEPTH / 2 - 1]);
		/* What does not come is waited for once: to go, a device may wait for this. */
		for (u32 i = 0; i < DEPTH / 2 && !bad; i++) {
			len = (i * 5 + round) % (INLINE + 1);
			bad += !came(&p->rx[i]) || p->rx[i].wc.byte_len != len ||
			       memcmp(p->a.buf + 1024 * i, p->b.buf + 1024 * i, len);
		}
	}
	CHECK(!bad);
}

/* Posts while the device takes nothing: a full queue refuses, and nothing is lost. */
static void test_full_queue(struct pair *p)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_SQD };
	u32 posted = 0;
	int err = 0;

	p->many.cqe.done = many_done;
	p->many.wc.status = IB_WC_SUCCESS;
	init_completion(&p->many.done);
	atomic_set(&p->many_left, 1);
	CHECK(!ib_modify_qp(p->a.qp, &attr, IB_QP_STATE));
	while (posted < 5000 && !err) {
		atomic_inc(&p->many_left);
		err = post_send(p, &p->a, &p->many, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, 0, 8,
				p->pd->unsafe_global_rkey);
		if (err)
			atomic_dec(&p->many_left);
		else
			posted++;
	}
	CHECK(posted >= DEPTH);
	CHECK(err == -ENOMEM);
	attr.qp_state = IB_QPS_RTS;
	CHECK(!ib_modify_qp(p->a.qp, &attr, IB_QP_STATE));
	CHECK(atomic_dec_and_test(&p->many_left) ||
	      wait_for_completion_timeout(&p->many.done, PATIENCE));
	CHECK(!p->many.wc.status);
}

/* A key that does not exist: the requester gets an error, and both sides' receives are flushed. */
static void test_error(struct pair *p)
{
	struct request *tx = &p->tx[0];

	CHECK(!post_recv(p, &p->a, &p->rx[0], 0, 64));
	CHECK(!post_recv(p, &p->b, &p->rx[1], 0, 64));
	CHECK(!post_send(p, &p->a, tx, IB_WR_RDMA_WRITE, IB_SEND_SIGNALED, 0, 64,
			 p->pd->unsafe_global_rkey ^ 0x55));
	CHECK(came(tx) && tx->wc.status == IB_WC_REM_ACCESS_ERR);
	CHECK(came(&p->rx[0]) && p->rx[0].wc.status == IB_WC_WR_FLUSH_ERR);
	CHECK(came(&p->rx[1]) && p->rx[1].wc.status == IB_WC_WR_FLUSH_ERR);
	/* Requests that are posted after the error are flushed too. */
	CHECK(!post_recv(p, &p->a, &p->rx[0], 0, 64));
	CHECK(came(&p->rx[0]) && p->rx[0].wc.status == IB_WC_WR_FLUSH_ERR);
	ib_drain_qp(p->a.qp);
	ib_drain_qp(p->b.qp);
}

static int connect(struct pair *p, struct side *from, struct side *to)
{
	struct ib_qp_attr init = {
		.qp_state = IB_QPS_INIT, .port_num = 1,
		.qp_access_flags = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ,
	};
	struct ib_qp_attr rtr = {
		.qp_state = IB_QPS_RTR, .path_mtu = IB_MTU_1024, .dest_qp_num = to->qp->qp_num,
		.rq_psn = 77, .max_dest_rd_atomic = 4, .min_rnr_timer = 12,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.sq_psn = 77, .max_rd_atomic = 4,
	};

	rdma_ah_set_dlid(&rtr.ah_attr, p->lid);
	rdma_ah_set_port_num(&rtr.ah_attr, 1);
	return ib_modify_qp(from->qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS) ?:
	       ib_modify_qp(from->qp, &rtr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			    IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			    IB_QP_MIN_RNR_TIMER) ?:
	       ib_modify_qp(from->qp, &rts, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

static void test_reset(struct pair *p)
{
	struct ib_qp_attr reset = { .qp_state = IB_QPS_RESET };

	CHECK(!ib_modify_qp(p->a.qp, &reset, IB_QP_STATE));
	CHECK(!ib_modify_qp(p->b.qp, &reset, IB_QP_STATE));
	CHECK(!connect(p, &p->a, &p->b) && !connect(p, &p->b, &p->a));
	test_data(p);
}

#ifdef RDMA_EXT_H
struct node_info {
	u8 versions_and_ports[4];
	__be64 system_guid, node_guid, port_guid;
} __packed;

/* The device is found by the GUID that its own agent reports. */
static void test_found(struct pair *p)
{
	struct node_info *node;
	struct ib_mad ask = {
		.mad_hdr = {
			.base_version = IB_MGMT_BASE_VERSION,
			.mgmt_class = IB_MGMT_CLASS_SUBN_LID_ROUTED,
			.class_version = 1,
			.method = IB_MGMT_METHOD_GET,
			.attr_id = IB_SMP_ATTR_NODE_INFO,
		},
	};
	struct ib_mad answer = {};
	struct ib_device *found;
	union ib_gid gid;
	u32 port = 0;

	node = (void *)((struct ib_smp *)&answer)->data;
	CHECK(!ib_local_mad(p->dev, 1, IB_MAD_IGNORE_MKEY, &ask, &answer));
	CHECK(answer.mad_hdr.method == IB_MGMT_METHOD_GET_RESP);
	CHECK(node->node_guid == p->dev->node_guid);

	found = ib_device_get_by_guid(node->node_guid);
	CHECK(found == p->dev);
	if (found)
		ib_device_put(found);
	found = ib_device_get_by_port_guid(node->port_guid, &port);
	CHECK(found == p->dev && port == 1);
	if (found)
		ib_device_put(found);
	CHECK(!rdma_query_gid(p->dev, 1, 0, &gid));
	found = ib_device_get_by_gid(&gid, &port);
	CHECK(found == p->dev && port == 1);
	if (found)
		ib_device_put(found);
}
#else
static void test_found(struct pair *p)
{
}
#endif

static void hold_receives(struct pair *p)
{
	for (u32 i = 0; i < HELD; i++)
		CHECK(!post_recv(p, &p->b, &p->held[i], 0, 64));
}

static int make_side(struct pair *p, struct side *s, enum ib_poll_context ctx)
{
	struct ib_qp_init_attr attr = {
		.cap = {
			.max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 4,
			.max_recv_sge = 4, .max_inline_data = INLINE,
		},
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
	};

	s->buf = kzalloc(BYTES, GFP_KERNEL);
	if (!s->buf)
		return -ENOMEM;
	s->dma = ib_dma_map_single(p->dev, s->buf, BYTES, DMA_BIDIRECTIONAL);
	if (ib_dma_mapping_error(p->dev, s->dma)) {
		s->dma = 0;
		return -ENOMEM;
	}
	/* A send ring that was created for large requests may hold more small ones. */
	s->cq = ib_alloc_cq(p->dev, NULL, 16 * DEPTH, 0, ctx);
	if (IS_ERR(s->cq))
		return PTR_ERR(s->cq);
	attr.send_cq = s->cq;
	attr.recv_cq = s->cq;
	s->qp = ib_create_qp(p->pd, &attr);
	return PTR_ERR_OR_ZERO(s->qp);
}

static void free_side(struct pair *p, struct side *s)
{
	if (!IS_ERR_OR_NULL(s->qp)) {
		ib_drain_qp(s->qp);
		ib_destroy_qp(s->qp);
	}
	if (!IS_ERR_OR_NULL(s->cq))
		ib_free_cq(s->cq);
	if (s->dma)
		ib_dma_unmap_single(p->dev, s->dma, BYTES, DMA_BIDIRECTIONAL);
	kfree(s->buf);
}

static struct ib_client kverbs_client;

/* Makes the QPs, and leaves a verdict. */
static void check_all(struct pair *p)
{
	struct ib_port_attr port;
	int err = ib_query_port(p->dev, 1, &port);

	ibdev_dbg(p->dev, "checks of kernel verbs begin\n");
	p->lid = port.lid;
	err = err ?: make_side(p, &p->a, IB_POLL_SOFTIRQ) ?: make_side(p, &p->b, IB_POLL_WORKQUEUE);
	if (!CHECK(!err))
		return;
	if (!CHECK(!connect(p, &p->a, &p->b)) || !CHECK(!connect(p, &p->b, &p->a)))
		return;
	test_data(p);
	test_inline(p);
	test_full_queue(p);
	test_error(p);
	test_reset(p);
	test_found(p);
	hold_receives(p);
}

static bool may_begin(struct ib_device *dev)
{
	struct ib_port_attr port;

	return ib_query_port(dev, 1, &port) || port.state == IB_PORT_ACTIVE;
}

/* If the subnet manager is a program, it may be frozen while a device is added after suspend. */
static void check_when_active(struct work_struct *work)
{
	struct pair *p = container_of(work, struct pair, late);

	while (!READ_ONCE(p->leaves) && !may_begin(p->dev))
		msleep(20);
	if (!READ_ONCE(p->leaves))
		check_all(p);
}

static int kverbs_add(struct ib_device *dev)
{
	struct pair *p;
	int err;

	p = kzalloc(sizeof(*p), GFP_KERNEL);
	if (!p)
		return -ENOMEM;
	p->dev = dev;
	p->pd = ib_alloc_pd(dev, IB_PD_UNSAFE_GLOBAL_RKEY);
	if (IS_ERR(p->pd)) {
		err = PTR_ERR(p->pd);
		kfree(p);
		return err;
	}
	INIT_WORK(&p->late, check_when_active);
	ib_set_client_data(dev, &kverbs_client, p);
	if (may_begin(dev))
		check_all(p);
	else
		queue_work(system_freezable_wq, &p->late);
	return 0;
}

static void kverbs_remove(struct ib_device *dev, void *data)
{
	struct pair *p = data;

	if (!p)
		return;
	WRITE_ONCE(p->leaves, true);
	cancel_work_sync(&p->late);
	free_side(p, &p->a);
	free_side(p, &p->b);
	for (u32 i = 0; i < HELD; i++)
		flushed += completion_done(&p->held[i].done) &&
			   p->held[i].wc.status == IB_WC_WR_FLUSH_ERR;
	ib_dealloc_pd(p->pd);
	kfree(p);
	removed++;
}

static struct ib_client kverbs_client = {
	.name = "rdma_kverbs",
	.add = kverbs_add,
	.remove = kverbs_remove,
};
module_driver(kverbs_client, ib_register_client, ib_unregister_client);
MODULE_DESCRIPTION("Test of verbs as kernel consumers use them");
MODULE_LICENSE("Dual BSD/GPL");
