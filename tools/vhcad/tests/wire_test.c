// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets as bytes: a known packet's CRCs, every header written and parsed, and
 * every single wrong bit detected.  Captures: structure, and the checker.
 */
#include <endian.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "capture/capture.h"
#include "capture/pcapng.h"
#include "fabric/run.h"
#include "tests/tcheck.h"
#include "wire/wire.h"

/* A WRITE of 14 bytes with all its CRCs, a published example. */
static const u8 known[] = {
	0x70, 0x12, 0x37, 0x5c, 0x00, 0x0e, 0x17, 0xd2, 0x0a, 0x20, 0x24, 0x87, 0x00, 0x87, 0xb1,
	0xb3, 0x00, 0x0d, 0xec, 0x2a, 0x01, 0x71, 0x0a, 0x1c, 0x01, 0x5d, 0x40, 0x02, 0x38, 0xf2,
	0x7a, 0x05, 0x00, 0x00, 0x00, 0x0e, 0xbb, 0x88, 0x4d, 0x85, 0xfd, 0x5c, 0xfb, 0xa4, 0x72,
	0x8b, 0xc0, 0x69, 0x0e, 0xd4, 0x00, 0x00, 0x96, 0x25, 0xb7, 0x5a,
};

static void known_packet(void **state)
{
	u8 buf[sizeof(known) + WIRE_VCRC_LEN], again[WIRE_MAX_PKT];
	u16 vcrc = wire_vcrc(known, sizeof(known));
	struct wire_hdr h;
	u32 at, len, n;

	assert_int_equal(wire_icrc(known, sizeof(known) - 4), 0x5ab72596);
	memcpy(buf, known, sizeof(known));
	buf[sizeof(known)] = vcrc;
	buf[sizeof(known) + 1] = vcrc >> 8;
	assert_int_equal(wire_parse(buf, sizeof(buf), &h, &at, &len), WIRE_OK);
	assert_int_equal(h.vl, 7);
	assert_int_equal(h.sl, 1);
	assert_int_equal(h.dlid, 0x375c);
	assert_int_equal(h.slid, 0x17d2);
	assert_int_equal(h.opcode, OP_RC_WRITE_ONLY);
	assert_int_equal(h.pkey, 0x2487);
	assert_int_equal(h.dqpn, 0x87b1b3);
	assert_int_equal(h.psn, 0x0dec2a);
	assert_true(h.va == 0x01710a1c015d4002ull);
	assert_int_equal(h.rkey, 0x38f27a05);
	assert_int_equal(h.dmalen, 14);
	assert_int_equal(len, 14);
	n = wire_put(&h, len, again);
	assert_int_equal(n, at);
	memcpy(again + n, buf + at, len);
	assert_int_equal(wire_seal(again, n, len), sizeof(buf));
	assert_memory_equal(again, buf, sizeof(buf));
}

static struct wire_hdr sample(u8 opcode, bool grh)
{
	struct wire_hdr h = {
		.vl = 3, .sl = 5, .dlid = 0x1234, .slid = 0x4321, .opcode = opcode, .grh = grh,
		.se = true, .mig = true, .ackreq = true, .pkey = 0x8001, .dqpn = 0xabcdef,
		.psn = 0xfedcba,
	};
	u16 f = wire_op(opcode)->flags;

	if (f & WIRE_F_DETH) {
		h.qkey = 0x80010203;
		h.sqpn = 0xa1b2c3;
	}
	if (f & WIRE_F_XRC)
		h.srqn = 0xd4e5f6;
	if (f & (WIRE_F_RETH | WIRE_F_ATOMIC)) {
		h.va = 0x1122334455667788;
		h.rkey = 0x99aabbcc;
	}
	if (f & WIRE_F_RETH)
		h.dmalen = 0x80000000;
	if (f & WIRE_F_FETH) {
		h.flush_type = 0x9;
		h.flush_level = 0x3;
	}
	if (f & WIRE_F_ATOMIC) {
		h.swap_add = 0x0102030405060708;
		h.compare = 0x1112131415161718;
	}
	if (f & WIRE_F_MASKS) {
		h.mask = 0x2122232425262728;
		h.compare_mask = 0x3132333435363738;
	}
	if (f & WIRE_F_ORIG)
		h.orig = 0x4142434445464748;
	if (f & WIRE_F_INV)
		h.inv_key = 0x51525354;
	if (f & WIRE_F_AETH) {
		h.syndrome = 0x61;
		h.msn = 0x123456;
	}
	if (f & WIRE_F_IMM)
		h.imm = 0xdeadbeef;
	if (grh) {
		h.tclass = 0xa5;
		h.hop_limit = 64;
		h.flow_label = 0xfffff;
		memset(h.sgid, 0x11, 16);
		memset(h.dgid, 0x22, 16);
	}
	return h;
}

