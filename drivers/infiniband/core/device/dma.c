// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * DMA addresses of scatter lists: walks in aligned blocks of one size, and addresses for devices
 * that take the kernel's virtual ones.
 */
#include <linux/export.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>
#include <rdma/iter.h>

/**
 * __rdma_block_iter_start() - begin a walk
 * @biter: iterator
 * @sglist: first entry
 * @nents: DMA-mapped entries
 * @pgsz: block size, a power of two
 */
void __rdma_block_iter_start(struct ib_block_iter *biter, struct scatterlist *sglist,
			     unsigned int nents, unsigned long pgsz)
{
	*biter = (struct ib_block_iter){
		.__sg = sglist,
		.__sg_nents = nents,
		.__pg_bit = __fls(pgsz),
	};
}
EXPORT_SYMBOL(__rdma_block_iter_start);

/**
 * __rdma_block_iter_next() - step to the next block
 * @biter: iterator
 *
 * A block may take in several entries that follow each other in DMA address space.
 *
 * Return: false at the end of the list.
 */
bool __rdma_block_iter_next(struct ib_block_iter *biter)
{
	u64 block = BIT_ULL(biter->__pg_bit);
	u64 room, left;

	if (!biter->__sg_nents || !biter->__sg)
		return false;

	biter->__dma_addr = sg_dma_address(biter->__sg) + biter->__sg_advance;
	/* The number of bytes from this address to the end of its block. */
	room = block - (biter->__dma_addr & (block - 1));

	for (;;) {
		left = sg_dma_len(biter->__sg) - biter->__sg_advance;
		if (left > room) {
			biter->__sg_advance += room;
			return true;
		}
		room -= left;
		biter->__sg_advance = 0;
		biter->__sg = sg_next(biter->__sg);
		biter->__sg_nents--;
		if (!biter->__sg_nents || !biter->__sg)
			return true;
	}
}
EXPORT_SYMBOL(__rdma_block_iter_next);

/**
 * ib_dma_virt_map_sg() - use virtual addresses as the DMA addresses of a scatter list
 * @dev: device registered without a DMA device
 * @sg: list of pages with kernel addresses
 * @nents: its entries
 *
 * Context: any.
 * Return: @nents.
 */
int ib_dma_virt_map_sg(struct ib_device *dev, struct scatterlist *sg, int nents)
{
	struct scatterlist *entry = sg;

	for (int left = nents; left > 0; left--, entry = sg_next(entry)) {
		entry->dma_address = (unsigned long)sg_virt(entry);
		sg_dma_len(entry) = entry->length;
	}
	return nents;
}
EXPORT_SYMBOL(ib_dma_virt_map_sg);
