// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/tprog.h"

const char *tprog_path(const char *env)
{
	const char *p = getenv(env);

	if (!p)
		fail_msg("%s is not set: run the tests with 'make check'", env);
	return p;
}

/* Starts a program; *out is its output. */
static pid_t spawn(const char *path, char *const *args, bool errors_too, rlim_t max_fds, int *out)
{
	const struct rlimit lim = { max_fds, max_fds };
	int fds[2];
	pid_t pid;

	assert_int_equal(pipe(fds), 0);
	pid = fork();
	if (!pid) {
		dup2(fds[1], 1);
		if (errors_too)
			dup2(fds[1], 2);
		close(fds[0]);
		close(fds[1]);
		if (max_fds && setrlimit(RLIMIT_NOFILE, &lim))
			_exit(126);
		execv(path, args);
		_exit(127);
	}
	assert_true(pid > 0);
	close(fds[1]);
	*out = fds[0];
	return pid;
}

int tprog_run(const char *path, char *const *args, rlim_t fds, char *out, size_t room)
{
	char scrap[256];
	size_t used = 0;
	int from, status;
	bool asked = false;
	ssize_t n;
	pid_t pid;

	pid = spawn(path, args, true, fds, &from);
	out[0] = '\0';
	/* reads to the end, also bytes for which there is no room */
	while ((n = used + 1 < room ? read(from, out + used, room - 1 - used) :
				      read(from, scrap, sizeof(scrap))) > 0) {
		if (used + 1 < room)
			used += n;
		out[used] = '\0';
		if (!asked && strstr(out, "ready\n")) {
			kill(pid, SIGTERM);
			asked = true;
		}
	}
	close(from);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

void tprog_refused(const char *env, char *const *args, const char *says)
{
	char out[8192];
	int status = tprog_run(tprog_path(env), args, 0, out, sizeof(out));

	if (status != 2 || !strstr(out, says))
		fail_msg("%s %s %s: expected 2 and '%s', came %d and '%s'", args[0], args[1],
			 args[2] ? args[2] : "", says, status, out);
}

pid_t tprog_start(const char *path, char *const *args)
{
	char line[16];
	pid_t pid;
	int from;

	pid = spawn(path, args, false, 0, &from);
	assert_int_equal(read(from, line, sizeof(line)), 6);
	assert_memory_equal(line, "ready\n", 6);
	close(from);
	return pid;
}

void tprog_stop(pid_t pid, int sig)
{
	int status;

	assert_int_equal(kill(pid, sig), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

void tprog_abandon(pid_t pid)
{
	if (!pid)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Does this thread sleep?  One that has ended counts as asleep. */
static bool thread_sleeps(pid_t pid, const char *tid)
{
	char path[320], line[256] = "", *behind;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%s/stat", pid, tid);
	f = fopen(path, "r");
	if (!f)
		return true;
	fgets(line, sizeof(line), f);
	fclose(f);
	/* its name, in brackets, may contain anything */
	behind = strrchr(line, ')');
	return !behind || behind[2] == 'S';
}

static bool all_sleep(pid_t pid)
{
	char path[64];
	struct dirent *e;
	bool sleep = true;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	assert_non_null(d);
	while (sleep && (e = readdir(d)))
		if (e->d_name[0] != '.' && atoi(e->d_name) != getpid())
			sleep = thread_sleeps(pid, e->d_name);
	closedir(d);
	return sleep;
}

unsigned long tprog_switches(pid_t pid)
{
	char path[300], line[128];
	unsigned long n = 0, v;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	assert_non_null(d);
	while ((e = readdir(d))) {
		FILE *f;

		if (e->d_name[0] == '.' || atoi(e->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%s/status", pid, e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		while (fgets(line, sizeof(line), f))
			if (sscanf(line, "voluntary_ctxt_switches: %lu", &v) == 1)
				n += v;
		fclose(f);
	}
	closedir(d);
	return n;
}

/*
 * A thread that was seen asleep may be woken by one that is checked later, and that is asleep, too,
 * by then: in the meantime it has gone to sleep itself.
 */
void tprog_asleep(pid_t pid)
{
	unsigned long before;
	bool sleep;

	do {
		sched_yield();
		before = tprog_switches(pid);
		sleep = all_sleep(pid);
	} while (!sleep || tprog_switches(pid) != before);
}

void tprog_dir(char dir[TPROG_DIR])
{
	strcpy(dir, "/tmp/vhcad-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
}

void tprog_in(const char *dir, const char *name, char path[TPROG_PATH])
{
	assert_true((size_t)snprintf(path, TPROG_PATH, "%s/%s", dir, name) < TPROG_PATH);
}

void tprog_dir_end(const char *dir, ...)
{
	const char *path;
	va_list ap;

	va_start(ap, dir);
	while ((path = va_arg(ap, const char *)))
		unlink(path);
	va_end(ap);
	assert_int_equal(rmdir(dir), 0);
}

struct tprog_place *tprog_place(const char *name)
{
	struct tprog_place *p = calloc(1, sizeof(*p));

	tprog_dir(p->dir);
	tprog_in(p->dir, name, p->path);
	return p;
}

unsigned int tprog_open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

int tprog_attach(const char *path)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(sa.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

u64 tprog_private_bytes(pid_t pid)
{
	char path[64], line[128];
	unsigned long long kib = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f) && sscanf(line, "RssAnon: %llu kB", &kib) != 1)
		;
	fclose(f);
	assert_true(kib);
	return kib * 1024;
}
