/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Completion queues.
 */
#ifndef VHCAD_RES_CQ_H
#define VHCAD_RES_CQ_H

#include "lib/timer.h"
#include "res/eq.h"

/**
 * struct vcq - a completion queue
 * @dev: device
 * @cqn: number
 * @users: queues that complete here
 * @flags: VHCA_CQ_*
 * @log: log2 of its entries
 * @err: overrun or not accessible: it takes no more entries
 * @eq: EQ for its events
 * @uar: UAR of its records
 * @rec_ci: entries that the consumer has taken
 * @rec_arm: arm record: what the consumer waits for
 * @ring: entries
 * @pi: entries written
 * @ci: entries taken, as read last
 * @told: arm record for which the last event was posted
 * @due: arm record that an entry has matched; equal to @told: none
 * @notify_node: on the device's list while it has entries that were not compared with an arm record
 * @has_solicited: solicited ones are among these,
 * @last_solicited: and @pi behind the last one
 * @mod_count: moderation: number of entries that make an event,
 * @mod_ns: and time after which one entry does
 * @since: entries since the last event, at most @mod_count
 * @first: when the first of these was written, in nanoseconds
 * @timer: runs while an event is due and waits for more entries
 * @compl: completion events
 * @async: asynchronous events
 */
struct vcq {
	struct vhca_dev *dev;
	u32 cqn;
	u32 users;
	u8 flags;
	u8 log;
	bool err;
	struct veq *eq;
	struct vuar *uar;
	struct dbrec rec_ci;
	struct dbrec rec_arm;
	struct vring ring;
	u32 pi;
	u32 ci;
	u64 told;
	u64 due;
	struct list_head notify_node;
	bool has_solicited;
	u32 last_solicited;
	u32 mod_count;
	u32 mod_ns;
	u32 since;
	u64 first;
	struct timer timer;
	struct evnode compl;
	struct evnode async;
};

/**
 * cq_push() - write a completion
 * @cq: CQ
 * @cqe: all but owner and timestamp, which are filled in
 * @solicited: counts as solicited for arming, as errors do
 *
 * The consumer sees it at once.  One that sleeps is notified by cq_notify_pending().
 *
 * Return: false when the CQ is in the error state, or enters it now.
 */
bool cq_push(struct vcq *cq, struct vhca_cqe *cqe, bool solicited);

/**
 * cq_notify_pending() - notify the consumers of entries written since the last call
 * @dev: device
 *
 * Context: behind a full barrier that follows the entries.
 */
void cq_notify_pending(struct vhca_dev *dev);

/** cq_destroy() - free a CQ without users */
void cq_destroy(struct vcq *cq);

enum vhca_status cmd_create_cq(struct command *c);
enum vhca_status cmd_destroy_cq(struct command *c);
enum vhca_status cmd_resize_cq(struct command *c);
enum vhca_status cmd_modify_cq(struct command *c);

#endif /* VHCAD_RES_CQ_H */
