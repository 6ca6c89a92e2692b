/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What register/ offers the folders above it, beyond <rdma/ib_verbs.h>: it allocates, enables,
 * disables, renames, moves and ends devices, and calls the set-up of the folders below it.
 */
#ifndef RDMA_CORE_REGISTER_H
#define RDMA_CORE_REGISTER_H

#include <rdma/ib_verbs.h>

struct netlink_ext_ack;
struct sk_buff;

int ib_register_init(void);
void ib_register_exit(void);

int ib_device_rename(struct ib_device *device, const char *name, struct netlink_ext_ack *extack);
int ib_device_set_netns_put(struct sk_buff *skb, struct ib_device *device, u32 ns_fd,
			    struct netlink_ext_ack *extack);
int rdma_compatdev_set(u8 shared, struct netlink_ext_ack *extack);

#endif
