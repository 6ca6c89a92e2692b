// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Management packets in the fabric: routes of VL15, packets for the agents of switches, and packets
 * of switches.  Each with the one switch, and in a topology.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabric/pipe.h"
#include "subnet/static.h"
#include "tests/cm.h"
#include "tests/ttopo.h"

#define MSEC	1000000ull
#define SEC	1000000000ull
#define PORTS	3u

/* A port that notes what arrives. */
struct end {
	struct fab_port port;
	u32 n;
	u32 psn;
	u8 class;
	bool quiet;			/* never answers */
	struct world *w;
};

struct world {
	struct fabric *f;
	struct end e[PORTS];
	u32 nends;
	u64 now;
	/* the agents' last packet, and the number of packets */
	u32 rx, sw, in_port, psn;
	u32 states, state_port;
	u8 old;
	u32 bad_pkeys, bad_port;
	u32 runs;
	bool answer;			/* send it back where it came from */
	bool many;			/* or, if there is no room, only */
	u32 refused;			/* count that */
};

static void on_rx(struct fab_port *port, struct run *run)
{
	struct end *e = port->owner;
	u8 mad[2];

	e->n++;
	e->psn = run->h.psn;
	assert_int_equal(payload_read(run->pl, run->skip, mad, sizeof(mad)), 0);
	e->class = mad[1];
	/* a receiver may send */
	if (e->w->answer && !e->quiet) {
		run->h.psn++;
		assert_true(fab_send_mad(port, run));
	}
}

static void on_mcast(struct fab_port *port, struct datagram *d)
{
	struct end *e = port->owner;

	e->n++;
}

static void on_state(struct fab_port *port, u8 old)
{
}

static void on_changed(struct fab_port *port, u32 what)
{
}

static const struct fab_port_ops end_ops = {
	.rx = on_rx, .rx_mcast = on_mcast, .state = on_state, .changed = on_changed,
};

static void agent_rx(void *agents, u32 sw, u32 in_port, struct run *run)
{
	struct world *w = agents;
	bool sent;

	w->rx++;
	w->sw = sw;
	w->in_port = in_port;
	w->psn = run->h.psn;
	if (!w->answer)
		return;
	run->h.dlid = run->h.slid;
	run->h.psn += 100;
	sent = fab_switch_send(w->f, sw, in_port, run->h.vl == PORT_VL15 ? in_port : 0, run);
	assert_true(sent || w->many);
	w->refused += !sent;
}

static void agent_state(void *agents, u32 sw, u32 port, u8 old)
{
	struct world *w = agents;

	w->states++;
	w->sw = sw;
	w->state_port = port;
	w->old = old;
}

static void agent_bad_pkey(void *agents, u32 sw, u32 port, const struct run *run)
{
	struct world *w = agents;

	w->bad_pkeys++;
	w->sw = sw;
	w->bad_port = port;
	w->psn = run->h.psn;
}

static void agent_run(void *agents, u64 now)
{
	struct world *w = agents;

	w->runs++;
}

static void agent_free(void *agents)
{
}

static const struct fab_agent_ops agent_ops = {
	.rx = agent_rx, .state = agent_state, .bad_pkey = agent_bad_pkey, .run = agent_run,
	.free = agent_free,
};

/* h0 and h1 are at switch 0, h2 at the last one. */
static const struct t_link links[] = {
	{ "a-h0", "4X EDR", 10, 4 }, { "a-h1", "4X EDR", 10, 4 }, { "a-b", "4X EDR", 10, 4 },
	{ "b-h2", "4X EDR", 10, 4 }, { 0 },
};

