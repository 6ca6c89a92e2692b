// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Events: drivers report them in any context, and a worker reports them to consumers.
 *
 * Each id has a worker of its own, so that its events are handled in order and one at a time, and
 * a handler that sleeps delays no other id.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "iwcm.h"

static struct workqueue_struct *iwcm_wq;

static const enum iwcm_input input_of[IWCM_KINDS] = {
	[IWCM_KIND_REPLY] = IWCM_EV_REPLY,
	[IWCM_KIND_ESTABLISHED] = IWCM_EV_ESTABLISHED,
	[IWCM_KIND_DISCONNECT] = IWCM_EV_DISCONNECT,
	[IWCM_KIND_CLOSE] = IWCM_EV_CLOSE,
};

static enum iwcm_kind kind_of(enum iw_cm_event_type type)
{
	return type - IW_CM_EVENT_CONNECT_REPLY;
}

/* Copies an event and its private data. */
static void keep(struct iwcm_event *to, const struct iw_cm_event *event)
{
	to->event = *event;
	to->event.private_data = NULL;
	if (!event->private_data_len)
		return;
	memcpy(to->data, event->private_data, event->private_data_len);
	to->event.private_data = to->data;
}

static void iwcm_work(struct work_struct *work);
static int iwcm_event(struct iw_cm_id *cm_id, struct iw_cm_event *event);

/**
 * iwcm_id_make() - make an idle id
 * @device: its device
 * @handler: called for its events
 * @context: the consumer's
 * @gfp: how to allocate
 *
 * Context: as @gfp allows.
 * Return: the id with one reference, or NULL.
 */
struct iwcm_id *iwcm_id_make(struct ib_device *device, iw_cm_handler handler, void *context,
			     gfp_t gfp)
{
	struct iwcm_id *cm = iwcm_id_alloc(device, handler, context, gfp);

	if (!cm)
		return NULL;
	cm->id.event_handler = iwcm_event;
	INIT_WORK(&cm->work, iwcm_work);
	return cm;
}

/* Called with the id's lock held, and a reference. */
static void wake_worker(struct iwcm_id *cm)
{
	if (cm->held)
		return;
	iwcm_id_get(cm);
	if (!queue_work(iwcm_wq, &cm->work))
		iwcm_id_put(cm);
}

/* ---- events from drivers ---- */

static int add_request(struct iwcm_id *listener, struct iwcm_id *request)
{
	guard(spinlock_irqsave)(&listener->lock);
	if (!iwcm_step_of(listener->state, IWCM_EV_REQUEST).action)
		return -ECONNREFUSED;
	if (listener->n_requests >= listener->backlog)
		return -ENOMEM;
	list_add_tail(&request->entry, &listener->requests);
	listener->n_requests++;
	wake_worker(listener);
	return 0;
}

/*
 * The id of the new connection is made here, while the driver can still refuse the request: in the
 * worker a lack of memory would lose the request.
 */
static int connect_request(struct iwcm_id *listener, struct iw_cm_event *event)
{
	struct iwcm_id *request;
	int ret;

	if (event->status)
		return -EINVAL;
	request = iwcm_id_make(listener->id.device, listener->id.cm_handler, listener->id.context,
			       GFP_ATOMIC);
	if (!request)
		return -ENOMEM;
	request->id.provider_data = event->provider_data;
	keep(&request->first, event);
	request->state = IWCM_REQUESTED;
	request->held = true;
	ret = add_request(listener, request);
	if (ret)
		iwcm_id_put(request);
	return ret;
}

static bool is_pending(struct iwcm_id *cm, enum iwcm_kind kind)
{
	for (unsigned int i = 0; i < cm->n_pending; i++)
		if (cm->pending[i] == kind)
			return true;
	return false;
}

static void note(struct iwcm_id *cm, const struct iw_cm_event *event)
{
	enum iwcm_kind kind = kind_of(event->event);
	struct iwcm_brief *brief = &cm->brief[kind];

	guard(spinlock_irqsave)(&cm->lock);
	if (cm->state == IWCM_DESTROYED || is_pending(cm, kind))
		return;
	if (kind == IWCM_KIND_REPLY) {
		keep(&cm->first, event);
	} else {
		brief->status = event->status;
		brief->provider_data = event->provider_data;
		brief->ord = event->ord;
		brief->ird = event->ird;
	}
	cm->pending[cm->n_pending++] = kind;
	wake_worker(cm);
}

/*
 * A driver reports an event, in any context: event_handler of every id.  The event is copied with
 * its private data.
 *
 * Returns 0, or for CONNECT_REQUEST -ENOMEM if there is no memory or no room in the backlog,
 * -ECONNREFUSED if the id does not listen, -EINVAL if the event has a status; then the driver
 * refuses the connection.  -EINVAL for an event that does not exist.
 */
