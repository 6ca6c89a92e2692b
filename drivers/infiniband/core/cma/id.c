// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Life of an id, and how its events reach the consumer.
 *
 * An id is moved to DESTROYING under its handler lock: no handler of it runs then, and none is
 * called afterwards, because each checks the state first.  Next, what is in progress is ended,
 * without locks.  Last, remaining references to the id are waited for.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/module.h>
#include <linux/nsproxy.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "../object/object.h"
#include "query.h"
#include "trace.h"

static void deliver_reports(struct work_struct *work);

/**
 * cma_create_id() - make an id that belongs to nobody yet
 * @net: network namespace; a reference is taken
 * @event_handler: consumer's handler
 * @context: for the consumer
 * @ps: port space
 * @qp_type: type of its QP
 *
 * The caller says who made it, in @owner.
 *
 * Context: may sleep.
 * Return: the id, or -ENOMEM.
 */
struct cma_id *cma_create_id(struct net *net, rdma_cm_event_handler event_handler, void *context,
			     enum rdma_ucm_port_space ps, enum ib_qp_type qp_type)
{
	struct cma_id *id = kzalloc(sizeof(*id), GFP_KERNEL);

	if (!id)
		return ERR_PTR(-ENOMEM);
	id->id.event_handler = event_handler;
	id->id.context = context;
	id->id.ps = ps;
	id->id.qp_type = qp_type;
	id->id.route.addr.dev_addr.net = get_net(net);
	spin_lock_init(&id->lock);
	mutex_init(&id->handler_lock);
	mutex_init(&id->qp_lock);
	mutex_init(&id->mcast_lock);
	INIT_LIST_HEAD(&id->reports);
	INIT_WORK(&id->report_work, deliver_reports);
	refcount_set(&id->refs, 1);
	init_completion(&id->released);
	INIT_LIST_HEAD(&id->device_entry);
	INIT_LIST_HEAD(&id->listens);
	INIT_LIST_HEAD(&id->wildcard_entry);
	INIT_LIST_HEAD(&id->mcasts);
	INIT_HLIST_NODE(&id->port_entry);
	INIT_HLIST_NODE(&id->neigh_entry);
	/* PSNs have 24 bits. */
	id->seq_num = get_random_u32() & GENMASK(23, 0);
	rdma_restrack_new(&id->owner, RDMA_RESTRACK_MAX);
	return id;
}

/**
 * __rdma_create_kernel_id() - create an id for a kernel module
 * @net: network namespace
 * @event_handler: called for each event, one at a time, in process context.  When it returns other
 *	than 0, the id is destroyed, and must not be used by the consumer again
 * @context: for the consumer
 * @ps: port space
 * @qp_type: type of QP
 * @caller: name of the module
 *
 * Callers use rdma_create_id().
 *
 * Context: may sleep.
 * Return: the id, or -ENOMEM.
 */
struct rdma_cm_id *__rdma_create_kernel_id(struct net *net, rdma_cm_event_handler event_handler,
					   void *context, enum rdma_ucm_port_space ps,
					   enum ib_qp_type qp_type, const char *caller)
{
	struct cma_id *id = cma_create_id(net, event_handler, context, ps, qp_type);

	if (IS_ERR(id))
		return ERR_CAST(id);
	rdma_restrack_set_name(&id->owner, caller);
	return &id->id;
}
EXPORT_SYMBOL(__rdma_create_kernel_id);

/**
 * rdma_create_user_id() - create an id for the current process, in its network namespace
 * @event_handler: as for __rdma_create_kernel_id()
 * @context: for the consumer
 * @ps: port space
 * @qp_type: type of QP
 *
 * Context: process context, may sleep.
 * Return: the id, or -ENOMEM.
 */
struct rdma_cm_id *rdma_create_user_id(rdma_cm_event_handler event_handler, void *context,
				       enum rdma_ucm_port_space ps, enum ib_qp_type qp_type)
{
	struct cma_id *id = cma_create_id(current->nsproxy->net_ns, event_handler, context, ps,
					  qp_type);

	if (IS_ERR(id))
		return ERR_CAST(id);
	rdma_restrack_set_name(&id->owner, NULL);
	return &id->id;
}
EXPORT_SYMBOL(rdma_create_user_id);

/**
 * cma_create_child() - make an id for a request of a peer
 * @listener: the id that listens for the request
 *
 * It has the listener's handler, context, port space, QP type, type of service and owner.
 *
 * Context: may sleep.
 * Return: the id in IDLE, or -ENOMEM.
 */
struct cma_id *cma_create_child(struct cma_id *listener)
{
	struct cma_id *id = cma_create_id(listener->id.route.addr.dev_addr.net,
					  listener->id.event_handler, listener->id.context,
					  listener->id.ps, listener->id.qp_type);

	if (IS_ERR(id))
		return id;
	rdma_restrack_parent_name(&id->owner, &listener->owner);
	mutex_lock(&listener->qp_lock);
	id->tos = listener->tos;
	id->tos_set = listener->tos_set;
	mutex_unlock(&listener->qp_lock);
	return id;
}
EXPORT_SYMBOL_IF_KUNIT(cma_create_child);

/* ---- events ---- */

/* Takes one report; false when there was none.  Whatever the handler returned goes to @ret. */
static bool deliver_next(struct cma_id *id, int *ret)
{
	struct cma_report *report = cma_next_report(id);
	struct rdma_cm_event event = {};

	if (!report)
		return false;
	if (report->take(id, report, &event))
		*ret = cma_deliver(id, &event);
	if (event.event == RDMA_CM_EVENT_MULTICAST_JOIN)
		rdma_destroy_ah_attr(&event.param.ud.ah_attr);
	return true;
}

