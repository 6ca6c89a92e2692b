// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watchers of I/O units of other hosts. The first watcher makes this host's ports search, and the
 * last one stops them.
 */
#include <linux/cleanup.h>

#include "ioscan_priv.h"

/* Protects @users, and serializes the addition and removal of watchers. */
static DEFINE_MUTEX(users_lock);
static unsigned int users;

/**
 * ib_watch_io() - watch others' I/O units, their controllers, and the paths there
 * @watcher: its callback filled in
 *
 * The watcher is notified of the known objects before this returns: of each unit, then its
 * controllers, then the paths to these, each by its ADD event. What is found later follows. As soon
 * as all ports that were present have searched once, which takes some time for the first watcher,
 * IB_IO_EVENT_REPLAYED is reported; that may be before this returns. Watchers are notified in the
 * order in which they were added, and of removals in the reverse order; paths are removed before
 * their controller, controllers before their unit. When a port of this host is removed, the removal
 * of its paths, and of what cannot be reached any more, is reported before IB_PORT_EVENT_REMOVE is
 * reported to port watchers that were added before this one.
 *
 * Controllers of the device itself are not reported. Devices of all network namespaces search.
 *
 * Context: may sleep; as ib_watch_ports(), and not from a callback of any watcher.
 * Return: 0; -ENOMEM, with no notification.
 */
int ib_watch_io(struct ib_io_watcher *watcher)
{
	int ret;

	guard(mutex)(&users_lock);
	scoped_guard(mutex, &ios_lock)
		ret = ios_watcher_add(watcher);
	if (ret)
		return ret;
	if (!users) {
		ret = ios_ports_begin();
		if (ret) {
			guard(mutex)(&ios_lock);
			ios_watcher_remove(watcher);
			return ret;
		}
	}
	users++;
	guard(mutex)(&ios_lock);
	ios_ports_settle();
	return 0;
}
EXPORT_SYMBOL(ib_watch_io);

/**
 * ib_unwatch_io() - stop watching I/O units
 * @watcher: watcher of ib_watch_io()
 *
 * The removal of all objects that are still watched is reported, the latest first. The callback is
 * not running any more on return. Context: as for ib_watch_io().
 */
void ib_unwatch_io(struct ib_io_watcher *watcher)
{
	guard(mutex)(&users_lock);
	scoped_guard(mutex, &ios_lock)
		ios_watcher_remove(watcher);
	if (!--users)
		ios_ports_end();
}
EXPORT_SYMBOL(ib_unwatch_io);

/**
 * ib_search_io() - search for others' I/O units now
 *
 * A unit's agent does not report changes of its controllers; this finds them. On return watchers
 * have been notified of what was found. Context: may sleep; with the same locks as ib_watch_io();
 * takes as long as the agents take to answer.
 */
void ib_search_io(void)
{
	ios_ports_search();
}
EXPORT_SYMBOL(ib_search_io);

/**
 * ioscan_init() - initialise the search for I/O units
 *
 * Context: while the module is initialised, after sa/ and ports/.
 * Return: 0 or -ENOMEM.
 */
int ioscan_init(void)
{
	int ret = ios_ports_init();

	if (!ret)
		ios_requests_init();
	return ret;
}

/**
 * ioscan_exit() - end what ioscan_init() began
 */
void ioscan_exit(void)
{
	WARN_ON(users);
	ios_requests_exit();
	ios_ports_exit();
}
