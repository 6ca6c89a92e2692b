// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Performance counters: the folder counters/ of a port whose driver answers MADs.
 *
 * Reading a file sends the port a Get() of PortCounters or PortCountersExtended. Which of the two
 * has the traffic counters is known from the port's ClassPortInfo: it tells whether there are
 * 64-bit counters, and whether unicast and multicast packets are counted separately.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <linux/sysfs.h>
#include <linux/unaligned.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_pma.h>
#include <rdma/rdma_ext.h>
#include <rdma/ib_sysfs.h>

#include "sysfs_priv.h"

/* Offset of attributes in the data of a performance management MAD. */
#define PMA_DATA 40
/* PortSelect, the second byte of both attributes. */
#define PMA_PORT_SELECT (PMA_DATA + 1)

/* Kinds of ports, by the counters that they have */
enum pma_kind {
	PMA_BASIC = BIT(0),
	PMA_WIDE = BIT(1),
	PMA_WIDE_CASTS = BIT(2),
	PMA_ALL = PMA_BASIC | PMA_WIDE | PMA_WIDE_CASTS,
};

/**
 * struct pma_counter - a file in counters/
 * @attr: name, mode and functions
 * @kinds: kinds of ports that have the counter, PMA_*
 * @extended: in PortCountersExtended rather than PortCounters
 * @offset: bits from the beginning of the attribute
 * @width: width in bits
 */
struct pma_counter {
	struct ib_port_attribute attr;
	u8 kinds;
	bool extended;
	u16 offset;
	u8 width;
};

/**
 * struct ib_pma_counters - the folder counters/ of a port
 * @group: the folder
 * @list: attributes of @group, NULL at the end
 */
struct ib_pma_counters {
	struct attribute_group group;
	struct attribute *list[];
};

static int get_attribute(struct ib_device *device, u32 port_num, __be16 attr_id, u8 *data,
			 size_t size)
{
	struct ib_mad *request __free(kfree) = kzalloc(sizeof(*request), GFP_KERNEL);
	struct ib_mad *reply __free(kfree) = kzalloc(sizeof(*reply), GFP_KERNEL);

	if (!request || !reply)
		return -ENOMEM;
	request->mad_hdr.base_version = IB_MGMT_BASE_VERSION;
	request->mad_hdr.mgmt_class = IB_MGMT_CLASS_PERF_MGMT;
	request->mad_hdr.class_version = 1;
	request->mad_hdr.method = IB_MGMT_METHOD_GET;
	request->mad_hdr.attr_id = attr_id;
	if (attr_id != IB_PMA_CLASS_PORT_INFO)
		request->data[PMA_PORT_SELECT] = port_num;
	if (ib_local_mad(device, port_num, IB_MAD_IGNORE_MKEY, request, reply))
		return -EINVAL;
	memcpy(data, reply->data + PMA_DATA, size);
	return 0;
}

/*
 * Fields are in network byte order; a field of four bits is the high or the low half of its byte.
 */
static u64 field(const u8 *data, unsigned int offset, unsigned int width)
{
	const u8 *at = data + offset / 8;

	switch (width) {
	case 4:
		return offset % 8 ? *at & 0xf : *at >> 4;
	case 8:
		return *at;
	case 16:
		return get_unaligned_be16(at);
	case 32:
		return get_unaligned_be32(at);
	default:
		return get_unaligned_be64(at);
	}
}

static ssize_t pma_counter_show(struct ib_device *device, u32 port_num,
				struct ib_port_attribute *attr, char *buf)
{
	struct pma_counter *counter = container_of(attr, struct pma_counter, attr);
	u8 data[IB_MGMT_MAD_DATA - PMA_DATA];
	int ret;

	ret = get_attribute(device, port_num,
			    counter->extended ? IB_PMA_PORT_COUNTERS_EXT : IB_PMA_PORT_COUNTERS,
			    data, sizeof(data));
	return ret ?: sysfs_emit(buf, "%llu\n", field(data, counter->offset, counter->width));
}

#define PMA_COUNTER(_name, _kinds, _extended, _offset, _width)                                     \
	{                                                                                          \
		.attr = __ATTR(_name, 0444, pma_counter_show, NULL),                               \
		.kinds = (_kinds),                                                                 \
		.extended = (_extended),                                                           \
		.offset = (_offset),                                                               \
		.width = (_width),                                                                 \
	}

