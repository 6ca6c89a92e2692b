/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Numbers as they stand on the wire: the most significant byte first.
 */
#ifndef VHCAD_LIB_BYTES_H
#define VHCAD_LIB_BYTES_H

#include "lib/types.h"

static inline void put_be16(u8 *p, u16 v)
{
	p[0] = v >> 8;
	p[1] = v;
}

static inline void put_be24(u8 *p, u32 v)
{
	p[0] = v >> 16;
	p[1] = v >> 8;
	p[2] = v;
}

static inline void put_be32(u8 *p, u32 v)
{
	put_be16(p, v >> 16);
	put_be16(p + 2, v);
}

static inline void put_be64(u8 *p, u64 v)
{
	put_be32(p, v >> 32);
	put_be32(p + 4, v);
}

static inline u16 get_be16(const u8 *p)
{
	return p[0] << 8 | p[1];
}

static inline u32 get_be24(const u8 *p)
{
	return p[0] << 16 | p[1] << 8 | p[2];
}

static inline u32 get_be32(const u8 *p)
{
	return (u32)get_be16(p) << 16 | get_be16(p + 2);
}

static inline u64 get_be64(const u8 *p)
{
	return (u64)get_be32(p) << 32 | get_be32(p + 4);
}

#endif /* VHCAD_LIB_BYTES_H */
