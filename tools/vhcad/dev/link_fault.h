/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Faults of the links of a device's ports, and of every link, for the control socket.
 */
#ifndef VHCAD_DEV_LINK_FAULT_H
#define VHCAD_DEV_LINK_FAULT_H

#include "dev/device.h"
#include "fabric/fault.h"

/**
 * vdev_link_fault_arm() - arm a fault
 * @dev: device; with every link any device of the fabric
 * @port: 1..ports; 0: the link between switches that @f names, or every link of the fabric
 * @f: fault; its port does not count
 *
 * It outlasts resets and guests.  Any thread.  Returns as fab_fault_arm().
 */
int vdev_link_fault_arm(struct vhca_dev *dev, u32 port, const struct fab_fault *f);

/**
 * vdev_link_fault_clear() - disarm the faults of a link
 * @dev: device
 * @port: 1..ports; 0: those of @link
 * @link: a link between switches; NULL: every link
 *
 * Any thread.
 */
void vdev_link_fault_clear(struct vhca_dev *dev, u32 port, const struct fab_link *link);

/** vdev_link_fault_list() - as fab_fault_list(); for @port and @link see above.  Any thread. */
u32 vdev_link_fault_list(struct vhca_dev *dev, u32 port, const struct fab_link *link,
			 struct fab_fault out[FAB_MAX_FAULTS]);

/** vdirection_name() - name of an enum fab_direction, or "?" */
const char *vdirection_name(u32 direction);
/** vdirection_by_name() - enum fab_direction of that name, or -1 */
int vdirection_by_name(const char *name);

#endif /* VHCAD_DEV_LINK_FAULT_H */
