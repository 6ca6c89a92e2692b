// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A kernel consumer that works like storage protocols: two guests with a connection, which is made
 * by hand through the parameters. The client registers memory and sends a request; the server reads
 * or writes the memory and answers with a message that invalidates the key, by hand or through R/W
 * contexts (kmem_rw.c). Besides: atomics on memory the server registers, FMRs (kmem_fmr.c),
 * protection fields (kmem_pi.c), completion queues of every CPU's pool, destruction from a
 * completion and objects that are left (kmem_end.c), and draining under load.
 *
 * The parameter "address" holds this side's address; writing it to "peer" of the other side
 * connects the two; "run" has the client run its checks.
 */
#include <linux/device/driver.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "kmem.h"

#define CYCLES		300		/* more than the 256 variants of a key */

static struct kmem *side;
static struct ib_client kmem_client;

/* READ or WRITE all of the peer's memory, a chunk for each request; only the last completes. */
static bool move(struct kmem *k, enum ib_wr_opcode opcode, const struct msg *m)
{
	u32 left = m->words * sizeof(u32), done = 0, len;
	struct ib_sge sge[CHUNK];
	int page = 0, n;

	while (left) {
		struct ib_rdma_wr wr = {
			.wr = { .opcode = opcode, .sg_list = sge },
			.remote_addr = m->addr + done, .rkey = m->rkey,
		};

		for (n = 0; n < CHUNK && left; n++, page++, left -= len, done += len) {
			len = min_t(u32, left, PAGE_SIZE);
			sge[n] = (struct ib_sge){
				sg_dma_address(&k->own.sg[page]), len, k->pd->local_dma_lkey,
			};
		}
		wr.wr.num_sge = n;
		if (!left)
			return kmem_post(k->qp, &k->part, &wr.wr);
		wr.wr.wr_cqe = &k->part.cqe;
		if (ib_post_send(k->qp, &wr.wr, NULL))
			return false;
	}
	return false;
}

/* ---- server ---- */

static void serve(struct work_struct *work)
{
	struct kmem *k = container_of(work, struct kmem, serve);
	struct msg m = *k->in;
	bool ok = false;
	u32 inv = 0;

	*k->out = (struct msg){ .op = OP_DONE };
	switch (m.op) {
	case OP_PUT:
		inv = m.keep ? 0 : m.rkey;
		memset(k->own.mem, 0, m.words * sizeof(u32));
		ok = move(k, IB_WR_RDMA_READ, &m);
		k->out->bad = kmem_wrong(k, m.seed, m.words);
		break;
	case OP_GET:
		inv = m.keep ? 0 : m.rkey;
		kmem_fill(k, m.seed, m.words);
		ok = move(k, IB_WR_RDMA_WRITE, &m);
		break;
	case OP_RW_PUT:
		inv = m.rkey;
		ok = kmem_rw_read(k, &m);
		break;
	case OP_RW_GET:
		/* the answer is sent after the data */
		CHECK(!kmem_listen(k));
		CHECK(kmem_rw_write(k, &m));
		return;
	case OP_EXPOSE:
		memset(k->own.mem, 0, PAGES * PAGE_SIZE);
		ok = kmem_register(k, k->qp, k->mr, PAGES);
		k->out->rkey = k->mr->rkey;
		k->out->addr = k->mr->iova;
		break;
	case OP_END:
		ok = kmem_invalidate(k, k->qp, k->mr);
		break;
	}
	k->out->bad += !CHECK(ok);
	CHECK(!kmem_listen(k));
	CHECK(kmem_say(k, inv));
}

/* ---- client ---- */

static bool cycle(struct kmem *k, struct ib_mr *mr, int pages, u32 seed, bool put)
{
	struct msg what = { .words = pages * PAGE_SIZE / sizeof(u32) - 3, .seed = seed };

	if (!kmem_register(k, k->qp, mr, pages))
		return false;
	what.rkey = mr->rkey;
	what.addr = mr->iova;
	return kmem_exchange(k, &what, put) && k->rx.wc.wc_flags & IB_WC_WITH_INVALIDATE &&
	       k->rx.wc.ex.invalidate_rkey == mr->rkey;
}

