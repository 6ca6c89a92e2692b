/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Guest memory: what a device may reach by DMA, and the only code that does.
 *
 * A guest_mem belongs to one device and holds the DMA address ranges that its
 * VM has granted.  Ranges come and go on the thread that serves the device's
 * socket; accesses come from engine threads at the same time and take no lock.
 *
 * Readers bracket accesses with gmem_enter() and gmem_exit().  gmem_unmap()
 * returns only after every thread that was inside such a bracket when the
 * range disappeared has left it, so the owner of the memory may reuse it as
 * soon as the call is over.  Never sleep inside a bracket, and leave it at
 * least once per slice of work.  The dma_* and dma_ref_* functions take the
 * bracket themselves; an outer one makes that cheaper and nothing else, as no
 * host pointer ever leaves this room.
 *
 * All addresses are DMA addresses of the device, all sizes are bytes, and
 * words are little-endian in guest memory and native in the caller's hands.
 */
#ifndef VHCAD_MEM_H
#define VHCAD_MEM_H

#include "lib/types.h"

struct guest_mem;

#define GMEM_PAGE_SIZE	4096u

/* gmem_map() flags */
#define GMEM_READ	(1u << 0)	/* the device may read the range */
#define GMEM_WRITE	(1u << 1)	/* the device may write the range */
#define GMEM_UNSEALED	(1u << 2)	/* accept a file that its owner could still truncate */

/* Most ranges of one device; also the max_dma_maps told to the VM: QEMU takes no more. */
#define GMEM_MAX_RANGES	65535u

/**
 * gmem_new() - make an empty set of ranges
 *
 * DMA is allowed at once, see gmem_set_master().
 * Returns NULL when there is no memory.
 */
struct guest_mem *gmem_new(void);

/**
 * gmem_free() - drop all ranges and the set itself
 * @m: set, or NULL
 *
 * Waits for readers as gmem_unmap() does; nobody may use @m afterwards.
 */
void gmem_free(struct guest_mem *m);

/**
 * gmem_map() - grant a range of a shared file
 * @m: set
 * @iova: first DMA address, a multiple of GMEM_PAGE_SIZE
 * @size: bytes, a positive multiple of GMEM_PAGE_SIZE
 * @fd: file the memory lives in; the caller keeps and may close it.  -1: the
 *	VM has memory there that it does not share; the range is known and every
 *	access to it answers -EFAULT
 * @offset: where in the file the range starts, a multiple of GMEM_PAGE_SIZE
 * @flags: GMEM_*; at least one of GMEM_READ and GMEM_WRITE
 *
 * What is granted is mapped into the daemon, once if it arrives many times, and no more of the
 * file than lies around that in GMEM_PIECE bytes.
 *
 * Returns 0; -EINVAL for unaligned or wrapping numbers or bad flags; -EEXIST
 * if an existing range overlaps; -EPERM if the file can be truncated (no
 * F_SEAL_SHRINK, or not memory that has seals) and GMEM_UNSEALED is not set;
 * -ERANGE if the file is shorter than @offset + @size; -EACCES if the
 * descriptor does not allow what @flags ask for; -ENOSPC beyond
 * GMEM_MAX_RANGES; -ENOMEM.
 */
int gmem_map(struct guest_mem *m, u64 iova, u64 size, int fd, u64 offset, u32 flags);

/**
 * gmem_unmap() - revoke the ranges inside [iova, iova + size)
 * @m: set
 * @iova: first DMA address
 * @size: bytes
 *
 * When it returns no thread touches the memory any more and every gmem_ref to
 * it answers -EFAULT.  A range is revoked whole or not at all.
 *
 * Returns 0; -EINVAL if [iova, iova + size) would cut a range in two, or is
 * empty or wraps; -ENOENT if no range lies in it; -ENOMEM.  Nothing changes
 * on error.  Must not be called inside a bracket.
 */
int gmem_unmap(struct guest_mem *m, u64 iova, u64 size);

/**
 * gmem_unmap_all() - revoke every range
 * @m: set
 *
 * Cannot fail.  Must not be called inside a bracket.
 */
void gmem_unmap_all(struct guest_mem *m);

/**
 * gmem_set_master() - allow or forbid all DMA of the device
 * @m: set
 * @on: the bus master enable bit of the PCI command register
 *
 * While off, ranges stay known but every access answers -EFAULT.  Turning it
 * off waits for readers as gmem_unmap() does.
 */
void gmem_set_master(struct guest_mem *m, bool on);

/**
 * gmem_ranges() - number of ranges granted now
 * @m: set
 *
 * Any thread; takes no lock.
 */
u32 gmem_ranges(struct guest_mem *m);

/**
 * gmem_enter() - start a stretch of guest memory accesses on this thread
 *
 * Brackets nest.  One bracket covers every guest_mem.
 */
void gmem_enter(void);

/** gmem_exit() - end the stretch begun by gmem_enter() */
void gmem_exit(void);

/* ------------------------------------------------------------------------
 * Bulk access.  A stretch of addresses may span ranges.  It is checked as a
 * whole first: on -EFAULT (some byte not mapped, or not with that right)
 * nothing was transferred.  A length of 0 succeeds whatever the address.
 */

/** gmem_check() - would an access of @len bytes succeed now? 0 or -EFAULT */
int gmem_check(struct guest_mem *m, u64 iova, size_t len, bool write);

/** dma_read() - copy @len bytes of guest memory to private memory */
int dma_read(struct guest_mem *m, void *dst, u64 iova, size_t len);

/**
 * dma_write() - copy private memory to guest memory
 *
 * Bytes become visible in ascending address order, the last one last.
 */
int dma_write(struct guest_mem *m, u64 iova, const void *src, size_t len);

