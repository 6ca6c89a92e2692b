/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the fabric asks of whoever manages its subnet: gives LIDs to ports, takes their state up
 * to active, and writes forwarding tables (fabric/switch.h).  All of it is called under the
 * engine's lock.
 */
#ifndef VHCAD_FABRIC_SUBNET_H
#define VHCAD_FABRIC_SUBNET_H

#include "lib/types.h"

struct fabric;
struct fab_port;

/**
 * struct fab_subnet_ops - the manager of a subnet
 * @plug: a port has been plugged in, and nobody has been told of it yet; 0, -ENOMEM, or -ENOSPC
 * @unplug: it is about to be unplugged
 * @link_up: a port's link has come up: it is in PORT_INIT
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
	void (*link_up)(void *subnet, struct fab_port *port);
	int (*join)(void *subnet, struct fab_port *port, u16 mlid);
	void (*leave)(void *subnet, struct fab_port *port, u16 mlid);
	bool (*heard)(const void *subnet, const struct fab_port *from, u16 dlid);
	u32 (*reroute)(void *subnet);
	void (*free)(void *subnet);
};

/**
 * fabric_set_subnet - have somebody manage the subnet
 * @f: fabric without ports
 * @ops: all of them, but for @heard
 * @subnet: given to @ops
 *
 * Without a manager ports stay in PORT_INIT, and all forwarding tables are empty.
 */
void fabric_set_subnet(struct fabric *f, const struct fab_subnet_ops *ops, void *subnet);

/** fab_subnet - what fabric_set_subnet() was given with these ops; NULL: it is not managed so */
void *fab_subnet(const struct fabric *f, const struct fab_subnet_ops *ops);

#endif /* VHCAD_FABRIC_SUBNET_H */
