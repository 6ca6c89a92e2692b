/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What happened when: a ring of records in memory, written as a trace when the daemon ends.
 *
 * There is one trace or none.  Without one a trace point costs a load and a branch.  All functions
 * but trace_open() and trace_close() may be called from any thread; they take no lock, except
 * trace_row() and the first call of trace_thread() in a thread.
 */
#ifndef VHCAD_TRACE_H
#define VHCAD_TRACE_H

#include "lib/types.h"

#define TRACE_RECORDS	(1u << 19)	/* the usual number, see trace_open() */
#define TRACE_NO_ROW	0u

/* What the arguments of a record are called; see args[] in trace.c. */
enum trace_kind { TRACE_PLAIN, TRACE_TURN, TRACE_COMMAND, TRACE_PACKETS, TRACE_VECTOR, TRACE_PAGE,
		  TRACE_SLEEP, TRACE_SLICE, TRACE_WAIT, TRACE_KINDS };

extern struct trace *trace_open_now;	/* private to this header; NULL: none */

/** tracing() - is there a trace? */
static inline bool tracing(void)
{
	return __builtin_expect(!!trace_open_now, 0);
}

/**
 * trace_open() - begin the trace
 * @path: file, created or truncated
 * @records: how many are kept; the oldest are overwritten
 *
 * Context: before any other thread exists, and before rows are made.
 * Return: 0 or -errno.
 */
int trace_open(const char *path, u32 records);

/**
 * trace_close() - write the trace, and end it
 *
 * Context: no other thread exists any more.
 * Return: 0, also if there is none; or -errno of what could not be written.
 */
int trace_close(void);

/**
 * trace_row() - make a row of the drawing
 * @group: rows with the same group stand together
 * @name: its name
 *
 * Return: its number; TRACE_NO_ROW without a trace, without memory, or for one too many.
 */
u32 trace_row(const char *group, const char *name);

/** trace_thread() - the row of the calling thread */
u32 trace_thread(void);

/** trace_name_thread() - what the calling thread's row is called, before its first record */
void trace_name_thread(const char *name);

/* what the functions below do if there is a trace */
u64 trace_now(void);
void trace_add_span(enum trace_kind kind, u32 row, u64 begin, const char *what, u64 a, u32 b);
void trace_add_point(enum trace_kind kind, u32 row, const char *what, u64 a, u32 b);

/** trace_begin() - when a span begins; 0 without a trace */
static inline u64 trace_begin(void)
{
	return tracing() ? trace_now() : 0;
}

/**
 * trace_span() - something has lasted until now
 * @kind: what its arguments are called
 * @row: where it stands
 * @begin: from trace_begin(); 0: nothing is recorded
 * @what: its name, a string that stays
 * @a: first argument
 * @b: second argument
 */
static inline void trace_span(enum trace_kind kind, u32 row, u64 begin, const char *what, u64 a,
			      u32 b)
{
	if (__builtin_expect(!!begin, 0))
		trace_add_span(kind, row, begin, what, a, b);
}

/** trace_point() - something happens now; as trace_span() */
static inline void trace_point(enum trace_kind kind, u32 row, const char *what, u64 a, u32 b)
{
	if (tracing())
		trace_add_point(kind, row, what, a, b);
}

#endif /* VHCAD_TRACE_H */
