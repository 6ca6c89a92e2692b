/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Directed routes: which port a subnet management packet leaves by, and where it ends. The rules
 * are those that the subnet management interface of every node follows; nothing here knows a
 * device.
 *
 * A request (direction bit clear) carries the ports to leave by in initial_path[1..hop_cnt]; each
 * node on the way notes in return_path[] the port where the packet came in. hop_ptr says how far it
 * is. The response goes the same way back. A part of the way before or behind the directed one may
 * be routed by LID; then dr_slid or dr_dlid says so, being other than the permissive LID.
 */
#ifndef RDMA_MAD_SMI_H
#define RDMA_MAD_SMI_H

#include <rdma/ib_smi.h>

/* What is to be done with a packet. */
enum smi_verdict {
	SMI_DROP,	/* it breaks a rule */
	SMI_HERE,	/* its way ends in this node */
	SMI_OUT,	/* it leaves by the port that is returned */
};

/**
 * struct smi_node - the node at which a packet is routed
 * @is_switch: it forwards; others are ends only
 * @ports: number of its last port
 */
struct smi_node {
	bool is_switch;
	u8 ports;
};

enum smi_verdict smi_route_sent(struct ib_smp *smp, const struct smi_node *node, u8 port);
enum smi_verdict smi_route_received(struct ib_smp *smp, const struct smi_node *node, u8 port,
				    u8 *out_port);
u8 smi_out_port(struct ib_smp *smp);

#endif
