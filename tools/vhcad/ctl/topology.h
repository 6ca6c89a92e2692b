/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Topology files, which describe switches and links of the fabric.
 */
#ifndef VHCAD_CTL_TOPOLOGY_H
#define VHCAD_CTL_TOPOLOGY_H

#include "fabric/topo.h"

/**
 * topology_read() - read a topology file
 * @path: path of the file
 * @why: receives what is wrong, with the file's name and the place in it
 * @room: size of @why
 *
 * Returns the complete topology; NULL if something is wrong.
 */
struct topo *topology_read(const char *path, char *why, size_t room);

#endif /* VHCAD_CTL_TOPOLOGY_H */
