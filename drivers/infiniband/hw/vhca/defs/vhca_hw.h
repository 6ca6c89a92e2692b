/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * VHCA registers, admin commands and events: the interface between driver and
 * device, except for the data path (rdma/vhca-abi.h).  The driver includes the
 * parts it needs; this header is for the daemon, which implements all of them.
 *
 * All structures are little-endian.  Reserved fields are written as zero, and
 * the device refuses a command with a reserved field that is not zero.
 * Documentation/hw/vhca.rst is the manual to these headers.
 */
#ifndef VHCA_HW_H
#define VHCA_HW_H

#include <rdma/vhca-ring.h>

#include "admin.h"
#include "device.h"
#include "mkey.h"
#include "qp.h"
#include "queues.h"
#include "regs.h"

#endif /* VHCA_HW_H */
