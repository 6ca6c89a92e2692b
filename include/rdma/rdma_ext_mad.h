/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Extension of the MAD API to Linux 6.12: agents at datagram QPs other than QP0 and QP1, to which a
 * class is redirected.
 */
#ifndef RDMA_EXT_MAD_H
#define RDMA_EXT_MAD_H

#include <rdma/ib_mad.h>
#include <rdma/ib_verbs.h>

/**
 * struct ib_mad_qp - a datagram QP for MADs
 * @qp: the QP; only the core posts to it and polls its CQ
 */
struct ib_mad_qp {
	struct ib_qp *qp;
};

struct ib_mad_qp *ib_create_mad_qp(struct ib_device *device, u32 port_num, u16 pkey_index,
				   u32 qkey);
void ib_destroy_mad_qp(struct ib_mad_qp *mad_qp);

struct ib_mad_agent *ib_register_mad_svc(struct ib_mad_qp *mad_qp, struct ib_mad_reg_req *req,
					 u8 rmpp_version, ib_mad_send_handler send_handler,
					 ib_mad_recv_handler recv_handler, void *context,
					 u32 flags);

#endif /* RDMA_EXT_MAD_H */
