/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Definitions of objects, methods and write() commands.
 */
#ifndef RDMA_UVERBS_DEF_H
#define RDMA_UVERBS_DEF_H

#include <linux/build_bug.h>
#include <linux/stddef.h>
#include <linux/util_macros.h>
#include <rdma/uverbs/spec.h>
#include <rdma/uverbs_types.h>

/**
 * struct uverbs_method_def - a method of the ioctl ABI
 * @id: number
 * @flags: none defined
 * @num_attrs: attributes
 * @attrs: their definitions
 * @handler: handler; NULL if attributes are added to a method defined elsewhere
 */
struct uverbs_method_def {
	u16                                  id;

	u32				     flags;
	size_t				     num_attrs;
	const struct uverbs_attr_def * const (*attrs)[];
	int (*handler)(struct uverbs_attr_bundle *attrs);
};

/**
 * struct uverbs_object_def - an object and its methods
 * @id: number
 * @type_attrs: type of its handles, NULL for an object without handles or defined elsewhere
 * @num_methods: methods
 * @methods: their definitions
 */
struct uverbs_object_def {
	u16					 id;
	const struct uverbs_obj_type	        *type_attrs;
	size_t				         num_methods;
	const struct uverbs_method_def * const (*methods)[];
};

enum uapi_definition_kind {
	UAPI_DEF_END = 0,
	UAPI_DEF_OBJECT_START,
	UAPI_DEF_WRITE,
	UAPI_DEF_CHAIN_OBJ_TREE,
	UAPI_DEF_CHAIN,
	UAPI_DEF_IS_SUPPORTED_FUNC,
	UAPI_DEF_IS_SUPPORTED_DEV_FN,
};

enum uapi_definition_scope {
	UAPI_SCOPE_OBJECT = 1,
	UAPI_SCOPE_METHOD = 2,
};

/**
 * struct uapi_definition - an entry of a table that ends with {}
 * @kind: enum uapi_definition_kind, determines which other members are valid
 * @scope: target of a condition: the object, or the method before it
 * @object_start: number of the object that the following entries describe
 * @write: command number, sizes and flags
 * @func_is_supported: condition: a function of the device
 * @func_write: handler of the command
 * @chain: another table
 * @chain_obj_tree: methods of the object
 * @needs_fn_offset: condition: an operation of the driver that must exist
 */
struct uapi_definition {
	u8 kind;
	u8 scope;
	union {
		struct {
			u16 object_id;
		} object_start;
		struct {
			u16 command_num;
			u8 is_ex:1;
			u8 has_udata:1;
			u8 has_resp:1;
			u8 req_size;
			u8 resp_size;
		} write;
	};

	union {
		bool (*func_is_supported)(struct ib_device *device);
		int (*func_write)(struct uverbs_attr_bundle *attrs);
		const struct uapi_definition *chain;
		const struct uverbs_object_def *chain_obj_tree;
		size_t needs_fn_offset;
	};
};

/* The entries that follow describe this object. */
#define DECLARE_UVERBS_OBJECT(_object_id, ...)					\
	{									\
		.kind = UAPI_DEF_OBJECT_START,					\
		.object_start.object_id = (_object_id),				\
	},									\
	##__VA_ARGS__

/* Common part of the two below. */
#define UAPI_DEF_WRITE_CMD(_ex, _command_num, _func, ...)			\
	{									\
		.kind = UAPI_DEF_WRITE,						\
		.scope = UAPI_SCOPE_OBJECT,					\
		.write.command_num = (_command_num),				\
		.write.is_ex = (_ex),						\
		.func_write = (_func),						\
		__VA_ARGS__,							\
	}

/* A command of the write() ABI; _cmd_desc initialises .write's sizes and flags. */
#define DECLARE_UVERBS_WRITE(_command_num, _func, _cmd_desc, ...) \
	UAPI_DEF_WRITE_CMD(0, _command_num, _func, _cmd_desc), ##__VA_ARGS__

/* An extended command. */
#define DECLARE_UVERBS_WRITE_EX(_command_num, _func, _cmd_desc, ...) \
	UAPI_DEF_WRITE_CMD(1, _command_num, _func, _cmd_desc), ##__VA_ARGS__

/* Common part of the two below. */
#define UAPI_DEF_NEEDS_FN(_scope, ibdev_fn)						\
	{										\
		.kind = UAPI_DEF_IS_SUPPORTED_DEV_FN,					\
		.scope = (_scope),							\
		.needs_fn_offset = offsetof(struct ib_device_ops, ibdev_fn) +		\
			BUILD_BUG_ON_ZERO(sizeof_field(struct ib_device_ops, ibdev_fn) !=	\
					  sizeof(void *)),				\
	}

/* The object, or the command before, exists only if the driver has this operation. */
#define UAPI_DEF_OBJ_NEEDS_FN(ibdev_fn) UAPI_DEF_NEEDS_FN(UAPI_SCOPE_OBJECT, ibdev_fn)
#define UAPI_DEF_METHOD_NEEDS_FN(ibdev_fn) UAPI_DEF_NEEDS_FN(UAPI_SCOPE_METHOD, ibdev_fn)

/* The object exists only if the function returns true. */
#define UAPI_DEF_IS_OBJ_SUPPORTED(_func)					\
	{									\
		.kind = UAPI_DEF_IS_SUPPORTED_FUNC,				\
		.scope = UAPI_SCOPE_OBJECT,					\
		.func_is_supported = (_func),					\
	}

/* Inserts the entries of another table. */
#define UAPI_DEF_CHAIN(_def_var)						\
	{									\
		.kind = UAPI_DEF_CHAIN,						\
		.chain = (_def_var),						\
	}

/* Methods of an object. */
#define UAPI_DEF_CHAIN_OBJ_TREE(_object_enum, _object_ptr, ...)			\
	{									\
		.kind = UAPI_DEF_CHAIN_OBJ_TREE,				\
		.object_start.object_id = (_object_enum),			\
		.chain_obj_tree = (_object_ptr),				\
	},									\
	##__VA_ARGS__

/* The same, for an object declared with rdma/uverbs_named_ioctl.h. */
#define UAPI_DEF_CHAIN_OBJ_TREE_NAMED(_object_enum, ...)				\
	UAPI_DEF_CHAIN_OBJ_TREE(_object_enum,						\
				PTR_IF(IS_ENABLED(CONFIG_INFINIBAND_USER_ACCESS),	\
				       &UVERBS_OBJECT(_object_enum)), ##__VA_ARGS__)

#endif /* RDMA_UVERBS_DEF_H */
