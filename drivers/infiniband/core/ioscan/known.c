// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The known units, and how they are brought up to date with what a search has found.
 *
 * A search finds only the paths of its own port, so it does not change those of other ports. A unit
 * is known while any port reaches it. A path or controller that has changed is removed, and added
 * as it is now. An object without memory for it is left out, and the next search finds it.
 */
#include <kunit/visibility.h>
#include <linux/cleanup.h>
#include <linux/slab.h>

#include "ioscan_priv.h"

/**
 * struct ios_path - a path to a controller
 * @object: its notifications
 * @entry: in the controller's list
 * @reach: the path to the unit
 * @ib: as watchers see it
 */
struct ios_path {
	struct ios_object object;
	struct list_head entry;
	const struct ios_reach *reach;
	struct ib_io_path ib;
};

static LIST_HEAD(units);

/* ---- units in a list ---- */

/**
 * ios_unit_make() - make a unit without controllers and paths
 * @prefix: its subnet
 * @guid: its GUID
 *
 * Return: the unit or NULL.
 */
struct ios_unit *ios_unit_make(__be64 prefix, __be64 guid)
{
	struct ios_unit *unit = kzalloc(sizeof(*unit), GFP_KERNEL);

	if (!unit)
		return NULL;
	unit->prefix = prefix;
	unit->ib.guid = guid;
	INIT_LIST_HEAD(&unit->controllers);
	INIT_LIST_HEAD(&unit->reaches);
	return unit;
}

static void free_controller(struct ios_controller *controller)
{
	list_del(&controller->entry);
	kvfree(controller->entries);
	kfree(controller);
}

/**
 * ios_controllers_free() - free the controllers of a unit that is not known yet
 * @unit: the unit
 */
void ios_controllers_free(struct ios_unit *unit)
{
	struct ios_controller *controller, *next;

	list_for_each_entry_safe(controller, next, &unit->controllers, entry)
		free_controller(controller);
}

static void free_reach(struct ios_reach *reach)
{
	list_del(&reach->entry);
	kfree(reach);
}

static void free_unit(struct ios_unit *unit)
{
	struct ios_reach *reach, *next;

	ios_controllers_free(unit);
	list_for_each_entry_safe(reach, next, &unit->reaches, entry)
		free_reach(reach);
	list_del(&unit->entry);
	kfree(unit);
}

/**
 * ios_units_free() - free units that are not known yet
 * @list: their list
 */
void ios_units_free(struct list_head *list)
{
	struct ios_unit *unit, *next;

	list_for_each_entry_safe(unit, next, list, entry)
		free_unit(unit);
}
EXPORT_SYMBOL_IF_KUNIT(ios_units_free);

/**
 * ios_unit_find() - look a unit up
 * @list: list of units
 * @prefix: its subnet
 * @guid: its GUID
 *
 * Return: the unit or NULL.
 */
struct ios_unit *ios_unit_find(struct list_head *list, __be64 prefix, __be64 guid)
{
	struct ios_unit *unit;

	list_for_each_entry(unit, list, entry)
		if (unit->ib.guid == guid && unit->prefix == prefix)
			return unit;
	return NULL;
}

/* ---- removal ---- */

static void remove_path(struct ios_path *path)
{
	ios_object_remove(&path->object);
	list_del(&path->entry);
	kfree(path);
}

static struct ios_path *path_of(struct ios_controller *controller, const struct ios_reach *reach)
{
	struct ios_path *path;

	list_for_each_entry(path, &controller->paths, entry)
		if (path->reach == reach)
			return path;
	return NULL;
}

static void remove_reach(struct ios_unit *unit, struct ios_reach *reach)
{
	struct ios_controller *controller;
	struct ios_path *path;

	list_for_each_entry_reverse(controller, &unit->controllers, entry) {
		path = path_of(controller, reach);
		if (path)
			remove_path(path);
	}
	free_reach(reach);
}

static void remove_controller(struct ios_controller *controller)
{
	struct ios_path *path, *next;

	list_for_each_entry_safe_reverse(path, next, &controller->paths, entry)
		remove_path(path);
	ios_object_remove(&controller->object);
	free_controller(controller);
}

static void remove_unit(struct ios_unit *unit)
{
	struct ios_controller *controller, *next;

	list_for_each_entry_safe_reverse(controller, next, &unit->controllers, entry)
		remove_controller(controller);
	ios_object_remove(&unit->object);
	free_unit(unit);
}

/* ---- comparison ---- */

static bool same_path(struct sa_path_rec *a, struct sa_path_rec *b)
{
	u8 one[64] = {}, other[64] = {};

	ib_sa_pack_path(a, one);
	ib_sa_pack_path(b, other);
	return !memcmp(one, other, sizeof(one));
}

static struct ios_reach *same_reach(struct ios_unit *unit, struct ios_reach *as)
{
	struct ios_reach *reach;

	list_for_each_entry(reach, &unit->reaches, entry)
		if (reach->port == as->port && same_path(&reach->rec, &as->rec))
			return reach;
	return NULL;
}

