/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Others' I/O units beyond Linux 6.12: the controllers that the subnet's ports offer, and the paths
 * there. What this host offers is in <rdma/rdma_ext_dm.h>.
 */
#ifndef RDMA_EXT_IO_H
#define RDMA_EXT_IO_H

#include <linux/list.h>
#include <rdma/ib_sa.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_ext_dm.h>

/**
 * enum ib_io_event_type - events of others' I/O units
 * @IB_IO_EVENT_UNIT_ADD: an I/O unit is there; its controllers follow
 * @IB_IO_EVENT_UNIT_REMOVE: it is there no more, or nobody will be notified of it any more
 * @IB_IO_EVENT_CONTROLLER_ADD: a unit has a controller; the paths there follow
 * @IB_IO_EVENT_CONTROLLER_REMOVE: it has no such controller any more, or another one in its place
 * @IB_IO_EVENT_PATH_ADD: a controller is reached like this
 * @IB_IO_EVENT_PATH_REMOVE: it is not any more, or in another way
 * @IB_IO_EVENT_REPLAYED: what the ports have found that were there has been told; of nothing
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
 * @system_image_guid: GUID of the system that it is part of
 * @vendor_id: IEEE number of its vendor, 24 bits
 * @device_id: the vendor's
 * @revision: the vendor's
 * @description: of the node when it was found, zero-terminated
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
 * @profile: as the unit answered; texts need not be zero-terminated
 * @entries: its services; @profile has their number
 */
struct ib_io_controller {
	u8 slot;
	struct ib_dm_ioc_profile profile;
	const struct ib_dm_svc_entry *entries;
};

/**
 * struct ib_io_path - a path to a controller
 * @device: device of this host where it begins
 * @port_num: and the port
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
 * @parent: what the watcher has put into @context of the controller of a path, of the unit of a
 *	controller
 * @context: a place for the watcher's pointer of what this is about; NULL at first, and kept until
 *	its removal is told
 *
 * Valid until the callback returns; what @unit, @controller and @path point to, until its removal
 * has been told.
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
 * struct ib_io_watcher - a consumer that is notified of others' I/O units
 * @event: called for each event, one after the other. What is not 0, when something is added, is
 *	returned to be called no more for it, nor for what belongs to it. May sleep, and use the
 *	path; must neither watch or unwatch I/O units or ports, nor have them searched, nor
 *	register or unregister devices, clients or event handlers
 * @entry: the core's
 * @replayed: the core's
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
