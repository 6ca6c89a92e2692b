// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The test driver: completion queues, memory, queue pairs.
 */
#include <stdlib.h>
#include <string.h>

#include "tests/thca.h"

void t_cq_init(struct thca *h, struct tcq *cq, u32 log, u8 flags)
{
	u64 ring = t_alloc(h, sizeof(struct vhca_cqe) << log);
	struct vhca_create_cq_hw_req req = {
		.buf.addr = htole64(ring),
		.uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot),
		.eqn = htole32(h->comp.eqn),
		.log_cqe = log,
		.flags = flags,
	};

	memset(cq, 0, sizeof(*cq));
	cq->h = h;
	cq->ring = t_cpu(h, ring);
	cq->log = log;
	cq->slot = h->next_slot;
	h->next_slot += 2;
	cq->cqn = t_create(h, VHCA_CMD_CREATE_CQ, &req, sizeof(req));
}

static u8 cq_lap(u32 index, u32 log)
{
	return !(index >> log & 1);
}

u32 t_cq_resize(struct tcq *cq, u32 log)
{
	u64 at = t_alloc(cq->h, sizeof(struct vhca_cqe) << log);
	struct vhca_resize_cq_hw_req req = {
		.buf.addr = htole64(at), .cqn = htole32(cq->cqn), .log_cqe = log,
	};
	struct { struct vhca_resize_cq_hw_resp r; u8 rest[VHCA_ACQE_RESP - 8]; } resp;
	struct vhca_cqe *ring = t_cpu(cq->h, at), *old = cq->ring;
	u32 mask = (1u << log) - 1, old_mask = (1u << cq->log) - 1, st;

	memset(ring, 0xcc, sizeof(*ring) << log);
	for (u32 i = cq->ci; i - cq->ci <= mask; i++)
		ring[i & mask].owner = !cq_lap(i, log);
	t_set_rec(cq->h, cq->slot, cq->ci);
	st = t_admin(cq->h, VHCA_CMD_RESIZE_CQ, &req, sizeof(req), &resp);
	if (st)
		return st;
	for (u32 i = cq->ci; i != le32toh(resp.r.first); i++) {
		assert_true(i - cq->ci <= mask);
		assert_int_equal(old[i & old_mask].owner & VHCA_CQE_OWNER, cq_lap(i, cq->log));
		ring[i & mask] = old[i & old_mask];
		ring[i & mask].owner = cq_lap(i, log);
	}
	/* the ring belongs to the driver again */
	memset(old, 0x55, sizeof(*old) << cq->log);
	cq->ring = ring;
	cq->log = log;
	return st;
}

u32 t_cq_moderate(struct tcq *cq, u32 count, u32 usec)
{
	struct vhca_modify_cq_req req = {
		.cqn = htole32(cq->cqn), .count = htole16(count), .period = htole16(usec),
	};

	return t_admin(cq->h, VHCA_CMD_MODIFY_CQ, &req, sizeof(req), NULL);
}

bool t_cq_poll(struct tcq *cq, struct vhca_cqe *cqe)
{
	struct vhca_cqe *at = &cq->ring[cq->ci & ((1u << cq->log) - 1)];
	u8 lap = !(cq->ci >> cq->log & 1);

	if ((__atomic_load_n(&at->owner, __ATOMIC_ACQUIRE) & VHCA_CQE_OWNER) != lap)
		return false;
	*cqe = *at;
	cq->ci++;
	t_set_rec(cq->h, cq->slot, cq->ci);
	return true;
}

