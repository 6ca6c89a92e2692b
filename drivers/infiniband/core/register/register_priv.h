/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of register/ share among themselves. The order of locks is described in
 * device/device.h.
 */
#ifndef RDMA_CORE_REGISTER_PRIV_H
#define RDMA_CORE_REGISTER_PRIV_H

#include <net/net_namespace.h>

#include "../device/device.h"
#include "register.h"

/**
 * struct compat_net - a network namespace other than the initial one
 * @net: the namespace
 * @id: its id in each device's table of compat devices
 * @leaving: it is ending, and gets no further compat devices; protected by compat_nets_rwsem
 */
struct compat_net {
	possible_net_t net;
	u32 id;
	bool leaving;
};

/* compat.c */
void ib_compat_exit(void);
int ib_compat_net_enter(struct compat_net *compat_net);
void ib_compat_net_leave(struct compat_net *compat_net);
#if IS_ENABLED(CONFIG_KUNIT)
void ib_compat_remove(struct ib_device *device, u32 id);
#endif
int ib_compat_add_all(struct ib_device *device);
void ib_compat_remove_all(struct ib_device *device);
void ib_compat_rename(struct ib_device *device);

/* netns.c */
#if IS_ENABLED(CONFIG_KUNIT)
int ib_device_move(struct ib_device *device, struct net *from, struct net *to);
#endif

/* subdev.c */
void ib_subdevs_open(struct ib_device *device);
void ib_subdevs_end(struct ib_device *device);

/* register.c */
extern struct workqueue_struct *ib_unreg_wq;

int ib_device_enable(struct ib_device *device);
void ib_device_disable(struct ib_device *device);

#endif
