/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Events of ports, an extension to Linux 6.12: each port and its state are reported, whether the
 * port or the watcher was registered first.
 */
#ifndef RDMA_EXT_PORT_H
#define RDMA_EXT_PORT_H

#include <linux/list.h>
#include <rdma/ib_verbs.h>

/**
 * enum ib_port_event_type - events of a port
 * @IB_PORT_EVENT_ADD: the port exists; an event for its state follows
 * @IB_PORT_EVENT_REMOVE: the port is being removed, or the watcher is
 * @IB_PORT_EVENT_DOWN: it has lost its link
 * @IB_PORT_EVENT_INIT: it has a link and waits for the subnet manager
 * @IB_PORT_EVENT_ARMED: the subnet manager has set it up
 * @IB_PORT_EVENT_ACTIVE: it sends and receives
 * @IB_PORT_EVENT_LID_CHANGE: it has another LID or LMC
 * @IB_PORT_EVENT_SM_CHANGE: its subnet manager has another LID or service level
 * @IB_PORT_EVENT_SUBNET_TIMEOUT: its SubnetTimeOut has changed
 * @IB_PORT_EVENT_PKEY_CHANGE: its P_Key table has changed
 * @IB_PORT_EVENT_GID_CHANGE: its GID table has changed
 * @IB_PORT_EVENT_REREGISTER: the subnet manager asks its clients to register again
 * @IB_PORT_EVENT_REPLAYED: all ports that existed were reported; for no port
 */
enum ib_port_event_type {
	IB_PORT_EVENT_ADD,
	IB_PORT_EVENT_REMOVE,
	IB_PORT_EVENT_DOWN,
	IB_PORT_EVENT_INIT,
	IB_PORT_EVENT_ARMED,
	IB_PORT_EVENT_ACTIVE,
	IB_PORT_EVENT_LID_CHANGE,
	IB_PORT_EVENT_SM_CHANGE,
	IB_PORT_EVENT_SUBNET_TIMEOUT,
	IB_PORT_EVENT_PKEY_CHANGE,
	IB_PORT_EVENT_GID_CHANGE,
	IB_PORT_EVENT_REREGISTER,
	IB_PORT_EVENT_REPLAYED,
};

/**
 * struct ib_port_event - an event of a port
 * @type: what has happened
 * @device: the device, NULL for IB_PORT_EVENT_REPLAYED
 * @port_num: number of the port
 * @attr: the port as its driver described it after the event
 * @context: place for a pointer of the watcher for this port; NULL at first, and kept until
 *	IB_PORT_EVENT_REMOVE
 *
 * Valid until the callback returns.
 */
struct ib_port_event {
	enum ib_port_event_type type;
	struct ib_device *device;
	u32 port_num;
	const struct ib_port_attr *attr;
	void **context;
};

/**
 * struct ib_port_watcher - a consumer that is notified of ports
 * @event: called for each event, one at a time for the ports of a device. If it returns a nonzero
 *	value there are no further events for this port, not even its removal. May sleep, and use
 *	the port; must neither add or remove watchers of ports, nor register or unregister devices,
 *	clients or event handlers
 * @entry: private to the core
 */
struct ib_port_watcher {
	int (*event)(struct ib_port_watcher *watcher, const struct ib_port_event *event);
	struct list_head entry;
};

int ib_watch_ports(struct ib_port_watcher *watcher);
void ib_unwatch_ports(struct ib_port_watcher *watcher);

void ib_port_changed(struct ib_device *device, u32 port_num);

#endif /* RDMA_EXT_PORT_H */
