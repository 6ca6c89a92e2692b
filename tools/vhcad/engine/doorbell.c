// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbell areas.
 *
 * An area is hot while its UAR is looked at in every pass; then its armed word
 * is 0 and its owner never kicks.  An area without news for a while, or any
 * area when the engine is about to sleep, is armed and looked at once more
 * behind a full barrier: from then on its owner's next ring kicks.
 */
#include "engine/core.h"
#include "engine/rc.h"

static void make_hot(struct vhca_dev *dev, struct vuar *uar)
{
	uar->quiet = 0;
	if (uar->hot)
		return;
	uar->hot = true;
	link_add_tail(&dev->hot, &uar->hot_link);
}

static void make_cold(struct vuar *uar)
{
	uar->hot = false;
	link_del(&uar->hot_link);
}

static void tell_owner(struct db_page *page, u32 slot)
{
	switch (page->slot[slot].kind) {
	case SLOT_SEND:
		req_doorbell(page->slot[slot].owner);
		break;
	case SLOT_RECV: {
		struct vqp *qp = page->slot[slot].owner;

		if (qp->state == QPS_ERR)
			sched_ready(qp);
		break;
	}
	case SLOT_EQ:
		eq_flush(page->slot[slot].owner);
		break;
	default:
		break;
	}
}

/* Takes a word of bits if there are any. */
static u64 take_bits(struct gmem_ref *ref, u32 off)
{
	u64 bits;

	if (dma_ref_load64_acquire(ref, off, &bits) || !bits)
		return 0;
	return dma_ref_xchg64(ref, off, 0, &bits) ? 0 : bits;
}

static void scan_page(struct db_page *page)
{
	for (u32 w = 0; w < VHCA_DB_NEWS_WORDS; w++) {
		u64 bits = take_bits(&page->ref, offsetof(struct vhca_db_page, news) + w * 8);

		for (; bits; bits &= bits - 1) {
			u32 slot = w * 64 + __builtin_ctzll(bits);

			if (slot < VHCA_DB_SLOTS)
				tell_owner(page, slot);
		}
	}
}

/* Summary, then news, then records: bits are taken before what they tell of. */
static bool scan(struct vuar *uar)
{
	bool any = false;

	for (u32 w = 0; w * 64 < uar->npages; w++) {
		u64 bits = take_bits(&uar->page[0]->ref,
				     offsetof(struct vhca_db_page, summary) + w * 8);

		for (; bits; bits &= bits - 1) {
			u32 n = w * 64 + __builtin_ctzll(bits);

			if (n < uar->npages)
				scan_page(uar->page[n]);
			any = true;
		}
	}
	return any;
}

static void set_armed(struct vuar *uar, u32 val)
{
	u32 old;

	/* an area that the guest has taken away has no news either */
	(void)dma_ref_xchg32(&uar->page[0]->ref, offsetof(struct vhca_db_page, armed), val, &old);
	dma_mb();
}

/* True if news came while it was being armed; then it stays hot. */
static bool arm(struct vuar *uar)
{
	set_armed(uar, 1);
	if (!scan(uar)) {
		make_cold(uar);
		return false;
	}
	set_armed(uar, 0);
	uar->quiet = 0;
	return true;
}

static void take_kicks(struct vhca_dev *dev)
{
	if (!__atomic_load_n(&dev->any_kick, __ATOMIC_ACQUIRE) ||
	    !__atomic_exchange_n(&dev->any_kick, false, __ATOMIC_ACQ_REL))
		return;
	for (u32 w = 0; w < (dev->kick_pages + 63) / 64; w++) {
		u64 bits;

		if (!__atomic_load_n(&dev->kicked[w], __ATOMIC_RELAXED))
			continue;
		bits = __atomic_exchange_n(&dev->kicked[w], 0, __ATOMIC_ACQ_REL);
		for (; bits; bits &= bits - 1) {
			struct vuar *uar = table_get(&dev->uars, w * 64 + __builtin_ctzll(bits));

			if (uar)
				make_hot(dev, uar);
		}
	}
}

bool doorbell_poll(struct vhca_dev *dev)
{
	bool any = false;

	if (!dev_live(dev))
		return false;
	take_kicks(dev);
	link_for_each(l, &dev->hot) {
		struct vuar *uar = container_of(l, struct vuar, hot_link);

		if (scan(uar)) {
			uar->quiet = 0;
			any = true;
		} else if (++uar->quiet > UAR_QUIET_PASSES) {
			any |= arm(uar);
		}
	}
	return any;
}

bool doorbell_arm(struct vhca_dev *dev)
{
	bool any = false;

	if (!dev_live(dev))
		return false;
	link_for_each(l, &dev->hot)
		any |= arm(container_of(l, struct vuar, hot_link));
	return any;
}
