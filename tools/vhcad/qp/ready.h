/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * QPs of an adapter that have work, those that wait for room in the fabric, and their turns.
 */
#ifndef VHCAD_QP_READY_H
#define VHCAD_QP_READY_H

#include "qp/qp.h"

/** qp_ready() - a QP has work: it has a turn when those before it have had theirs */
void qp_ready(struct vqp *qp);
/** qp_not_ready() - a QP neither has work nor waits for room */
void qp_not_ready(struct vqp *qp);
/** qp_wait_room() - a QP has work as soon as the fabric takes packets from its port again */
void qp_wait_room(struct vqp *qp);
/** qp_room() - adapter_ops' room */
bool qp_room(struct adapter *a);

/* turn.c */
/** qp_turn() - adapter_ops' run */
u32 qp_turn(struct adapter *a);

/* prefetch.c */
/** prefetch_turn() - a QP begins its slice: fetch what those behind it need */
void prefetch_turn(struct vqp *qp);
/** prefetch_rx() - something is about to be sent to this QP */
void prefetch_rx(const struct vhca_dev *dev, u32 qpn);

#endif /* VHCAD_QP_READY_H */