static struct ios_controller *same_controller(struct ios_unit *unit,
					      const struct ios_controller *as)
{
	struct ios_controller *controller;

	list_for_each_entry(controller, &unit->controllers, entry)
		if (controller->ib.slot == as->ib.slot &&
		    !memcmp(&controller->ib.profile, &as->ib.profile, sizeof(as->ib.profile)) &&
		    !memcmp(controller->entries, as->entries,
			    as->ib.profile.num_svc_entries * sizeof(*as->entries)))
			return controller;
	return NULL;
}

/* ---- addition ---- */

static int add_path(struct ios_unit *unit, struct ios_controller *controller,
		    const struct ios_reach *reach)
{
	struct ios_path *path = kzalloc(sizeof(*path), GFP_KERNEL);
	int ret;

	if (!path)
		return -ENOMEM;
	path->reach = reach;
	path->ib.device = reach->port->device;
	path->ib.port_num = reach->port->port_num;
	path->ib.rec = reach->rec;
	path->object.parent = &controller->object;
	path->object.event = (struct ib_io_event) {
		.type = IB_IO_EVENT_PATH_ADD,
		.unit = &unit->ib,
		.controller = &controller->ib,
		.path = &path->ib,
	};
	ret = ios_object_add(&path->object);
	if (ret) {
		kfree(path);
		return ret;
	}
	list_add_tail(&path->entry, &controller->paths);
	return 0;
}

static int add_controller(struct ios_unit *unit, struct ios_controller *controller)
{
	int ret;

	INIT_LIST_HEAD(&controller->paths);
	controller->object.parent = &unit->object;
	controller->object.event = (struct ib_io_event) {
		.type = IB_IO_EVENT_CONTROLLER_ADD,
		.unit = &unit->ib,
		.controller = &controller->ib,
	};
	ret = ios_object_add(&controller->object);
	if (!ret)
		list_move_tail(&controller->entry, &unit->controllers);
	return ret;
}

/* Adds all paths that are missing, also those for which there was no memory before. */
static int add_paths(struct ios_unit *unit)
{
	struct ios_controller *controller;
	struct ios_reach *reach;
	int ret = 0;

	list_for_each_entry(controller, &unit->controllers, entry)
		list_for_each_entry(reach, &unit->reaches, entry)
			if (!path_of(controller, reach) && add_path(unit, controller, reach))
				ret = -ENOMEM;
	return ret;
}

static int add_unit(struct ios_unit *found, struct ios_unit **added)
{
	struct ios_unit *unit = ios_unit_make(found->prefix, found->ib.guid);
	int ret;

	if (!unit)
		return -ENOMEM;
	unit->ib = found->ib;
	unit->object.event = (struct ib_io_event) {
		.type = IB_IO_EVENT_UNIT_ADD,
		.unit = &unit->ib,
	};
	ret = ios_object_add(&unit->object);
	if (ret) {
		kfree(unit);
		return ret;
	}
	list_add_tail(&unit->entry, &units);
	*added = unit;
	return 0;
}

/* ---- bringing a known unit up to date ---- */

static void remove_old(struct ios_port *port, struct ios_unit *unit, struct ios_unit *found)
{
	struct ios_controller *controller, *next_controller;
	struct ios_reach *reach, *next_reach;

	list_for_each_entry_safe_reverse(reach, next_reach, &unit->reaches, entry)
		if (reach->port == port && !(found && same_reach(found, reach)))
			remove_reach(unit, reach);
	if (!found || !found->read)
		return;
	list_for_each_entry_safe_reverse(controller, next_controller, &unit->controllers, entry)
		if (!same_controller(found, controller))
			remove_controller(controller);
}

static int add_new(struct ios_unit *unit, struct ios_unit *found)
{
	struct ios_controller *controller, *next_controller;
	struct ios_reach *reach, *next_reach;
	int ret = 0;

	list_for_each_entry_safe(reach, next_reach, &found->reaches, entry)
		if (!same_reach(unit, reach))
			list_move_tail(&reach->entry, &unit->reaches);
	list_for_each_entry_safe(controller, next_controller, &found->controllers, entry)
		if (!same_controller(unit, controller) && add_controller(unit, controller))
			ret = -ENOMEM;
	return add_paths(unit) ?: ret;
}

/**
 * ios_know() - apply what a port has found to the known units
 * @port: the port
 * @found: all units that it reaches; their contents may be taken. A unit that could not be read
 *	keeps its known controllers, and is not added if it was unknown
 *
 * Watchers are notified of the differences, of removals before additions. Context: with ios_lock
 * held; may sleep.
 * Return: 0; -ENOMEM if something is missing.
 */
int ios_know(struct ios_port *port, struct list_head *found)
{
	struct ios_unit *unit, *next, *now;
	int ret = 0;

	lockdep_assert_held(&ios_lock);
	list_for_each_entry_safe_reverse(unit, next, &units, entry) {
		now = ios_unit_find(found, unit->prefix, unit->ib.guid);
		remove_old(port, unit, now);
		if (list_empty(&unit->reaches) && (!now || list_empty(&now->reaches)))
			remove_unit(unit);
	}
	list_for_each_entry(now, found, entry) {
		unit = ios_unit_find(&units, now->prefix, now->ib.guid);
		if (!unit && (!now->read || add_unit(now, &unit))) {
			if (now->read)
				ret = -ENOMEM;
			continue;
		}
		if (add_new(unit, now))
			ret = -ENOMEM;
	}
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(ios_know);
