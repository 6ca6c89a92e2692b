// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys that check and make protection fields, against a model that works on whole buffers.
 */
#include <string.h>

#include "tests/tkey.h"
#include "tests/trandom.h"

#define INTERVALS	12u
#define BYTES		(INTERVALS * (VHCA_DIF_MAX_INTERVAL + VHCA_DIF_SIZE))
#define ENTRIES		128u
#define SETTLE		1000000000ull
#define REFUSED		VHCA_CS_LOC_QP_OP_ERR

struct fixture {
	struct tpair p;
	struct thca *h;			/* the device of the key */
	struct tqp *qp;
	struct tmr peer;		/* of the other device */
	struct tmr local;		/* of @h */
	u32 key;
	u8 variant;
	u64 head;			/* struct vhca_integrity and list */
	u64 data, fields;		/* memory for the pieces */
	u64 nid;
};

/* The configuration of the key in one round. */
struct layout {
	struct vhca_dif mem, wire;	/* numbers in the host's order, except in the header */
	u32 interval, intervals;
	bool apart;
	u8 check;
};

static u64 rng;

static u32 any(u32 below)
{
	return (t_random(&rng) >> 16) % below;
}

static void setup_mtu(void **state, u8 mtu)
{
	static struct fixture f;

	memset(&f, 0, sizeof(f));
	t_pair_init(&f.p, mtu, 1, 2);
	f.h = &f.p.h[1];
	f.qp = &f.p.qp[1];
	t_key_caps(f.h);
	t_allow(&f.p.qp[0], T_RW);
	t_allow(&f.p.qp[1], T_RW);
	t_mr_init(&f.p.h[0], &f.peer, 0x5000, BYTES, T_RW, 1, 12);
	t_mr_init(f.h, &f.local, 0x7000, BYTES, T_RW, 1, 12);
	f.head = t_alloc(f.h, sizeof(struct vhca_integrity) +
			      2 * ENTRIES * sizeof(struct vhca_sg_entry));
	f.data = t_alloc(f.h, 2 * BYTES);
	f.fields = t_alloc(f.h, 4 * INTERVALS * VHCA_DIF_SIZE);
	f.key = t_key(f.h, VHCA_MKEY_INTEGRITY, f.head, 2 * ENTRIES, 0) & ~0xffu;
	*state = &f;
}

static int setup(void **state)
{
	rng = 88172645463325252ull;
	setup_mtu(state, 5);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	t_pair_fini(&f->p);
	return 0;
}

/* ------------------------------------------------------------------------
 * Model
 */

static u16 model_guard(const struct vhca_dif *d, const u8 *data, u32 len)
{
	if (d->guard == VHCA_DIF_CRC) {
		u16 crc = d->seed;

		for (u32 i = 0; i < len * 8; i++) {
			bool one = (crc >> 15 ^ data[i / 8] >> (7 - i % 8)) & 1;

			crc = crc << 1 ^ (one ? 0x8bb7 : 0);
		}
		return crc;
	}
	u64 sum = d->seed;

	for (u32 i = 0; i < len; i++)
		sum += i & 1 ? data[i] : data[i] * 256ull;
	return 0xffff - (sum ? (sum - 1) % 0xffff + 1 : 0);
}

/* The field that an interval should have, as bytes. */
static void model_field(const struct vhca_dif *d, u32 nr, const u8 *data, u32 len, u8 *field)
{
	u16 guard = model_guard(d, data, len);
	u32 ref = d->ref_tag + (d->flags & VHCA_DIF_REMAP ? nr : 0);
	const u8 b[] = { guard >> 8, guard, d->app_tag >> 8, d->app_tag,
			 ref >> 24, ref >> 16, ref >> 8, ref };

	memcpy(field, b, sizeof(b));
}

static u32 number(const u8 *b, u32 n)
{
	u32 v = 0;

	while (n--)
		v = v * 256 + *b++;
	return v;
}

