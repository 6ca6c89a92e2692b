/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Arithmetic of the rings in host memory: admin, event, completion, send and receive queues.
 *
 * All rings hold a power of two of entries. Producer and consumer positions are counts that start
 * at 0 and never wrap (64 bits); the place in the ring is the count modulo the number of entries.
 * Rings the device produces into say which entries are valid by a lap bit in the entry.
 */
#ifndef VHCA_RING_H
#define VHCA_RING_H

#include <linux/bits.h>
#include <linux/types.h>

/**
 * vhca_ring_slot - place of an entry in its ring
 * @count: the entry's count
 * @log: log2 of the entries of the ring
 *
 * Return: index of the entry, 0..2^log - 1.
 */
static inline u32 vhca_ring_slot(u64 count, u8 log)
{
	return count & (BIT_ULL(log) - 1);
}

/**
 * vhca_ring_lap - value the lap bit of a freshly written entry has
 * @count: the entry's count
 * @log: log2 of the entries of the ring
 *
 * Return: 1 on the first lap (rings start zeroed), 0 on the second, and so on.
 */
static inline u8 vhca_ring_lap(u64 count, u8 log)
{
	return !((count >> log) & 1);
}

/**
 * vhca_ring_fresh - tell whether the device has written an entry
 * @owner: byte of the entry that carries the lap in bit 0, read once
 * @count: the entry's count
 * @log: log2 of the entries of the ring
 *
 * Return: true when the entry belongs to this lap.
 */
static inline bool vhca_ring_fresh(u8 owner, u64 count, u8 log)
{
	return (owner & 1) == vhca_ring_lap(count, log);
}

/**
 * vhca_ring_room - free entries of a ring the host produces into
 * @head: producer count
 * @tail: count up to which entries are finished
 * @log: log2 of the entries of the ring
 *
 * Return: entries that may be produced now.
 */
static inline u64 vhca_ring_room(u64 head, u64 tail, u8 log)
{
	return BIT_ULL(log) - (head - tail);
}

/**
 * vhca_ring_widen - recover a count from its low 32 bits
 * @tail: a count known to be at or before the wanted one
 * @low: low 32 bits of the wanted count
 *
 * Return: the smallest count at or after @tail that has these low bits.
 */
static inline u64 vhca_ring_widen(u64 tail, u32 low)
{
	return tail + ((low - tail) & U32_MAX);
}

/**
 * vhca_ring_pending - check that a count lies among the unfinished entries
 * @count: count just past an entry, as the device reported it
 * @head: producer count
 * @tail: count up to which entries are finished
 *
 * Return: true for tail < count <= head.
 */
static inline bool vhca_ring_pending(u64 count, u64 head, u64 tail)
{
	return count > tail && count <= head;
}

#endif /* VHCA_RING_H */
