// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ioctl form of the user API: one method of one object type, and its attributes.
 */
#include <linux/fs.h>

#include "api.h"
#include "decode.h"
#include "handles.h"

/* The row of an attribute, NULL for one of the driver's own. */
static const struct uverbs_arg *attr_row(const struct uverbs_method *method, unsigned int key)
{
	return method->row[key] == UV_NO_ROW ? NULL : &method->cmd->args[method->row[key]];
}

static int decode_attrs(struct uverbs_call *call)
{
	const struct uverbs_method *method = call->method;
	int ret;

	for (unsigned int i = 0; i < call->num_uattrs; i++) {
		struct ib_uverbs_attr *uattr = &call->uattrs[i];
		u32 key = uapi_key_attr(uattr->attr_id);
		unsigned int bkey = UVERBS_API_ATTR_BKEY_LEN;
		const struct uverbs_arg *arg;

		if (key != UVERBS_API_KEY_ERR)
			bkey = uapi_bkey_attr(key);
		if (bkey >= method->key_len || method->spec[bkey].type == UVERBS_ATTR_TYPE_NA) {
			if (uattr->flags & UVERBS_ATTR_F_MANDATORY)
				return uverbs_refuse(call, -EPROTONOSUPPORT,
						     "attribute %#x is unknown", uattr->attr_id);
			continue;
		}
		arg = attr_row(method, bkey);
		ret = uverbs_decode_attr(call, uattr, &method->spec[bkey], bkey,
					 arg ? arg->name : uverbs_attr_key_name(method, bkey));
		if (!ret && arg && arg->kind != UV_LIST)
			ret = uverbs_arg_from_attr(call, arg, &call->bundle.attrs[bkey]);
		if (ret)
			return ret;
	}
	return 0;
}

static int check_mandatory(struct uverbs_call *call)
{
	const struct uverbs_method *method = call->method;
	unsigned int key;

	if (bitmap_subset(method->mandatory, call->bundle.attr_present, UVERBS_API_ATTR_BKEY_LEN))
		return 0;
	for_each_andnot_bit(key, method->mandatory, call->bundle.attr_present,
			    UVERBS_API_ATTR_BKEY_LEN)
		break;
	return uverbs_refuse(call, -EINVAL, "%s is missing", uverbs_attr_key_name(method, key));
}

/*
 * Writes the handles of the objects that are about to be made to user space, before the handler
 * runs: if that fails, there is nothing to undo in the driver.
 */
static int return_handles(struct uverbs_call *call)
{
	for (struct uverbs_held *held = call->held; held; held = held->next)
		if (held->access == UVERBS_ACCESS_NEW &&
		    put_user((s64)held->uobj->id,
			     &call->user_attrs[held->uattr - call->uattrs].data_s64))
			return uverbs_refuse(call, -EFAULT, "%s: handle cannot be written",
					     uverbs_attr_name(call, held->uattr->attr_id));
	return 0;
}

static int run_handler(struct uverbs_call *call)
{
	const struct uverbs_method *method = call->method;
	int ret;

	if (!call->cmd)
		return method->handler(&call->bundle);
	if (call->cmd->check) {
		ret = call->cmd->check(call);
		if (ret)
			return ret;
	}
	ret = call->cmd->run(call);
	if (!ret && call->results && !call->replied)
		ret = uverbs_args_to_attrs(call);
	return ret;
}

static int run_method(struct uverbs_call *call)
{
	const struct uverbs_method *method = call->method;
	struct uverbs_attr_bundle *attrs = &call->bundle;
	const struct uverbs_attr *attr;
	const char *name;
	int ret;

	ret = decode_attrs(call) ?: check_mandatory(call);
	if (ret)
		return ret;
	if (method->unable)
		return uverbs_refuse(call, -EOPNOTSUPP, "not supported by this device");

	if (method->has_udata)
		uverbs_udata_from_attrs(call, &attrs->driver_udata, UVERBS_ATTR_UHW_IN,
					UVERBS_ATTR_UHW_OUT);

	/* From here on functions that do not know the request may record a reason for it. */
	rdma_reject_attach(call->scope);
	if (method->destroy_key < method->key_len) {
		struct ib_uobject *doomed = attrs->attrs[method->destroy_key].obj_attr.uobject;

		ret = uverbs_uobj_destroy(doomed, attrs);
		if (ret) {
			name = uverbs_attr_key_name(method, method->destroy_key);
			return uverbs_refuse_destroy(call, ret, name, doomed);
		}
	}

	ret = return_handles(call) ?: run_handler(call);
	if (ret)
		/* Libraries take this error for "no such method or attribute" and nothing else. */
		return WARN_ON_ONCE(ret == -EPROTONOSUPPORT) ? -EINVAL : ret;

	/* A driver writes its reply without marking the attribute as written. */
	if (!method->has_udata)
		return 0;
	attr = uverbs_attr_get(attrs, UVERBS_ATTR_UHW_OUT);
	return IS_ERR(attr) ? 0 : uverbs_attr_written(call, attr);
}

