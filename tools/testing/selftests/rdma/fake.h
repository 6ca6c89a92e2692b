/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The device of rdma_ufake, for which libibverbs has no provider, by plain requests.  A wrong
 * answer ends the program.
 */
#ifndef FAKE_H
#define FAKE_H

#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "kverbs/ufake_abi.h"
#include "storm.h"
#include "uverbs_raw.h"

#define RAW_HEAD(_command, _request, _response)				\
	{								\
		.command = IB_USER_VERBS_CMD_##_command,		\
		.in_words = sizeof(_request) / 4,			\
		.out_words = (_response) / 4,				\
	}

/* The file of the device's uverbs node, without a context; -1 if there is none. */
static inline int open_fake_node(const char *name)
{
	char path[PATH_MAX], found[64];
	glob_t nodes;
	int fd = -1;

	if (glob("/sys/class/infiniband_verbs/uverbs*", 0, NULL, &nodes))
		return -1;
	for (size_t i = 0; i < nodes.gl_pathc && fd < 0; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/ibdev", nodes.gl_pathv[i]);
		file = fopen(path, "r");
		if (file && fscanf(file, "%63s", found) == 1 && !strcmp(found, name)) {
			snprintf(path, sizeof(path), "/dev/infiniband/%s",
				 strrchr(nodes.gl_pathv[i], '/') + 1);
			fd = open(path, O_RDWR | O_CLOEXEC);
		}
		if (file)
			fclose(file);
	}
	globfree(&nodes);
	return fd;
}

/* A file of the device, with a context. */
static inline int open_fake(const char *name)
{
	struct ib_uverbs_get_context_resp resp;
	RAW_PLAIN(ib_uverbs_get_context) req = {
		.hdr = RAW_HEAD(GET_CONTEXT, req, sizeof(resp)),
		.body.response = (uintptr_t)&resp,
	};
	int fd = open_fake_node(name), err;

	if (fd < 0)
		wrong("no such device", errno);
	err = raw_write(fd, &req, sizeof(req));
	if (err)
		wrong("GET_CONTEXT", err);
	return fd;
}

/* A PD without pages. */
static inline uint32_t alloc_plain_pd(int fd)
{
	struct ib_uverbs_alloc_pd_resp resp;
	RAW_PLAIN(ib_uverbs_alloc_pd) req = {
		.hdr = RAW_HEAD(ALLOC_PD, req, sizeof(resp)),
		.body.response = (uintptr_t)&resp,
	};
	int err = raw_write(fd, &req, sizeof(req));

	if (err)
		wrong("ALLOC_PD", err);
	return resp.pd_handle;
}

static inline int dealloc_pd(int fd, uint32_t handle)
{
	RAW_PLAIN(ib_uverbs_dealloc_pd) req = {
		.hdr = RAW_HEAD(DEALLOC_PD, req, 0),
		.body.pd_handle = handle,
	};

	return raw_write(fd, &req, sizeof(req));
}

#endif /* FAKE_H */
