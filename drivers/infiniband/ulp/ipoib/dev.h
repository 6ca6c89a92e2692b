/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The network device: what the stack calls, and how it follows events of the port.
 */
#ifndef IPOIB_DEV_H
#define IPOIB_DEV_H

#include "ipoib.h"

extern const struct ethtool_ops ipoib_ethtool_ops;
extern const struct net_device_ops ipoib_netdev_ops;

void ipoib_setup(struct net_device *netdev);
size_t ipoib_priv_size(struct ib_device *ca, u32 port);
struct net_device *ipoib_create_dev(struct ib_device *ca, u32 port, const char *name);
int ipoib_init_dev(struct net_device *netdev, struct ib_device *ca, u32 port);
void ipoib_end_dev(struct net_device *netdev);
void ipoib_discard_dev(struct net_device *netdev);
int ipoib_set_mode(struct ipoib_dev *ipoib, bool connected);
void ipoib_set_umcast(struct ipoib_dev *ipoib, bool on);
bool ipoib_is_ours(const struct net_device *netdev);

int ipoib_up(struct ipoib_dev *ipoib);
void ipoib_down(struct ipoib_dev *ipoib);
void ipoib_find_pkey(struct ipoib_dev *ipoib);
void ipoib_event_init(struct ipoib_dev *ipoib);
void ipoib_event_start(struct ipoib_dev *ipoib);
void ipoib_event_stop(struct ipoib_dev *ipoib);
void ipoib_flush(struct ipoib_dev *ipoib, enum ipoib_flush level);

#if IS_ENABLED(CONFIG_KUNIT)
bool ipoib_event_waiting(struct ipoib_dev *ipoib);
#endif

void ipoib_debugfs_init(void);
void ipoib_debugfs_exit(void);
void ipoib_debugfs_add(struct ipoib_dev *ipoib);
void ipoib_debugfs_del(struct ipoib_dev *ipoib);

#endif /* IPOIB_DEV_H */
