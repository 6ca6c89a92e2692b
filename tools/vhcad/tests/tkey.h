/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory keys of all types, without a send queue: the device's own functions
 * are called with the contents of an entry.
 */
#ifndef VHCAD_TESTS_TKEY_H
#define VHCAD_TESTS_TKEY_H

#include "tests/thca.h"
#include "qp/qp.h"
#include "res/sgl.h"

#define T_RW	(VHCA_ACCESS_LOCAL_WRITE | VHCA_ACCESS_REMOTE_WRITE | VHCA_ACCESS_REMOTE_READ | \
		 VHCA_ACCESS_REMOTE_ATOMIC)

/* the device's struct of a QP */
struct vqp *t_vqp(const struct tqp *qp);
/* gives a device every capability for keys, whatever its engine supports */
void t_key_caps(struct thca *h);
/* a key without a range: FAST, FAST_SG (list, entries), MW_1, MW_2 (0, 0) */
u32 t_key(struct thca *h, u8 type, u64 list, u32 entries, u8 variant);
u8 t_register(struct tqp *qp, u32 key, u32 entries, u64 iova, u64 length, u8 access, u8 shift);
u8 t_bind(struct tqp *qp, u32 key, u32 mr_key, u64 addr, u64 length, u8 access);
/* may the peer access all of this? */
bool t_grants(const struct tqp *qp, u32 key, u64 addr, u64 len, u32 access);
/* address of its first byte; UINT64_MAX: not mapped */
u64 t_where(const struct tqp *qp, u32 key, u64 addr, u64 len, u32 access);

#endif /* VHCAD_TESTS_TKEY_H */
