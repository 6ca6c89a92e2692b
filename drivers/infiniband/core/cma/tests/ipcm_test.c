// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the header with the IP addresses of a request.
 */
#include <kunit/test.h>
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/prandom.h>
#include <linux/unaligned.h>

#include "../ipcm.h"

#define SERVICE(port)	cpu_to_be64(RDMA_IB_IP_PS_TCP | (port))

static struct sockaddr_storage ipv4(u32 addr, u16 port)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in in;
	} a = {};

	a.in.sin_family = AF_INET;
	a.in.sin_addr.s_addr = htonl(addr);
	a.in.sin_port = htons(port);
	return a.any;
}

static struct sockaddr_storage ipv6(const u8 *addr, u16 port)
{
	union {
		struct sockaddr_storage any;
		struct sockaddr_in6 in6;
	} a = {};

	a.in6.sin6_family = AF_INET6;
	memcpy(&a.in6.sin6_addr, addr, 16);
	a.in6.sin6_port = htons(port);
	return a.any;
}

/* The bytes are what other implementations send, written down here a second time. */
static void ipcm_bytes_ipv4(struct kunit *test)
{
	static const u8 expected[IPCM_HDR_SIZE] = {
		0x00, 0x40, 0x12, 0x34,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 1, 2, 3,
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 168, 7, 9,
	};
	struct ipcm_ends ends = {
		.local = ipv4(0x0a010203, 0x1234), .remote = ipv4(0xc0a80709, 0x5678),
	};
	u8 hdr[IPCM_HDR_SIZE];

	memset(hdr, 0xee, sizeof(hdr));
	KUNIT_EXPECT_EQ(test, ipcm_pack(hdr, &ends), 0);
	KUNIT_EXPECT_MEMEQ(test, hdr, expected, sizeof(hdr));
}

static void ipcm_bytes_ipv6(struct kunit *test)
{
	u8 local[16], remote[16], hdr[IPCM_HDR_SIZE];
	struct ipcm_ends ends;

	for (int i = 0; i < 16; i++) {
		local[i] = 0x10 + i;
		remote[i] = 0xa0 + i;
	}
	ends.local = ipv6(local, 0xbeef);
	ends.remote = ipv6(remote, 1);
	memset(hdr, 0xee, sizeof(hdr));
	KUNIT_EXPECT_EQ(test, ipcm_pack(hdr, &ends), 0);
	KUNIT_EXPECT_EQ(test, hdr[0], 0);
	KUNIT_EXPECT_EQ(test, hdr[1], 0x60);
	KUNIT_EXPECT_EQ(test, get_unaligned_be16(hdr + 2), 0xbeef);
	KUNIT_EXPECT_MEMEQ(test, hdr + 4, local, 16);
	KUNIT_EXPECT_MEMEQ(test, hdr + 20, remote, 16);
}

static void ipcm_other_families(struct kunit *test)
{
	struct ipcm_ends ends = { .local = ipv4(1, 2), .remote.ss_family = AF_INET6 };
	u8 hdr[IPCM_HDR_SIZE], before[IPCM_HDR_SIZE];

	memset(before, 0xee, sizeof(before));
	memcpy(hdr, before, sizeof(hdr));
	KUNIT_EXPECT_EQ(test, ipcm_pack(hdr, &ends), -EAFNOSUPPORT);
	ends.local.ss_family = AF_IB;
	ends.remote.ss_family = AF_IB;
	KUNIT_EXPECT_EQ(test, ipcm_pack(hdr, &ends), -EAFNOSUPPORT);
	KUNIT_EXPECT_MEMEQ(test, hdr, before, sizeof(hdr));
}

