// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Random actions on the device. */
#include <linux/dma-mapping.h>

#include "khostile.h"

/* Bytes that are zero, all ones, small, or anything. */
void hostile_scribble(struct hostile *x, void *at, size_t len)
{
	for (u8 *b = at; len--; b++) {
		switch (rnd(x, 6)) {
		case 0:
			*b = 0xff;
			break;
		case 1:
			*b = rnd(x, 256);
			break;
		case 2:
			*b = rnd(x, 8);
			break;
		default:
			*b = 0;
		}
	}
}

static void *segment(u8 **at, size_t size)
{
	void *place = *at;

	*at += size;
	return place;
}

static u32 length(struct hostile *x)
{
	return rnd(x, rnd(x, 20) ? 5000 : ARENA);
}

static void put_sges(struct hostile *x, u8 **at, unsigned int n)
{
	while (n--) {
		struct vhca_sge *sge = segment(at, sizeof(*sge));

		sge->addr = cpu_to_le64(rnd(x, ARENA));
		sge->length = cpu_to_le32(length(x));
		sge->lkey = cpu_to_le32(rnd(x, 4) ? x->key : x->keys[rnd(x, 4)]);
	}
}

/* Writes the segments of an opcode in a valid form; the rest of its two blocks stays as it was. */
static unsigned int put_segments(struct hostile *x, const struct hostile_qp *qp, u8 opcode, u8 **at)
{
	if (qp->type == VHCA_QPT_UD && opcode != VHCA_OP_NOP) {
		struct vhca_wqe_ud *ud = segment(at, sizeof(*ud));

		ud->av.port = 1;
		ud->av.dlid = rnd(x, 4) ? x->lid : cpu_to_le16(rnd(x, 1 << 16));
		ud->dqpn = cpu_to_le32(rnd(x, 4) ? x->qp[rnd(x, QPS)].qpn : rnd(x, 1 << 24));
		ud->qkey = cpu_to_le32(QKEY);
	}
	if (opcode >= VHCA_OP_WRITE && opcode <= VHCA_OP_FLUSH) {
		struct vhca_wqe_raddr *to = segment(at, sizeof(*to));

		to->addr = cpu_to_le64(rnd(x, ARENA) & (rnd(x, 2) ? ~7U : ~0U));
		to->rkey = cpu_to_le32(rnd(x, 4) ? x->key : x->keys[rnd(x, 4)]);
	}
	if (opcode >= VHCA_OP_CMP_SWAP && opcode <= VHCA_OP_MASKED_FETCH_ADD)
		segment(at, sizeof(struct vhca_wqe_atomic));
	if (opcode == VHCA_OP_FLUSH) {
		struct vhca_wqe_flush *flush = segment(at, sizeof(*flush));

		flush->length = cpu_to_le32(length(x));
		flush->type = VHCA_FLUSH_GLOBAL;
		return 0;
	}
	if (opcode == VHCA_OP_BIND_MW) {
		struct vhca_wqe_bind *bind = segment(at, sizeof(*bind));

		bind->key = cpu_to_le32((x->keys[3] & ~0xffU) | rnd(x, 256));
		bind->mr_key = cpu_to_le32(x->key);
		bind->addr = cpu_to_le64(rnd(x, ARENA));
		bind->length = cpu_to_le64(length(x));
		return 0;
	}
	if (opcode == VHCA_OP_REG_MR) {
		struct vhca_wqe_reg *reg = segment(at, sizeof(*reg));

		reg->key = cpu_to_le32((x->keys[1 + rnd(x, 2)] & ~0xffU) | rnd(x, 256));
		reg->entries = cpu_to_le32(rnd(x, 300));
		reg->length = cpu_to_le64(length(x));
		reg->access = VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_LOCAL_WRITE;
		reg->page_shift = rnd(x, 2) * VHCA_PAGE_SHIFT_MIN;
		return 0;
	}
	return opcode == VHCA_OP_NOP || opcode == VHCA_OP_LOCAL_INV ? 0 : 1;
}

static void post_receive(struct hostile *x, unsigned int i)
{
	bool shared = i >= QPS - 2;
	u32 *posted = shared ? &x->qp[QPS - 1].posted : &x->qp[i].posted;
	u8 *at = page_at(x, shared ? AT_SRQ : AT_QP + 2 * i + 1);
	struct vhca_rwqe *recv = (void *)(at + ((*posted & (BIT(LOG) - 1)) << LOG));
	u8 *next = (u8 *)(recv + 1);

	memset(recv, 0, BIT(LOG));
	recv->index = cpu_to_le32(*posted);
	recv->nsge = 1;
	put_sges(x, &next, 1);
	if (!rnd(x, 8))
		hostile_scribble(x, recv, BIT(LOG));
	dma_wmb();
	WRITE_ONCE(*record(x, shared ? SLOT_SRQ : SLOT_QP + 2 * i + 1), cpu_to_le64(++*posted));
}

