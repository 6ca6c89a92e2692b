/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Private header of cma/: connections by address, over InfiniBand, RoCE and iWARP.
 *
 * Files from the top down: main.c (module); device.c (devices that come and go), configfs.c;
 * listen.c; the calls of a consumer and the events of the transport (addresses, paths, connections,
 * requests of peers); id.c (an id is made, has its events delivered, is destroyed); unlisten.c,
 * mcast.c, notify.c, options.c; bind.c on acquire.c (device of an address) and port.c (port
 * spaces); event.c (queue of events), registry.c (devices), track.c, state.c, sockaddr.c.
 *
 * An event of an id reaches its handler on one of two ways, and on both the handler lock is held:
 *  - what is known later (address, path, multicast group, neighbour, bond) is a struct cma_report:
 *    cma_report() puts it at the end of the id's queue, and a work takes them out one by one;
 *  - what ib_cm and iw_cm say while private data are at hand is delivered at once, in their
 *    context, by cma_deliver().
 *
 * Locks, from the outside in:
 *   handler lock of a listener > handler lock of an id > cma_devices_lock > bind lock of a
 *   namespace > qp_lock, mcast_lock > cma_device.lock, lock of the neighbours' table > cma_id.lock.
 * No spinlock is held over a call of another module, and no lock but the handler's over a handler.
 */
#ifndef CORE_CMA_PRIV_H
#define CORE_CMA_PRIV_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <rdma/ib.h>
#include <rdma/ib_cache.h>
#include <rdma/ib_cm.h>
#include <rdma/ib_sa.h>
#include <rdma/iw_cm.h>
#include <rdma/rdma_cm.h>
#include <rdma/rdma_cm_ib.h>
#include <rdma/rdma_object.h>
#include <rdma/rdma_reject.h>

struct cma_answer;
struct cma_device;
struct cma_id;
struct cma_port;

/* States of an id.  `rdma resource show cm_id` shows them: the numbers are an interface. */
enum rdma_cm_state {
	RDMA_CM_IDLE,
	RDMA_CM_ADDR_QUERY,
	RDMA_CM_ADDR_RESOLVED,
	RDMA_CM_ROUTE_QUERY,
	RDMA_CM_ROUTE_RESOLVED,
	RDMA_CM_CONNECT,
	RDMA_CM_DISCONNECT,
	RDMA_CM_ADDR_BOUND,
	RDMA_CM_LISTEN,
	RDMA_CM_DEVICE_REMOVAL,
	RDMA_CM_DESTROYING,
	CMA_STATES
};

/**
 * enum cma_step - what changes the state of an id
 * @CMA_BIND: it gets a local address: IDLE -> ADDR_BOUND
 * @CMA_UNBIND: binding failed later: ADDR_BOUND -> IDLE
 * @CMA_RESOLVE_ADDR: it looks for the peer's link address: ADDR_BOUND -> ADDR_QUERY
 * @CMA_ADDR_DONE: found: ADDR_QUERY -> ADDR_RESOLVED
 * @CMA_ADDR_FAILED: not found: ADDR_QUERY -> ADDR_BOUND
 * @CMA_RESOLVE_ROUTE: it looks for a path: ADDR_RESOLVED -> ROUTE_QUERY
 * @CMA_ROUTE_DONE: found: ROUTE_QUERY -> ROUTE_RESOLVED
 * @CMA_ROUTE_FAILED: not found: ROUTE_QUERY -> ADDR_RESOLVED
 * @CMA_SET_PATH: the consumer brings the path: ADDR_RESOLVED -> ROUTE_RESOLVED
 * @CMA_UNSET_PATH: taking it failed: ROUTE_RESOLVED -> ADDR_RESOLVED
 * @CMA_CONNECT: it sends a request: ROUTE_RESOLVED -> CONNECT
 * @CMA_CONNECT_FAILED: sending failed: CONNECT -> ROUTE_RESOLVED
 * @CMA_REQUEST: it is made for the request of a peer: IDLE -> CONNECT
 * @CMA_DISCONNECTED: the connection has ended: CONNECT -> DISCONNECT
 * @CMA_LISTEN: it listens: ADDR_BOUND -> LISTEN
 * @CMA_LISTEN_FAILED: listening failed: LISTEN -> ADDR_BOUND
 * @CMA_REMOVE: its device goes away: every state but the last two -> DEVICE_REMOVAL
 * @CMA_DESTROY: it is destroyed: every state but the last -> DESTROYING
 * @CMA_STEPS: number of steps
 */
