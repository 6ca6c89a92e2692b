// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: headers are packed and unpacked, and compared with bytes written out by hand.
 */
#include <kunit/test.h>
#include <net/ip.h>
#include <rdma/ib_pack.h>

static const u8 global_datagram[] = {
	/* LRH: VL 15, SL 3, GRH follows; DLID, 21 words, SLID */
	0xf0, 0x33, 0x12, 0x34, 0x00, 0x15, 0x43, 0x21,
	/* GRH: version 6, class ab, flow 12345; 36 bytes, BTH follows, 64 hops */
	0x6a, 0xb1, 0x23, 0x45, 0x00, 0x24, 0x1b, 0x40,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02,
	/* BTH: SEND with immediate, solicited, pad 2; QP 7; acknowledge, PSN */
	0x65, 0xa0, 0xff, 0xff, 0x00, 0x00, 0x00, 0x07, 0x80, 0xab, 0xcd, 0xef,
	/* DETH: Q_Key, QP 1 */
	0x80, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01,
	0xde, 0xad, 0xbe, 0xef,
};

static void fill_global(struct kunit *test, struct ib_ud_header *header)
{
	KUNIT_ASSERT_EQ(test, 0, ib_ud_header_init(10, 1, 0, 0, 1, 0, 0, 1, header));
	header->lrh.virtual_lane = 15;
	header->lrh.service_level = 3;
	header->lrh.destination_lid = cpu_to_be16(0x1234);
	header->lrh.source_lid = cpu_to_be16(0x4321);
	header->grh.traffic_class = 0xab;
	header->grh.flow_label = cpu_to_be32(0x12345);
	header->grh.hop_limit = 64;
	header->grh.source_gid.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	header->grh.source_gid.global.interface_id = cpu_to_be64(1);
	header->grh.destination_gid.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	header->grh.destination_gid.global.interface_id = cpu_to_be64(2);
	header->bth.solicited_event = 1;
	header->bth.pkey = cpu_to_be16(0xffff);
	header->bth.destination_qpn = cpu_to_be32(7);
	header->bth.ack_req = 1;
	header->bth.psn = cpu_to_be32(0xabcdef);
	header->deth.qkey = cpu_to_be32(0x80010000);
	header->deth.source_qpn = cpu_to_be32(1);
	header->immediate_data = cpu_to_be32(0xdeadbeef);
}

static void global(struct kunit *test)
{
	struct ib_ud_header header, back;
	u8 buf[128];

	fill_global(test, &header);
	memset(buf, 0x5a, sizeof(buf));
	KUNIT_ASSERT_EQ(test, sizeof(global_datagram), ib_ud_header_pack(&header, buf));
	KUNIT_EXPECT_MEMEQ(test, buf, global_datagram, sizeof(global_datagram));
	KUNIT_EXPECT_EQ(test, 0x5a, buf[sizeof(global_datagram)]);

	memset(&back, 0x5a, sizeof(back));
	KUNIT_ASSERT_EQ(test, 0, ib_ud_header_unpack(buf, &back));
	KUNIT_EXPECT_MEMEQ(test, &back.lrh, &header.lrh, sizeof(back.lrh));
	KUNIT_EXPECT_EQ(test, 1, back.grh_present);
	KUNIT_EXPECT_EQ(test, 0x12345, be32_to_cpu(back.grh.flow_label));
	KUNIT_EXPECT_MEMEQ(test, &back.grh.source_gid, &header.grh.source_gid, 16);
	KUNIT_EXPECT_EQ(test, 0xabcdef, be32_to_cpu(back.bth.psn));
	KUNIT_EXPECT_EQ(test, 7, be32_to_cpu(back.bth.destination_qpn));
	KUNIT_EXPECT_EQ(test, 2, back.bth.pad_count);
	KUNIT_EXPECT_EQ(test, 1, back.immediate_present);
	KUNIT_EXPECT_EQ(test, 0xdeadbeef, be32_to_cpu(back.immediate_data));
}

static void local(struct kunit *test)
{
	struct ib_ud_header header, back;
	u8 buf[64];

	KUNIT_ASSERT_EQ(test, 0, ib_ud_header_init(256, 1, 0, 0, 0, 0, 0, 0, &header));
	KUNIT_EXPECT_EQ(test, (8 + 12 + 8 + 256 + 4) / 4, be16_to_cpu(header.lrh.packet_length));
	KUNIT_ASSERT_EQ(test, 8 + 12 + 8, ib_ud_header_pack(&header, buf));
	KUNIT_EXPECT_EQ(test, IB_LNH_IBA_LOCAL, buf[1] & 3);
	KUNIT_EXPECT_EQ(test, 0x64, buf[8]);
	KUNIT_ASSERT_EQ(test, 0, ib_ud_header_unpack(buf, &back));
	KUNIT_EXPECT_EQ(test, 0, back.grh_present);
	KUNIT_EXPECT_EQ(test, 0, back.immediate_present);
}

