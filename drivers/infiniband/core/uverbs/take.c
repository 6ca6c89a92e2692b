// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The objects of a running request: taken by handle or made, and given back when it ends.
 */
#include "api.h"
#include "handles.h"
#include "take.h"

static noinline const char *take_failure(int err)
{
	switch (err) {
	case -ENOENT:
		return "no such handle";
	case -EBADF:
		return "not an event file of this context";
	case -EBUSY:
		return "in use by another request";
	case -EMFILE:
		return "no file descriptor left";
	case -EINVAL:
		return "not an object of the right type";
	default:
		return "cannot be used";
	}
}

/* Linux 6.12 returns -EINVAL for every write() request whose XRC domain cannot be used. */
static noinline int take_error(const struct uverbs_call *call, const struct uverbs_api_object *type,
			       enum uverbs_obj_access access, int err)
{
	if (call->written && access == UVERBS_ACCESS_READ && type && type->id == UVERBS_OBJECT_XRCD)
		return -EINVAL;
	return err;
}

/* Takes an object of this type; any handle will do if @type is NULL. */
static struct ib_uobject *take_type(struct uverbs_call *call, const struct uverbs_api_object *type,
				    enum uverbs_obj_access access, s64 id, const char *name)
{
	struct uverbs_attr_bundle *attrs = &call->bundle;
	struct uverbs_held *held;
	struct ib_uobject *uobj;

	/* After the removal of the device only handles are left, without objects. */
	if (call->revoked && access != UVERBS_ACCESS_DESTROY)
		return ERR_PTR(uverbs_refuse(call, -EIO, "%s: the device was removed", name));

	held = uverbs_call_alloc(call, sizeof(*held));
	if (IS_ERR(held))
		return ERR_CAST(held);

	if (access == UVERBS_ACCESS_NEW)
		uobj = uverbs_uobj_begin(type, attrs);
	else
		uobj = uverbs_uobj_lookup(type, attrs->ufile, id, access);
	if (IS_ERR(uobj)) {
		int err = take_error(call, type, access, PTR_ERR(uobj));

		if (access == UVERBS_ACCESS_NEW)
			uverbs_refuse_below(call, err, "%s: %s", name, take_failure(err));
		else
			uverbs_refuse(call, err, "%s %lld: %s", name, id,
				      take_failure(PTR_ERR(uobj)));
		return ERR_PTR(err);
	}
	if (uobj->context)
		attrs->context = uobj->context;

	*held = (struct uverbs_held){ .next = call->held, .uobj = uobj, .access = access };
	call->held = held;
	return uobj;
}

/**
 * uverbs_take() - take an object for the length of the request
 * @call: the request
 * @type: UVERBS_OBJECT_*; %UVERBS_IDR_ANY_OBJECT for any handle
 * @access: how; %UVERBS_ACCESS_NEW makes one
 * @id: handle or descriptor, unused for a new object
 * @name: its name in the request
 *
 * Objects are given back by uverbs_give_back() when the request ends.
 *
 * Return: the object, or an error pointer with the reason recorded.
 */
struct ib_uobject *uverbs_take(struct uverbs_call *call, u16 type, enum uverbs_obj_access access,
			       s64 id, const char *name)
{
	const struct uverbs_api_object *desc = NULL;

	if (type != UVERBS_IDR_ANY_OBJECT) {
		desc = uapi_get_object(call->bundle.ufile->device->uapi, type);
		if (IS_ERR(desc) || !desc->type_attrs)
			return ERR_PTR(uverbs_refuse(call, -EINVAL,
						     "%s: this device has no such objects", name));
	}
	return take_type(call, desc, access, id, name);
}

/**
 * uverbs_mark_hw() - note that the driver knows a new object
 * @call: the request
 * @uobj: an object it took as new
 */
void uverbs_mark_hw(struct uverbs_call *call, struct ib_uobject *uobj)
{
	for (struct uverbs_held *held = call->held; held; held = held->next)
		if (held->uobj == uobj)
			held->hw = true;
}

/**
 * uverbs_replace() - put a new object in the place of one the request holds
 * @call: the request
 * @old: object it took with WRITE access
 * @fresh: object from uverbs_uobj_begin(), known to the driver
 *
 * Whether or not @old could be destroyed, @fresh is visible under its handle afterwards, where
 * another thread may destroy it at once.
 */
void uverbs_replace(struct uverbs_call *call, struct ib_uobject *old, struct ib_uobject *fresh)
{
	int ret;

	ret = uverbs_uobj_replace(old, fresh, &call->bundle);
	uverbs_uobj_commit(fresh);
	if (ret)
		return;
	/* Like every destroyed object it stays locked: DESTROY access does not unlock it. */
	for (struct uverbs_held *held = call->held; held; held = held->next)
		if (held->uobj == old)
			held->access = UVERBS_ACCESS_DESTROY;
}

/**
 * uverbs_give_back_held() - give back the objects a request has taken
 * @call: the request; uverbs_give_back() calls this if there are any
 * @commit: true after success: new objects become visible; false: they are destroyed
 *
 * The response was copied to user space before, so nothing can fail any more.  New objects depend
 * on what @settle of the request makes visible, so it runs first on commit and last otherwise.
 */
void uverbs_give_back_held(struct uverbs_call *call, bool commit)
{
	if (commit && call->settle)
		call->settle(call, true);
	for (struct uverbs_held *held = call->held; held; held = held->next) {
		if (held->access != UVERBS_ACCESS_NEW)
			uverbs_uobj_unlock(held->uobj, held->access);
		else if (commit)
			uverbs_uobj_commit(held->uobj);
		else
			uverbs_uobj_abort(held->uobj, &call->bundle, held->hw);
	}
	if (!commit && call->settle)
		call->settle(call, false);
	call->held = NULL;
}

/**
 * uverbs_run_destroyed() - handler of commands that destroy an object and report nothing
 * @call: the request, whose object the decoder has destroyed
 *
 * Return: 0.
 */
int uverbs_run_destroyed(struct uverbs_call *call)
{
	return 0;
}

/**
 * uverbs_call_device() - get the device of a request that has a context
 * @call: the request
 *
 * Return: the device, or an error pointer with the reason recorded: -EINVAL before a context was
 * made.
 */
struct ib_device *uverbs_call_device(struct uverbs_call *call)
{
	struct ib_ucontext *context = call->bundle.context;

	if (!context) {
		context = ib_uverbs_get_ucontext(&call->bundle);
		if (IS_ERR(context))
			return ERR_CAST(context);
		call->bundle.context = context;
	}
	return context->device;
}
