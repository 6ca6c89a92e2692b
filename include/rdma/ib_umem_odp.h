/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * User memory that is paged in on demand.
 */
#ifndef IB_UMEM_ODP_H
#define IB_UMEM_ODP_H

#include <linux/mmu_notifier.h>
#include <linux/mutex.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_verbs.h>

/**
 * struct ib_umem_odp - a range of a process's memory, present in part
 * @umem: base
 * @notifier: MMU notifier, called when pages of the process change
 * @tgid: the process
 * @pfn_list: a page frame and its rights for every page
 * @dma_list: a DMA address and its ODP_*_ALLOWED_BIT for every page, 0 if it is not mapped
 * @umem_mutex: protects both lists and @npages
 * @private: for the driver
 * @npages: number of pages that are mapped
 * @is_implicit_odp: parent of children that cover the address space
 * @page_shift: log2 of the bytes of a page
 */
struct ib_umem_odp {
	struct ib_umem umem;
	struct mmu_interval_notifier notifier;
	struct pid *tgid;

	unsigned long *pfn_list;

	dma_addr_t		*dma_list;

	struct mutex		umem_mutex;
	void			*private;

	int npages;

	bool is_implicit_odp;

	unsigned int		page_shift;
};

static inline struct ib_umem_odp *to_ib_umem_odp(struct ib_umem *umem)
{
	return container_of(umem, struct ib_umem_odp, umem);
}

/* First address of the range, aligned to its page size. */
static inline unsigned long ib_umem_start(struct ib_umem_odp *umem_odp)
{
	const struct interval_tree_node *range = &umem_odp->notifier.interval_tree;

	return range->start;
}

/* First address behind the range, aligned to its page size. */
static inline unsigned long ib_umem_end(struct ib_umem_odp *umem_odp)
{
	const struct interval_tree_node *range = &umem_odp->notifier.interval_tree;

	return range->last + 1;
}

static inline size_t ib_umem_odp_num_pages(struct ib_umem_odp *umem_odp)
{
	unsigned long bytes = ib_umem_end(umem_odp) - ib_umem_start(umem_odp);

	return bytes >> umem_odp->page_shift;
}

/* Rights in the low bits of a dma_list entry. */
#define ODP_READ_ALLOWED_BIT  (1 << 0ULL)
#define ODP_WRITE_ALLOWED_BIT (1 << 1ULL)
#define ODP_DMA_ADDR_MASK (~(ODP_READ_ALLOWED_BIT | ODP_WRITE_ALLOWED_BIT))

#ifdef CONFIG_INFINIBAND_ON_DEMAND_PAGING

struct ib_umem_odp *
ib_umem_odp_get(struct ib_device *device, unsigned long addr, size_t size,
		int access, const struct mmu_interval_notifier_ops *ops);
struct ib_umem_odp *ib_umem_odp_alloc_implicit(struct ib_device *device,
					       int access);

struct ib_umem_odp *
ib_umem_odp_alloc_child(struct ib_umem_odp *root_umem, unsigned long addr,
			size_t size,
			const struct mmu_interval_notifier_ops *ops);
void ib_umem_odp_release(struct ib_umem_odp *umem_odp);
int ib_umem_odp_map_dma_and_lock(struct ib_umem_odp *umem_odp, u64 start_offset,
				 u64 bcnt, u64 access_mask, bool fault);

void ib_umem_odp_unmap_dma_pages(struct ib_umem_odp *umem_odp, u64 start_offset,
				 u64 bound);

#else /* CONFIG_INFINIBAND_ON_DEMAND_PAGING */

static inline struct ib_umem_odp *
ib_umem_odp_get(struct ib_device *device, unsigned long addr, size_t size,
		int access, const struct mmu_interval_notifier_ops *ops)
{
	return ERR_PTR(-EINVAL);
}

static inline void ib_umem_odp_release(struct ib_umem_odp *umem_odp) {}

#endif /* CONFIG_INFINIBAND_ON_DEMAND_PAGING */
#endif /* IB_UMEM_ODP_H */