/* The work of an id with reports. */
static void deliver_reports(struct work_struct *work)
{
	struct cma_id *id = container_of(work, struct cma_id, report_work);
	int ret = 0;

	mutex_lock(&id->handler_lock);
	while (!ret && deliver_next(id, &ret))
		;
	if (ret) {
		/* The consumer's reference is ours from now on. */
		cma_put_id(id);
		cma_destroy_unlock(id);
		return;
	}
	mutex_unlock(&id->handler_lock);
	cma_put_id(id);
}

/* ---- the end ---- */

/**
 * cma_cancel() - end what an id had in progress
 * @id: the id, with a reference of the caller, which holds no lock
 * @from: the state that it has left for DEVICE_REMOVAL or DESTROYING
 */
VISIBLE_IF_KUNIT void cma_cancel(struct cma_id *id, enum rdma_cm_state from)
{
	KUNIT_STATIC_STUB_REDIRECT(cma_cancel, id, from);
	switch (from) {
	case RDMA_CM_ADDR_QUERY:
	case RDMA_CM_ROUTE_QUERY:
		cma_cancel_query(id, from);
		break;
	case RDMA_CM_LISTEN:
		cma_unlisten(id);
		break;
	default:
		break;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cma_cancel);

static void destroy_cm_id(struct cma_id *id)
{
	struct ib_device *device = id->cma_dev->device;

	if (!id->cm_id.ib)
		return;
	if (rdma_cap_ib_cm(device, rdma_start_port(device)))
		ib_destroy_cm_id(id->cm_id.ib);
	else
		iw_destroy_cm_id(cma_take_iw(id));
}

/* No look-up finds the id any more. */
static void free_id(struct cma_id *id)
{
	if (id->owner.user)
		put_task_struct(id->owner.task);
	/* Of a query that was cancelled just when it had begun. */
	cma_free_answer(id->answer);
	kfree(id->id.route.path_rec);
	kfree(id->id.route.path_rec_inbound);
	kfree(id->id.route.path_rec_outbound);
	put_net(id->id.route.addr.dev_addr.net);
	kfree_rcu(id, rcu);
}

/* The id is in DESTROYING; the handler lock is held, and is released here. */
static void destroy_from(struct cma_id *id, enum rdma_cm_state from)
	__releases(&id->handler_lock)
{
	struct rdma_cm_event event = {};
	struct cma_report *report;

	/* Each finds the id destroyed, and frees itself. */
	while ((report = cma_next_report(id)))
		WARN_ON_ONCE(report->take(id, report, &event));
	/*
	 * The work may be what calls this, and queued again: it would run only after this, which
	 * waits for its reference.
	 */
	if (cancel_work(&id->report_work))
		cma_put_id(id);
	mutex_unlock(&id->handler_lock);

	cma_cancel(id, from);
	/* A listen may have begun while the device went away, or be left by a failure. */
	cma_unlisten(id);
	if (id->cma_dev)
		destroy_cm_id(id);
	cma_leave_all(id);
	cma_release_device(id);
	cma_release_port(id);
	cma_put_id(id);
	wait_for_completion(&id->released);
	/* A call that has just ended may have begun to watch. */
	cma_unwatch_neighbour(id);
	free_id(id);
}

/**
 * cma_destroy_unlock() - destroy an id whose handler lock is held
 * @id: the id; gone when this returns
 *
 * Context: may sleep; waits for handlers of ib_cm or iw_cm, unless cm_id is NULL.
 */
void cma_destroy_unlock(struct cma_id *id)
	__releases(&id->handler_lock)
{
	enum rdma_cm_state from = RDMA_CM_IDLE;

	trace_cm_id_destroy(id);
	WARN_ON_ONCE(!cma_step_from(id, CMA_DESTROY, &from));
	destroy_from(id, from);
}
EXPORT_SYMBOL_IF_KUNIT(cma_destroy_unlock);

/**
 * cma_destroy() - destroy an id
 * @id: the id; gone when this returns
 *
 * Context: may sleep; waits for its handler.
 */
void cma_destroy(struct cma_id *id)
{
	mutex_lock(&id->handler_lock);
	cma_destroy_unlock(id);
}

/**
 * rdma_destroy_id() - destroy an id
 * @id: the id; its QP is destroyed before
 *
 * When it returns, no handler of the id runs, and none will.  A connection is ended without notice.
 *
 * Context: may sleep; not in the id's own handler, which returns other than 0 for this.
 */
void rdma_destroy_id(struct rdma_cm_id *id)
{
	cma_destroy(to_cma_id(id));
}
EXPORT_SYMBOL(rdma_destroy_id);

/**
 * cma_remove_id() - report to an id that its device is removed
 * @id: the id, with a reference of the caller, which this drops
 *
 * Ends what the id has in progress.  The id keeps its device until the consumer destroys it, also
 * by the handler's return value.
 *
 * Context: may sleep.
 */
void cma_remove_id(struct cma_id *id)
{
	struct rdma_cm_event event = { .event = RDMA_CM_EVENT_DEVICE_REMOVAL };
	enum rdma_cm_state from, removal;

	mutex_lock(&id->handler_lock);
	if (!cma_step_from(id, CMA_REMOVE, &from)) {
		mutex_unlock(&id->handler_lock);
		cma_put_id(id);
		return;
	}
	if (cma_deliver(id, &event)) {
		cma_put_id(id);
		trace_cm_id_destroy(id);
		WARN_ON_ONCE(!cma_step_from(id, CMA_DESTROY, &removal));
		destroy_from(id, from);
		return;
	}
	mutex_unlock(&id->handler_lock);
	cma_cancel(id, from);
	cma_put_id(id);
}