/*
 * rdma-core asks at every open whether the method that carries write() commands exists, by a
 * request that cannot succeed.
 */
static bool is_probe(const struct uverbs_method *method, const struct ib_uverbs_ioctl_hdr *hdr)
{
	return hdr->num_attrs <= 1 && method->cmd && (method->cmd->flags & UV_C_CARRIER);
}

static int serve(struct uverbs_call *call, const struct ib_uverbs_ioctl_hdr *hdr)
{
	const struct uverbs_method *method = call->method;
	size_t size = array_size(sizeof(*call->uattrs), hdr->num_attrs);
	int ret;

	call->uattrs = uverbs_call_alloc(call, size);
	if (IS_ERR(call->uattrs))
		return PTR_ERR(call->uattrs);
	ret = call->cmd ? uverbs_args_alloc(call) : 0;
	if (ret)
		return ret;
	if (copy_from_user(call->uattrs, call->user_attrs, size))
		return uverbs_refuse(call, -EFAULT, "attributes cannot be read");
	call->num_uattrs = hdr->num_attrs;

	ret = uverbs_call_enter(call, method->late);
	if (ret)
		return ret;
	ret = run_method(call);
	uverbs_give_back(call, !ret);
	uverbs_call_leave(call);
	return ret;
}

/* The method that a header names, or an error pointer with the reason recorded. */
static const struct uverbs_method *find_method(struct ib_uverbs_file *file,
					       const struct ib_uverbs_ioctl_hdr *hdr,
					       struct rdma_reject_scope *scope)
{
	const struct uverbs_api *api = file->device->uapi;
	const struct uverbs_method *method;
	int ret;

	if (hdr->length > PAGE_SIZE || hdr->length != struct_size(hdr, attrs, hdr->num_attrs)) {
		ret = rdma_refuse_in(scope, -EINVAL,
				     "ioctl: length %u does not match %u attributes",
				     hdr->length, hdr->num_attrs);
	} else if (hdr->reserved1 || hdr->reserved2) {
		ret = rdma_refuse_in(scope, -EPROTONOSUPPORT,
				     "ioctl: reserved fields are not zero");
	} else if (hdr->driver_id != api->driver_id) {
		ret = rdma_refuse_in(scope, -EINVAL, "ioctl: driver_id %u, the device's is %u",
				     hdr->driver_id, api->driver_id);
	} else {
		method = uverbs_api_method(api, hdr->object_id, hdr->method_id);
		if (method)
			return method;
		ret = rdma_refuse_in(scope, -EPROTONOSUPPORT,
				     "ioctl: object %#x has no method %#x",
				     hdr->object_id, hdr->method_id);
	}
	return ERR_PTR(ret);
}

/* A function of its own, so that requests refused earlier do not use its stack. */
static noinline_for_stack int serve_method(struct ib_uverbs_file *file,
					   const struct uverbs_method *method,
					   const struct ib_uverbs_ioctl_hdr *hdr,
					   struct ib_uverbs_attr __user *user_attrs,
					   struct rdma_reject_scope *scope)
{
	struct uverbs_call *call;
	UV_STACK(stack);
	size_t pool;
	int ret;

	/* There is room for attributes, arguments, and an object or two. */
	pool = array_size(sizeof(*call->uattrs), hdr->num_attrs) + 2 * sizeof(struct uverbs_held);
	if (method->cmd)
		pool += ALIGN(method->cmd->args_size, sizeof(u64));
	call = uverbs_call_begin(stack, file, method->key_len, pool);
	if (!call)
		return -ENOMEM;
	call->cmd = method->cmd;
	call->method = method;
	call->user_attrs = user_attrs;
	call->scope = scope;
	scope->quiet = is_probe(method, hdr);
	ret = serve(call, hdr);
	uverbs_call_end(call);
	return ret;
}

/**
 * ib_uverbs_ioctl() - ioctl operation of a file
 * @filp: the file
 * @cmd: RDMA_VERBS_IOCTL
 * @arg: struct ib_uverbs_ioctl_hdr
 *
 * Return: 0 or a negative errno, its reason recorded.
 */
long ib_uverbs_ioctl(struct file *filp, unsigned int cmd, unsigned long arg)
{
	struct ib_uverbs_ioctl_hdr __user *user_hdr = (void __user *)arg;
	struct ib_uverbs_file *file = filp->private_data;
	struct rdma_reject_scope scope __uninitialized;
	struct ib_uverbs_ioctl_hdr hdr __uninitialized;
	const struct uverbs_method *method;
	int ret;

	if (cmd != RDMA_VERBS_IOCTL)
		return -ENOIOCTLCMD;

	rdma_reject_begin(&file->rejects, &scope);
	if (copy_from_user(&hdr, user_hdr, sizeof(hdr))) {
		ret = rdma_refuse_in(&scope, -EFAULT, "ioctl: header cannot be read");
	} else {
		method = find_method(file, &hdr, &scope);
		ret = PTR_ERR_OR_ZERO(method) ?:
		      serve_method(file, method, &hdr, user_hdr->attrs, &scope);
	}
	rdma_reject_leave(&scope);
	return ret;
}
