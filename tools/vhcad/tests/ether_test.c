// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The Ethernet segment: receivers of frames, however the stream is split; invalid lengths; clients
 * that do not read; clients that come back.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "capture/capture.h"
#include "ether/ether.h"
#include "ether/stations.h"
#include "tests/cm.h"
#include "tests/tdaemon.h"
#include "tests/tfail.h"
#include "tests/tprog.h"
#include "wire/wire.h"

#define GUESTS	3u
#define HEAD	4u

struct fixture {
	char dir[32], path[64], cap[64];
	struct capture *capture;
	struct ether *e;
	int fd[GUESTS];
};

/* Waits until as many are there. */
static void expect_ports(struct fixture *f, u32 wanted)
{
	struct ether_port port[ETHER_PORTS];
	u32 n;

	do {
		ether_status(f->e, port);
		n = 0;
		for (u32 i = 0; i < ETHER_PORTS; i++)
			n += port[i].attached;
		sched_yield();
	} while (n != wanted);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	strcpy(f->dir, "/tmp/vhcad-test-XXXXXX");
	assert_non_null(mkdtemp(f->dir));
	snprintf(f->path, sizeof(f->path), "%s/ethernet", f->dir);
	snprintf(f->cap, sizeof(f->cap), "%s/capture", f->dir);
	f->capture = capture_open(f->cap);
	assert_non_null(f->capture);
	assert_int_equal(ether_new(f->path, f->capture, &f->e), 0);
	assert_int_equal(ether_start(f->e), 0);
	/* one after the other: they have the ports 0, 1, 2 */
	for (u32 i = 0; i < GUESTS; i++) {
		f->fd[i] = tprog_attach(f->path);
		expect_ports(f, i + 1);
	}
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ether_free(f->e);
	assert_int_equal(access(f->path, F_OK), -1);
	assert_int_equal(capture_close(f->capture), 0);
	for (u32 i = 0; i < GUESTS; i++)
		if (f->fd[i] >= 0)
			close(f->fd[i]);
	unlink(f->cap);
	assert_int_equal(rmdir(f->dir), 0);
	free(f);
	return 0;
}

static const u8 everybody[6] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };

/* Guest n has the address 02:00:00:00:00:n; 255: broadcast. */
static u32 make_frame(u8 *buf, u32 from, u32 to, u32 len)
{
	put_be32(buf, len);
	memset(buf + HEAD, len, len);
	memcpy(buf + HEAD, (u8[6]){ 2, 0, 0, 0, 0, to }, 6);
	if (to == 255)
		memcpy(buf + HEAD, everybody, 6);
	memcpy(buf + HEAD + 6, (u8[6]){ 2, 0, 0, 0, 0, from }, 6);
	return HEAD + len;
}

static void put_all(int fd, const u8 *buf, u32 len)
{
	while (len) {
		ssize_t n = send(fd, buf, len, MSG_NOSIGNAL);

		assert_true(n > 0);
		buf += n;
		len -= n;
	}
}

static void give(struct fixture *f, u32 guest, u32 to, u32 len)
{
	static u8 buf[HEAD + ETHER_MOST];

	put_all(f->fd[guest], buf, make_frame(buf, guest, to, len));
}

static void get_all(int fd, u8 *buf, u32 len)
{
	while (len) {
		ssize_t n = recv(fd, buf, len, 0);

		assert_true(n > 0);
		buf += n;
		len -= n;
	}
}

/* The next thing that comes is this frame. */
static void get(struct fixture *f, u32 guest, u32 from, u32 to, u32 len)
{
	static u8 want[HEAD + ETHER_MOST], got[HEAD + ETHER_MOST];
	u32 all = make_frame(want, from, to, len);

	get_all(f->fd[guest], got, all);
	assert_memory_equal(got, want, all);
}

/* Each guest sends a frame: from then on its port is known. */
static void introduce(struct fixture *f)
{
	for (u32 i = 0; i < GUESTS; i++) {
		give(f, i, 255, 60);
		for (u32 k = 0; k < GUESTS; k++)
			if (k != i)
				get(f, k, i, 255, 60);
	}
}

