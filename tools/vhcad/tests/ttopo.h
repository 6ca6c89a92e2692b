/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Topologies for tests.
 */
#ifndef VHCAD_TESTS_TTOPO_H
#define VHCAD_TESTS_TTOPO_H

#include "fabric/topo.h"

/* "a-b" is a link between switches, "a-x:1" one to a port of x; a list ends with an empty one. */
struct t_link {
	const char *ends;
	const char *rate;
	u32 latency, queue;
};

/** t_link_of() - the description of a link; its name is @w->ends */
struct topo_link t_link_of(const struct t_link *w);

/** t_topo_open() - InfiniBand switches with names of a letter each, and links; not finished */
struct topo *t_topo_open(const char *switches, u32 hoq_life, const struct t_link *w);

/** t_topo() - the same, finished */
struct topo *t_topo(const char *switches, u32 hoq_life, const struct t_link *w);

/** t_eth_topo_open() - the same of Ethernet, not finished; t_eth_topo() - finished */
struct topo *t_eth_topo_open(const char *switches, u32 hoq_life, const struct t_link *w);
struct topo *t_eth_topo(const char *switches, u32 hoq_life, const struct t_link *w);

/** t_finish() - finish a topology like the daemon does with a file's; false: see @why */
bool t_finish(struct topo *t, char *why, size_t room);

/** t_fabric() - a fabric with a static subnet */
struct fabric *t_fabric(void);

#endif /* VHCAD_TESTS_TTOPO_H */
