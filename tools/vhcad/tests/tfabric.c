// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdlib.h>
#include <string.h>

#include "tests/tfabric.h"

static void note(struct t_end *e, const struct run *run)
{
	assert_true(e->n < ARRAY_SIZE(e->psn));
	e->psn[e->n] = run->h.psn;
	e->slid[e->n] = run->h.slid;
	e->at[e->n++] = e->port.fabric->now;
}

static void on_rx(struct fab_port *port, struct run *run)
{
	note(container_of(port, struct t_end, port), run);
}

static void on_mcast(struct fab_port *port, struct datagram *d)
{
	struct t_end *e = container_of(port, struct t_end, port);

	note(e, d->run);
	e->mcasts++;
}

static void on_state(struct fab_port *port, u8 old)
{
}

static void addrs_changed(struct fab_port *port, u32 what)
{
}

static const struct fab_port_ops end_ops = {
	.rx = on_rx, .rx_mcast = on_mcast, .state = on_state,
	.changed = addrs_changed,
};

/* The address of the n-th port, from 1. */
static struct eth_addr addr_of(u32 n, u16 vlan)
{
	return (struct eth_addr){
		.mac = { 2, 0, 0, 0, 0, n }, .vlan = vlan ? : WIRE_NO_TAG,
		.gid = { 0xfe, 0x80, [15] = n },
	};
}

static void plug_eth(struct t_fabric *f, struct fab_port *port, const char *name)
{
	struct eth_addr a = addr_of(f->nends, 0), v = addr_of(f->nends, T_VLAN);

	assert_int_equal(fab_plug_eth(f->f, port, name, a.mac, false), 0);
	fab_eth_set_gid(port, 0, &a);
	fab_eth_set_gid(port, 1, &v);
	fab_eth_enable(port, true);
}

void t_plug(struct t_fabric *f, const char *name)
{
	struct fab_port *port = &f->e[f->nends++].port;

	*port = (struct fab_port){ .ops = &end_ops, .number = 1, .ib.guid = f->nends };
	if (f->t && f->t->ethernet)
		plug_eth(f, port, name);
	else
		assert_int_equal(fab_plug(f->f, port, name), 0);
}

void t_begin(struct t_fabric *f, struct topo *t)
{
	memset(f, 0, sizeof(*f));
	f->f = t_fabric();
	f->t = t;
	fabric_set_topology(f->f, t);
	f->now = 5 * SEC;
	fab_set_now(f->f, f->now);
}

void t_plug_all(struct t_fabric *f)
{
	for (const char *name; (name = topo_end(f->t, f->nends)); )
		t_plug(f, name);
}

void t_start(struct t_fabric *f, struct topo *t)
{
	t_begin(f, t);
	t_plug_all(f);
}

static u8 bytes[4096];

void t_send_to(struct t_fabric *f, u32 from, u16 dlid, u32 len)
{
	struct payload pl = { .host = bytes };
	struct run run = {
		.h = { .dlid = dlid, .slid = f->e[from].port.ib.lid, .psn = f->psn++,
		       .pkey = 0xffff, .sl = f->sl },
		.service = lid_is_mcast(dlid) ? WIRE_UD : WIRE_RC, .kind = WIRE_SEND,
		.first = true, .last = true, .npkts = 1, .mtu = len, .len = len, .pl = &pl,
	};

	run.h.grh = lid_is_mcast(dlid);
	fab_send(&f->e[from].port, &run);
}

/* Sends a packet over Ethernet; if @mac is the group's address, to the group. */
static void send_frame(struct t_fabric *f, u32 from, const u8 *mac, const u8 *gid, u32 len)
{
	struct eth_addr a = addr_of(from + 1, f->vlan);
	bool group = mac_is_mcast(mac);
	struct payload pl = { .host = bytes };
	struct run run = {
		.h = { .eth = true, .grh = true, .hop_limit = 64, .vlan = a.vlan, .sport = 0xc000,
		       .psn = f->psn++, .pkey = 0xffff },
		.service = group ? WIRE_UD : WIRE_RC, .kind = WIRE_SEND,
		.first = true, .last = true, .npkts = 1, .mtu = len, .len = len, .pl = &pl,
	};

	memcpy(run.h.smac, a.mac, sizeof(a.mac));
	memcpy(run.h.sgid, a.gid, sizeof(a.gid));
	memcpy(run.h.dmac, mac, sizeof(a.mac));
	memcpy(run.h.dgid, gid, sizeof(a.gid));
	fab_send(&f->e[from].port, &run);
}

