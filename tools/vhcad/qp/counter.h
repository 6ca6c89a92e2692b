/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counters of QPs, of their ports, and those that QPs are bound to.
 */
#ifndef VHCAD_QP_COUNTER_H
#define VHCAD_QP_COUNTER_H

#include "qp/qp.h"

struct command;

/**
 * struct vcounter - counts the traffic of the QPs that are bound to it, as their port does
 * @port: port of these QPs
 * @number: number
 * @users: number of bound QPs
 * @count: the counts
 */
struct vcounter {
	struct vport *port;
	u32 number;
	u32 users;
	struct vport_stats count;
};

#define COUNTER_ADD(counter, what, n)	do {	\
		struct vcounter *c_ = (counter);	\
		u64 n_ = (n);				\
							\
		c_->count.what += n_;			\
		c_->port->counted.what += n_;		\
	} while (0)

/* Adds to a counter of the port, and to that of the QP's counter. */
#define QP_COUNT(qp, what, n)	do {			\
		const struct vqp *q_ = (qp);		\
		u64 m_ = (n);				\
							\
		q_->port->count.what += m_;		\
		if (q_->counted)			\
			COUNTER_ADD(q_->counter, what, m_);	\
	} while (0)

/** counter_tx() - packets of a QP that is counted are sent next */
void counter_tx(struct vqp *qp, const struct run *run);
/** counter_rx() - packets for a QP that is counted have arrived */
void counter_rx(struct vqp *qp, const struct run *run);
/** counter_follow() - the QP's port, or its counter, may have changed */
void counter_follow(struct vqp *qp);
/** counter_bind() - bind a QP to another counter, or to none: NULL */
void counter_bind(struct vqp *qp, struct vcounter *counter);
/** counter_destroy() - free a counter without users */
void counter_destroy(struct vhca_dev *dev, struct vcounter *counter);

/** ends_message() - does a message end with this run? */
static inline bool ends_message(const struct run *run)
{
	return run->last && run->kind != WIRE_ACK && run->kind != WIRE_READ_RESP &&
	       run->kind != WIRE_ATOMIC_ACK;
}

/** qp_count_rx() - packets for a QP have arrived */
static inline void qp_count_rx(struct vqp *qp, const struct run *run)
{
	qp->stats.rx_packets += run->npkts;
	qp->stats.rx_bytes += run->len;
	qp->stats.rx_msgs += ends_message(run);
	if (qp->counted)
		counter_rx(qp, run);
}

/** qp_count_tx() - packets of a QP leave */
static inline void qp_count_tx(struct vqp *qp, const struct run *run)
{
	qp->stats.tx_packets += run->npkts;
	qp->stats.tx_bytes += run->len;
	qp->stats.tx_msgs += ends_message(run);
	if (qp->counted)
		counter_tx(qp, run);
}

/**
 * qp_send() - let packets out
 * @qp: sender
 * @run: packets; changed
 *
 * Return: false if that has put the QP itself into the error state: it may be its own peer, and
 * the packets have arrived by then.
 */
static inline bool qp_send(struct vqp *qp, struct run *run)
{
	qp_count_tx(qp, run);
	fab_send(&qp->port->fab, run);
	return qp->state != QPS_ERR;
}

/** pkey_match() - are both of one valid partition, and not both limited members? */
static inline bool pkey_match(u16 a, u16 b)
{
	return b & ~PKEY_FULL && !((a ^ b) & ~PKEY_FULL) && (a | b) & PKEY_FULL;
}

/** vport_bad_pkey() - count packets whose P_Key the receiver does not have, and send a trap */
void vport_bad_pkey(struct vport *p, const struct run *run);
/** vport_bad_qkey() - the same for a Q_Key */
void vport_bad_qkey(struct vport *p, const struct run *run);
/** qp_bad_pkey() - vport_bad_pkey() at the port of a QP, which counts it too */
void qp_bad_pkey(struct vqp *qp, const struct run *run);
/** qp_bad_qkey() - the same for a Q_Key */
void qp_bad_qkey(struct vqp *qp, const struct run *run);

/** rx_pkey_ok() - are packets of the QP's partition?  Counts them if not */
static inline bool rx_pkey_ok(struct vqp *qp, const struct run *run)
{
	if (pkey_match(run->h.pkey, qp->pkey))
		return true;
	qp_bad_pkey(qp, run);
	return false;
}

enum vhca_status cmd_create_counter(struct command *c);
enum vhca_status cmd_destroy_counter(struct command *c);
enum vhca_status cmd_bind_counter(struct command *c);
enum vhca_status cmd_query_counter(struct command *c);

#endif /* VHCAD_QP_COUNTER_H */
