/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Functions for Ethernet ports. */
#ifndef VHCA_ETH_H
#define VHCA_ETH_H

#include "vhca.h"

struct vhca_port_attr;

/**
 * struct vhca_eth_link - link state of a port's net device
 * @present: the port has a net device
 * @up: the net device is administratively up
 * @running: it also has a carrier
 * @mtu: enum ib_mtu of packets that fit the net device's MTU; 0 without a net device
 */
struct vhca_eth_link {
	bool present;
	bool up;
	bool running;
	u8 mtu;
};

int vhca_port_init(struct vhca_dev *dev, u32 port, const struct vhca_port_attr *attr);
void vhca_ports_exit(struct vhca_dev *dev);
void vhca_eth_get_link(struct vhca_dev *dev, u32 port, struct vhca_eth_link *link);
int vhca_add_gid(const struct ib_gid_attr *attr, void **context);
int vhca_del_gid(const struct ib_gid_attr *attr, void **context);
void vhca_eth_refresh_gids(struct vhca_dev *dev, u32 port);

#endif /* VHCA_ETH_H */
