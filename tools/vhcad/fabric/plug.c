// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ports are plugged into the fabric; the consequences of changes of their state, and their requests
 * to the subnet manager.
 */
#include <errno.h>
#include <stdlib.h>

#include "capture/capture.h"
#include "fabric/eth_internal.h"
#include "fabric/pipe.h"
#include "trace/trace.h"

static void on_state(struct port *ib, u8 old)
{
	struct fab_port *port = container_of(ib, struct fab_port, ib);
	struct fabric *f = port->fabric;
	u8 state = ib->state;

	fab_look(port);
	if (state == PORT_DOWN) {
		fab_queue_drop(port);
		if (port->end)
			topo_port_down(port);
	} else if (old == PORT_DOWN && f->subnet) {
		f->subnet->link_up(f->subnet_arg, ib);
	}
	/*
	 * the subnet manager may have changed the state again, of which the owner is notified
	 * already
	 */
	if (port->plugged && ib->state == state)
		port->ops->state(port, old);
}

static void on_changed(struct port *ib, u32 what)
{
	struct fab_port *port = container_of(ib, struct fab_port, ib);

	if (what & PORT_LID_CHANGED)
		switch_recount(port);
	port->ops->changed(port, what);
}

static const struct port_ops port_ops = { .state = on_state, .changed = on_changed };

/* The lowest free place; @f->nports: behind all others. */
static int find_place(struct fabric *f, u32 *at)
{
	struct fab_port **ports;
	u32 i = 0;

	while (i < f->nports && f->ports[i])
		i++;
	*at = i;
	if (i < f->nports)
		return 0;
	if (!f->topo && i == SWITCH_MAX_PORTS)
		return -ENOSPC;
	ports = realloc(f->ports, (i + 1) * sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	ports[i] = NULL;
	f->ports = ports;
	f->nports++;
	return 0;
}

static void take_out(struct fab_port *port, u32 at)
{
	if (port->end)
		topo_unplug(port);
	port->fabric->ports[at] = NULL;
}

int fab_plug(struct fabric *f, struct fab_port *port, const char *name)
{
	u32 at;
	int err = find_place(f, &at);

	if (err)
		return err;
	port_init(&port->ib, port->ib.guid);
	port->fabric = f;
	port->rate = FAB_RATE_USUAL;
	port->at = at + 1;
	INIT_LIST_HEAD(&port->queue);
	if (f->topo && topo_plug(port, f->topo, name))
		return -ENOENT;
	fab_rate_codes(&port->rate, &port->ib.speed);
	f->ports[at] = port;
	err = f->subnet ? f->subnet->plug(f->subnet_arg, port) : 0;
	if (err) {
		take_out(port, at);
		return err;
	}
	switch_recount(port);
	port->cap_port = f->capture ? capture_add_ib_port(f->capture, name) : -1;
	port->recorded = port->cap_port >= 0 || port->trace_row != TRACE_NO_ROW;
	port->ib.ops = &port_ops;
	port_connect(&port->ib, plug_socket(port));
	port->plugged = true;
	return 0;
}

void fab_unplug(struct fab_port *port)
{
	struct fabric *f = port->fabric;

	port->plugged = false;
	port->ib.ops = NULL;
	port_disconnect(&port->ib);
	fab_queue_drop(port);
	if (port->end)
		topo_port_down(port);
	fab_queue_forget(port);
	mads_forget(port);
	fab_fault_clear(f, port, NULL);
	if (port->ib.down_until)
		fab_flap_ends(port);
	if (port->eth) {
		eth_unplug(port);
		return;
	}
	if (f->subnet)
		f->subnet->unplug(f->subnet_arg, port);
	for (u32 i = 0; i < f->nports; i++)
		if (f->ports[i] == port)
			take_out(port, i);
	free(port->joins);
	port->joins = NULL;
}

static bool both_infiniband(const struct fab_port *port, u16 mlid)
{
	return !port->eth && mlid;
}

int fab_mc_join(struct fab_port *port, u16 mlid)
{
	const struct fabric *f = port->fabric;
	int err;

	if (!both_infiniband(port, mlid))
		return 0;
	if (!port->joins)
		port->joins = calloc(MLID_LAST - MLID_FIRST + 1, sizeof(*port->joins));
	if (!port->joins)
		return -ENOMEM;
	err = f->subnet ? f->subnet->join(f->subnet_arg, port, mlid) : 0;
	if (!err)
		port->joins[mlid - MLID_FIRST]++;
	return err;
}

void fab_mc_leave(struct fab_port *port, u16 mlid)
{
	const struct fabric *f = port->fabric;

	if (!both_infiniband(port, mlid))
		return;
	port->joins[mlid - MLID_FIRST]--;
	if (f->subnet)
		f->subnet->leave(f->subnet_arg, port, mlid);
}

int fab_reroute(struct fabric *f)
{
	int ib = f->topo && f->subnet ? f->subnet->reroute(f->subnet_arg) : 0;
	int eth = f->eth_topo ? eth_renew(f->eth_topo) : 0;

	return ib < 0 || eth < 0 ? -ENOMEM : ib + eth;
}
