// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fuzzes the Ethernet segment: clients that come, go, and send streams of frames in any pieces, and
 * what comes through it to the ports of two adapters, whose frames go out there.  The calls of its
 * thread are replaced, which runs here until the input is used up.
 *
 * Input: rounds of poll(), each with what happens and at which client, and what the calls return.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ether/ether.h"
#include "fabric/eth.h"
#include "fuzz/input.h"
#include "lib/log.h"
#include "tests/teth.h"

#define LISTENER	1u	/* in the segment's list of descriptors; clients follow */
#define CLIENTS		6u	/* that send */
#define REGION		4096u

int __real_poll(struct pollfd *fd, nfds_t n, int timeout);
int __wrap_poll(struct pollfd *fd, nfds_t n, int timeout);
int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags);
ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg);
int __wrap_pthread_join(pthread_t thread, void **result);

static struct {
	struct input in;
	struct ether *ether;
	struct tpair p;
	struct tmr mr[2];
	bool up;
} f;

/* The segment's own thread runs inside this call, which returns when it has ended. */
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *),
			  void *arg)
{
	fn(arg);
	return 0;
}

int __wrap_pthread_join(pthread_t thread, void **result)
{
	return 0;
}

/* An adapter sends a datagram out of its port, and both take what has come. */
static void adapters(u8 what)
{
	struct twr wr = t_wr(VHCA_OP_SEND, what, &f.mr[what & 1], 0, what, &f.mr[0], 0);

	wr.ud = t_ud_to(&f.p.qp[!(what & 1)], 7);
	wr.ud.av = t_eth_av(!(what & 1), (what >> 1) % T_ETH_GIDS);
	if (what & 8)
		wr.ud.av.dmac[5] ^= 0x40;
	if (what & 16) {
		t_post(&f.p.qp[what & 1], &wr);
		t_ring_sq(&f.p.qp[what & 1]);
	}
	t_poll(&f.p.w);
}

int __wrap_poll(struct pollfd *fd, nfds_t n, int timeout)
{
	u8 what = in_8(&f.in), who = in_8(&f.in) % CLIENTS;
	struct ether_port port[ETHER_PORTS];

	assert_true(n > LISTENER && n <= 2 + ETHER_PORTS);
	for (nfds_t i = 0; i < n; i++)
		fd[i].revents = 0;
	if (f.up && what & 1)
		adapters(in_8(&f.in));
	ether_status(f.ether, port);
	if (!in_more(&f.in) || what == 255) {
		/* the thread ends when it cannot wait any more, and not when a signal woke it */
		errno = what & 2 ? EINTR : EBADF;
		return -1;
	}
	if (what & 4)
		fd[LISTENER].revents = fd[LISTENER].events & POLLIN;
	/* the eventfd is read, which would block if the thread was not woken */
	if (what & 8)
		__real_poll(fd, 1, 0);
	for (nfds_t i = LISTENER + 1; i < n; i++)
		if (fd[i].fd >= 0 && (i - LISTENER - 1 == who || what & 16))
			fd[i].revents = fd[i].events & (what & 32 ? POLLOUT : POLLIN | POLLOUT);
	return 1;
}

int __wrap_accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags)
{
	static const int errors[] = { 0, 0, 0, 0, 0, EAGAIN, ENFILE, ECONNABORTED };

	errno = errors[in_8(&f.in) % ARRAY_SIZE(errors)];
	return errno ? -1 : open("/dev/null", O_RDWR | O_CLOEXEC);
}

/* A frame of some length, between addresses that are in use. */
static size_t frame(u8 *to, size_t room, u8 what)
{
	u8 buf[256] = { 0 };
	u32 len = what & 64 ? in_8(&f.in) : 60, n = 4 + 12;

	put_be32(buf, what == 127 ? in_32(&f.in) : len);
	memcpy(buf + 4, t_eth_mac[what & 1], 6);
	if (what & 2)
		memset(buf + 4, 0xff, 6);
	if (what & 4)
		buf[4 + 5] = what;
	buf[4 + 6] = 2;
	buf[4 + 11] = what >> 3 & 3;
	in_spoil(&f.in, buf, n);
	if (what & 32)
		in_bytes(&f.in, buf + n, 48);
	n = MIN(4 + len, (u32)sizeof(buf));
	n = MIN(room, (size_t)n);
	memcpy(to, buf, n);
	return n;
}

