/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The operations of a device. */
#ifndef VHCA_OPS_H
#define VHCA_OPS_H

#include "vhca.h"

void vhca_set_ops(struct vhca_dev *dev);

#endif /* VHCA_OPS_H */
