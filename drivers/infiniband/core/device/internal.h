/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of the device room share among themselves.
 *
 * Locks, outermost first:
 *   core->subdev_lock              devices below it, which the driver makes and ends under it
 *   core->registration_lock        one registration state change of a device at a time
 *   ib_nets_rwsem (netns.c)        the table of network namespaces
 *   core->compat_lock              the device's faces in other namespaces
 *   core->clients_rwsem            which clients are attached to the device
 *   ib_registry_rwsem              names, and who is visible in the registry
 *   ib_clients_rwsem (client.c)    the table of clients
 * Calls into clients are made with clients_rwsem held for reading at the most.
 */
#ifndef RDMA_CORE_DEVICE_INTERNAL_H
#define RDMA_CORE_DEVICE_INTERNAL_H

#include <linux/rwsem.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

#include "device.h"

/* Registry: registry.c ----------------------------------------------------------------------- */

/* Set while a device takes part in everything; absent while it comes, goes or moves. */
#define DEVICE_REGISTERED XA_MARK_1

extern struct rw_semaphore ib_registry_rwsem;
extern struct xarray ib_registry;

int ib_registry_insert(struct ib_device *device, const char *name);
void ib_registry_remove(struct ib_device *device);
void ib_registry_show(struct ib_device *device);
void ib_registry_hide(struct ib_device *device);
void ib_registry_announce(struct ib_device *device, enum kobject_action action);

static inline bool ib_registry_shown(const struct ib_device *device)
{
	return xa_get_mark(&ib_registry, device->index, DEVICE_REGISTERED);
}

struct ib_device *ib_registry_next(unsigned long *index);
struct ib_device *ib_registry_next_any(unsigned long *index);

/*
 * Every registered device in turn, held by a registration reference which the loop drops. Leaving
 * the loop early passes the reference to whoever leaves it.
 */
#define for_each_registered_device(device, index)                                                  \
	for ((index) = 0; ((device) = ib_registry_next(&(index))); ib_device_put(device))

/* The same for devices in any state, held by a plain struct device reference. */
#define for_each_known_device(device, index)                                                       \
	for ((index) = 0; ((device) = ib_registry_next_any(&(index))); put_device(&(device)->dev))

/* Registration: register.c ------------------------------------------------------------------- */

extern struct workqueue_struct *ib_unreg_wq;

void ib_device_suspend(struct ib_device *device);
int ib_device_resume(struct ib_device *device);
void ib_unregister_device_work(struct work_struct *work);

/* Allocation: alloc.c ------------------------------------------------------------------------ */

void ib_device_free(struct ib_device *device);

/* Devices below devices: subdev.c ------------------------------------------------------------ */

void ib_subdevs_open(struct ib_device *device);
void ib_subdevs_end(struct ib_device *device);

/* Clients: client.c -------------------------------------------------------------------------- */

int ib_clients_attach_all(struct ib_device *device);
void ib_clients_detach_all(struct ib_device *device);
void ib_clients_rename(struct ib_device *device);

/* Ports: port.c ------------------------------------------------------------------------------ */

int ib_ports_setup(struct ib_device *device);
int ib_ports_read_immutable(struct ib_device *device);
void ib_ports_release(struct ib_device *device);

/* Net devices of ports: netdev.c ------------------------------------------------------------- */

void ib_netdevs_release(struct ib_device *device);

/* Events: event.c ---------------------------------------------------------------------------- */

int ib_events_init(void);
void ib_events_exit(void);
void ib_events_setup(struct rdma_device_core *core);
void ib_events_open(struct ib_device *device);
void ib_events_close(struct ib_device *device);

/* Namespaces: netns.c ------------------------------------------------------------------------ */

int ib_netns_init(void);
void ib_netns_exit(void);
int ib_compat_add_all(struct ib_device *device);
void ib_compat_remove_all(struct ib_device *device);
void ib_compat_rename(struct ib_device *device);

/* Netlink: netlink.c ------------------------------------------------------------------------- */

struct sock *rdma_nl_sock_create(struct net *net);
void rdma_nl_sock_release(struct sock *sock);
void rdma_nl_init(void);
void rdma_nl_exit(void);

/* sysfs -------------------------------------------------------------------------------------- */

extern struct class ib_class;
extern const struct attribute_group ib_dev_attr_group;

void ib_coredev_init(struct ib_core_device *coredev, struct ib_device *owner, struct net *net);

int ib_setup_port_attrs(struct ib_core_device *coredev);
void ib_free_port_attrs(struct ib_core_device *coredev);

struct hw_stats_device_data *ib_port_hw_counters(struct ib_device *device, u32 port_num);

/* Counters: hw_stats.c ----------------------------------------------------------------------- */

int ib_setup_device_attrs(struct ib_device *device);
struct hw_stats_device_data *ib_port_hw_stats(struct ib_device *device, u32 port_num);
const struct attribute_group *ib_hw_stats_group(const struct hw_stats_device_data *set);
void ib_device_release_hw_stats(struct hw_stats_device_data *data);

/* Performance management: pma.c -------------------------------------------------------------- */

struct ib_pma_counters;

struct ib_pma_counters *ib_pma_counters_alloc(struct ib_device *device, u32 port_num);
const struct attribute_group *ib_pma_counters_group(const struct ib_pma_counters *counters);

#endif
