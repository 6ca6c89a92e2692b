// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ids: found by number, destroyed on one way by whomever, moved between files.
 *
 * An id is freed with its last reference.  What it stands for ends earlier: the program's name for
 * it (@known) is claimed by one request or by the closing of the file, and its CM id (@cm) is taken
 * by whichever comes first, this or the removal of the device.
 */
#include <linux/slab.h>
#include <linux/xarray.h>

#include "../object/object.h"
#include "ucma.h"

/* All ids.  A number whose id is not known, or not any more, is kept by an empty place. */
static DEFINE_XARRAY_ALLOC(ucma_ids);

/**
 * ucma_ids_exit() - free the table of ids, of which there are none any more
 */
void ucma_ids_exit(void)
{
	rdma_xa_destroy(&ucma_ids);
}

static void release_id(struct kref *ref)
{
	struct ucma_id *id = container_of(ref, struct ucma_id, ref);

	mutex_destroy(&id->lock);
	kfree_rcu(id, rcu);
}

static void put_id(struct ucma_id *id)
{
	kref_put(&id->ref, release_id);
}

/* Once this has returned after taking the CM id, no events come any more. */
static void end_cm(struct ucma_id *id)
{
	struct rdma_cm_id *cm;

	scoped_guard(mutex, &id->lock) {
		cm = id->cm;
		id->cm = NULL;
	}
	if (cm)
		ucma_cm->destroy_id(cm);
}

/* The device waits until its CM ids are gone; the program may keep the id as long as it likes. */
static void removal_work(struct work_struct *work)
{
	end_cm(container_of(work, struct ucma_id, removal));
}

static struct ucma_id *alloc_id(void)
{
	struct ucma_id *id = kzalloc(sizeof(*id), GFP_KERNEL_ACCOUNT);

	if (!id)
		return NULL;
	kref_init(&id->ref);
	mutex_init(&id->lock);
	INIT_LIST_HEAD(&id->entry);
	INIT_LIST_HEAD(&id->groups);
	INIT_WORK(&id->removal, removal_work);
	spin_lock_init(&id->room_lock);
	INIT_LIST_HEAD(&id->room);
	INIT_LIST_HEAD(&id->events);
	return id;
}

/* Room for one event of each kind that nobody asks for. */
static int make_unasked(struct ucma_id *id)
{
	struct ucma_event *events = kcalloc(UCMA_ROOMS - UCMA_UNASKED, sizeof(*events),
					    GFP_KERNEL_ACCOUNT);

	if (!events)
		return -ENOMEM;
	for (enum ucma_room room = UCMA_UNASKED; room < UCMA_ROOMS; room++) {
		struct ucma_event *event = &events[room - UCMA_UNASKED];

		event->room = room;
		list_add_tail(&event->entry, &id->room);
	}
	id->unasked = events;
	return 0;
}

static void drop_room(struct ucma_id *id)
{
	struct ucma_event *event, *next;

	list_for_each_entry_safe(event, next, &id->room, entry)
		ucma_event_free(event);
	kfree(id->unasked);
}

/**
 * ucma_id_alloc() - make an id
 *
 * It has a number, but look-ups do not find it yet; and room for unsolicited events.
 *
 * Return: the id, to be given up by ucma_id_discard() or ucma_id_destroy(); NULL without memory.
 */
struct ucma_id *ucma_id_alloc(void)
{
	struct ucma_id *id = alloc_id();

	if (!id)
		return NULL;
	if (!make_unasked(id) &&
	    !xa_alloc(&ucma_ids, &id->number, NULL, xa_limit_32b, GFP_KERNEL_ACCOUNT))
		return id;
	drop_room(id);
	put_id(id);
	return NULL;
}

/**
 * ucma_id_discard() - give up an id that has neither CM id nor file
 * @id: the id
 */
void ucma_id_discard(struct ucma_id *id)
{
	drop_room(id);
	xa_erase(&ucma_ids, id->number);
	put_id(id);
}

/**
 * ucma_id_publish() - let the program name an id
 * @id: the id, whose file is set
 *
 * Context: may sleep.
 */
void ucma_id_publish(struct ucma_id *id)
{
	guard(mutex)(&id->lock);
	id->known = true;
	scoped_guard(spinlock, &id->file->lock)
		list_add_tail(&id->entry, &id->file->ids);
	/* The place is there, so this needs no memory */
	xa_store(&ucma_ids, id->number, id, GFP_KERNEL);
}