/* All opcodes, with and without GRH, all paddings; then each bit flipped. */
static void there_and_back(void **state)
{
	static const u32 lens[] = { 0, 1, 2, 3, 4, 255, 4096 };
	u8 buf[WIRE_MAX_PKT];

	for (u32 op = 0; op < 256; op++) {
		if (!wire_op(op)->kind)
			continue;
		for (u32 i = 0; i < 2 * ARRAY_SIZE(lens); i++) {
			u32 paylen = wire_op(op)->flags & WIRE_F_DATA ? lens[i / 2] : 0, n, at, len;
			struct wire_hdr h = sample(op, i % 2), g;

			n = wire_put(&h, paylen, buf);
			for (u32 k = 0; k < paylen; k++)
				buf[n + k] = k * 7;
			n = wire_seal(buf, n, paylen);
			assert_int_equal(n, wire_len(op, h.grh, paylen));
			assert_int_equal(wire_parse(buf, n, &g, &at, &len), WIRE_OK);
			assert_int_equal(len, paylen);
			assert_memory_equal(&g, &h, sizeof(h));
			if (paylen > 4)
				continue;
			for (u32 bit = 0; bit < n * 8; bit++) {
				buf[bit / 8] ^= 1 << bit % 8;
				assert_int_not_equal(wire_parse(buf, n, &g, &at, &len), WIRE_OK);
				buf[bit / 8] ^= 1 << bit % 8;
			}
			for (u32 cut = 0; cut < n; cut++)
				assert_int_not_equal(wire_parse(buf, cut, &g, &at, &len), WIRE_OK);
		}
	}
}

/* Headers of the unreliable services, byte by byte. */
static void unreliable(void **state)
{
	static const u8 write[] = {
		0x30, 0x52, 0x12, 0x34, 0x00, 0x0c, 0x43, 0x21,
		0x2b, 0xf0, 0x80, 0x01, 0x00, 0xab, 0xcd, 0xef, 0x00, 0xfe, 0xdc, 0xba,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc,
		0x80, 0x00, 0x00, 0x00, 0xde, 0xad, 0xbe, 0xef,
	};
	static const u8 datagram[] = {
		0x30, 0x53, 0x12, 0x34, 0x00, 0x14, 0x43, 0x21,
		0x6a, 0x5f, 0xff, 0xff, 0x00, 0x20, 0x1b, 0x40,
		0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
		0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11, 0x11,
		0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22,
		0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22, 0x22,
		0x65, 0xe0, 0x80, 0x01, 0x00, 0xab, 0xcd, 0xef, 0x00, 0xfe, 0xdc, 0xba,
		0x80, 0x01, 0x02, 0x03, 0x00, 0xa1, 0xb2, 0xc3,
		0xde, 0xad, 0xbe, 0xef,
	};
	struct wire_hdr h = sample(OP_UC_WRITE_ONLY_IMM, false);
	u8 buf[WIRE_MAX_PKT];

	h.imm = htobe32(0xdeadbeef);
	h.ackreq = false;
	assert_int_equal(wire_put(&h, 1, buf), sizeof(write));
	assert_memory_equal(buf, write, sizeof(write));
	h = sample(OP_UD_SEND_ONLY_IMM, true);
	h.imm = htobe32(0xdeadbeef);
	h.ackreq = false;
	assert_int_equal(wire_put(&h, 2, buf), sizeof(datagram));
	assert_memory_equal(buf, datagram, sizeof(datagram));
	/* the GRH alone, as a receive gets it */
	memset(buf, 0, sizeof(buf));
	wire_put_grh(&h, 2, buf);
	assert_memory_equal(buf, datagram + WIRE_LRH_LEN, WIRE_GRH_LEN);
	assert_int_equal(buf[WIRE_GRH_LEN], 0);
}

