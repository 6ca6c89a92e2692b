/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protocols and management classes of a port.  All these functions read the
 * immutable port data, so they need no lock once the device is registered; the
 * port number must be valid.
 */
#ifndef RDMA_VERBS_CAPS_H
#define RDMA_VERBS_CAPS_H

#include <rdma/verbs/device.h>
#include <rdma/verbs/port.h>

/**
 * rdma_cap_ib_switch() - is the device a switch?
 * @device: device
 *
 * Return: true for a switch, whose only port is number 0.
 */
static inline bool rdma_cap_ib_switch(const struct ib_device *device)
{
	return device->is_switch != 0;
}

/**
 * rdma_start_port() - get the lowest port number
 * @device: device
 *
 * Return: 0 for a switch, else 1.
 */
static inline u32 rdma_start_port(const struct ib_device *device)
{
	return !rdma_cap_ib_switch(device);
}

/**
 * rdma_end_port() - get the highest port number
 * @device: device
 *
 * Return: 0 for a switch, else the number of ports.
 */
static inline u32 rdma_end_port(const struct ib_device *device)
{
	if (rdma_cap_ib_switch(device))
		return 0;
	return device->phys_port_cnt;
}

/**
 * rdma_for_each_port() - loop over all port numbers of a device
 * @device: device
 * @iter: u32 that receives the port number
 */
#define rdma_for_each_port(device, iter)					\
	for (iter = rdma_start_port(device) +					\
		    BUILD_BUG_ON_ZERO(!__same_type(u32, iter));			\
	     iter <= rdma_end_port(device); iter++)

/**
 * rdma_is_port_valid() - does a device have this port?
 * @device: device
 * @port: port number
 *
 * Return: 1 or 0.
 */
static inline int rdma_is_port_valid(const struct ib_device *device, unsigned int port)
{
	return in_range(port, rdma_start_port(device),
			rdma_end_port(device) - rdma_start_port(device) + 1);
}

/* Does the port have any of these RDMA_CORE_CAP_* bits? */
static inline bool rdma_port_has_any(const struct ib_device *device, u32 port_num, u32 caps)
{
	return (device->port_data[port_num].immutable.core_cap_flags & caps) != 0;
}

/* Does the port have all of these RDMA_CORE_CAP_* bits? */
static inline bool rdma_port_has_all(const struct ib_device *device, u32 port_num, u32 caps)
{
	return (~device->port_data[port_num].immutable.core_cap_flags & caps) == 0;
}

/**
 * rdma_is_grh_required() - must every packet of the port have a GRH?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_is_grh_required(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_PORT_IB_GRH_REQUIRED);
}

/**
 * rdma_protocol_ib() - is it an InfiniBand port?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_protocol_ib(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_PROT_IB);
}

/**
 * rdma_protocol_roce() - is it a RoCE port of either version?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_protocol_roce(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num,
				 RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP);
}

/**
 * rdma_protocol_roce_udp_encap() - does it support RoCE v2?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_protocol_roce_udp_encap(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP);
}

/**
 * rdma_protocol_roce_eth_encap() - does it support RoCE v1?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_protocol_roce_eth_encap(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_PROT_ROCE);
}

/**
 * rdma_protocol_iwarp() - is it an iWARP port?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_protocol_iwarp(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_PROT_IWARP);
}

/**
 * rdma_protocol_raw_packet() - does it carry only raw packets?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_protocol_raw_packet(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_PROT_RAW_PACKET);
}

/**
 * rdma_protocol_usnic() - is it a usNIC port?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_protocol_usnic(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_PROT_USNIC);
}

/**
 * rdma_cap_ib_mad() - does it exchange MADs?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_ib_mad(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_IB_MAD);
}

/**
 * rdma_cap_opa_mad() - does it exchange Omni-Path MADs?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_opa_mad(struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_OPA_MAD);
}

/**
 * rdma_cap_ib_smi() - does it have a subnet management interface?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_ib_smi(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_IB_SMI);
}

/**
 * rdma_cap_ib_cm() - does it use the IB communication manager?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_ib_cm(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_IB_CM);
}

/**
 * rdma_cap_iw_cm() - does it use the iWARP connection manager?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_iw_cm(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_IW_CM);
}

/**
 * rdma_cap_ib_sa() - does it use subnet administration?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_ib_sa(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_IB_SA);
}

/**
 * rdma_cap_af_ib() - can it be addressed by AF_IB?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_af_ib(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_AF_IB);
}

/**
 * rdma_cap_eth_ah() - are its address vectors of type RoCE?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_eth_ah(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_ETH_AH);
}

/**
 * rdma_cap_opa_ah() - are its address vectors Omni-Path ones?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_opa_ah(struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_OPA_AH);
}

/**
 * rdma_ib_or_roce() - is it InfiniBand, or RoCE of either version?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_ib_or_roce(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_PROT_IB |
				 RDMA_CORE_CAP_PROT_ROCE | RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP);
}

/**
 * rdma_cap_ib_mcast() - are multicast groups joined through subnet administration?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_ib_mcast(const struct ib_device *device, u32 port_num)
{
	return rdma_port_has_any(device, port_num, RDMA_CORE_CAP_IB_SA);
}

/**
 * rdma_max_mad_size() - get the size of the largest MAD
 * @device: device
 * @port_num: port
 *
 * Return: bytes; 0 for a port without MADs.
 */
