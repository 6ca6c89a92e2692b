/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The transport layer: BTH and the headers behind it, sequence numbers.
 */
#ifndef VHCAD_WIRE_TRANSPORT_H
#define VHCAD_WIRE_TRANSPORT_H

#include "wire/hdr.h"
#include "wire/opcode.h"

#define WIRE_BTH_LEN	12u

/* The longest run of these headers. */
#define WIRE_MAX_TRANSPORT	(WIRE_BTH_LEN + WIRE_ATOMIC_LEN + WIRE_MASKS_LEN)

#define PSN_BITS	24
#define PSN_MASK	0xffffffu

static inline u32 psn_add(u32 psn, u32 n)
{
	return (psn + n) & PSN_MASK;
}

/* a - b as a signed 24-bit distance */
static inline s32 psn_diff(u32 a, u32 b)
{
	return (s32)((a - b) << 8) >> 8;
}

/* AETH syndromes. */
#define AETH_TYPE_MASK		0x60u
#define AETH_ACK		0x00u
#define AETH_RNR_NAK		0x20u
#define AETH_NAK		0x60u
#define AETH_VALUE_MASK		0x1fu
#define AETH_CREDIT_INVALID	0x1fu

enum aeth_nak {
	NAK_PSN_SEQUENCE	= 0,
	NAK_INVALID_REQUEST	= 1,
	NAK_REMOTE_ACCESS	= 2,
	NAK_REMOTE_OPERATIONAL	= 3,
	NAK_INVALID_RD		= 4,
};

/** transport_len() - bytes of the BTH and of the headers that an opcode has behind it */
static inline u32 transport_len(u8 opcode)
{
	return WIRE_BTH_LEN + wire_op(opcode)->ext_len;
}

/**
 * transport_put() - write these headers
 * @h: headers
 * @pad: bytes of padding behind the payload
 * @buf: transport_len() bytes
 */
void transport_put(const struct wire_hdr *h, u32 pad, u8 *buf);

/**
 * transport_parse() - read these headers
 * @buf: BTH to the end of the padding
 * @len: bytes of that
 * @h: receives them
 * @pad: receives bytes of padding
 *
 * Returns enum wire_error.
 */
int transport_parse(const u8 *buf, u32 len, struct wire_hdr *h, u32 *pad);

#endif /* VHCAD_WIRE_TRANSPORT_H */
