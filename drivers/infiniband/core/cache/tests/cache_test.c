// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: GID and P_Key tables and port attributes as the cache gives them.
 */
#include <kunit/test.h>
#include <linux/netdevice.h>

#include <rdma/ib_mad.h>
#include <rdma/rdma_ext.h>

#include "../../device/tests/test_device.h"
#include "../cache_priv.h"

static void refresh_after(struct test_device *device, enum ib_event_type type, u32 port_num)
{
	struct ib_event event = { .device = &device->ib, .event = type };

	event.element.port_num = port_num;
	ib_cache_event(&event);
}

static void gid_is_found_by_index(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_gid");
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 2, 0, &gid), 0);
	KUNIT_EXPECT_MEMEQ(test, &gid, &device->port[2].gid[0], sizeof(gid));
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 2, 1, &gid), -ENOENT);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 2, TEST_GIDS, &gid), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 2, -1, &gid), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 0, 0, &gid), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, TEST_PORTS + 1, 0, &gid), -EINVAL);

	attr = rdma_get_gid_attr(&device->ib, 2, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	KUNIT_EXPECT_EQ(test, attr->port_num, 2);
	KUNIT_EXPECT_EQ(test, attr->index, 0);
	KUNIT_EXPECT_EQ(test, attr->gid_type, IB_GID_TYPE_IB);
	KUNIT_EXPECT_PTR_EQ(test, attr->device, &device->ib);
	rdma_put_gid_attr(attr);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_get_gid_attr(&device->ib, 2, 1)), -ENODATA);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_get_gid_attr(&device->ib, 2, 4)), -EINVAL);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_get_gid_attr(&device->ib, 3, 0)), -EINVAL);
	test_device_gone(device);
}

static bool has_index(const union ib_gid *gid, const struct ib_gid_attr *attr, void *context)
{
	return attr->index == *(u16 *)context;
}

static void gid_is_found_by_value(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_find");
	union ib_gid *gid = &device->port[2].gid[0];
	const struct ib_gid_attr *attr;
	u32 port_num = 0;
	u16 index = 9;

	attr = rdma_find_gid(&device->ib, gid, IB_GID_TYPE_IB, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	KUNIT_EXPECT_EQ(test, attr->port_num, 2);
	rdma_put_gid_attr(attr);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_find_gid(&device->ib, gid, IB_GID_TYPE_ROCE, NULL)),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_find_gid(&device->ib, &zgid, IB_GID_TYPE_IB, NULL)),
			-ENOENT);
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_find_gid_by_port(&device->ib, gid, IB_GID_TYPE_IB, 1,
							    NULL)), -ENOENT);
	attr = rdma_find_gid_by_port(&device->ib, gid, IB_GID_TYPE_IB, 2, NULL);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	rdma_put_gid_attr(attr);

	KUNIT_EXPECT_EQ(test, ib_find_gid(&device->ib, gid, &port_num, &index), 0);
	KUNIT_EXPECT_EQ(test, port_num, 2);
	KUNIT_EXPECT_EQ(test, index, 0);

	/* The same GID twice: the caller's own condition chooses. */
	device->port[2].gid[3] = *gid;
	refresh_after(device, IB_EVENT_GID_CHANGE, 2);
	index = 3;
	attr = rdma_find_gid_by_filter(&device->ib, gid, 2, has_index, &index);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	KUNIT_EXPECT_EQ(test, attr->index, 3);
	rdma_put_gid_attr(attr);
	index = 2;
	KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_find_gid_by_filter(&device->ib, gid, 2, has_index,
							      &index)), -ENOENT);
	test_device_gone(device);
}

static void replaced_gid_stays_with_its_users(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_replaced");
	union ib_gid old = device->port[1].gid[0];
	const struct ib_gid_attr *attr, *again;
	union ib_gid gid;

	attr = rdma_get_gid_attr(&device->ib, 1, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	rdma_hold_gid_attr(attr);

	/* A refresh without a change keeps the entry. */
	refresh_after(device, IB_EVENT_GID_CHANGE, 1);
	again = rdma_get_gid_attr(&device->ib, 1, 0);
	KUNIT_EXPECT_PTR_EQ(test, again, attr);
	rdma_put_gid_attr(again);

	device->port[1].gid[0].global.interface_id = cpu_to_be64(99);
	refresh_after(device, IB_EVENT_GID_CHANGE, 1);
	/* An entry without a reference is freed by now. */
	rcu_barrier();
	KUNIT_EXPECT_MEMEQ(test, &attr->gid, &old, sizeof(old));
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 1, 0, &gid), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(gid.global.interface_id), 99);
	scoped_guard(rcu)
		KUNIT_EXPECT_EQ(test, PTR_ERR(rdma_read_gid_attr_ndev_rcu(attr)), -EINVAL);
	rdma_put_gid_attr(attr);

	/* The table's reference ends with the device; a user's may end later. */
	test_device_gone(device);
	KUNIT_EXPECT_MEMEQ(test, &attr->gid, &old, sizeof(old));
	rdma_put_gid_attr(attr);
}

