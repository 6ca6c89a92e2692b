// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * An id: its references, its state changes, its end.
 */
#include <kunit/visibility.h>
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/wait_bit.h>

#include "iwcm.h"

/* Number of ids: drivers may hold some after the last consumer has been unloaded. */
static atomic_t ids = ATOMIC_INIT(0);

static void id_hold(struct iw_cm_id *cm_id)
{
	iwcm_id_get(to_iwcm_id(cm_id));
}

static void id_release(struct iw_cm_id *cm_id)
{
	iwcm_id_put(to_iwcm_id(cm_id));
}

/**
 * iwcm_id_alloc() - allocate an idle id without a handler of driver events
 * @device: its device
 * @handler: called for its events
 * @context: the consumer's
 * @gfp: how to allocate
 *
 * Context: as @gfp allows.
 * Return: the id with one reference, or NULL.
 */
struct iwcm_id *iwcm_id_alloc(struct ib_device *device, iw_cm_handler handler, void *context,
			      gfp_t gfp)
{
	struct iwcm_id *cm = kzalloc(sizeof(*cm), gfp);

	if (!cm)
		return NULL;
	cm->id.device = device;
	cm->id.cm_handler = handler;
	cm->id.context = context;
	cm->id.add_ref = id_hold;
	cm->id.rem_ref = id_release;
	refcount_set(&cm->refs, 1);
	spin_lock_init(&cm->lock);
	cm->state = IWCM_IDLE;
	INIT_LIST_HEAD(&cm->requests);
	INIT_LIST_HEAD(&cm->entry);
	init_waitqueue_head(&cm->wait);
	atomic_inc(&ids);
	return cm;
}

/**
 * iwcm_id_get() - take a reference
 * @cm: the id
 *
 * Context: any.
 */
void iwcm_id_get(struct iwcm_id *cm)
{
	refcount_inc(&cm->refs);
}

/**
 * iwcm_id_put() - release a reference; the last one frees the id
 * @cm: the id
 *
 * Context: any.
 */
void iwcm_id_put(struct iwcm_id *cm)
{
	if (!refcount_dec_and_test(&cm->refs))
		return;
	kfree(cm);
	if (atomic_dec_and_test(&ids))
		wake_up_var(&ids);
}

/**
 * iwcm_ids_gone() - wait until drivers have released all ids, and have returned from it
 *
 * Called when the module is unloaded: no consumer is left, but drivers may still be closing
 * connections.
 */
void iwcm_ids_gone(void)
{
	wait_var_event(&ids, !atomic_read(&ids));
	/* Who has released the last one may have been preempted before the function returns. */
	synchronize_rcu_tasks();
}
EXPORT_SYMBOL_IF_KUNIT(iwcm_ids_gone);

/**
 * iwcm_inside() - does this task run the handler of an id?
 * @cm: the id
 *
 * Return: whether it does.
 */
bool iwcm_inside(struct iwcm_id *cm)
{
	return READ_ONCE(cm->runner) == current;
}

static struct iwcm_step try_step(struct iwcm_id *cm, enum iwcm_input input, struct ib_qp **qp)
{
	struct iwcm_step step;

	guard(spinlock_irqsave)(&cm->lock);
	step = iwcm_step_of(cm->state, input);
	if (!step.action || (step.action & IWCM_WAIT))
		return step;
	WRITE_ONCE(cm->state, step.next);
	if (step.action & IWCM_SET_QP) {
		cm->qp = *qp;
	} else if (step.action & IWCM_PUT_QP) {
		*qp = cm->qp;
		cm->qp = NULL;
	} else if (step.action & IWCM_LEND_QP) {
		/* A CLOSE may take the id's own reference while the QP is modified. */
		cm->id.device->ops.iw_add_ref(cm->qp);
		*qp = cm->qp;
	}
	return step;
}

static bool must_wait(struct iwcm_id *cm, enum iwcm_input input)
{
	return iwcm_step_of(READ_ONCE(cm->state), input).action & IWCM_WAIT;
}

/**
 * iwcm_step() - apply an input to the state of an id
 * @cm: the id
 * @input: the call or event
 * @qp: for IWCM_SET_QP the QP whose reference the id takes over; gets a QP with IWCM_PUT_QP and
 *      IWCM_LEND_QP, whose reference the caller then has. NULL for other inputs
 *
 * Context: may sleep if the table says IWCM_WAIT for @input in any state.
 * Return: what the caller has to do, or 0 if the input is refused.
 */
u16 iwcm_step(struct iwcm_id *cm, enum iwcm_input input, struct ib_qp **qp)
{
	struct iwcm_step step;

	for (;;) {
		step = try_step(cm, input, qp);
		if (!(step.action & IWCM_WAIT))
			break;
		/*
		 * The handler would wait for an event that is reported only after it has returned.
		 */
		if (input == IWCM_CALL_DISCONNECT && iwcm_inside(cm))
			return 0;
		wait_event(cm->wait, !must_wait(cm, input));
	}
	wake_up_all(&cm->wait);
	return step.action;
}

/**
 * iwcm_qp_put() - release a reference on a QP
 * @cm: an id of its device
 * @qp: the QP, or NULL
 */
void iwcm_qp_put(struct iwcm_id *cm, struct ib_qp *qp)
{
	if (qp)
		cm->id.device->ops.iw_rem_ref(qp);
}

static struct iwcm_id *next_request(struct iwcm_id *cm)
{
	struct iwcm_id *request;

	guard(spinlock_irqsave)(&cm->lock);
	request = list_first_entry_or_null(&cm->requests, struct iwcm_id, entry);
	if (request) {
		list_del_init(&request->entry);
		cm->n_requests--;
	}
	return request;
}

/* No request is added any more; those that were not reported to the consumer are rejected. */
static void stop_listening(struct iwcm_id *cm)
{
	struct iwcm_id *request;

	while ((request = next_request(cm)))
		iwcm_destroy(request, IWCM_CALL_DESTROY_INSIDE);
	cm->id.device->ops.iw_destroy_listen(&cm->id);
}

static void abort_qp(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };

	/* A QP that cannot be modified is in the error state already, or is being destroyed. */
	ib_modify_qp(qp, &attr, IB_QP_STATE);
}

static bool handler_ended(struct iwcm_id *cm)
{
	/* Pairs with the release after the handler. */
	return !smp_load_acquire(&cm->runner);
}

/**
 * iwcm_destroy() - end an id and release its consumer's reference
 * @cm: the id
 * @input: IWCM_CALL_DESTROY, or IWCM_CALL_DESTROY_INSIDE in the id's handler and for ids that the
 *         consumer has never seen
 *
 * When this returns, the handler is not running, unless it is the caller, and will not run again.
 *
 * Context: may sleep; waits for the driver where the table says so, and for the handler.
 */
void iwcm_destroy(struct iwcm_id *cm, enum iwcm_input input)
{
	struct ib_qp *qp = NULL;
	u16 action = iwcm_step(cm, input, &qp);

	/* A second call has no reference to release. */
	if (WARN_ON_ONCE(!action))
		return;
	if (action & IWCM_TURN_DOWN)
		cm->id.device->ops.iw_reject(&cm->id, NULL, 0);
	if (action & IWCM_UNLISTEN)
		stop_listening(cm);
	if (qp && (action & IWCM_ABORT_QP))
		abort_qp(qp);
	iwcm_qp_put(cm, qp);
	iwcm_unmap(cm);
	if (!iwcm_inside(cm))
		wait_event(cm->wait, handler_ended(cm));
	iwcm_id_put(cm);
}
