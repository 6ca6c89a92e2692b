/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The objects that the files with commands (cmd_*.c) define, and functions that they share.
 */
#ifndef CORE_UVERBS_COMMANDS_H
#define CORE_UVERBS_COMMANDS_H

#include "decode.h"
#include "events.h"
#include "handles.h"

/*
 * The object types of the user API.  A command that none of them lists is refused as Linux 6.12
 * refuses it on a device without the feature.
 *
 * uverbs_object_NAME is defined in the file that implements its commands.  A type with several
 * lines has commands in several files.
 */
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

/* All of them, ending with NULL; defined in main.c. */
extern const struct uverbs_object_desc *const uverbs_objects[];

/* cmd_qp_modify.c */
int uverbs_check_port(struct uverbs_call *call, const struct ib_device *ibdev, u32 port,
		      const char *name);

/* cmd_mr.c */
int uverbs_check_mr_access(struct uverbs_call *call, struct ib_device *ibdev, u32 access);

/* flow_spec.c */
int uverbs_flow_specs_parse(struct uverbs_call *call, const void *specs, size_t len,
			    struct ib_flow_attr *attr, struct ib_uflow_resources *resources);

/* cmd_xrcd.c */
struct ib_uxrcd_object *uverbs_xrcd_use(struct ib_uobject *uobj);
void uverbs_xrcd_unuse(struct ib_uxrcd_object *uxrcd);

/* cmd_mcast.c */
int uverbs_groups_leave(struct ib_uqp_object *uqp);

#endif /* CORE_UVERBS_COMMANDS_H */