void t_cq_arm(struct tcq *cq, bool solicited)
{
	cq->seq = (cq->seq + 1) & VHCA_ARM_SEQ_MASK;
	t_set_rec(cq->h, cq->slot + 1, (u64)cq->seq << VHCA_ARM_SEQ_SHIFT |
		  (solicited ? VHCA_ARM_SOLICITED : 0) | cq->ci);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

struct vhca_cqe t_expect_cqe(struct tcq *cq, u64 wr_id, u8 status)
{
	struct vhca_cqe e = { 0 };

	t_poll(cq->h->w);
	if (!t_cq_poll(cq, &e))
		fail_msg("no completion, expected wr_id %llu status %u",
			 (unsigned long long)wr_id, status);
	if (le64toh(e.wr_id) != wr_id || e.status != status)
		fail_msg("completion wr_id %llu status %u, expected %llu %u",
			 (unsigned long long)le64toh(e.wr_id), e.status,
			 (unsigned long long)wr_id, status);
	return e;
}

void t_expect_no_cqe(struct tcq *cq)
{
	struct vhca_cqe e = { 0 };

	t_poll(cq->h->w);
	if (t_cq_poll(cq, &e))
		fail_msg("completion wr_id %llu status %u, expected none",
			 (unsigned long long)le64toh(e.wr_id), e.status);
}

/* ------------------------------------------------------------------------
 * Memory
 */

/* Writes the page list of a region; returns the value of buf.addr. */
static u64 write_list(struct tmr *mr, u32 levels)
{
	u32 lists = (mr->npages + VHCA_LIST_ENTRIES - 1) / VHCA_LIST_ENTRIES;
	u64 list = t_alloc(mr->h, (u64)lists * VHCA_LIST_PAGE), top;
	__le64 *l = t_cpu(mr->h, list);

	if (levels == 1) {
		for (u32 i = 0; i < mr->npages; i++)
			l[i] = htole64(mr->page[i]);
		return list;
	}
	/* list pages in a mixed order as well */
	top = t_alloc(mr->h, lists * sizeof(*l));
	for (u32 i = 0; i < lists; i++) {
		u64 leaf = list + (u64)(lists - 1 - i) * VHCA_LIST_PAGE;

		((__le64 *)t_cpu(mr->h, top))[i] = htole64(leaf);
		l = t_cpu(mr->h, leaf);
		for (u32 k = i * VHCA_LIST_ENTRIES;
		     k < mr->npages && k < (i + 1) * VHCA_LIST_ENTRIES; k++)
			*l++ = htole64(mr->page[k]);
	}
	return top;
}

void t_mr_init(struct thca *h, struct tmr *mr, u64 iova, u64 len, u32 access, u32 levels,
	       u32 shift)
{
	struct vhca_create_mkey_req req = {
		.iova = htole64(iova),
		.length = htole64(len),
		.pdn = htole32(h->pd),
		.access = htole32(access),
		.variant = 0x5a,
	};
	u64 all;

	memset(mr, 0, sizeof(*mr));
	mr->h = h;
	mr->iova = iova;
	mr->len = len;
	mr->shift = levels ? shift : 12;
	mr->first = iova & ((1ull << mr->shift) - 1);
	mr->npages = (mr->first + len + (1ull << mr->shift) - 1) >> mr->shift;
	assert_true(mr->npages <= T_MAX_PAGES);
	/* larger pages are aligned to their size, in a mixed order */
	h->ram_used = (h->ram_used + (1ull << mr->shift) - 1) & ~((1ull << mr->shift) - 1);
	all = t_alloc(h, (u64)mr->npages << mr->shift);
	for (u32 i = 0; i < mr->npages; i++) {
		u32 place = levels ? mr->npages - 1 - i : i;

		mr->page[i] = all + ((u64)place << mr->shift);
	}
	if (levels) {
		req.buf.addr = htole64(write_list(mr, levels));
		req.buf.offset = htole64(mr->first);
		req.buf.npages = htole32(mr->npages);
		req.buf.page_shift = shift;
		req.buf.levels = levels;
	} else {
		req.buf.addr = htole64(all + mr->first);
	}
	mr->key = t_create(h, VHCA_CMD_CREATE_MKEY, &req, sizeof(req));
	assert_int_equal(mr->key & 0xff, 0x5a);
}

static u8 *byte_at(struct tmr *mr, u64 off, u64 *room)
{
	u64 pos = mr->first + off, in_page = pos & ((1ull << mr->shift) - 1);

	*room = (1ull << mr->shift) - in_page;
	return (u8 *)t_cpu(mr->h, mr->page[pos >> mr->shift]) + in_page;
}

void t_mr_put(struct tmr *mr, u64 off, const void *src, u64 len)
{
	const u8 *s = src;

	while (len) {
		u64 room;
		u8 *p = byte_at(mr, off, &room);
		u64 n = MIN(room, len);

		memcpy(p, s, n);
		s += n;
		off += n;
		len -= n;
	}
}

void t_mr_get(struct tmr *mr, u64 off, void *dst, u64 len)
{
	u8 *d = dst;

	while (len) {
		u64 room;
		u8 *p = byte_at(mr, off, &room);
		u64 n = MIN(room, len);

		memcpy(d, p, n);
		d += n;
		off += n;
		len -= n;
	}
}

u8 t_pattern(u32 seed, u64 off)
{
	return (seed * 2654435761u + off * 40503u + (off >> 8) * 97u) >> 7;
}

void t_mr_fill(struct tmr *mr, u32 seed)
{
	for (u64 off = 0; off < mr->len; ) {
		u64 room;
		u8 *p = byte_at(mr, off, &room);

		for (u64 i = 0; i < room && off < mr->len; i++)
			p[i] = t_pattern(seed, off++);
	}
}

void t_mr_expect(struct tmr *mr, u64 off, u64 len, u32 seed, u64 soff)
{
	for (u64 i = 0; i < len; ) {
		u64 room;
		u8 *p = byte_at(mr, off + i, &room);

		for (u64 k = 0; k < room && i < len; k++, i++)
			if (p[k] != t_pattern(seed, soff + i))
				fail_msg("byte %llu is %#x, expected %#x",
					 (unsigned long long)(off + i), p[k],
					 t_pattern(seed, soff + i));
	}
}

/* ------------------------------------------------------------------------
 * Queue pairs
 */
void t_qp_init_size(struct thca *h, struct tqp *qp, struct tcq *scq, struct tcq *rcq,
		    u32 log_sq, u32 log_rq, u32 log_stride, u8 flags)
{
	u64 sq = t_alloc(h, (u64)VHCA_WQE_BLOCK << log_sq);
	u64 rq = t_alloc(h, 1ull << (log_rq + log_stride));
	struct vhca_create_qp_hw_req req = {
		.sq.addr = htole64(sq),
		.rq.addr = htole64(rq),
		.pdn = htole32(h->pd),
		.uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot),
		.send_cqn = htole32(scq->cqn),
		.recv_cqn = htole32(rcq->cqn),
		.max_inline = htole32(512),
		.type = h->qp_type,
		.flags = flags,
		.log_sq_blocks = log_sq,
		.log_rq_strides = log_rq,
		.log_rq_stride = log_stride,
		.port = h->qp_type < VHCA_SPECIAL_QPS ? h->qp_port : 0,
	};

	memset(qp, 0, sizeof(*qp));
	qp->h = h;
	qp->type = h->qp_type;
	qp->port = req.port;
	qp->scq = scq;
	qp->rcq = rcq;
	qp->sq = t_cpu(h, sq);
	qp->rq = t_cpu(h, rq);
	qp->log_sq = log_sq;
	qp->log_rq = log_rq;
	qp->log_stride = log_stride;
	qp->slot = h->next_slot;
	h->next_slot += 2;
	qp->qpn = t_create(h, VHCA_CMD_CREATE_QP, &req, sizeof(req));
}

