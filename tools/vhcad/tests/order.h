/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Included in front of the files whose barriers order_test.c examines: their
 * accesses to guest memory go through its model of a processor.
 */
#ifndef VHCAD_TESTS_ORDER_H
#define VHCAD_TESTS_ORDER_H

#include "mem/mem.h"

void order_mb(void);
int order_read(struct gmem_ref *ref, u32 off, void *dst, u32 len);
int order_read_line(struct gmem_ref *ref, u32 off, void *dst);
int order_publish(struct gmem_ref *ref, u32 off, const void *src, u32 len, u64 last);
int order_load64(struct gmem_ref *ref, u32 off, u64 *val);
int order_store8(struct gmem_ref *ref, u32 off, u8 val);
int order_store64(struct gmem_ref *ref, u32 off, u64 val);
int order_xchg32(struct gmem_ref *ref, u32 off, u32 val, u32 *old);
int order_xchg64(struct gmem_ref *ref, u32 off, u64 val, u64 *old);

#ifndef ORDER_MODEL
#define dma_mb			order_mb
#define dma_ref_read		order_read
#define dma_ref_read_line	order_read_line
#define dma_ref_publish		order_publish
#define dma_ref_load64_acquire	order_load64
#define dma_ref_store8_release	order_store8
#define dma_ref_store64_release	order_store64
#define dma_ref_xchg32		order_xchg32
#define dma_ref_xchg64		order_xchg64
#endif

#endif /* VHCAD_TESTS_ORDER_H */
