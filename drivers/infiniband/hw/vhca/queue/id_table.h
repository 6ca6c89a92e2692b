/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VHCA_ID_TABLE_H
#define VHCA_ID_TABLE_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/xarray.h>

struct vhca_eq;

/* A count that no entry has: vhca_id_get() returns the object that has the number now. */
#define VHCA_NO_ENTRY	U64_MAX

/**
 * struct vhca_target - the part of an object that events look up
 * @born: count of the first entry of the event queue that can refer to it
 * @refs: references of event handlers, and one of the table
 * @unused: completed when @refs drops to 0
 */
struct vhca_target {
	u64 born;
	refcount_t refs;
	struct completion unused;
};

/**
 * struct vhca_id_table - the objects of one kind that entries of one event queue name
 * @targets: struct vhca_target by number. References are taken under its lock, so that no object is
 *           found after it was removed.
 * @eq: the event queue
 */
struct vhca_id_table {
	struct xarray targets;
	struct vhca_eq *eq;
};

void vhca_id_table_init(struct vhca_id_table *n, struct vhca_eq *eq);
void vhca_id_table_exit(struct vhca_id_table *n);
int vhca_id_add(struct vhca_id_table *n, u32 number, struct vhca_target *target);
void vhca_id_retire(struct vhca_id_table *n, u32 number);
void vhca_id_keep(struct vhca_id_table *n, u32 number);
void vhca_id_del(struct vhca_id_table *n, u32 number, struct vhca_target *target);
struct vhca_target *vhca_id_get(struct vhca_id_table *n, u32 number, u64 count);
void vhca_target_put(struct vhca_target *target);

#endif
