// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters of a port: the core shows them in sysfs (hw_counters) and by netlink. */
#include "admin_cmd.h"
#include "verbs.h"

/* In the order of struct vhca_port_counters. */
static const struct rdma_stat_desc port_counters[] = {
	{ .name = "tx_packets" },
	{ .name = "tx_bytes" },
	{ .name = "rx_packets" },
	{ .name = "rx_bytes" },
	{ .name = "tx_mcast_packets" },
	{ .name = "rx_mcast_packets" },
	{ .name = "tx_discards" },
	{ .name = "rx_no_qp" },
	{ .name = "rx_no_receive" },
	{ .name = "rx_uc_gaps" },
	{ .name = "qkey_violations" },
	{ .name = "pkey_violations" },
	{ .name = "rnr_naks_sent" },
	{ .name = "rnr_naks_received" },
	{ .name = "seq_naks_sent" },
	{ .name = "seq_naks_received" },
	{ .name = "error_naks_sent" },
	{ .name = "error_naks_received" },
	{ .name = "duplicates" },
	{ .name = "timeouts" },
};

union counters {
	struct vhca_port_counters by_name;
	__le64 value[ARRAY_SIZE(port_counters)];
};

static_assert(sizeof(union counters) == sizeof(struct vhca_port_counters));
static_assert(sizeof_field(union counters, value) == sizeof(struct vhca_port_counters));

struct rdma_hw_stats *vhca_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(port_counters, ARRAY_SIZE(port_counters),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/* All of them are read, whichever is asked for. */
int vhca_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	union counters c;
	int i, err;

	err = vhca_cmd_query_counters(&to_vdev(ibdev)->hw, port, &c.by_name);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(port_counters); i++)
		stats->value[i] = le64_to_cpu(c.value[i]);
	return ARRAY_SIZE(port_counters);
}
