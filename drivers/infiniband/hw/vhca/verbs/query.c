// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Queries of the device, its ports and their tables. */
#include <kunit/visibility.h>
#include <linux/pci.h>
#include <rdma/ib_mad.h>

#include "../cmd/cmd.h"
#include "caps.h"
#include "eth.h"
#include "query.h"
#include "udata.h"

/**
 * vhca_query_device() - ib_device_ops.query_device
 * @ibdev: the device
 * @a: filled in
 * @udata: the request of a process, which has no private part
 *
 * Context: any for kernel consumers; may sleep for a process.
 * Return: 0; -EINVAL for a private request that is not empty.
 */
int vhca_query_device(struct ib_device *ibdev, struct ib_device_attr *a,
		      struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibdev);
	const struct pci_dev *pdev = to_pci_dev(dev->hw.dev);
	const struct vhca_limits *l = &dev->hw.limits;
	int err;

	err = vhca_udata_none(dev, udata, "query_device");
	if (err)
		return err;

	memset(a, 0, sizeof(*a));
	a->fw_ver = l->fw_version;
	a->sys_image_guid = cpu_to_be64(l->sys_image_guid);
	a->max_mr_size = l->max_mr_size;
	a->page_size_cap = l->page_sizes;
	a->vendor_id = pdev->vendor;
	a->vendor_part_id = pdev->device;
	a->hw_ver = pdev->revision;
	a->max_qp = min_t(u32, l->max_qps, INT_MAX);
	/* This is for requests of maximum size; a send ring has room for more small ones. */
	a->max_qp_wr = min3(l->max_sq_blocks / VHCA_WQE_MAX_BLOCKS, l->max_rq_wr, (u32)INT_MAX);
	a->max_send_sge = l->max_send_sge;
	a->max_recv_sge = l->max_recv_sge;
	a->max_sge_rd = l->max_send_sge;
	a->max_cq = min_t(u32, l->max_cqs, INT_MAX);
	a->max_cqe = min_t(u32, l->max_cqe, INT_MAX);
	a->max_mr = min_t(u32, l->max_mkeys, INT_MAX);
	a->max_pd = min_t(u32, l->max_pds, INT_MAX);
	a->max_qp_rd_atom = l->max_rd_atomic;
	a->max_res_rd_atom = min_t(u64, (u64)l->max_rd_atomic * l->max_qps, INT_MAX);
	a->max_qp_init_rd_atom = l->max_init_rd_atomic;
	a->max_pkeys = dev->max_pkeys;
	a->local_ca_ack_delay = l->ack_delay;
	if (vhca_hw_has(&dev->hw, VHCA_CAP_CLOCK)) {
		a->timestamp_mask = U64_MAX;
		a->hca_core_clock = l->clock_khz;
	}
	vhca_caps_attr(dev, a);
	a->device_cap_flags |= VHCA_EXT_DEVICE_CAPS;
	return 0;
}

/* Reads the subnet prefix, as the core would take it from the last GID, which may be empty. */
static int fill_subnet_prefix(struct vhca_dev *dev, u32 port, struct ib_port_attr *p)
{
	union ib_gid gid;
	int err = vhca_cmd_query_gid(&dev->hw, port, 0, gid.raw);

	if (!err)
		p->subnet_prefix = be64_to_cpu(gid.global.subnet_prefix);
	return err;
}

/* Fills in attributes of an Ethernet port from its net device; without one the port is down. */
static void fill_eth(struct vhca_dev *dev, u32 port, struct ib_port_attr *p)
{
	struct vhca_eth_link link;

	vhca_eth_get_link(dev, port, &link);
	if (!link.running || p->state != IB_PORT_ACTIVE)
		p->state = IB_PORT_DOWN;
	if (p->state == IB_PORT_ACTIVE)
		p->phys_state = IB_PORT_PHYS_STATE_LINK_UP;
	else
		p->phys_state = link.up ? IB_PORT_PHYS_STATE_POLLING :
					  IB_PORT_PHYS_STATE_DISABLED;
	if (link.mtu) {
		p->active_mtu = link.mtu;
		p->phys_mtu = ib_mtu_enum_to_int(link.mtu);
	}
	if (link.present)
		ib_get_eth_speed(&dev->ibdev, port, &p->active_speed, &p->active_width);
	/* The host has a connection manager; for an Ethernet port the device does not report it. */
	p->port_cap_flags |= IB_PORT_CM_SUP;
	p->ip_gids = true;
}