/* A contiguous piece of DMA addresses. */
struct dma_seg {
	u64 addr;
	u64 len;
};

/**
 * dma_copy() - copy guest memory to guest memory, once, without a bounce buffer
 * @md: memory of the receiver
 * @dst: where to; together the bytes to copy, at least one
 * @ndst: pieces of it
 * @ms: memory of the sender; may be @md
 * @src: where from; no fewer bytes, counted from @off
 * @off: bytes of @src to leave out
 * @src_fault: set when it is the sender's memory that failed, else left alone
 *
 * Bytes become visible in the order of the pieces and ascending in each, the
 * last one last.  What lies in one piece of both lists is copied whole or not at
 * all; behind a failure nothing is.  If two of them overlap the result is that
 * of a byte-wise ascending copy of an unspecified granularity.
 */
int dma_copy(struct guest_mem *md, const struct dma_seg *dst, u32 ndst, struct guest_mem *ms,
	     const struct dma_seg *src, u64 off, bool *src_fault);

/* ------------------------------------------------------------------------
 * Single words: naturally aligned (else -EINVAL), atomic against the guest's
 * CPUs.  Return 0, -EINVAL or -EFAULT.  Read-modify-write operations need both
 * rights and are full barriers.
 */
int dma_load32_acquire(struct guest_mem *m, u64 iova, u32 *val);
int dma_load64_acquire(struct guest_mem *m, u64 iova, u64 *val);
int dma_store8_release(struct guest_mem *m, u64 iova, u8 val);
int dma_store32_release(struct guest_mem *m, u64 iova, u32 val);
int dma_store64_release(struct guest_mem *m, u64 iova, u64 val);
int dma_xchg32(struct guest_mem *m, u64 iova, u32 val, u32 *old);
int dma_xchg64(struct guest_mem *m, u64 iova, u64 val, u64 *old);
int dma_or64(struct guest_mem *m, u64 iova, u64 bits, u64 *old);
int dma_add64(struct guest_mem *m, u64 iova, u64 val, u64 *old);
/* *old is what was there; the word was replaced if that equals cmp */
int dma_cas64(struct guest_mem *m, u64 iova, u64 cmp, u64 val, u64 *old);
/* adds fields of bits: nothing is carried out of a bit that is set in ends */
int dma_mask_add64(struct guest_mem *m, u64 iova, u64 val, u64 ends, u64 *old);
/* if the bits of cmp_mask are as in cmp, those of swap_mask become as in swap */
int dma_mask_cas64(struct guest_mem *m, u64 iova, u64 cmp, u64 cmp_mask, u64 swap, u64 swap_mask,
		   u64 *old);

/** dma_mb() - full barrier between guest memory accesses */
static inline void dma_mb(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------------------
 * References: a remembered translation of a small piece that is accessed over
 * and over (a doorbell page, a page of a ring).  The piece must lie in one
 * range.  When the VM revokes any range of the set the reference looks its
 * address up again at its next use: it goes on if the piece is still (or
 * again) mapped, and answers -EFAULT otherwise.  A reference holds nothing
 * and needs no release, but must not outlive its guest_mem.  One thread at a
 * time may use it.
 */
struct gmem_ref {
	struct guest_mem *mem;
	u64 iova;
	u32 len;
	bool write;
	u64 gen;		/* generation of @mem that @host is valid in */
	void *host;		/* private to mem/: NULL when not translated */
};

/**
 * gmem_ref_get() - remember [iova, iova + len)
 * @ref: filled in; on error it is safe to use and answers -EFAULT
 * @m: set
 * @iova: first DMA address
 * @len: bytes, not 0
 * @write: the piece will be written too
 *
 * Returns 0 or -EFAULT.
 */
int gmem_ref_get(struct gmem_ref *ref, struct guest_mem *m, u64 iova, u32 len, bool write);

/* @off counts from the start of the piece; beyond its end: -EFAULT */
int dma_ref_read(struct gmem_ref *ref, u32 off, void *dst, u32 len);
int dma_ref_write(struct gmem_ref *ref, u32 off, const void *src, u32 len);

#define GMEM_LINE	64u

/** dma_ref_read_line() - dma_ref_read() of GMEM_LINE bytes, in less time */
int dma_ref_read_line(struct gmem_ref *ref, u32 off, void *dst);

/** dma_ref_prefetch() - a hint: what is there will be read next */
void dma_ref_prefetch(const struct gmem_ref *ref, u32 off, u32 len);

/**
 * dma_ref_publish() - write an entry whose last word tells that it is there
 * @ref: reference
 * @off: where
 * @src: all but the last word
 * @len: bytes of it
 * @last: word that is stored behind all others, at a multiple of 8
 *
 * Returns 0, -EINVAL or -EFAULT.
 */
int dma_ref_publish(struct gmem_ref *ref, u32 off, const void *src, u32 len, u64 last);

int dma_ref_load32_acquire(struct gmem_ref *ref, u32 off, u32 *val);
int dma_ref_load64_acquire(struct gmem_ref *ref, u32 off, u64 *val);
int dma_ref_store8_release(struct gmem_ref *ref, u32 off, u8 val);
int dma_ref_store32_release(struct gmem_ref *ref, u32 off, u32 val);
int dma_ref_store64_release(struct gmem_ref *ref, u32 off, u64 val);
int dma_ref_xchg32(struct gmem_ref *ref, u32 off, u32 val, u32 *old);
int dma_ref_xchg64(struct gmem_ref *ref, u32 off, u64 val, u64 *old);
int dma_ref_or64(struct gmem_ref *ref, u32 off, u64 bits, u64 *old);

#endif /* VHCAD_MEM_H */
