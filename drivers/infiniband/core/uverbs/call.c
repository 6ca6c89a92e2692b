// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A running request: its memory, the objects it has taken, and the guarantee that the device stays
 * while it runs.
 */
#include <kunit/visibility.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "command.h"

/* Memory of one request that did not fit its pool. */
struct uverbs_chunk {
	struct uverbs_chunk *next;
	u64 data[];
};

/**
 * uverbs_call_free - free the memory of a request that did not suffice with its stack
 * @call: the request; uverbs_call_end() calls this if it has to
 */
void uverbs_call_free(struct uverbs_call *call)
{
	struct uverbs_chunk *chunk, *next;

	for (chunk = call->chunks; chunk; chunk = next) {
		next = chunk->next;
		kvfree(chunk);
	}
	if (call->on_heap)
		kfree(call);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_call_free);

/**
 * _uverbs_alloc - memory that lives as long as the request
 * @bundle: the request
 * @size: bytes
 * @flags: GFP flags
 *
 * Context: as @flags say.  There is no way to free it early.
 * Return: the memory, or ERR_PTR(-ENOMEM).
 */
void *_uverbs_alloc(struct uverbs_attr_bundle *bundle, size_t size, gfp_t flags)
{
	struct uverbs_call *call = uverbs_call_of(bundle);
	struct uverbs_chunk *chunk;
	void *mem;

	if (size <= call->pool_left) {
		mem = uverbs_call_alloc(call, size);
		if (flags & __GFP_ZERO)
			memset(mem, 0, size);
		return mem;
	}
	chunk = kvmalloc(size_add(sizeof(*chunk), size), flags);
	if (!chunk)
		return ERR_PTR(-ENOMEM);
	chunk->next = call->chunks;
	call->chunks = chunk;
	return chunk->data;
}
EXPORT_SYMBOL(_uverbs_alloc);

/**
 * uverbs_call_enter - start a request
 * @call: the request
 * @destroys: it destroys an object, which is still served when the device has gone
 *
 * Between enter and leave the device cannot go.  If it has gone already, the request runs with the
 * file's reap_lock held instead, and sees only the empty handles that are left.
 *
 * Return: 0 or -EIO.
 */
int uverbs_call_enter(struct uverbs_call *call, bool destroys)
{
	struct ib_uverbs_file *file = call->bundle.ufile;

	if (percpu_ref_tryget_live(&file->device->calls)) {
		call->scope->device = file->device->ib_dev;
		return 0;
	}
	if (!destroys)
		return uverbs_refuse(call, -EIO, "the device was removed");

	mutex_lock(&file->reap_lock);
	call->revoked = true;
	return 0;
}

/**
 * uverbs_call_leave - end a request
 * @call: the request
 */
void uverbs_call_leave(struct uverbs_call *call)
{
	struct ib_uverbs_file *file = call->bundle.ufile;

	call->scope->device = NULL;
	if (call->revoked)
		mutex_unlock(&file->reap_lock);
	else
		percpu_ref_put(&file->device->calls);
}

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

/* Linux 6.12 tells a write() that cannot have its XRC domain no more than that. */
static noinline int take_error(const struct uverbs_call *call, const struct uverbs_api_object *type,
			       enum uverbs_obj_access access, int err)
{
	if (call->written && access == UVERBS_ACCESS_READ && type && type->id == UVERBS_OBJECT_XRCD)
		return -EINVAL;
	return err;
}

/* @type: NULL for any handle */
static struct ib_uobject *take_type(struct uverbs_call *call, const struct uverbs_api_object *type,
				    enum uverbs_obj_access access, s64 id, const char *name)
{
	struct uverbs_attr_bundle *attrs = &call->bundle;
	struct uverbs_held *held;
	struct ib_uobject *uobj;

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
 * uverbs_take - take an object for the length of the request
 * @call: the request
 * @type: UVERBS_OBJECT_*; %UVERBS_IDR_ANY_OBJECT for any handle
 * @access: how; %UVERBS_ACCESS_NEW makes one
 * @id: handle or descriptor, unused for a new object
 * @name: what the request calls it
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
 * uverbs_mark_hw - the driver knows a new object now
 * @call: the request
 * @uobj: an object it took as new
 */
void uverbs_mark_hw(struct uverbs_call *call, struct ib_uobject *uobj)
{
	struct uverbs_held *held;

	for (held = call->held; held; held = held->next)
		if (held->uobj == uobj)
			held->hw = true;
}

/**
 * uverbs_replace - put a new object in the place of one the request holds
 * @call: the request
 * @old: object it took with WRITE access
 * @fresh: object from uverbs_uobj_begin(), known to the driver
 *
 * Whatever becomes of @old, @fresh is visible under its handle afterwards, where another thread may
 * destroy it at once.
 */
void uverbs_replace(struct uverbs_call *call, struct ib_uobject *old, struct ib_uobject *fresh)
{
	struct uverbs_held *held;
	int ret;

	ret = uverbs_uobj_replace(old, fresh, &call->bundle);
	uverbs_uobj_commit(fresh);
	if (ret)
		return;
	/* stays locked for good, like every destroyed object */
	for (held = call->held; held; held = held->next)
		if (held->uobj == old)
			held->access = UVERBS_ACCESS_DESTROY;
}

/**
 * uverbs_give_back_held - give back the objects a request has taken
 * @call: the request; uverbs_give_back() calls this if there are any
 * @commit: it succeeded: what it made becomes visible.  Otherwise that is destroyed.
 *
 * Copying to user space is over, and with it what can fail.  Objects stand on what the handler
 * settles, so that is first there and last gone.
 */
void uverbs_give_back_held(struct uverbs_call *call, bool commit)
{
	struct uverbs_held *held;

	if (commit && call->settle)
		call->settle(call, true);
	for (held = call->held; held; held = held->next) {
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
 * uverbs_run_destroyed - handler of commands that destroy an object and report nothing
 * @call: the request, whose object the decoder has destroyed
 *
 * Return: 0.
 */
int uverbs_run_destroyed(struct uverbs_call *call)
{
	return 0;
}

/**
 * uverbs_call_device - the device of a request that has a context
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