void t_qp_init_srq_size(struct thca *h, struct tqp *qp, struct tcq *scq, struct tcq *rcq,
			struct tsrq *srq, u32 log_sq, u8 flags)
{
	u64 sq = t_alloc(h, (u64)VHCA_WQE_BLOCK << log_sq);
	struct vhca_create_qp_hw_req req = {
		.sq.addr = htole64(sq),
		.pdn = htole32(h->pd),
		.uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot),
		.send_cqn = htole32(scq->cqn),
		.recv_cqn = htole32(rcq->cqn),
		.max_inline = htole32(512),
		.type = h->qp_type,
		.flags = flags | VHCA_QP_SRQ,
		.log_sq_blocks = log_sq,
		.log_rq_strides = VHCA_NO_QUEUE,
		.srqn = htole32(srq->srqn),
	};

	*qp = (struct tqp){
		.h = h, .type = h->qp_type, .slot = h->next_slot, .scq = scq, .rcq = rcq,
		.sq = t_cpu(h, sq), .log_sq = log_sq,
	};
	h->next_slot += 2;
	qp->qpn = t_create(h, VHCA_CMD_CREATE_QP, &req, sizeof(req));
}

void t_qp_init_srq(struct thca *h, struct tqp *qp, struct tcq *scq, struct tcq *rcq,
		   struct tsrq *srq)
{
	t_qp_init_srq_size(h, qp, scq, rcq, srq, 6, VHCA_QP_SIGNAL_ALL);
}

