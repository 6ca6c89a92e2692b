// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Packets with right CRCs and wrong headers, and the CRCs of RoCEv2
 * frames as vhca-capcheck checks them.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "capture/pcapng.h"
#include "tests/cm.h"
#include "tests/tcheck.h"
#include "wire/wire.h"

/* Bit by bit, as the polynomial is defined. */
static u16 slow_vcrc(const u8 *buf, u32 len)
{
	u32 crc = 0xffff;

	for (u32 i = 0; i < len * 8; i++) {
		u32 bit = (crc ^ buf[i / 8] >> i % 8) & 1;

		crc = crc >> 1 ^ (bit ? 0xd008 : 0);
	}
	return ~crc;
}

static void vcrc_of_all_lengths(void **state)
{
	u8 buf[67];

	for (u32 i = 0; i < sizeof(buf); i++)
		buf[i] = i * 73 + 5;
	for (u32 len = 0; len <= sizeof(buf); len++)
		assert_int_equal(wire_vcrc(buf, len), slow_vcrc(buf, len));
}

static void put_crc(u8 *p, u32 crc, u32 bytes)
{
	for (u32 i = 0; i < bytes; i++)
		p[i] = crc >> 8 * i;
}

/* Computes the CRCs of a changed packet again. */
static u32 seal(u8 *buf, u32 end)
{
	put_crc(buf + end, wire_icrc(buf, end), WIRE_ICRC_LEN);
	end += WIRE_ICRC_LEN;
	put_crc(buf + end, wire_vcrc(buf, end), WIRE_VCRC_LEN);
	return end + WIRE_VCRC_LEN;
}

/* A good packet; returns the offset of its CRCs. */
static u32 packet(u8 *buf, u8 opcode, bool grh)
{
	struct wire_hdr h = { .dlid = 1, .slid = 2, .opcode = opcode, .grh = grh, .pkey = 0xffff };
	u32 at, len, n = wire_put(&h, 0, buf);

	assert_int_equal(wire_parse(buf, seal(buf, n), &h, &at, &len), WIRE_OK);
	assert_int_equal(at, n);
	assert_int_equal(len, 0);
	return n;
}

static int parsed(u8 *buf, u32 end)
{
	struct wire_hdr h;
	u32 at, len;

	return wire_parse(buf, seal(buf, end), &h, &at, &len);
}

static void headers(void **state)
{
	static const struct {
		const char *what;
		bool grh;
		u32 off;	/* of a byte, and what it becomes */
		u8 value;
		int err;
	} cases[] = {
		{ "link version", false, 0, 1, WIRE_BAD_HEADER },
		{ "raw packet", false, 1, 0, WIRE_BAD_HEADER },
		{ "raw IPv6 packet", false, 1, 1, WIRE_BAD_HEADER },
		{ "transport version", false, 9, 1, WIRE_BAD_HEADER },
		{ "opcode that is none", false, 8, 0xff, WIRE_BAD_HEADER },
		{ "opcode of another transport", false, 8, 0xc0, WIRE_BAD_HEADER },
		{ "RETH that is not there", false, 8, OP_RC_WRITE_ONLY, WIRE_SHORT },
		{ "AETH that is not there", false, 8, OP_RC_ACK, WIRE_SHORT },
		{ "pad of nothing", false, 9, 3 << 4, WIRE_SHORT },
		{ "GRH that is not there", false, 1, WIRE_LNH_GLOBAL, WIRE_SHORT },
		{ "IP version", true, 8, 0x40, WIRE_BAD_HEADER },
		{ "next header", true, 14, 17, WIRE_BAD_HEADER },
		{ "GRH length, less", true, 13, 15, WIRE_SHORT },
		{ "GRH length, more", true, 13, 17, WIRE_SHORT },
		{ "GRH length, much more", true, 12, 0xff, WIRE_SHORT },
	};
	u8 buf[WIRE_MAX_PKT];

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		u32 end = packet(buf, OP_RC_SEND_ONLY, cases[i].grh);
		int err;

		assert_int_not_equal(buf[cases[i].off], cases[i].value);
		buf[cases[i].off] = cases[i].value;
		err = parsed(buf, end);
		if (err != cases[i].err)
			fail_msg("%s: expected %d, came %d", cases[i].what, cases[i].err, err);
	}
}

