/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Names of commands and statuses, as vhcactl and the log have them.
 */
#ifndef VHCAD_RES_NAMES_H
#define VHCAD_RES_NAMES_H

#include "lib/types.h"

/** vcmd_name() - name of an opcode, or "?" */
const char *vcmd_name(u32 opcode);
/** vcmd_by_name() - opcode of a command, or -1 */
int vcmd_by_name(const char *name);
/** vstatus_name() - name of an enum vhca_status, or "?" */
const char *vstatus_name(u32 status);
/** vstatus_by_name() - status of that name, or -1 */
int vstatus_by_name(const char *name);

#endif /* VHCAD_RES_NAMES_H */