enum cma_step {
	CMA_BIND,
	CMA_UNBIND,
	CMA_RESOLVE_ADDR,
	CMA_ADDR_DONE,
	CMA_ADDR_FAILED,
	CMA_RESOLVE_ROUTE,
	CMA_ROUTE_DONE,
	CMA_ROUTE_FAILED,
	CMA_SET_PATH,
	CMA_UNSET_PATH,
	CMA_CONNECT,
	CMA_CONNECT_FAILED,
	CMA_REQUEST,
	CMA_DISCONNECTED,
	CMA_LISTEN,
	CMA_LISTEN_FAILED,
	CMA_REMOVE,
	CMA_DESTROY,
	CMA_STEPS
};

/**
 * struct cma_report - an event in an id's queue
 * @entry: place in the queue; under the id's lock
 * @queued: it is in the queue; under the id's lock
 * @take: called in process context with the handler lock held, once for each time that
 *	cma_report() returned true.  Makes the step that the event stands for (cma_step()), fills
 *	the event and says whether the handler is to be called; false when the id's state is no
 *	longer one for it (a destroyed id's reports are taken, too).  It ends the report: it may
 *	free it, and an embedded report may be used again from then on.
 */
struct cma_report {
	struct list_head entry;
	bool queued;
	bool (*take)(struct cma_id *id, struct cma_report *report, struct rdma_cm_event *event);
};

/**
 * struct cma_id - an id, with what rdma_cm knows of it
 * @id: the part that the consumer sees
 * @obj: how `rdma resource show cm_id` finds it; published while the id has a device
 * @lock: protects @state, @reports and each report's @queued.  Taken with interrupts off:
 *	neighbours change in softirq context
 * @state: see cma_step(); also read without the lock (cma_state())
 * @reports: events to deliver, in order
 * @report_work: delivers them; holds a reference while it is pending or runs
 * @owner: the module that made it; given to @obj each time that it is published
 * @handler_lock: held while the handler runs, and by rdma_lock_handler().  @state goes to CONNECT
 *	and from it only with this lock held.  Protects @cm_id, @qp_num, @srq, @seq_num, @ece and
 *	@qkey against the events of ib_cm and iw_cm
 * @qp_lock: protects id.qp between rdma_create_qp(), rdma_destroy_qp() and what modifies it
 * @refs: 1 for the consumer, and 1 for each report work, look-up and listener that uses the id,
 *	and for each call whose event may come, and give the id up, before the call has returned
 * @released: completed when @refs is 0; destruction waits for it
 * @rcu: ids are found in port spaces under RCU
 * @cma_dev: device, with a reference, or NULL; set with id.device and id.port_num by
 *	cma_attach_device() and constant from then until cma_release_device()
 * @device_entry: in the list of @cma_dev, or empty; under its lock
 * @port: port of its port space, or NULL; under the namespace's bind lock
 * @port_entry: in the list of @port, for readers under RCU
 * @listens: its struct cma_listen, one for each device; under cma_devices_lock
 * @wildcard_entry: in the list of ids that listen on every device; under cma_devices_lock
 * @mcast_lock: protects @mcasts
 * @mcasts: its multicast groups
 * @neigh_entry: in the table of ids by neighbour (notify.c), under that table's lock; or unhashed
 * @neigh_report: UNREACHABLE
 * @bond_report: ADDR_CHANGE
 * @end_report: DISCONNECTED, for which no answer of the peer is waited for
 * @query_report: for address or route resolution, which exclude each other
 * @answer: result of the query, until the report or a cancellation takes it; under @lock
 * @query: the last SA query of a route, which may have ended; with @query_id
 * @query_id: number of @query
 * @used_resolve_ip: rdma_resolve_ip() was called, so rdma_addr_cancel() has something to cancel
 * @cm_id: CM id of the transport; NULL until connecting or listening, and again when its handler is
 *	about to destroy it by its return value
 * @backlog: backlog of rdma_listen()
 * @seq_num: first PSN
 * @qkey: Q_Key, 0 while none is set
 * @qp_num: QP number of a connection whose QP is not made by rdma_cm
 * @srq: that QP has an SRQ
 * @reuseaddr: others may bind the same port (rdma_set_reuseaddr())
 * @afonly: an IPv6 wildcard does not stand for IPv4 (rdma_set_afonly())
 * @afonly_set: the consumer has chosen @afonly
 * @tos_set: the consumer has chosen @tos; this and the rest up to @min_rnr_timer under @qp_lock
 * @timeout_set: the consumer has chosen @timeout
 * @min_rnr_timer_set: the consumer has chosen @min_rnr_timer
 * @tos: type of service, or traffic class
 * @timeout: local ACK timeout, exponent
 * @min_rnr_timer: minimum RNR NAK timer, code
 * @gid_type: type of source GIDs
 * @ece: enhanced connection establishment, for the next message
 */