void t_qp_init(struct thca *h, struct tqp *qp, struct tcq *scq, struct tcq *rcq)
{
	t_qp_init_size(h, qp, scq, rcq, 9, 7, 8, VHCA_QP_SIGNAL_ALL);
}

u32 t_destroy_qp(struct tqp *qp)
{
	struct vhca_object_req req = { .handle = htole32(qp->qpn), .port = qp->port };

	return t_admin(qp->h, VHCA_CMD_DESTROY_QP, &req, sizeof(req), NULL);
}

u32 t_modify(struct tqp *qp, const struct vhca_qp_attr *a, u32 mask)
{
	struct vhca_modify_qp_req req = {
		.qpn = htole32(qp->qpn), .mask = htole32(mask), .attr = *a,
	};

	if (qp->port)
		req.attr.port = qp->port;
	return t_admin(qp->h, VHCA_CMD_MODIFY_QP, &req, sizeof(req), NULL);
}

u32 t_to(struct tqp *qp, u8 state)
{
	const struct vhca_qp_attr a = { .state = state };

	return t_modify(qp, &a, VHCA_QPA_STATE);
}

void t_allow(struct tqp *qp, u32 access)
{
	const struct vhca_qp_attr a = { .access = access };

	assert_int_equal(t_modify(qp, &a, VHCA_QPA_ACCESS_FLAGS), VHCA_ST_OK);
}

u32 t_state(struct tqp *qp)
{
	struct vhca_object_req req = { .handle = htole32(qp->qpn), .port = qp->port };
	struct vhca_qp_attr a;

	assert_int_equal(t_admin_out(qp->h, VHCA_CMD_QUERY_QP, &req, sizeof(req), &a, sizeof(a)),
			 VHCA_ST_OK);
	return a.state;
}

void t_attr_init(struct vhca_qp_attr *a, u32 port)
{
	memset(a, 0, sizeof(*a));
	a->state = T_INIT;
	a->port = port;
	a->access = VHCA_ACCESS_REMOTE_READ | VHCA_ACCESS_REMOTE_WRITE;
}

void t_attr_rtr(struct vhca_qp_attr *a, u32 dlid, u32 dqpn, u32 psn, u8 mtu)
{
	memset(a, 0, sizeof(*a));
	a->state = T_RTR;
	a->av.port = 1;
	a->av.dlid = htole16(dlid);
	a->path_mtu = mtu;
	a->dest_qpn = htole32(dqpn);
	a->rq_psn = htole32(psn);
	a->max_dest_rd_atomic = 4;
	a->min_rnr_timer = 12;
}

void t_attr_rts(struct vhca_qp_attr *a, u32 psn)
{
	memset(a, 0, sizeof(*a));
	a->state = T_RTS;
	a->timeout = 14;
	a->retry_cnt = 7;
	a->rnr_retry = 7;
	a->sq_psn = htole32(psn);
	a->max_rd_atomic = 4;
}

u32 t_mask(u8 type, u8 state)
{
	static const u32 masks[][3] = {
		[VHCA_QPT_SMI] = { T_MASK_SPECIAL, VHCA_QPA_STATE,
				   VHCA_QPA_STATE | VHCA_QPA_SQ_PSN },
		[VHCA_QPT_GSI] = { T_MASK_SPECIAL, VHCA_QPA_STATE,
				   VHCA_QPA_STATE | VHCA_QPA_SQ_PSN },
		[VHCA_QPT_RC] = { T_MASK_INIT, T_MASK_RTR, T_MASK_RTS },
		[VHCA_QPT_UC] = { T_MASK_INIT, VHCA_QPA_STATE | VHCA_QPA_AV | VHCA_QPA_PATH_MTU |
				  VHCA_QPA_DEST_QPN | VHCA_QPA_RQ_PSN,
				  VHCA_QPA_STATE | VHCA_QPA_SQ_PSN },
		[VHCA_QPT_UD] = { T_MASK_SPECIAL | VHCA_QPA_PORT, VHCA_QPA_STATE,
				  VHCA_QPA_STATE | VHCA_QPA_SQ_PSN },
		[VHCA_QPT_XRC_INI] = { T_MASK_INIT, T_MASK_RTR & ~(VHCA_QPA_MAX_DEST_RD_ATOMIC |
								   VHCA_QPA_MIN_RNR_TIMER),
				       T_MASK_RTS },
		[VHCA_QPT_XRC_TGT] = { T_MASK_INIT, T_MASK_RTR,
				       VHCA_QPA_STATE | VHCA_QPA_TIMEOUT | VHCA_QPA_SQ_PSN },
	};

	return masks[type][state - T_INIT];
}

