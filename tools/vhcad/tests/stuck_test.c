// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Descriptors on which a call lasts as long as the VM likes: a socket that lingers when
 * it is closed, a file whose server does not answer.  They may block the thread that
 * serves this VM, and no other: not a thread that raises interrupts, not one that asks for the
 * state, not the end of the daemon.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/testmem.h"
#include "tests/tlinger.h"
#include "tests/tremote.h"
#include "tests/vuclient.h"

#define MAP_SIZE	65536u

/* ---- a file whose server does not answer ---- */

static struct {
	ino_t ino;		/* 0: none */
	bool asked;
} slow;

int __real_fstat(int fd, struct stat *st);
int __wrap_fstat(int fd, struct stat *st);
int __real_fstatfs(int fd, struct statfs *fs);
int __wrap_fstatfs(int fd, struct statfs *fs);

static void ask(int fd)
{
	struct stat st;

	if (!__real_fstat(fd, &st) && st.st_ino == slow.ino)
		__atomic_store_n(&slow.asked, true, __ATOMIC_RELEASE);
}

int __wrap_fstat(int fd, struct stat *st)
{
	ask(fd);
	return __real_fstat(fd, st);
}

int __wrap_fstatfs(int fd, struct statfs *fs)
{
	ask(fd);
	return __real_fstatfs(fd, fs);
}

/* A regular file that may be read and written, in a file system that is not tmpfs. */
static int slow_file(void)
{
	int fd = open("/proc/self/comm", O_RDWR);
	struct stat st;

	assert_true(fd >= 0);
	assert_int_equal(__real_fstat(fd, &st), 0);
	slow.asked = false;
	slow.ino = st.st_ino;
	return fd;
}

/* ---- what other threads do meanwhile ---- */

static void *others(void *arg)
{
	struct vuc *v = arg;

	for (u32 n = 0; n < 100; n++) {
		server_irq(v->server, n % VUC_VECTORS);
		gmem_ranges(server_mem(v->server));
		server_connected(v->server);
	}
	return NULL;
}

static void expect_others_go_on(struct vuc *v)
{
	struct timespec until;
	pthread_t t;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += 60;
	assert_int_equal(pthread_create(&t, NULL, others, v), 0);
	if (pthread_clockjoin_np(t, NULL, CLOCK_MONOTONIC, &until)) {
		/* it would block the teardown, too */
		print_error("somebody waits for a VM's descriptor\n");
		_exit(1);
	}
}

/* Only the server has the descriptor when the message is complete. */
static void give_for_irq(int sock, struct tlinger *l)
{
	const struct vfio_irq_set set = {
		.argsz = sizeof(set), .index = VFIO_PCI_MSIX_IRQ_INDEX, .count = 1,
		.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
	};

	vuc_send_raw(sock, VU_SET_IRQS, sizeof(struct vu_header) + sizeof(set), 0, &set, 1, &l->fd,
		     1);
	tlinger_give(l);
	assert_int_equal(send(sock, (const u8 *)&set + 1, sizeof(set) - 1, MSG_NOSIGNAL),
			 sizeof(set) - 1);
}

static u32 set_irqs(struct vuc *v, u32 vector, const int *fd, u32 n)
{
	const struct vfio_irq_set set = {
		.argsz = sizeof(set), .index = VFIO_PCI_MSIX_IRQ_INDEX, .start = vector, .count = n,
		.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
	};

	return vuc_call(v->sock, VU_SET_IRQS, &set, sizeof(set), fd, n, NULL, 0, NULL);
}

/* ---- the tests ---- */

/* Descriptors that are not eventfds are refused on arrival; the check signals none. */
static void only_eventfds(void **state)
{
	struct vuc *v = *state;
	int pipes[2], pair[2], good = eventfd(0, 0);

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	{
		const int bad[] = {
			pipes[0], pipes[1], pair[0], testmem_fd(MAP_SIZE), epoll_create1(0),
			timerfd_create(CLOCK_MONOTONIC, 0), open("/", O_PATH),
			open("/dev/null", O_RDWR),
		};

		assert_int_equal(set_irqs(v, 3, &good, 1), 0);
		for (u32 i = 0; i < ARRAY_SIZE(bad); i++) {
			const int list[3] = { good, bad[i], good };

			assert_true(bad[i] >= 0);
			assert_int_equal(set_irqs(v, 3, &bad[i], 1), EINVAL);
			/* all or none */
			assert_int_equal(set_irqs(v, 3, list, 3), EINVAL);
		}
		assert_int_equal(vuc_drained(good), 0);
		/* the vector keeps its eventfd; the others have none */
		server_irq(v->server, 3);
		server_irq(v->server, 4);
		server_irq(v->server, 5);
		assert_int_equal(vuc_drained(good), 1);
		for (u32 i = 3; i < ARRAY_SIZE(bad); i++)
			close(bad[i]);
	}
	close(pipes[0]);
	close(pipes[1]);
	close(pair[0]);
	close(pair[1]);
	close(good);
}

