// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Frames of RoCEv2: written and parsed, compared with rdma_rxe's, and invalid ones.
 */
#include <string.h>

#include "tests/cm.h"
#include "tests/rxe_frame.h"
#include "wire/wire.h"

#define PAYLOAD	777u

static const u8 gid4[2][16] = {
	{ [10] = 0xff, 0xff, 10, 77, 0, 1 }, { [10] = 0xff, 0xff, 10, 77, 0, 2 },
};

static const u8 gid6[2][16] = {
	{ 0xfe, 0x80, [8] = 1, 2, 3, 4, 5, 6, 7, 8 }, { 0xfe, 0x80, [8] = 9, 8, 7, 6, 5, 4, 3, 2 },
};

/* Headers with something in every field that a frame carries. */
static struct wire_hdr hdr(bool ipv4, u16 vlan, u8 opcode)
{
	struct wire_hdr h = {
		.eth = true, .grh = true, .ipv4 = ipv4, .vlan = vlan, .sport = 0xc123,
		.dmac = { 2, 1, 1, 1, 1, 1 }, .smac = { 2, 2, 2, 2, 2, 2 },
		.tclass = 0xb9, .hop_limit = 63, .pkey = 0xffff, .dqpn = 0x123456, .psn = 0xfffffe,
		.opcode = opcode,
	};

	if (!ipv4)
		h.flow_label = 0xabcde;
	memcpy(h.sgid, ipv4 ? gid4[0] : gid6[0], 16);
	memcpy(h.dgid, ipv4 ? gid4[1] : gid6[1], 16);
	return h;
}

static u32 frame(const struct wire_hdr *h, u32 len, u8 *buf)
{
	u32 n = wire_put(h, len, buf);

	for (u32 i = 0; i < len; i++)
		buf[n + i] = i * 7 + 1;
	return wire_seal_roce(buf, n, len);
}

static void there_and_back(void **state)
{
	static const u8 opcodes[] = { OP_RC_SEND_ONLY, OP_RC_ACK, OP_RC_READ_REQ, OP_UD_SEND_ONLY,
				      OP_RC_CMP_SWAP, OP_UC_WRITE_LAST_IMM };
	static const u16 vlans[] = { WIRE_NO_TAG, 0x0007, 0xeffe };
	u8 buf[WIRE_MAX_PKT], again[WIRE_MAX_PKT];

	for (u32 i = 0; i < ARRAY_SIZE(opcodes) * 6; i++) {
		struct wire_hdr h = hdr(i & 1, vlans[i / 2 % 3], opcodes[i / 6]), back;
		u32 len = wire_op(h.opcode)->flags & WIRE_F_DATA ? PAYLOAD - i : 0, at, n, got;

		n = frame(&h, len, buf);
		assert_int_equal(n, wire_path_len(&h.path, h.opcode, len));
		memset(buf + n, 0xaa, 9);
		/* bytes behind it are padding of the frame */
		assert_int_equal(wire_parse_roce(buf, n + 9, &back, &at, &got), WIRE_OK);
		assert_int_equal(got, len);
		assert_int_equal(at, wire_hdr_len(&h));
		assert_memory_equal(&back, &h, sizeof(h));
		assert_int_equal(frame(&back, len, again), n);
		assert_memory_equal(again, buf, n);
	}
}

/* Except for IPv4's identification they equal what is made here of the same headers. */
static void as_rxe(void **state)
{
	u8 buf[WIRE_MAX_PKT];
	struct wire_hdr h;
	u32 at, len, n, icrc;

	for (u32 i = 0; i < ARRAY_SIZE(rxe_frames_sent); i++) {
		const u8 *rxe = rxe_frames_sent[i].bytes;

		n = rxe_frames_sent[i].len;
		assert_int_equal(wire_parse_roce(rxe, n, &h, &at, &len), WIRE_OK);
		n = wire_put(&h, len, buf);
		memcpy(buf + n, rxe + at, len);
		n = wire_seal_roce(buf, n, len);
		assert_int_equal(n, rxe_frames_sent[i].len);
		assert_int_equal(get_be16(buf + 18), 0);
		memcpy(buf + 18, rxe + 18, 2);
		memcpy(buf + 24, rxe + 24, 2);
		assert_int_equal(wire_icrc_roce(buf + 14, n - 18, &icrc), 0);
		memcpy(buf + n - 4, &icrc, 4);
		assert_memory_equal(buf, rxe, n);
	}
	wire_parse_roce(rxe_frames_sent[0].bytes, rxe_frames_sent[0].len, &h, &at, &len);
	assert_int_equal(h.opcode, OP_RC_ACK);
	assert_int_equal(h.dqpn, 0x11);
	assert_int_equal(h.psn, 0xce8fec);
	assert_int_equal(h.sport, 0xc121);
	assert_int_equal(h.hop_limit, 64);
	assert_true(gid_is_ipv4(h.sgid));
	assert_memory_equal(h.smac, ((u8[]){ 0x52, 0x54, 0, 0x77, 0, 1 }), 6);
}

