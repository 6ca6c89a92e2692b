/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Failures of the C library and the kernel at a chosen call.
 *
 * Test programs are linked so that these calls of theirs, and of the code
 * under test, come here first (TFAIL in the Makefile).
 */
#ifndef VHCAD_TESTS_TFAIL_H
#define VHCAD_TESTS_TFAIL_H

#include "lib/types.h"

enum tfail {
	TFAIL_ALLOC,		/* malloc, calloc, realloc, aligned_alloc, strdup, JSON objects */
	TFAIL_MMAP,
	TFAIL_EVENTFD,
	TFAIL_SOCKET,
	TFAIL_LISTEN,
	TFAIL_ACCEPT,
	TFAIL_THREAD,		/* pthread_create: returns the error */
	TFAIL_SYSCALL,		/* syscall() */
	TFAIL_RECVMSG,
	TFAIL_SENDMSG,
	TFAIL_RECV,
	TFAIL_SEND,
	TFAIL_POLL,
	TFAIL_KINDS,
};

/**
 * tfail_set() - let one call fail
 * @kind: kind of the call
 * @nth: number of the call, from now on, from 1; 0: none
 * @err: errno of it (of allocations: ENOMEM)
 */
void tfail_set(enum tfail kind, u32 nth, int err);

/** tfail_hit() - has the call failed?  Forgets what was set */
bool tfail_hit(enum tfail kind);

/** tfail_wait() - wait until the call has failed, on another thread */
void tfail_wait(enum tfail kind);

/*
 * Runs an expression with its first, its second, ... allocation failing, until
 * none fails any more.  Each time one does, body checks the result.  The
 * number of allocations is left in n.
 */
#define tfail_each_alloc(n, expr, body) do {		\
	for ((n) = 0; ; (n)++) {			\
		tfail_set(TFAIL_ALLOC, (n) + 1, 0);	\
		expr;					\
		if (!tfail_hit(TFAIL_ALLOC))		\
			break;				\
		body;					\
	}						\
} while (0)

/* Called with the descriptor before its seals are read; or NULL. */
extern void (*tfail_before_seals)(int fd);

#endif /* VHCAD_TESTS_TFAIL_H */
