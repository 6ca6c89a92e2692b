/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of sysfs/ share among themselves.
 */
#ifndef RDMA_CORE_SYSFS_PRIV_H
#define RDMA_CORE_SYSFS_PRIV_H

#include "../device/device.h"
#include "sysfs.h"

struct ib_pma_counters;

/* class.c */
extern const struct attribute_group ib_dev_attr_group;

/* hw_stats.c */
struct hw_stats_device_data *ib_port_hw_stats(struct ib_device *device, u32 port_num);
struct rdma_hw_stats *ib_hw_stats_values(const struct hw_stats_device_data *set);
const struct attribute_group *ib_hw_stats_group(const struct hw_stats_device_data *set);

/* pma.c */
struct ib_pma_counters *ib_pma_counters_alloc(struct ib_device *device, u32 port_num);
const struct attribute_group *ib_pma_counters_group(const struct ib_pma_counters *counters);

#endif
