/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The interfaces of RDMA devices.
 */
#ifndef IPOIB_CLIENT_H
#define IPOIB_CLIENT_H

#include <rdma/ib_verbs.h>

extern struct ib_client ipoib_client;

#endif /* IPOIB_CLIENT_H */
