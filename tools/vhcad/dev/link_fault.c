// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of links, from other threads than the engine's.
 */
#include "dev/link_fault.h"
#include "engine/core.h"

static struct fab_port *link_of(struct vhca_dev *dev, u32 port)
{
	return port ? &dev->port[port - 1].fab : NULL;
}

int vdev_link_fault_arm(struct vhca_dev *dev, u32 port, const struct fab_fault *f)
{
	struct fab_fault fault = *f;
	int err;

	fault.port = link_of(dev, port);
	engine_lock(dev->engine);
	/* the engine may have slept for long */
	fab_set_now(dev->engine->fabric, engine_now(dev->engine));
	err = fab_fault_arm(dev->engine->fabric, &fault);
	engine_unlock(dev->engine);
	return err;
}

void vdev_link_fault_clear(struct vhca_dev *dev, u32 port, const struct fab_link *link)
{
	engine_lock(dev->engine);
	fab_fault_clear(dev->engine->fabric, link_of(dev, port), link);
	engine_unlock(dev->engine);
}

u32 vdev_link_fault_list(struct vhca_dev *dev, u32 port, const struct fab_link *link,
			 struct fab_fault out[FAB_MAX_FAULTS])
{
	u32 n;

	engine_lock(dev->engine);
	fab_set_now(dev->engine->fabric, engine_now(dev->engine));
	n = fab_fault_list(dev->engine->fabric, link_of(dev, port), link, out);
	engine_unlock(dev->engine);
	return n;
}