/* The error of an interval's field, if there is one that is checked. */
static u32 model_error(const struct layout *y, const struct vhca_dif *d, u32 nr, const u8 *data,
		       const u8 *field, u32 *want, u32 *got)
{
	static const struct { u32 error, at, n; } part[] = {
		{ VHCA_DIF_BAD_GUARD, 0, 2 }, { VHCA_DIF_BAD_APP_TAG, 2, 2 },
		{ VHCA_DIF_BAD_REF_TAG, 4, 4 },
	};
	bool app = number(field + 2, 2) == 0xffff, ref = number(field + 4, 4) == 0xffffffff;
	u8 good[VHCA_DIF_SIZE];

	switch (d->flags & (VHCA_DIF_APP_ESCAPE | VHCA_DIF_REF_ESCAPE)) {
	case VHCA_DIF_APP_ESCAPE:
		if (app)
			return 0;
		break;
	case VHCA_DIF_REF_ESCAPE:
		if (ref)
			return 0;
		break;
	case VHCA_DIF_APP_ESCAPE | VHCA_DIF_REF_ESCAPE:
		if (app && ref)
			return 0;
		break;
	}
	model_field(d, nr, data, y->interval, good);
	for (u32 k = 0; k < ARRAY_SIZE(part); k++) {
		*want = number(good + part[k].at, part[k].n);
		*got = number(field + part[k].at, part[k].n);
		for (u32 i = part[k].at; i < part[k].at + part[k].n; i++) {
			u8 bits = y->check >> (7 - i) & 1 ? 0xff : 0;

			if (k == 1)
				bits &= d->app_mask >> (i == 2 ? 8 : 0);
			if ((good[i] ^ field[i]) & bits)
				return part[k].error;
		}
	}
	return 0;
}

/* The field for the other side. */
static void model_convert(const struct layout *y, const struct vhca_dif *from,
			  const struct vhca_dif *to, u32 nr, const u8 *data, const u8 *in, u8 *out)
{
	model_field(to, nr, data, y->interval, out);
	if (!from->guard)
		return;
	if (from->guard == to->guard && from->seed == to->seed)
		memcpy(out, in, 2);
	if (from->app_tag == to->app_tag)
		memcpy(out + 2, in + 2, 2);
	if (from->ref_tag == to->ref_tag &&
	    (from->flags & VHCA_DIF_REMAP) == (to->flags & VHCA_DIF_REMAP))
		memcpy(out + 4, in + 4, 4);
}

/* ------------------------------------------------------------------------
 * Rounds
 */

static struct vhca_dif any_dif(void)
{
	return (struct vhca_dif){
		.guard = 1 + any(2), .flags = any(8), .seed = any(3) ? 0 : any(65536),
		.app_tag = any(4) ? 0x1234 : 0xffff, .app_mask = any(2) ? 0xffff : 0xff00,
		.ref_tag = any(4) ? 77 : UINT32_MAX - any(3),
	};
}

static struct layout any_layout(void)
{
	static const u32 intervals[] = { 512, 512, 520, 4096, 513, 1000, 4095 };
	struct layout y = {
		.interval = intervals[any(ARRAY_SIZE(intervals))], .intervals = 1 + any(INTERVALS),
		.check = any(2) ? 0xff : any(256),
	};
	u32 sides = 1 + any(4);

	if (sides & 1)
		y.mem = any_dif();
	if (sides & 2)
		y.wire = sides == 3 && any(2) ? y.mem : any_dif();
	if (sides == 4)		/* both, equal except for one field */
		y.mem = y.wire = any_dif(), y.wire.app_tag ^= 1;
	y.apart = y.mem.guard && any(2);
	return y;
}

static u32 mem_step(const struct layout *y)
{
	return y->interval + (y->mem.guard && !y->apart ? VHCA_DIF_SIZE : 0);
}

static u32 wire_step(const struct layout *y)
{
	return y->interval + (y->wire.guard ? VHCA_DIF_SIZE : 0);
}

