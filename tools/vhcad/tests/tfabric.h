/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A fabric with a topology, and ports that record what arrives; for tests of fabric/ and subnet/.
 */
#ifndef VHCAD_TESTS_TFABRIC_H
#define VHCAD_TESTS_TFABRIC_H

#include "fabric/eth_internal.h"
#include "fabric/pipe.h"
#include "tests/cm.h"
#include "tests/ttopo.h"

#define USEC	1000ull
#define MSEC	1000000ull
#define SEC	1000000000ull
#define ENDS	6u
#define MLID	0xc123u
#define T_VLAN	7u
#define LONG	1024u		/* bytes of payload */

/* A port, and the packets that have arrived there. */
struct t_end {
	struct fab_port port;
	u32 n;
	u32 psn[4096];
	u16 slid[4096];
	u64 at[4096];
	u32 mcasts;
};

struct t_fabric {
	struct fabric *f;
	struct topo *t;
	struct t_end e[ENDS];
	u32 nends;
	u64 now;
	u32 psn;
	u8 sl;				/* of what is sent */
	u16 vlan;			/* the same, over Ethernet; 0: none */
};

/* Three switches that form a triangle, with two ports each. */
extern const struct t_link t_triangle[];

/**
 * t_plug() - plug one more port in
 *
 * One of Ethernet has the address 02:00:00:00:00:0N, and the GID fe80::N without a VLAN and in
 * T_VLAN.
 */
void t_plug(struct t_fabric *f, const char *name);
/** t_begin() - a fabric with a static subnet, without ports; t_plug_all() - all of its topology */
void t_begin(struct t_fabric *f, struct topo *t);
void t_plug_all(struct t_fabric *f);
/** t_start() - both: all ports of @t are plugged in, in its order */
void t_start(struct t_fabric *f, struct topo *t);
/** t_end() - free it; no packet may be under way */
void t_end(struct t_fabric *f);
/** t_send_to() - a port sends one packet with @len bytes of payload to a LID */
void t_send_to(struct t_fabric *f, u32 from, u16 dlid, u32 len);
/** t_send_packet() - the same to the LID of another port */
void t_send_packet(struct t_fabric *f, u32 from, u32 to, u32 len);
/** t_size_of() - bytes on the wire of a packet of t_send_packet() over InfiniBand */
u64 t_size_of(u32 len);
/** t_send_group() - an Ethernet port sends a packet to a group that all ports have joined */
void t_send_group(struct t_fabric *f, u32 from, u32 len);
/** t_frame_size() - bytes on the wire of a packet of t_send_packet() over Ethernet */
u64 t_frame_size(u32 len);
/** t_pass_until() - let time pass, with all events at their times */
void t_pass_until(struct t_fabric *f, u64 until);
/** t_pass() - let @ns pass */
void t_pass(struct t_fabric *f, u64 ns);
/** t_expect_parts() - each port sends to each, and ports in the same part receive it */
void t_expect_parts(struct t_fabric *f, const u32 part[ENDS]);
/** t_link_state() - the state of a link by its name */
struct fab_link_state t_link_state(struct t_fabric *f, const char *name);
/** t_let() - take a link between switches down, or up */
void t_let(struct t_fabric *f, const char *link, bool up);

#endif /* VHCAD_TESTS_TFABRIC_H */
