/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * IP packets in datagrams of IPoIB: their checksums, and segments of TCP.
 */
#ifndef VHCAD_WIRE_IP_H
#define VHCAD_WIRE_IP_H

#include "lib/types.h"

/**
 * struct ip_frame - where the parts of a TCP or UDP packet are in a datagram of IPoIB
 * @v6: IPv6
 * @tcp: TCP, else UDP
 * @head: bytes in front of what TCP or UDP carries
 * @l4: where the header of TCP or UDP starts
 * @end: behind the last byte of the IP packet
 */
struct ip_frame {
	bool v6, tcp;
	u32 head;
	u32 l4;
	u32 end;
};

/* Bytes that ip_front() looks at. */
#define IP_FRONT	4u

/** ip_front() - may a datagram that begins so be one of IPoIB with an IP packet? */
bool ip_front(const u8 *p);

/**
 * ip_find() - is this a datagram of IPoIB with a whole TCP or UDP packet?
 * @p: datagram, from the IPoIB header on
 * @len: its bytes
 * @f: filled in
 *
 * Not valid are fragments, and IPv6 with extension headers.  Options of IPv4 and of TCP are
 * allowed.
 *
 * Return: whether it is.
 */
bool ip_find(const u8 *p, u32 len, struct ip_frame *f);

/** ip_set_sums() - store the checksums of a datagram, that of the IPv4 header too */
void ip_set_sums(u8 *p, const struct ip_frame *f);

/** ip_sums_ok() - has a datagram a checksum of TCP or UDP, and are it and that of IPv4 right? */
bool ip_sums_ok(const u8 *p, const struct ip_frame *f);

/**
 * ip_segment() - make one of the segments of a large TCP packet
 * @p: datagram: the header of the large packet, and the bytes of the segment
 * @hlen: bytes of the header, with that of IPoIB
 * @len: bytes of the datagram
 * @i: which segment, from 0 on
 * @mss: payload of each but the last
 * @last: it is the last one
 * @f: filled in
 *
 * Sets what differs between segments, apart from checksums: lengths, the IPv4 identification, the
 * sequence number; FIN and PSH are of the last segment alone, CWR of the first.
 *
 * Return: true if the header is that of TCP, with nothing behind it.
 */
bool ip_segment(u8 *p, u32 hlen, u32 len, u32 i, u32 mss, bool last, struct ip_frame *f);

#endif /* VHCAD_WIRE_IP_H */
