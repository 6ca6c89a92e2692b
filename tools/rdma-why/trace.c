// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Watches the trace point rdma_core:rdma_reject, in a trace instance of its own that records only
 * the command and its descendants.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "rdma-why.h"

#define EVENT "events/rdma_core/rdma_reject"

static char instance[PATH_MAX - 64];

static bool put(const char *file, const char *text)
{
	char path[PATH_MAX];
	ssize_t len;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", instance, file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return false;
	len = write(fd, text, strlen(text));
	close(fd);
	return len == (ssize_t)strlen(text);
}

static void remove_instance(void)
{
	if (instance[0] && rmdir(instance))
		fprintf(stderr, "rdma-why: %s is left: %s\n", instance, strerror(errno));
	instance[0] = '\0';
}

static const char *find_tracefs(void)
{
	static const char *const places[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	char path[PATH_MAX];

	for (size_t i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/instances", places[i]);
		if (!access(path, W_OK))
			return places[i];
	}
	if (!mount("tracefs", places[0], "tracefs", 0, NULL))
		return places[0];
	return NULL;
}

static bool prepare(void)
{
	const char *tracefs = find_tracefs();
	char event[PATH_MAX];

	if (!tracefs)
		return false;
	snprintf(instance, sizeof(instance), "%s/instances/rdma-why-%d", tracefs, getpid());
	if (mkdir(instance, 0700)) {
		instance[0] = '\0';
		return false;
	}
	snprintf(event, sizeof(event), "%s/" EVENT, instance);
	if (!access(event, F_OK) && put("options/event-fork", "1"))
		return true;
	remove_instance();
	return false;
}

static bool watch(pid_t child)
{
	char number[16];

	snprintf(number, sizeof(number), "%d", child);
	if (put("set_event_pid", number) && put(EVENT "/enable", "1"))
		return true;
	remove_instance();
	return false;
}

/* Cuts the line at key, and returns the value that follows key. */
static char *cut(char *line, const char *key)
{
	char *at = line ? strstr(line, key) : NULL;

	if (!at)
		return NULL;
	*at = '\0';
	return at + strlen(key);
}

static void report_line(char *line)
{
	struct refusal refusal;
	char *comm, *pid, *device, *err, *reason;

	line[strcspn(line, "\n")] = '\0';
	comm = cut(line, "rdma_reject: comm=");
	pid = cut(comm, " pid=");
	device = cut(pid, " device=");
	err = cut(device, " err=");
	reason = cut(err, " reason=");
	if (!reason)
		return;
	refusal.who = comm;
	refusal.pid = atoi(pid);
	refusal.device = device;
	refusal.err = atoi(err);
	refusal.reason = reason;
	report(&refusal);
}

static int finish(pid_t child)
{
	char path[PATH_MAX];
	char *line = NULL;
	size_t size = 0;
	int status = 0;
	FILE *trace;

	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	put(EVENT "/enable", "0");
	snprintf(path, sizeof(path), "%s/trace", instance);
	trace = fopen(path, "re");
	if (trace) {
		while (getline(&line, &size, trace) > 0)
			report_line(line);
		free(line);
		fclose(trace);
	}
	remove_instance();
	return status;
}

const struct watcher trace_watcher = {
	.prepare = prepare,
	.watch = watch,
	.finish = finish,
};
