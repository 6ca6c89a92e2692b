// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages that are too short, too long, cut, or have unexpected
 * descriptors: each ends its session, and none ends the server.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/tprog.h"
#include "tests/vuclient.h"

static void header_sizes(void **state)
{
	static const u32 sizes[] = { 0, 1, 15, 16 + VU_MAX_BODY + 1, 1u << 30, UINT32_MAX };
	struct vuc *v = *state;

	for (u32 i = 0; i < ARRAY_SIZE(sizes); i++) {
		int sock = v->sock;

		if (sock < 0) {
			sock = vuc_connect(v);
			vuc_greet(sock);
		}
		vuc_send_raw(sock, VU_GET_INFO, sizes[i], 0, NULL, 0, NULL, 0);
		vuc_expect_cut(v, sock);
	}
}

static void header_flags(void **state)
{
	static const u32 flags[] = { VU_F_REPLY, 2, 15, VU_F_ERROR, 0x40, 0x80000000 };
	struct vuc *v = *state;

	close(v->sock);
	v->sock = -1;
	for (u32 i = 0; i < ARRAY_SIZE(flags); i++) {
		int sock = vuc_connect(v);

		vuc_greet(sock);
		vuc_send_raw(sock, VU_DEVICE_RESET, 16, flags[i], NULL, 0, NULL, 0);
		vuc_expect_cut(v, sock);
	}
}

/* Every command whose body has a fixed length, one byte short. */
static void short_bodies(void **state)
{
	static const struct { u16 command; u32 len; } cmds[] = {
		{ VU_DMA_MAP, 32 }, { VU_DMA_UNMAP, 24 }, { VU_GET_INFO, 16 },
		{ VU_GET_REGION_INFO, 32 }, { VU_GET_IRQ_INFO, 16 }, { VU_SET_IRQS, 20 },
		{ VU_REGION_READ, 16 }, { VU_REGION_WRITE, 16 },
	};
	struct vuc *v = *state;
	u8 body[32] = { 0 };

	close(v->sock);
	v->sock = -1;
	for (u32 i = 0; i < ARRAY_SIZE(cmds); i++) {
		for (u32 len = 0; len < cmds[i].len; len += cmds[i].len - 1) {
			int sock = vuc_connect(v);

			vuc_greet(sock);
			vuc_send_raw(sock, cmds[i].command, 16 + len, 0, body, len, NULL, 0);
			vuc_expect_cut(v, sock);
		}
	}
}

static void long_bodies(void **state)
{
	static const struct { u16 command; u32 len; } cmds[] = {
		{ VU_DMA_MAP, 40 }, { VU_DMA_UNMAP, 25 }, { VU_SET_IRQS, 21 },
		{ VU_REGION_READ, 17 }, { VU_REGION_WRITE, 17 }, { VU_DEVICE_RESET, 1 },
	};
	struct vuc *v = *state;
	u8 body[40] = { 0 };

	close(v->sock);
	v->sock = -1;
	for (u32 i = 0; i < ARRAY_SIZE(cmds); i++) {
		int sock = vuc_connect(v);

		vuc_greet(sock);
		body[0] = cmds[i].len;		/* argsz, where there is one */
		vuc_send_raw(sock, cmds[i].command, 16 + cmds[i].len, 0, body, cmds[i].len, NULL,
			     0);
		vuc_expect_cut(v, sock);
	}
}

static void ends_in_the_middle(void **state)
{
	struct vuc *v = *state;
	struct vu_header hdr = { .command = VU_GET_INFO, .size = 32 };
	int sock;

	assert_int_equal(send(v->sock, &hdr, 7, 0), 7);
	shutdown(v->sock, SHUT_WR);
	vuc_expect_cut(v, v->sock);

	sock = vuc_connect(v);
	vuc_greet(sock);
	assert_int_equal(send(sock, &hdr, 16, 0), 16);
	assert_int_equal(send(sock, &hdr, 5, 0), 5);
	shutdown(sock, SHUT_WR);
	vuc_expect_cut(v, sock);
}

/* The stream has no message boundaries: a message may arrive byte by byte. */
static void byte_by_byte(void **state)
{
	struct vuc *v = *state;
	struct {
		struct vu_header hdr;
		u32 body[4];
	} m = {
		.hdr = { .id = 3, .command = VU_GET_INFO, .size = 32 },
		.body = { 16 },
	};
	u32 answer[4];

	for (u32 i = 0; i < sizeof(m); i++)
		assert_int_equal(send(v->sock, (u8 *)&m + i, 1, 0), 1);
	assert_int_equal(vuc_receive(v->sock, &m.hdr, answer, sizeof(answer)), 16);
	assert_int_equal(m.hdr.id, 3);
	assert_int_equal(answer[2], 9);
	assert_int_equal(answer[3], 5);
}

