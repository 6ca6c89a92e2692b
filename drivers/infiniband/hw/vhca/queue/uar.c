// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Doorbell areas, and ringing of the kernel's own doorbells. */
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <kunit/visibility.h>

#include "../cmd/cmd.h"
#include "uar.h"
#include "../hw/compat.h"

/**
 * vhca_db_mem_get() - take a reference to a doorbell page
 * @page: the page
 *
 * Context: any.
 */
void vhca_db_mem_get(struct vhca_db_mem *page)
{
	kref_get(&page->ref);
}

static void db_mem_release(struct kref *ref)
{
	struct vhca_db_mem *page = container_of(ref, struct vhca_db_mem, ref);

	dma_free_coherent(page->hw->dev, PAGE_SIZE, page->va, page->dma);
	kfree(page);
}

/**
 * vhca_db_mem_put() - drop a reference to a doorbell page
 * @page: the page; freed with the last reference
 *
 * Context: may sleep.
 */
void vhca_db_mem_put(struct vhca_db_mem *page)
{
	kref_put(&page->ref, db_mem_release);
}

/**
 * vhca_db_mem_pfn() - get the page frame of a doorbell page, to map it to user space
 * @page: the page
 *
 * Context: any.
 * Return: page frame number.
 */
unsigned long vhca_db_mem_pfn(const struct vhca_db_mem *page)
{
	/* With an IOMMU, coherent memory may be in the vmalloc area. */
	if (is_vmalloc_addr(page->va))
		return vmalloc_to_pfn(page->va);
	return PHYS_PFN(virt_to_phys(page->va));
}

static struct vhca_db_mem *db_mem_alloc(struct vhca_uar *uar)
{
	struct vhca_db_mem *page;

	page = kzalloc(sizeof(*page), GFP_KERNEL);
	if (!page)
		return NULL;
	page->va = dma_alloc_coherent(uar->hw->dev, PAGE_SIZE, &page->dma, GFP_KERNEL);
	if (!page->va) {
		kfree(page);
		return NULL;
	}
	kref_init(&page->ref);
	page->hw = uar->hw;
	page->free = VHCA_DB_PAIRS;
	INIT_LIST_HEAD(&page->list);
	INIT_LIST_HEAD(&page->free_list);
	return page;
}

/* Called with uar->grow held, or while the area is not shared yet. */
static int uar_grow(struct vhca_uar *uar)
{
	struct vhca_db_mem *page;
	int err;

	if (uar->npages >= VHCA_DB_MAX_PAGES)
		return vhca_refuse(uar->hw->dev, -ENOMEM, "doorbell area is full: %u queues",
				   VHCA_DB_MAX_PAGES * VHCA_DB_PAIRS);
	page = db_mem_alloc(uar);
	if (!page)
		return -ENOMEM;
	page->index = uar->npages;
	if (!page->index)
		uar->page0 = page->va;

	if (uar->ops->page_added) {
		err = uar->ops->page_added(uar, page);
		if (err)
			goto err_put;
	}
	/* This is the last step, since a page cannot be taken from the device again. */
	err = uar->ops->add_page(uar, page);
	if (err)
		goto err_gone;

	spin_lock(&uar->lock);
	uar->npages++;
	list_add_tail(&page->list, &uar->pages);
	list_add_tail(&page->free_list, &uar->free_pages);
	spin_unlock(&uar->lock);
	return 0;

err_gone:
	if (uar->ops->page_gone)
		uar->ops->page_gone(uar, page);
err_put:
	vhca_db_mem_put(page);
	return err;
}

/**
 * vhca_uar_open() - open an area with one page
 * @uar: the area
 * @hw: the device
 * @ops: callbacks of its owner
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM; or an error of the owner's callbacks.
 */
int vhca_uar_open(struct vhca_uar *uar, struct vhca_hw *hw, const struct vhca_uar_ops *ops)
{
	int err;

	uar->hw = hw;
	uar->ops = ops;
	mutex_init(&uar->grow);
	spin_lock_init(&uar->lock);
	INIT_LIST_HEAD(&uar->pages);
	INIT_LIST_HEAD(&uar->free_pages);
	uar->npages = 0;
	uar->page0 = NULL;

	err = uar_grow(uar);
	if (err)
		vhca_uar_exit(uar);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_uar_open);