u32 t_lid(struct thca *h)
{
	struct vhca_port_req req = { .port = 1 };
	struct vhca_port_attr a;

	assert_int_equal(t_admin_out(h, VHCA_CMD_QUERY_PORT, &req, sizeof(req), &a, sizeof(a)),
			 VHCA_ST_OK);
	assert_int_equal(a.state, PORT_ACTIVE);
	return le16toh(a.lid);
}

static void bring_up(struct tqp *qp, struct tqp *peer, u8 mtu, u32 sq_psn, u32 rq_psn)
{
	struct vhca_qp_attr a;

	t_attr_init(&a, 1);
	assert_int_equal(t_modify(qp, &a, t_mask(qp->type, T_INIT)), VHCA_ST_OK);
	t_attr_rtr(&a, t_lid(peer->h), peer->qpn, rq_psn, mtu);
	assert_int_equal(t_modify(qp, &a, t_mask(qp->type, T_RTR)), VHCA_ST_OK);
	t_attr_rts(&a, sq_psn);
	assert_int_equal(t_modify(qp, &a, t_mask(qp->type, T_RTS)), VHCA_ST_OK);
}

void t_connect(struct tqp *a, struct tqp *b, u8 mtu, u32 psn_a, u32 psn_b)
{
	bring_up(a, b, mtu, psn_a, psn_b);
	if (b != a)
		bring_up(b, a, mtu, psn_b, psn_a);
}

void t_ud_up(struct tqp *qp, u32 qkey)
{
	struct vhca_qp_attr a;

	t_attr_init(&a, 1);
	a.qkey = htole32(qkey);
	assert_int_equal(t_modify(qp, &a, t_mask(qp->type, T_INIT)), VHCA_ST_OK);
	assert_int_equal(t_to(qp, T_RTR), VHCA_ST_OK);
	t_attr_rts(&a, 0xfffffe);
	assert_int_equal(t_modify(qp, &a, t_mask(qp->type, T_RTS)), VHCA_ST_OK);
}

struct vhca_wqe_ud t_ud_to(struct tqp *qp, u32 qkey)
{
	return (struct vhca_wqe_ud){
		.av.port = 1, .av.dlid = htole16(t_lid(qp->h)), .dqpn = htole32(qp->qpn),
		.qkey = htole32(qkey),
	};
}

static struct vhca_sge wire_sge(const struct vhca_sge *s)
{
	return (struct vhca_sge){ htole64(s->addr), htole32(s->length), htole32(s->lkey) };
}

static u32 segment(u8 *at, const void *seg, u32 len)
{
	memcpy(at, seg, len);
	return len;
}

