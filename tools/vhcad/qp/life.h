/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * QPs as their device sees them: made, changed, freed; and the port that packets arrive at.
 */
#ifndef VHCAD_QP_LIFE_H
#define VHCAD_QP_LIFE_H

#include "qp/qp.h"

struct command;

/** qp_destroy() - free a QP that qp_let_go() has returned true for */
void qp_destroy(struct vqp *qp);

/**
 * qp_let_go() - let a QP that is destroyed leave its windows and groups, which may be very many
 * @qp: QP
 *
 * Return: false if there are more than can be let go in one pass: call it again.
 */
bool qp_let_go(struct vqp *qp);

enum vhca_status cmd_create_qp(struct command *c);
enum vhca_status cmd_destroy_qp(struct command *c);
enum vhca_status cmd_modify_qp(struct command *c);
enum vhca_status cmd_query_qp(struct command *c);

/* rx.c */
/* What the fabric calls for a device's port; the owner is a struct vport. */
extern const struct fab_port_ops vport_ops;

#endif /* VHCAD_QP_LIFE_H */
