// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: unregistration by the driver other than from its own removal, and queries of the driver,
 * its devices and their clients.
 */
#include <kunit/test.h>
#include <linux/netdevice.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "test_device.h"

/* A driver without devices on this machine. */
#define DRIVER	RDMA_DRIVER_USNIC

static unsigned int deallocated;

static void dealloc_driver(struct ib_device *device)
{
	deallocated++;
}

static const struct ib_device_ops driver_ops = {
	.driver_id = DRIVER,
	.dealloc_driver = dealloc_driver,
};

/* A registered device that the core frees. */
static struct test_device *driven(struct kunit *test, const char *name)
{
	struct test_device *device = test_device_alloc();
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, device);
	ib_set_device_ops(&device->ib, &driver_ops);
	ret = ib_register_device(&device->ib, name, NULL);
	if (ret)
		ib_dealloc_device(&device->ib);
	KUNIT_ASSERT_EQ(test, ret, 0);
	return device;
}

static bool there(const char *name)
{
	struct ib_device *device = ib_device_get_by_name(name, RDMA_DRIVER_UNKNOWN);

	if (device)
		ib_device_put(device);
	return device;
}

static int begin(struct kunit *test)
{
	deallocated = 0;
	return 0;
}

/* The reference of the look-up is consumed: otherwise this would wait for ever. */
static void and_put(struct kunit *test)
{
	struct ib_device *found;

	driven(test, "kt_put");
	found = ib_device_get_by_name("kt_put", DRIVER);
	KUNIT_ASSERT_NOT_NULL(test, found);
	ib_unregister_device_and_put(found);
	KUNIT_EXPECT_EQ(test, deallocated, 1);
	KUNIT_EXPECT_FALSE(test, there("kt_put"));
}

/*
 * The device is unregistered once, when the last reference is dropped, however often that was
 * queued.
 */
static void queued(struct kunit *test)
{
	struct test_device *device = driven(test, "kt_queued");

	KUNIT_ASSERT_TRUE(test, ib_device_try_get(&device->ib));
	ib_unregister_device_queued(&device->ib);
	ib_unregister_device_queued(&device->ib);
	KUNIT_EXPECT_EQ(test, deallocated, 0);
	ib_device_put(&device->ib);
	/* This waits for queued unregistrations. */
	ib_unregister_driver(DRIVER);
	KUNIT_EXPECT_EQ(test, deallocated, 1);
	KUNIT_EXPECT_FALSE(test, there("kt_queued"));
}

static void all_of_a_driver(struct kunit *test)
{
	struct test_device *other = test_device_registered(test, "kt_other");

	for (unsigned int i = 0; i < 3; i++)
		driven(test, "kt_mine%d");
	ib_unregister_driver(DRIVER);
	KUNIT_EXPECT_EQ(test, deallocated, 3);
	KUNIT_EXPECT_FALSE(test, there("kt_mine0"));
	KUNIT_EXPECT_FALSE(test, there("kt_mine2"));
	KUNIT_EXPECT_TRUE(test, there("kt_other"));
	/* Without devices there is nothing to do. */
	ib_unregister_driver(DRIVER);
	KUNIT_EXPECT_EQ(test, deallocated, 3);
	test_device_gone(other);
}

static void get_dev_fw_str(struct ib_device *device, char *str)
{
	snprintf(str, IB_FW_VERSION_NAME_MAX, "%d.%d of %s", 47, 11, dev_name(&device->dev));
}

static const struct ib_device_ops firmware_ops = {
	.get_dev_fw_str = get_dev_fw_str,
};

static void firmware(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_fw");
	char str[IB_FW_VERSION_NAME_MAX] = "before";

	ib_get_device_fw_str(&device->ib, str);
	KUNIT_EXPECT_STREQ(test, str, "");
	ib_set_device_ops(&device->ib, &firmware_ops);
	ib_get_device_fw_str(&device->ib, str);
	KUNIT_EXPECT_STREQ(test, str, "47.11 of kt_fw");
	test_device_gone(device);
}

/* The constant attributes that the driver gave when the device was registered. */
static void immutable(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_port");
	const struct ib_port_immutable *found[TEST_PORTS + 1] = {};

	for (unsigned int port = 1; port <= TEST_PORTS; port++) {
		found[port] = ib_port_immutable_read(&device->ib, port);
		KUNIT_ASSERT_NOT_NULL(test, found[port]);
		KUNIT_EXPECT_EQ(test, found[port]->gid_tbl_len, TEST_GIDS);
		KUNIT_EXPECT_EQ(test, found[port]->pkey_tbl_len, TEST_PKEYS);
		KUNIT_EXPECT_EQ(test, found[port]->core_cap_flags, RDMA_CORE_CAP_PROT_IB);
		KUNIT_EXPECT_PTR_NE(test, found[port], found[port - 1]);
	}
	test_device_gone(device);
}

static void transports(struct kunit *test)
{
	static const struct {
		u8 node;
		enum rdma_transport_type transport;
	} known[] = {
		{ RDMA_NODE_IB_CA, RDMA_TRANSPORT_IB },
		{ RDMA_NODE_IB_SWITCH, RDMA_TRANSPORT_IB },
		{ RDMA_NODE_IB_ROUTER, RDMA_TRANSPORT_IB },
		{ RDMA_NODE_RNIC, RDMA_TRANSPORT_IWARP },
		{ RDMA_NODE_USNIC, RDMA_TRANSPORT_USNIC },
		{ RDMA_NODE_USNIC_UDP, RDMA_TRANSPORT_USNIC_UDP },
		{ RDMA_NODE_UNSPECIFIED, RDMA_TRANSPORT_UNSPECIFIED },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++)
		KUNIT_EXPECT_EQ_MSG(test, rdma_node_get_transport(known[i].node),
				    known[i].transport, "node type %u", known[i].node);
}

