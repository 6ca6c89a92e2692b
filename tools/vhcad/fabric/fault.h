/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults of links that somebody asked for.
 *
 * Which packets a fault strikes follows from its seed and from how many packets have met it before,
 * and from nothing else: the same packets in the same order meet the same faults.  While no fault
 * is armed, none of this runs.
 */
#ifndef VHCAD_FABRIC_FAULT_H
#define VHCAD_FABRIC_FAULT_H

#include "lib/types.h"
#include "wire/wire.h"

struct fabric;
struct fab_port;
struct fab_link;

#define FAB_MAX_FAULTS		32u
#define FAB_MAX_USEC		60000000u
#define FAB_MAX_MS		86400000u
#define FAB_MAX_COUNT		1000000000u
#define FAB_LAST_QPN		0xffffffu
#define FAB_LAST_CLASS		0xffu

enum fab_fault_kind {
	FAB_LOSS,
	FAB_DELAY,		/* it takes longer, and packets behind it wait for it */
	FAB_REORDER,		/* it takes longer, and packets behind it overtake it */
	FAB_DUPLICATE,
	FAB_CORRUPT,		/* one bit arrives wrong */
	FAB_STALL,		/* nothing gets through for a while, this one included */
	FAB_FLAP,		/* the link is down for a while; packets on it and to it are lost */
	FAB_FAULT_KINDS,
};

/* Direction along the port's cable. */
enum fab_direction {
	FAB_BOTH,
	FAB_OUT,
	FAB_IN,
};

/**
 * struct fab_fault - a fault of links
 * @kind: enum fab_fault_kind
 * @port: port whose link it is; NULL: every link
 * @link: one between switches of a topology, and @port is NULL
 * @direction: enum fab_direction, as @port sees it; for @link, out is from its first end to the
 *	second one.  A fault of every link strikes a packet only once, as it leaves its adapter
 * @opcode: only packets whose opcode's name has these words, see wire_named(); empty: all
 * @mgmt_class: only management packets of this class: MADs to QP 0 or 1; 0: all packets
 * @has_dqpn: only packets to QP @dqpn
 * @permille: how many of a thousand packets it strikes, 1 to 1000
 * @seed: with another seed it strikes other packets
 * @skip: packets that are let by first
 * @count: packets it strikes before it is disarmed; 0: no end
 * @usec: duration for FAB_DELAY, FAB_REORDER, FAB_STALL, FAB_FLAP; at least 1.  For FAB_DUPLICATE:
 *	how much later the second copy arrives; may be 0
 * @jitter: random part that is added to @usec, up to this many us
 * @after: ms from arming until it begins
 * @until: ms from arming until it ends, 0: it does not
 */
struct fab_fault {
	u32 kind;
	u32 direction;
	struct fab_port *port;
	struct fab_link *link;
	char opcode[WIRE_NAME_MAX];
	u32 mgmt_class;
	u32 dqpn;
	bool has_dqpn;
	u32 permille;
	u32 seed;
	u32 skip;
	u32 count;
	u32 usec;
	u32 jitter;
	u32 after;
	u32 until;
	u64 struck;		/* packets so far; 0 when it is armed */
};

/**
 * fab_fault_wrong() - what is wrong with a fault
 * @fault: fault
 *
 * Returns NULL if nothing is.
 */
const char *fab_fault_wrong(const struct fab_fault *fault);

/**
 * fab_fault_arm() - arm a fault
 * @f: fabric
 * @fault: copied
 *
 * Returns 0; -EINVAL if fab_fault_wrong(), -ENOSPC when FAB_MAX_FAULTS are armed, -ENOMEM.
 */
int fab_fault_arm(struct fabric *f, const struct fab_fault *fault);

/**
 * fab_fault_clear() - disarm faults
 * @f: fabric
 * @port: those of its link; NULL and no @link: those of every link
 * @link: those of a link between switches
 *
 * Packets that are delayed already arrive as delayed, and a link that is down comes up at its time.
 */
void fab_fault_clear(struct fabric *f, const struct fab_port *port, const struct fab_link *link);

/**
 * fab_fault_list() - what is armed
 * @f: fabric
 * @port: at its link; NULL and no @link: at every link
 * @link: at a link between switches
 * @out: receives the faults in the order of arming, with what is left of their counts
 *
 * Faults whose time is over are not listed.  Returns their number.
 */
u32 fab_fault_list(struct fabric *f, const struct fab_port *port, const struct fab_link *link,
		   struct fab_fault out[FAB_MAX_FAULTS]);

#endif /* VHCAD_FABRIC_FAULT_H */
