/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Whole programs under test: started, used, ended.
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
 * @fds: limit of open descriptors; 0: as of this program
 * @out: receives its output, of both streams
 * @room: of @out
 *
 * A daemon that reports that it is ready is ended.  Returns the exit status.
 */
int tprog_run(const char *path, char *const *args, rlim_t fds, char *out, size_t room);

/**
 * tprog_refused() - a program must refuse its command line
 * @env: as for tprog_path()
 * @args: from argv[0] on; two at least
 * @says: a part of its message
 */
void tprog_refused(const char *env, char *const *args, const char *says);

/** tprog_start() - start the daemon; returns its process ID when it reports that it is ready */
pid_t tprog_start(const char *path, char *const *args);

/** tprog_stop() - send it a signal; it must end with status 0 */
void tprog_stop(pid_t pid, int sig);

/** tprog_abandon() - kill a process that a failed test has left; 0: none */
void tprog_abandon(pid_t pid);

/**
 * tprog_switches() - how often the threads of a process have gone to sleep so far
 * @pid: the process; this process without its first thread is possible, too
 */
unsigned long tprog_switches(pid_t pid);

/**
 * tprog_asleep() - wait until a process is idle: all its threads sleep
 * @pid: the process; this process without its first thread is possible, too
 */
void tprog_asleep(pid_t pid);

#define TPROG_DIR	32u	/* bytes of a folder's name */
#define TPROG_PATH	64u	/* and of that of a file in it */

/** tprog_dir() - make a folder for a test; @dir: receives its name */
void tprog_dir(char dir[TPROG_DIR]);

/** tprog_in() - the path of a file of this name in the folder */
void tprog_in(const char *dir, const char *name, char path[TPROG_PATH]);

/**
 * tprog_dir_end() - remove the folder
 * @dir: the folder
 * @...: files in it that may exist, up to a NULL
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

/** tprog_place() - make a folder for a test with the path of a file in it; to be freed by free() */
struct tprog_place *tprog_place(const char *name);

/** tprog_open_fds() - number of open descriptors of this program */
unsigned int tprog_open_fds(void);

/** tprog_attach() - a connection to a socket */
int tprog_attach(const char *path);

/** tprog_private_bytes() - the private memory of a process, in bytes */
u64 tprog_private_bytes(pid_t pid);

#endif /* VHCAD_TESTS_TPROG_H */
