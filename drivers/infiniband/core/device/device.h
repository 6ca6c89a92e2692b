/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the device room offers the other rooms of the core, beyond <rdma/ib_verbs.h>,
 * <rdma/rdma_netlink.h> and <rdma/ib_sysfs.h>.
 */
#ifndef RDMA_CORE_DEVICE_H
#define RDMA_CORE_DEVICE_H

#include <linux/completion.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/netdevice.h>
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
struct netlink_callback;
struct rdma_port_cache;
struct rdma_cq_pool;
struct sk_buff;
struct sock;

/* Ports of all devices together, so that a netlink dump is bounded. */
#define RDMA_MAX_PORTS 8192

/**
 * struct rdma_device_core - what the core keeps for a device from allocation to release
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
 * @events_open: the device takes events
 * @event_work: hands the events out, in order
 * @compat_lock: protects @compat
 * @compat: struct ib_core_device, the device's faces in other namespaces, by namespace id
 * @subdev_lock: protects @subdevs and @subdevs_open; held while the driver makes or ends one
 * @subdevs: devices below this one
 * @subdevs_open: the device takes more of them
 * @subdev_entry: in the parent's @subdevs, protected by its lock
 * @cq_pool: CQs that kernel consumers share, see verbs/cq_pool.c; NULL while there are none
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

	struct rdma_cq_pool *cq_pool;
};

/**
 * struct rdma_port_core - what the core keeps for a port from registration to release
 * @device: back pointer
 * @port_num: number of the port
 * @cache: GID and P_Key tables, see cache/
 * @netdev_lock: protects @netdev and @netdev_tracker
 * @netdev: net device that ib_device_set_netdev() has named, or NULL
 * @netdev_tracker: of the reference to @netdev
 * @netdev_link: in the table by net device while @netdev is set; walked under RCU
 * @sysfs: the port's folder in the device's own namespace
 * @counter: counters of QPs, see verbs/counter.c
 */
struct rdma_port_core {
	struct ib_device *device;
	u32 port_num;
	struct rdma_port_cache *cache;
	spinlock_t netdev_lock;
	struct net_device __rcu *netdev;
	netdevice_tracker netdev_tracker;
	struct hlist_node netdev_link;
	struct ib_port *sysfs;
	struct rdma_port_counter counter;
};

static inline struct rdma_port_core *rdma_port(struct ib_device *device, u32 port_num)
{
	return device->port_data[port_num].core;
}

/* Registry: device/registry.c ---------------------------------------------------------------- */

/* Called for one device of a dump; a non-zero return ends the dump with that value. */
typedef int (*nldev_callback)(struct ib_device *device, struct sk_buff *skb,
			      struct netlink_callback *cb, unsigned int idx);

struct ib_device *ib_device_get_by_index(const struct net *net, u32 index);
void ib_device_for_each(void (*visit)(struct ib_device *device));
int ib_enum_all_devs(nldev_callback visit, struct sk_buff *skb, struct netlink_callback *cb);
int ib_device_rename(struct ib_device *device, const char *name, struct netlink_ext_ack *extack);
int ib_device_set_dim(struct ib_device *device, u8 use_dim, struct netlink_ext_ack *extack);

/* Clients: device/client.c ------------------------------------------------------------------- */

/**
 * struct ib_client_nl_info - what a client tells netlink about its character device
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

/* Events: device/event.c --------------------------------------------------------------------- */

/* Runs the handlers of the event's device now, in the caller's (sleeping) context. */
void ib_dispatch_event_clients(struct ib_event *event);

/* Namespaces: device/netns.c ----------------------------------------------------------------- */

/* True while every network namespace sees all devices; changed by rdma_compatdev_set(). */
extern bool ib_devices_shared_netns;

int rdma_compatdev_set(u8 shared, struct netlink_ext_ack *extack);
int ib_device_set_netns_put(struct sk_buff *skb, struct ib_device *device, u32 ns_fd,
			    struct netlink_ext_ack *extack);
struct sock *rdma_net_nl_sock(const struct net *net);

/*
 * Refuses what was asked for by netlink: the reason goes to the sender with the answer, and to
 * rdma_refuse(). The format is a string literal, which NL_SET_ERR_MSG_FMT() needs.
 */
#define rdma_nl_refuse(extack, err, fmt, ...)                                                      \
	({                                                                                         \
		NL_SET_ERR_MSG_FMT(extack, fmt, ##__VA_ARGS__);                                    \
		rdma_refuse(err, fmt, ##__VA_ARGS__);                                              \
	})

/* Netlink: device/netlink.c ------------------------------------------------------------------ */

bool rdma_nl_get_privileged_qkey(void);
bool rdma_nl_privileged_qkey_is_set(void);
void rdma_nl_set_privileged_qkey(bool privileged);

/* Counters: device/hw_stats.c ---------------------------------------------------------------- */

struct rdma_hw_stats *ib_get_hw_stats_port(struct ib_device *device, u32 port_num);

/* Ports in sysfs: device/port_sysfs.c -------------------------------------------------------- */

int ib_port_register_client_groups(struct ib_device *device, u32 port_num,
				   const struct attribute_group **groups);
void ib_port_unregister_client_groups(struct ib_device *device, u32 port_num,
				      const struct attribute_group **groups);

#endif
