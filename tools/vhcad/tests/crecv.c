// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The campaign's receives: the message that each must have, and its contents.
 */
#include <string.h>

#include "tests/cflow.h"
#include "tests/tkey.h"

#define STRIDE	(SLOT + GUARD)	/* a datagram has its GRH in front */

static bool is_send(u8 op)
{
	return op >= VHCA_OP_SEND && op <= VHCA_OP_SEND_INV;
}

void c_pool_init(struct campaign *c, struct pool *p, struct thca *h, struct tqp *qp)
{
	u8 nothing[STRIDE];

	memset(nothing, UNTOUCHED, sizeof(nothing));
	p->h = h;
	p->qp = qp;
	t_mr_init(h, &p->mr, 1ull << 44 | (u64)(p - c->pools) << 32, POOL * STRIDE,
		  VHCA_ACCESS_LOCAL_WRITE, 1, 12);
	for (u32 i = 0; i < POOL; i++)
		t_mr_put(&p->mr, i * STRIDE, nothing, STRIDE);
}

static void post(struct campaign *c, struct pool *p, u32 i)
{
	u32 len = MSG_MAX + GRH_ROOM, cut = c_rnd(c, 3) ? len : c_rnd(c, len) + 1;
	const struct vhca_sge sge[2] = {
		t_sge(&p->mr, i * STRIDE, cut), t_sge(&p->mr, i * STRIDE + cut, len - cut),
	};
	u64 wr_id = RECV_ID | (u64)(p - c->pools) << 32 | i;

	if (p->qp)
		t_recv(p->qp, wr_id, cut < len ? 2 : 1, sge);
	else
		t_srq_recv(&p->srq, wr_id, cut < len ? 2 : 1, sge);
	p->fifo[p->tail++ % POOL] = i;
	p->posted[i] = true;
}

static bool can_receive(const struct tqp *qp)
{
	bool yes;

	adapter_lock(&qp->h->dev->adapter);
	yes = t_vqp(qp)->state == QPS_RTS;
	adapter_unlock(&qp->h->dev->adapter);
	return yes;
}

void c_pool_refill(struct campaign *c, struct pool *p, bool all)
{
	u32 most = all ? POOL : c_rnd(c, 8);

	if (p->qp && !can_receive(p->qp))
		return;
	for (u32 i = 0; most && i < POOL; i++) {
		if (p->posted[i])
			continue;
		post(c, p, i);
		most--;
	}
}

static struct flow *flow_to(struct campaign *c, const struct thca *h, const struct vhca_cqe *e)
{
	for (u32 i = 0; i < c->nflows; i++) {
		struct flow *f = &c->flow[i];

		if (f->peer->h == h && f->peer->qpn == le32toh(e->qpn) &&
		    (f->type != VHCA_QPT_UD || f->qp->qpn == le32toh(e->src_qpn)))
			return f;
	}
	c_wrong(c, NULL, "a receive of QP %#x, which nobody sends to", le32toh(e->qpn));
}

/* May receives of this queue be flushed now? */
static bool may_flush(const struct campaign *c, const struct pool *p)
{
	for (u32 i = 0; i < c->nflows; i++) {
		const struct flow *f = &c->flow[i];

		if (p->qp ? f->qp == p->qp && f->broken :
			    f->pool == p && f->back && f->back->broken)
			return true;
	}
	return c->ending;
}

/* Checks contents and length; the buffer is reset afterwards. */
static void check_content(struct flow *f, const struct want *w, u32 buffer,
			  const struct vhca_cqe *e)
{
	u32 grh = f->type == VHCA_QPT_UD ? GRH_ROOM : 0, used = is_send(w->op) ? grh + w->len : 0;
	static u8 got[STRIDE], sent[MSG_MAX];

	if (le32toh(e->byte_len) != w->len + grh)
		c_wrong(f->c, f, "message %llu of %u bytes arrives with %u",
			(unsigned long long)w->id, w->len, le32toh(e->byte_len));
	t_mr_get(&f->pool->mr, buffer * STRIDE, got, used + GUARD);
	c_fill(sent, w->id, w->len);
	if (used && memcmp(got + grh, sent, w->len))
		c_wrong(f->c, f, "message %llu of %u bytes: wrong bytes",
			(unsigned long long)w->id, w->len);
	for (u32 i = 0; c_reliable(f) && i < GUARD; i++)
		if (got[used + i] != UNTOUCHED)
			c_wrong(f->c, f, "message %llu wrote behind its end",
				(unsigned long long)w->id);
	/* messages that broke off may have written behind it */
	memset(got, UNTOUCHED, sizeof(got));
	t_mr_put(&f->pool->mr, buffer * STRIDE, got, c_reliable(f) ? used : STRIDE);
}

