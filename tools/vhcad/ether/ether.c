// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The segment's thread: it accepts connections, takes frames from their streams and forwards them.
 * It sleeps in poll() until a client sends, or can take frames that wait for it.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "capture/capture.h"
#include "ether/ether.h"
#include "ether/stations.h"
#include "lib/log.h"
#include "lib/listen.h"
#include "wire/wire.h"

#define HEAD	4u		/* bytes of a frame's length */

#ifndef SO_PASSRIGHTS
#define SO_PASSRIGHTS	83	/* of Linux 6.16 */
#endif

struct port {
	u8 *in, *out;			/* HEAD + ETHER_MOST, ETHER_QUEUE */
	u32 in_len, out_len;
	bool broken;			/* writing to it has failed */
	struct ether_port count;
};

struct ether {
	const char *path;
	struct capture *capture;
	int cap_port;
	int listen;
	int wake;			/* eventfd: @stopping is set, or @given has frames */
	bool stopping;			/* atomic */
	struct unix_listener guests;
	pthread_t thread;
	bool started;
	pthread_mutex_t lock;		/* protects ports and stations */
	struct pollfd fd[2 + ETHER_PORTS];	/* wake, listen, ports */
	struct port port[ETHER_PORTS];
	struct stations stations;
	bool (*tap)(void *arg, const u8 *frame, u32 len);
	void *tap_arg;
	pthread_mutex_t given_lock;	/* protects given and given_len */
	u8 *given, *taken;		/* frames of ether_send(); ETHER_GIVEN bytes each */
	u32 given_len;
};

int ether_new(const char *path, struct capture *c, struct ether **out)
{
	struct ether *e = calloc(1, sizeof(*e));
	int err;

	if (!e)
		return -ENOMEM;
	e->path = path;
	e->capture = c;
	for (u32 i = 0; i < ARRAY_SIZE(e->fd); i++)
		e->fd[i].fd = -1;
	pthread_mutex_init(&e->lock, NULL);
	pthread_mutex_init(&e->given_lock, NULL);
	stations_init(&e->stations);
	e->wake = eventfd(0, EFD_CLOEXEC);
	if (e->wake < 0) {
		err = -errno;
		goto err_free;
	}
	e->listen = unix_listen(path);
	if (e->listen < 0) {
		err = e->listen;
		goto err_wake;
	}
	/*
	 * No descriptors are accepted: closing one may take as long as its sender likes, and would
	 * hold up the thread that serves all ports.  Kernels before 6.16 cannot refuse them.
	 */
	setsockopt(e->listen, SOL_SOCKET, SO_PASSRIGHTS, &(int){ 0 }, sizeof(int));
	e->cap_port = c ? capture_add_ether(c, "ethernet") : -1;
	*out = e;
	return 0;

err_wake:
	close(e->wake);
err_free:
	pthread_mutex_destroy(&e->given_lock);
	pthread_mutex_destroy(&e->lock);
	free(e);
	return err;
}

/* ------------------------------------------------------------------------
 * Frames
 */

/* Writes as much as the socket takes without blocking; the rest stays queued. */
static void push_out(struct ether *e, u32 n)
{
	struct port *p = &e->port[n];
	ssize_t sent = 0;

	if (p->out_len)
		sent = send(e->fd[2 + n].fd, p->out, p->out_len, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent < 0) {
		p->broken = errno != EAGAIN && errno != EINTR;
		sent = 0;
	}
	p->out_len -= sent;
	memmove(p->out, p->out + sent, p->out_len);
	e->fd[2 + n].events = p->out_len ? POLLIN | POLLOUT : POLLIN;
}

static void send_to(struct ether *e, u32 n, const u8 *frame, u32 len)
{
	struct port *p = &e->port[n];
	bool idle = !p->out_len;

	if (p->broken || p->out_len + HEAD + len > ETHER_QUEUE) {
		p->count.dropped++;
		return;
	}
	put_be32(p->out + p->out_len, len);
	memcpy(p->out + p->out_len + HEAD, frame, len);
	p->out_len += HEAD + len;
	p->count.tx_frames++;
	p->count.tx_bytes += len;
	if (idle)
		push_out(e, n);
}

static void record(struct ether *e, const u8 *frame, u32 len)
{
	struct timespec ts;

	if (e->cap_port < 0)
		return;
	clock_gettime(CLOCK_REALTIME, &ts);
	capture_ether_frame(e->capture, e->cap_port, ts.tv_sec * 1000000000ull + ts.tv_nsec, frame,
			    len);
}

