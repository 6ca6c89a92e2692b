// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where the tables of Ethernet's switches lead.
 *
 * Who gets a frame is found when it sets out, as in a segment without links; switches bring it to
 * the end where that port is.  Multicasts go to all ends, along a tree, and each end judges by its
 * VLANs.  Nobody manages these switches: as bridges that talk to each other they find new ways by
 * themselves when links between them go or come.
 */
#include "fabric/eth_internal.h"
#include "fabric/pipe.h"

void topo_set_writer(struct topo *t, int (*write)(struct topo *t))
{
	t->write = write;
}

void topo_set_way(struct topo *t, u32 sw, u32 end, u8 port)
{
	t->sw[sw]->linear[eth_lid(t->end[end])] = port;
}

void topo_set_tree(struct topo *t, u32 sw, const struct port_mask *ports)
{
	t->sw[sw]->multicast[ETH_MLID - MLID_FIRST] = *ports;
}

int eth_renew(struct topo *t)
{
	int lost = t->write(t);

	/* without memory the next frame asks again */
	t->stale = lost < 0;
	return lost;
}

/*
 * A multicast that comes by a port which is not of the tree, as that has changed meanwhile, goes no
 * further: others have brought it already, or will.
 */
static struct port_mask tree_ways(const struct fab_pipe *in)
{
	const struct fab_switch *sw = in->to;
	struct port_mask m = *eth_tree(sw);
	u32 port;

	if (!port_mask_test(&m, in->in_no + 1))
		return (struct port_mask){ 0 };
	port_mask_clear(&m, in->in_no + 1);
	port_mask_for_each(port, &m)
		if (!pipe_open(switch_out(sw, port)))
			port_mask_clear(&m, port);
	return m;
}

struct port_mask eth_ways(const struct fab_pipe *in, u16 lid)
{
	const struct fab_switch *sw = in->to;
	struct port_mask m = { 0 };

	if (in->topo->stale)
		eth_renew(in->topo);
	if (lid == ETH_MLID)
		return tree_ways(in);
	if (sw->linear[lid])
		port_mask_set(&m, sw->linear[lid]);
	return m;
}