static int iwarp_immutable(struct ib_device *ib, u32 port_num, struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = TEST_GIDS;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IWARP;
	return 0;
}

/* A GID of an iWARP port has the port's net device, and is empty without one. */
static void iwarp_gid_has_its_net_device(struct kunit *test)
{
	struct test_device *device = test_device_alloc();
	struct net_device *netdev = init_net.loopback_dev;
	int references = netdev_refcnt_read(netdev);
	const struct ib_gid_attr *attr;
	union ib_gid gid;

	KUNIT_ASSERT_NOT_NULL(test, device);
	device->ib.ops.get_port_immutable = iwarp_immutable;
	KUNIT_ASSERT_EQ(test, ib_device_set_netdev(&device->ib, netdev, 1), 0);
	KUNIT_ASSERT_EQ(test, ib_device_set_netdev(&device->ib, netdev, 2), 0);
	KUNIT_ASSERT_EQ(test, ib_register_device(&device->ib, "kt_iwarp", NULL), 0);
	attr = rdma_find_gid_by_port(&device->ib, &device->port[1].gid[0], IB_GID_TYPE_IB, 1,
				     netdev);
	KUNIT_ASSERT_FALSE(test, IS_ERR(attr));
	scoped_guard(rcu)
		KUNIT_EXPECT_PTR_EQ(test, rdma_read_gid_attr_ndev_rcu(attr), netdev);

	/* The port loses its net device, and so does the GID, also for holders of a reference. */
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, NULL, 1), 0);
	refresh_after(device, IB_EVENT_GID_CHANGE, 1);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 1, 0, &gid), -ENOENT);
	KUNIT_EXPECT_NULL(test, rcu_access_pointer(attr->ndev));
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 2, 0, &gid), 0);
	rdma_put_gid_attr(attr);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, NULL, 2), 0);
	refresh_after(device, IB_EVENT_GID_CHANGE, 2);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(netdev), references);
	KUNIT_EXPECT_EQ(test, ib_device_set_netdev(&device->ib, netdev, 1), 0);
	refresh_after(device, IB_EVENT_GID_CHANGE, 1);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 1, 0, &gid), 0);
	test_device_gone(device);
	rcu_barrier();
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(netdev), references);
}

static void gid_table_lists_what_is_there(struct kunit *test)
{
	struct ib_uverbs_gid_entry entries[TEST_PORTS * TEST_GIDS];
	struct test_device *device = test_device_alloc();

	KUNIT_ASSERT_NOT_NULL(test, device);
	device->port[1].gid[2].global.interface_id = cpu_to_be64(5);
	KUNIT_ASSERT_EQ(test, ib_register_device(&device->ib, "kt_list", NULL), 0);
	KUNIT_EXPECT_EQ(test, rdma_query_gid_table(&device->ib, entries, 2), -EINVAL);
	KUNIT_EXPECT_EQ(test, rdma_query_gid_table(&device->ib, entries, 3), 3);
	KUNIT_EXPECT_EQ(test, entries[1].port_num, 1);
	KUNIT_EXPECT_EQ(test, entries[1].gid_index, 2);
	KUNIT_EXPECT_EQ(test, entries[1].netdev_ifindex, 0);
	KUNIT_EXPECT_MEMEQ(test, (void *)&entries[1].gid, (void *)&device->port[1].gid[2],
			   sizeof(union ib_gid));
	KUNIT_EXPECT_EQ(test, entries[2].port_num, 2);
	test_device_gone(device);
}

