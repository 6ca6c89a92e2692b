// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * System calls that fail under the server: nothing is half made,
 * interrupted calls go on, and a failing guest does not affect others.
 */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/log.h"
#include "lib/listen.h"
#include "tests/cm.h"
#include "tests/tfail.h"
#include "tests/tprog.h"
#include "tests/vuclient.h"

static int place_setup(void **state)
{
	*state = tprog_place("sock");
	return 0;
}

static int place_teardown(void **state)
{
	struct tprog_place *p = *state;

	assert_int_equal(access(p->path, F_OK), -1);
	tprog_dir_end(p->dir, NULL);
	free(p);
	return 0;
}

static void listening(void **state)
{
	struct tprog_place *p = *state;
	char far[200];
	int fd;

	memset(far, 'x', sizeof(far) - 1);
	far[sizeof(far) - 1] = '\0';
	assert_int_equal(unix_listen(""), -ENAMETOOLONG);
	assert_int_equal(unix_listen(far), -ENAMETOOLONG);
	far[108] = '\0';
	assert_int_equal(unix_listen(far), -ENAMETOOLONG);

	tfail_set(TFAIL_SOCKET, 1, EMFILE);
	assert_int_equal(unix_listen(p->path), -EMFILE);
	assert_int_equal(access(p->path, F_OK), -1);
	/* bound, and undone */
	tfail_set(TFAIL_LISTEN, 1, EOPNOTSUPP);
	assert_int_equal(unix_listen(p->path), -EOPNOTSUPP);
	assert_int_equal(access(p->path, F_OK), -1);

	/* left over from a killed daemon, and no socket to test it with */
	fd = unix_listen(p->path);
	assert_true(fd >= 0);
	assert_int_equal(unix_listen(p->path), -EADDRINUSE);
	close(fd);
	assert_int_equal(access(p->path, F_OK), 0);
	tfail_set(TFAIL_SOCKET, 1, ENFILE);
	assert_int_equal(unix_listen(p->path), -ENFILE);
	assert_int_equal(access(p->path, F_OK), 0);
	fd = unix_listen(p->path);
	assert_true(fd >= 0);
	close(fd);
	unlink(p->path);
}

/* A datagram socket there cannot be tested for a listener: it is not removed. */
static void somebody_elses_socket(void **state)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct tprog_place *p = *state;
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	strcpy(sa.sun_path, p->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(unix_listen(p->path), -EPROTOTYPE);
	assert_int_equal(access(p->path, F_OK), 0);
	close(fd);
	unlink(p->path);
}

static const struct server_device_ops no_ops;

static void making_a_server(void **state)
{
	static const struct {
		enum tfail kind;
		int err;
	} steps[] = {
		{ TFAIL_EVENTFD, EMFILE }, { TFAIL_SYSCALL, EAGAIN }, { TFAIL_SOCKET, ENFILE },
		{ TFAIL_LISTEN, EADDRINUSE },
	};
	struct tprog_place *p = *state;
	const struct server_config cfg = {
		.name = "test", .path = p->path, .vectors = 4, .kick_pages = 16,
	};
	unsigned int fds = tprog_open_fds();
	struct server *s = NULL;
	int err;
	u32 n;

	for (u32 i = 0; i < ARRAY_SIZE(steps); i++) {
		tfail_set(steps[i].kind, 1, steps[i].err);
		assert_int_equal(server_new(&cfg, &s), -steps[i].err);
		assert_true(tfail_hit(steps[i].kind));
		assert_int_equal(tprog_open_fds(), fds);
		assert_int_equal(access(p->path, F_OK), -1);
	}
	tfail_each_alloc(n, err = server_new(&cfg, &s), ({
		assert_int_equal(err, -ENOMEM);
		assert_int_equal(tprog_open_fds(), fds);
		assert_int_equal(access(p->path, F_OK), -1);
	}));
	assert_int_equal(err, 0);
	assert_int_equal(n, 2);		/* itself and the guest's memory */
	tfail_set(TFAIL_THREAD, 1, EAGAIN);
	assert_int_equal(server_start(s, &no_ops, NULL), -EAGAIN);
	assert_true(tfail_hit(TFAIL_THREAD));
	server_free(s);
	assert_int_equal(tprog_open_fds(), fds);
	server_free(NULL);
}

/* The next client is served as usual. */
static void served(struct vuc *v)
{
	if (v->sock >= 0)
		close(v->sock);
	v->sock = vuc_connect(v);
	vuc_greet(v->sock);
	assert_int_equal(vuc_read32(v, 0, 0), VUC_MAGIC);
}

