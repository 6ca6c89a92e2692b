/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the daemon gives up once it has all that it needs: its user, its
 * capabilities and most system calls; and who tidies up behind it then.
 */
#ifndef VHCAD_SANDBOX_H
#define VHCAD_SANDBOX_H

#include "lib/types.h"

struct sweeper;

/**
 * sweeper_start() - start a process that will remove files
 * @paths: of the files; copied with the process
 * @n: how many
 * @out: receives the sweeper
 *
 * The process keeps the rights that the daemon gives up and does nothing with
 * them but this.  It ends with the daemon, without removing anything unless
 * it was told to.  Call while the process has one thread.
 *
 * Returns 0 or -errno.
 */
int sweeper_start(const char *const *paths, u32 n, struct sweeper **out);

/**
 * sweeper_finish() - have the files removed
 * @s: sweeper, or NULL
 *
 * They are gone when it returns.
 */
void sweeper_finish(struct sweeper *s);

/**
 * sandbox_drop() - become somebody who may do nothing
 * @user: whom root becomes; NULL: the user vhcad where there is one, else nobody.  Who is
 *	not root stays what they are
 * @what: receives what could not be done
 *
 * No capability is left and none can be had again.  Call while the process has
 * one thread.
 *
 * Returns 0 or -errno.
 */
int sandbox_drop(const char *user, const char **what);

/**
 * sandbox_filter() - leave only the system calls that serving guests takes
 *
 * For the calling thread and those that it will start.  From then on a call
 * that is on no list ends the process with SIGSYS, after a line in the log
 * that says which one it was.
 *
 * Returns 0 or -errno.
 */
int sandbox_filter(void);

#endif /* VHCAD_SANDBOX_H */
