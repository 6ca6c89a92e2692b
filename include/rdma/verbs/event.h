/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Asynchronous events.
 */
#ifndef RDMA_VERBS_EVENT_H
#define RDMA_VERBS_EVENT_H

#include <rdma/verbs/types.h>

enum ib_event_type {
	IB_EVENT_CQ_ERR,
	IB_EVENT_QP_FATAL,
	IB_EVENT_QP_REQ_ERR,
	IB_EVENT_QP_ACCESS_ERR,
	IB_EVENT_COMM_EST,
	IB_EVENT_SQ_DRAINED,
	IB_EVENT_PATH_MIG,
	IB_EVENT_PATH_MIG_ERR,
	IB_EVENT_DEVICE_FATAL,
	IB_EVENT_PORT_ACTIVE,
	IB_EVENT_PORT_ERR,
	IB_EVENT_LID_CHANGE,
	IB_EVENT_PKEY_CHANGE,
	IB_EVENT_SM_CHANGE,
	IB_EVENT_SRQ_ERR,
	IB_EVENT_SRQ_LIMIT_REACHED,
	IB_EVENT_QP_LAST_WQE_REACHED,
	IB_EVENT_CLIENT_REREGISTER,
	IB_EVENT_GID_CHANGE,
	IB_EVENT_WQ_FATAL,
};

const char *__attribute_const__ ib_event_msg(enum ib_event_type event);

/**
 * struct ib_event - something happened to an object, a port or the device
 * @device: device that reports
 * @element: the object, or the port number; which one follows from @event
 * @event: what happened
 */
struct ib_event {
	struct ib_device	*device;
	union {
		struct ib_cq	*cq;
		struct ib_qp	*qp;
		struct ib_srq	*srq;
		struct ib_wq	*wq;
		u32		port_num;
	} element;
	enum ib_event_type	event;
};

/**
 * struct ib_event_handler - subscription to a device's port and device events
 * @device: device to watch
 * @handler: called in process context; may sleep, must not unregister itself
 * @list: private to the core
 */
struct ib_event_handler {
	struct ib_device *device;
	void            (*handler)(struct ib_event_handler *handler, struct ib_event *event);
	struct list_head  list;
};

#define INIT_IB_EVENT_HANDLER(_ptr, _device, _handler)		\
	do {							\
		(_ptr)->device  = _device;			\
		(_ptr)->handler = _handler;			\
		INIT_LIST_HEAD(&(_ptr)->list);			\
	} while (0)

void ib_register_event_handler(struct ib_event_handler *event_handler);

void ib_unregister_event_handler(struct ib_event_handler *event_handler);

void ib_dispatch_event(const struct ib_event *event);

#endif /* RDMA_VERBS_EVENT_H */
