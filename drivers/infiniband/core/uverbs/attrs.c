// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The attributes of an ioctl request are checked and taken apart here.  Handlers of drivers read
 * them through the accessors of <rdma/uverbs_ioctl.h>.
 */
#include <kunit/visibility.h>
#include <linux/overflow.h>

#include "api.h"
#include "decode.h"

#define INLINE_LEN	sizeof_field(struct ib_uverbs_attr, data)

/**
 * uverbs_attr_key_name() - get the name of a method's attribute, for refusals
 * @method: the method
 * @key: the attribute's place in it
 *
 * Attributes of a driver have ids in a name space of their own, for which no names are known here.
 *
 * Return: the name.
 */
const char *uverbs_attr_key_name(const struct uverbs_method *method, unsigned int key)
{
	if (method->row[key] != UV_NO_ROW)
		return method->cmd->args[method->row[key]].name;
	if (method->spec[key].is_udata && method->spec[key].type == UVERBS_ATTR_TYPE_PTR_IN)
		return "driver request";
	if (method->spec[key].is_udata)
		return "driver response";
	return "driver attribute";
}

/**
 * uverbs_attr_name() - get the name of a request's attribute, for refusals
 * @call: an ioctl request
 * @id: attribute id, one that the method has
 *
 * Return: the name.
 */
const char *uverbs_attr_name(const struct uverbs_call *call, u16 id)
{
	return uverbs_attr_key_name(call->method, uapi_bkey_attr(uapi_key_attr(id)));
}

/* Bytes that this kernel does not know must be zero. */
static bool tail_is_zero(const struct ib_uverbs_attr *uattr, u16 known)
{
	if (uattr->len > INLINE_LEN)
		return ib_is_buffer_cleared(u64_to_user_ptr(uattr->data) + known,
					    uattr->len - known);
	return !memchr_inv((const u8 *)&uattr->data + known, 0, uattr->len - known);
}

static noinline int copy_payload(struct uverbs_call *call, const struct ib_uverbs_attr *uattr,
				 struct uverbs_ptr_attr *ptr, const char *name)
{
	void *copy = uverbs_alloc(&call->bundle, uattr->len);

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	if (copy_from_user(copy, u64_to_user_ptr(uattr->data), uattr->len))
		return uverbs_refuse(call, -EFAULT, "%s: cannot be read", name);
	ptr->ptr = copy;
	return 0;
}

/* This is inline because most attributes are pointers, and because variants use it as well. */
static __always_inline int decode_pointer(struct uverbs_call *call, struct ib_uverbs_attr *uattr,
					  const struct uverbs_attr_spec *spec,
					  struct uverbs_ptr_attr *ptr, const char *name)
{
	u16 len = spec->u.ptr.len, min = spec->u.ptr.min_len;

	if (uattr->len < min)
		return uverbs_refuse(call, -EINVAL, "%s: %u bytes, needs at least %u", name,
				     uattr->len, min);
	if (uattr->len > len && !spec->zero_trailing)
		return uverbs_refuse(call, -EINVAL, "%s: %u bytes, takes at most %u", name,
				     uattr->len, len);
	if (uattr->len > len && spec->type == UVERBS_ATTR_TYPE_PTR_IN && !tail_is_zero(uattr, len))
		return uverbs_refuse(call, -EOPNOTSUPP,
				     "%s: bytes behind the %u known ones are not zero", name, len);

	ptr->len = uattr->len;
	ptr->uattr_idx = uattr - call->uattrs;
	ptr->data = uattr->data;
	if (!spec->alloc_and_copy || uattr->len <= INLINE_LEN)
		return 0;

	return copy_payload(call, uattr, ptr, name);
}

static noinline int decode_enum(struct uverbs_call *call, struct ib_uverbs_attr *uattr,
				const struct uverbs_attr_spec *spec, struct uverbs_ptr_attr *ptr,
				const char *name)
{
	u8 choice = uattr->attr_data.enum_data.elem_id;

	if (choice >= spec->u.enum_def.num_elems ||
	    spec->u2.enum_def.ids[choice].type != UVERBS_ATTR_TYPE_PTR_IN)
		return uverbs_refuse(call, -EOPNOTSUPP, "%s: no variant %u", name, choice);
	if (uattr->attr_data.enum_data.reserved)
		return uverbs_refuse(call, -EINVAL, "%s: reserved byte is not zero", name);
	ptr->enum_id = choice;
	return decode_pointer(call, uattr, &spec->u2.enum_def.ids[choice], ptr, name);
}

