// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Queries of a device and its ports to the driver, and changes that the driver is to make.
 */
#include <linux/cleanup.h>
#include <linux/inetdevice.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_ext.h>
#include <rdma/rdma_reject.h>

#include "device.h"

/* An iWARP port is active when its net device has a link and an IPv4 address. */
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
 * ib_query_port() - ask the driver for the attributes of a port
 * @device: device that is registered or being registered
 * @port_num: port number
 * @port_attr: filled in on success
 *
 * Context: may sleep.
 * Return: 0, -EINVAL for a port that the device does not have, or the driver's error.
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
		port_attr->subnet_prefix = READ_ONCE(rdma_port(device, port_num)->subnet_prefix);
	return ret;
}
EXPORT_SYMBOL(ib_query_port);

/**
 * rdma_node_get_transport() - transport of a type of node
 * @node_type: enum rdma_node_type
 *
 * Return: the transport.
 */
__attribute_const__ enum rdma_transport_type rdma_node_get_transport(unsigned int node_type)
{
	static const struct {
		u8 node;
		u8 transport;
	} foreign[] = {
		{ RDMA_NODE_RNIC, RDMA_TRANSPORT_IWARP },
		{ RDMA_NODE_USNIC, RDMA_TRANSPORT_USNIC },
		{ RDMA_NODE_USNIC_UDP, RDMA_TRANSPORT_USNIC_UDP },
		{ RDMA_NODE_UNSPECIFIED, RDMA_TRANSPORT_UNSPECIFIED },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(foreign); i++)
		if (foreign[i].node == node_type)
			return foreign[i].transport;
	return RDMA_TRANSPORT_IB;
}
EXPORT_SYMBOL(rdma_node_get_transport);

/**
 * rdma_port_get_link_layer() - link layer of a port
 * @device: the device
 * @port_num: valid port number
 *
 * Context: any.
 * Return: the driver's answer, or else the link layer that follows from the node type.
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
 * ib_query_pkey() - ask the driver for an entry of a port's P_Key table
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
	return device->ops.query_pkey ? device->ops.query_pkey(device, port_num, index, pkey) :
					-EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_query_pkey);

/**
 * ib_find_pkey() - index of a P_Key, asking the driver
 * @device: the device
 * @port_num: port number
 * @pkey: the P_Key; membership is ignored, but full membership is preferred
 * @index: receives its index
 *
 * Context: may sleep.
 * Return: 0, -ENOENT if the table does not hold it, or the driver's error.
 */
