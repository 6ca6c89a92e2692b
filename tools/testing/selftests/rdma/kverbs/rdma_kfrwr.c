// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a cycle of fast registration costs a kernel consumer: pages are mapped, registered and
 * invalidated by one chain of work requests, whose completion is polled. The time of waiting in
 * between is not counted, so that in a guest which counts instructions the figure is that of the
 * software alone.
 *
 * Loading the module measures on the first device; "ns" holds the sum of CYCLES cycles.
 */
#include <linux/delay.h>
#include <linux/device/driver.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/sched/clock.h>
#include <rdma/ib_verbs.h>

#define PAGES	16
#define WARM_UP	20
#define CYCLES	1000

static ulong ns;
module_param(ns, ulong, 0444);
MODULE_PARM_DESC(ns, "time of all cycles; 0 if they could not be made");

static uint cycles = CYCLES;
module_param(cycles, uint, 0444);
MODULE_PARM_DESC(cycles, "how many those are");

struct bench {
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct ib_qp *qp;
	struct ib_mr *mr;
	struct scatterlist sg[PAGES];
};

/* The device has to walk the page list, but not the pages. */
static void make_list(struct bench *b)
{
	sg_init_table(b->sg, PAGES);
	for (int i = 0; i < PAGES; i++) {
		sg_dma_address(&b->sg[i]) = (2 * i + 16) * PAGE_SIZE;
		sg_dma_len(&b->sg[i]) = PAGE_SIZE;
	}
}

static int connect(struct bench *b, u16 lid, enum ib_mtu mtu)
{
	struct ib_qp_attr init = { .qp_state = IB_QPS_INIT, .port_num = 1 };
	struct ib_qp_attr rtr = {
		.qp_state = IB_QPS_RTR, .path_mtu = mtu, .dest_qp_num = b->qp->qp_num,
		.max_dest_rd_atomic = 1, .min_rnr_timer = 12,
		.ah_attr.type = RDMA_AH_ATTR_TYPE_IB,
	};
	struct ib_qp_attr rts = {
		.qp_state = IB_QPS_RTS, .timeout = 14, .retry_cnt = 7, .rnr_retry = 7,
		.max_rd_atomic = 1,
	};

	rdma_ah_set_dlid(&rtr.ah_attr, lid);
	rdma_ah_set_port_num(&rtr.ah_attr, 1);
	return ib_modify_qp(b->qp, &init, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT |
			    IB_QP_ACCESS_FLAGS) ?:
	       ib_modify_qp(b->qp, &rtr, IB_QP_STATE | IB_QP_AV | IB_QP_PATH_MTU |
			    IB_QP_DEST_QPN | IB_QP_RQ_PSN | IB_QP_MAX_DEST_RD_ATOMIC |
			    IB_QP_MIN_RNR_TIMER) ?:
	       ib_modify_qp(b->qp, &rts, IB_QP_STATE | IB_QP_TIMEOUT | IB_QP_RETRY_CNT |
			    IB_QP_RNR_RETRY | IB_QP_SQ_PSN | IB_QP_MAX_QP_RD_ATOMIC);
}

/* Adds the time of one cycle; false if anything was refused or went wrong. */
static bool cycle(struct bench *b, u64 *sum)
{
	struct ib_send_wr inv = { .opcode = IB_WR_LOCAL_INV, .send_flags = IB_SEND_SIGNALED };
	struct ib_reg_wr reg = {
		.wr = { .opcode = IB_WR_REG_MR, .next = &inv }, .mr = b->mr,
		.access = IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE,
	};
	struct ib_wc wc;
	u64 before;
	int polled, mapped, refused;

	before = local_clock();
	ib_update_fast_reg_key(b->mr, ib_inc_rkey(b->mr->rkey));
	mapped = ib_map_mr_sg(b->mr, b->sg, PAGES, NULL, PAGE_SIZE);
	reg.key = b->mr->rkey;
	inv.ex.invalidate_rkey = b->mr->rkey;
	refused = ib_post_send(b->qp, &reg.wr, NULL);
	*sum += local_clock() - before;
	if (mapped != PAGES || refused)
		return false;

	for (;;) {
		before = local_clock();
		polled = ib_poll_cq(b->cq, 1, &wc);
		if (polled)
			break;
		usleep_range(50, 100);
	}
	*sum += local_clock() - before;
	return polled == 1 && wc.status == IB_WC_SUCCESS;
}

static bool make(struct bench *b, struct ib_device *dev)
{
	struct ib_qp_init_attr attr = {
		.cap = { .max_send_wr = 16, .max_recv_wr = 1, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_REQ_WR, .qp_type = IB_QPT_RC,
	};
	struct ib_port_attr port;

	if (ib_query_port(dev, 1, &port))
		return false;
	b->pd = ib_alloc_pd(dev, 0);
	if (IS_ERR(b->pd))
		return false;
	b->cq = ib_alloc_cq(dev, NULL, 32, 0, IB_POLL_DIRECT);
	if (IS_ERR(b->cq))
		return false;
	b->mr = ib_alloc_mr(b->pd, IB_MR_TYPE_MEM_REG, PAGES);
	if (IS_ERR(b->mr))
		return false;
	attr.send_cq = b->cq;
	attr.recv_cq = b->cq;
	b->qp = ib_create_qp(b->pd, &attr);
	return !IS_ERR(b->qp) && !connect(b, port.lid, port.active_mtu);
}

static void unmake(struct bench *b)
{
	if (!IS_ERR_OR_NULL(b->qp))
		ib_destroy_qp(b->qp);
	if (!IS_ERR_OR_NULL(b->mr))
		ib_dereg_mr(b->mr);
	if (!IS_ERR_OR_NULL(b->cq))
		ib_free_cq(b->cq);
	if (!IS_ERR_OR_NULL(b->pd))
		ib_dealloc_pd(b->pd);
}

static int kfrwr_add(struct ib_device *dev)
{
	struct bench *b;
	bool good;
	u64 sum = 0;
	int i;

	if (ns)
		return -EBUSY;
	b = kzalloc(sizeof(*b), GFP_KERNEL);
	if (!b)
		return -ENOMEM;
	make_list(b);
	good = make(b, dev);
	for (i = 0; i < WARM_UP && good; i++)
		good = cycle(b, &sum);
	for (i = 0, sum = 0; i < CYCLES && good; i++)
		good = cycle(b, &sum);
	unmake(b);
	kfree(b);
	if (good)
		ns = sum;
	return 0;
}

static struct ib_client kfrwr_client = {
	.name = "rdma_kfrwr",
	.add = kfrwr_add,
};
module_driver(kfrwr_client, ib_register_client, ib_unregister_client);
MODULE_DESCRIPTION("Cost of fast registration");
MODULE_LICENSE("Dual BSD/GPL");
