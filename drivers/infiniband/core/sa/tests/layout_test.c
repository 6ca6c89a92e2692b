// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: records are packed into bytes that are written out here, and unpacked from them.
 */
#include <kunit/test.h>
#include <linux/slab.h>

#include "../sa.h"

static const u8 path_bytes[64] = {
	/* service id */
	0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08,
	/* DGID, SGID */
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x0d,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x05,
	/* DLID, SLID */
	0x00, 0x0d, 0x00, 0x05,
	/* raw traffic; flow label abcde; hop limit */
	0x80 | 0x0a, 0xbc, 0xde, 0x40,
	/* traffic class; reversible, 5 paths; P_Key */
	0x21, 0x80 | 0x05, 0xff, 0xff,
	/* QoS class 0x123, SL 4; MTU = 4; rate < 7 */
	0x12, 0x34, 0x80 | 0x04, 0x40 | 0x07,
	/* life time > 18; preference 9 */
	0x12, 0x09, 0, 0, 0, 0, 0, 0,
};

static void path(struct kunit *test)
{
	struct sa_path_rec rec = { .rec_type = SA_PATH_REC_TYPE_IB }, back;
	u8 bytes[66], again[64];

	rec.service_id = cpu_to_be64(0x0102030405060708ULL);
	rec.dgid.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	rec.dgid.global.interface_id = cpu_to_be64(0xd);
	rec.sgid.global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
	rec.sgid.global.interface_id = cpu_to_be64(5);
	sa_path_set_dlid(&rec, 0xd);
	sa_path_set_slid(&rec, 5);
	sa_path_set_raw_traffic(&rec, 1);
	rec.flow_label = cpu_to_be32(0xabcde);
	rec.hop_limit = 64;
	rec.traffic_class = 0x21;
	rec.reversible = 1;
	rec.numb_path = 5;
	rec.pkey = cpu_to_be16(0xffff);
	rec.qos_class = cpu_to_be16(0x123);
	rec.sl = 4;
	rec.mtu_selector = IB_SA_EQ;
	rec.mtu = IB_MTU_2048;
	rec.rate_selector = IB_SA_LT;
	rec.rate = 7;
	rec.packet_life_time_selector = IB_SA_GT;
	rec.packet_life_time = 18;
	rec.preference = 9;
	memset(bytes, 0x5a, sizeof(bytes));
	ib_sa_pack_path(&rec, bytes);
	KUNIT_EXPECT_MEMEQ(test, bytes, path_bytes, sizeof(path_bytes));
	KUNIT_EXPECT_EQ(test, bytes[64], 0x5a);

	memset(&back, 0x5a, sizeof(back));
	ib_sa_unpack_path(bytes, &back);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(back.service_id), 0x0102030405060708ULL);
	KUNIT_EXPECT_MEMEQ(test, &back.dgid, &rec.dgid, sizeof(rec.dgid));
	KUNIT_EXPECT_MEMEQ(test, &back.sgid, &rec.sgid, sizeof(rec.sgid));
	KUNIT_EXPECT_EQ(test, be16_to_cpu(back.ib.dlid), 0xd);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(back.ib.slid), 5);
	KUNIT_EXPECT_EQ(test, back.ib.raw_traffic, 1);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(back.flow_label), 0xabcde);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(back.qos_class), 0x123);
	KUNIT_EXPECT_EQ(test, back.numb_path, 5);
	KUNIT_EXPECT_EQ(test, back.reversible, 1);
	KUNIT_EXPECT_EQ(test, back.mtu, IB_MTU_2048);
	KUNIT_EXPECT_EQ(test, back.rate_selector, IB_SA_LT);
	KUNIT_EXPECT_EQ(test, back.packet_life_time_selector, IB_SA_GT);
	KUNIT_EXPECT_EQ(test, back.packet_life_time, 18);
	KUNIT_EXPECT_EQ(test, back.preference, 9);
	ib_sa_pack_path(&back, again);
	KUNIT_EXPECT_MEMEQ(test, again, path_bytes, sizeof(again));
}

