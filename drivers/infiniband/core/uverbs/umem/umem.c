// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * User memory for devices: pinned, charged to the process and mapped for DMA.
 */
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/percpu.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>
#include <rdma/ib_umem_odp.h>
#include <rdma/rdma_reject.h>

#include "umem.h"

/* Pages pinned with one call: as many as one page of struct page pointers holds. */
#define BATCH	(PAGE_SIZE / sizeof(struct page *))

/*
 * Up to this many pages, which most queues and many registrations do not exceed, the pointers are
 * on the stack.
 */
#define FEW	32

/*
 * Each CPU keeps one page for page pointers: allocating one may include clearing it
 * (init_on_alloc), which costs more than pinning ten pages.
 */
static DEFINE_PER_CPU(struct page **, kept_list);

static struct page **list_take(void)
{
	struct page **list = this_cpu_xchg(kept_list, NULL);

	return list ?: (struct page **)__get_free_page(GFP_KERNEL);
}

static void list_give(struct page **list)
{
	free_page((unsigned long)this_cpu_xchg(kept_list, list));
}

/**
 * uverbs_umem_exit() - free the pages for page pointers that the CPUs keep
 *
 * Context: process, when no more memory can be registered.
 */
void uverbs_umem_exit(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		free_page((unsigned long)per_cpu(kept_list, cpu));
}

static struct sg_table *umem_table(struct ib_umem *umem)
{
	return &umem->sgt_append.sgt;
}

/*
 * The charge counts pages that registrations hold, separately from mlock()'s, against the same
 * limit, as 6.12 does.
 */
static int umem_charge(struct mm_struct *mm, unsigned long pages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	u64 held = atomic64_add_return(pages, &mm->pinned_vm);

	if (held <= limit || capable(CAP_IPC_LOCK))
		return 0;
	atomic64_sub(pages, &mm->pinned_vm);
	return rdma_refuse(-ENOMEM, "%lu pages on top of %llu exceed RLIMIT_MEMLOCK of %lu pages",
			   pages, held - pages, limit);
}

static void umem_unpin(struct ib_umem *umem, bool dirty)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(umem_table(umem), sg, i)
		unpin_user_page_range_dirty_lock(sg_page(sg),
						 DIV_ROUND_UP(sg->length, PAGE_SIZE), dirty);
	sg_free_append_table(&umem->sgt_append);
}

/*
 * If the pages belong to one huge page and continue the last entry, that entry is lengthened.  It
 * is enough to look at the first and the last page, since a huge page is mapped in order.  (Pages
 * of other folios may be mapped in any order.)
 */
static bool umem_extend(struct ib_umem *umem, struct page **list, int got, unsigned int segment)
{
	unsigned long first = page_to_pfn(list[0]), bytes = (unsigned long)got << PAGE_SHIFT;
	struct scatterlist *last = umem->sgt_append.prv;
	struct folio *folio = page_folio(list[0]);

	if (!last || !folio_test_hugetlb(folio) || page_folio(list[got - 1]) != folio ||
	    page_to_pfn(list[got - 1]) != first + got - 1 ||
	    page_to_pfn(sg_page(last)) + (last->length >> PAGE_SHIFT) != first ||
	    bytes > segment || last->length > segment - bytes)
		return false;
	last->length += bytes;
	return true;
}

/*
 * Pins all pages and merges contiguous ones into entries as long as the device accepts. @list has
 * room for BATCH pages or, if there are fewer, for all of them.
 */
static int umem_pin_by(struct ib_umem *umem, unsigned long pages, unsigned int gup_flags,
		       struct page **list)
{
	unsigned int segment = ALIGN_DOWN(ib_dma_max_seg_size(umem->ibdev), PAGE_SIZE);
	unsigned long at = umem->address & PAGE_MASK;
	int got, ret = 0;

	while (pages && !ret) {
		if (fatal_signal_pending(current)) {
			ret = -EINTR;
			break;
		}
		got = pin_user_pages_fast(at, min(pages, BATCH), gup_flags, list);
		if (got <= 0) {
			ret = rdma_refuse(got ?: -EFAULT, "memory at %#lx cannot be pinned", at);
			break;
		}
		pages -= got;
		at += (unsigned long)got << PAGE_SHIFT;
		if (!umem_extend(umem, list, got, segment))
			ret = sg_alloc_append_table_from_pages(&umem->sgt_append, list, got, 0,
							       (unsigned long)got << PAGE_SHIFT,
							       segment, pages, GFP_KERNEL);
		if (ret)
			unpin_user_pages(list, got);
		cond_resched();
	}
	if (!ret)
		sg_mark_end(umem->sgt_append.prv);
	return ret;
}

