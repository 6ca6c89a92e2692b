/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * I/O units of other hosts, an extension to Linux 6.12: the controllers that ports of the subnet
 * offer, and the paths to them. For controllers that this host offers see <rdma/rdma_ext_dm.h>.
 */
#ifndef RDMA_EXT_IO_H
#define RDMA_EXT_IO_H

#include <linux/list.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_ext_dm.h>

/**
 * enum ib_io_event_type - events of I/O units of other hosts
 * @IB_IO_EVENT_UNIT_ADD: an I/O unit exists; events for its controllers follow
 * @IB_IO_EVENT_UNIT_REMOVE: the unit does not exist any more, or the watcher is being removed
 * @IB_IO_EVENT_CONTROLLER_ADD: a unit has a controller; events for the paths to it follow
 * @IB_IO_EVENT_CONTROLLER_REMOVE: the unit has the controller no more, or another one in its place
 * @IB_IO_EVENT_PATH_ADD: there is a path to a controller
 * @IB_IO_EVENT_PATH_REMOVE: the path does not exist any more, or has changed
 * @IB_IO_EVENT_REPLAYED: everything that existing ports have found was reported; for no object
 */
enum ib_io_event_type {
	IB_IO_EVENT_UNIT_ADD,
	IB_IO_EVENT_UNIT_REMOVE,
	IB_IO_EVENT_CONTROLLER_ADD,
	IB_IO_EVENT_CONTROLLER_REMOVE,
	IB_IO_EVENT_PATH_ADD,
	IB_IO_EVENT_PATH_REMOVE,
	IB_IO_EVENT_REPLAYED,
};

/**
 * struct ib_io_unit - an I/O unit, which is a node
 * @guid: GUID of the node
 * @system_image_guid: GUID of the system of which it is a part
 * @vendor_id: IEEE number of its vendor, 24 bits
 * @device_id: assigned by the vendor
 * @revision: assigned by the vendor
 * @description: node description when it was found, zero-terminated
 */
struct ib_io_unit {
	__be64 guid;
	__be64 system_image_guid;
	u32 vendor_id;
	u16 device_id;
	u32 revision;
	char description[IB_DEVICE_NODE_DESC_MAX + 1];
};

/**
 * struct ib_io_controller - an I/O controller of a unit
 * @slot: its slot, from 1
 * @profile: as reported by the unit; texts need not be zero-terminated
 * @entries: its services; @profile has their number
 */
struct ib_io_controller {
	u8 slot;
	struct ib_dm_ioc_profile profile;
	const struct ib_dm_svc_entry *entries;
};

/**
 * struct ib_io_path - a path to a controller
 * @device: device of this host at which it begins
 * @port_num: port of that device
 * @rec: the path
 */
struct ib_io_path {
	struct ib_device *device;
	u32 port_num;
	struct sa_path_rec rec;
};

/**
 * struct ib_io_event - an event of an I/O unit, a controller, or a path
 * @type: what has happened
 * @unit: the unit; NULL for IB_IO_EVENT_REPLAYED
 * @controller: the controller; NULL if this is about a unit
 * @path: the path; NULL unless this is about a path
 * @parent: the pointer that the watcher has stored at @context for the controller of a path, or for
 *	the unit of a controller
 * @context: place for a pointer of the watcher for the object of the event; NULL at first, and kept
 *	until its removal was reported
 *
 * Valid until the callback returns; the objects at @unit, @controller and @path are valid until
 * their removal was reported.
 */
struct ib_io_event {
	enum ib_io_event_type type;
	const struct ib_io_unit *unit;
	const struct ib_io_controller *controller;
	const struct ib_io_path *path;
	void *parent;
	void **context;
};

/**
 * struct ib_io_watcher - a consumer that is notified of I/O units of other hosts
 * @event: called for each event, one at a time. If it returns a nonzero value for an ADD event,
 *	there are no further events for that object and the objects below it. May sleep, and use
 *	the path; must neither add or remove watchers of I/O units or ports, nor start a search for
 *	I/O units, nor register or unregister devices, clients or event handlers
 * @entry: private to the core
 * @replayed: private to the core
 */
struct ib_io_watcher {
	int (*event)(struct ib_io_watcher *watcher, const struct ib_io_event *event);
	struct list_head entry;
	bool replayed;
};

int ib_watch_io(struct ib_io_watcher *watcher);
void ib_unwatch_io(struct ib_io_watcher *watcher);

void ib_search_io(void);

#endif /* RDMA_EXT_IO_H */
