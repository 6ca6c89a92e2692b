/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Keys that check and make protection fields: what the other keys' files ask of them.
 */
#ifndef VHCAD_RES_INTEGRITY_H
#define VHCAD_RES_INTEGRITY_H

#include "res/mkey_internal.h"

/**
 * integrity_make() - memory for a key
 *
 * Return: it, of which CREATE_MKEY fills in the struct vmkey; or NULL.
 */
struct vmkey *integrity_make(void);
/** integrity_register() - take what REG_MR finds in front of the list; false: it is wrong */
bool integrity_register(struct guest_mem *mem, struct vmkey *mk, const struct vhca_wqe_reg *reg);
/**
 * integrity_read() - make what goes over the wire, and check what it is made of
 * @dev: whose key it is
 * @mk: the key, valid
 * @off: first byte, from the key's first
 * @dst: receives the bytes
 * @len: bytes
 *
 * Return: the bytes that there are.
 */
u64 integrity_read(struct vhca_dev *dev, struct vmkey *mk, u64 off, void *dst, u64 len);
/** integrity_write() - check what came over the wire and put it into memory */
u64 integrity_write(struct vhca_dev *dev, struct vmkey *mk, u64 off, const void *src, u64 len);

#endif /* VHCAD_RES_INTEGRITY_H */
