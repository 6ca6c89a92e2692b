// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Faults of links, from other threads than the engine's.
 */
#include <string.h>

#include "dev/link_fault.h"
#include "engine/engine.h"
#include "res/dev.h"

static struct fabric *fabric_of(const struct vhca_dev *dev)
{
	return engine_fabric(dev->adapter.engine);
}

static struct fab_port *link_of(struct vhca_dev *dev, u32 port)
{
	return port ? &dev->port[port - 1].fab : NULL;
}

int vdev_link_fault_arm(struct vhca_dev *dev, u32 port, const struct fab_fault *f)
{
	struct fab_fault fault = *f;
	int err;

	fault.port = link_of(dev, port);
	engine_lock(dev->adapter.engine);
	/* the engine may have slept for long */
	fab_set_now(fabric_of(dev), adapter_now(&dev->adapter));
	err = fab_fault_arm(fabric_of(dev), &fault);
	engine_unlock(dev->adapter.engine);
	return err;
}

void vdev_link_fault_clear(struct vhca_dev *dev, u32 port, const struct fab_link *link)
{
	engine_lock(dev->adapter.engine);
	fab_fault_clear(fabric_of(dev), link_of(dev, port), link);
	engine_unlock(dev->adapter.engine);
}

u32 vdev_link_fault_list(struct vhca_dev *dev, u32 port, const struct fab_link *link,
			 struct fab_fault out[FAB_MAX_FAULTS])
{
	u32 n;

	engine_lock(dev->adapter.engine);
	fab_set_now(fabric_of(dev), adapter_now(&dev->adapter));
	n = fab_fault_list(fabric_of(dev), link_of(dev, port), link, out);
	engine_unlock(dev->adapter.engine);
	return n;
}

static const char *const directions[] = {
	[FAB_BOTH] = "both",
	[FAB_OUT] = "out",
	[FAB_IN] = "in",
};

const char *vdirection_name(u32 direction)
{
	return direction < ARRAY_SIZE(directions) ? directions[direction] : "?";
}

int vdirection_by_name(const char *name)
{
	for (u32 i = 0; i < ARRAY_SIZE(directions); i++)
		if (!strcmp(directions[i], name))
			return i;
	return -1;
}
