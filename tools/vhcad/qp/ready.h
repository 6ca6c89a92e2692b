/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * QPs of an adapter that have work, those that wait for room in the fabric, and their turns.
 */
#ifndef VHCAD_QP_READY_H
#define VHCAD_QP_READY_H

#include "qp/qp.h"
#include "trace/trace.h"

/** qp_trace() - what a QP waits for, or why not any more; @ns: how long at most, or 0 */
static inline void qp_trace(const struct vqp *qp, const char *why, u64 ns)
{
	trace_point(TRACE_WAIT, qp->dev->wait_row, why, ns, qp->qpn);
}

/** qp_ready() - put a QP that has work behind all others that wait for a turn */
void qp_ready(struct vqp *qp);
/** qp_not_ready() - take a QP off the lists of those that have work or wait for room */
void qp_not_ready(struct vqp *qp);
/** qp_wait_room() - let a QP wait until the fabric takes packets from its port again */
void qp_wait_room(struct vqp *qp);
/** qp_room() - adapter_ops' room */
bool qp_room(struct adapter *a);
/** qp_seek() - qp_reaches(), if there are several threads */
bool qp_seek(struct vqp *qp, const struct wire_path *path);
/** qp_peer_port() - the port where a QP's path leads to; NULL: none, or not an adapter's */
struct vport *qp_peer_port(const struct vqp *qp);
/** qp_wait_away() - let a QP wait until its receivers may be with this thread */
void qp_wait_away(struct vqp *qp);

/**
 * qp_reaches() - are all receivers at the end of a path with this thread?
 * @qp: sender
 * @path: to one receiver or to many
 *
 * Return: false if another thread has some of them: they and the QP's adapter are moving to one
 * thread then.
 */
static inline bool qp_reaches(struct vqp *qp, const struct wire_path *path)
{
	return qp->dev->adapter.worker->alone || qp_seek(qp, path);
}

/**
 * qp_may_send() - number of packets that a QP may send along its path now
 * @qp: QP that is connected
 *
 * Return: 0 if it has to wait; then it is on the list of those that wait for room or a receiver.
 */
static inline u32 qp_may_send(struct vqp *qp)
{
	u32 room;

	if (!qp_reaches(qp, &qp->path)) {
		qp_wait_away(qp);
		return 0;
	}
	room = fab_room(&qp->port->fab);
	if (!room)
		qp_wait_room(qp);
	return room;
}

/* turn.c */
/** qp_turn() - adapter_ops' run */
u32 qp_turn(struct adapter *a);
/** qp_leave() - adapter_ops' leave */
void qp_leave(struct adapter *a);

/* prefetch.c */
/** prefetch_turn() - as a QP begins its slice, fetch what those behind it need */
void prefetch_turn(struct vqp *qp);

#endif /* VHCAD_QP_READY_H */