/* A client that has an interface on one port, or a client that is asked before it and has none. */
struct asked_client {
	struct ib_client client;
	unsigned int asked;
	u16 pkey;
	const union ib_gid *gid;
	const struct sockaddr *addr;
};

static int client_add(struct ib_device *device)
{
	return 0;
}

static struct net_device *no_interface(struct ib_device *device, u32 port, u16 pkey,
				       const union ib_gid *gid, const struct sockaddr *addr,
				       void *client_data)
{
	struct asked_client *asked = client_data;

	asked->asked++;
	return NULL;
}

static struct net_device *interface(struct ib_device *device, u32 port, u16 pkey,
				    const union ib_gid *gid, const struct sockaddr *addr,
				    void *client_data)
{
	struct asked_client *asked = client_data;

	asked->asked++;
	asked->pkey = pkey;
	asked->gid = gid;
	asked->addr = addr;
	if (port != 2)
		return NULL;
	dev_hold(init_net.loopback_dev);
	return init_net.loopback_dev;
}

/* Each client is asked until one has the interface; its reference is the caller's. */
static void interfaces_of_clients(struct kunit *test)
{
	struct asked_client first = {
		.client = { .name = "kt_first", .add = client_add, .no_kverbs_req = true,
			    .get_net_dev_by_params = no_interface },
	}, second = {
		.client = { .name = "kt_second", .add = client_add, .no_kverbs_req = true,
			    .get_net_dev_by_params = interface },
	};
	struct test_device *device = test_device_registered(test, "kt_params");
	struct net_device *loopback = init_net.loopback_dev;
	int references = netdev_refcnt_read(loopback);
	struct sockaddr addr = {};
	union ib_gid gid = {};

	KUNIT_ASSERT_EQ(test, ib_register_client(&first.client), 0);
	KUNIT_ASSERT_EQ(test, ib_register_client(&second.client), 0);
	ib_set_client_data(&device->ib, &first.client, &first);
	ib_set_client_data(&device->ib, &second.client, &second);
	KUNIT_EXPECT_NULL(test, ib_get_net_dev_by_params(&device->ib, 1, 0x8001, &gid, &addr));
	KUNIT_EXPECT_EQ(test, first.asked, 1);
	KUNIT_EXPECT_EQ(test, second.asked, 1);
	KUNIT_EXPECT_PTR_EQ(test, ib_get_net_dev_by_params(&device->ib, 2, 0x8001, &gid, &addr),
			    loopback);
	KUNIT_EXPECT_EQ(test, netdev_refcnt_read(loopback), references + 1);
	dev_put(loopback);
	KUNIT_EXPECT_EQ(test, second.asked, 2);
	KUNIT_EXPECT_EQ(test, second.pkey, 0x8001);
	KUNIT_EXPECT_PTR_EQ(test, second.gid, &gid);
	KUNIT_EXPECT_PTR_EQ(test, second.addr, &addr);

	ib_unregister_client(&second.client);
	KUNIT_EXPECT_NULL(test, ib_get_net_dev_by_params(&device->ib, 2, 0x8001, NULL, &addr));
	KUNIT_EXPECT_EQ(test, first.asked, 3);
	ib_unregister_client(&first.client);
	test_device_gone(device);
}

/*
 * Ports without an operation for it: only on RoCE, and not setting some bits while clearing others.
 */
static void announcements(struct kunit *test)
{
	struct test_device *device = test_device_registered(test, "kt_announced");
	struct ib_port_modify change = { .set_port_cap_mask = IB_PORT_DEVICE_MGMT_SUP };

	KUNIT_EXPECT_EQ(test, ib_modify_port(&device->ib, 0, 0, &change), -EINVAL);
	KUNIT_EXPECT_EQ(test, ib_modify_port(&device->ib, 1, 0, &change), -EOPNOTSUPP);
	device->ib.port_data[1].immutable.core_cap_flags = RDMA_CORE_PORT_IBA_ROCE;
	KUNIT_EXPECT_EQ(test, ib_modify_port(&device->ib, 1, 0, &change), 0);
	change.clr_port_cap_mask = IB_PORT_CM_SUP;
	KUNIT_EXPECT_EQ(test, ib_modify_port(&device->ib, 1, 0, &change), 0);
	change.clr_port_cap_mask = IB_PORT_SM;
	KUNIT_EXPECT_EQ(test, ib_modify_port(&device->ib, 1, 0, &change), -EOPNOTSUPP);
	test_device_gone(device);
}

static struct kunit_case driver_cases[] = {
	KUNIT_CASE(and_put),
	KUNIT_CASE(queued),
	KUNIT_CASE(all_of_a_driver),
	KUNIT_CASE(firmware),
	KUNIT_CASE(immutable),
	KUNIT_CASE(transports),
	KUNIT_CASE(interfaces_of_clients),
	KUNIT_CASE(announcements),
	{}
};

static struct kunit_suite driver_suite = {
	.name = "ib_core_driver",
	.init = begin,
	.test_cases = driver_cases,
};

kunit_test_suite(driver_suite);
