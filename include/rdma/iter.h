/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Iteration over DMA mapped memory in aligned blocks of equal size.
 */
#ifndef _RDMA_ITER_H_
#define _RDMA_ITER_H_

#include <linux/scatterlist.h>
#include <rdma/ib_umem.h>

/* State of a walk; private. */
struct ib_block_iter {
	struct scatterlist *__sg;
	dma_addr_t __dma_addr;
	size_t __sg_numblocks;
	unsigned int __sg_nents;
	unsigned int __sg_advance;
	unsigned int __pg_bit;
};

void __rdma_block_iter_start(struct ib_block_iter *biter,
			     struct scatterlist *sglist,
			     unsigned int nents,
			     unsigned long pgsz);

bool __rdma_block_iter_next(struct ib_block_iter *biter);

/**
 * rdma_block_iter_dma_address() - get the DMA address of the current block
 * @biter: walk
 *
 * Return: the address, aligned to the block.
 */
static inline dma_addr_t rdma_block_iter_dma_address(struct ib_block_iter *biter)
{
	return ALIGN_DOWN(biter->__dma_addr, BIT_ULL(biter->__pg_bit));
}

/**
 * rdma_for_each_block() - walk a mapped scatter list
 * @sglist: scatter list
 * @biter: struct ib_block_iter *
 * @nents: its entries
 * @pgsz: bytes of a block, a power of two that fits the list
 */
#define rdma_for_each_block(sglist, biter, nents, pgsz)			\
	for (__rdma_block_iter_start(biter, sglist, nents, pgsz);	\
	     __rdma_block_iter_next(biter);)

static inline void __rdma_umem_block_iter_start(struct ib_block_iter *biter,
						struct ib_umem *umem, unsigned long pgsz)
{
	struct sg_table *sgt = &umem->sgt_append.sgt;

	__rdma_block_iter_start(biter, sgt->sgl, sgt->nents, pgsz);
	/* If blocks are smaller than a page, the first one may start inside the first page. */
	biter->__sg_advance = ALIGN_DOWN(ib_umem_offset(umem), pgsz);
	biter->__sg_numblocks = ib_umem_num_dma_blocks(umem, pgsz);
}

static inline bool __rdma_umem_block_iter_next(struct ib_block_iter *biter)
{
	if (!__rdma_block_iter_next(biter))
		return false;
	return biter->__sg_numblocks-- > 0;
}

/**
 * rdma_umem_for_each_dma_block() - walk user memory
 * @umem: user memory
 * @biter: struct ib_block_iter *
 * @pgsz: bytes of a block, from ib_umem_find_best_pgsz()
 */
#define rdma_umem_for_each_dma_block(umem, biter, pgsz)			\
	for (__rdma_umem_block_iter_start(biter, umem, pgsz);		\
	     __rdma_umem_block_iter_next(biter);)

#endif /* _RDMA_ITER_H_ */
