/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Offloads of UD QPs for IPoIB: checksums, and large TCP packets sent as segments.
 */
#ifndef VHCAD_QP_OFFLOAD_H
#define VHCAD_QP_OFFLOAD_H

#include "qp/requester.h"

/** offload_wanted() - are datagrams of the request not sent as they are in memory? */
static inline bool offload_wanted(const struct tx_req *t)
{
	return t->opcode == VHCA_OP_LSO || t->flags & VHCA_WQE_IP_CSUM;
}

/**
 * offload_fill() - make the next datagram of such a request
 * @qp: QP
 * @t: the request
 * @run: filled in
 * @pl: filled in; its bytes are the worker's, until it makes the next one
 *
 * Return: 0 or a status.
 */
int offload_fill(struct vqp *qp, const struct tx_req *t, struct run *run, struct payload *pl);

/**
 * offload_checked() - are the checksums of a datagram right, of IP and of TCP or UDP?
 * @qp: its receiver
 * @d: datagram; the receiver gets the bytes that were checked, even if the sender changes them
 *
 * Return: true if they are; false also for anything but TCP or UDP over IPoIB, and for an IP
 * version that the adapter does not check.
 */
bool offload_checked(const struct vqp *qp, const struct datagram *d);

#endif /* VHCAD_QP_OFFLOAD_H */
