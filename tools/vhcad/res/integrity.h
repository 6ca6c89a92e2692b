/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Keys that check and make protection fields, for the files of the other keys.
 */
#ifndef VHCAD_RES_INTEGRITY_H
#define VHCAD_RES_INTEGRITY_H

#include "res/mkey_internal.h"

/**
 * integrity_make() - allocate a key
 *
 * Return: the key, of which CREATE_MKEY fills in the struct vmkey; or NULL.
 */
struct vmkey *integrity_make(void);
/** integrity_register() - read what REG_MR has in front of the list; false: it is not valid */
bool integrity_register(struct guest_mem *mem, struct vmkey *mk, const struct vhca_wqe_reg *reg);
/**
 * integrity_read() - make the bytes that go over the wire, and check what they are made of
 * @dev: device of the key
 * @mk: the key, valid
 * @off: first byte, from the key's first
 * @dst: receives the bytes
 * @len: bytes
 *
 * Return: the number of bytes that could be read.
 */
u64 integrity_read(struct vhca_dev *dev, struct vmkey *mk, u64 off, void *dst, u64 len);
/** integrity_write() - check what came over the wire and put it into memory */
u64 integrity_write(struct vhca_dev *dev, struct vmkey *mk, u64 off, const void *src, u64 len);

#endif /* VHCAD_RES_INTEGRITY_H */
