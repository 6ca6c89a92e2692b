// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * R/W contexts: RDMA READs and WRITEs of whole scatter lists.
 *
 * A list becomes either a chain of work requests whose gather entries use the PD's DMA key, or a
 * chain in which MRs of the QP's pool are registered. The resources that a QP needs for that are
 * determined in qp.c.
 */
#include <linux/slab.h>
#include <rdma/rdma_reject.h>

#include "rw_priv.h"

/* Values of rdma_rw_ctx.type. */
enum {
	RW_SINGLE,
	RW_CHAIN,
	RW_REG,
	RW_SIG,
};

/* Position in a DMA-mapped scatter list. */
struct rw_cursor {
	struct scatterlist *sg;
	u32 left;		/* number of entries, including this one */
	u32 skip;		/* bytes of this entry that are done */
};

/* The peer's side of a transfer. */
struct rw_peer {
	u64 addr;
	u32 rkey;
	enum dma_data_direction dir;
};

static u64 cursor_addr(const struct rw_cursor *at)
{
	return sg_dma_address(at->sg) + at->skip;
}

static u32 cursor_len(const struct rw_cursor *at)
{
	return sg_dma_len(at->sg) - at->skip;
}

static void cursor_step(struct rw_cursor *at)
{
	at->skip = 0;
	if (--at->left)
		at->sg = sg_next(at->sg);
}

static void rw_fill_wr(struct ib_rdma_wr *wr, const struct rw_peer *peer, struct ib_sge *sge,
		       int num_sge)
{
	wr->wr.opcode = peer->dir == DMA_TO_DEVICE ? IB_WR_RDMA_WRITE : IB_WR_RDMA_READ;
	wr->wr.sg_list = sge;
	wr->wr.num_sge = num_sge;
	wr->remote_addr = peer->addr;
	wr->rkey = peer->rkey;
}

static u32 rw_take_sge(struct ib_sge *sge, struct rw_cursor *at, const struct ib_qp *qp)
{
	sge->addr = cursor_addr(at);
	sge->length = cursor_len(at);
	sge->lkey = qp->pd->local_dma_lkey;
	cursor_step(at);
	return sge->length;
}

/* ---- without registration ---- */

static int rw_init_single(struct rdma_rw_ctx *ctx, struct ib_qp *qp, struct rw_cursor at,
			  const struct rw_peer *peer)
{
	memset(&ctx->single, 0, sizeof(ctx->single));
	rw_take_sge(&ctx->single.sge, &at, qp);
	rw_fill_wr(&ctx->single.wr, peer, &ctx->single.sge, 1);
	ctx->type = RW_SINGLE;
	ctx->nr_ops = 1;
	return 1;
}

static int rw_init_chain(struct rdma_rw_ctx *ctx, struct ib_qp *qp, struct rw_cursor at,
			 struct rw_peer peer)
{
	u32 per_wr = peer.dir == DMA_TO_DEVICE ? qp->max_write_sge : qp->max_read_sge;
	struct ib_rdma_wr *wrs;
	struct ib_sge *sge;
	u32 n;

	if (!per_wr)
		return rdma_refuse(-EINVAL, "R/W context: the QP has no gather entries");
	n = DIV_ROUND_UP(at.left, per_wr);
	sge = kcalloc(at.left, sizeof(*sge), GFP_KERNEL);
	wrs = kcalloc(n, sizeof(*wrs), GFP_KERNEL);
	if (!sge || !wrs) {
		kfree(wrs);
		kfree(sge);
		return -ENOMEM;
	}

	ctx->type = RW_CHAIN;
	ctx->nr_ops = n;
	ctx->map.sges = sge;
	ctx->map.wrs = wrs;
	for (u32 i = 0; i < n; i++) {
		u32 entries = min(at.left, per_wr);

		if (i)
			wrs[i - 1].wr.next = &wrs[i].wr;
		rw_fill_wr(&wrs[i], &peer, sge, entries);
		while (entries--)
			peer.addr += rw_take_sge(sge++, &at, qp);
	}
	return n;
}

/* ---- through MRs ---- */

/*
 * Counts the MRs that a list needs: an MR is full when all its pages are used or it has as many
 * entries as pages, and it ends between two entries that neither meet at a page boundary nor
 * adjoin.
 */