static struct pma_counter pma_counters[] = {
	PMA_COUNTER(symbol_error, PMA_ALL, false, 32, 16),
	PMA_COUNTER(link_error_recovery, PMA_ALL, false, 48, 8),
	PMA_COUNTER(link_downed, PMA_ALL, false, 56, 8),
	PMA_COUNTER(port_rcv_errors, PMA_ALL, false, 64, 16),
	PMA_COUNTER(port_rcv_remote_physical_errors, PMA_ALL, false, 80, 16),
	PMA_COUNTER(port_rcv_switch_relay_errors, PMA_ALL, false, 96, 16),
	PMA_COUNTER(port_xmit_discards, PMA_ALL, false, 112, 16),
	PMA_COUNTER(port_xmit_constraint_errors, PMA_ALL, false, 128, 8),
	PMA_COUNTER(port_rcv_constraint_errors, PMA_ALL, false, 136, 8),
	PMA_COUNTER(local_link_integrity_errors, PMA_ALL, false, 152, 4),
	PMA_COUNTER(excessive_buffer_overrun_errors, PMA_ALL, false, 156, 4),
	PMA_COUNTER(VL15_dropped, PMA_ALL, false, 176, 16),
	PMA_COUNTER(port_xmit_wait, PMA_ALL, false, 320, 32),

	PMA_COUNTER(port_xmit_data, PMA_BASIC, false, 192, 32),
	PMA_COUNTER(port_rcv_data, PMA_BASIC, false, 224, 32),
	PMA_COUNTER(port_xmit_packets, PMA_BASIC, false, 256, 32),
	PMA_COUNTER(port_rcv_packets, PMA_BASIC, false, 288, 32),

	PMA_COUNTER(port_xmit_data, PMA_WIDE | PMA_WIDE_CASTS, true, 64, 64),
	PMA_COUNTER(port_rcv_data, PMA_WIDE | PMA_WIDE_CASTS, true, 128, 64),
	PMA_COUNTER(port_xmit_packets, PMA_WIDE | PMA_WIDE_CASTS, true, 192, 64),
	PMA_COUNTER(port_rcv_packets, PMA_WIDE | PMA_WIDE_CASTS, true, 256, 64),
	PMA_COUNTER(unicast_xmit_packets, PMA_WIDE_CASTS, true, 320, 64),
	PMA_COUNTER(unicast_rcv_packets, PMA_WIDE_CASTS, true, 384, 64),
	PMA_COUNTER(multicast_xmit_packets, PMA_WIDE_CASTS, true, 448, 64),
	PMA_COUNTER(multicast_rcv_packets, PMA_WIDE_CASTS, true, 512, 64),
};

static enum pma_kind port_kind(struct ib_device *device, u32 port_num)
{
	struct ib_class_port_info info;

	/*
	 * If the port does not answer, it is taken to have only the counters that every port must
	 * have.
	 */
	if (get_attribute(device, port_num, IB_PMA_CLASS_PORT_INFO, (u8 *)&info, sizeof(info)))
		return PMA_BASIC;
	if (info.capability_mask & IB_PMA_CLASS_CAP_EXT_WIDTH)
		return PMA_WIDE_CASTS;
	if (info.capability_mask & IB_PMA_CLASS_CAP_EXT_WIDTH_NOIETF)
		return PMA_WIDE;
	return PMA_BASIC;
}

/**
 * ib_pma_counters_alloc() - allocate the performance counters of a port
 * @device: the device
 * @port_num: number of the port
 *
 * Return: the counters for kfree(), NULL if the driver answers no MADs, or ERR_PTR(-ENOMEM).
 */
struct ib_pma_counters *ib_pma_counters_alloc(struct ib_device *device, u32 port_num)
{
	struct ib_pma_counters *counters;
	enum pma_kind kind;
	size_t files = 0;

	if (!device->ops.process_mad)
		return NULL;
	counters = kzalloc(struct_size(counters, list, ARRAY_SIZE(pma_counters) + 1), GFP_KERNEL);
	if (!counters)
		return ERR_PTR(-ENOMEM);
	kind = port_kind(device, port_num);
	for (size_t i = 0; i < ARRAY_SIZE(pma_counters); i++)
		if (pma_counters[i].kinds & kind)
			counters->list[files++] = &pma_counters[i].attr.attr;
	counters->group.name = "counters";
	counters->group.attrs = counters->list;
	return counters;
}
EXPORT_SYMBOL_IF_KUNIT(ib_pma_counters_alloc);

/**
 * ib_pma_counters_group() - get the attribute group of performance counters
 * @counters: the counters
 *
 * Return: the attribute group, valid as long as @counters.
 */
const struct attribute_group *ib_pma_counters_group(const struct ib_pma_counters *counters)
{
	return &counters->group;
}
EXPORT_SYMBOL_IF_KUNIT(ib_pma_counters_group);
