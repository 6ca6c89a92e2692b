// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ports of a device: what never changes, and what the driver is asked for.
 */
#include <linux/cleanup.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_reject.h>

#include "../cache/cache.h"
#include "internal.h"

/* Walkers of the net device table reach a port's core part under RCU. */
struct rdma_port_cores {
	struct rcu_head rcu;
	struct rdma_port_core port[];
};

static unsigned int port_slots(const struct ib_device *device)
{
	return rdma_end_port(device) + 1;
}

/**
 * ib_ports_setup - make the ports of a device
 * @device: the device, with its port count set; ports made earlier are kept
 *
 * Return: 0, -ENOMEM, or -EINVAL for an impossible number of ports.
 */
int ib_ports_setup(struct ib_device *device)
{
	unsigned int slots = port_slots(device);
	struct rdma_port_cores *cores;
	struct ib_port_data *data;
	u32 port_num;

	if (device->port_data)
		return 0;
	if (device->phys_port_cnt > RDMA_MAX_PORTS)
		return -EINVAL;

	data = kcalloc(slots, sizeof(*data), GFP_KERNEL);
	cores = kzalloc(struct_size(cores, port, slots), GFP_KERNEL);
	if (!data || !cores) {
		kfree(cores);
		kfree(data);
		return -ENOMEM;
	}
	for (port_num = 0; port_num < slots; port_num++) {
		struct rdma_port_core *core = &cores->port[port_num];

		data[port_num].ib_dev = device;
		data[port_num].core = core;
		core->device = device;
		core->port_num = port_num;
		spin_lock_init(&core->netdev_lock);
		INIT_HLIST_NODE(&core->netdev_link);
	}

	device->port_data = data;
	rdma_counter_init(device);
	return 0;
}

/**
 * ib_ports_read_immutable - ask the driver for what never changes about its ports
 * @device: device with ports, being registered
 *
 * Return: 0, -EINVAL for an unusable description, or what the driver returned.
 */
int ib_ports_read_immutable(struct ib_device *device)
{
	u32 port_num;
	int ret;

	if (!device->ops.get_port_immutable)
		return -EINVAL;
	rdma_for_each_port(device, port_num) {
		struct ib_port_immutable *immutable = &device->port_data[port_num].immutable;

		ret = device->ops.get_port_immutable(device, port_num, immutable);
		if (ret)
			return ret;
		if (immutable->max_mad_size && !rdma_cap_ib_mad(device, port_num)) {
			ibdev_err(device, "port %u has MADs of %u bytes but cannot do them\n",
				  port_num, immutable->max_mad_size);
			return -EINVAL;
		}
	}
	return 0;
}

/**
 * ib_ports_release - free the ports
 * @device: device that has them; no port is in the net device table
 */
void ib_ports_release(struct ib_device *device)
{
	struct rdma_port_cores *cores =
		container_of(device->port_data[0].core, struct rdma_port_cores, port[0]);

	rdma_counter_release(device);
	kfree(device->port_data);
	device->port_data = NULL;
	kfree_rcu(cores, rcu);
}

/**
 * ib_port_immutable_read - what never changes about a port
 * @dev: registered device
 * @port: valid port number
 *
 * Context: any.
 * Return: a pointer that lives as long as the device.
 */
const struct ib_port_immutable *ib_port_immutable_read(struct ib_device *dev, unsigned int port)
{
	WARN_ON(!rdma_is_port_valid(dev, port));
	return &dev->port_data[port].immutable;
}
EXPORT_SYMBOL(ib_port_immutable_read);

/* An iWARP port is as good as its net device: usable with a link and an IPv4 address. */
static int query_iwarp_port(struct ib_device *device, u32 port_num, struct ib_port_attr *attr)
{
	struct net_device *netdev = ib_device_get_netdev(device, port_num);
	struct in_device *in_dev;

	if (!netdev)
		return -ENODEV;
	attr->max_mtu = IB_MTU_4096;
	attr->active_mtu = ib_mtu_int_to_enum(netdev->mtu);
	attr->state = IB_PORT_DOWN;
	attr->phys_state = IB_PORT_PHYS_STATE_DISABLED;
	if (netif_carrier_ok(netdev)) {
		attr->state = IB_PORT_INIT;
		attr->phys_state = IB_PORT_PHYS_STATE_PORT_CONFIGURATION_TRAINING;
		scoped_guard(rcu) {
			in_dev = __in_dev_get_rcu(netdev);
			if (in_dev && rcu_access_pointer(in_dev->ifa_list)) {
				attr->state = IB_PORT_ACTIVE;
				attr->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
			}
		}
	}
	dev_put(netdev);
	return device->ops.query_port(device, port_num, attr);
}

/**
 * ib_query_port - ask the driver for the attributes of a port
 * @device: device that is registered or being registered
 * @port_num: port number
 * @port_attr: filled in on success
 *
 * Context: may sleep.
 * Return: 0, -EINVAL for a port the device has not, or the driver's error.
 */
int ib_query_port(struct ib_device *device, u32 port_num, struct ib_port_attr *port_attr)
{
	int ret;

	if (!rdma_is_port_valid(device, port_num))
		return rdma_refuse(-EINVAL, "port %u is not one of %u to %u", port_num,
				   rdma_start_port(device), rdma_end_port(device));
	memset(port_attr, 0, sizeof(*port_attr));
	if (rdma_protocol_iwarp(device, port_num))
		return query_iwarp_port(device, port_num, port_attr);
	ret = device->ops.query_port(device, port_num, port_attr);
	if (!ret && !port_attr->subnet_prefix &&
	    rdma_port_get_link_layer(device, port_num) == IB_LINK_LAYER_INFINIBAND)
		ib_get_cached_subnet_prefix(device, port_num, &port_attr->subnet_prefix);
	return ret;
}
EXPORT_SYMBOL(ib_query_port);

