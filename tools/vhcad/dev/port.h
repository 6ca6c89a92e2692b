/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A port's addresses, as the operator of a static subnet sees and changes
 * them: what subnet management would do elsewhere.
 */
#ifndef VHCAD_DEV_PORT_H
#define VHCAD_DEV_PORT_H

#include "dev/device.h"
#include "port/port.h"

/** vdev_addrs - a port's addresses.  @port: 1..ports.  Any thread. */
void vdev_addrs(struct vhca_dev *dev, u32 port, struct port_addrs *a);

/**
 * vdev_set_addrs - change them
 * @dev: device
 * @port: 1..ports
 * @a: all of them, as they shall be
 * @reregister: ask the port's clients to register again
 *
 * The driver is told by an event for each kind that is not what it was.  QPs
 * send from the new addresses and in the new partitions; what is sent to the
 * old ones does not arrive any more.  Survives a reset.  Any thread.
 *
 * Returns NULL, or what is wrong; then nothing has changed.
 */
const char *vdev_set_addrs(struct vhca_dev *dev, u32 port, const struct port_addrs *a,
			   bool reregister);

#endif /* VHCAD_DEV_PORT_H */
