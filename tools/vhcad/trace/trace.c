// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The ring, and the trace as JSON: the format of Chrome's about:tracing, which Perfetto's viewer
 * and speedscope read too.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "trace/trace.h"

#define MAX_ROWS	4096u
#define NAME_MAX_LEN	40u
#define BUFFER		(256u << 10)
#define POINT		UINT64_MAX	/* as duration */

struct record {
	u64 begin;		/* nanoseconds; 0: empty */
	u64 lasted;
	const char *what;
	u64 a;
	u32 b;
	u16 row;
	u8 kind;
};

struct row {
	u32 group;
	char name[NAME_MAX_LEN];
};

struct trace {
	FILE *file;
	u32 mask;		/* number of records, less one */
	u64 next;		/* records so far; atomic */
	u64 start;
	pthread_mutex_t lock;	/* protects what follows */
	u32 nrows, ngroups;
	struct row row[MAX_ROWS];
	char group[MAX_ROWS][NAME_MAX_LEN];
	struct record record[];
};

struct trace *trace_open_now;

static u32 traces;			/* so far */
static _Thread_local u32 own_row, own_trace;
static _Thread_local const char *own_name;

/* Names of the two arguments; NULL: not shown. */
static const char *const args[TRACE_KINDS][2] = {
	[TRACE_PLAIN] = { NULL, NULL },
	[TRACE_TURN] = { "cost", "debt_ns" },
	[TRACE_COMMAND] = { "id", "status" },
	[TRACE_PACKETS] = { "bytes", "dqpn" },
	[TRACE_VECTOR] = { NULL, "vector" },
	[TRACE_PAGE] = { NULL, "page" },
	[TRACE_SLEEP] = { "planned_ns", NULL },
	[TRACE_SLICE] = { "bytes", "qpn" },
	[TRACE_WAIT] = { "ns", "qpn" },
};

u64 trace_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

int trace_open(const char *path, u32 records)
{
	struct trace *t;
	u32 n = 1;

	while (n < records)
		n *= 2;
	t = calloc(1, sizeof(*t) + n * sizeof(t->record[0]));
	if (!t)
		return -ENOMEM;
	t->file = fopen(path, "we");
	if (!t->file) {
		int err = -errno;

		free(t);
		return err;
	}
	/* allocates the buffer now: the sandbox will not allow the system calls that this needs */
	setvbuf(t->file, NULL, _IOFBF, BUFFER);
	pthread_mutex_init(&t->lock, NULL);
	t->mask = n - 1;
	t->start = trace_now();
	traces++;
	trace_open_now = t;
	return 0;
}

static u32 group_of(struct trace *t, const char *name)
{
	u32 i = 0;

	while (i < t->ngroups && strcmp(t->group[i], name))
		i++;
	if (i == t->ngroups)
		snprintf(t->group[t->ngroups++], NAME_MAX_LEN, "%s", name);
	return i;
}

u32 trace_row(const char *group, const char *name)
{
	struct trace *t = trace_open_now;
	u32 row = TRACE_NO_ROW;

	if (!t)
		return TRACE_NO_ROW;
	pthread_mutex_lock(&t->lock);
	if (t->nrows + 1 < MAX_ROWS) {
		row = ++t->nrows;
		t->row[row].group = group_of(t, group);
		snprintf(t->row[row].name, NAME_MAX_LEN, "%s", name);
	}
	pthread_mutex_unlock(&t->lock);
	return row;
}

u32 trace_thread(void)
{
	if (own_trace != traces)
		own_row = trace_row("threads", own_name ? own_name : "main");
	own_trace = traces;
	return own_row;
}

void trace_name_thread(const char *name)
{
	own_name = name;
}

static void add(enum trace_kind kind, u32 row, u64 begin, u64 lasted, const char *what, u64 a,
		u32 b)
{
	struct trace *t = trace_open_now;
	u64 n;

	if (row == TRACE_NO_ROW)
		return;
	n = __atomic_fetch_add(&t->next, 1, __ATOMIC_RELAXED);
	t->record[n & t->mask] = (struct record){
		.begin = begin, .lasted = lasted, .what = what, .a = a, .b = b,
		.row = row, .kind = kind,
	};
}

void trace_add_span(enum trace_kind kind, u32 row, u64 begin, const char *what, u64 a, u32 b)
{
	add(kind, row, begin, trace_now() - begin, what, a, b);
}

void trace_add_point(enum trace_kind kind, u32 row, const char *what, u64 a, u32 b)
{
	add(kind, row, trace_now(), POINT, what, a, b);
}

/* Microseconds, as viewers expect. */
static void put_time(FILE *f, const char *name, u64 ns)
{
	fprintf(f, ",\"%s\":%" PRIu64 ".%03u", name, ns / 1000, (u32)(ns % 1000));
}

static void put_record(const struct trace *t, const struct record *r)
{
	const char *const *arg = args[r->kind];
	FILE *f = t->file;

	fprintf(f, ",\n{\"pid\":%u,\"tid\":%u,\"name\":\"%s\"", t->row[r->row].group + 1, r->row,
		r->what);
	put_time(f, "ts", r->begin - t->start);
	if (r->lasted == POINT) {
		fputs(",\"ph\":\"i\",\"s\":\"t\"", f);
	} else {
		fputs(",\"ph\":\"X\"", f);
		put_time(f, "dur", r->lasted);
	}
	fputs(",\"args\":{", f);
	if (arg[0])
		fprintf(f, "\"%s\":%" PRIu64, arg[0], r->a);
	if (arg[1])
		fprintf(f, "%s\"%s\":%u", arg[0] ? "," : "", arg[1], r->b);
	fputs("}}", f);
}

static void put_rows(const struct trace *t)
{
	FILE *f = t->file;

	for (u32 i = 0; i < t->ngroups; i++)
		fprintf(f,
			",\n{\"ph\":\"M\",\"pid\":%u,\"name\":\"process_name\",\"args\":{\"name\":\"%s\"}}",
			i + 1, t->group[i]);
	for (u32 i = 1; i <= t->nrows; i++)
		fprintf(f,
			",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"thread_name\",\"args\":{\"name\":\"%s\"}}",
			t->row[i].group + 1, i, t->row[i].name);
}

int trace_close(void)
{
	struct trace *t = trace_open_now;
	u64 first;
	int err;

	if (!t)
		return 0;
	trace_open_now = NULL;
	errno = 0;
	first = t->next > t->mask ? t->next - t->mask - 1 : 0;
	fprintf(t->file, "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"overwritten\":%" PRIu64 "},",
		first);
	fputs("\"traceEvents\":[", t->file);
	fputs("\n{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"vhcad\"}}",
	      t->file);
	put_rows(t);
	for (; first < t->next; first++)
		put_record(t, &t->record[first & t->mask]);
	fputs("\n]}\n", t->file);
	err = !ferror(t->file) ? 0 : errno ? -errno : -EIO;
	if (fclose(t->file) && !err)
		err = -errno;
	pthread_mutex_destroy(&t->lock);
	free(t);
	return err;
}
