/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VHCAD_LIB_LISTEN_H
#define VHCAD_LIB_LISTEN_H

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

#endif /* VHCAD_LIB_LISTEN_H */
