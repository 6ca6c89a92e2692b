// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of a port, which the core shows in sysfs (hw_counters) and by netlink, and counters to
 * which QPs are bound. Both have the same values: for a port the core shows the sum of the port's
 * own values and those of its counters, so the port's own values exclude QPs that are bound.
 */
#include <rdma/ib_verbs.h>
#include <rdma/rdma_counter.h>

#include "../cmd/cmd.h"
#include "counters.h"
#include "qp.h"

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

/**
 * vhca_alloc_hw_port_stats() - ib_device_ops.alloc_hw_port_stats
 * @ibdev: the device
 * @port: 1..ports; all have the same counters
 *
 * Context: may sleep.
 * Return: the structure, the core's to free; NULL without memory.
 */
struct rdma_hw_stats *vhca_alloc_hw_port_stats(struct ib_device *ibdev, u32 port)
{
	return rdma_alloc_hw_stats_struct(port_counters, ARRAY_SIZE(port_counters),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

static void take_values(struct rdma_hw_stats *stats, const union counters *c)
{
	for (int i = 0; i < ARRAY_SIZE(port_counters); i++)
		stats->value[i] = le64_to_cpu(c->value[i]);
}

/**
 * vhca_get_hw_stats() - ib_device_ops.get_hw_stats
 * @ibdev: the device
 * @stats: its values are filled in
 * @port: 1..ports
 * @index: which counter is asked for; all are read in any case
 *
 * Context: may sleep.
 * Return: number of counters; or an error of commands.
 */
int vhca_get_hw_stats(struct ib_device *ibdev, struct rdma_hw_stats *stats, u32 port, int index)
{
	union counters c;
	int err;

	err = vhca_cmd_query_counters(&to_vdev(ibdev)->hw, port, &c.by_name);
	if (err)
		return err;
	take_values(stats, &c);
	return ARRAY_SIZE(port_counters);
}

/**
 * vhca_counter_alloc_stats() - ib_device_ops.counter_alloc_stats
 * @counter: counter that QPs can be bound to
 *
 * Context: may sleep.
 * Return: the structure, the core's to free; NULL without memory.
 */
struct rdma_hw_stats *vhca_counter_alloc_stats(struct rdma_counter *counter)
{
	return rdma_alloc_hw_stats_struct(port_counters, ARRAY_SIZE(port_counters),
					  RDMA_HW_STATS_DEFAULT_LIFESPAN);
}

/**
 * vhca_counter_update_stats() - ib_device_ops.counter_update_stats
 * @counter: counter, whose stats are filled in
 *
 * Context: may sleep.
 * Return: 0; or an error of commands.
 */
int vhca_counter_update_stats(struct rdma_counter *counter)
{
	union counters c;
	int err;

	err = vhca_cmd_query_counter(&to_vdev(counter->device)->hw, counter->id, &c.by_name);
	if (!err)
		take_values(counter->stats, &c);
	return err;
}

/**
 * vhca_counter_bind_qp() - ib_device_ops.counter_bind_qp
 * @counter: the core's counter; gets the device's number when its first QP is bound
 * @qp: QP that is bound to no counter
 *
 * Context: may sleep.
 * Return: 0; -EOPNOTSUPP for a QP for MADs; or an error of commands.
 */
int vhca_counter_bind_qp(struct rdma_counter *counter, struct ib_qp *qp)
{
	struct vhca_hw *hw = &to_vdev(qp->device)->hw;
	u32 number = counter->id;
	int err;

	if (vhca_qp_is_management(qp->qp_type))
		return vhca_refuse(hw->dev, -EOPNOTSUPP, "a port's QPs for MADs have no counter");
	if (!counter->id) {
		err = vhca_cmd_create_counter(hw, counter->port, &number);
		if (err)
			return err;
	}
	err = vhca_cmd_bind_counter(hw, qp->qp_num, number);
	if (err) {
		if (!counter->id)
			vhca_cmd_destroy_counter(hw, number);
		return err;
	}
	counter->id = number;
	/* Linux 6.12 expects the driver to set this. */
	qp->counter = counter;
	return 0;
}

/**
 * vhca_counter_unbind_qp() - ib_device_ops.counter_unbind_qp
 * @qp: QP that is bound to a counter
 *
 * This succeeds on a dead device.
 *
 * Context: may sleep.
 * Return: 0; or an error of commands.
 */
int vhca_counter_unbind_qp(struct ib_qp *qp)
{
	struct vhca_hw *hw = &to_vdev(qp->device)->hw;
	int err = vhca_hw_settle(hw, vhca_cmd_bind_counter(hw, qp->qp_num, 0));

	if (!err)
		qp->counter = NULL;
	return err;
}

/**
 * vhca_counter_dealloc() - ib_device_ops.counter_dealloc
 * @counter: counter to which no QP is bound any more
 *
 * This succeeds on a dead device.
 *
 * Context: may sleep.
 * Return: 0; or an error of commands.
 */
int vhca_counter_dealloc(struct rdma_counter *counter)
{
	struct vhca_hw *hw = &to_vdev(counter->device)->hw;

	return vhca_hw_settle(hw, vhca_cmd_destroy_counter(hw, counter->id));
}
