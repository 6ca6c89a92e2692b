/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Memory the device translates: user memory, rings of the kernel, and their page lists. */
#ifndef VHCA_BUF_H
#define VHCA_BUF_H

#include <linux/types.h>

#include "../defs/admin.h"

struct device;
struct ib_umem;

/**
 * struct vhca_pages - a buffer as the device sees it, with the lists that describe it
 * @dev: device for DMA
 * @buf: description for the device, refers to the lists
 * @root: the list (levels 1) or the list of lists (levels 2)
 * @root_dma: its DMA address
 * @root_size: its bytes
 * @leaf: the lists of level 2
 * @nleaf: their number
 */
struct vhca_pages {
	struct device *dev;
	struct vhca_buf buf;
	__le64 *root;
	dma_addr_t root_dma;
	size_t root_size;
	__le64 **leaf;
	u32 nleaf;
};

/**
 * typedef vhca_next_page - give the address of the next page of a buffer
 * @cursor: state of the function
 * @addr: filled with a DMA address aligned to the page size
 *
 * Return: false when there is no further page.
 */
typedef bool (*vhca_next_page)(void *cursor, u64 *addr);

int vhca_pages_build(struct vhca_pages *pages, struct device *dev, u8 page_shift, u64 offset,
		     size_t npages, vhca_next_page next, void *cursor);
int vhca_pages_from_umem(struct vhca_pages *pages, struct device *dev, struct ib_umem *umem,
			 u64 page_sizes);
void vhca_pages_free(struct vhca_pages *pages);

/**
 * struct vhca_list - a contiguous list that the driver fills repeatedly
 * @dev: device for DMA
 * @va: its entries
 * @dma: its DMA address
 * @size: its bytes
 */
struct vhca_list {
	struct device *dev;
	void *va;
	dma_addr_t dma;
	size_t size;
};

int vhca_list_alloc(struct vhca_list *list, struct device *dev, size_t size);
void vhca_list_free(struct vhca_list *list);
void vhca_list_begin(struct vhca_list *list);
void vhca_list_end(struct vhca_list *list);

/**
 * struct vhca_kbuf - memory of a kernel ring, in pieces of equal size that are contiguous for DMA
 * @dev: device for DMA
 * @size: bytes
 * @shift: log2 of the bytes of a piece
 * @npieces: number of pieces
 * @va: addresses of the pieces
 * @dma: their DMA addresses
 * @pages: description for the device
 */
struct vhca_kbuf {
	struct device *dev;
	size_t size;
	u8 shift;
	u32 npieces;
	void **va;
	dma_addr_t *dma;
	struct vhca_pages pages;
};

int vhca_kbuf_alloc(struct vhca_kbuf *kbuf, struct device *dev, size_t size);
void vhca_kbuf_free(struct vhca_kbuf *kbuf);
void vhca_kbuf_zero(struct vhca_kbuf *kbuf);

/**
 * vhca_kbuf_at() - find a byte of a ring
 * @kbuf: the memory
 * @offset: below its size. Ring entries are powers of two, so none spans two pieces.
 *
 * Context: any.
 * Return: its address.
 */
static inline void *vhca_kbuf_at(const struct vhca_kbuf *kbuf, size_t offset)
{
	return kbuf->va[offset >> kbuf->shift] + (offset & ((1UL << kbuf->shift) - 1));
}

/* Describe the memory to the device. */
static inline void vhca_kbuf_describe(const struct vhca_kbuf *kbuf, struct vhca_buf *buf)
{
	*buf = kbuf->pages.buf;
}

#endif /* VHCA_BUF_H */
