// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mapping device pages into a process so that they can be revoked.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_reject.h>

#include "mmap.h"

/**
 * rdma_umap_priv_init() - enter a mapping into its file's list
 * @priv: fresh, zeroed private data; becomes @vma's
 * @vma: the mapping
 * @entry: mmap offset entry to hold on to while the mapping exists, or NULL
 *
 * Context: process, mmap_lock held for writing.
 */
void rdma_umap_priv_init(struct rdma_umap_priv *priv, struct vm_area_struct *vma,
			 struct rdma_user_mmap_entry *entry)
{
	struct rdma_umaps *umaps = vma->vm_file->private_data;

	priv->vma = vma;
	priv->entry = entry;
	if (entry)
		kref_get(&entry->ref);
	vma->vm_private_data = priv;

	guard(mutex)(&umaps->lock);
	list_add(&priv->list, &umaps->list);
}
EXPORT_SYMBOL(rdma_umap_priv_init);

/**
 * rdma_user_mmap_io() - map device pages into a process
 * @ucontext: context whose mmap operation is running
 * @vma: the mapping that is being made
 * @pfn: first page frame
 * @size: bytes, the whole of @vma
 * @prot: page protection
 * @entry: mmap offset entry that led here, or NULL
 *
 * The mapping enters the file's list before the pages appear, so a revocation that has waited for
 * mmap_lock finds it with all its pages.
 *
 * Context: process, from the driver's mmap operation.
 * Return: 0, -EINVAL for a private mapping or another size, -ENOMEM, -EAGAIN when the pages cannot
 * be mapped.
 */
int rdma_user_mmap_io(struct ib_ucontext *ucontext, struct vm_area_struct *vma, unsigned long pfn,
		      unsigned long size, pgprot_t prot, struct rdma_user_mmap_entry *entry)
{
	struct rdma_umaps *umaps = (struct rdma_umaps *)ucontext->ufile;
	struct rdma_umap_priv *priv;

	if (!(vma->vm_flags & VM_SHARED))
		return rdma_refuse(-EINVAL, "mmap: device pages can only be mapped shared");
	if (vma->vm_end - vma->vm_start != size)
		return rdma_refuse(-EINVAL, "mmap: length %lu, the region has %lu bytes",
				   vma->vm_end - vma->vm_start, size);
	if (WARN_ON(!vma->vm_file || vma->vm_file->private_data != umaps))
		return -EINVAL;

	priv = kzalloc(sizeof(*priv), GFP_KERNEL);
	if (!priv)
		return -ENOMEM;

	vma->vm_page_prot = prot;
	rdma_umap_priv_init(priv, vma, entry);
	if (!io_remap_pfn_range(vma, vma->vm_start, pfn, size, prot))
		return 0;

	/* The close operation is not called for an mmap that has failed. */
	vma->vm_private_data = NULL;
	scoped_guard(mutex, &umaps->lock)
		list_del(&priv->list);
	if (entry)
		rdma_user_mmap_entry_put(entry);
	kfree(priv);
	return -EAGAIN;
}
EXPORT_SYMBOL(rdma_user_mmap_io);
