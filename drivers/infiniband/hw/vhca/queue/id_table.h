/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VHCA_ID_TABLE_H
#define VHCA_ID_TABLE_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/xarray.h>

struct vhca_eq;

/* A count that no entry has: finds whichever object has the number now. */
#define VHCA_NO_ENTRY	U64_MAX

/**
 * struct vhca_target - the part of an object that events find
 * @born: count of the first entry of the event queue that can mean it
 * @refs: uses by event handlers, and one for being in the table
 * @unused: completed when @refs drops to 0
 */
struct vhca_target {
	u64 born;
	refcount_t refs;
	struct completion unused;
};

/**
 * struct vhca_id_table - the objects of one kind that entries of one event queue name
 * @targets: struct vhca_target by number. Its lock makes a reference safe: an object leaves before
 *           it dies.
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
