/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * QPs of connections without traffic.
 */
#ifndef CM_QP_H
#define CM_QP_H

#include <rdma/rdma_cma.h>
#include <stdbool.h>

static struct ibv_cq *cq;	/* of all QPs, made with the first one */

/* Makes the id's QP. Returns whether it is there. */
static inline bool make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = {
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};

	if (!cq)
		cq = ibv_create_cq(id->verbs, 16, NULL, NULL, 0);
	init.send_cq = cq;
	init.recv_cq = cq;
	return cq && !rdma_create_qp(id, NULL, &init);
}

#endif /* CM_QP_H */