static int umem_pin(struct ib_umem *umem, unsigned long pages, unsigned int gup_flags)
{
	struct page *few[FEW] __uninitialized;
	struct page **list;
	int ret;

	if (pages <= FEW)
		return umem_pin_by(umem, pages, gup_flags, few);
	list = list_take();
	if (!list)
		return -ENOMEM;
	ret = umem_pin_by(umem, pages, gup_flags, list);
	list_give(list);
	return ret;
}

/*
 * CPU and device share the memory for as long as it is registered, and several registrations may
 * share pages: mapping and unmapping transfer no ownership, and a cache sync at the end of one
 * registration would harm the others.
 */
#define UMEM_DMA_ATTRS DMA_ATTR_SKIP_CPU_SYNC

static int umem_map(struct ib_umem *umem, int access)
{
	unsigned long attrs = UMEM_DMA_ATTRS;

	if (access & IB_ACCESS_RELAXED_ORDERING)
		attrs |= DMA_ATTR_WEAK_ORDERING;
	return ib_dma_map_sgtable_attrs(umem->ibdev, umem_table(umem), DMA_BIDIRECTIONAL, attrs);
}

static int umem_check(unsigned long addr, size_t size, int access)
{
	unsigned long end;

	if (check_add_overflow(addr, size, &end) || PAGE_ALIGN(end) < end)
		return rdma_refuse(-EINVAL, "memory at %#lx, %zu bytes: past the end of addresses",
				   addr, size);
	if (!size)
		return rdma_refuse(-EINVAL, "memory at %#lx has no length", addr);
	if ((PAGE_ALIGN(end) - (addr & PAGE_MASK)) >> PAGE_SHIFT > UINT_MAX)
		return rdma_refuse(-EINVAL, "%zu bytes are too many pages", size);
	if (!can_do_mlock())
		return rdma_refuse(-EPERM, "RLIMIT_MEMLOCK is 0");
	if (access & IB_ACCESS_ON_DEMAND)
		return rdma_refuse(-EOPNOTSUPP, "access on demand is no pinning");
	return 0;
}

/**
 * ib_umem_get() - pin memory of the current process and map it for a device
 * @device: device that is to use it
 * @addr: first byte
 * @size: bytes
 * @access: IB_ACCESS_* bits; any that lets the device write needs writable memory
 *
 * Context: the process whose memory it is; may sleep.
 * Return: the memory, to be released with ib_umem_release(), or an error pointer: -EINVAL for an
 * empty or wrapping range, -EPERM or -ENOMEM over RLIMIT_MEMLOCK, -EFAULT for memory that is not
 * there or may not be written, -EOPNOTSUPP for on-demand access, -EINTR for a dying process.
 */
struct ib_umem *ib_umem_get(struct ib_device *device, unsigned long addr, size_t size, int access)
{
	struct mm_struct *mm = current->mm;
	unsigned int gup_flags = FOLL_LONGTERM;
	struct ib_umem *umem;
	unsigned long pages;
	int ret;

	ret = umem_check(addr, size, access);
	if (ret)
		return ERR_PTR(ret);

	umem = kzalloc(sizeof(*umem), GFP_KERNEL);
	if (!umem)
		return ERR_PTR(-ENOMEM);
	umem->ibdev = device;
	umem->owning_mm = mm;
	umem->address = addr;
	umem->iova = addr;	/* unless the driver sets another one */
	umem->length = size;
	umem->writable = ib_access_writable(access);
	if (umem->writable)
		gup_flags |= FOLL_WRITE;

