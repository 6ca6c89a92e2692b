/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the files of rdma_ksa share.
 */
#ifndef KSA_H
#define KSA_H

#include <linux/types.h>

bool ksa_check(bool holds, const char *what, int line);

#define CHECK(condition) ksa_check(condition, #condition, __LINE__)

void ksa_io_end(void);

#endif