static void learns(void **state)
{
	struct fixture *f = *state;
	struct ether_port port[ETHER_PORTS];

	/* to a guest that has not sent yet: all others get it */
	give(f, 0, 1, 100);
	get(f, 1, 0, 1, 100);
	get(f, 2, 0, 1, 100);
	introduce(f);
	/* to one that has: only it gets the frame, as the next frame to the third shows */
	give(f, 0, 1, 101);
	get(f, 1, 0, 1, 101);
	give(f, 1, 0, 102);
	get(f, 0, 1, 0, 102);
	give(f, 1, 255, 103);
	get(f, 2, 1, 255, 103);
	get(f, 0, 1, 255, 103);
	/* to itself: no guest gets it */
	give(f, 2, 2, 104);
	give(f, 2, 0, 105);
	get(f, 0, 2, 0, 105);
	ether_status(f->e, port);
	assert_int_equal(port[0].rx_frames, 3);
	assert_int_equal(port[0].rx_bytes, 100 + 60 + 101);
	assert_int_equal(port[0].tx_frames, 5);
	assert_int_equal(port[0].tx_bytes, 60 + 60 + 102 + 103 + 105);
	assert_int_equal(port[0].stations, 1);
	assert_int_equal(port[0].dropped + port[1].dropped + port[2].dropped, 0);
	assert_false(port[3].attached);
}

/*
 * No guest receives frames for another's address, or sends from it, while that guest is connected;
 * when it has disconnected, the address may be used at any port.
 */
static void moves(void **state)
{
	static u8 buf[HEAD + 60];
	struct ether_port port[ETHER_PORTS];
	struct fixture *f = *state;

	introduce(f);
	put_all(f->fd[2], buf, make_frame(buf, 1, 255, 60));
	/* the next frame to each is not that one */
	give(f, 2, 255, 61);
	get(f, 0, 2, 255, 61);
	get(f, 1, 2, 255, 61);
	ether_status(f->e, port);
	assert_int_equal(port[2].bad, 1);
	give(f, 0, 1, 80);
	get(f, 1, 0, 1, 80);
	give(f, 0, 2, 81);
	get(f, 2, 0, 2, 81);
	close(f->fd[1]);
	expect_ports(f, 2);
	put_all(f->fd[2], buf, make_frame(buf, 1, 255, 60));
	get(f, 0, 1, 255, 60);
	give(f, 0, 1, 82);
	get(f, 2, 0, 1, 82);
	f->fd[1] = -1;
}

/*
 * The segment keeps no descriptor that a client sends: since Linux 6.16 the kernel refuses it, and
 * an older one closes descriptors that come with bytes that are read without a place for them.
 */
static void no_descriptors(void **state)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = "";
	static u8 frame[HEAD + 60];
	struct iovec iov = { .iov_base = frame, .iov_len = make_frame(frame, 0, 1, 60) };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&mh);
	struct fixture *f = *state;
	int end[2], sent;

	introduce(f);
	assert_int_equal(pipe(end), 0);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &end[1], sizeof(int));
	sent = sendmsg(f->fd[0], &mh, MSG_NOSIGNAL);
	if (sent < 0) {
		assert_int_equal(errno, EPERM);
		give(f, 0, 1, 60);
	}
	get(f, 1, 0, 1, 60);
	close(end[1]);
	/* nobody else has it open */
	assert_int_equal(read(end[0], frame, 1), 0);
	close(end[0]);
}

/* Frames however the stream is split: one byte at a time, and many at once. */
static void pieces(void **state)
{
	static u8 buf[40 * (HEAD + 200)];
	struct fixture *f = *state;
	u32 len = 0;

	introduce(f);
	len = make_frame(buf, 0, 1, 90);
	for (u32 i = 0; i < len; i++)
		put_all(f->fd[0], buf + i, 1);
	get(f, 1, 0, 1, 90);
	/* an incomplete frame is not forwarded: the frame sent after it comes first */
	len = make_frame(buf, 0, 1, 91);
	put_all(f->fd[0], buf, len - 1);
	give(f, 2, 1, 61);
	get(f, 1, 2, 1, 61);
	put_all(f->fd[0], buf + len - 1, 1);
	get(f, 1, 0, 1, 91);
	len = 0;
	for (u32 i = 0; i < 40; i++)
		len += make_frame(buf + len, 0, 1 + i % 2, 14 + i);
	put_all(f->fd[0], buf, len);
	for (u32 i = 0; i < 40; i++)
		get(f, 1 + i % 2, 0, 1 + i % 2, 14 + i);
	/* the largest, several of them */
	for (u32 i = 0; i < 3; i++) {
		give(f, 0, 2, ETHER_MOST);
		get(f, 2, 0, 2, ETHER_MOST);
	}
}

static void expect_end(int fd)
{
	u8 byte;

	assert_true(recv(fd, &byte, 1, 0) <= 0);
}