static int iwcm_event(struct iw_cm_id *cm_id, struct iw_cm_event *event)
{
	struct iwcm_id *cm = to_iwcm_id(cm_id);

	switch (event->event) {
	case IW_CM_EVENT_CONNECT_REQUEST:
		return connect_request(cm, event);
	case IW_CM_EVENT_CONNECT_REPLY:
	case IW_CM_EVENT_ESTABLISHED:
	case IW_CM_EVENT_DISCONNECT:
	case IW_CM_EVENT_CLOSE:
		note(cm, event);
		return 0;
	}
	return -EINVAL;
}

/* ---- events for consumers ---- */

/* Calls the handler, whose return value may ask for the id to be destroyed. */
static void call_handler(struct iwcm_id *cm)
{
	if (cm->id.cm_handler(&cm->id, &cm->told.event) &&
	    READ_ONCE(cm->state) != IWCM_DESTROYED)
		iwcm_destroy(cm, IWCM_CALL_DESTROY_INSIDE);
}

/* Moves the oldest event to @told. */
static bool take_event(struct iwcm_id *cm, enum iwcm_input *input)
{
	struct iw_cm_event *event = &cm->told.event;
	const struct iwcm_brief *brief;
	enum iwcm_kind kind;

	guard(spinlock_irqsave)(&cm->lock);
	if (!cm->n_pending)
		return false;
	kind = cm->pending[0];
	cm->n_pending--;
	memmove(cm->pending, cm->pending + 1, cm->n_pending);
	*input = input_of[kind];
	if (kind == IWCM_KIND_REPLY) {
		keep(&cm->told, &cm->first.event);
		if (event->status)
			*input = IWCM_EV_REFUSED;
		return true;
	}
	brief = &cm->brief[kind];
	*event = (struct iw_cm_event) {
		.event = kind + IW_CM_EVENT_CONNECT_REPLY,
		.status = brief->status,
		.provider_data = brief->provider_data,
		.ord = brief->ord,
		.ird = brief->ird,
		.local_addr = cm->id.local_addr,
		.remote_addr = cm->id.remote_addr,
	};
	return true;
}

/* The driver's event has the addresses on the wire, the consumer's has those that it gave. */
static void swap_addresses(struct iwcm_id *cm)
{
	struct iw_cm_event *event = &cm->told.event;

	cm->id.m_local_addr = event->local_addr;
	cm->id.m_remote_addr = event->remote_addr;
	event->local_addr = cm->id.local_addr;
	event->remote_addr = cm->id.remote_addr;
}

static void report_event(struct iwcm_id *cm, enum iwcm_input input)
{
	struct ib_qp *qp = NULL;
	u16 action;

	action = iwcm_step(cm, input, &qp);
	iwcm_qp_put(cm, qp);
	if (action && input == IWCM_EV_REPLY)
		swap_addresses(cm);
	if (action & IWCM_TELL)
		call_handler(cm);
}

static struct iwcm_id *take_request(struct iwcm_id *listener, bool *wanted)
{
	struct iwcm_id *request;

	guard(spinlock_irqsave)(&listener->lock);
	request = list_first_entry_or_null(&listener->requests, struct iwcm_id, entry);
	if (!request)
		return NULL;
	list_del_init(&request->entry);
	listener->n_requests--;
	*wanted = iwcm_step_of(listener->state, IWCM_EV_REQUEST).action & IWCM_TELL;
	return request;
}

/* From now on the id's own worker reports the events of the connection. */
static void let_go(struct iwcm_id *cm)
{
	scoped_guard(spinlock_irqsave, &cm->lock) {
		cm->held = false;
		/* A reader of NULL sees what the handler has done. */
		smp_store_release(&cm->runner, NULL);
		if (cm->n_pending)
			wake_worker(cm);
	}
	wake_up_all(&cm->wait);
}

static void report_request(struct iwcm_id *listener, struct iwcm_id *request, bool wanted)
{
	if (!wanted) {
		iwcm_destroy(request, IWCM_CALL_DESTROY_INSIDE);
		return;
	}
	iwcm_id_get(request);
	WRITE_ONCE(request->runner, current);
	iwcm_request_address(listener, request);
	keep(&request->told, &request->first.event);
	call_handler(request);
	let_go(request);
	iwcm_id_put(request);
}

/* Delivers the events of an id to its consumer. */
static void iwcm_work(struct work_struct *work)
{
	struct iwcm_id *cm = container_of(work, struct iwcm_id, work);
	struct iwcm_id *request;
	enum iwcm_input input;
	bool wanted;

	WRITE_ONCE(cm->runner, current);
	while (take_event(cm, &input))
		report_event(cm, input);
	while ((request = take_request(cm, &wanted)))
		report_request(cm, request, wanted);
	/* A reader of NULL sees what the handlers have done. */
	smp_store_release(&cm->runner, NULL);
	wake_up_all(&cm->wait);
	iwcm_id_put(cm);
}

/**
 * iwcm_events_init() - create the work queue
 *
 * Return: 0 or -ENOMEM.
 */
int iwcm_events_init(void)
{
	iwcm_wq = alloc_workqueue("iw_cm", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	return iwcm_wq ? 0 : -ENOMEM;
}

/**
 * iwcm_events_exit() - wait for the workers and destroy the work queue
 */
void iwcm_events_exit(void)
{
	destroy_workqueue(iwcm_wq);
}
