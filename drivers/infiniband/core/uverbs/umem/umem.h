/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What module init and exit of ib_uverbs need of umem/. */
#ifndef UVERBS_UMEM_H
#define UVERBS_UMEM_H

#ifdef CONFIG_INFINIBAND_USER_MEM
void uverbs_umem_exit(void);
#else
static inline void uverbs_umem_exit(void) { }
#endif

#endif /* UVERBS_UMEM_H */
