/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Room header of mad/: management datagrams. Agents and their calls are those of <rdma/ib_mad.h>.
 *
 * mad/ is a client of every device. Of each port that exchanges MADs it owns QP1 and, on
 * InfiniBand, QP0. A MAD that arrives is offered to the driver, which may answer for the device;
 * what the driver leaves goes to the agent that waits for it or has registered for it.
 *
 * What each file deals with, from the top down:
 *   service.c    QPs of consumers
 *   client.c     devices that come and go, QPs that fail
 *   agent.c      who registers for what
 *   recv.c       what becomes of a MAD that arrives
 *   reassembly.c MADs that arrive in many packets
 *   drops.c      MADs that are dropped: how many, and why
 *   reply.c      answers that the core itself gives
 *   send.c       MADs that are sent, also in many packets
 *   request.c    MADs that are under way: matching, time-outs, cancellation, completion
 *   queue.c      send and receive queues of a port's QPs
 *   port.c       life of ports
 *   access.c     what a security module allows to agents
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
