// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Removing the sockets takes rights in their folders that the daemon has given up by then.  So a
 * process that is forked before does it, and only the daemon can talk to it.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sandbox.h"

struct sweeper {
	int to;			/* socket to the process: a byte starts it, end of file ends it */
};

/* Makes @fd number 0 and closes all others, so that no socket outlives the daemon. */
static void keep_only(int fd)
{
	if (dup2(fd, 0) < 0 || syscall(SYS_close_range, 1u, ~0u, 0u))
		_exit(1);
}

static void sweep(int from, const char *const *paths, u32 n)
{
	char byte;

	keep_only(from);
	if (recv(0, &byte, 1, 0) == 1)
		for (u32 i = 0; i < n; i++)
			unlink(paths[i]);
	_exit(0);
}

int sweeper_start(const char *const *paths, u32 n, struct sweeper **out)
{
	struct sweeper *s = malloc(sizeof(*s));
	int fds[2], err;
	pid_t pid;

	if (!s)
		return -ENOMEM;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
		err = -errno;
		goto err_free;
	}
	/* this child is not waited for */
	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (!pid)
		sweep(fds[1], paths, n);
	err = -errno;
	close(fds[1]);
	if (pid < 0)
		goto err_close;
	s->to = fds[0];
	*out = s;
	return 0;

err_close:
	close(fds[0]);
err_free:
	free(s);
	return err;
}

void sweeper_finish(struct sweeper *s)
{
	char byte = 0;

	if (!s)
		return;
	/* the process answers by ending */
	if (send(s->to, &byte, 1, MSG_NOSIGNAL) == 1)
		while (recv(s->to, &byte, 1, 0) < 0 && errno == EINTR)
			;
	close(s->to);
	free(s);
}
