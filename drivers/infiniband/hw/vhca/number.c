// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Objects by the numbers that the device gave them, for its events to find them.
 *
 * The device may give a number out again as soon as it has destroyed what had it, and whoever asked
 * for that may not have taken the old object out of the table yet.  An object that is about to be
 * destroyed is marked, and gives way to the next one.  A number that is given out twice otherwise
 * is a fault of the device.
 *
 * Tables are locked with interrupts off: events look into them.
 */
#include <kunit/visibility.h>

#include "number.h"

#define ENDS XA_MARK_0

/**
 * vhca_number_add - let an object be found by its number
 * @objects: table
 * @number: the number
 * @object: the object
 *
 * Context: may sleep.
 * Return: 0; -EBUSY when another object has the number and is not about to end; -ENOMEM.
 */
int vhca_number_add(struct xarray *objects, u32 number, void *object)
{
	int ret;

	xa_lock_irq(objects);
	if (xa_get_mark(objects, number, ENDS))
		__xa_erase(objects, number);
	ret = __xa_insert(objects, number, object, GFP_KERNEL);
	xa_unlock_irq(objects);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_number_add);

/**
 * vhca_number_ends - an object is about to be destroyed by the device
 * @objects: table
 * @number: its number
 *
 * Context: any but interrupts.
 */
void vhca_number_ends(struct xarray *objects, u32 number)
{
	xa_lock_irq(objects);
	__xa_set_mark(objects, number, ENDS);
	xa_unlock_irq(objects);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_number_ends);

/**
 * vhca_number_stays - the device did not destroy it
 * @objects: table
 * @number: its number
 *
 * Context: any but interrupts.
 */
void vhca_number_stays(struct xarray *objects, u32 number)
{
	xa_lock_irq(objects);
	__xa_clear_mark(objects, number, ENDS);
	xa_unlock_irq(objects);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_number_stays);

/**
 * vhca_number_del - let an object be found no more
 * @objects: table
 * @number: its number, which the next one may have already
 * @object: the object
 *
 * Context: any but interrupts.
 */
void vhca_number_del(struct xarray *objects, u32 number, void *object)
{
	xa_cmpxchg_irq(objects, number, object, NULL, 0);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_number_del);
