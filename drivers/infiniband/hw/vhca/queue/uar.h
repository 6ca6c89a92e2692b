/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Doorbell areas (UAR, user access region): the pages of doorbell records that a user context, or
 * the kernel, shares with the device, and the kick page of the area. rdma/vhca-abi.h describes how
 * records, news bits and kicks work together.
 *
 * Every queue uses a pair of adjacent slots. A page is added when all pairs are in use; pages are
 * freed with the area.
 *
 * Circle: db_order, uar: db_order.h is a part of this header that a test includes a second time.
 */
#ifndef VHCA_DB_H
#define VHCA_DB_H

#include <linux/io.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#ifdef CONFIG_X86
#include <asm/sync_bitops.h>
#endif

#include "../hw/hw.h"

#define VHCA_DB_PAIRS	(VHCA_DB_SLOTS / 2)

struct vhca_uar;

/**
 * struct vhca_db_mem - one doorbell page
 * @ref: the area holds a reference, and so may a user mapping
 * @hw: the device
 * @va: the page
 * @dma: its DMA address
 * @index: its number in the area
 * @priv: set by the owner of the area in page_added
 * @list: in the area's list of pages
 * @free_list: in the area's list of pages with free pairs; empty if there are none
 * @free: number of free pairs
 * @used: a bit for each pair in use
 */
struct vhca_db_mem {
	struct kref ref;
	struct vhca_hw *hw;
	struct vhca_db_page *va;
	dma_addr_t dma;
	u32 index;
	void *priv;
	struct list_head list;
	struct list_head free_list;
	u32 free;
	DECLARE_BITMAP(used, VHCA_DB_PAIRS);
};

/**
 * struct vhca_uar_ops - callbacks of the owner of an area
 * @add_page: add a new page to the device; page 0 opens the area
 * @page_added: called before @add_page; may set the page's priv, may fail
 * @page_gone: undo @page_added, before the area drops the page
 * @kick: wake the device; for areas whose doorbells the kernel rings. Any context.
 */
struct vhca_uar_ops {
	int (*add_page)(struct vhca_uar *uar, struct vhca_db_mem *page);
	int (*page_added)(struct vhca_uar *uar, struct vhca_db_mem *page);
	void (*page_gone)(struct vhca_uar *uar, struct vhca_db_mem *page);
	void (*kick)(struct vhca_uar *uar);
};

/**
 * struct vhca_uar - a doorbell area
 * @hw: the device
 * @ops: callbacks of its owner
 * @handle: the device's number for it, and the number of its kick page
 * @grow: serialises the adding of pages
 * @lock: protects the lists, their pages' bitmaps and @npages
 * @pages: all pages
 * @free_pages: pages with free pairs
 * @npages: number of pages
 * @page0: the page that holds the words common to the area
 */
struct vhca_uar {
	struct vhca_hw *hw;
	const struct vhca_uar_ops *ops;
	u32 handle;
	struct mutex grow;
	spinlock_t lock;
	struct list_head pages;
	struct list_head free_pages;
	u32 npages;
	struct vhca_db_page *page0;
};

/**
 * struct vhca_db - a pair of slots
 * @uar: area it belongs to
 * @page: page of the slots
 * @pair: its number in the page
 */
struct vhca_db {
	struct vhca_uar *uar;
	struct vhca_db_mem *page;
	u32 pair;
};

void vhca_uar_exit(struct vhca_uar *uar);
int vhca_uar_open(struct vhca_uar *uar, struct vhca_hw *hw, const struct vhca_uar_ops *ops);
int vhca_uar_close(struct vhca_uar *uar);
int vhca_uar_add_page_cmd(struct vhca_uar *uar, struct vhca_db_mem *page);
void vhca_db_mem_get(struct vhca_db_mem *page);
void vhca_db_mem_put(struct vhca_db_mem *page);
unsigned long vhca_db_mem_pfn(const struct vhca_db_mem *page);

int vhca_db_alloc(struct vhca_uar *uar, struct vhca_db *db);
void vhca_db_free(struct vhca_db *db);
void vhca_db_ring(const struct vhca_db *db, unsigned int which, u64 count);

/* Number of the pair's first slot in the area, which commands pass to the device. */
static inline u32 vhca_db_slot(const struct vhca_db *db)
{
	return db->page->index * VHCA_DB_SLOTS + db->pair * 2;
}

/* The pair's records: 0 the first (send, consumer), 1 the second (receive, arm). */
static inline __le64 *vhca_db_rec(const struct vhca_db *db, unsigned int which)
{
	return &db->page->va->rec[db->pair * 2 + which];
}

#include "db_order.h"

#endif /* VHCA_DB_H */