static void start(struct world *w, bool topology, bool managed)
{
	*w = (struct world){ .f = fabric_new(), .now = SEC };
	assert_non_null(w->f);
	if (managed)
		assert_int_equal(subnet_static(w->f), 0);
	if (topology)
		fabric_set_topology(w->f, t_topo("ab", TOPO_HOQ_USUAL, links));
	fabric_set_agents(w->f, &agent_ops, w);
	fab_set_now(w->f, w->now);
	for (u32 i = 0; i < PORTS; i++) {
		struct end *e = &w->e[i];

		e->w = w;
		e->port = (struct fab_port){
			.ops = &end_ops, .owner = e, .number = 1, .ib.guid = i + 1,
		};
		assert_int_equal(fab_plug(w->f, &e->port, (const char *[]){ "h0", "h1", "h2" }[i]),
				 0);
	}
	w->states = 0;
}

static void settle(struct world *w)
{
	u64 until = w->now + MSEC;

	while (fab_next(w->f) <= until) {
		w->now = MAX(w->now, fab_next(w->f));
		fab_poll(w->f, w->now, UINT32_MAX);
	}
	w->now = until;
	fab_poll(w->f, w->now, UINT32_MAX);
}

static void end(struct world *w)
{
	for (u32 i = 0; i < PORTS; i++)
		fab_unplug(&w->e[i].port);
	fabric_free(w->f);
}

static u8 mad_bytes[256] = { 1, 0x81 };

/* A MAD from a port to a LID: to QP 0 by VL15, or to QP 1. */
static struct run mad_to(const struct fab_port *from, u16 dlid, u32 qpn, u32 psn,
			 struct payload *pl)
{
	*pl = (struct payload){ .host = mad_bytes };
	return (struct run){
		.h = { .vl = qpn ? 0 : PORT_VL15, .dlid = dlid, .slid = from->ib.lid,
		       .pkey = 0xffff, .dqpn = qpn, .sqpn = qpn, .psn = psn },
		.service = WIRE_UD, .kind = WIRE_SEND, .first = true, .last = true, .npkts = 1,
		.mtu = 256, .len = 256, .pl = pl,
	};
}

static bool send_mad(struct world *w, u32 from, u16 dlid, u32 qpn, u32 psn)
{
	struct payload pl;
	struct run run = mad_to(&w->e[from].port, dlid, qpn, psn, &pl);

	return fab_send_mad(&w->e[from].port, &run);
}

static void send_data(struct world *w, u32 from, u32 to, u16 pkey)
{
	struct payload pl;
	struct run run = mad_to(&w->e[from].port, w->e[to].port.ib.lid, 5, 0, &pl);

	run.h.pkey = pkey;
	fab_send(&w->e[from].port, &run);
	settle(w);
}

static struct port *far_of(struct world *w, u32 i)
{
	return w->e[i].port.ib.peer;
}

/* Is something under way on this link? */
static bool link_is_busy(struct fabric *f, const char *name)
{
	const struct fab_pipe *p = f->topo->link[fab_link_find(f, name)]->pipe;

	return !list_empty(&p[0].flight) || !list_empty(&p[1].flight);
}

static void activate(struct port *ib)
{
	assert_int_equal(port_set_state(ib, PORT_ARMED), 0);
	assert_int_equal(port_set_state(ib, PORT_ACTIVE), 0);
}

