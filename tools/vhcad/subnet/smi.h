/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Directed routes: handling of a datagram that carries its route, hop by hop.
 *
 * A route has three parts, of which the first and the last may be missing: by LID to a switch, by
 * port numbers from there, and by LID again.  The reply takes the same route back.  On the hops of
 * the middle part the hop pointer is the number of the hop at whose end the packet arrives: counted
 * up from 1 on the way there, and down from the hop count on the way back.
 *
 * Pure code, which knows neither agents nor the fabric.
 */
#ifndef VHCAD_SUBNET_SMI_H
#define VHCAD_SUBNET_SMI_H

#include "lib/types.h"

/**
 * enum smi_action - what to do with a datagram
 * @SMI_DROP: it is malformed, or must not come here
 * @SMI_SERVE: it is a request, at its destination
 * @SMI_FORWARD: it leaves by a port of this switch, with permissive LIDs
 * @SMI_ROUTE: it leaves for a LID
 * @SMI_HOST: it has returned, or is not for agents
 */
enum smi_action {
	SMI_DROP,
	SMI_SERVE,
	SMI_FORWARD,
	SMI_ROUTE,
	SMI_HOST,
};

/**
 * struct smi_hop - where a datagram is, and goes
 * @nports: ports of the node; 0: it is an HCA
 * @in_port: port by which it came
 * @out_port: SMI_FORWARD: port by which it leaves
 * @dlid: SMI_ROUTE: LID that it goes to
 */
struct smi_hop {
	u8 nports;
	u8 in_port;
	u8 out_port;
	u16 dlid;
};

/**
 * smi_receive() - a datagram with a directed route has come from a wire
 * @mad: MAD_LEN bytes; hop pointer and return path change
 * @hop: where it is; receives where it goes
 *
 * An HCA leaves a returning datagram as it is.
 */
enum smi_action smi_receive(u8 *mad, struct smi_hop *hop);

/**
 * smi_answer() - route the reply to a datagram for which smi_receive() has returned SMI_SERVE
 * @mad: reply, with the hop pointer and paths of the request as smi_receive() has left them
 * @hop: receives where it goes
 * @slid: sender of the request's packet
 *
 * Returns SMI_FORWARD or SMI_ROUTE.  An HCA sends by its only port in both cases.
 */
enum smi_action smi_answer(u8 *mad, struct smi_hop *hop, u16 slid);

#endif /* VHCAD_SUBNET_SMI_H */
