/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * Arithmetic of the rings that the host shares with a VHCA device, for the driver,
 * the user space provider and the daemon.
 *
 * The number of entries of a ring is a power of two.  Positions are counts that
 * start at 0 and never wrap, as they have 64 bits; an entry's index in the ring is
 * its count modulo the number of entries.  In a ring that the device writes, a lap
 * bit in each entry says whether the entry was written in this lap.
 */
#ifndef VHCA_RING_USER_H
#define VHCA_RING_USER_H

#include <linux/types.h>
#include <rdma/vhca-abi.h>

/**
 * vhca_ring_slot() - get the index of an entry in its ring
 * @count: the entry's count
 * @log: log2 of the entries of the ring
 *
 * Return: index of the entry, 0 to 2^@log - 1.
 */
static inline __u32 vhca_ring_slot(__u64 count, __u8 log)
{
	return count & ((1ULL << log) - 1);
}

/**
 * vhca_ring_lap() - get the lap bit that the device writes into an entry
 * @count: the entry's count
 * @log: log2 of the entries of the ring
 *
 * Return: 1 in the first lap (the ring starts as zeroes), 0 in the second, and so on.
 */
static inline __u8 vhca_ring_lap(__u64 count, __u8 log)
{
	return !((count >> log) & 1);
}

/**
 * vhca_ring_fresh() - has the device written this entry in this lap?
 * @owner: byte of the entry that has the lap bit in bit 0, read once
 * @count: the entry's count
 * @log: log2 of the entries of the ring
 *
 * Return: nonzero if so.
 */
static inline int vhca_ring_fresh(__u8 owner, __u64 count, __u8 log)
{
	return (owner & 1) == vhca_ring_lap(count, log);
}

/**
 * vhca_ring_widen() - get a count of which only the low 32 bits are known
 * @base: a count that is not larger than it
 * @low: low 32 bits of the wanted count
 *
 * Return: the smallest count that is not below @base and has these low bits.
 */
static inline __u64 vhca_ring_widen(__u64 base, __u32 low)
{
	return base + ((low - base) & 0xffffffff);
}

/**
 * vhca_arm_next_seq() - get the sequence number of the next arm record
 * @seq: that of the last record, 0 if there was none
 *
 * Return: 1 to VHCA_ARM_SEQ_MASK.  0 is the number of a record that was never
 * stored, which arms nothing.
 */
static inline __u32 vhca_arm_next_seq(__u32 seq)
{
	return seq == VHCA_ARM_SEQ_MASK ? 1 : seq + 1;
}

#endif /* VHCA_RING_USER_H */