/*
 * Sends a frame to the port of its destination, or to all if that is unknown or a group, but never
 * back to @from, which may be NOWHERE_KNOWN.
 */
static void spread(struct ether *e, u32 from, const u8 *frame, u32 len)
{
	u32 n = mac_is_group(frame) ? NOWHERE_KNOWN : stations_find(&e->stations, frame);

	if (n != NOWHERE_KNOWN) {
		if (n != from)
			send_to(e, n, frame, len);
		return;
	}
	for (n = 0; n < ETHER_PORTS; n++)
		if (n != from && e->fd[2 + n].fd >= 0)
			send_to(e, n, frame, len);
}

static void forward(struct ether *e, u32 from, const u8 *frame, u32 len)
{
	struct port *p = &e->port[from];
	const u8 *by = frame + MAC_LEN;

	p->count.rx_frames++;
	p->count.rx_bytes += len;
	if (mac_is_group(by) || !stations_learn(&e->stations, by, from)) {
		p->count.bad++;
		return;
	}
	record(e, frame, len);
	if (!e->tap || !e->tap(e->tap_arg, frame, len))
		spread(e, from, frame, len);
}

/* Forwards all complete frames.  Returns false if a length is invalid. */
static bool take_frames(struct ether *e, u32 n)
{
	struct port *p = &e->port[n];
	u32 at = 0, len;

	while (p->in_len - at >= HEAD) {
		len = get_be32(p->in + at);
		if (len < ETHER_LEAST || len > ETHER_MOST) {
			log_line("ethernet: disconnecting port %u: a frame of %u bytes", n, len);
			return false;
		}
		if (p->in_len - at < HEAD + len)
			break;
		forward(e, n, p->in + at + HEAD, len);
		at += HEAD + len;
	}
	p->in_len -= at;
	memmove(p->in, p->in + at, p->in_len);
	return true;
}

/* ------------------------------------------------------------------------
 * Frames that do not come from clients, and the tap
 */
void ether_set_tap(struct ether *e, bool (*tap)(void *arg, const u8 *frame, u32 len), void *arg)
{
	e->tap = tap;
	e->tap_arg = arg;
}

static bool give(struct ether *e, const u8 *frame, u32 len)
{
	if (!e->given)
		e->given = malloc(ETHER_GIVEN);
	if (!e->given || e->given_len + HEAD + len > ETHER_GIVEN)
		return false;
	put_be32(e->given + e->given_len, len);
	memcpy(e->given + e->given_len + HEAD, frame, len);
	e->given_len += HEAD + len;
	return true;
}

bool ether_send(struct ether *e, const u8 *frame, u32 len)
{
	bool first, given;

	pthread_mutex_lock(&e->given_lock);
	first = !e->given_len;
	given = give(e, frame, len);
	pthread_mutex_unlock(&e->given_lock);
	/* one wake-up is enough, as the thread takes all frames */
	if (given && first)
		eventfd_write(e->wake, 1);
	return given;
}

/* Sends the frames of ether_send(), which may add more meanwhile. */
static void take_given(struct ether *e)
{
	u8 *frames;
	u32 n;

	pthread_mutex_lock(&e->given_lock);
	frames = e->given;
	n = e->given_len;
	e->given = e->taken;
	e->given_len = 0;
	pthread_mutex_unlock(&e->given_lock);
	e->taken = frames;
	for (u32 at = 0, len; at < n; at += HEAD + len) {
		const u8 *frame = frames + at + HEAD;

		len = get_be32(frames + at);
		spread(e, stations_find(&e->stations, frame + MAC_LEN), frame, len);
	}
}

/* ------------------------------------------------------------------------
 * Connections
 */
static void drop(struct ether *e, u32 n)
{
	struct port *p = &e->port[n];

	close(e->fd[2 + n].fd);
	e->fd[2 + n].fd = -1;
	free(p->in);
	free(p->out);
	*p = (struct port){ 0 };
	stations_forget(&e->stations, n);
	/* connections may be waiting that found no free port */
	unix_listener_go_on(&e->guests);
	log_line("ethernet: port %u is free", n);
}