static int decode_object(struct uverbs_call *call, struct ib_uverbs_attr *uattr,
			 const struct uverbs_attr_spec *spec, struct uverbs_obj_attr *obj,
			 const char *name)
{
	if (uattr->len)
		return uverbs_refuse(call, -EINVAL, "%s: a handle has no length", name);

	obj->uobject = uverbs_take(call, spec->u.obj.obj_type, spec->u.obj.access,
				   uattr->data_s64, name);
	if (IS_ERR(obj->uobject))
		return PTR_ERR(obj->uobject);
	call->held->uattr = uattr;
	return 0;
}

static noinline int decode_objects(struct uverbs_call *call, struct ib_uverbs_attr *uattr,
				   const struct uverbs_attr_spec *spec,
				   struct uverbs_objs_arr_attr *arr, const char *name)
{
	unsigned int count = uattr->len / sizeof(u32);
	struct ib_uobject *uobj;
	u32 *ids;

	if (uattr->len % sizeof(u32) || count < spec->u2.objs_arr.min_len ||
	    count > spec->u2.objs_arr.max_len)
		return uverbs_refuse(call, -EINVAL, "%s: %u bytes, takes %u to %u handles", name,
				     uattr->len, spec->u2.objs_arr.min_len,
				     spec->u2.objs_arr.max_len);

	ids = uverbs_alloc(&call->bundle, uattr->len);
	arr->uobjects = uverbs_alloc(&call->bundle, array_size(count, sizeof(*arr->uobjects)));
	if (IS_ERR(ids) || IS_ERR(arr->uobjects))
		return -ENOMEM;
	if (uattr->len <= INLINE_LEN)
		memcpy(ids, &uattr->data, uattr->len);
	else if (copy_from_user(ids, u64_to_user_ptr(uattr->data), uattr->len))
		return uverbs_refuse(call, -EFAULT, "%s: cannot be read", name);

	for (unsigned int i = 0; i < count; i++) {
		uobj = uverbs_take(call, spec->u2.objs_arr.obj_type, spec->u2.objs_arr.access,
				   ids[i], name);
		if (IS_ERR(uobj))
			return PTR_ERR(uobj);
		arr->uobjects[i] = uobj;
	}
	arr->len = count;
	return 0;
}

/**
 * uverbs_decode_attr() - check one attribute and put it into the bundle
 * @call: the request
 * @uattr: the attribute, an element of @call->uattrs
 * @spec: the attribute's specification
 * @key: its place in the bundle
 * @name: for refusals
 *
 * Objects are taken; payloads are read only as far as @spec requires.
 *
 * Return: 0; -EINVAL for a wrong length or handle, or a second attribute of the same kind;
 * -EOPNOTSUPP for contents this kernel does not know; or an error of uverbs_take().
 */
int uverbs_decode_attr(struct uverbs_call *call, struct ib_uverbs_attr *uattr,
		       const struct uverbs_attr_spec *spec, unsigned int key, const char *name)
{
	struct uverbs_attr *attr = &call->bundle.attrs[key];
	int ret;

	if (test_bit(key, call->bundle.attr_present))
		return uverbs_refuse(call, -EINVAL, "%s: given twice", name);
	if (spec->type != UVERBS_ATTR_TYPE_ENUM_IN && uattr->attr_data.reserved)
		return uverbs_refuse(call, -EINVAL, "%s: reserved bytes are not zero", name);

	memset(attr, 0, sizeof(*attr));
	switch (spec->type) {
	case UVERBS_ATTR_TYPE_PTR_IN:
	case UVERBS_ATTR_TYPE_PTR_OUT:
		ret = decode_pointer(call, uattr, spec, &attr->ptr_attr, name);
		break;
	case UVERBS_ATTR_TYPE_ENUM_IN:
		ret = decode_enum(call, uattr, spec, &attr->ptr_attr, name);
		break;
	case UVERBS_ATTR_TYPE_IDR:
	case UVERBS_ATTR_TYPE_FD:
		ret = decode_object(call, uattr, spec, &attr->obj_attr, name);
		break;
	case UVERBS_ATTR_TYPE_IDRS_ARRAY:
		ret = decode_objects(call, uattr, spec, &attr->objs_arr_attr, name);
		break;
	case UVERBS_ATTR_TYPE_RAW_FD:
		if (uattr->len || uattr->data_s64 < INT_MIN || uattr->data_s64 > INT_MAX)
			return uverbs_refuse(call, -EINVAL, "%s: not a file descriptor", name);
		attr->ptr_attr.data = uattr->data_s64;
		ret = 0;
		break;
	default:
		ret = -EOPNOTSUPP;
		break;
	}
	if (!ret)
		__set_bit(key, call->bundle.attr_present);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_decode_attr);