static inline size_t rdma_max_mad_size(const struct ib_device *device, u32 port_num)
{
	const struct ib_port_immutable *immutable = &device->port_data[port_num].immutable;

	return immutable->max_mad_size;
}

/**
 * rdma_cap_roce_gid_table() - does the core manage the port's GID table?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_roce_gid_table(const struct ib_device *device, u32 port_num)
{
	if (!device->ops.add_gid || !device->ops.del_gid)
		return false;
	return rdma_protocol_roce(device, port_num);
}

/**
 * rdma_cap_read_inv() - can an RDMA READ invalidate its local key?
 * @dev: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_cap_read_inv(struct ib_device *dev, u32 port_num)
{
	return rdma_port_has_any(dev, port_num, RDMA_CORE_CAP_PROT_IWARP);
}

/**
 * rdma_core_cap_opa_port() - is it an Omni-Path port?
 * @device: device
 * @port_num: port
 *
 * Return: true if so.
 */
static inline bool rdma_core_cap_opa_port(struct ib_device *device, u32 port_num)
{
	return rdma_port_has_all(device, port_num, RDMA_CORE_PORT_INTEL_OPA);
}

/**
 * rdma_mtu_enum_to_int() - decode an MTU in the port's encoding
 * @device: device
 * @port: port
 * @mtu: encoded MTU
 *
 * Return: bytes, or -1 for an invalid code.
 */
static inline int rdma_mtu_enum_to_int(struct ib_device *device, u32 port, int mtu)
{
	return rdma_core_cap_opa_port(device, port) ?
	       opa_mtu_enum_to_int((enum opa_mtu)mtu) : ib_mtu_enum_to_int((enum ib_mtu)mtu);
}

/**
 * rdma_mtu_from_attr() - get a port's largest MTU
 * @device: device
 * @port: port
 * @attr: attributes of the port
 *
 * Return: bytes.
 */
static inline int rdma_mtu_from_attr(struct ib_device *device, u32 port, struct ib_port_attr *attr)
{
	return rdma_core_cap_opa_port(device, port) ?
	       attr->phys_mtu : ib_mtu_enum_to_int(attr->max_mtu);
}

/**
 * ib_check_mr_access() - may memory be registered with these rights?
 * @ib_dev: device
 * @flags: enum ib_access_flags
 *
 * Remote write and remote atomic access need local write access, too.  Only rights that are
 * optional for a device are compared with its capabilities.
 *
 * Return: 0; -EINVAL for a right that does not exist, or for remote without local write access;
 * -EOPNOTSUPP for a right that the device does not support.
 */
static inline int ib_check_mr_access(struct ib_device *ib_dev, unsigned int flags)
{
	const unsigned int remote_writers = IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	const struct ib_device_attr *attr = &ib_dev->attrs;
	unsigned int lacking = 0;

	if (flags & ~(unsigned int)IB_ACCESS_SUPPORTED)
		return -EINVAL;
	if ((flags & remote_writers) && !(flags & IB_ACCESS_LOCAL_WRITE))
		return -EINVAL;

	if (!(attr->kernel_cap_flags & IBK_ON_DEMAND_PAGING))
		lacking |= IB_ACCESS_ON_DEMAND;
	if (!(attr->device_cap_flags & IB_DEVICE_FLUSH_GLOBAL))
		lacking |= IB_ACCESS_FLUSH_GLOBAL;
	if (!(attr->device_cap_flags & IB_DEVICE_FLUSH_PERSISTENT))
		lacking |= IB_ACCESS_FLUSH_PERSISTENT;
	return flags & lacking ? -EOPNOTSUPP : 0;
}

/**
 * ib_get_vector_affinity() - get the CPUs of a completion vector's interrupt
 * @device: device
 * @comp_vector: completion vector
 *
 * Return: the mask, or NULL if the vector does not exist or the driver does not know it.
 */
static inline const struct cpumask *
ib_get_vector_affinity(struct ib_device *device, int comp_vector)
{
	bool exists = comp_vector >= 0 && comp_vector < device->num_comp_vectors;

	if (!exists || !device->ops.get_vector_affinity)
		return NULL;
	return device->ops.get_vector_affinity(device, comp_vector);
}

#endif /* RDMA_VERBS_CAPS_H */
