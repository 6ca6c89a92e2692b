/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Tables of Ethernet switches, which have no manager: the shortest routes to adapters' ports, and
 * one tree for all multicasts, as bridges compute them with a spanning tree protocol.
 */
#ifndef VHCAD_SUBNET_BRIDGE_H
#define VHCAD_SUBNET_BRIDGE_H

#include "fabric/topo.h"

/** bridge_write() - write all tables for the links that are up, as topo_set_writer() wants it */
int bridge_write(struct topo *t);

#endif /* VHCAD_SUBNET_BRIDGE_H */
