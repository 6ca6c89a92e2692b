// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watchers of others' I/O units. The first one has this host's ports search, the last one ends it.
 */
#include <linux/cleanup.h>

#include "ioscan_priv.h"

/* Protects @users, and makes watchers come and go one after the other. */
static DEFINE_MUTEX(users_lock);
static unsigned int users;

/**
 * ib_watch_io() - watch others' I/O units, their controllers, and the paths there
 * @watcher: its callback filled in
 *
 * What is known is told before this returns: each unit, then its controllers, then the paths to
 * these, each by its ADD. What is found later follows. As soon as all ports that were there have
 * searched once, which takes some time for the first watcher, IB_IO_EVENT_REPLAYED is told; it may
 * be told before this returns. Watchers are told in the order in which they came, and of what goes
 * in the opposite one; paths go before their controller, controllers before their unit. When a port
 * of this host goes, the paths from there have been told to go, and what cannot be reached any
 * more, before IB_PORT_EVENT_REMOVE is told to watchers of ports that came before this one.
 *
 * Controllers of the device itself are not told. Devices of all network namespaces search.
 *
 * Context: may sleep; as ib_watch_ports(), and not from a callback of any watcher.
 * Return: 0; -ENOMEM, after which nothing has been told.
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
 * ib_unwatch_io() - watch I/O units no more
 * @watcher: watcher of ib_watch_io()
 *
 * All that has been told, and is still watched, is told to go, the latest first. The callback is
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
 * A unit's agent tells nobody that its controllers have changed; this finds out. On return watchers
 * have been told of what has been found. Context: may sleep; with the same locks as ib_watch_io();
 * takes as long as the agents take to answer.
 */
void ib_search_io(void)
{
	ios_ports_search();
}
EXPORT_SYMBOL(ib_search_io);

/**
 * ioscan_init() - let watchers come
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
