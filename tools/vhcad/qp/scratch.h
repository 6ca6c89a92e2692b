/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Memory that a worker has for the work of QPs.
 */
#ifndef VHCAD_QP_SCRATCH_H
#define VHCAD_QP_SCRATCH_H

#include "qp/wqe.h"

/**
 * struct scratch - memory for the work of QPs; it is the worker's, not the adapter's
 * @tx_wqe: entry of the request that is being sent
 * @rd_wqe: entry of the request whose answer arrives
 * @rx_wqe: entry of the receive that is being filled
 * @slices: number of slices that QPs have had
 * @why_qp: QP whose request was refused last,
 * @why: and the reason, enum vhca_why
 * @bounce: copy of a packet whose bytes lie in too many pieces, or are sent changed
 * @checked: bytes of a packet that are checked where they arrive
 *
 * An entry stays until another one is loaded: its owner says which QP it belongs to.
 */
struct scratch {
	struct send_wqe tx_wqe;
	struct send_wqe rd_wqe;
	struct recv_wqe rx_wqe;
	u16 slices;
	const struct vqp *why_qp;
	u8 why;
	u8 bounce[WIRE_MAX_MTU];
	u8 checked[WIRE_MAX_MTU];
};

/** qp_scratch() - the memory of the worker that works for a QP's adapter */
static inline struct scratch *qp_scratch(const struct vqp *qp)
{
	return qp->dev->adapter.worker->scratch;
}

#endif /* VHCAD_QP_SCRATCH_H */