static void spoilt_request(struct hostile *x)
{
	unsigned int i = rnd(x, QPS);
	struct vhca_wqe_ctrl *ctrl = hostile_entry(x, i, rnd(x, VHCA_OP_LSO + 2));
	u8 *bytes = (u8 *)ctrl, *next = (u8 *)(ctrl + 1);

	post_receive(x, i);
	ctrl->flags = rnd(x, 4) ? 0 : rnd(x, 32);
	ctrl->inv_key = cpu_to_le32(x->keys[rnd(x, 4)]);
	ctrl->nsge = put_segments(x, &x->qp[i], ctrl->opcode, &next);
	put_sges(x, &next, ctrl->nsge);
	if (!rnd(x, 3))
		bytes[rnd(x, 2 * VHCA_WQE_BLOCK)] ^= BIT(rnd(x, 8));
	if (!rnd(x, 12))
		hostile_scribble(x, bytes, VHCA_WQE_BLOCK);
	hostile_post(x, i);
}

/* The number of an existing object, or of a former one. */
static u32 some_handle(struct hostile *x)
{
	const u32 handles[] = {
		x->uar, x->pd, x->key, x->keys[rnd(x, 4)], x->cqn, x->srqn, x->eqn[rnd(x, 2)],
		x->qp[rnd(x, QPS)].qpn,
	};

	return handles[rnd(x, ARRAY_SIZE(handles))];
}

/* A buffer anywhere in the arena; or outside of it. */
static void some_buf(struct hostile *x, struct vhca_buf *buf)
{
	u64 at = rnd(x, ARENA) & ~(rnd(x, 4) ? 4095U : 63U);

	buf->addr = cpu_to_le64(rnd(x, 16) ? x->dma + at : at << rnd(x, 44));
	buf->levels = rnd(x, 3);
	if (buf->levels) {
		buf->npages = cpu_to_le32(rnd(x, 600));
		buf->page_shift = VHCA_PAGE_SHIFT_MIN + rnd(x, 4) / 3 * rnd(x, 20);
	}
}

/*
 * A corrupted command without waiting for it. More of them than there is room for would stop the
 * device.
 */
static void spoilt_command(struct hostile *x)
{
	u32 before = x->tail - BIT(ADMIN_LOG) / 2;
	struct vhca_asqe *e;

	if (!is_written(&answer(x, before)->phase, phase_of(before)) && rnd(x, 100))
		return;
	e = hostile_command(x, rnd(x, VHCA_CMD_QUERY_COUNTER + 2));
	if (!rnd(x, 3)) {
		hostile_scribble(x, e->req, sizeof(e->req));
		memset(e->req + rnd(x, 60), 0, sizeof(e->req) - 60);
	} else {
		((struct vhca_object_req *)e->req)->handle = cpu_to_le32(some_handle(x));
	}
	if (rnd(x, 2))
		some_buf(x, (struct vhca_buf *)(e->req + rnd(x, 2) * sizeof(struct vhca_buf)));
	if (rnd(x, 2)) {
		e->out_addr = addr_of(x, rnd(x, ARENA / VHCA_DB_PAGE_SIZE));
		e->out_len = cpu_to_le32(rnd(x, 600));
	}
	hostile_submit(x);
}

static void spoilt_doorbell(struct hostile *x)
{
	struct vhca_db_page *page = page_at(x, AT_DB);

	switch (rnd(x, 4)) {
	case 0:
		hostile_scribble(x, &page[rnd(x, 2)].rec[rnd(x, VHCA_DB_SLOTS)], sizeof(__le64));
		break;
	case 1:
		memset(page[rnd(x, 2)].news, 0xff, sizeof(page->news));
		hostile_scribble(x, page->summary, sizeof(page->summary));
		WRITE_ONCE(page->armed, cpu_to_le32(rnd(x, 2)));
		break;
	case 2:
		hostile_ring(x, rnd(x, 2 * VHCA_DB_SLOTS), (u64)rnd(x, 1 << 30) << rnd(x, 40));
		break;
	default:
		writel(rnd(x, 4), x->kicks + (rnd(x, x->kick_size) & ~3U));
	}
}

static void spoilt_register(struct hostile *x)
{
	u32 off = (rnd(x, 2) ? rnd(x, VHCA_REG_ADMIN_TAIL + 8) : rnd(x, VHCA_REGS_SIZE)) & ~3U;
	u32 value;

	hostile_scribble(x, &value, sizeof(value));
	reg_read(x, off);
	/* Most of these would end the session. */
	if (!rnd(x, 4))
		reg_write(x, off, value);
}

/* Moves a page under a list, or one of the arena's own, elsewhere, or unmaps it. */
static void moved_page(struct hostile *x)
{
	struct spare *s = &x->spare[rnd(x, SPARES)];
	__le64 *entry = page_at(x, AT_LIST);

	if (s->mapped) {
		dma_unmap_page(&x->pdev->dev, s->dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
		s->mapped = false;
		return;
	}
	s->dma = dma_map_page(&x->pdev->dev, s->page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	s->mapped = !dma_mapping_error(&x->pdev->dev, s->dma);
	if (s->mapped)
		entry[rnd(x, ARENA / VHCA_DB_PAGE_SIZE)] = cpu_to_le64(s->dma);
}

void hostile_act(struct hostile *x)
{
	switch (rnd(x, 12)) {
	case 0:
	case 1:
		spoilt_command(x);
		break;
	case 2:
	case 3:
		spoilt_doorbell(x);
		break;
	case 4:
		spoilt_register(x);
		break;
	case 5:
		moved_page(x);
		break;
	case 6:
		hostile_scribble(x, x->mem + (rnd(x, ARENA) & ~7U), 8);
		break;
	default:
		spoilt_request(x);
	}
}
