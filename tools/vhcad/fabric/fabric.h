/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fabric as main() sees it: what all InfiniBand ports of the daemon are plugged into.  It
 * is one switch that takes no time, or the switches and links of a topology, see topo.h.
 */
#ifndef VHCAD_FABRIC_H
#define VHCAD_FABRIC_H

#include "lib/types.h"

struct fabric;
struct capture;

enum fabric_subnet {
	FABRIC_SUBNET_NONE,	/* ports stay in INIT with LID 0 */
	FABRIC_SUBNET_STATIC,	/* fixed LIDs, ports go ACTIVE by themselves */
};

/**
 * fabric_new - make a switch without ports
 * @subnet: how ports get their addresses
 *
 * Returns NULL when there is no memory.
 */
struct fabric *fabric_new(enum fabric_subnet subnet);

/**
 * fabric_free - free a switch
 * @f: fabric without ports, or NULL
 */
void fabric_free(struct fabric *f);

/**
 * fabric_set_capture - record every packet
 * @f: fabric; no port must be plugged in yet
 * @c: capture file; stays the caller's
 */
void fabric_set_capture(struct fabric *f, struct capture *c);

/** fabric_set_stamps - captures have engine time, not the clock's: traces that can be compared */
void fabric_set_stamps(struct fabric *f);

#endif /* VHCAD_FABRIC_H */
