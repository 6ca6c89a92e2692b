// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fabric around a device, for threads that are not the engine's.
 */
#include "dev/topo.h"
#include "engine/engine.h"
#include "res/dev.h"

struct fabric *vdev_fabric_lock(struct vhca_dev *dev)
{
	struct fabric *f = engine_fabric(dev->adapter.engine);

	engine_lock(dev->adapter.engine);
	/* the engine may have slept for long */
	fab_set_now(f, adapter_now(&dev->adapter));
	return f;
}

void vdev_fabric_unlock(struct vhca_dev *dev)
{
	engine_unlock(dev->adapter.engine);
	engine_wake(dev->adapter.engine);
}

u32 vdev_fabric_link(const struct vhca_dev *dev, u32 port)
{
	return fab_port_link(&dev->port[port - 1].fab);
}
