// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Page lists.
 *
 * A buffer of one page needs no list. If its addresses fit one list page it has one list, otherwise
 * two levels of lists. The lists are in ordinary memory that is mapped for the device to read when
 * they are complete, and do not change afterwards. Only a struct vhca_list is filled repeatedly.
 */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <kunit/visibility.h>

#include "buf.h"
#include "compat.h"

/* Largest piece of a kernel ring, small enough that its allocation is likely to succeed. */
#define VHCA_PIECE_MAX		SZ_64K

static int map_list(struct device *dev, void *list, size_t size, u64 *dma)
{
	dma_addr_t addr = dma_map_single(dev, list, size, DMA_TO_DEVICE);

	if (dma_mapping_error(dev, addr))
		return -ENOMEM;
	*dma = addr;
	return 0;
}

static int fill_list(__le64 *list, u32 n, vhca_next_page next, void *cursor)
{
	u64 addr;

	for (u32 i = 0; i < n; i++) {
		if (!next(cursor, &addr))
			return -EINVAL;
		list[i] = cpu_to_le64(addr);
	}
	return 0;
}

static int build_leaves(struct vhca_pages *p, size_t npages, vhca_next_page next, void *cursor)
{
	u64 dma;
	u32 n;
	int err;

	while (npages) {
		n = min_t(size_t, npages, VHCA_LIST_ENTRIES);
		p->leaf[p->nleaf] = kzalloc(VHCA_LIST_PAGE, GFP_KERNEL_ACCOUNT);
		if (!p->leaf[p->nleaf])
			return -ENOMEM;
		err = fill_list(p->leaf[p->nleaf], n, next, cursor);
		if (!err)
			err = map_list(p->dev, p->leaf[p->nleaf], VHCA_LIST_PAGE, &dma);
		if (err) {
			kfree(p->leaf[p->nleaf]);
			return err;
		}
		p->root[p->nleaf++] = cpu_to_le64(dma);
		npages -= n;
	}
	return 0;
}

static int build_lists(struct vhca_pages *p, size_t npages, vhca_next_page next, void *cursor)
{
	size_t nroot = npages;
	u64 dma;
	int err;

	if (npages > VHCA_LIST_ENTRIES) {
		nroot = DIV_ROUND_UP(npages, VHCA_LIST_ENTRIES);
		p->leaf = kvcalloc(nroot, sizeof(*p->leaf), GFP_KERNEL_ACCOUNT);
		if (!p->leaf)
			return -ENOMEM;
	}
	p->root_size = nroot * sizeof(*p->root);
	p->root = kmalloc(p->root_size, GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!p->root)
		return -ENOMEM;
	err = p->leaf ? build_leaves(p, npages, next, cursor) :
			fill_list(p->root, npages, next, cursor);
	if (err)
		return err;
	err = map_list(p->dev, p->root, p->root_size, &dma);
	if (err)
		return err;
	p->root_dma = dma;
	p->buf.levels = p->leaf ? 2 : 1;
	p->buf.addr = cpu_to_le64(dma);
	return 0;
}

/**
 * vhca_pages_build() - describe a buffer to the device
 * @p: filled in; vhca_pages_free() it
 * @dev: device for DMA
 * @page_shift: log2 of the page size, VHCA_PAGE_SHIFT_MIN..VHCA_PAGE_SHIFT_MAX
 * @offset: where in the first page the buffer starts
 * @npages: number of pages, at least 1
 * @next: returns their addresses, in order
 * @cursor: passed to @next
 *
 * Context: may sleep.
 * Return: 0; -EINVAL if a page or @offset is invalid or @next returns too few pages; -ENOMEM.
 */
int vhca_pages_build(struct vhca_pages *p, struct device *dev, u8 page_shift, u64 offset,
		     size_t npages, vhca_next_page next, void *cursor)
{
	u64 addr;
	int err;

	memset(p, 0, sizeof(*p));
	p->dev = dev;
	if (!npages || npages > U32_MAX || offset >> page_shift)
		return -EINVAL;

	if (npages == 1) {
		if (!next(cursor, &addr))
			return -EINVAL;
		p->buf.addr = cpu_to_le64(addr + offset);
		return 0;
	}
	p->buf.offset = cpu_to_le64(offset);
	p->buf.npages = cpu_to_le32(npages);
	p->buf.page_shift = page_shift;
	err = build_lists(p, npages, next, cursor);
	if (err)
		vhca_pages_free(p);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_pages_build);

/**
 * vhca_pages_free() - free a buffer's lists
 * @p: the buffer, which the device does not use any more
 *
 * Context: may sleep.
 */
void vhca_pages_free(struct vhca_pages *p)
{
	if (p->buf.levels)
		dma_unmap_single(p->dev, p->root_dma, p->root_size, DMA_TO_DEVICE);
	for (u32 i = 0; i < p->nleaf; i++) {
		dma_unmap_single(p->dev, le64_to_cpu(p->root[i]), VHCA_LIST_PAGE, DMA_TO_DEVICE);
		kfree(p->leaf[i]);
	}
	kvfree(p->leaf);
	kfree(p->root);
	memset(p, 0, sizeof(*p));
}
EXPORT_SYMBOL_IF_KUNIT(vhca_pages_free);

static bool next_umem_block(void *cursor, u64 *addr)
{
	struct ib_block_iter *iter = cursor;

	if (!__rdma_block_iter_next(iter))
		return false;
	*addr = rdma_block_iter_dma_address(iter);
	return true;
}

