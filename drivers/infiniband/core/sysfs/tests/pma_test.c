// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * KUnit: performance counters as sysfs shows them.
 */
#include <kunit/test.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/ib_sysfs.h>

#include "../sysfs_priv.h"
#include "../../device/tests/test_device.h"

/*
 * What the port of the running test reports: its capabilities, and whether it answers for counters
 */
static __be16 capabilities;
static bool silent;

/* Byte N of the MAD's data is N, so that a field's value shows its offset. */
static int process_mad(struct ib_device *device, int flags, u32 port_num, const struct ib_wc *wc,
		       const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		       size_t *out_size, u16 *pkey_index)
{
	struct ib_class_port_info *info = (struct ib_class_port_info *)&out->data[40];

	for (unsigned int i = 0; i < sizeof(out->data); i++)
		out->data[i] = i;
	if (in->mad_hdr.attr_id == IB_PMA_CLASS_PORT_INFO)
		info->capability_mask = capabilities;
	else if (in->data[41] != port_num || silent)
		return IB_MAD_RESULT_FAILURE;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}

static const struct ib_device_ops mad_ops = {
	.process_mad = process_mad,
};

/* The value in a file, or a negative errno; -ENOENT if the group has no such file */
static long long read_counter(struct kunit *test, struct test_device *device,
			      const struct attribute_group *group, const char *name)
{
	char *buf = kunit_kzalloc(test, PAGE_SIZE, GFP_KERNEL);
	unsigned long long value;
	ssize_t len;

	KUNIT_ASSERT_NOT_NULL(test, buf);
	for (struct attribute **attr = group->attrs; *attr; attr++) {
		struct ib_port_attribute *port_attr =
			container_of(*attr, struct ib_port_attribute, attr);

		if (strcmp((*attr)->name, name))
			continue;
		len = port_attr->show(&device->ib, 2, port_attr, buf);
		if (len < 0)
			return len;
		KUNIT_EXPECT_EQ(test, kstrtoull(buf, 10, &value), 0);
		return value;
	}
	return -ENOENT;
}

static void counters_are_read_from_their_places(struct kunit *test)
{
	struct test_device *device = test_device_alloc();
	const struct attribute_group *group;
	struct ib_pma_counters *counters;

	KUNIT_ASSERT_NOT_NULL(test, device);
	KUNIT_EXPECT_NULL(test, ib_pma_counters_alloc(&device->ib, 2));
	ib_set_device_ops(&device->ib, &mad_ops);

	silent = false;
	capabilities = 0;
	counters = ib_pma_counters_alloc(&device->ib, 2);
	KUNIT_ASSERT_NOT_NULL(test, counters);
	group = ib_pma_counters_group(counters);
	KUNIT_EXPECT_STREQ(test, group->name, "counters");
	/* Bit 32 of the attribute is in byte 44 of the data. */
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "symbol_error"), 0x2c2d);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "link_downed"), 0x2f);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "local_link_integrity_errors"),
			0x3b >> 4);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "excessive_buffer_overrun_errors"),
			0x3b & 0xf);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "port_xmit_data"), 0x40414243);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "port_xmit_wait"), 0x50515253);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "unicast_xmit_packets"), -ENOENT);
	silent = true;
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "symbol_error"), -EINVAL);
	kfree(counters);
	ib_dealloc_device(&device->ib);
}

static void port_says_how_wide_its_counters_are(struct kunit *test)
{
	struct test_device *device = test_device_alloc();
	const struct attribute_group *group;
	struct ib_pma_counters *counters;

	KUNIT_ASSERT_NOT_NULL(test, device);
	ib_set_device_ops(&device->ib, &mad_ops);
	silent = false;
	capabilities = IB_PMA_CLASS_CAP_EXT_WIDTH;
	counters = ib_pma_counters_alloc(&device->ib, 2);
	KUNIT_ASSERT_NOT_NULL(test, counters);
	group = ib_pma_counters_group(counters);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "symbol_error"), 0x2c2d);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "port_xmit_data"),
			0x3031323334353637);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "multicast_rcv_packets"),
			0x68696a6b6c6d6e6f);
	kfree(counters);

	capabilities = IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF;
	counters = ib_pma_counters_alloc(&device->ib, 2);
	KUNIT_ASSERT_NOT_NULL(test, counters);
	group = ib_pma_counters_group(counters);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "port_rcv_packets"),
			0x48494a4b4c4d4e4f);
	KUNIT_EXPECT_EQ(test, read_counter(test, device, group, "multicast_rcv_packets"), -ENOENT);
	kfree(counters);
	ib_dealloc_device(&device->ib);
}

static struct kunit_case pma_cases[] = {
	KUNIT_CASE(counters_are_read_from_their_places),
	KUNIT_CASE(port_says_how_wide_its_counters_are),
	{}
};

static struct kunit_suite pma_suite = {
	.name = "ib_core_pma",
	.test_cases = pma_cases,
};

kunit_test_suite(pma_suite);
