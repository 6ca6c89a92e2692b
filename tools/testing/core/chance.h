/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Inputs of a fuzz target without libFuzzer: pseudo-random, the same each time. Include after
 * kernel.h.
 */
#ifndef CORE_TEST_CHANCE_H
#define CORE_TEST_CHANCE_H

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

/* inputs_by_chance(): runs the target with this number of inputs of up to 511 bytes */
static inline void inputs_by_chance(unsigned int runs)
{
	u64 state = 1;
	u8 data[512];

	for (unsigned int run = 0; run < runs; run++) {
		size_t size = run % sizeof(data);

		for (size_t i = 0; i < size; i++) {
			state = state * 6364136223846793005ull + 1442695040888963407ull;
			data[i] = state >> 56;
		}
		LLVMFuzzerTestOneInput(data, size);
	}
}

#endif /* CORE_TEST_CHANCE_H */
