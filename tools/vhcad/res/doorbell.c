// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Doorbell areas.
 *
 * An area is hot while its UAR is looked at in every pass; then its armed word
 * is 0 and its owner never kicks.  An area without news for a while, or any
 * area when the engine is about to sleep, is armed and looked at once more
 * behind a full barrier: from then on its owner's next ring kicks.
 */
#include <assert.h>
#include <string.h>

#include "res/dev.h"

/* Words of doorbells that are looked at, and events that are written, in one pass of one device. */
#define PASS_DOORBELLS	256u
/* Passes without news after which a UAR is armed again. */
#define UAR_QUIET_PASSES	64u

static void make_hot(struct vhca_dev *dev, struct vuar *uar)
{
	uar->quiet = 0;
	if (uar->hot)
		return;
	uar->hot = true;
	list_add_tail(&uar->hot_node, &dev->hot);
}

static void make_cold(struct vuar *uar)
{
	uar->hot = false;
	list_del_init(&uar->hot_node);
}

/* Clears a word of bits and returns it. */
static u64 take_bits(struct gmem_ref *ref, u32 off)
{
	u64 bits;

	return dma_ref_xchg64(ref, off, 0, &bits) ? 0 : bits;
}

static u64 take_summary(struct vuar *uar)
{
	struct gmem_ref *ref = &uar->page[0]->ref;
	u32 off = offsetof(struct vhca_db_page, summary) + uar->at_word * 8;
	u64 bits;

	if (dma_ref_load64_acquire(ref, off, &bits) || !bits)
		return 0;
	return take_bits(ref, off);
}

/* Calls the owners of one word of news. */
static void tell_word(struct db_page *page, u32 w, u32 *steps)
{
	u64 bits = take_bits(&page->ref, offsetof(struct vhca_db_page, news) + w * 8);

	for (; bits; bits &= bits - 1) {
		u32 n = w * 64 + __builtin_ctzll(bits);

		if (*steps)
			--*steps;
		if (n < VHCA_DB_SLOTS && page->slot[n].rung)
			page->slot[n].rung(page->slot[n].owner);
	}
}

static_assert(VHCA_DB_NEWS_WORDS * sizeof(u64) == GMEM_LINE, "news are read at once");

/*
 * Returns false if the steps ran out; the next look goes on there.  Most words are zero, and one
 * copy of all tells which are not: a bit that is set behind it sets its summary bit again.
 */
static bool scan_page(struct vuar *uar, struct db_page *page, u32 *steps)
{
	u64 news[VHCA_DB_NEWS_WORDS];

	if (dma_ref_read_line(&page->ref, offsetof(struct vhca_db_page, news), news))
		memset(news, 0, sizeof(news));
	for (; uar->at_news < VHCA_DB_NEWS_WORDS; uar->at_news++) {
		if (!*steps)
			return false;
		--*steps;
		if (news[uar->at_news])
			tell_word(page, uar->at_news, steps);
	}
	uar->at_news = 0;
	return true;
}

enum found {
	FOUND_NOTHING,
	FOUND_NEWS,
	FOUND_MORE,		/* than there was time for: the area knows where to go on */
};

/* Summary first, then news, then records: bits are cleared before what they stand for is read. */
static enum found scan(struct vuar *uar, u32 *steps)
{
	enum found found = uar->left ? FOUND_NEWS : FOUND_NOTHING;

	for (; uar->at_word * 64 < uar->npages; uar->at_word++) {
		if (!uar->left) {
			if (!*steps)
				return FOUND_MORE;
			uar->left = take_summary(uar);
			--*steps;
		}
		for (; uar->left; uar->left &= uar->left - 1) {
			u32 n = uar->at_word * 64 + __builtin_ctzll(uar->left);

			if (n < uar->npages && !scan_page(uar, uar->page[n], steps))
				return FOUND_MORE;
			found = FOUND_NEWS;
		}
	}
	uar->at_word = 0;
	return found;
}

static void set_armed(struct vuar *uar, u32 val)
{
	u32 old;

	/* pages that the guest has taken away have no news either */
	(void)dma_ref_xchg32(&uar->page[0]->ref, offsetof(struct vhca_db_page, armed), val, &old);
	dma_mb();
}

/* Arms a UAR.  True if news came meanwhile; then it stays hot. */
static bool arm(struct vuar *uar, u32 *steps)
{
	set_armed(uar, 1);
	if (scan(uar, steps) == FOUND_NOTHING) {
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

/* Makes the next look at the hot UARs begin here, which may be behind the last one. */
static void go_on_with(struct vhca_dev *dev, struct list_head *next)
{
	if (next == &dev->hot)
		return;
	list_del_init(&dev->hot);
	list_add_tail(&dev->hot, next);
}

/* Writes the events that were left over from the last pass. */
static void flush_rings(struct vhca_dev *dev, u32 *steps)
{
	struct list_head *l;

	while (*steps && (l = list_pop(&dev->flush)))
		*steps -= MIN(*steps, 1 + eq_flush(container_of(l, struct veq, flush_node)));
}

bool doorbell_poll(struct vhca_dev *dev)
{
	u32 steps = PASS_DOORBELLS;
	bool any = false;

	if (!dev_live(dev))
		return false;
	take_kicks(dev);
	flush_rings(dev, &steps);
	list_for_each_safe(l, &dev->hot) {
		struct vuar *uar = container_of(l, struct vuar, hot_node);
		enum found found = scan(uar, &steps);

		if (found != FOUND_NOTHING) {
			uar->quiet = 0;
			any = true;
		} else if (++uar->quiet > UAR_QUIET_PASSES) {
			any |= arm(uar, &steps);
		}
		if (!steps) {
			go_on_with(dev, found == FOUND_MORE ? l : l_next_);
			cost_add(&dev->adapter, 0);
			return true;
		}
	}
	return any || !list_empty(&dev->flush);
}

bool doorbell_arm(struct vhca_dev *dev)
{
	u32 steps = PASS_DOORBELLS;
	bool any;

	if (!dev_live(dev))
		return false;
	any = !list_empty(&dev->flush);
	list_for_each_safe(l, &dev->hot) {
		any |= arm(container_of(l, struct vuar, hot_node), &steps);
		if (!steps)
			return true;
	}
	return any;
}

void doorbell_kick(struct vhca_dev *dev, u32 uar)
{
	__atomic_fetch_or(&dev->kicked[uar / 64], 1ull << (uar % 64), __ATOMIC_RELEASE);
	__atomic_store_n(&dev->any_kick, true, __ATOMIC_RELEASE);
}

bool doorbell_kicked(const struct vhca_dev *dev)
{
	return __atomic_load_n(&dev->any_kick, __ATOMIC_ACQUIRE);
}
