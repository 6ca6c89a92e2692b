/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the fabric asks of whoever manages its subnet: gives LIDs to ports, takes their state up
 * to active, and writes forwarding tables (fabric/switch.h).  And what it tells the agents of its
 * switches, who answer management packets.  All of it is called under the engine's lock.
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
 * @plug: a port has been plugged in, and nobody has been told of it yet; 0, -ENOMEM, or -ENOSPC
 * @unplug: it is about to be unplugged
 * @link_up: a port's link has come up: it is in PORT_INIT.  Ports of switches, too
 * @join: see fab_mc_join()
 * @leave: see fab_mc_leave()
 * @heard: would another port get what @from sends there?  What nobody would get does not even
 *	set out on a link of a topology.  NULL: nobody knows, everything sets out
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
 * fabric_set_subnet() - have somebody manage the subnet
 * @f: fabric without ports
 * @ops: all of them, but for @heard
 * @subnet: given to @ops
 *
 * Without a manager ports stay in PORT_INIT, and all forwarding tables are empty.
 */
void fabric_set_subnet(struct fabric *f, const struct fab_subnet_ops *ops, void *subnet);

/**
 * struct fab_agent_ops - the agents of the switches
 * @rx: a packet for a switch itself has come by a port, or from itself (port 0): to QP 0 at any
 *	LID of its own or the permissive one, or to another QP at a LID of its own.  It may change
 *	the run's headers, not the payload
 * @state: the state of an external port was @old
 * @bad_pkey: an external port has dropped a packet for its P_Key, which has come in by it or was to
 *	leave by it
 * @run: the time has come that fab_agents_at() has said
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
 * fabric_set_agents() - have switches answer management packets
 * @f: fabric
 * @ops: all of them; NULL: nobody does any more, packets to switches are lost
 * @agents: given to @ops
 */
void fabric_set_agents(struct fabric *f, const struct fab_agent_ops *ops, void *agents);

/** fab_agents() - what fabric_set_agents() was given with these ops; NULL: nothing, or others */
void *fab_agents(const struct fabric *f, const struct fab_agent_ops *ops);

/**
 * fab_agents_at() - the agents want to run
 * @f: fabric
 * @at: engine time, at the latest; the earliest one that was said since the last @run counts
 *
 * They run once, from fab_poll(); also for agents of adapters' ports, who have no clock.
 */
void fab_agents_at(struct fabric *f, u64 at);

/**
 * fab_send_mad() - an agent's packet leaves an adapter's port
 * @port: port
 * @run: one packet of UD, of up to FAB_MAD_MOST bytes; VL15 if h.vl is that
 *
 * It is copied and leaves from fab_poll(): nobody has got it when this returns, so whoever receives
 * may call it.  VL15 takes a port whose link is up, in any state, and goes to the far end if
 * the DLID is permissive, otherwise by the tables; what the port sends to its own LID stays in it.
 * Anything else goes as by fab_send().
 * Returns false if it was dropped: the link is down, or too many wait already.
 */
bool fab_send_mad(struct fab_port *port, const struct run *run);

/**
 * fab_send_host_mad() - a packet of the host's QP 0 leaves an adapter's port
 * @port: port
 * @run: as for fab_send_mad()
 *
 * As fab_send_mad(), but with a share of its own: however much a host sends, its port's agent
 * answers.
 */
bool fab_send_host_mad(struct fab_port *port, const struct run *run);

/**
 * fab_switch_send() - a switch's own packet
 * @f: fabric
 * @sw: switch
 * @in: port by which what it answers has come; 0: it answers nothing
 * @out: port by which it leaves; 0: what the switch's linear table says of its DLID
 * @run: as for fab_send_mad(); @out is not 0 for VL15 alone
 *
 * As fab_send_mad(), but FAB_ANSWERS_MOST may wait for each @in.
 */
bool fab_switch_send(struct fabric *f, u32 sw, u32 in, u32 out, const struct run *run);

#define FAB_MAD_MOST	256u		/* bytes of payload */
#define FAB_MADS_MOST	256u		/* packets of one sender that wait to leave */
/* Those of a switch, of each port whose requests they answer, so that none uses up all. */
#define FAB_ANSWERS_MOST	64u

/**
 * fab_agents_lock() - agents are the caller's, whatever other threads send
 * @f: fabric
 *
 * For who comes to them with a packet that was not given to them by struct fab_agent_ops, or that
 * fab_poll() delivers.  They send and ask for time under it.
 */
void fab_agents_lock(struct fabric *f);

/** fab_agents_unlock() - they are everybody's again */
void fab_agents_unlock(struct fabric *f);

/** fab_subnet() - what fabric_set_subnet() was given with these ops; NULL: it is not managed so */
void *fab_subnet(const struct fabric *f, const struct fab_subnet_ops *ops);

#endif /* VHCAD_FABRIC_SUBNET_H */
