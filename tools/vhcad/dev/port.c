// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port's addresses and their changes.
 */
#include <string.h>

#include "dev/port.h"
#include "engine/engine.h"
#include "qp/path.h"

static const u8 no_gid[16];

void vdev_addrs(struct vhca_dev *dev, u32 port, struct vport_addrs *a)
{
	const struct fab_port *p = &dev->port[port - 1].fab;

	engine_lock(dev->adapter.engine);
	a->lid = p->lid;
	a->sm_lid = p->sm_lid;
	memcpy(a->pkey, p->pkey, sizeof(a->pkey));
	memcpy(a->gid, p->gid, sizeof(a->gid));
	engine_unlock(dev->adapter.engine);
}

static bool gid_twice(const struct vport_addrs *a, u32 i)
{
	for (u32 k = 0; k < i; k++)
		if (!memcmp(a->gid[k], a->gid[i], sizeof(a->gid[i])))
			return true;
	return false;
}

static const char *check(const struct fab_port *p, const struct vport_addrs *a)
{
	if (!fab_static(p->fabric))
		return "the subnet is not a static one";
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

/* Takes over what differs; returns a bit of enum event_bit for each kind of change. */
static u32 take_over(struct fab_port *p, const struct vport_addrs *a, u16 old_lid)
{
	u32 bits = 0;

	if (p->lid != old_lid)
		bits |= 1u << EVB_LID_CHANGE;
	if (p->sm_lid != a->sm_lid)
		bits |= 1u << EVB_SM_CHANGE;
	if (memcmp(p->pkey, a->pkey, sizeof(a->pkey)))
		bits |= 1u << EVB_PKEY_CHANGE;
	if (memcmp(p->gid, a->gid, sizeof(a->gid)))
		bits |= 1u << EVB_GID_CHANGE;
	p->sm_lid = a->sm_lid;
	memcpy(p->pkey, a->pkey, sizeof(a->pkey));
	memcpy(p->gid, a->gid, sizeof(a->gid));
	return bits;
}

static void tell(struct vport *p, u32 bits)
{
	struct vqp *qp;

	table_for_each(qp, &p->dev->qps)
		if (qp->port == p)
			qp_follow_port(qp);
	for (u32 bit = 0; dev_live(p->dev) && bits >> bit; bit++)
		if (bits >> bit & 1)
			eq_async(p->dev, &p->ev, bit);
}

const char *vdev_set_addrs(struct vhca_dev *dev, u32 port, const struct vport_addrs *a,
			   bool reregister)
{
	struct vport *p = &dev->port[port - 1];
	const char *why;
	u16 old_lid;
	u32 bits;

	engine_lock(dev->adapter.engine);
	old_lid = p->fab.lid;
	why = check(&p->fab, a);
	if (!why && fab_port_set_lid(&p->fab, a->lid))
		why = "another port has this LID";
	if (!why) {
		bits = take_over(&p->fab, a, old_lid);
		tell(p, bits | (reregister ? 1u << EVB_REREGISTER : 0));
	}
	engine_unlock(dev->adapter.engine);
	engine_wake(dev->adapter.engine);
	return why;
}
