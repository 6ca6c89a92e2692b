// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watches /proc/PID/fdinfo, for users without access to tracefs.
 *
 * The kernel keeps the last reasons with each open file, and drops them when the file is closed.
 * Therefore ptrace() stops each process of the command at its exit, when its files are still open
 * and the reasons can be read.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rdma-why.h"

#define KEY "rdma-reject:\t"

/* Reasons that have been reported: threads and forks share files, whose reasons are found twice. */
static char **seen;
static size_t num_seen;

static bool is_new(const char *line)
{
	char **more;

	for (size_t i = 0; i < num_seen; i++)
		if (!strcmp(seen[i], line))
			return false;
	more = realloc(seen, (num_seen + 1) * sizeof(*seen));
	if (more) {
		seen = more;
		seen[num_seen] = strdup(line);
		if (seen[num_seen])
			num_seen++;
	}
	return true;
}

static void read_word(char *to, size_t size, const char *path)
{
	FILE *file = fopen(path, "re");

	snprintf(to, size, "?");
	if (!file)
		return;
	if (fgets(to, size, file))
		to[strcspn(to, "\n")] = '\0';
	fclose(file);
}

/* "/dev/infiniband/uverbs0" is the device that sysfs names there. */
static void find_device(char *to, size_t size, const char *fd_path)
{
	char target[PATH_MAX], path[PATH_MAX + 64];
	ssize_t len = readlink(fd_path, target, sizeof(target) - 1);
	char *base;

	snprintf(to, size, "-");
	if (len < 0)
		return;
	target[len] = '\0';
	base = strrchr(target, '/');
	if (!base || strncmp(base + 1, "uverbs", 6))
		return;
	snprintf(path, sizeof(path), "/sys/class/infiniband_verbs/%s/ibdev", base + 1);
	read_word(to, size, path);
}

/* A line of rdma_reject_show(): number, seconds since boot, errno, reason. */
static void report_line(pid_t pid, const char *device, char *line)
{
	char who[32], path[64];
	struct refusal refusal = { .who = who, .pid = pid, .device = device };
	int reason = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%*d %*s %d %n", &refusal.err, &reason) != 1 || !reason || !is_new(line))
		return;
	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	read_word(who, sizeof(who), path);
	refusal.reason = line + reason;
	report(&refusal);
}

static void read_file(pid_t pid, const char *fd)
{
	char path[PATH_MAX], device[80];
	char *line = NULL;
	size_t size = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, fd);
	file = fopen(path, "re");
	if (!file)
		return;
	snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, fd);
	find_device(device, sizeof(device), path);
	while (getline(&line, &size, file) > 0)
		if (!strncmp(line, KEY, strlen(KEY)))
			report_line(pid, device, line + strlen(KEY));
	free(line);
	fclose(file);
}

static void read_files(pid_t pid)
{
	struct dirent *entry;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fdinfo", pid);
	dir = opendir(path);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			read_file(pid, entry->d_name);
	closedir(dir);
}

static bool prepare(void)
{
	return true;
}

static bool watch(pid_t child)
{
	return !ptrace(PTRACE_SEIZE, child, NULL,
		       PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
		       PTRACE_O_TRACECLONE);
}

static void go_on(pid_t pid, int status)
{
	int event = status >> 16;
	int sig = WSTOPSIG(status);
	bool stopping = sig == SIGSTOP || sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;

	if (event == PTRACE_EVENT_EXIT)
		read_files(pid);
	if (event == PTRACE_EVENT_STOP && stopping)
		ptrace(PTRACE_LISTEN, pid, NULL, NULL);
	else
		ptrace(PTRACE_CONT, pid, NULL, event ? 0L : (long)sig);
}

/* Descendants that outlive the command continue without being watched. */
static int finish(pid_t child)
{
	int status = 0;
	pid_t pid;

	for (;;) {
		pid = waitpid(-1, &status, __WALL);
		if (pid < 0 && errno == EINTR)
			continue;
		if (pid < 0)
			return status;
		if (WIFSTOPPED(status))
			go_on(pid, status);
		else if (pid == child)
			return status;
	}
}

const struct watcher fdinfo_watcher = {
	.prepare = prepare,
	.watch = watch,
	.finish = finish,
};
