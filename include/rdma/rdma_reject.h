/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Reasons for refused requests.
 *
 * A user who gets EINVAL should be able to find out which attribute was wrong without rebuilding
 * anything. Code that refuses a request of a user calls rdma_refuse() with the errno that it is
 * about to return and one sentence that names the attribute, its value and the limit. Nothing goes
 * to the kernel log: the sentence is emitted as the trace point rdma_core:rdma_reject and, if the
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
struct rdma_running;
struct seq_file;

/* Number of reasons that a file keeps; bytes of one reason, including its NUL; values in one. */
#define RDMA_REJECT_KEPT 8
#define RDMA_REJECT_TEXT 96
#define RDMA_REJECT_VALUES 8

/**
 * struct rdma_reason - one place that refuses something
 * @fmt: printf format of the sentence
 * @owner: module whose text @fmt is, NULL for the kernel's own
 * @kinds: type of each value: the size of a number in bytes, RDMA_REASON_STRING, or
 *         RDMA_REASON_OTHER; 0 ends the array
 *
 * Made by rdma_refuse(), one constant for each call in the source.
 */
struct rdma_reason {
	const char *fmt;
	const struct module *owner;
	u8 kinds[RDMA_REJECT_VALUES + 1];
};

#define RDMA_REASON_STRING	0x80
#define RDMA_REASON_OTHER	0x81	/* a pointer to something else */

/**
 * struct rdma_reject_entry - one kept reason
 * @turn: 2n + 1 while reason number n is being written here, 2n + 2 once it is complete; 0 if the
 *        entry has never been used
 * @err: the negative errno that was returned
 * @when: get_jiffies_64() at the refusal
 * @reason: the place, NULL for a reason that is kept as text
 * @values: its values
 * @text: the text
 */
struct rdma_reject_entry {
	atomic64_t turn;
	int err;
	u64 when;
	const struct rdma_reason *reason;
	union {
		u64 values[RDMA_REJECT_VALUES];
		char text[RDMA_REJECT_TEXT];
	};
};

/**
 * struct rdma_reject_log - the last reasons given to one open file
 * @count: reasons recorded since the log was initialised, the kept ones included
 * @stays: modules besides ib_core that are not unloaded while the log exists, such as the file's
 *         own and the device's driver. Reasons of these modules are formatted when they are read,
 *         if they quote only constant strings of these modules; others are stored as text.
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
 * @log: log that keeps the reasons, or NULL for the trace point only
 * @device: device the request addresses, or NULL while it is not known. The caller may set it at
 *          any time between enter and leave and must keep the device alive until leave.
 * @extack: netlink extack that receives the first reason, truncated if it is too long, or NULL
 * @quiet: record nothing at all. The caller sets it around requests by which libraries probe for
 *         optional features, since these are refused at every open and would displace real reasons.
 * @told: a reason was recorded
 * @outer: scope that was current before this one (private)
 * @running: place in the table of running requests, NULL while it is not there (private)
 *
 * Lives on the stack of the system call's handler.
 */
struct rdma_reject_scope {
	struct rdma_reject_log *log;
	const struct ib_device *device;
	struct netlink_ext_ack *extack;
	bool quiet;
	bool told;
	struct rdma_reject_scope *outer;
	struct rdma_running *running;
};

/* Type of a value, for rdma_reason.kinds: a promoted number's size, or RDMA_REASON_*. */
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

static inline u64 __rdma_reason_number(u64 value)
{
	return value;
}

static inline u64 __rdma_reason_pointer(const void *value)
{
	return (unsigned long)value;
}

/* Converts a number or a pointer to the type in which it is stored. */
#define __rdma_reason_value(_value)				\
	_Generic((_value) + 0,					\
		 int: __rdma_reason_number,			\
		 unsigned int: __rdma_reason_number,		\
		 long: __rdma_reason_number,			\
		 unsigned long: __rdma_reason_number,		\
		 long long: __rdma_reason_number,		\
		 unsigned long long: __rdma_reason_number,	\
		 default: __rdma_reason_pointer)(_value)

/* One macro for each of up to eight values. */
#define __rdma_reason_map0(_do)
#define __rdma_reason_map1(_do, _value) _do(_value)
#define __rdma_reason_map2(_do, _value, ...) \
	_do(_value) __rdma_reason_map1(_do, __VA_ARGS__)
#define __rdma_reason_map3(_do, _value, ...) \
	_do(_value) __rdma_reason_map2(_do, __VA_ARGS__)
#define __rdma_reason_map4(_do, _value, ...) \
	_do(_value) __rdma_reason_map3(_do, __VA_ARGS__)
#define __rdma_reason_map5(_do, _value, ...) \
	_do(_value) __rdma_reason_map4(_do, __VA_ARGS__)
#define __rdma_reason_map6(_do, _value, ...) \
	_do(_value) __rdma_reason_map5(_do, __VA_ARGS__)
