// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Brackets, and waiting for them.
 *
 * Each thread that accesses guest memory has a counter, which is odd while the thread is inside a
 * bracket.  gmem_synchronize() waits until each counter that it has found odd has changed once: in
 * a later bracket the thread sees tables that were published before the wait began.
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
	u32 taken;		/* it belongs to a thread that exists */
	struct reader *next;	/* constant once listed */
} __attribute__((aligned(64)));

static struct reader *readers;		/* nothing is removed; entries are reused */
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
 * gmem_quiet() - is no thread inside a bracket?
 *
 * If true, no thread can see a table that was replaced before the call.
 */
bool gmem_quiet(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (struct reader *r = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); r; r = r->next)
		if (__atomic_load_n(&r->seq, __ATOMIC_ACQUIRE) & 1)
			return false;
	return true;
}

/**
 * gmem_synchronize() - wait until all brackets that are open now have been closed
 */
void gmem_synchronize(void)
{
	/* a bug of the caller: it would wait for itself */
	if (gmem_depth)
		abort();
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	for (struct reader *r = __atomic_load_n(&readers, __ATOMIC_ACQUIRE); r; r = r->next) {
		u32 seen = __atomic_load_n(&r->seq, __ATOMIC_ACQUIRE);

		if (!(seen & 1))
			continue;
		__atomic_fetch_add(&r->waiters, 1, __ATOMIC_SEQ_CST);
		while (__atomic_load_n(&r->seq, __ATOMIC_SEQ_CST) == seen)
			syscall(SYS_futex, &r->seq, FUTEX_WAIT_PRIVATE, seen, NULL, NULL, 0);
		__atomic_fetch_sub(&r->waiters, 1, __ATOMIC_SEQ_CST);
	}
}
