/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Shared receive queues, and XRC: domains, and targets that serve the SRQs of their domain.
 */
#ifndef VHCAD_QP_SRQ_H
#define VHCAD_QP_SRQ_H

#include "qp/qp.h"

struct command;

/* An XRC domain: a QP may send to SRQs of its own domain. */
struct vxrcd {
	struct vhca_dev *dev;
	u32 xrcdn;
	u32 users;
};

/**
 * struct vsrq - a shared receive queue
 * @dev: device
 * @srqn: number
 * @users: QPs
 * @log: log2 of its strides
 * @log_stride: log2 of the bytes of a stride
 * @err: its ring or records have failed: it gives no more receives
 * @pd: PD of the receives' memory
 * @uar: UAR of its records
 * @rec_posted: receives that were posted
 * @rec_taken: receives whose strides are free again
 * @ring: receives
 * @taken: receives taken
 * @posted: receives known to be posted so far
 * @limit: armed limit, or 0
 * @async: asynchronous events
 * @xrcd: its domain; NULL: it has none
 * @cq: XRC: where its receives complete
 * @targets: XRC: struct vqp, targets whose peers have named it last
 */
struct vsrq {
	struct vhca_dev *dev;
	u32 srqn;
	u32 users;
	u8 log, log_stride;
	bool err;
	struct vpd *pd;
	struct vuar *uar;
	struct dbrec rec_posted;
	struct dbrec rec_taken;
	struct vring ring;
	u32 taken;
	u32 posted;
	u32 limit;
	struct evnode async;
	struct vxrcd *xrcd;
	struct vcq *cq;
	struct list_head targets;
};

/**
 * srq_take() - take the next receive
 * @srq: SRQ
 * @w: receives the entry, which the QP has to keep: its stride is free
 *
 * Return: VHCA_CS_SUCCESS, the status to complete it with, -EAGAIN when none is posted, or -EFAULT
 * when the SRQ is in the error state, or enters it now.
 */
int srq_take(struct vsrq *srq, struct recv_wqe *w);

/** srq_destroy() - free an SRQ without users */
void srq_destroy(struct vsrq *srq);

/* xrc.c */
/** xrc_find() - the SRQ of a target's domain that has this number, or NULL */
struct vsrq *xrc_find(const struct vqp *qp, u32 srqn);
/**
 * xrc_turn() - serve a request that names an SRQ
 * @qp: target
 * @run: the packets
 *
 * Receives, keys and completions are those of that SRQ until the next call.
 *
 * Return: false if the peer may not name that SRQ now.
 */
bool xrc_turn(struct vqp *qp, const struct run *run);
/** xrc_leave() - a target is destroyed or reset */
void xrc_leave(struct vqp *qp);
/**
 * xrc_forget_srq() - drop an SRQ that is destroyed, and receives of it that targets hold
 * @srq: SRQ
 * @most: targets to detach from it at the most
 *
 * Return: false if there may be more.
 */
bool xrc_forget_srq(struct vsrq *srq, u32 most);
/** xrcd_destroy() - free a domain without users */
void xrcd_destroy(struct vxrcd *xrcd);

enum vhca_status cmd_create_srq(struct command *c);
enum vhca_status cmd_destroy_srq(struct command *c);
enum vhca_status cmd_modify_srq(struct command *c);
enum vhca_status cmd_resize_srq(struct command *c);
enum vhca_status cmd_query_srq(struct command *c);
enum vhca_status cmd_create_xrcd(struct command *c);
enum vhca_status cmd_destroy_xrcd(struct command *c);

#endif /* VHCAD_QP_SRQ_H */