/* An impossible length ends the connection, and no other one. */
static void hostile(void **state)
{
	static const u32 lengths[] = { 0, 1, ETHER_LEAST - 1, ETHER_MOST + 1, 0x80000000, ~0u };
	struct ether_port port[ETHER_PORTS];
	struct fixture *f = *state;
	u8 head[HEAD], frame[HEAD + 60];

	introduce(f);
	for (u32 i = 0; i < ARRAY_SIZE(lengths); i++) {
		put_be32(head, lengths[i]);
		put_all(f->fd[2], head, HEAD);
		expect_end(f->fd[2]);
		close(f->fd[2]);
		expect_ports(f, 2);
		give(f, 0, 1, 60);
		get(f, 1, 0, 1, 60);
		f->fd[2] = tprog_attach(f->path);
		expect_ports(f, 3);
	}
	/* no station has a multicast address, so that frames from one are dropped */
	make_frame(frame, 2, 255, 60);
	memcpy(frame + HEAD + 6, everybody, 6);
	put_all(f->fd[2], frame, sizeof(frame));
	give(f, 2, 255, 61);
	get(f, 0, 2, 255, 61);
	get(f, 1, 2, 255, 61);
	ether_status(f->e, port);
	assert_int_equal(port[2].bad, 1);
	/* a frame that never ends disturbs no other guest */
	put_all(f->fd[2], frame, 30);
	give(f, 0, 1, 62);
	get(f, 1, 0, 1, 62);
}

/* A client that does not read loses frames; others get theirs, and it gets whole ones later. */
static void slow_reader(void **state)
{
	struct ether_port port[ETHER_PORTS];
	struct fixture *f = *state;
	u32 sent = 0;

	introduce(f);
	do {
		give(f, 0, 1, 60000);
		give(f, 0, 2, 60);
		get(f, 2, 0, 2, 60);
		ether_status(f->e, port);
		sent++;
	} while (port[1].dropped < 3);
	for (u32 i = 0; i < sent - 3; i++)
		get(f, 1, 0, 1, 60000);
	/* it reads again: nothing is lost any more */
	give(f, 0, 1, 77);
	get(f, 1, 0, 1, 77);
	ether_status(f->e, port);
	assert_int_equal(port[1].dropped, 3);
	assert_int_equal(port[1].tx_frames, 2 + sent - 3 + 1);
}

/* A client that disconnects is forgotten, and another one can have its port. */
static void comes_back(void **state)
{
	struct fixture *f = *state;
	struct ether_port port[ETHER_PORTS];

	introduce(f);
	close(f->fd[1]);
	expect_ports(f, 2);
	/* to all ports: the station may be at another one now */
	give(f, 0, 1, 70);
	get(f, 2, 0, 1, 70);
	f->fd[1] = tprog_attach(f->path);
	expect_ports(f, 3);
	ether_status(f->e, port);
	assert_int_equal(port[1].rx_frames, 0);
	give(f, 1, 0, 71);
	get(f, 0, 1, 0, 71);
	give(f, 0, 1, 72);
	get(f, 1, 0, 1, 72);
	/* as many as there are ports; those behind wait until one goes */
	{
		int more[ETHER_PORTS - GUESTS + 1];
		u8 buf[HEAD + 60];

		for (u32 i = 0; i < ARRAY_SIZE(more); i++) {
			more[i] = tprog_attach(f->path);
			expect_ports(f, MIN(GUESTS + i + 1, ETHER_PORTS));
		}
		close(more[0]);
		make_frame(buf, 9, 0, 60);
		put_all(more[ARRAY_SIZE(more) - 1], buf, sizeof(buf));
		get(f, 0, 9, 0, 60);
		for (u32 i = 1; i < ARRAY_SIZE(more); i++)
			close(more[i]);
	}
	expect_ports(f, 3);
}

/* Every frame is recorded once, as Ethernet. */
static void captured(void **state)
{
	struct fixture *f = *state;
	char out[8192], *args[] = { "vhca-capcheck", f->cap, NULL };
	u8 file[512];
	FILE *cap;

	introduce(f);
	give(f, 0, 1, 333);
	get(f, 1, 0, 1, 333);
	ether_free(f->e);
	f->e = NULL;
	assert_int_equal(capture_close(f->capture), 0);
	f->capture = NULL;
	cap = fopen(f->cap, "r");
	assert_non_null(cap);
	assert_int_equal(fread(file, 1, sizeof(file), cap), sizeof(file));
	fclose(cap);
	/* section header, then an interface of this link type */
	assert_int_equal(file[28], 1);
	assert_int_equal(file[36] | file[37] << 8, 1);
	/* vhca-capcheck reads them, and has nothing to check */
	assert_int_equal(tprog_run(tprog_path("VHCA_CAPCHECK"), args, 0, out, sizeof(out)), 2);
	if (!strstr(out, "0 InfiniBand, 0 RoCEv2, 4 other, 0 cut short"))
		fail_msg("%s", out);
}

