// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A port's addresses and their changes.
 */
#include "dev/hca.h"
#include "dev/port.h"
#include "engine/engine.h"
#include "subnet/static.h"

void vdev_addrs(struct vhca_dev *dev, u32 port, struct port_addrs *a)
{
	engine_lock(dev->adapter.engine);
	*a = dev->port[port - 1].fab.ib.addrs;
	engine_unlock(dev->adapter.engine);
}

const char *vdev_set_addrs(struct vhca_dev *dev, u32 port, const struct port_addrs *a,
			   bool reregister)
{
	const char *why;

	engine_lock(dev->adapter.engine);
	why = subnet_set_addrs(&dev->port[port - 1].fab, a, reregister);
	engine_unlock(dev->adapter.engine);
	engine_wake(dev->adapter.engine);
	return why;
}