static void unknown_commands(void **state)
{
	static const u16 cmds[] = {
		0, VU_GET_REGION_IO_FDS, VU_DMA_READ, VU_DMA_WRITE, 14, VU_REGION_WRITE_MULTI,
		VU_MIG_DATA_READ, VU_MIG_DATA_WRITE, 19, 0xffff,
	};
	struct vuc *v = *state;
	u8 body[64] = { 0 };
	u32 got;

	for (u32 i = 0; i < ARRAY_SIZE(cmds); i++)
		assert_int_equal(vuc_call(v->sock, cmds[i], body, sizeof(body), NULL, 0, NULL, 0,
					  &got), ENOTSUP);
	/* what every client probes */
	assert_int_equal(vuc_call(v->sock, VU_DEVICE_FEATURE, body, 8, NULL, 0, NULL, 0, &got),
			 ENOTTY);
}

static void no_reply_means_none(void **state)
{
	struct vuc *v = *state;
	u8 bad[16] = { 0 };
	u32 info[4] = { 16 }, got;

	/* one that works, one that fails: neither is answered */
	vuc_send_raw(v->sock, VU_DEVICE_RESET, 16, VU_F_NO_REPLY, NULL, 0, NULL, 0);
	vuc_send_raw(v->sock, VU_REGION_READ, 32, VU_F_NO_REPLY, bad, 16, NULL, 0);
	assert_int_equal(vuc_call(v->sock, VU_GET_INFO, info, 16, NULL, 0, info, 16, &got), 0);
	assert_int_equal(got, 16);
	vuc_wait_resets(v, 1);
}

static void send_with_fd(int sock, const void *buf, u32 len, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	struct msghdr mh = {
		.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&mh);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	assert_int_equal(sendmsg(sock, &mh, MSG_NOSIGNAL), len);
}

static void stray_descriptors(void **state)
{
	struct vuc *v = *state;
	u32 info[4] = { 16 };
	struct vu_header hdr = { .command = VU_GET_INFO, .size = 32 };
	static const u32 set_irqs[5] = { 20, 1 << 5 | 1 << 2, 2, 0, 1 };
	int fds[32], sock;
	u32 before;

	close(v->sock);
	v->sock = -1;
	sock = vuc_connect(v);
	vuc_greet(sock);
	close(sock);
	for (u32 i = 0; i < ARRAY_SIZE(fds); i++)
		fds[i] = eventfd(0, EFD_CLOEXEC);
	before = tprog_open_fds();

	/* with a command that takes none */
	sock = vuc_connect(v);
	vuc_greet(sock);
	vuc_send_raw(sock, VU_GET_INFO, 32, 0, info, 16, fds, 1);
	vuc_expect_cut(v, sock);
	/* more than are allowed */
	sock = vuc_connect(v);
	vuc_greet(sock);
	vuc_send_raw(sock, VU_GET_INFO, 32, 0, info, 16, fds, VU_MAX_FDS + 1);
	vuc_expect_cut(v, sock);
	/* with an unknown command: answered, and closed */
	sock = vuc_connect(v);
	vuc_greet(sock);
	assert_int_equal(vuc_call(sock, 99, NULL, 0, fds, VU_MAX_FDS, NULL, 0, NULL), ENOTSUP);
	close(sock);
	/* in the middle of a message */
	sock = vuc_connect(v);
	vuc_greet(sock);
	assert_int_equal(send(sock, &hdr, 10, 0), 10);
	vuc_send_raw(sock, 0, 0, 0, NULL, 0, fds, 2);
	vuc_expect_cut(v, sock);
	/* with the body of a command that takes one, but with its header */
	sock = vuc_connect(v);
	vuc_greet(sock);
	hdr = (struct vu_header){ .command = VU_SET_IRQS, .size = 36 };
	assert_int_equal(send(sock, &hdr, 16, 0), 16);
	send_with_fd(sock, set_irqs, sizeof(set_irqs), fds[0]);
	vuc_expect_cut(v, sock);

	/* a session that took descriptors has closed them once the next is served */
	sock = vuc_connect(v);
	vuc_greet(sock);
	close(sock);
	server_stop(v->server);
	assert_true(tprog_open_fds() <= before);
	for (u32 i = 0; i < ARRAY_SIZE(fds); i++)
		close(fds[i]);
}

/* Random data after a good start must end the session or be answered, never more. */
static void noise(void **state)
{
	struct vuc *v = *state;

	srand(7);
	close(v->sock);
	v->sock = -1;
	for (int round = 0; round < 300; round++) {
		u32 words[512];
		int sock = vuc_connect(v);

		vuc_greet(sock);
		for (u32 i = 0; i < ARRAY_SIZE(words); i++)
			words[i] = rand() % 3 ? (u32)rand() % 64 : (u32)rand() * 3u;
		/* headers that are often valid, so that bodies are checked */
		for (u32 i = 0; i + 4 < ARRAY_SIZE(words); i += 12) {
			words[i] = rand() % 20 << 16;
			words[i + 1] = 48;
			words[i + 2] = rand() % 2 ? VU_F_NO_REPLY : 0;
		}
		(void)!send(sock, words, sizeof(words), MSG_NOSIGNAL);
		close(sock);
	}
	v->sock = vuc_connect(v);
	vuc_greet(v->sock);
	assert_int_equal(vuc_read32(v, SERVER_BAR_REGS, 0), VUC_MAGIC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(header_sizes, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(header_flags, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(short_bodies, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(long_bodies, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(ends_in_the_middle, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(byte_by_byte, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(unknown_commands, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(no_reply_means_none, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(stray_descriptors, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(noise, vuc_setup, vuc_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
