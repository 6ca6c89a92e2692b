/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The link layer of InfiniBand: local and global route header.
 */
#ifndef VHCAD_WIRE_LINK_H
#define VHCAD_WIRE_LINK_H

#include "wire/hdr.h"

#define WIRE_LRH_LEN	8u
#define WIRE_GRH_LEN	40u
#define WIRE_ICRC_LEN	4u
#define WIRE_VCRC_LEN	2u

#define WIRE_LNH_LOCAL	2u
#define WIRE_LNH_GLOBAL	3u
#define WIRE_NXTHDR_IBA	0x1bu

/** link_len() - bytes of LRH and, if there is one, GRH */
static inline u32 link_len(bool grh)
{
	return WIRE_LRH_LEN + (grh ? WIRE_GRH_LEN : 0);
}

/**
 * link_put() - write LRH and GRH
 * @h: headers
 * @end: bytes of the packet up to its VCRC
 * @buf: link_len() bytes
 */
void link_put(const struct wire_hdr *h, u32 end, u8 *buf);

/** link_put_grh() - write the GRH alone: WIRE_GRH_LEN bytes; for @end see link_put() */
void link_put_grh(const struct wire_hdr *h, u32 end, u8 *buf);

/**
 * link_parse() - read LRH and GRH
 * @buf: at least an LRH, and an ICRC behind it
 * @end: bytes of the packet up to its VCRC
 * @h: receives them
 *
 * Returns enum wire_error.
 */
int link_parse(const u8 *buf, u32 end, struct wire_hdr *h);

#endif /* VHCAD_WIRE_LINK_H */
