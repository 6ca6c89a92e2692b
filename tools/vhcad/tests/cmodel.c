// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The campaign's messages: requests that are posted, and their expected results at the sender and
 * in the receiver's memory.
 *
 * Reliable requests are executed in the order of posting, so the model executes each when it is
 * posted.  A WRITE to memory that a READ under way accesses is fenced.
 */
#include <string.h>

#include "tests/cflow.h"
#include "tests/tatomic.h"

#define WORDS_OFF	(WSLOTS * MSG_MAX)	/* in the window */

static u64 mix(u64 v)
{
	v = (v ^ v >> 32) * 0xd6e8feb86659fd93ull;
	return v ^ v >> 32;
}

void c_fill(u8 *to, u64 id, u32 len)
{
	/* so that the contents tell the message */
	for (u32 i = 0; i < len; i += 8) {
		u64 v = i ? mix(id * 4099 + i) : id;

		memcpy(to + i, &v, MIN(len - i, 8u));
	}
}

static u32 some_len(struct campaign *c)
{
	switch (c_rnd(c, 8)) {
	case 0:
		return c_rnd(c, MSG_MAX + 1);
	case 1 ... 2:
		return c_rnd(c, 4097);
	case 3:
		return 256u << c_rnd(c, 5);
	default:
		return c_rnd(c, 300);
	}
}

static bool is_read(u8 op)
{
	return op == VHCA_OP_READ || op == VHCA_OP_READ_INV;
}

static u64 local_off(const struct flow *f)
{
	return (u64)(f->tail % DEPTH) * SLOT;
}

/* The bytes of a message, in one piece, in several, or in the entry itself. */
static void give_data(struct flow *f, const struct msg *m, struct twr *wr, u8 *buf)
{
	struct campaign *c = f->c;
	u32 pieces, at = 0;

	c_fill(buf, m->id, m->len);
	if (m->len <= 128 && f->type != VHCA_QPT_XRC_INI && !c_rnd(c, 3)) {
		wr->flags |= VHCA_WQE_INLINE;
		wr->data = buf;
		wr->data_len = m->len;
		return;
	}
	t_mr_put(&f->local, local_off(f), buf, m->len);
	pieces = m->len ? 1 + c_rnd(c, MIN(m->len, 3u)) : 0;
	for (u32 i = 0; i < pieces; i++) {
		u32 n = i + 1 == pieces ? m->len - at : c_rnd(c, m->len - at + 1);

		wr->sge[i] = c_local(f, local_off(f) + at, n);
		at += n;
	}
	wr->nsge = pieces;
}

static void want_receive(struct flow *f, const struct msg *m, u32 imm)
{
	const struct want w = { .id = m->id, .len = m->len, .imm = imm, .op = m->op };

	if (!c_reliable(f)) {
		f->recent[m->id % RECENT] = w;
		return;
	}
	assert_true(f->want_tail - f->want_head < WANTS);
	f->want[f->want_tail++ % WANTS] = w;
}

static void make_send(struct flow *f, struct msg *m, struct twr *wr, u8 *buf)
{
	struct campaign *c = f->c;
	u32 key;

	m->op = c_rnd(c, 3) ? VHCA_OP_SEND : VHCA_OP_SEND_IMM;
	m->len = some_len(c);
	if (f->type == VHCA_QPT_UD)
		m->len %= 4097 - 16;
	if (!c_reliable(f))
		m->len = MIN(m->len + 16, MSG_MAX);
	key = c_key_to_end(f, wr);
	if (key)
		m->op = VHCA_OP_SEND_INV;
	wr->imm = key ? key : (u32)m->id;
	if (!c_rnd(c, 4))
		wr->flags |= VHCA_WQE_SOLICITED;
	give_data(f, m, wr, buf);
	want_receive(f, m, wr->imm);
}

static void make_write(struct flow *f, struct msg *m, struct twr *wr, u8 *buf)
{
	struct campaign *c = f->c;

	m->op = c_rnd(c, 3) ? VHCA_OP_WRITE : VHCA_OP_WRITE_IMM;
	m->len = some_len(c);
	m->wslot = c_rnd(c, WSLOTS);
	m->woff = c_rnd(c, MSG_MAX - m->len + 1);
	wr->imm = m->id;
	c_remote(f, wr, m->wslot * MSG_MAX + m->woff, m->len);
	give_data(f, m, wr, buf);
	if (f->reads_of[m->wslot] || !c_rnd(c, 16))
		wr->flags |= VHCA_WQE_FENCE;
	memcpy(f->shadow + m->wslot * MSG_MAX + m->woff, buf, m->len);
	if (m->op == VHCA_OP_WRITE_IMM)
		want_receive(f, m, wr->imm);
}

