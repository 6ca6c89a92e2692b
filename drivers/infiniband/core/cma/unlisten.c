// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The end of listening, for an id or for a device.
 */
#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "cma_priv.h"

LIST_HEAD(cma_wildcards);

/**
 * cma_end_listen() - undo cma_begin_listen()
 * @listen: the listen
 *
 * Waits for handlers of iw_cm.  Those of ib_cm may go on: they hold the id.
 */
VISIBLE_IF_KUNIT void cma_end_listen(struct cma_listen *listen)
{
	KUNIT_STATIC_STUB_REDIRECT(cma_end_listen, listen);
	if (cma_device_is_ib(listen->cma_dev))
		ib_destroy_cm_id(listen->ib);
	else
		iw_destroy_cm_id(listen->iw);
}
EXPORT_SYMBOL_IF_KUNIT(cma_end_listen);

/* The listen, its id and its device exist as long as iw_cm or ib_cm may call back. */
static void end_listens(struct list_head *ended)
{
	struct cma_listen *listen, *next;

	list_for_each_entry_safe(listen, next, ended, id_entry) {
		cma_untrack_listen(listen);
		cma_end_listen(listen);
		cma_put_device(listen->cma_dev);
		cma_put_id(listen->id);
		kfree(listen);
	}
}

/**
 * cma_unlisten_device() - end all listens of a device
 * @cma_dev: the device, in the list of devices no more
 *
 * Context: may sleep; without locks.
 */
void cma_unlisten_device(struct cma_device *cma_dev)
{
	struct cma_listen *listen, *next;
	LIST_HEAD(ended);

	scoped_guard(rwsem_write, &cma_devices_lock)
		list_for_each_entry_safe(listen, next, &cma_dev->listens, dev_entry) {
			list_del(&listen->dev_entry);
			list_move_tail(&listen->id_entry, &ended);
		}
	end_listens(&ended);
}

/**
 * cma_unlisten() - end all listens of an id
 * @id: id that listens, once did, or tried
 *
 * Context: may sleep; without locks.
 */
void cma_unlisten(struct cma_id *id)
{
	struct cma_listen *listen;
	LIST_HEAD(ended);

	/* An id that never listened is in no list, so this cannot change. */
	if (list_empty_careful(&id->listens) && list_empty_careful(&id->wildcard_entry))
		return;
	scoped_guard(rwsem_write, &cma_devices_lock) {
		list_del_init(&id->wildcard_entry);
		list_for_each_entry(listen, &id->listens, id_entry)
			list_del(&listen->dev_entry);
		list_splice_init(&id->listens, &ended);
	}
	end_listens(&ended);
}