static u32 rw_count_mrs(struct rw_cursor at, u32 pages_per_mr)
{
	u32 mrs = 0, pages = 0, entries = 0;
	u64 end = 0, pages_end = 0;

	for (; at.left; cursor_step(&at)) {
		u64 start = cursor_addr(&at), page = start & PAGE_MASK;

		if (!mrs || entries == pages_per_mr)
			pages = 0;
		else if (start == end)
			page = pages_end;
		else if ((start | end) & ~PAGE_MASK)
			pages = 0;
		entries++;
		end = start + cursor_len(&at);
		for (; page < end; page += PAGE_SIZE, pages++) {
			if (pages % pages_per_mr == 0) {
				mrs++;
				pages = 0;
				entries = 1;
			}
		}
		pages_end = page;
	}
	return mrs;
}

/*
 * Maps as much of the rest of the list as fits, and moves the cursor behind it. Some drivers refuse
 * more entries than an MR has pages, whatever the entries need.
 */
static int rw_map_mr(struct ib_mr *mr, struct rw_cursor *at, u32 pages_per_mr)
{
	unsigned int skip = at->skip;
	int used = ib_map_mr_sg(mr, at->sg, min(at->left, pages_per_mr), &skip, PAGE_SIZE);

	if (used < 0)
		return used;
	if (!used && (skip <= at->skip || !mr->length))
		return -EINVAL;
	for (int i = 0; i < used; i++)
		cursor_step(at);
	if (at->left)
		at->skip = skip;
	return 0;
}

/* Builds the chain that prepares an MR and ends with its registration. Returns its length. */
static int rw_fill_reg(struct rdma_rw_reg_ctx *reg, enum ib_wr_opcode opcode, bool iwarp)
{
	struct ib_mr *mr = reg->mr;

	reg->reg_wr.wr.opcode = opcode;
	reg->reg_wr.wr.next = &reg->wr.wr;
	reg->reg_wr.mr = mr;
	reg->reg_wr.key = mr->lkey;
	reg->reg_wr.access = IB_ACCESS_LOCAL_WRITE;
	/* The peer writes the data of a READ to the MR. */
	if (iwarp)
		reg->reg_wr.access |= IB_ACCESS_REMOTE_WRITE;
	reg->sge.addr = mr->iova;
	reg->sge.length = mr->length;
	reg->sge.lkey = mr->lkey;
	if (!mr->need_inval)
		return 1;
	reg->inv_wr.opcode = IB_WR_LOCAL_INV;
	reg->inv_wr.next = &reg->reg_wr.wr;
	reg->inv_wr.ex.invalidate_rkey = mr->lkey;
	return 2;
}

static struct ib_send_wr *rw_reg_first(struct rdma_rw_reg_ctx *reg)
{
	return reg->inv_wr.next ? &reg->inv_wr : &reg->reg_wr.wr;
}

/* The MR gets its next key, and must be invalidated later unless the READ does that. */
static void rw_reg_renew_key(struct rdma_rw_reg_ctx *reg)
{
	reg->mr->need_inval = reg->wr.wr.opcode != IB_WR_RDMA_READ_WITH_INV;
	ib_update_fast_reg_key(reg->mr, ib_inc_rkey(reg->mr->lkey));
	reg->reg_wr.key = reg->mr->lkey;
	reg->sge.lkey = reg->mr->lkey;
	if (!reg->mr->need_inval)
		reg->wr.wr.ex.invalidate_rkey = reg->mr->lkey;
}

static void rw_put_mrs(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 mrs)
{
	while (mrs--)
		ib_mr_pool_put(qp, &qp->rdma_mrs, ctx->reg[mrs].mr);
	kfree(ctx->reg);
}