static void pkey_is_found_with_and_without_membership(struct kunit *test)
{
	struct test_device *device = test_device_alloc();
	u16 index = 9, pkey = 0;

	KUNIT_ASSERT_NOT_NULL(test, device);
	device->port[1].pkey[0] = 0x7fff;
	device->port[1].pkey[1] = 0x0012;
	device->port[1].pkey[2] = 0x8012;
	KUNIT_ASSERT_EQ(test, ib_register_device(&device->ib, "kt_pkey", NULL), 0);

	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&device->ib, 1, 1, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0x0012);
	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&device->ib, 1, TEST_PKEYS, &pkey), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&device->ib, 1, -1, &pkey), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&device->ib, 3, 0, &pkey), -EINVAL);

	/* Full membership is preferred, limited membership is taken. */
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(&device->ib, 1, 0x0012, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 2);
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(&device->ib, 1, 0xffff, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 0);
	KUNIT_EXPECT_EQ(test, ib_find_exact_cached_pkey(&device->ib, 1, 0x0012, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 1);
	KUNIT_EXPECT_EQ(test, ib_find_exact_cached_pkey(&device->ib, 1, 0xffff, &index), -ENOENT);
	KUNIT_EXPECT_EQ(test, index, 0xffff);
	KUNIT_EXPECT_EQ(test, ib_find_cached_pkey(&device->ib, 3, 0xffff, &index), -EINVAL);
	/* The same, asking the driver. */
	KUNIT_EXPECT_EQ(test, ib_find_pkey(&device->ib, 1, 0x0012, &index), 0);
	KUNIT_EXPECT_EQ(test, index, 2);
	KUNIT_EXPECT_EQ(test, ib_find_pkey(&device->ib, 1, 0x4444, &index), -ENOENT);
	test_device_gone(device);
}

static void attributes_follow_events(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_attrs");
	struct test_port *port = &device->port[1];
	enum ib_port_state state;
	struct ib_port_attr attr;
	unsigned int pkeys;
	u64 prefix = 0;
	u16 pkey;
	u8 lmc;

	KUNIT_EXPECT_EQ(test, ib_get_cached_port_state(&device->ib, 1, &state), 0);
	KUNIT_EXPECT_EQ(test, state, IB_PORT_ACTIVE);
	KUNIT_EXPECT_EQ(test, ib_get_cached_port_state(&device->ib, 0, &state), -EINVAL);
	ib_get_cached_subnet_prefix(&device->ib, 1, &prefix);
	KUNIT_EXPECT_EQ(test, prefix, 0xfe80ULL << 48);

	/* Nothing is read before an event, and then no more than may have changed. */
	port->attr.state = IB_PORT_DOWN;
	port->attr.lmc = 3;
	port->pkey[3] = 0x8033;
	KUNIT_EXPECT_EQ(test, ib_get_cached_lmc(&device->ib, 1, &lmc), 0);
	KUNIT_EXPECT_EQ(test, lmc, 0);
	pkeys = device->calls[TEST_OP_QUERY_PKEY];
	refresh_after(device, IB_EVENT_PORT_ERR, 1);
	KUNIT_EXPECT_EQ(test, device->calls[TEST_OP_QUERY_PKEY], pkeys);
	ib_get_cached_port_state(&device->ib, 1, &state);
	KUNIT_EXPECT_EQ(test, state, IB_PORT_DOWN);
	ib_get_cached_lmc(&device->ib, 1, &lmc);
	KUNIT_EXPECT_EQ(test, lmc, 3);
	refresh_after(device, IB_EVENT_PKEY_CHANGE, 1);
	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&device->ib, 1, 3, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0x8033);

	/* The prefix is taken from the port's GIDs if the port attributes do not have it. */
	port->gid[0].global.subnet_prefix = cpu_to_be64(0xfec0ULL << 48);
	refresh_after(device, IB_EVENT_CLIENT_REREGISTER, 1);
	KUNIT_EXPECT_EQ(test, ib_query_port(&device->ib, 1, &attr), 0);
	KUNIT_EXPECT_EQ(test, attr.subnet_prefix, 0xfec0ULL << 48);
	KUNIT_EXPECT_EQ(test, ib_query_port(&device->ib, 3, &attr), -EINVAL);
	test_device_gone(device);
}

static void silent_device_leaves_the_cache_as_it_was(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_silent");
	union ib_gid gid;
	u16 pkey;

	device->port[1].gid[0].global.interface_id = cpu_to_be64(99);
	device->port[1].pkey[0] = 0x8001;
	device->fails = TEST_OP_QUERY_GID;
	refresh_after(device, IB_EVENT_GID_CHANGE, 1);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 1, 0, &gid), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(gid.global.interface_id), 1);
	device->fails = TEST_OP_QUERY_PKEY;
	refresh_after(device, IB_EVENT_PKEY_CHANGE, 1);
	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&device->ib, 1, 0, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0xffff);
	test_device_gone(device);
}