static struct vhca_dif packed(const struct vhca_dif *d)
{
	return (struct vhca_dif){
		.guard = d->guard, .flags = d->flags, .seed = htole16(d->seed),
		.app_tag = htole16(d->app_tag), .app_mask = htole16(d->app_mask),
		.ref_tag = htole32(d->ref_tag),
	};
}

static struct vhca_integrity *header(struct fixture *f)
{
	return t_cpu(f->h, f->head);
}

/* Cuts bytes at an address into pieces, in another order; returns the number of entries. */
static u32 cut(struct fixture *f, u32 first, u64 addr, u32 len)
{
	struct vhca_sg_entry *e = (void *)(header(f) + 1);
	u32 n = 1 + any(ENTRIES / 4), at = 0, i;

	for (i = 0; at < len; i++) {
		u32 part = i + 1 == n ? len - at : MIN(any(2 * len / n + 1), len - at);

		/* gaps between them: no piece follows the one in front of it */
		e[first + i].addr = htole64(addr + at + i * 64);
		at += part;
		e[first + i].end = htole64(at);
	}
	return i;
}

/* The address of a byte of a list that cut() made. */
static u8 *byte_at(struct fixture *f, u32 first, u32 off)
{
	struct vhca_sg_entry *e = (struct vhca_sg_entry *)(header(f) + 1) + first;
	u64 start = 0;

	for (; le64toh(e->end) <= off; e++)
		start = le64toh(e->end);
	return t_cpu(f->h, le64toh(e->addr) + off - start);
}

static void copy_list(struct fixture *f, u32 first, u8 *bytes, u32 len, bool to)
{
	for (u32 i = 0; i < len; i++)
		*(to ? byte_at(f, first, i) : bytes + i) = *(to ? bytes + i : byte_at(f, first, i));
}

/* Copies from there to here, or the other way. */
static void copy(u8 *here, u8 *there, u32 len, bool to_here)
{
	memcpy(to_here ? here : there, to_here ? there : here, len);
}

/* Converts between the layout in memory and separate intervals and fields. */
static void copy_memory(struct fixture *f, const struct layout *y, u32 ndata, u8 *data, u8 *fields,
			bool to)
{
	static u8 bytes[BYTES];
	u32 len = y->intervals * mem_step(y);

	if (!to)
		copy_list(f, 0, bytes, len, false);
	for (u32 i = 0; i < y->intervals; i++) {
		u8 *b = bytes + i * mem_step(y);

		copy(b, data + i * y->interval, y->interval, to);
		if (y->mem.guard && !y->apart)
			copy(b + y->interval, fields + i * 8, 8, to);
	}
	if (to)
		copy_list(f, 0, bytes, len, true);
	if (y->apart)
		copy_list(f, ndata, fields, y->intervals * VHCA_DIF_SIZE, to);
}

static u32 copy_wire(const struct layout *y, u8 *wire, u8 *data, u8 *fields, bool to)
{
	for (u32 i = 0; i < y->intervals; i++) {
		u8 *b = wire + i * wire_step(y);

		copy(b, data + i * y->interval, y->interval, to);
		if (y->wire.guard)
			copy(b + y->interval, fields + i * 8, 8, to);
	}
	return y->intervals * wire_step(y);
}

static u32 set_header(struct fixture *f, const struct layout *y, u32 *ndata)
{
	u32 n = *ndata = cut(f, 0, f->data, y->intervals * mem_step(y));

	if (y->apart)
		n += cut(f, n, f->fields, y->intervals * VHCA_DIF_SIZE);
	*header(f) = (struct vhca_integrity){
		.mem = packed(&y->mem), .wire = packed(&y->wire),
		.interval = htole16(y->interval), .check = y->check,
		.data_entries = htole32(*ndata),
	};
	return n;
}

static u8 reg(struct fixture *f, u32 n, u64 len)
{
	return t_register(f->qp, f->key | ++f->variant, n, 0x9000, len, T_RW, 0);
}

