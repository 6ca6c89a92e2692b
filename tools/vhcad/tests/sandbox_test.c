// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What the daemon can no longer do once it serves guests: each thing is tried by
 * a process that has given up the same rights, and the daemon itself is
 * examined.
 */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/log.h"
#include "sandbox.h"
#include "tests/cm.h"
#include "tests/tprog.h"
#include "tests/vuclient.h"

static int log_pipe[2];

/* Runs it in a process of its own; returns how that ended, and what it logged. */
static int in_child(int (*what)(void), char *said, size_t room)
{
	size_t used = 0;
	ssize_t n;
	pid_t pid;
	int status;

	assert_int_equal(pipe2(log_pipe, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		char path[32];

		snprintf(path, sizeof(path), "/proc/self/fd/%d", log_pipe[1]);
		if (log_open(path))
			_exit(99);
		_exit(what());
	}
	close(log_pipe[1]);
	while ((n = read(log_pipe[0], said + used, room - 1 - used)) > 0)
		used += n;
	said[used] = '\0';
	close(log_pipe[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

/* ---- the filter ---- */

static long nr;
static long args[6];

static int call(void)
{
	int err;

	if (sandbox_filter())
		return 98;
	err = syscall(nr, args[0], args[1], args[2], args[3], args[4], args[5]) < 0 ? errno : 0;
	/* at once: a sanitizer would do more than the daemon may */
	syscall(SYS_exit_group, err);
	return 97;
}

/* Ends with this status, or is killed if that is -1. */
static void expect_call(const char *what, int end)
{
	char said[256], number[32];
	int status = in_child(call, said, sizeof(said));

	if (end >= 0) {
		if (!WIFEXITED(status) || WEXITSTATUS(status) != end)
			fail_msg("%s: expected %d, ended with %#x: %s", what, end, status, said);
		return;
	}
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGSYS)
		fail_msg("%s: expected to be killed, ended with %#x: %s", what, status, said);
	/* and it says why */
	snprintf(number, sizeof(number), "it tried number %ld\n", nr);
	if (!strstr(said, number))
		fail_msg("%s: expected '%s', said '%s'", what, number, said);
}

static void calls(void **state)
{
	static const char *const argv[] = { "true", NULL };
	const struct {
		const char *what;
		int end;
		long nr, args[6];
	} cases[] = {
		{ "a program", -1, SYS_execve, { (long)"/bin/true", (long)argv, 0 } },
		{ "a process", -1, SYS_clone, { SIGCHLD } },
		{ "a socket", -1, SYS_socket, { AF_INET, SOCK_STREAM, 0 } },
		{ "a connection", -1, SYS_connect, { 0, 0, 0 } },
		{ "a signal to another", -1, SYS_kill, { getppid(), 0 } },
		{ "a signal to another's thread", -1, SYS_tgkill, { getppid(), getppid(), 0 } },
		{ "another's memory", -1, SYS_ptrace, { PTRACE_ATTACH, getppid() } },
		{ "another's memory at once", -1, SYS_process_vm_writev, { getppid() } },
		{ "root", -1, SYS_setuid, { 0 } },
		{ "a file's mode", -1, SYS_chmod, { (long)"/", 0755 } },
		{ "a name", -1, SYS_rename, { (long)"/nowhere", (long)"/nothing" } },
		{ "a mount", -1, SYS_mount, { 0 } },
		{ "a device", -1, SYS_ioctl, { 0, 0x5401, 0 } },
		{ "a ring of system calls", -1, SYS_io_uring_setup, { 1, 0 } },
		{ "another filter", -1, SYS_seccomp, { 1, 0, 0 } },
		{ "flags of a descriptor", -1, SYS_fcntl, { 0, F_SETFL, 0 } },
		{ "a handler", -1, SYS_rt_sigaction, { SIGSYS, 0, 0, 8 } },
		{ "a name for memory", EINVAL, SYS_prctl, { PR_SET_VMA, 0, 0, 0, 0 } },
		{ "code", -1, SYS_mmap, { 0, 4096, PROT_READ | PROT_EXEC,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } },
		{ "data as code", -1, SYS_mprotect, { 0, 4096, PROT_EXEC } },
		{ "a path's state", -1, SYS_newfstatat, { AT_FDCWD, (long)"/etc/passwd", 0, 0 } },
		/* calls that libraries try are refused, without ending the process */
		{ "a file", EACCES, SYS_openat, { AT_FDCWD, (long)"/etc/passwd", O_RDONLY } },
		{ "a new file", EACCES, SYS_openat, { AT_FDCWD, (long)"/tmp/x", O_CREAT, 0600 } },
		{ "a file's end", EPERM, SYS_unlink, { (long)"/tmp/vhcad-nowhere" } },
		{ "a thread of unknown flags", ENOSYS, SYS_clone3, { 0, 0 } },
		/* and calls that the daemon needs are allowed */
		{ "memory", 0, SYS_mmap, { 0, 4096, PROT_READ | PROT_WRITE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0 } },
		{ "its thread's name", 0, SYS_prctl, { PR_SET_NAME, (long)"x" } },
		{ "a turn", 0, SYS_sched_yield, { 0 } },
	};

	for (u32 i = 0; i < ARRAY_SIZE(cases); i++) {
		nr = cases[i].nr;
		memcpy(args, cases[i].args, sizeof(args));
		expect_call(cases[i].what, cases[i].end);
	}
}

/* ---- the user ---- */

static int drop(const char *user, const char *says)
{
	const char *what = "nothing";
	int err = sandbox_drop(user, &what);

	if (says)
		return !err || strcmp(what, says);
	if (err || !getuid() || !geteuid() || !getgid() || setuid(0) == 0)
		return 1;
	/* root's files are not this user's, whatever the folder's mode */
	return access("/root", R_OK | W_OK | X_OK) ? 0 : 2;
}

/* The daemon's own user, if it exists. */
static struct passwd *own;

struct passwd *__real_getpwnam(const char *name);
struct passwd *__wrap_getpwnam(const char *name);

struct passwd *__wrap_getpwnam(const char *name)
{
	return strcmp(name, "vhcad") ? __real_getpwnam(name) : own;
}

#define OWN_ID	54321u

static int drop_to_own(void)
{
	struct passwd pw = { .pw_name = "vhcad", .pw_uid = OWN_ID, .pw_gid = OWN_ID };

	own = &pw;
	return drop(NULL, NULL) || getuid() != OWN_ID || getgid() != OWN_ID;
}

static int drop_without_own(void)
{
	const uid_t nobody = __real_getpwnam("nobody")->pw_uid;

	own = NULL;
	return drop(NULL, NULL) || getuid() != nobody;
}

static int drop_to_nobody(void)
{
	int sig = 0;

	prctl(PR_SET_PDEATHSIG, SIGTERM, 0, 0, 0);
	if (drop("nobody", NULL))
		return 1;
	/* the death signal that the starter asked for is kept */
	prctl(PR_GET_PDEATHSIG, &sig, 0, 0, 0);
	return sig == SIGTERM ? 0 : 3;
}

static int drop_to_unknown(void)
{
	return drop("no such user at all", "there is no such user");
}

static int drop_to_root(void)
{
	return drop("root", "that user is root again");
}

static void users(void **state)
{
	char said[256];

	/* a user other than root has nothing to drop */
	if (geteuid())
		skip();
	assert_int_equal(in_child(drop_to_own, said, sizeof(said)), 0);
	assert_int_equal(in_child(drop_without_own, said, sizeof(said)), 0);
	assert_int_equal(in_child(drop_to_nobody, said, sizeof(said)), 0);
	assert_int_equal(in_child(drop_to_unknown, said, sizeof(said)), 0);
	assert_int_equal(in_child(drop_to_root, said, sizeof(said)), 0);
}

/* ---- the sweeper ---- */

static void sweeping(void **state)
{
	char dir[TPROG_DIR], path[2][TPROG_PATH];
	const char *paths[] = { path[0], path[1] };
	struct sweeper *s;
	int end[2];
	char byte;

	tprog_dir(dir);
	for (u32 i = 0; i < 2; i++) {
		tprog_in(dir, i ? "one" : "other", path[i]);
		close(open(path[i], O_CREAT | O_WRONLY, 0600));
	}
	/* a descriptor that is open here must not stay open there */
	assert_int_equal(pipe(end), 0);
	assert_int_equal(sweeper_start(paths, 2, &s), 0);
	close(end[1]);
	assert_int_equal(read(end[0], &byte, 1), 0);
	close(end[0]);
	assert_int_equal(access(path[0], F_OK), 0);
	sweeper_finish(s);
	sweeper_finish(NULL);
	/* it has removed both, or this would fail */
	tprog_dir_end(dir, NULL);
	signal(SIGCHLD, SIG_DFL);
}

/* ---- the daemon ---- */

#ifdef VHCAD_COUNTED
#define CONFINED	0		/* it writes down what it has executed */
#else
#define CONFINED	1
#endif

static unsigned long long status_of(pid_t pid, const char *field, int base)
{
	char path[64], line[256];
	char *end = NULL;
	unsigned long long v = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "r");
	assert_non_null(f);
	while (!end && fgets(line, sizeof(line), f))
		if (!strncmp(line, field, strlen(field)) && line[strlen(field)] == ':')
			v = strtoull(line + strlen(field) + 1, &end, base);
	fclose(f);
	assert_non_null(end);
	return v;
}

static void confined_daemon(void **state)
{
	char dir[TPROG_DIR], sock[TPROG_PATH], ctl[TPROG_PATH], log[TPROG_PATH];
	char *argv[] = { "vhcad", "--hca", sock, "--control", ctl, "--log", log, NULL, NULL };
	int fd;
	pid_t pid;

	tprog_dir(dir);
	tprog_in(dir, "hca", sock);
	tprog_in(dir, "control", ctl);
	tprog_in(dir, "log", log);
	for (u32 i = 0; i < 2; i++) {
		bool confined = CONFINED && !i;

		/* the second time without */
		argv[7] = i ? "--no-sandbox" : NULL;
		pid = tprog_start(tprog_path("VHCAD_FAST"), argv);
		fd = tprog_attach(sock);
		vuc_greet(fd);
		assert_int_equal(status_of(pid, "NoNewPrivs", 10), 1);
		assert_int_equal(status_of(pid, "Seccomp", 10), confined ? 2 : 0);
		if (confined) {
			assert_int_equal(status_of(pid, "CapPrm", 16), 0);
			assert_int_equal(status_of(pid, "CapEff", 16), 0);
			assert_int_not_equal(status_of(pid, "Uid", 10), 0);
		}
		tprog_stop(pid, SIGTERM);
		close(fd);
		assert_int_equal(access(sock, F_OK), -1);
		assert_int_equal(access(ctl, F_OK), -1);
	}
	tprog_dir_end(dir, log, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(calls),
		cmocka_unit_test(users),
		cmocka_unit_test(sweeping),
		cmocka_unit_test(confined_daemon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
