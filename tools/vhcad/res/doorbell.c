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

/*
 * The most doorbells and words of them that one pass looks at for one device, and events that it
 * writes; fewer if they take as long as a turn may.
 */
#define PASS_DOORBELLS	256u
/* A look with more steps than this is charged to its adapter. */
#define FREE_STEPS	(PASS_DOORBELLS / 8)
/* Passes without news after which a UAR is armed again. */
#define UAR_QUIET_PASSES	64u

/**
 * struct look - a look at a device's doorbells
 * @worker: the thread's worker
 * @steps: steps that it may still take
 * @late: it takes too long, so that there are no more
 */
struct look {
	struct worker *worker;
	u32 steps;
	bool late;
};

static struct look look_begin(const struct vhca_dev *dev)
{
	return (struct look){ .worker = dev->adapter.worker, .steps = PASS_DOORBELLS };
}

static void look_end(struct vhca_dev *dev, const struct look *look)
{
	if (look->steps < PASS_DOORBELLS - FREE_STEPS)
		cost_add(&dev->adapter, 0);
}

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

/* Bytes at the beginning of an object that its doorbell has to do with. */
#define OWNER_BYTES	(3 * GMEM_LINE)

static void prefetch_owner(const struct db_ring *r)
{
	const u8 *owner = r->page->slot[r->slot].owner;

	for (u32 i = 0; owner && i < OWNER_BYTES; i += GMEM_LINE)
		__builtin_prefetch(owner + i, 1);
}

/*
 * Calls the owners of the records that were gathered; false if there was no time for all.  Where
 * very many ring none of what they read is in a cache, and each would wait for its slot, its record
 * and itself.  So those of all are fetched together.
 */
static bool call_owners(struct vuar *uar, struct look *look)
{
	u32 n = uar->nrings, i = 0;

	for (u32 k = 0; n > 1 && k < n; k++)
		prefetch_owner(&uar->ring[k]);
	while (i < n && !look->late) {
		const struct db_ring *r = &uar->ring[i++];
		const struct db_slot *s = &r->page->slot[r->slot];

		if (s->rung)
			s->rung(s->owner);
		look->late = cost_late(look->worker);
	}
	if (look->late)
		look->steps = 0;
	uar->nrings = n - i;
	if (uar->nrings)
		memmove(uar->ring, uar->ring + i, uar->nrings * sizeof(uar->ring[0]));
	return !uar->nrings;
}

static void gather(struct vuar *uar, struct db_page *page, u32 slot)
{
	__builtin_prefetch(&page->slot[slot]);
	dma_ref_prefetch(&page->ref, offsetof(struct vhca_db_page, rec) + slot * sizeof(u64), 1);
	uar->ring[uar->nrings++] = (struct db_ring){ page, slot };
}

/* Gathers the records of a word of news; false if the steps ran out: @uar->news has the others. */
static bool gather_word(struct vuar *uar, struct db_page *page, struct look *look)
{
	u32 w = uar->at_news;

	if (!uar->news)
		uar->news = take_bits(&page->ref, offsetof(struct vhca_db_page, news) + w * 8);
	for (; uar->news; uar->news &= uar->news - 1) {
		u32 n = w * 64 + __builtin_ctzll(uar->news);

		if (!look->steps || (uar->nrings == DB_RINGS && !call_owners(uar, look)))
			return false;
		look->steps--;
		if (n < VHCA_DB_SLOTS)
			gather(uar, page, n);
	}
	return true;
}

static_assert(VHCA_DB_NEWS_WORDS * sizeof(u64) == GMEM_LINE, "news are read at once");

/* Bit n is set if word n has news. */
static u32 words_with_news(const u64 *news)
{
	u32 words = 0;

#pragma GCC unroll 8
	for (u32 i = VHCA_DB_NEWS_WORDS; i--;)
		words = 2 * words + !!news[i];
	return words;
}

/*
 * Returns false if the steps ran out; the next look goes on there.  Most words are zero, and one
 * copy of all of them, for which as many steps are taken, tells which are not: a bit that is set
 * after the copy sets its summary bit again.
 */
static bool scan_page(struct vuar *uar, struct db_page *page, struct look *look)
{
	u64 news[VHCA_DB_NEWS_WORDS];
	u32 words;

	if (look->steps < VHCA_DB_NEWS_WORDS) {
		look->steps = 0;
		return false;
	}
	look->steps -= VHCA_DB_NEWS_WORDS;
	if (dma_ref_read_line(&page->ref, offsetof(struct vhca_db_page, news), news))
		memset(news, 0, sizeof(news));
	/* the last look went up to a word, of which it may have left some */
	words = (words_with_news(news) | !!uar->news << uar->at_news) & ~0u << uar->at_news;
	for (; words; words &= words - 1) {
		uar->at_news = __builtin_ctz(words);
		if (!gather_word(uar, page, look))
			return false;
	}
	uar->at_news = 0;
	return true;
}

enum found {
	FOUND_NOTHING,
	FOUND_NEWS,
	FOUND_MORE,		/* news that there was no time for: the area knows where to go on */
};

/* Summary, then news, then records: a bit is cleared before the words it stands for are read. */
static enum found scan_pages(struct vuar *uar, struct look *look)
{
	enum found found = uar->left ? FOUND_NEWS : FOUND_NOTHING;

