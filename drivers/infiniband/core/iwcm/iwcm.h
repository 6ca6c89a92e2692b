/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The iWARP connection manager: ids between consumers (rdma/iw_cm.h) and drivers (the iw_*
 * operations of struct ib_device_ops).
 *
 * From top to bottom: main.c (module, netlink operations); call.c (functions that consumers call);
 * event.c (events from drivers, and the worker that reports them to consumers); id.c (an id and its
 * state changes); address.c (addresses from the port mapper); state.c (the table of states). The
 * port mapper's part is in portmap.h.
 *
 * An id has one lock, under which nothing sleeps.  No handler of a consumer and no operation of a
 * driver is called under it, except iw_add_ref, which may be called in any context.
 */
#ifndef CORE_IWCM_H
#define CORE_IWCM_H

#include <kunit/visibility.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>
#include <rdma/iw_cm.h>

#include "state.h"

/* Kinds of events besides CONNECT_REQUEST: one of each may be queued for an id's worker. */
enum iwcm_kind {
	IWCM_KIND_REPLY,
	IWCM_KIND_ESTABLISHED,
	IWCM_KIND_DISCONNECT,
	IWCM_KIND_CLOSE,
	IWCM_KINDS
};

/**
 * struct iwcm_event - an event with room for its private data
 * @event: the event; its private_data is NULL or @data
 * @data: private data
 */
struct iwcm_event {
	struct iw_cm_event event;
	u8 data[U8_MAX];
};

/**
 * struct iwcm_brief - an event without addresses and private data
 * @status: as in struct iw_cm_event
 * @provider_data: likewise
 * @ord: likewise
 * @ird: likewise
 */
struct iwcm_brief {
	int status;
	void *provider_data;
	u8 ord;
	u8 ird;
};

/**
 * struct iwcm_id - an id
 * @id: the part that consumers and drivers see
 * @refs: one of the consumer until it destroys the id, and those of the driver, a queued @work and
 *        running calls
 * @lock: protects the members up to @runner, and @id.mapped
 * @state: its state
 * @qp: the QP of the connection, with a reference that the id holds, or NULL
 * @first: the queued CONNECT_REPLY, or the CONNECT_REQUEST for which the id was made
 * @brief: the other queued events, by kind
 * @pending: kinds of the queued events, in the order of their reports
 * @n_pending: number of these
 * @held: events stay queued until the consumer's handler has returned from the CONNECT_REQUEST
 * @requests: ids of connection requests that are queued for the listener's worker
 * @n_requests: number of these
 * @backlog: largest number of these
 * @entry: in the listener's @requests
 * @wire: own address on the wire that the port mapper knows, while @id.mapped is set
 * @runner: the task that calls the handler, or NULL
 * @wait: for changes of @state and @runner
 * @work: reports queued events to the consumer
 * @told: the event that is passed to the handler; used by @runner alone
 *
 * Everything that an id needs for the events of a connection is part of it, so that none is lost
 * when memory is short. A driver may report each kind of event once for each connection; a repeated
 * one is dropped if the first was not reported to the consumer yet.
 */
struct iwcm_id {
	struct iw_cm_id id;
	refcount_t refs;
	spinlock_t lock;
	enum iwcm_state state;
	struct ib_qp *qp;
	struct iwcm_event first;
	struct iwcm_brief brief[IWCM_KINDS];
	u8 pending[IWCM_KINDS];
	u8 n_pending;
	bool held;
	struct list_head requests;
	unsigned int n_requests;
	unsigned int backlog;
	struct list_head entry;
	struct sockaddr_storage wire;
	struct task_struct *runner;
	wait_queue_head_t wait;
	struct work_struct work;
	struct iwcm_event told;
};

static inline struct iwcm_id *to_iwcm_id(struct iw_cm_id *cm_id)
{
	return container_of(cm_id, struct iwcm_id, id);
}

struct iwcm_id *iwcm_id_alloc(struct ib_device *device, iw_cm_handler handler, void *context,
			      gfp_t gfp);
void iwcm_id_get(struct iwcm_id *cm);
void iwcm_id_put(struct iwcm_id *cm);
u16 iwcm_step(struct iwcm_id *cm, enum iwcm_input input, struct ib_qp **qp);
void iwcm_qp_put(struct iwcm_id *cm, struct ib_qp *qp);
void iwcm_destroy(struct iwcm_id *cm, enum iwcm_input input);
bool iwcm_inside(struct iwcm_id *cm);
void iwcm_ids_gone(void);

struct iwcm_id *iwcm_id_make(struct ib_device *device, iw_cm_handler handler, void *context,
			     gfp_t gfp);
int iwcm_events_init(void);
void iwcm_events_exit(void);

int iwcm_map(struct iwcm_id *cm, bool active);
void iwcm_unmap(struct iwcm_id *cm);
void iwcm_request_address(struct iwcm_id *listener, struct iwcm_id *cm);

/* /proc/sys/net/iw_cm/default_backlog: the backlog of listeners that give none. */
extern unsigned int iwcm_default_backlog;

#endif
