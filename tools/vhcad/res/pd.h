/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protection domains.
 */
#ifndef VHCAD_RES_PD_H
#define VHCAD_RES_PD_H

#include "drivers/infiniband/hw/vhca/defs/vhca_hw.h"
#include "lib/types.h"

struct command;
struct vhca_dev;

struct vpd {
	struct vhca_dev *dev;
	u32 pdn;
	u32 users;
};

/** pd_destroy() - free a PD without users */
void pd_destroy(struct vpd *pd);

enum vhca_status cmd_create_pd(struct command *c);
enum vhca_status cmd_destroy_pd(struct command *c);

#endif /* VHCAD_RES_PD_H */