static int rw_init_reg(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		       struct rw_cursor at, struct rw_peer peer)
{
	u32 pages_per_mr = rw_pages_per_mr(qp->device, qp->integrity_en);
	u32 most = rw_count_mrs(at, pages_per_mr), n;
	bool read_inv = peer.dir == DMA_FROM_DEVICE && rdma_cap_read_inv(qp->device, port_num);
	bool iwarp = rdma_protocol_iwarp(qp->device, port_num);
	int count = 0, ret;

	ctx->reg = kcalloc(most, sizeof(*ctx->reg), GFP_KERNEL);
	if (!ctx->reg)
		return -ENOMEM;
	for (n = 0; at.left && n < most; n++) {
		struct rdma_rw_reg_ctx *reg = &ctx->reg[n];

		reg->mr = ib_mr_pool_get(qp, &qp->rdma_mrs);
		if (!reg->mr) {
			ret = -EAGAIN;
			goto undo;
		}
		ret = rw_map_mr(reg->mr, &at, pages_per_mr);
		if (ret) {
			n++;
			goto undo;
		}
		count += rw_fill_reg(reg, IB_WR_REG_MR, iwarp) + 1;
		rw_fill_wr(&reg->wr, &peer, &reg->sge, 1);
		if (read_inv) {
			reg->wr.wr.opcode = IB_WR_RDMA_READ_WITH_INV;
			reg->wr.wr.ex.invalidate_rkey = reg->mr->lkey;
		}
		if (n)
			reg[-1].wr.wr.next = rw_reg_first(reg);
		peer.addr += reg->mr->length;
	}
	if (at.left) {
		ret = -EINVAL;
		goto undo;
	}
	ctx->type = RW_REG;
	ctx->nr_ops = n;
	return count;

undo:
	rw_put_mrs(ctx, qp, n);
	return ret;
}

/* ---- contexts ---- */

static int rw_init_any(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		       const struct rw_cursor *at, const struct rw_peer *peer)
{
	if (rw_uses_mrs(qp->device, port_num, peer->dir, at->left))
		return rw_init_reg(ctx, qp, port_num, *at, *peer);
	return at->left > 1 ? rw_init_chain(ctx, qp, *at, *peer) :
			      rw_init_single(ctx, qp, *at, peer);
}

/**
 * rdma_rw_ctx_init() - prepare a transfer
 * @ctx: receives the transfer
 * @qp: QP made with cap.max_rdma_ctxs
 * @port_num: its port
 * @sg: local memory, which is mapped for DMA
 * @sg_cnt: its entries
 * @sg_offset: bytes of the list to skip at its beginning
 * @remote_addr: address of the peer's memory
 * @rkey: its R_Key
 * @dir: DMA_TO_DEVICE writes to the peer, DMA_FROM_DEVICE reads from it
 *
 * Context: may sleep.
 * Return: number of work requests that posting will take, to be ended with rdma_rw_ctx_destroy();
 * -EAGAIN if an MR is needed and the pool is empty; -EIO for an offset beyond the list; -EINVAL for
 * a list that the MRs cannot describe; -ENOMEM; the error of DMA mapping.
 */
int rdma_rw_ctx_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		     struct scatterlist *sg, u32 sg_cnt, u32 sg_offset, u64 remote_addr, u32 rkey,
		     enum dma_data_direction dir)
{
	const struct rw_peer peer = { .addr = remote_addr, .rkey = rkey, .dir = dir };
	struct ib_device *device = qp->pd->device;
	struct sg_table table = { .sgl = sg, .orig_nents = sg_cnt };
	struct rw_cursor at = { .sg = sg, .skip = sg_offset };
	int ret;

	ret = ib_dma_map_sgtable_attrs(device, &table, dir, 0);
	if (ret)
		return ret;
	for (at.left = table.nents; at.left && at.skip >= sg_dma_len(at.sg);) {
		u32 rest = at.skip - sg_dma_len(at.sg);

		cursor_step(&at);
		at.skip = rest;
	}
	ret = at.left ? rw_init_any(ctx, qp, port_num, &at, &peer) :
			rdma_refuse(-EIO, "R/W context: sg_offset %u: beyond the list", sg_offset);
	if (ret < 0)
		ib_dma_unmap_sgtable_attrs(device, &table, dir, 0);
	return ret;
}
EXPORT_SYMBOL(rdma_rw_ctx_init);

/**
 * rdma_rw_ctx_destroy() - end a transfer
 * @ctx: context from rdma_rw_ctx_init(); never posted, or completed
 * @qp: the same as there
 * @port_num: the same
 * @sg: the same
 * @sg_cnt: the same
 * @dir: the same
 *
 * Context: any.
 */
void rdma_rw_ctx_destroy(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
			 struct scatterlist *sg, u32 sg_cnt, enum dma_data_direction dir)
{
	switch (ctx->type) {
	case RW_SINGLE:
		break;
	case RW_CHAIN:
		kfree(ctx->map.wrs);
		kfree(ctx->map.sges);
		break;
	case RW_REG:
		rw_put_mrs(ctx, qp, ctx->nr_ops);
		break;
	default:
		WARN_ONCE(1, "R/W context of type %u\n", ctx->type);
		return;
	}
	ib_dma_unmap_sg(qp->pd->device, sg, sg_cnt, dir);
}
EXPORT_SYMBOL(rdma_rw_ctx_destroy);