/* Linux 6.12's core allocates tables by the first sizes, but walks them by the current ones. */
static int same_sizes(struct vhca_dev *dev, u32 port, const struct vhca_port_attr *a)
{
	const struct vhca_port *p = &dev->ports[port - 1];
	u32 gids = le32_to_cpu(a->gid_entries), pkeys = le32_to_cpu(a->pkey_entries);

	if (gids == p->ngids && pkeys == p->npkeys)
		return 0;
	dev_err_ratelimited(dev->hw.dev,
			    "port %u: the device says %u GIDs and %u P_Keys, and said %u and %u\n",
			    port, gids, pkeys, p->ngids, p->npkeys);
	return -EPROTO;
}

/**
 * vhca_query_port() - ib_device_ops.query_port
 * @ibdev: the device
 * @port: 1..ports
 * @p: filled in
 *
 * Context: may sleep; takes the RTNL lock for an Ethernet port.
 * Return: 0; -EPROTO if the size of a table has changed since probe; or an error of commands.
 */
int vhca_query_port(struct ib_device *ibdev, u32 port, struct ib_port_attr *p)
{
	struct vhca_dev *dev = to_vdev(ibdev);
	bool eth = vhca_port_is_eth(dev, port);
	struct vhca_port_attr a;
	int err;

	err = vhca_cmd_query_port(&dev->hw, port, &a) ?:
	      eth ? 0 : fill_subnet_prefix(dev, port, p);
	if (err)
		return err;
	err = same_sizes(dev, port, &a);
	if (err)
		return err;
	p->state = a.state;
	p->phys_state = a.phys_state;
	p->max_mtu = a.max_mtu;
	p->active_mtu = a.active_mtu;
	p->phys_mtu = ib_mtu_enum_to_int(a.active_mtu);
	p->gid_tbl_len = le32_to_cpu(a.gid_entries);
	p->pkey_tbl_len = le32_to_cpu(a.pkey_entries);
	p->port_cap_flags = le32_to_cpu(a.cap_mask);
	p->max_msg_sz = le32_to_cpu(a.max_msg);
	p->bad_pkey_cntr = le32_to_cpu(a.pkey_viol);
	p->qkey_viol_cntr = le32_to_cpu(a.qkey_viol);
	p->lid = le16_to_cpu(a.lid);
	p->sm_lid = le16_to_cpu(a.sm_lid);
	p->lmc = a.lmc;
	p->max_vl_num = a.max_vl;
	p->sm_sl = a.sm_sl;
	p->subnet_timeout = a.subnet_timeout;
	p->init_type_reply = a.init_type_reply;
	p->active_width = a.active_width;
	p->active_speed = le16_to_cpu(a.active_speed);
	if (eth)
		fill_eth(dev, port, p);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_query_port);

/**
 * vhca_port_protocols() - fill in the protocols of a port
 * @dev: the device, its limits and the types of its ports known
 * @port: 1..ports
 * @immutable: core_cap_flags and max_mad_size are filled in
 *
 * Without management QPs there are no MADs, no SA and no CM, but only the transport of InfiniBand
 * or RoCE v2.
 *
 * Context: any.
 */
void vhca_port_protocols(const struct vhca_dev *dev, u32 port,
			 struct ib_port_immutable *immutable)
{
	bool eth = vhca_port_is_eth(dev, port);

	immutable->core_cap_flags = eth ? RDMA_CORE_CAP_PROT_ROCE_UDP_ENCAP :
					  RDMA_CORE_CAP_PROT_IB;
	immutable->max_mad_size = 0;
	if (!vhca_hw_has(&dev->hw, VHCA_CAP_SMI_GSI))
		return;
	immutable->core_cap_flags = eth ? RDMA_CORE_PORT_IBA_ROCE_UDP_ENCAP :
					  RDMA_CORE_PORT_IBA_IB;
	immutable->max_mad_size = IB_MGMT_MAD_SIZE;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_port_protocols);

/**
 * vhca_get_port_immutable() - ib_device_ops.get_port_immutable
 * @ibdev: the device
 * @port: 1..ports
 * @immutable: filled in
 *
 * Context: may sleep.
 * Return: 0; as vhca_query_port().
 */
