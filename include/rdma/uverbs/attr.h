/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The decoded and validated attributes of a command, and functions by which handlers
 * and drivers read and write them.
 */
#ifndef RDMA_UVERBS_ATTR_H
#define RDMA_UVERBS_ATTR_H

#include <linux/bitmap.h>
#include <linux/err.h>
#include <linux/overflow.h>
#include <linux/stddef.h>
#include <linux/uaccess.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs/key.h>

struct uverbs_api_attr;

/**
 * struct uverbs_ptr_attr - input or output
 * @ptr: kernel copy of input, with UA_ALLOC_AND_COPY
 * @data: input of up to eight bytes itself, or else the user address
 * @len: bytes
 * @uattr_idx: place in the user's list
 * @enum_id: the alternative chosen
 */
struct uverbs_ptr_attr {
	union {
		void *ptr;
		u64 data;
	};
	u16		len;
	u16		uattr_idx;
	u8		enum_id;
};

/**
 * struct uverbs_obj_attr - handle
 * @uobject: handle, locked as required by the specification
 * @attr_elm: its specification
 */
struct uverbs_obj_attr {
	struct ib_uobject		*uobject;
	const struct uverbs_api_attr	*attr_elm;
};

/* Array of handles. */
struct uverbs_objs_arr_attr {
	struct ib_uobject **uobjects;
	u16 len;
};

struct uverbs_attr {
	union {
		struct uverbs_ptr_attr	ptr_attr;
		struct uverbs_obj_attr	obj_attr;
		struct uverbs_objs_arr_attr objs_arr_attr;
	};
};

/**
 * struct uverbs_attr_bundle - a running command
 * @driver_udata: the driver's part of the request
 * @ucore: the core's part of a request of the write() ABI
 * @hdr: all members before the attributes, as a separate structure
 * @ufile: open file
 * @context: device context, NULL before there is one
 * @uobject: handle that the command creates
 * @attr_present: attributes given, by uapi_bkey_attr()
 * @attrs: the attributes, by uapi_bkey_attr()
 */
struct uverbs_attr_bundle {
	struct_group_tagged(uverbs_attr_bundle_hdr, hdr,
		struct ib_udata driver_udata;
		struct ib_udata ucore;
		struct ib_uverbs_file *ufile;
		struct ib_ucontext *context;
		struct ib_uobject *uobject;
		DECLARE_BITMAP(attr_present, UVERBS_API_ATTR_BKEY_LEN);
	);
	struct uverbs_attr attrs[];
};

/* Place of an attribute in a command. */
static inline unsigned int uverbs_attr_slot(unsigned int idx)
{
	return uapi_bkey_attr(uapi_key_attr(idx));
}

/**
 * uverbs_attr_is_valid() - was an attribute given?
 * @attrs_bundle: command
 * @idx: attribute
 *
 * Return: true if so.
 */
static inline bool uverbs_attr_is_valid(const struct uverbs_attr_bundle *attrs_bundle,
					unsigned int idx)
{
	unsigned int slot = uverbs_attr_slot(idx);

	return test_bit(slot, attrs_bundle->attr_present);
}

/**
 * uverbs_attr_get() - get an attribute
 * @attrs_bundle: command
 * @idx: attribute
 *
 * Return: the attribute, or ERR_PTR(-ENOENT) if it was not given.
 */
static inline const struct uverbs_attr *
uverbs_attr_get(const struct uverbs_attr_bundle *attrs_bundle, u16 idx)
{
	if (uverbs_attr_is_valid(attrs_bundle, idx))
		return attrs_bundle->attrs + uverbs_attr_slot(idx);
	return ERR_PTR(-ENOENT);
}

/* The command that carries this driver data. */
static inline struct uverbs_attr_bundle *rdma_udata_to_uverbs_attr_bundle(struct ib_udata *udata)
{
	return container_of(udata, struct uverbs_attr_bundle, driver_udata);
}

/* The driver's context of the command that carries udata; NULL if there is no command. */
#define rdma_udata_to_drv_context(udata, drv_dev_struct, member)				\
	((udata) ? container_of(rdma_udata_to_uverbs_attr_bundle(udata)->context,		\
				drv_dev_struct, member) : (drv_dev_struct *)NULL)

/* Is it another error than -ENOENT, which means that the attribute was not given? */
#define IS_UVERBS_COPY_ERR(_ret)	((_ret) != 0 && (_ret) != -ENOENT)

