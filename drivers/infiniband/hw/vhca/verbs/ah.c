// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles. They are no objects of the device: an AH is an address vector that is copied
 * into each work request.
 */
#include <kunit/visibility.h>
#include <linux/etherdevice.h>

#include "ah.h"
#include "udata.h"

#define MAX_SL		15
#define MAX_FLOW_LABEL	0xfffff

/**
 * vhca_ah_type() - get the type of a port's addresses
 * @dev: the device
 * @port: number of a port, which need not exist
 *
 * Context: any.
 * Return: RDMA_AH_ATTR_TYPE_ROCE for an Ethernet port, RDMA_AH_ATTR_TYPE_IB otherwise.
 */
enum rdma_ah_attr_type vhca_ah_type(const struct vhca_dev *dev, u32 port)
{
	return vhca_port_is_eth(dev, port) ? RDMA_AH_ATTR_TYPE_ROCE : RDMA_AH_ATTR_TYPE_IB;
}

/**
 * vhca_av_from_ah() - translate an address vector
 * @av: filled in
 * @ah: the address; that of an Ethernet port has the destination's MAC address
 *
 * Context: any.
 */
void vhca_av_from_ah(struct vhca_av *av, const struct rdma_ah_attr *ah)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(ah);

	memset(av, 0, sizeof(*av));
	if (ah->type == RDMA_AH_ATTR_TYPE_ROCE)
		ether_addr_copy(av->dmac, ah->roce.dmac);
	av->dlid = cpu_to_le16(rdma_ah_get_dlid(ah));
	av->sl = rdma_ah_get_sl(ah);
	av->src_path_bits = rdma_ah_get_path_bits(ah);
	av->static_rate = rdma_ah_get_static_rate(ah);
	av->port = rdma_ah_get_port_num(ah);
	if (!(rdma_ah_get_ah_flags(ah) & IB_AH_GRH))
		return;
	av->grh = 1;
	memcpy(av->dgid, grh->dgid.raw, sizeof(av->dgid));
	av->flow_label = cpu_to_le32(grh->flow_label);
	av->sgid_index = grh->sgid_attr ? grh->sgid_attr->index : grh->sgid_index;
	av->hop_limit = grh->hop_limit;
	av->traffic_class = grh->traffic_class;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_av_from_ah);

/**
 * vhca_av_to_ah() - translate an address vector back
 * @dev: the device
 * @av: the address
 * @ah: filled in; has no reference to a GID entry
 *
 * Context: any.
 */
void vhca_av_to_ah(const struct vhca_dev *dev, const struct vhca_av *av, struct rdma_ah_attr *ah)
{
	memset(ah, 0, sizeof(*ah));
	ah->type = vhca_ah_type(dev, av->port);
	if (ah->type == RDMA_AH_ATTR_TYPE_ROCE)
		ether_addr_copy(ah->roce.dmac, av->dmac);
	rdma_ah_set_dlid(ah, le16_to_cpu(av->dlid));
	rdma_ah_set_sl(ah, av->sl);
	rdma_ah_set_path_bits(ah, av->src_path_bits);
	rdma_ah_set_static_rate(ah, av->static_rate);
	rdma_ah_set_port_num(ah, av->port);
	if (!av->grh)
		return;
	rdma_ah_set_grh(ah, NULL, le32_to_cpu(av->flow_label), av->sgid_index, av->hop_limit,
			av->traffic_class);
	rdma_ah_set_dgid_raw(ah, (void *)av->dgid);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_av_to_ah);

static int check_route(struct vhca_dev *dev, const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *grh = rdma_ah_read_grh(attr);

	if (!grh->sgid_attr)
		return vhca_refuse(dev->hw.dev, -EINVAL, "address: no GID at sgid_index %u",
				   grh->sgid_index);
	if (grh->flow_label > MAX_FLOW_LABEL)
		return vhca_refuse(dev->hw.dev, -EINVAL, "address: flow_label %#x has 20 bits",
				   grh->flow_label);
	return 0;
}

static int check_address(struct vhca_dev *dev, const struct rdma_ah_attr *attr)
{
	u32 port = rdma_ah_get_port_num(attr);
	u8 rate = rdma_ah_get_static_rate(attr);
	bool eth = vhca_port_is_eth(dev, port);

	if (!port || port > dev->hw.limits.ports)
		return vhca_refuse(dev->hw.dev, -EINVAL, "address: port_num %u: device has %u",
				   port, dev->hw.limits.ports);
	if (attr->type != vhca_ah_type(dev, port))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "address: port %u is an %s port, and this is of another kind",
				   port, eth ? "Ethernet" : "InfiniBand");
	if (eth && !(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "address: port %u is an Ethernet port, where each has a GID",
				   port);
	if (rdma_ah_get_sl(attr) > MAX_SL)
		return vhca_refuse(dev->hw.dev, -EINVAL, "address: sl %u > %u",
				   rdma_ah_get_sl(attr), MAX_SL);
	if (rate != IB_RATE_PORT_CURRENT && ib_rate_to_mbps(rate) < 0)
		return vhca_refuse(dev->hw.dev, -EINVAL, "address: static_rate %u is none", rate);
	return rdma_ah_get_ah_flags(attr) & IB_AH_GRH ? check_route(dev, attr) : 0;
}

/**
 * vhca_create_ah() - ib_device_ops.create_ah and create_user_ah
 * @ibah: address handle
 * @attr: the address
 * @udata: the request of a process, which gets the address vector for its work requests
 *
 * Context: any for kernel consumers; may sleep for a process.
 * Return: 0; -EINVAL for an invalid address; -EFAULT.
 */
int vhca_create_ah(struct ib_ah *ibah, struct rdma_ah_init_attr *attr, struct ib_udata *udata)
{
	struct vhca_dev *dev = to_vdev(ibah->device);
	struct vhca_create_ah_resp resp = {};
	struct vhca_ah *ah = to_vah(ibah);
	int err;

	err = vhca_udata_none(dev, udata, "create_ah") ?: check_address(dev, attr->ah_attr);
	if (err)
		return err;
	vhca_av_from_ah(&ah->av, attr->ah_attr);
	if (!udata)
		return 0;
	resp.av = ah->av;
	return vhca_udata_out(dev, udata, "create_ah", &resp, sizeof(resp), sizeof(resp));
}
EXPORT_SYMBOL_IF_KUNIT(vhca_create_ah);

/**
 * vhca_modify_ah() - ib_device_ops.modify_ah
 * @ibah: address handle
 * @attr: the new address
 *
 * Work requests that were posted before keep the old address.
 *
 * Context: any.
 * Return: 0; -EINVAL for an invalid address.
 */
int vhca_modify_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	int err = check_address(to_vdev(ibah->device), attr);

	if (!err)
		vhca_av_from_ah(&to_vah(ibah)->av, attr);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_modify_ah);

/**
 * vhca_query_ah() - ib_device_ops.query_ah
 * @ibah: address handle
 * @attr: filled in
 *
 * Context: any.
 * Return: 0.
 */
int vhca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	vhca_av_to_ah(to_vdev(ibah->device), &to_vah(ibah)->av, attr);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_query_ah);

/**
 * vhca_destroy_ah() - ib_device_ops.destroy_ah
 * @ibah: address handle
 * @flags: RDMA_DESTROY_AH_*, unused
 *
 * There is nothing to undo: the device does not know address handles.
 *
 * Context: any.
 * Return: 0.
 */
int vhca_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
