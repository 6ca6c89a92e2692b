/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Look-up and creation of handles in command handlers.
 */
#ifndef _UVERBS_STD_TYPES__
#define _UVERBS_STD_TYPES__

#include <linux/typecheck.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

/* A handle number, which must be a u32: a signed one would be sign-extended to s64. */
#define _uobj_check_id(_id)	(typecheck(u32, _id) * (_id))

/* Description of an object of the command's device. */
#define uobj_get_type(_attrs, _object) \
	uapi_get_object((_attrs)->ufile->device->uapi, _object)

/* Find a handle and lock it in this mode. */
#define _uobj_lookup(_type, _id, _mode, _attrs) \
	rdma_lookup_get_uobject(uobj_get_type(_attrs, _type), (_attrs)->ufile, _id, _mode, _attrs)

#define uobj_get_read(_type, _id, _attrs) \
	_uobj_lookup(_type, _uobj_check_id(_id), UVERBS_LOOKUP_READ, _attrs)

#define uobj_get_write(_type, _id, _attrs) \
	_uobj_lookup(_type, _uobj_check_id(_id), UVERBS_LOOKUP_WRITE, _attrs)

#define ufd_get_read(_type, _fdnum, _attrs) \
	_uobj_lookup(_type, typecheck(s32, _fdnum) * (_fdnum), UVERBS_LOOKUP_READ, _attrs)

/* Object of a handle that was looked up, or the lookup's error. */
static inline void *_uobj_get_obj_read(struct ib_uobject *uobj)
{
	return IS_ERR(uobj) ? ERR_CAST(uobj) : uobj->object;
}

#define uobj_get_obj_read(_object, _type, _id, _attrs) \
	((struct ib_##_object *)_uobj_get_obj_read(uobj_get_read(_type, _id, _attrs)))

int __uobj_perform_destroy(const struct uverbs_api_object *obj, u32 id,
			   struct uverbs_attr_bundle *attrs);

#define uobj_perform_destroy(_type, _id, _attrs) \
	__uobj_perform_destroy(uobj_get_type(_attrs, _type), _uobj_check_id(_id), _attrs)

struct ib_uobject *__uobj_get_destroy(const struct uverbs_api_object *obj,
				      u32 id, struct uverbs_attr_bundle *attrs);

#define uobj_get_destroy(_type, _id, _attrs) \
	__uobj_get_destroy(uobj_get_type(_attrs, _type), _uobj_check_id(_id), _attrs)

static inline void uobj_put_destroy(struct ib_uobject *uobj)
{
	const enum rdma_lookup_mode mode = UVERBS_LOOKUP_DESTROY;

	rdma_lookup_put_uobject(uobj, mode);
}

static inline void uobj_put_read(struct ib_uobject *uobj)
{
	const enum rdma_lookup_mode mode = UVERBS_LOOKUP_READ;

	rdma_lookup_put_uobject(uobj, mode);
}

#define uobj_put_obj_read(_obj)	uobj_put_read((_obj)->uobject)

static inline void uobj_put_write(struct ib_uobject *uobj)
{
	const enum rdma_lookup_mode mode = UVERBS_LOOKUP_WRITE;

	rdma_lookup_put_uobject(uobj, mode);
}

/* Aborts a new handle, for which no object was created. */
static inline void uobj_alloc_abort(struct ib_uobject *uobj, struct uverbs_attr_bundle *attrs)
{
	const bool hw_obj_valid = false;

	rdma_alloc_abort_uobject(uobj, attrs, hw_obj_valid);
}

/* The object was created: at the end of the command its handle becomes visible, or is destroyed. */
static inline void uobj_finalize_uobj_create(struct ib_uobject *uobj,
					     struct uverbs_attr_bundle *attrs)
{
	WARN_ON(attrs->uobject);
	attrs->uobject = uobj;
}

/* Makes a handle of a type; *ib_dev is set to the device, which exists until the command ends. */
static inline struct ib_uobject *__uobj_alloc(const struct uverbs_api_object *obj,
					      struct uverbs_attr_bundle *attrs,
					      struct ib_device **ib_dev)
{
	struct ib_uobject *handle = rdma_alloc_begin_uobject(obj, attrs);

	if (IS_ERR(handle))
		return handle;
	*ib_dev = attrs->context->device;
	return handle;
}

#define uobj_alloc(_type, _attrs, _ib_dev) \
	__uobj_alloc(uobj_get_type(_attrs, _type), _attrs, _ib_dev)

/* Links a flow action and its handle. */
static inline void uverbs_flow_action_fill_action(struct ib_flow_action *action,
						  struct ib_uobject *uobj,
						  struct ib_device *ib_dev,
						  enum ib_flow_action_type type)
{
	*action = (struct ib_flow_action) {
		.device = ib_dev,
		.uobject = uobj,
		.type = type,
	};
	uobj->object = action;
}

/**
 * struct ib_uflow_resources - objects to which the specifications of a flow rule refer
 * @max: number of entries of each array
 * @num: sum of the entries used in both arrays
 * @collection_num: entries used in @collection
 * @counters_num: entries used in @counters
 * @counters: counters
 * @collection: flow actions
 */
struct ib_uflow_resources {
	size_t			max;
	size_t			num;
	size_t			collection_num;
	size_t			counters_num;
	struct ib_counters	**counters;
	struct ib_flow_action	**collection;
};

/* Handle of a flow rule. */
struct ib_uflow_object {
	struct ib_uobject		uobject;
	struct ib_uflow_resources	*resources;
};

struct ib_uflow_resources *flow_resources_alloc(size_t num_specs);

void flow_resources_add(struct ib_uflow_resources *uflow_res,
			enum ib_flow_spec_type type,
			void *ibobj);

void ib_uverbs_flow_resources_free(struct ib_uflow_resources *uflow_res);

/* Links a flow rule and its handle, and counts it as user of its QP. */
static inline void ib_set_flow(struct ib_uobject *uobj, struct ib_flow *ibflow,
			       struct ib_qp *qp, struct ib_device *device,
			       struct ib_uflow_resources *uflow_res)
{
	container_of(uobj, struct ib_uflow_object, uobject)->resources = uflow_res;
	uobj->object = ibflow;
	ibflow->device = device;
	ibflow->uobject = uobj;
	if (!qp)
		return;
	ibflow->qp = qp;
	atomic_inc(&qp->usecnt);
}

/**
 * struct uverbs_api_object - an object type of a device's ABI
 * @type_attrs: type of its handles
 * @type_class: class of the type
 * @disabled: the device does not support the type
 * @id: number
 */
struct uverbs_api_object {
	const struct uverbs_obj_type *type_attrs;
	const struct uverbs_obj_type_class *type_class;
	u8 disabled:1;
	u32 id;
};

static inline u32 uobj_get_object_id(struct ib_uobject *uobj)
{
	const struct uverbs_api_object *object = uobj->uapi_object;

	return object->id;
}

#endif /* _UVERBS_STD_TYPES__ */
