// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Numbers that look random, and follow from a seed.
 */
#include "fuzz.h"

static uint64_t state;

void chance_seed(uint64_t seed)
{
	state = seed;
	chance();
}

uint64_t chance(void)
{
	uint64_t x = state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}
