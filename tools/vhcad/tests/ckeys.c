// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys of the campaign that are made and invalidated: a fast key over what the sender gathers and
 * scatters, and a window over what the peer may access, each by requests among the others.
 *
 * A window is bound by the QP that has its memory, so by the flow in the other direction.  The
 * sender may use it when the bind has completed, and stops using it before it is invalidated.
 */
#include <string.h>

#include "res/dev.h"
#include "res/mkey.h"
#include "tests/cflow.h"
#include "tests/tkey.h"

#define LOCAL_SIZE	(DEPTH * SLOT)
#define SINK_IOVA	(1ull << 52)
#define REMOTE		(VHCA_ACCESS_REMOTE_READ | VHCA_ACCESS_REMOTE_WRITE | \
			 VHCA_ACCESS_REMOTE_ATOMIC)

/* The same key with another low byte than before. */
static u32 next_key(struct campaign *c, u32 key)
{
	return (key & ~0xffu) | ((key + 1 + c_rnd(c, 255)) & 0xff);
}

void c_keys_init(struct flow *f)
{
	struct thca *h = f->qp->h, *to = f->peer->h;
	u64 list = t_alloc(h, 4096), page;

	for (u32 i = 0; i < f->local.npages; i++)
		((__le64 *)t_cpu(h, list))[i] = htole64(f->local.page[i]);
	f->sink.key = t_key(h, VHCA_MKEY_FAST, list, f->local.npages, 3);
	f->window_key.type = f->no % 4 < 2 ? VHCA_MKEY_MW_2 : VHCA_MKEY_MW_1;
	f->window_key.key = t_key(to, f->window_key.type, 0, 0, 9);
	page = t_alloc(to, 4096);
	*(__le64 *)t_cpu(to, page) = htole64(t_alloc(to, 4096));
	f->fast_key = t_key(to, VHCA_MKEY_FAST, page, 1, 7);
}

/* Removes what a failed connection has left of a key. */
static void end_key(const struct tqp *qp, u32 key)
{
	const struct vmkey *mk;

	adapter_lock(&qp->h->dev->adapter);
	mk = table_get(&qp->h->dev->mkeys, key >> 8);
	assert_non_null(mk);
	qp_mkey_invalidate(t_vqp(qp), mk->key, false);
	adapter_unlock(&qp->h->dev->adapter);
}

static void fast_key_valid(struct flow *f)
{
	assert_int_equal(t_register(f->peer, f->fast_key, 1, FAST_IOVA, 4096,
				    VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE, 12),
			 VHCA_CS_SUCCESS);
	f->key_busy = false;
}

void c_keys_reset(struct flow *f)
{
	struct window *w = &f->window_key;

	if (!f->fast_key)
		return;
	end_key(f->peer, f->fast_key);
	fast_key_valid(f);
	end_key(f->qp, f->sink.key);
	f->sink.valid = false;
	f->sink.ending = false;
	if (w->type == VHCA_MKEY_MW_2)
		end_key(f->peer, w->key);
	else
		assert_int_equal(t_bind(f->peer, w->key, 0, 0, 0, 0), VHCA_CS_SUCCESS);
	w->state = W_UNBOUND;
}

void c_keys_quiet(struct flow *f)
{
	const struct window *w = &f->window_key;
	bool there;

	if (!f->fast_key || f->broken || f->back->broken)
		return;
	there = t_grants(f->qp, f->sink.key, SINK_IOVA + f->local.first, 1,
			 VHCA_ACCESS_REMOTE_READ);
	if (there != f->sink.valid)
		c_wrong(f->c, f, "the sender's key %#x is %sthere", f->sink.key,
			there ? "" : "not ");
	there = t_grants(f->peer, w->key, w->iova, 1, REMOTE);
	if (w->state > W_BOUND || there != (w->state == W_BOUND))
		c_wrong(f->c, f, "window %#x is %sthere, state %u", w->key, there ? "" : "not ",
			w->state);
}

static void make_register(struct flow *f, struct twr *wr)
{
	struct campaign *c = f->c;

	f->sink.key = next_key(c, f->sink.key);
	f->sink.valid = true;
	/* an earlier READ that invalidates the key must be over */
	if (f->sink.ending || !c_rnd(c, 4))
		wr->flags |= VHCA_WQE_FENCE;
	wr->reg = (struct vhca_wqe_reg){
		.key = htole32(f->sink.key), .entries = htole32(f->local.npages),
		.iova = htole64(SINK_IOVA + f->local.first), .length = htole64(LOCAL_SIZE),
		.access = VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_READ, .page_shift = 12,
	};
	c->r->registered++;
}

