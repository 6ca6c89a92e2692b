/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reasons for refused requests.
 *
 * A user who is handed EINVAL should be able to learn which attribute was wrong without rebuilding
 * anything. Code that refuses something a user asked for calls rdma_refuse() with the errno it is
 * about to return and one sentence naming the attribute, its value and the limit. Nothing goes to
 * the kernel log: the sentence is emitted as the tracepoint rdma_core:rdma_reject and, when the
 * call was made for an open file, kept in that file's ring of the last RDMA_REJECT_KEPT reasons,
 * which /proc/PID/fdinfo/FD shows.
 *
 * The function is not called rdma_reject() because that is the connection manager's public call to
 * turn down a connection request (rdma/rdma_cm.h), and some files need both.
 */
#ifndef RDMA_REJECT_H
#define RDMA_REJECT_H

#include <linux/atomic.h>
#include <linux/types.h>

struct ib_device;
struct netlink_ext_ack;
struct seq_file;

/* Reasons a file keeps, and the bytes of one reason including its NUL. */
#define RDMA_REJECT_KEPT 8
#define RDMA_REJECT_TEXT 96

/**
 * struct rdma_reject_entry - one kept reason
 * @turn: 2n + 1 while reason number n is being written here, 2n + 2 once it is complete; 0 if the
 *        entry has never been used
 * @err: the negative errno that was returned
 * @time_ns: CLOCK_BOOTTIME at the refusal, in nanoseconds
 * @text: the reason, NUL-terminated, cut off at the end if it was longer
 */
struct rdma_reject_entry {
	atomic64_t turn;
	int err;
	u64 time_ns;
	char text[RDMA_REJECT_TEXT];
};

/**
 * struct rdma_reject_log - the last reasons given to one open file
 * @count: reasons recorded since the log was initialised, the kept ones included
 * @ring: the last RDMA_REJECT_KEPT of them, indexed by number modulo RDMA_REJECT_KEPT
 *
 * Embed it in the file's private structure. All zeroes is a valid empty log. Writers and readers
 * take no lock; a reader skips an entry that changes under it.
 */
struct rdma_reject_log {
	atomic64_t count;
	struct rdma_reject_entry ring[RDMA_REJECT_KEPT];
};

/**
 * struct rdma_reject_scope - the request the current task is working on
 * @log: where reasons are kept, or NULL for the tracepoint alone
 * @device: device the request addresses, or NULL while it is not known. The caller may set it at
 *          any time between enter and leave and must keep the device alive until leave.
 * @extack: netlink answer that takes the first reason, cut off where it is too long, or NULL
 * @quiet: record nothing at all. The caller sets it around requests by which libraries probe for
 *         optional features, since these are refused at every open and would bury real reasons.
 * @outer: scope that was current before this one (private)
 * @slot: place in the table of running requests, or negative (private)
 *
 * Lives on the stack of the system call's handler.
 */
struct rdma_reject_scope {
	struct rdma_reject_log *log;
	const struct ib_device *device;
	struct netlink_ext_ack *extack;
	bool quiet;
	struct rdma_reject_scope *outer;
	int slot;
};

__printf(2, 3) int rdma_refuse(int err, const char *fmt, ...);
void rdma_reject_enter(struct rdma_reject_log *log, struct rdma_reject_scope *scope);
void rdma_reject_leave(struct rdma_reject_scope *scope);
void rdma_reject_show(struct seq_file *seq, struct rdma_reject_log *log);

#endif
