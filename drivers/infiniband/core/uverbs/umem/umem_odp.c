// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User memory on demand (ODP): a device requests it page by page, and loses a page when the process
 * does.
 */
#include <linux/cleanup.h>
#include <linux/hmm.h>
#include <linux/hugetlb.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/rdma_reject.h>

static size_t odp_page_size(const struct ib_umem_odp *odp)
{
	return 1UL << odp->page_shift;
}

/* Allocates the lists for all pages of the range, empty, and registers the notifier. */
static int odp_begin(struct ib_umem_odp *odp, const struct mmu_interval_notifier_ops *ops)
{
	unsigned long start = ALIGN_DOWN(odp->umem.address, odp_page_size(odp)), end;
	int ret;

	if (check_add_overflow(odp->umem.address, odp->umem.length, &end) ||
	    ALIGN(end, odp_page_size(odp)) < end)
		return rdma_refuse(-EOVERFLOW, "memory at %#lx, %zu bytes: wraps",
				   odp->umem.address, odp->umem.length);
	end = ALIGN(end, odp_page_size(odp));
	if (start == end)
		return rdma_refuse(-EINVAL, "memory at %#lx has no length", odp->umem.address);

	odp->pfn_list = kvcalloc((end - start) >> PAGE_SHIFT, sizeof(*odp->pfn_list),
				 GFP_KERNEL | __GFP_NOWARN);
	odp->dma_list = kvcalloc((end - start) >> odp->page_shift, sizeof(*odp->dma_list),
				 GFP_KERNEL | __GFP_NOWARN);
	ret = odp->pfn_list && odp->dma_list ?
	      mmu_interval_notifier_insert(&odp->notifier, odp->umem.owning_mm, start, end - start,
					   ops) : -ENOMEM;
	if (ret) {
		kvfree(odp->dma_list);
		kvfree(odp->pfn_list);
	}
	return ret;
}

static struct ib_umem_odp *odp_new(struct ib_device *device, struct mm_struct *mm,
				   struct pid *tgid, bool writable)
{
	struct ib_umem_odp *odp = kzalloc(sizeof(*odp), GFP_KERNEL);

	if (!odp)
		return NULL;
	odp->umem.ibdev = device;
	odp->umem.owning_mm = mm;
	odp->umem.writable = writable;
	odp->umem.is_odp = 1;
	odp->page_shift = PAGE_SHIFT;
	odp->tgid = get_pid(tgid);
	mutex_init(&odp->umem_mutex);
	return odp;
}

static void odp_free(struct ib_umem_odp *odp)
{
	put_pid(odp->tgid);
	kfree(odp);
}

static struct ib_umem_odp *odp_range(struct ib_umem_odp *odp, unsigned long addr, size_t size,
				     const struct mmu_interval_notifier_ops *ops)
{
	int ret;

	if (!odp)
		return ERR_PTR(-ENOMEM);
	odp->umem.address = addr;
	odp->umem.iova = addr;
	odp->umem.length = size;
	ret = odp_begin(odp, ops);
	if (!ret)
		return odp;
	odp_free(odp);
	return ERR_PTR(ret);
}

/**
 * ib_umem_odp_get() - register memory of the current process on demand
 * @device: device that is to use it
 * @addr: first byte
 * @size: bytes
 * @access: enum ib_access_flags, including IB_ACCESS_ON_DEMAND; with IB_ACCESS_HUGETLB the memory
 *	is mapped in units of huge pages, otherwise of pages
 * @ops: its invalidate() is called before the process loses pages
 *
 * Context: the process whose memory it is; may sleep.
 * Return: the memory, none of it mapped, to be released with ib_umem_odp_release(); or an
 * ERR_PTR(): -EINVAL or -EOVERFLOW for an empty or wrapping range, -ENOMEM.
 */
struct ib_umem_odp *ib_umem_odp_get(struct ib_device *device, unsigned long addr, size_t size,
				    int access, const struct mmu_interval_notifier_ops *ops)
{
	struct ib_umem_odp *odp;

	if (WARN_ON_ONCE(!(access & IB_ACCESS_ON_DEMAND)))
		return ERR_PTR(-EINVAL);
	odp = odp_new(device, current->mm, task_tgid(current), ib_access_writable(access));
	if (IS_ENABLED(CONFIG_HUGETLB_PAGE) && odp && (access & IB_ACCESS_HUGETLB))
		odp->page_shift = HPAGE_SHIFT;
	return odp_range(odp, addr, size, ops);
}
EXPORT_SYMBOL(ib_umem_odp_get);

/**
 * ib_umem_odp_alloc_implicit() - make a parent of ranges for all memory of the current process
 * @device: device that is to use it
 * @access: enum ib_access_flags, without IB_ACCESS_HUGETLB
 *
 * Context: the process whose memory it is; may sleep.
 * Return: the parent, to be released with ib_umem_odp_release() after its children; or
 * ERR_PTR(-EINVAL) or ERR_PTR(-ENOMEM).
 */
struct ib_umem_odp *ib_umem_odp_alloc_implicit(struct ib_device *device, int access)
{
	struct ib_umem_odp *odp;