/* Binds to some of the places, and perhaps to the words behind them. */
static void make_bind(struct flow *f, struct window *w, struct tmr *mr, struct twr *wr)
{
	struct campaign *c = f->c;
	u32 first = c_rnd(c, WSLOTS), behind = first + 1 + c_rnd(c, WSLOTS - first);
	bool zero = w->type == VHCA_MKEY_MW_2 && c_rnd(c, 2);

	w->key = next_key(c, w->key);
	w->state = W_BINDING;
	w->start = first * MSG_MAX;
	w->end = behind == WSLOTS ? WSLOTS * MSG_MAX + WORDS * sizeof(u64) : behind * MSG_MAX;
	w->iova = zero ? 0 : mr->iova + w->start;
	wr->bind = (struct vhca_wqe_bind){
		.key = htole32(w->key), .mr_key = htole32(mr->key),
		.addr = htole64(mr->iova + w->start), .length = htole64(w->end - w->start),
		.access = REMOTE | (zero ? VHCA_ACCESS_ZERO_BASED : 0),
	};
	c->r->windows++;
}

/* Are the peer's requests through the window over? */
static bool unused(const struct flow *back, const struct window *w)
{
	return (s32)(back->head - w->used) >= 0;
}

static bool make_window(struct flow *f, struct msg *m, struct twr *wr)
{
	struct flow *user = f->back;
	struct window *w = &user->window_key;

	if (w->state == W_BOUND && !unused(user, w))
		return false;
	if (w->state == W_BOUND && w->type == VHCA_MKEY_MW_2) {
		m->op = VHCA_OP_LOCAL_INV;
		wr->imm = htole32(w->key);
		w->state = W_UNBOUND;
		return true;
	}
	if (w->state != W_UNBOUND && w->state != W_BOUND)
		return false;
	m->op = VHCA_OP_BIND_MW;
	make_bind(f, w, &user->window, wr);
	return true;
}

bool c_make_keys(struct flow *f, struct msg *m, struct twr *wr)
{
	if (c_rnd(f->c, 2))
		return make_window(f, m, wr);
	if (f->sink.valid) {
		m->op = VHCA_OP_LOCAL_INV;
		wr->imm = htole32(f->sink.key);
		f->sink.valid = false;
		return true;
	}
	m->op = VHCA_OP_REG_MR;
	make_register(f, wr);
	return true;
}

void c_keys_done(struct flow *f, const struct msg *m)
{
	if (m->op == VHCA_OP_BIND_MW)
		f->back->window_key.state = W_BOUND;
	if (m->op == VHCA_OP_READ_INV)
		f->sink.ending = false;
}

bool c_read_ends_key(struct flow *f, struct twr *wr, u64 off, u32 len)
{
	if (!f->sink.valid || f->sink.ending || c_rnd(f->c, 3))
		return false;
	wr->sge[0] = (struct vhca_sge){ SINK_IOVA + f->local.first + off, len, f->sink.key };
	wr->nsge = 1;
	f->sink.valid = false;
	f->sink.ending = true;
	f->c->r->read_inv++;
	return true;
}

struct vhca_sge c_local(struct flow *f, u64 off, u32 len)
{
	if (!f->sink.valid || c_rnd(f->c, 2))
		return t_sge(&f->local, off, len);
	return (struct vhca_sge){ SINK_IOVA + f->local.first + off, len, f->sink.key };
}

void c_remote(struct flow *f, struct twr *wr, u64 off, u32 len)
{
	struct window *w = &f->window_key;

	wr->raddr = f->window.iova + off;
	wr->rkey = f->window.key;
	if (!f->fast_key || w->state != W_BOUND || off < w->start || off + len > w->end ||
	    !c_rnd(f->c, 4))
		return;
	wr->raddr = w->iova + off - w->start;
	wr->rkey = w->key;
	w->used = f->tail + 1;
}

u32 c_key_to_end(struct flow *f, struct twr *wr)
{
	struct window *w = &f->window_key;
	struct campaign *c = f->c;

	if (!f->fast_key || c_rnd(c, 8))
		return 0;
	if (w->state == W_BOUND && w->type == VHCA_MKEY_MW_2 && c_rnd(c, 2)) {
		/* READs through it must be complete */
		wr->flags |= VHCA_WQE_FENCE;
		w->state = W_ENDING;
		return w->key;
	}
	if (f->key_busy)
		return 0;
	f->key_busy = true;
	return f->fast_key;
}

void c_key_ended(struct flow *f, u32 key)
{
	struct window *w = &f->window_key;
	bool window = w->key == key;

	if (window ? t_grants(f->peer, key, w->iova, 1, REMOTE) :
		     t_grants(f->peer, key, FAST_IOVA, 8, VHCA_ACCESS_REMOTE_WRITE))
		c_wrong(f->c, f, "key %#x that a message ended is there", key);
	f->c->r->send_inv++;
	if (window)
		w->state = W_UNBOUND;
	else
		fast_key_valid(f);
}
