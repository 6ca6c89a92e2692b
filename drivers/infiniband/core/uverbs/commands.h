/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * For the files that implement commands (cmd_*.c): what all of them use, and what they offer each
 * other.
 */
#ifndef CORE_UVERBS_COMMANDS_H
#define CORE_UVERBS_COMMANDS_H

#include "decode.h"
#include "events.h"
#include "handles.h"
#include "objects.h"

int uverbs_check_port(struct uverbs_call *call, const struct ib_device *ibdev, u32 port,
		      const char *name);
int uverbs_check_mr_access(struct uverbs_call *call, struct ib_device *ibdev, u32 access);
int uverbs_flow_specs_parse(struct uverbs_call *call, const void *specs, size_t len,
			    struct ib_flow_attr *attr, struct ib_uflow_resources *resources);

/* ---- XRC domains (cmd_xrcd.c) ---- */

struct ib_uxrcd_object *uverbs_xrcd_use(struct ib_uobject *uobj);
void uverbs_xrcd_unuse(struct ib_uxrcd_object *uxrcd);

/* ---- multicast groups of QPs (cmd_mcast.c) ---- */

int uverbs_groups_leave(struct ib_uqp_object *uqp);

#endif /* CORE_UVERBS_COMMANDS_H */
