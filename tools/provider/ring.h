/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rings and doorbells: pure memory protocol, without libibverbs, so that the
 * litmus tests can drive it against a model of the device.
 *
 * Records and bitmaps are shared with the device, which the process cannot
 * trust more than the device trusts it: every count read from them is masked.
 */
#ifndef VHCA_RING_H
#define VHCA_RING_H

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rdma/vhca-abi.h>

static_assert(sizeof(uintptr_t) == sizeof(void *), "pointers fit uintptr_t");

/**
 * struct vhca_db - the doorbell slots of one queue, and what ringing them needs
 * @page0: first page of the UAR: summary bitmap and armed word
 * @page: page that holds the slots
 * @kick: kick page of the UAR
 * @slot: number of the first slot within the UAR
 */
struct vhca_db {
	struct vhca_db_page *page0;
	struct vhca_db_page *page;
	uint32_t *kick;
	uint32_t slot;
};

static inline uint64_t *vhca_db_rec(const struct vhca_db *db, unsigned int n)
{
	return (uint64_t *)&db->page->rec[db->slot % VHCA_DB_SLOTS + n];
}

/* Publish a count in record n: everything stored before is seen with it. */
static inline void vhca_db_store(const struct vhca_db *db, unsigned int n, uint64_t value)
{
	__atomic_store_n(vhca_db_rec(db, n), htole64(value), __ATOMIC_RELEASE);
}

/*
 * Tell the device that the first slot's record has moved.  The two atomic ORs
 * are sequentially consistent: the later look at the armed word cannot be
 * ordered before them, which is what keeps a kick from getting lost while the
 * device goes to sleep.
 */
static inline void vhca_db_ring(const struct vhca_db *db)
{
	uint32_t in_page = db->slot % VHCA_DB_SLOTS;
	uint32_t page = db->slot / VHCA_DB_SLOTS;

	__atomic_fetch_or((uint64_t *)&db->page->news[in_page / 64],
			  htole64(1ULL << (in_page % 64)), __ATOMIC_SEQ_CST);
	__atomic_fetch_or((uint64_t *)&db->page0->summary[page / 64],
			  htole64(1ULL << (page % 64)), __ATOMIC_SEQ_CST);
	if (!__atomic_load_n((uint32_t *)&db->page0->armed, __ATOMIC_SEQ_CST))
		return;
	if (__atomic_exchange_n((uint32_t *)&db->page0->armed, 0, __ATOMIC_SEQ_CST))
		__atomic_store_n(db->kick, htole32(VHCA_KICK), __ATOMIC_RELAXED);
}

/**
 * struct vhca_ring - a power-of-two ring of fixed-size entries
 * @buf: first entry
 * @shift: log2 of the bytes of an entry
 * @log_size: log2 of the entries
 * @head: free-running count of entries produced
 * @tail: free-running count of entries consumed
 */
struct vhca_ring {
	char *buf;
	uint8_t shift;
	uint8_t log_size;
	uint32_t head;
	uint32_t tail;
};

static inline uint32_t vhca_ring_size(const struct vhca_ring *r)
{
	return 1U << r->log_size;
}

static inline uint32_t vhca_ring_space(const struct vhca_ring *r)
{
	return vhca_ring_size(r) - (r->head - __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE));
}

static inline void *vhca_ring_entry(const struct vhca_ring *r, uint32_t count)
{
	return r->buf + ((size_t)(count & (vhca_ring_size(r) - 1)) << r->shift);
}

/*
 * Retire everything up to @count as a completion reports it.  A count outside
 * of what is outstanding is a device's mistake and retires nothing.  Posters
 * go on meanwhile: the head they move only widens what is outstanding.
 */
static inline void vhca_ring_retire(struct vhca_ring *r, uint32_t count)
{
	if (count - r->tail <= __atomic_load_n(&r->head, __ATOMIC_RELAXED) - r->tail)
		__atomic_store_n(&r->tail, count, __ATOMIC_RELEASE);
}

/*
 * Entries longer than one block go on at the start of the ring.  @pos counts
 * bytes from the start of block @block; segments of 16 bytes never straddle
 * the end since blocks are a multiple of that.
 */
static inline void *vhca_ring_at(const struct vhca_ring *r, uint32_t block, uint32_t pos)
{
	size_t bytes = (size_t)vhca_ring_size(r) << r->shift;
	size_t at = ((size_t)(block & (vhca_ring_size(r) - 1)) << r->shift) + pos;

	return r->buf + (at & (bytes - 1));
}

/* Copy @len bytes to @pos of the entry at @block, over the ring's end if need be. */
static inline void vhca_ring_copy(const struct vhca_ring *r, uint32_t block, uint32_t pos,
				  const void *src, uint32_t len)
{
	char *to = vhca_ring_at(r, block, pos);
	size_t room = r->buf + ((size_t)vhca_ring_size(r) << r->shift) - to;
	size_t first = len < room ? len : room;

	memcpy(to, src, first);
	memcpy(r->buf, (const char *)src + first, len - first);
}

/* ---- completion rings: consumer side; tail counts what has been taken ---- */

static inline struct vhca_cqe *vhca_cqe_at(const struct vhca_ring *r, uint32_t count)
{
	return vhca_ring_entry(r, count);
}

/* Value of the owner bit on the lap that @count falls into: 1 on the first. */
static inline uint8_t vhca_cqe_lap(const struct vhca_ring *r, uint32_t count)
{
	return !((count >> r->log_size) & 1);
}

/* The entry at @count if the device has written it, else NULL. */
static inline struct vhca_cqe *vhca_cqe_valid(const struct vhca_ring *r, uint32_t count)
{
	struct vhca_cqe *cqe = vhca_cqe_at(r, count);
	uint8_t owner = __atomic_load_n(&cqe->owner, __ATOMIC_ACQUIRE);

	return (owner & VHCA_CQE_OWNER) == vhca_cqe_lap(r, count) ? cqe : NULL;
}

/**
 * vhca_cq_purge - drop the completions of a QP that is gone or was reset
 * @r: completion ring, its user excluded by the caller
 * @qpn: QP whose entries go
 *
 * Survivors keep their order: they move towards the newest entry, each taking
 * the lap bit of its new place.  The device writes only beyond the newest
 * entry, and nothing more for @qpn.
 *
 * Return: entries dropped.
 */
static inline uint32_t vhca_cq_purge(struct vhca_ring *r, uint32_t qpn)
{
	uint32_t end = r->tail, to, from, dropped;

	while (end - r->tail < vhca_ring_size(r) && vhca_cqe_valid(r, end))
		end++;

	to = end;
	for (from = end; from != r->tail; from--) {
		const struct vhca_cqe *cqe = vhca_cqe_at(r, from - 1);

		if (le32toh(cqe->qpn) == qpn)
			continue;
		to--;
		if (to != from - 1) {
			struct vhca_cqe *dst = vhca_cqe_at(r, to);

			*dst = *cqe;
			dst->owner = vhca_cqe_lap(r, to);
		}
	}
	dropped = to - r->tail;
	r->tail = to;
	return dropped;
}

/*
 * Arm record of a CQ.  The sequence number moves when an event has been taken,
 * so arming again before that changes the conditions of the same one event.
 */
static inline uint64_t vhca_arm_record(uint32_t ci, uint32_t seq, bool solicited)
{
	return (uint64_t)ci | (solicited ? VHCA_ARM_SOLICITED : 0) |
	       (uint64_t)(seq & VHCA_ARM_SEQ_MASK) << VHCA_ARM_SEQ_SHIFT;
}

#endif /* VHCA_RING_H */