static void end_key(struct fixture *f)
{
	assert_int_equal(qp_mkey_invalidate(t_vqp(f->qp), f->key | f->variant, false), 0);
}

/* Operations by which bytes go out through the key, and in. */
enum direction {
	PEER_READS, OWNER_WRITES, OWNER_SENDS, PEER_WRITES, OWNER_READS, PEER_SENDS, WAYS
};

static bool goes_out(enum direction way)
{
	return way <= OWNER_SENDS;
}

/* Moves a part of the wire's bytes, between the key and the peer's memory. */
static void move(struct fixture *f, enum direction way, u32 off, u32 len)
{
	static const u8 op[] = {
		VHCA_OP_READ, VHCA_OP_WRITE, VHCA_OP_SEND,
		VHCA_OP_WRITE, VHCA_OP_READ, VHCA_OP_SEND,
	};
	bool peer = way == PEER_READS || way == PEER_WRITES || way == PEER_SENDS;
	struct vhca_sge mine = { 0x9000 + off, len, f->key | f->variant };
	struct vhca_sge theirs = t_sge(&f->peer, off, len);
	struct tqp *from = &f->p.qp[!peer];
	struct twr wr = { .opcode = op[way], .wr_id = ++f->nid, .nsge = 1,
			  .flags = VHCA_WQE_SIGNALED };

	wr.sge[0] = peer ? theirs : mine;
	if (op[way] != VHCA_OP_SEND) {
		wr.raddr = peer ? mine.addr : theirs.addr;
		wr.rkey = peer ? mine.lkey : theirs.lkey;
	} else if (peer) {
		t_recv(&f->p.qp[1], 1, 1, &mine);
	} else {
		t_recv(&f->p.qp[0], 1, 1, &theirs);
	}
	t_send(from, &wr);
	t_settle(&f->p.w, SETTLE);
	t_expect_cqe(&f->p.cq[!peer], f->nid, VHCA_CS_SUCCESS);
	if (op[way] == VHCA_OP_SEND)
		t_expect_cqe(&f->p.cq[peer], 1, VHCA_CS_SUCCESS);
}

/* Moves all bytes, in one or in several parts. */
static void move_all(struct fixture *f, enum direction way, u32 len)
{
	u32 at = 0;

	while (at < len) {
		u32 part = any(2) ? len - at : 1 + any(len - at);

		move(f, way, at, part);
		at += part;
	}
}

static void spoil(const struct layout *y, u8 *data, u8 *fields)
{
	u32 nr = any(y->intervals);

	switch (any(4)) {
	case 0:
		data[nr * y->interval + any(y->interval)] ^= 1 << any(8);
		break;
	case 1:
		fields[nr * 8 + any(8)] ^= 1 << any(8);
		break;
	case 2:			/* as for an interval that was never written */
		memset(fields + nr * 8 + 2, 0xff, any(2) ? 2 : 6);
		data[nr * y->interval] ^= 1;
		break;
	}
}

