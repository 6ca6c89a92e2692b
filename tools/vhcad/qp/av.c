// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address vectors: checked, and made into headers.
 */
#include <endian.h>
#include <string.h>

#include "fabric/eth.h"
#include "qp/path.h"

#define LAST_SL		15u
#define LAST_PRIO	7u		/* of a VLAN's tag */
#define LAST_RATE	31u
#define LAST_FLOW	0xfffffu
#define LAST_PATH_BITS	((1u << LMC_MOST) - 1)

static bool dlid_good(u16 dlid, enum av_user user)
{
	if (lid_is_mcast(dlid))
		return user == AV_DATAGRAM;
	if (dlid == LID_PERMISSIVE)
		return user == AV_SMP;
	return dlid;
}

#define BAD(f)	offsetof(struct vhca_av, f)

/* On Ethernet there are no LIDs, but always a GRH; a group's address follows from its GID. */
static u32 check_eth(const struct vhca_av *av, enum av_user user)
{
	static const u8 none[WIRE_MAC_LEN];

	if (av->dlid)
		return BAD(dlid);
	if (av->src_path_bits)
		return BAD(src_path_bits);
	if (av->sl > LAST_SL)
		return BAD(sl);
	if (av->static_rate > LAST_RATE)
		return BAD(static_rate);
	if (av->grh != 1)
		return BAD(grh);
	if (av->sgid_index >= ETH_GIDS)
		return BAD(sgid_index);
	if (le32toh(av->flow_label) > LAST_FLOW)
		return BAD(flow_label);
	if (gid_is_mcast(av->dgid))
		return user == AV_DATAGRAM ? AV_GOOD : BAD(dgid);
	if (mac_is_mcast(av->dmac) || !memcmp(av->dmac, none, sizeof(none)))
		return BAD(dmac);
	return AV_GOOD;
}

u32 av_check(const struct vhca_av *av, const struct vport *p, enum av_user user)
{
	if (av->port != p->fab.number)
		return BAD(port);
	if (p->fab.eth)
		return check_eth(av, user);
	if (!dlid_good(le16toh(av->dlid), user))
		return BAD(dlid);
	if (av->sl > LAST_SL)
		return BAD(sl);
	if (av->src_path_bits > LAST_PATH_BITS)
		return BAD(src_path_bits);
	if (av->static_rate > LAST_RATE)
		return BAD(static_rate);
	if (av->grh > 1 || (av->grh && user == AV_SMP))
		return BAD(grh);
	if (av->grh && av->sgid_index >= PORT_GIDS)
		return BAD(sgid_index);
	if (av->grh && le32toh(av->flow_label) > LAST_FLOW)
		return BAD(flow_label);
	return AV_GOOD;
}

#undef BAD

/* Packets have the address of a GID table entry as source, and the IP version of both addresses. */
static void eth_path(const struct vhca_av *av, const struct vport *p, struct wire_path *h)
{
	const struct eth_gid *g = &p->fab.eth->gid[av->sgid_index];

	h->eth = true;
	h->ipv4 = gid_is_ipv4(g->addr.gid);
	h->unsent = !g->valid || h->ipv4 != gid_is_ipv4(av->dgid);
	memcpy(h->smac, g->addr.mac, sizeof(h->smac));
	if (gid_is_mcast(av->dgid))
		roce_mcast_mac(av->dgid, h->dmac);
	else
		memcpy(h->dmac, av->dmac, sizeof(h->dmac));
	h->vlan = g->addr.vlan == WIRE_NO_TAG ? WIRE_NO_TAG :
		  g->addr.vlan | (av->sl & LAST_PRIO) << ROCE_PRIO_SHIFT;
	h->sport = roce_sport(h->flow_label);
	memcpy(h->sgid, g->addr.gid, sizeof(h->sgid));
}

void av_path(const struct vhca_av *av, const struct vport *p, struct wire_path *h)
{
	h->sl = av->sl;
	h->dlid = le16toh(av->dlid);
	h->slid |= av->src_path_bits & ((1u << p->fab.ib.lmc) - 1);
	h->grh = av->grh;
	if (!av->grh)
		return;
	h->tclass = av->traffic_class;
	h->hop_limit = av->hop_limit;
	h->flow_label = le32toh(av->flow_label);
	memcpy(h->dgid, av->dgid, sizeof(h->dgid));
	if (p->fab.eth)
		eth_path(av, p, h);
	else
		memcpy(h->sgid, p->fab.ib.gid[av->sgid_index], sizeof(h->sgid));
}