/*
 * A table that cannot be read does not prevent the refresh of the others, and is read again later.
 */
static void silence_is_made_up_for(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_owed");
	struct rdma_cached_port attrs;
	union ib_gid gid;
	u16 pkey;

	device->port[1].gid[0].global.interface_id = cpu_to_be64(99);
	device->port[1].attr.lid = 0x77;
	device->port[1].pkey[0] = 0x8001;
	device->fails = TEST_OP_QUERY_GID;
	refresh_after(device, IB_EVENT_PORT_ACTIVE, 1);
	KUNIT_EXPECT_EQ(test, ib_cache_get_port(&device->ib, 1, &attrs), 0);
	KUNIT_EXPECT_EQ(test, attrs.lid, 0x77);
	KUNIT_EXPECT_EQ(test, ib_get_cached_pkey(&device->ib, 1, 0, &pkey), 0);
	KUNIT_EXPECT_EQ(test, pkey, 0x8001);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 1, 0, &gid), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(gid.global.interface_id), 1);

	device->fails = TEST_OP_NONE;
	refresh_after(device, IB_EVENT_SM_CHANGE, 1);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 1, 0, &gid), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(gid.global.interface_id), 99);
	/* It is read again only once. */
	device->port[1].gid[0].global.interface_id = cpu_to_be64(100);
	refresh_after(device, IB_EVENT_SM_CHANGE, 1);
	KUNIT_EXPECT_EQ(test, rdma_query_gid(&device->ib, 1, 0, &gid), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(gid.global.interface_id), 99);
	test_device_gone(device);
}

static void gid_type_names_are_those_users_know(struct kunit *test)
{
	KUNIT_EXPECT_STREQ(test, ib_cache_gid_type_str(IB_GID_TYPE_IB), "IB/RoCE v1");
	KUNIT_EXPECT_STREQ(test, ib_cache_gid_type_str(IB_GID_TYPE_ROCE_UDP_ENCAP), "RoCE v2");
	KUNIT_EXPECT_STREQ(test, ib_cache_gid_type_str(IB_GID_TYPE_SIZE), "Invalid GID type");
	KUNIT_EXPECT_EQ(test, ib_cache_gid_parse_type_str("IB/RoCE v1\n"), IB_GID_TYPE_IB);
	KUNIT_EXPECT_EQ(test, ib_cache_gid_parse_type_str("RoCE v2"), IB_GID_TYPE_ROCE_UDP_ENCAP);
	KUNIT_EXPECT_EQ(test, ib_cache_gid_parse_type_str("RoCE"), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_cache_gid_parse_type_str(""), -EINVAL);
}

static void port_has_gid_types(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_types");
	u32 *flags = &device->ib.port_data[1].immutable.core_cap_flags, former = *flags;

	KUNIT_EXPECT_EQ(test, roce_gid_type_mask_support(&device->ib, 1), BIT(IB_GID_TYPE_IB));
	*flags = RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	KUNIT_EXPECT_EQ(test, roce_gid_type_mask_support(&device->ib, 1),
			BIT(IB_GID_TYPE_ROCE_UDP_ENCAP));
	*flags = RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP;
	KUNIT_EXPECT_EQ(test, roce_gid_type_mask_support(&device->ib, 1),
			BIT(IB_GID_TYPE_ROCE) | BIT(IB_GID_TYPE_ROCE_UDP_ENCAP));
	*flags = former;
	test_device_gone(device);
}

/* Checks which device and port were found, and drops the reference. */
static bool found(struct ib_device *at, const u32 *port_num, struct test_device *device, u32 port)
{
	if (at)
		ib_device_put(at);
	return at == &device->ib && *port_num == port;
}

