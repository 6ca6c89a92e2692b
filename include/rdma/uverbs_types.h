/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Types of objects of user handles.
 */
#ifndef _UVERBS_TYPES_
#define _UVERBS_TYPES_

#include <linux/build_bug.h>
#include <linux/kernel.h>
#include <rdma/ib_verbs.h>

struct file;
struct file_operations;
struct inode;
struct uverbs_api_object;
struct uverbs_obj_type;

/* How a handle is locked during a command: shared, exclusively, or exclusively to destroy it. */
enum rdma_lookup_mode {
	UVERBS_LOOKUP_READ,
	UVERBS_LOOKUP_WRITE,

	UVERBS_LOOKUP_DESTROY,
};

/**
 * struct uverbs_obj_type_class - operations of a class of handles: numbers or descriptors
 * @alloc_begin: makes a handle that cannot be looked up yet
 * @alloc_commit: makes it visible; takes the caller's reference
 * @alloc_abort: undoes @alloc_begin
 * @lookup_get: finds a handle and takes a reference
 * @lookup_put: drops it
 * @destroy_hw: destroys the object of the handle
 * @remove_handle: frees the number
 * @swap_uobjects: gives a new handle the number of an old one
 */
struct uverbs_obj_type_class {
	struct ib_uobject *(*alloc_begin)(const struct uverbs_api_object *obj,
					  struct uverbs_attr_bundle *attrs);

	void (*alloc_commit)(struct ib_uobject *uobj);

	void (*alloc_abort)(struct ib_uobject *uobj);

	struct ib_uobject *(*lookup_get)(const struct uverbs_api_object *obj,
					 struct ib_uverbs_file *ufile, s64 id,
					 enum rdma_lookup_mode mode);
	void (*lookup_put)(struct ib_uobject *uobj, enum rdma_lookup_mode mode);

	int __must_check (*destroy_hw)(struct ib_uobject *uobj,
				       enum rdma_remove_reason why,
				       struct uverbs_attr_bundle *attrs);
	void (*remove_handle)(struct ib_uobject *uobj);
	void (*swap_uobjects)(struct ib_uobject *obj_old,
			      struct ib_uobject *obj_new);
};

/**
 * struct uverbs_obj_type - a type of object
 * @type_class: its class
 * @obj_size: bytes of the handle, struct ib_uobject first
 */
struct uverbs_obj_type {
	const struct uverbs_obj_type_class * const type_class;
	size_t	     obj_size;
};

/**
 * struct uverbs_obj_idr_type - a type whose handles are numbers
 * @type: base
 * @destroy_object: destroys the object; after an error it is kept
 */
struct uverbs_obj_idr_type {
	struct uverbs_obj_type  type;

	int __must_check (*destroy_object)(struct ib_uobject *uobj,
					   enum rdma_remove_reason why,
					   struct uverbs_attr_bundle *attrs);
};

/**
 * struct uverbs_obj_fd_type - a type whose handles are file descriptors
 * @type: base
 * @destroy_object: called when the handle was revoked or is being closed; cannot fail
 * @fops: operations of the file; release is uverbs_uobject_fd_release()
 * @name: name of the file
 * @flags: O_* of the file
 */
struct uverbs_obj_fd_type {
	struct uverbs_obj_type  type;
	void (*destroy_object)(struct ib_uobject *uobj,
			       enum rdma_remove_reason why);
	const struct file_operations	*fops;
	const char			*name;
	int				flags;
};

struct ib_uobject *rdma_lookup_get_uobject(const struct uverbs_api_object *obj,
					   struct ib_uverbs_file *ufile, s64 id,
					   enum rdma_lookup_mode mode,
					   struct uverbs_attr_bundle *attrs);

void rdma_lookup_put_uobject(struct ib_uobject *uobj,
			     enum rdma_lookup_mode mode);

struct ib_uobject *rdma_alloc_begin_uobject(const struct uverbs_api_object *obj,
					    struct uverbs_attr_bundle *attrs);

void rdma_alloc_abort_uobject(struct ib_uobject *uobj,
			      struct uverbs_attr_bundle *attrs,
			      bool hw_obj_valid);

void rdma_alloc_commit_uobject(struct ib_uobject *uobj,
			       struct uverbs_attr_bundle *attrs);

void rdma_assign_uobject(struct ib_uobject *to_uobj,
			 struct ib_uobject *new_uobj,
			 struct uverbs_attr_bundle *attrs);

/**
 * uverbs_uobject_get() - take a reference on a handle's structure
 * @uobject: handle
 */
static inline void uverbs_uobject_get(struct ib_uobject *uobject)
{
	struct kref *ref = &uobject->ref;

	kref_get(ref);
}

void uverbs_uobject_put(struct ib_uobject *uobject);
int uverbs_uobject_fd_release(struct inode *inode, struct file *filp);

/* The handle is a number. */
extern const struct uverbs_obj_type_class uverbs_idr_class;
/* The handle is a file descriptor. */
extern const struct uverbs_obj_type_class uverbs_fd_class;

/* A constant 0; a compile-time error if the condition is true. */
#define UVERBS_BUILD_BUG_ON(cond) BUILD_BUG_ON_ZERO(cond)

/* The size of a handle, which must not be smaller than its base. */
#define UVERBS_OBJ_SIZE(_size) \
	((_size) + UVERBS_BUILD_BUG_ON((_size) < sizeof(struct ib_uobject)))

/* Type of an object whose handle is a descriptor, as an lvalue. */
#define UVERBS_TYPE_ALLOC_FD(_obj_size, _destroy_object, _fops, _name, _flags)	\
	(((const struct uverbs_obj_fd_type) {					\
		.type.type_class = &uverbs_fd_class,				\
		.type.obj_size = UVERBS_OBJ_SIZE(_obj_size),			\
		.destroy_object = (_destroy_object),				\
		.fops = (_fops),						\
		.name = (_name),						\
		.flags = (_flags),						\
	}).type)

/* Type of an object whose handle is a number, with a structure larger than the base. */
#define UVERBS_TYPE_ALLOC_IDR_SZ(_size, _destroy_object)			\
	(((const struct uverbs_obj_idr_type) {					\
		.type.type_class = &uverbs_idr_class,				\
		.type.obj_size = UVERBS_OBJ_SIZE(_size),			\
		.destroy_object = (_destroy_object),				\
	}).type)

#define UVERBS_TYPE_ALLOC_IDR(_destroy_object) \
	UVERBS_TYPE_ALLOC_IDR_SZ(sizeof(struct ib_uobject), _destroy_object)

#endif /* _UVERBS_TYPES_ */
