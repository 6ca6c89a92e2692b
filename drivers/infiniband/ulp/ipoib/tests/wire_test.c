// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: addresses, sizes, events and counts that wrap.
 */
#include <kunit/test.h>
#include <linux/if_ether.h>

#include "../wire.h"

/* The broadcast address of an interface with P_Key 0x8001. */
static const u8 broadcast[IPOIB_ADDR_LEN] = {
	0x00, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b, 0x80, 0x01,
	0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff
};

static void address_parts(struct kunit *test)
{
	u8 addr[IPOIB_ADDR_LEN] = { 0x80, 0x12, 0x34, 0x56, 0xfe, 0x80 };

	KUNIT_EXPECT_EQ(test, ipoib_addr_qpn(addr), 0x123456);
	KUNIT_EXPECT_EQ(test, ipoib_addr_gid(addr)[0], 0xfe);
	KUNIT_EXPECT_FALSE(test, ipoib_addr_multicast(addr));
	KUNIT_EXPECT_TRUE(test, ipoib_addr_multicast(broadcast));
	KUNIT_EXPECT_EQ(test, ipoib_addr_qpn(broadcast), 0xffffff);
}

static void group_gid(struct kunit *test)
{
	static const u8 expected[] = {
		0xff, 0x12, 0x40, 0x1b, 0x90, 0x02, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff
	};
	union ib_gid mgid;

	ipoib_group_gid(&mgid, broadcast, 0x9002);
	KUNIT_EXPECT_MEMEQ(test, mgid.raw, expected, sizeof(expected));
}

/* Each byte of an address: may it differ from the broadcast address? */
static void group_ours(struct kunit *test)
{
	for (int i = 0; i < IPOIB_ADDR_LEN; i++) {
		bool free = i == 6 || i >= 8;
		u8 addr[IPOIB_ADDR_LEN];

		memcpy(addr, broadcast, sizeof(addr));
		addr[i] ^= 0x10;
		KUNIT_EXPECT_EQ_MSG(test, ipoib_group_ours(addr, broadcast), free, "byte %d", i);
	}
}

static void protocols(struct kunit *test)
{
	unsigned int known = 0;

	for (u32 proto = 0; proto <= U16_MAX; proto++)
		known += ipoib_proto_known(htons(proto));
	KUNIT_EXPECT_EQ(test, known, 5);
	KUNIT_EXPECT_TRUE(test, ipoib_proto_known(htons(ETH_P_IPV6)));
	KUNIT_EXPECT_FALSE(test, ipoib_proto_known(htons(ETH_P_8021Q)));
}

static void pkeys(struct kunit *test)
{
	static const struct {
		int pkey;
		bool valid;
	} cases[] = {
		{ -1, false }, { 0, false }, { 1, true }, { 0x7fff, true }, { 0x8000, false },
		{ 0x8001, true }, { 0xffff, true }, { 0x10000, false }, { 0x18001, false },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++)
		KUNIT_EXPECT_EQ_MSG(test, ipoib_pkey_valid(cases[i].pkey), cases[i].valid, "%#x",
				    cases[i].pkey);
}

static void mtus(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ipoib_ud_mtu(2048), 2044);
	KUNIT_EXPECT_EQ(test, ipoib_mtu_check(false, 71, 2044), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_mtu_check(false, 72, 2044), 0);
	KUNIT_EXPECT_EQ(test, ipoib_mtu_check(false, 2044, 2044), 0);
	KUNIT_EXPECT_EQ(test, ipoib_mtu_check(false, 2045, 2044), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_mtu_check(true, 71, 65520), 0);
	KUNIT_EXPECT_EQ(test, ipoib_mtu_check(true, -1, 65520), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_mtu_check(true, 65520, 65520), 0);
	KUNIT_EXPECT_EQ(test, ipoib_mtu_check(true, 65521, 65520), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_cm_mtu(1), PAGE_SIZE - 16);
	KUNIT_EXPECT_EQ(test, ipoib_cm_mtu(65536 / PAGE_SIZE), 65520);
	KUNIT_EXPECT_EQ(test, ipoib_cm_mtu(64), 65520);
}

static void peers_fit(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ipoib_cm_peers(128, 256, 1 << 20), 128);
	/* The datagram QP's receives, those of 128 connections, and one entry more */
	KUNIT_EXPECT_EQ(test, ipoib_cm_peers(128, 256, 129 * 256 + 1), 128);
	KUNIT_EXPECT_EQ(test, ipoib_cm_peers(128, 256, 129 * 256), 127);
	KUNIT_EXPECT_EQ(test, ipoib_cm_peers(128, 256, 2 * 256 + 1), 1);
	KUNIT_EXPECT_EQ(test, ipoib_cm_peers(128, 256, 2 * 256), 0);
	KUNIT_EXPECT_EQ(test, ipoib_cm_peers(128, 256, 1), 0);
	KUNIT_EXPECT_EQ(test, ipoib_cm_peers(128, 256, 0), 0);
	KUNIT_EXPECT_EQ(test, ipoib_cm_peers(0, 256, 1 << 20), 0);
	KUNIT_EXPECT_EQ(test, ipoib_cm_peers(4096, 8192, INT_MAX), 4096);
}