/**
 * uverbs_attr_get_enum_id() - get the alternative chosen by a UVERBS_ATTR_ENUM_IN attribute
 * @attrs_bundle: command
 * @idx: attribute
 *
 * Return: its number, or -ENOENT.
 */
static inline int uverbs_attr_get_enum_id(const struct uverbs_attr_bundle *attrs_bundle, u16 idx)
{
	const struct uverbs_attr *found = uverbs_attr_get(attrs_bundle, idx);

	return IS_ERR(found) ? PTR_ERR(found) : found->ptr_attr.enum_id;
}

/**
 * uverbs_attr_get_len() - get the length of an attribute in bytes
 * @attrs_bundle: command
 * @idx: attribute
 *
 * Return: bytes, or -ENOENT.
 */
static inline int uverbs_attr_get_len(const struct uverbs_attr_bundle *attrs_bundle, u16 idx)
{
	const struct uverbs_attr *found = uverbs_attr_get(attrs_bundle, idx);

	return IS_ERR(found) ? PTR_ERR(found) : found->ptr_attr.len;
}

/**
 * uverbs_attr_get_uobject() - get the handle in an attribute
 * @attrs_bundle: command
 * @idx: attribute
 *
 * Return: the handle, or ERR_PTR(-ENOENT).
 */
static inline struct ib_uobject *
uverbs_attr_get_uobject(const struct uverbs_attr_bundle *attrs_bundle, u16 idx)
{
	const struct uverbs_attr *found = uverbs_attr_get(attrs_bundle, idx);

	return IS_ERR(found) ? ERR_CAST(found) : found->obj_attr.uobject;
}

/**
 * uverbs_attr_get_obj() - get the object of the handle in an attribute
 * @attrs_bundle: command
 * @idx: attribute
 *
 * Return: the object, or ERR_PTR(-ENOENT).
 */
static inline void *uverbs_attr_get_obj(const struct uverbs_attr_bundle *attrs_bundle, u16 idx)
{
	struct ib_uobject *uobject = uverbs_attr_get_uobject(attrs_bundle, idx);

	return IS_ERR(uobject) ? ERR_CAST(uobject) : uobject->object;
}

void uverbs_finalize_uobj_create(const struct uverbs_attr_bundle *attrs_bundle,
				 u16 idx);

/**
 * uverbs_attr_ptr_get_array_size() - get the number of elements of an attribute that is an array
 * @attrs: command
 * @idx: attribute
 * @elem_size: bytes of an element
 *
 * Return: the number, -ENOENT, or -EINVAL if the length is no multiple of @elem_size.
 */
static inline int uverbs_attr_ptr_get_array_size(struct uverbs_attr_bundle *attrs, u16 idx,
						 size_t elem_size)
{
	int len = uverbs_attr_get_len(attrs, idx);

	if (len <= 0)
		return len;
	return len % elem_size ? -EINVAL : len / elem_size;
}

/**
 * uverbs_attr_get_uobjs_arr() - get the handles in an attribute
 * @attrs_bundle: command
 * @attr_idx: attribute
 * @arr: receives the array, NULL if it was not given
 *
 * Return: number of handles.
 */
static inline int uverbs_attr_get_uobjs_arr(const struct uverbs_attr_bundle *attrs_bundle,
					    u16 attr_idx, struct ib_uobject ***arr)
{
	struct uverbs_objs_arr_attr handles = {};

	if (uverbs_attr_is_valid(attrs_bundle, attr_idx))
		handles = uverbs_attr_get(attrs_bundle, attr_idx)->objs_arr_attr;
	*arr = handles.uobjects;
	return handles.len;
}

/* Is the input stored in the attribute itself? */
static inline bool uverbs_attr_ptr_is_inline(const struct uverbs_attr *attr)
{
	return attr->ptr_attr.len <= sizeof(u64);
}

/**
 * uverbs_attr_get_alloced_ptr() - get input that was declared with UA_ALLOC_AND_COPY
 * @attrs_bundle: command
 * @idx: attribute
 *
 * Return: kernel memory that lives as long as the command, or ERR_PTR(-ENOENT).
 */
static inline void *uverbs_attr_get_alloced_ptr(const struct uverbs_attr_bundle *attrs_bundle,
						u16 idx)
{
	const struct uverbs_attr *found = uverbs_attr_get(attrs_bundle, idx);

	if (IS_ERR(found))
		return ERR_CAST(found);
	if (!uverbs_attr_ptr_is_inline(found))
		return found->ptr_attr.ptr;
	return (void *)&found->ptr_attr.data;
}