void t_post(struct tqp *qp, const struct twr *wr)
{
	u8 raw[VHCA_WQE_MAX_BLOCKS * VHCA_WQE_BLOCK] = { 0 };
	struct vhca_wqe_ctrl ctrl = {
		.opcode = wr->opcode,
		.flags = wr->flags,
		.nsge = wr->nsge,
		.imm = wr->imm,
		.xrc_srqn = htole32(wr->srqn),
		.wr_id = htole64(wr->wr_id),
		.index = htole32(qp->sq_prod),
	};
	u32 at = sizeof(ctrl), nblk;

	if ((qp->type == VHCA_QPT_UD || qp->port) && wr->opcode != VHCA_OP_NOP) {
		memcpy(raw + at, &wr->ud, sizeof(wr->ud));
		at += sizeof(wr->ud);
	}
	if (wr->opcode == VHCA_OP_LSO) {
		u32 size = VHCA_LSO_SIZE(le16toh(wr->lso.hlen)) - sizeof(wr->lso);

		at += segment(raw + at, &wr->lso, sizeof(wr->lso));
		at += segment(raw + at, wr->header, MIN(size, sizeof(wr->header)));
	}
	if (wr->opcode >= VHCA_OP_WRITE && wr->opcode <= VHCA_OP_FLUSH) {
		struct vhca_wqe_raddr r = { htole64(wr->raddr), htole32(wr->rkey), 0 };

		at += segment(raw + at, &r, sizeof(r));
	}
	if (wr->opcode >= VHCA_OP_CMP_SWAP && wr->opcode <= VHCA_OP_MASKED_FETCH_ADD)
		at += segment(raw + at, &wr->atomic, sizeof(wr->atomic));
	if (wr->opcode == VHCA_OP_FLUSH)
		at += segment(raw + at, &wr->flush, sizeof(wr->flush));
	if (wr->opcode == VHCA_OP_BIND_MW)
		at += segment(raw + at, &wr->bind, sizeof(wr->bind));
	if (wr->opcode == VHCA_OP_REG_MR)
		at += segment(raw + at, &wr->reg, sizeof(wr->reg));
	if (wr->flags & VHCA_WQE_INLINE) {
		ctrl.inline_len = htole32(wr->data_len);
		memcpy(raw + at, wr->data, wr->data_len);
		at += wr->data_len;
	}
	for (u32 i = 0; i < wr->nsge; i++, at += sizeof(struct vhca_sge)) {
		struct vhca_sge s = wire_sge(&wr->sge[i]);

		memcpy(raw + at, &s, sizeof(s));
	}
	nblk = (at + VHCA_WQE_BLOCK - 1) / VHCA_WQE_BLOCK;
	ctrl.nblk = nblk;
	memcpy(raw, &ctrl, sizeof(ctrl));
	for (u32 i = 0; i < nblk; i++, qp->sq_prod++)
		memcpy(qp->sq + (qp->sq_prod & ((1u << qp->log_sq) - 1)) * VHCA_WQE_BLOCK,
		       raw + i * VHCA_WQE_BLOCK, VHCA_WQE_BLOCK);
}

void t_ring_sq(struct tqp *qp)
{
	t_ring(qp->h, qp->slot, qp->sq_prod);
}

void t_send(struct tqp *qp, const struct twr *wr)
{
	t_post(qp, wr);
	t_ring_sq(qp);
	t_poll(qp->h->w);
}

/* A receive in its stride; the ring has 1 << log of them. */
static void write_recv(u8 *ring, u32 log, u32 log_stride, u32 index, u64 wr_id, u32 nsge,
		       const struct vhca_sge *sge)
{
	u8 *p = ring + ((index & ((1u << log) - 1)) << log_stride);
	struct vhca_rwqe r = {
		.wr_id = htole64(wr_id), .index = htole32(index), .nsge = nsge,
	};

	assert_true(VHCA_RWQE_SIZE(nsge) <= 1u << log_stride);
	memcpy(p, &r, sizeof(r));
	for (u32 i = 0; i < nsge; i++) {
		struct vhca_sge s = wire_sge(&sge[i]);

		memcpy(p + sizeof(r) + i * sizeof(s), &s, sizeof(s));
	}
}

void t_recv(struct tqp *qp, u64 wr_id, u32 nsge, const struct vhca_sge *sge)
{
	write_recv(qp->rq, qp->log_rq, qp->log_stride, qp->rq_prod, wr_id, nsge, sge);
	t_set_rec(qp->h, qp->slot + 1, ++qp->rq_prod);
}

void t_srq_init(struct thca *h, struct tsrq *srq, u32 log, u32 log_stride)
{
	u64 ring = t_alloc(h, 1ull << (log + log_stride));
	struct vhca_create_srq_hw_req req = {
		.buf.addr = htole64(ring),
		.pdn = htole32(h->pd),
		.uar = htole32(h->uar),
		.db_slot = htole32(h->next_slot),
		.log_strides = log,
		.log_stride = log_stride,
	};

	*srq = (struct tsrq){
		.h = h, .slot = h->next_slot, .log = log, .log_stride = log_stride,
		.ring = t_cpu(h, ring),
	};
	h->next_slot += 2;
	srq->srqn = t_create(h, VHCA_CMD_CREATE_SRQ, &req, sizeof(req));
}