/* Finds an id of a file.  Returns it locked and with a reference, or an error. */
static struct ucma_id *find_id(struct ucma_file *file, u32 number)
{
	struct ucma_id *id;

	scoped_guard(rcu) {
		id = xa_load(&ucma_ids, number);
		if (id && !kref_get_unless_zero(&id->ref))
			id = NULL;
	}
	if (!id)
		return ERR_PTR(rdma_refuse(-ENOENT, "there is no id %u", number));
	/* Check this before waiting for the lock of an id of another file */
	if (READ_ONCE(id->file) != file) {
		put_id(id);
		return ERR_PTR(rdma_refuse(-EINVAL, "id %u belongs to another file", number));
	}
	mutex_lock(&id->lock);
	if (id->known && id->file == file)
		return id;
	ucma_id_unlock(id);
	return ERR_PTR(rdma_refuse(-ENOENT, "there is no id %u any more", number));
}

/**
 * ucma_id_unlock() - end the use of an id
 * @id: id from ucma_id_lock()
 */
void ucma_id_unlock(struct ucma_id *id)
{
	mutex_unlock(&id->lock);
	put_id(id);
}

/**
 * ucma_id_lock() - use an id
 * @file: the file it has to belong to
 * @number: its number
 *
 * Context: may sleep.
 * Return: the id, whose CM id stays until ucma_id_unlock(); -ENOENT if there is none; -EINVAL if it
 * belongs to another file; -ENXIO if its device is removed.
 */
struct ucma_id *ucma_id_lock(struct ucma_file *file, u32 number)
{
	struct ucma_id *id = find_id(file, number);

	if (IS_ERR(id) || id->cm)
		return id;
	ucma_id_unlock(id);
	return ERR_PTR(rdma_refuse(-ENXIO, "id %u: its device is removed", number));
}

/**
 * ucma_id_claim() - remove an id's number, to destroy the id
 * @file: the file it has to belong to
 * @number: its number
 *
 * Only one caller can claim an id, and has to destroy it.
 *
 * Context: may sleep.
 * Return: the id, or as ucma_id_lock(); ids of removed devices are there, too.
 */
struct ucma_id *ucma_id_claim(struct ucma_file *file, u32 number)
{
	struct ucma_id *id = find_id(file, number);

	if (IS_ERR(id))
		return id;
	id->known = false;
	xa_store(&ucma_ids, number, NULL, GFP_KERNEL);
	scoped_guard(spinlock, &file->lock)
		list_del_init(&id->entry);
	/* The reference of the table stays with the caller */
	ucma_id_unlock(id);
	return id;
}

/* Frees events that nobody will read; connection requests among them are rejected. */
static void drop_events(struct list_head *events)
{
	struct ucma_event *event, *next;

	list_for_each_entry_safe(event, next, events, entry) {
		if (event->request)
			ucma_id_destroy(event->request);
		ucma_event_free(event);
	}
}

/**
 * ucma_id_destroy() - destroy an id
 * @id: an id that is claimed, or that never was known
 *
 * Unread connection requests to it are rejected.  The id of a request has none.
 *
 * Context: may sleep.
 * Return: how many of its events were read.
 */
u32 ucma_id_destroy(struct ucma_id *id)
{
	struct ucma_group *group, *next;
	LIST_HEAD(unread);
	u32 reported;

	end_cm(id);
	flush_work(&id->removal);
	/* An id without a number is not moved, so its file does not change */
	scoped_guard(mutex, &id->file->deliver) {
		ucma_events_take(id, NULL, &unread);
		reported = id->reported;
	}
	drop_events(&unread);
	list_for_each_entry_safe(group, next, &id->groups, entry)
		ucma_group_free(group);
	ucma_id_discard(id);
	return reported;
}

/**
 * ucma_id_move() - give an id to another file
 * @number: its number
 * @from: its file
 * @to: the other one
 * @reported: receives how many of its events were read from @from and those before
 *
 * Context: may sleep; the caller keeps both files open.
 * Return: 0, or as ucma_id_lock().
 */
int ucma_id_move(u32 number, struct ucma_file *from, struct ucma_file *to, u32 *reported)
{
	struct ucma_id *id;

	guard(mutex)(&from->deliver);
	id = ucma_id_lock(from, number);
	if (IS_ERR(id))
		return PTR_ERR(id);
	*reported = ucma_events_move(id, to);
	ucma_id_unlock(id);
	return 0;
}
