// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Look-ups of devices by node GUID, port GUID or GID in the whole registry.
 */
#include <rdma/ib_cache.h>
#include <rdma/rdma_ext.h>

#include "../device/device.h"

/* Returns the port of a device that matches what is sought, or 0. */
typedef u32 (*port_of_fn)(struct ib_device *device, const void *sought);

static struct ib_device *look_for(port_of_fn port_of, const void *sought, u32 *port_num)
{
	unsigned long index = 0;
	struct ib_device *device;
	u32 port;

	while ((device = ib_registry_next(&index))) {
		port = port_of(device, sought);
		if (port) {
			*port_num = port;
			return device;
		}
		ib_device_put(device);
	}
	return NULL;
}

static bool of_any_type(const union ib_gid *gid, const struct ib_gid_attr *attr, void *context)
{
	return true;
}

static u32 port_with_gid(struct ib_device *device, const void *sought)
{
	const struct ib_gid_attr *attr;
	u32 port_num;

	rdma_for_each_port(device, port_num) {
		attr = rdma_find_gid_by_filter(device, sought, port_num, of_any_type, NULL);
		if (!IS_ERR(attr)) {
			rdma_put_gid_attr(attr);
			return port_num;
		}
	}
	return 0;
}

/* The port's GUID is the lower half of an InfiniBand port's first GID. */
static u32 port_with_guid(struct ib_device *device, const void *sought)
{
	const __be64 *guid = sought;
	union ib_gid gid;
	u32 port_num;

	rdma_for_each_port(device, port_num)
		if (rdma_protocol_ib(device, port_num) &&
		    !rdma_query_gid(device, port_num, 0, &gid) && gid.global.interface_id == *guid)
			return port_num;
	return 0;
}

/**
 * ib_device_get_by_guid() - look a device up by its node GUID
 * @guid: the GUID
 *
 * Devices of all network namespaces are found: a consumer that asks for a user checks with
 * rdma_dev_access_netns().
 *
 * Context: may sleep.
 * Return: the device with a reference for ib_device_put(), or NULL.
 */
struct ib_device *ib_device_get_by_guid(__be64 guid)
{
	unsigned long index = 0;
	struct ib_device *device;

	while ((device = ib_registry_next(&index))) {
		if (device->node_guid == guid)
			return device;
		ib_device_put(device);
	}
	return NULL;
}
EXPORT_SYMBOL(ib_device_get_by_guid);

/**
 * ib_device_get_by_gid() - look for the device and the port that have a GID
 * @gid: the GID, of any type
 * @port_num: takes the number of the port
 *
 * As ib_device_get_by_guid(). Two devices may have the same GID on subnets that are not connected;
 * one of them is found.
 *
 * Context: may sleep.
 * Return: the device with a reference for ib_device_put(), or NULL.
 */
struct ib_device *ib_device_get_by_gid(const union ib_gid *gid, u32 *port_num)
{
	return rdma_is_zero_gid(gid) ? NULL : look_for(port_with_gid, gid, port_num);
}
EXPORT_SYMBOL(ib_device_get_by_gid);

/**
 * ib_device_get_by_port_guid() - look for the InfiniBand port with a GUID
 * @guid: the GUID
 * @port_num: takes the number of the port
 *
 * As ib_device_get_by_guid().
 *
 * Context: may sleep.
 * Return: the port's device with a reference for ib_device_put(), or NULL.
 */
struct ib_device *ib_device_get_by_port_guid(__be64 guid, u32 *port_num)
{
	return look_for(port_with_guid, &guid, port_num);
}
EXPORT_SYMBOL(ib_device_get_by_port_guid);
