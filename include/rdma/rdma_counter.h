/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Hardware counters to which QPs are bound, manually or automatically by a rule.
 */
#ifndef _RDMA_COUNTER_H_
#define _RDMA_COUNTER_H_

#include <linux/mutex.h>
#include <linux/pid_namespace.h>

#include <rdma/rdma_netlink.h>
#include <rdma/rdma_object.h>
#include <rdma/restrack.h>

struct ib_device;
struct ib_qp;
struct rdma_hw_stats;

/* Attributes that the automatic mode compares. */
struct auto_mode_param {
	int qp_type;
};

/* Binding of QPs: mode, the attributes that are compared (mask), and their values. */
struct rdma_counter_mode {
	enum rdma_nl_counter_mode mode;
	enum rdma_nl_counter_mask mask;
	struct auto_mode_param param;
};

/**
 * struct rdma_port_counter - counters of a port
 * @mode: how QPs are bound to a counter
 * @hstats: sums of former counters; allocated with the first counter
 * @num_counters: number of counters
 * @lock: protects the members
 */
struct rdma_port_counter {
	struct rdma_counter_mode mode;
	struct rdma_hw_stats *hstats;
	unsigned int num_counters;
	struct mutex lock;
};

/**
 * struct rdma_counter - a counter
 * @RDMA_OBJECT_BASE: object base, which begins with the tracking entry
 * @device: device
 * @id: number in hardware
 * @kref: references of QPs bound to it
 * @mode: how QPs are bound to it
 * @lock: protects @stats
 * @stats: values
 * @port: port
 */
struct rdma_counter {
	RDMA_OBJECT_BASE;
	struct ib_device		*device;
	u32			id;
	struct kref			kref;
	struct rdma_counter_mode	mode;
	struct mutex			lock;
	struct rdma_hw_stats		*stats;
	u32				port;
};

void rdma_counter_release(struct ib_device *dev);

int rdma_counter_set_auto_mode(struct ib_device *dev, u32 port,
			       enum rdma_nl_counter_mask mask,
			       struct netlink_ext_ack *extack);

int rdma_counter_bind_qp_auto(struct ib_qp *qp, u32 port);

int rdma_counter_unbind_qp(struct ib_qp *qp, bool force);

int rdma_counter_query_stats(struct rdma_counter *counter);

u64 rdma_counter_get_hwstat_value(struct ib_device *dev, u32 port, u32 index);

int rdma_counter_bind_qpn(struct ib_device *dev, u32 port,
			  u32 qp_num, u32 counter_id);

int rdma_counter_bind_qpn_alloc(struct ib_device *dev, u32 port,
				u32 qp_num, u32 *counter_id);

int rdma_counter_unbind_qpn(struct ib_device *dev, u32 port,
			    u32 qp_num, u32 counter_id);

int rdma_counter_get_mode(struct ib_device *dev, u32 port,
			  enum rdma_nl_counter_mode *mode,
			  enum rdma_nl_counter_mask *mask);

int rdma_counter_modify(struct ib_device *dev, u32 port,
			unsigned int index, bool enable);

#endif /* _RDMA_COUNTER_H_ */
