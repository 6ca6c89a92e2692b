/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Event queues: the ring and its arming; events are handled by a callback. */
#ifndef VHCA_EQ_H
#define VHCA_EQ_H

#include <linux/spinlock.h>

#include "../defs/queues.h"
#include "../hw/ring.h"
#include "uar.h"

struct vhca_eq;

/**
 * typedef vhca_eq_fn - handle one event
 * @eq: the queue
 * @eqe: private copy of the entry; its contents must not be trusted
 * @count: its count; the queue's first entry had 0
 */
typedef void (*vhca_eq_fn)(struct vhca_eq *eq, const struct vhca_eqe *eqe, u64 count);

/**
 * struct vhca_eq - an event queue
 * @hw: the device
 * @fn: event handler
 * @eqn: the device's number for it
 * @ring: the entries
 * @db: consumer slot and arm record
 * @lock: held while an entry is taken, or unhandled ones are counted
 * @ci: consumer count; changed under @lock, read without it where a count that is one too small
 *	does no harm: by vhca_eq_pending() and vhca_eq_stuck()
 * @seq: sequence number of the last arm
 * @stuck_at: one more than the count of an entry found by the last vhca_eq_stuck(), or 0
 *
 * The user serialises vhca_eq_poll() calls of one queue.
 */
struct vhca_eq {
	struct vhca_hw *hw;
	vhca_eq_fn fn;
	u32 eqn;
	struct vhca_ring ring;
	struct vhca_db db;
	spinlock_t lock;
	u64 ci;
	u32 seq;
	u64 stuck_at;
};

int vhca_eq_create(struct vhca_eq *eq, struct vhca_hw *hw, struct vhca_uar *uar, u8 log,
		   u32 vector, u8 flags, vhca_eq_fn fn);
int vhca_eq_destroy(struct vhca_eq *eq);
bool vhca_eq_poll(struct vhca_eq *eq);
bool vhca_eq_pending(const struct vhca_eq *eq);
u64 vhca_eq_end(struct vhca_eq *eq);
bool vhca_eq_stuck(struct vhca_eq *eq);

#endif /* VHCA_EQ_H */