/* Without a manager: no port has a LID, and only the neighbour can be reached. */
static void neighbours(void **state)
{
	struct port_count c;
	struct world w;

	for (u32 topology = 0; topology < 2; topology++) {
		start(&w, topology, false);
		for (u32 i = 0; i < PORTS; i++) {
			assert_int_equal(w.e[i].port.ib.state, PORT_INIT);
			assert_int_equal(far_of(&w, i)->state, PORT_INIT);
		}
		assert_true(send_mad(&w, 2, LID_PERMISSIVE, 0, 7));
		/* it leaves when the fabric has its turn */
		assert_int_equal(w.rx, 0);
		assert_true(fab_next(w.f) <= w.now);
		settle(&w);
		assert_int_equal(w.rx, 1);
		assert_int_equal(w.psn, 7);
		assert_int_equal(w.sw, topology);
		assert_int_equal(w.in_port, w.e[2].port.at);
		/* and back */
		w.answer = true;
		send_mad(&w, 0, LID_PERMISSIVE, 0, 8);
		fab_switch_count(w.f, 0, w.e[0].port.at, &c);
		assert_int_equal(c.xmit_pkts, 0);
		/* the answer goes to the sender's LID, which is 0: the port drops it */
		settle(&w);
		assert_int_equal(w.e[0].n, 0);
		fab_switch_count(w.f, 0, w.e[0].port.at, &c);
		assert_int_equal(c.xmit_pkts, 1);
		assert_int_equal(c.rcv_pkts, 1);
		/* to a LID that no port has */
		send_mad(&w, 0, 77, 0, 9);
		settle(&w);
		assert_int_equal(w.rx, 2);
		fab_switch_count(w.f, 0, w.e[0].port.at, &c);
		assert_int_equal(c.relay_errors, 1);
		/* nothing else passes in PORT_INIT */
		send_mad(&w, 0, LID_PERMISSIVE, 1, 10);
		settle(&w);
		assert_int_equal(w.rx, 2);
		assert_int_equal(w.e[0].port.ib.discards, 1);
		/* no link, no packet */
		port_set_phys(far_of(&w, 0), PORT_PHYS_DISABLED);
		assert_false(send_mad(&w, 0, LID_PERMISSIVE, 0, 11));
		end(&w);
	}
}

/* LIDs by hand: from a port to a port, over links that are not active. */
static void lid_routed(void **state)
{
	struct world w;

	for (u32 topology = 0; topology < 2; topology++) {
		start(&w, topology, false);
		port_set_lid(&w.e[0].port.ib, 4, 2);
		port_set_lid(&w.e[2].port.ib, 8, 1);
		for (u32 lid = 4; lid < 10; lid++) {
			bool first = lid < 8;

			fab_switch_set_port(w.f, 0, lid, first ? w.e[0].port.at :
					    topology ? 3 : w.e[2].port.at);
			if (topology)
				fab_switch_set_port(w.f, 1, lid, first ? 1 : w.e[2].port.at);
		}
		send_mad(&w, 0, 9, 0, 20);
		settle(&w);
		assert_int_equal(w.e[2].n, 1);
		assert_int_equal(w.e[2].psn, 20);
		assert_int_equal(w.e[2].class, 0x81);
		/* a LID that the table leads to a port, which does not have it */
		port_set_lid(&w.e[2].port.ib, 8, 0);
		send_mad(&w, 0, 9, 0, 21);
		settle(&w);
		assert_int_equal(w.e[2].n, 1);
		assert_int_equal(w.e[0].port.ib.drops, 1);
		/* packets to a port's own LIDs stay in it */
		for (u32 lid = 4; lid < 8; lid++) {
			send_mad(&w, 0, lid, 0, lid);
			settle(&w);
			assert_int_equal(w.e[0].psn, lid);
		}
		assert_int_equal(w.e[0].n, 4);
		assert_int_equal(w.e[0].port.ib.tx_packets, 2);
		end(&w);
	}
}

/* A switch as the static subnet sets it up: its LIDs, and both ways to its agents and back. */
static void switch_lids(void **state)
{
	struct port_count c;
	struct world w;

	for (u32 topology = 0; topology < 2; topology++) {
		start(&w, topology, true);
		w.answer = true;
		for (u32 i = 0; i < PORTS; i++)
			w.e[i].quiet = true;
		for (u32 sw = 0; sw < fab_switches(w.f); sw++) {
			u16 lid = fab_switch_ib(w.f, sw, 0)->lid;

			assert_int_equal(lid, LID_SWITCH - sw);
			for (u32 i = 0; i < PORTS; i++) {
				for (u32 qpn = 0; qpn < 2; qpn++) {
					u32 had = w.e[i].n;

					assert_true(send_mad(&w, i, lid, qpn, 30));
					settle(&w);
					assert_int_equal(w.sw, sw);
					assert_int_equal(w.psn, 30);
					assert_int_equal(w.e[i].n, had + 1);
					assert_int_equal(w.e[i].psn, 130);
				}
			}
		}
		fab_switch_count(w.f, 0, w.e[0].port.at, &c);
		assert_true(c.rcv_pkts >= 2 && c.xmit_pkts >= 2);
		assert_int_equal(c.rcv_bytes, w.e[0].port.ib.tx_bytes);
		assert_int_equal(c.xmit_bytes, w.e[0].port.ib.rx_bytes);
		end(&w);
	}
}