static const u8 mcmember_bytes[52] = {
	/* MGID, port GID */
	0xff, 0x12, 0x40, 0x1b, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x07,
	/* Q_Key */
	0x00, 0x00, 0x0b, 0x1b,
	/* MLID; MTU = 4; traffic class */
	0xc0, 0x00, 0x80 | 0x04, 0x11,
	/* P_Key; rate < 3; life time > 18 */
	0xff, 0xff, 0x40 | 0x03, 0x12,
	/* SL 5, flow label 12345; hop limit */
	0x51, 0x23, 0x45, 0x02,
	/* scope 2, join state 9; proxy */
	0x29, 0x80, 0x00, 0x00,
};

static void mcmember(struct kunit *test)
{
	struct ib_sa_mcmember_rec rec;
	u8 bytes[53];

	sa_unpack_mcmember((void *)mcmember_bytes, &rec);
	KUNIT_EXPECT_EQ(test, rec.mgid.raw[0], 0xff);
	KUNIT_EXPECT_EQ(test, rec.port_gid.raw[15], 7);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rec.qkey), 0xb1b);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(rec.mlid), 0xc000);
	KUNIT_EXPECT_EQ(test, rec.mtu_selector, IB_SA_EQ);
	KUNIT_EXPECT_EQ(test, rec.mtu, IB_MTU_2048);
	KUNIT_EXPECT_EQ(test, rec.traffic_class, 0x11);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(rec.pkey), 0xffff);
	KUNIT_EXPECT_EQ(test, rec.rate_selector, IB_SA_LT);
	KUNIT_EXPECT_EQ(test, rec.rate, 3);
	KUNIT_EXPECT_EQ(test, rec.packet_life_time_selector, IB_SA_GT);
	KUNIT_EXPECT_EQ(test, rec.packet_life_time, 18);
	KUNIT_EXPECT_EQ(test, rec.sl, 5);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(rec.flow_label), 0x12345);
	KUNIT_EXPECT_EQ(test, rec.hop_limit, 2);
	KUNIT_EXPECT_EQ(test, rec.scope, 2);
	KUNIT_EXPECT_EQ(test, rec.join_state, 9);
	KUNIT_EXPECT_EQ(test, rec.proxy_join, 1);
	memset(bytes, 0x5a, sizeof(bytes));
	sa_pack_mcmember(&rec, bytes);
	KUNIT_EXPECT_MEMEQ(test, bytes, mcmember_bytes, sizeof(mcmember_bytes));
	KUNIT_EXPECT_EQ(test, bytes[52], 0x5a);
}

static void guidinfo(struct kunit *test)
{
	struct ib_sa_guidinfo_rec rec = { .lid = cpu_to_be16(0x1234), .block_num = 5 }, back;
	u8 bytes[73], want[72] = { 0x12, 0x34, 5 };

	for (unsigned int i = 0; i < 64; i++)
		want[8 + i] = i + 1;
	memcpy(rec.guid_info_list, want + 8, sizeof(rec.guid_info_list));
	memset(bytes, 0x5a, sizeof(bytes));
	sa_pack_guidinfo(&rec, bytes);
	KUNIT_EXPECT_MEMEQ(test, bytes, want, sizeof(want));
	KUNIT_EXPECT_EQ(test, bytes[72], 0x5a);
	memset(&back, 0x5a, sizeof(back));
	sa_unpack_guidinfo(bytes, &back);
	KUNIT_EXPECT_MEMEQ(test, &back, &rec, sizeof(rec));
}

