/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Guest memory for unit tests: memory files granted through the same calls
 * that serve a VM.
 */
#ifndef VHCAD_TESTS_TESTMEM_H
#define VHCAD_TESTS_TESTMEM_H

#include "mem/mem.h"

/**
 * testmem_fd() - a sealed memory file of @size bytes, zeroed
 *
 * Fails the test program when that is not possible.
 */
int testmem_fd(u64 size);

/**
 * testmem_add() - grant @size bytes of fresh zeroed memory at @iova, read/write
 *
 * Returns the guest CPU's address of it.  testmem_drop() releases it.
 */
void *testmem_add(struct guest_mem *m, u64 iova, u64 size);

/** testmem_drop() - free what testmem_add() returned (not the grant) */
void testmem_drop(void *cpu, u64 size);

/* dma_copy() of one piece on either side */
int testmem_copy(struct guest_mem *md, u64 dst, struct guest_mem *ms, u64 src, u64 len);

#endif /* VHCAD_TESTS_TESTMEM_H */
