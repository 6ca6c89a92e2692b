// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Address vectors: checked, and made into headers.
 */
#include <endian.h>
#include <string.h>

#include "qp/path.h"

#define LAST_SL		15u
#define LAST_RATE	31u
#define LAST_FLOW	0xfffffu

u32 av_check(const struct vhca_av *av, u8 port, bool groups)
{
#define BAD(f)	offsetof(struct vhca_av, f)
	u16 dlid = le16toh(av->dlid);

	if (av->port != port)
		return BAD(port);
	if (!dlid || (dlid >= MLID_FIRST && !(groups && lid_is_mcast(dlid))))
		return BAD(dlid);
	if (av->sl > LAST_SL)
		return BAD(sl);
	if (av->src_path_bits)
		return BAD(src_path_bits);
	if (av->static_rate > LAST_RATE)
		return BAD(static_rate);
	if (av->grh > 1)
		return BAD(grh);
	if (av->grh && av->sgid_index >= PORT_GIDS)
		return BAD(sgid_index);
	if (av->grh && le32toh(av->flow_label) > LAST_FLOW)
		return BAD(flow_label);
	return AV_GOOD;
#undef BAD
}

void av_path(const struct vhca_av *av, const struct vport *p, struct wire_path *h)
{
	h->sl = av->sl;
	h->dlid = le16toh(av->dlid);
	h->grh = av->grh;
	if (!av->grh)
		return;
	h->tclass = av->traffic_class;
	h->hop_limit = av->hop_limit;
	h->flow_label = le32toh(av->flow_label);
	memcpy(h->sgid, p->fab.ib.gid[av->sgid_index], sizeof(h->sgid));
	memcpy(h->dgid, av->dgid, sizeof(h->dgid));
}