int ib_find_pkey(struct ib_device *device, u32 port_num, u16 pkey, u16 *index)
{
	int limited = -1;
	u16 entry;
	int ret;

	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;
	for (int i = 0; i < device->port_data[port_num].immutable.pkey_tbl_len; i++) {
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
 * ib_modify_device() - change the node description or the system image GUID
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
 * ib_modify_port() - change capability bits of a port, or reset its counter of Q_Key violations
 * @device: the device
 * @port_num: port number
 * @port_modify_mask: enum ib_port_modify_flags, what to change
 * @port_modify: new values
 *
 * Context: may sleep.
 * Return: 0, -EINVAL for a bad port, -EOPNOTSUPP if the driver does not support it, or the driver's
 * error.
 */
int ib_modify_port(struct ib_device *device, u32 port_num, int port_modify_mask,
		   struct ib_port_modify *port_modify)
{
	if (!rdma_is_port_valid(device, port_num))
		return -EINVAL;
	if (device->ops.modify_port)
		return device->ops.modify_port(device, port_num, port_modify_mask, port_modify);
	/*
	 * Consumers that announce themselves, such as the CM or an SRP target, do so on every port.
	 * A RoCE port has no subnet manager that would read the bits: as in Linux, a change
	 * succeeds there if it sets nothing, or clears nothing, but IB_PORT_CM_SUP.
	 */
	if (rdma_protocol_roce(device, port_num) &&
	    (!(port_modify->set_port_cap_mask & ~IB_PORT_CM_SUP) ||
	     !(port_modify->clr_port_cap_mask & ~IB_PORT_CM_SUP)))
		return 0;
	return -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_modify_port);

/**
 * ib_get_device_fw_str() - version of the device's firmware
 * @device: the device
 * @str: at least IB_FW_VERSION_NAME_MAX bytes; empty if the driver does not give it
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

/* ---- virtual functions, which their host manages through a net device ---- */

/**
 * ib_set_vf_link_state() - set the link of a virtual function
 * @device: physical function
 * @vf: virtual function
 * @port: port
 * @state: IFLA_VF_LINK_STATE_*
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the device has no virtual functions; the driver's error.
 */
int ib_set_vf_link_state(struct ib_device *device, int vf, u32 port, int state)
{
	const struct ib_device_ops *ops = &device->ops;

	return ops->set_vf_link_state ? ops->set_vf_link_state(device, vf, port, state) :
					-EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_set_vf_link_state);

/**
 * ib_get_vf_config() - read the configuration of a virtual function
 * @device: physical function
 * @vf: virtual function
 * @port: port
 * @info: receives the answer
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the device has no virtual functions; the driver's error.
 */
int ib_get_vf_config(struct ib_device *device, int vf, u32 port, struct ifla_vf_info *info)
{
	const struct ib_device_ops *ops = &device->ops;

	return ops->get_vf_config ? ops->get_vf_config(device, vf, port, info) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_get_vf_config);

/**
 * ib_get_vf_stats() - read the counters of a virtual function
 * @device: physical function
 * @vf: virtual function
 * @port: port
 * @stats: receives the answer
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the device has no virtual functions; the driver's error.
 */
int ib_get_vf_stats(struct ib_device *device, int vf, u32 port, struct ifla_vf_stats *stats)
{
	const struct ib_device_ops *ops = &device->ops;

	return ops->get_vf_stats ? ops->get_vf_stats(device, vf, port, stats) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_get_vf_stats);

/**
 * ib_get_vf_guid() - read the GUIDs of a virtual function
 * @device: physical function
 * @vf: virtual function
 * @port: port
 * @node_guid: receives the node GUID
 * @port_guid: receives the port GUID
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the device has no virtual functions; the driver's error.
 */
int ib_get_vf_guid(struct ib_device *device, int vf, u32 port, struct ifla_vf_guid *node_guid,
		   struct ifla_vf_guid *port_guid)
{
	const struct ib_device_ops *ops = &device->ops;

	return ops->get_vf_guid ? ops->get_vf_guid(device, vf, port, node_guid, port_guid) :
				  -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_get_vf_guid);

/**
 * ib_set_vf_guid() - set a GUID of a virtual function
 * @device: physical function
 * @vf: virtual function
 * @port: port
 * @guid: the GUID
 * @type: IFLA_VF_IB_NODE_GUID or IFLA_VF_IB_PORT_GUID
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP if the device has no virtual functions; the driver's error.
 */
int ib_set_vf_guid(struct ib_device *device, int vf, u32 port, u64 guid, int type)
{
	const struct ib_device_ops *ops = &device->ops;

	return ops->set_vf_guid ? ops->set_vf_guid(device, vf, port, guid, type) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_set_vf_guid);

/**
 * ib_local_mad() - hand a MAD to the agents in a device
 * @device: device that is registered or being registered
 * @port_num: port that the MAD is for
 * @mad_flags: 0, or any of IB_MAD_IGNORE_MKEY and IB_MAD_IGNORE_BKEY
 * @in: the MAD, of class SMP (LID routed or directed), PMA or another that the device knows
 * @out: takes the answer; may not be @in
 *
 * The MAD is processed as one from the port itself. Agents that software has registered, such as a
 * subnet manager, do not see it.
 *
 * Context: may sleep.
 * Return: 0 if there is an answer, whatever its status; -ENODATA if the device has consumed a MAD
 * that has no answer, such as a TrapRepress; -EOPNOTSUPP if it has no agents or none for this MAD;
 * -EINVAL for a port that the device does not have; -EIO if it failed.
 */
int ib_local_mad(struct ib_device *device, u32 port_num, int mad_flags, const struct ib_mad *in,
		 struct ib_mad *out)
{
	size_t out_size = sizeof(*out);
	u16 pkey_index = 0;
	int result;

	if (!device->ops.process_mad)
		return rdma_refuse(-EOPNOTSUPP, "%s has no management agents", device->name);
	if (!rdma_is_port_valid(device, port_num))
		return rdma_refuse(-EINVAL, "port %u is not one of %u to %u", port_num,
				   rdma_start_port(device), rdma_end_port(device));
	memset(out, 0, sizeof(*out));
	result = device->ops.process_mad(device, mad_flags, port_num, NULL, NULL, in, out,
					 &out_size, &pkey_index);
	if (!(result & IB_MAD_RESULT_SUCCESS))
		return -EIO;
	if (result & IB_MAD_RESULT_REPLY)
		return 0;
	if (result & IB_MAD_RESULT_CONSUMED)
		return -ENODATA;
	return rdma_refuse(-EOPNOTSUPP, "%s has no agent for MADs of class %#x, method %#x",
			   device->name, in->mad_hdr.mgmt_class, in->mad_hdr.method);
}
EXPORT_SYMBOL(ib_local_mad);
