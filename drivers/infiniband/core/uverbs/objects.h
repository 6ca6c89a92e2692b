/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The user API: its object types, a line each.  What is not described by one of them does not
 * exist: the decoders answer as Linux 6.12 does on a device without the feature.
 *
 * uverbs_object_NAME stands in the file that implements its commands.  Two lines of one type are
 * two files with commands of it.
 */
#ifndef CORE_UVERBS_OBJECTS_H
#define CORE_UVERBS_OBJECTS_H

#include "table.h"

#define UVERBS_OBJECTS(_do)			\
	_do(device)				\
	_do(device_more)			\
	_do(async)				\
	_do(channel)				\
	_do(pd)					\
	_do(mr)					\
	_do(mr_dmabuf)				\
	_do(mw)					\
	_do(cq)					\
	_do(qp)					\
	_do(qp_modify)				\
	_do(qp_post)				\
	_do(qp_mcast)				\
	_do(srq)				\
	_do(srq_post)				\
	_do(ah)					\
	_do(xrcd)				\
	_do(qp_open)				\
	_do(wq)					\
	_do(wq_table)				\
	_do(flow)				\
	_do(flow_action)			\
	_do(dm)					\
	_do(dm_mr)				\
	_do(counters)

#define UVERBS_OBJECT_DECLARE(_name) \
	extern const struct uverbs_object_desc uverbs_object_##_name;
UVERBS_OBJECTS(UVERBS_OBJECT_DECLARE)

/* All of them, ending with NULL (main.c). */
extern const struct uverbs_object_desc *const uverbs_objects[];

#endif /* CORE_UVERBS_OBJECTS_H */