static void service(struct kunit *test)
{
	struct ib_sa_service_rec *rec = kunit_kzalloc(test, sizeof(*rec), GFP_KERNEL);
	struct ib_sa_service_rec *back = kunit_kzalloc(test, sizeof(*back), GFP_KERNEL);
	u8 *bytes = kunit_kzalloc(test, 177, GFP_KERNEL);
	u8 *want = kunit_kzalloc(test, 176, GFP_KERNEL);

	KUNIT_ASSERT_TRUE(test, rec && back && bytes && want);
	rec->id = cpu_to_be64(0x1122334455667788ULL);
	put_unaligned_be64(0x1122334455667788ULL, want);
	want[8] = 0xfe;
	rec->gid.raw[0] = 0xfe;
	want[23] = 9;
	rec->gid.raw[15] = 9;
	rec->pkey = cpu_to_be16(0x8001);
	put_unaligned_be16(0x8001, want + 24);
	rec->lease = cpu_to_be32(60);
	put_unaligned_be32(60, want + 28);
	want[32] = 0x77;
	rec->key[0] = 0x77;
	strscpy(rec->name, "storage", sizeof(rec->name));
	memcpy(want + 48, "storage", 7);
	want[112 + 15] = 0x81;
	rec->data8[15] = 0x81;
	rec->data16[0] = cpu_to_be16(0x1602);
	put_unaligned_be16(0x1602, want + 128);
	rec->data32[3] = cpu_to_be32(0x32000004);
	put_unaligned_be32(0x32000004, want + 144 + 12);
	rec->data64[1] = cpu_to_be64(0x6400000000000002ULL);
	put_unaligned_be64(0x6400000000000002ULL, want + 168);
	bytes[176] = 0x5a;
	ib_sa_pack_service(rec, bytes);
	KUNIT_EXPECT_MEMEQ(test, bytes, want, 176);
	KUNIT_EXPECT_EQ(test, bytes[176], 0x5a);
	ib_sa_unpack_service(bytes, back);
	KUNIT_EXPECT_MEMEQ(test, back, rec, sizeof(*rec));
}

static const u8 inform_bytes[36] = {
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x03,
	/* LIDs from 1 to 0xbfff */
	0x00, 0x01, 0xbf, 0xff,
	/* generic, subscribe */
	0x00, 0x00, 0x01, 0x01,
	/* type 3, trap 64 */
	0x00, 0x03, 0x00, 0x40,
	/* QP 1, response time 18 */
	0x00, 0x00, 0x01, 0x12,
	/* class manager */
	0x00, 0x00, 0x00, 0x04,
};

static void inform(struct kunit *test)
{
	struct ib_sa_inform_info info, back;
	u8 bytes[37];

	memset(&info, 0, sizeof(info));
	info.gid.raw[0] = 0xfe;
	info.gid.raw[1] = 0x80;
	info.gid.raw[15] = 3;
	info.lid_range_begin = cpu_to_be16(1);
	info.lid_range_end = cpu_to_be16(0xbfff);
	info.is_generic = 1;
	info.subscribe = 1;
	info.type = cpu_to_be16(3);
	info.trap_num = cpu_to_be16(64);
	info.qpn = cpu_to_be32(1);
	info.resp_time = 18;
	info.producer_type = cpu_to_be32(4);
	memset(bytes, 0x5a, sizeof(bytes));
	sa_pack_inform(&info, bytes);
	KUNIT_EXPECT_MEMEQ(test, bytes, inform_bytes, sizeof(inform_bytes));
	KUNIT_EXPECT_EQ(test, bytes[36], 0x5a);
	memset(&back, 0, sizeof(back));
	sa_unpack_inform(bytes, &back);
	KUNIT_EXPECT_MEMEQ(test, &back, &info, sizeof(info));
}

/* MADs that opensm has sent: a path from its port to itself, and a member that has joined */
static const u8 path_of_opensm[64] = {
	0, 0, 0, 0, 0, 0, 0, 0,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x0a, 0x56, 0x48, 0x43, 0x41, 0x00, 0x02, 0x01,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x0a, 0x56, 0x48, 0x43, 0x41, 0x00, 0x01, 0x01,
	0x00, 0x03, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x80, 0xff, 0xff, 0x00, 0x00, 0x85, 0x90, 0x92, 0, 0, 0, 0, 0, 0, 0,
};

