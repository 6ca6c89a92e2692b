/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VHCAD_LIB_HASH_H
#define VHCAD_LIB_HASH_H

#include "lib/types.h"

/**
 * hash_seeded() - spread keys that others choose
 * @key: the key
 * @seed: a random number that is kept secret
 *
 * Without the seed nobody can predict by how much the results of two keys differ, and all bits of
 * the key count in each of the upper 32 bits: of a product alone, a bit depends on those below it
 * only.
 */
static inline u64 hash_seeded(u64 key, u64 seed)
{
	key *= seed | 1;
	return (key ^ key >> 29) * (seed | 1);
}

#endif /* VHCAD_LIB_HASH_H */
