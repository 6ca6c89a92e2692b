// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Who is looking at guest memory right now.
 *
 * Every thread that accesses guest memory owns a counter that is odd while it
 * is inside a bracket.  Waiting for quiescence means waiting for each counter
 * found odd to move once; what a thread does in a later bracket sees the
 * tables as they were published before the wait began.
 */
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mem/internal.h"

struct reader {
	u32 seq;		/* odd: inside a bracket */
	u32 waiters;		/* threads asleep on seq */
	u32 taken;		/* a live thread owns this one */
	struct reader *next;	/* constant once listed */
} __attribute__((aligned(64)));

static struct reader *readers;		/* only ever grows; entries are reused */
static pthread_key_t reader_key;
static pthread_once_t reader_once = PTHREAD_ONCE_INIT;

static _Thread_local struct reader *self;
_Thread_local unsigned int gmem_depth;

static void reader_release(void *arg)
{
	struct reader *r = arg;

	__atomic_store_n(&r->taken, 0, __ATOMIC_RELEASE);
}

static void reader_init(void)
{
	if (pthread_key_create(&reader_key, reader_release))
		abort();
}

static struct reader *reader_take(void)
{
	struct reader *r;

	pthread_once(&reader_once, reader_init);
	for (r = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); r; r = r->next)
		if (!__atomic_exchange_n(&r->taken, 1, __ATOMIC_ACQUIRE))
			break;
	if (!r) {
		r = aligned_alloc(64, sizeof(*r));
		/* a thread without a counter could not be waited for */
		if (!r)
			abort();
		r->seq = 0;
		r->waiters = 0;
		r->taken = 1;
		r->next = __atomic_load_n(&readers, __ATOMIC_RELAXED);
		while (!__atomic_compare_exchange_n(&readers, &r->next, r, false,
						    __ATOMIC_RELEASE, __ATOMIC_RELAXED))
			;
	}
	if (pthread_setspecific(reader_key, r))
		abort();
	return r;
}

/**
 * bracket_begin() - the outermost bracket of this thread opens
 */
void bracket_begin(void)
{
	if (!self)
		self = reader_take();
	/* a full barrier: the tables are read after the counter is seen odd */
	__atomic_fetch_add(&self->seq, 1, __ATOMIC_SEQ_CST);
}

/**
 * bracket_end() - the outermost bracket of this thread closes
 */
void bracket_end(void)
{
	__atomic_fetch_add(&self->seq, 1, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&self->waiters, __ATOMIC_SEQ_CST))
		syscall(SYS_futex, &self->seq, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

void gmem_enter(void)
{
	bracket_open();
}

void gmem_exit(void)
{
	bracket_close();
}

/**
 * gmem_quiet() - is no thread inside a bracket
 *
 * Says true only if nobody can still see what was unpublished before.
 */
bool gmem_quiet(void)
{
	struct reader *r;

	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (r = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); r; r = r->next)
		if (__atomic_load_n(&r->seq, __ATOMIC_ACQUIRE) & 1)
			return false;
	return true;
}

/**
 * gmem_synchronize() - wait until every bracket open now has been left
 */
void gmem_synchronize(void)
{
	struct reader *r;

	/* waiting for oneself would never end: a bug of the caller */
	if (gmem_depth)
		abort();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (r = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); r; r = r->next) {
		u32 seen = __atomic_load_n(&r->seq, __ATOMIC_ACQUIRE);

		if (!(seen & 1))
			continue;
		__atomic_fetch_add(&r->waiters, 1, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&r->seq, __ATOMIC_SEQ_CST) == seen)
			syscall(SYS_futex, &r->seq, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		__atomic_fetch_sub(&r->waiters, 1, __ATOMIC_SEQ_CST);
	}
}
