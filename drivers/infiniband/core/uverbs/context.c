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
	/* pairs with the store in uverbs_context_publish() */
	struct ib_ucontext *context = smp_load_acquire(&ufile->ucontext);

	if (!context)
		return ERR_PTR(rdma_refuse(-EINVAL, "the file has no context yet"));
	return context;
}
EXPORT_SYMBOL(ib_uverbs_get_ucontext_file);

/**
 * uverbs_context_claim - reserve a file's place for a context
 * @file: the file
 *
 * From here to uverbs_context_publish() or uverbs_context_drop() nobody else makes one.  No lock is
 * held meanwhile: the driver and the reply touch user memory, which may take for ever.
 *
 * Return: 0, or -EINVAL when the file has a context already or another request is making it.
 */
int uverbs_context_claim(struct ib_uverbs_file *file)
{
	guard(mutex)(&file->ucontext_lock);
	if (file->ucontext || file->ucontext_claimed)
		return rdma_refuse(-EINVAL, "the file has a context already");
	file->ucontext_claimed = true;
	return 0;
}

/**
 * uverbs_context_publish - let requests see a new context
 * @file: the file, claimed
 * @context: its context, open
 *
 * Cannot fail.
 */
void uverbs_context_publish(struct ib_uverbs_file *file, struct ib_ucontext *context)
{
	guard(mutex)(&file->ucontext_lock);
	file->ucontext_claimed = false;
	/* whoever sees the context sees it complete */
	smp_store_release(&file->ucontext, context);
}

/**
 * uverbs_context_drop - give up a new context
 * @file: the file, claimed
 * @context: what was to become its context: open, allocated only, or NULL
 */
void uverbs_context_drop(struct ib_uverbs_file *file, struct ib_ucontext *context)
{
	if (context) {
		if (context->obj.state != RDMA_OBJECT_NEW)
			rdma_ucontext_close(context);
		rdma_ucontext_free(context);
	}
	guard(mutex)(&file->ucontext_lock);
	file->ucontext_claimed = false;
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
	if (!file->objects_kept)
		rdma_ucontext_free(context);
}
