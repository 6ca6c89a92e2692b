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

static const u8 no_gid[16];

void port_init(struct port *port, u64 guid)
{
	*port = (struct port){
		.guid = guid,
		.state = PORT_DOWN,
		.phys_state = PORT_PHYS_POLLING,
		.cable = true,
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

/* The link comes up, or goes down; the subnet manager does the rest. */
static void follow_link(struct port *port)
{
	bool up = port->enabled && port->cable && !port->down_until;

	port->phys_state = up ? PORT_PHYS_LINKUP : PORT_PHYS_POLLING;
	if (!up)
		become(port, PORT_DOWN);
	else if (port->state == PORT_DOWN)
		become(port, PORT_INIT);
}

void port_enable(struct port *port, bool on)
{
	port->enabled = on;
	follow_link(port);
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

int port_set_state(struct port *port, u8 state)
{
	bool goes = port->state != PORT_DOWN && state >= PORT_INIT && state <= PORT_ACTIVE;

	if (state == PORT_ACTIVE && port->state == PORT_INIT)
		goes = false;
	if (state == PORT_ARMED && port->state == PORT_ACTIVE)
		goes = false;
	if (!goes)
		return -EINVAL;
	become(port, state);
	return 0;
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
