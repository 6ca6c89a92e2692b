// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Answers: those of the core itself, which free themselves when they end, and those of agents.
 * Packets that a switch forwards are sent like the former.
 */
#include <rdma/ib_smi.h>
#include <rdma/rdma_ext.h>

#include "mad_priv.h"

/**
 * mad_reply_alloc() - make a MAD to the sender of another one
 * @agent: agent that sends it
 * @recv: the other MAD
 * @base_version: version of the MAD, which determines its size
 *
 * Context: may sleep.
 * Return: the MAD, cleared, for mad_reply_post(); or NULL.
 */
struct mad_send *mad_reply_alloc(struct mad_agent *agent, struct mad_recv *recv, u8 base_version)
{
	struct mad_port *port = agent->port;
	int size = mad_size(port, base_version);
	struct ib_ah *ah = NULL;
	struct mad_send *send;

	send = mad_send_alloc(agent, recv->wc.src_qp, recv->wc.pkey_index, false, IB_MGMT_MAD_HDR,
			      size - IB_MGMT_MAD_HDR, GFP_KERNEL, base_version);
	if (IS_ERR(send))
		return NULL;
	if (!recv->local) {
		/*
		 * The MADs of a port are handled one after the other, so this does not wait for a
		 * neighbour. A request whose sender would have to be resolved first is lost, and is
		 * sent again.
		 */
		if (!rdma_wc_sender_is_known(port->device, port->port_num, &recv->wc, &recv->grh)) {
			mad_send_free(send);
			return NULL;
		}
		ah = ib_create_ah_from_wc(port->pd, &recv->wc, &recv->grh, port->port_num);
		if (IS_ERR(ah)) {
			mad_send_free(send);
			return NULL;
		}
	}
	send->buf.ah = ah;
	send->internal = true;
	/* All ports of a switch share the QPs of port 0. */
	if (rdma_cap_ib_switch(port->device))
		send->wr.port_num = recv->wc.port_num;
	return send;
}

/**
 * mad_reply_post() - send a MAD that frees itself
 * @send: made by mad_reply_alloc()
 *
 * Context: may sleep.
 */
void mad_reply_post(struct mad_send *send)
{
	struct ib_ah *ah = send->buf.ah;

	if (!mad_send_post(send))
		return;
	if (ah)
		rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
	mad_send_free(send);
}

/**
 * mad_reply() - send the answer of the driver
 * @port: port from which it is sent
 * @recv: MAD that is answered
 * @mad: the MAD to send
 * @size: its length in bytes
 * @pkey_index: its P_Key
 *
 * Without memory the answer is lost as on the wire.
 *
 * Context: may sleep.
 */
void mad_reply(struct mad_port *port, struct mad_recv *recv, const struct ib_mad *mad, size_t size,
	       u16 pkey_index)
{
	struct mad_agent *own = port->own[recv->qp->index];
	struct mad_send *send;

	send = mad_reply_alloc(own, recv, mad->mad_hdr.base_version);
	if (!send)
		return;
	send->wr.pkey_index = pkey_index;
	memcpy(send->mad, mad, min_t(size_t, size, send->size));
	mad_reply_post(send);
}

/**
 * mad_reply_unsupported() - answer that a request is not supported
 * @recv: a Get or Set; others are not answered
 *
 * Context: may sleep.
 * Return: whether it is answered.
 */
bool mad_reply_unsupported(struct mad_recv *recv)
{
	const struct ib_mad_hdr *request = recv_hdr(recv);
	struct mad_port *port = recv->qp->port;
	struct mad_send *send;
	struct ib_mad_hdr *hdr;

	if (request->method != IB_MGMT_METHOD_GET && request->method != IB_MGMT_METHOD_SET)
		return false;
	send = mad_reply_alloc(port->own[recv->qp->index], recv, request->base_version);
	if (!send)
		return false;
	memcpy(send->mad, recv->mad, min_t(size_t, recv->size, send->size));
	hdr = send_hdr(send);
	hdr->method = IB_MGMT_METHOD_GET_RESP;
	hdr->status = cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB);
	if (hdr->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		hdr->status |= IB_SMP_DIRECTION;
	mad_reply_post(send);
	return true;
}

