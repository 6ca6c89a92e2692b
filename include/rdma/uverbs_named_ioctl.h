/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Declares objects, methods and attributes with names made from
 * UVERBS_MODULE_NAME, which the file that includes this defines first.
 */
#ifndef _UVERBS_NAMED_IOCTL_
#define _UVERBS_NAMED_IOCTL_

#include <rdma/uverbs_ioctl.h>

#ifndef UVERBS_MODULE_NAME
#error "define UVERBS_MODULE_NAME before including rdma/uverbs_named_ioctl.h"
#endif

#define _UVERBS_PASTE(x, y)	x ## y
#define _UVERBS_NAME(x, y)	_UVERBS_PASTE(x, y)

/* Names of the definitions. */
#define UVERBS_METHOD(id)	_UVERBS_NAME(UVERBS_MODULE_NAME, _method_##id)
#define UVERBS_HANDLER(id)	_UVERBS_NAME(UVERBS_MODULE_NAME, _handler_##id)
#define UVERBS_OBJECT(id)	_UVERBS_NAME(UVERBS_MODULE_NAME, _object_##id)
#define UVERBS_METHOD_ATTRS(method_id)	_method_attrs_##method_id
#define UVERBS_OBJECT_METHODS(object_id) \
	_UVERBS_NAME(_object_methods_##object_id, __LINE__)

/* A method with its attributes and handler (none if attributes are added to a method). */
#define _UVERBS_DEFINE_METHOD(_method_id, _handler, ...)				\
	static const struct uverbs_attr_def *const					\
	UVERBS_METHOD_ATTRS(_method_id)[] = { __VA_ARGS__ };				\
	static const struct uverbs_method_def UVERBS_METHOD(_method_id) = {		\
		.id = (_method_id),							\
		.num_attrs = ARRAY_SIZE(UVERBS_METHOD_ATTRS(_method_id)),		\
		.attrs = &UVERBS_METHOD_ATTRS(_method_id),				\
		.handler = (_handler),							\
	}

/* An object named _name with its type of handle (or NULL) and methods. */
#define _UVERBS_DEFINE_OBJECT(_name, _object_id, _type, ...)				\
	static const struct uverbs_method_def *const					\
	UVERBS_OBJECT_METHODS(_object_id)[] = { __VA_ARGS__ };				\
	static const struct uverbs_object_def _name = {					\
		.id = (_object_id),							\
		.type_attrs = (_type),							\
		.num_methods = ARRAY_SIZE(UVERBS_OBJECT_METHODS(_object_id)),		\
		.methods = &UVERBS_OBJECT_METHODS(_object_id),				\
	}

/* A method; its handler is the function UVERBS_HANDLER(_method_id). */
#define DECLARE_UVERBS_NAMED_METHOD(_method_id, ...) \
	_UVERBS_DEFINE_METHOD(_method_id, UVERBS_HANDLER(_method_id), __VA_ARGS__)

/* A method that only destroys a handle. */
#define DECLARE_UVERBS_NAMED_METHOD_DESTROY(_method_id, _handle_attr) \
	_UVERBS_DEFINE_METHOD(_method_id, uverbs_destroy_def_handler, _handle_attr)

/* An object with a type of handle. */
#define DECLARE_UVERBS_NAMED_OBJECT(_object_id, _type_attrs, ...) \
	_UVERBS_DEFINE_OBJECT(UVERBS_OBJECT(_object_id), _object_id, &(_type_attrs), __VA_ARGS__)

/* An object without handles: a group of methods. */
#define DECLARE_UVERBS_GLOBAL_METHODS(_object_id, ...) \
	_UVERBS_DEFINE_OBJECT(UVERBS_OBJECT(_object_id), _object_id, NULL, __VA_ARGS__)

/* Methods that a driver adds to one of the core's objects. */
#define ADD_UVERBS_METHODS(_name, _object_id, ...) \
	_UVERBS_DEFINE_OBJECT(_name, _object_id, NULL, __VA_ARGS__);

/* Attributes that a driver adds to one of the core's methods. */
#define ADD_UVERBS_ATTRIBUTES_SIMPLE(_name, _object_id, _method_id, ...)	\
	_UVERBS_DEFINE_METHOD(_method_id, NULL, __VA_ARGS__);			\
	ADD_UVERBS_METHODS(_name, _object_id, &UVERBS_METHOD(_method_id))

#endif /* _UVERBS_NAMED_IOCTL_ */
