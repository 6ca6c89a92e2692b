// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reasons for refused requests: see include/rdma/rdma_reject.h.
 *
 * A refusal deep inside a driver has to find the log of the file whose request is being handled,
 * without an argument in every call. Therefore running requests are in a small open-addressed
 * table, keyed by task. Only the task whose pointer is in a slot changes that slot, so no lock is
 * needed to enter, to leave, or to find one's own request. As long as every running request is in
 * the first slot of its task's probe sequence, look-ups end there.
 *
 * Of a refusal, its place in the source and the values are recorded. Few reasons are ever read, and
 * formatting one would cost as much as the rest of the request.
 */
#include <kunit/visibility.h>
#include <linux/atomic.h>
#include <linux/ctype.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/module.h>
#include <linux/netlink.h>
#include <linux/math64.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_buf.h>
#include <linux/seq_file.h>
#include <asm/sections.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_reject.h>

#include "../trace/trace.h"

#define RUNNING_BITS 9
#define RUNNING_SLOTS BIT(RUNNING_BITS)
/*
 * Slots tried for one task. Refusals of a task that finds no free slot are traced, but not
 * recorded.
 */
#define RUNNING_PROBES 16

struct rdma_running {
	struct task_struct *task;
	struct rdma_reject_scope *scope;
};

static struct rdma_running running[RUNNING_SLOTS];
/* Number of requests in another slot than the first one of their task. */
static atomic_t elsewhere;

static struct rdma_running *running_probe(unsigned int try)
{
	return &running[(hash_ptr(current, RUNNING_BITS) + try) & (RUNNING_SLOTS - 1)];
}

/**
 * rdma_reject_attach() - attach the reasons that the current task gives to a request
 * @scope: from rdma_reject_begin()
 *
 * Until rdma_reject_leave(), reasons that this task gives belong to the request.  Scopes nest: an
 * inner one replaces the outer one until it is left.  It is in the same slot as the outer one, or
 * in an earlier slot that has become free, which is found first.  Context: task context, any locks;
 * does not sleep.
 */
void rdma_reject_attach(struct rdma_reject_scope *scope)
{
	scope->outer = NULL;
	for (unsigned int try = 0; try < RUNNING_PROBES; try++) {
		struct rdma_running *place = running_probe(try);
		struct task_struct *task = cmpxchg(&place->task, NULL, current);

		if (task && task != current)
			continue;
		if (task)
			scope->outer = place->scope;
		else if (try)
			atomic_inc(&elsewhere);
		scope->running = place;
		place->scope = scope;
		return;
	}
	scope->running = NULL;
}
EXPORT_SYMBOL(rdma_reject_attach);

/**
 * rdma_reject_detach() - undo rdma_reject_attach()
 * @scope: the scope; rdma_reject_leave() calls this if needed
 *
 * Context: the task that attached it; does not sleep.
 */
void rdma_reject_detach(struct rdma_reject_scope *scope)
{
	struct rdma_running *place = scope->running;

	place->scope = scope->outer;
	if (scope->outer)
		return;
	if (place != running_probe(0))
		atomic_dec(&elsewhere);
	/* Pairs with cmpxchg() of the next task, whose scope this must not overwrite. */
	smp_store_release(&place->task, NULL);
}
EXPORT_SYMBOL(rdma_reject_detach);

/**
 * rdma_reject_current() - get the request that the current task handles
 *
 * Context: any; an interrupt's refusals are not the interrupted task's.
 * Return: the scope, NULL if there is none.
 */
struct rdma_reject_scope *rdma_reject_current(void)
{
	unsigned int tries = atomic_read(&elsewhere) ? RUNNING_PROBES : 1;

	if (!in_task())
		return NULL;
	for (unsigned int try = 0; try < tries; try++)
		if (READ_ONCE(running_probe(try)->task) == current)
			return running_probe(try)->scope;
	return NULL;
}
EXPORT_SYMBOL(rdma_reject_current);

/*
 * Returns the length of a conversion, which begins with %. A width or precision given by an
 * argument is not supported.
 */
static size_t conversion_len(const char *at)
{
	size_t len = 1;

	len += strspn(at + len, "-+ #0123456789.");
	len += strspn(at + len, "hlLqjzt");
	if (!at[len])
		return len;
	/* The letters after %p give the type to which the pointer refers. */
	if (at[len++] == 'p')
		while (isalnum(at[len]))
			len++;
	return len;
}

