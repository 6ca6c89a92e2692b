// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Hardware counters of devices and ports: their values and how old these may be.
 */
#include <linux/bitmap.h>
#include <linux/jiffies.h>
#include <linux/slab.h>

#include "../device/device.h"
#include "counter.h"

/**
 * rdma_alloc_hw_stats_struct() - allocate counters
 * @descs: one descriptor for each, which must outlive the counters
 * @num_counters: number of counters
 * @lifespan: milliseconds for which values are not read again
 *
 * Optional counters start out disabled.
 *
 * Context: may sleep.
 * Return: the counters or NULL.
 */
struct rdma_hw_stats *rdma_alloc_hw_stats_struct(const struct rdma_stat_desc *descs,
						 int num_counters, unsigned long lifespan)
{
	struct rdma_hw_stats *stats;

	stats = kzalloc(struct_size(stats, value, num_counters), GFP_KERNEL);
	if (!stats)
		return NULL;
	stats->is_disabled = bitmap_zalloc(num_counters, GFP_KERNEL);
	if (!stats->is_disabled) {
		kfree(stats);
		return NULL;
	}
	mutex_init(&stats->lock);
	stats->descs = descs;
	stats->num_counters = num_counters;
	stats->lifespan = msecs_to_jiffies(lifespan);
	for (int i = 0; i < num_counters; i++)
		__assign_bit(i, stats->is_disabled, descs[i].flags & IB_STAT_FLAG_OPTIONAL);
	return stats;
}
EXPORT_SYMBOL(rdma_alloc_hw_stats_struct);

/**
 * rdma_free_hw_stats_struct() - free counters
 * @stats: counters or NULL
 */
void rdma_free_hw_stats_struct(struct rdma_hw_stats *stats)
{
	if (!stats)
		return;
	bitmap_free(stats->is_disabled);
	mutex_destroy(&stats->lock);
	kfree(stats);
}
EXPORT_SYMBOL(rdma_free_hw_stats_struct);

/**
 * rdma_hw_stats_refresh() - have the driver read a counter, unless its value is recent enough
 * @device: the device
 * @port_num: port of the counters, 0 for the device's own
 * @stats: the counters; their lock is held
 * @index: index of the counter
 *
 * Context: may sleep.
 * Return: 0 or the driver's error.
 */
int rdma_hw_stats_refresh(struct ib_device *device, u32 port_num, struct rdma_hw_stats *stats,
			  unsigned int index)
{
	int ret;

	lockdep_assert_held(&stats->lock);
	if (stats->timestamp && time_is_after_eq_jiffies(stats->timestamp + stats->lifespan))
		return 0;
	ret = device->ops.get_hw_stats(device, stats, port_num, index);
	if (ret < 0)
		return ret;
	/* A driver that read only one counter has not refreshed the others. */
	if (ret == stats->num_counters)
		stats->timestamp = jiffies;
	return 0;
}

/**
 * ib_get_hw_stats_port() - hardware counters of a port or device
 * @device: registered device
 * @port_num: number of the port, 0 for the device
 *
 * Return: the counters or NULL.
 */
struct rdma_hw_stats *ib_get_hw_stats_port(struct ib_device *device, u32 port_num)
{
	if (!port_num)
		return device->core->hw_stats;
	return rdma_is_port_valid(device, port_num) ? rdma_port(device, port_num)->hw_stats : NULL;
}
