/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A port's addresses, as the operator of a static subnet sees and changes
 * them: what subnet management would do elsewhere.
 */
#ifndef VHCAD_DEV_PORT_H
#define VHCAD_DEV_PORT_H

#include "dev/device.h"
#include "fabric/port.h"

/**
 * struct vport_addrs - addresses of a port
 * @lid: its LID
 * @sm_lid: the subnet manager's
 * @pkey: partition keys, 0: no entry
 * @gid: all zero: no entry
 */
struct vport_addrs {
	u16 lid;
	u16 sm_lid;
	u16 pkey[PORT_PKEYS];
	u8 gid[PORT_GIDS][16];
};

/** vdev_addrs - a port's addresses.  @port: 1..ports.  Any thread. */
void vdev_addrs(struct vhca_dev *dev, u32 port, struct vport_addrs *a);

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
const char *vdev_set_addrs(struct vhca_dev *dev, u32 port, const struct vport_addrs *a,
			   bool reregister);

#endif /* VHCAD_DEV_PORT_H */
