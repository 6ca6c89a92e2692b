// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Work queues, indirection tables, flow rules and counters of the device without hardware, which
 * only exist.
 */
#include <linux/slab.h>

#include "ufake.h"

static struct ib_wq *create_wq(struct ib_pd *pd, struct ib_wq_init_attr *attr,
			       struct ib_udata *udata)
{
	struct ib_wq *wq = kzalloc(sizeof(*wq), GFP_KERNEL);

	return wq ?: ERR_PTR(-ENOMEM);
}

static int modify_wq(struct ib_wq *wq, struct ib_wq_attr *attr, u32 mask, struct ib_udata *udata)
{
	return 0;
}

static int destroy_wq(struct ib_wq *wq, struct ib_udata *udata)
{
	if (ufake_refuses())
		return -EBUSY;
	kfree(wq);
	return 0;
}

static int create_table(struct ib_rwq_ind_table *table, struct ib_rwq_ind_table_init_attr *attr,
			struct ib_udata *udata)
{
	return 0;
}

static int destroy_table(struct ib_rwq_ind_table *table)
{
	return ufake_refuses() ? -EBUSY : 0;
}

static struct ib_flow *create_flow(struct ib_qp *qp, struct ib_flow_attr *attr,
				   struct ib_udata *udata)
{
	struct ib_flow *flow = kzalloc(sizeof(*flow), GFP_KERNEL);

	return flow ?: ERR_PTR(-ENOMEM);
}

static int destroy_flow(struct ib_flow *flow)
{
	if (ufake_refuses())
		return -EBUSY;
	kfree(flow);
	return 0;
}

static int create_counters(struct ib_counters *counters, struct uverbs_attr_bundle *attrs)
{
	return 0;
}

static int destroy_counters(struct ib_counters *counters)
{
	return ufake_refuses() ? -EBUSY : 0;
}

static int read_counters(struct ib_counters *counters, struct ib_counters_read_attr *attr,
			 struct uverbs_attr_bundle *attrs)
{
	for (u32 i = 0; i < attr->ncounters; i++)
		attr->counters_buff[i] = i;
	return 0;
}

const struct ib_device_ops ufake_rule_ops = {
	.create_wq = create_wq,
	.modify_wq = modify_wq,
	.destroy_wq = destroy_wq,
	.create_rwq_ind_table = create_table,
	.destroy_rwq_ind_table = destroy_table,
	.create_flow = create_flow,
	.destroy_flow = destroy_flow,
	.create_counters = create_counters,
	.destroy_counters = destroy_counters,
	.read_counters = read_counters,
	.size_ib_counters = sizeof(struct ib_counters),
	.size_ib_rwq_ind_table = sizeof(struct ib_rwq_ind_table),
};
