/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The order in which the kernel and the device see what they write into each other's memory.
 *
 * The device is another processor that works on the pages of records with atomic instructions. The
 * kernel's own atomics will not do on x86: they lose their lock prefix when a guest has one CPU.
 * Hence the accessors below, which are also the only place where the pages' words lose their byte
 * order annotation (OR does not care).
 *
 * Part of uar.h. test_order.c includes this file a second time, for a model of a processor that
 * makes use of all the freedom that barriers leave to it.
 */
#ifndef VHCA_DB_ORDER_H
#define VHCA_DB_ORDER_H

#include "uar.h"

/* Set bit @bit of an array of little-endian words. */
static inline void vhca_db_set_bit(__le64 *words, u32 bit)
{
#ifdef CONFIG_X86
	sync_set_bit(bit, (__force unsigned long *)words);
#else
	atomic64_t *word = (__force atomic64_t *)&words[bit / 64];

	atomic64_fetch_or((__force s64)cpu_to_le64(BIT_ULL(bit % 64)), word);
#endif
}

/* Store a record the device reads when it needs it. */
static inline void vhca_db_store(const struct vhca_db *db, unsigned int which, u64 value)
{
	/*
	 * Everything written before is visible to the device no later than the record; and
	 * everything loaded before has been loaded when the device learns from a consumer count
	 * where it may write again.
	 */
	virt_store_release(vhca_db_rec(db, which), cpu_to_le64(value));
}

/* What was stored before is visible to the device before anything is loaded. */
static inline void vhca_db_mb(void)
{
	/*
	 * virt_mb() is a locked instruction on x86: where QEMU's TCG executes a guest with one CPU
	 * that is no barrier.
	 */
	mb();
}

/*
 * Arm a completion or event queue from count @ci on. The caller polls afterwards: an entry that
 * was written before the device could see this raises no event.
 */
static inline void vhca_db_arm(const struct vhca_db *db, u64 ci, u64 flags, u32 seq)
{
	vhca_db_store(db, 1, (ci & VHCA_ARM_CI_MASK) | flags |
			     (u64)(seq & VHCA_ARM_SEQ_MASK) << VHCA_ARM_SEQ_SHIFT);
	/* the device reads what was armed after it writes an entry, and the caller the reverse */
	vhca_db_mb();
}

/*
 * Store a record and say that it is news. Returns whether the device has to be kicked: it has gone
 * to sleep and may not have seen the news before.
 */
static inline bool vhca_db_publish(const struct vhca_db *db, unsigned int which, u64 count)
{
	struct vhca_db_page *page0 = db->uar->page0;

	vhca_db_store(db, which, count);
	vhca_db_set_bit(db->page->va->news, db->pair * 2 + which);
	vhca_db_set_bit(page0->summary, db->page->index);
	/* The bits are visible before armed is read: the device checks them after it sets armed. */
	vhca_db_mb();
	if (!READ_ONCE(page0->armed))
		return false;
	/* Before the kick, or the device might wait for another with armed clear. */
	WRITE_ONCE(page0->armed, 0);
	return true;
}

#endif /* VHCA_DB_ORDER_H */
