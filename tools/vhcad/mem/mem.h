/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Guest memory: what a device may access by DMA.  No other code accesses it.
 *
 * A guest_mem belongs to one device, and has the DMA address ranges that the device's VM has
 * granted.  The thread that serves the device's socket adds and removes ranges, while engine
 * threads access memory without a lock.
 *
 * Accesses are bracketed by gmem_enter() and gmem_exit(), as read-side critical sections are with
 * RCU.  gmem_unmap() returns when every thread that was inside a bracket when the range was removed
 * has left it, so that the memory's owner may reuse it at once.  Do not sleep inside a bracket, and
 * leave it at least once in each slice of work.  The dma_* and dma_ref_* functions open a bracket
 * themselves; an outer one makes that cheaper, but allows nothing else, as no function returns a
 * host pointer.
 *
 * All addresses are DMA addresses of the device, and all sizes are in bytes.  Words are
 * little-endian in guest memory, and native in arguments.
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

/* Maximum of ranges of a device, told to QEMU as max_dma_maps, for which it takes no more. */
#define GMEM_MAX_RANGES	65535u

/**
 * gmem_new() - make an empty set of ranges
 *
 * DMA is enabled, see gmem_set_master().
 * Returns NULL if there is no memory.
 */
struct guest_mem *gmem_new(void);

/**
 * gmem_free() - revoke all ranges and free the set
 * @m: set, or NULL
 *
 * Waits for readers as gmem_unmap() does.
 */
void gmem_free(struct guest_mem *m);

/**
 * gmem_map() - grant a range of a shared file
 * @m: set
 * @iova: first DMA address, a multiple of GMEM_PAGE_SIZE
 * @size: bytes, a positive multiple of GMEM_PAGE_SIZE
 * @fd: file that holds the memory; it stays the caller's, who may close it.  -1: the VM does not
 *	share its memory there; every access to the range returns -EFAULT
 * @offset: where the range starts in the file, a multiple of GMEM_PAGE_SIZE
 * @flags: GMEM_*; at least one of GMEM_READ and GMEM_WRITE
 *
 * The memory is mapped into the daemon, once if it is granted many times.  No more of the file is
 * mapped than the pieces around the range: of 2 MiB or of the file's page, and more if the file
 * were more than 4096 of these.
 *
 * Returns 0; -EINVAL for unaligned or wrapping numbers or bad flags; -EEXIST if an existing range
 * overlaps; -EOPNOTSUPP if @fd is no file of tmpfs or hugetlbfs; -EPERM if it can be truncated (it
 * has no F_SEAL_SHRINK), or has pages of more than 2 MiB, and GMEM_UNSEALED is not set; -ERANGE if
 * the file is shorter than @offset + @size; -EACCES if the descriptor does not allow what @flags
 * ask for; -ENOSPC beyond GMEM_MAX_RANGES; -ENOMEM, also if the pool of huge pages does not have
 * those of the file, or this VM has as many parts of files mapped as all are left with.
 */
int gmem_map(struct guest_mem *m, u64 iova, u64 size, int fd, u64 offset, u32 flags);

/**
 * gmem_unmap() - revoke the ranges inside [iova, iova + size)
 * @m: set
 * @iova: first DMA address
 * @size: bytes
 *
 * When it returns, no thread accesses the memory any more, and every gmem_ref to it returns
 * -EFAULT.  Ranges are revoked only as a whole.  Must not be called inside a bracket.
 *
 * Returns 0, or an error after which nothing has changed: -EINVAL if [iova, iova + size) would cut
 * a range in two, is empty or wraps; -ENOENT if no range lies in it; -ENOMEM.
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
 * gmem_set_master() - enable or disable all DMA of the device
 * @m: set
 * @on: the bus master enable bit of the PCI command register
 *
 * While DMA is disabled, every access returns -EFAULT, but the ranges are kept.  Disabling it waits
 * for readers as gmem_unmap() does.
 */
void gmem_set_master(struct guest_mem *m, bool on);

/**
 * gmem_ranges() - the number of ranges
 * @m: set
 *
 * May be called from any thread.  Takes no lock.
 */
u32 gmem_ranges(struct guest_mem *m);

/**
 * gmem_enter() - open a bracket of this thread
 *
 * Brackets nest, and a bracket covers every guest_mem.
 */
void gmem_enter(void);

/** gmem_exit() - close the bracket opened by gmem_enter() */
void gmem_exit(void);

/* ------------------------------------------------------------------------
 * Bulk access.  An access may span ranges.  All of it is checked first: after -EFAULT (a byte is
 * not mapped, or not for this kind of access) nothing has been transferred.  A length of 0 succeeds
 * with any address.
 */

/** gmem_check() - would an access of @len bytes succeed now? 0 or -EFAULT */
int gmem_check(struct guest_mem *m, u64 iova, size_t len, bool write);

/** dma_read() - copy @len bytes of guest memory to private memory */
int dma_read(struct guest_mem *m, void *dst, u64 iova, size_t len);

/**
 * dma_write() - copy private memory to guest memory
 *
 * Bytes become visible in ascending order of addresses.
 */