/* Maps the data, and the protection fields if the transfer has any. */
static int rw_map_sig(struct ib_device *device, struct sg_table *data, struct sg_table *fields,
		      enum dma_data_direction dir)
{
	int ret = ib_dma_map_sgtable_attrs(device, data, dir, 0);

	if (ret || !fields->orig_nents)
		return ret;
	ret = ib_dma_map_sgtable_attrs(device, fields, dir, 0);
	if (ret)
		ib_dma_unmap_sgtable_attrs(device, data, dir, 0);
	return ret;
}

static void rw_unmap_sig(struct ib_device *device, struct sg_table *data, struct sg_table *fields,
			 enum dma_data_direction dir)
{
	if (fields->orig_nents)
		ib_dma_unmap_sgtable_attrs(device, fields, dir, 0);
	ib_dma_unmap_sgtable_attrs(device, data, dir, 0);
}

static void rw_free_sig(struct ib_qp *qp, struct rdma_rw_reg_ctx *reg)
{
	ib_mr_pool_put(qp, &qp->sig_mrs, reg->mr);
	kfree(reg);
}

static int rw_init_sig(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
		       const struct sg_table *data, const struct sg_table *fields,
		       const struct ib_sig_attrs *attrs, const struct rw_peer *peer)
{
	struct rdma_rw_reg_ctx *reg;
	int ret;

	reg = kzalloc(sizeof(*reg), GFP_KERNEL);
	if (!reg)
		return -ENOMEM;
	reg->mr = ib_mr_pool_get(qp, &qp->sig_mrs);
	if (!reg->mr) {
		kfree(reg);
		return -EAGAIN;
	}
	*reg->mr->sig_attrs = *attrs;
	ret = ib_map_mr_sg_pi(reg->mr, data->sgl, data->nents, NULL, fields->sgl, fields->nents,
			      NULL, SZ_4K);
	if (ret) {
		rw_free_sig(qp, reg);
		return ret < 0 ? ret : -EINVAL;
	}

	ret = rw_fill_reg(reg, IB_WR_REG_MR_INTEGRITY,
			  rdma_protocol_iwarp(qp->device, port_num)) + 1;
	rw_fill_wr(&reg->wr, peer, &reg->sge, 1);
	/* Fields that are only in memory are not transferred; the driver has found their length. */
	if (attrs->wire.sig_type == IB_SIG_TYPE_NONE)
		reg->sge.length -= reg->mr->sig_attrs->meta_length;
	ctx->type = RW_SIG;
	ctx->nr_ops = 1;
	ctx->reg = reg;
	return ret;
}

/**
 * rdma_rw_ctx_signature_init() - prepare a transfer with protection fields
 * @ctx: receives the transfer
 * @qp: QP made with cap.max_rdma_ctxs and IB_QP_CREATE_INTEGRITY_EN
 * @port_num: its port
 * @sg: data, which is mapped for DMA
 * @sg_cnt: its entries
 * @prot_sg: protection fields, which are mapped for DMA
 * @prot_sg_cnt: their entries, may be 0
 * @sig_attrs: layout in memory and on the wire
 * @remote_addr: address of the peer's memory
 * @rkey: its R_Key
 * @dir: DMA_TO_DEVICE writes to the peer, DMA_FROM_DEVICE reads from it
 *
 * Context: may sleep.
 * Return: number of work requests that posting will take, to be ended with
 * rdma_rw_ctx_destroy_signature(); -EINVAL for more entries than an MR holds, or a list that it
 * cannot describe; -EAGAIN if the pool is empty; -ENOMEM; the error of DMA mapping or of the
 * driver.
 */
