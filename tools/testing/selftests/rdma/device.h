/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A device by its name, and its driver, which can be unbound and bound again; and QPs of it that
 * are connected.
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

/* Opens the device of this name, or returns NULL. */
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

/* Finds the driver of a device.  Returns whether it was found. */
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

/* Writes a text to an attribute in sysfs.  Returns whether that succeeded. */
static inline bool write_attribute(const char *path, const char *text)
{
	size_t len = strlen(text);
	int fd = open(path, O_WRONLY);
	bool done = fd >= 0 && write(fd, text, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return done;
}

/* Has the driver "unbind" or "bind" its device.  Returns whether that succeeded. */
static inline bool tell_driver(const struct driver *driver, const char *what)
{
	char path[PATH_MAX + 64];

	snprintf(path, sizeof(path), "%s/%s", driver->dir, what);
	return write_attribute(path, driver->slot);
}

/* Resets the device's PCI function.  Returns whether that succeeded. */
static inline bool reset_function(const struct driver *driver)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/reset", driver->slot);
	return write_attribute(path, "1");
}

/*
 * Takes an RC QP of port 1 to RTS, with a peer on the same port, which may be itself. Returns
 * whether that succeeded.
 */
static inline bool connect_rc(struct ibv_qp *from, const struct ibv_qp *to, unsigned int access)
{
	struct ibv_port_attr port;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT, .port_num = 1, .qp_access_flags = access,
	};

	if (ibv_query_port(from->context, 1, &port) ||
	    ibv_modify_qp(from, &attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX |
			  IBV_QP_ACCESS_FLAGS))
		return false;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = IBV_MTU_1024,
		.dest_qp_num = to->qp_num,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 1,
		.ah_attr = { .dlid = port.lid, .port_num = 1 },
	};
	if (ibv_modify_qp(from, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			  IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			  IBV_QP_MIN_RNR_TIMER))
		return false;
	attr = (struct ibv_qp_attr) {
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	return !ibv_modify_qp(from, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

#endif /* DEVICE_H */
