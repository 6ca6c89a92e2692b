/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Directed routes: the port from which a subnet management packet leaves, and the node where it
 * ends. The rules are those of the subnet management interface of every node; nothing here knows a
 * device.
 *
 * A request (direction bit clear) has the ports from which it leaves in initial_path[1..hop_cnt];
 * each node on the way records in return_path[] the port at which the packet arrived. hop_ptr is
 * the position in the path. The response takes the same way back. A part before or after the
 * directed one may be routed by LID; then dr_slid or dr_dlid is another LID than the permissive
 * one.
 */
#ifndef RDMA_MAD_SMI_H
#define RDMA_MAD_SMI_H

#include <rdma/ib_smi.h>

/* What is to be done with a packet. */
enum smi_verdict {
	SMI_DROP,	/* it breaks a rule */
	SMI_HERE,	/* its route ends in this node */
	SMI_OUT,	/* it leaves from the returned port */
};

/**
 * struct smi_node - the node at which a packet is routed
 * @is_switch: it is a switch, and can forward packets
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
