/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Specifications of attributes.  Each UVERBS_ATTR_*() defines one; its last
 * arguments are UA_*, which among others say whether it is mandatory.
 */
#ifndef RDMA_UVERBS_SPEC_H
#define RDMA_UVERBS_SPEC_H

#include <linux/build_bug.h>
#include <linux/mm.h>
#include <linux/stddef.h>
#include <linux/types.h>
#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_ioctl_verbs.h>
#include <rdma/rdma_user_ioctl.h>

enum uverbs_attr_type {
	UVERBS_ATTR_TYPE_NA,
	UVERBS_ATTR_TYPE_PTR_IN,
	UVERBS_ATTR_TYPE_PTR_OUT,
	UVERBS_ATTR_TYPE_IDR,
	UVERBS_ATTR_TYPE_FD,
	UVERBS_ATTR_TYPE_RAW_FD,
	UVERBS_ATTR_TYPE_ENUM_IN,
	UVERBS_ATTR_TYPE_IDRS_ARRAY,
};

enum uverbs_obj_access {
	UVERBS_ACCESS_READ,
	UVERBS_ACCESS_WRITE,
	UVERBS_ACCESS_NEW,
	UVERBS_ACCESS_DESTROY
};

/**
 * struct uverbs_attr_spec - specification of an attribute
 * @type: enum uverbs_attr_type
 * @zero_trailing: longer input is accepted if the bytes that this kernel does not know are zero
 * @alloc_and_copy: input is copied to kernel memory before the handler runs
 * @mandatory: must be present
 * @is_udata: the attribute is the driver's part of the command
 * @u: lengths, object type and access, or number of alternatives
 * @u2: the alternatives, or the specification of an array of handles
 */
struct uverbs_attr_spec {
	u8 type;

	u8 zero_trailing:1;

	u8 alloc_and_copy:1;
	u8 mandatory:1;

	u8 is_udata:1;

	union {
		struct {
			u16 len;

			u16 min_len;
		} ptr;

		struct {
			u16 obj_type;
			u8 access;
		} obj;

		struct {
			u8 num_elems;
		} enum_def;
	} u;

	union {
		struct {
			const struct uverbs_attr_spec *ids;
		} enum_def;

		struct {
			u16				obj_type;
			u16				min_len;
			u16				max_len;
			u8				access;
		} objs_arr;
	} u2;
};

/* An attribute's number and specification. */
struct uverbs_attr_def {
	u16                           id;
	struct uverbs_attr_spec       attr;
};

#define UA_ALLOC_AND_COPY .alloc_and_copy = 1
#define UA_MANDATORY .mandatory = 1
#define UA_OPTIONAL .mandatory = 0

/* Lengths of input and output, the second argument of UVERBS_ATTR_PTR_IN() and _OUT(). */
#define UVERBS_ATTR_SIZE(_min_len, _len) .u.ptr = { .len = (_len), .min_len = (_min_len) }
#define UVERBS_ATTR_NO_DATA() UVERBS_ATTR_SIZE(0, 0)
#define UVERBS_ATTR_TYPE(_type) UVERBS_ATTR_SIZE(sizeof(_type), sizeof(_type))
#define UVERBS_ATTR_MIN_SIZE(_min_len) UVERBS_ATTR_SIZE(_min_len, USHRT_MAX)
/* A structure that has grown: its first version ends with _last. */
#define UVERBS_ATTR_STRUCT(_type, _last) \
	.zero_trailing = 1, UVERBS_ATTR_SIZE(offsetofend(_type, _last), sizeof(_type))

/* A definition with static storage, which lives as long as the table that points to it. */
#define UVERBS_ATTR_DEF(_attr_id, ...) \
	(&(const struct uverbs_attr_def){ .id = (_attr_id), .attr = { __VA_ARGS__ } })

/* Input, and output, of the lengths that _type gives. */
#define UVERBS_ATTR_PTR_IN(_attr_id, _type, ...) \
	UVERBS_ATTR_DEF(_attr_id, .type = UVERBS_ATTR_TYPE_PTR_IN, _type, __VA_ARGS__)
#define UVERBS_ATTR_PTR_OUT(_attr_id, _type, ...) \
	UVERBS_ATTR_DEF(_attr_id, .type = UVERBS_ATTR_TYPE_PTR_OUT, _type, __VA_ARGS__)

