// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A running request: its memory, the guarantee that the device is not removed while it runs, and
 * the user context that it works in.
 */
#include <kunit/visibility.h>
#include <linux/overflow.h>
#include <linux/slab.h>

#include "call.h"

/* A piece of memory that did not fit the pool of its request. */
struct uverbs_chunk {
	struct uverbs_chunk *next;
	u64 data[];
};

/**
 * uverbs_call_free() - free the heap memory of a request for which the stack was too small
 * @call: the request; uverbs_call_end() calls this if there is such memory
 */
void uverbs_call_free(struct uverbs_call *call)
{
	struct uverbs_chunk *next;

	for (struct uverbs_chunk *chunk = call->chunks; chunk; chunk = next) {
		next = chunk->next;
		kvfree(chunk);
	}
	if (call->on_heap)
		kfree(call);
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_call_free);

/**
 * _uverbs_alloc() - memory that lives as long as the request
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
 * uverbs_call_enter() - start a request
 * @call: the request
 * @destroys: it destroys an object, which is still served after the device was removed
 *
 * Between enter and leave the device cannot be removed.  If it was removed before, the request runs
 * with the file's reap_lock held instead, and sees only handles without objects.
 *
 * Return: 0, or -EIO if the device was removed and the request destroys nothing.
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
 * uverbs_call_leave() - end a request
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

/**
 * ib_uverbs_get_ucontext_file() - get the context of a file
 * @ufile: the file
 *
 * Context: inside a request of that file.
 * Return: the context, or ERR_PTR(-EINVAL) before one was made.
 */
struct ib_ucontext *ib_uverbs_get_ucontext_file(struct ib_uverbs_file *ufile)
{
	/* This pairs with the store in uverbs_context_publish(). */
	struct ib_ucontext *context = smp_load_acquire(&ufile->ucontext);

	if (!context)
		return ERR_PTR(rdma_refuse(-EINVAL, "the file has no context yet"));
	return context;
}
EXPORT_SYMBOL(ib_uverbs_get_ucontext_file);
