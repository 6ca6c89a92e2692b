/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A small subnet manager: discovers a subnet by directed routes, assigns LIDs, writes forwarding
 * tables and brings ports up, by management datagrams alone.
 */
#ifndef VHCAD_TESTS_TSM_H
#define VHCAD_TESTS_TSM_H

#include "tests/tagent.h"

#define TSM_NODES	16u
#define TSM_PORTS	254u

/**
 * struct tsm_node - a switch, or a port of an HCA
 * @path: route from the manager
 * @nports: of a switch; 0: it is an HCA's port
 * @peer: nodes at the other ends by port, -1: none; an HCA's port is 1
 */
struct tsm_node {
	struct ta_path path;
	u64 guid;
	u8 nports;
	u8 local_port;
	u16 lid;
	int peer[TSM_PORTS + 1];
};

struct tsm {
	struct ta_world *w;
	u32 hca;
	u8 lmc;
	struct tsm_node node[TSM_NODES];
	u32 n;
};

/** tsm_sweep() - bring up all that can be reached from an HCA; HCAs' ports get 1 << @lmc LIDs */
void tsm_sweep(struct tsm *sm, struct ta_world *w, u32 hca, u8 lmc);
/** tsm_port() - read PortInfo of a node's port */
void tsm_port(struct tsm *sm, u32 node, u8 port, u8 *info);
/** tsm_lid() - the LID assigned to the node with a GUID */
u16 tsm_lid(const struct tsm *sm, u64 guid);

#endif /* VHCAD_TESTS_TSM_H */