/**
 * rdma_port_get_link_layer - link layer of a port
 * @device: the device
 * @port_num: valid port number
 *
 * Context: any.
 * Return: what the driver says, else what follows from the node type.
 */
enum rdma_link_layer rdma_port_get_link_layer(struct ib_device *device, u32 port_num)
{
	if (device->ops.get_link_layer)
		return device->ops.get_link_layer(device, port_num);
	if (rdma_node_get_transport(device->node_type) == RDMA_TRANSPORT_IB)
		return IB_LINK_LAYER_INFINIBAND;
	return IB_LINK_LAYER_ETHERNET;
}
EXPORT_SYMBOL(rdma_port_get_link_layer);

/**
 * ib_query_pkey - ask the driver for an entry of a port's P_Key table
 * @device: the device
 * @port_num: port number
 * @index: index into the table
 * @pkey: the P_Key, in host byte order
 *
 * Context: may sleep. ib_get_cached_pkey() answers without asking the driver.
 * Return: 0, -EINVAL for a bad port, -EOPNOTSUPP if the device has no P_Keys, or the driver's
 * error.
 */
int ib_query_pkey(struct ib_device *device, u32 port_num, u16 index, u16 *pkey)
{
	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;
	if (!device->ops.query_pkey)
		return -EOPNOTSUPP;
	return device->ops.query_pkey(device, port_num, index, pkey);
}
EXPORT_SYMBOL(ib_query_pkey);

/**
 * ib_find_pkey - index of a P_Key, asking the driver
 * @device: the device
 * @port_num: port number
 * @pkey: the P_Key; membership does not count, but a full member is preferred
 * @index: where it stands
 *
 * Context: may sleep.
 * Return: 0, -ENOENT if the table does not hold it, or the driver's error.
 */
int ib_find_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 *index)
{
	int limited = -1;
	u16 entry;
	int ret;
	int i;

	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;
	for (i = 0; i < device->port_data[port_num].immutable.pkey_tbl_len; i++) {
		ret = ib_query_pkey(device, port_num, i, &entry);
		if (ret)
			return ret;
		if ((entry ^ pkey) & 0x7fff)
			continue;
		if (entry & 0x8000) {
			*index = i;
			return 0;
		}
		if (limited < 0)
			limited = i;
	}
	if (limited < 0)
		return -ENOENT;
	*index = limited;
	return 0;
}
EXPORT_SYMBOL(ib_find_pkey);

/**
 * ib_find_gid - port and index of a GID among the InfiniBand and iWARP ports
 * @device: the device
 * @gid: the GID
 * @port_num: port that has it
 * @index: where it stands; may be NULL
 *
 * RoCE ports are left out since one GID stands there once for each type. Context: may sleep.
 * Return: 0, or -ENOENT.
 */
int ib_find_gid(struct ib_device *device, union ib_gid *gid, u32 *port_num, u16 *index)
{
	union ib_gid entry;
	u32 port;
	int i;

	rdma_for_each_port(device, port) {
		if (!rdma_protocol_ib(device, port) && !rdma_protocol_iwarp(device, port))
			continue;
		for (i = 0; i < device->port_data[port].immutable.gid_tbl_len; i++) {
			if (rdma_query_gid(device, port, i, &entry) ||
			    memcmp(&entry, gid, sizeof(entry)))
				continue;
			*port_num = port;
			if (index)
				*index = i;
			return 0;
		}
	}
	return -ENOENT;
}
EXPORT_SYMBOL(ib_find_gid);

/**
 * ib_modify_device - change the node description or the system image GUID
 * @device: the device
 * @device_modify_mask: enum ib_device_modify_flags, what to change
 * @device_modify: new values
 *
 * Context: may sleep.
 * Return: 0, -EOPNOTSUPP, or the driver's error.
 */
int ib_modify_device(struct ib_device *device, int device_modify_mask,
		     struct ib_device_modify *device_modify)
{
	if (!device->ops.modify_device)
		return -EOPNOTSUPP;
	return device->ops.modify_device(device, device_modify_mask, device_modify);
}
EXPORT_SYMBOL(ib_modify_device);

/**
 * ib_modify_port - change capability bits of a port, or reset its counters of Q_Key violations
 * @device: the device
 * @port_num: port number
 * @port_modify_mask: enum ib_port_modify_flags, what to change
 * @port_modify: new values
 *
 * Context: may sleep.
 * Return: 0, -EINVAL for a bad port, -EOPNOTSUPP if the driver cannot, or the
 * driver's error.
 */
int ib_modify_port(struct ib_device *device, u32 port_num, int port_modify_mask,
		   struct ib_port_modify *port_modify)
{
	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;
	if (device->ops.modify_port)
		return device->ops.modify_port(device, port_num, port_modify_mask, port_modify);
	/* The CM announces itself on every port; on RoCE there is nobody to announce it to. */
	if (rdma_protocol_roce(device, port_num) &&
	    !((port_modify->set_port_cap_mask | port_modify->clr_port_cap_mask) & ~IB_PORT_CM_SUP))
		return 0;
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_modify_port);

/**
 * ib_get_device_fw_str - version of the device's firmware
 * @device: the device
 * @str: at least IB_FW_VERSION_NAME_MAX bytes; empty if the driver does not tell
 *
 * Context: may sleep.
 */
void ib_get_device_fw_str(struct ib_device *device, char *str)
{
	str[0] = '\0';
	if (device->ops.get_dev_fw_str)
		device->ops.get_dev_fw_str(device, str);
}
EXPORT_SYMBOL(ib_get_device_fw_str);
