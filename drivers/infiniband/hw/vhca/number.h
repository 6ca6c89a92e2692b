/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef VHCA_NUMBER_H
#define VHCA_NUMBER_H

#include <linux/xarray.h>

int vhca_number_add(struct xarray *objects, u32 number, void *object);
void vhca_number_ends(struct xarray *objects, u32 number);
void vhca_number_stays(struct xarray *objects, u32 number);
void vhca_number_del(struct xarray *objects, u32 number, void *object);

#endif