/* On a connection that loses messages each place is written only once in an epoch. */
static bool make_uc_write(struct flow *f, struct msg *m, struct twr *wr, u8 *buf)
{
	struct campaign *c = f->c;

	m->wslot = c_rnd(c, WSLOTS);
	if (f->written[m->wslot].id)
		return false;
	m->op = c_rnd(c, 2) ? VHCA_OP_WRITE : VHCA_OP_WRITE_IMM;
	m->len = MIN(some_len(c) + 16, MSG_MAX);
	wr->imm = m->id;
	wr->raddr = f->window.iova + m->wslot * MSG_MAX;
	wr->rkey = f->window.key;
	give_data(f, m, wr, buf);
	want_receive(f, m, wr->imm);
	f->written[m->wslot] = f->recent[m->id % RECENT];
	return true;
}

static void make_read(struct flow *f, struct msg *m, struct twr *wr)
{
	struct campaign *c = f->c;
	u32 slot = f->tail % DEPTH;
	u8 nothing[GUARD];

	memset(nothing, UNTOUCHED, sizeof(nothing));
	m->op = VHCA_OP_READ;
	m->len = some_len(c);
	m->wslot = c_rnd(c, WSLOTS);
	m->woff = c_rnd(c, MSG_MAX - m->len + 1);
	if (c_read_ends_key(f, wr, local_off(f), m->len)) {
		m->op = VHCA_OP_READ_INV;
	} else {
		wr->sge[0] = c_local(f, local_off(f), m->len);
		wr->nsge = 1;
	}
	c_remote(f, wr, m->wslot * MSG_MAX + m->woff, m->len);
	memcpy(f->expect[slot], f->shadow + m->wslot * MSG_MAX + m->woff, m->len);
	t_mr_put(&f->local, local_off(f) + m->len, nothing, sizeof(nothing));
	f->reads_of[m->wslot]++;
}

/* On the shared word it is an add of one: each of them fetches another value. */
static void make_atomic(struct flow *f, struct msg *m, struct twr *wr)
{
	struct campaign *c = f->c;
	u32 w = c_rnd(c, WORDS), to = f->peer->h - c->h;
	struct vhca_wqe_atomic a = { 0 };
	u64 *word = &f->word[w];

	m->shared = c_rnd(c, 2);
	m->len = 8;
	m->expect = *word;
	wr->sge[0] = c_local(f, local_off(f), 8);
	wr->nsge = 1;
	if (m->shared) {
		m->op = VHCA_OP_FETCH_ADD;
		wr->raddr = c->counter[to].iova;
		wr->rkey = c->counter[to].key;
		wr->atomic.swap_add = htole64(1);
		c->unsure[to]++;
		return;
	}
	m->op = VHCA_OP_CMP_SWAP + c_rnd(c, f->type == VHCA_QPT_RC ? 4 : 2);
	c_remote(f, wr, WORDS_OFF + w * sizeof(u64), 8);
	a.swap_add = c_rnd(c, 1ull << 40) * 0x1000001;
	if (m->op == VHCA_OP_CMP_SWAP || m->op == VHCA_OP_MASKED_CMP_SWAP)
		a.compare = c_rnd(c, 4) ? *word : *word + 1;
	if (ta_masked(m->op))
		a.mask = mix(c_rnd(c, 1ull << 40));
	if (m->op == VHCA_OP_MASKED_CMP_SWAP)
		a.compare_mask = mix(c_rnd(c, 1ull << 40));
	wr->atomic = ta_wire(&a);
	*word = ta_result(m->op, *word, &a);
}

static void make_atomic_write(struct flow *f, struct msg *m, struct twr *wr, u8 *buf)
{
	u32 w = c_rnd(f->c, WORDS);
	u64 value = htole64(m->id);

	m->op = VHCA_OP_ATOMIC_WRITE;
	m->len = 8;
	memcpy(buf, &value, sizeof(value));
	t_mr_put(&f->local, local_off(f), buf, 8);
	wr->sge[0] = c_local(f, local_off(f), 8);
	wr->nsge = 1;
	c_remote(f, wr, WORDS_OFF + w * sizeof(u64), 8);
	f->word[w] = m->id;
}