/**
 * vhca_uar_exit() - drop an area's pages
 * @uar: the area, which was closed in the device
 *
 * Context: may sleep.
 */
void vhca_uar_exit(struct vhca_uar *uar)
{
	struct vhca_db_mem *page, *next;

	list_for_each_entry_safe(page, next, &uar->pages, list) {
		if (uar->ops->page_gone)
			uar->ops->page_gone(uar, page);
		list_del(&page->list);
		vhca_db_mem_put(page);
	}
	mutex_destroy(&uar->grow);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_uar_exit);

/**
 * vhca_uar_add_page_cmd() - add a page of an area to the device
 * @uar: the area
 * @page: the page; the first one opens the area
 *
 * The implementation of vhca_uar_ops.add_page for a real device.
 *
 * Context: may sleep.
 * Return: 0 or an error of commands (cmd/cmd.h).
 */
int vhca_uar_add_page_cmd(struct vhca_uar *uar, struct vhca_db_mem *page)
{
	if (!page->index)
		return vhca_cmd_open_uar(uar->hw, page->dma, &uar->handle);
	return vhca_cmd_add_db_page(uar->hw, uar->handle, page->index, page->dma);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_uar_add_page_cmd);

/**
 * vhca_uar_close() - close an area and drop its pages
 * @uar: the area; no queue uses it
 *
 * Context: may sleep.
 * Return: 0, or the error of the command, after which the area is unchanged.
 */
int vhca_uar_close(struct vhca_uar *uar)
{
	int err;

	err = vhca_hw_settle(uar->hw, vhca_cmd_close_uar(uar->hw, uar->handle));
	if (!err)
		vhca_uar_exit(uar);
	return err;
}

static bool try_alloc(struct vhca_uar *uar, struct vhca_db *db)
{
	struct vhca_db_mem *page;

	spin_lock(&uar->lock);
	page = list_first_entry_or_null(&uar->free_pages, struct vhca_db_mem, free_list);
	if (page) {
		db->uar = uar;
		db->page = page;
		db->pair = find_first_zero_bit(page->used, VHCA_DB_PAIRS);
		__set_bit(db->pair, page->used);
		if (!--page->free)
			list_del_init(&page->free_list);
	}
	spin_unlock(&uar->lock);
	return page;
}

/**
 * vhca_db_alloc() - allocate a pair of slots
 * @uar: area
 * @db: filled in; both records are 0
 *
 * Adds a page if all pairs are in use.
 *
 * Context: may sleep.
 * Return: 0; -ENOMEM if there is no memory or the area is full; or the error of adding a page.
 */
int vhca_db_alloc(struct vhca_uar *uar, struct vhca_db *db)
{
	int err;

	while (!try_alloc(uar, db)) {
		mutex_lock(&uar->grow);
		/* Another task may have added a page or freed a pair in the meantime. */
		err = list_empty_careful(&uar->free_pages) ? uar_grow(uar) : 0;
		mutex_unlock(&uar->grow);
		if (err)
			return err;
	}
	vhca_db_store(db, 0, 0);
	vhca_db_store(db, 1, 0);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_db_alloc);

/**
 * vhca_db_free() - free a pair of slots
 * @db: the pair; the device does not use it any more
 *
 * Context: process context.
 */
void vhca_db_free(struct vhca_db *db)
{
	struct vhca_uar *uar = db->uar;

	spin_lock(&uar->lock);
	__clear_bit(db->pair, db->page->used);
	if (!db->page->free++)
		list_add(&db->page->free_list, &uar->free_pages);
	spin_unlock(&uar->lock);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_db_free);

/**
 * vhca_db_ring() - store a record and notify the device
 * @db: pair of a queue in a kernel area
 * @which: number of the record: 0 or 1
 * @count: its new count
 *
 * Context: any; the caller serialises the rings of one queue.
 */
void vhca_db_ring(const struct vhca_db *db, unsigned int which, u64 count)
{
	if (vhca_db_publish(db, which, count))
		db->uar->ops->kick(db->uar);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_db_ring);
