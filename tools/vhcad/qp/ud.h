/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Datagrams of UD QPs, as they are sent and as they arrive.
 */
#ifndef VHCAD_QP_UD_H
#define VHCAD_QP_UD_H

#include "qp/qp.h"

/** ud_address() - fill in where a datagram goes; 0 or a status */
int ud_address(struct vqp *qp, const struct tx_req *t, struct run *run);
/** ud_completion() - fields that the completions of all receivers at a port have in common */
struct vhca_cqe ud_completion(const struct vport *p, const struct run *run);
/** ud_rx() - a datagram for this QP, and perhaps for others next, which may use @cqe again */
void ud_rx(struct vqp *qp, struct datagram *d, struct vhca_cqe *cqe);
/** ud_deliver() - the same for a datagram whose keys were checked; @cqe has its P_Key's index */
void ud_deliver(struct vqp *qp, struct datagram *d, struct vhca_cqe *cqe);

#endif /* VHCAD_QP_UD_H */