static void make_flush(struct flow *f, struct msg *m, struct twr *wr)
{
	m->op = VHCA_OP_FLUSH;
	*wr = t_wr(m->op, wr->wr_id, NULL, 0, 0, &f->window, 0);
	wr->flush.type = VHCA_FLUSH_GLOBAL;
	wr->flush.level = c_rnd(f->c, 2) ? VHCA_FLUSH_RANGE : VHCA_FLUSH_MR;
	if (wr->flush.level == VHCA_FLUSH_RANGE)
		wr->flush.length = htole32(c_rnd(f->c, MSG_MAX));
}

static void choose(struct flow *f, struct msg *m, struct twr *wr, u8 *buf)
{
	u32 dice = c_rnd(f->c, 100);

	if (f->type == VHCA_QPT_UD || (f->type == VHCA_QPT_UC && dice < 60)) {
		make_send(f, m, wr, buf);
	} else if (f->type == VHCA_QPT_UC) {
		if (!make_uc_write(f, m, wr, buf))
			make_send(f, m, wr, buf);
	} else if (f->fast_key && dice < 5 && c_make_keys(f, m, wr)) {
		return;
	} else if (dice < 35) {
		make_send(f, m, wr, buf);
	} else if (dice < 65) {
		make_write(f, m, wr, buf);
	} else if (dice < 82) {
		make_read(f, m, wr);
	} else if (dice < 94 || f->type == VHCA_QPT_XRC_INI) {
		make_atomic(f, m, wr);
	} else if (dice < 97) {
		make_atomic_write(f, m, wr, buf);
	} else {
		make_flush(f, m, wr);
	}
}

static u64 wr_id_of(const struct flow *f, u64 id)
{
	return (u64)f->no << 48 | id;
}

void c_post(struct flow *f, bool last)
{
	struct campaign *c = f->c;
	struct msg *m = &f->q[f->tail % DEPTH];
	struct twr wr = { .wr_id = wr_id_of(f, ++c->id) };
	static u8 buf[MSG_MAX];

	*m = (struct msg){ .id = c->id };
	choose(f, m, &wr, buf);
	wr.opcode = m->op;
	m->signaled = last || f->tail - f->head == DEPTH - 1 || c_rnd(c, 4);
	if (m->signaled)
		wr.flags |= VHCA_WQE_SIGNALED;
	if (f->type == VHCA_QPT_XRC_INI)
		wr.srqn = f->pool->srq.srqn;
	if (f->type == VHCA_QPT_UD)
		wr.ud = f->address;
	f->tail++;
	t_post(f->qp, &wr);
	c->r->messages++;
}

static void check_read(struct flow *f, const struct msg *m, u32 slot)
{
	u8 got[SLOT];

	t_mr_get(&f->local, (u64)slot * SLOT, got, m->len + GUARD);
	if (memcmp(got, f->expect[slot], m->len))
		c_wrong(f->c, f, "READ %llu of %u bytes at %u in %u: wrong bytes",
			(unsigned long long)m->id, m->len, m->woff, m->wslot);
	for (u32 i = 0; i < GUARD; i++)
		if (got[m->len + i] != UNTOUCHED)
			c_wrong(f->c, f, "READ %llu wrote behind its end",
				(unsigned long long)m->id);
}

static void check_atomic(struct flow *f, const struct msg *m, u32 slot)
{
	struct campaign *c = f->c;
	u32 to = f->peer->h - c->h;
	u64 got;

	t_mr_get(&f->local, (u64)slot * SLOT, &got, sizeof(got));
	got = le64toh(got);
	c->r->atomics++;
	if (!m->shared) {
		if (got != m->expect)
			c_wrong(c, f, "atomic %llu fetched %#llx, expected %#llx",
				(unsigned long long)m->id, (unsigned long long)got,
				(unsigned long long)m->expect);
		return;
	}
	c->unsure[to]--;
	if (++c->added[to] > c->o->messages * 2ull || got >= c->o->messages * 2ull ||
	    c->fetched[to][got / 8] >> (got % 8) & 1)
		c_wrong(c, f, "add %llu fetched %llu, as another one did",
			(unsigned long long)m->id, (unsigned long long)got);
	c->fetched[to][got / 8] |= 1 << (got % 8);
}

/* The oldest message has completed, by its own completion or by a later one. */
static void done(struct flow *f, bool good)
{
	u32 slot = f->head++ % DEPTH;
	const struct msg *m = &f->q[slot];

	f->c->moved++;
	if (is_read(m->op))
		f->reads_of[m->wslot]--;
	if (!good)
		return;
	if (is_read(m->op))
		check_read(f, m, slot);
	else if (m->op >= VHCA_OP_CMP_SWAP && m->op <= VHCA_OP_MASKED_FETCH_ADD)
		check_atomic(f, m, slot);
	c_keys_done(f, m);
}

