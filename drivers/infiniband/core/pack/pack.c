// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fields of headers: from members of a structure to bits of a packet, and back.
 */
#include <linux/bits.h>
#include <linux/minmax.h>
#include <linux/string.h>
#include <rdma/ib_pack.h>

/* Reads up to eight bits, counted from the most significant bit of the first byte. */
static u8 get_bits(const u8 *from, unsigned int bit, unsigned int n)
{
	unsigned int before = bit & 7, two = from[bit / 8] << 8;

	if (before + n > 8)
		two |= from[bit / 8 + 1];
	return two >> (16 - before - n) & GENMASK(n - 1, 0);
}

/* Writes bits within one byte. */
static void put_bits(u8 *to, unsigned int bit, unsigned int n, u8 value)
{
	unsigned int below = 8 - (bit & 7) - n;

	to[bit / 8] &= ~(GENMASK(n - 1, 0) << below);
	to[bit / 8] |= value << below;
}

static void move_bytes(u8 *to, const u8 *from, unsigned int bytes)
{
	if (from)
		memcpy(to, from, bytes);
	else
		memset(to, 0, bytes);
}

/* Copies bits; writes zeros if @from is NULL, with @from_bit 0. */
static void move_bits(u8 *to, unsigned int to_bit, const u8 *from, unsigned int from_bit,
		      unsigned int bits)
{
	if (!((to_bit | from_bit | bits) & 7)) {
		move_bytes(to + to_bit / 8, from ? from + from_bit / 8 : NULL, bits / 8);
		return;
	}
	while (bits) {
		unsigned int n = min(bits, 8 - (to_bit & 7));

		put_bits(to, to_bit, n, from ? get_bits(from, from_bit, n) : 0);
		to_bit += n;
		from_bit += n;
		bits -= n;
	}
}

/* A member is in network order, so its value is in its last bits. */
static unsigned int member_bit(const struct ib_field *field)
{
	return field->struct_size_bytes * 8 - field->size_bits;
}

static void pack_field(const struct ib_field *field, void *structure, void *buf)
{
	u8 *to = (u8 *)buf + 4 * field->offset_words, *from = NULL;

	if (field->struct_size_bytes)
		from = (u8 *)structure + field->struct_offset_bytes;
	move_bits(to, field->offset_bits, from, from ? member_bit(field) : 0, field->size_bits);
}

static void unpack_field(const struct ib_field *field, void *buf, void *structure)
{
	u8 *to = (u8 *)structure + field->struct_offset_bytes;

	if (!field->struct_size_bytes)
		return;
	memset(to, 0, field->struct_size_bytes);
	move_bits(to, member_bit(field), (u8 *)buf + 4 * field->offset_words, field->offset_bits,
		  field->size_bits);
}

/**
 * ib_pack() - write a structure as a packed header
 * @desc: fields; those without a member are written as 0
 * @desc_len: their number
 * @structure: members in network byte order
 * @buf: receives the header; bits without a field are unchanged
 *
 * Context: any.
 */
void ib_pack(const struct ib_field *desc, int desc_len, void *structure, void *buf)
{
	for (int i = 0; i < desc_len; i++)
		pack_field(&desc[i], structure, buf);
}
EXPORT_SYMBOL(ib_pack);

/**
 * ib_unpack() - read a packed header into a structure
 * @desc: fields; those without a member are skipped
 * @desc_len: their number
 * @buf: the header
 * @structure: receives the members, in network byte order; others are unchanged
 *
 * Context: any.
 */
void ib_unpack(const struct ib_field *desc, int desc_len, void *buf, void *structure)
{
	for (int i = 0; i < desc_len; i++)
		unpack_field(&desc[i], buf, structure);
}
EXPORT_SYMBOL(ib_unpack);