static void roce(struct kunit *test)
{
	struct ib_ud_header header;
	u8 buf[128];

	KUNIT_EXPECT_EQ(test, -EINVAL, ib_ud_header_init(64, 0, 1, 0, 1, 0, 1, 0, &header));

	KUNIT_ASSERT_EQ(test, 0, ib_ud_header_init(256, 0, 1, 1, 1, 4, 1, 0, &header));
	KUNIT_EXPECT_EQ(test, 0, header.grh_present);
	header.eth.dmac_h[0] = 0x11;
	header.eth.smac_l[3] = 0x22;
	header.vlan.tag = cpu_to_be16(0x2005);
	header.vlan.type = cpu_to_be16(ETH_P_IP);
	header.ip4.ttl = 64;
	header.ip4.frag_off = cpu_to_be16(0x4000);
	header.ip4.saddr = cpu_to_be32(0x0a000001);
	header.ip4.daddr = cpu_to_be32(0x0a000002);
	header.ip4.check = ib_ud_ip4_csum(&header);
	header.udp.dport = cpu_to_be16(4791);
	KUNIT_ASSERT_EQ(test, 14 + 4 + 20 + 8 + 12 + 8, ib_ud_header_pack(&header, buf));
	KUNIT_EXPECT_EQ(test, 0x11, buf[0]);
	KUNIT_EXPECT_EQ(test, 0x22, buf[11]);
	KUNIT_EXPECT_EQ(test, 0x81, buf[12]);
	KUNIT_EXPECT_EQ(test, 0x20, buf[14]);
	KUNIT_EXPECT_EQ(test, 0x45, buf[18]);
	KUNIT_EXPECT_EQ(test, 20 + 8 + 20 + 256 + 4, buf[20] << 8 | buf[21]);
	/* The sum of a header with its checksum is 0. */
	KUNIT_EXPECT_NE(test, 0, (__force u16)header.ip4.check);
	KUNIT_EXPECT_EQ(test, 0, (__force u16)ip_fast_csum(buf + 18, 5));
	KUNIT_EXPECT_EQ(test, 4791, buf[40] << 8 | buf[41]);
	KUNIT_EXPECT_EQ(test, 8 + 20 + 256 + 4, buf[42] << 8 | buf[43]);

	KUNIT_ASSERT_EQ(test, 0, ib_ud_header_init(256, 0, 1, 0, 0, 6, 1, 0, &header));
	KUNIT_EXPECT_EQ(test, 1, header.grh_present);
	KUNIT_EXPECT_EQ(test, IPPROTO_UDP, header.grh.next_header);
	KUNIT_EXPECT_EQ(test, 8 + 20 + 256 + 4, be16_to_cpu(header.grh.payload_length));
	KUNIT_EXPECT_EQ(test, 14 + 40 + 8 + 12 + 8, ib_ud_header_pack(&header, buf));
}

/* Packets that are no UD packets because of one byte. */
static void refused(struct kunit *test)
{
	static const struct {
		unsigned int at;
		u8 value;
	} bad[] = {
		{ 0, 0xf1 },	/* link version */
		{ 1, 0x30 }, { 1, 0x31 },	/* next header of the LRH */
		{ 8, 0x4a },	/* IP version */
		{ 14, 0x11 },	/* next header of the GRH */
		{ 48, 0x04 },	/* opcode */
		{ 49, 0xa1 },	/* transport version */
	};
	struct ib_ud_header header;
	u8 buf[sizeof(global_datagram)];

	for (unsigned int i = 0; i < ARRAY_SIZE(bad); i++) {
		memcpy(buf, global_datagram, sizeof(buf));
		buf[bad[i].at] = bad[i].value;
		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, ib_ud_header_unpack(buf, &header),
				    "byte %u", bad[i].at);
	}
}

/* Fields in the same byte leave each other alone. */
static void shared_bytes(struct kunit *test)
{
	struct odd {
		__be16 eleven;
		u8 one;
	} odd = { .eleven = cpu_to_be16(0xffff), .one = 0 }, back = {};
	static const struct ib_field fields[] = {
		{
			.struct_offset_bytes = offsetof(struct odd, eleven),
			.struct_size_bytes = 2,
			.offset_words = 1, .offset_bits = 3, .size_bits = 11,
		}, {
			.struct_offset_bytes = offsetof(struct odd, one),
			.struct_size_bytes = 1,
			.offset_words = 1, .offset_bits = 31, .size_bits = 1,
		}, {
			.offset_words = 1, .offset_bits = 16, .size_bits = 4, RESERVED,
		},
	};
	u8 buf[8] = { [4] = 0x40, 0x02, 0xaa, 0xff };
	static const u8 packed_odd[] = { 0, 0, 0, 0, 0x5f, 0xfe, 0x0a, 0xfe };

	ib_pack(fields, ARRAY_SIZE(fields), &odd, buf);
	KUNIT_EXPECT_MEMEQ(test, buf, packed_odd, sizeof(buf));
	back.one = 0xff;
	ib_unpack(fields, ARRAY_SIZE(fields), buf, &back);
	KUNIT_EXPECT_EQ(test, 0x7ff, be16_to_cpu(back.eleven));
	KUNIT_EXPECT_EQ(test, 0, back.one);
}

static struct kunit_case pack_cases[] = {
	KUNIT_CASE(global),
	KUNIT_CASE(local),
	KUNIT_CASE(roce),
	KUNIT_CASE(refused),
	KUNIT_CASE(shared_bytes),
	{}
};

static struct kunit_suite pack_suite = {
	.name = "rdma-pack",
	.test_cases = pack_cases,
};

kunit_test_suite(pack_suite);