static void take_connection(struct ether *e)
{
	struct port *p;
	u32 n = 0;
	int fd;

	while (n < ETHER_PORTS && e->fd[2 + n].fd >= 0)
		n++;
	if (n == ETHER_PORTS) {
		unix_listener_pause(&e->guests);
		return;
	}
	fd = unix_accept(&e->guests, "ethernet");
	if (fd < 0)
		return;
	p = &e->port[n];
	p->in = malloc(HEAD + ETHER_MOST);
	p->out = malloc(ETHER_QUEUE);
	e->fd[2 + n] = (struct pollfd){ .fd = fd, .events = POLLIN };
	if (!p->in || !p->out) {
		log_line("ethernet: no memory for port %u", n);
		drop(e, n);
		return;
	}
	p->count.attached = true;
	log_line("ethernet: port %u is taken", n);
}

static void serve(struct ether *e, u32 n)
{
	struct port *p = &e->port[n];
	struct pollfd *fd = &e->fd[2 + n];
	ssize_t got;

	if (fd->revents & POLLOUT)
		push_out(e, n);
	if (!p->broken && !(fd->revents & ~POLLOUT))
		return;
	got = recv(fd->fd, p->in + p->in_len, HEAD + ETHER_MOST - p->in_len, MSG_DONTWAIT);
	if (got < 0 && (errno == EAGAIN || errno == EINTR) && !p->broken)
		return;
	if (got <= 0) {
		drop(e, n);
		return;
	}
	p->in_len += got;
	if (!take_frames(e, n))
		drop(e, n);
}

static void serve_all(struct ether *e)
{
	pthread_mutex_lock(&e->lock);
	if (e->fd[0].revents)
		take_given(e);
	for (u32 n = 0; n < ETHER_PORTS; n++)
		if (e->fd[2 + n].fd >= 0 && e->fd[2 + n].revents)
			serve(e, n);
	/* writing frames of other ports to these has failed */
	for (u32 n = 0; n < ETHER_PORTS; n++)
		if (e->fd[2 + n].fd >= 0 && e->port[n].broken)
			drop(e, n);
	if (e->fd[1].revents)
		take_connection(e);
	pthread_mutex_unlock(&e->lock);
}

/* Returns how many entries poll() needs: it refuses more than RLIMIT_NOFILE. */
static u32 used_entries(const struct ether *e)
{
	u32 n = ARRAY_SIZE(e->fd);

	while (e->fd[n - 1].fd < 0)
		n--;
	return n;
}

static void *ether_thread(void *arg)
{
	struct ether *e = arg;
	eventfd_t given;

	pthread_setname_np(pthread_self(), "vhcad-ethernet");
	for (;;) {
		if (e->capture)
			capture_flush(e->capture);
		int n = poll(e->fd, used_entries(e), unix_listener_wait(&e->guests));

		if (n < 0) {
			if (errno == EINTR)
				continue;
			log_line("ethernet: not served any more: %s", strerror(errno));
			return NULL;
		}
		if (__atomic_load_n(&e->stopping, __ATOMIC_ACQUIRE))
			return NULL;
		if (e->fd[0].revents)
			eventfd_read(e->wake, &given);
		unix_listener_look(&e->guests);
		serve_all(e);
	}
}

int ether_start(struct ether *e)
{
	int err;

	e->fd[0] = (struct pollfd){ .fd = e->wake, .events = POLLIN };
	e->fd[1] = (struct pollfd){ .fd = e->listen, .events = POLLIN };
	e->guests.poll = &e->fd[1];
	err = pthread_create(&e->thread, NULL, ether_thread, e);
	e->started = !err;
	return -err;
}

void ether_free(struct ether *e)
{
	if (!e)
		return;
	if (e->started) {
		__atomic_store_n(&e->stopping, true, __ATOMIC_RELEASE);
		eventfd_write(e->wake, 1);
		pthread_join(e->thread, NULL);
	}
	for (u32 n = 0; n < ETHER_PORTS; n++)
		if (e->fd[2 + n].fd >= 0)
			drop(e, n);
	close(e->listen);
	unlink(e->path);
	close(e->wake);
	free(e->given);
	free(e->taken);
	pthread_mutex_destroy(&e->given_lock);
	pthread_mutex_destroy(&e->lock);
	free(e);
}

void ether_status(struct ether *e, struct ether_port port[ETHER_PORTS])
{
	pthread_mutex_lock(&e->lock);
	for (u32 n = 0; n < ETHER_PORTS; n++) {
		port[n] = e->port[n].count;
		port[n].stations = port[n].attached ? stations_at(&e->stations, n) : 0;
	}
	pthread_mutex_unlock(&e->lock);
}
