/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of ioscan/ share.
 *
 * From top to bottom: watch.c (the API), port.c (this host's ports, and when they search), search.c
 * (a port's search) on unit.c (reads a unit) and request.c (requests and answers); known.c (applies
 * what a search has found to the known units), object.c (notifies watchers).
 *
 * Locks, outermost first: users_lock (watch.c), the locks of core/ports, ios_lock, ios_port.lock.
 * Work items take the last two. Removing a port waits for its work without holding ios_lock.
 */
#ifndef RDMA_CORE_IOSCAN_PRIV_H
#define RDMA_CORE_IOSCAN_PRIV_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_mad.h>
#include <rdma/rdma_ext_sa.h>

#include "ioscan.h"

/* ---- what is known ---- */

/* Protects all known objects, the watchers, and the members of struct ios_port that say so. */
extern struct mutex ios_lock;

/**
 * struct ios_object - something that watchers are notified of: a unit, a controller or a path
 * @entry: in the list of all objects, behind its parent
 * @views: struct ios_view of each watcher, in the watchers' order
 * @parent: the object that it belongs to, or NULL
 * @event: the event that reports its addition
 */
struct ios_object {
	struct list_head entry;
	struct list_head views;
	struct ios_object *parent;
	struct ib_io_event event;
};

/**
 * struct ios_unit - an I/O unit
 * @object: its notifications, once it is known
 * @entry: in the list of known units, or of those that a search has found
 * @prefix: its subnet
 * @ib: as watchers see it
 * @read: its controllers have been read
 * @controllers: its controllers
 * @reaches: paths to it, struct ios_reach
 */
struct ios_unit {
	struct ios_object object;
	struct list_head entry;
	__be64 prefix;
	struct ib_io_unit ib;
	bool read;
	struct list_head controllers;
	struct list_head reaches;
};

/**
 * struct ios_controller - a controller
 * @object: its notifications
 * @entry: in the unit's list
 * @ib: as watchers see it
 * @entries: its services
 * @paths: as watchers know them, one for each of the unit's reaches
 */
struct ios_controller {
	struct ios_object object;
	struct list_head entry;
	struct ib_io_controller ib;
	struct ib_dm_svc_entry *entries;
	struct list_head paths;
};

/**
 * struct ios_reach - a path from a port of this host to a port of a unit
 * @entry: in the unit's list
 * @port: the port of this host
 * @rec: the path; it names the unit's port
 */
struct ios_reach {
	struct list_head entry;
	struct ios_port *port;
	struct sa_path_rec rec;
};

/* object.c */
int ios_object_add(struct ios_object *object);
void ios_object_remove(struct ios_object *object);
int ios_watcher_add(struct ib_io_watcher *watcher);
void ios_watcher_remove(struct ib_io_watcher *watcher);
void ios_tell_replayed(void);

/* known.c */
struct ios_unit *ios_unit_make(__be64 prefix, __be64 guid);
void ios_controllers_free(struct ios_unit *unit);
struct ios_unit *ios_unit_find(struct list_head *list, __be64 prefix, __be64 guid);
void ios_units_free(struct list_head *list);
int ios_know(struct ios_port *port, struct list_head *found);

/* ---- ports and their requests ---- */

/**
 * struct ios_port - a port of this host
 * @entry: in the list of ports, under ios_lock
 * @device: its device
 * @port_num: its number
 * @active: it is in the state active, under ios_lock
 * @searched: its first search has ended, or it has none to make, under ios_lock
 * @agent: agent for requests to units
 * @subscription: subscription to the subnet manager's notices; NULL if subscribing failed
 * @work: searches
 * @retry: seconds until the next search if this one fails; used by @work alone
 * @noticed: content of the latest notice about a port, by its LID; see ios_notice()
 * @lock: protects what follows
 * @gone: it is being removed: no further requests are sent
 * @query: pending SA query, or NULL
 * @query_id: its id
 * @request: pending request to a unit, or NULL
 * @notice: called for each notice, and with NULL when the subnet manager has confirmed that it
 *	sends them; may sleep
 */
struct ios_port {
	struct list_head entry;
	struct ib_device *device;
	u32 port_num;
	bool active;
	bool searched;
	struct ib_mad_agent *agent;
	struct ib_sa_subscription *subscription;
	struct delayed_work work;
	unsigned int retry;
	struct xarray noticed;
	spinlock_t lock;
	bool gone;
	struct ib_sa_query *query;
	int query_id;
	struct ib_mad_send_buf *request;
	void (*notice)(struct ios_port *port, const struct ib_sa_notice *notice);
};

/**
 * struct ios_table - records from an answer of the subnet manager
 * @count: their number
 * @size: bytes of each
 * @records: the records, to be freed by kvfree()
 */
struct ios_table {
	unsigned int count;
	unsigned int size;
	u8 *records;
};

/**
 * struct ios_talk - a unit that is being read
 * @port: the port of this host
 * @rec: the path
 * @ah: address handle of the unit's port
 * @pkey_index: P_Key index of the path's partition
 */
struct ios_talk {
	struct ios_port *port;
	struct sa_path_rec *rec;
	struct ib_ah *ah;
	u16 pkey_index;
};

/**
 * struct ios_ops - how ports send requests
 * @open: sets up a port: gets its agent and its subscription; -EOPNOTSUPP if it has no SA
 * @close: undoes open()
 * @cancel: ends pending requests, after ios_port.gone was set
 * @table: sends a query to the subnet manager; no records and no error if nothing matches
 * @reach: prepares for requests to a unit
 * @get: sends it a Get; returns 0, a negative errno, or the status of its answer
 * @leave: undoes reach()
 *
 * All but @cancel may sleep. Tests replace ios_ops before there are watchers.
 */
struct ios_ops {
	int (*open)(struct ios_port *port);
	void (*close)(struct ios_port *port);
	void (*cancel)(struct ios_port *port);
	int (*table)(struct ios_port *port, const struct ib_sa_attr_query *query,
		     struct ios_table *table);
	int (*reach)(struct ios_talk *talk);
	int (*get)(struct ios_talk *talk, u16 attr_id, u32 attr_mod,
		   u8 data[IB_MGMT_DEVICE_DATA]);
	void (*leave)(struct ios_talk *talk);
};

extern const struct ios_ops *ios_ops;

/* request.c */
#if IS_ENABLED(CONFIG_KUNIT)
extern atomic_t ios_last_tid;
u64 ios_new_tid(const struct ib_mad_agent *agent);
#endif
void ios_requests_init(void);
void ios_requests_exit(void);

/* unit.c */
int ios_unit_read(struct ios_talk *talk, struct ios_unit *unit);

/* search.c */
int ios_search(struct ios_port *port, struct list_head *found);
bool ios_notice(struct ios_port *port, const struct ib_sa_notice *notice);
void ios_notices_forget(struct ios_port *port);

/* port.c */
int ios_ports_begin(void);
void ios_ports_end(void);
void ios_ports_search(void);
void ios_ports_settle(void);
void ios_flush(void);
int ios_ports_init(void);
void ios_ports_exit(void);

#endif
