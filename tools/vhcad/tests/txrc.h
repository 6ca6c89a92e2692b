/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The objects of extended reliable connections.
 */
#ifndef VHCAD_TESTS_TXRC_H
#define VHCAD_TESTS_TXRC_H

#include "tests/thca.h"

/* an initiator; @flags: VHCA_QP_* */
void t_ini_init(struct thca *h, struct tqp *qp, struct tcq *cq, u8 flags);
/* a target of a domain */
void t_tgt_init(struct thca *h, struct tqp *qp, u32 xrcd);
/* an SRQ of a domain with 1 << log receives that completes in this CQ */
void t_xsrq_init(struct thca *h, struct tsrq *srq, u32 xrcd, u32 cqn, u32 log);

#endif /* VHCAD_TESTS_TXRC_H */
