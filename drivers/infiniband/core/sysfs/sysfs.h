/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What sysfs/ offers the folders above it: the class "infiniband", the attributes of devices and
 * ports, and the files of their counters.
 */
#ifndef RDMA_CORE_SYSFS_H
#define RDMA_CORE_SYSFS_H

#include <rdma/ib_verbs.h>

struct attribute_group;

/* class.c */
int ib_sysfs_init(void);
void ib_sysfs_exit(void);
void ib_coredev_init(struct ib_core_device *coredev, struct ib_device *owner, struct net *net);

/* hw_stats.c */
int ib_setup_device_attrs(struct ib_device *device);
void ib_device_release_hw_stats(struct hw_stats_device_data *data);

/* port.c */
int ib_setup_port_attrs(struct ib_core_device *coredev);
void ib_free_port_attrs(struct ib_core_device *coredev);
int ib_port_register_client_groups(struct ib_device *device, u32 port_num,
				   const struct attribute_group **groups);
void ib_port_unregister_client_groups(struct ib_device *device, u32 port_num,
				      const struct attribute_group **groups);

#endif