/* Each receiver answers, repeatedly: time passes, and there is no recursion. */
static void ping_pong(void **state)
{
	struct world w;

	start(&w, false, true);
	w.answer = true;
	port_set_lid(&w.e[1].port.ib, w.e[0].port.ib.lid, 0);
	send_mad(&w, 0, w.e[0].port.ib.lid, 0, 0);
	for (u32 i = 1; i < 1000; i++) {
		assert_int_equal(fab_poll(w.f, w.now, 1), 1);
		assert_int_equal(w.e[0].n, i);
	}
	w.answer = false;
	settle(&w);
	/* the number of waiting packets is limited */
	for (u32 i = 0; i < FAB_MADS_MOST; i++)
		assert_true(send_mad(&w, 0, LID_PERMISSIVE, 0, i));
	assert_false(send_mad(&w, 0, LID_PERMISSIVE, 0, 0));
	assert_int_equal(w.e[0].port.ib.vl15_dropped, 1);
	settle(&w);
	assert_int_equal(w.rx, FAB_MADS_MOST);
	/* packets that wait to leave are dropped with their port */
	send_mad(&w, 0, LID_PERMISSIVE, 0, 0);
	end(&w);
}

/* A node that asks a switch too much gets no answers, and others get theirs. */
static void answers_for_each(void **state)
{
	for (u32 topology = 0; topology < 2; topology++) {
		struct world w;

		start(&w, topology, true);
		w.answer = true;
		w.many = true;
		for (u32 i = 0; i < PORTS; i++)
			w.e[i].quiet = true;
		for (u32 i = 0; i < FAB_MADS_MOST; i++)
			assert_true(send_mad(&w, 0, LID_PERMISSIVE, 0, i));
		assert_true(send_mad(&w, 1, LID_PERMISSIVE, 0, 1000));
		settle(&w);
		assert_int_equal(w.e[1].n, 1);
		assert_in_range(w.e[0].n, FAB_ANSWERS_MOST, FAB_MADS_MOST);
		/* the links of a topology take time, so answers leave meanwhile */
		if (!topology)
			assert_int_equal(w.refused, FAB_MADS_MOST - FAB_ANSWERS_MOST);
		/* and there is room again */
		w.many = false;
		assert_true(send_mad(&w, 0, LID_PERMISSIVE, 0, 0));
		settle(&w);
		end(&w);
	}
}

/* States of ports, one after the other, and the packets that pass in each. */
static void states(void **state)
{
	struct world w;

	for (u32 topology = 0; topology < 2; topology++) {
		struct port *way[4];

		start(&w, topology, false);
		for (u32 i = 0; i < 2; i++) {
			port_set_lid(&w.e[i].port.ib, i + 1, 0);
			fab_switch_set_port(w.f, 0, i + 1, w.e[i].port.at);
		}
		way[0] = &w.e[0].port.ib;
		way[1] = far_of(&w, 0);
		way[2] = far_of(&w, 1);
		way[3] = &w.e[1].port.ib;
		for (u32 without = 0; without < 4; without++) {
			port_bounce(way[0]);
			port_bounce(way[3]);
			for (u32 i = 0; i < 4; i++)
				if (i != without)
					activate(way[i]);
			w.e[1].n = 0;
			send_data(&w, 0, 1, 0xffff);
			assert_int_equal(w.e[1].n, 0);
			/* an armed port sends nothing, and receives */
			port_set_state(way[without], PORT_ARMED);
			send_data(&w, 0, 1, 0xffff);
			assert_int_equal(w.e[1].n, without % 2);
			assert_int_equal(way[without]->state,
					 without % 2 ? PORT_ACTIVE : PORT_ARMED);
			port_set_state(way[without], PORT_ACTIVE);
			send_data(&w, 0, 1, 0xffff);
			assert_int_equal(w.e[1].n, 1 + without % 2);
		}
		end(&w);
	}
}