	pages = ib_umem_num_pages(umem);
	ret = umem_charge(mm, pages);
	if (ret)
		goto err_free;
	ret = umem_pin(umem, pages, gup_flags);
	if (ret)
		goto err_unpin;
	ret = umem_map(umem, access);
	if (ret)
		goto err_unpin;
	mmgrab(mm);
	return umem;

err_unpin:
	umem_unpin(umem, false);
	atomic64_sub(pages, &mm->pinned_vm);
err_free:
	kfree(umem);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL(ib_umem_get);

/* The charge does not depend on the address the device uses. */
static unsigned long umem_charged(const struct ib_umem *umem)
{
	return (PAGE_ALIGN(umem->address + umem->length) - (umem->address & PAGE_MASK)) >>
	       PAGE_SHIFT;
}

/**
 * ib_umem_release() - unmap and unpin memory
 * @umem: from ib_umem_get() or a call of its kind for DMA buffers or pages on demand, or NULL; the
 *	device must not touch it any more
 *
 * Context: process, any.
 */
void ib_umem_release(struct ib_umem *umem)
{
	if (!umem)
		return;
	if (umem->is_dmabuf) {
		ib_umem_dmabuf_release(to_ib_umem_dmabuf(umem));
		return;
	}
	if (umem->is_odp) {
		ib_umem_odp_release(to_ib_umem_odp(umem));
		return;
	}
	ib_dma_unmap_sgtable_attrs(umem->ibdev, umem_table(umem), DMA_BIDIRECTIONAL,
				   UMEM_DMA_ATTRS);
	umem_unpin(umem, umem->writable);
	atomic64_sub(umem_charged(umem), &umem->owning_mm->pinned_vm);
	mmdrop(umem->owning_mm);
	kfree(umem);
}
EXPORT_SYMBOL(ib_umem_release);

/**
 * ib_umem_find_best_pgsz() - find the largest page size a translation of the memory can use
 * @umem: the memory; its iova is set to @virt
 * @pgsz_bitmap: page sizes the device has, a bit each
 * @virt: address the device will use for the first byte
 *
 * A page size works if every page boundary of the device's address range is a page boundary in DMA
 * address space too: addresses agree below it where a contiguous run starts, and runs join only at
 * such a boundary.  A size beyond the whole range gains nothing, so the smallest size that covers
 * it in one page is the largest one returned.  Memory on demand is mapped in units of one page
 * size, and only that size is known to work.
 *
 * Return: the page size, or 0 if the device has none that works.
 */
unsigned long ib_umem_find_best_pgsz(struct ib_umem *umem, unsigned long pgsz_bitmap, u64 virt)
{
	unsigned int offset = ib_umem_offset(umem);
	dma_addr_t expected = 0;
	struct scatterlist *sg;
	u64 differ = 0, va = virt, last;
	unsigned long fits;
	int i;

	umem->iova = virt;
	if (umem->is_odp)
		return pgsz_bitmap & BIT(to_ib_umem_odp(umem)->page_shift);
	if (check_add_overflow(virt, umem->length - 1, &last))
		return 0;

	for_each_sgtable_dma_sg(umem_table(umem), sg, i) {
		dma_addr_t start = sg_dma_address(sg) + offset;

		if (!i || start != expected) {
			differ |= start ^ va;
			if (i)
				differ |= va;
		}
		expected = start + sg_dma_len(sg) - offset;
		va += sg_dma_len(sg) - offset;
		offset = 0;
	}

	if (differ)
		pgsz_bitmap &= GENMASK(min_t(unsigned int, __ffs64(differ), BITS_PER_LONG - 1), 0);

	/* If one page of several sizes holds both first and last byte, the smallest is used. */
	fits = pgsz_bitmap;
	if (virt ^ last)
		fits = fls64(virt ^ last) < BITS_PER_LONG ?
		       pgsz_bitmap & GENMASK(BITS_PER_LONG - 1, fls64(virt ^ last)) : 0;
	if (fits)
		return BIT(__ffs(fits));
	return pgsz_bitmap ? BIT(__fls(pgsz_bitmap)) : 0;
}
EXPORT_SYMBOL(ib_umem_find_best_pgsz);

/**
 * ib_umem_copy_from() - copy out of pinned memory
 * @dst: kernel memory to copy to
 * @umem: the memory
 * @offset: first byte
 * @length: bytes
 *
 * Context: any that may kmap.
 * Return: 0, or -EINVAL beyond the memory's end.
 */
int ib_umem_copy_from(void *dst, struct ib_umem *umem, size_t offset, size_t length)
{
	if (offset > umem->length || length > umem->length - offset)
		return rdma_refuse(-EINVAL, "%zu bytes at %zu are beyond %zu", length, offset,
				   umem->length);
	if (sg_pcopy_to_buffer(umem_table(umem)->sgl, umem_table(umem)->orig_nents, dst, length,
			       offset + ib_umem_offset(umem)) != length)
		return -EINVAL;
	return 0;
}
EXPORT_SYMBOL(ib_umem_copy_from);

/**
 * ib_umem_check_rereg() - can pinned memory be kept when access rights change?
 * @umem: the memory or NULL
 * @flags: IB_MR_REREG_* bits
 * @new_access_flags: rights wanted
 *
 * Return: 0, or -EACCES if it was pinned for reading and is to be written.
 */
int ib_umem_check_rereg(struct ib_umem *umem, int flags, int new_access_flags)
{
	bool keeps = (flags & IB_MR_REREG_ACCESS) && !(flags & IB_MR_REREG_TRANS);

	if (umem && keeps && ib_access_writable(new_access_flags) && !umem->writable)
		return rdma_refuse(-EACCES, "memory was registered for reading only");
	return 0;
}
EXPORT_SYMBOL(ib_umem_check_rereg);