int dma_write(struct guest_mem *m, u64 iova, const void *src, size_t len);

/* A segment: contiguous DMA addresses. */
struct dma_seg {
	u64 addr;
	u64 len;
};

/**
 * dma_read_list() - dma_read() of pieces of guest memory, one behind the other
 * @m: guest memory
 * @dst: private memory
 * @seg: pieces
 * @nseg: number of pieces
 *
 * Return: 0, or -EFAULT if a piece is not there: those before it have been copied.
 */
int dma_read_list(struct guest_mem *m, void *dst, const struct dma_seg *seg, u32 nseg);

/** dma_write_list() - dma_write() to pieces of guest memory, as dma_read_list() */
int dma_write_list(struct guest_mem *m, const struct dma_seg *seg, u32 nseg, const void *src);

/**
 * dma_copy() - copy guest memory to guest memory, once, without a bounce buffer
 * @md: memory of the receiver
 * @dst: destination segments, of at least one byte, all of which are written
 * @ndst: number of segments
 * @ms: memory of the sender; may be @md
 * @src: source segments, with at least as many bytes behind @off
 * @off: bytes of @src to skip
 * @cold: it is part of a message of gmem_cold_size() bytes or more
 * @src_fault: after a failure: was it the sender's memory?  Else left alone
 *
 * Bytes become visible in the order of the segments, and in ascending order in each.  If @cold,
 * they do so in any order, but after what was copied before, and the last ones, up to a line, after
 * all others and in ascending order.  A part that lies in one destination segment and one source
 * segment is copied completely or not at all, and nothing is copied behind a failure.  If source
 * and destination overlap, the result is that of an ascending copy of unspecified granularity.
 */
int dma_copy(struct guest_mem *md, const struct dma_seg *dst, u32 ndst, struct guest_mem *ms,
	     const struct dma_seg *src, u64 off, bool cold, bool *src_fault);

/**
 * gmem_cold_size() - the smallest message that is copied past the cache
 *
 * In bytes: half the cache's size, as a copy reads as much as it writes.
 */
u64 gmem_cold_size(void);

/* ------------------------------------------------------------------------
 * Single words, which are naturally aligned.  The operations are atomic with respect to the guest's
 * CPUs.  They return 0, -EINVAL for an unaligned word, or -EFAULT.  Read-modify-write operations
 * need both rights, and are full barriers.
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
/* stores the old word in *old; the word was replaced if that equals cmp */
int dma_cas64(struct guest_mem *m, u64 iova, u64 cmp, u64 val, u64 *old);
/* adds bit fields: no carry leaves a bit that is set in ends */
int dma_mask_add64(struct guest_mem *m, u64 iova, u64 val, u64 ends, u64 *old);
/* if the bits of cmp_mask are as in cmp, sets those of swap_mask as in swap */
int dma_mask_cas64(struct guest_mem *m, u64 iova, u64 cmp, u64 cmp_mask, u64 swap, u64 swap_mask,
		   u64 *old);

/** dma_mb() - full barrier between guest memory accesses */
static inline void dma_mb(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------------------
 * References.  A reference caches the translation of a small piece of memory that is accessed again
 * and again, such as a doorbell page or a page of a ring.  The piece must lie in one range.  After
 * the VM has revoked any range of the set, the next access looks the address up again; it returns
 * -EFAULT if the piece is not mapped any more.  A reference holds nothing and needs no release, but
 * must not outlive its guest_mem.  One thread at a time may use it.
 */
struct gmem_ref {
	struct guest_mem *mem;
	u64 iova;
	u32 len;
	bool write;
	u64 gen;		/* generation of @mem in which @host is valid */
	void *host;		/* private to mem/: NULL if not translated */
};

/**
 * gmem_ref_get() - make a reference to [iova, iova + len)
 * @ref: filled in; after an error it may be used, and returns -EFAULT
 * @m: set
 * @iova: first DMA address
 * @len: bytes, not 0
 * @write: the piece is written too
 *
 * Returns 0 or -EFAULT.
 */
int gmem_ref_get(struct gmem_ref *ref, struct guest_mem *m, u64 iova, u32 len, bool write);

/* @off is relative to the start of the piece; beyond its end accesses return -EFAULT */
int dma_ref_read(struct gmem_ref *ref, u32 off, void *dst, u32 len);
int dma_ref_write(struct gmem_ref *ref, u32 off, const void *src, u32 len);

#define GMEM_LINE	64u

/** dma_ref_read_line() - a faster dma_ref_read() of GMEM_LINE bytes */
int dma_ref_read_line(struct gmem_ref *ref, u32 off, void *dst);

/** dma_ref_prefetch() - a hint that these bytes will be read next */
void dma_ref_prefetch(const struct gmem_ref *ref, u32 off, u32 len);

/**
 * dma_ref_publish() - write an entry whose last word makes it valid
 * @ref: reference
 * @off: where the entry starts
 * @src: the entry without its last word
 * @len: bytes of @src
 * @last: the last word, which is stored after all others, at a multiple of 8
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
