/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rings in host memory: additions of the driver to the arithmetic that it shares with the device
 * and the provider.
 */
#ifndef VHCA_RING_H
#define VHCA_RING_H

#include <linux/bits.h>
#include <linux/types.h>
#include <rdma/vhca-ring.h>

#include "buf.h"

/**
 * vhca_ring_room() - get the number of free entries of a ring into which the host produces
 * @head: producer count
 * @tail: count up to which entries are finished
 * @log: log2 of the entries of the ring
 *
 * Context: any.
 * Return: entries that may be produced now.
 */
static inline u64 vhca_ring_room(u64 head, u64 tail, u8 log)
{
	return BIT_ULL(log) - (head - tail);
}

/**
 * vhca_ring_pending() - check that a count lies among the unfinished entries
 * @count: count just past an entry, as the device reported it
 * @head: producer count
 * @tail: count up to which entries are finished
 *
 * Context: any.
 * Return: true for tail < count <= head.
 */
static inline bool vhca_ring_pending(u64 count, u64 head, u64 tail)
{
	return count > tail && count <= head;
}

/**
 * struct vhca_ring - a ring of entries in host memory
 * @mem: the entries
 * @log: log2 of their number
 * @log_entry: log2 of the bytes of one
 */
struct vhca_ring {
	struct vhca_kbuf mem;
	u8 log;
	u8 log_entry;
};

/**
 * vhca_ring_alloc() - allocate a zeroed ring
 * @ring: filled in
 * @dev: device for DMA
 * @log: log2 of the entries
 * @log_entry: log2 of the bytes of one
 *
 * Context: may sleep.
 * Return: 0 or -ENOMEM.
 */
static inline int vhca_ring_alloc(struct vhca_ring *ring, struct device *dev, u8 log, u8 log_entry)
{
	ring->log = log;
	ring->log_entry = log_entry;
	return vhca_kbuf_alloc(&ring->mem, dev, BIT_ULL(log + log_entry));
}

/**
 * vhca_ring_free() - free a ring
 * @ring: the ring, which the device does not use any more
 *
 * Context: may sleep.
 */
static inline void vhca_ring_free(struct vhca_ring *ring)
{
	vhca_kbuf_free(&ring->mem);
}

/**
 * vhca_ring_entries() - get the number of entries of a ring
 * @ring: the ring
 *
 * Context: any.
 * Return: a power of two.
 */
static inline u64 vhca_ring_entries(const struct vhca_ring *ring)
{
	return BIT_ULL(ring->log);
}

/**
 * vhca_ring_at() - find an entry
 * @ring: the ring
 * @count: the entry's count
 *
 * Context: any.
 * Return: its address.
 */
static inline void *vhca_ring_at(const struct vhca_ring *ring, u64 count)
{
	return vhca_kbuf_at(&ring->mem,
			    (size_t)vhca_ring_slot(count, ring->log) << ring->log_entry);
}

#endif /* VHCA_RING_H */
