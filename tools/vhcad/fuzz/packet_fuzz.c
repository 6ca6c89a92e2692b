// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes packets: their parsing, and what a QP does with well-formed ones.
 *
 * Input: the type of the QPs and their outstanding requests; then packets, each of a given opcode,
 * valid at first and then corrupted, with right or wrong CRCs.  Or a RoCEv2 frame instead of all
 * that.
 */
#include "fabric/internal.h"
#include "fuzz/world.h"

#define PACKETS		16u
#define CRCS		(WIRE_ICRC_LEN + WIRE_VCRC_LEN)

/* Writes a packet that the peer could send next. */
static u32 write_packet(struct world *f, struct input *in, u32 *psn, u8 *buf)
{
	u8 opcode = in_8(in), how = in_8(in);
	u32 len = in_16(in) % (1024 + 1), to = how & 1, n;
	struct wire_hdr h = {
		.dlid = 1 + to, .slid = 2 - to, .pkey = 0xffff, .opcode = opcode,
		.dqpn = f->qp[to].qpn, .sqpn = f->qp[!to].qpn, .qkey = WORLD_QKEY,
		.psn = psn_add(to ? *psn : 9000, 0), .ackreq = !!(how & 2), .grh = !!(how & 4),
		.syndrome = how >> 3, .msn = how >> 5, .va = (how & 0x38) << 3,
		.rkey = f->mr[to].key, .dmalen = how & 8 ? 3000 : len,
		.srqn = f->srq.srqn, .inv_key = f->mw2, .flush_type = 1, .hop_limit = 1,
		.swap_add = 1, .mask = ~0ull, .compare_mask = ~0ull,
	};

	if (wire_op(opcode)->kind == WIRE_NONE)
		h.opcode = OP_RC_SEND_ONLY;
	if (!(wire_op(h.opcode)->flags & WIRE_F_DATA))
		len = 0;
	if (!to)
		h.psn = how & 16 ? 0xfffffe : psn_add(0xffffff, how >> 5);
	n = wire_put(&h, len, buf);
	in_bytes(in, buf + n, MIN(len, 32u));
	if (to)
		*psn = psn_add(*psn, 1);
	return wire_seal(buf, n, len);
}

static void seal_again(u8 *buf, u32 len)
{
	u32 end = len - CRCS, icrc = wire_icrc(buf, end);
	u16 vcrc;

	memcpy(buf + end, &icrc, WIRE_ICRC_LEN);
	vcrc = wire_vcrc(buf, len - WIRE_VCRC_LEN);
	memcpy(buf + len - WIRE_VCRC_LEN, &vcrc, WIRE_VCRC_LEN);
}

/* Headers that are written and parsed again have to be the same, except reserved bits. */
static void check(const struct wire_hdr *h, u32 at, u32 paylen, u32 len)
{
	u8 buf[WIRE_MAX_PKT];
	struct wire_hdr again;
	u32 n, where, rest;

	assert_true(at + paylen + CRCS <= len);
	assert_int_equal(at, wire_hdr_len(h));
	assert_int_equal(wire_len(h->opcode, h->grh, paylen), len);
	n = wire_put(h, paylen, buf);
	assert_int_equal(n, at);
	memset(buf + n, 0, paylen);
	n = wire_seal(buf, n, paylen);
	assert_int_equal(n, len);
	assert_int_equal(wire_parse(buf, n, &again, &where, &rest), WIRE_OK);
	assert_memory_equal(h, &again, sizeof(again));
}

static void packet(struct world *f, struct input *in, u32 *psn)
{
	u8 buf[WIRE_MAX_PKT], what = in_8(in);
	struct wire_hdr h;
	struct payload pl;
	struct run run;
	u32 len, at, paylen;

	if (what < 224) {
		len = write_packet(f, in, psn, buf);
		in_spoil(in, buf, len);
		len -= what & 1 ? in_8(in) % (len + 1) : 0;
	} else {
		len = in_8(in);
		in_bytes(in, buf, len);
	}
	if (len >= CRCS + WIRE_LRH_LEN && what & 14)
		seal_again(buf, len);
	if (wire_parse(buf, len, &h, &at, &paylen) == WIRE_OK) {
		check(&h, at, paylen, len);
		run_from_packet(&run, &pl, &h, buf + at, paylen);
		if (paylen <= WIRE_MAX_MTU)
			fab_send(f->w.fabric->ports[h.slid == 2], &run);
	}
	if (what & 16)
		t_poll(&f->w);
}

/* Tests only the ICRC of a RoCEv2 frame. */
static void roce_frame(struct input *in)
{
	u8 buf[255], what = in_8(in);
	u32 len = in_8(in), icrc, again;

	in_bytes(in, buf, len);
	if (what & 1) {
		buf[0] = what & 2 ? 0x45 : 0x60;
		buf[what & 2 ? 9 : 6] = 17;
	}
	if (wire_icrc_roce(buf, len, &icrc))
		return;
	/* the ICRC does not cover the time to live, which changes on the way */
	buf[buf[0] == 0x45 ? 8 : 7] ^= what;
	assert_int_equal(wire_icrc_roce(buf, len, &again), 0);
	assert_int_equal(icrc, again);
}

/* Posts requests of both QPs, so that there is something to answer. */
static void requests(struct world *f, u8 what)
{
	static const u8 ops[] = { VHCA_OP_SEND, VHCA_OP_WRITE, VHCA_OP_READ, VHCA_OP_CMP_SWAP };

	for (u32 i = 0; i < ARRAY_SIZE(ops) && f->qp[0].type != VHCA_QPT_UD; i++) {
		struct twr wr = t_wr(ops[i], i, &f->mr[0], 0, i == 3 ? 8 : 3000, &f->mr[1], 0);

		wr.srqn = f->qp[0].type == VHCA_QPT_XRC_INI ? f->srq.srqn : 0;
		if (what >> i & 1)
			t_post(&f->qp[0], &wr);
	}
	t_ring_sq(&f->qp[0]);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	struct input in = { data, data + len };
	u8 type = in_8(&in), posted = in_8(&in);
	u32 psn = 0xfffffe;
	static struct world f;

	if (type == 255) {
		roce_frame(&in);
		return 0;
	}
	world_init(&f, type % WORLD_TYPES);
	world_receives(&f, posted % 16, 1, posted & 16 ? WORLD_MR / 2 : 256);
	if (type >> 4) {
		/* requests get lost, and the input answers in place of the peer */
		u32 port = fab_switch_port(f.w.fabric, 0, 2);

		fab_switch_set_port(f.w.fabric, 0, 2, 0);
		requests(&f, type >> 4);
		t_poll(&f.w);
		fab_switch_set_port(f.w.fabric, 0, 2, port);
	}
	for (u32 i = 0; i < PACKETS && in_more(&in); i++)
		packet(&f, &in, &psn);
	world_settle(&f);
	world_fini(&f);
	return 0;
}
