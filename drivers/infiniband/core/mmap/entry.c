// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Offsets by which user space names the regions that a driver lets it map.
 *
 * A context's mmap_xa holds each entry at every page offset it covers. An entry's offsets are not
 * given to another before the last mapping of it has ended.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <rdma/ib_verbs.h>

/**
 * rdma_user_mmap_entry_get_pgoff() - find the entry at an offset
 * @ucontext: context of the caller
 * @pgoff: offset in pages; must be the entry's first
 *
 * Return: the entry, referenced, or NULL if there is none that may be mapped.
 */
struct rdma_user_mmap_entry *rdma_user_mmap_entry_get_pgoff(struct ib_ucontext *ucontext,
							    unsigned long pgoff)
{
	struct xarray *xa = &ucontext->mmap_xa;
	struct rdma_user_mmap_entry *found;
	bool usable;

	if (pgoff != (u32)pgoff)
		return NULL;

	xa_lock(xa);
	found = xa_load(xa, pgoff);
	usable = found && found->start_pgoff == pgoff && !found->driver_removed &&
		 kref_get_unless_zero(&found->ref);
	xa_unlock(xa);
	return usable ? found : NULL;
}
EXPORT_SYMBOL(rdma_user_mmap_entry_get_pgoff);

/**
 * rdma_user_mmap_entry_get() - find the entry a mapping asks for
 * @ucontext: context of the caller
 * @vma: the mapping that is being made; must be shared and cover the entry exactly
 *
 * Return: the entry, referenced, or NULL.
 */
struct rdma_user_mmap_entry *rdma_user_mmap_entry_get(struct ib_ucontext *ucontext,
						      struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *found = NULL;

	if (vma->vm_flags & VM_SHARED)
		found = rdma_user_mmap_entry_get_pgoff(ucontext, vma->vm_pgoff);
	if (!found || found->npages == vma_pages(vma))
		return found;
	rdma_user_mmap_entry_put(found);
	return NULL;
}
EXPORT_SYMBOL(rdma_user_mmap_entry_get);

static void entry_erase(struct xarray *xa, unsigned long first, unsigned long pages)
{
	while (pages--)
		__xa_erase(xa, first + pages);
}

static void entry_free(struct kref *kref)
{
	struct rdma_user_mmap_entry *entry = container_of(kref, struct rdma_user_mmap_entry, ref);
	struct ib_ucontext *ucontext = entry->ucontext;

	xa_lock(&ucontext->mmap_xa);
	entry_erase(&ucontext->mmap_xa, entry->start_pgoff, entry->npages);
	xa_unlock(&ucontext->mmap_xa);
	if (ucontext->device->ops.mmap_free)
		ucontext->device->ops.mmap_free(entry);
}

/**
 * rdma_user_mmap_entry_put() - drop a reference on an entry
 * @entry: the entry; the last reference gives it to the driver's mmap_free
 */
void rdma_user_mmap_entry_put(struct rdma_user_mmap_entry *entry)
{
	kref_put(&entry->ref, entry_free);
}
EXPORT_SYMBOL(rdma_user_mmap_entry_put);

/**
 * rdma_user_mmap_entry_remove() - let an entry not be mapped any more
 * @entry: the entry or NULL; existing mappings keep it
 */
void rdma_user_mmap_entry_remove(struct rdma_user_mmap_entry *entry)
{
	struct xarray *offsets;

	if (!entry)
		return;
	offsets = &entry->ucontext->mmap_xa;
	xa_lock(offsets);
	entry->driver_removed = true;
	xa_unlock(offsets);
	rdma_user_mmap_entry_put(entry);
}
EXPORT_SYMBOL(rdma_user_mmap_entry_remove);

/*
 * First offset in [*first, max] from which @pages offsets are free. Walks the entries, not the
 * offsets: each entry that it meets moves the candidate behind that entry.
 */
static int find_gap(struct xarray *xa, u32 pages, u32 *first, u32 max)
{
	u32 gap = *first;
	u32 last;

	for (;;) {
		struct rdma_user_mmap_entry *entry;
		unsigned long index = gap;

		if (check_add_overflow(gap, pages - 1, &last) || last > max)
			return -ENOMEM;
		entry = xa_find(xa, &index, last, XA_PRESENT);
		if (!entry)
			break;
		if (check_add_overflow((u32)entry->start_pgoff, (u32)entry->npages, &gap))
			return -ENOMEM;
	}
	*first = gap;
	return 0;
}

/**
 * rdma_user_mmap_entry_insert_range() - give an entry an offset
 * @ucontext: context of the caller
 * @entry: the driver's entry, zeroed
 * @length: bytes that can be mapped through it
 * @min_pgoff: smallest offset it may get, in pages
 * @max_pgoff: largest offset it may cover, in pages
 *
 * Context: process.
 * Return: 0, -EINVAL without an entry or a length, -ENOMEM when no room is left.
 */
int rdma_user_mmap_entry_insert_range(struct ib_ucontext *ucontext,
				      struct rdma_user_mmap_entry *entry, size_t length,
				      u32 min_pgoff, u32 max_pgoff)
{
	struct xarray *xa = &ucontext->mmap_xa;
	u32 first, pages;
	int ret;

	if (!entry || !length || DIV_ROUND_UP(length, PAGE_SIZE) > U32_MAX)
		return -EINVAL;

	pages = DIV_ROUND_UP(length, PAGE_SIZE);
	kref_init(&entry->ref);
	entry->ucontext = ucontext;
	entry->npages = pages;
	/* The lock may be dropped below. The entry must not be mapped before it is complete. */
	entry->driver_removed = true;

	xa_lock(xa);
again:
	first = min_pgoff;
	/* The lock that is held keeps the gap free. */
	ret = find_gap(xa, pages, &first, max_pgoff);
	if (ret)
		goto out;
	entry->start_pgoff = first;
	for (u32 i = 0; i < pages; i++) {
		ret = __xa_insert(xa, first + i, entry, GFP_KERNEL);
		if (ret) {
			entry_erase(xa, first, i);
			/*
			 * The lock was dropped to allocate memory, and another entry has taken a
			 * part of the gap.
			 */
			if (ret == -EBUSY)
				goto again;
			goto out;
		}
	}
	entry->driver_removed = false;
out:
	xa_unlock(xa);
	return ret;
}
EXPORT_SYMBOL(rdma_user_mmap_entry_insert_range);

/**
 * rdma_user_mmap_entry_insert() - give an entry any offset
 * @ucontext: context of the caller
 * @entry: the driver's entry, zeroed
 * @length: bytes that can be mapped through it
 *
 * Return: as rdma_user_mmap_entry_insert_range().
 */
int rdma_user_mmap_entry_insert(struct ib_ucontext *ucontext, struct rdma_user_mmap_entry *entry,
				size_t length)
{
	return rdma_user_mmap_entry_insert_range(ucontext, entry, length, 0, U32_MAX);
}
EXPORT_SYMBOL(rdma_user_mmap_entry_insert);
