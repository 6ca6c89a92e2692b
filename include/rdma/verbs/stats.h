/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Hardware counters of a device or port.
 */
#ifndef RDMA_VERBS_STATS_H
#define RDMA_VERBS_STATS_H

#include <linux/jiffies.h>
#include <linux/mutex.h>
#include <rdma/verbs/types.h>

/* An optional counter, which counts only while it is enabled. */
enum ib_stat_flag {
	IB_STAT_FLAG_OPTIONAL = 1 << 0,
};

/**
 * struct rdma_stat_desc - one counter
 * @name: name in sysfs and netlink
 * @flags: enum ib_stat_flag
 * @priv: private to the driver
 */
struct rdma_stat_desc {
	const char *name;
	unsigned int flags;
	const void *priv;
};

/**
 * struct rdma_hw_stats - counter values, allocated by rdma_alloc_hw_stats_struct()
 * @lock: protects everything but @descs
 * @timestamp: jiffies when the values were read
 * @lifespan: jiffies for which the values are not read again
 * @descs: descriptions of the counters
 * @is_disabled: bitmap of the optional counters that are disabled
 * @num_counters: number of counters
 * @value: the values
 */
struct rdma_hw_stats {
	struct mutex	lock;
	unsigned long	timestamp;
	unsigned long	lifespan;
	const struct rdma_stat_desc *descs;
	unsigned long	*is_disabled;
	int		num_counters;
	u64		value[] __counted_by(num_counters);
};

/* Default of lifespan, in milliseconds. */
#define RDMA_HW_STATS_DEFAULT_LIFESPAN 10

struct rdma_hw_stats *rdma_alloc_hw_stats_struct(
	const struct rdma_stat_desc *descs, int num_counters,
	unsigned long lifespan);

void rdma_free_hw_stats_struct(struct rdma_hw_stats *stats);

/* On-demand paging events of one MR. */
struct ib_odp_counters {
	atomic64_t faults;
	atomic64_t invalidations;
	atomic64_t prefetch;
};

#endif /* RDMA_VERBS_STATS_H */