/* Copies the first bytes of input, from the attribute itself or from user memory. */
static inline int uverbs_attr_read(void *to, const struct uverbs_attr *attr, size_t bytes)
{
	if (uverbs_attr_ptr_is_inline(attr)) {
		memcpy(to, &attr->ptr_attr.data, bytes);
		return 0;
	}
	return copy_from_user(to, u64_to_user_ptr(attr->ptr_attr.data), bytes) ? -EFAULT : 0;
}

static inline int _uverbs_copy_from(void *to, const struct uverbs_attr_bundle *attrs_bundle,
				    size_t idx, size_t size)
{
	const struct uverbs_attr *found = uverbs_attr_get(attrs_bundle, idx);

	if (IS_ERR(found))
		return PTR_ERR(found);
	if (found->ptr_attr.len > size)
		return -EINVAL;
	return uverbs_attr_read(to, found, found->ptr_attr.len);
}

static inline int _uverbs_copy_from_or_zero(void *to,
					    const struct uverbs_attr_bundle *attrs_bundle,
					    size_t idx, size_t size)
{
	const struct uverbs_attr *found = uverbs_attr_get(attrs_bundle, idx);
	size_t bytes;
	int err;

	if (IS_ERR(found))
		return PTR_ERR(found);

	bytes = min_t(size_t, found->ptr_attr.len, size);
	err = uverbs_attr_read(to, found, bytes);
	if (!err)
		memset(to + bytes, 0, size - bytes);
	return err;
}

/* Copy input to *to: -ENOENT when it was not given, -EINVAL when longer than *to, -EFAULT. */
#define uverbs_copy_from(to, attrs_bundle, idx) \
	_uverbs_copy_from(to, attrs_bundle, idx, sizeof(*to))

/* Copy what fits and clear the rest of *to: -ENOENT when it was not given, -EFAULT. */
#define uverbs_copy_from_or_zero(to, attrs_bundle, idx) \
	_uverbs_copy_from_or_zero(to, attrs_bundle, idx, sizeof(*to))

/**
 * ib_uverbs_get_ucontext() - get the device context of a command, even of one that needs none
 * @attrs: command
 *
 * Return: the context or an error pointer.
 */
static inline struct ib_ucontext *ib_uverbs_get_ucontext(const struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_file *ufile = attrs->ufile;

	return ib_uverbs_get_ucontext_file(ufile);
}

#if IS_ENABLED(CONFIG_INFINIBAND_USER_ACCESS)

int uverbs_get_flags64(u64 *to, const struct uverbs_attr_bundle *attrs_bundle,
		       size_t idx, u64 allowed_bits);

int uverbs_get_flags32(u32 *to, const struct uverbs_attr_bundle *attrs_bundle,
		       size_t idx, u64 allowed_bits);

int uverbs_copy_to(const struct uverbs_attr_bundle *attrs_bundle, size_t idx,
		   const void *from, size_t size);

__malloc void *_uverbs_alloc(struct uverbs_attr_bundle *bundle, size_t size, gfp_t flags);

int _uverbs_get_const_signed(s64 *to,
			     const struct uverbs_attr_bundle *attrs_bundle,
			     size_t idx, s64 lower_bound, u64 upper_bound,
			     s64 *def_val);

int _uverbs_get_const_unsigned(u64 *to,
			       const struct uverbs_attr_bundle *attrs_bundle,
			       size_t idx, u64 upper_bound, u64 *def_val);

int uverbs_copy_to_struct_or_zero(const struct uverbs_attr_bundle *bundle,
				  size_t idx, const void *from, size_t size);

#else /* CONFIG_INFINIBAND_USER_ACCESS */

/* For drivers, whose methods are compiled but cannot be called. */
static inline int uverbs_get_flags64(u64 *to, const struct uverbs_attr_bundle *attrs_bundle,
				     size_t idx, u64 allowed_bits)
{
	return -EINVAL;
}

static inline int uverbs_get_flags32(u32 *to, const struct uverbs_attr_bundle *attrs_bundle,
				     size_t idx, u64 allowed_bits)
{
	return -EINVAL;
}

static inline int uverbs_copy_to(const struct uverbs_attr_bundle *attrs_bundle, size_t idx,
				 const void *from, size_t size)
{
	return -EINVAL;
}

static inline void *_uverbs_alloc(struct uverbs_attr_bundle *bundle, size_t size, gfp_t flags)
{
	return ERR_PTR(-EINVAL);
}