	if (access & IB_ACCESS_HUGETLB)
		return ERR_PTR(rdma_refuse(-EINVAL, "all memory has no huge pages for a unit"));
	odp = odp_new(device, current->mm, task_tgid(current), ib_access_writable(access));
	if (!odp)
		return ERR_PTR(-ENOMEM);
	odp->is_implicit_odp = true;
	/* Without ranges there is no notifier that would hold the mm. */
	mmgrab(current->mm);
	return odp;
}
EXPORT_SYMBOL(ib_umem_odp_alloc_implicit);

/**
 * ib_umem_odp_alloc_child() - make a range under a parent
 * @root_umem: parent from ib_umem_odp_alloc_implicit(), which outlives the range
 * @addr: first byte
 * @size: bytes
 * @ops: its invalidate() is called before the process loses pages
 *
 * Context: may sleep; any process.
 * Return: the range, to be released with ib_umem_odp_release(); or an ERR_PTR(): -EFAULT if the
 * process of the parent has exited, or an error of ib_umem_odp_get().
 */
struct ib_umem_odp *ib_umem_odp_alloc_child(struct ib_umem_odp *root_umem, unsigned long addr,
					    size_t size,
					    const struct mmu_interval_notifier_ops *ops)
{
	struct mm_struct *mm = root_umem->umem.owning_mm;
	struct ib_umem_odp *odp;

	if (WARN_ON_ONCE(!root_umem->is_implicit_odp))
		return ERR_PTR(-EINVAL);
	if (!mmget_not_zero(mm))
		return ERR_PTR(-EFAULT);
	odp = odp_range(odp_new(root_umem->umem.ibdev, mm, root_umem->tgid,
				root_umem->umem.writable), addr, size, ops);
	mmput_async(mm);
	return odp;
}
EXPORT_SYMBOL(ib_umem_odp_alloc_child);

static void odp_unmap_all(struct ib_umem_odp *odp)
{
	guard(mutex)(&odp->umem_mutex);
	ib_umem_odp_unmap_dma_pages(odp, ib_umem_start(odp), ib_umem_end(odp));
}

/**
 * ib_umem_odp_release() - unmap and release memory on demand
 * @umem_odp: the memory; the device must not use it any more
 *
 * Context: may sleep.
 */
void ib_umem_odp_release(struct ib_umem_odp *umem_odp)
{
	if (!umem_odp->is_implicit_odp) {
		odp_unmap_all(umem_odp);
		mmu_interval_notifier_remove(&umem_odp->notifier);
		kvfree(umem_odp->pfn_list);
		kvfree(umem_odp->dma_list);
	} else {
		mmdrop(umem_odp->umem.owning_mm);
	}
	odp_free(umem_odp);
}
EXPORT_SYMBOL(ib_umem_odp_release);

/* Maps one unit for the device, which may have it already with other rights. */
static int odp_map_page(struct ib_umem_odp *odp, size_t at, struct page *page, u64 rights)
{
	struct ib_device *device = odp->umem.ibdev;
	dma_addr_t *dma = &odp->dma_list[at];

	if (!*dma) {
		dma_addr_t addr = ib_dma_map_page(device, page, 0, odp_page_size(odp),
						  DMA_BIDIRECTIONAL);

		if (ib_dma_mapping_error(device, addr))
			return -EFAULT;
		*dma = addr;
		odp->npages++;
	}
	*dma = (*dma & ODP_DMA_ADDR_MASK) | rights;
	return 0;
}

/* Maps the units that the process has.  Returns how many units were checked. */
static int odp_map_found(struct ib_umem_odp *odp, size_t first, size_t count, u64 rights,
			 bool fault)
{
	unsigned int step = odp->page_shift - PAGE_SHIFT;

	for (size_t i = first; i < first + count; i++) {
		unsigned long pfn = odp->pfn_list[i << step];
		u64 given = rights;
		int ret;

		if (!(pfn & HMM_PFN_VALID)) {
			if (WARN_ON_ONCE(fault))
				return -EFAULT;
			continue;
		}
		if (hmm_pfn_to_map_order(pfn) < step)
			return rdma_refuse(-EINVAL, "memory at %#lx is in smaller pages",
					   ib_umem_start(odp) + (i << odp->page_shift));
		/* A page is not mapped for writing if the process may not write it */
		if (!(pfn & HMM_PFN_WRITE))
			given &= ~(u64)ODP_WRITE_ALLOWED_BIT;
		ret = odp_map_page(odp, i, hmm_pfn_to_page(pfn), given);
		if (ret)
			return ret;
	}
	return count;
}

/* Looks up the pages of the process, on whose mm the caller holds a reference. */
static int odp_find(struct hmm_range *range, struct mm_struct *mm, unsigned long until)
{
	int ret;

	do {
		range->notifier_seq = mmu_interval_read_begin(range->notifier);
		mmap_read_lock(mm);
		ret = hmm_range_fault(range);
		mmap_read_unlock(mm);
	} while (ret == -EBUSY && time_before(jiffies, until));
	return ret;
}