void c_completed(struct flow *f, const struct vhca_cqe *e)
{
	u64 wr_id = le64toh(e->wr_id);
	const struct msg *m;

	/* unsignaled requests complete with the next one behind them */
	while (f->head != f->tail && wr_id_of(f, f->q[f->head % DEPTH].id) != wr_id) {
		m = &f->q[f->head % DEPTH];
		if (m->signaled || f->broken)
			break;
		done(f, true);
	}
	m = &f->q[f->head % DEPTH];
	if (f->head == f->tail || wr_id_of(f, m->id) != wr_id)
		c_wrong(f->c, f, "completion of %#llx, which is not due: lost, doubled or early",
			(unsigned long long)wr_id);
	if (e->status == VHCA_CS_SUCCESS) {
		if (f->broken || !m->signaled)
			c_wrong(f->c, f, "completion of %#llx that nobody wants",
				(unsigned long long)wr_id);
		if (is_read(m->op) && le32toh(e->byte_len) != m->len)
			c_wrong(f->c, f, "READ of %u bytes completes with %u", m->len,
				le32toh(e->byte_len));
	} else if (f->broken ? e->status != VHCA_CS_WR_FLUSH_ERR :
			       e->status != VHCA_CS_RETRY_EXC_ERR || !c_reliable(f)) {
		c_wrong(f->c, f, "%#llx completes with status %u", (unsigned long long)wr_id,
			e->status);
	} else if (!f->broken) {
		f->broken = true;
		f->c->r->broken++;
	}
	done(f, e->status == VHCA_CS_SUCCESS);
}

bool c_due(const struct flow *f)
{
	for (u32 i = f->head; i != f->tail; i++)
		if (f->q[i % DEPTH].signaled || f->broken)
			return true;
	return false;
}

/* Checks what UC has written: whole packets, and all of them if a receive has completed. */
static void check_uc_slot(struct flow *f, u32 slot, u8 *got)
{
	const struct want *w = &f->written[slot];
	const struct want *now = &f->recent[w->id % RECENT];
	bool whole = now->id == w->id && now->arrived;
	u8 sent[MSG_MAX], *was = f->shadow + slot * MSG_MAX;
	u32 mtu = 128u << f->mtu;

	c_fill(sent, w->id, w->len);
	for (u32 at = 0; at < w->len; at += mtu) {
		u32 n = MIN(mtu, w->len - at);

		if (memcmp(got + at, sent + at, n) && (whole || memcmp(got + at, was + at, n)))
			c_wrong(f->c, f, "WRITE %llu: byte %u and on are wrong",
				(unsigned long long)w->id, at);
	}
	memcpy(was, got, w->len);
}

void c_quiet(struct flow *f)
{
	static u8 got[WSLOTS * MSG_MAX];
	u64 word[WORDS];

	t_mr_get(&f->window, 0, got, sizeof(got));
	t_mr_get(&f->window, WORDS_OFF, word, sizeof(word));
	if (f->type == VHCA_QPT_UC)
		for (u32 i = 0; i < WSLOTS; i++)
			if (f->written[i].id)
				check_uc_slot(f, i, got + i * MSG_MAX);
	memset(f->written, 0, sizeof(f->written));
	c_keys_quiet(f);
	/* which of the last requests of a failed connection were executed is not known */
	if (f->broken) {
		memcpy(f->shadow, got, sizeof(got));
		for (u32 i = 0; i < WORDS; i++)
			f->word[i] = le64toh(word[i]);
		f->want_head = f->want_tail;
		return;
	}
	if (f->want_head != f->want_tail)
		c_wrong(f->c, f, "%u messages have not arrived", f->want_tail - f->want_head);
	for (u32 i = 0; i < sizeof(got); i++)
		if (got[i] != f->shadow[i])
			c_wrong(f->c, f, "byte %u of place %u is %#x, expected %#x", i % MSG_MAX,
				i / MSG_MAX, got[i], f->shadow[i]);
	for (u32 i = 0; i < WORDS; i++)
		if (le64toh(word[i]) != f->word[i])
			c_wrong(f->c, f, "word %u is %#llx, expected %#llx", i,
				(unsigned long long)le64toh(word[i]),
				(unsigned long long)f->word[i]);
}
