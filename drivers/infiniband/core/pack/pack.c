// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Fields of headers: from members of a structure to bits of a packet, and back.
 */
#include <linux/string.h>
#include <rdma/ib_pack.h>

/* Does the field consist of whole bytes? */
static bool field_is_bytes(const struct ib_field *field)
{
	return !((field->offset_bits | field->size_bits) & 7);
}

static u8 *packet_byte(const struct ib_field *field, void *buf, int bit)
{
	return (u8 *)buf + 4 * field->offset_words + (field->offset_bits + bit) / 8;
}

/* Mask of bit number @bit of the field, from its most significant, in its byte. */
static u8 packet_mask(const struct ib_field *field, int bit)
{
	return 0x80 >> ((field->offset_bits + bit) & 7);
}

/*
 * A member is in network order, so the last bytes of it are those that count.  Bit @bit
 * of the field, from its most significant, stands so far from the member's end.
 */
static u8 *member_byte(const struct ib_field *field, void *structure, int bit)
{
	return (u8 *)structure + field->struct_offset_bytes + field->struct_size_bytes - 1 -
	       (field->size_bits - 1 - bit) / 8;
}

static u8 member_mask(const struct ib_field *field, int bit)
{
	return 1 << ((field->size_bits - 1 - bit) & 7);
}

static void put_bit(u8 *byte, u8 mask, bool set)
{
	if (set)
		*byte |= mask;
	else
		*byte &= ~mask;
}

static void pack_field(const struct ib_field *field, void *structure, void *buf)
{
	bool reserved = !field->struct_size_bytes;

	if (field_is_bytes(field)) {
		u8 *to = packet_byte(field, buf, 0);

		if (reserved)
			memset(to, 0, field->size_bits / 8);
		else
			memcpy(to, member_byte(field, structure, 0), field->size_bits / 8);
		return;
	}
	for (int bit = 0; bit < field->size_bits; bit++)
		put_bit(packet_byte(field, buf, bit), packet_mask(field, bit),
			!reserved && (*member_byte(field, structure, bit) &
				      member_mask(field, bit)));
}

static void unpack_field(const struct ib_field *field, void *buf, void *structure)
{
	if (!field->struct_size_bytes)
		return;
	memset(structure + field->struct_offset_bytes, 0, field->struct_size_bytes);
	if (field_is_bytes(field)) {
		memcpy(member_byte(field, structure, 0), packet_byte(field, buf, 0),
		       field->size_bits / 8);
		return;
	}
	for (int bit = 0; bit < field->size_bits; bit++)
		put_bit(member_byte(field, structure, bit), member_mask(field, bit),
			*packet_byte(field, buf, bit) & packet_mask(field, bit));
}

/**
 * ib_pack() - write a structure as a packed header
 * @desc: fields; those without a member are written as 0
 * @desc_len: their number
 * @structure: members in network byte order
 * @buf: receives the header; bits that no field names stay as they are
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
 * @desc: fields; those without a member are passed over
 * @desc_len: their number
 * @buf: the header
 * @structure: receives the members, in network byte order; others stay as they are
 *
 * Context: any.
 */
void ib_unpack(const struct ib_field *desc, int desc_len, void *buf, void *structure)
{
	for (int i = 0; i < desc_len; i++)
		unpack_field(&desc[i], buf, structure);
}
EXPORT_SYMBOL(ib_unpack);
