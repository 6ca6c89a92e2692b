// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Handling of events.
 *
 * An object is found by its number, and a reference is held while its consumer's handler runs.
 * Objects leave the tables before they are destroyed, and destruction waits for the references: a
 * destroyed object never gets an event. Nor does a later object with the same number get an event
 * of the former one (queue/id_table.c).
 */
#include <kunit/visibility.h>

#include "../verbs/cq.h"
#include "../verbs/qp.h"
#include "../verbs/srq.h"
#include "device.h"

/* Kills a device because of an invalid entry. */
static void give_up(struct vhca_eq *eq, const struct vhca_eqe *eqe, const char *why)
{
	if (vhca_hw_kill(eq->hw, why))
		dev_err(eq->hw->dev, "event queue %u: event %#x of object %#x, port %u\n", eq->eqn,
			eqe->event, le32_to_cpu(eqe->number), eqe->port);
}

/**
 * vhca_comp_event() - handle an entry of a completion event queue
 * @eq: the queue
 * @eqe: copy of the entry
 * @count: its count
 *
 * An event of a CQ that was destroyed after the device wrote the entry is dropped.
 *
 * Context: the vector's lock is held, with interrupts off.
 */
void vhca_comp_event(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count)
{
	struct vhca_vector *vector = container_of(eq, struct vhca_vector, eq);
	struct vhca_target *target;
	struct vhca_cq *cq;

	if (eqe->event != VHCA_EV_COMPLETION)
		return give_up(eq, eqe, "it reports another event than a completion");
	target = vhca_id_get(&vector->cqs, le32_to_cpu(eqe->number), count);
	if (!target)
		return;
	cq = container_of(target, struct vhca_cq, comp);
	if (cq->ibcq.comp_handler && (!cq->kernel || vhca_cq_was_armed(cq->kernel)))
		cq->ibcq.comp_handler(&cq->ibcq, cq->ibcq.cq_context);
	vhca_target_put(target);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_comp_event);

static void cq_event(struct vhca_dev *dev, u32 cqn, u64 count, enum ib_event_type type)
{
	struct ib_event event = { .device = &dev->ibdev, .event = type };
	struct vhca_target *target = vhca_id_get(&dev->cqs, cqn, count);
	struct vhca_cq *cq;

	if (!target)
		return;
	cq = container_of(target, struct vhca_cq, async);
	event.element.cq = &cq->ibcq;
	if (cq->ibcq.event_handler)
		cq->ibcq.event_handler(&event, cq->ibcq.cq_context);
	vhca_target_put(target);
}

static void qp_event(struct vhca_dev *dev, u32 id, u64 count, enum ib_event_type type)
{
	struct ib_event event = { .device = &dev->ibdev, .event = type };
	struct vhca_target *target = vhca_id_get(&dev->qps, id, count);
	struct vhca_qp *qp;

	if (!target)
		return;
	qp = container_of(target, struct vhca_qp, async);
	if (qp->kernel && (type == IB_EVENT_QP_FATAL || type == IB_EVENT_QP_REQ_ERR ||
			   type == IB_EVENT_QP_ACCESS_ERR))
		vhca_qp_broken(qp);
	if (qp->kernel && type == IB_EVENT_QP_LAST_WQE_REACHED)
		vhca_qp_given_back(qp);
	event.element.qp = &qp->ibqp;
	if (qp->ibqp.event_handler)
		qp->ibqp.event_handler(&event, qp->ibqp.qp_context);
	vhca_target_put(target);
}

static void srq_event(struct vhca_dev *dev, u32 srqn, u64 count, enum ib_event_type type)
{
	struct ib_event event = { .device = &dev->ibdev, .event = type };
	struct vhca_target *target = vhca_id_get(&dev->srqs, srqn, count);
	struct vhca_srq *srq;

	if (!target)
		return;
	srq = container_of(target, struct vhca_srq, async);
	event.element.srq = &srq->ibsrq;
	if (srq->ibsrq.event_handler)
		srq->ibsrq.event_handler(&event, srq->ibsrq.srq_context);
	vhca_target_put(target);
}

/*
 * Bit for a change of a port's attributes for which Linux has no event. It is higher than those of
 * Linux's events, so that it is reported last.
 */
#define PORT_CHANGED 31

static void keep_unreported(struct vhca_dev *dev, u8 port, unsigned int type)
{
	u32 *types = &dev->unreported[port - 1];

	lockdep_assert_held(&dev->async_lock);
	/* As the device does: PORT_ERR is always reported, and before a later PORT_ACTIVE. */
	if (type == IB_EVENT_PORT_ERR)
		*types &= ~BIT(IB_EVENT_PORT_ACTIVE);
	*types |= BIT(type);
	if (dev->registered)
		queue_work(system_unbound_wq, &dev->report_work);
}

