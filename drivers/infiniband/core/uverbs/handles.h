/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The objects of a file: handles and event files.
 */
#ifndef CORE_UVERBS_HANDLES_H
#define CORE_UVERBS_HANDLES_H

#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#include "uverbs.h"

struct ib_uobject *uverbs_uobj_begin(const struct uverbs_api_object *type,
				     struct uverbs_attr_bundle *attrs);
void uverbs_uobj_commit(struct ib_uobject *uobj);
void uverbs_uobj_abort(struct ib_uobject *uobj, struct uverbs_attr_bundle *attrs, bool hw);
struct ib_uobject *uverbs_uobj_lookup(const struct uverbs_api_object *type,
				      struct ib_uverbs_file *file, s64 id,
				      enum uverbs_obj_access access);
void uverbs_uobj_unlock(struct ib_uobject *uobj, enum uverbs_obj_access access);
int uverbs_uobj_destroy(struct ib_uobject *uobj, struct uverbs_attr_bundle *attrs);
int uverbs_uobj_replace(struct ib_uobject *old, struct ib_uobject *fresh,
			struct uverbs_attr_bundle *attrs);
void uverbs_uobjs_reap(struct ib_uverbs_file *file, enum rdma_remove_reason why);
void uverbs_handles_init(struct ib_uverbs_file *file);
void uverbs_handles_release(struct ib_uverbs_file *file);
unsigned int uverbs_handles_list(struct ib_uverbs_file *file,
				 const struct uverbs_api_object *type, u32 *ids,
				 unsigned int max);

/**
 * uverbs_type_is_fd() - are objects of a type named by file descriptors?
 * @type: object type
 *
 * Return: true for file descriptors, false for handles.
 */
static inline bool uverbs_type_is_fd(const struct uverbs_api_object *type)
{
	return type->type_class == &uverbs_fd_class;
}

#endif /* CORE_UVERBS_HANDLES_H */
