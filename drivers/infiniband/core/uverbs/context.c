// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The user context of a file: at most one, made by request, closed with the file or the device.
 */
#include "../verbs/verbs.h"
#include "command.h"

/**
 * ib_uverbs_get_ucontext_file - the context of a file
 * @ufile: the file
 *
 * Context: inside a request of that file.
 * Return: the context, or ERR_PTR(-EINVAL) before one was made.
 */
struct ib_ucontext *ib_uverbs_get_ucontext_file(struct ib_uverbs_file *ufile)
{
	/* pairs with the store in uverbs_context_open() */
	struct ib_ucontext *context = smp_load_acquire(&ufile->ucontext);

	if (!context)
		return ERR_PTR(rdma_refuse(-EINVAL, "the file has no context yet"));
	return context;
}
EXPORT_SYMBOL(ib_uverbs_get_ucontext_file);

/**
 * uverbs_context_open - open the context a request has allocated
 * @attrs: the request; its context came from rdma_ucontext_alloc()
 *
 * Return: 0; the context is the file's.  -EINVAL when the file has one already, or the driver's or
 * the cgroup's error; the context is still the caller's then.
 */
int uverbs_context_open(struct uverbs_attr_bundle *attrs)
{
	struct ib_uverbs_file *file = attrs->ufile;
	int ret;

	mutex_lock(&file->ucontext_lock);
	if (file->ucontext) {
		ret = rdma_refuse(-EINVAL, "the file has a context already");
	} else {
		ret = rdma_ucontext_open(attrs->context, &attrs->driver_udata);
		if (!ret)
			/* whoever sees the context sees it complete */
			smp_store_release(&file->ucontext, attrs->context);
	}
	mutex_unlock(&file->ucontext_lock);
	return ret;
}

/**
 * uverbs_context_close - close the context of a file
 * @file: the file, whose objects were reaped; its reap_lock is held
 * @why: RDMA_REMOVE_DRIVER_REMOVE tells the driver that the device goes
 */
void uverbs_context_close(struct ib_uverbs_file *file, enum rdma_remove_reason why)
{
	struct ib_ucontext *context = file->ucontext;

	lockdep_assert_held(&file->reap_lock);

	if (why == RDMA_REMOVE_DRIVER_REMOVE && context->device->ops.disassociate_ucontext)
		context->device->ops.disassociate_ucontext(context);
	file->ucontext = NULL;
	rdma_ucontext_close(context);
	rdma_ucontext_free(context);
}