/* Nor is one accepted for errors, which are never raised. */
static void no_eventfd_for_errors(void **state)
{
	const struct vfio_irq_set set = {
		.argsz = sizeof(set), .index = VFIO_PCI_ERR_IRQ_INDEX, .count = 1,
		.flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
	};
	struct vuc *v = *state;
	int pipes[2];

	assert_int_equal(pipe(pipes), 0);
	assert_int_equal(vuc_call(v->sock, VU_SET_IRQS, &set, sizeof(set), pipes, 1, NULL, 0, NULL),
			 EINVAL);
	close(pipes[0]);
	close(pipes[1]);
}

static void close_lasts(void **state)
{
	struct vuc *v = *state;
	struct tlinger l;

	tlinger_make(&l);
	give_for_irq(v->sock, &l);
	expect_others_go_on(v);
	/* stopping works without that call's end */
	assert_false(server_stop(v->server));
	assert_int_equal(access(v->path, F_OK), -1);
	/* and after it */
	tlinger_end(&l);
	assert_true(server_stop(v->server));
}

static const struct vu_dma_map map = {
	.argsz = sizeof(map), .flags = VU_DMA_F_READ | VU_DMA_F_WRITE,
	.address = MAP_SIZE, .size = MAP_SIZE,
};

/*
 * A file that is not memory is refused without asking its file system, even if unsealed ones are
 * allowed.
 */
static void not_asked(void **state)
{
	struct vuc *v = *state;
	int fd = slow_file();

	assert_int_equal(vuc_call(v->sock, VU_DMA_MAP, &map, sizeof(map), &fd, 1, NULL, 0, NULL),
			 EOPNOTSUPP);
	assert_false(__atomic_load_n(&slow.asked, __ATOMIC_ACQUIRE));
	slow.ino = 0;
	close(fd);
}

/* ---- the whole daemon ---- */

static void run_status(const char *ctl)
{
	char *argv[] = { "vhcactl", "--control", (char *)ctl, "status", NULL }, out[8192];

	assert_int_equal(tprog_run(tprog_path("VHCACTL"), argv, 0, out, sizeof(out)), 0);
	assert_non_null(strstr(out, "hca1"));
}

static void daemon_goes_on(const char *daemon)
{
	char dir[TPROG_DIR], sock[2][TPROG_PATH], ctl[TPROG_PATH], log[TPROG_PATH];
	char *argv[] = { "vhcad", "--hca", sock[0], "--hca", sock[1], "--control", ctl, "--log",
			 log, NULL };
	struct tworld w;
	struct tlinger l;
	struct thca h;
	pid_t pid;
	int bad;

	tprog_dir(dir);
	tprog_in(dir, "0", sock[0]);
	tprog_in(dir, "1", sock[1]);
	tprog_in(dir, "ctl", ctl);
	tprog_in(dir, "log", log);
	tlinger_make(&l);
	pid = tprog_start(tprog_path(daemon), argv);
	t_remote_world(&w);
	t_remote_init(&h, &w, sock[0]);
	bad = tprog_attach(sock[1]);
	vuc_greet(bad);
	give_for_irq(bad, &l);
	for (u32 i = 0; i < 10; i++)
		assert_int_equal(t_admin(&h, VHCA_CMD_NOP, NULL, 0, NULL), VHCA_ST_OK);
	run_status(ctl);
	t_remote_fini(&h);
	tprog_stop(pid, SIGTERM);
	close(bad);
	tlinger_end(&l);
	/* its sockets are gone */
	tprog_dir_end(dir, log, NULL);
}

static void confined(void **state)
{
	daemon_goes_on("VHCAD_FAST");
}

static void sanitized(void **state)
{
	daemon_goes_on("VHCAD");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(only_eventfds, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(no_eventfd_for_errors, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(close_lasts, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(not_asked, vuc_setup, vuc_teardown),
		cmocka_unit_test_setup_teardown(not_asked, vuc_setup_unsealed, vuc_teardown),
		cmocka_unit_test(confined),
		cmocka_unit_test(sanitized),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
