// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Mapping of scatter lists into MRs that are registered by work requests.
 */
#include <linux/scatterlist.h>
#include "verbs_priv.h"

/**
 * ib_map_mr_sg() - map a scatter list into an MR
 * @mr: MR of ib_alloc_mr()
 * @sg: list, mapped for DMA
 * @sg_nents: its entries
 * @sg_offset: bytes to skip in the first entry; receives, after a partial mapping, the number
 *	of bytes mapped of the first entry that did not fit; may be NULL
 * @page_size: bytes of a page, a power of two
 *
 * Context: any.
 * Return: entries mapped, which may be fewer than given; -EOPNOTSUPP, or the
 * driver's error.
 */
int ib_map_mr_sg(struct ib_mr *mr, struct scatterlist *sg, int sg_nents,
		 unsigned int *sg_offset, unsigned int page_size)
{
	const struct ib_device_ops *ops = &mr->device->ops;

	if (!ops->map_mr_sg)
		return -EOPNOTSUPP;
	mr->page_size = page_size;
	return ops->map_mr_sg(mr, sg, sg_nents, sg_offset);
}
EXPORT_SYMBOL(ib_map_mr_sg);

/**
 * ib_map_mr_sg_pi() - map data and protection information into a signature MR
 * @mr: MR of ib_alloc_mr_integrity()
 * @data_sg: data, mapped for DMA
 * @data_sg_nents: its entries
 * @data_sg_offset: bytes to skip in the first entry; may be NULL
 * @meta_sg: protection information, mapped for DMA; may be NULL
 * @meta_sg_nents: its entries
 * @meta_sg_offset: bytes to skip in the first entry; may be NULL
 * @page_size: bytes of a page, a power of two
 *
 * Context: any.
 * Return: 0; -EOPNOTSUPP; the driver's error; or the number of entries mapped if not all
 * entries of both lists could be.
 */
int ib_map_mr_sg_pi(struct ib_mr *mr, struct scatterlist *data_sg, int data_sg_nents,
		    unsigned int *data_sg_offset, struct scatterlist *meta_sg, int meta_sg_nents,
		    unsigned int *meta_sg_offset, unsigned int page_size)
{
	const struct ib_device_ops *ops = &mr->device->ops;

	if (!ops->map_mr_sg_pi || WARN_ON_ONCE(mr->type != IB_MR_TYPE_INTEGRITY))
		return -EOPNOTSUPP;
	mr->page_size = page_size;
	return ops->map_mr_sg_pi(mr, data_sg, data_sg_nents, data_sg_offset, meta_sg,
				 meta_sg_nents, meta_sg_offset);
}
EXPORT_SYMBOL(ib_map_mr_sg_pi);

/**
 * ib_sg_to_pages() - cut a scatter list into the pages of an MR, for drivers
 * @mr: MR; its page_size is the size of the pages, its iova and length are set
 * @sgl: list, mapped for DMA
 * @sg_nents: its entries
 * @sg_offset: bytes to skip in the first entry; receives the number of bytes mapped of the
 *	first entry that did not fit, 0 if all did; may be NULL
 * @set_page: adds the address of the next page, or fails when the MR is full
 *
 * An MR is one contiguous range, so between two entries there must be a page boundary, or
 * their memory must be contiguous; the first entry for which neither holds ends the mapping.
 *
 * Context: any.
 * Return: number of entries mapped entirely; the error of @set_page if no page fit.
 */
int ib_sg_to_pages(struct ib_mr *mr, struct scatterlist *sgl, int sg_nents,
		   unsigned int *sg_offset, int (*set_page)(struct ib_mr *mr, u64 address))
{
	unsigned int skip = sg_offset ? *sg_offset : 0;
	const u64 in_page = mr->page_size - 1;
	struct scatterlist *sg;
	u64 end = 0, paged = 0;	/* end of the bytes so far; end of the pages so far */
	int i, ret;

	if (sg_nents <= 0 || skip > sg_dma_len(sgl))
		return -EINVAL;
	mr->iova = sg_dma_address(sgl) + skip;
	mr->length = 0;
	if (sg_offset)
		*sg_offset = 0;

	for_each_sg(sgl, sg, sg_nents, i) {
		u64 start = sg_dma_address(sg) + skip;
		u64 stop = sg_dma_address(sg) + sg_dma_len(sg);
		u64 page = start & ~in_page;

		skip = 0;
		if (i && start == end)
			page = paged;
		else if (i && ((start | end) & in_page))
			break;

		for (; page < stop; page += mr->page_size) {
			ret = set_page(mr, page);
			if (ret >= 0)
				continue;
			/* The pages before this one hold the first bytes of this entry. */
			if (page > start) {
				mr->length += page - start;
				if (sg_offset)
					*sg_offset = page - sg_dma_address(sg);
			}
			return i || page > start ? i : ret;
		}
		paged = page;
		end = stop;
		mr->length += stop - start;
	}
	return i;
}
EXPORT_SYMBOL(ib_sg_to_pages);