static const u8 member_of_opensm[52] = {
	0xff, 0x12, 0x6b, 0x73, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x6c,
	0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0x0a, 0x56, 0x48, 0x43, 0x41, 0x00, 0x01, 0x01,
	0x01, 0x23, 0x45, 0x67, 0xc0, 0x01, 0x85, 0x89, 0xff, 0xff, 0x90, 0x92,
	0x0a, 0xbc, 0xde, 0x3c, 0x21, 0x00, 0x00, 0x00,
};

static void opensm(struct kunit *test)
{
	struct ib_sa_mcmember_rec member;
	struct sa_path_rec path = {};
	u8 bytes[64];

	ib_sa_unpack_path((void *)path_of_opensm, &path);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(path.ib.dlid), 3);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(path.ib.slid), 1);
	KUNIT_EXPECT_EQ(test, path.reversible, 1);
	KUNIT_EXPECT_EQ(test, path.mtu_selector, IB_SA_EQ);
	KUNIT_EXPECT_EQ(test, path.mtu, IB_MTU_4096);
	KUNIT_EXPECT_EQ(test, path.rate_selector, IB_SA_EQ);
	KUNIT_EXPECT_EQ(test, path.rate, IB_RATE_100_GBPS);
	KUNIT_EXPECT_EQ(test, path.packet_life_time_selector, IB_SA_EQ);
	KUNIT_EXPECT_EQ(test, path.packet_life_time, 18);
	ib_sa_pack_path(&path, bytes);
	KUNIT_EXPECT_MEMEQ(test, bytes, path_of_opensm, sizeof(path_of_opensm));

	sa_unpack_mcmember((void *)member_of_opensm, &member);
	KUNIT_EXPECT_EQ(test, be16_to_cpu(member.mlid), 0xc001);
	KUNIT_EXPECT_EQ(test, member.packet_life_time_selector, IB_SA_EQ);
	KUNIT_EXPECT_EQ(test, member.packet_life_time, 18);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(member.flow_label), 0xabcde);
	KUNIT_EXPECT_EQ(test, member.hop_limit, 0x3c);
	KUNIT_EXPECT_EQ(test, member.scope, 2);
	KUNIT_EXPECT_EQ(test, member.join_state, 1);
	KUNIT_EXPECT_EQ(test, member.proxy_join, 0);
	sa_pack_mcmember(&member, bytes);
	KUNIT_EXPECT_MEMEQ(test, bytes, member_of_opensm, sizeof(member_of_opensm));
}

/* Offsets that users of ClassPortInfo rely on */
static void class_port_info(struct kunit *test)
{
	struct ib_class_port_info info = {};

	KUNIT_EXPECT_EQ(test, sizeof(info), 72);
	ib_set_cpi_capmask2(&info, IB_SA_CAP_MASK2_SENDONLY_FULL_MEM_SUPPORT);
	ib_set_cpi_resp_time(&info, 18);
	KUNIT_EXPECT_EQ(test, get_unaligned_be32((u8 *)&info + 4), BIT(12 + 5) | 18);
	KUNIT_EXPECT_EQ(test, ib_get_cpi_capmask2(&info), BIT(12));
	KUNIT_EXPECT_EQ(test, offsetof(struct ib_class_port_info, trap_gid), 40);
	KUNIT_EXPECT_EQ(test, offsetof(struct ib_class_port_info, trap_qkey), 68);
}

static struct kunit_case layout_cases[] = {
	KUNIT_CASE(path),
	KUNIT_CASE(mcmember),
	KUNIT_CASE(guidinfo),
	KUNIT_CASE(service),
	KUNIT_CASE(inform),
	KUNIT_CASE(opensm),
	KUNIT_CASE(class_port_info),
	{}
};

static struct kunit_suite layout_suite = {
	.name = "ib_core_sa_layout",
	.test_cases = layout_cases,
};

kunit_test_suite(layout_suite);
