// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Files of sysfs and configfs.  A command's name is the path of one, below the folder that its
 * first letter stands for: D, V and M of the device, of its uverbs and of its umad; N of its
 * interface of IPoIB; C of the connection manager's settings in configfs, K of /sys/class, P of
 * /sys/module.  Opened files stay
 * open for later calls, and while the device is removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"

#define SETTINGS	"/sys/kernel/config/rdma_cm"
#define ROOM		4096
#define PATH		256

/* The present path of a command's file: the device may have been removed or renamed. */
static bool path_of(const struct command *cmd, char *path)
{
	static const struct {
		char letter;
		const char *class, *prefix;
	} parts[] = {
		{ 'D', "infiniband", "" }, { 'V', "infiniband_verbs", "uverbs" },
		{ 'M', "infiniband_mad", "umad" }, { 'N', "net", "ib" },
	};
	char name[64], folder[128];

	switch (*cmd->name) {
	case 'K':
		snprintf(path, PATH, "/sys/class%s", cmd->name + 1);
		return true;
	case 'P':
		snprintf(path, PATH, "/sys/module%s", cmd->name + 1);
		return true;
	case 'C':
		snprintf(path, PATH, SETTINGS "/%s%s",
			 device_entry("infiniband", "", name, sizeof(name)) ? name : "none",
			 cmd->name + 1);
		return true;
	}
	for (unsigned int i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (*cmd->name != parts[i].letter)
			continue;
		if (!device_entry(parts[i].class, parts[i].prefix, name, sizeof(name)))
			return false;
		device_folder(parts[i].class, folder, sizeof(folder));
		snprintf(path, PATH, "%s/%s%s", folder, name, cmd->name + 1);
		return true;
	}
	return false;
}

static int folder_run(const struct command *cmd)
{
	char path[PATH];

	path_of(cmd, path);
	if (cmd->number == FOLDER_END)
		return rmdir(path) ? errno : 0;
	if (mkdir(path, 0755))
		return errno;
	__atomic_store_n(&shared->folders, 1, __ATOMIC_RELAXED);
	return 0;
}

/* Opens the file as its mode allows or, by a twist, otherwise. */
static int open_it(const struct call *call, const struct command *cmd)
{
	static const int modes[] = { O_RDONLY, O_WRONLY, O_RDWR };
	const struct twist *twist = twist_of(call, REQUEST, FLAGS);
	char path[PATH];
	int fd;

	if (!path_of(cmd, path))
		return -ENOENT;
	fd = open(path, modes[(twist ? twist->value : cmd->number) % 3] | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	files[FILE_SYSFS][call->file] = fd;
	return fd;
}

/* Writes the value of @text, if the call has one; otherwise reads everything. */
int files_run(const struct call *call, const struct command *cmd, unsigned int thread)
{
	const struct twist *twist = twist_of(call, REQUEST, LEN);
	int text = row_named(cmd, "text", "blob"), answer = row_named(cmd, "answer", "out"), fd;
	uint8_t data[ROOM] = {};
	unsigned int len;
	off_t where;

	if (cmd->number >= FOLDER_MADE)
		return folder_run(cmd);
	fd = open_it(call, cmd);
	if (fd < 0)
		return -fd;
	if (text >= 0 && (answer < 0 || twisted(call, text))) {
		if (*cmd->name == 'N')
			__atomic_store_n(&shared->nets, 1, __ATOMIC_RELAXED);
		len = row_bytes(call, text, data, sizeof(data));
		return write(fd, (void *)row_place(call, text, thread, data, len),
			     twist ? twist->value : len) < 0 ? errno : 0;
	}
	len = twist ? twist->value % ROOM : ROOM;
	twist = twist_of(call, REQUEST, VALUE);
	where = twist ? twist->value : 0;
	return pread(fd, (void *)row_place(call, answer < 0 ? REQUEST : answer, thread, data, len),
		     len, where) < 0 ? errno : 0;
}

/* Removes folders that a program has made. */
void files_clean(void)
{
	char path[PATH + 300];
	struct dirent *entry;
	DIR *dir;

	if (!shared->folders)
		return;
	shared->folders = 0;
	dir = opendir(SETTINGS);
	while (dir && (entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		snprintf(path, sizeof(path), SETTINGS "/%s", entry->d_name);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}
