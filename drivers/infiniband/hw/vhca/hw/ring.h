/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Rings in host memory: what the driver needs beside the arithmetic that it shares with the device
 * and the provider.
 */
#ifndef VHCA_RING_H
#define VHCA_RING_H

#include <linux/bits.h>
#include <linux/types.h>
#include <rdma/vhca-ring.h>

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