struct cma_id {
	struct rdma_cm_id id;
	struct rdma_object obj;
	struct rdma_restrack_entry owner;

	spinlock_t lock;
	enum rdma_cm_state state;
	struct list_head reports;
	struct work_struct report_work;

	struct mutex handler_lock;
	struct mutex qp_lock;

	refcount_t refs;
	struct completion released;
	struct rcu_head rcu;

	struct cma_device *cma_dev;
	struct list_head device_entry;
	struct cma_port *port;
	struct hlist_node port_entry;
	struct list_head listens;
	struct list_head wildcard_entry;
	struct mutex mcast_lock;
	struct list_head mcasts;

	struct hlist_node neigh_entry;
	struct cma_report neigh_report;
	struct cma_report bond_report;
	struct cma_report end_report;

	struct cma_report query_report;
	struct cma_answer *answer;
	struct ib_sa_query *query;
	int query_id;
	bool used_resolve_ip;

	union {
		struct ib_cm_id *ib;
		struct iw_cm_id *iw;
	} cm_id;

	int backlog;
	u32 seq_num;
	u32 qkey;
	u32 qp_num;
	u8 srq;

	bool reuseaddr;
	bool afonly;
	bool afonly_set;
	bool tos_set;
	bool timeout_set;
	bool min_rnr_timer_set;
	u8 tos;
	u8 timeout;
	u8 min_rnr_timer;
	enum ib_gid_type gid_type;
	struct rdma_ucm_ece ece;
};

static inline struct cma_id *to_cma_id(struct rdma_cm_id *id)
{
	return container_of(id, struct cma_id, id);
}

/**
 * struct cma_port_config - what configfs sets for a port
 * @gid_type: default GID type of ids
 * @tos: default type of service of RoCE ids
 */
struct cma_port_config {
	enum ib_gid_type gid_type;
	u8 tos;
};

/**
 * struct cma_device - a device that ids may use
 * @device: the device
 * @entry: in the list of devices; under cma_devices_lock
 * @listens: the struct cma_listen on it; under cma_devices_lock
 * @lock: protects @ids and @gone
 * @ids: ids that use it
 * @gone: it takes no more ids
 * @refs: 1 while it is registered, and 1 for each id and each open folder in configfs
 * @released: completed when @refs is 0; removal waits for it
 * @num_ports: ports in @config
 * @config: by port, from the first (cma_config()); each value is read and written as one
 */
struct cma_device {
	struct ib_device *device;
	struct list_head entry;
	struct list_head listens;
	spinlock_t lock;
	struct list_head ids;
	bool gone;
	refcount_t refs;
	struct completion released;
	u32 num_ports;
	struct cma_port_config config[] __counted_by(num_ports);
};

/**
 * struct cma_listen - a listening id on one device
 * @id: the id, which outlives this
 * @cma_dev: the device
 * @id_entry: in the id's list; under cma_devices_lock
 * @dev_entry: in the device's list; under cma_devices_lock
 * @obj: how `rdma resource show cm_id` finds an id that listens everywhere
 * @tracked: @obj is published
 * @ib: InfiniBand or RoCE: the listen of ib_cm, which may be shared
 * @iw: iWARP: the listen of iw_cm; its context is this struct
 */
struct cma_listen {
	struct cma_id *id;
	struct cma_device *cma_dev;
	struct list_head id_entry;
	struct list_head dev_entry;
	struct rdma_object obj;
	bool tracked;
	union {
		struct ib_cm_id *ib;
		struct iw_cm_id *iw;
	};
};

