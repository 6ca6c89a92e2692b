// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Event queues. */
#include <linux/log2.h>
#include <kunit/visibility.h>

#include "../cmd/cmd.h"
#include "eq.h"

static struct vhca_eqe *eq_entry(const struct vhca_eq *eq, u64 count)
{
	return vhca_ring_at(&eq->ring, count);
}

static bool eq_fresh(const struct vhca_eq *eq, u64 count)
{
	return vhca_ring_fresh(READ_ONCE(eq_entry(eq, count)->owner), count, eq->ring.log);
}

/**
 * vhca_eq_pending() - check whether the device has written the next entry
 * @eq: the queue
 *
 * Context: any.
 * Return: true if vhca_eq_poll() would find an entry.
 */
bool vhca_eq_pending(const struct vhca_eq *eq)
{
	return eq_fresh(eq, READ_ONCE(eq->ci));
}

/**
 * vhca_eq_end() - get the number of entries that the device has written so far
 * @eq: the queue
 *
 * Context: any.
 * Return: the count of the next entry to be written.
 */
u64 vhca_eq_end(struct vhca_eq *eq)
{
	unsigned long flags;
	u64 count;

	spin_lock_irqsave(&eq->lock, flags);
	for (count = eq->ci; count - eq->ci < vhca_ring_entries(&eq->ring); count++)
		if (!eq_fresh(eq, count))
			break;
	spin_unlock_irqrestore(&eq->lock, flags);
	return count;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_eq_end);

/**
 * vhca_eq_stuck() - check for an entry that is not handled
 * @eq: the queue
 *
 * Called at regular intervals, which are much longer than the latency of an interrupt.
 *
 * Context: any; calls for one queue are serialised by the caller.
 * Return: true if the next entry was already there at the last call.
 */
bool vhca_eq_stuck(struct vhca_eq *eq)
{
	u64 last = eq->stuck_at;
	u64 ci = READ_ONCE(eq->ci);

	eq->stuck_at = eq_fresh(eq, ci) ? ci + 1 : 0;
	return last && last == eq->stuck_at;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_eq_stuck);

static void eq_arm(struct vhca_eq *eq)
{
	eq->seq = vhca_arm_next_seq(eq->seq);
	vhca_db_arm(&eq->db, eq->ci, 0, eq->seq);
}

static bool eq_take(struct vhca_eq *eq, struct vhca_eqe *copy)
{
	unsigned long flags;
	bool there;

	spin_lock_irqsave(&eq->lock, flags);
	there = vhca_eq_pending(eq);
	if (there) {
		/* The device wrote the owner after the rest of the entry. */
		dma_rmb();
		*copy = *eq_entry(eq, eq->ci);
		WRITE_ONCE(eq->ci, eq->ci + 1);
	}
	spin_unlock_irqrestore(&eq->lock, flags);
	return there;
}

/*
 * Handles the entries in the ring, at most one lap of it. Returns their number.
 */
static u32 eq_drain(struct vhca_eq *eq)
{
	struct vhca_eqe copy;
	bool more = false;
	u32 n = 0;

	while (n < vhca_ring_entries(&eq->ring) && eq_take(eq, &copy)) {
		n++;
		more |= copy.flags & VHCA_EQE_F_MORE;
		eq->fn(eq, &copy, eq->ci - 1);
	}
	if (!n)
		return 0;
	/* A device that holds events back for lack of room sets F_MORE and needs the doorbell. */
	if (more)
		vhca_db_ring(&eq->db, 0, eq->ci);
	else
		vhca_db_store(&eq->db, 0, eq->ci);
	return n;
}

/**
 * vhca_eq_poll() - handle the events in the queue and arm it for the next one
 * @eq: the queue
 *
 * Handles a bounded number of events, so that a faulty device cannot keep a CPU busy.
 *
 * Context: any; calls for one queue are serialised by the caller.
 * Return: false if the queue is empty and armed; true if there are more events and the caller has
 * to call this again.
 */
bool vhca_eq_poll(struct vhca_eq *eq)
{
	for (unsigned int laps = 0; laps < 2; laps++) {
		eq_drain(eq);
		eq_arm(eq);
		/* An entry that the device wrote before it saw the record raises no interrupt. */
		if (!vhca_eq_pending(eq))
			return false;
	}
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_eq_poll);

/**
 * vhca_eq_create() - create an event queue and arm it
 * @eq: the queue
 * @hw: the device
 * @uar: area for its records
 * @log: log2 of the entries
 * @vector: interrupt vector
 * @flags: VHCA_EQ_*
 * @fn: event handler
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; or an error of commands (cmd/cmd.h).
 */
int vhca_eq_create(struct vhca_eq *eq, struct vhca_hw *hw, struct vhca_uar *uar, u8 log,
		   u32 vector, u8 flags, vhca_eq_fn fn)
{
	struct vhca_create_eq_req req = {
		.uar = cpu_to_le32(uar->handle),
		.vector = cpu_to_le32(vector),
		.log_entries = log,
		.flags = flags,
	};
	int err;

	eq->hw = hw;
	eq->fn = fn;
	spin_lock_init(&eq->lock);
	eq->ci = 0;
	eq->seq = 0;
	eq->stuck_at = 0;
	err = vhca_ring_alloc(&eq->ring, hw->dev, log, order_base_2(sizeof(struct vhca_eqe)));
	if (err)
		return err;
	err = vhca_db_alloc(uar, &eq->db);
	if (err)
		goto err_ring;
	vhca_kbuf_describe(&eq->ring.mem, &req.buf);
	req.db_slot = cpu_to_le32(vhca_db_slot(&eq->db));
	eq_arm(eq);
	err = vhca_cmd_create_eq(hw, &req, &eq->eqn);
	if (err)
		goto err_db;
	return 0;

err_db:
	vhca_db_free(&eq->db);
err_ring:
	vhca_ring_free(&eq->ring);
	return err;
}

/**
 * vhca_eq_destroy() - destroy an event queue
 * @eq: the queue; it gets no interrupts and is not polled any more
 *
 * Context: may sleep.
 * Return: 0, or the error of the command, after which the queue's memory stays allocated.
 */
int vhca_eq_destroy(struct vhca_eq *eq)
{
	int err;

	err = vhca_hw_settle(eq->hw, vhca_cmd_destroy_eq(eq->hw, eq->eqn));
	if (err)
		return err;
	vhca_db_free(&eq->db);
	vhca_ring_free(&eq->ring);
	return 0;
}