/* A RoCEv2 frame that an adapter accepts. */
static size_t roce(u8 *to, size_t room, u8 what)
{
	u32 i = what >> 1 & 1, by = what & 1, n;
	struct wire_hdr h = {
		.eth = true, .grh = true, .pkey = 0xffff, .opcode = OP_UD_SEND_ONLY,
		.hop_limit = 64, .vlan = WIRE_NO_TAG, .sport = 0xc001, .dqpn = f.p.qp[!by].qpn,
		.sqpn = 9, .qkey = 7,
	};
	u8 buf[512];

	memcpy(h.sgid, t_eth_gid[by][i], 16);
	memcpy(h.dgid, t_eth_gid[!by][i], 16);
	memcpy(h.dmac, t_eth_mac[!by], 6);
	h.smac[0] = 2;
	h.smac[5] = 9;
	if (what & 4) {
		memset(h.dgid, 0, 16);
		memset(h.dgid + 10, 0xff, 2);
		h.dgid[12] = 239;
		roce_mcast_mac(h.dgid, h.dmac);
	}
	h.ipv4 = gid_is_ipv4(h.sgid) && gid_is_ipv4(h.dgid);
	n = wire_put(&h, 64, buf + 4);
	memset(buf + 4 + n, 0, 64);
	n = wire_seal_roce(buf + 4, n, 64);
	put_be32(buf, n);
	if (what & 8)
		in_spoil(&f.in, buf + 4, n);
	n = MIN(room, (size_t)n + 4);
	memcpy(to, buf, n);
	return n;
}

ssize_t __wrap_recv(int fd, void *buf, size_t len, int flags)
{
	static const int errors[] = { EAGAIN, EINTR, ECONNRESET };
	u8 how = in_8(&f.in), what = in_8(&f.in);
	size_t n = 0;

	assert_true(len && len <= 4 + ETHER_MOST);
	if (how < 3) {
		errno = errors[how];
		return -1;
	}
	if (how == 3)
		return 0;
	for (u32 i = how % 4; i <= 3 && n < len; i++)
		n += how & 4 && f.up ? roce((u8 *)buf + n, len - n, what) :
				       frame((u8 *)buf + n, len - n, what);
	/* the rest of a frame that is cut off comes, or something else does */
	if (how & 128)
		n = MAX(n / 2, (size_t)1);
	return n;
}

ssize_t __wrap_send(int fd, const void *buf, size_t len, int flags)
{
	u8 how = in_8(&f.in);

	assert_true(len);
	if (how >= 250) {
		errno = how == 250 ? EPIPE : EAGAIN;
		return -1;
	}
	return how & 1 ? 1 + how % len : len;
}

static void setup(u8 what)
{
	t_eth_pair(&f.p, what & 2);
	f.up = what & 1;
	if (f.up)
		assert_int_equal(fabric_set_ether(f.p.w.fabric, f.ether), 0);
	for (u32 i = 0; i < 2; i++)
		t_mr_init(&f.p.h[i], &f.mr[i], 0, REGION, VHCA_ACCESS_LOCAL_WRITE, 1, 12);
	t_eth_ud_up(&f.p, 7);
	for (u32 i = 0; i < 2; i++) {
		struct vhca_sge s = t_sge(&f.mr[i], 0, 1024);

		for (u32 k = 0; k < 4; k++)
			t_recv(&f.p.qp[i], k, 1, &s);
	}
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t len)
{
	static bool quiet;
	char path[48];

	if (!quiet)
		quiet = !log_open("/dev/null");
	f.in = (struct input){ data, data + len };
	snprintf(path, sizeof(path), "/tmp/vhcad-segment-%d", getpid());
	assert_int_equal(ether_new(path, NULL, &f.ether), 0);
	setup(in_8(&f.in));
	assert_int_equal(ether_start(f.ether), 0);
	t_poll(&f.p.w);
	t_pair_fini(&f.p);
	ether_free(f.ether);
	return 0;
}