#define __rdma_reason_map7(_do, _value, ...) \
	_do(_value) __rdma_reason_map6(_do, __VA_ARGS__)
#define __rdma_reason_map8(_do, _value, ...) \
	_do(_value) __rdma_reason_map7(_do, __VA_ARGS__)
#define __rdma_reason_map(_do, ...) \
	CONCATENATE(__rdma_reason_map, COUNT_ARGS(__VA_ARGS__))(_do, ##__VA_ARGS__)

#define __rdma_reason_list_kind(_value)	__rdma_reason_kind(_value),
#define __rdma_reason_pass(_value)	, __rdma_reason_value(_value)

#ifdef __CHECKER__	/* sparse takes an initialiser twice when the call is an argument */
#define __rdma_reason(_fmt, ...) {}
#else
#define __rdma_reason(_fmt, ...)					\
	{								\
		.fmt = _fmt,						\
		.owner = THIS_MODULE,					\
		.kinds = {						\
			__rdma_reason_map(__rdma_reason_list_kind, ##__VA_ARGS__) \
		},							\
	}
#endif

/* Makes the compiler check the values against the format. */
static inline __printf(1, 2) void __rdma_reason_check(const char *fmt, ...)
{
}

/**
 * rdma_refuse_in() - rdma_refuse() for code that has the request at hand
 * @_scope: the request; NULL if there is none
 * @_err: the negative errno the caller is about to return
 * @_fmt: printf format, as for rdma_refuse()
 *
 * Context: any. Return: @_err.
 */
#define rdma_refuse_in(_scope, _err, _fmt, ...)						\
	({										\
		static const struct rdma_reason __reason =				\
			__rdma_reason(_fmt, ##__VA_ARGS__);				\
											\
		if (0)									\
			__rdma_reason_check(_fmt, ##__VA_ARGS__);			\
		rdma_refuse_for(_scope, _err, &__reason					\
				__rdma_reason_map(__rdma_reason_pass, ##__VA_ARGS__));	\
	})

/**
 * rdma_refuse() - refuse a request and say why
 * @_err: the negative errno the caller is about to return
 * @_fmt: printf format, a literal, of one sentence without line feed that names the attribute, its
 *        value and what would be acceptable, such as "max_send_wr %u > device limit %u". It is
 *        truncated to RDMA_REJECT_TEXT bytes. Numbers of one or two bytes are formatted with %u,
 *        not %hhu; widths and precisions must be in the format, not %*. At most
 *        RDMA_REJECT_VALUES values follow.
 *
 * Emits the trace point rdma_core:rdma_reject. If the current task serves a request, also passes
 * the reason to its netlink extack or stores it in the log of its file. Prints nothing, and formats
 * the text only when it is read. Does nothing for requests marked quiet.
 *
 * Context: any, including interrupts (then the trace point only); takes no lock and allocates
 * nothing.
 *
 * Return: @_err.
 */
#define rdma_refuse(_err, _fmt, ...) \
	rdma_refuse_in(rdma_reject_current(), _err, _fmt, ##__VA_ARGS__)

int rdma_refuse_for(struct rdma_reject_scope *scope, int err, const struct rdma_reason *reason,
		    ...);
int rdma_reject_text(struct rdma_reject_log *log, s64 number, char *text, size_t size);
struct rdma_reject_scope *rdma_reject_current(void);
void rdma_reject_attach(struct rdma_reject_scope *scope);
void rdma_reject_detach(struct rdma_reject_scope *scope);
void rdma_reject_show(struct seq_file *seq, struct rdma_reject_log *log);

/**
 * rdma_reject_begin() - begin a request on behalf of an open file
 * @log: the file's log, or NULL if it has none
 * @scope: storage for the duration of the request; @scope->device, @scope->extack and
 *         @scope->quiet are cleared, and may be set by the caller
 *
 * From now on code that has the scope at hand can refuse the request by rdma_refuse_in(); for
 * rdma_refuse() the scope must be attached to the task.
 */
static inline void rdma_reject_begin(struct rdma_reject_log *log, struct rdma_reject_scope *scope)
{
	scope->log = log;
	scope->device = NULL;
	scope->extack = NULL;
	scope->quiet = false;
	scope->told = false;
	scope->running = NULL;
}

/**
 * rdma_reject_enter() - begin a request, and attach it to the current task
 * @log: as for rdma_reject_begin()
 * @scope: as for rdma_reject_begin()
 *
 * Context: task context, any locks; does not sleep.
 */
static inline void rdma_reject_enter(struct rdma_reject_log *log, struct rdma_reject_scope *scope)
{
	rdma_reject_begin(log, scope);
	rdma_reject_attach(scope);
}

/**
 * rdma_reject_leave() - end a request
 * @scope: the scope, attached or not; no longer used after return
 *
 * Context: the task that attached it; does not sleep.
 */
static inline void rdma_reject_leave(struct rdma_reject_scope *scope)
{
	if (scope->running)
		rdma_reject_detach(scope);
}

#endif