static void one_round(struct fixture *f, u32 round)
{
	static u8 data[BYTES], in[INTERVALS * 8], out[INTERVALS * 8], wire[BYTES], got[BYTES],
		  got_fields[INTERVALS * 8];
	struct layout y = any_layout();
	enum direction way = any(WAYS);
	bool outward = goes_out(way);
	const struct vhca_dif *from = outward ? &y.mem : &y.wire, *to = outward ? &y.wire : &y.mem;
	u32 ndata, n = set_header(f, &y, &ndata), len, error = 0, want = 0, had = 0, nr = 0;
	const struct vhca_integrity *h = header(f);

	for (u32 i = 0; i < y.intervals * y.interval; i++)
		data[i] = any(256);
	for (u32 i = 0; i < y.intervals; i++)
		if (from->guard)
			model_field(from, i, data + i * y.interval, y.interval, in + i * 8);
	for (u32 i = any(4); from->guard && i--; )
		spoil(&y, data, in);
	for (u32 i = 0; i < y.intervals; i++) {
		const u8 *d = data + i * y.interval;

		if (from->guard && !error) {
			error = model_error(&y, from, i, d, in + i * 8, &want, &had);
			nr = i;
		}
		if (to->guard)
			model_convert(&y, from, to, i, d, in + i * 8, out + i * 8);
	}
	if (outward) {
		copy_memory(f, &y, ndata, data, in, true);
		len = copy_wire(&y, wire, data, out, true);
	} else {
		len = copy_wire(&y, wire, data, in, true);
		t_mr_put(&f->peer, 0, wire, len);
	}
	assert_int_equal(reg(f, n, len), 0);
	move_all(f, way, len);
	if (outward) {
		t_mr_get(&f->peer, 0, got, len);
		assert_memory_equal(got, wire, len);
	} else {
		copy_memory(f, &y, ndata, got, got_fields, false);
		assert_memory_equal(got, data, y.intervals * y.interval);
		if (y.mem.guard)
			assert_memory_equal(got_fields, out, y.intervals * 8);
	}
	if (le32toh(h->error) != error ||
	    (error && (le32toh(h->expected) != want || le32toh(h->actual) != had ||
		       le64toh(h->interval_nr) != nr)))
		fail_msg("%u: error %u of %llu: %#x for %#x, not %u of %u: %#x for %#x", round,
			 le32toh(h->error), (unsigned long long)le64toh(h->interval_nr),
			 le32toh(h->actual), le32toh(h->expected), error, nr, had, want);
	end_key(f);
}

static void any_way(void **state)
{
	for (u8 mtu = 1; mtu <= 5; mtu++) {
		teardown(state);
		setup_mtu(state, mtu);
		for (u32 i = 0; i < 700; i++)
			one_round(*state, i);
	}
}

/* A key of plain intervals of 512 bytes with fields on both sides, apart in memory; its entries. */
static u32 plain(struct fixture *f, struct layout *y)
{
	const struct vhca_dif crc = { .guard = VHCA_DIF_CRC, .flags = VHCA_DIF_REMAP,
				      .app_mask = 0xffff };
	u32 ndata;

	*y = (struct layout){ .mem = crc, .wire = crc, .interval = 512, .intervals = 4,
			      .apart = true, .check = 0xff };
	return set_header(f, y, &ndata);
}

/* Registrations that REG_MR refuses; the key can be registered afterwards all the same. */
static void not_registered_so(void **state)
{
	struct fixture *f = *state;
	struct layout y;
	u32 n = plain(f, &y), ndata;
	struct vhca_integrity good;
#define C(field, v)	{ offsetof(struct vhca_integrity, field), sizeof(good.field), v }
	static const struct { u32 off, size; u64 v; } c[] = {
		C(mem.guard, 3), C(mem.flags, 8), C(mem.rsvd, 1), C(wire.guard, 3),
		C(wire.flags, 8), C(wire.rsvd, 1), C(interval, 0), C(interval, 511),
		C(interval, 513),
		C(interval, VHCA_DIF_MAX_INTERVAL + 1), C(rsvd0, 1), C(rsvd1, 1),
		C(data_entries, 0), C(data_entries, UINT32_MAX),
		/* a side without fields has no rules */
		C(mem.guard, VHCA_DIF_NONE), C(wire.guard, VHCA_DIF_NONE),
	};
#undef C

	good = *header(f);
	ndata = le32toh(good.data_entries);
	for (u32 i = 0; i < ARRAY_SIZE(c); i++) {
		u64 v = htole64(c[i].v);

		*header(f) = good;
		memcpy((u8 *)header(f) + c[i].off, &v, c[i].size);
		if (reg(f, n, 4 * 520) != REFUSED)
			fail_msg("case %u", i);
	}
	*header(f) = good;
	/* its entries are those of both lists; and there are fields for all intervals, or none */
	header(f)->data_entries = htole32(n + 1);
	assert_int_equal(reg(f, n, 4 * 520), REFUSED);
	*header(f) = good;
	((struct vhca_sg_entry *)(header(f) + 1))[n - 1].end = htole64(4 * 8 - 1);
	assert_int_equal(reg(f, n, 4 * 520), REFUSED);
	((struct vhca_sg_entry *)(header(f) + 1))[n - 1].end = htole64(4 * 8);
	assert_int_equal(t_register(f->qp, f->key | 5, n, 0, 4 * 520, T_RW, 12), REFUSED);
	assert_int_equal(t_register(f->qp, f->key | 5, n, 0, 4 * 520, T_RW | VHCA_ACCESS_MW_BIND,
				    0), REFUSED);
	assert_int_equal(t_register(f->qp, f->key | 5, 2 * ENTRIES + 1, 0, 4 * 520, T_RW, 0),
			 REFUSED);
	assert_int_equal(reg(f, ndata, 4 * 512), REFUSED);	/* no multiple of 520 */
	assert_int_equal(reg(f, n, 4 * 520), 0);
	end_key(f);
}

