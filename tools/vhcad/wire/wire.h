/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Packets as bytes, all layers of them: headers, payload, padding and CRCs.  InfiniBand's have LRH,
 * perhaps GRH, and two CRCs; those of RoCEv2 are Ethernet frames and have one.  Pure code: nothing
 * here knows devices, queues or guest memory.
 */
#ifndef VHCAD_WIRE_H
#define VHCAD_WIRE_H

#include "lib/bytes.h"
#include "wire/link.h"
#include "wire/roce.h"
#include "wire/transport.h"

/* Longest run of headers, and longest packet with 4096 bytes of payload. */
#define WIRE_MAX_HDR	(ROCE_MAX_LEN + WIRE_MAX_TRANSPORT)
#define WIRE_MAX_MTU	4096u
#define WIRE_MAX_PKT	(WIRE_MAX_HDR + WIRE_MAX_MTU + WIRE_ICRC_LEN + WIRE_VCRC_LEN)

/**
 * wire_hdr_len() - bytes of all headers before the payload
 * @h: headers
 */
u32 wire_hdr_len(const struct wire_hdr *h);

/**
 * wire_put() - write the headers of a packet
 * @h: headers
 * @paylen: bytes of payload that will follow
 * @buf: at least wire_hdr_len() bytes
 *
 * Returns wire_hdr_len().
 */
u32 wire_put(const struct wire_hdr *h, u32 paylen, u8 *buf);

/**
 * wire_put_grh() - write the GRH of a packet, or the bytes that a receiver gets in its place
 * @h: headers, with a GRH; the opcode counts
 * @paylen: bytes of payload of the packet
 * @buf: WIRE_GRH_LEN bytes; of RoCEv2 they are the IPv6 header, or end in the IPv4 header
 */
void wire_put_grh(const struct wire_hdr *h, u32 paylen, u8 *buf);

/**
 * wire_seal() - pad a packet of InfiniBand and add both CRCs
 * @buf: headers and payload
 * @hdrlen: what wire_put() returned
 * @paylen: as given to wire_put()
 *
 * Returns the length of the whole packet.
 */
u32 wire_seal(u8 *buf, u32 hdrlen, u32 paylen);

/** wire_seal_roce() - pad a frame of RoCEv2 and add its ICRC; as wire_seal() */
u32 wire_seal_roce(u8 *buf, u32 hdrlen, u32 paylen);

/**
 * wire_len() - length of a whole packet of InfiniBand
 * @opcode: BTH opcode
 * @grh: with a GRH
 * @paylen: bytes of payload
 */
u32 wire_len(u8 opcode, bool grh, u32 paylen);

/** wire_path_len() - length of a whole packet that takes this path, of either kind */
u32 wire_path_len(const struct wire_path *path, u8 opcode, u32 paylen);

/**
 * wire_parse() - read a packet of InfiniBand
 * @buf: LRH to VCRC
 * @len: bytes
 * @h: headers
 * @payload: where the payload starts in @buf
 * @paylen: bytes of payload without padding
 *
 * Returns enum wire_error.
 */
int wire_parse(const u8 *buf, u32 len, struct wire_hdr *h, u32 *payload, u32 *paylen);

/**
 * wire_parse_roce() - read a frame
 * @buf: from the destination's address on; bytes may follow the packet
 * @len: bytes
 * @h: headers
 * @payload: where the payload starts in @buf
 * @paylen: bytes of payload without padding
 *
 * Returns enum wire_error; WIRE_BAD_HEADER as well for frames that are not RoCEv2's.
 */
int wire_parse_roce(const u8 *buf, u32 len, struct wire_hdr *h, u32 *payload, u32 *paylen);

/**
 * wire_vcrc() - variant CRC
 * @buf: LRH to ICRC
 * @len: bytes
 *
 * Returns it as the two bytes in memory, first one low.
 */
u16 wire_vcrc(const u8 *buf, u32 len);

/**
 * wire_icrc() - invariant CRC of a packet with LRH
 * @buf: LRH to the last byte of padding
 * @len: bytes
 *
 * Returns it as the four bytes in memory, first one low.
 */
u32 wire_icrc(const u8 *buf, u32 len);

/**
 * wire_icrc_roce() - invariant CRC of a RoCEv2 packet
 * @buf: IPv4 or IPv6 header to the last byte of padding
 * @len: bytes
 *
 * Returns 0 and the CRC in @icrc, or -1 if @buf is no IP packet with a plain
 * header and UDP.
 */
int wire_icrc_roce(const u8 *buf, u32 len, u32 *icrc);

#endif /* VHCAD_WIRE_H */
