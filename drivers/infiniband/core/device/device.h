/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What device/ offers the folders above it, beyond <rdma/ib_verbs.h> and <rdma/rdma_netlink.h>:
 * clients, events, net devices, the netlink socket, ports and their queries, and the registry, in
 * which devices are found.
 *
 * Locks of a device's life, outermost first; those of register/ are among them:
 *   device_rename_lock (register/) one change of a name at a time
 *   core->subdev_lock              the sub-devices, which the driver makes and deletes under it
 *   core->registration_lock        one registration state change of a device at a time
 *   compat_nets_rwsem (register/)  the table of network namespaces
 *   core->compat_lock              the compat devices that stand for it in other namespaces
 *   core->clients_rwsem            which clients are attached to the device
 *   registry_rwsem (registry.c)    names, and visibility in the registry
 *   ib_clients_rwsem (client.c)    the table of clients
 * Calls into clients are made with clients_rwsem held for reading at the most.
 */
#ifndef RDMA_CORE_DEVICE_H
#define RDMA_CORE_DEVICE_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
#include <linux/notifier.h>
#include <linux/rwsem.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/net_namespace.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>
#include <rdma/rdma_netlink.h>
#include <rdma/rdma_reject.h>

struct ib_port;
struct mcast_port;
struct netlink_callback;
struct rdma_port_cache;
struct rdma_cq_pool;
struct sa_port;
struct sk_buff;
struct sock;

/* Largest number of ports of a device, and of minors of uverbs and of umad. */
#define RDMA_MAX_PORTS 8192

/**
 * struct rdma_device_core - the core's data of a device, from allocation to release
 * @device: back pointer
 * @registration_lock: one change of the registration state at a time
 * @registered: between a successful ib_register_device() and its unregistration; protected by
 *              @registration_lock
 * @unregistered: completed when the device's reference count drops to zero
 * @unregister_work: ib_unregister_device_queued()
 * @groups: attribute groups of the class device
 * @clients_rwsem: protects which clients are attached; read while clients are called
 * @handlers_rwsem: protects @handlers; read while they are called
 * @handlers: struct ib_event_handler
 * @event_lock: protects @events and @events_open; taken from any context
 * @events: events waiting for @event_work, oldest first
 * @events_open: events of the device are accepted
 * @event_work: delivers the events in order
 * @compat_lock: protects @compat
 * @compat: compat devices, which stand for the device in other namespaces, by namespace id
 * @subdev_lock: protects @subdevs and @subdevs_open; held while the driver makes or deletes one
 * @subdevs: the sub-devices
 * @subdevs_open: sub-devices may be added
 * @subdev_entry: in the parent's @subdevs, protected by its lock
 * @roce_entry: in the list of devices whose GID tables follow net devices, see roce/watch.c
 * @hw_stats: hardware counters of the device, or NULL; see counter/hw_stats.c
 * @cq_pool: CQs that kernel consumers share, see verbs/cq_pool.c; NULL before the first is
 *	allocated
 */
struct rdma_device_core {
	struct ib_device *device;
	struct mutex registration_lock;
	bool registered;
	struct completion unregistered;
	struct work_struct unregister_work;
	const struct attribute_group *groups[4];

	struct rw_semaphore clients_rwsem;

	struct rw_semaphore handlers_rwsem;
	struct list_head handlers;
	spinlock_t event_lock;
	struct list_head events;
	bool events_open;
	struct work_struct event_work;

	struct mutex compat_lock;
	struct xarray compat;

	struct mutex subdev_lock;
	struct list_head subdevs;
	bool subdevs_open;
	struct list_head subdev_entry;

	struct list_head roce_entry;

	struct rdma_hw_stats *hw_stats;
	struct rdma_cq_pool *cq_pool;
};

/**
 * struct rdma_port_core - the core's data of a port, from registration to release
 * @device: back pointer
 * @port_num: number of the port
 * @cache: GID and P_Key tables, see cache/
 * @netdev_lock: protects @netdev and @netdev_tracker
 * @netdev: net device that ib_device_set_netdev() has named, or NULL
 * @netdev_tracker: tracker of the reference to @netdev
 * @netdev_link: in the table by net device while @netdev is set; walked under RCU
 * @subnet_prefix: upper half of the port's GIDs in host byte order, as the cache last saw it
 * @hw_stats: hardware counters of the port, or NULL; see counter/hw_stats.c
 * @counter: counters that QPs are bound to, see counter/counter.c
 * @sysfs: the port's folder in the device's own namespace
 * @sa: subnet administration, see sa/; NULL if the port has none
 * @mcast: multicast groups, see mcast/; NULL if the port has none
 */
struct rdma_port_core {
	struct ib_device *device;
	u32 port_num;
	struct rdma_port_cache *cache;
	spinlock_t netdev_lock;
	struct net_device __rcu *netdev;
	netdevice_tracker netdev_tracker;
	struct hlist_node netdev_link;
	u64 subnet_prefix;
	struct rdma_hw_stats *hw_stats;
	struct rdma_port_counter counter;
	struct ib_port *sysfs;
	struct sa_port *sa;
	struct mcast_port *mcast;
};

static inline struct rdma_port_core *rdma_port(struct ib_device *device, u32 port_num)
{
	return device->port_data[port_num].core;
}

/* Registry: registry.c ----------------------------------------------------------------------- */

