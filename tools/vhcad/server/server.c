// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The socket of a device, and the thread that serves it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/listen.h"
#include "server/session.h"
#include "trace/trace.h"

/*
 * The thread is not waited for any longer when HELD_LOOKS checks in a row find it in the same
 * system call on a descriptor of its client.
 */
#define HELD_LOOKS	20u
#define HELD_LOOK_NS	100000000

struct server {
	struct vu_function fn;
	int listen;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;	/* protects conn and stopping */
	int conn;		/* the client's socket, or -1 */
	bool stopping;
};

static void identify(const struct server_config *cfg, struct pci_ident *id)
{
	*id = (struct pci_ident) {
		.vendor = cfg->vendor,
		.device = cfg->device,
		.revision = cfg->revision,
		.class = cfg->class,
		.irq = cfg->irq,
		.vectors = cfg->vectors,
		.bar_size = {
			[SERVER_BAR_REGS] = SERVER_REGS_SIZE,
			[SERVER_BAR_KICK] = (u64)cfg->kick_pages * SERVER_KICK_STRIDE,
			[MSIX_BAR] = cfg->irq == PCI_IRQ_MSIX ? MSIX_BAR_SIZE : 0,
		},
		.bar_64bit = 1u << SERVER_BAR_KICK,
		.speed = cfg->speed ? cfg->speed : PCI_SPEED_MAX,
		.lanes = cfg->lanes ? cfg->lanes : PCI_LANES_MAX,
	};
}

int server_new(const struct server_config *cfg, struct server **out)
{
	struct pci_ident id;
	struct server *s;
	int err = -ENOMEM;

	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->fn.cfg = *cfg;
	s->conn = -1;
	pthread_mutex_init(&s->lock, NULL);
	identify(cfg, &id);
	pci_config_init(&s->fn.pci, &id);
	s->fn.mem = gmem_new();
	if (!s->fn.mem)
		goto err_free;
	gmem_set_master(s->fn.mem, false);
	err = vu_irqs_init(&s->fn.irqs, cfg->vectors);
	if (err)
		goto err_mem;
	s->listen = unix_listen(cfg->path);
	if (s->listen < 0) {
		err = s->listen;
		goto err_irqs;
	}
	*out = s;
	return 0;

err_irqs:
	vu_irqs_destroy(&s->fn.irqs);
err_mem:
	gmem_free(s->fn.mem);
err_free:
	pthread_mutex_destroy(&s->lock);
	free(s);
	return err;
}

struct guest_mem *server_mem(struct server *s)
{
	return s->fn.mem;
}

void server_irq(struct server *s, u32 vector)
{
	vu_irqs_raise(&s->fn.irqs, vector);
}

bool server_connected(struct server *s)
{
	bool on;

	pthread_mutex_lock(&s->lock);
	on = s->conn >= 0;
	pthread_mutex_unlock(&s->lock);
	return on;
}

/* Lets server_stop() shut @sock down; false if it has been called already. */
static bool set_conn(struct server *s, int sock)
{
	bool go;

	pthread_mutex_lock(&s->lock);
	go = !s->stopping;
	s->conn = sock;
	pthread_mutex_unlock(&s->lock);
	return go;
}

static bool is_stopping(struct server *s)
{
	bool stopping;

	pthread_mutex_lock(&s->lock);
	stopping = s->stopping;
	pthread_mutex_unlock(&s->lock);
	return stopping;
}

/* Tools of the host find the thread by its adapter's name, or the beginning of that. */
static void name_thread(const char *name)
{
	char comm[16];

	snprintf(comm, sizeof(comm), "%.15s", name);
	pthread_setname_np(pthread_self(), comm);
}

static void *server_thread(void *arg)
{
	struct server *s = arg;
	bool said = false;

	name_thread(s->fn.cfg.name);
	trace_name_thread(s->fn.cfg.name);
	for (;;) {
		int sock = accept4(s->listen, NULL, NULL, SOCK_CLOEXEC);

		if (sock < 0) {
			int err = errno;

			if (is_stopping(s))
				return NULL;
			/* the client went away before it was accepted */
			if (err == EINTR || err == ECONNABORTED)
				continue;
			/* descriptors or memory are short for now: the guest waits */
			if (!said)
				log_line("%s: cannot accept guests for now: %s", s->fn.cfg.name,
					 strerror(err));
			said = true;
			poll(NULL, 0, UNIX_ACCEPT_AGAIN);
			continue;
		}
		said = false;
		if (set_conn(s, sock))
			vu_session(&s->fn, sock);
		set_conn(s, -1);
		/* closing the socket also closes descriptors in its queue */
		vu_foreign(&s->fn);
		close(sock);
		vu_foreign(&s->fn);
	}
}

int server_start(struct server *s, const struct server_device_ops *ops, void *dev)
{
	int err;

	s->fn.ops = ops;
	s->fn.dev = dev;
	err = pthread_create(&s->thread, NULL, server_thread, s);
	if (err)
		return -err;
	s->started = true;
	return 0;
}

/* Waits for the thread.  Returns false if a descriptor that its client sent holds it up. */
static bool join(struct server *s)
{
	u32 looks = 0, before = 0;

	while (looks < HELD_LOOKS) {
		struct timespec until;
		u32 now;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += HELD_LOOK_NS;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		if (!pthread_clockjoin_np(s->thread, NULL, CLOCK_MONOTONIC, &until))
			return true;
		now = __atomic_load_n(&s->fn.foreign, __ATOMIC_SEQ_CST);
		looks = now % 2 && now == before ? looks + 1 : 0;
		before = now;
	}
	return false;
}

bool server_stop(struct server *s)
{
	bool held = false;

	if (s->started) {
		pthread_mutex_lock(&s->lock);
		s->stopping = true;
		/* both calls end the system call in which the thread may sleep */
		shutdown(s->listen, SHUT_RDWR);
		if (s->conn >= 0)
			shutdown(s->conn, SHUT_RDWR);
		pthread_mutex_unlock(&s->lock);
		held = !join(s);
		s->started = held;
	}
	if (held)
		log_line("%s: not waiting for the guest's end: a descriptor of its holds it up",
			 s->fn.cfg.name);
	if (s->listen >= 0) {
		unlink(s->fn.cfg.path);
		if (!held) {
			close(s->listen);
			s->listen = -1;
		}
	}
	return !held;
}

void server_free(struct server *s)
{
	/* the thread may come back and use it, so it is kept until the process ends */
	if (!s || !server_stop(s))
		return;
	vu_irqs_destroy(&s->fn.irqs);
	gmem_free(s->fn.mem);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
