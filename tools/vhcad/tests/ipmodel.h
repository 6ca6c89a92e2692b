/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A model of TCP and UDP over IPoIB, to compare the device with: it builds packets from their
 * fields, and never parses any.
 */
#ifndef VHCAD_TESTS_IPMODEL_H
#define VHCAD_TESTS_IPMODEL_H

#include "lib/types.h"

#define IPM_MAX_HEADER	124u

/**
 * struct ip_model - a packet
 * @v6: IPv6
 * @tcp: TCP, else UDP
 * @ip_words: words of IPv4 options, up to 10
 * @tcp_words: words of TCP options, up to 10
 * @tcp_flags: as in the header
 * @id: IPv4 identification
 * @seq: of TCP
 * @seed: of addresses, ports and options
 * @data: payload
 * @len: bytes of it
 */
struct ip_model {
	bool v6, tcp;
	u32 ip_words, tcp_words;
	u8 tcp_flags;
	u16 id;
	u32 seq;
	u64 seed;
	const u8 *data;
	u32 len;
};

/** ipm_random() - draw a packet; @state as of t_random() */
struct ip_model ipm_random(u64 *state);
/** ipm_header_len() - bytes of the headers, that of IPoIB included */
u32 ipm_header_len(const struct ip_model *m);
/** ipm_build() - write a packet with its checksums; returns its bytes */
u32 ipm_build(const struct ip_model *m, u8 *p);
/** ipm_spoil_sums() - replace the checksums of a packet by others */
void ipm_spoil_sums(const struct ip_model *m, u8 *p);
/** ipm_segments() - segments of a packet of TCP */
u32 ipm_segments(const struct ip_model *m, u32 mss);
/** ipm_segment() - the packet that segment @i is */
struct ip_model ipm_segment(const struct ip_model *m, u32 i, u32 mss);

#endif /* VHCAD_TESTS_IPMODEL_H */
