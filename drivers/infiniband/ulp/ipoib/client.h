/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interfaces of RDMA devices.
 */
#ifndef IPOIB_CLIENT_H
#define IPOIB_CLIENT_H

#include "ipoib.h"

extern struct ib_client ipoib_client;

#if IS_ENABLED(CONFIG_KUNIT)
bool ipoib_client_in_partition(struct ipoib_dev *ipoib, u16 pkey_index);
#endif

#endif /* IPOIB_CLIENT_H */
