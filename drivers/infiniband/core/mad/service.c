// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * MADs at datagram QPs that are neither QP0 nor QP1.
 *
 * Such a QP has a port of its own, as far as mad/ is concerned: agents, requests, timers and queues
 * are those of a port with one QP, which look-ups of the device's ports do not find.
 * mad_port.service marks the differences: P_Key and Q_Key are the consumer's, and the driver is not
 * asked, since MADs for the device itself are received at QP0 and QP1.
 */
#include <linux/slab.h>
#include <rdma/ib_cache.h>
#include <rdma/rdma_ext_mad.h>
#include <rdma/rdma_reject.h>

#include "mad_priv.h"

/**
 * struct mad_service - a QP for MADs
 * @mad_qp: the part that its owner sees
 * @port: the port that it has instead of the device's; its agents may keep that allocated longer
 */
struct mad_service {
	struct ib_mad_qp mad_qp;
	struct mad_port *port;
};

static int check(struct ib_device *device, u32 port_num, u16 pkey_index)
{
	u16 pkey;

	if (!rdma_is_port_valid(device, port_num))
		return rdma_refuse(-EINVAL, "there is no port %u", port_num);
	if (!rdma_cap_ib_mad(device, port_num))
		return rdma_refuse(-EOPNOTSUPP, "port %u exchanges no MADs", port_num);
	if (rdma_cap_opa_mad(device, port_num))
		return rdma_refuse(-EOPNOTSUPP, "port %u is an Omni-Path port", port_num);
	if (ib_get_cached_pkey(device, port_num, pkey_index, &pkey))
		return rdma_refuse(-EINVAL, "port %u has no P_Key of index %u", port_num,
				   pkey_index);
	return 0;
}

/**
 * ib_create_mad_qp() - make a datagram QP for MADs
 * @device: device, which stays until ib_destroy_mad_qp()
 * @port_num: number of the port
 * @pkey_index: index of the P_Key of sent and received MADs in the port's table
 * @qkey: Q_Key of received and sent MADs; IB_QP1_QKEY to exchange MADs with QP1s, which send with
 *	theirs
 *
 * The QP is ready to send and receive on return, with an agent of the core and posted receives;
 * requests without an agent are refused as at QP1. Its number is that of mad_qp->qp, and address
 * handles for sending belong to its PD. Module parameters give the size of its queues, as for QP1.
 *
 * Context: may sleep.
 * Return: the QP, for ib_destroy_mad_qp(); -EINVAL for a port or a P_Key that the device does not
 * have; -EOPNOTSUPP for a port that exchanges no MADs of 256 bytes; -ENOMEM; the error of a
 * security module or of the driver.
 */
struct ib_mad_qp *ib_create_mad_qp(struct ib_device *device, u32 port_num, u16 pkey_index,
				   u32 qkey)
{
	struct mad_service *service;
	int ret = check(device, port_num, pkey_index);

	if (ret)
		return ERR_PTR(ret);
	service = kzalloc(sizeof(*service), GFP_KERNEL);
	if (!service)
		return ERR_PTR(-ENOMEM);
	ret = -ENOMEM;
	service->port = mad_port_alloc(device, port_num);
	if (!service->port)
		goto free;
	service->port->service = true;
	service->port->pkey_index = pkey_index;
	service->port->qkey = qkey;
	ret = mad_port_begin(service->port);
	if (ret)
		goto free;
	service->mad_qp.qp = service->port->qp[1].qp;
	return &service->mad_qp;

free:
	kfree(service);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_create_mad_qp);

/**
 * ib_destroy_mad_qp() - end a QP for MADs
 * @mad_qp: QP of ib_create_mad_qp(); freed. Pending MADs end with IB_WC_WR_FLUSH_ERR. Agents that
 *	it still has exchange no more MADs, and are unregistered later
 *
 * Address handles of its PD must have been destroyed. Context: may sleep, until handlers have
 * returned; not from a handler.
 */
void ib_destroy_mad_qp(struct ib_mad_qp *mad_qp)
{
	struct mad_service *service = container_of(mad_qp, struct mad_service, mad_qp);

	mad_port_end(service->port);
	kfree(service);
}
EXPORT_SYMBOL(ib_destroy_mad_qp);

/**
 * ib_register_mad_svc() - register an agent at a QP for MADs
 * @mad_qp: QP of ib_create_mad_qp()
 * @req: requests that the agent handles; NULL if it only sends
 * @rmpp_version: as for ib_register_mad_agent()
 * @send_handler: likewise
 * @recv_handler: likewise
 * @context: likewise
 * @flags: likewise
 *
 * The agent is used like those at QP1. It belongs to @mad_qp alone, so that agents at QP1 may have
 * the same classes and methods. The P_Key indices with which its MADs are created are ignored.
 *
 * Context: may sleep.
 * Return: the agent, for ib_unregister_mad_agent(); errors of ib_register_mad_agent().
 */
struct ib_mad_agent *ib_register_mad_svc(struct ib_mad_qp *mad_qp, struct ib_mad_reg_req *req,
					 u8 rmpp_version, ib_mad_send_handler send_handler,
					 ib_mad_recv_handler recv_handler, void *context,
					 u32 flags)
{
	struct mad_service *service = container_of(mad_qp, struct mad_service, mad_qp);
	const struct ib_mad_agent template = {
		.recv_handler = recv_handler,
		.send_handler = send_handler,
		.context = context,
		.flags = flags,
		.rmpp_version = rmpp_version,
	};

	refcount_inc(&service->port->refs);
	return mad_agent_register(service->port, IB_QPT_GSI, req, &template);
}
EXPORT_SYMBOL(ib_register_mad_svc);
