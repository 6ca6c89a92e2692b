/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rings and doorbells: operations on the words of rdma/vhca-abi.h.
 *
 * Depends on nothing of rdma-core, so that it can be tested alone.  Positions
 * in rings are counts as rdma/vhca-ring.h explains them.
 */
#ifndef VHCA_RING_H
#define VHCA_RING_H

#include <endian.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rdma/vhca-abi.h>
#include <rdma/vhca-ring.h>

/* ---- sizes ---- */

static inline uint64_t ring_size(uint8_t log)
{
	return UINT64_C(1) << log;
}

/* Smallest log with 1 << log >= n; 0 for n of 0 and 1. */
static inline uint8_t ring_log(uint64_t n)
{
	uint8_t log = 0;

	while (ring_size(log) < n)
		log++;
	return log;
}

/* log2 of the bytes of a stride for receives with that many scatter entries. */
static inline uint8_t ring_log_stride(uint32_t nsge)
{
	/* A stride has room for at least one scatter entry. */
	return ring_log(VHCA_RWQE_SIZE((uint64_t)(nsge ? nsge : 1)));
}

/* ---- words shared with the device ---- */

/*
 * The device is another processor that accesses these words atomically, which
 * the kernel's types do not express.
 */
static inline uint64_t shared_read64(const __le64 *word)
{
	return le64toh(__atomic_load_n(word, __ATOMIC_ACQUIRE));
}

static inline void shared_write64(__le64 *word, uint64_t value)
{
	__atomic_store_n(word, htole64(value), __ATOMIC_RELEASE);
}

/*
 * Makes earlier stores visible to the device before later loads.  Not a locked instruction: see the
 * doorbells of rdma/vhca-abi.h.
 */
static inline void shared_barrier(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__asm__ __volatile__("mfence" ::: "memory");
#else
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

static inline void shared_set_bit(__le64 *words, unsigned int bit)
{
	__atomic_fetch_or(&words[bit / 64], htole64(UINT64_C(1) << bit % 64), __ATOMIC_SEQ_CST);
}

/* ---- doorbells ---- */

/**
 * struct vhca_slots - a queue's two records in a doorbell page
 * @page: the page
 * @page0: page 0 of the same area
 * @index: number of the page
 * @slot: number of the first record in the page
 */
struct vhca_slots {
	struct vhca_db_page *page;
	struct vhca_db_page *page0;
	uint32_t index;
	uint32_t slot;
};

/**
 * db_tell() - have the device look at a record
 * @db: the queue's records
 * @which: 0 or 1
 *
 * Return: true when the device sleeps and the caller has to kick it.
 */
static inline bool db_tell(const struct vhca_slots *db, unsigned int which)
{
	shared_set_bit(db->page->news, db->slot + which);
	shared_set_bit(db->page0->summary, db->index);

	/*
	 * The bits are visible before armed is read, and the device reads
	 * the bits after it has set armed: at least one of the two sees the other's store.
	 */
	shared_barrier();
	if (!__atomic_load_n(&db->page0->armed, __ATOMIC_RELAXED))
		return false;
	/* before the kick, or the device might wait for another one with armed cleared */
	__atomic_store_n(&db->page0->armed, 0, __ATOMIC_RELAXED);
	shared_barrier();
	return true;
}

/**
 * db_publish() - tell the device how much work a queue has
 * @db: the queue's records
 * @which: record that is rung: 0 or 1
 * @count: producer count; the work has been written
 *
 * The caller keeps others from publishing for the same queue.
 *
 * Return: as db_tell().
 */
static inline bool db_publish(const struct vhca_slots *db, unsigned int which, uint64_t count)
{
	shared_write64(&db->page->rec[db->slot + which], count);
	return db_tell(db, which);
}

/* Stores a record that is not rung. */
static inline void db_store(const struct vhca_slots *db, unsigned int which, uint64_t count)
{
	shared_write64(&db->page->rec[db->slot + which], count);
}

/* Reads a record that the device writes. */
static inline uint64_t db_load(const struct vhca_slots *db, unsigned int which)
{
	return shared_read64(&db->page->rec[db->slot + which]);
}

/**
 * arm_value() - arm record that asks for one event
 * @consumer: consumer count
 * @seq: differs from that of the last record stored
 * @solicited: only for solicited completions and errors
 */
static inline uint64_t arm_value(uint64_t consumer, uint32_t seq, bool solicited)
{
	return (consumer & VHCA_ARM_CI_MASK) | (solicited ? VHCA_ARM_SOLICITED : 0) |
	       (uint64_t)(seq & VHCA_ARM_SEQ_MASK) << VHCA_ARM_SEQ_SHIFT;
}

/**
 * db_arm() - arm a CQ
 * @db: its records; the second one is stored
 * @value: arm_value()
 *
 * The device writes an entry, executes a full barrier and reads the record;
 * here the record is stored, and the barrier comes before the poll that
 * follows: at least one of the two sees the other's store.
 */
static inline void db_arm(const struct vhca_slots *db, uint64_t value)
{
	db_store(db, 1, value);
	shared_barrier();
}

#endif /* VHCA_RING_H */
