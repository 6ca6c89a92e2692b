// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "lib/listen.h"
#include "lib/log.h"

/* Removes a socket that no process listens on any more.  Returns 0 when the path is free. */
static int clear_path(const struct sockaddr_un *sa)
{
	struct stat st;
	int fd, err;

	if (lstat(sa->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = connect(fd, (const struct sockaddr *)sa, sizeof(*sa)) ? errno : 0;
	close(fd);
	if (err != ECONNREFUSED)
		return err && err != EAGAIN ? -err : -EADDRINUSE;
	return unlink(sa->sun_path) ? -errno : 0;
}

int unix_listen(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	size_t len = strlen(path);
	mode_t old;
	int fd, err;

	if (!len || len >= sizeof(sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(sa.sun_path, path, len + 1);
	err = clear_path(&sa);
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	old = umask(0177);
	err = bind(fd, (struct sockaddr *)&sa, sizeof(sa)) ? -errno : 0;
	umask(old);
	if (!err && listen(fd, 1)) {
		err = -errno;
		unlink(path);
	}
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static u64 milliseconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000ull + ts.tv_nsec / 1000000;
}

int unix_accept(struct unix_listener *l, const char *who)
{
	int fd = accept4(l->poll->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd >= 0) {
		l->again = 0;
		return fd;
	}
	/* the client went away before it was accepted */
	if (errno == EINTR || errno == EAGAIN || errno == ECONNABORTED)
		return -1;
	if (!l->again)
		log_line("%s: no more connections for now: %s", who, strerror(errno));
	l->again = milliseconds() + UNIX_ACCEPT_AGAIN;
	l->poll->events = 0;
	return -1;
}

void unix_listener_pause(struct unix_listener *l)
{
	l->poll->events = 0;
	l->again = 0;
}

void unix_listener_go_on(struct unix_listener *l)
{
	l->poll->events = POLLIN;
}

int unix_listener_wait(const struct unix_listener *l)
{
	u64 now = milliseconds();

	if (!l->again || l->poll->events)
		return -1;
	return l->again > now ? l->again - now : 0;
}

void unix_listener_look(struct unix_listener *l)
{
	if (l->again && milliseconds() >= l->again)
		l->poll->events = POLLIN;
}
