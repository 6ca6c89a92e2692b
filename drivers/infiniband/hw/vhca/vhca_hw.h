/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * VHCA registers, admin commands and events: the whole interface between the
 * driver and the device, apart from the data path (rdma/vhca-abi.h), for the
 * daemon, which serves all of it.
 *
 * All structures are little-endian.  Reserved fields are written as zero and
 * the device refuses a command whose reserved fields are not.
 * Documentation/hw/vhca.rst is the manual to these headers.
 */
#ifndef VHCA_HW_H
#define VHCA_HW_H

#include <rdma/vhca-ring.h>

#include "defs/admin.h"
#include "defs/device.h"
#include "defs/mkey.h"
#include "defs/qp.h"
#include "defs/queues.h"
#include "defs/regs.h"

#endif /* VHCA_HW_H */