static void enforce(struct port *at, bool in, bool out)
{
	struct port_setup setup = at->setup;

	setup.enforce_in = in;
	setup.enforce_out = out;
	port_set_setup(at, &setup);
}

/* P_Keys at ports of switches, in both directions. */
static void pkeys(void **state)
{
	struct port_count c;
	struct world w;

	for (u32 i = 0; i < 4; i++) {
		bool in = i / 2;
		struct port *at;

		start(&w, i % 2, true);
		at = far_of(&w, !in);
		enforce(at, in, !in);
		port_set_pkeys(at, 0, 1, &(u16){ 0x8001 });
		send_data(&w, 0, 1, 0xffff);
		assert_int_equal(w.e[1].n, 0);
		assert_int_equal(w.bad_pkeys, 1);
		assert_int_equal(w.bad_port, w.e[!in].port.at);
		fab_switch_count(w.f, 0, w.bad_port, &c);
		assert_int_equal(c.rcv_constraint, in);
		assert_int_equal(c.xmit_constraint, !in);
		/* the other direction is not checked */
		send_data(&w, 1, 0, 0xffff);
		assert_int_equal(w.e[0].n, 1);
		/* management by VL15 has no partitions */
		send_mad(&w, 0, LID_PERMISSIVE, 0, 1);
		settle(&w);
		assert_int_equal(w.rx, 1);
		enforce(at, false, false);
		send_data(&w, 0, 1, 0xffff);
		assert_int_equal(w.e[1].n, 1);
		end(&w);
	}
}

/* Full and limited members, behind ports of switches that have their tables. */
static void members(void **state)
{
	const struct {
		u16 pkey[2], sent;
		bool in, out;
	} c[] = {
		{ { 0x8005, 0x8005 }, 0x8005, true, true }, { { 0x8005, 5 }, 0x8005, true, true },
		{ { 5, 0x8005 }, 5, true, true }, { { 5, 5 }, 5, true, false },
		{ { 6, 0x8005 }, 5, false, true }, { { 5, 5 }, 0x8005, false, true },
	};
	struct world w;

	for (u32 i = 0; i < 2 * ARRAY_SIZE(c); i++) {
		bool in = c[i / 2].in, arrives = in && c[i / 2].out;

		start(&w, i % 2, true);
		for (u32 k = 0; k < 2; k++) {
			enforce(far_of(&w, k), true, true);
			port_set_pkeys(far_of(&w, k), 0, 1, &c[i / 2].pkey[k]);
		}
		send_data(&w, 0, 1, c[i / 2].sent);
		assert_int_equal(w.e[1].n, arrives);
		assert_int_equal(w.bad_pkeys, !arrives);
		assert_int_equal(w.bad_port, arrives ? 0 : w.e[in].port.at);
		end(&w);
	}
}

