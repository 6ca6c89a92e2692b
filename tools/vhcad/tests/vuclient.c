// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/vuclient.h"

static u32 dev_reg_read(void *dev, u32 off)
{
	struct vuc *v = dev;

	return off ? v->reg[off / 4] : VUC_MAGIC;
}

static void dev_reg_write(void *dev, u32 off, u32 val)
{
	struct vuc *v = dev;

	v->reg[off / 4] = val;
}

static void count(struct vuc *v, u32 *counter)
{
	pthread_mutex_lock(&v->lock);
	++*counter;
	pthread_cond_broadcast(&v->changed);
	pthread_mutex_unlock(&v->lock);
}

static void dev_kick(void *dev, u32 page, u32 val)
{
	struct vuc *v = dev;

	v->kick_page = page;
	count(v, &v->kicks);
}

static void dev_reset(void *dev)
{
	struct vuc *v = dev;

	memset(v->reg, 0, sizeof(v->reg));
	count(v, &v->resets);
}

static const struct server_device_ops dev_ops = {
	.reg_read = dev_reg_read,
	.reg_write = dev_reg_write,
	.kick = dev_kick,
	.reset = dev_reset,
};

static void wait_for(struct vuc *v, const u32 *counter, u32 n)
{
	pthread_mutex_lock(&v->lock);
	while (*counter < n)
		pthread_cond_wait(&v->changed, &v->lock);
	pthread_mutex_unlock(&v->lock);
}

u64 vuc_drained(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	u64 n = 0;

	if (poll(&p, 1, 0) == 1)
		assert_int_equal(read(fd, &n, 8), 8);
	return n;
}

void vuc_wait_kicks(struct vuc *v, u32 n)
{
	wait_for(v, &v->kicks, n);
}

void vuc_wait_resets(struct vuc *v, u32 n)
{
	wait_for(v, &v->resets, n);
}

static int setup(void **state, enum pci_irq_mode irq, bool allow_unsealed)
{
	struct vuc *v = calloc(1, sizeof(*v));
	struct server_config cfg = {
		.name = "test",
		.path = v->path,
		.vendor = 0x1af4,
		.device = 0x10f0,
		.revision = 1,
		.class = 0x020700,
		.irq = irq,
		.vectors = irq == PCI_IRQ_MSI ? 1 : VUC_VECTORS,
		.kick_pages = VUC_KICK_PAGES,
		.allow_unsealed = allow_unsealed,
	};

	tprog_dir(v->dir);
	tprog_in(v->dir, "hca", v->path);
	pthread_mutex_init(&v->lock, NULL);
	pthread_cond_init(&v->changed, NULL);
	assert_int_equal(server_new(&cfg, &v->server), 0);
	assert_int_equal(server_start(v->server, &dev_ops, v), 0);
	v->sock = vuc_connect(v);
	vuc_greet(v->sock);
	*state = v;
	return 0;
}

int vuc_setup(void **state)
{
	return setup(state, PCI_IRQ_MSIX, false);
}

int vuc_setup_unsealed(void **state)
{
	return setup(state, PCI_IRQ_MSIX, true);
}

int vuc_setup_msi(void **state)
{
	return setup(state, PCI_IRQ_MSI, false);
}

int vuc_teardown(void **state)
{
	struct vuc *v = *state;

	if (v->sock >= 0)
		close(v->sock);
	server_stop(v->server);
	assert_int_equal(access(v->path, F_OK), -1);
	server_free(v->server);
	tprog_dir_end(v->dir, NULL);
	free(v);
	return 0;
}

int vuc_connect(struct vuc *v)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int sock;

	strcpy(sa.sun_path, v->path);
	sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(sock >= 0);
	assert_int_equal(connect(sock, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return sock;
}

void vuc_greet(int sock)
{
	static const char body[] = "\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8}}";
	u32 got;

	assert_int_equal(vuc_call(sock, VU_VERSION, body, sizeof(body), NULL, 0, NULL, 0, &got), 0);
}

void vuc_send_raw(int sock, u16 command, u32 size, u32 flags, const void *body, u32 len,
		  const int *fds, u32 nfds)
{
	struct vu_header hdr = { .id = 7, .command = command, .size = size, .flags = flags };
	struct iovec iov[2] = {
		{ .iov_base = &hdr, .iov_len = sizeof(hdr) },
		{ .iov_base = (void *)body, .iov_len = len },
	};
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2 };
	char control[CMSG_SPACE(64 * sizeof(int))] __attribute__((aligned(8)));

	if (nfds) {
		struct cmsghdr *c;

		mh.msg_control = control;
		mh.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(c), fds, nfds * sizeof(int));
	}
	assert_int_equal(sendmsg(sock, &mh, MSG_NOSIGNAL), sizeof(hdr) + len);
}

