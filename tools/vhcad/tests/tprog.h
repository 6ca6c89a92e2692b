/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whole programs under test: started, talked to, ended.
 */
#ifndef VHCAD_TESTS_TPROG_H
#define VHCAD_TESTS_TPROG_H

#include <sys/resource.h>
#include <sys/types.h>

#include "lib/types.h"

/** tprog_path() - the program that an environment variable names; fails the test without it */
const char *tprog_path(const char *env);

/**
 * tprog_run() - run a program to its end
 * @path: program
 * @args: its arguments, from argv[0] on
 * @fds: descriptors it may have open, or 0: as many as this program
 * @out: receives what it printed, on either stream
 * @room: of @out
 *
 * A daemon that says that it is ready is asked to end.  Returns the exit status.
 */
int tprog_run(const char *path, char *const *args, rlim_t fds, char *out, size_t room);

/**
 * tprog_refused() - a program must refuse its command line
 * @env: as for tprog_path()
 * @args: from argv[0] on; two at least
 * @says: part of what it has to say
 */
void tprog_refused(const char *env, char *const *args, const char *says);

/** tprog_start() - start the daemon; returns its process when it says it is ready */
pid_t tprog_start(const char *path, char *const *args);

/** tprog_stop() - end it by a signal; it must end by itself, with status 0 */
void tprog_stop(pid_t pid, int sig);

/** tprog_abandon() - kill what a test that failed has left running; 0: nothing */
void tprog_abandon(pid_t pid);

/**
 * tprog_switches() - how often the threads of a process have gone to sleep so far
 * @pid: it, or this process, whose first thread does not count
 */
unsigned long tprog_switches(pid_t pid);

/**
 * tprog_asleep() - wait until a process has nothing to do: all its threads sleep
 * @pid: it, or this process, whose first thread does not count
 */
void tprog_asleep(pid_t pid);

#define TPROG_DIR	32u	/* bytes of a folder's name */
#define TPROG_PATH	64u	/* and of that of a file in it */

/** tprog_dir() - make a folder for a test; @dir: receives its name */
void tprog_dir(char dir[TPROG_DIR]);

/** tprog_in() - where a file of this name lies in the folder */
void tprog_in(const char *dir, const char *name, char path[TPROG_PATH]);

/**
 * tprog_dir_end() - remove the folder
 * @dir: it
 * @...: files in it that may be there, up to a NULL
 *
 * Fails the test when there is anything else.
 */
void tprog_dir_end(const char *dir, ...) __attribute__((sentinel));

/**
 * struct tprog_place - a folder for a test, and a file in it
 * @dir: the folder
 * @path: the file, which need not be there
 */
struct tprog_place {
	char dir[TPROG_DIR];
	char path[TPROG_PATH];
};

/** tprog_place() - make a folder for a test that has a file of this name; free() forgets it */
struct tprog_place *tprog_place(const char *name);

/** tprog_open_fds() - how many descriptors this program has open */
unsigned int tprog_open_fds(void);

/** tprog_attach() - a connection to a socket */
int tprog_attach(const char *path);

/** tprog_private_bytes() - the memory that a process shares with nobody, in bytes */
u64 tprog_private_bytes(pid_t pid);

#endif /* VHCAD_TESTS_TPROG_H */