int vhca_get_port_immutable(struct ib_device *ibdev, u32 port,
			    struct ib_port_immutable *immutable)
{
	struct ib_port_attr attr = {};
	int err;

	err = vhca_query_port(ibdev, port, &attr);
	if (err)
		return err;
	immutable->pkey_tbl_len = attr.pkey_tbl_len;
	immutable->gid_tbl_len = attr.gid_tbl_len;
	vhca_port_protocols(to_vdev(ibdev), port, immutable);
	return 0;
}

/**
 * vhca_get_link_layer() - ib_device_ops.get_link_layer
 * @ibdev: the device
 * @port: number of a port, which need not exist
 *
 * Context: any.
 * Return: IB_LINK_LAYER_ETHERNET for an Ethernet port, IB_LINK_LAYER_INFINIBAND otherwise.
 */
enum rdma_link_layer vhca_get_link_layer(struct ib_device *ibdev, u32 port)
{
	return vhca_port_is_eth(to_vdev(ibdev), port) ? IB_LINK_LAYER_ETHERNET :
							IB_LINK_LAYER_INFINIBAND;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_get_link_layer);

/**
 * vhca_query_gid() - ib_device_ops.query_gid
 * @ibdev: the device
 * @port: 1..ports
 * @index: index in the port's table
 * @gid: filled in
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for an index that the port does not have; or an error of commands.
 */
int vhca_query_gid(struct ib_device *ibdev, u32 port, int index, union ib_gid *gid)
{
	if (index < 0)
		return -EINVAL;
	return vhca_cmd_query_gid(&to_vdev(ibdev)->hw, port, index, gid->raw);
}

/**
 * vhca_query_pkey() - ib_device_ops.query_pkey
 * @ibdev: the device
 * @port: 1..ports
 * @index: index in the port's table
 * @pkey: set to the P_Key
 *
 * Context: may sleep.
 * Return: 0; -EINVAL for an index that the port does not have; or an error of commands.
 */
int vhca_query_pkey(struct ib_device *ibdev, u32 port, u16 index, u16 *pkey)
{
	return vhca_cmd_query_pkey(&to_vdev(ibdev)->hw, port, index, pkey);
}

/**
 * vhca_modify_device() - ib_device_ops.modify_device
 * @ibdev: the device
 * @mask: IB_DEVICE_MODIFY_NODE_DESC or 0
 * @modify: the node description
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for other attributes; or an error of commands.
 */
int vhca_modify_device(struct ib_device *ibdev, int mask, struct ib_device_modify *modify)
{
	struct vhca_dev *dev = to_vdev(ibdev);
	int err;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return vhca_refuse(dev->hw.dev, -EOPNOTSUPP, "modify_device: mask %#x", mask);
	if (!(mask & IB_DEVICE_MODIFY_NODE_DESC))
		return 0;
	mutex_lock(&dev->desc_lock);
	err = vhca_cmd_set_node_desc(&dev->hw, modify->node_desc);
	if (!err)
		memcpy(ibdev->node_desc, modify->node_desc, sizeof(ibdev->node_desc));
	mutex_unlock(&dev->desc_lock);
	return err;
}

/**
 * vhca_get_dev_fw_str() - ib_device_ops.get_dev_fw_str
 * @ibdev: the device
 * @str: filled in with the firmware's version, IB_FW_VERSION_NAME_MAX bytes at most
 *
 * Context: any.
 */
void vhca_get_dev_fw_str(struct ib_device *ibdev, char *str)
{
	u64 v = to_vdev(ibdev)->hw.limits.fw_version;

	snprintf(str, IB_FW_VERSION_NAME_MAX, "%u.%u.%u", (u32)(v >> 32), (u16)(v >> 16), (u16)v);
}

/**
 * vhca_get_vector_affinity() - ib_device_ops.get_vector_affinity
 * @ibdev: the device
 * @vector: completion vector
 *
 * Context: any.
 * Return: mask with the CPU of its interrupt; NULL if there is no such vector.
 */
const struct cpumask *vhca_get_vector_affinity(struct ib_device *ibdev, int vector)
{
	struct vhca_dev *dev = to_vdev(ibdev);

	if (vector < 0 || vector >= dev->nvectors)
		return NULL;
	return cpumask_of(dev->vectors[vector].cpu);
}

