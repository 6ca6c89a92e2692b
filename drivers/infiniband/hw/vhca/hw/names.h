/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Names of commands and of their fields, for messages and trace points. */
#ifndef VHCA_NAMES_H
#define VHCA_NAMES_H

#include <linux/types.h>

const char *vhca_cmd_name(u8 opcode);
const char *vhca_cmd_field(u8 opcode, u16 offset);

#endif /* VHCA_NAMES_H */
