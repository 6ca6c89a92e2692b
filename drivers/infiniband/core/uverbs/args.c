// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Values go from a request to the argument block on which its handler works, and results back, as
 * the rows of its command say.
 */
#include <kunit/visibility.h>
#include <linux/highmem.h>
#include <linux/mm.h>

#include "decode.h"
#include "handles.h"

/* load_number() and store_number() access 1, 2, 4 or 8 bytes in the byte order of the CPU. */
static u64 load_number(const void *from, unsigned int len)
{
	switch (len) {
	case sizeof(u8):
		return *(const u8 *)from;
	case sizeof(u16):
		return *(const u16 *)from;
	case sizeof(u32):
		return *(const u32 *)from;
	default:
		return *(const u64 *)from;
	}
}

static void store_number(void *to, unsigned int len, u64 val)
{
	switch (len) {
	case sizeof(u8):
		*(u8 *)to = val;
		break;
	case sizeof(u16):
		*(u16 *)to = val;
		break;
	case sizeof(u32):
		*(u32 *)to = val;
		break;
	default:
		*(u64 *)to = val;
		break;
	}
}

static void *arg_block(struct uverbs_call *call, const struct uverbs_arg *arg)
{
	return call->args + arg->off;
}

static bool arg_is_object(const struct uverbs_arg *arg)
{
	return arg->kind == UV_READ || arg->kind == UV_WRITE || arg->kind == UV_NEW ||
	       arg->kind == UV_DESTROY;
}

static enum uverbs_obj_access arg_access(const struct uverbs_arg *arg)
{
	switch (arg->kind) {
	case UV_READ:
		return UVERBS_ACCESS_READ;
	case UV_WRITE:
		return UVERBS_ACCESS_WRITE;
	case UV_NEW:
		return UVERBS_ACCESS_NEW;
	default:
		return UVERBS_ACCESS_DESTROY;
	}
}

static const struct uverbs_place *arg_place(const struct uverbs_call *call,
					    const struct uverbs_arg *arg)
{
	return call->extended ? &arg->x : &arg->w;
}

/* Checks a number or a mask and stores it. */
static int arg_set(struct uverbs_call *call, const struct uverbs_arg *arg, u64 val)
{
	if (arg->len < sizeof(u64) && val >> (arg->len * BITS_PER_BYTE))
		return uverbs_refuse(call, -EINVAL, "%s %llu does not fit %u bits", arg->name, val,
				     arg->len * BITS_PER_BYTE);
	if (arg->kind == UV_MASK && (val & ~arg->mask))
		return uverbs_refuse(call, -EINVAL, "%s: unknown bits %#llx", arg->name,
				     val & ~arg->mask);
	store_number(arg_block(call, arg), arg->len, val);
	return 0;
}

/**
 * uverbs_cmd_destroys() - does a command destroy an object?
 * @cmd: the command, or NULL
 *
 * Return: true if it has a %UV_DESTROY row.
 */
bool uverbs_cmd_destroys(const struct uverbs_cmd *cmd)
{
	for (unsigned int i = 0; cmd && i < cmd->num_args; i++)
		if (cmd->args[i].kind == UV_DESTROY)
			return true;
	return false;
}

/**
 * uverbs_arg_from_attr() - fill a row's place in the argument block from an attribute
 * @call: an ioctl request
 * @arg: row of its command
 * @attr: the attribute, decoded
 *
 * Return: 0, or a negative errno with the reason recorded.
 */
int uverbs_arg_from_attr(struct uverbs_call *call, const struct uverbs_arg *arg,
			 const struct uverbs_attr *attr)
{
	int ret;

	switch (arg->kind) {
	case UV_MASK:
		if (attr->ptr_attr.len != sizeof(u32) && attr->ptr_attr.len != sizeof(u64))
			return uverbs_refuse(call, -EINVAL, "%s: %u bytes, a mask has 4 or 8",
					     arg->name, attr->ptr_attr.len);
		fallthrough;
	case UV_INT:
		/* Numbers have at most eight bytes, so the attribute itself holds them. */
		return arg_set(call, arg, load_number(&attr->ptr_attr.data, attr->ptr_attr.len));
	case UV_BLOB:
		ret = _uverbs_copy_from_or_zero(arg_block(call, arg), &call->bundle, arg->attr,
						arg->len);
		return ret ? uverbs_refuse(call, ret, "%s: cannot be read", arg->name) : 0;
	case UV_READ:
	case UV_WRITE:
	case UV_NEW:
	case UV_DESTROY:
		*(struct ib_uobject **)arg_block(call, arg) = attr->obj_attr.uobject;
		return 0;
	case UV_OUT:
		call->results |= BIT_ULL(arg - call->cmd->args);
		return 0;
	default:
		return 0;
	}
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_arg_from_attr);

