// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "dev/topo.h"
#include "engine/core.h"

struct fabric *vdev_fabric_lock(struct vhca_dev *dev)
{
	engine_lock(dev->engine);
	/* the engine may have slept for long */
	fab_set_now(dev->engine->fabric, engine_now(dev->engine));
	return dev->engine->fabric;
}

void vdev_fabric_unlock(struct vhca_dev *dev)
{
	engine_unlock(dev->engine);
	engine_wake(dev->engine);
}

u32 vdev_fabric_link(const struct vhca_dev *dev, u32 port)
{
	return fab_port_link(&dev->port[port - 1].fab);
}
