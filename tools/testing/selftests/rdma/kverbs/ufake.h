/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The operations of the device without hardware, by their purpose.
 */
#ifndef UFAKE_H
#define UFAKE_H

#include <rdma/ib_verbs.h>

#define UFAKE_CQES	16	/* of each CQ */

/* Does the device refuse to destroy an object this time? */
bool ufake_refuses(void);

extern const struct ib_device_ops ufake_memory_ops;
extern const struct ib_device_ops ufake_pages_ops;
extern const struct ib_device_ops ufake_queue_ops;
extern const struct ib_device_ops ufake_rule_ops;

#endif /* UFAKE_H */
