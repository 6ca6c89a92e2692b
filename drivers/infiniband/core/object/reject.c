// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Reasons for refused requests: see include/rdma/rdma_reject.h.
 *
 * A refusal deep inside a driver has to find the log of the file whose request is being served,
 * without an argument carried through every call. Running requests stand in a small open-addressed
 * table keyed by task. A slot that holds a task's pointer is touched by that task only, so neither
 * entering, nor leaving, nor finding one's own scope needs a lock. A task's first place counts how
 * many of those that share it had to go elsewhere, so that all but these look at one place only.
 *
 * What is kept of a refusal is its place in the source and the values; few are ever read, and to
 * format one would cost as much as the rest of the request.
 */
#include <kunit/visibility.h>
#include <linux/atomic.h>
#include <linux/cleanup.h>
#include <linux/hash.h>
#include <linux/ktime.h>
#include <linux/netlink.h>
#include <linux/math64.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <rdma/ib_verbs.h>
#include <rdma/rdma_reject.h>

#define CREATE_TRACE_POINTS
#include "../trace.h"

#define RUNNING_BITS 9
#define RUNNING_SLOTS BIT(RUNNING_BITS)
/* Places tried for one task. Tasks beyond that are traced, but their file keeps no reason. */
#define RUNNING_PROBES 16

struct running_request {
	struct task_struct *task;
	struct rdma_reject_scope *scope;
	atomic_t elsewhere;
};

static struct running_request running[RUNNING_SLOTS];

static struct running_request *running_probe(unsigned int try)
{
	return &running[(hash_ptr(current, RUNNING_BITS) + try) & (RUNNING_SLOTS - 1)];
}

static int running_find(void)
{
	struct running_request *home = running_probe(0);
	unsigned int try;

	if (READ_ONCE(home->task) == current)
		return home - running;
	/* Were we elsewhere, we would have counted ourselves. What others do does not matter. */
	if (!atomic_read(&home->elsewhere))
		return -1;
	for (try = 1; try < RUNNING_PROBES; try++)
		if (READ_ONCE(running_probe(try)->task) == current)
			return running_probe(try) - running;
	return -1;
}

static int running_claim(void)
{
	struct running_request *home = running_probe(0);
	unsigned int try;

	if (!cmpxchg(&home->task, NULL, current))
		return home - running;
	for (try = 1; try < RUNNING_PROBES; try++)
		if (!cmpxchg(&running_probe(try)->task, NULL, current)) {
			atomic_inc(&home->elsewhere);
			return running_probe(try) - running;
		}
	return -1;
}

static void running_release(struct running_request *request)
{
	struct running_request *home = running_probe(0);

	if (request != home)
		atomic_dec(&home->elsewhere);
	/* The next task's scope must not be overwritten by ours: pairs with running_claim(). */
	smp_store_release(&request->task, NULL);
}

/**
 * rdma_reject_enter - begin a request on behalf of an open file
 * @log: the file's log, or NULL if it has none
 * @scope: storage for the duration of the request; @scope->device, @scope->extack and
 *         @scope->quiet start out empty and are the caller's to set
 *
 * Until rdma_reject_leave(), reasons given by this task go to @log. Scopes nest: an inner one
 * takes over until it is left. Context: task context, any locks; does not sleep.
 */
void rdma_reject_enter(struct rdma_reject_log *log, struct rdma_reject_scope *scope)
{
	int slot = running_find();

	scope->log = log;
	scope->device = NULL;
	scope->quiet = false;
	scope->extack = NULL;
	scope->outer = NULL;
	if (slot >= 0)
		scope->outer = running[slot].scope;
	else
		slot = running_claim();
	scope->slot = slot;
	if (slot >= 0)
		running[slot].scope = scope;
}
EXPORT_SYMBOL(rdma_reject_enter);

/**
 * rdma_reject_leave - end the request begun with rdma_reject_enter()
 * @scope: the scope given there; no longer used after return
 *
 * Context: the task that entered; does not sleep.
 */
void rdma_reject_leave(struct rdma_reject_scope *scope)
{
	struct running_request *request;

	if (scope->slot < 0)
		return;
	request = &running[scope->slot];
	request->scope = scope->outer;
	if (!scope->outer)
		running_release(request);
}
EXPORT_SYMBOL(rdma_reject_leave);

static struct rdma_reject_scope *current_scope(void)
{
	int slot;

	/* An interrupt's refusals are not the interrupted task's. */
	if (!in_task())
		return NULL;
	slot = running_find();
	return slot < 0 ? NULL : running[slot].scope;
}

/* A reason that is kept as text. */
static const struct rdma_reason reason_text = {
	.fmt = "%s",
	.owner = THIS_MODULE,
	.kinds = { RDMA_REASON_STRING },
};

/* Will the text of a reason stay as long as the log? */
static bool reason_stays(const struct rdma_reject_log *log, const struct rdma_reason *reason)
{
	return !reason->owner || reason->owner == THIS_MODULE ||
	       reason->owner == log->stays[0] || reason->owner == log->stays[1];
}

/*
 * Keeps the values of a reason as bstr_printf() takes them: numbers at the next word, strings where
 * the value before them ended. False if they cannot be kept, or not whole.
 */
