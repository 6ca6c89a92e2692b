// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port's state machine and its addresses.
 */
#include <errno.h>
#include <string.h>

#include "lib/bytes.h"
#include "port/port.h"

#define DEFAULT_PREFIX		0xfe80000000000000ull
#define DEFAULT_PKEY		0xffffu
#define MTU_4096		5u	/* enum ib_mtu */
#define VLCAP_8			4u	/* VL0 to VL7 */

static const u8 no_gid[16];

/* The setup of a new port: an MTU of 4096 bytes, one VL for all SLs, no thresholds. */
static const struct port_setup at_birth = {
	.mtu = MTU_4096,
	.width_enabled = 0xff,
	.speed_enabled = 0xf,
	.speed_ext_enabled = 0x1f,
	.down_default = PORT_PHYS_POLLING,
	.hoq_life = 18,
	.op_vls = 1,
	.subnet_timeout = 18,
};

void port_init(struct port *port, u64 guid)
{
	*port = (struct port){
		.guid = guid,
		.state = PORT_DOWN,
		.phys_state = PORT_PHYS_POLLING,
		.want = PORT_PHYS_POLLING,
		.cable = true,
		.mtu_cap = MTU_4096,
		.vl_cap = VLCAP_8,
		.setup = at_birth,
	};
	put_be64(port->gid[0], DEFAULT_PREFIX);
	put_be64(port->gid[0] + 8, guid);
	port->pkey[0] = DEFAULT_PKEY;
}

/* ------------------------------------------------------------------------
 * State
 */
static void become(struct port *port, u8 state)
{
	u8 old = port->state;

	port->state = state;
	if (state != old && port->ops)
		port->ops->state(port, old);
}

static bool holds(const struct port *port)
{
	return port->cable && !port->down_until && port->want != PORT_PHYS_DISABLED;
}

static bool can_be_up(const struct port *port)
{
	const struct port *peer = port->peer;

	if (!peer || !holds(port) || !holds(peer))
		return false;
	return port->want != PORT_PHYS_SLEEP || peer->want != PORT_PHYS_SLEEP;
}

static void lose_link(struct port *port)
{
	port->link_downed += port->phys_state == PORT_PHYS_LINKUP;
	port->phys_state = port->want == PORT_PHYS_POLLING ? port->setup.down_default : port->want;
}

/* Both ends lose the link, or get it, before any owner is notified. */
static void follow_link(struct port *port)
{
	struct port *peer = port->peer;
	bool up = can_be_up(port);

	if (!up) {
		lose_link(port);
		if (peer)
			lose_link(peer);
		become(port, PORT_DOWN);
		if (peer)
			become(peer, PORT_DOWN);
	} else if (port->phys_state != PORT_PHYS_LINKUP) {
		port->phys_state = PORT_PHYS_LINKUP;
		peer->phys_state = PORT_PHYS_LINKUP;
		/* from here on each owner may change the state of its own end */
		become(peer, PORT_INIT);
		become(port, PORT_INIT);
	}
}

void port_connect(struct port *a, struct port *b)
{
	a->peer = b;
	b->peer = a;
	follow_link(a);
}

void port_disconnect(struct port *port)
{
	struct port *peer = port->peer;

	if (!peer)
		return;
	port->peer = NULL;
	peer->peer = NULL;
	follow_link(port);
	follow_link(peer);
}

void port_set_cable(struct port *port, bool plugged)
{
	port->cable = plugged;
	follow_link(port);
}

void port_hold_down(struct port *port, u64 until)
{
	port->down_until = until;
	follow_link(port);
}

void port_bounce(struct port *port)
{
	struct port *peer = port->peer;

	if (!peer || !port_link_is_up(port))
		return;
	lose_link(port);
	lose_link(peer);
	become(peer, PORT_DOWN);
	become(port, PORT_DOWN);
	follow_link(port);
}

/* Port 0 of a switch is up without a cable. */
static bool has_no_link(const struct port *port)
{
	return !port->peer && port_link_is_up(port);
}

int port_set_state(struct port *port, u8 state)
{
	u8 from = state - 1;

	if (state == PORT_DOWN) {
		if (has_no_link(port))
			return -EINVAL;
		port_bounce(port);
		return 0;
	}
	if ((state != PORT_ARMED && state != PORT_ACTIVE) ||
	    (port->state != from && port->state != state))
		return -EINVAL;
	become(port, state);
	return 0;
}

int port_set_phys(struct port *port, u8 phys)
{
	if (has_no_link(port))
		return -EINVAL;
	if (phys != PORT_PHYS_SLEEP && phys != PORT_PHYS_POLLING && phys != PORT_PHYS_DISABLED)
		return -EINVAL;
	port->want = phys;
	port_bounce(port);
	follow_link(port);
	return 0;
}

void port_got_data(struct port *port)
{
	if (port->state == PORT_ARMED)
		become(port, PORT_ACTIVE);
}