/* The first check that fails is reported. */
static void checks(void **state)
{
	u8 buf[WIRE_MAX_PKT];
	struct wire_hdr h;
	u32 end, len, at, paylen;

	end = packet(buf, OP_RC_SEND_ONLY, true);
	len = seal(buf, end);
	buf[len - 1] ^= 1;
	assert_int_equal(wire_parse(buf, len, &h, &at, &paylen), WIRE_BAD_VCRC);
	buf[len - 1] ^= 1;
	buf[end] ^= 1;
	put_crc(buf + end + WIRE_ICRC_LEN, wire_vcrc(buf, end + WIRE_ICRC_LEN), WIRE_VCRC_LEN);
	assert_int_equal(wire_parse(buf, len, &h, &at, &paylen), WIRE_BAD_ICRC);
	/* the LRH's length against the packet's, either way */
	end = packet(buf, OP_RC_SEND_ONLY, false);
	len = seal(buf, end);
	assert_int_equal(wire_parse(buf, len + 4, &h, &at, &paylen), WIRE_SHORT);
	assert_int_equal(wire_parse(buf, len - 4, &h, &at, &paylen), WIRE_SHORT);
	buf[5]++;
	assert_int_equal(parsed(buf, end), WIRE_SHORT);
	assert_int_equal(wire_parse(buf, 0, &h, &at, &paylen), WIRE_SHORT);
}

/* ---- RoCEv2 ---- */

#define ETH	14u
#define VLAN	4u

struct frame {
	u8 bytes[256];
	u32 ip;			/* where the IP header starts */
	u32 udp;
	u32 len;
};

/* An acknowledgment over IPv4 or IPv6, tagged or not. */
static void roce_frame(struct frame *f, u32 version, bool tagged)
{
	u32 iplen = version == 4 ? 20 : 40, body = 8 + WIRE_BTH_LEN + WIRE_AETH_LEN, icrc;
	u8 *p;

	memset(f, 0, sizeof(*f));
	f->ip = ETH + (tagged ? VLAN : 0);
	f->udp = f->ip + iplen;
	p = f->bytes;
	memset(p, 0x5c, 12);
	if (tagged)
		memcpy(p + 12, "\x81\x00\x00\x07", VLAN);
	memcpy(p + f->ip - 2, version == 4 ? "\x08\x00" : "\x86\xdd", 2);
	p += f->ip;
	for (u32 i = 0; i < iplen + body; i++)
		p[i] = 0x11 * i + 3;
	if (version == 4) {
		p[0] = 0x45;
		p[2] = 0;
		p[3] = iplen + body + WIRE_ICRC_LEN;
		p[9] = 17;
	} else {
		p[0] = 0x60 | (p[0] & 0xf);
		p[4] = 0;
		p[5] = body + WIRE_ICRC_LEN;
		p[6] = 17;
	}
	memcpy(f->bytes + f->udp + 2, "\x12\xb7", 2);	/* port 4791 */
	assert_int_equal(wire_icrc_roce(p, iplen + body, &icrc), 0);
	put_crc(p + iplen + body, icrc, WIRE_ICRC_LEN);
	f->len = f->ip + iplen + body + WIRE_ICRC_LEN;
}

/* Fields that routers and switches change are not covered, all others are. */
static void roce_invariants(void **state)
{
	for (u32 version = 4; version <= 6; version += 2) {
		struct frame f;
		u32 n, udp, crc, icrc;
		u8 *p;

		roce_frame(&f, version, false);
		p = f.bytes + f.ip;
		n = f.len - f.ip - WIRE_ICRC_LEN;
		udp = f.udp - f.ip;
		assert_int_equal(wire_icrc_roce(p, n, &crc), 0);
		for (u32 bit = 0; bit < n * 8; bit++) {
			u32 byte = bit / 8;
			bool may = byte == udp + 6 || byte == udp + 7 || byte == udp + 8 + 4;

			if (version == 4) {
				may |= byte == 1 || byte == 8 || byte == 10 || byte == 11;
				/* these determine the kind of frame */
				if (byte == 0 || byte == 9)
					continue;
			} else {
				may |= (byte == 0 && bit % 8 < 4) || (byte > 0 && byte < 4) ||
				       byte == 7;
				if ((byte == 0 && bit % 8 >= 4) || byte == 6)
					continue;
			}
			p[byte] ^= 1 << bit % 8;
			assert_int_equal(wire_icrc_roce(p, n, &icrc), 0);
			if ((icrc == crc) != may)
				fail_msg("IPv%u: byte %u, bit %u", version, byte, bit % 8);
			p[byte] ^= 1 << bit % 8;
		}
	}
}