/**
 * ib_umem_odp_map_dma_and_lock() - map pages of the process for the device
 * @umem_odp: the memory
 * @start_offset: address of the first byte
 * @bcnt: bytes
 * @access_mask: ODP_READ_ALLOWED_BIT, ODP_WRITE_ALLOWED_BIT or both
 * @fault: fault in pages that are not present
 *
 * Context: may sleep; any process.
 * Return: the number of units mapped (or skipped, if not present, without @fault), with umem_mutex
 * held, so that the device can be programmed before the process loses them; or, without the mutex:
 * -EINVAL for empty arguments or after the process has exited, -EFAULT for a range outside of the
 * memory or pages that cannot be faulted in, -EBUSY if the pages keep changing.
 */
int ib_umem_odp_map_dma_and_lock(struct ib_umem_odp *umem_odp, u64 start_offset, u64 bcnt,
				 u64 access_mask, bool fault)
{
	unsigned long until = jiffies + msecs_to_jiffies(HMM_RANGE_DEFAULT_TIMEOUT);
	struct mm_struct *mm = umem_odp->umem.owning_mm;
	struct hmm_range range = { .notifier = &umem_odp->notifier };
	size_t unit = odp_page_size(umem_odp);
	u64 end;
	int ret;

	if (!access_mask || !bcnt)
		return -EINVAL;
	if (check_add_overflow(start_offset, bcnt, &end) ||
	    start_offset < ib_umem_start(umem_odp) || end > ib_umem_end(umem_odp))
		return rdma_refuse(-EFAULT, "%llu bytes at %#llx are outside the memory", bcnt,
				   start_offset);
	range.start = ALIGN_DOWN(start_offset, unit);
	range.end = ALIGN(end, unit);
	range.hmm_pfns = umem_odp->pfn_list +
			 ((range.start - ib_umem_start(umem_odp)) >> PAGE_SHIFT);
	if (fault)
		range.default_flags = HMM_PFN_REQ_FAULT;
	if (fault && (access_mask & ODP_WRITE_ALLOWED_BIT))
		range.default_flags |= HMM_PFN_REQ_WRITE;

	if (!mmget_not_zero(mm))
		return rdma_refuse(-EINVAL, "the process of the memory is gone");
	for (;;) {
		ret = odp_find(&range, mm, until);
		if (ret)
			break;
		mutex_lock(&umem_odp->umem_mutex);
		if (!mmu_interval_read_retry(&umem_odp->notifier, range.notifier_seq)) {
			ret = odp_map_found(umem_odp, (range.start - ib_umem_start(umem_odp)) >>
					    umem_odp->page_shift,
					    (range.end - range.start) >> umem_odp->page_shift,
					    access_mask, fault);
			if (ret < 0)
				mutex_unlock(&umem_odp->umem_mutex);
			break;
		}
		mutex_unlock(&umem_odp->umem_mutex);
		ret = -EBUSY;
		if (time_after_eq(jiffies, until))
			break;
	}
	/*
	 * If this was the last reference, tearing down the mm calls the notifier, which takes
	 * umem_mutex.
	 */
	mmput_async(mm);
	return ret;
}
EXPORT_SYMBOL(ib_umem_odp_map_dma_and_lock);

/**
 * ib_umem_odp_unmap_dma_pages() - unmap pages from the device
 * @umem_odp: the memory; umem_mutex is held
 * @start_offset: address of the first byte
 * @bound: address behind the last byte
 *
 * Addresses outside of the memory are ignored.
 *
 * Context: may sleep.
 */
void ib_umem_odp_unmap_dma_pages(struct ib_umem_odp *umem_odp, u64 start_offset, u64 bound)
{
	unsigned int step = umem_odp->page_shift - PAGE_SHIFT;
	u64 from = max_t(u64, start_offset, ib_umem_start(umem_odp));
	u64 to = min_t(u64, bound, ib_umem_end(umem_odp));

	lockdep_assert_held(&umem_odp->umem_mutex);
	for (u64 at = ALIGN_DOWN(from, odp_page_size(umem_odp)); at < to;
	     at += odp_page_size(umem_odp)) {
		size_t i = (at - ib_umem_start(umem_odp)) >> umem_odp->page_shift;
		dma_addr_t dma = umem_odp->dma_list[i];

		if (!dma)
			continue;
		/*
		 * The device may have written to a page that was mapped for writing.  The notifier
		 * runs before the process loses the page, so it can still be marked dirty.
		 */
		if (dma & ODP_WRITE_ALLOWED_BIT) {
			struct page *page = hmm_pfn_to_page(umem_odp->pfn_list[i << step]);

			set_page_dirty(compound_head(page));
		}
		ib_dma_unmap_page(umem_odp->umem.ibdev, dma & ODP_DMA_ADDR_MASK,
				  odp_page_size(umem_odp), DMA_BIDIRECTIONAL);
		umem_odp->dma_list[i] = 0;
		umem_odp->npages--;
	}
}
EXPORT_SYMBOL(ib_umem_odp_unmap_dma_pages);