static void test_storage(struct kmem *k)
{
	u32 index = k->mr->rkey >> 8, bad = 0;

	for (int i = 0; i < CYCLES && !bad; i++)
		bad += !cycle(k, i % 3 ? k->mr : k->gaps, 1 + i % 4, i, i % 2);
	CHECK(!bad);
	CHECK(k->mr->rkey >> 8 == index);
	for (int i = 0; i < 4; i++)
		CHECK(cycle(k, i % 2 ? k->gaps : k->mr, PAGES, 1000 + i, i / 2));
}

/* An atomic on the second word that the server exposes; @wr has the operands. */
static bool atomic(struct kmem *k, struct ib_atomic_wr wr, u64 *old)
{
	struct ib_sge sge = { sg_dma_address(&k->own.sg[0]), sizeof(u64), k->pd->local_dma_lkey };
	bool ok;

	wr.wr.sg_list = &sge;
	wr.wr.num_sge = 1;
	wr.remote_addr = k->in->addr + 8;
	wr.rkey = k->in->rkey;
	ok = kmem_post(k->qp, &k->part, &wr.wr);
	*old = *(u64 *)k->own.mem;
	return ok;
}

static bool fetch_add(struct kmem *k, u64 add, u64 *old)
{
	return atomic(k, (struct ib_atomic_wr){
		.wr.opcode = IB_WR_ATOMIC_FETCH_AND_ADD, .compare_add = add,
	}, old);
}

/* The bits of @ends are the highest bits of fields: no carry leaves a field. */
static bool fetch_add_fields(struct kmem *k, u64 add, u64 ends, u64 *old)
{
	return atomic(k, (struct ib_atomic_wr){
		.wr.opcode = IB_WR_MASKED_ATOMIC_FETCH_AND_ADD,
		.compare_add = add, .compare_add_mask = ends,
	}, old);
}

static bool swap_if(struct kmem *k, u64 compare, u64 swap, u64 *old)
{
	return atomic(k, (struct ib_atomic_wr){
		.wr.opcode = IB_WR_ATOMIC_CMP_AND_SWP, .compare_add = compare, .swap = swap,
	}, old);
}

static bool swap_bits_if(struct kmem *k, u64 compare, u64 compared, u64 swap, u64 swapped,
			 u64 *old)
{
	return atomic(k, (struct ib_atomic_wr){
		.wr.opcode = IB_WR_MASKED_ATOMIC_CMP_AND_SWP,
		.compare_add = compare, .compare_add_mask = compared,
		.swap = swap, .swap_mask = swapped,
	}, old);
}

static void test_atomics(struct kmem *k)
{
	struct ib_sge sge = { sg_dma_address(&k->own.sg[0]), sizeof(u64), k->pd->local_dma_lkey };
	struct ib_rdma_wr wr = { .wr = { .sg_list = &sge, .num_sge = 1 } };
	u32 bad = 0;
	u64 old;

	if (!CHECK(kmem_ask(k, OP_EXPOSE)))
		return;
	for (int i = 0; i < 100; i++)
		bad += !fetch_add(k, 3, &old) || old != 3 * i;
	CHECK(!bad);
	CHECK(swap_if(k, 299, 1, &old) && old == 300);
	CHECK(swap_if(k, 300, 7, &old) && old == 300);
	CHECK(swap_bits_if(k, 7, U64_MAX, 0x109, U64_MAX, &old) && old == 7);
	/* the wrong high byte is not compared; the low byte stays */
	CHECK(swap_bits_if(k, 0xcd09, 0xff, 0xab12, 0xff00, &old) && old == 0x109);
	CHECK(swap_bits_if(k, 0xcd08, 0xff, 0xef13, 0xffff, &old) && old == 0xab09);
	CHECK(fetch_add_fields(k, 0xf8, 0x80, &old) && old == 0xab09);
	CHECK(fetch_add_fields(k, 0x100, 0, &old) && old == 0xab01);
	CHECK(fetch_add(k, 0, &old) && old == 0xac01);
	wr.remote_addr = k->in->addr + 8;
	wr.rkey = k->in->rkey;
	*(u64 *)k->own.mem = 0x1122334455667788;
	wr.wr.opcode = IB_WR_ATOMIC_WRITE;
	CHECK(kmem_post(k->qp, &k->part, &wr.wr) && k->part.wc.opcode == IB_WC_ATOMIC_WRITE);
	*(u64 *)k->own.mem = 0;
	wr.wr.opcode = IB_WR_RDMA_READ;
	CHECK(kmem_post(k->qp, &k->part, &wr.wr) && *(u64 *)k->own.mem == 0x1122334455667788);
	CHECK(kmem_ask(k, OP_END));
}