/* Each bit, except those that may change on the way, and the stations' addresses. */
static void spoiled(void **state)
{
	struct wire_hdr h = hdr(false, WIRE_NO_TAG, OP_RC_SEND_ONLY), back;
	u8 buf[WIRE_MAX_PKT];
	u32 n = frame(&h, 5, buf), at, len, ip = 14, bth = ip + 48;

	for (u32 i = 0; i < n * 8; i++) {
		u32 byte = i / 8;
		bool free = byte < 12 || (byte == ip && i % 8 < 4) ||
			    (byte > ip && byte < ip + 4) || byte == ip + 7 || byte == bth - 2 ||
			    byte == bth - 1 || byte == bth + 4;

		buf[byte] ^= 1 << i % 8;
		if (free)
			assert_int_equal(wire_parse_roce(buf, n, &back, &at, &len), WIRE_OK);
		else
			assert_int_not_equal(wire_parse_roce(buf, n, &back, &at, &len), WIRE_OK);
		buf[byte] ^= 1 << i % 8;
	}
	for (u32 cut = 0; cut < n; cut++)
		assert_int_not_equal(wire_parse_roce(buf, cut, &back, &at, &len), WIRE_OK);
}

static void put_sum(u8 *ip)
{
	u32 sum = 0;

	put_be16(ip + 10, 0);
	for (u32 i = 0; i < 20; i += 2)
		sum += get_be16(ip + i);
	sum = (sum & 0xffff) + (sum >> 16);
	put_be16(ip + 10, ~(sum + (sum >> 16)));
}

/* Frames that are not the port's go to the network adapter, for its guest to handle. */
static void others(void **state)
{
	static const struct {
		const char *what;
		bool ipv4;
		u32 off;
		u8 value;
	} bad[] = {
		{ "ARP", true, 13, 0x06 }, { "options", true, 14, 0x46 },
		{ "a fragment", true, 20, 0x20 }, { "a later fragment", true, 21, 1 },
		{ "TCP", true, 23, 6 }, { "beyond the frame", true, 16, 0x7f },
		{ "shorter than UDP", true, 17, 27 }, { "another port", true, 37, 0xb8 },
		{ "UDP's length", true, 39, 1 }, { "version 5", false, 14, 0x50 },
		{ "hop by hop", false, 20, 0 }, { "longer than the frame", false, 18, 0x7f },
	};
	struct roce_place at;
	u8 buf[WIRE_MAX_PKT];

	for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
		struct wire_hdr h = hdr(bad[i].ipv4, WIRE_NO_TAG, OP_RC_ACK);
		u32 n = frame(&h, 0, buf);

		assert_true(roce_find(buf, n, &at));
		buf[bad[i].off] = bad[i].value;
		if (bad[i].ipv4)
			put_sum(buf + 14);
		if (roce_find(buf, n, &at))
			fail_msg("%s", bad[i].what);
	}
	for (u32 i = 0; i < 2; i++) {
		/* an IPv6 packet must not pass for one of IPv4 */
		struct wire_hdr h = hdr(false, WIRE_NO_TAG, OP_RC_ACK);
		u32 n;

		memcpy(i ? h.sgid : h.dgid, gid4[0], 16);
		n = frame(&h, 0, buf);
		assert_false(roce_find(buf, n, &at));
	}
}

static void header_checksum(void **state)
{
	struct wire_hdr h = hdr(true, WIRE_NO_TAG, OP_RC_ACK);
	u8 buf[WIRE_MAX_PKT];
	u32 n = frame(&h, 0, buf);
	struct roce_place at;

	assert_true(roce_find(buf, n, &at));
	buf[22]--;			/* a router has not updated the checksum */
	assert_false(roce_find(buf, n, &at));
	put_sum(buf + 14);
	assert_true(roce_find(buf, n, &at));
}

/* Any UDP checksum is accepted: the ICRC is checked. */
static void udp_checksum(void **state)
{
	struct wire_hdr h = hdr(false, 5, OP_RC_ACK);
	u8 buf[WIRE_MAX_PKT];
	u32 n = frame(&h, 0, buf), at, len;

	assert_int_equal(get_be16(buf + 18 + 46), 0);
	put_be16(buf + 18 + 46, 0x1234);
	assert_int_equal(wire_parse_roce(buf, n, &h, &at, &len), WIRE_OK);
}

static void numbers(void **state)
{
	u8 mac[6];

	assert_int_equal(roce_sport(0), 0xc000);
	assert_int_equal(roce_sport(1), 0xc001);
	assert_int_equal(roce_sport(0x4000), 0xc001);
	assert_int_equal(roce_sport(0xfffff), 0xffc0);
	assert_int_equal(roce_flow(0x11, 0x13), 0x143);
	assert_int_equal(roce_flow(0x100000, 0x3), 0x3);
	assert_int_equal(roce_vlan(WIRE_NO_TAG), WIRE_NO_TAG);
	assert_int_equal(roce_vlan(0xe000), WIRE_NO_TAG);
	assert_int_equal(roce_vlan(0xe005), 5);
	roce_mcast_mac((u8[16]){ 0xff, 0x0e, [12] = 1, 2, 3, 4 }, mac);
	assert_memory_equal(mac, ((u8[]){ 0x33, 0x33, 1, 2, 3, 4 }), 6);
	roce_mcast_mac((u8[16]){ [10] = 0xff, 0xff, 239, 129, 2, 3 }, mac);
	assert_memory_equal(mac, ((u8[]){ 0x01, 0, 0x5e, 1, 2, 3 }), 6);
	assert_true(gid_is_mcast((u8[16]){ [10] = 0xff, 0xff, 224, 0, 0, 1 }));
	assert_false(gid_is_mcast((u8[16]){ [10] = 0xff, 0xff, 223, 0, 0, 1 }));
	assert_false(gid_is_mcast((u8[16]){ [9] = 1, 0xff, 0xff, 224, 0, 0, 1 }));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(as_rxe),
		cmocka_unit_test(spoiled),
		cmocka_unit_test(others),
		cmocka_unit_test(header_checksum),
		cmocka_unit_test(udp_checksum),
		cmocka_unit_test(numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
