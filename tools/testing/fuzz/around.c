// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The environment of a program's processes: a control group that allows few objects, and another
 * network namespace.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define GROUPS	4
#define GROUP	"/sys/fs/cgroup/fuzz"
#define OTHER	"/run/netns/fuzz"	/* made by "guest" */

static int first = -1, other = -1;

/*
 * The groups are never removed: Linux 6.12 drops the limits of a removed group, and still uses them
 * when the device is removed.
 */
void around_setup(void)
{
	char path[64];

	for (unsigned int i = 0; i < GROUPS; i++) {
		snprintf(path, sizeof(path), GROUP "%u", i);
		mkdir(path, 0755);
	}
	first = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	other = open(OTHER, O_RDONLY | O_CLOEXEC);
}

static int put_line(unsigned int group, const char *file, const char *line)
{
	char path[64];
	int fd, err = 0;

	snprintf(path, sizeof(path), GROUP "%u/%s", group, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (write(fd, line, strlen(line)) < 0)
		err = errno;
	close(fd);
	return err;
}

/*
 * Moves the process, with its objects, to a group.  Bits 0, 1: which; 2, 3: how many contexts it
 * may have, the highest value means any number; from 4 on: how many objects, likewise.
 */
int enter_group(uint64_t value)
{
	unsigned int group = value % GROUPS, contexts = value >> 2 & 3, objects = value >> 4 & 15;
	char name[64], line[160], most[2][8] = { "max", "max" };
	int err;

	if (!device_entry("infiniband", "", name, sizeof(name)))
		return ENODEV;
	if (contexts < 3)
		snprintf(most[0], sizeof(most[0]), "%u", contexts);
	if (objects < 15)
		snprintf(most[1], sizeof(most[1]), "%u", objects);
	snprintf(line, sizeof(line), "%s hca_handle=%s hca_object=%s", name, most[0], most[1]);
	err = put_line(group, "rdma.max", line);
	return err ?: put_line(group, "cgroup.procs", "0");
}

/* Moves the calling thread to a namespace of its own, to another one that stays, or back. */
int enter_namespace(uint64_t value)
{
	int err = 0;

	switch (value & 3) {
	case 0:
		err = unshare(CLONE_NEWNET);
		break;
	case 1:
		err = setns(first, CLONE_NEWNET);
		break;
	default:
		err = setns(other, CLONE_NEWNET);
		break;
	}
	return err ? errno : 0;
}