/**
 * vhca_pages_from_umem() - describe pinned user memory to the device
 * @p: filled in; vhca_pages_free() it before the memory is released
 * @dev: device for DMA
 * @umem: the memory
 * @page_sizes: page sizes the device has
 *
 * Uses the largest pages the memory's layout allows.
 *
 * Context: may sleep.
 * Return: 0; -EINVAL when no page size fits; -ENOMEM.
 */
int vhca_pages_from_umem(struct vhca_pages *p, struct device *dev, struct ib_umem *umem,
			 u64 page_sizes)
{
	struct ib_block_iter iter;
	unsigned long pgsz;

	/* The device accepts any offset in the first page, so only the DMA addresses matter. */
	pgsz = ib_umem_find_best_pgoff(umem, page_sizes, U64_MAX);
	if (!pgsz)
		return -EINVAL;
	__rdma_umem_block_iter_start(&iter, umem, pgsz);
	return vhca_pages_build(p, dev, ilog2(pgsz), ib_umem_dma_offset(umem, pgsz),
				ib_umem_num_dma_blocks(umem, pgsz), next_umem_block, &iter);
}

/**
 * vhca_list_alloc() - allocate a list
 * @list: filled in; its entries are zero
 * @dev: device for DMA
 * @size: bytes
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM.
 */
int vhca_list_alloc(struct vhca_list *list, struct device *dev, size_t size)
{
	u64 dma;
	int err;

	list->va = kzalloc(size, GFP_KERNEL | __GFP_NOWARN);
	if (!list->va)
		return -ENOMEM;
	err = map_list(dev, list->va, size, &dma);
	if (err) {
		kfree(list->va);
		list->va = NULL;
		return err;
	}
	list->dev = dev;
	list->dma = dma;
	list->size = size;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_list_alloc);

/**
 * vhca_list_free() - free a list
 * @list: the list, which the device does not use any more
 *
 * Context: any.
 */
void vhca_list_free(struct vhca_list *list)
{
	dma_unmap_single(list->dev, list->dma, list->size, DMA_TO_DEVICE);
	kfree(list->va);
	list->va = NULL;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_list_free);

/**
 * vhca_list_begin() - give the CPU access to a list, to fill it
 * @list: the list
 *
 * Context: any.
 */
void vhca_list_begin(struct vhca_list *list)
{
	dma_sync_single_for_cpu(list->dev, list->dma, list->size, DMA_TO_DEVICE);
}

/**
 * vhca_list_end() - give the device access to a list
 * @list: the list
 *
 * Context: any.
 */
void vhca_list_end(struct vhca_list *list)
{
	dma_sync_single_for_device(list->dev, list->dma, list->size, DMA_TO_DEVICE);
}

static bool next_piece(void *cursor, u64 *addr)
{
	dma_addr_t **dma = cursor;

	*addr = *(*dma)++;
	return true;
}

/**
 * vhca_kbuf_alloc() - allocate the memory of a kernel ring
 * @k: filled in
 * @dev: device for DMA
 * @size: bytes, a power of two
 *
 * The memory is zeroed.
 *
 * Context: may sleep.
 * Return: 0, or -ENOMEM.
 */
int vhca_kbuf_alloc(struct vhca_kbuf *k, struct device *dev, size_t size)
{
	size_t piece = clamp_t(size_t, size, VHCA_LIST_PAGE, VHCA_PIECE_MAX);
	dma_addr_t *cursor;
	int err = -ENOMEM;

	k->dev = dev;
	k->size = max(size, piece);
	k->shift = ilog2(piece);
	k->npieces = 0;
	k->va = kvcalloc(k->size >> k->shift, sizeof(*k->va), GFP_KERNEL);
	k->dma = kvcalloc(k->size >> k->shift, sizeof(*k->dma), GFP_KERNEL);
	if (!k->va || !k->dma)
		goto err;
	while (k->npieces < k->size >> k->shift) {
		k->va[k->npieces] = dma_alloc_coherent(dev, piece, &k->dma[k->npieces],
						       GFP_KERNEL);
		if (!k->va[k->npieces])
			goto err;
		k->npieces++;
	}
	cursor = k->dma;
	err = vhca_pages_build(&k->pages, dev, k->shift, 0, k->npieces, next_piece, &cursor);
	if (err)
		goto err;
	return 0;

err:
	while (k->npieces--)
		dma_free_coherent(dev, piece, k->va[k->npieces], k->dma[k->npieces]);
	kvfree(k->dma);
	kvfree(k->va);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(vhca_kbuf_alloc);

/**
 * vhca_kbuf_free() - free a kernel ring
 * @k: the ring, which the device does not use any more
 *
 * Context: may sleep.
 */
void vhca_kbuf_free(struct vhca_kbuf *k)
{
	vhca_pages_free(&k->pages);
	while (k->npieces--)
		dma_free_coherent(k->dev, 1UL << k->shift, k->va[k->npieces], k->dma[k->npieces]);
	kvfree(k->dma);
	kvfree(k->va);
}
EXPORT_SYMBOL_IF_KUNIT(vhca_kbuf_free);

/**
 * vhca_kbuf_zero() - clear a kernel ring
 * @k: the ring
 *
 * Context: any.
 */
void vhca_kbuf_zero(struct vhca_kbuf *k)
{
	for (u32 i = 0; i < k->npieces; i++)
		memset(k->va[i], 0, 1UL << k->shift);
}
