/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of rdma_ksa share.
 */
#ifndef KSA_H
#define KSA_H

#include <linux/types.h>

bool ksa_check(bool holds, const char *what, int line);

#define CHECK(condition) ksa_check(condition, #condition, __LINE__)

/* ksa_io.c */
void ksa_io_end(void);

/* ksa_svc.c */
struct ib_device;
int ksa_svc_begin(struct ib_device *device);
void ksa_svc_end(void);
u32 ksa_svc_qpn(void);
void ksa_svc_ask(struct ib_device *device, u16 lid, u32 qpn);

#endif