static bool keep_values(struct rdma_reject_entry *entry, const struct rdma_reason *reason,
			va_list args)
{
	char *at = (char *)entry->words, *end = (char *)&entry->words[RDMA_REJECT_WORDS];
	const char *text;
	const u8 *kind;
	ssize_t len;
	u64 number;

	for (kind = reason->kinds; *kind; kind++) {
		if (*kind == RDMA_REASON_OTHER)
			return false;
		if (*kind == RDMA_REASON_STRING) {
			text = va_arg(args, const char *);
			len = strscpy(at, text ?: "(null)", end - at);
			if (len < 0)
				return false;
			at += len + 1;
			continue;
		}
		at = PTR_ALIGN(at, sizeof(u32));
		if (end - at < *kind)
			return false;
		if (*kind == sizeof(u32)) {
			*(u32 *)at = va_arg(args, u32);
		} else {
			number = va_arg(args, u64);
			memcpy(at, &number, sizeof(number));
		}
		at += *kind;
	}
	entry->reason = reason;
	return true;
}

static noinline void keep_text(struct rdma_reject_entry *entry, const struct rdma_reason *reason,
			       va_list args)
{
	vsnprintf((char *)entry->words, RDMA_REJECT_TEXT, reason->fmt, args);
	entry->reason = &reason_text;
}

static void log_reason(struct rdma_reject_log *log, int err, const struct rdma_reason *reason,
		       va_list args)
{
	s64 number = atomic64_inc_return(&log->count) - 1;
	struct rdma_reject_entry *entry = &log->ring[number % RDMA_REJECT_KEPT];
	s64 turn = atomic64_read(&entry->turn);
	va_list again;

	/*
	 * Another thread of the process may still be writing this entry, or have overtaken us by a
	 * whole round. Its reason is then as good as ours.
	 */
	if ((turn & 1) || turn > 2 * number ||
	    atomic64_cmpxchg(&entry->turn, turn, 2 * number + 1) != turn)
		return;
	entry->err = err;
	entry->time_ns = ktime_get_boottime_ns();
	va_copy(again, args);
	if (!reason_stays(log, reason) || !keep_values(entry, reason, args))
		keep_text(entry, reason, again);
	va_end(again);
	atomic64_set_release(&entry->turn, 2 * number + 2);
}

/* The first reason stays, which is the innermost caller's. */
static void answer_reason(struct netlink_ext_ack *extack, const char *text)
{
	if (extack->_msg)
		return;
	strscpy(extack->_msg_buf, text);
	extack->_msg = extack->_msg_buf;
}

/* Tells those who get a reason now, as text. */
static noinline void tell_reason(const struct rdma_reject_scope *scope, int err,
				 const struct rdma_reason *reason, va_list args)
{
	char text[RDMA_REJECT_TEXT];

	vsnprintf(text, sizeof(text), reason->fmt, args);
	trace_rdma_reject(scope && scope->device ? scope->device->name : "-", err, text);
	if (scope && scope->extack)
		answer_reason(scope->extack, text);
}

/**
 * rdma_refuse_for - what rdma_refuse() expands to
 * @err: the negative errno the caller is about to return
 * @reason: the place in the source; its values follow
 *
 * Context: any.
 * Return: @err.
 */
int rdma_refuse_for(int err, const struct rdma_reason *reason, ...)
{
	struct rdma_reject_scope *scope = current_scope();
	va_list args;

	if (scope && scope->quiet)
		return err;
	if ((scope && scope->extack) || trace_rdma_reject_enabled()) {
		va_start(args, reason);
		tell_reason(scope, err, reason, args);
		va_end(args);
	}
	if (scope && scope->log) {
		va_start(args, reason);
		log_reason(scope->log, err, reason, args);
		va_end(args);
	}
	return err;
}
EXPORT_SYMBOL(rdma_refuse_for);

static bool read_reason(struct rdma_reject_entry *entry, s64 number, struct rdma_reject_entry *copy)
{
	s64 turn = atomic64_read_acquire(&entry->turn);

	if (turn != 2 * number + 2)
		return false;
	copy->err = entry->err;
	copy->time_ns = entry->time_ns;
	copy->reason = entry->reason;
	memcpy(copy->words, entry->words, sizeof(copy->words));
	/* The copy is good if no writer had begun before it was complete. */
	smp_rmb();
	return atomic64_read(&entry->turn) == turn;
}

/**
 * rdma_reject_text - read a kept reason
 * @log: the log
 * @number: its number since the file was opened
 * @text: takes the sentence, with its NUL
 * @size: bytes of room there; RDMA_REJECT_TEXT suffice
 *
 * Context: any.
 * Return: the errno; 0 if the reason is not kept any more, not yet complete, or never was.
 */
int rdma_reject_text(struct rdma_reject_log *log, s64 number, char *text, size_t size)
{
	struct rdma_reject_entry copy;

	if (!read_reason(&log->ring[number % RDMA_REJECT_KEPT], number, &copy))
		return 0;
	bstr_printf(text, size, copy.reason->fmt, copy.words);
	return copy.err;
}
EXPORT_SYMBOL_IF_KUNIT(rdma_reject_text);

/**
 * rdma_reject_show - print the kept reasons, oldest first
 * @seq: where to; meant for the show_fdinfo operation of the file that holds the log
 * @log: the log
 *
 * One line a reason: "rdma-reject:", its number since the file was opened, seconds since boot, the
 * negative errno, the text. Reasons being written at that moment are left out. Context: any.
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
		bstr_printf(text, sizeof(text), copy.reason->fmt, copy.words);
		seconds = div_u64_rem(copy.time_ns, NSEC_PER_SEC, &rest);
		seq_printf(seq, "rdma-reject:\t%lld %llu.%06u %d %s\n", number, seconds,
			   rest / 1000, copy.err, text);
	}
}
EXPORT_SYMBOL(rdma_reject_show);
