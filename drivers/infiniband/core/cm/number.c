// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ids by number, which the peer knows too.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/random.h>
#include <linux/xarray.h>

#include "../object/object.h"
#include "cm.h"

/*
 * All ids by number. A number is reserved, with NULL in its place, until its id can be found.
 * Numbers go round, from a random one on, so that messages of the past find nobody.
 */
static DEFINE_XARRAY_FLAGS(ids, XA_FLAGS_ALLOC1 | XA_FLAGS_LOCK_IRQ);
/* Where the next id's number is looked for. */
VISIBLE_IF_KUNIT u32 cm_next_number;
EXPORT_SYMBOL_IF_KUNIT(cm_next_number);
#define NUMBERS XA_LIMIT(1, U32_MAX)

/**
 * cm_ids_begin() - choose where numbers begin
 */
void cm_ids_begin(void)
{
	cm_next_number = get_random_u32();
}

/**
 * cm_ids_end() - free the table, which has no entries
 */
void cm_ids_end(void)
{
	rdma_xa_destroy(&ids);
}

/**
 * cm_number_reserve() - choose the number of an id that nobody finds yet
 * @id: receives it
 *
 * Context: may sleep.
 * Return: 0, for cm_number_release(); -ENOMEM; -EBUSY if there are too many ids.
 */
int cm_number_reserve(struct cm_id *id)
{
	int ret = xa_alloc_cyclic_irq(&ids, &id->local_id, NULL, NUMBERS, &cm_next_number,
				      GFP_KERNEL);

	return min(ret, 0);
}

/**
 * cm_number_release() - let an id be found no more
 * @id: id with a number
 */
void cm_number_release(struct cm_id *id)
{
	xa_erase_irq(&ids, id->local_id);
}

/**
 * cm_id_publish() - let an id be found
 * @id: id that is complete
 *
 * Context: any.
 * Return: 0; -ENODEV when the device is gone.
 */
int cm_id_publish(struct cm_id *id)
{
	unsigned long flags;
	int ret = -ENODEV;

	xa_lock_irqsave(&ids, flags);
	if (!id->device->gone)
		/* The place is reserved. */
		ret = xa_err(__xa_store(&ids, id->local_id, id, GFP_ATOMIC));
	xa_unlock_irqrestore(&ids, flags);
	return ret;
}

/**
 * cm_id_find() - find an id
 * @local_id: its number
 *
 * Context: any.
 * Return: the id, for cm_id_put(); or NULL.
 */
struct cm_id *cm_id_find(u32 local_id)
{
	struct cm_id *id;

	guard(rcu)();
	id = xa_load(&ids, local_id);
	return id && refcount_inc_not_zero(&id->refs) ? id : NULL;
}

/**
 * cm_id_put() - return a reference
 * @id: id
 */
void cm_id_put(struct cm_id *id)
{
	if (refcount_dec_and_test(&id->refs))
		complete(&id->unused);
}

/**
 * cm_id_after() - find the next id of a device
 * @device: device
 * @number: where to look from; receives the id's number
 *
 * Return: the id, for cm_id_put(); or NULL.
 */
struct cm_id *cm_id_after(struct cm_device *device, unsigned long *number)
{
	guard(rcu)();
	for (struct cm_id *id = xa_find(&ids, number, ULONG_MAX, XA_PRESENT); id;
	     id = xa_find_after(&ids, number, ULONG_MAX, XA_PRESENT))
		if (id->device == device && refcount_inc_not_zero(&id->refs))
			return id;
	return NULL;
}

/**
 * cm_ids_close() - let no id of a device be found that is not found already
 * @device: device that goes
 */
void cm_ids_close(struct cm_device *device)
{
	xa_lock_irq(&ids);
	WRITE_ONCE(device->gone, true);
	xa_unlock_irq(&ids);
}