/* ------------------------------------------------------------------------
 * Addresses
 */
static void tell_changed(struct port *port, u32 what)
{
	if (what && port->ops)
		port->ops->changed(port, what);
}

void port_set_lid(struct port *port, u16 lid, u8 lmc)
{
	bool same = port->lid == lid && port->lmc == lmc;

	port->lid = lid;
	port->lmc = lmc;
	tell_changed(port, same ? 0 : PORT_LID_CHANGED);
}

void port_set_sm(struct port *port, u16 sm_lid, u8 sm_sl)
{
	bool same = port->sm_lid == sm_lid && port->setup.sm_sl == sm_sl;

	port->sm_lid = sm_lid;
	port->setup.sm_sl = sm_sl;
	tell_changed(port, same ? 0 : PORT_SM_CHANGED);
}

void port_set_pkeys(struct port *port, u32 first, u32 n, const u16 *pkey)
{
	bool same = !memcmp(port->pkey + first, pkey, n * sizeof(*pkey));

	memcpy(port->pkey + first, pkey, n * sizeof(*pkey));
	tell_changed(port, same ? 0 : PORT_PKEY_CHANGED);
}

void port_set_gids(struct port *port, u32 first, u32 n, const u8 gid[][16])
{
	bool same = !memcmp(port->gid[first], gid, n * sizeof(*gid));

	memcpy(port->gid[first], gid, n * sizeof(*gid));
	tell_changed(port, same ? 0 : PORT_GID_CHANGED);
}

void port_set_prefix(struct port *port, u64 prefix)
{
	bool same = true;

	for (u32 i = 0; i < PORT_GIDS; i++) {
		if (!memcmp(port->gid[i], no_gid, sizeof(no_gid)))
			continue;
		same = same && get_be64(port->gid[i]) == prefix;
		put_be64(port->gid[i], prefix);
	}
	tell_changed(port, same ? 0 : PORT_GID_CHANGED);
}

void port_set_setup(struct port *port, const struct port_setup *setup)
{
	if (!memcmp(&port->setup, setup, sizeof(*setup)))
		return;
	port->setup = *setup;
	tell_changed(port, PORT_SETUP_CHANGED);
}

void port_reregister(struct port *port)
{
	tell_changed(port, PORT_REREGISTER);
}

/* An entry of the table that is in use, and of the packet's partition. */
static bool same_partition(u16 own, u16 pkey)
{
	return own & ~PKEY_FULL && !((own ^ pkey) & ~PKEY_FULL);
}

u16 port_pkey_for(const struct port *port, u16 pkey)
{
	for (u32 i = 0; i < PORT_PKEYS; i++)
		if (same_partition(port->pkey[i], pkey) && (port->pkey[i] | pkey) & PKEY_FULL)
			return port->pkey[i];
	return 0;
}

bool port_sends_pkey(const struct port *port, u16 pkey)
{
	for (u32 i = 0; i < PORT_PKEYS; i++)
		if (same_partition(port->pkey[i], pkey) && (port->pkey[i] | ~pkey) & PKEY_FULL)
			return true;
	return false;
}

static bool gid_twice(const struct port_addrs *a, u32 i)
{
	for (u32 k = 0; k < i; k++)
		if (!memcmp(a->gid[k], a->gid[i], sizeof(a->gid[i])))
			return true;
	return false;
}

const char *port_addrs_wrong(const struct port_addrs *a)
{
	if (!a->lid || a->lid > LID_LAST)
		return "a port's LID is 1 to 0xbffe";
	if (!a->sm_lid || a->sm_lid > LID_SWITCH)
		return "the subnet manager's LID is 1 to 0xbfff";
	for (u32 i = 0; i < PORT_PKEYS; i++)
		if (a->pkey[i] == PKEY_FULL)
			return "0x8000 is not a P_Key";
	if (!a->pkey[0])
		return "P_Key 0 must not be empty";
	if (!memcmp(a->gid[0], no_gid, sizeof(no_gid)))
		return "GID 0 must not be empty";
	for (u32 i = 0; i < PORT_GIDS; i++) {
		if (a->gid[i][0] == 0xff)
			return "a multicast GID is not a port's";
		if (memcmp(a->gid[i], no_gid, sizeof(no_gid)) && gid_twice(a, i))
			return "the port has this GID already";
	}
	return NULL;
}

void port_set_addrs(struct port *port, const struct port_addrs *a, bool reregister)
{
	u32 what = reregister ? PORT_REREGISTER : 0;

	if (port->lid != a->lid)
		what |= PORT_LID_CHANGED;
	if (port->sm_lid != a->sm_lid)
		what |= PORT_SM_CHANGED;
	if (memcmp(port->pkey, a->pkey, sizeof(a->pkey)))
		what |= PORT_PKEY_CHANGED;
	if (memcmp(port->gid, a->gid, sizeof(a->gid)))
		what |= PORT_GID_CHANGED;
	port->addrs = *a;
	tell_changed(port, what);
}