static inline int _uverbs_get_const_signed(s64 *to, const struct uverbs_attr_bundle *attrs_bundle,
					   size_t idx, s64 lower_bound, u64 upper_bound,
					   s64 *def_val)
{
	return -EINVAL;
}

static inline int _uverbs_get_const_unsigned(u64 *to,
					     const struct uverbs_attr_bundle *attrs_bundle,
					     size_t idx, u64 upper_bound, u64 *def_val)
{
	return -EINVAL;
}

static inline int uverbs_copy_to_struct_or_zero(const struct uverbs_attr_bundle *bundle,
						size_t idx, const void *from, size_t size)
{
	return -EINVAL;
}

#endif /* CONFIG_INFINIBAND_USER_ACCESS */

/**
 * uverbs_alloc() - allocate memory that lives as long as a command
 * @bundle: command
 * @size: bytes
 *
 * Return: memory or an error pointer.
 */
static inline __malloc void *uverbs_alloc(struct uverbs_attr_bundle *bundle, size_t size)
{
	gfp_t gfp = GFP_KERNEL;

	return _uverbs_alloc(bundle, size, gfp);
}

/* The same, cleared. */
static inline __malloc void *uverbs_zalloc(struct uverbs_attr_bundle *bundle, size_t size)
{
	gfp_t gfp = GFP_KERNEL | __GFP_ZERO;

	return _uverbs_alloc(bundle, size, gfp);
}

/* The same, for an array. */
static inline __malloc void *uverbs_kcalloc(struct uverbs_attr_bundle *bundle, size_t n,
					    size_t size)
{
	size_t total = size_mul(n, size);

	return total == SIZE_MAX ? ERR_PTR(-EOVERFLOW) : uverbs_zalloc(bundle, total);
}

/*
 * Read a constant into *_to: -ENOENT when it was not given and there is no default, -EINVAL when
 * it does not fit the type.
 */
#define _uverbs_get_const_s(_to, _attrs_bundle, _idx, _def)				\
	({										\
		s64 _const = 0;								\
		int _err = _uverbs_get_const_signed(&_const, _attrs_bundle, _idx,	\
						    type_min(typeof(*(_to))),		\
						    type_max(typeof(*(_to))), _def);	\
		*(_to) = _const;							\
		_err;									\
	})

#define _uverbs_get_const_u(_to, _attrs_bundle, _idx, _def)				\
	({										\
		u64 _const = 0;								\
		int _err = _uverbs_get_const_unsigned(&_const, _attrs_bundle, _idx,	\
						      type_max(typeof(*(_to))), _def);	\
		*(_to) = _const;							\
		_err;									\
	})

#define uverbs_get_const_signed(_to, _attrs_bundle, _idx) \
	_uverbs_get_const_s(_to, _attrs_bundle, _idx, NULL)

#define uverbs_get_const_unsigned(_to, _attrs_bundle, _idx) \
	_uverbs_get_const_u(_to, _attrs_bundle, _idx, NULL)

#define uverbs_get_const_default_signed(_to, _attrs_bundle, _idx, _default) \
	_uverbs_get_const_s(_to, _attrs_bundle, _idx, &(s64){ (_default) })

#define uverbs_get_const_default_unsigned(_to, _attrs_bundle, _idx, _default) \
	_uverbs_get_const_u(_to, _attrs_bundle, _idx, &(u64){ (_default) })

#define uverbs_get_const(_to, _attrs_bundle, _idx)					\
	(is_signed_type(typeof(*(_to))) ?						\
	 uverbs_get_const_signed(_to, _attrs_bundle, _idx) :				\
	 uverbs_get_const_unsigned(_to, _attrs_bundle, _idx))

#define uverbs_get_const_default(_to, _attrs_bundle, _idx, _default)			\
	(is_signed_type(typeof(*(_to))) ?						\
	 uverbs_get_const_default_signed(_to, _attrs_bundle, _idx, _default) :		\
	 uverbs_get_const_default_unsigned(_to, _attrs_bundle, _idx, _default))

/**
 * uverbs_get_raw_fd() - get the descriptor in an attribute
 * @to: receives it
 * @attrs_bundle: command
 * @idx: attribute
 *
 * Return: 0, -ENOENT, or -EINVAL.
 */
static inline int uverbs_get_raw_fd(int *to, const struct uverbs_attr_bundle *attrs_bundle,
				    size_t idx)
{
	return uverbs_get_const_signed(to, attrs_bundle, idx);
}

#endif /* RDMA_UVERBS_ATTR_H */