static void device_is_found_by_guid_and_gid(struct kunit *test)
{
	struct test_device *one = test_device_registered(test, "kt_one");
	struct test_device *two = test_device_registered(test, "kt_two");
	const __be64 guid = cpu_to_be64(0x0a5600000000beef), other = cpu_to_be64(0x4711);
	union ib_gid gid = { .global = { cpu_to_be64(0xfec0ULL << 48), guid } };
	u32 port = 0;

	two->ib.node_guid = cpu_to_be64(0x0a56000000000002);
	KUNIT_EXPECT_TRUE(test, found(ib_device_get_by_guid(two->ib.node_guid), &port, two, 0));
	KUNIT_EXPECT_NULL(test, ib_device_get_by_guid(other));

	two->port[2].gid[0].global.interface_id = guid;
	two->port[2].gid[1] = gid;
	refresh_after(two, IB_EVENT_GID_CHANGE, 2);
	KUNIT_EXPECT_TRUE(test, found(ib_device_get_by_port_guid(guid, &port), &port, two, 2));
	KUNIT_EXPECT_NULL(test, ib_device_get_by_port_guid(other, &port));
	KUNIT_EXPECT_TRUE(test, found(ib_device_get_by_gid(&gid, &port), &port, two, 2));
	KUNIT_EXPECT_NULL(test, ib_device_get_by_gid(&zgid, &port));

	/* A removed device is not found, and another one may take its GUID. */
	one->port[1].gid[0].global.interface_id = guid;
	refresh_after(one, IB_EVENT_GID_CHANGE, 1);
	test_device_gone(two);
	KUNIT_EXPECT_NULL(test, ib_device_get_by_gid(&gid, &port));
	KUNIT_EXPECT_TRUE(test, found(ib_device_get_by_port_guid(guid, &port), &port, one, 1));
	test_device_gone(one);
}

static int mad_result;

static int answer_mad(struct ib_device *device, int flags, u32 port_num, const struct ib_wc *wc,
		      const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		      size_t *out_size, u16 *out_pkey_index)
{
	out->mad_hdr.tid = in->mad_hdr.tid;
	out->mad_hdr.attr_mod = cpu_to_be32(port_num << 8 | flags);
	return mad_result;
}

static const struct ib_device_ops mad_ops = { .process_mad = answer_mad };

static void device_is_asked_for_mads(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_mads");
	struct ib_mad *in = kunit_kzalloc(test, 2 * sizeof(*in), GFP_KERNEL), *out = in + 1;

	KUNIT_ASSERT_NOT_NULL(test, in);
	KUNIT_EXPECT_EQ(test, ib_local_mad(&device->ib, 1, 0, in, out), -EOPNOTSUPP);
	ib_set_device_ops(&device->ib, &mad_ops);
	in->mad_hdr.tid = cpu_to_be64(0x1234);
	mad_result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	KUNIT_EXPECT_EQ(test, ib_local_mad(&device->ib, 2, IB_MAD_IGNORE_MKEY, in, out), 0);
	KUNIT_EXPECT_EQ(test, be64_to_cpu(out->mad_hdr.tid), 0x1234);
	KUNIT_EXPECT_EQ(test, be32_to_cpu(out->mad_hdr.attr_mod), 2 << 8 | IB_MAD_IGNORE_MKEY);
	KUNIT_EXPECT_EQ(test, ib_local_mad(&device->ib, TEST_PORTS + 1, 0, in, out), -EINVAL);
	mad_result = IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	KUNIT_EXPECT_EQ(test, ib_local_mad(&device->ib, 1, 0, in, out), -ENODATA);
	mad_result = IB_MAD_RESULT_SUCCESS;
	KUNIT_EXPECT_EQ(test, ib_local_mad(&device->ib, 1, 0, in, out), -EOPNOTSUPP);
	mad_result = IB_MAD_RESULT_FAILURE;
	KUNIT_EXPECT_EQ(test, ib_local_mad(&device->ib, 1, 0, in, out), -EIO);
	test_device_gone(device);
}

static struct kunit_case cache_cases[] = {
	KUNIT_CASE(gid_is_found_by_index),
	KUNIT_CASE(gid_is_found_by_value),
	KUNIT_CASE(replaced_gid_stays_with_its_users),
	KUNIT_CASE(iwarp_gid_has_its_net_device),
	KUNIT_CASE(gid_table_lists_what_is_there),
	KUNIT_CASE(pkey_is_found_with_and_without_membership),
	KUNIT_CASE(attributes_follow_events),
	KUNIT_CASE(silent_device_leaves_the_cache_as_it_was),
	KUNIT_CASE(silence_is_made_up_for),
	KUNIT_CASE(gid_type_names_are_those_users_know),
	KUNIT_CASE(port_has_gid_types),
	KUNIT_CASE(device_is_found_by_guid_and_gid),
	KUNIT_CASE(device_is_asked_for_mads),
	{}
};

static struct kunit_suite cache_suite = {
	.name = "ib_core_cache",
	.test_cases = cache_cases,
};

kunit_test_suite(cache_suite);