/* A QP that is its own peer, with a CQ of a CPU's pool. */
static bool use_pool(struct kmem *k, int cpu, enum ib_poll_context ctx)
{
	struct ib_cq *cq = ib_cq_pool_get(k->dev, DEPTH + 8, cpu, ctx);
	struct ib_sge sge = { k->out_dma, 8, k->pd->local_dma_lkey };
	struct ib_send_wr wr = {
		.wr_cqe = &k->part.cqe, .opcode = IB_WR_SEND, .sg_list = &sge, .num_sge = 1,
		.send_flags = IB_SEND_SIGNALED,
	};
	struct ib_recv_wr recv = { .wr_cqe = &k->tx.cqe, .sg_list = &sge, .num_sge = 1 };
	struct ib_qp *qp;
	bool ok;

	if (IS_ERR(cq))
		return false;
	qp = kmem_make_qp(k->pd, cq, 0);
	ok = !IS_ERR(qp);
	if (ok) {
		kmem_prepare(&k->part);
		kmem_prepare(&k->tx);
		ok = !kmem_connect(k, qp, k->lid, qp->qp_num) && !ib_post_recv(qp, &recv, NULL) &&
		     !ib_post_send(qp, &wr, NULL) && kmem_came(&k->part) && kmem_came(&k->tx);
		ib_drain_qp(qp);
		ib_destroy_qp(qp);
	}
	ib_cq_pool_put(cq, DEPTH + 8);
	return ok;
}

static void test_pools(struct kmem *k)
{
	int cpu;

	for_each_online_cpu(cpu) {
		CHECK(use_pool(k, cpu, IB_POLL_SOFTIRQ));
		CHECK(use_pool(k, cpu, IB_POLL_WORKQUEUE));
	}
}

static void load_came(struct ib_cq *cq, struct ib_wc *wc)
{
	struct kmem *k = container_of(wc->wr_cqe, struct kmem, load_cqe);

	if (atomic_dec_and_test(&k->load_left))
		complete(&k->load_done);
}

/* Drains while WRITEs and R/W contexts are under way: each completes or is flushed. */
static void test_drain(struct kmem *k)
{
	struct ib_sge sge[CHUNK];
	struct ib_rdma_wr wr = {
		.wr = {
			.wr_cqe = &k->load_cqe, .opcode = IB_WR_RDMA_WRITE, .sg_list = sge,
			.num_sge = CHUNK, .send_flags = IB_SEND_SIGNALED,
		},
	};
	struct rdma_rw_ctx ctx[RW_PARTS];
	unsigned int contexts;

	if (!CHECK(kmem_ask(k, OP_EXPOSE)))
		return;
	wr.remote_addr = k->in->addr;
	wr.rkey = k->in->rkey;
	for (int i = 0; i < CHUNK; i++)
		sge[i] = (struct ib_sge){ sg_dma_address(&k->own.sg[i]), PAGE_SIZE,
					  k->pd->local_dma_lkey };
	k->load_cqe.done = load_came;
	init_completion(&k->load_done);
	atomic_set(&k->load_left, 1);
	for (int posted = 0; posted < DEPTH / 2; posted++) {
		atomic_inc(&k->load_left);
		if (!CHECK(!ib_post_send(k->qp, &wr.wr, NULL)))
			atomic_dec(&k->load_left);
	}
	contexts = kmem_rw_load(k, &k->load_cqe, ctx);
	ib_drain_qp(k->qp);
	CHECK(contexts == RW_PARTS);
	CHECK(atomic_dec_and_test(&k->load_left));
	kmem_rw_unload(k, ctx, contexts);
}