/* A constant of an enum, in 64 bits. */
#define UVERBS_ATTR_CONST_IN(_attr_id, _enum_type, ...)					\
	UVERBS_ATTR_PTR_IN((_attr_id) + BUILD_BUG_ON_ZERO(!sizeof(_enum_type)),		\
			   UVERBS_ATTR_TYPE(u64), __VA_ARGS__)

/* A mask of an enum's constants, in 32 or 64 bits. */
#define UVERBS_ATTR_FLAGS_IN(_attr_id, _enum_type, ...)					\
	UVERBS_ATTR_PTR_IN((_attr_id) + BUILD_BUG_ON_ZERO(!sizeof(_enum_type *)),	\
			   UVERBS_ATTR_SIZE(sizeof(u32), sizeof(u64)), __VA_ARGS__)

/* Input with alternatives: a member of the attribute selects one of an array of specifications. */
#define UVERBS_ATTR_ENUM_IN(_attr_id, _enum_arr, ...)					\
	UVERBS_ATTR_DEF(_attr_id, .type = UVERBS_ATTR_TYPE_ENUM_IN,			\
			.u.enum_def.num_elems = ARRAY_SIZE(_enum_arr),			\
			.u2.enum_def.ids = (_enum_arr), __VA_ARGS__)

/* Used as object type: handles of any type are accepted. */
#define UVERBS_IDR_ANY_OBJECT 0xFFFF

/* A handle. */
#define UVERBS_ATTR_IDR(_attr_id, _idr_type, _access, ...)				\
	UVERBS_ATTR_DEF(_attr_id, .type = UVERBS_ATTR_TYPE_IDR,				\
			.u.obj = { .obj_type = (_idr_type), .access = (_access) },	\
			__VA_ARGS__)

/* A descriptor of an object to be created or to be used. */
#define UVERBS_ATTR_FD(_attr_id, _fd_type, _access, ...)				\
	UVERBS_ATTR_DEF((_attr_id) + BUILD_BUG_ON_ZERO((_access) != UVERBS_ACCESS_READ &&	\
						       (_access) != UVERBS_ACCESS_NEW),	\
			.type = UVERBS_ATTR_TYPE_FD,					\
			.u.obj = { .obj_type = (_fd_type), .access = (_access) },	\
			__VA_ARGS__)

/* A descriptor of any file. */
#define UVERBS_ATTR_RAW_FD(_attr_id, ...) \
	UVERBS_ATTR_DEF(_attr_id, .type = UVERBS_ATTR_TYPE_RAW_FD, __VA_ARGS__)

/* An array of handles of objects to be used: at least one, no more than a page of pointers. */
#define UVERBS_ATTR_IDRS_ARR(_attr_id, _idr_type, _access, _min_len, _max_len, ...)	\
	UVERBS_ATTR_DEF((_attr_id) +							\
			BUILD_BUG_ON_ZERO((_access) != UVERBS_ACCESS_READ &&		\
					  (_access) != UVERBS_ACCESS_WRITE) +		\
			BUILD_BUG_ON_ZERO((_min_len) < 1 || (_min_len) > (_max_len)) +	\
			BUILD_BUG_ON_ZERO((_max_len) * sizeof(void *) > PAGE_SIZE),	\
			.type = UVERBS_ATTR_TYPE_IDRS_ARRAY,				\
			.u2.objs_arr = { .obj_type = (_idr_type), .access = (_access),	\
					 .min_len = (_min_len), .max_len = (_max_len) },	\
			__VA_ARGS__)

/* The driver's input and output, part of a method's list. */
#define UVERBS_ATTR_UHW()								\
	UVERBS_ATTR_PTR_IN(UVERBS_ATTR_UHW_IN, UVERBS_ATTR_MIN_SIZE(0),			\
			   UA_OPTIONAL, .is_udata = 1),					\
	UVERBS_ATTR_PTR_OUT(UVERBS_ATTR_UHW_OUT, UVERBS_ATTR_MIN_SIZE(0),		\
			    UA_OPTIONAL, .is_udata = 1)

#endif /* RDMA_UVERBS_SPEC_H */
