// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * PDs of the device without hardware, and pages that programs get with them to map.  Each page
 * contains the id of its PD, its offset, and whether it is still the PD's.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/uverbs_ioctl.h>

#include "ufake.h"
#include "ufake_abi.h"

struct ufake_pages {
	struct rdma_user_mmap_entry entry;
	void *memory;
	u32 count;
};

struct ufake_pd {
	struct ib_pd ib;
	struct ufake_pages *pages;	/* or NULL */
};

static size_t length_of(const struct ufake_pages *pages)
{
	return (size_t)pages->count << PAGE_SHIFT;
}

static struct ufake_pages *pages_of(struct rdma_user_mmap_entry *entry)
{
	return container_of(entry, struct ufake_pages, entry);
}

static void tell_state(struct ufake_pages *pages, enum ufake_page_state state)
{
	for (u32 i = 0; i < pages->count; i++) {
		struct ufake_page *page = pages->memory + i * PAGE_SIZE;

		page->pgoff = pages->entry.start_pgoff + i;
		/* A program that has mapped the page reads the state first. */
		smp_store_release(&page->state, state);
	}
}

static struct ufake_pages *new_pages(u32 count, u64 id)
{
	struct ufake_pages *pages = kzalloc(sizeof(*pages), GFP_KERNEL);

	if (!pages)
		return NULL;
	pages->count = count;
	pages->memory = alloc_pages_exact(length_of(pages), GFP_KERNEL | __GFP_ZERO);
	if (!pages->memory) {
		kfree(pages);
		return NULL;
	}
	for (u32 i = 0; i < count; i++)
		((struct ufake_page *)(pages->memory + i * PAGE_SIZE))->id = id;
	tell_state(pages, UFAKE_PAGE_BEGUN);
	return pages;
}

/* @state is what a stale mapping would still show. */
static void free_pages_as(struct ufake_pages *pages, enum ufake_page_state state)
{
	tell_state(pages, state);
	free_pages_exact(pages->memory, length_of(pages));
	kfree(pages);
}

static int alloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct ufake_pd *pd = container_of(ib, struct ufake_pd, ib);
	struct ufake_alloc_pd_resp resp = {};
	struct ufake_alloc_pd req;
	struct ufake_pages *pages;
	int ret;

	if (!udata || !udata->inlen)
		return 0;
	if (udata->inlen < sizeof(req) || udata->outlen < sizeof(resp))
		return -EINVAL;
	ret = ib_copy_from_udata(&req, udata, sizeof(req));
	if (ret)
		return ret;
	if (!req.pages || req.pages > UFAKE_MAX_PAGES || req.reserved)
		return -EINVAL;

	pages = new_pages(req.pages, req.id);
	if (!pages)
		return -ENOMEM;
	ret = rdma_user_mmap_entry_insert_range(ib->uobject->context, &pages->entry,
						length_of(pages), req.first, req.last);
	if (ret) {
		free_pages_as(pages, UFAKE_PAGE_REFUSED);
		return ret;
	}
	tell_state(pages, UFAKE_PAGE_MADE);

	resp.pgoff = pages->entry.start_pgoff;
	ret = ib_copy_to_udata(udata, &resp, sizeof(resp));
	if (ret) {
		/* A program may have guessed the offset, and keeps what it has mapped. */
		rdma_user_mmap_entry_remove(&pages->entry);
		return ret;
	}
	pd->pages = pages;
	return 0;
}

static int dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct ufake_pd *pd = container_of(ib, struct ufake_pd, ib);

	if (ufake_refuses())
		return -EBUSY;
	if (pd->pages)
		rdma_user_mmap_entry_remove(&pd->pages->entry);
	return 0;
}

static int map(struct ib_ucontext *context, struct vm_area_struct *vma)
{
	struct rdma_user_mmap_entry *entry = rdma_user_mmap_entry_get(context, vma);
	struct ufake_pages *pages;
	int ret;

	if (!entry)
		return -EINVAL;
	pages = pages_of(entry);
	ret = rdma_user_mmap_io(context, vma, virt_to_phys(pages->memory) >> PAGE_SHIFT,
				length_of(pages), vma->vm_page_prot, entry);
	rdma_user_mmap_entry_put(entry);
	return ret;
}

static void mmap_free(struct rdma_user_mmap_entry *entry)
{
	free_pages_as(pages_of(entry), UFAKE_PAGE_FREED);
}

const struct ib_device_ops ufake_pages_ops = {
	.alloc_pd = alloc_pd,
	.dealloc_pd = dealloc_pd,
	.mmap = map,
	.mmap_free = mmap_free,
	.size_ib_pd = sizeof(struct ufake_pd),
};
