/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Event queues.
 */
#ifndef VHCAD_RES_EQ_H
#define VHCAD_RES_EQ_H

#include "res/buf.h"
#include "res/uar.h"

/* Bits of a node.  The lowest event is reported first. */
enum event_bit {
	EVB_COMPLETION,
	EVB_CQ_ERR,
	EVB_QP_FATAL,
	EVB_QP_REQ_ERR,
	EVB_QP_ACCESS_ERR,
	EVB_COMM_EST,
	EVB_SQ_DRAINED,
	EVB_LAST_WQE,
	EVB_PATH_MIG,
	EVB_PATH_MIG_ERR,
	EVB_SRQ_LIMIT,
	EVB_SRQ_ERR,
	EVB_PORT_ERR,
	EVB_PORT_ACTIVE,
	EVB_LID_CHANGE,
	EVB_PKEY_CHANGE,
	EVB_GID_CHANGE,
	EVB_SM_CHANGE,
	EVB_REREGISTER,
	EVB_PORT_CHANGE,
	EVB_DEVICE_FATAL,
};

/**
 * struct evnode - events of an object that wait for room in its EQ
 * @node: on the EQ's list while it has events
 * @bits: 1 << enum event_bit
 * @number: number of the object
 * @port: port number, or 0
 */
struct evnode {
	struct list_head node;
	u32 bits : 24;
	u32 port : 8;
	u32 number;
};

/**
 * struct veq - an event queue
 * @dev: device
 * @eqn: number
 * @users: CQs
 * @flags: VHCA_EQ_*
 * @log: log2 of its entries
 * @vector: interrupt vector, or VHCA_NO_VECTOR
 * @uar: UAR of its records
 * @rec_ci: entries that the driver has taken
 * @rec_arm: arm record: what the driver waits for
 * @ring: entries
 * @pi: entries written
 * @ci: entries taken, as read last
 * @told: arm record for which the last interrupt was raised
 * @pending: nodes with events, the oldest first
 * @own_pending: the list that @pending points to, unless it is the asynchronous EQ: then the list
 *	is the device's
 * @flush_node: on the device's list of rings to flush
 */
struct veq {
	struct vhca_dev *dev;
	u32 eqn;
	u32 users;
	u8 flags;
	u8 log;
	u32 vector;
	struct vuar *uar;
	struct dbrec rec_ci;
	struct dbrec rec_arm;
	struct vring ring;
	u32 pi;
	u32 ci;
	u64 told;
	struct list_head *pending;
	struct list_head own_pending;
	struct list_head flush_node;
};

/** evnode_init() - an object with this number has no events yet */
void evnode_init(struct evnode *n, u32 number);
/** evnode_fini() - drop events that were not reported */
void evnode_fini(struct evnode *n);
/** eq_post() - report an event, or keep it pending while the EQ is full */
void eq_post(struct veq *eq, struct evnode *n, enum event_bit bit);
/** eq_async() - report an asynchronous event, or keep it pending until there is an EQ for it */
void eq_async(struct vhca_dev *dev, struct evnode *n, enum event_bit bit);
/** eq_fatal_waits() - does DEVICE_FATAL wait for room in its EQ? */
bool eq_fatal_waits(const struct vhca_dev *dev);
/** eq_port_change() - report that a port's attributes have changed, if the driver asks for it */
void eq_port_change(struct vhca_dev *dev, struct evnode *n);
/** eq_flush() - write some pending events; returns how many.  eq_flush_later() does the rest */
u32 eq_flush(struct veq *eq);
/** eq_flush_later() - have the next pass write pending events, as the driver has made room */
void eq_flush_later(struct veq *eq);
/** eq_destroy() - free an EQ without users */
void eq_destroy(struct veq *eq);

enum vhca_status cmd_create_eq(struct command *c);
enum vhca_status cmd_destroy_eq(struct command *c);

#endif /* VHCAD_RES_EQ_H */
