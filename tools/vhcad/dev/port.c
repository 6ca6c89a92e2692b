// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port's addresses and their changes.
 */
#include "dev/port.h"
#include "engine/core.h"
#include "engine/rc.h"
#include "subnet/static.h"

void vdev_addrs(struct vhca_dev *dev, u32 port, struct port_addrs *a)
{
	engine_lock(dev->engine);
	*a = dev->port[port - 1].fab.ib.addrs;
	engine_unlock(dev->engine);
}

void vport_changed(struct fab_port *fab, u32 what)
{
	static const struct { u32 change, event; } events[] = {
		{ PORT_LID_CHANGED, EVB_LID_CHANGE },
		{ PORT_PKEY_CHANGED, EVB_PKEY_CHANGE },
		{ PORT_GID_CHANGED, EVB_GID_CHANGE },
		{ PORT_SM_CHANGED, EVB_SM_CHANGE },
		{ PORT_REREGISTER, EVB_REREGISTER },
	};
	struct vport *p = fab->owner;
	struct vqp *qp;

	table_for_each(qp, &p->dev->qps)
		if (qp->port == p)
			qp_follow_port(qp);
	for (u32 i = 0; dev_live(p->dev) && i < ARRAY_SIZE(events); i++)
		if (what & events[i].change)
			eq_async(p->dev, &p->ev, events[i].event);
}

const char *vdev_set_addrs(struct vhca_dev *dev, u32 port, const struct port_addrs *a,
			   bool reregister)
{
	const char *why;

	engine_lock(dev->engine);
	why = subnet_set_addrs(&dev->port[port - 1].fab, a, reregister);
	engine_unlock(dev->engine);
	engine_wake(dev->engine);
	return why;
}
