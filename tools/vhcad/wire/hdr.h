/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The headers of a packet as all layers of wire/ have them.
 */
#ifndef VHCAD_WIRE_HDR_H
#define VHCAD_WIRE_HDR_H

#include "lib/types.h"

#define WIRE_MAC_LEN	6u
/* No VLAN has the number 4095. */
#define WIRE_NO_TAG	0xffffu

/**
 * struct wire_hdr - headers of a packet in native byte order
 *
 * The GRH fields count when @grh is set, the extended headers when the opcode
 * has them.  @imm stays in wire order: nobody interprets it.  @path is what all
 * packets from one QP to another share.
 */
struct wire_hdr {
	struct_group_tagged(wire_path, path,
		u8 vl;
		u8 sl;
		u16 dlid;
		u16 slid;
		u16 pkey;
		bool grh : 1;
		bool mig : 1;
		bool eth : 1;
		bool ipv4 : 1;		/* both GIDs are IPv4 addresses mapped to IPv6 */
		bool unsent : 1;	/* there is no address to send from */
		u8 tclass;
		u8 hop_limit;
		u32 dqpn;
		u32 sqpn;
		u32 flow_label;
		u8 sgid[16];
		u8 dgid[16];
		u8 dmac[WIRE_MAC_LEN];
		u8 smac[WIRE_MAC_LEN];
		u16 vlan;		/* tag: priority << 13 | VLAN; or WIRE_NO_TAG */
		u16 sport;		/* UDP port of the sender */
	);
	u8 opcode;
	bool se;
	bool ackreq;
	u8 syndrome;
	u32 psn;
	u32 qkey;
	u32 msn;
	u32 srqn;		/* XRC requests: of the receiver */
	u32 imm;
	u32 inv_key;
	u64 va;
	u32 rkey;
	u32 dmalen;
	u8 flush_type;		/* VHCA_FLUSH_*: the numbers are the wire's */
	u8 flush_level;
	u64 swap_add;
	u64 compare;
	u64 mask;		/* bits that are swapped, or the top bit of each field of a sum */
	u64 compare_mask;
	u64 orig;		/* the answer to an atomic */
};

enum wire_error {
	WIRE_OK,
	WIRE_SHORT,		/* lengths do not fit together */
	WIRE_BAD_HEADER,	/* version, next header or opcode unknown */
	WIRE_BAD_ICRC,
	WIRE_BAD_VCRC,
};

#endif /* VHCAD_WIRE_HDR_H */
