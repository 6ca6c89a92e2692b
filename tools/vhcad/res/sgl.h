/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Scatter/gather lists: from keys and addresses to guest memory.
 */
#ifndef VHCAD_RES_SGL_H
#define VHCAD_RES_SGL_H

#include "res/mkey.h"

/* A scatter/gather entry in the host's byte order. */
struct sge {
	u64 addr;
	u32 len;
	u32 key;
};

/**
 * struct sglist - a scatter/gather list, with the rules to apply
 * @sge: entries
 * @n: number of entries
 * @access: VHCA_ACCESS_* that each of their keys must grant
 * @scope: for whom memory is accessed
 */
struct sglist {
	const struct sge *sge;
	u32 n;
	u32 access;
	struct mkey_scope scope;
};

/**
 * sgl_map() - find where a part of a scatter/gather list lies
 * @l: list
 * @off: first byte
 * @len: bytes, not 0
 * @seg: receives DMA addresses
 * @nseg: receives their number
 * @max: entries that fit
 *
 * Return: the bytes mapped.  If less than @len: @seg is full, a list of pieces was long, or the
 * byte behind them must not be accessed so; it is certainly the last if this returns 0.
 */
u64 sgl_map(const struct sglist *l, u64 off, u64 len, struct dma_seg *seg, u32 *nseg, u32 max);

/** sgl_read() - copy a part of a list to private memory; returns @len, or less if some is gone */
u64 sgl_read(const struct sglist *l, u64 off, void *dst, u64 len);

/**
 * sgl_is_checked() - does a byte belong to a key that checks or makes protection fields?
 * @l: list
 * @off: the byte
 *
 * The bytes of such a key are computed, so sgl_map() does not find them in memory: they are read by
 * sgl_read() and written by sgl_write_checked().
 */
bool sgl_is_checked(const struct sglist *l, u64 off);
/**
 * sgl_write_checked() - write the bytes of such a key
 * @l: list
 * @off: first byte
 * @src: bytes
 * @len: how many
 *
 * Return: the bytes written, all of them of one key; 0: no such key, or memory failed.
 */
u64 sgl_write_checked(const struct sglist *l, u64 off, const void *src, u64 len);

#define SGL_NOT_ONE	VBUF_NOT_ONE

/**
 * sgl_one() - find where a part of a scatter/gather list lies, if that is in one piece
 * @l: list
 * @off: first byte
 * @len: bytes, not 0
 *
 * A shortcut for the many parts that are short.
 *
 * Return: the DMA address, or SGL_NOT_ONE: then ask sgl_map().
 */
u64 sgl_one(const struct sglist *l, u64 off, u64 len);

/** sgl_check() - are all entries' keys, rights and bounds good? */
bool sgl_check(const struct sglist *l);

#endif /* VHCAD_RES_SGL_H */