/* Protects the lists of devices, of listens and of wildcard listeners; held while listens begin. */
extern struct rw_semaphore cma_devices_lock;
/* The devices (struct cma_device.entry). */
extern struct list_head cma_devices;
/* The ids that listen on every device (struct cma_id.wildcard_entry). */
extern struct list_head cma_wildcards;
/* The work of all ids. */
extern struct workqueue_struct *cma_wq;
/* Path queries and multicast groups go by this client. */
extern struct ib_sa_client cma_sa_client;

/* ---- state.c ----
 *
 * cma_step: makes the step if the table has it for the id's state; says whether it has.
 * cma_step_from: the same, and tells the state before.
 * cma_step_table: the state that @step leads to from @from; -1 if it does not.
 */

bool cma_step(struct cma_id *id, enum cma_step step);
bool cma_step_from(struct cma_id *id, enum cma_step step, enum rdma_cm_state *from);
#if IS_ENABLED(CONFIG_KUNIT)
int cma_step_table(enum rdma_cm_state from, enum cma_step step);
#endif

/* The current state, which may change at any time unless the caller holds a lock. */
static inline enum rdma_cm_state cma_state(const struct cma_id *id)
{
	return READ_ONCE(id->state);
}

/* ---- event.c, id.c ----
 *
 * cma_report: queues an event.  Any context that may take a spinlock.  false if it was in the queue
 *	already or the id is being destroyed (then @take is not called, and the caller frees what it
 *	has allocated).
 * cma_deliver: calls the handler; the handler lock is held.  When it returns other than 0, the
 *	caller destroys the id: in a handler of ib_cm or iw_cm it first sets cm_id to NULL (the
 *	handler's return value destroys the transport's id), then calls cma_destroy_unlock().
 * cma_create_child: an id for a request to @listener: its handler, context, port space, QP type,
 *	namespace and owner; IDLE, no device, no port.
 * cma_destroy_unlock: destroys an id whose handler lock the caller holds.
 * cma_destroy: destroys an id whose handler lock is not held; rdma_destroy_id() calls it.
 */

bool cma_report(struct cma_id *id, struct cma_report *report);
struct cma_report *cma_next_report(struct cma_id *id);
int cma_deliver(struct cma_id *id, struct rdma_cm_event *event);
struct cma_id *cma_create_id(struct net *net, rdma_cm_event_handler event_handler, void *context,
			     enum rdma_ucm_port_space ps, enum ib_qp_type qp_type);
struct cma_id *cma_create_child(struct cma_id *listener);
void cma_destroy_unlock(struct cma_id *id);
void cma_destroy(struct cma_id *id);
void cma_put_id(struct cma_id *id);
void cma_remove_id(struct cma_id *id);

static inline void cma_get_id(struct cma_id *id)
{
	refcount_inc(&id->refs);
}

/* ---- acquire.c: a device for an id's addresses.  The id has none yet. ----
 *
 * All may sleep, and return 0, -ENODEV when no device fits, -EINVAL for PS_IPOIB on no InfiniBand,
 * or -ENOMEM.  With 0 the id has device, port, source GID and GID type, and is tracked.
 *
 * cma_translate_addr: link address, interface and type of a local IP address, as
 *	rdma_translate_ip(); from an AF_IB address, its GID and P_Key.
 * cma_acquire_by_source: by the source address and dev_addr, as addr/ or cma_translate_addr() found
 *	it.
 * cma_acquire_for_request: by the same, for a peer's request that arrived at this device and port.
 * cma_acquire_for_iw_request: by the same, preferring the device of the listen.
 * cma_acquire_by_ib_dest: AF_IB; by the destination's P_Key and GID prefix.  Sets the source's GID.
 * cma_acquire_loopback: the destination is a loopback address; takes the first device of the
 *	address family with an active port.  The source becomes the family's loopback address.
 * cma_attach_device: takes a reference to the device, and over the one to @sgid_attr (may be NULL).
 *	-ENODEV when the device is going; then the caller keeps @sgid_attr.
 * cma_release_device: undoes it.  Without one, does nothing.
 */

int cma_translate_addr(struct sockaddr *addr, struct rdma_dev_addr *dev_addr);
int cma_acquire_by_source(struct cma_id *id);
int cma_acquire_for_request(struct cma_id *id, struct cma_device *cma_dev, u32 port_num);
int cma_acquire_for_iw_request(struct cma_id *id, struct cma_listen *listen);
int cma_acquire_by_ib_dest(struct cma_id *id);
int cma_acquire_loopback(struct cma_id *id);
int cma_attach_device(struct cma_id *id, struct cma_device *cma_dev, u32 port_num,
		      const struct ib_gid_attr *sgid_attr);