	for (; uar->at_word * 64 < uar->npages; uar->at_word++) {
		if (!uar->left) {
			if (!look->steps)
				return FOUND_MORE;
			uar->left = take_summary(uar);
			look->steps--;
		}
		for (; uar->left; uar->left &= uar->left - 1) {
			u32 n = uar->at_word * 64 + __builtin_ctzll(uar->left);

			if (n < uar->npages && !scan_page(uar, uar->page[n], look))
				return FOUND_MORE;
			found = FOUND_NEWS;
		}
	}
	uar->at_word = 0;
	return found;
}

/* Gathers what has news, and calls the owners. */
static enum found scan(struct vuar *uar, struct look *look)
{
	bool left = uar->nrings;
	enum found found;

	if (left && !call_owners(uar, look))
		return FOUND_MORE;
	found = scan_pages(uar, look);
	if (uar->nrings && !call_owners(uar, look))
		return FOUND_MORE;
	return left && found == FOUND_NOTHING ? FOUND_NEWS : found;
}

static void set_armed(struct vuar *uar, u32 val)
{
	u32 old;

	/* pages that the guest has revoked have no news either */
	(void)dma_ref_xchg32(&uar->page[0]->ref, offsetof(struct vhca_db_page, armed), val, &old);
	dma_mb();
}

/* Arms a UAR.  True if news came meanwhile; then it stays hot. */
static bool arm(struct vuar *uar, struct look *look)
{
	set_armed(uar, 1);
	if (scan(uar, look) == FOUND_NOTHING) {
		make_cold(uar);
		return false;
	}
	set_armed(uar, 0);
	uar->quiet = 0;
	return true;
}

static_assert(VDEV_MAX_KICK_PAGES <= 64 * 64, "a bit for each word of kicks");

static void take_kicks(struct vhca_dev *dev)
{
	u64 words;

	if (!__atomic_load_n(&dev->any_kick, __ATOMIC_ACQUIRE))
		return;
	words = __atomic_exchange_n(&dev->any_kick, 0, __ATOMIC_ACQ_REL);
	for (; words; words &= words - 1) {
		u32 w = __builtin_ctzll(words);
		u64 bits = __atomic_exchange_n(&dev->kicked[w], 0, __ATOMIC_ACQ_REL);

		for (; bits; bits &= bits - 1) {
			struct vuar *uar = table_get(&dev->uars, w * 64 + __builtin_ctzll(bits));

			if (uar)
				make_hot(dev, uar);
		}
	}
}

/* Makes the next look at the hot UARs begin at @next, which may be the head of the list. */
static void go_on_with(struct vhca_dev *dev, struct list_head *next)
{
	if (next == &dev->hot)
		return;
	list_del_init(&dev->hot);
	list_add_tail(&dev->hot, next);
}

/* Writes the events that were left over from the last pass. */
static void flush_rings(struct vhca_dev *dev, struct look *look)
{
	struct list_head *l;
	u32 n;

	while (look->steps && (l = list_pop(&dev->flush))) {
		n = 1 + eq_flush(container_of(l, struct veq, flush_node));
		look->steps -= MIN(look->steps, n);
	}
}

bool doorbell_quiet(const struct vhca_dev *dev)
{
	return list_empty(&dev->hot) && list_empty(&dev->flush) && !doorbell_kicked(dev);
}

bool doorbell_poll(struct vhca_dev *dev)
{
	struct look look = look_begin(dev);
	bool any = false;

	if (!dev_live(dev)) {
		if (eq_fatal_waits(dev))
			eq_flush(dev->async_eq);
		return false;
	}
	if (doorbell_quiet(dev))
		return false;
	/* free steps of the adapters before are not charged to this one */
	cost_begin(look.worker);
	take_kicks(dev);
	flush_rings(dev, &look);
	list_for_each_safe(l, &dev->hot) {
		struct vuar *uar = container_of(l, struct vuar, hot_node);
		enum found found = scan(uar, &look);

		if (found != FOUND_NOTHING) {
			uar->quiet = 0;
			any = true;
		} else if (++uar->quiet > UAR_QUIET_PASSES) {
			any |= arm(uar, &look);
		}
		if (!look.steps) {
			go_on_with(dev, found == FOUND_MORE ? l : l_next_);
			look_end(dev, &look);
			return true;
		}
	}
	look_end(dev, &look);
	return any || !list_empty(&dev->flush);
}

/* A device in the fatal state looks at no doorbells, but waits for room for its last event. */
static void arm_for_last_event(struct vhca_dev *dev)
{
	if (!eq_fatal_waits(dev))
		return;
	set_armed(dev->async_eq->uar, 1);
	eq_flush(dev->async_eq);
}

bool doorbell_arm(struct vhca_dev *dev)
{
	struct look look = look_begin(dev);
	bool any;

	if (!dev_live(dev)) {
		arm_for_last_event(dev);
		return false;
	}
	any = !list_empty(&dev->flush);
	list_for_each_safe(l, &dev->hot) {
		any |= arm(container_of(l, struct vuar, hot_node), &look);
		if (!look.steps)
			return true;
	}
	return any;
}

void doorbell_kick(struct vhca_dev *dev, u32 uar)
{
	__atomic_fetch_or(&dev->kicked[uar / 64], 1ull << (uar % 64), __ATOMIC_RELEASE);
	__atomic_fetch_or(&dev->any_kick, 1ull << (uar / 64), __ATOMIC_RELEASE);
}

bool doorbell_kicked(const struct vhca_dev *dev)
{
	return __atomic_load_n(&dev->any_kick, __ATOMIC_ACQUIRE);
}
