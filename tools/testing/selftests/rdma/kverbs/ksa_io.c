// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A watcher of I/O units in the subnet, for any devices.
 *
 * Writing 1 to "watch" makes it watch, 0 ends that; writing to "search" has the ports search.
 * "units" has a letter for each event: u, c or p for a unit, a controller or a path, upper case if
 * it was added, and a dot for the end mark. "controllers" has a line for each controller to which
 * there is a path: GUID, slot, LID of the path, number of the first service, services, and its
 * name.
 */
#include <linux/module.h>
#include <linux/slab.h>
#include <rdma/rdma_ext_io.h>

#include "ksa.h"

static char units[256];
module_param_string(units, units, sizeof(units), 0444);

/**
 * struct seen - a controller to which there is a path
 * @entry: in @controllers
 * @text: its line
 */
struct seen {
	struct list_head entry;
	char text[160];
};

static DEFINE_MUTEX(seen_lock);
static LIST_HEAD(controllers);

static int see(const struct ib_io_event *event)
{
	const struct ib_dm_ioc_profile *profile = &event->controller->profile;
	struct sa_path_rec rec = event->path->rec;
	struct seen *seen = kzalloc(sizeof(*seen), GFP_KERNEL);

	if (!CHECK(seen))
		return -ENOMEM;
	snprintf(seen->text, sizeof(seen->text), "%016llx %u %u %016llx %u %.*s",
		 be64_to_cpu(profile->guid), event->controller->slot,
		 be32_to_cpu(sa_path_get_dlid(&rec)),
		 profile->num_svc_entries ? be64_to_cpu(event->controller->entries->id) : 0,
		 profile->num_svc_entries, (int)sizeof(profile->id_string), profile->id_string);
	guard(mutex)(&seen_lock);
	list_add_tail(&seen->entry, &controllers);
	*event->context = seen;
	return 0;
}

static void lose(struct seen *seen)
{
	scoped_guard(mutex, &seen_lock)
		list_del(&seen->entry);
	kfree(seen);
}

/* The pointer's place in the event has what the event is about, or the line of a path. */
static int hear(struct ib_io_watcher *watcher, const struct ib_io_event *event)
{
	static const char letter[] = "UuCcPp.";
	size_t at = strlen(units);

	if (at + 1 < sizeof(units))
		units[at] = letter[event->type];
	switch (event->type) {
	case IB_IO_EVENT_UNIT_ADD:
		CHECK(event->unit->guid && event->unit->description[0]);
		*event->context = (void *)event->unit;
		break;
	case IB_IO_EVENT_CONTROLLER_ADD:
		CHECK(event->parent == event->unit);
		*event->context = (void *)event->controller;
		break;
	case IB_IO_EVENT_PATH_ADD:
		CHECK(event->parent == event->controller);
		return see(event);
	case IB_IO_EVENT_PATH_REMOVE:
		lose(*event->context);
		break;
	case IB_IO_EVENT_UNIT_REMOVE:
		CHECK(*event->context == event->unit);
		break;
	case IB_IO_EVENT_CONTROLLER_REMOVE:
		CHECK(*event->context == event->controller);
		break;
	case IB_IO_EVENT_REPLAYED:
		break;
	}
	return 0;
}

static DEFINE_MUTEX(lock);
static struct ib_io_watcher watcher = { .event = hear };
static bool watching;

static int turn(bool on)
{
	int ret = 0;

	guard(mutex)(&lock);
	if (on == watching)
		return 0;
	if (on)
		ret = ib_watch_io(&watcher);
	else
		ib_unwatch_io(&watcher);
	if (!ret)
		watching = on;
	return ret;
}

static int set_watch(const char *text, const struct kernel_param *param)
{
	bool on;

	return kstrtobool(text, &on) ?: turn(on);
}

static int set_search(const char *text, const struct kernel_param *param)
{
	ib_search_io();
	return 0;
}

static int get_controllers(char *text, const struct kernel_param *param)
{
	struct seen *seen;
	int len = 0;

	guard(mutex)(&seen_lock);
	list_for_each_entry(seen, &controllers, entry)
		len += sysfs_emit_at(text, len, "%s\n", seen->text);
	return len;
}

static const struct kernel_param_ops watch_ops = { .set = set_watch };
static const struct kernel_param_ops search_ops = { .set = set_search };
static const struct kernel_param_ops controllers_ops = { .get = get_controllers };
module_param_cb(watch, &watch_ops, NULL, 0200);
module_param_cb(search, &search_ops, NULL, 0200);
module_param_cb(controllers, &controllers_ops, NULL, 0444);

/* No task writes to parameters any more. */
void ksa_io_end(void)
{
	turn(false);
	CHECK(list_empty(&controllers));
}
