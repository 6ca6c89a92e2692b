/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A subnet that the daemon manages itself, without management packets.
 *
 * It gives each port the lowest LID that is free and makes it active as soon as its link is up.
 * Packets take the shortest routes, or those of a topology file; a QP that is attached to a group
 * joins its port to it.  All this is written by the functions of port/port.h and fabric/switch.h,
 * which any other manager of a subnet uses too.
 */
#ifndef VHCAD_SUBNET_STATIC_H
#define VHCAD_SUBNET_STATIC_H

#include "lib/types.h"
#include "port/port.h"

struct fabric;
struct fab_port;
struct topo;

/**
 * subnet_static() - manage a fabric's subnet
 * @f: fabric without ports; a topology has to be given to it before the first is plugged in
 *
 * Ends with the fabric.  Returns 0 or -ENOMEM.
 */
int subnet_static(struct fabric *f);

/**
 * subnet_static_yield() - a subnet manager has appeared: it sets addresses and states from now on
 * @f: fabric
 *
 * Logs it.  Ports keep what they have until the manager changes it.  Does nothing if the fabric's
 * subnet is not a static one (any more).
 */
void subnet_static_yield(struct fabric *f);

/** subnet_is_static() - is the subnet of a fabric a static one, which has not yielded? */
bool subnet_is_static(const struct fabric *f);

/**
 * subnet_check_routes() - check whether every packet would arrive
 * @t: topology, with the routes of topo_route()
 * @why: receives what is wrong
 * @room: of @why
 *
 * Returns false when something is.
 */
bool subnet_check_routes(const struct topo *t, char *why, size_t room);

/**
 * subnet_set_lid() - give a port another LID
 * @port: plugged into a fabric with a static subnet
 * @lid: 1..LID_LAST
 *
 * A packet that has left the last switch on its way to the old LID still arrives.
 * Returns 0, or -EBUSY when another port or a switch has it.
 */
int subnet_set_lid(struct fab_port *port, u16 lid);

/**
 * subnet_set_addrs() - change a port's addresses, as the operator of the subnet
 * @port: plugged in
 * @a: all of them, with their new values
 * @reregister: ask the port's clients to register again
 *
 * Returns NULL, or what is wrong; then nothing has changed.
 */
const char *subnet_set_addrs(struct fab_port *port, const struct port_addrs *a, bool reregister);

#endif /* VHCAD_SUBNET_STATIC_H */