/* Headers of one-sided operations, byte by byte behind the BTH. */
static void one_sided(void **state)
{
	static const u8 atomic[] = {
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc,
		0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38,
	};
	static const u8 ack[] = {
		0x61, 0x12, 0x34, 0x56, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48,
	};
	static const u8 flush[] = {
		0x00, 0x00, 0x00, 0x39,
		0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc,
		0x80, 0x00, 0x00, 0x00,
	};
	static const u8 key[] = { 0x51, 0x52, 0x53, 0x54 };
	static const struct { u8 opcode, number; const u8 *bytes; u32 len; } op[] = {
		{ OP_RC_CMP_SWAP, 0x13, atomic, 28 },
		{ OP_RC_FETCH_ADD, 0x14, atomic, 28 },
		{ OP_OWN_MASKED_CMP_SWAP, 0xd3, atomic, 44 },
		{ OP_OWN_MASKED_FETCH_ADD, 0xd4, atomic, 44 },
		{ OP_RC_ATOMIC_ACK, 0x12, ack, sizeof(ack) },
		{ OP_RC_FLUSH, 0x1c, flush, sizeof(flush) },
		{ OP_RC_ATOMIC_WRITE, 0x1d, flush + 4, sizeof(flush) - 4 },
		{ OP_RC_SEND_LAST_INV, 0x16, key, sizeof(key) },
		{ OP_RC_SEND_ONLY_INV, 0x17, key, sizeof(key) },
	};
	const u32 bth = WIRE_LRH_LEN + WIRE_BTH_LEN;

	for (u32 i = 0; i < ARRAY_SIZE(op); i++) {
		struct wire_hdr h = sample(op[i].opcode, false);
		u8 buf[WIRE_MAX_PKT];

		assert_int_equal(wire_put(&h, 0, buf), bth + op[i].len);
		assert_int_equal(buf[WIRE_LRH_LEN], op[i].number);
		assert_memory_equal(buf + bth, op[i].bytes, op[i].len);
		assert_int_equal(wire_service(op[i].number), WIRE_RC);
	}
}

/* XRC requests name an SRQ right behind the BTH; answers do not. */
static void extended(void **state)
{
	static const u8 xrceth[] = { 0x00, 0xd4, 0xe5, 0xf6 };
	static const struct { u8 opcode, number, ext; } op[] = {
		{ OP_XRC_SEND_FIRST, 0xa0, 4 }, { OP_XRC_SEND_ONLY_IMM, 0xa5, 8 },
		{ OP_XRC_WRITE_FIRST, 0xa6, 20 }, { OP_XRC_WRITE_MIDDLE, 0xa7, 4 },
		{ OP_XRC_WRITE_ONLY_IMM, 0xab, 24 }, { OP_XRC_READ_REQ, 0xac, 20 },
		{ OP_XRC_CMP_SWAP, 0xb3, 32 }, { OP_XRC_FETCH_ADD, 0xb4, 32 },
		{ OP_XRC_SEND_ONLY_INV, 0xb7, 8 },
		{ OP_XRC_ACK, 0xb1, 0 }, { OP_XRC_READ_RESP_ONLY, 0xb0, 0 },
		{ OP_XRC_ATOMIC_ACK, 0xb2, 0 },
	};
	const u32 bth = WIRE_LRH_LEN + WIRE_BTH_LEN;

	for (u32 i = 0; i < ARRAY_SIZE(op); i++) {
		struct wire_hdr h = sample(op[i].opcode, false);
		u8 buf[WIRE_MAX_PKT];
		u32 n = wire_put(&h, 0, buf);

		assert_int_equal(buf[WIRE_LRH_LEN], op[i].number);
		if (!op[i].ext)
			continue;
		assert_int_equal(n, bth + op[i].ext);
		assert_memory_equal(buf + bth, xrceth, sizeof(xrceth));
	}
}

