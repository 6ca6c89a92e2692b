// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * See test_device.h.
 */
#include <linux/module.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

#include "test_device.h"

static int answer(struct ib_device *ib, enum test_op op)
{
	struct test_device *device = container_of(ib, struct test_device, ib);

	device->calls[op]++;
	return device->fails == op && device->calls[op] > device->spares ? -EIO : 0;
}

static struct test_port *port_of(struct ib_device *ib, u32 port_num)
{
	return &container_of(ib, struct test_device, ib)->port[port_num];
}

static int query_device(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	attr->max_pkeys = TEST_PKEYS;
	return answer(ib, TEST_OP_QUERY_DEVICE);
}

static int get_port_immutable(struct ib_device *ib, u32 port_num,
			      struct ib_port_immutable *immutable)
{
	immutable->gid_tbl_len = TEST_GIDS;
	immutable->pkey_tbl_len = TEST_PKEYS;
	immutable->core_cap_flags = RDMA_CORE_CAP_PROT_IB;
	return answer(ib, TEST_OP_IMMUTABLE);
}

static int query_port(struct ib_device *ib, u32 port_num, struct ib_port_attr *attr)
{
	struct test_device *device = container_of(ib, struct test_device, ib);

	*attr = port_of(ib, port_num)->attr;
	if (device->told)
		device->told(device, port_num);
	return answer(ib, TEST_OP_QUERY_PORT);
}

static int query_gid(struct ib_device *ib, u32 port_num, int index, union ib_gid *gid)
{
	*gid = port_of(ib, port_num)->gid[index];
	return answer(ib, TEST_OP_QUERY_GID);
}

static int query_pkey(struct ib_device *ib, u32 port_num, u16 index, u16 *pkey)
{
	*pkey = port_of(ib, port_num)->pkey[index];
	return answer(ib, TEST_OP_QUERY_PKEY);
}

static int enable_driver(struct ib_device *ib)
{
	return answer(ib, TEST_OP_ENABLE);
}

static const struct rdma_stat_desc stat_descs[] = {
	{ .name = "always" },
	{ .name = "on_demand", .flags = IB_STAT_FLAG_OPTIONAL },
};

static struct rdma_hw_stats *alloc_device_stats(struct ib_device *ib)
{
	if (answer(ib, TEST_OP_DEVICE_STATS))
		return NULL;
	return rdma_alloc_hw_stats_struct(stat_descs, ARRAY_SIZE(stat_descs), 10);
}

static struct rdma_hw_stats *alloc_port_stats(struct ib_device *ib, u32 port_num)
{
	if (answer(ib, TEST_OP_PORT_STATS))
		return NULL;
	return rdma_alloc_hw_stats_struct(stat_descs, ARRAY_SIZE(stat_descs), 10);
}

static int get_hw_stats(struct ib_device *ib, struct rdma_hw_stats *stats, u32 port_num, int index)
{
	stats->value[0]++;
	return stats->num_counters;
}

static const struct ib_device_ops test_ops = {
	.owner = THIS_MODULE,
	.query_device = query_device,
	.get_port_immutable = get_port_immutable,
	.query_port = query_port,
	.query_gid = query_gid,
	.query_pkey = query_pkey,
	.enable_driver = enable_driver,
	.alloc_hw_device_stats = alloc_device_stats,
	.alloc_hw_port_stats = alloc_port_stats,
	.get_hw_stats = get_hw_stats,
};

/**
 * test_device_setup() - fill in a device that is part of another structure
 * @device: device of ib_alloc_device()
 *
 * Port P has GID 0 fe80::P and the default P_Key, and is active.
 */
void test_device_setup(struct test_device *device)
{
	device->ib.node_type = RDMA_NODE_IB_CA;
	device->ib.phys_port_cnt = TEST_PORTS;
	for (u32 port_num = 1; port_num <= TEST_PORTS; port_num++) {
		struct test_port *port = &device->port[port_num];

		port->attr.state = IB_PORT_ACTIVE;
		port->attr.lid = port_num;
		port->gid[0].global.subnet_prefix = cpu_to_be64(0xfe80ULL << 48);
		port->gid[0].global.interface_id = cpu_to_be64(port_num);
		port->pkey[0] = IB_DEFAULT_PKEY_FULL;
	}
	ib_set_device_ops(&device->ib, &test_ops);
}

/**
 * test_device_alloc() - make a device, as test_device_setup() fills it in
 *
 * Return: the device or NULL.
 */
struct test_device *test_device_alloc(void)
{
	struct test_device *device = ib_alloc_device(test_device, ib);

	if (device)
		test_device_setup(device);
	return device;
}

/**
 * test_device_registered() - make and register a device
 * @test: fails if that is not possible
 * @name: name or pattern
 *
 * Return: the device, for test_device_gone().
 */
struct test_device *test_device_registered(struct kunit *test, const char *name)
{
	struct test_device *device = test_device_alloc();
	int ret;

	KUNIT_ASSERT_NOT_NULL(test, device);
	ret = ib_register_device(&device->ib, name, NULL);
	if (ret)
		ib_dealloc_device(&device->ib);
	KUNIT_ASSERT_EQ(test, ret, 0);
	return device;
}

/**
 * test_device_gone() - unregister and free a device
 * @device: device that is registered
 */
void test_device_gone(struct test_device *device)
{
	ib_unregister_device(&device->ib);
	ib_dealloc_device(&device->ib);
}