/* A port accepts its own LIDs, whatever tables say; also while links have faults. */
static void own_lids(void **state)
{
	const struct fab_fault fault = { .kind = FAB_LOSS, .permille = 1, .skip = 1000, .seed = 1 };
	struct world w;

	for (u32 how = 0; how < 4; how++) {
		start(&w, how & 1, true);
		/* a manager that knows that no port has the LID would not let the packet be sent */
		subnet_static_yield(w.f);
		if (how & 2)
			assert_int_equal(fab_fault_arm(w.f, &fault), 0);
		send_data(&w, 0, 1, 0xffff);
		assert_int_equal(w.e[1].n, 1);
		fab_switch_set_port(w.f, 0, 100, w.e[1].port.at);
		port_set_lid(&w.e[2].port.ib, 100, 0);
		send_data(&w, 0, 2, 0xffff);
		assert_int_equal(w.e[1].n, 1);
		assert_int_equal(w.e[0].port.ib.drops, 1);
		/* those that are its own still pass */
		send_data(&w, 0, 1, 0xffff);
		assert_int_equal(w.e[1].n, 2);
		port_set_lid(&w.e[1].port.ib, 100, 0);
		send_data(&w, 0, 2, 0xffff);
		assert_int_equal(w.e[1].n, 3);
		fab_switch_set_port(w.f, 0, 100, 0);
		send_data(&w, 0, 2, 0xffff);
		assert_int_equal(w.e[1].n, 3);
		end(&w);
	}
}

/* The switch notifies its agents of changes of its ports and of the time. */
static void told(void **state)
{
	struct world w;

	for (u32 topology = 0; topology < 2; topology++) {
		start(&w, topology, false);
		assert_true(fab_switch_changed(w.f, 0));
		fab_switch_clear_changed(w.f, 0);
		assert_false(fab_switch_changed(w.f, 0));
		port_set_cable(&w.e[1].port.ib, false);
		assert_int_equal(w.states, 1);
		assert_int_equal(w.state_port, w.e[1].port.at);
		assert_int_equal(w.old, PORT_INIT);
		assert_true(fab_switch_changed(w.f, 0));
		port_set_cable(&w.e[1].port.ib, true);
		assert_int_equal(w.states, 2);
		assert_int_equal(w.old, PORT_DOWN);
		if (topology) {
			/* both ends of a cable between switches */
			fab_link_up(w.f, fab_link_find(w.f, "a-b"), false);
			assert_int_equal(w.states, 4);
			assert_int_equal(fab_switch_ib(w.f, 0, 3)->state, PORT_DOWN);
			assert_int_equal(fab_switch_ib(w.f, 1, 1)->state, PORT_DOWN);
			fab_link_up(w.f, fab_link_find(w.f, "a-b"), true);
			assert_int_equal(fab_switch_ib(w.f, 1, 1)->state, PORT_INIT);
		}
		fab_agents_at(w.f, w.now + 50);
		fab_agents_at(w.f, w.now + 5000);
		assert_true(fab_next(w.f) == w.now + 50);
		fab_poll(w.f, w.now + 49, 10);
		assert_int_equal(w.runs, 0);
		settle(&w);
		assert_int_equal(w.runs, 1);
		assert_true(fab_next(w.f) == UINT64_MAX);
		end(&w);
	}
}

/* Port 0 has no link that could go down, and no cable. */
static void port_zero(void **state)
{
	struct world w;

	for (u32 topology = 0; topology < 2; topology++) {
		struct port *ib;

		start(&w, topology, true);
		ib = fab_switch_ib(w.f, 0, 0);
		assert_int_equal(ib->state, PORT_ACTIVE);
		assert_int_equal(port_set_state(ib, PORT_DOWN), -EINVAL);
		assert_int_equal(port_set_phys(ib, PORT_PHYS_DISABLED), -EINVAL);
		port_bounce(ib);
		assert_int_equal(ib->state, PORT_ACTIVE);
		assert_int_equal(ib->guid, fab_switch_guid(w.f, 0));
		end(&w);
	}
}

/* A packet whose sender is unplugged goes on without a sender. */
static void sender_gone(void **state)
{
	struct world w;

	start(&w, true, true);
	send_mad(&w, 2, w.e[0].port.ib.lid, 0, 1);
	while (!link_is_busy(w.f, "a-b"))
		fab_poll(w.f, fab_next(w.f), UINT32_MAX);
	fab_unplug(&w.e[2].port);
	fab_link_up(w.f, fab_link_find(w.f, "a-b"), false);
	assert_int_equal(w.e[2].port.ib.drops, 0);
	assert_int_equal(fab_plug(w.f, &w.e[2].port, "h2"), 0);
	settle(&w);
	assert_int_equal(w.e[0].n, 0);
	/* and one that stays until the fabric ends */
	fab_link_up(w.f, fab_link_find(w.f, "a-b"), true);
	send_mad(&w, 2, w.e[0].port.ib.lid, 0, 1);
	while (!link_is_busy(w.f, "a-b"))
		fab_poll(w.f, fab_next(w.f), UINT32_MAX);
	end(&w);
}

