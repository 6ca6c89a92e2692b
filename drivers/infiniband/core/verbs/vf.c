// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Virtual functions, as their host sees and sets them by way of a network device.
 */
#include "verbs_priv.h"

/**
 * ib_set_vf_link_state() - set the link of a virtual function
 * @device: physical function
 * @vf: virtual function
 * @port: port
 * @state: IFLA_VF_LINK_STATE_*
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the device has none; the driver's error.
 */
int ib_set_vf_link_state(struct ib_device *device, int vf, u32 port, int state)
{
	const struct ib_device_ops *ops = &device->ops;

	return ops->set_vf_link_state ? ops->set_vf_link_state(device, vf, port, state) :
					-EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_set_vf_link_state);

/**
 * ib_get_vf_config() - read how a virtual function is set up
 * @device: physical function
 * @vf: virtual function
 * @port: port
 * @info: takes the answer
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the device has none; the driver's error.
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
 * @stats: takes the answer
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the device has none; the driver's error.
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
 * @node_guid: takes that of the node
 * @port_guid: takes that of the port
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP when the device has none; the driver's error.
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
 * Return: 0; -EOPNOTSUPP when the device has none; the driver's error.
 */
int ib_set_vf_guid(struct ib_device *device, int vf, u32 port, u64 guid, int type)
{
	const struct ib_device_ops *ops = &device->ops;

	return ops->set_vf_guid ? ops->set_vf_guid(device, vf, port, guid, type) : -EOPNOTSUPP;
}
EXPORT_SYMBOL(ib_set_vf_guid);