static void format_value(struct seq_buf *out, const char *conversion, u8 kind, u64 value)
{
	if (kind == sizeof(u32))
		seq_buf_printf(out, conversion, (u32)value);
	else if (kind == sizeof(u64))
		seq_buf_printf(out, conversion, value);
	else
		seq_buf_printf(out, conversion, (const void *)(unsigned long)value);
}

/* Formats the text of a reason. */
static void format_reason(char *text, size_t size, const struct rdma_reason *reason,
			  const u64 *values)
{
	const char *at = reason->fmt;
	const u8 *kind = reason->kinds;
	char conversion[16];
	struct seq_buf out;
	size_t len;

	seq_buf_init(&out, text, size);
	for (; *at; at += len) {
		len = strcspn(at, "%");
		if (len) {
			seq_buf_printf(&out, "%.*s", (int)len, at);
			continue;
		}
		len = conversion_len(at);
		strscpy(conversion, at, min(len + 1, sizeof(conversion)));
		if (*kind && at[len - 1] != '%')
			format_value(&out, conversion, *kind++, *values++);
		else
			seq_buf_putc(&out, '%');
	}
	seq_buf_str(&out);
}

/* Is this address in the read-only data of a module? */
static bool is_constant_of(const struct module *module, const void *what)
{
#ifdef CONFIG_MODULES
	if (module)
		return within_module_mem_type((unsigned long)what, module, MOD_RODATA);
#endif
	return false;
}

static bool text_stays(const struct rdma_reject_log *log, const char *text)
{
#ifndef MODULE
	if (is_kernel_rodata((unsigned long)text))
		return true;
#endif
	return is_constant_of(log->stays[0], text) || is_constant_of(log->stays[1], text) ||
	       is_constant_of(THIS_MODULE, text);
}

/* Does a reason exist as long as the log? */
static bool reason_stays(const struct rdma_reject_log *log, const struct rdma_reason *reason)
{
	return reason->owner == log->stays[0] || reason->owner == log->stays[1] ||
	       reason->owner == THIS_MODULE || !reason->owner;
}

/*
 * Records a reason, which is formatted later. Returns false if it refers to something that may
 * change until then.
 */
static bool keep_values(const struct rdma_reject_log *log, struct rdma_reject_entry *entry,
			const struct rdma_reason *reason, va_list args)
{
	const u8 *kinds = reason->kinds;
	u64 *values = entry->values;
	u64 value;
	u8 kind;

	if (!reason_stays(log, reason))
		return false;
	while ((kind = *kinds++)) {
		value = va_arg(args, u64);
		*values++ = value;
		if (kind >= RDMA_REASON_STRING &&
		    (kind == RDMA_REASON_OTHER ||
		     !text_stays(log, (const char *)(unsigned long)value)))
			return false;
	}
	entry->reason = reason;
	return true;
}

/* Formats the text from the arguments of rdma_refuse_for(). */
static noinline void format_now(char *text, size_t size, const struct rdma_reason *reason,
				va_list args)
{
	u64 values[RDMA_REJECT_VALUES];

	for (unsigned int i = 0; reason->kinds[i]; i++)
		values[i] = va_arg(args, u64);
	format_reason(text, size, reason, values);
}

/*
 * Begins an entry of the log. Returns false if another thread of the process is still writing it,
 * or has gone round the whole ring meanwhile. The other thread's reason is then kept instead.
 */
static bool log_begin(struct rdma_reject_log *log, int err, struct rdma_reject_entry **begun)
{
	u64 number = atomic64_inc_return(&log->count) - 1;
	struct rdma_reject_entry *entry = &log->ring[number % RDMA_REJECT_KEPT];
	u64 turn = atomic64_read(&entry->turn);

	if ((turn & 1) || turn > 2 * number ||
	    atomic64_cmpxchg(&entry->turn, turn, 2 * number + 1) != turn)
		return false;
	entry->err = err;
	entry->when = get_jiffies_64();
	*begun = entry;
	return true;
}

/* Completes an entry. If its turn is odd, no other task has written it since log_begin(). */
static void log_end(struct rdma_reject_entry *entry)
{
	atomic64_set_release(&entry->turn, atomic64_read(&entry->turn) + 1);
}

/* The first reason is kept, since it comes from the innermost function. */
static void answer_reason(struct netlink_ext_ack *extack, const char *text)
{
	if (extack->_msg)
		return;
	strscpy(extack->_msg_buf, text);
	extack->_msg = extack->_msg_buf;
}

