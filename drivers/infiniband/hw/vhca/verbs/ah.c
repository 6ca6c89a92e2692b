// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address handles. The device does not know them: an AH is an address vector, ready to be copied
 * into each request. Nothing here sleeps.
 */
#include <kunit/visibility.h>

#include "verbs.h"

#define MAX_SL		15
#define MAX_FLOW_LABEL	0xfffff

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

	if (attr->type != RDMA_AH_ATTR_TYPE_IB)
		return vhca_refuse(dev->hw.dev, -EINVAL,
				   "address is not one of an InfiniBand port");
	if (!port || port > dev->hw.limits.ports)
		return vhca_refuse(dev->hw.dev, -EINVAL, "address: port_num %u: device has %u",
				   port, dev->hw.limits.ports);
	if (rdma_ah_get_sl(attr) > MAX_SL)
		return vhca_refuse(dev->hw.dev, -EINVAL, "address: sl %u > %u",
				   rdma_ah_get_sl(attr), MAX_SL);
	if (rate != IB_RATE_PORT_CURRENT && ib_rate_to_mbps(rate) < 0)
		return vhca_refuse(dev->hw.dev, -EINVAL, "address: static_rate %u is none", rate);
	return rdma_ah_get_ah_flags(attr) & IB_AH_GRH ? check_route(dev, attr) : 0;
}

/**
 * vhca_create_ah - ib_device_ops.create_ah and create_user_ah
 * @ibah: address handle
 * @attr: the address
 * @udata: the request of a process, which gets the address vector to put it into its requests
 *
 * Context: any for the kernel's own; may sleep for a process'.
 * Return: 0; -EINVAL for an address that cannot be; -EFAULT.
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
 * vhca_modify_ah - ib_device_ops.modify_ah
 * @ibah: address handle
 * @attr: the new address
 *
 * Requests that were posted before keep the address they were posted with. Context: any.
 *
 * Return: 0; -EINVAL for an address that cannot be.
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
 * vhca_query_ah - ib_device_ops.query_ah
 * @ibah: address handle
 * @attr: filled in
 *
 * Context: any.
 * Return: 0.
 */
int vhca_query_ah(struct ib_ah *ibah, struct rdma_ah_attr *attr)
{
	vhca_av_to_ah(&to_vah(ibah)->av, attr);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_query_ah);

int vhca_destroy_ah(struct ib_ah *ibah, u32 flags)
{
	return 0;
}
