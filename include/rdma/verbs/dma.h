/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * DMA mapping for work requests.  A software device has no DMA device: its
 * DMA addresses are kernel virtual addresses.
 */
#ifndef RDMA_VERBS_DMA_H
#define RDMA_VERBS_DMA_H

#include <linux/dma-mapping.h>
#include <linux/scatterlist.h>
#include <rdma/verbs/device.h>

/**
 * ib_uses_virt_dma() - are the device's DMA addresses kernel virtual addresses?
 * @dev: device
 *
 * Return: true if so.
 */
static inline bool ib_uses_virt_dma(struct ib_device *dev)
{
	if (!IS_ENABLED(CONFIG_INFINIBAND_VIRT_DMA))
		return false;
	return !dev->dma_device;
}

/**
 * ib_dma_pci_p2p_dma_supported() - can the device reach memory of other PCI devices?
 * @dev: device
 *
 * Return: true if so.
 */
static inline bool ib_dma_pci_p2p_dma_supported(struct ib_device *dev)
{
	return !ib_uses_virt_dma(dev) && dma_pci_p2pdma_supported(dev->dma_device);
}

/* Kernel address of a software device's DMA address. */
static inline void *ib_virt_dma_to_ptr(u64 dma_addr)
{
	unsigned long addr = dma_addr;

	return (void *)addr;
}

/* Page of a software device's DMA address. */
static inline struct page *ib_virt_dma_to_page(u64 dma_addr)
{
	void *addr = ib_virt_dma_to_ptr(dma_addr);

	return virt_to_page(addr);
}

static inline int ib_dma_mapping_error(struct ib_device *dev, u64 dma_addr)
{
	return ib_uses_virt_dma(dev) ? 0 : dma_mapping_error(dev->dma_device, dma_addr);
}

static inline u64 ib_dma_map_single(struct ib_device *dev, void *cpu_addr, size_t size,
				    enum dma_data_direction direction)
{
	if (!ib_uses_virt_dma(dev))
		return dma_map_single(dev->dma_device, cpu_addr, size, direction);
	return (unsigned long)cpu_addr;
}

static inline void ib_dma_unmap_single(struct ib_device *dev, u64 addr, size_t size,
				       enum dma_data_direction direction)
{
	if (ib_uses_virt_dma(dev))
		return;
	dma_unmap_single(dev->dma_device, addr, size, direction);
}

static inline u64 ib_dma_map_page(struct ib_device *dev, struct page *page,
				  unsigned long offset, size_t size,
				  enum dma_data_direction direction)
{
	if (!ib_uses_virt_dma(dev))
		return dma_map_page(dev->dma_device, page, offset, size, direction);
	return (unsigned long)page_address(page) + offset;
}

static inline void ib_dma_unmap_page(struct ib_device *dev, u64 addr, size_t size,
				     enum dma_data_direction direction)
{
	if (ib_uses_virt_dma(dev))
		return;
	dma_unmap_page(dev->dma_device, addr, size, direction);
}

int ib_dma_virt_map_sg(struct ib_device *dev, struct scatterlist *sg, int nents);

static inline int ib_dma_map_sg_attrs(struct ib_device *dev, struct scatterlist *sg, int nents,
				      enum dma_data_direction direction,
				      unsigned long dma_attrs)
{
	return ib_uses_virt_dma(dev) ?
	       ib_dma_virt_map_sg(dev, sg, nents) :
	       dma_map_sg_attrs(dev->dma_device, sg, nents, direction, dma_attrs);
}

static inline void ib_dma_unmap_sg_attrs(struct ib_device *dev, struct scatterlist *sg, int nents,
					 enum dma_data_direction direction,
					 unsigned long dma_attrs)
{
	if (ib_uses_virt_dma(dev))
		return;
	dma_unmap_sg_attrs(dev->dma_device, sg, nents, direction, dma_attrs);
}

static inline int ib_dma_map_sgtable_attrs(struct ib_device *dev, struct sg_table *sgt,
					   enum dma_data_direction direction,
					   unsigned long dma_attrs)
{
	if (!ib_uses_virt_dma(dev))
		return dma_map_sgtable(dev->dma_device, sgt, direction, dma_attrs);

	sgt->nents = ib_dma_virt_map_sg(dev, sgt->sgl, sgt->orig_nents);
	return sgt->nents ? 0 : -EIO;
}

static inline void ib_dma_unmap_sgtable_attrs(struct ib_device *dev, struct sg_table *sgt,
					      enum dma_data_direction direction,
					      unsigned long dma_attrs)
{
	if (ib_uses_virt_dma(dev))
		return;
	dma_unmap_sgtable(dev->dma_device, sgt, direction, dma_attrs);
}

static inline int ib_dma_map_sg(struct ib_device *dev, struct scatterlist *sg, int nents,
				enum dma_data_direction direction)
{
	const unsigned long no_attrs = 0;

	return ib_dma_map_sg_attrs(dev, sg, nents, direction, no_attrs);
}

static inline void ib_dma_unmap_sg(struct ib_device *dev, struct scatterlist *sg, int nents,
				   enum dma_data_direction direction)
{
	const unsigned long no_attrs = 0;

	ib_dma_unmap_sg_attrs(dev, sg, nents, direction, no_attrs);
}

/**
 * ib_dma_max_seg_size() - bytes of the longest scatter list entry the device takes
 * @dev: device
 *
 * Return: bytes.
 */
static inline unsigned int ib_dma_max_seg_size(struct ib_device *dev)
{
	return ib_uses_virt_dma(dev) ? UINT_MAX : dma_get_max_seg_size(dev->dma_device);
}

static inline void ib_dma_sync_single_for_cpu(struct ib_device *dev, u64 addr, size_t size,
					      enum dma_data_direction dir)
{
	if (ib_uses_virt_dma(dev))
		return;
	dma_sync_single_for_cpu(dev->dma_device, addr, size, dir);
}

static inline void ib_dma_sync_single_for_device(struct ib_device *dev, u64 addr, size_t size,
						 enum dma_data_direction dir)
{
	if (ib_uses_virt_dma(dev))
		return;
	dma_sync_single_for_device(dev->dma_device, addr, size, dir);
}

#endif /* RDMA_VERBS_DMA_H */