void cma_release_device(struct cma_id *id);

/* ---- track.c: `rdma resource show cm_id` ---- */

void cma_track(struct cma_id *id);
void cma_untrack(struct cma_id *id);
struct iw_cm_id *cma_take_iw(struct cma_id *id);
void cma_track_listen(struct cma_listen *listen);
void cma_untrack_listen(struct cma_listen *listen);

/* ---- registry.c ----
 *
 * cma_get_device: with a reference, or NULL when rdma_cm does not know the device (any more).
 * cma_find_device: the same by name.
 * cma_config: settings of a port.
 * cma_gid_types: the GID types of a port, as a mask of their numbers.
 */

struct cma_device *cma_get_device(struct ib_device *device);
struct cma_device *cma_find_device(const char *name);
void cma_put_device(struct cma_device *cma_dev);
struct cma_port_config *cma_config(struct cma_device *cma_dev, u32 port_num);
unsigned long cma_gid_types(struct ib_device *device, u32 port_num);

/* ---- port.c, bind.c ---- */

/**
 * struct cma_listen_key - what a listen and a request have to agree in
 * @net: network namespace
 * @ps: port space
 * @service_id: service ID of the request; listeners are looked for by its low 16 bits in every
 *	port space
 * @local: the address that the peer wants to reach, AF_INET, AF_INET6 or AF_IB
 * @device: device on which the request arrived
 * @port_num: its port
 * @ndev: net device of the request, or NULL when there is none (AF_IB)
 */
struct cma_listen_key {
	struct net *net;
	enum rdma_ucm_port_space ps;
	__be64 service_id;
	const struct sockaddr *local;
	struct ib_device *device;
	u32 port_num;
	struct net_device *ndev;
};

/*
 * The state is the caller's: cma_step(id, CMA_BIND) before, CMA_UNBIND when it fails.  To resolve
 * an address, copy the destination to cma_dst_addr() before binding, because two ids may share a
 * local port if they have different destinations; its family is set to that of the local address.
 *
 * cma_claim_port: makes a shared port the id's own, for listening; -EADDRNOTAVAIL or -EADDRINUSE
 *	when others have it, too.
 * cma_find_listener: the listening id, with a reference (cma_put_id()), or NULL.
 * cma_bind_local: gives an id whose state is ADDR_BOUND the address (it is copied), with device
 *	unless it is a wildcard, and a port.
 * cma_unbind: back to IDLE when that has failed.
 * cma_bind_any: rdma_bind_addr() of the wildcard address of @family.
 * cma_get_port: a port for id.route.addr.src_addr, an ephemeral one if that has port 0.
 * cma_check_linklocal: a link-local IPv6 address names its interface, which goes to bound_dev_if.
 */
struct cma_id *cma_find_listener(const struct cma_listen_key *key);
int cma_bind_local(struct cma_id *id, const struct sockaddr *addr);
void cma_unbind(struct cma_id *id);
int cma_bind_any(struct cma_id *id, sa_family_t family);
int cma_get_port(struct cma_id *id);
int cma_claim_port(struct cma_id *id);
void cma_release_port(struct cma_id *id);
int cma_check_linklocal(struct rdma_dev_addr *dev_addr, const struct sockaddr *addr);

/* ---- sockaddr.c ---- */

static inline struct sockaddr *cma_src_addr(struct cma_id *id)
{
	return (struct sockaddr *)&id->id.route.addr.src_addr;
}

static inline struct sockaddr *cma_dst_addr(struct cma_id *id)
{
	return (struct sockaddr *)&id->id.route.addr.dst_addr;
}

static inline sa_family_t cma_family(const struct cma_id *id)
{
	return id->id.route.addr.src_addr.ss_family;
}

bool cma_addr_is_zero(const struct sockaddr *addr);
bool cma_addr_is_loopback(const struct sockaddr *addr);
bool cma_addr_is_any(const struct sockaddr *addr);
bool cma_addr_same(const struct sockaddr *a, const struct sockaddr *b);
__be16 cma_addr_port(const struct sockaddr *addr);
void cma_addr_set_port(struct sockaddr *addr, __be16 port);

