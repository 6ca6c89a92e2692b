// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the connection manager tells.
 */
#include <rdma/rdma_compat.h>

#include "ucma.h"

/*
 * The new id, its room and the event are made before the request is accepted for the program.  What
 * cannot be kept is left to the connection manager: peers of ib_cm ask again, others are rejected.
 */
static int take_request(struct ucma_id *listener, struct rdma_cm_id *cm,
			const struct rdma_cm_event *told)
{
	struct ucma_event *event = ucma_event_alloc();
	struct ucma_id *id;
	int ret;

	if (!event)
		return -ENOMEM;
	id = ucma_id_alloc();
	if (!id) {
		ucma_event_free(event);
		return -ENOMEM;
	}
	id->cm = cm;
	event->request = id;
	cm->context = id;
	ret = ucma_tell_request(listener, event, cm, told);
	if (!ret)
		return 0;
	cm->context = listener;
	ucma_event_free(event);
	ucma_id_discard(id);
	return ret;
}

/**
 * ucma_handle_event() - the handler of all CM ids
 * @cm: CM id, whose context is the id; of a connection request, the new one with the listener's
 * @event: the event
 *
 * Events of a connection request that has not been accepted are not queued, as the program could
 * not tell which id they are for; accepting it fails.  When the device is removed, a work item
 * destroys the CM id, since its handler must have ended by then, and a request of the program may
 * be using it.
 *
 * Context: may sleep; the connection manager calls it once at a time for each CM id.
 * Return: 0; -ENOMEM if a connection request cannot be kept, whose CM id is to be destroyed.
 */
int ucma_handle_event(struct rdma_cm_id *cm, struct rdma_cm_event *event)
{
	struct ucma_id *id = cm->context;

	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		return take_request(id, cm, event);
	if (id->named)
		ucma_tell(id, cm, event);
	if (event->event == RDMA_CM_EVENT_DEVICE_REMOVAL)
		queue_work(system_unbound_wq, &id->removal);
	return 0;
}