void t_srq_write(struct tsrq *srq, u32 index, u64 wr_id, u32 nsge, const struct vhca_sge *sge)
{
	write_recv(srq->ring, srq->log, srq->log_stride, index, wr_id, nsge, sge);
}

void t_srq_recv(struct tsrq *srq, u64 wr_id, u32 nsge, const struct vhca_sge *sge)
{
	assert_true(srq->posted - t_srq_taken(srq) < 1u << srq->log);
	t_srq_write(srq, srq->posted, wr_id, nsge, sge);
	t_set_rec(srq->h, srq->slot, ++srq->posted);
}

u32 t_srq_taken(struct tsrq *srq)
{
	return t_rec(srq->h, srq->slot + 1);
}

u32 t_srq_limit(struct tsrq *srq, u32 limit)
{
	struct vhca_modify_srq_hw_req req = {
		.srqn = htole32(srq->srqn), .limit = htole32(limit),
	};

	return t_admin(srq->h, VHCA_CMD_MODIFY_SRQ, &req, sizeof(req), NULL);
}

struct vhca_sge t_sge(struct tmr *mr, u64 off, u32 len)
{
	return (struct vhca_sge){ mr->iova + off, len, mr->key };
}

struct twr t_wr(u8 opcode, u64 wr_id, struct tmr *l, u64 off, u32 len, struct tmr *r, u64 roff)
{
	struct twr wr = { .opcode = opcode, .wr_id = wr_id };

	if (l) {
		wr.nsge = 1;
		wr.sge[0] = t_sge(l, off, len);
	}
	if (r) {
		wr.raddr = r->iova + roff;
		wr.rkey = r->key;
	}
	return wr;
}

void t_two_init(struct tworld *w, struct thca h[2], u32 ports)
{
	t_world_init(w);
	for (u32 i = 0; i < 2; i++) {
		const struct vdev_config cfg = {
			.name = "t", .node_guid = 0x0002c90300000000ull + (i << 8), .ports = ports,
			.vectors = 4,
		};

		t_hca_init_cfg(&h[i], w, &cfg);
	}
}

void t_two_fini(struct tworld *w, struct thca h[2])
{
	for (u32 i = 0; i < 2; i++)
		t_hca_fini(&h[i]);
	t_world_fini(w);
}

static void pair_init(struct tpair *p, u8 type)
{
	t_two_init(&p->w, p->h, 1);
	for (u32 i = 0; i < 2; i++) {
		p->h[i].qp_type = type;
		t_cq_init(&p->h[i], &p->cq[i], 9, 0);
		t_qp_init(&p->h[i], &p->qp[i], &p->cq[i], &p->cq[i]);
	}
}

void t_pair_init(struct tpair *p, u8 mtu, u32 psn0, u32 psn1)
{
	pair_init(p, VHCA_QPT_RC);
	t_connect(&p->qp[0], &p->qp[1], mtu, psn0, psn1);
}

void t_pair_init_uc(struct tpair *p, u8 mtu, u32 psn0, u32 psn1)
{
	pair_init(p, VHCA_QPT_UC);
	t_connect(&p->qp[0], &p->qp[1], mtu, psn0, psn1);
}

void t_pair_init_ud(struct tpair *p, u32 qkey)
{
	pair_init(p, VHCA_QPT_UD);
	for (u32 i = 0; i < 2; i++)
		t_ud_up(&p->qp[i], qkey);
}

void t_pair_init_regions(struct tpair *p, u32 psn0, u32 psn1, struct tmr *l, struct tmr *r,
			 u32 len, u32 access, u32 qp_access)
{
	t_pair_init(p, 3, psn0, psn1);
	for (u32 i = 0; i < 2; i++)
		t_allow(&p->qp[i], qp_access);
	t_mr_init(&p->h[0], l, 1ull << 40, len, access, 1, 12);
	t_mr_init(&p->h[1], r, 1ull << 41, len, access, 1, 12);
}

void t_pair_fini(struct tpair *p)
{
	t_two_fini(&p->w, p->h);
}