/**
 * uverbs_attr_written() - mark a result attribute as written in user memory
 * @call: the request
 * @attr: the attribute that carries it
 *
 * Return: 0 or -EFAULT.
 */
int uverbs_attr_written(struct uverbs_call *call, const struct uverbs_attr *attr)
{
	u16 idx = attr->ptr_attr.uattr_idx;

	if (put_user(call->uattrs[idx].flags | UVERBS_ATTR_F_VALID_OUTPUT,
		     &call->user_attrs[idx].flags))
		return uverbs_refuse(call, -EFAULT, "%s: attribute cannot be written",
				     uverbs_attr_name(call, call->uattrs[idx].attr_id));
	return 0;
}

/**
 * uverbs_udata_from_attrs() - make an ib_udata of a pair of attributes
 * @call: the request
 * @udata: result; empty where an attribute is missing
 * @in: attribute with data for the kernel
 * @out: attribute with room for a reply
 */
void uverbs_udata_from_attrs(struct uverbs_call *call, struct ib_udata *udata, u16 in, u16 out)
{
	const struct uverbs_attr *attr;

	*udata = (struct ib_udata){};

	attr = uverbs_attr_get(&call->bundle, in);
	if (!IS_ERR(attr)) {
		udata->inlen = attr->ptr_attr.len;
		/* A short payload is in the attribute itself. */
		udata->inbuf = uverbs_attr_ptr_is_inline(attr) ?
			       (const void __user *)
			       &call->user_attrs[attr->ptr_attr.uattr_idx].data :
			       u64_to_user_ptr(attr->ptr_attr.data);
	}
	attr = uverbs_attr_get(&call->bundle, out);
	if (!IS_ERR(attr)) {
		udata->outlen = attr->ptr_attr.len;
		udata->outbuf = u64_to_user_ptr(attr->ptr_attr.data);
	}
}

/**
 * uverbs_copy_to() - write a result attribute
 * @bundle: the request
 * @idx: attribute id
 * @from: result
 * @size: its size; the copy is truncated to the room that user space has
 *
 * Return: 0, -ENOENT if user space did not ask for it, -EFAULT.
 */
int uverbs_copy_to(const struct uverbs_attr_bundle *bundle, size_t idx, const void *from,
		   size_t size)
{
	struct uverbs_call *call = uverbs_call_of((struct uverbs_attr_bundle *)bundle);
	const struct uverbs_attr *attr = uverbs_attr_get(bundle, idx);

	if (IS_ERR(attr))
		return PTR_ERR(attr);
	if (copy_to_user(u64_to_user_ptr(attr->ptr_attr.data), from,
			 min_t(size_t, size, attr->ptr_attr.len)))
		return uverbs_refuse(call, -EFAULT, "%s: result cannot be written",
				     uverbs_attr_name(call, idx));
	return uverbs_attr_written(call, attr);
}
EXPORT_SYMBOL(uverbs_copy_to);

/**
 * uverbs_copy_to_struct_or_zero() - write a result that user space may know a longer form of
 * @bundle: the request
 * @idx: attribute id
 * @from: result
 * @size: its size; room of user space behind it is cleared
 *
 * Return: as uverbs_copy_to().
 */
int uverbs_copy_to_struct_or_zero(const struct uverbs_attr_bundle *bundle, size_t idx,
				  const void *from, size_t size)
{
	struct uverbs_call *call = uverbs_call_of((struct uverbs_attr_bundle *)bundle);
	const struct uverbs_attr *attr = uverbs_attr_get(bundle, idx);

	if (IS_ERR(attr))
		return PTR_ERR(attr);
	if (attr->ptr_attr.len > size &&
	    clear_user(u64_to_user_ptr(attr->ptr_attr.data) + size, attr->ptr_attr.len - size))
		return uverbs_refuse(call, -EFAULT, "%s: result cannot be written",
				     uverbs_attr_name(call, idx));
	return uverbs_copy_to(bundle, idx, from, size);
}
EXPORT_SYMBOL(uverbs_copy_to_struct_or_zero);

/**
 * uverbs_get_flags64() - read a bit mask
 * @to: result; 0 if the attribute is missing
 * @bundle: the request
 * @idx: attribute id; 4 or 8 bytes
 * @allowed_bits: bits that exist
 *
 * Return: 0 or -EINVAL.
 */
