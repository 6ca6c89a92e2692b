/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The agents that handle requests. An entry is a class with its version and, in the second range of
 * vendor classes, an OUI; each method of it has at most one agent (taker).
 */
#ifndef RDMA_MAD_TABLE_H
#define RDMA_MAD_TABLE_H

#include <linux/list.h>
#include <rdma/ib_mad.h>

#define MAD_TABLE_BUCKETS 16

/**
 * struct mad_table - the agents that handle requests at one QP
 * @buckets: struct mad_class by its key
 *
 * The caller's lock protects it.
 */
struct mad_table {
	struct hlist_head buckets[MAD_TABLE_BUCKETS];
};

void mad_table_init(struct mad_table *table);
int mad_table_add(struct mad_table *table, const struct ib_mad_reg_req *req, void *taker,
		  gfp_t gfp);
void mad_table_remove(struct mad_table *table, const struct ib_mad_reg_req *req, void *taker);
void *mad_table_find(const struct mad_table *table, const struct ib_mad *mad);

/* Vendor classes whose MADs carry an OUI. */
static inline bool mad_class_has_oui(u8 mgmt_class)
{
	return mgmt_class >= IB_MGMT_CLASS_VENDOR_RANGE2_START &&
	       mgmt_class <= IB_MGMT_CLASS_VENDOR_RANGE2_END;
}

static inline bool mad_class_is_smp(u8 mgmt_class)
{
	return mgmt_class == IB_MGMT_CLASS_SUBN_LID_ROUTED ||
	       mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE;
}

#endif