/* Takes the next port event to report; false if there is none, or while none may be reported. */
static bool take_unreported(struct vhca_dev *dev, struct ib_event *event)
{
	u32 *types;

	guard(mutex)(&dev->async_lock);
	if (!dev->registered)
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(dev->unreported); i++) {
		types = &dev->unreported[i];
		if (!*types)
			continue;
		event->event = *types & BIT(IB_EVENT_PORT_ERR) ? IB_EVENT_PORT_ERR : __ffs(*types);
		event->element.port_num = i + 1;
		*types &= ~BIT(event->event);
		return true;
	}
	return false;
}

/*
 * Events are reported one at a time: for each event, Linux 6.12's core reads the port's attributes
 * in a work item of ib_wq. These run concurrently, and the one that ends last determines the cached
 * attributes, even if it has read them first. A port that became active could stay inactive for
 * rdma_cm.
 */
static void report_events(struct work_struct *work)
{
	struct vhca_dev *dev = container_of(work, struct vhca_dev, report_work);
	struct ib_event event = { .device = &dev->ibdev };

	while (take_unreported(dev, &event)) {
		if ((unsigned int)event.event == PORT_CHANGED) {
			ib_port_changed(&dev->ibdev, event.element.port_num);
			continue;
		}
		ib_dispatch_event(&event);
		flush_workqueue(ib_wq);
	}
}

/**
 * vhca_events_init() - prepare for events of ports
 * @dev: the device, not registered yet
 *
 * Context: any.
 */
void vhca_events_init(struct vhca_dev *dev)
{
	mutex_init(&dev->async_lock);
	INIT_WORK(&dev->report_work, report_events);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_events_init);

static void eth_port_event(struct vhca_dev *dev, u8 port, unsigned int type)
{
	switch (type) {
	case IB_EVENT_PORT_ACTIVE:
	case IB_EVENT_PORT_ERR:
		/* A port is active if its link and its net device are up: netdev.c reports that. */
		vhca_netdevs_follow(dev);
		return;
	case IB_EVENT_GID_CHANGE:
		/* The core writes the GID tables of these ports itself, and reports changes. */
		return;
	default:
		keep_unreported(dev, port, type);
	}
}

static void port_event(struct vhca_eq *eq, const struct vhca_eqe *eqe, unsigned int type)
{
	struct vhca_dev *dev = container_of(eq, struct vhca_dev, async_eq);

	if (!eqe->port || eqe->port > dev->hw.limits.ports)
		give_up(eq, eqe, "it reports an event of a port that does not exist");
	else if (vhca_port_is_eth(dev, eqe->port))
		eth_port_event(dev, eqe->port, type);
	else
		keep_unreported(dev, eqe->port, type);
}

/**
 * vhca_port_event() - report an event of a port to the core that the device did not raise
 * @dev: the device
 * @port: 1..ports
 * @type: the event
 *
 * Before vhca_events_open() the event is kept until that call.
 *
 * Context: may sleep.
 */
void vhca_port_event(struct vhca_dev *dev, u32 port, enum ib_event_type type)
{
	mutex_lock(&dev->async_lock);
	keep_unreported(dev, port, type);
	mutex_unlock(&dev->async_lock);
}

/**
 * vhca_events_open() - begin to report events of ports to the core
 * @dev: the device, registered
 *
 * Events that came before are reported now, since the core may have read the ports' attributes
 * before these events.
 *
 * Context: may sleep.
 */
void vhca_events_open(struct vhca_dev *dev)
{
	mutex_lock(&dev->async_lock);
	dev->registered = true;
	queue_work(system_unbound_wq, &dev->report_work);
	mutex_unlock(&dev->async_lock);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_events_open);

/**
 * vhca_events_close() - stop reporting events of ports to the core
 * @dev: the device, about to be unregistered
 *
 * Linux 6.12's core accepts an event at any time, but its handlers access port data that exists
 * only while the device is registered.
 *
 * Context: may sleep.
 */
void vhca_events_close(struct vhca_dev *dev)
{
	mutex_lock(&dev->async_lock);
	dev->registered = false;
	mutex_unlock(&dev->async_lock);
	cancel_work_sync(&dev->report_work);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_events_close);

/**
 * vhca_async_event() - handle an entry of the asynchronous event queue
 * @eq: the queue
 * @eqe: copy of the entry
 * @count: its count
 *
 * Context: may sleep.
 */