/* Behind the last field there is nothing, whatever length REG_MR has set. */
static void ends(void **state)
{
	struct fixture *f = *state;
	struct layout y;
	u32 n = plain(f, &y);
	struct twr wr = t_wr(VHCA_OP_READ, 1, &f->peer, 0, 4 * 520 + 1, NULL, 0);

	assert_int_equal(reg(f, n, 1 << 20), 0);
	move(f, PEER_READS, 0, 4 * 520);
	wr.raddr = 0x9000;
	wr.rkey = f->key | f->variant;
	t_send(&f->p.qp[0], &wr);
	t_settle(&f->p.w, SETTLE);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
	t_expect_no_cqe(&f->p.cq[0]);
}

/*
 * An interval that arrives twice, its field in two packets each time: the first part of the second
 * one is not taken for a whole field.
 */
static void field_in_parts_twice(void **state)
{
	struct fixture *f = *state;
	struct layout y;
	u32 n = plain(f, &y);
	u8 data[512], field[8], wire[520];

	assert_int_equal(reg(f, n, 4 * 520), 0);
	for (u32 turn = 0; turn < 2; turn++) {
		memset(data, turn + 1, sizeof(data));
		model_field(&y.mem, 0, data, sizeof(data), field);
		memcpy(wire, data, sizeof(data));
		memcpy(wire + 512, field, sizeof(field));
		t_mr_put(&f->peer, 0, wire, sizeof(wire));
		move(f, PEER_WRITES, 0, 513);
		move(f, PEER_WRITES, 513, 7);
	}
	assert_int_equal(header(f)->error, VHCA_DIF_GOOD);
	for (u32 i = 0; i < 8; i++)
		assert_int_equal(*byte_at(f, le32toh(header(f)->data_entries), i), field[i]);
	end_key(f);
	/* an error of the old registration is not reported for the new one */
	header(f)->error = htole32(VHCA_DIF_BAD_GUARD);
	assert_int_equal(reg(f, n, 4 * 520), 0);
	assert_int_equal(header(f)->error, VHCA_DIF_GOOD);
}

/* An atomic on bytes that are computed, not in memory. */
static void no_atomic(void **state)
{
	struct fixture *f = *state;
	struct layout y;
	u32 n = plain(f, &y);
	struct twr wr = t_wr(VHCA_OP_FETCH_ADD, 1, &f->peer, 0, 8, NULL, 0);

	assert_int_equal(reg(f, n, 4 * 520), 0);
	wr.raddr = 0x9000;
	wr.rkey = f->key | f->variant;
	t_send(&f->p.qp[0], &wr);
	t_expect_cqe(&f->p.cq[0], 1, VHCA_CS_REM_ACCESS_ERR);
}

