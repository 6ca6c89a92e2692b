// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * FMRs: memory that the peer reads and writes through keys without a registration request. Each
 * mapping is of other pages at another address and has a key of its own; after the last mapping
 * that an FMR may have, it is unmapped.
 */
#include "kmem.h"

#ifdef HAVE_EXT

#define MAPS	4	/* between one unmapping and the next */
#define ROUNDS	80	/* in all more mappings than a key has variants */
#define RIGHTS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

static bool map(struct kmem *k, struct ib_fmr *fmr, int pages, u64 iova)
{
	static u64 list[PAGES];

	for (int i = 0; i < pages; i++)
		list[i] = sg_dma_address(&k->own.sg[i]);
	return !ib_map_phys_fmr(fmr, list, pages, iova);
}

static bool unmap(struct ib_fmr *fmr)
{
	LIST_HEAD(list);

	list_add(&fmr->list, &list);
	return !ib_unmap_fmr(&list);
}

static bool use_mapping(struct kmem *k, struct ib_fmr *fmr, int pages, u32 seed)
{
	struct msg what = { .words = pages * PAGE_SIZE / sizeof(u32) - 3, .seed = seed, .keep = 1 };

	/* a mapping may begin at any address */
	what.addr = (u64)(seed + 1) << 40;
	if (!map(k, fmr, pages, what.addr))
		return false;
	what.rkey = fmr->rkey;
	return kmem_exchange(k, &what, seed % 2) && !k->rx.wc.wc_flags;
}

static void use_fmr(struct kmem *k, struct ib_fmr *fmr)
{
	u32 seed = 0, bad = 0, key;

	for (int round = 0; round < ROUNDS && !bad; round++) {
		for (int i = 0; i < MAPS; i++, seed++) {
			key = fmr->rkey;
			bad += !use_mapping(k, fmr, seed % 39 ? 1 + seed % 5 : PAGES, seed);
			bad += fmr->rkey == key;
		}
		bad += !unmap(fmr);
	}
	CHECK(!bad);
	/* map it as often as allowed, and once more */
	for (int i = 0; i < MAPS; i++)
		CHECK(map(k, fmr, 1, 0));
	CHECK(!map(k, fmr, 1, 0));
}

void kmem_fmr_test(struct kmem *k)
{
	struct ib_fmr_attr attr = {
		.max_pages = PAGES, .max_maps = MAPS, .page_shift = PAGE_SHIFT,
	};
	struct ib_fmr *fmr = ib_alloc_fmr(k->pd, RIGHTS, &attr);

	if (!CHECK(!IS_ERR(fmr)))
		return;
	use_fmr(k, fmr);
	CHECK(!ib_dealloc_fmr(fmr));
}

#else

void kmem_fmr_test(struct kmem *k)
{
}

#endif
