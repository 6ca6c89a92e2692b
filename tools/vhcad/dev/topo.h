/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The fabric around a device, for the control socket's thread.
 */
#ifndef VHCAD_DEV_TOPO_H
#define VHCAD_DEV_TOPO_H

#include "dev/device.h"
#include "fabric/topo.h"

/**
 * vdev_fabric_lock - have the fabric that a device is plugged into to oneself
 * @dev: any device of it
 *
 * What is asked and changed then, see topo.h, is of one moment.  Any thread but the engine's;
 * soon after, vdev_fabric_unlock().
 */
struct fabric *vdev_fabric_lock(struct vhca_dev *dev);

/** vdev_fabric_unlock - let the engine go on, with what has changed */
void vdev_fabric_unlock(struct vhca_dev *dev);

/** vdev_fabric_link - number of the link of a port, 1..ports; the fabric has a topology */
u32 vdev_fabric_link(const struct vhca_dev *dev, u32 port);

#endif /* VHCAD_DEV_TOPO_H */