/* In a list, entries with other keys may be before and behind it. */
static void among_others(void **state)
{
	struct fixture *f = *state;
	static u8 want[100 + 4 * 520 + 300], got[sizeof(want)];
	u8 data[4 * 512], fields[4 * 8];
	struct layout y;
	u32 n = plain(f, &y);
	struct twr wr = t_wr(VHCA_OP_WRITE, 1, &f->local, 0, 100, &f->peer, 0);

	t_mr_fill(&f->local, 3);
	t_mr_get(&f->local, 0, want, 100);
	t_mr_get(&f->local, 700, want + 100 + 4 * 520, 300);
	for (u32 i = 0; i < sizeof(data); i++)
		data[i] = any(256);
	for (u32 i = 0; i < 4; i++)
		model_field(&y.mem, i, data + i * 512, 512, fields + i * 8);
	copy_memory(f, &y, le32toh(header(f)->data_entries), data, fields, true);
	copy_wire(&y, want + 100, data, fields, true);
	assert_int_equal(reg(f, n, 4 * 520), 0);
	wr.nsge = 3;
	wr.sge[1] = (struct vhca_sge){ 0x9000, 4 * 520, f->key | f->variant };
	wr.sge[2] = t_sge(&f->local, 700, 300);
	t_send(&f->p.qp[1], &wr);
	t_settle(&f->p.w, SETTLE);
	t_expect_cqe(&f->p.cq[1], 1, VHCA_CS_SUCCESS);
	t_mr_get(&f->peer, 0, got, sizeof(got));
	assert_memory_equal(got, want, sizeof(got));
	/* and back: the peer's bytes are written by the same list */
	t_mr_fill(&f->local, 4);
	copy_memory(f, &y, le32toh(header(f)->data_entries), got, got + sizeof(data), true);
	wr.opcode = VHCA_OP_READ;
	wr.wr_id = 2;
	t_send(&f->p.qp[1], &wr);
	t_settle(&f->p.w, SETTLE);
	t_expect_cqe(&f->p.cq[1], 2, VHCA_CS_SUCCESS);
	t_mr_get(&f->local, 0, got, 100);
	assert_memory_equal(got, want, 100);
	t_mr_get(&f->local, 700, got, 300);
	assert_memory_equal(got, want + 100 + 4 * 520, 300);
	copy_memory(f, &y, le32toh(header(f)->data_entries), got, got + sizeof(data), false);
	assert_memory_equal(got, data, sizeof(data));
	assert_memory_equal(got + sizeof(data), fields, sizeof(fields));
	assert_int_equal(header(f)->error, VHCA_DIF_GOOD);
}

/* Whatever the guest has written to the list since the registration: the transfer ends. */
static void hostile_lists(void **state)
{
	for (u32 i = 0; i < 300; i++) {
		struct fixture *f = *state;
		struct vhca_sg_entry *e = (void *)(header(f) + 1);
		struct layout y;
		u32 n = plain(f, &y), len = 4 * 520;
		struct twr wr = t_wr(any(2) ? VHCA_OP_READ : VHCA_OP_WRITE, i, &f->peer, 0, len,
				     NULL, 0);
		struct vhca_cqe cqe;

		assert_int_equal(reg(f, n, len), 0);
		for (u32 k = any(6); k--; )
			*(any(2) ? &e[any(n)].addr : &e[any(n)].end) =
				htole64(any(3) ? t_random(&rng) : any(4 * 512));
		header(f)->data_entries = 0;
		wr.raddr = 0x9000;
		wr.rkey = f->key | f->variant;
		t_send(&f->p.qp[0], &wr);
		t_settle(&f->p.w, SETTLE);
		assert_true(t_cq_poll(&f->p.cq[0], &cqe));
		assert_int_equal(cqe.wr_id, i);
		end_key(f);
		if (!cqe.status)
			continue;
		assert_int_equal(cqe.status, VHCA_CS_REM_ACCESS_ERR);
		teardown(state);
		setup_mtu(state, 5);
	}
}

#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(any_way), TEST(not_registered_so), TEST(ends), TEST(no_atomic),
		TEST(field_in_parts_twice),
		TEST(among_others), TEST(hostile_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