static void clients_that_give_up(void **state)
{
	static const int errors[] = { ECONNABORTED, EINTR };
	struct vuc *v = *state;

	for (u32 i = 0; i < ARRAY_SIZE(errors); i++) {
		tfail_set(TFAIL_ACCEPT, 1, errors[i]);
		served(v);
		assert_true(tfail_hit(TFAIL_ACCEPT));
	}
}

static void no_room_for_clients(void **state)
{
	struct vuc *v = *state;
	char log[64], line[256] = "";
	FILE *f;

	snprintf(log, sizeof(log), "%s/log", v->dir);
	assert_int_equal(log_open(log), 0);
	f = fopen(log, "re");
	tfail_set(TFAIL_ACCEPT, 1, EMFILE);
	close(v->sock);
	v->sock = -1;
	while (!strstr(line, "cannot accept"))
		if (!fgets(line, sizeof(line), f)) {
			clearerr(f);
			sched_yield();
		}
	assert_non_null(strstr(line, "test: cannot accept guests for now: Too many open files"));
	assert_true(tfail_hit(TFAIL_ACCEPT));
	assert_false(server_connected(v->server));
	fclose(f);
	assert_int_equal(log_open("/dev/stderr"), 0);
	unlink(log);
	/* a client that connects when there is room again is served */
	served(v);
}

static void interrupted(void **state)
{
	struct vuc *v = *state;

	for (u32 n = 1; n <= 3; n++) {
		/* in the body, in the next header, in the body of the next */
		tfail_set(TFAIL_RECVMSG, n, EINTR);
		for (u32 i = 0; i < 3; i++)
			assert_int_equal(vuc_read32(v, 0, 0), VUC_MAGIC);
		assert_true(tfail_hit(TFAIL_RECVMSG));
	}
	/* the first call is the client's own */
	tfail_set(TFAIL_SENDMSG, 2, EINTR);
	assert_int_equal(vuc_read32(v, 0, 0), VUC_MAGIC);
	assert_true(tfail_hit(TFAIL_SENDMSG));
	assert_int_equal(v->resets, 0);
}

static void lost(void **state)
{
	struct vuc *v = *state;
	struct vu_region_io io = { .count = 4 };
	struct vu_header hdr;
	u32 resets = v->resets;
	u8 none;

	tfail_set(TFAIL_RECVMSG, 1, ECONNRESET);
	vuc_send_raw(v->sock, VU_REGION_READ, sizeof(hdr) + sizeof(io), 0, &io, sizeof(io), NULL,
		     0);
	assert_int_equal(vuc_receive(v->sock, &hdr, &none, 0), -1);
	assert_true(tfail_hit(TFAIL_RECVMSG));
	vuc_wait_resets(v, ++resets);
	served(v);

	tfail_set(TFAIL_SENDMSG, 2, EPIPE);
	vuc_send_raw(v->sock, VU_REGION_READ, sizeof(hdr) + sizeof(io), 0, &io, sizeof(io), NULL,
		     0);
	assert_int_equal(vuc_receive(v->sock, &hdr, &none, 0), -1);
	assert_true(tfail_hit(TFAIL_SENDMSG));
	vuc_wait_resets(v, ++resets);
	served(v);
}

/* Without memory for a guest, or for its capabilities, it is disconnected. */
static void no_memory_for_a_guest(void **state)
{
	static const char body[] = "\0\0\0\0{\"capabilities\":{\"max_msg_fds\":8}}";
	struct vuc *v = *state;
	u8 byte;

	close(v->sock);
	vuc_wait_resets(v, 1);
	tfail_set(TFAIL_ALLOC, 1, 0);
	v->sock = vuc_connect(v);
	assert_int_equal(recv(v->sock, &byte, 1, 0), 0);
	assert_true(tfail_hit(TFAIL_ALLOC));
	served(v);

	close(v->sock);
	vuc_wait_resets(v, 2);
	tfail_set(TFAIL_ALLOC, 2, 0);
	v->sock = vuc_connect(v);
	vuc_send_raw(v->sock, VU_VERSION, sizeof(struct vu_header) + sizeof(body), 0, body,
		     sizeof(body), NULL, 0);
	vuc_expect_cut(v, v->sock);
	assert_true(tfail_hit(TFAIL_ALLOC));
	served(v);
}

int main(void)
{
#define PLACE(t)	cmocka_unit_test_setup_teardown(t, place_setup, place_teardown)
#define SERVED(t)	cmocka_unit_test_setup_teardown(t, vuc_setup, vuc_teardown)
	const struct CMUnitTest tests[] = {
		PLACE(listening), PLACE(somebody_elses_socket), PLACE(making_a_server),
		SERVED(clients_that_give_up), SERVED(no_room_for_clients), SERVED(interrupted),
		SERVED(lost), SERVED(no_memory_for_a_guest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
