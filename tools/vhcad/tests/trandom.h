/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VHCAD_TESTS_TRANDOM_H
#define VHCAD_TESTS_TRANDOM_H

#include "lib/types.h"

/** t_random() - the next pseudo-random number; @state is not 0, and determines all of them */
static inline u64 t_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

#endif /* VHCAD_TESTS_TRANDOM_H */
