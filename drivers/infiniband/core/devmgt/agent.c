// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The MAD agents with which the ports of an I/O unit answer.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <rdma/rdma_ext.h>
#include <rdma/rdma_reject.h>

#include "devmgt_priv.h"

static void sent(struct ib_mad_agent *agent, struct ib_mad_send_wc *wc)
{
	ib_free_mad_reply(wc->send_buf);
}

/* Without memory the answer is lost as on the wire: the requester repeats its request. */
static void answer(struct ib_mad_agent *agent, struct ib_mad_recv_wc *wc)
{
	const struct ib_mad_hdr *request = &wc->recv_buf.mad->mad_hdr;
	struct ib_mad_send_buf *reply;
	struct ib_mad_hdr *hdr;

	reply = ib_create_mad_reply(agent, wc, IB_MGMT_DEVICE_HDR, IB_MGMT_DEVICE_DATA);
	if (IS_ERR(reply))
		return;
	hdr = reply->mad;
	hdr->status = cpu_to_be16(dm_answer(agent->context, be16_to_cpu(request->attr_id),
					    be32_to_cpu(request->attr_mod),
					    reply->mad + IB_MGMT_DEVICE_HDR));
	if (ib_post_send_mad(reply, NULL))
		ib_free_mad_reply(reply);
}

/* Only Gets arrive here: the MAD layer refuses or drops other methods. */
static void received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		     struct ib_mad_recv_wc *wc)
{
	if (wc->recv_buf.mad->mad_hdr.method == IB_MGMT_METHOD_GET)
		answer(agent, wc);
	ib_free_recv_mad(wc);
}

/**
 * dm_port_has_agent() - does a port answer device management MADs?
 * @device: device
 * @port_num: its port
 *
 * Return: whether it is an InfiniBand port with MADs of 256 bytes.
 */
bool dm_port_has_agent(struct ib_device *device, u32 port_num)
{
	return rdma_cap_ib_sa(device, port_num) && !rdma_cap_opa_ah(device, port_num);
}

static int announce(struct dm_unit *unit, u32 port_num, bool on)
{
	struct ib_port_modify modify = {};

	if (on)
		modify.set_port_cap_mask = IB_PORT_DEVICE_MGMT_SUP;
	else
		modify.clr_port_cap_mask = IB_PORT_DEVICE_MGMT_SUP;
	return ib_modify_port(unit->device, port_num, 0, &modify);
}

/* The agent is registered before the capability is announced. */
static int begin_port(struct dm_unit *unit, u32 port_num)
{
	struct ib_mad_reg_req request = {
		.mgmt_class = IB_MGMT_CLASS_DEVICE_MGMT,
		.mgmt_class_version = IB_DM_CLASS_VERSION,
	};
	struct ib_mad_agent *agent;
	int ret;

	set_bit(IB_MGMT_METHOD_GET, request.method_mask);
	agent = ib_register_mad_agent(unit->device, port_num, IB_QPT_GSI, &request, 0, sent,
				      received, unit, 0);
	if (IS_ERR(agent))
		return rdma_refuse(PTR_ERR(agent), "port %u: no agent for device management",
				   port_num);
	ret = announce(unit, port_num, true);
	if (ret) {
		ib_unregister_mad_agent(agent);
		return rdma_refuse(ret, "port %u cannot say that it has device management",
				   port_num);
	}
	unit->agent[port_num] = agent;
	return 0;
}

/**
 * dm_agents_begin() - answer at all ports of a unit
 * @unit: the unit, with agents_lock held
 *
 * Context: may sleep.
 * Return: 0; the MAD layer's error, -EINVAL if a port has another agent of this class; the
 * driver's.
 */
int dm_agents_begin(struct dm_unit *unit)
{
	u32 port_num;
	int ret;

	lockdep_assert_held(&unit->agents_lock);
	rdma_for_each_port(unit->device, port_num) {
		if (!dm_port_has_agent(unit->device, port_num))
			continue;
		ret = begin_port(unit, port_num);
		if (ret) {
			dm_agents_end(unit);
			return ret;
		}
	}
	return 0;
}

/**
 * dm_agents_end() - stop answering
 * @unit: the unit, with agents_lock held
 *
 * Context: may sleep.
 */
void dm_agents_end(struct dm_unit *unit)
{
	u32 port_num;

	lockdep_assert_held(&unit->agents_lock);
	rdma_for_each_port(unit->device, port_num) {
		if (!unit->agent[port_num])
			continue;
		/* A failed device cannot take the change any more. */
		announce(unit, port_num, false);
		ib_unregister_mad_agent(unit->agent[port_num]);
		unit->agent[port_num] = NULL;
	}
}