/* ---- mcast.c, and what datagram ids need ----
 *
 * cma_set_default_qkey: 0, or the error of the SA cache for PS_IPOIB (-EADDRNOTAVAIL: no such
 *	group).
 * cma_set_qkey: -EINVAL for 0, or when another one is set.
 */

int cma_set_default_qkey(struct cma_id *id);
int cma_set_qkey(struct cma_id *id, u32 qkey);
void cma_leave_all(struct cma_id *id);

/* ---- listen.c, unlisten.c ---- */

/* Does ib_cm listen on the device, and not iw_cm? */
static inline bool cma_device_is_ib(const struct cma_device *cma_dev)
{
	return rdma_cap_ib_cm(cma_dev->device, rdma_start_port(cma_dev->device));
}

void cma_unlisten(struct cma_id *id);
int cma_listen_on_new_device(struct cma_device *cma_dev);
void cma_unlisten_device(struct cma_device *cma_dev);

/* ---- module init and exit of each file ---- */

int cma_ports_begin(void);
void cma_ports_end(void);
int cma_devices_begin(void);
void cma_devices_end(void);
int cma_notify_begin(void);
void cma_notify_end(void);

#if IS_ENABLED(CONFIG_INFINIBAND_ADDR_TRANS_CONFIGFS)
int cma_configfs_begin(void);
void cma_configfs_end(void);
#else
static inline int cma_configfs_begin(void)
{
	return 0;
}

static inline void cma_configfs_end(void)
{
}
#endif

/* ---- notify.c: changes of neighbours and bonds ----
 *
 * cma_watch_neighbour: from now on the id gets UNREACHABLE when the destination's
 *	(route.addr.dst_addr) link address on bound_dev_if is another than dev_addr.dst_dev_addr;
 *	for RoCE, once the route is resolved.  Ends with the id.
 */

void cma_watch_neighbour(struct cma_id *id);
void cma_unwatch_neighbour(struct cma_id *id);

/* ---- for the tests ---- */

/* Callbacks of the queries for addresses and paths. */
typedef void (*cma_neighbour_found)(int status, struct sockaddr *source,
				    struct rdma_dev_addr *dev_addr, void *context);
typedef void (*cma_path_found)(int status, struct sa_path_rec *paths, unsigned int count,
			       void *context);

#if IS_ENABLED(CONFIG_KUNIT)
void cma_cancel(struct cma_id *id, enum rdma_cm_state from);
int cma_ask_neighbour(struct cma_id *id, unsigned long timeout_ms, cma_neighbour_found found);
int cma_ask_path(struct cma_id *id, struct sa_path_rec *wanted, ib_sa_comp_mask mask,
		 unsigned long timeout_ms, cma_path_found found, struct ib_sa_query **query);
int cma_begin_listen(struct cma_listen *listen);
void cma_end_listen(struct cma_listen *listen);
int cma_broadcast_group(struct cma_id *id, struct ib_sa_mcmember_rec *rec);
struct ib_sa_multicast *cma_sa_join(struct cma_id *id, struct ib_sa_mcmember_rec *rec,
				    ib_sa_comp_mask mask, void *context);
void cma_sa_leave(struct ib_sa_multicast *sa);
int cma_sa_joined(int status, struct ib_sa_multicast *sa);
void cma_neighbour_changed(const struct net *net, int interface, const struct sockaddr *addr,
			   const u8 *link_addr, unsigned int length);
void cma_bond_changed(const struct net_device *ndev);
#endif

/*
 * ---- request.c, resolve.c: what the files above give to those below ----
 *
 * cma_ib_listen_handler: handler of a listen of ib_cm, shared by all ids that listen at the service
 *	id, so its cm_id's context is not theirs: it finds the id by cma_find_listener().
 * cma_iw_listen_handler: handler of a listen of iw_cm; the cm_id's context is the struct
 *	cma_listen.
 * cma_cancel_query: ends the address or route query that @from (ADDR_QUERY or ROUTE_QUERY) has in
 *	progress, once the id is in DEVICE_REMOVAL or DESTROYING.  Waits for callbacks that run;
 *	called without locks, as often as once.
 */
int cma_ib_listen_handler(struct ib_cm_id *cm_id, const struct ib_cm_event *event);
int cma_iw_listen_handler(struct iw_cm_id *cm_id, struct iw_cm_event *event);
void cma_cancel_query(struct cma_id *id, enum rdma_cm_state from);

#endif /* CORE_CMA_PRIV_H */
