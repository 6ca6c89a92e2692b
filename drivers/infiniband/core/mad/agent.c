// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Agents: their registrations for requests, and the assignment of responses to agents by TID.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <rdma/rdma_reject.h>

#include "../object/object.h"
#include "access.h"
#include "mad_priv.h"
#include "trace.h"

/* Classes and their versions beyond these do not exist, or are directed routes. */
#define MAX_CLASS 80
#define MAX_CLASS_VERSION OPA_SM_CLASS_VERSION

/* All agents by hi_tid. The entry of an agent that is not ready is NULL. */
static DEFINE_XARRAY_FLAGS(agents, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
/* Where the search for the next agent's hi_tid begins. */
VISIBLE_IF_KUNIT u32 mad_next_hi_tid;
EXPORT_SYMBOL_IF_KUNIT(mad_next_hi_tid);

/**
 * mad_agents_exit() - free the table of agents, which is empty
 */
void mad_agents_exit(void)
{
	rdma_xa_destroy(&agents);
}

/**
 * mad_agent_make() - create an agent and let look-ups find it
 * @qp: QP that it uses; the agent takes the caller's reference of the port
 * @req: the requests that it handles, or NULL
 * @template: its public part
 *
 * Context: may sleep.
 * Return: the agent, to be ended with mad_agent_end(); or an error, with the port's reference left
 * to the caller.
 */
struct mad_agent *mad_agent_make(struct mad_qp *qp, const struct ib_mad_reg_req *req,
				 const struct ib_mad_agent *template)
{
	struct mad_agent *agent = kzalloc(sizeof(*agent), GFP_KERNEL);
	struct mad_port *port = qp->port;
	int ret;

	if (!agent)
		return ERR_PTR(-ENOMEM);
	agent->agent = *template;
	agent->agent.device = port->device;
	agent->agent.qp = qp->qp;
	agent->agent.port_num = port->port_num;
	agent->port = port;
	agent->qp = qp;
	agent->dev_index = port->device->index;
	if (req)
		agent->req = *req;
	refcount_set(&agent->refs, 1);
	init_completion(&agent->gone);
	INIT_LIST_HEAD(&agent->sends);
	INIT_LIST_HEAD(&agent->queue);
	INIT_LIST_HEAD(&agent->eager);
	mad_partials_begin(agent);

	ret = mad_access_begin(agent);
	if (ret)
		goto free;
	ret = xa_alloc_cyclic_irq(&agents, &agent->agent.hi_tid, NULL, XA_LIMIT(1, MAD_MAX_HI_TID),
				  &mad_next_hi_tid, GFP_KERNEL);
	if (ret < 0)
		goto access;
	scoped_guard(spinlock_irqsave, &port->lock) {
		ret = port->open ? 0 : -ENODEV;
		if (!ret)
			ret = mad_table_add(&qp->table, &agent->req, agent, GFP_ATOMIC);
		if (!ret)
			list_add_tail(&agent->entry, &port->agents);
	}
	if (!ret) {
		/* The entry is reserved, so this allocates no memory. */
		xa_store_irq(&agents, agent->agent.hi_tid, agent, GFP_KERNEL);
		trace_ib_mad_create_agent(agent);
		return agent;
	}
	xa_erase_irq(&agents, agent->agent.hi_tid);
access:
	mad_access_end(agent);
free:
	kfree(agent);
	return ERR_PTR(ret);
}

/* Recovers a QP that holds posted sends but neither completes nor fails them. */
static void help_out(struct mad_agent *agent)
{
	struct mad_port *port = agent->port;
	struct mad_qp *qp = agent->qp;
	struct mad_send *send;

	guard(spinlock_irqsave)(&port->lock);
	if (!port->open || qp->stalled)
		return;
	list_for_each_entry(send, &agent->sends, entry) {
		if (!send->posted)
			continue;
		qp->stalled = true;
		queue_work(port->wq, &qp->recover);
		return;
	}
}

/**
 * mad_agent_end() - end an agent
 * @agent: agent; freed, with its reference to the port
 *
 * Context: may sleep until its handlers have returned and its send buffers are freed.
 */
void mad_agent_end(struct mad_agent *agent)
{
	struct mad_port *port = agent->port;
	struct mad_send *send, *next;

	trace_ib_mad_unregister_agent(agent);
	xa_erase_irq(&agents, agent->agent.hi_tid);
	scoped_guard(spinlock_irqsave, &port->lock) {
		agent->closed = true;
		mad_table_remove(&agent->qp->table, &agent->req, agent);
		list_for_each_entry_safe(send, next, &agent->sends, entry)
			mad_send_cancel(send);
		/*
		 * Not called here, as other agents' handlers may need a lock that the caller holds.
		 */
		if (port->open)
			queue_work(port->wq, &port->done_work);
	}
	mad_agent_put(agent);
	while (!wait_for_completion_timeout(&agent->gone, mad_patience))
		help_out(agent);
	mad_partials_end(agent);
	scoped_guard(spinlock_irqsave, &port->lock)
		list_del(&agent->entry);
	mad_access_end(agent);
	kfree(agent);
	mad_port_put(port);
}

/**
 * mad_agent_find() - find the agent for a MAD that has arrived
 * @qp: QP at which it has arrived
 * @mad: the MAD
 *
 * Context: any.
 * Return: the agent with a reference, or NULL.
 */
struct mad_agent *mad_agent_find(struct mad_qp *qp, const struct ib_mad *mad)
{
	struct mad_agent *agent;
	unsigned long flags;

	if (ib_response_mad(&mad->mad_hdr)) {
		xa_lock_irqsave(&agents, flags);
		agent = xa_load(&agents, be64_to_cpu(mad->mad_hdr.tid) >> 32);
		if (agent && agent->qp != qp)
			agent = NULL;
		if (agent)
			refcount_inc(&agent->refs);
		xa_unlock_irqrestore(&agents, flags);
		return agent;
	}
	guard(spinlock_irqsave)(&qp->port->lock);
	agent = mad_table_find(&qp->table, mad);
	if (agent)
		refcount_inc(&agent->refs);
	return agent;
}

static int check_request(const struct ib_mad_reg_req *req, enum ib_qp_type qp_type)
{
	unsigned int qp_num = qp_type == IB_QPT_SMI ? 0 : 1;

	if (!req->mgmt_class ||
	    (req->mgmt_class >= MAX_CLASS &&
	     req->mgmt_class != IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE))
		return rdma_refuse(-EINVAL, "management class 0x%02x: none that agents may have",
				   req->mgmt_class);
	if (req->mgmt_class_version > MAX_CLASS_VERSION)
		return rdma_refuse(-EINVAL, "class version 0x%02x > 0x%02x",
				   req->mgmt_class_version, MAX_CLASS_VERSION);
	if (mad_class_has_oui(req->mgmt_class) && !(req->oui[0] | req->oui[1] | req->oui[2]))
		return rdma_refuse(-EINVAL, "class 0x%02x needs an OUI", req->mgmt_class);
	if (mad_class_is_smp(req->mgmt_class) != !qp_num)
		return rdma_refuse(-EINVAL, "class 0x%02x is not one of QP%u", req->mgmt_class,
				   qp_num);
	return 0;
}

static int check_registration(enum ib_qp_type qp_type, const struct ib_mad_reg_req *req,
			      const struct ib_mad_agent *template)
{
	u8 rmpp_version = template->rmpp_version;

	if (qp_type != IB_QPT_SMI && qp_type != IB_QPT_GSI)
		return rdma_refuse(-EINVAL, "QP type %u has no agents", qp_type);
	if (rmpp_version && rmpp_version != IB_MGMT_RMPP_VERSION)
		return rdma_refuse(-EINVAL, "RMPP version %u is not %u", rmpp_version,
				   IB_MGMT_RMPP_VERSION);
	if (template->flags & IB_MAD_USER_RMPP && !rmpp_version)
		return rdma_refuse(-EINVAL, "RMPP of its own without RMPP");
	if (!req)
		return template->send_handler ? 0 :
						rdma_refuse(-EINVAL, "an agent for nothing");
	if (!template->recv_handler)
		return rdma_refuse(-EINVAL, "requests without a handler");
	if (rmpp_version && !ib_is_mad_class_rmpp(req->mgmt_class))
		return rdma_refuse(-EINVAL, "class 0x%02x has no RMPP", req->mgmt_class);
	return check_request(req, qp_type);
}

/**
 * mad_agent_register() - check a registration, and make the agent
 * @port: port with a reference, which the agent takes over or which is dropped; NULL if there is
 *	none
 * @qp_type: IB_QPT_SMI or IB_QPT_GSI
 * @req: the requests that it handles, or NULL
 * @template: its public part
 *
 * Context: may sleep.
 * Return: the agent, or the error of ib_register_mad_agent().
 */
struct ib_mad_agent *mad_agent_register(struct mad_port *port, enum ib_qp_type qp_type,
					const struct ib_mad_reg_req *req,
					const struct ib_mad_agent *template)
{
	int ret = check_registration(qp_type, req, template);
	struct mad_agent *agent;
	struct mad_qp *qp;

	if (!port)
		return ERR_PTR(ret ?: -ENODEV);
	if (!ret) {
		qp = &port->qp[qp_type == IB_QPT_GSI];
		agent = qp->qp ? mad_agent_make(qp, req, template) : ERR_PTR(-EPROTONOSUPPORT);
		if (!IS_ERR(agent))
			return &agent->agent;
		ret = PTR_ERR(agent);
	}
	mad_port_put(port);
	return ERR_PTR(ret);
}

/**
 * ib_register_mad_agent() - register an agent at a port
 * @device: device, which is not removed during the call
 * @port_num: number of the port
 * @qp_type: IB_QPT_SMI or IB_QPT_GSI
 * @mad_reg_req: requests that the agent handles; NULL if it only sends
 * @rmpp_version: IB_MGMT_RMPP_VERSION, or 0: the agent's MADs have no RMPP header
 * @send_handler: called when a MAD of the agent has ended; needed to send
 * @recv_handler: called with requests and responses, which the agent frees by ib_free_recv_mad();
 *	needed to receive
 * @context: kept in the agent
 * @registration_flags: IB_MAD_USER_RMPP: the agent does RMPP itself
 *
 * Each method of a class, version and OUI has at most one agent at a port. TIDs of the agent's
 * requests have hi_tid in their upper half. The handlers may sleep, and may run at the same time.
 *
 * Context: may sleep.
 * Return: the agent, for ib_unregister_mad_agent(); -ENODEV if the port exchanges no MADs;
 * -EPROTONOSUPPORT if it does, but not at this QP; -EINVAL for invalid parameters or a method that
 * another agent has; -ENOMEM; the error of a security module.
 */
struct ib_mad_agent *ib_register_mad_agent(struct ib_device *device, u32 port_num,
					   enum ib_qp_type qp_type,
					   struct ib_mad_reg_req *mad_reg_req, u8 rmpp_version,
					   ib_mad_send_handler send_handler,
					   ib_mad_recv_handler recv_handler, void *context,
					   u32 registration_flags)
{
	const struct ib_mad_agent template = {
		.recv_handler = recv_handler,
		.send_handler = send_handler,
		.context = context,
		.flags = registration_flags,
		.rmpp_version = rmpp_version,
	};

	KUNIT_STATIC_STUB_REDIRECT(ib_register_mad_agent, device, port_num, qp_type, mad_reg_req,
				   rmpp_version, send_handler, recv_handler, context,
				   registration_flags);
	return mad_agent_register(mad_port_get(device, port_num), qp_type, mad_reg_req, &template);
}
EXPORT_SYMBOL(ib_register_mad_agent);

/**
 * ib_unregister_mad_agent() - unregister an agent
 * @mad_agent: agent; its pending MADs end with IB_WC_WR_FLUSH_ERR. Its device may have been removed
 *
 * MADs that it has received may be freed later.
 *
 * Context: may sleep, until its handlers have returned and all its send buffers are freed; not from
 * a handler.
 */
void ib_unregister_mad_agent(struct ib_mad_agent *mad_agent)
{
	KUNIT_STATIC_STUB_REDIRECT(ib_unregister_mad_agent, mad_agent);
	mad_agent_end(to_mad_agent(mad_agent));
}
EXPORT_SYMBOL(ib_unregister_mad_agent);