/* Opcodes of a service are those of RC in another range; those it does not have are invalid. */
static void services(void **state)
{
	static const struct { u8 service, kind; bool many; u8 tails; } have[] = {
		{ WIRE_RC, WIRE_SEND, true, TAIL_INV }, { WIRE_RC, WIRE_WRITE, true, TAIL_IMM },
		{ WIRE_UC, WIRE_SEND, true, TAIL_IMM }, { WIRE_UC, WIRE_WRITE, true, TAIL_IMM },
		{ WIRE_UD, WIRE_SEND, false, TAIL_IMM },
		{ WIRE_XRC, WIRE_SEND, true, TAIL_INV }, { WIRE_XRC, WIRE_WRITE, true, TAIL_IMM },
	};
	static const u8 single[] = {
		WIRE_READ_REQ, WIRE_ACK, WIRE_CMP_SWAP, WIRE_FETCH_ADD, WIRE_MASKED_CMP_SWAP,
		WIRE_MASKED_FETCH_ADD, WIRE_ATOMIC_ACK, WIRE_ATOMIC_WRITE, WIRE_FLUSH,
	};
	static const u8 xrc[] = {
		WIRE_READ_REQ, WIRE_ACK, WIRE_CMP_SWAP, WIRE_FETCH_ADD, WIRE_ATOMIC_ACK,
	};
	u32 known_ops = 0, met = 0;

	for (u32 i = 0; i < ARRAY_SIZE(have); i++) {
		for (u32 k = 0; k < 12; k++) {
			bool first = k & 1, last = k & 2;
			u8 tail = k / 4, op;
			u16 f;

			if ((!have[i].many && !(first && last)) || (tail && !last) ||
			    tail > have[i].tails)
				continue;
			op = wire_opcode(have[i].service, have[i].kind, first, last, tail);
			f = wire_op(op)->flags;
			assert_int_equal(wire_op(op)->kind, have[i].kind);
			assert_int_equal(wire_service(op), have[i].service);
			assert_int_equal(!!(f & WIRE_F_FIRST), first);
			assert_int_equal(!!(f & WIRE_F_LAST), last);
			assert_int_equal(!!(f & WIRE_F_IMM), tail == TAIL_IMM);
			assert_int_equal(!!(f & WIRE_F_INV), tail == TAIL_INV);
			assert_int_equal(!!(f & WIRE_F_DETH), have[i].service == WIRE_UD);
			assert_int_equal(!!(f & WIRE_F_XRC), have[i].service == WIRE_XRC);
			assert_int_equal(!!(f & WIRE_F_RETH), have[i].kind == WIRE_WRITE && first);
			met++;
		}
	}
	/* messages of one packet, and the answers to READs: RC has all, XRC only the older ones */
	for (u32 i = 0; i < ARRAY_SIZE(single); i++) {
		u8 op = wire_opcode(WIRE_RC, single[i], true, true, TAIL_NONE);

		assert_int_equal(wire_op(op)->kind, single[i]);
		assert_int_equal(wire_service(op), WIRE_RC);
		met++;
	}
	for (u32 i = 0; i < ARRAY_SIZE(xrc); i++) {
		u8 op = wire_opcode(WIRE_XRC, xrc[i], true, true, TAIL_NONE);
		bool asks = xrc[i] != WIRE_ACK && xrc[i] != WIRE_ATOMIC_ACK;

		assert_int_equal(wire_op(op)->kind, xrc[i]);
		assert_int_equal(wire_service(op), WIRE_XRC);
		assert_int_equal(!!(wire_op(op)->flags & WIRE_F_XRC), asks);
		met++;
	}
	for (u32 op = 0; op < 256; op++)
		known_ops += wire_op(op)->kind != WIRE_NONE;
	/* and the answers to READs of both */
	assert_int_equal(known_ops, met + 8);
}

/* Fields that may change on the way do not change the invariant CRC. */
static void icrc_invariants(void **state)
{
	for (u32 grh = 0; grh < 2; grh++) {
		struct wire_hdr h = sample(OP_RC_SEND_ONLY, grh);
		u8 a[WIRE_MAX_PKT];
		u32 n = wire_put(&h, 0, a), crc = wire_icrc(a, n);
		u32 bth = WIRE_LRH_LEN + (grh ? WIRE_GRH_LEN : 0);

		for (u32 bit = 0; bit < n * 8; bit++) {
			u32 byte = bit / 8;
			bool may;

			if (grh)
				may = byte < 8 || (byte == 8 && bit % 8 < 4) ||
				      (byte > 8 && byte < 12) || byte == 15;
			else
				may = byte == 0 && bit % 8 >= 4;
			may |= byte == bth + 4;
			/* LNH determines which headers are parsed */
			if (byte == 1 && bit % 8 < 2)
				continue;
			a[byte] ^= 1 << bit % 8;
			assert_int_equal(wire_icrc(a, n) == crc, may);
			a[byte] ^= 1 << bit % 8;
		}
	}
}