void vhca_async_event(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count)
{
	struct vhca_dev *dev = container_of(eq, struct vhca_dev, async_eq);
	u32 number = le32_to_cpu(eqe->number);
	u32 qp = vhca_qp_id(eqe->port, number);

	switch (eqe->event) {
	case VHCA_EV_CQ_ERR:
		return cq_event(dev, number, count, IB_EVENT_CQ_ERR);
	case VHCA_EV_QP_FATAL:
		return qp_event(dev, qp, count, IB_EVENT_QP_FATAL);
	case VHCA_EV_QP_REQ_ERR:
		return qp_event(dev, qp, count, IB_EVENT_QP_REQ_ERR);
	case VHCA_EV_QP_ACCESS_ERR:
		return qp_event(dev, qp, count, IB_EVENT_QP_ACCESS_ERR);
	case VHCA_EV_COMM_EST:
		return qp_event(dev, qp, count, IB_EVENT_COMM_EST);
	case VHCA_EV_SQ_DRAINED:
		return qp_event(dev, qp, count, IB_EVENT_SQ_DRAINED);
	case VHCA_EV_LAST_WQE:
		return qp_event(dev, qp, count, IB_EVENT_QP_LAST_WQE_REACHED);
	case VHCA_EV_PATH_MIG:
		return qp_event(dev, qp, count, IB_EVENT_PATH_MIG);
	case VHCA_EV_PATH_MIG_ERR:
		return qp_event(dev, qp, count, IB_EVENT_PATH_MIG_ERR);
	case VHCA_EV_SRQ_LIMIT:
		return srq_event(dev, number, count, IB_EVENT_SRQ_LIMIT_REACHED);
	case VHCA_EV_SRQ_ERR:
		return srq_event(dev, number, count, IB_EVENT_SRQ_ERR);
	case VHCA_EV_PORT_ACTIVE:
		return port_event(eq, eqe, IB_EVENT_PORT_ACTIVE);
	case VHCA_EV_PORT_ERR:
		return port_event(eq, eqe, IB_EVENT_PORT_ERR);
	case VHCA_EV_LID_CHANGE:
		return port_event(eq, eqe, IB_EVENT_LID_CHANGE);
	case VHCA_EV_PKEY_CHANGE:
		return port_event(eq, eqe, IB_EVENT_PKEY_CHANGE);
	case VHCA_EV_GID_CHANGE:
		return port_event(eq, eqe, IB_EVENT_GID_CHANGE);
	case VHCA_EV_SM_CHANGE:
		return port_event(eq, eqe, IB_EVENT_SM_CHANGE);
	case VHCA_EV_REREGISTER:
		return port_event(eq, eqe, IB_EVENT_CLIENT_REREGISTER);
	case VHCA_EV_PORT_CHANGE:
		return port_event(eq, eqe, PORT_CHANGED);
	case VHCA_EV_DEVICE_FATAL:
		vhca_hw_kill(&dev->hw, "it reports a fatal error");
		return;
	default:
		return give_up(eq, eqe, "it reports an unknown event");
	}
}
EXPORT_SYMBOL_IF_KUNIT(vhca_async_event);

/* Reports the last-WQE events of QPs with an SRQ, which a dead device does not raise. */
static void report_last_wqes(struct vhca_dev *dev)
{
	struct vhca_target *target;
	struct vhca_qp *qp;
	unsigned long id;
	bool tell;

	xa_for_each(&dev->qps.targets, id, target) {
		target = vhca_id_get(&dev->qps, id, VHCA_NO_ENTRY);
		if (!target)
			continue;
		qp = container_of(target, struct vhca_qp, async);
		tell = qp->kernel && qp->ibqp.srq && !READ_ONCE(qp->kernel->given_back);
		vhca_target_put(target);
		if (tell)
			qp_event(dev, id, VHCA_NO_ENTRY, IB_EVENT_QP_LAST_WQE_REACHED);
	}
}

/**
 * vhca_flush_kernel_users() - make kernel consumers poll the flush completions of a dead device
 * @dev: the device, dead and stopped
 *
 * Polling the CQs of a dead device yields flush completions for all posted work requests, so this
 * only calls their completion handlers. QPs with an SRQ get the last-WQE event for which a consumer
 * may wait.
 *
 * Context: may sleep.
 */
void vhca_flush_kernel_users(struct vhca_dev *dev)
{
	struct vhca_target *target;
	struct vhca_cq *cq;
	unsigned long cqn;

	xa_for_each(&dev->cqs.targets, cqn, target) {
		target = vhca_id_get(&dev->cqs, cqn, VHCA_NO_ENTRY);
		if (!target)
			continue;
		cq = container_of(target, struct vhca_cq, async);
		if (cq->kernel)
			vhca_cq_wake_users(cq);
		vhca_target_put(target);
	}
	report_last_wqes(dev);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_flush_kernel_users);
