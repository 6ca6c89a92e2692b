// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The device's own management agents, asked without a packet.
 */
#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_ext.h>
#include <rdma/rdma_reject.h>

/**
 * ib_local_mad() - hand a MAD to the agents in a device
 * @device: device that is registered or being registered
 * @port_num: port that the MAD is for
 * @mad_flags: IB_MAD_IGNORE_MKEY, IB_MAD_IGNORE_BKEY or both; 0
 * @in: the MAD, of class SMP (LID routed or directed), PMA or another that the device knows
 * @out: takes the answer; may not be @in
 *
 * The MAD counts as one that came from the port itself.  Agents that software has registered, a
 * subnet manager for one, do not see it.
 *
 * Context: may sleep.
 * Return: 0 when there is an answer, whatever its status says; -ENODATA when the device has taken
 * a MAD that gets none, such as a TrapRepress; -EOPNOTSUPP when it has no agents or none for this
 * MAD; -EINVAL for a port the device has not; -EIO when it failed.
 */
int ib_local_mad(struct ib_device *device, u32 port_num, int mad_flags, const struct ib_mad *in,
		 struct ib_mad *out)
{
	size_t out_size = sizeof(*out);
	u16 pkey_index = 0;
	int result;

	if (!device->ops.process_mad)
		return rdma_refuse(-EOPNOTSUPP, "%s has no management agents",
				   dev_name(&device->dev));
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
			   dev_name(&device->dev), in->mad_hdr.mgmt_class, in->mad_hdr.method);
}
EXPORT_SYMBOL(ib_local_mad);
