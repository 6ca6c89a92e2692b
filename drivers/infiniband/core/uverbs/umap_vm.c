// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Operations of mappings of device pages: fork() copies a mapping, munmap() ends it, and removal of
 * the device revokes its pages.  Accesses then find a page of zeroes that belongs to the file.
 */
#include <kunit/visibility.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_compat.h>

#include "uverbs.h"

static struct ib_uverbs_file *vma_file(const struct vm_area_struct *vma)
{
	return vma->vm_file->private_data;
}

/*
 * A mapping was copied or split.  Fork calls this before it copies the pages, so the copy is
 * listed exactly if the original still has its pages: mmap_lock keeps both from changing, and
 * a later revocation finds the copy too.
 */
static void umap_open(struct vm_area_struct *vma)
{
	struct rdma_umaps *umaps = &vma_file(vma)->umaps;
	struct rdma_umap_priv *from = vma->vm_private_data;
	struct rdma_umap_priv *priv;

	if (!from)
		return;

	/* The copy cannot be refused, and without an entry it could not be revoked. */
	priv = kzalloc(sizeof(*priv), GFP_KERNEL | __GFP_NOFAIL);
	priv->vma = vma;
	INIT_LIST_HEAD(&priv->list);
	vma->vm_private_data = priv;

	guard(mutex)(&umaps->lock);
	if (list_empty(&from->list))
		return;
	priv->entry = from->entry;
	if (priv->entry)
		kref_get(&priv->entry->ref);
	list_add(&priv->list, &umaps->list);
}

/* Takes a mapping off the list and drops its mmap entry.  The list's lock is held. */
static void umap_detach(struct rdma_umap_priv *priv)
{
	list_del_init(&priv->list);
	if (priv->entry)
		rdma_user_mmap_entry_put(priv->entry);
	priv->entry = NULL;
}

static void umap_close(struct vm_area_struct *vma)
{
	struct rdma_umap_priv *priv = vma->vm_private_data;

	if (!priv)
		return;		/* The driver mapped memory of its own: no device pages. */
	scoped_guard(mutex, &vma_file(vma)->umaps.lock)
		umap_detach(priv);
	kfree(priv);
}

/* A mapping faults only after its pages were revoked. */
static vm_fault_t umap_fault(struct vm_fault *vmf)
{
	struct rdma_umaps *umaps = &vma_file(vmf->vma)->umaps;

	if (!vmf->vma->vm_private_data)
		return VM_FAULT_SIGBUS;

	if (!(vmf->vma->vm_flags & (VM_WRITE | VM_MAYWRITE))) {
		vmf->page = ZERO_PAGE(vmf->address);
	} else {
		guard(mutex)(&umaps->lock);
		if (!umaps->page)
			umaps->page = alloc_page(vmf->gfp_mask | __GFP_ZERO);
		vmf->page = umaps->page;
	}
	if (!vmf->page)
		return VM_FAULT_SIGBUS;
	get_page(vmf->page);
	return 0;
}

/* Operations of all mappings of files. */
const struct vm_operations_struct uverbs_umap_vm_ops = {
	.open = umap_open,
	.close = umap_close,
	.fault = umap_fault,
};

/*
 * Finds an address space that still has a listed mapping, and takes a reference on it.  One that is
 * being torn down closes its mappings itself, so its mappings are only taken off the list.
 */
static struct mm_struct *umaps_next_mm(struct rdma_umaps *umaps)
{
	struct rdma_umap_priv *priv;
	struct mm_struct *mm;

	guard(mutex)(&umaps->lock);
	while (!list_empty(&umaps->list)) {
		priv = list_first_entry(&umaps->list, struct rdma_umap_priv, list);
		mm = priv->vma->vm_mm;
		if (mmget_not_zero(mm))
			return mm;
		umap_detach(priv);
	}
	return NULL;
}

/**
 * uverbs_umaps_revoke() - remove the device's pages from all mappings of a file
 * @file: the file
 *
 * mmap_lock is taken before the list's lock, as everywhere, hence one address space at a time.  It
 * is taken for writing: munmap holds it for reading only while it frees the page tables of mappings
 * that it has not closed yet.
 *
 * Context: process; takes the mmap_lock of other processes.
 */
void uverbs_umaps_revoke(struct ib_uverbs_file *file)
{
	struct rdma_umaps *umaps = &file->umaps;
	struct rdma_umap_priv *priv, *next;
	struct mm_struct *mm;

	while ((mm = umaps_next_mm(umaps))) {
		mmap_write_lock(mm);
		mutex_lock(&umaps->lock);
		list_for_each_entry_safe(priv, next, &umaps->list, list) {
			if (priv->vma->vm_mm != mm)
				continue;
			zap_vma_ptes(priv->vma, priv->vma->vm_start,
				     priv->vma->vm_end - priv->vma->vm_start);
			umap_detach(priv);
		}
		mutex_unlock(&umaps->lock);
		mmap_write_unlock(mm);
		mmput(mm);
	}
}
EXPORT_SYMBOL_IF_KUNIT(uverbs_umaps_revoke);
