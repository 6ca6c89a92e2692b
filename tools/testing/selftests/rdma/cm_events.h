/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Events of connections for programs that end, and print why, when a call fails or another event
 * comes than the expected one.
 */
#ifndef CM_EVENTS_H
#define CM_EVENTS_H

#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE	120000	/* ms */

static inline void fail(const char *what)
{
	printf("# %s: %s\n", what, strerror(errno));
	_exit(1);
}

#define MUST(call)	do { if (call) fail(#call); } while (0)

/* Is there an event, or will there be one? A call of its id may have caused it already. */
static inline bool comes(struct rdma_event_channel *channel)
{
	struct pollfd ready = { .fd = channel->fd, .events = POLLIN };

	return poll(&ready, 1, PATIENCE) == 1;
}

/* The next event, or NULL with errno. */
static inline struct rdma_cm_event *next(struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;

	if (!comes(channel)) {
		errno = ETIMEDOUT;
		return NULL;
	}
	return rdma_get_cm_event(channel, &event) ? NULL : event;
}

/* The id of the next event, which must be of this type. */
static inline struct rdma_cm_id *expect(struct rdma_event_channel *channel,
					enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event = next(channel);
	struct rdma_cm_id *id;

	if (!event)
		fail(rdma_event_str(type));
	if (event->event != type) {
		printf("# %s came, status %d\n", rdma_event_str(event->event), event->status);
		fail(rdma_event_str(type));
	}
	id = event->id;
	rdma_ack_cm_event(event);
	return id;
}

#endif /* CM_EVENTS_H */