static void modes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ipoib_mode_of("datagram\n"), 0);
	KUNIT_EXPECT_EQ(test, ipoib_mode_of("connected\n"), 1);
	KUNIT_EXPECT_EQ(test, ipoib_mode_of("connected"), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_mode_of("Datagram\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_mode_of("datagram\n\n"), -EINVAL);
	KUNIT_EXPECT_EQ(test, ipoib_mode_of(""), -EINVAL);
}

static void queue_sizes(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ipoib_queue_size(INT_MIN, 2), 2);
	KUNIT_EXPECT_EQ(test, ipoib_queue_size(0, 128), 128);
	KUNIT_EXPECT_EQ(test, ipoib_queue_size(256, 2), 256);
	KUNIT_EXPECT_EQ(test, ipoib_queue_size(257, 2), 512);
	KUNIT_EXPECT_EQ(test, ipoib_queue_size(8192, 2), 8192);
	KUNIT_EXPECT_EQ(test, ipoib_queue_size(INT_MAX, 2), 8192);
}

static void events(struct kunit *test)
{
	static const struct {
		enum ib_event_type event;
		enum ipoib_flush level, waiting;
	} cases[] = {
		{ IB_EVENT_CLIENT_REREGISTER, IPOIB_FLUSH_LIGHT, IPOIB_FLUSH_LIGHT },
		{ IB_EVENT_GID_CHANGE, IPOIB_FLUSH_NONE, IPOIB_FLUSH_LIGHT },
		{ IB_EVENT_PORT_ERR, IPOIB_FLUSH_NORMAL, IPOIB_FLUSH_NORMAL },
		{ IB_EVENT_PORT_ACTIVE, IPOIB_FLUSH_NORMAL, IPOIB_FLUSH_NORMAL },
		{ IB_EVENT_LID_CHANGE, IPOIB_FLUSH_NORMAL, IPOIB_FLUSH_NORMAL },
		{ IB_EVENT_PKEY_CHANGE, IPOIB_FLUSH_HEAVY, IPOIB_FLUSH_HEAVY },
		{ IB_EVENT_SM_CHANGE, IPOIB_FLUSH_NONE, IPOIB_FLUSH_NONE },
		{ IB_EVENT_CQ_ERR, IPOIB_FLUSH_NONE, IPOIB_FLUSH_NONE },
	};

	for (int i = 0; i < ARRAY_SIZE(cases); i++) {
		KUNIT_EXPECT_EQ_MSG(test, ipoib_event_flush(cases[i].event, false), cases[i].level,
				    "event %d", cases[i].event);
		KUNIT_EXPECT_EQ_MSG(test, ipoib_event_flush(cases[i].event, true), cases[i].waiting,
				    "event %d", cases[i].event);
	}
}

static void services(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, be64_to_cpu(ipoib_cm_service(0xabcdef)), 0x1000000000abcdefULL);
}

/* From where rings begin over the wrap of their counts. */
static void ring_counts(struct kunit *test)
{
	u32 head = IPOIB_RING_START, tail = IPOIB_RING_START;

	for (int i = 0; i < 1000; i++) {
		u32 marked = head++;

		KUNIT_EXPECT_EQ(test, ipoib_ring_used(head, tail), i < 100 ? i + 1 : 101);
		KUNIT_EXPECT_FALSE(test, ipoib_ring_passed(tail, head));
		KUNIT_EXPECT_EQ(test, ipoib_ring_passed(tail, marked), marked == tail);
		if (i >= 100)
			tail++;
	}
	KUNIT_EXPECT_LT(test, head, IPOIB_RING_START);
	KUNIT_EXPECT_TRUE(test, ipoib_ring_passed(tail, IPOIB_RING_START));
}

static struct kunit_case wire_cases[] = {
	KUNIT_CASE(address_parts),
	KUNIT_CASE(group_gid),
	KUNIT_CASE(group_ours),
	KUNIT_CASE(protocols),
	KUNIT_CASE(pkeys),
	KUNIT_CASE(mtus),
	KUNIT_CASE(peers_fit),
	KUNIT_CASE(modes),
	KUNIT_CASE(queue_sizes),
	KUNIT_CASE(events),
	KUNIT_CASE(services),
	KUNIT_CASE(ring_counts),
	{}
};

static struct kunit_suite wire_suite = {
	.name = "ipoib_wire",
	.test_cases = wire_cases,
};

kunit_test_suite(wire_suite);
