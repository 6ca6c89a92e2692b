/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device by its name, and its driver, which can be told to let it go and to take it again.
 */
#ifndef DEVICE_H
#define DEVICE_H

#include <fcntl.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/**
 * struct driver - a device's driver in sysfs
 * @slot: the device's name on the PCI bus
 * @dir: the driver's folder
 */
struct driver {
	char slot[64];
	char dir[PATH_MAX];
};

/* The device of this name, opened, or NULL. */
static inline struct ibv_context *open_device(const char *name)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = NULL;

	for (int i = 0; list && list[i] && !context; i++)
		if (!strcmp(ibv_get_device_name(list[i]), name))
			context = ibv_open_device(list[i]);
	if (list)
		ibv_free_device_list(list);
	return context;
}

/* The driver of a device that is there.  Returns whether it was found. */
static inline bool find_driver(struct driver *driver, const struct ibv_context *context)
{
	char path[PATH_MAX], real[PATH_MAX];

	snprintf(path, sizeof(path), "%s/device", context->device->ibdev_path);
	if (!realpath(path, real))
		return false;
	snprintf(driver->slot, sizeof(driver->slot), "%.63s", strrchr(real, '/') + 1);
	strncat(path, "/driver", sizeof(path) - strlen(path) - 1);
	return realpath(path, driver->dir);
}

/* Writes a text to an attribute in sysfs.  Returns whether it was taken. */
static inline bool write_attribute(const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, text, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return done;
}

/* Has the driver "unbind" or "bind" its device.  Returns whether it did. */
static inline bool tell_driver(const struct driver *driver, const char *what)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", driver->dir, what);
	return write_attribute(path, driver->slot);
}

/* Has the device's function reset.  Returns whether it was. */
static inline bool reset_function(const struct driver *driver)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", driver->slot);
	return write_attribute(path, "1");
}

#endif /* DEVICE_H */
