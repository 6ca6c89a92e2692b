// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The control socket's thread.  It sleeps in poll() until a client sends a command.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ctl/ctl.h"
#include "lib/log.h"
#include "lib/listen.h"
#include "trace/trace.h"

#define CTL_CLIENTS	16u
#define CTL_LINE	1024u

/**
 * struct client - a connection to a client
 * @len: bytes of @line
 * @line: bytes received that are not a complete command yet
 * @text: the answer that is not sent completely yet, or NULL
 * @at: where its rest begins
 */
struct client {
	u32 len;
	char line[CTL_LINE];
	char *text;
	size_t at;
};

struct ctl {
	const char *path;
	struct ctl_scope scope;
	int listen;
	int stop;			/* eventfd */
	pthread_t thread;
	bool started;
	struct unix_listener clients;
	struct pollfd fd[2 + CTL_CLIENTS];	/* stop, listen, clients */
	struct client client[CTL_CLIENTS];
};

int ctl_new(const char *path, struct ctl **out)
{
	struct ctl *c;
	int err;

	c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	c->path = path;
	c->stop = eventfd(0, EFD_CLOEXEC);
	if (c->stop < 0) {
		err = -errno;
		goto err_free;
	}
	c->listen = unix_listen(path);
	if (c->listen < 0) {
		err = c->listen;
		goto err_stop;
	}
	*out = c;
	return 0;

err_stop:
	close(c->stop);
err_free:
	free(c);
	return err;
}

static void drop(struct ctl *c, u32 slot)
{
	close(c->fd[2 + slot].fd);
	c->fd[2 + slot].fd = -1;
	free(c->client[slot].text);
	c->client[slot].text = NULL;
	/* clients may be waiting that found no free slot */
	unix_listener_go_on(&c->clients);
}

static void take_client(struct ctl *c)
{
	u32 slot;
	int fd;

	for (slot = 0; slot < CTL_CLIENTS; slot++)
		if (c->fd[2 + slot].fd < 0)
			break;
	if (slot == CTL_CLIENTS) {
		unix_listener_pause(&c->clients);
		return;
	}
	fd = unix_accept(&c->clients, "control socket");
	if (fd < 0)
		return;
	c->fd[2 + slot] = (struct pollfd){ .fd = fd, .events = POLLIN };
	c->client[slot].len = 0;
}

/* Sends as much of an answer as the socket has room for; false: the client has disconnected. */
static bool push_answer(struct client *cl, int fd)
{
	size_t left = strlen(cl->text + cl->at);
	ssize_t n = send(fd, cl->text + cl->at, left, MSG_NOSIGNAL);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	cl->at += n;
	if ((size_t)n == left) {
		free(cl->text);
		cl->text = NULL;
	}
	return true;
}

/*
 * Returns false if there is no answer, or if the client sends a command before it has read the
 * answer to the last one.
 */
static bool answer(struct ctl *c, struct client *cl, int fd)
{
	if (cl->text)
		return false;
	cl->text = ctl_answer(&c->scope, cl->line);
	cl->at = 0;
	return cl->text && push_answer(cl, fd);
}

static void take_commands(struct ctl *c, u32 slot)
{
	struct client *cl = &c->client[slot];
	int fd = c->fd[2 + slot].fd;
	char *end;
	ssize_t n;

	n = recv(fd, cl->line + cl->len, CTL_LINE - cl->len, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		drop(c, slot);
		return;
	}
	cl->len += n;
	while ((end = memchr(cl->line, '\n', cl->len))) {
		u32 used = end + 1 - cl->line;

		*end = '\0';
		if (!answer(c, cl, fd)) {
			drop(c, slot);
			return;
		}
		cl->len -= used;
		memmove(cl->line, end + 1, cl->len);
	}
	if (cl->len == CTL_LINE)	/* no command is that long */
		drop(c, slot);
}

static void serve(struct ctl *c, u32 slot)
{
	struct client *cl = &c->client[slot];
	struct pollfd *fd = &c->fd[2 + slot];

	if (fd->revents & POLLOUT && !push_answer(cl, fd->fd)) {
		drop(c, slot);
		return;
	}
	if (fd->revents & ~POLLOUT)
		take_commands(c, slot);
	fd->events = POLLIN | (cl->text ? POLLOUT : 0);
}

/* Returns how many entries poll() needs: it refuses more than RLIMIT_NOFILE. */
static u32 used_entries(const struct ctl *c)
{
	u32 n = ARRAY_SIZE(c->fd);

	while (c->fd[n - 1].fd < 0)
		n--;
	return n;
}

static void *ctl_thread(void *arg)
{
	struct ctl *c = arg;

	pthread_setname_np(pthread_self(), "vhcad-control");
	trace_name_thread("control");
	for (;;) {
		int n = poll(c->fd, used_entries(c), unix_listener_wait(&c->clients));

		if (n < 0) {
			if (errno == EINTR)
				continue;
			log_line("control socket: not served any more: %s", strerror(errno));
			return NULL;
		}
		if (c->fd[0].revents)
			return NULL;
		unix_listener_look(&c->clients);
		for (u32 i = 0; i < CTL_CLIENTS; i++)
			if (c->fd[2 + i].fd >= 0 && c->fd[2 + i].revents)
				serve(c, i);
		if (c->fd[1].revents)
			take_client(c);
	}
}

int ctl_start(struct ctl *c, const struct ctl_scope *scope)
{
	int err;

	c->scope = *scope;
	for (u32 i = 0; i < ARRAY_SIZE(c->fd); i++)
		c->fd[i].fd = -1;
	c->fd[0] = (struct pollfd){ .fd = c->stop, .events = POLLIN };
	c->fd[1] = (struct pollfd){ .fd = c->listen, .events = POLLIN };
	c->clients.poll = &c->fd[1];
	err = pthread_create(&c->thread, NULL, ctl_thread, c);
	if (err)
		return -err;
	c->started = true;
	return 0;
}

void ctl_free(struct ctl *c)
{
	if (!c)
		return;
	if (c->started) {
		eventfd_write(c->stop, 1);
		pthread_join(c->thread, NULL);
		for (u32 i = 0; i < CTL_CLIENTS; i++)
			if (c->fd[2 + i].fd >= 0)
				drop(c, i);
	}
	close(c->listen);
	unlink(c->path);
	close(c->stop);
	free(c);
}