void t_send_group(struct t_fabric *f, u32 from, u32 len)
{
	static const u8 gid[16] = { 0xff, 0x0e, [15] = 5 };
	u8 mac[WIRE_MAC_LEN];

	roce_mcast_mac(gid, mac);
	send_frame(f, from, mac, gid, len);
}

void t_send_packet(struct t_fabric *f, u32 from, u32 to, u32 len)
{
	struct eth_addr a = addr_of(to + 1, f->vlan);

	if (f->t && f->t->ethernet)
		send_frame(f, from, a.mac, a.gid, len);
	else
		t_send_to(f, from, f->e[to].port.ib.lid, len);
}

u64 t_frame_size(u32 len)
{
	const struct wire_path path = { .eth = true, .vlan = WIRE_NO_TAG };

	return wire_path_len(&path, OP_RC_SEND_ONLY, len);
}

/* Bytes on the wire of a packet of t_send_packet(). */
u64 t_size_of(u32 len)
{
	return wire_len(OP_RC_SEND_ONLY, false, len);
}

void t_pass_until(struct t_fabric *f, u64 until)
{
	while (fab_next(f->f) <= until) {
		f->now = MAX(f->now, fab_next(f->f));
		fab_set_now(f->f, f->now);
		fab_poll(f->f, f->now, UINT32_MAX);
	}
	f->now = until;
	fab_set_now(f->f, f->now);
	fab_poll(f->f, f->now, UINT32_MAX);
}

void t_pass(struct t_fabric *f, u64 ns)
{
	t_pass_until(f, f->now + ns);
}

void t_expect_parts(struct t_fabric *f, const u32 part[ENDS])
{
	for (u32 i = 0; i < ENDS; i++)
		f->e[i].n = 0;
	for (u32 i = 0; i < ENDS; i++)
		for (u32 k = 0; k < ENDS; k++)
			if (i != k)
				t_send_packet(f, i, k, LONG);
	t_pass(f, MSEC);
	for (u32 i = 0; i < ENDS; i++) {
		u32 others = 0;

		for (u32 k = 0; k < ENDS; k++)
			others += k != i && part[k] == part[i];
		assert_int_equal(f->e[i].n, others);
	}
}

struct fab_link_state t_link_state(struct t_fabric *f, const char *name)
{
	struct fab_link_state s;
	int n = fab_link_find(f->f, name);

	assert_true(n >= 0);
	assert_true(fab_link_state(f->f, n, &s));
	return s;
}

void t_let(struct t_fabric *f, const char *link, bool up)
{
	fab_link_up(f->f, fab_link_find(f->f, link), up);
}

void t_end(struct t_fabric *f)
{
	struct topo *t = f->t;

	t_pass(f, SEC);
	for (u32 i = 0; i < f->nends; i++)
		fab_unplug(&f->e[i].port);
	/* all packets are in the pool again */
	for (struct list_head *l = t->free.next; l != &t->free; l = l->next)
		t->npool--;
	for (u32 i = 0; i < 2 * PORT_VLS * t->nlinks; i++) {
		struct fab_pipe *pipe = t->link[i / PORT_VLS / 2]->pipe;
		struct list_head *waits = &pipe[i / PORT_VLS % 2].lane[i % PORT_VLS].arrived;

		for (struct list_head *l = waits->next; l != waits; l = l->next)
			t->npool--;
	}
	assert_int_equal(t->npool, 0);
	fabric_free(f->f);
}

/* Three switches in a row with two ports each, and the ring closed by a fourth. */
const struct t_link t_triangle[] = {
	{ "a-h0", "4X EDR", 10, 8 }, { "a-h1", "4X EDR", 10, 8 }, { "b-h2", "4X EDR", 10, 8 },
	{ "b-h3", "4X EDR", 10, 8 }, { "c-h4", "4X EDR", 10, 8 }, { "c-h5", "4X EDR", 10, 8 },
	{ "a-b", "4X EDR", 10, 8 }, { "b-c", "4X EDR", 10, 8 }, { "c-a", "4X EDR", 10, 8 }, { 0 },
};

