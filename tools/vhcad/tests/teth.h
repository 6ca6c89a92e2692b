/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Two devices with an Ethernet port each, for tests of such ports.  Device n has the addresses
 * 52:54:00:00:00:n and, in its table: 0: 10.77.0.n, 1: fe80::n, 2: the first in VLAN 7.
 */
#ifndef VHCAD_TESTS_TETH_H
#define VHCAD_TESTS_TETH_H

#include "ether/ether.h"
#include "fabric/eth_internal.h"
#include "fabric/topo.h"
#include "res/dev.h"
#include "tests/thca.h"
#include "tests/tprog.h"

#define T_ETH_GIDS	3u
#define T_ETH_VLAN	7u

extern const u8 t_eth_mac[2][6];
extern const u8 t_eth_gid[2][T_ETH_GIDS][16];

/** t_eth_pair() - two devices whose ports are enabled, and a CQ each */
void t_eth_pair(struct tpair *p, bool strict);
/** t_eth_pair_over() - the same with the topology @t, to the ports t0:1 and t1:1; or NULL */
void t_eth_pair_over(struct tpair *p, bool strict, struct topo *t);
/**
 * struct t_eth_segment - a segment that the two devices share with network adapters of guests
 * @place: a folder with the socket for these adapters
 * @e: the segment; ether_start() is the test's to call, if it has adapters
 */
struct t_eth_segment {
	struct tprog_place *place;
	struct ether *e;
};

/** t_eth_segment() - a segment, and the devices of t_eth_pair_over() on it */
void t_eth_segment(struct t_eth_segment *s, struct tpair *p, struct topo *t);
/** t_eth_segment_end() - end both */
void t_eth_segment_end(struct t_eth_segment *s, struct tpair *p);
/** t_eth_set_gid() - SET_GID; returns the status */
u32 t_eth_set_gid(struct thca *h, u32 i, const u8 *mac, u16 vlan, const u8 *gid);
/** t_eth_clear_gid() - SET_GID that clears an entry; returns the status */
u32 t_eth_clear_gid(struct thca *h, u32 i);
/** t_eth_port() - MODIFY_PORT with these flags and this MTU; returns the status */
u32 t_eth_port(struct thca *h, u8 flags, u8 mtu);
/** t_eth_av() - from entry @i of the table to the same entry of device @to */
struct vhca_av t_eth_av(u32 to, u32 i);
/** t_eth_connect() - make a QP of type @type on each device, and connect them by entry @i */
void t_eth_connect(struct tpair *p, u8 type, u32 i);
/** t_eth_ud_up() - make a UD QP on each device and take both to RTS */
void t_eth_ud_up(struct tpair *p, u32 qkey);

#endif /* VHCAD_TESTS_TETH_H */