/* A fault for a management class, or for a destination QP. */
static void faults(void **state)
{
	struct fab_fault fault = { .kind = FAB_LOSS, .permille = 1000, .mgmt_class = 0x81 };
	struct world w;

	for (u32 topology = 0; topology < 2; topology++) {
		start(&w, topology, true);
		fault.has_dqpn = false;
		fault.mgmt_class = 0x81;
		assert_int_equal(fab_fault_arm(w.f, &fault), 0);
		send_mad(&w, 0, LID_PERMISSIVE, 0, 1);
		settle(&w);
		assert_int_equal(w.rx, 0);
		/* to another QP it is no management packet */
		send_data(&w, 0, 1, 0xffff);
		assert_int_equal(w.e[1].n, 1);
		fab_fault_clear(w.f, NULL, NULL);
		fault.mgmt_class = 3;
		assert_int_equal(fab_fault_arm(w.f, &fault), 0);
		send_mad(&w, 0, w.e[1].port.ib.lid, 1, 1);
		send_mad(&w, 0, LID_PERMISSIVE, 0, 1);
		settle(&w);
		assert_int_equal(w.rx, 1);
		assert_int_equal(w.e[1].n, 2);
		fab_fault_clear(w.f, NULL, NULL);
		fault.mgmt_class = 0;
		fault.has_dqpn = true;
		fault.dqpn = 5;
		assert_int_equal(fab_fault_arm(w.f, &fault), 0);
		send_data(&w, 0, 1, 0xffff);
		send_mad(&w, 0, w.e[1].port.ib.lid, 1, 1);
		settle(&w);
		assert_int_equal(w.e[1].n, 3);
		/* twice, and late */
		fab_fault_clear(w.f, NULL, NULL);
		fault = (struct fab_fault){ .kind = FAB_DUPLICATE, .permille = 1000, .usec = 10,
					    .has_dqpn = true };
		assert_int_equal(fab_fault_arm(w.f, &fault), 0);
		send_mad(&w, 0, LID_PERMISSIVE, 0, 1);
		settle(&w);
		assert_int_equal(w.rx, 3);
		/* a corrupted bit */
		fab_fault_clear(w.f, NULL, NULL);
		fault = (struct fab_fault){ .kind = FAB_CORRUPT, .permille = 1000 };
		assert_int_equal(fab_fault_arm(w.f, &fault), 0);
		send_mad(&w, 0, LID_PERMISSIVE, 0, 1);
		settle(&w);
		assert_int_equal(w.rx, 3);
		end(&w);
		fault = (struct fab_fault){ .kind = FAB_LOSS, .permille = 1000 };
	}
}

