// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * doorbell_test.c for a guest with one emulated processor.
 *
 * For a guest with one processor QEMU's TCG executes a locked instruction as a load and a store, as
 * if no other processor accessed memory; but the device does.  So such an instruction is neither
 * atomic nor a barrier, and what the compiler makes of a fence is such an instruction, too.
 */
#include <stdatomic.h>
#include <stdint.h>

#define QUEUES	1	/* needs no more processors */

static inline void alone_or(volatile void *words, uint64_t bits, int order)
{
	volatile uint64_t *word = words;

	(void)order;
	*word |= bits;
}

#define __atomic_fetch_or		alone_or
#define __atomic_thread_fence(order)	__atomic_signal_fence(order)
#include "ring.h"
#undef __atomic_fetch_or
#undef __atomic_thread_fence

#include "doorbell_test.c"
