/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Subnet management and performance management agents, which answer management datagrams in an
 * HCA's port and in a switch, as firmware does.
 *
 * There is one for each port of an HCA, which the HCA makes, and one for each switch, which
 * subnet_agents() makes.  An agent changes ports and tables by the functions of port/port.h and
 * fabric/switch.h.  What it sends leaves when the fabric is polled.
 *
 * Everything here runs under the engine's lock, except agent_rx(), agent_bad_pkey() and
 * agent_bad_qkey(), which any thread of the engine may call for a port of its own.
 */
#ifndef VHCAD_SUBNET_AGENT_H
#define VHCAD_SUBNET_AGENT_H

#include "fabric/fabric.h"
#include "lib/timer.h"
#include "wire/mad.h"

struct agents;
struct agent_counts;

/**
 * struct agent_node - the node that an agent belongs to
 * @type: enum mad_node_type
 * @nports: its ports; of a switch, without port 0
 * @revision: of the device
 * @device_id: of the device, as its vendor counts
 * @vendor_id: 24 bits
 * @system_guid: system image GUID
 * @node_guid: node GUID
 * @desc: node description, 64 bytes; read at each use
 */
struct agent_node {
	u8 type;
	u8 nports;
	u16 device_id;
	u32 revision;
	u32 vendor_id;
	u64 system_guid;
	u64 node_guid;
	const u8 *desc;
};

/* Traps that an agent may have to repeat at the same time, one of each kind. */
#define AGENT_TRAPS	6u

/**
 * struct agent_trap - a trap that is repeated until a manager represses it
 * @number: enum mad_trap; 0: none
 * @sent: how often it has been sent
 * @due: when it is sent next, in engine time
 * @tid: its transaction ID; a newer trap of this kind has another
 * @notice: the Notice attribute
 */
struct agent_trap {
	u16 number;
	u16 sent;
	u64 due;
	u64 tid;
	u8 notice[SMP_DATA_LEN];
};

/**
 * struct agent - an agent
 * @all: all agents of its fabric
 * @node: its node
 * @port: port of an HCA; NULL: the agent is a switch's
 * @sw: the switch
 * @lease_ends: when the M_Key's lease period ends and with it the protection; 0: none runs
 * @trap_timer: sends traps
 * @trap: traps under way
 * @down_timer: takes @down down, once the reply to the request for it has left by that port
 * @down: a port that is to go down; NULL: none
 * @down_phys: its new physical state; 0: it only bounces
 * @base: values at which the performance counters were 0
 * @dropped: management packets that could not be answered: malformed, or too many at a time
 */
struct agent {
	struct agents *all;
	const struct agent_node *node;
	struct fab_port *port;
	u32 sw;
	u64 lease_ends;
	struct timer trap_timer;
	struct agent_trap trap[AGENT_TRAPS];
	struct timer down_timer;
	struct port *down;
	u8 down_phys;
	struct agent_counts *base;
	u64 dropped;
};

/**
 * subnet_agents() - let the switches of a fabric answer management datagrams
 * @f: fabric; a topology has been given to it
 *
 * Ends with the fabric.  Does nothing if it was called before, by agent_init() for example.
 * Returns 0 or -ENOMEM.
 */
int subnet_agents(struct fabric *f);

/**
 * agent_init() - make the agent of an HCA's port
 * @a: filled in
 * @node: the HCA; stays the caller's, and must outlive the agent
 * @port: plugged in; its capability mask gets the bits of the agent's functions
 *
 * Returns 0 or -ENOMEM.  agent_fini() must follow on success, before the port is unplugged.
 */
int agent_init(struct agent *a, const struct agent_node *node, struct fab_port *port);

/** agent_fini() - drop what the agent has still to send */
void agent_fini(struct agent *a);

/* What agent_mad() has done; 0: the datagram is not for the device, but for its host. */
#define AGENT_CONSUMED	1u	/* there is no reply */
#define AGENT_REPLY	2u	/* there is a reply */

/* Do not compare keys: the request comes from the host that owns the HCA. */
#define AGENT_IGNORE_MKEY	(1u << 0)
#define AGENT_IGNORE_BKEY	(1u << 1)

/**
 * struct mad_path - where a datagram came from
 * @in_port: number of the node's port; 0: the node itself, an HCA's host for example
 * @slid: LID of the sender
 */
struct mad_path {
	u8 in_port;
	u16 slid;
};

/**
 * agent_mad() - handle a datagram that has come to its destination
 * @a: agent
 * @path: where it came from
 * @in: MAD_LEN bytes.  One with a directed route has its hop pointer behind the last hop, as the
 *	SMI of the receiver leaves it
 * @out: receives MAD_LEN bytes of a reply; may be @in
 * @flags: AGENT_IGNORE_*
 *
 * A reply to a directed route has the direction bit, and its hop pointer where the request had it.
 * Returns AGENT_CONSUMED, AGENT_REPLY, or 0: a response, a trap, SMInfo, or a class that the
 * agent does not serve.
 */
u32 agent_mad(struct agent *a, const struct mad_path *path, const u8 *in, u8 *out, u32 flags);

/**
 * agent_rx() - a packet for QP0 or QP1 has come to an HCA's port
 * @a: agent
 * @run: the packet
 *
 * Returns true if the agent has handled it: it was a request to the device, whose reply waits to be
 * sent, or it was malformed.  Otherwise it belongs to the host's QP; a directed route is then as it
 * came from the wire.
 */
bool agent_rx(struct agent *a, const struct run *run);

/** agent_bad_pkey() - count a packet with a P_Key that the port does not have; trap 257 */
void agent_bad_pkey(struct agent *a, const struct wire_hdr *h);

/** agent_bad_qkey() - count a packet with another Q_Key than its QP has; trap 258 */
void agent_bad_qkey(struct agent *a, const struct wire_hdr *h);

/** agent_caps_changed() - the port's capability mask has changed: trap 144 */
void agent_caps_changed(struct agent *a);

/** agent_desc_changed() - the node description has changed: trap 144 */
void agent_desc_changed(struct agent *a);

#endif /* VHCAD_SUBNET_AGENT_H */
