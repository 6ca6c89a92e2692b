// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Ethernet ports are plugged in, enabled, reset and unplugged.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "capture/capture.h"
#include "fabric/eth_internal.h"
#include "fabric/pipe.h"
#include "trace/trace.h"

void eth_segment_free(struct eth_segment *s)
{
	if (!s)
		return;
	free(s->filling.bytes);
	free(s->taking.bytes);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static void on_state(struct port *ib, u8 old)
{
	struct fab_port *port = container_of(ib, struct fab_port, ib);

	if (eth_goes_active(ib))
		return;
	port->open = ib->state == PORT_ACTIVE && port->eth && !port->end;
	if (ib->state == PORT_DOWN) {
		fab_queue_drop(port);
		if (port->end)
			topo_port_down(port);
	}
	if (port->plugged)
		port->ops->state(port, old);
}

static void on_changed(struct port *ib, u32 what)
{
	struct fab_port *port = container_of(ib, struct fab_port, ib);

	port->ops->changed(port, what);
}

static const struct port_ops port_ops = { .state = on_state, .changed = on_changed };

/* Prepares a port, whose fabric is filled in, for its cable. */
static void prepare(struct fab_port *port)
{
	port_init(&port->ib, port->ib.guid);
	port->rate = FAB_RATE_USUAL;
	INIT_LIST_HEAD(&port->queue);
	port->ib.ops = &port_ops;
}

/* Plugs in the cable, so that the link comes up: a topology's, or one to a socket of its own. */
static void connect(struct fab_port *port, struct port *socket)
{
	fab_rate_codes(&port->rate, &port->ib.speed);
	if (port->end)
		socket = plug_socket(port);
	else
		port_init(socket, 0);
	port_connect(&port->ib, socket);
}

struct eth_segment *eth_segment_of(struct fabric *f)
{
	struct eth_segment *s = f->eth;

	if (s)
		return s;
	s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	eth_gids_init(s);
	s->far = f->eth_topo;
	s->out.fabric = f;
	s->out.cap_port = -1;
	prepare(&s->out);
	connect(&s->out, &s->socket);
	f->eth = s;
	return s;
}

void eth_plug_outside(struct eth_segment *s)
{
	struct fabric *f = s->out.fabric;

	if (!f->eth_topo || topo_plug(&s->out, f->eth_topo, TOPO_OUTSIDE))
		return;
	s->out.end->outside = true;
	port_disconnect(&s->out.ib);
	connect(&s->out, NULL);
}

int fab_plug_eth(struct fabric *f, struct fab_port *port, const char *name, const u8 *mac,
		 bool strict)
{
	struct eth_segment *s = eth_segment_of(f);
	struct fab_eth *eth = calloc(1, sizeof(*eth));

	if (!s || !eth || s->nports == ETH_PORTS) {
		free(eth);
		return s && eth ? -ENOSPC : -ENOMEM;
	}
	memcpy(eth->mac, mac, sizeof(eth->mac));
	eth->strict = strict;
	for (u32 i = 0; i < ETH_GIDS; i++) {
		eth->gid[i].port = port;
		INIT_LIST_HEAD(&eth->gid[i].in_stations);
		INIT_LIST_HEAD(&eth->gid[i].in_gids);
	}
	prepare(port);
	port->fabric = f;
	if (f->eth_topo && topo_plug(port, f->eth_topo, name)) {
		free(eth);
		return -ENOENT;
	}
	port->eth = eth;
	port->cap_port = f->capture ? capture_add_ether(f->capture, name) : -1;
	port->recorded = port->cap_port >= 0 || port->trace_row != TRACE_NO_ROW;
	s->port[s->nports++] = port;
	connect(port, &eth->socket);
	port->plugged = true;
	return 0;
}

void eth_unplug(struct fab_port *port)
{
	struct eth_segment *s = port->fabric->eth;
	u32 i = 0;

	if (port->end)
		topo_unplug(port);
	fab_eth_enable(port, false);
	eth_gids_clear(s, port);
	while (s->port[i] != port)
		i++;
	memmove(&s->port[i], &s->port[i + 1], (--s->nports - i) * sizeof(s->port[0]));
	free(port->eth);
	port->eth = NULL;
}

void fab_eth_enable(struct fab_port *port, bool enabled)
{
	struct eth_segment *s = port->fabric->eth;

	pthread_mutex_lock(&s->lock);
	s->enabled += enabled - port->eth->enabled;
	port->eth->enabled = enabled;
	pthread_mutex_unlock(&s->lock);
}

void fab_eth_reset(struct fab_port *port)
{
	struct port_setup setup = port->ib.setup;

	fab_eth_enable(port, false);
	eth_gids_clear(port->fabric->eth, port);
	setup.mtu = port->ib.mtu_cap;
	port_set_setup(&port->ib, &setup);
	port->ops->changed(port, PORT_GID_CHANGED);
}
