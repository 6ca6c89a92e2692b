// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A library to preload: rdma_resolve_addr() waits until the file that $RESOLVE_AFTER names exists,
 * except for the first id.  So a client that has no other means to know when its server listens
 * does not call it earlier.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

struct rdma_cm_id;
typedef int resolve_fn(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst,
		       int timeout_ms);

resolve_fn rdma_resolve_addr;

int rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *src, struct sockaddr *dst,
		      int timeout_ms)
{
	resolve_fn *next = (resolve_fn *)dlsym(RTLD_NEXT, "rdma_resolve_addr");
	const char *file = getenv("RESOLVE_AFTER");
	static struct rdma_cm_id *first;

	if (!first)
		first = id;
	while (file && id != first && access(file, F_OK))
		usleep(10000);
	return next(id, src, dst, timeout_ms);
}
