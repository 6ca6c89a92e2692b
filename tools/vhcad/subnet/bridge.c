// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "subnet/bridge.h"
#include "subnet/route.h"

/* One tree spans all switches; its ports and those of all adapters carry multicasts. */
static void write_trees(struct topo *t, u32 nends)
{
	struct port_mask tree[TOPO_MAX_SWITCHES] = { 0 };
	u32 port;

	for (u32 end = 0; end < nends; end++) {
		u32 sw = topo_end_switch(t, end, &port);

		port_mask_set(&tree[sw], port);
	}
	routes_tree(t, 0, tree);
	for (u32 sw = 0; sw < topo_switches(t); sw++)
		topo_set_tree(t, sw, &tree[sw]);
}

int bridge_write(struct topo *t)
{
	struct routes r;
	int err = routes_init(&r, t);
	u32 lost;

	if (err)
		return err;
	lost = routes_renew(&r);
	for (u32 sw = 0; sw < r.nsw; sw++)
		for (u32 end = 0; end < r.nends; end++)
			topo_set_way(t, sw, end, routes_port(&r, sw, end));
	write_trees(t, r.nends);
	routes_free(&r);
	return lost;
}