static void no_roce(void **state)
{
	struct frame f;
	u32 icrc;

	for (u32 version = 4; version <= 6; version += 2) {
		u8 *p;

		roce_frame(&f, version, false);
		p = f.bytes + f.ip;
		for (u32 len = 0; len < f.udp - f.ip + 8 + WIRE_BTH_LEN; len++)
			assert_int_equal(wire_icrc_roce(p, len, &icrc), -1);
		p[version == 4 ? 9 : 6] = 6;
		assert_int_equal(wire_icrc_roce(p, f.len - f.ip, &icrc), -1);
		/* an IPv4 header with options, another version */
		p[0] = version == 4 ? 0x46 : 0x50;
		assert_int_equal(wire_icrc_roce(p, f.len - f.ip, &icrc), -1);
	}
}

static char file[] = "/tmp/vhcad-test-XXXXXX";

/* The checker's status for a file with this frame, of which @len bytes were captured. */
static int check(const struct frame *f, u32 len)
{
	const u32 hdr[6] = { PCAP_MAGIC_NSEC, 2 | 4 << 16, 0, 0, 65535, LINKTYPE_ETHERNET };
	const u32 rec[4] = { 1, 2, len, f->len };
	FILE *out = fopen(file, "we");

	assert_non_null(out);
	assert_int_equal(fwrite(hdr, sizeof(hdr), 1, out), 1);
	assert_int_equal(fwrite(rec, sizeof(rec), 1, out), 1);
	assert_int_equal(fwrite(f->bytes, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
	return t_capcheck(file);
}

static void frames(void **state)
{
	for (u32 k = 0; k < 4; k++) {
		u32 version = k % 2 ? 6 : 4;
		struct frame f;

		roce_frame(&f, version, k / 2);
		assert_int_equal(check(&f, f.len), 0);
		/* a switch has changed it; behind the frame there may be padding */
		f.bytes[f.udp + 6] ^= 0xff;
		assert_int_equal(check(&f, f.len + 6), 0);
		f.bytes[f.len - 1] ^= 1;
		assert_int_equal(check(&f, f.len), 1);
		/* cut short, it cannot be checked, however short that is */
		for (u32 len = 0; len < f.len; len++)
			assert_int_equal(check(&f, len), 2);
		/* not for RoCE */
		f.bytes[f.udp + 3]++;
		assert_int_equal(check(&f, f.len), 2);
		f.bytes[f.udp + 3]--;
		f.bytes[f.ip + (version == 4 ? 9 : 6)] = 6;
		assert_int_equal(check(&f, f.len), 2);
		f.bytes[f.ip - 1] ^= 1;
		assert_int_equal(check(&f, f.len), 2);
		/* for RoCE, and too short */
		roce_frame(&f, version, k / 2);
		f.bytes[f.ip + (version == 4 ? 3 : 5)] = version == 4 ? 20 + 8 + 8 : 8 + 8;
		assert_int_equal(check(&f, f.len), 1);
	}
}

static int make_file(void **state)
{
	int fd = mkstemp(file);

	close(fd);
	return fd < 0;
}

static int remove_file(void **state)
{
	return unlink(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vcrc_of_all_lengths), cmocka_unit_test(headers),
		cmocka_unit_test(checks), cmocka_unit_test(roce_invariants),
		cmocka_unit_test(no_roce),
		cmocka_unit_test_setup_teardown(frames, make_file, remove_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
