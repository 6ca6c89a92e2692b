/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What sa/ offers the other folders of the core, beyond <rdma/ib_sa.h> and <rdma/rdma_ext_sa.h>.
 *
 * Each InfiniBand port has an agent of its own and knows the address of its subnet manager. A
 * request is the same struct ib_sa_query from its first posting to its callback, even if it is sent
 * again to another subnet manager.
 */
#ifndef RDMA_CORE_SA_H
#define RDMA_CORE_SA_H

#include <rdma/ib_sa.h>
#include <rdma/rdma_ext_sa.h>

int sa_init(void);
void sa_exit(void);

int ib_sa_mcmember_rec_query(struct ib_sa_client *client, struct ib_device *device, u32 port_num,
			     u8 method, struct ib_sa_mcmember_rec *rec, ib_sa_comp_mask comp_mask,
			     unsigned long timeout_ms, gfp_t gfp_mask,
			     void (*callback)(int status, struct ib_sa_mcmember_rec *resp,
					      void *context),
			     void *context, struct ib_sa_query **sa_query);

/* address.c */
void sa_ah_attr_init(struct ib_device *device, u32 port_num, u8 sl, u8 rate,
		     struct rdma_ah_attr *attr);

/* layout.c: packing and unpacking; those of other records are declared in the public headers */
void sa_pack_mcmember(struct ib_sa_mcmember_rec *rec, void *attribute);
void sa_unpack_mcmember(void *attribute, struct ib_sa_mcmember_rec *rec);
void sa_pack_guidinfo(struct ib_sa_guidinfo_rec *rec, void *attribute);
void sa_unpack_guidinfo(void *attribute, struct ib_sa_guidinfo_rec *rec);
void sa_pack_inform(struct ib_sa_inform_info *info, void *attribute);
void sa_unpack_inform(void *attribute, struct ib_sa_inform_info *info);

#endif
