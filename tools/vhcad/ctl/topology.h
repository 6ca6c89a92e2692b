/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Topology files, which describe switches and links of the fabric.
 */
#ifndef VHCAD_CTL_TOPOLOGY_H
#define VHCAD_CTL_TOPOLOGY_H

#include "fabric/topo.h"

/**
 * struct topology - what a file describes
 * @ib, @eth: switches and links of InfiniBand and of Ethernet, complete; NULL: there are none
 */
struct topology {
	struct topo *ib, *eth;
};

/**
 * topology_read() - read a topology file
 * @path: path of the file
 * @t: receives what it describes, which is the caller's
 * @why: receives what is wrong, with the file's name and the place in it
 * @room: size of @why
 *
 * Returns false if something is wrong.
 */
bool topology_read(const char *path, struct topology *t, char *why, size_t room);

#endif /* VHCAD_CTL_TOPOLOGY_H */
