// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fields of management datagrams.
 */
#include "wire/mad.h"

/* The bits of one byte that belong to a field. */
struct part {
	u32 bits;
	u32 shift;	/* of them, to the right, in the byte */
};

/* The part of a field in the byte of its bit @at, if it ends at @end. */
static struct part part_of(u32 at, u32 end)
{
	u32 stop = MIN(end, (at / 8 + 1) * 8);

	return (struct part){ .bits = stop - at, .shift = -stop & 7 };
}

u64 mad_get(const u8 *base, u32 field)
{
	u32 at = field >> 8, end = at + (field & 0xff);
	u64 value = 0;

	while (at < end) {
		struct part p = part_of(at, end);

		value = value << p.bits | (base[at / 8] >> p.shift & ((1u << p.bits) - 1));
		at += p.bits;
	}
	return value;
}

void mad_put(u8 *base, u32 field, u64 value)
{
	u32 at = field >> 8, end = at + (field & 0xff);

	while (at < end) {
		struct part p = part_of(at, end);
		u32 mask = (1u << p.bits) - 1;

		base[at / 8] &= ~(mask << p.shift);
		base[at / 8] |= (value >> (end - at - p.bits) & mask) << p.shift;
		at += p.bits;
	}
}