int rdma_rw_ctx_signature_init(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
			       struct scatterlist *sg, u32 sg_cnt, struct scatterlist *prot_sg,
			       u32 prot_sg_cnt, struct ib_sig_attrs *sig_attrs, u64 remote_addr,
			       u32 rkey, enum dma_data_direction dir)
{
	const struct rw_peer peer = { .addr = remote_addr, .rkey = rkey, .dir = dir };
	struct sg_table data = { .sgl = sg, .orig_nents = sg_cnt };
	struct sg_table fields = { .sgl = prot_sg, .orig_nents = prot_sg_cnt };
	u32 most = rw_pages_per_mr(qp->device, qp->integrity_en);
	struct ib_device *device = qp->pd->device;
	int ret;

	if (sg_cnt > most || prot_sg_cnt > most)
		return rdma_refuse(-EINVAL, "R/W context: %u and %u entries, an MR has %u",
				   sg_cnt, prot_sg_cnt, most);
	ret = rw_map_sig(device, &data, &fields, dir);
	if (ret)
		return ret;
	ret = rw_init_sig(ctx, qp, port_num, &data, &fields, sig_attrs, &peer);
	if (ret < 0)
		rw_unmap_sig(device, &data, &fields, dir);
	return ret;
}
EXPORT_SYMBOL(rdma_rw_ctx_signature_init);

/**
 * rdma_rw_ctx_destroy_signature() - end a transfer with protection fields
 * @ctx: context from rdma_rw_ctx_signature_init(); never posted, or completed
 * @qp: the same as there
 * @port_num: the same
 * @sg: the same
 * @sg_cnt: the same
 * @prot_sg: the same
 * @prot_sg_cnt: the same
 * @dir: the same
 *
 * Context: any.
 */
void rdma_rw_ctx_destroy_signature(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
				   struct scatterlist *sg, u32 sg_cnt, struct scatterlist *prot_sg,
				   u32 prot_sg_cnt, enum dma_data_direction dir)
{
	struct sg_table data = { .sgl = sg, .orig_nents = sg_cnt };
	struct sg_table fields = { .sgl = prot_sg, .orig_nents = prot_sg_cnt };

	if (WARN_ON_ONCE(ctx->type != RW_SIG))
		return;
	rw_free_sig(qp, ctx->reg);
	rw_unmap_sig(qp->pd->device, &data, &fields, dir);
}
EXPORT_SYMBOL(rdma_rw_ctx_destroy_signature);

/**
 * rdma_rw_ctx_wrs() - get the work requests of a transfer, to be posted by the caller
 * @ctx: transfer; posted once at most
 * @qp: QP
 * @port_num: its port
 * @cqe: completion entry of the transfer; not used with @chain_wr
 * @chain_wr: requests to post after it, or NULL; the caller makes the last one signalled
 *
 * Context: any.
 * Return: first request of the chain.
 */
struct ib_send_wr *rdma_rw_ctx_wrs(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num,
				   struct ib_cqe *cqe, struct ib_send_wr *chain_wr)
{
	struct ib_send_wr *first, *last;

	switch (ctx->type) {
	case RW_SINGLE:
		first = &ctx->single.wr.wr;
		last = first;
		break;
	case RW_CHAIN:
		first = &ctx->map.wrs[0].wr;
		last = &ctx->map.wrs[ctx->nr_ops - 1].wr;
		break;
	case RW_REG:
	case RW_SIG:
		for (u32 i = 0; i < ctx->nr_ops; i++)
			rw_reg_renew_key(&ctx->reg[i]);
		first = rw_reg_first(&ctx->reg[0]);
		last = &ctx->reg[ctx->nr_ops - 1].wr.wr;
		break;
	default:
		WARN_ONCE(1, "R/W context of type %u\n", ctx->type);
		return chain_wr;
	}

	last->next = chain_wr;
	if (!chain_wr) {
		last->wr_cqe = cqe;
		last->send_flags |= IB_SEND_SIGNALED;
	}
	return first;
}
EXPORT_SYMBOL(rdma_rw_ctx_wrs);

/**
 * rdma_rw_ctx_post() - post a transfer
 * @ctx: transfer; posted once at most
 * @qp: QP
 * @port_num: its port
 * @cqe: completion entry of the transfer; not used with @chain_wr
 * @chain_wr: requests to post after it, or NULL; the caller makes the last one signalled
 *
 * Context: any.
 * Return: 0 or the error of ib_post_send().
 */
int rdma_rw_ctx_post(struct rdma_rw_ctx *ctx, struct ib_qp *qp, u32 port_num, struct ib_cqe *cqe,
		     struct ib_send_wr *chain_wr)
{
	return ib_post_send(qp, rdma_rw_ctx_wrs(ctx, qp, port_num, cqe, chain_wr), NULL);
}
EXPORT_SYMBOL(rdma_rw_ctx_post);