static void psn_arithmetic(void **state)
{
	assert_int_equal(psn_diff(0, 0xffffff), 1);
	assert_int_equal(psn_diff(0xffffff, 0), -1);
	assert_int_equal(psn_diff(0x7fffff, 0), 0x7fffff);
	assert_int_equal(psn_diff(0x800000, 0), -0x800000);
	assert_int_equal(psn_add(0xfffffe, 5), 3);
}

/* A run's packets are those of the message, however many were cut off before it. */
static void runs(void **state)
{
	u8 data[5000], one[WIRE_MAX_PKT];
	struct payload pl = { .host = data };
	struct run whole = {
		.h = sample(OP_RC_WRITE_FIRST, false), .kind = WIRE_WRITE, .first = true,
		.last = true, .imm = true, .npkts = 5, .mtu = 1024, .len = sizeof(data), .pl = &pl,
	};
	struct run cut = whole;
	struct wire_hdr h;
	u32 at, len;

	for (u32 i = 0; i < sizeof(data); i++)
		data[i] = i * 11;
	run_cut(&cut, 1, 3);
	assert_int_equal(cut.len, 3072);
	assert_false(cut.first);
	assert_false(cut.last);
	for (u32 i = 0; i < 5; i++) {
		static const u8 ops[] = { OP_RC_WRITE_FIRST, OP_RC_WRITE_MIDDLE, OP_RC_WRITE_MIDDLE,
					  OP_RC_WRITE_MIDDLE, OP_RC_WRITE_LAST_IMM };
		u32 n = run_pkt_bytes(&whole, i, one);

		assert_int_equal(wire_parse(one, n, &h, &at, &len), WIRE_OK);
		assert_int_equal(h.opcode, ops[i]);
		assert_int_equal(h.psn, psn_add(0xfedcba, i));
		assert_int_equal(h.ackreq, i == 4);
		assert_int_equal(h.se, i == 4);
		assert_int_equal(len, i == 4 ? 5000 - 4096 : 1024);
		assert_memory_equal(one + at, data + i * 1024, len);
		if (i >= 1 && i <= 3) {
			u8 two[WIRE_MAX_PKT];

			assert_int_equal(run_pkt_bytes(&cut, i - 1, two), n);
			assert_memory_equal(one, two, n);
		}
	}
	run_cut(&whole, 4, 1);
	assert_true(whole.last);
	assert_int_equal(whole.len, 5000 - 4096);
}

/* ------------------------------------------------------------------------
 * Captures
 */
static char *temp_file(void)
{
	static char name[] = "/tmp/vhcad-test-XXXXXX";
	int fd;

	strcpy(name + sizeof(name) - 7, "XXXXXX");
	fd = mkstemp(name);
	assert_true(fd >= 0);
	close(fd);
	return name;
}

/* Writes a capture of every opcode; returns the offset of the last packet. */
static void write_capture(const char *file)
{
	struct capture *c = capture_open(file);
	u8 buf[WIRE_MAX_PKT];

	assert_non_null(c);
	assert_int_equal(capture_add_ib_port(c, "a:1"), 0);
	assert_int_equal(capture_add_ib_port(c, "a long name:2"), 1);
	for (u32 op = 0; op < 256; op++) {
		struct wire_hdr h = sample(op, op % 2);
		u32 paylen = wire_op(op)->flags & WIRE_F_DATA ? 100 + op : 0, n;

		if (!wire_op(op)->kind)
			continue;
		if (op == OP_RC_ATOMIC_WRITE)
			paylen = 8;
		n = wire_put(&h, paylen, buf);
		memset(buf + n, op, paylen);
		n = wire_seal(buf, n, paylen);
		capture_ib_packet(c, op % 2, 1700000000000000000ull + op, buf, n);
	}
	assert_int_equal(capture_close(c), 0);
}

static void flip(const char *file, long off)
{
	FILE *f = fopen(file, "r+");
	int c;

	assert_int_equal(fseek(f, off, off < 0 ? SEEK_END : SEEK_SET), 0);
	c = fgetc(f);
	assert_int_equal(fseek(f, -1, SEEK_CUR), 0);
	fputc(c ^ 0x10, f);
	fclose(f);
}

