// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: the header before a datagram's payload, and the reply address made from it.
 */
#include <kunit/test.h>
#include <net/ip.h>
#include <rdma/ib_cache.h>

#include "../../device/tests/test_device.h"
#include "../verbs_priv.h"

#define FE80	cpu_to_be64(0xfe80ULL << 48)

static struct ib_grh grh(u64 from, u64 to)
{
	struct ib_grh grh = {
		.version_tclass_flow = cpu_to_be32(6U << 28 | 0x21U << 20 | 0x54321),
		.sgid.global = { FE80, cpu_to_be64(from) },
		.dgid.global = { FE80, cpu_to_be64(to) },
	};

	return grh;
}

static union rdma_network_hdr ipv4(u8 garbage)
{
	union rdma_network_hdr hdr = {
		.roce4grh = { .version = 4, .ihl = 5, .protocol = IPPROTO_UDP,
			      .saddr = cpu_to_be32(0x0a000001), .daddr = cpu_to_be32(0x0a000002) },
	};

	memset(hdr.reserved, garbage, sizeof(hdr.reserved));
	hdr.roce4grh.check = ip_fast_csum(&hdr.roce4grh, 5);
	return hdr;
}

/* The bytes before an IPv4 header are undefined and may look like an IPv6 header. */
static void versions(struct kunit *test)
{
	union rdma_network_hdr hdr = { .ibgrh = grh(1, 2) };

	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 6);
	hdr = ipv4(0);
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 4);
	hdr = ipv4(0x66);
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 4);
	/* A sender's GID that looks like an IPv4 header fails the checksum. */
	hdr.roce4grh.ttl++;
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 6);
	hdr = ipv4(0x66);
	hdr.roce4grh.ihl = 6;
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 6);
	memset(&hdr, 0, sizeof(hdr));
	KUNIT_EXPECT_EQ(test, ib_get_rdma_header_version(&hdr), 0);
}

static void gids(struct kunit *test)
{
	union rdma_network_hdr hdr = { .ibgrh = grh(1, 2) };
	static const enum rdma_network_type routed[] = {
		RDMA_NETWORK_IB, RDMA_NETWORK_ROCE_V1, RDMA_NETWORK_IPV6,
	};
	union ib_gid sgid, dgid;

	for (int i = 0; i < ARRAY_SIZE(routed); i++) {
		memset(&sgid, 0, sizeof(sgid));
		memset(&dgid, 0, sizeof(dgid));
		KUNIT_EXPECT_EQ(test, ib_get_gids_from_rdma_hdr(&hdr, routed[i], &sgid, &dgid), 0);
		KUNIT_EXPECT_EQ(test, be64_to_cpu(sgid.global.interface_id), 1);
		KUNIT_EXPECT_EQ(test, be64_to_cpu(dgid.global.interface_id), 2);
	}
	KUNIT_EXPECT_EQ(test, ib_get_gids_from_rdma_hdr(&hdr, 77, &sgid, &dgid), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_get_gids_from_rdma_hdr(&hdr, RDMA_NETWORK_IB, NULL, &dgid),
			-EINVAL);
	KUNIT_EXPECT_EQ(test, ib_get_gids_from_rdma_hdr(&hdr, RDMA_NETWORK_IB, &sgid, NULL),
			-EINVAL);
	hdr = ipv4(0);
	KUNIT_EXPECT_EQ(test, ib_get_gids_from_rdma_hdr(&hdr, RDMA_NETWORK_IPV4, &sgid, &dgid), 0);
	KUNIT_EXPECT_TRUE(test, ipv6_addr_v4mapped((struct in6_addr *)sgid.raw));
	KUNIT_EXPECT_EQ(test, sgid.raw[15], 1);
	KUNIT_EXPECT_EQ(test, dgid.raw[15], 2);
}

/* Ports have GID fe80::PORT at index 0. */
static void way_back(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_ah_wc");
	struct ib_wc wc = { .slid = 9, .sl = 3, .dlid_path_bits = 1 };
	struct ib_grh header = grh(0x99, 2);
	struct rdma_ah_attr attr;

	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_wc(&device->ib, 2, &wc, &header, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.type, RDMA_AH_ATTR_TYPE_IB);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_dlid(&attr), 9);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_sl(&attr), 3);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_path_bits(&attr), 1);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_port_num(&attr), 2);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr), 0);

	wc.wc_flags = IB_WC_GRH;
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_wc(&device->ib, 2, &wc, &header, &attr), 0);
	KUNIT_EXPECT_EQ(test, rdma_ah_get_ah_flags(&attr), IB_AH_GRH);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(attr.grh.dgid.global.interface_id), 0x99);
	KUNIT_EXPECT_EQ(test, attr.grh.sgid_index, 0);
	KUNIT_EXPECT_EQ(test, attr.grh.flow_label, 0x54321);
	KUNIT_EXPECT_EQ(test, attr.grh.traffic_class, 0x21);
	KUNIT_EXPECT_EQ(test, attr.grh.hop_limit, 0xff);
	KUNIT_ASSERT_NOT_NULL(test, attr.grh.sgid_attr);
	KUNIT_EXPECT_EQ(test, attr.grh.sgid_attr->port_num, 2);
	rdma_destroy_ah_attr(&attr);

	/* A datagram to the well-known GID of the SA is answered from GID index 0. */
	header = grh(0x99, IB_SA_WELL_KNOWN_GUID);
	KUNIT_ASSERT_EQ(test, ib_init_ah_attr_from_wc(&device->ib, 2, &wc, &header, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.grh.sgid_index, 0);
	rdma_destroy_ah_attr(&attr);
	/* The address of the other port, and one of no port. */
	header = grh(0x99, 1);
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_wc(&device->ib, 2, &wc, &header, &attr),
			-ENOENT);
	header = grh(0x99, 0x1234);
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_wc(&device->ib, 1, &wc, &header, &attr),
			-ENOENT);

	/* Without a header the sender of a RoCE datagram is unknown. */
	device->ib.port_data[2].immutable.core_cap_flags = RDMA_CORE_PORT_IBA_ROCE;
	wc.wc_flags = 0;
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_wc(&device->ib, 2, &wc, &header, &attr),
			-EPROTOTYPE);
	wc.wc_flags = IB_WC_GRH | IB_WC_WITH_NETWORK_HDR_TYPE;
	wc.network_hdr_type = 77;
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_wc(&device->ib, 2, &wc, &header, &attr),
			-EINVAL);
	/* A GID entry of another type does not match. */
	header = grh(0x99, 2);
	wc.wc_flags = IB_WC_GRH;
	KUNIT_EXPECT_EQ(test, ib_init_ah_attr_from_wc(&device->ib, 2, &wc, &header, &attr),
			-ENOENT);
	device->ib.port_data[2].immutable.core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	test_device_gone(device);
}

static struct kunit_case ah_wc_cases[] = {
	KUNIT_CASE(versions),
	KUNIT_CASE(gids),
	KUNIT_CASE(way_back),
	{}
};

static struct kunit_suite ah_wc_suite = {
	.name = "rdma_core_ah_wc",
	.test_cases = ah_wc_cases,
};

kunit_test_suite(ah_wc_suite);
