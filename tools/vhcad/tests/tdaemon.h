/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A daemon with two adapters, the first of two ports, a control socket, and a file that it or
 * vhcactl reads.
 */
#ifndef VHCAD_TESTS_TDAEMON_H
#define VHCAD_TESTS_TDAEMON_H

#include "tests/tprog.h"

struct tdaemon {
	char dir[TPROG_DIR];
	char path[2][TPROG_PATH];	/* of the sockets, */
	char sock[2][TPROG_PATH + 48];	/* and their --hca options */
	char ctl[TPROG_PATH], file[TPROG_PATH], log[TPROG_PATH];
	pid_t pid;
};

/* Arguments of vhcactl, a part of its expected output, and its exit status. */
struct twords {
	int status;
	const char *says;
	const char *args[9];
};

/* of a test, whose state is the struct tdaemon */
int td_setup(void **state);
int td_teardown(void **state);

/** td_start() - start the daemon, with one more option and its value, or NULL */
void td_start(struct tdaemon *r, char *option, char *value);

/** td_stop() - end the daemon */
void td_stop(struct tdaemon *r);

/** td_ctl() - run vhcactl, and check its output */
void td_ctl(struct tdaemon *r, const struct twords *w);

/** td_write() - write the file */
void td_write(struct tdaemon *r, const char *text);

#endif /* VHCAD_TESTS_TDAEMON_H */
