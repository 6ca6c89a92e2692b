/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The objects that a request takes, makes and gives back.
 */
#ifndef CORE_UVERBS_TAKE_H
#define CORE_UVERBS_TAKE_H

#include "call.h"

struct ib_uobject *uverbs_take(struct uverbs_call *call, u16 type, enum uverbs_obj_access access,
			       s64 id, const char *name);
void uverbs_mark_hw(struct uverbs_call *call, struct ib_uobject *uobj);
void uverbs_replace(struct uverbs_call *call, struct ib_uobject *old, struct ib_uobject *fresh);
struct ib_device *uverbs_call_device(struct uverbs_call *call);
void uverbs_give_back_held(struct uverbs_call *call, bool commit);
int uverbs_run_destroyed(struct uverbs_call *call);

/**
 * uverbs_give_back() - give back every object a request has taken
 * @call: the request, whose response was copied to user space
 * @commit: true after success: new objects become visible; false: they are destroyed
 */
static inline void uverbs_give_back(struct uverbs_call *call, bool commit)
{
	if (call->held || call->settle)
		uverbs_give_back_held(call, commit);
}

#endif /* CORE_UVERBS_TAKE_H */
