// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: what is left to the device, and what is not.
 */
#include <kunit/skbuff.h>
#include <kunit/test.h>
#include <linux/if_ether.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <rdma/rdma_ext.h>

#include "../offload.h"

static void features(struct kunit *test)
{
	static const struct {
		u64 device, kernel;
		netdev_features_t features;
	} each[] = {
		{ 0, 0, 0 },
		{ ~0ULL & ~IB_DEVICE_UD_IP_CSUM, 0, 0 },
		{ IB_DEVICE_UD_IP_CSUM, 0, NETIF_F_IP_CSUM | NETIF_F_RXCSUM },
		{ 0, IBK_UD_TSO, NETIF_F_TSO },
		{ 0, IBK_UD_IPV6_CSUM, NETIF_F_IPV6_CSUM },
		{ 0, IBK_UD_IPV6_TSO, NETIF_F_TSO6 },
	};

	for (int i = 0; i < ARRAY_SIZE(each); i++) {
		struct ib_device_attr attr = {
			.device_cap_flags = each[i].device, .kernel_cap_flags = each[i].kernel,
		};

		KUNIT_EXPECT_EQ_MSG(test, ipoib_offload_features(&attr), each[i].features,
				    "row %d", i);
	}
}

/* Connections have no offloads of sends. */
static void modes(struct kunit *test)
{
	const netdev_features_t all = NETIF_F_IP_CSUM | NETIF_F_IPV6_CSUM | NETIF_F_TSO |
				      NETIF_F_TSO6 | NETIF_F_RXCSUM | NETIF_F_SG | NETIF_F_GRO;

	KUNIT_EXPECT_EQ(test, ipoib_offload_allowed(all, false), all);
	KUNIT_EXPECT_EQ(test, ipoib_offload_allowed(all, true),
			NETIF_F_RXCSUM | NETIF_F_SG | NETIF_F_GRO);
}

#define HEAD	24	/* in front of the IP header */
#define DATA	100

/* A packet as the stack gives it, without its checksum. */
static struct sk_buff *packet(struct kunit *test, bool v6, bool tcp)
{
	unsigned int ip = v6 ? 40 : 20, l4 = tcp ? 20 : 8;
	struct sk_buff *skb = kunit_zalloc_skb(test, HEAD + ip + l4 + DATA, GFP_KERNEL);
	u8 *p;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	skb_put(skb, HEAD + ip + l4 + DATA);
	p = skb->data + HEAD;
	if (v6) {
		p[0] = 0x60;
		p[5] = l4 + DATA;
		p[6] = tcp ? 6 : 17;
	} else {
		p[0] = 0x45;
		p[3] = ip + l4 + DATA;
		p[9] = tcp ? 6 : 17;
	}
	if (tcp)
		p[ip + 12] = 0x50;
	else
		p[ip + 5] = l4 + DATA;
	skb->protocol = htons(v6 ? ETH_P_IPV6 : ETH_P_IP);
	skb_set_network_header(skb, HEAD);
	skb_set_transport_header(skb, HEAD + ip);
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) + HEAD + ip;
	skb->csum_offset = tcp ? offsetof(struct tcphdr, check) : offsetof(struct udphdr, check);
	return skb;
}

static void fits(struct kunit *test)
{
	for (int i = 0; i < 4; i++) {
		struct sk_buff *skb = packet(test, i & 1, i & 2);

		KUNIT_EXPECT_TRUE_MSG(test, ipoib_offload_used(skb), "packet %d", i);
		KUNIT_EXPECT_TRUE_MSG(test, ipoib_offload_fits(skb), "packet %d", i);
		skb->encapsulation = 1;
		KUNIT_EXPECT_FALSE_MSG(test, ipoib_offload_fits(skb), "packet %d", i);
		skb->encapsulation = 0;
		skb->csum_offset ^= 2;
		KUNIT_EXPECT_FALSE_MSG(test, ipoib_offload_fits(skb), "packet %d", i);
		skb->csum_offset ^= 2;
		skb->csum_start++;
		KUNIT_EXPECT_FALSE_MSG(test, ipoib_offload_fits(skb), "packet %d", i);
		skb->csum_start--;
		skb->protocol = htons(ETH_P_ARP);
		KUNIT_EXPECT_FALSE_MSG(test, ipoib_offload_fits(skb), "packet %d", i);
	}
}

/* One byte is wrong: the device would refuse it. */
static void does_not_fit(struct kunit *test)
{
	static const struct {
		bool v6, tcp;
		u8 at, value;
	} bad[] = {
		{ false, true, 0, 0x65 },	/* version */
		{ false, true, 0, 0x44 },	/* header too short */
		{ false, true, 0, 0x46 },	/* TCP starts elsewhere */
		{ false, true, 3, 1 },		/* length */
		{ false, true, 6, 0x20 },	/* fragments */
		{ false, true, 7, 1 },
		{ false, true, 9, 1 },		/* protocol */
		{ false, true, 9, 17 },
		{ false, true, 32, 0x40 },	/* TCP header too short */
		{ false, true, 32, 0xf0 },	/* that fits */
		{ false, false, 25, 9 },	/* length of UDP */
		{ true, true, 0, 0x40 },
		{ true, true, 5, 1 },
		{ true, true, 6, 0 },		/* extension header */
	};

	for (int i = 0; i < ARRAY_SIZE(bad); i++) {
		struct sk_buff *skb = packet(test, bad[i].v6, bad[i].tcp);

		skb->data[HEAD + bad[i].at] = bad[i].value;
		KUNIT_EXPECT_EQ_MSG(test, ipoib_offload_fits(skb), bad[i].value == 0xf0, "row %d",
				    i);
	}
}

static struct kunit_case offload_cases[] = {
	KUNIT_CASE(features),
	KUNIT_CASE(modes),
	KUNIT_CASE(fits),
	KUNIT_CASE(does_not_fit),
	{}
};

static struct kunit_suite offload_suite = {
	.name = "ipoib_offload",
	.test_cases = offload_cases,
};

kunit_test_suite(offload_suite);
