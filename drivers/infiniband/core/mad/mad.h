/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Room header of mad/: management datagrams. Agents and their calls are those of <rdma/ib_mad.h>.
 *
 * mad/ is a client of every device. Of each port that exchanges MADs it owns QP1 and, on
 * InfiniBand, QP0. A MAD that arrives is offered to the driver, which may answer for the device; a
 * MAD that the driver leaves goes to the agent that waits for it or has registered for it.
 *
 * Contents of the files, from the top down:
 *   service.c    QPs of consumers
 *   client.c     addition and removal of devices
 *   qp.c         QPs of a port: their creation, start, recovery and end
 *   agent.c      registration of agents
 *   recv.c       handling of MADs that arrive
 *   reassembly.c MADs that arrive in many packets
 *   drops.c      counters of dropped MADs
 *   reply.c      answers of the core itself
 *   send.c       MADs that are sent, also in several packets
 *   request.c    posted MADs: matching, time-outs, cancellation, completion
 *   queue.c      send and receive queues of a port's QPs
 *   port.c       allocation, look-up and release of ports
 *   access.c     permissions of agents by security modules
 *   table.c, smi.c, rmpp.c: classes and methods, rules of directed routes, segments and windows;
 *                they know nothing of devices
 */
#ifndef RDMA_CORE_MAD_H
#define RDMA_CORE_MAD_H

struct ib_mad_agent;
struct ib_mad_recv_wc;

int ib_mad_init(void);
void ib_mad_exit(void);
void mad_refuse_recv(struct ib_mad_agent *agent, struct ib_mad_recv_wc *wc);

#endif
