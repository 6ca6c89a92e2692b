// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * "DMA mapping" for drivers whose device is the CPU: they take kernel virtual
 * addresses.
 */
#include <linux/scatterlist.h>
#include "verbs_priv.h"

/**
 * ib_dma_virt_map_sg() - give a scatter list its own virtual addresses
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