/* Called for one device of a dump; a non-zero return ends the dump with that value. */
typedef int (*nldev_callback)(struct ib_device *device, struct sk_buff *skb,
			      struct netlink_callback *cb, unsigned int idx);

int ib_registry_insert(struct ib_device *device, const char *name);
int ib_registry_rename(struct ib_device *device, const char *name, struct netlink_ext_ack *extack);
void ib_registry_remove(struct ib_device *device);
void ib_registry_name(const struct ib_device *device, char *name);
void ib_registry_show(struct ib_device *device);
void ib_registry_hide(struct ib_device *device);
bool ib_registry_shown(const struct ib_device *device);
void ib_registry_announce(struct ib_device *device, enum kobject_action action);
void ib_registry_exit(void);
#if IS_ENABLED(CONFIG_KUNIT)
extern u32 ib_registry_next_index;
#endif

struct ib_device *ib_device_get_by_index(const struct net *net, u32 index);
struct ib_device *ib_registry_next(unsigned long *index);
struct ib_device *ib_registry_next_any(unsigned long *index);
void ib_device_for_each(void (*visit)(struct ib_device *device));
int ib_enum_all_devs(nldev_callback visit, struct sk_buff *skb, struct netlink_callback *cb);

/*
 * Each registered device in turn, held by a registration reference, which the loop drops. A loop
 * that ends early leaves the reference to the caller.
 */
#define for_each_registered_device(device, index)                                                  \
	for ((index) = 0; ((device) = ib_registry_next(&(index))); ib_device_put(device))

/* The same for devices in any state, held by a plain struct device reference. */
#define for_each_known_device(device, index)                                                       \
	for ((index) = 0; ((device) = ib_registry_next_any(&(index))); put_device(&(device)->dev))

/* True while every network namespace sees all devices; register/ changes it. */
extern bool ib_devices_shared_netns;

/* Operations: ops.c -------------------------------------------------------------------------- */

bool ib_has_kernel_verbs(const struct ib_device_ops *ops);

/* Ports: port.c ------------------------------------------------------------------------------ */

int ib_ports_setup(struct ib_device *device);
int ib_ports_read_immutable(struct ib_device *device);
void ib_ports_release(struct ib_device *device);

/* Net devices of ports: netdev.c ------------------------------------------------------------- */

void ib_netdevs_release(struct ib_device *device);

/* Clients: client.c -------------------------------------------------------------------------- */

/**
 * struct ib_client_nl_info - a client's answer to netlink about its character device
 * @nl_msg: message under construction; the client may add attributes of its own
 * @cdev: the client's character device; the core takes the reference that its caller puts
 * @port: port asked about, or -1 (as u32) when the request named none
 * @abi: the client's ABI number
 */
struct ib_client_nl_info {
	struct sk_buff *nl_msg;
	struct device *cdev;
	u32 port;
	u64 abi;
};

int ib_get_client_nl_info(struct ib_device *device, const char *client_name,
			  struct ib_client_nl_info *res);
int ib_clients_attach_all(struct ib_device *device);
void ib_clients_detach_all(struct ib_device *device);
void ib_clients_rename(struct ib_device *device);

/* Events: event.c ---------------------------------------------------------------------------- */

/**
 * struct ib_event_prehandler - a function of the core that sees events before the handlers do
 * @entry: in the list of all, in the order in which they were added
 * @handle: sees the event of a registered device; may sleep, and may hand another event to the
 *	    handlers before this one
 */
struct ib_event_prehandler {
	struct list_head entry;
	void (*handle)(const struct ib_event *event);
};

int ib_events_init(void);
void ib_events_exit(void);
void ib_events_setup(struct rdma_device_core *core);
void ib_events_open(struct ib_device *device);
void ib_events_close(struct ib_device *device);
void ib_events_add_prehandler(struct ib_event_prehandler *prehandler);
void ib_dispatch_event_clients(struct ib_event *event);
bool ib_event_changes_port(enum ib_event_type type);

/* Changes of devices: event.c ---------------------------------------------------------------- */

/**
 * struct ib_device_change - a change of which subscribers are notified
 * @device: the device, which lives at least until they return
 * @port_num: the port whose net device it is about; 0 for changes of the device
 */
struct ib_device_change {
	struct ib_device *device;
	u32 port_num;
};

int ib_device_notifier_register(struct notifier_block *nb);
void ib_device_notifier_unregister(struct notifier_block *nb);
void ib_device_notify(struct ib_device *device, u32 port_num, enum rdma_nl_notify_event_type type);

/* Netlink: netlink.c ------------------------------------------------------------------------- */

/*
 * Refuses a netlink request: the reason goes to the sender with the answer, and to rdma_refuse().
 * The format must be a string literal, which NL_SET_ERR_MSG_FMT() needs.
 */
#define rdma_nl_refuse(extack, err, fmt, ...)                                                      \
	({                                                                                         \
		NL_SET_ERR_MSG_FMT(extack, fmt, ##__VA_ARGS__);                                    \
		rdma_refuse(err, fmt, ##__VA_ARGS__);                                              \
	})

int rdma_nl_init(void);
void rdma_nl_exit(void);
bool rdma_nl_get_privileged_qkey(void);
bool rdma_nl_privileged_qkey_is_set(void);
void rdma_nl_set_privileged_qkey(bool privileged);

#endif
