/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the daemon gives up when it has opened all that it needs: its user, its capabilities, and
 * most system calls; and the process that removes its sockets in the end.
 */
#ifndef VHCAD_SANDBOX_H
#define VHCAD_SANDBOX_H

#include "lib/types.h"

struct sweeper;

/**
 * sweeper_start() - start a process that will remove files
 * @paths: paths of the files, which fork() copies
 * @n: number of files
 * @out: receives the sweeper
 *
 * The process keeps the rights that the daemon gives up, and uses them only for this.  It ends with
 * the daemon, and removes nothing unless it was told to.  Call while the daemon has one thread.
 *
 * Returns 0 or -errno.
 */
int sweeper_start(const char *const *paths, u32 n, struct sweeper **out);

/**
 * sweeper_finish() - have the files removed, and wait for that
 * @s: sweeper, or NULL
 */
void sweeper_finish(struct sweeper *s);

/**
 * sandbox_drop() - become a user without privileges
 * @user: the user that root becomes; NULL: vhcad if it exists, else nobody.  Another user than root
 *	stays the same
 * @what: receives what has failed
 *
 * All capabilities are dropped for good.  Call while the daemon has one thread.
 *
 * Returns 0 or -errno.
 */
int sandbox_drop(const char *user, const char **what);

/**
 * sandbox_filter() - allow only the system calls that are needed to serve guests
 *
 * Applies to the calling thread and to those that it starts.  A system call on none of the lists
 * ends the process with SIGSYS, after a line in the log that names it.
 *
 * Returns 0 or -errno.
 */
int sandbox_filter(void);

#endif /* VHCAD_SANDBOX_H */