/* ---- life ---- */

static int make_pages(struct pages *p)
{
	sg_init_table(p->sg, PAGES);
	for (int i = 0; i < PAGES; i++) {
		p->page[i] = alloc_page(GFP_KERNEL | __GFP_ZERO);
		if (!p->page[i])
			return -ENOMEM;
		sg_set_page(&p->sg[i], p->page[i], PAGE_SIZE, 0);
	}
	p->mem = vmap(p->page, PAGES, VM_MAP, PAGE_KERNEL);
	return p->mem ? 0 : -ENOMEM;
}

static void free_pages_of(struct pages *p)
{
	vunmap(p->mem);
	for (int i = 0; i < PAGES; i++)
		if (p->page[i])
			__free_page(p->page[i]);
}

static int make_memory(struct kmem *k)
{
	if (make_pages(&k->own) || make_pages(&k->rw))
		return -ENOMEM;
	k->in = kzalloc(sizeof(*k->in), GFP_KERNEL);
	k->out = kzalloc(sizeof(*k->out), GFP_KERNEL);
	if (!k->in || !k->out)
		return -ENOMEM;
	k->mapped = ib_dma_map_sg(k->dev, k->own.sg, PAGES, DMA_BIDIRECTIONAL);
	k->in_dma = ib_dma_map_single(k->dev, k->in, sizeof(*k->in), DMA_BIDIRECTIONAL);
	k->out_dma = ib_dma_map_single(k->dev, k->out, sizeof(*k->out), DMA_BIDIRECTIONAL);
	return k->mapped == PAGES && !ib_dma_mapping_error(k->dev, k->in_dma) &&
	       !ib_dma_mapping_error(k->dev, k->out_dma) ? 0 : -ENOMEM;
}

static void free_memory(struct kmem *k)
{
	if (k->mapped) {
		ib_dma_unmap_sg(k->dev, k->own.sg, PAGES, DMA_BIDIRECTIONAL);
		ib_dma_unmap_single(k->dev, k->in_dma, sizeof(*k->in), DMA_BIDIRECTIONAL);
		ib_dma_unmap_single(k->dev, k->out_dma, sizeof(*k->out), DMA_BIDIRECTIONAL);
	}
	kfree(k->in);
	kfree(k->out);
	free_pages_of(&k->own);
	free_pages_of(&k->rw);
}

static int make_verbs(struct kmem *k)
{
	struct ib_port_attr port;
	int err;

	err = ib_query_port(k->dev, 1, &port);
	if (err)
		return err;
	k->lid = port.lid;
	k->mtu = port.active_mtu;
	k->pd = ib_alloc_pd(k->dev, 0);
	if (IS_ERR(k->pd))
		return PTR_ERR(k->pd);
	k->cq = ib_alloc_cq(k->dev, NULL, 16 * DEPTH, 0, IB_POLL_WORKQUEUE);
	if (IS_ERR(k->cq))
		return PTR_ERR(k->cq);
	k->mr = ib_alloc_mr(k->pd, IB_MR_TYPE_MEM_REG, PAGES);
	if (IS_ERR(k->mr))
		return PTR_ERR(k->mr);
	k->gaps = ib_alloc_mr(k->pd, IB_MR_TYPE_SG_GAPS, PAGES);
	if (IS_ERR(k->gaps))
		return PTR_ERR(k->gaps);
	k->qp = kmem_make_qp(k->pd, k->cq, RW_PARTS * rdma_rw_mr_factor(k->dev, 1, PAGES));
	return PTR_ERR_OR_ZERO(k->qp);
}

