/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * QP 0 and QP 1 of each port.  They are in no table: a port points to its own, and their numbers
 * are unique only within a port.
 */
#ifndef VHCAD_QP_SPECIAL_H
#define VHCAD_QP_SPECIAL_H

#include "qp/qp.h"

struct command;
struct send_wqe;

/**
 * qp_named() - the QP that a command names
 * @dev: device
 * @qpn: its number
 * @port: 1..nports with numbers below VHCA_SPECIAL_QPS, otherwise 0
 *
 * Return: the QP, or NULL if there is none or a port that does not go with the number.
 */
struct vqp *qp_named(struct vhca_dev *dev, u32 qpn, u8 port);

/** special_check() - may CREATE_QP for a QP of this type name its port? */
enum vhca_status special_check(struct command *c, const struct vqp *qp);
/** special_join() - make a special QP the one of its kind of a port, which had none */
void special_join(struct vqp *qp, struct vport *p);
/** special_leave() - take it from the port */
void special_leave(struct vqp *qp);

/**
 * special_address() - fill in the headers of a MAD that follow from its QP and entry, not the
 * address
 */
void special_address(const struct vqp *qp, const struct send_wqe *w, struct run *run);
/** smi_send() - qp_send() of QP 0, whose packets wait for no room and for no active port */
bool smi_send(struct vqp *qp, struct run *run);
/** smi_path() - fill in the headers that only packets of QP 0 have */
void smi_path(struct vqp *qp);

#endif /* VHCAD_QP_SPECIAL_H */
