// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management. The agents of a port are in the device, since they have to reply while no driver is
 * loaded. MADs from the fabric reach them first, and the host gets the others; here the host passes
 * them MADs that it sends to its own port.
 */
#include <kunit/visibility.h>

#include "../cmd/cmd.h"
#include "mad.h"

/* Device and core use the same values. */
static_assert(sizeof(struct ib_mad) == VHCA_MAD_SIZE);
static_assert(IB_MAD_IGNORE_MKEY == VHCA_MAD_IGNORE_MKEY &&
	      IB_MAD_IGNORE_BKEY == VHCA_MAD_IGNORE_BKEY);
static_assert(IB_PORT_SM == VHCA_PORT_CAP_SM && IB_PORT_CM_SUP == VHCA_PORT_CAP_CM &&
	      IB_PORT_DEVICE_MGMT_SUP == VHCA_PORT_CAP_DEVICE_MGMT);

/**
 * vhca_mad_asks_device() - may a MAD be for the device's agents?
 * @mad: the MAD
 *
 * The core passes every MAD that arrives, including those of the CM, and to run a command for each
 * of them, only to find that its class is not the device's, would be too slow.
 *
 * Context: any.
 * Return: true for requests to the agents of subnet management and performance management.
 */
bool vhca_mad_asks_device(const struct ib_mad *mad)
{
	if (mad->mad_hdr.method & IB_MGMT_METHOD_RESP)
		return false;
	switch (mad->mad_hdr.mgmt_class) {
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
	case IB_MGMT_CLASS_PERF_MGMT:
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(vhca_mad_asks_device);

static void fill_source(struct vhca_process_mad_req *req, const struct ib_wc *wc)
{
	req->sl = wc->sl;
	req->path_bits = wc->dlid_path_bits;
	req->slid = cpu_to_le16(ib_lid_cpu16(wc->slid));
	req->pkey_index = cpu_to_le16(wc->pkey_index);
	req->src_qpn = cpu_to_le32(wc->src_qp);
}

/**
 * vhca_process_mad() - ib_device_ops.process_mad
 * @ibdev: the device
 * @flags: IB_MAD_IGNORE_*
 * @port: port at which the MAD arrived
 * @wc: its completion, or NULL for a MAD of the core itself
 * @grh: its GRH, unused
 * @in: the MAD
 * @out: receives the reply, with IB_MAD_RESULT_REPLY
 * @out_size: bytes of @out, which is a whole MAD
 * @out_pkey_index: not changed: the reply has the P_Key of the request
 *
 * Context: may sleep.
 * Return: IB_MAD_RESULT_SUCCESS if the MAD is not for the device, with IB_MAD_RESULT_CONSUMED or
 * IB_MAD_RESULT_REPLY if it was; IB_MAD_RESULT_FAILURE if the command failed.
 */
int vhca_process_mad(struct ib_device *ibdev, int flags, u32 port, const struct ib_wc *wc,
		     const struct ib_grh *grh, const struct ib_mad *in, struct ib_mad *out,
		     size_t *out_size, u16 *out_pkey_index)
{
	struct vhca_process_mad_req req = {
		.port = port,
		.flags = flags & (IB_MAD_IGNORE_MKEY | IB_MAD_IGNORE_BKEY),
	};
	u8 result;

	if (!vhca_mad_asks_device(in))
		return IB_MAD_RESULT_SUCCESS;
	if (wc)
		fill_source(&req, wc);
	if (vhca_cmd_process_mad(&to_vdev(ibdev)->hw, &req, in, out, &result))
		return IB_MAD_RESULT_FAILURE;
	if (result & VHCA_MAD_REPLY)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	if (result & VHCA_MAD_CONSUMED)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	return IB_MAD_RESULT_SUCCESS;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_process_mad);

/* An Ethernet port has no agent that would report IB_PORT_CM_SUP, so that bit is ignored. */
static int check_eth_caps(struct vhca_hw *hw, const struct ib_port_modify *modify)
{
	u32 caps = modify->set_port_cap_mask | modify->clr_port_cap_mask;

	if (!(caps & ~IB_PORT_CM_SUP))
		return 0;
	return vhca_refuse(hw->dev, -EINVAL, "modify_port: capabilities %#x of an Ethernet port",
			   caps & ~IB_PORT_CM_SUP);
}

/**
 * vhca_modify_port() - ib_device_ops.modify_port: set capability bits that describe the host
 * @ibdev: the device
 * @port: 1..ports
 * @mask: IB_PORT_RESET_QKEY_CNTR or 0
 * @modify: bits of the port's CapabilityMask to set and to clear
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for attributes that only a subnet manager may change; -EINVAL for bits of
 * CapabilityMask that describe the device, and on an Ethernet port for all but IB_PORT_CM_SUP; or
 * an error of commands.
 */
int vhca_modify_port(struct ib_device *ibdev, u32 port, int mask, struct ib_port_modify *modify)
{
	struct vhca_hw *hw = &to_vdev(ibdev)->hw;
	struct vhca_modify_port_req req = {
		.port = port,
		.flags = mask & IB_PORT_RESET_QKEY_CNTR ? VHCA_PORT_RESET_QKEY_VIOL : 0,
		.set_caps = cpu_to_le32(modify->set_port_cap_mask),
		.clear_caps = cpu_to_le32(modify->clr_port_cap_mask),
	};

	/* Only the subnet manager may change the link state and InitType. */
	if (mask & ~IB_PORT_RESET_QKEY_CNTR)
		return vhca_refuse(hw->dev, -EOPNOTSUPP, "modify_port: mask %#x",
				   mask & ~IB_PORT_RESET_QKEY_CNTR);
	if (vhca_port_is_eth(to_vdev(ibdev), port)) {
		int err = check_eth_caps(hw, modify);

		if (err || !req.flags)
			return err;
		req.set_caps = 0;
		req.clear_caps = 0;
	}
	return vhca_cmd_modify_port(hw, &req);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_modify_port);
