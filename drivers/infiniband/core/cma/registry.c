// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The devices that rdma_cm knows, and the settings of their ports.
 */
#include <kunit/visibility.h>
#include <linux/module.h>

#include "../device/device.h"
#include "cma_priv.h"

struct ib_sa_client cma_sa_client;
DECLARE_RWSEM(cma_devices_lock);
LIST_HEAD(cma_devices);

/**
 * cma_put_device() - return a reference
 * @cma_dev: the device; may be gone when this returns
 *
 * Context: any.
 */
void cma_put_device(struct cma_device *cma_dev)
{
	if (refcount_dec_and_test(&cma_dev->refs))
		complete(&cma_dev->released);
}
EXPORT_SYMBOL_IF_KUNIT(cma_put_device);

/**
 * cma_get_device() - get rdma_cm's part of a device
 * @device: the device
 *
 * Context: may sleep.
 * Return: it, with a reference; NULL if the device goes away, or has no port for rdma_cm.
 */
struct cma_device *cma_get_device(struct ib_device *device)
{
	struct cma_device *cma_dev;

	guard(rwsem_read)(&cma_devices_lock);
	list_for_each_entry(cma_dev, &cma_devices, entry) {
		if (cma_dev->device == device) {
			refcount_inc(&cma_dev->refs);
			return cma_dev;
		}
	}
	return NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cma_get_device);

/**
 * cma_find_device() - get rdma_cm's part of the device of a name
 * @name: the device's name
 *
 * Context: may sleep.
 * Return: as cma_get_device().
 */
struct cma_device *cma_find_device(const char *name)
{
	char device_name[IB_DEVICE_NAME_MAX];
	struct cma_device *cma_dev;

	guard(rwsem_read)(&cma_devices_lock);
	list_for_each_entry(cma_dev, &cma_devices, entry) {
		ib_registry_name(cma_dev->device, device_name);
		if (!strcmp(device_name, name)) {
			refcount_inc(&cma_dev->refs);
			return cma_dev;
		}
	}
	return NULL;
}

/**
 * cma_config() - settings of a port
 * @cma_dev: the device
 * @port_num: a port that it has
 *
 * Return: the settings.
 */
struct cma_port_config *cma_config(struct cma_device *cma_dev, u32 port_num)
{
	return &cma_dev->config[port_num - rdma_start_port(cma_dev->device)];
}
EXPORT_SYMBOL_IF_KUNIT(cma_config);

/**
 * cma_gid_types() - GID types that a port has
 * @device: the device
 * @port_num: the port
 *
 * Return: a mask of bits with the numbers of enum ib_gid_type.
 */
unsigned long cma_gid_types(struct ib_device *device, u32 port_num)
{
	unsigned long types = 0;

	if (!rdma_protocol_roce(device, port_num))
		return BIT(IB_GID_TYPE_IB);
	if (rdma_protocol_roce_eth_encap(device, port_num))
		types |= BIT(IB_GID_TYPE_ROCE);
	if (rdma_protocol_roce_udp_encap(device, port_num))
		types |= BIT(IB_GID_TYPE_ROCE_UDP_ENCAP);
	return types;
}
