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

#include <linux/args.h>
#include <linux/atomic.h>
#include <linux/init.h>
#include <linux/types.h>

struct ib_device;
struct module;
struct netlink_ext_ack;
struct seq_file;

/* Reasons a file keeps, the bytes of one reason including its NUL, and values in one. */
#define RDMA_REJECT_KEPT 8
#define RDMA_REJECT_TEXT 96
#define RDMA_REJECT_VALUES 8

/* Words of 32 bits that the values of one reason may take until it is read. */
#define RDMA_REJECT_WORDS 32

/**
 * struct rdma_reason - one place that refuses something
 * @fmt: printf format of the sentence
 * @owner: module whose text @fmt is, NULL for the kernel's own
 * @kinds: what is to be kept of each value: its bytes, RDMA_REASON_STRING, or
 *         RDMA_REASON_OTHER; 0 ends
 *
 * Made by rdma_refuse(), one constant for each call in the source.
 */
struct rdma_reason {
	const char *fmt;
	const struct module *owner;
	u8 kinds[RDMA_REJECT_VALUES + 1];
};

#define RDMA_REASON_STRING	0x80	/* kept by copy */
#define RDMA_REASON_OTHER	0x81	/* a pointer that only formatting can follow */

/**
 * struct rdma_reject_entry - one kept reason
 * @turn: 2n + 1 while reason number n is being written here, 2n + 2 once it is complete; 0 if the
 *        entry has never been used
 * @err: the negative errno that was returned
 * @time_ns: CLOCK_BOOTTIME at the refusal, in nanoseconds
 * @reason: the sentence
 * @words: its values, as bstr_printf() takes them
 */
struct rdma_reject_entry {
	atomic64_t turn;
	int err;
	u64 time_ns;
	const struct rdma_reason *reason;
	u32 words[RDMA_REJECT_WORDS];
};

/**
 * struct rdma_reject_log - the last reasons given to one open file
 * @count: reasons recorded since the log was initialised, the kept ones included
 * @stays: modules besides ib_core that are not unloaded while the log exists, such as the file's
 *         own and the device's driver. Their reasons become text when they are read; reasons of
 *         others are kept as text.
 * @ring: the last RDMA_REJECT_KEPT of them, indexed by number modulo RDMA_REJECT_KEPT
 *
 * Embed it in the file's private structure. All zeroes is a valid empty log. Writers and readers
 * take no lock; a reader skips an entry that changes under it.
 */
struct rdma_reject_log {
	atomic64_t count;
	const struct module *stays[2];
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

/* The bytes of a number after promotion, or what else it is. */
#define __rdma_reason_kind(_value)				\
	_Generic((_value) + 0,					\
		 int: sizeof(int),				\
		 unsigned int: sizeof(int),			\
		 long: sizeof(long),				\
		 unsigned long: sizeof(long),			\
		 long long: sizeof(long long),			\
		 unsigned long long: sizeof(long long),		\
		 char *: RDMA_REASON_STRING,			\
		 const char *: RDMA_REASON_STRING,		\
		 default: RDMA_REASON_OTHER)

#define __rdma_reason_kinds0()
#define __rdma_reason_kinds1(_value) __rdma_reason_kind(_value),
#define __rdma_reason_kinds2(_value, ...) \
	__rdma_reason_kind(_value), __rdma_reason_kinds1(__VA_ARGS__)
#define __rdma_reason_kinds3(_value, ...) \
	__rdma_reason_kind(_value), __rdma_reason_kinds2(__VA_ARGS__)
#define __rdma_reason_kinds4(_value, ...) \
	__rdma_reason_kind(_value), __rdma_reason_kinds3(__VA_ARGS__)
#define __rdma_reason_kinds5(_value, ...) \
	__rdma_reason_kind(_value), __rdma_reason_kinds4(__VA_ARGS__)
#define __rdma_reason_kinds6(_value, ...) \
	__rdma_reason_kind(_value), __rdma_reason_kinds5(__VA_ARGS__)
#define __rdma_reason_kinds7(_value, ...) \
	__rdma_reason_kind(_value), __rdma_reason_kinds6(__VA_ARGS__)
#define __rdma_reason_kinds8(_value, ...) \
	__rdma_reason_kind(_value), __rdma_reason_kinds7(__VA_ARGS__)

#ifdef __CHECKER__	/* sparse takes an initialiser twice when the call is an argument */
#define __rdma_reason(_fmt, ...) {}
#else
#define __rdma_reason(_fmt, ...)					\
	{								\
		.fmt = _fmt,						\
		.owner = THIS_MODULE,					\
		.kinds = {						\
			CONCATENATE(__rdma_reason_kinds,		\
				    COUNT_ARGS(__VA_ARGS__))(__VA_ARGS__) \
		},							\
	}
#endif

/* Lets the compiler compare values and format. */
static inline __printf(1, 2) void __rdma_reason_check(const char *fmt, ...)
{
}

/**
 * rdma_refuse - refuse a request and say why
 * @_err: the negative errno the caller is about to return
 * @_fmt: printf format, a literal, of one sentence without line feed that names the attribute, its
 *        value and what would be acceptable, such as "max_send_wr %u > device limit %u". What does
 *        not fit into RDMA_REJECT_TEXT bytes is cut off. Numbers of one or two bytes are not
 *        formatted as such: %u, not %hhu. At most RDMA_REJECT_VALUES values follow.
 *
 * Emits the trace point rdma_core:rdma_reject and gives the reason to the netlink answer, or stores
 * it in the log of the file, whose request the current task is serving, if any. Prints nothing, and
 * formats nothing unless somebody reads it. Does nothing for requests marked quiet. Context: any,
 * including interrupts (then the trace point alone); takes no lock and allocates nothing.
 *
 * Return: @_err.
 */
#define rdma_refuse(_err, _fmt, ...)							\
	({										\
		static const struct rdma_reason __reason =				\
			__rdma_reason(_fmt, ##__VA_ARGS__);				\
											\
		if (0)									\
			__rdma_reason_check(_fmt, ##__VA_ARGS__);			\
		rdma_refuse_for(_err, &__reason, ##__VA_ARGS__);			\
	})

int rdma_refuse_for(int err, const struct rdma_reason *reason, ...);
int rdma_reject_text(struct rdma_reject_log *log, s64 number, char *text, size_t size);
void rdma_reject_enter(struct rdma_reject_log *log, struct rdma_reject_scope *scope);
void rdma_reject_leave(struct rdma_reject_scope *scope);
void rdma_reject_show(struct seq_file *seq, struct rdma_reject_log *log);

#endif
