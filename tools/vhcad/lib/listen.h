/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VHCAD_LIB_LISTEN_H
#define VHCAD_LIB_LISTEN_H

#include <poll.h>

#include "lib/types.h"

/**
 * unix_listen() - listen on a UNIX stream socket that only this user may open
 * @path: file system path
 *
 * A socket that nobody listens on any more is replaced; anything else at
 * @path is left alone.  Call while the process has one thread: the file mode
 * comes from the process-wide umask.
 *
 * Returns a descriptor; -ENAMETOOLONG; -EADDRINUSE if somebody listens there;
 * -EEXIST if @path is not a socket; another -errno.
 */
int unix_listen(const char *path);

/* Milliseconds after which accept() is tried again when there was no room for a client. */
#define UNIX_ACCEPT_AGAIN	100

/**
 * struct unix_listener - a listening socket in a loop around poll()
 * @poll: its entry for poll()
 * @again: accept() has failed and is tried again at this time; 0: it has not
 */
struct unix_listener {
	struct pollfd *poll;
	u64 again;
};

/**
 * unix_accept() - take a connection
 * @l: the listener, whose entry says that there is one
 * @who: begins the line in the log that tells of a failure, once
 *
 * Returns a descriptor that does not block, or -1. After a failure no more are taken until
 * unix_listener_look() finds that it is time.
 */
int unix_accept(struct unix_listener *l, const char *who);

/** unix_listener_pause() - take no connection until unix_listener_go_on() */
void unix_listener_pause(struct unix_listener *l);

/** unix_listener_go_on() - take connections: there is room for one */
void unix_listener_go_on(struct unix_listener *l);

/** unix_listener_wait() - milliseconds after which poll() is to return for it; -1: never */
int unix_listener_wait(const struct unix_listener *l);

/** unix_listener_look() - after poll(): go on taking connections if it is time to try again */
void unix_listener_look(struct unix_listener *l);

#endif /* VHCAD_LIB_LISTEN_H */