static void check_head(struct flow *f, const struct want *w, const struct vhca_cqe *e)
{
	u8 flags = w->op == VHCA_OP_SEND_INV ? VHCA_CQE_F_INV :
		   w->op == VHCA_OP_SEND ? 0 : VHCA_CQE_F_IMM;
	u32 told = flags == VHCA_CQE_F_INV ? le32toh(e->inv_key) : e->imm;

	if (e->opcode != (is_send(w->op) ? VHCA_CQE_RECV : VHCA_CQE_RECV_WRITE_IMM) ||
	    (e->flags & (VHCA_CQE_F_INV | VHCA_CQE_F_IMM)) != flags ||
	    (flags && told != w->imm))
		c_wrong(f->c, f, "message %llu, opcode %u, arrives as %u, flags %#x, %#x",
			(unsigned long long)w->id, w->op, e->opcode, e->flags, told);
	if (f->type == VHCA_QPT_XRC_INI && le32toh(e->srqn) != f->pool->srq.srqn)
		c_wrong(f->c, f, "message %llu arrives in SRQ %u", (unsigned long long)w->id,
			le32toh(e->srqn));
}

static void reliable(struct flow *f, u32 buffer, const struct vhca_cqe *e)
{
	const struct want *w = &f->want[f->want_head % WANTS];

	if (f->want_head == f->want_tail)
		c_wrong(f->c, f, "a message arrives twice, or nobody sent it");
	check_head(f, w, e);
	check_content(f, w, buffer, e);
	if (w->op == VHCA_OP_SEND_INV)
		c_key_ended(f, w->imm);
	f->want_head++;
}

/* A message arrives whole, at most once for each copy on the wire, and in order without faults. */
static void unreliable(struct flow *f, u32 buffer, const struct vhca_cqe *e)
{
	u32 grh = f->type == VHCA_QPT_UD ? GRH_ROOM : 0;
	struct campaign *c = f->c;
	struct want *w;
	u64 id = e->imm;

	if (!(e->flags & VHCA_CQE_F_IMM))
		t_mr_get(&f->pool->mr, buffer * STRIDE + grh, &id, sizeof(id));
	w = &f->recent[id % RECENT];
	if (w->id != id || w->op == VHCA_OP_WRITE)
		c_wrong(c, f, "message %#llx arrives, which nobody sent", (unsigned long long)id);
	check_head(f, w, e);
	check_content(f, w, buffer, e);
	if (++w->arrived > (c->doubling ? 2 : 1))
		c_wrong(c, f, "message %llu arrives %u times", (unsigned long long)id, w->arrived);
	if (c->faultless && id <= f->last_arrived)
		c_wrong(c, f, "message %llu arrives late", (unsigned long long)id);
	f->last_arrived = id;
	f->nrecent++;
}

void c_received(struct campaign *c, struct thca *h, const struct vhca_cqe *e)
{
	u64 wr_id = le64toh(e->wr_id);
	u32 pool = wr_id >> 32 & 0x7fffffff, buffer = wr_id;
	struct pool *p = &c->pools[pool];
	struct flow *f;

	if (!(wr_id & RECV_ID) || pool >= c->npools || buffer >= POOL || p->h != h ||
	    !p->posted[buffer])
		c_wrong(c, NULL, "a receive %#llx that was not posted", (unsigned long long)wr_id);
	if (p->qp && p->fifo[p->head++ % POOL] != buffer)
		c_wrong(c, NULL, "receive %u completes before the one posted before it", buffer);
	p->posted[buffer] = false;
	c->moved++;
	if (e->status == VHCA_CS_WR_FLUSH_ERR && may_flush(c, p)) {
		/* it may hold the beginning of a message */
		u8 nothing[STRIDE];

		memset(nothing, UNTOUCHED, sizeof(nothing));
		t_mr_put(&p->mr, buffer * STRIDE, nothing, STRIDE);
		return;
	}
	f = flow_to(c, h, e);
	if (e->status || c->ending)
		c_wrong(c, f, "a receive completes with status %u", e->status);
	c->r->arrived++;
	if (c_reliable(f))
		reliable(f, buffer, e);
	else
		unreliable(f, buffer, e);
}
