/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files that implement memory keys share.
 */
#ifndef VHCAD_RES_MKEY_INTERNAL_H
#define VHCAD_RES_MKEY_INTERNAL_H

#include "res/command.h"
#include "res/mkey.h"

static inline bool mkey_is_fast(const struct vmkey *mk)
{
	return mk->type == VHCA_MKEY_FAST || mk->type == VHCA_MKEY_FAST_SG ||
	       mk->type == VHCA_MKEY_INTEGRITY;
}

/** range_holds() - does [iova, iova + length), which is not empty, hold these bytes? */
static inline bool range_holds(u64 iova, u64 length, u64 addr, u64 len)
{
	if (!len)
		return length;
	return addr >= iova && len <= length && addr - iova <= length - len;
}

/** range_wraps() - is [iova, iova + length) more than an address space has? */
static inline bool range_wraps(u64 iova, u64 length)
{
	return length && length - 1 > UINT64_MAX - iova;
}

/** rights_good() - may a region have this access?  Remote writes need the local right to write */
static inline bool rights_good(const struct vhca_dev *dev, u32 access)
{
	if (access & ~dev_access(dev))
		return false;
	return access & VHCA_ACCESS_LOCAL_WRITE ||
	       !(access & (VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_ATOMIC));
}

/* mkey_fast.c */
/** fast_create() - read the list of a CREATE_MKEY request into a key that is not used yet */
enum vhca_status fast_create(struct command *c, struct vmkey *mk);

/* pieces.c */
/** sg_end() - bytes of a list of pieces up to the end of its entry i; false: it cannot be read */
bool sg_end(struct guest_mem *mem, const struct vbuf *b, u32 i, u64 *end);
/** fast_sg_map() - vbuf_map() for a list of pieces of any length; @w counts the pieces it walks */
u64 fast_sg_map(struct worker *w, struct guest_mem *mem, const struct vbuf *b, u64 off, u64 len,
		struct dma_seg *seg, u32 *nseg, u32 max);

/* mkey_fmr.c */
enum vhca_status fmr_create(struct command *c, struct vmkey *mk);
/** fmr_grants() - does the key translate this now? */
bool fmr_grants(struct guest_mem *mem, const struct vmkey *mk, u32 key, u64 addr, u64 len);
/** fmr_map() - as vbuf_map(), by address; maps nothing if the mapping changes meanwhile */
u64 fmr_map(struct guest_mem *mem, const struct vmkey *mk, u32 key, u64 addr, u64 len,
	    struct dma_seg *seg, u32 *nseg, u32 max);

#endif /* VHCAD_RES_MKEY_INTERNAL_H */
