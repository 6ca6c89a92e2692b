/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VHCA_NUMBER_H
#define VHCA_NUMBER_H

#include <linux/completion.h>
#include <linux/refcount.h>
#include <linux/xarray.h>

struct vhca_eq;

/* A count that no entry of an event queue has, for what is meant for whoever is there. */
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
 * struct vhca_numbers - the objects of one kind that entries of one event queue name
 * @targets: struct vhca_target by number. Its lock makes a reference safe: an object leaves before
 *           it dies.
 * @eq: the event queue
 */
struct vhca_numbers {
	struct xarray targets;
	struct vhca_eq *eq;
};

void vhca_numbers_init(struct vhca_numbers *n, struct vhca_eq *eq);
void vhca_numbers_exit(struct vhca_numbers *n);
int vhca_number_add(struct vhca_numbers *n, u32 number, struct vhca_target *target);
void vhca_number_ends(struct vhca_numbers *n, u32 number);
void vhca_number_stays(struct vhca_numbers *n, u32 number);
void vhca_number_del(struct vhca_numbers *n, u32 number, struct vhca_target *target);
struct vhca_target *vhca_number_get(struct vhca_numbers *n, u32 number, u64 count);
void vhca_target_put(struct vhca_target *target);

#endif