/* VL15 does not wait behind data that waits for room. */
static void no_flow_control(void **state)
{
	static const struct t_link slow[] = {
		{ "a-h0", "4X EDR", 10, 4 }, { "a-h1", "1X SDR", 10, 4 },
		{ "a-b", "4X EDR", 10, 4 }, { "b-h2", "4X EDR", 10, 4 }, { 0 },
	};
	struct payload pl;
	struct world w;
	struct run run;

	w = (struct world){ .f = fabric_new(), .now = SEC };
	assert_int_equal(subnet_static(w.f), 0);
	fabric_set_topology(w.f, t_topo("ab", TOPO_HOQ_USUAL, slow));
	fab_set_now(w.f, w.now);
	for (u32 i = 0; i < PORTS; i++) {
		w.e[i].w = &w;
		w.e[i].port = (struct fab_port){ .ops = &end_ops, .owner = &w.e[i], .number = 1 };
		assert_int_equal(fab_plug(w.f, &w.e[i].port,
					  (const char *[]){ "h0", "h1", "h2" }[i]), 0);
	}
	run = mad_to(&w.e[0].port, w.e[1].port.ib.lid, 5, 0, &pl);
	for (u32 i = 0; i < 8; i++)
		fab_send(&w.e[0].port, &run);
	assert_true(send_mad(&w, 0, w.e[2].port.ib.lid, 0, 50));
	/* a few us: the slow link has not passed two packets on by then */
	while (!w.e[2].n && fab_next(w.f) < w.now + MSEC)
		fab_poll(w.f, fab_next(w.f), UINT32_MAX);
	assert_int_equal(w.e[2].psn, 50);
	assert_true(w.e[1].n < 2);
	end(&w);
}

/* A host that always sends MADs holds up no other packets. */
static void flood(void **state)
{
	struct payload pl;
	struct world w;
	struct run run;

	start(&w, true, true);
	run = mad_to(&w.e[1].port, w.e[2].port.ib.lid, 5, 0, &pl);
	fab_send(&w.e[1].port, &run);
	for (u32 i = 0; i < 1000 && !w.e[2].n; i++) {
		while (send_mad(&w, 0, LID_PERMISSIVE, 0, 0))
			;
		w.now += 1000;
		fab_poll(w.f, w.now, 64);
	}
	assert_int_equal(w.e[2].n, 1);
	settle(&w);
	end(&w);
}

/* As many as a switch has ports, and no more. */
static void many_ports(void **state)
{
	struct fab_port *port = calloc(SWITCH_MAX_PORTS + 1, sizeof(*port));
	struct world w = { .f = fabric_new(), .now = SEC };
	struct end e = { .w = &w };
	struct payload pl;
	struct run run;

	assert_int_equal(subnet_static(w.f), 0);
	fabric_set_agents(w.f, &agent_ops, &w);
	assert_int_equal(fab_switch_ports(w.f, 0), 254);
	for (u32 i = 0; i < SWITCH_MAX_PORTS; i++) {
		port[i].ops = &end_ops;
		port[i].owner = &e;
		assert_int_equal(fab_plug(w.f, &port[i], "p"), 0);
		assert_int_equal(port[i].at, i + 1);
		assert_true(port[i].open);
	}
	assert_int_equal(fab_plug(w.f, &port[SWITCH_MAX_PORTS], "p"), -ENOSPC);
	run = mad_to(port, port[SWITCH_MAX_PORTS - 1].ib.lid, 5, 0, &pl);
	fab_send(port, &run);
	assert_int_equal(port[SWITCH_MAX_PORTS - 1].ib.rx_packets, 1);
	/* a new manager finds everything as it is, and changes it */
	subnet_static_yield(w.f);
	subnet_static_yield(w.f);
	assert_true(port[3].open);
	port_bounce(&port[3].ib);
	assert_int_equal(port[3].ib.state, PORT_INIT);
	assert_int_equal(port[3].ib.peer->state, PORT_INIT);
	for (u32 i = 0; i < SWITCH_MAX_PORTS; i++)
		fab_unplug(&port[i]);
	fabric_free(w.f);
	free(port);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(neighbours), cmocka_unit_test(lid_routed),
		cmocka_unit_test(switch_lids), cmocka_unit_test(ping_pong),
		cmocka_unit_test(answers_for_each),
		cmocka_unit_test(states), cmocka_unit_test(pkeys), cmocka_unit_test(members),
		cmocka_unit_test(own_lids), cmocka_unit_test(told), cmocka_unit_test(port_zero),
		cmocka_unit_test(sender_gone), cmocka_unit_test(faults),
		cmocka_unit_test(no_flow_control), cmocka_unit_test(flood),
		cmocka_unit_test(many_ports),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
