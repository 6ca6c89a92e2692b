// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects by the numbers that the device gave them, for look-up by events.
 *
 * The device may use a number again as soon as it has destroyed the object that had it, when the
 * task that destroys the object has not removed it from the table yet.  Therefore an object that is
 * about to be destroyed is marked, and a new object may replace it.  If the device gives out a
 * number in any other case in which it is in use, this is a fault of the device.
 *
 * The event queue may then still have entries that name the old object.  The device has written
 * all of them before it completes the command that creates the new object, and that object has no
 * event before its consumer has it.  So an entry that is in the queue when an object enters the
 * table cannot refer to that object: the count of the first entry that can is stored with it.
 *
 * Tables are locked with interrupts off, as interrupt handlers look up objects.
 */
#include <kunit/visibility.h>

#include "eq.h"
#include "id_table.h"

#define ENDS XA_MARK_0

/**
 * vhca_id_table_init() - initialise a table
 * @n: table
 * @eq: event queue whose entries name the objects; it must exist before the first vhca_id_add()
 *
 * Context: any.
 */
void vhca_id_table_init(struct vhca_id_table *n, struct vhca_eq *eq)
{
	xa_init_flags(&n->targets, XA_FLAGS_LOCK_IRQ);
	n->eq = eq;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_id_table_init);

/**
 * vhca_id_table_exit() - free a table
 * @n: table
 *
 * Context: any.
 */
void vhca_id_table_exit(struct vhca_id_table *n)
{
	xa_destroy(&n->targets);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_id_table_exit);

/**
 * vhca_id_add() - add an object to a table
 * @n: table
 * @number: the number, which the device has just given out
 * @target: the object's part for events; filled in
 *
 * Context: may sleep.
 * Return: 0; -EBUSY if another object has the number and is not being destroyed; -ENOMEM.
 */
int vhca_id_add(struct vhca_id_table *n, u32 number, struct vhca_target *target)
{
	int ret;

	target->born = vhca_eq_end(n->eq);
	refcount_set(&target->refs, 1);
	init_completion(&target->unused);
	xa_lock_irq(&n->targets);
	if (xa_get_mark(&n->targets, number, ENDS))
		__xa_erase(&n->targets, number);
	ret = __xa_insert(&n->targets, number, target, GFP_KERNEL);
	xa_unlock_irq(&n->targets);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_id_add);

/**
 * vhca_id_retire() - mark an object before the command that destroys it
 * @n: table
 * @number: its number
 *
 * Context: any but interrupts.
 */
void vhca_id_retire(struct vhca_id_table *n, u32 number)
{
	xa_lock_irq(&n->targets);
	__xa_set_mark(&n->targets, number, ENDS);
	xa_unlock_irq(&n->targets);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_id_retire);

/**
 * vhca_id_keep() - undo vhca_id_retire() after the device refused to destroy the object
 * @n: table
 * @number: its number
 *
 * Context: any but interrupts.
 */
void vhca_id_keep(struct vhca_id_table *n, u32 number)
{
	xa_lock_irq(&n->targets);
	__xa_clear_mark(&n->targets, number, ENDS);
	xa_unlock_irq(&n->targets);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_id_keep);

/**
 * vhca_id_del() - remove an object from a table, and wait until no event handler uses it
 * @n: table
 * @number: its number, under which a new object may have replaced it already
 * @target: the object's part for events
 *
 * Context: may sleep.
 */
void vhca_id_del(struct vhca_id_table *n, u32 number, struct vhca_target *target)
{
	xa_cmpxchg_irq(&n->targets, number, target, NULL, 0);
	if (!refcount_dec_and_test(&target->refs))
		wait_for_completion(&target->unused);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_id_del);

/**
 * vhca_id_get() - find the object of an event
 * @n: table
 * @number: the number that the event names
 * @count: count of the event's entry in the queue, or VHCA_NO_ENTRY
 *
 * Context: any.
 * Return: the object's part for events, with a reference; NULL if no object has the number, or if
 * the event is for an object that had it before.
 */
struct vhca_target *vhca_id_get(struct vhca_id_table *n, u32 number, u64 count)
{
	struct vhca_target *target;
	unsigned long flags;

	xa_lock_irqsave(&n->targets, flags);
	target = xa_load(&n->targets, number);
	if (target && count < target->born)
		target = NULL;
	if (target)
		refcount_inc(&target->refs);
	xa_unlock_irqrestore(&n->targets, flags);
	return target;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_id_get);

/**
 * vhca_target_put() - drop a reference
 * @target: from vhca_id_get()
 *
 * Context: any.
 */
void vhca_target_put(struct vhca_target *target)
{
	if (refcount_dec_and_test(&target->refs))
		complete(&target->unused);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_target_put);
