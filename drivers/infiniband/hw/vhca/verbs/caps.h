/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Operations, rights and attributes that depend on capabilities. */
#ifndef VHCA_CAPS_H
#define VHCA_CAPS_H

#include "vhca.h"

void vhca_caps_init(struct vhca_dev *dev);
void vhca_caps_attr(const struct vhca_dev *dev, struct ib_device_attr *attr);

#endif /* VHCA_CAPS_H */
