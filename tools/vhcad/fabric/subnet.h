/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fabric's calls to the manager of its subnet, which gives LIDs to ports, takes their state up
 * to active, and writes forwarding tables (fabric/switch.h).  And its calls to the agents of its
 * switches, which answer management packets.  All of them run under the engine's lock.
 */
#ifndef VHCAD_FABRIC_SUBNET_H
#define VHCAD_FABRIC_SUBNET_H

#include "lib/types.h"

struct fabric;
struct fab_port;
struct port;
struct run;

/**
 * struct fab_subnet_ops - the manager of a subnet
 * @plug: a port has been plugged in, and its owner is not notified yet; 0, -ENOMEM, or -ENOSPC
 * @unplug: it is about to be unplugged
 * @link_up: a port's link has come up: it is in PORT_INIT.  Ports of switches, too
 * @join: see fab_mc_join()
 * @leave: see fab_mc_leave()
 * @heard: would another port receive what @from sends there?  What none would receive does not even
 *	take a link of a topology.  NULL: not known, everything is sent
 * @reroute: see fab_reroute()
 * @free: the fabric ends; no port is plugged in
 */
struct fab_subnet_ops {
	int (*plug)(void *subnet, struct fab_port *port);
	void (*unplug)(void *subnet, struct fab_port *port);
	void (*link_up)(void *subnet, struct port *ib);
	int (*join)(void *subnet, struct fab_port *port, u16 mlid);
	void (*leave)(void *subnet, struct fab_port *port, u16 mlid);
	bool (*heard)(const void *subnet, const struct fab_port *from, u16 dlid);
	int (*reroute)(void *subnet);
	void (*free)(void *subnet);
};

/**
 * fabric_set_subnet() - set the manager of the subnet
 * @f: fabric without ports
 * @ops: all of them, but for @heard
 * @subnet: given to @ops
 *
 * Without a manager ports stay in PORT_INIT, and all forwarding tables are empty.
 */
void fabric_set_subnet(struct fabric *f, const struct fab_subnet_ops *ops, void *subnet);

/**
 * struct fab_agent_ops - the agents of the switches
 * @rx: a packet for a switch itself has come by a port, or from itself (port 0): to QP 0 at any LID
 *	of its own or the permissive one, or to another QP at a LID of its own.  It may change the
 *	run's headers, not the payload
 * @state: the state of an external port was @old
 * @bad_pkey: an external port has dropped a packet for its P_Key, which has come in by it or was to
 *	leave by it
 * @run: the time of fab_agents_at() has come
 * @free: the fabric ends; no port is plugged in
 */
struct fab_agent_ops {
	void (*rx)(void *agents, u32 sw, u32 in_port, struct run *run);
	void (*state)(void *agents, u32 sw, u32 port, u8 old);
	void (*bad_pkey)(void *agents, u32 sw, u32 port, const struct run *run);
	void (*run)(void *agents, u64 now);
	void (*free)(void *agents);
};

/**
 * fabric_set_agents() - set the agents of the switches
 * @f: fabric
 * @ops: all of them; NULL: no agents any more, packets to switches are lost
 * @agents: given to @ops
 */
void fabric_set_agents(struct fabric *f, const struct fab_agent_ops *ops, void *agents);

/** fab_agents() - the @agents of fabric_set_agents() if it was given these ops, else NULL */
void *fab_agents(const struct fabric *f, const struct fab_agent_ops *ops);

/**
 * fab_agents_at() - have the agents run at some time
 * @f: fabric
 * @at: engine time at the latest; the earliest since the last @run counts
 *
 * They run once, from fab_poll(); also for agents of adapters' ports, which have no timers.
 */
void fab_agents_at(struct fabric *f, u64 at);

/**
 * fab_send_mad() - an agent's packet leaves an adapter's port
 * @port: port
 * @run: one packet of UD, of up to FAB_MAD_MOST bytes; VL15 if h.vl is that
 *
 * It is copied and leaves from fab_poll(): it is not delivered before this returns, so a receiver
 * may call it.  VL15 takes a port whose link is up, in any state, and goes to the far end if the
 * DLID is permissive, otherwise by the tables; what the port sends to its own LID stays in it.
 * Anything else is sent as by fab_send().
 * Returns false if it was dropped: the link is down, or too many wait already.
 */
bool fab_send_mad(struct fab_port *port, const struct run *run);

/**
 * fab_send_host_mad() - a packet of the host's QP 0 leaves an adapter's port
 * @port: port
 * @run: as for fab_send_mad()
 *
 * As fab_send_mad(), but with a quota of its own: however much a host sends, its port's agent can
 * answer.
 */
bool fab_send_host_mad(struct fab_port *port, const struct run *run);

/**
 * fab_switch_send() - send a switch's own packet
 * @f: fabric
 * @sw: switch
 * @in: port by which the request came that it answers; 0: it answers none
 * @out: port by which it leaves; 0: what the switch's linear table says of its DLID
 * @run: as for fab_send_mad(); @out is not 0 for VL15 alone
 *
 * As fab_send_mad(), but FAB_ANSWERS_MOST may wait for each @in.
 */
bool fab_switch_send(struct fabric *f, u32 sw, u32 in, u32 out, const struct run *run);

#define FAB_MAD_MOST	256u		/* bytes of payload */
#define FAB_MADS_MOST	256u		/* packets of one sender that wait to leave, at the most */
/* The same for a switch, for each port whose requests it answers, so that none uses up all. */
#define FAB_ANSWERS_MOST	64u

/**
 * fab_agents_lock() - keep other threads from the agents, whatever these threads send
 * @f: fabric
 *
 * For callers that bring a packet to the agents by other ways than struct fab_agent_ops or a
 * delivery of fab_poll().  The agents send and call fab_agents_at() under this lock.
 */
void fab_agents_lock(struct fabric *f);

/** fab_agents_unlock() - let other threads use the agents */
void fab_agents_unlock(struct fabric *f);

/** fab_subnet() - the @subnet of fabric_set_subnet() if it was given these ops, else NULL */
void *fab_subnet(const struct fabric *f, const struct fab_subnet_ops *ops);

#endif /* VHCAD_FABRIC_SUBNET_H */