static bool read_all(int sock, void *buf, u32 len)
{
	ssize_t n = len ? recv(sock, buf, len, MSG_WAITALL) : 0;

	return n == len;
}

int vuc_receive(int sock, struct vu_header *hdr, void *body, u32 room)
{
	u8 scrap[VU_MAX_BODY];
	u32 len;

	if (!read_all(sock, hdr, sizeof(*hdr)))
		return -1;
	len = hdr->size - sizeof(*hdr);
	assert_true(len <= sizeof(scrap));
	assert_true(read_all(sock, scrap, len));
	memcpy(body, scrap, MIN(len, room));
	return len;
}

u32 vuc_call(int sock, u16 command, const void *body, u32 len, const int *fds, u32 nfds,
	     void *answer, u32 room, u32 *got)
{
	struct vu_header hdr;
	u8 none;
	int n;

	vuc_send_raw(sock, command, sizeof(hdr) + len, VU_F_COMMAND, body, len, fds, nfds);
	n = vuc_receive(sock, &hdr, answer ? answer : &none, room);
	assert_true(n >= 0);
	assert_int_equal(hdr.id, 7);
	assert_int_equal(hdr.command, command);
	assert_int_equal(hdr.flags, hdr.error ? VU_F_REPLY | VU_F_ERROR : VU_F_REPLY);
	if (got)
		*got = n;
	if (hdr.error)
		assert_int_equal(n, 0);
	return hdr.error;
}

void vuc_expect_cut(struct vuc *v, int sock)
{
	struct vu_header hdr;
	u8 scrap;
	int again;

	/* at most one answer, which is an error */
	if (vuc_receive(sock, &hdr, &scrap, 0) >= 0) {
		assert_int_not_equal(hdr.error, 0);
		assert_int_equal(vuc_receive(sock, &hdr, &scrap, 0), -1);
	}
	if (sock == v->sock)
		v->sock = -1;
	close(sock);
	again = vuc_connect(v);
	vuc_greet(again);
	close(again);
}

u32 vuc_read(struct vuc *v, u32 region, u64 off, void *buf, u32 len)
{
	struct vu_region_io io = { .offset = off, .region = region, .count = len };
	u8 answer[sizeof(io) + VU_MAX_XFER];
	u32 got, err;

	err = vuc_call(v->sock, VU_REGION_READ, &io, sizeof(io), NULL, 0, answer, sizeof(answer),
		       &got);
	if (err)
		return err;
	assert_int_equal(got, sizeof(io) + len);
	assert_memory_equal(answer, &io, sizeof(io));
	memcpy(buf, answer + sizeof(io), len);
	return 0;
}

u32 vuc_write(struct vuc *v, u32 region, u64 off, const void *buf, u32 len)
{
	struct vu_region_io io = { .offset = off, .region = region, .count = len };
	u8 body[sizeof(io) + VU_MAX_XFER + 8];
	u32 got, err;

	memcpy(body, &io, sizeof(io));
	memcpy(body + sizeof(io), buf, len);
	err = vuc_call(v->sock, VU_REGION_WRITE, body, sizeof(io) + len, NULL, 0, NULL, 0, &got);
	if (!err)
		assert_int_equal(got, sizeof(io));
	return err;
}

u32 vuc_read32(struct vuc *v, u32 region, u64 off)
{
	u32 val;

	assert_int_equal(vuc_read(v, region, off, &val, 4), 0);
	return val;
}

void vuc_write32(struct vuc *v, u32 region, u64 off, u32 val)
{
	assert_int_equal(vuc_write(v, region, off, &val, 4), 0);
}