static int object_from_request(struct uverbs_call *call, const struct uverbs_arg *arg)
{
	const struct uverbs_place *place = arg_place(call, arg);
	struct ib_uobject *uobj;
	s64 id = 0;

	if (arg->kind != UV_NEW) {
		if (!place->len || (arg->when && !arg->when(call->args)))
			return 0;
		id = load_number(call->req + place->off, place->len);
		if (arg->flags & UV_F_FD)
			id = (s32)id;
	}
	uobj = uverbs_take(call, arg->type, arg_access(arg), id, arg->name);
	if (IS_ERR(uobj))
		return PTR_ERR(uobj);
	*(struct ib_uobject **)arg_block(call, arg) = uobj;
	if (arg->kind == UV_DESTROY)
		call->doomed = arg;
	return 0;
}

/**
 * uverbs_args_from_request() - fill the argument block of a write() request
 * @call: the request, its structure copied to @call->req and zero-extended
 *
 * Plain values are read and checked first, because they say which of the handles are used.
 *
 * Return: 0, or a negative errno with the reason recorded.
 */
int uverbs_args_from_request(struct uverbs_call *call)
{
	const struct uverbs_cmd *cmd = call->cmd;
	u64 objects = 0, results = 0;
	int ret = 0;

	for (unsigned int i = 0; i < cmd->num_args && !ret; i++) {
		const struct uverbs_arg *arg = &cmd->args[i];
		const struct uverbs_place *place = arg_place(call, arg);

		if (arg_is_object(arg))
			objects |= BIT_ULL(i);
		else if (!place->len)
			continue;
		else if (arg->kind == UV_INT || arg->kind == UV_MASK)
			ret = arg_set(call, arg, load_number(call->req + place->off, place->len));
		else if (arg->kind == UV_BLOB)
			memcpy(arg_block(call, arg), call->req + place->off,
			       min(place->len, arg->len));
		else
			results |= BIT_ULL(i);
	}
	call->results = results;
	if (!ret && cmd->check)
		ret = cmd->check(call);
	for (; objects && !ret; objects &= objects - 1)
		ret = object_from_request(call, &cmd->args[__ffs64(objects)]);
	return ret;
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_args_from_request);

/**
 * uverbs_args_to_attrs() - return the results of an ioctl request
 * @call: the request, which succeeded
 *
 * Return: 0 or -EFAULT.
 */
int uverbs_args_to_attrs(struct uverbs_call *call)
{
	int ret;

	for (u64 left = call->results; left; left &= left - 1) {
		const struct uverbs_arg *arg = &call->cmd->args[__ffs64(left)];

		if (arg->when && !arg->when(call->args))
			continue;
		ret = uverbs_copy_to_struct_or_zero(&call->bundle, arg->attr, arg_block(call, arg),
						    arg->len);
		if (IS_UVERBS_COPY_ERR(ret))
			return ret;
	}
	return 0;
}

/**
 * uverbs_args_to_response() - return the results of a write() request
 * @call: the request, which succeeded
 *
 * User space gets as much of the response as it has room for; bytes behind the response are
 * cleared.
 *
 * Return: 0, -ENOMEM or -EFAULT.
 */
