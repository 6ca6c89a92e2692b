/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The order in which the kernel and the device see what they write into each other's memory.
 *
 * The device is another processor that accesses the doorbell pages with atomic instructions. The
 * kernel's own atomics cannot be used on x86: without a second CPU in the guest they have no lock
 * prefix. Hence the accessors below, which are also the only place where the pages' words lose
 * their byte order annotation (OR does not depend on byte order).
 *
 * Part of uar.h. test_order.c includes this file a second time, for a model of a processor that
 * reorders accesses in every way that the barriers allow.
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

/* Store a record without notifying the device. */
static inline void vhca_db_store(const struct vhca_db *db, unsigned int which, u64 value)
{
	/*
	 * Earlier stores are visible to the device before the record. Earlier loads are done
	 * before the device sees a consumer count, which allows it to overwrite entries.
	 */
	virt_store_release(vhca_db_rec(db, which), cpu_to_le64(value));
}

/* Earlier stores are visible to the device before later loads. */
static inline void vhca_db_mb(void)
{
	/*
	 * virt_mb() is a locked instruction on x86, which is no barrier if QEMU's TCG executes a
	 * guest with one CPU.
	 */
	mb();
}

/*
 * Arm a completion or event queue from count @ci on. The caller polls afterwards, since an entry
 * that the device wrote before it could see the record raises no event.
 */
static inline void vhca_db_arm(const struct vhca_db *db, u64 ci, u64 flags, u32 seq)
{
	vhca_db_store(db, 1, (ci & VHCA_ARM_CI_MASK) | flags |
			     (u64)(seq & VHCA_ARM_SEQ_MASK) << VHCA_ARM_SEQ_SHIFT);
	/* Pairs with the device, which writes an entry before it reads the arm record. */
	vhca_db_mb();
}

/*
 * Store a record and set its news bit. Returns true if the device has to be kicked, because it
 * sleeps and may not have seen the bit before.
 */
static inline bool vhca_db_publish(const struct vhca_db *db, unsigned int which, u64 count)
{
	struct vhca_db_page *page0 = db->uar->page0;

	vhca_db_store(db, which, count);
	vhca_db_set_bit(db->page->va->news, db->pair * 2 + which);
	vhca_db_set_bit(page0->summary, db->page->index);
	/* Pairs with the device, which sets armed before it checks the bits. */
	vhca_db_mb();
	if (!READ_ONCE(page0->armed))
		return false;
	/* Before the kick, as the device sets armed again when it goes to sleep after the kick. */
	WRITE_ONCE(page0->armed, 0);
	return true;
}

#endif /* VHCA_DB_ORDER_H */
