// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events of an id: the queue of reports, and the call of the handler.
 */
#include <kunit/visibility.h>
#include <linux/module.h>

#include "cma_priv.h"
#include "trace.h"

struct workqueue_struct *cma_wq;
EXPORT_SYMBOL_IF_KUNIT(cma_wq);

/**
 * cma_put_id() - return a reference
 * @id: the id; may be gone when this returns
 *
 * Context: any.
 */
void cma_put_id(struct cma_id *id)
{
	if (refcount_dec_and_test(&id->refs))
		complete(&id->released);
}
EXPORT_SYMBOL_IF_KUNIT(cma_put_id);

/**
 * cma_deliver() - call the consumer's handler
 * @id: the id; the caller holds its handler lock and has looked at its state
 * @event: the event
 *
 * Context: may sleep.
 * Return: what the handler returned; if it is not 0, the caller destroys the id.
 */
int cma_deliver(struct cma_id *id, struct rdma_cm_event *event)
{
	int ret;

	lockdep_assert_held(&id->handler_lock);
	trace_cm_event_handler(id, event);
	ret = id->id.event_handler(&id->id, event);
	trace_cm_event_done(id, event, ret);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(cma_deliver);

/**
 * cma_report() - queue an event for the handler
 * @id: the id, which the caller knows to exist
 * @report: the event; its @take is called once, before another call for the same report returns
 *	true
 *
 * Context: any, except for hard interrupts.
 * Return: false if @take will not be called for this call: the report is queued already, or the id
 * is being destroyed.
 */
bool cma_report(struct cma_id *id, struct cma_report *report)
{
	guard(spinlock_irqsave)(&id->lock);
	if (report->queued || id->state == RDMA_CM_DESTROYING)
		return false;
	report->queued = true;
	list_add_tail(&report->entry, &id->reports);
	cma_get_id(id);
	if (!queue_work(cma_wq, &id->report_work))
		/* A pending work has a reference already: this is not the last one. */
		WARN_ON_ONCE(refcount_dec_and_test(&id->refs));
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(cma_report);

/**
 * cma_next_report() - take the first report out of an id's queue
 * @id: the id
 *
 * Context: any.
 * Return: the report, whose @take the caller calls; NULL if there is none.
 */
struct cma_report *cma_next_report(struct cma_id *id)
{
	struct cma_report *report;

	guard(spinlock_irqsave)(&id->lock);
	report = list_first_entry_or_null(&id->reports, struct cma_report, entry);
	if (report) {
		list_del(&report->entry);
		report->queued = false;
	}
	return report;
}

/**
 * rdma_lock_handler() - hold off the handler of an id
 * @id: the id
 *
 * Waits until no handler of it runs, and none does until rdma_unlock_handler().  A listener's also
 * holds off the CONNECT_REQUEST events of the ids that are made for its requests.
 *
 * Context: may sleep; not in a handler of the id.
 */
void rdma_lock_handler(struct rdma_cm_id *id)
{
	mutex_lock(&to_cma_id(id)->handler_lock);
}
EXPORT_SYMBOL(rdma_lock_handler);

/**
 * rdma_unlock_handler() - undo rdma_lock_handler()
 * @id: the id
 */
void rdma_unlock_handler(struct rdma_cm_id *id)
{
	mutex_unlock(&to_cma_id(id)->handler_lock);
}
EXPORT_SYMBOL(rdma_unlock_handler);
