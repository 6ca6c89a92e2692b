// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Datagrams as they arrive. All that arrives at a port comes one after the other, whatever it is
 * for, and what comes faster than it is taken is lost. So a message is only put into a list here,
 * and handled by the port's work item. The sender of a message that needs an answer may be a
 * neighbour whose link address is not known, or whom there is not at all: then the message waits
 * once more, in a work item of its own.
 */
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "cm.h"

/**
 * struct late - a message that waits until its sender's link address is known
 * @work: handles it, and waits
 * @port: where it has arrived
 * @wc: the datagram
 * @msg: its contents
 */
struct late {
	struct work_struct work;
	struct cm_port *port;
	struct ib_mad_recv_wc *wc;
	struct cm_msg msg;
};

/* Can a message be handled without asking the network for its sender's link address? */
static bool needs_nobody(struct cm_port *port, const struct cm_msg *msg,
			 const struct ib_mad_recv_wc *wc)
{
	struct cm_device *device = port->device;

	return !cm_recv_needs_route(msg) ||
	       device->mad->sender_is_known(device->ib, port->num, wc->wc, wc->recv_buf.grh);
}

static void recv_late(struct work_struct *work)
{
	struct late *late = container_of(work, struct late, work);
	struct cm_device *device = late->port->device;

	cm_recv(late->port, &late->msg, late->wc);
	kfree(late);
	atomic_dec(&device->late);
	cm_device_unuse(device);
}

/*
 * Returns false if too many messages wait, there is no memory, or the device is gone: then it is as
 * if the message had been lost.
 */
static bool postpone(struct cm_port *port, const struct cm_msg *msg, struct ib_mad_recv_wc *wc)
{
	struct cm_device *device = port->device;
	struct late *late;

	if (!atomic_add_unless(&device->late, 1, CM_LATE_MAX))
		return false;
	if (!cm_device_use(device))
		goto count;
	late = kmalloc(sizeof(*late), GFP_KERNEL);
	if (!late)
		goto user;
	INIT_WORK(&late->work, recv_late);
	late->port = port;
	late->wc = wc;
	late->msg = *msg;
	queue_work(cm_wq, &late->work);
	return true;

user:
	cm_device_unuse(device);
count:
	atomic_dec(&device->late);
	return false;
}

/* Messages are lost before their answers have a way, and when the device is gone. */
static bool is_wanted(struct cm_port *port, struct cm_msg *msg, const struct ib_mad_recv_wc *wc)
{
	/* Pairs with the one in port_start(). */
	return smp_load_acquire(&port->agent) && !READ_ONCE(port->device->gone) &&
	       wc->mad_len >= CM_MAD_SIZE && !cm_msg_unpack(msg, wc->recv_buf.mad);
}

/* Takes the datagram, and handles its message. */
static void handle(struct cm_port *port, struct ib_mad_recv_wc *wc)
{
	struct cm_msg msg;

	if (!is_wanted(port, &msg, wc))
		port->device->mad->free_recv(wc);
	else if (needs_nobody(port, &msg, wc))
		cm_recv(port, &msg, wc);
	else if (!postpone(port, &msg, wc))
		port->device->mad->free_recv(wc);
}

/**
 * cm_arrived() - handle the oldest message that waits at a port
 * @work: work of the port, which runs once for each message
 *
 * It handles one at a time, so that other work of the queue, such as events of ids, has its turn.
 */
void cm_arrived(struct work_struct *work)
{
	struct cm_port *port = container_of(work, struct cm_port, work);
	struct cm_device *device = port->device;
	struct ib_mad_recv_wc *wc;

	scoped_guard(spinlock, &port->lock) {
		wc = list_first_entry(&port->arrived, struct ib_mad_recv_wc, recv_buf.list);
		list_move(&wc->recv_buf.list, &wc->rmpp_list);
		if (--port->num_arrived)
			queue_work(cm_wq, work);
	}
	handle(port, wc);
	cm_device_unuse(device);
}

/* Returns false if too many wait, or the device is gone: then it is as if it had been lost. */
static bool put(struct cm_port *port, struct ib_mad_recv_wc *wc)
{
	guard(spinlock)(&port->lock);
	if (port->num_arrived >= CM_ARRIVED_MAX || !cm_device_use(port->device))
		return false;
	/* A message of the manager is one packet, and so has this entry for itself. */
	list_move_tail(&wc->recv_buf.list, &port->arrived);
	port->num_arrived++;
	queue_work(cm_wq, &port->work);
	return true;
}

/**
 * cm_received() - take a datagram that has arrived
 * @agent: the port's agent
 * @buf: NULL: no message of the manager is a response in the sense of the MAD layer
 * @wc: the datagram, which is freed, now or later
 *
 * Context: process; does not sleep, and handles nothing.
 */
void cm_received(struct ib_mad_agent *agent, struct ib_mad_send_buf *buf,
		 struct ib_mad_recv_wc *wc)
{
	struct cm_port *port = agent->context;
	struct cm_msg msg;

	if (!is_wanted(port, &msg, wc)) {
		port->device->mad->free_recv(wc);
		return;
	}
	cm_count(port, CM_COUNT_RECEIVED, msg.type, 1);
	if (!put(port, wc))
		port->device->mad->free_recv(wc);
}
