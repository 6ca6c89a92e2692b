// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The two CRCs of a packet.
 *
 * The invariant CRC is CRC-32 over the packet with every bit that may change
 * on its way set to one.  With a GRH the whole LRH may change, as routers
 * replace it; without one only the virtual lane.  RoCEv2 has no LRH and puts
 * eight bytes of ones in its place.
 *
 * The variant CRC is CRC-16 with the polynomial 0x100b, least significant bit
 * first, over the packet as it is.
 */
#include <pthread.h>
#include <string.h>
#include <zlib.h>

#include "wire/wire.h"

#define VCRC_POLY_REFLECTED	0xd008u

static u16 vcrc_table[2][256];
static pthread_once_t vcrc_once = PTHREAD_ONCE_INIT;

static void vcrc_fill(void)
{
	for (u32 i = 0; i < 256; i++) {
		u16 crc = i;

		for (u32 bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ VCRC_POLY_REFLECTED : crc >> 1;
		vcrc_table[0][i] = crc;
	}
	for (u32 i = 0; i < 256; i++) {
		u16 crc = vcrc_table[0][i];

		vcrc_table[1][i] = vcrc_table[0][crc & 0xff] ^ crc >> 8;
	}
}

u16 wire_vcrc(const u8 *buf, u32 len)
{
	u16 crc = 0xffff;

	pthread_once(&vcrc_once, vcrc_fill);
	for (; len >= 2; len -= 2, buf += 2) {
		crc ^= buf[0] | buf[1] << 8;
		crc = vcrc_table[1][crc & 0xff] ^ vcrc_table[0][crc >> 8];
	}
	if (len)
		crc = vcrc_table[0][(crc ^ *buf) & 0xff] ^ crc >> 8;
	return ~crc;
}

static void mask_grh(u8 *grh)
{
	grh[0] |= 0x0f;			/* traffic class and flow label */
	memset(grh + 1, 0xff, 3);
	grh[7] = 0xff;			/* hop limit */
}

u32 wire_icrc(const u8 *buf, u32 len)
{
	u8 head[WIRE_LRH_LEN + WIRE_GRH_LEN + WIRE_BTH_LEN];
	u32 bth = WIRE_LRH_LEN, n;
	uLong crc;

	if ((buf[1] & 3) == WIRE_LNH_GLOBAL)
		bth += WIRE_GRH_LEN;
	n = MIN(bth + WIRE_BTH_LEN, len);
	memcpy(head, buf, n);
	if (bth > WIRE_LRH_LEN) {
		memset(head, 0xff, WIRE_LRH_LEN);
		mask_grh(head + WIRE_LRH_LEN);
	} else {
		head[0] |= 0xf0;
	}
	if (n > bth + 4)
		head[bth + 4] = 0xff;
	crc = crc32(0, head, n);
	return crc32(crc, buf + n, len - n);
}

int wire_icrc_roce(const u8 *buf, u32 len, u32 *icrc)
{
	u8 head[WIRE_LRH_LEN + 40 + 8 + WIRE_BTH_LEN];
	u8 *ip = head + WIRE_LRH_LEN;
	u32 iplen, n;
	uLong crc;

	if (len < 20)
		return -1;
	if (buf[0] == 0x45)
		iplen = 20;
	else if (buf[0] >> 4 == 6)
		iplen = 40;
	else
		return -1;
	n = iplen + 8 + WIRE_BTH_LEN;
	if (len < n || buf[iplen == 20 ? 9 : 6] != 17)
		return -1;

	memset(head, 0xff, WIRE_LRH_LEN);
	memcpy(ip, buf, n);
	if (iplen == 20) {
		ip[1] = 0xff;			/* type of service */
		ip[8] = 0xff;			/* time to live */
		ip[10] = 0xff;			/* header checksum */
		ip[11] = 0xff;
	} else {
		mask_grh(ip);
	}
	ip[iplen + 6] = 0xff;			/* UDP checksum */
	ip[iplen + 7] = 0xff;
	ip[iplen + 8 + 4] = 0xff;		/* BTH congestion bits */
	crc = crc32(0, head, WIRE_LRH_LEN + n);
	*icrc = crc32(crc, buf + n, len - n);
	return 0;
}