/* Failures are reported, and leave nothing behind. */
static void no_memory(void **state)
{
	struct fixture *f = *state;
	struct ether *e = NULL;
	char path[80];
	int err;
	u32 n;

	snprintf(path, sizeof(path), "%s/second", f->dir);
	tfail_each_alloc(n, err = ether_new(path, NULL, &e), assert_int_equal(err, -ENOMEM));
	assert_int_equal(err, 0);
	assert_int_equal(n, 1);
	tfail_set(TFAIL_THREAD, 1, EAGAIN);
	assert_int_equal(ether_start(e), -EAGAIN);
	assert_true(tfail_hit(TFAIL_THREAD));
	ether_free(e);
	/* a connection that there is no memory for is ended, the next one is not */
	for (n = 1; n <= 2; n++) {
		int fd;

		tfail_set(TFAIL_ALLOC, n, 0);
		fd = tprog_attach(f->path);
		expect_end(fd);
		assert_true(tfail_hit(TFAIL_ALLOC));
		close(fd);
	}
	n = tprog_attach(f->path);
	expect_ports(f, 4);
	close(n);
	assert_int_equal(ether_new(f->path, NULL, &e), -EADDRINUSE);
}

/* The table of stations is always right, and cannot be filled by a guest. */
static void stations(void **state)
{
	struct stations *s = calloc(1, sizeof(*s));
	u32 known = 0;

	stations_init(s);
	for (u32 i = 0; i < 30000; i++)
		assert_true(stations_learn(s, (u8[6]){ 2, i >> 16, i >> 8, i, 0, 0 }, i % 7));
	for (u32 i = 0; i < 30000; i++) {
		u8 mac[6] = { 2, i >> 16, i >> 8, i, 0, 0 };
		u32 port = stations_find(s, mac);

		assert_true(port == NOWHERE_KNOWN || port == i % 7);
		if (port == NOWHERE_KNOWN)
			continue;
		known++;
		assert_false(stations_learn(s, mac, 7));
		assert_int_equal(stations_find(s, mac), port);
	}
	assert_int_equal(known, 7 * STATIONS_OF_PORT);
	/* there is room for the first one of any other port */
	for (u32 port = 7; port < ETHER_PORTS; port++) {
		u8 mac[6] = { 6, port };

		assert_true(stations_learn(s, mac, port));
		assert_int_equal(stations_find(s, mac), port);
	}
	known = stations_at(s, 3);
	assert_int_equal(known, STATIONS_OF_PORT);
	stations_forget(s, 3);
	assert_int_equal(stations_at(s, 3), 0);
	assert_true(stations_at(s, 4) > 0);
	free(s);
}

/* The daemon has it, and vhcactl shows it. */
static void by_vhcactl(void **state)
{
	struct tdaemon *r = *state;
	struct fixture f;
	u8 buf[HEAD + 99];

	td_start(r, NULL, NULL);
	td_ctl(r, &(struct twords){ 1, "there is no Ethernet segment, see vhcad --ethernet",
				    { "ethernet" } });
	td_stop(r);
	td_start(r, "--ethernet", r->file);
	for (u32 i = 0; i < 2; i++)
		f.fd[i] = tprog_attach(r->file);
	/* in either order: both are known when the second frame has been forwarded */
	for (u32 i = 0; i < 2; i++) {
		put_all(f.fd[i], buf, make_frame(buf, i, 1 - i, 99));
		if (i)
			get(&f, 0, 1, 0, 99);
	}
	td_ctl(r, &(struct twords){ 0, "rx 1 frames 99 bytes", { "ethernet" } });
	td_ctl(r, &(struct twords){ 0, "\"stations\":1,\"rx_frames\":1,\"rx_bytes\":99,",
				    { "--json", "ethernet" } });
	for (u32 i = 0; i < 2; i++)
		close(f.fd[i]);
	td_stop(r);
	assert_int_equal(access(r->file, F_OK), -1);
}

#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(learns),
		TEST(moves), TEST(no_descriptors),
		TEST(pieces),
		TEST(hostile),
		TEST(slow_reader),
		TEST(comes_back),
		TEST(captured),
		TEST(no_memory),
		cmocka_unit_test(stations),
		cmocka_unit_test_setup_teardown(by_vhcactl, td_setup, td_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
