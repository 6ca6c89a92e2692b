// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Where the forwarding tables of Ethernet switches lead.
 *
 * The receiver of a frame is looked up when the frame is sent, as in a segment without links;
 * switches forward it to the link's end where that port is.  Multicasts go to all ends, along a
 * tree, and each end filters by its VLANs.  These switches have no manager: like bridges with a
 * spanning tree protocol they find new routes by themselves when links between them go down or come
 * up.
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

	/* without memory it is written again for the next frame */
	t->stale = lost < 0;
	return lost;
}

/*
 * A multicast that comes by a port which is not in the tree, because the tree has just changed, is
 * not forwarded: it reaches the others along the tree.
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