int uverbs_args_to_response(struct uverbs_call *call)
{
	const struct uverbs_cmd *cmd = call->cmd;
	u16 size = call->extended ? cmd->x_resp : cmd->w_resp;
	unsigned int words = DIV_ROUND_UP(size, sizeof(u64));
	size_t len = min_t(size_t, size, call->resp_len);
	void *resp;

	if (!size || (cmd->flags & UV_C_STREAM_OUT))
		return 0;

	resp = uverbs_call_alloc(call, words * sizeof(u64));
	if (IS_ERR(resp))
		return PTR_ERR(resp);
	memset64(resp, 0, words);

	for (u64 left = call->results; left; left &= left - 1) {
		const struct uverbs_arg *arg = &cmd->args[__ffs64(left)];
		const struct uverbs_place *place = arg_place(call, arg);

		if (arg->kind == UV_OUT)
			memcpy(resp + place->off, arg_block(call, arg), min(place->len, arg->len));
		else if (arg->kind == UV_HANDLE_OUT)
			*(u32 *)(resp + place->off) =
				(*(struct ib_uobject **)arg_block(call, arg))->id;
	}
	if (call->extended && cmd->x_resplen != UV_NO_RESPLEN)
		*(u32 *)(resp + cmd->x_resplen) = len;

	if (copy_to_user(call->resp, resp, len) ||
	    (call->resp_len > len && clear_user(call->resp + len, call->resp_len - len)))
		return uverbs_refuse(call, -EFAULT, "response cannot be written");
	return 0;
}

/**
 * uverbs_pin_response() - make certain that a response can be delivered
 * @call: a write() request, or one that is carried by an ioctl
 * @len: bytes of the response, not 0
 * @to: receives what uverbs_write_pinned() and uverbs_unpin_response() take
 *
 * For commands that cannot be undone: polling a CQ, posting work requests.  They call this before
 * they act and then write the response through its pages, so that delivery cannot fail, not even if
 * another thread unmaps or protects the memory in the meantime.  The attribute that carries the
 * response is marked as written now.
 *
 * Context: may sleep, also for as long as user space takes to handle a page fault.
 * Return: 0, -ENOMEM, or -EFAULT with the reason recorded, if part of it cannot be written or is
 * memory that cannot be pinned (device memory, memfd_secret()).
 */
int uverbs_pin_response(struct uverbs_call *call, size_t len, struct uverbs_pinned *to)
{
	unsigned long start = (unsigned long)call->resp;
	int got, ret;

	if (call->user_attrs) {
		ret = uverbs_attr_written(call, uverbs_attr_get(&call->bundle,
								UVERBS_ATTR_CORE_OUT));
		if (ret)
			return ret;
	}
	to->offset = offset_in_page(start);
	to->num = DIV_ROUND_UP(to->offset + len, PAGE_SIZE);
	to->pages = uverbs_call_alloc(call, to->num * sizeof(*to->pages));
	if (IS_ERR(to->pages))
		return PTR_ERR(to->pages);
	got = pin_user_pages_fast(start, to->num, FOLL_WRITE, to->pages);
	if (got == to->num) {
		call->replied = true;
		return 0;
	}
	if (got > 0)
		unpin_user_pages(to->pages, got);
	return uverbs_refuse(call, -EFAULT, "response cannot be written");
}

/**
 * uverbs_write_pinned() - write part of a response
 * @to: from uverbs_pin_response()
 * @at: offset of the part in the response, in bytes
 * @from: the bytes to write, NULL for zeros
 * @len: their number; @at + @len is at most the pinned length
 */
void uverbs_write_pinned(const struct uverbs_pinned *to, size_t at, const void *from, size_t len)
{
	size_t part;

	for (at += to->offset; len; at += part, len -= part) {
		struct page *page = to->pages[at >> PAGE_SHIFT];

		part = min_t(size_t, len, PAGE_SIZE - offset_in_page(at));
		if (from) {
			memcpy_to_page(page, offset_in_page(at), from, part);
			from += part;
		} else {
			memzero_page(page, offset_in_page(at), part);
		}
	}
}

/**
 * uverbs_unpin_response() - undo uverbs_pin_response()
 * @to: filled by uverbs_pin_response()
 *
 * Context: may sleep.
 */
void uverbs_unpin_response(const struct uverbs_pinned *to)
{
	unpin_user_pages_dirty_lock(to->pages, to->num, true);
}