/* What one end packs the other reads with the ends exchanged, at any alignment. */
static void ipcm_round_trip(struct kunit *test)
{
	struct rnd_state rnd;

	prandom_seed_state(&rnd, 1);
	for (unsigned int round = 0; round < 2000; round++) {
		u16 near = prandom_u32_state(&rnd), far = prandom_u32_state(&rnd);
		u8 buf[IPCM_HDR_SIZE + 8], a[16], b[16];
		u8 *hdr = buf + round % 8;
		struct ipcm_ends sent, got;

		prandom_bytes_state(&rnd, a, sizeof(a));
		prandom_bytes_state(&rnd, b, sizeof(b));
		if (round & 1) {
			sent.local = ipv6(a, near);
			sent.remote = ipv6(b, far);
		} else {
			sent.local = ipv4(get_unaligned_be32(a), near);
			sent.remote = ipv4(get_unaligned_be32(b), far);
		}
		KUNIT_ASSERT_EQ(test, ipcm_pack(hdr, &sent), 0);
		memset(&got, 0xff, sizeof(got));
		KUNIT_ASSERT_EQ(test, ipcm_parse(&got, hdr, SERVICE(far)), 0);
		KUNIT_ASSERT_MEMEQ(test, &got.local, &sent.remote, sizeof(got.local));
		KUNIT_ASSERT_MEMEQ(test, &got.remote, &sent.local, sizeof(got.remote));
	}
}

/* Every pair of the first two bytes: version 0 with IP 4 or 6 is a header, all else is none. */
static void ipcm_malformed(struct kunit *test)
{
	static const struct ipcm_ends nothing;
	u8 hdr[IPCM_HDR_SIZE];

	memset(hdr, 0x5a, sizeof(hdr));
	for (unsigned int first = 0; first < 0x10000; first++) {
		struct ipcm_ends ends;
		unsigned int ip = (first >> 4) & 0xf;
		int expected, got;

		put_unaligned_be16(first, hdr);
		if (first >> 8)
			expected = -EINVAL;
		else
			expected = ip == 4 || ip == 6 ? 0 : -EAFNOSUPPORT;
		memset(&ends, 0xff, sizeof(ends));
		got = ipcm_parse(&ends, hdr, SERVICE(7));
		KUNIT_ASSERT_EQ_MSG(test, got, expected, "bytes %04x", first);
		if (got)
			KUNIT_ASSERT_MEMEQ(test, &ends, &nothing, sizeof(ends));
		else
			KUNIT_ASSERT_EQ(test, ends.local.ss_family, ip == 4 ? AF_INET : AF_INET6);
	}
}

static void ipcm_service_ids(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ipcm_service_space(SERVICE(0xffff)), RDMA_PS_TCP);
	KUNIT_EXPECT_EQ(test, ipcm_service_port(SERVICE(0xfffe)), 0xfffe);
	KUNIT_EXPECT_EQ(test, ipcm_service_space(cpu_to_be64(RDMA_IB_IP_PS_UDP)), RDMA_PS_UDP);
	KUNIT_EXPECT_EQ(test, ipcm_service_space(cpu_to_be64(RDMA_IB_IP_PS_IB | 1)), RDMA_PS_IB);
}

static void ipcm_offsets(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, ipcm_data_offset(AF_INET), 36);
	KUNIT_EXPECT_EQ(test, ipcm_data_offset(AF_INET6), 36);
	KUNIT_EXPECT_EQ(test, ipcm_data_offset(AF_IB), 0);
}

static struct kunit_case ipcm_cases[] = {
	KUNIT_CASE(ipcm_bytes_ipv4),
	KUNIT_CASE(ipcm_bytes_ipv6),
	KUNIT_CASE(ipcm_other_families),
	KUNIT_CASE(ipcm_round_trip),
	KUNIT_CASE(ipcm_malformed),
	KUNIT_CASE(ipcm_service_ids),
	KUNIT_CASE(ipcm_offsets),
	{}
};

static struct kunit_suite ipcm_suite = {
	.name = "rdma_cm_ipcm",
	.test_cases = ipcm_cases,
};

kunit_test_suite(ipcm_suite);