static void kmem_remove(struct ib_device *dev, void *data)
{
	struct kmem *k = data;

	if (!k)
		return;
	side = NULL;
	if (!IS_ERR_OR_NULL(k->qp)) {
		if (k->connected)
			ib_drain_qp(k->qp);
		cancel_work_sync(&k->serve);
		CHECK(!ib_destroy_qp(k->qp));
	}
	if (!IS_ERR_OR_NULL(k->gaps))
		CHECK(!ib_dereg_mr(k->gaps));
	if (!IS_ERR_OR_NULL(k->mr))
		CHECK(!ib_dereg_mr(k->mr));
	if (!IS_ERR_OR_NULL(k->cq))
		ib_free_cq(k->cq);
	if (!IS_ERR_OR_NULL(k->pd))
		ib_dealloc_pd(k->pd);
	free_memory(k);
	kfree(k);
	kmem_left(dev);
}

static int kmem_add(struct ib_device *dev)
{
	struct kmem *k = kzalloc(sizeof(*k), GFP_KERNEL);

	if (!k)
		return -ENOMEM;
	k->dev = dev;
	INIT_WORK(&k->serve, serve);
	kmem_prepare(&k->part);
	ib_set_client_data(dev, &kmem_client, k);
	if (CHECK(!make_memory(k)) && CHECK(!make_verbs(k)))
		side = k;
	return 0;
}

static int address_get(char *buf, const struct kernel_param *kp)
{
	return side ? sysfs_emit(buf, "%u %u\n", side->lid, side->qp->qp_num) : -ENODEV;
}

static const struct kernel_param_ops address_ops = { .get = address_get };
module_param_cb(address, &address_ops, NULL, 0444);
MODULE_PARM_DESC(address, "LID and QP number of this side");

static int peer_set(const char *val, const struct kernel_param *kp)
{
	unsigned int lid, qpn;

	if (!side || side->connected || sscanf(val, "%u %u", &lid, &qpn) != 2)
		return -EINVAL;
	side->connected = true;
	side->server = true;	/* until "run" makes it the client */
	CHECK(!kmem_connect(side, side->qp, lid, qpn));
	return 0;
}

static const struct kernel_param_ops peer_ops = { .set = peer_set };
module_param_cb(peer, &peer_ops, NULL, 0200);
MODULE_PARM_DESC(peer, "what the other side's address says: connects");

static int serve_set(const char *val, const struct kernel_param *kp)
{
	if (!side || !side->connected)
		return -EINVAL;
	CHECK(!kmem_listen(side));
	return 0;
}

static const struct kernel_param_ops serve_ops = { .set = serve_set };
module_param_cb(serve, &serve_ops, NULL, 0200);
MODULE_PARM_DESC(serve, "anything: answers the other side");

static int run_set(const char *val, const struct kernel_param *kp)
{
	if (!side || !side->connected)
		return -EINVAL;
	side->server = false;
	test_storage(side);
	test_atomics(side);
	test_pools(side);
	kmem_rw_test(side);
	kmem_end_test(side);
	kmem_fmr_test(side);
	kmem_uc_test(side);
	kmem_pi_test(side);
	test_drain(side);
	return 0;
}

static const struct kernel_param_ops run_ops = { .set = run_set };
module_param_cb(run, &run_ops, NULL, 0200);
MODULE_PARM_DESC(run, "anything: runs the checks against the other side");

static int leave_set(const char *val, const struct kernel_param *kp)
{
	unsigned int how;
	int err = kstrtouint(val, 0, &how);

	if (err || !side)
		return err ?: -EINVAL;
	return kmem_leave(side, how);
}

static const struct kernel_param_ops leave_ops = { .set = leave_set };
module_param_cb(leave, &leave_ops, NULL, 0200);
MODULE_PARM_DESC(leave, "makes objects; 1: which nobody destroys, 2: which removal reaps");

static struct ib_client kmem_client = {
	.name = "rdma_kmem",
	.add = kmem_add,
	.remove = kmem_remove,
};
module_driver(kmem_client, ib_register_client, ib_unregister_client);
MODULE_DESCRIPTION("Test of registration and one-sided operations as storage protocols use them");
MODULE_LICENSE("Dual BSD/GPL");