int uverbs_get_flags64(u64 *to, const struct uverbs_attr_bundle *bundle, size_t idx,
		       u64 allowed_bits)
{
	const struct uverbs_attr *attr = uverbs_attr_get(bundle, idx);
	u64 bits = 0;

	if (!IS_ERR(attr)) {
		switch (attr->ptr_attr.len) {
		case sizeof(u32):
			bits = *(const u32 *)&attr->ptr_attr.data;
			break;
		case sizeof(u64):
			bits = attr->ptr_attr.data;
			break;
		default:
			return rdma_refuse(-EINVAL, "attribute %zu: a mask has 4 or 8 bytes", idx);
		}
	}
	if (bits & ~allowed_bits)
		return rdma_refuse(-EINVAL, "attribute %zu: unknown flags %#llx", idx,
				   bits & ~allowed_bits);
	*to = bits;
	return 0;
}
EXPORT_SYMBOL(uverbs_get_flags64);

/**
 * uverbs_get_flags32() - read a bit mask into 32 bits
 * @to: result; 0 if the attribute is missing
 * @bundle: the request
 * @idx: attribute id; 4 or 8 bytes
 * @allowed_bits: bits that exist
 *
 * Return: 0 or -EINVAL.
 */
int uverbs_get_flags32(u32 *to, const struct uverbs_attr_bundle *bundle, size_t idx,
		       u64 allowed_bits)
{
	u64 bits;
	int ret;

	ret = uverbs_get_flags64(&bits, bundle, idx, allowed_bits & U32_MAX);
	if (!ret)
		*to = bits;
	return ret;
}
EXPORT_SYMBOL(uverbs_get_flags32);

/* Reads the attribute's value or, if it is missing, the default. */
static int const_value(u64 *val, const struct uverbs_attr_bundle *bundle, size_t idx,
		       const void *fallback)
{
	const struct uverbs_attr *attr = uverbs_attr_get(bundle, idx);

	if (!IS_ERR(attr))
		*val = attr->ptr_attr.data;
	else if (fallback)
		*val = *(const u64 *)fallback;
	else
		return PTR_ERR(attr);
	return 0;
}

/**
 * _uverbs_get_const_signed() - read a signed number
 * @to: result
 * @bundle: the request
 * @idx: attribute id
 * @lower_bound: smallest value
 * @upper_bound: largest
 * @def_val: value if the attribute is missing; NULL makes that an error
 *
 * Return: 0, -ENOENT, or -EINVAL out of bounds.
 */
int _uverbs_get_const_signed(s64 *to, const struct uverbs_attr_bundle *bundle, size_t idx,
			     s64 lower_bound, u64 upper_bound, s64 *def_val)
{
	u64 val;
	int ret;

	ret = const_value(&val, bundle, idx, def_val);
	if (ret)
		return ret;
	*to = val;
	if (*to < lower_bound || (*to > 0 && val > upper_bound))
		return rdma_refuse(-EINVAL, "attribute %zu: %lld is out of range", idx, *to);
	return 0;
}
EXPORT_SYMBOL(_uverbs_get_const_signed);

/**
 * _uverbs_get_const_unsigned() - read an unsigned number
 * @to: result
 * @bundle: the request
 * @idx: attribute id
 * @upper_bound: largest value
 * @def_val: value if the attribute is missing; NULL makes that an error
 *
 * Return: 0, -ENOENT, or -EINVAL out of bounds.
 */
int _uverbs_get_const_unsigned(u64 *to, const struct uverbs_attr_bundle *bundle, size_t idx,
			       u64 upper_bound, u64 *def_val)
{
	int ret;

	ret = const_value(to, bundle, idx, def_val);
	if (!ret && *to > upper_bound)
		ret = rdma_refuse(-EINVAL, "attribute %zu: %llu is out of range", idx, *to);
	return ret;
}
EXPORT_SYMBOL(_uverbs_get_const_unsigned);

/**
 * uverbs_finalize_uobj_create() - note that the driver knows a new object
 * @bundle: the request
 * @idx: attribute that makes the object
 *
 * Should the request fail after this, the object is destroyed like any other.
 */
void uverbs_finalize_uobj_create(const struct uverbs_attr_bundle *bundle, u16 idx)
{
	uverbs_mark_hw(uverbs_call_of((struct uverbs_attr_bundle *)bundle),
		       uverbs_attr_get_uobject(bundle, idx));
}
EXPORT_SYMBOL(uverbs_finalize_uobj_create);

/**
 * uverbs_destroy_def_handler() - handler of a method that only destroys its object
 * @attrs: the request, whose object is destroyed already
 *
 * Return: 0.
 */
int uverbs_destroy_def_handler(struct uverbs_attr_bundle *attrs)
{
	return 0;
}
EXPORT_SYMBOL(uverbs_destroy_def_handler);