/* Passes the reason to the trace point and the netlink answer, which need it as text now. */
static noinline void publish_reason(const struct rdma_reject_scope *scope, int err,
				    const struct rdma_reason *reason, va_list args)
{
	char text[RDMA_REJECT_TEXT];

	format_now(text, sizeof(text), reason, args);
	trace_rdma_reject(scope && scope->device ? scope->device->name : "-", err, text);
	if (scope && scope->extack)
		answer_reason(scope->extack, text);
}

/**
 * rdma_refuse_for() - the function behind rdma_refuse()
 * @scope: the request, NULL if there is none
 * @err: the negative errno that the caller is about to return
 * @reason: the place in the source; its values follow, each a u64
 *
 * Context: any.
 * Return: @err.
 */
int rdma_refuse_for(struct rdma_reject_scope *scope, int err, const struct rdma_reason *reason,
		    ...)
{
	/*
	 * @text is passed to functions that are not inlined; @kept is separate, to stay in
	 * registers.
	 */
	va_list kept __uninitialized, text __uninitialized;
	struct rdma_reject_entry *entry;

	if (scope) {
		if (scope->quiet)
			return err;
		scope->told = true;
	}
	if ((scope && scope->extack) || trace_rdma_reject_enabled()) {
		va_start(text, reason);
		publish_reason(scope, err, reason, text);
		va_end(text);
	}
	if (!scope || !scope->log || !log_begin(scope->log, err, &entry))
		return err;
	va_start(kept, reason);
	if (!keep_values(scope->log, entry, reason, kept)) {
		va_start(text, reason);
		format_now(entry->text, sizeof(entry->text), reason, text);
		va_end(text);
		entry->reason = NULL;
	}
	va_end(kept);
	log_end(entry);
	return err;
}
EXPORT_SYMBOL(rdma_refuse_for);

static bool read_reason(struct rdma_reject_entry *entry, s64 number, struct rdma_reject_entry *copy)
{
	s64 turn = atomic64_read_acquire(&entry->turn);

	if (turn != 2 * number + 2)
		return false;
	copy->err = entry->err;
	copy->when = entry->when;
	copy->reason = entry->reason;
	memcpy(copy->text, entry->text, sizeof(copy->text));
	/* The copy is valid if no writer had begun before it was complete. */
	smp_rmb();
	return atomic64_read(&entry->turn) == turn;
}

static void format_entry(char *text, size_t size, const struct rdma_reject_entry *entry)
{
	if (entry->reason)
		format_reason(text, size, entry->reason, entry->values);
	else
		strscpy(text, entry->text, size);
}

/**
 * rdma_reject_text() - read a recorded reason
 * @log: the log
 * @number: its number since the file was opened
 * @text: receives the text, with its NUL
 * @size: size of @text in bytes; RDMA_REJECT_TEXT suffice
 *
 * Context: any.
 * Return: the errno; 0 if the reason was overwritten, is not complete yet, or does not exist.
 */
int rdma_reject_text(struct rdma_reject_log *log, s64 number, char *text, size_t size)
{
	struct rdma_reject_entry copy;

	if (!read_reason(&log->ring[number % RDMA_REJECT_KEPT], number, &copy))
		return 0;
	format_entry(text, size, &copy);
	return copy.err;
}
EXPORT_SYMBOL_IF_KUNIT(rdma_reject_text);

/**
 * rdma_reject_show() - print the recorded reasons, oldest first
 * @seq: output; meant for the show_fdinfo operation of the file that has the log
 * @log: the log
 *
 * Each reason is a line: "rdma-reject:", its number since the file was opened, seconds since boot,
 * the negative errno, the text. Reasons that are being written are left out. Context: any.
 */
void rdma_reject_show(struct seq_file *seq, struct rdma_reject_log *log)
{
	s64 end = atomic64_read(&log->count);
	s64 number = max(end - RDMA_REJECT_KEPT, 0LL);

	for (; number < end; number++) {
		struct rdma_reject_entry copy;
		char text[RDMA_REJECT_TEXT];
		u32 rest;
		u64 seconds;

		if (!read_reason(&log->ring[number % RDMA_REJECT_KEPT], number, &copy))
			continue;
		format_entry(text, sizeof(text), &copy);
		seconds = div_u64_rem(jiffies64_to_nsecs(copy.when - INITIAL_JIFFIES),
				      NSEC_PER_SEC, &rest);
		seq_printf(seq, "rdma-reject:\t%lld %llu.%06u %d %s\n", number, seconds,
			   rest / 1000, copy.err, text);
	}
}
EXPORT_SYMBOL(rdma_reject_show);
