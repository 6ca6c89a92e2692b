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

/* One at an edge, more often than not. */
uint64_t chance_number(void)
{
	static const uint64_t edges[] = {
		0, 1, 2, 3, 4, 5, 7, 8, 10, 15, 16, 17, 31, 32, 63, 64, 100, 127, 128, 255, 256,
		257, 1000, 1023, 1024, 4095, 4096, 4097, 8191, 32767, 32768, 65535, 65536, 1 << 20,
		1 << 24, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000, RINGS, RINGS + 1,
		RINGS + PAGE, RINGS + RING_PAGES * PAGE - 1, 0x7ffffffff000, 0x800000000000,
		0x8000000000000000, 0xffffffffffffff00, UINT64_MAX,
	};

	switch (chance_of(8)) {
	case 0:
		return 1ULL << chance_of(64);
	case 1:
		return chance();
	case 2:
		return chance_of(256);
	case 3:
		return -(uint64_t)chance_of(16);
	default:
		return edges[chance_of(sizeof(edges) / sizeof(*edges))];
	}
}