/* One packet with right CRCs; is its form valid? */
static void forms(void **state)
{
	static const struct { u8 opcode; u32 paylen; int says; } packet[] = {
		{ OP_RC_CMP_SWAP, 0, 0 },
		{ OP_RC_CMP_SWAP, 8, 1 },
		{ OP_OWN_MASKED_FETCH_ADD, 4, 1 },
		{ OP_RC_FLUSH, 1, 1 },
		{ OP_RC_ATOMIC_ACK, 4, 1 },
		{ OP_RC_ATOMIC_WRITE, 8, 0 },
		{ OP_RC_ATOMIC_WRITE, 12, 1 },
		{ OP_RC_ATOMIC_WRITE, 0, 1 },
		{ OP_RC_SEND_ONLY_INV, 1000, 0 },
		{ 0x15, 0, 1 },
		{ 0xc0, 0, 1 },
		{ OP_UC_SEND_LAST | 0x10, 0, 1 },
	};

	for (u32 i = 0; i < 2 * ARRAY_SIZE(packet); i++) {
		struct wire_hdr h = sample(packet[i / 2].opcode, i % 2);
		char *file = temp_file();
		struct capture *c = capture_open(file);
		u8 buf[WIRE_MAX_PKT] = { 0 };
		u32 n;

		assert_non_null(c);
		assert_int_equal(capture_add_ib_port(c, "a:1"), 0);
		n = wire_put(&h, packet[i / 2].paylen, buf);
		n = wire_seal(buf, n, packet[i / 2].paylen);
		capture_ib_packet(c, 0, 1700000000000000000ull, buf, n);
		assert_int_equal(capture_close(c), 0);
		if (t_capcheck(file) != packet[i / 2].says)
			fail_msg("opcode %02x with %u bytes", packet[i / 2].opcode,
				 packet[i / 2].paylen);
		unlink(file);
	}
}

static void captures(void **state)
{
	char *file = temp_file();

	write_capture(file);
	assert_int_equal(t_capcheck(file), 0);
	/* from the end: length 4, options 12, padding 2, VCRC 2, ICRC 4 */
	flip(file, -20);
	assert_int_equal(t_capcheck(file), 1);	/* VCRC */
	flip(file, -20);
	assert_int_equal(t_capcheck(file), 0);
	flip(file, -24);
	assert_int_equal(t_capcheck(file), 1);	/* ICRC (and VCRC) */
	flip(file, -24);
	flip(file, -2);
	assert_int_equal(t_capcheck(file), 2);	/* no whole file */
	flip(file, -2);
	assert_int_equal(truncate(file, 0), 0);
	assert_int_equal(t_capcheck(file), 2);
	unlink(file);
	assert_int_equal(t_capcheck(file), 2);
	assert_null(capture_open("/nowhere/file"));
}

/*
 * A RoCEv2 frame that a Linux kernel's rdma_rxe has sent: bytes and CRC were not computed
 * here.
 */
#include "tests/rxe_frame.h"

static void rxe_frames(void **state)
{
	char *file = temp_file();
	const u32 hdr[6] = { PCAP_MAGIC_USEC, 2 | 4 << 16, 0, 0, 65535, LINKTYPE_ETHERNET };
	FILE *f = fopen(file, "w");
	long last = 0;

	fwrite(hdr, sizeof(hdr), 1, f);
	for (u32 i = 0; i < ARRAY_SIZE(rxe_frames_sent); i++) {
		const u32 n = rxe_frames_sent[i].len, rec[4] = { 1, i, n, n };

		fwrite(rec, sizeof(rec), 1, f);
		fwrite(rxe_frames_sent[i].bytes, n, 1, f);
		last = ftell(f);
	}
	fclose(f);
	assert_int_equal(t_capcheck(file), 0);
	/* every byte behind the variant fields of the last frame is covered */
	flip(file, last - 1);
	assert_int_equal(t_capcheck(file), 1);
	flip(file, last - 1);
	flip(file, last - 8);
	assert_int_equal(t_capcheck(file), 1);
	unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_packet),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(unreliable),
		cmocka_unit_test(services),
		cmocka_unit_test(extended),
		cmocka_unit_test(one_sided),
		cmocka_unit_test(forms),
		cmocka_unit_test(icrc_invariants),
		cmocka_unit_test(psn_arithmetic),
		cmocka_unit_test(runs),
		cmocka_unit_test(captures),
		cmocka_unit_test(rxe_frames),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
