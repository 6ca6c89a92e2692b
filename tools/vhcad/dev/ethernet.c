// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * What a driver sets of an Ethernet port: its addresses, its MTU, and whether it takes packets.
 */
#include <string.h>

#include "dev/hca.h"
#include "fabric/eth.h"
#include "res/command.h"

#define LAST_VLAN	4094u

static bool all_zero(const void *bytes, u32 n)
{
	for (const u8 *p = bytes; n; n--, p++)
		if (*p)
			return false;
	return true;
}

static enum vhca_status check_cleared(struct command *c)
{
	const struct vhca_set_gid_req *req = command_req(c);

	if (req->vlan)
		return BAD_FIELD(c, vhca_set_gid_req, vlan);
	if (!all_zero(req->mac, sizeof(req->mac)))
		return BAD_FIELD(c, vhca_set_gid_req, mac);
	if (!all_zero(req->gid, sizeof(req->gid)))
		return BAD_FIELD(c, vhca_set_gid_req, gid);
	return VHCA_ST_OK;
}

static enum vhca_status check_address(struct command *c)
{
	const struct vhca_set_gid_req *req = command_req(c);
	u16 vlan = le16toh(req->vlan);

	if (vlan != VHCA_NO_VLAN && (!vlan || vlan > LAST_VLAN))
		return BAD_FIELD(c, vhca_set_gid_req, vlan);
	if (mac_is_mcast(req->mac) || all_zero(req->mac, sizeof(req->mac)))
		return BAD_FIELD(c, vhca_set_gid_req, mac);
	if (gid_is_mcast(req->gid) || all_zero(req->gid, sizeof(req->gid)))
		return BAD_FIELD(c, vhca_set_gid_req, gid);
	return VHCA_ST_OK;
}

static_assert(VHCA_NO_VLAN == WIRE_NO_TAG, "the driver's name of it");

enum vhca_status cmd_set_gid(struct command *c)
{
	const struct vhca_set_gid_req *req = command_req(c);
	struct eth_addr addr = { .vlan = le16toh(req->vlan) };
	u32 i = le16toh(req->index);
	enum vhca_status st;
	struct vport *p;

	if (!command_alone(c))
		return VHCA_ST_OK;
	if (!req->port || req->port > c->dev->nports || !c->dev->port[req->port - 1].fab.eth)
		return BAD_FIELD(c, vhca_set_gid_req, port);
	if (i >= ETH_GIDS)
		return BAD_FIELD(c, vhca_set_gid_req, index);
	if (req->type != VHCA_GID_CLEAR && req->type != VHCA_GID_ROCE_V2)
		return BAD_FIELD(c, vhca_set_gid_req, type);
	st = req->type == VHCA_GID_CLEAR ? check_cleared(c) : check_address(c);
	if (st)
		return st;
	p = &c->dev->port[req->port - 1];
	memcpy(addr.mac, req->mac, sizeof(addr.mac));
	memcpy(addr.gid, req->gid, sizeof(addr.gid));
	fab_eth_set_gid(&p->fab, i, req->type == VHCA_GID_CLEAR ? NULL : &addr);
	return VHCA_ST_OK;
}

#define SWITCHES	(VHCA_PORT_ENABLE | VHCA_PORT_DISABLE)

enum vhca_status ethernet_check(struct command *c, const struct vport *p)
{
	const struct vhca_modify_port_req *req = command_req(c);

	if ((req->flags & SWITCHES && !p->fab.eth) || (req->flags & SWITCHES) == SWITCHES)
		return BAD_FIELD(c, vhca_modify_port_req, flags);
	if (req->mtu && (!p->fab.eth || req->mtu > p->fab.ib.mtu_cap))
		return BAD_FIELD(c, vhca_modify_port_req, mtu);
	return VHCA_ST_OK;
}

void ethernet_modify(struct vport *p, const struct vhca_modify_port_req *req)
{
	struct port_setup setup = p->fab.ib.setup;

	if (req->mtu) {
		setup.mtu = req->mtu;
		port_set_setup(&p->fab.ib, &setup);
	}
	if (req->flags & SWITCHES)
		fab_eth_enable(&p->fab, req->flags & VHCA_PORT_ENABLE);
}
