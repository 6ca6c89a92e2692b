// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Notifications: each watcher has a view of each known object.
 *
 * Objects are in one list, each behind its parent. A new watcher is notified of them in this order,
 * and a removed one in the reverse order. Whatever can fail is done before the first notification.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "ioscan_priv.h"

/* Protects all known objects, and the watchers. */
struct mutex ios_lock = __MUTEX_INITIALIZER(ios_lock);
EXPORT_SYMBOL_IF_KUNIT(ios_lock);

/**
 * struct ios_view - an object as one watcher sees it
 * @entry: in the object's list
 * @watcher: the watcher
 * @context: the watcher's
 * @watched: the watcher is called for it and for the objects below it
 */
struct ios_view {
	struct list_head entry;
	struct ib_io_watcher *watcher;
	void *context;
	bool watched;
};

static LIST_HEAD(watchers);
static LIST_HEAD(objects);

static struct ios_view *view_of(struct ios_object *object, const struct ib_io_watcher *watcher)
{
	struct ios_view *view;

	list_for_each_entry(view, &object->views, entry)
		if (view->watcher == watcher)
			return view;
	return NULL;
}

static int add_view(struct ios_object *object, struct ib_io_watcher *watcher)
{
	struct ios_view *view = kzalloc(sizeof(*view), GFP_KERNEL);

	if (!view)
		return -ENOMEM;
	view->watcher = watcher;
	list_add_tail(&view->entry, &object->views);
	return 0;
}

static void remove_view(struct ios_view *view)
{
	list_del(&view->entry);
	kfree(view);
}

static int call(struct ios_object *object, struct ios_view *view, const struct ios_view *parent,
		enum ib_io_event_type type)
{
	struct ib_io_event event = object->event;

	event.type = type;
	event.parent = parent ? parent->context : NULL;
	event.context = &view->context;
	return view->watcher->event(view->watcher, &event);
}

/* A watcher that has declined an object is not called for the objects below it, either. */
static void notify_added(struct ios_object *object, struct ios_view *view)
{
	const struct ios_view *parent = NULL;

	if (object->parent) {
		parent = view_of(object->parent, view->watcher);
		if (!parent->watched)
			return;
	}
	view->watched = !call(object, view, parent, object->event.type);
}

static void notify_removed(struct ios_object *object, struct ios_view *view)
{
	static const enum ib_io_event_type removal[] = {
		[IB_IO_EVENT_UNIT_ADD] = IB_IO_EVENT_UNIT_REMOVE,
		[IB_IO_EVENT_CONTROLLER_ADD] = IB_IO_EVENT_CONTROLLER_REMOVE,
		[IB_IO_EVENT_PATH_ADD] = IB_IO_EVENT_PATH_REMOVE,
	};
	const struct ios_view *parent = NULL;

	if (!view->watched)
		return;
	if (object->parent)
		parent = view_of(object->parent, view->watcher);
	call(object, view, parent, removal[object->event.type]);
}

/**
 * ios_object_add() - add a known object
 * @object: the object, with @event and @parent set
 *
 * All watchers are notified. Context: with ios_lock held; may sleep.
 * Return: 0; -ENOMEM, with no watcher notified.
 */
int ios_object_add(struct ios_object *object)
{
	struct ib_io_watcher *watcher;
	struct ios_view *view, *next;

	lockdep_assert_held(&ios_lock);
	INIT_LIST_HEAD(&object->views);
	list_for_each_entry(watcher, &watchers, entry) {
		if (add_view(object, watcher)) {
			list_for_each_entry_safe(view, next, &object->views, entry)
				remove_view(view);
			return -ENOMEM;
		}
	}
	list_add_tail(&object->entry, &objects);
	list_for_each_entry(view, &object->views, entry)
		notify_added(object, view);
	return 0;
}

/**
 * ios_object_remove() - remove a known object
 * @object: object of ios_object_add() that is no parent any more
 *
 * All watchers are notified, the latest first. Context: with ios_lock held; may sleep.
 */
void ios_object_remove(struct ios_object *object)
{
	struct ios_view *view, *next;

	lockdep_assert_held(&ios_lock);
	list_for_each_entry_safe_reverse(view, next, &object->views, entry) {
		notify_removed(object, view);
		remove_view(view);
	}
	list_del(&object->entry);
}

/*
 * Removes a watcher's views from all objects, and notifies it of those of which it was notified
 * before.
 */
static void remove_views_of(struct ib_io_watcher *watcher)
{
	struct ios_object *object;
	struct ios_view *view;

	list_for_each_entry_reverse(object, &objects, entry) {
		view = view_of(object, watcher);
		if (!view)
			continue;
		notify_removed(object, view);
		remove_view(view);
	}
}

/**
 * ios_watcher_add() - notify a watcher of all known objects, and of later ones
 * @watcher: the watcher
 *
 * Context: with ios_lock held; may sleep.
 * Return: 0; -ENOMEM, with no notification.
 */
int ios_watcher_add(struct ib_io_watcher *watcher)
{
	struct ios_object *object;

	lockdep_assert_held(&ios_lock);
	list_for_each_entry(object, &objects, entry) {
		if (add_view(object, watcher)) {
			remove_views_of(watcher);
			return -ENOMEM;
		}
	}
	watcher->replayed = false;
	list_add_tail(&watcher->entry, &watchers);
	list_for_each_entry(object, &objects, entry)
		notify_added(object, view_of(object, watcher));
	return 0;
}

/**
 * ios_watcher_remove() - notify a watcher of the removal of all objects, and end its notifications
 * @watcher: the watcher
 *
 * Context: with ios_lock held; may sleep.
 */
void ios_watcher_remove(struct ib_io_watcher *watcher)
{
	lockdep_assert_held(&ios_lock);
	remove_views_of(watcher);
	list_del(&watcher->entry);
}

/**
 * ios_tell_replayed() - report to new watchers that the initial objects are complete
 *
 * Context: with ios_lock held; may sleep.
 */
void ios_tell_replayed(void)
{
	const struct ib_io_event replayed = { .type = IB_IO_EVENT_REPLAYED };
	struct ib_io_watcher *watcher;

	lockdep_assert_held(&ios_lock);
	list_for_each_entry(watcher, &watchers, entry) {
		if (watcher->replayed)
			continue;
		watcher->replayed = true;
		watcher->event(watcher, &replayed);
	}
}