/**
 * mad_forward() - forward a packet with a directed route, at a switch
 * @recv: the packet, which smi_route_received() has routed
 * @out_port: port from which it leaves; 0 if its destination LID determines the port
 *
 * Without memory the packet is lost as on the wire.
 *
 * Context: may sleep.
 */
void mad_forward(struct mad_recv *recv, u8 out_port)
{
	struct ib_smp *smp = (struct ib_smp *)recv->mad;
	struct mad_port *port = recv->qp->port;
	struct rdma_ah_attr to = { .type = rdma_ah_find_type(port->device, port->port_num) };
	__be16 lid = ib_get_smp_direction(smp) ? smp->dr_slid : smp->dr_dlid;
	struct mad_send *send;
	struct ib_ah *ah;

	send = mad_send_alloc(port->own[0], IB_QP0, recv->wc.pkey_index, false, IB_MGMT_MAD_HDR,
			      IB_MGMT_MAD_DATA, GFP_KERNEL, smp->base_version);
	if (IS_ERR(send))
		return;
	rdma_ah_set_port_num(&to, port->port_num);
	rdma_ah_set_sl(&to, recv->wc.sl);
	rdma_ah_set_dlid(&to, be16_to_cpu(out_port ? IB_LID_PERMISSIVE : lid));
	ah = rdma_create_ah(port->pd, &to, RDMA_CREATE_AH_SLEEPABLE);
	if (IS_ERR(ah)) {
		mad_send_free(send);
		return;
	}
	send->buf.ah = ah;
	send->internal = true;
	send->forwarded = true;
	send->wr.port_num = out_port;
	memcpy(send->mad, smp, IB_MGMT_MAD_SIZE);
	mad_reply_post(send);
}

/**
 * ib_create_mad_reply() - make an answer to a request that an agent has received
 * @agent: the agent
 * @recv: the request
 * @hdr_len: bytes of the class's header, as for ib_create_send_mad()
 * @data_len: bytes of its data
 *
 * Its destination is the sender of the request, with the same P_Key. Its first 24 bytes are the
 * request's, with the method of the response and status 0; the rest is zero.
 *
 * Context: may sleep.
 * Return: the MAD for ib_post_send_mad(), to be freed by ib_free_mad_reply(), also in the agent's
 * send handler; -EINVAL if the request is a response, which is not answered, or has a directed
 * route; -ENOMEM; the driver's error.
 */
struct ib_mad_send_buf *ib_create_mad_reply(struct ib_mad_agent *agent,
					    const struct ib_mad_recv_wc *recv, int hdr_len,
					    int data_len)
{
	const struct ib_mad_hdr *request = &recv->recv_buf.mad->mad_hdr;
	struct ib_mad_send_buf *reply;
	struct ib_mad_hdr *hdr;
	struct ib_ah *ah;

	if (ib_response_mad(request) ||
	    request->mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		return ERR_PTR(-EINVAL);
	reply = ib_create_send_mad(agent, recv->wc->src_qp, recv->wc->pkey_index, 0, hdr_len,
				   data_len, GFP_KERNEL, request->base_version);
	if (IS_ERR(reply))
		return reply;
	ah = ib_create_ah_from_wc(agent->qp->pd, recv->wc, recv->recv_buf.grh, agent->port_num);
	if (IS_ERR(ah)) {
		ib_free_send_mad(reply);
		return ERR_CAST(ah);
	}
	reply->ah = ah;
	hdr = reply->mad;
	*hdr = *request;
	if (request->method == IB_MGMT_METHOD_SET)
		hdr->method = IB_MGMT_METHOD_GET_RESP;
	else if (request->method == IB_MGMT_METHOD_TRAP)
		hdr->method = IB_MGMT_METHOD_TRAP_REPRESS;
	else
		hdr->method = request->method | IB_MGMT_METHOD_RESP;
	hdr->status = 0;
	return reply;
}
EXPORT_SYMBOL(ib_create_mad_reply);

/**
 * ib_free_mad_reply() - free an answer
 * @reply: answer of ib_create_mad_reply() that is not pending
 *
 * Context: may sleep.
 */
void ib_free_mad_reply(struct ib_mad_send_buf *reply)
{
	struct ib_ah *ah = reply->ah;

	ib_free_send_mad(reply);
	rdma_destroy_ah(ah, RDMA_DESTROY_AH_SLEEPABLE);
}
EXPORT_SYMBOL(ib_free_mad_reply);
