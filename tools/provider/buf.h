/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory that the device reads or writes. */
#ifndef VHCA_BUF_H
#define VHCA_BUF_H

#include "vhca.h"

/* Purpose that an allocator is told: resource_type. */
enum vhca_resource {
	VHCA_RES_QP,		/* rings of a QP */
	VHCA_RES_SRQ,
	VHCA_RES_CQ,
};

/**
 * struct vhca_buf - memory that the device reads or writes
 * @addr: the memory, or NULL
 * @size: bytes
 * @what: purpose
 * @pd: parent domain whose allocator gave it; NULL: the system did
 */
struct vhca_buf {
	void *addr;
	size_t size;
	enum vhca_resource what;
	struct vhca_pd *pd;
};

int vhca_buf_alloc(struct vhca_buf *buf, const struct vhca_context *ctx, struct ibv_pd *ibpd,
		   enum vhca_resource what, size_t size);
void vhca_buf_free(struct vhca_buf *buf);

#endif /* VHCA_BUF_H */
