// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "tests/tfail.h"

void (*tfail_before_seals)(int fd);

static struct {
	u32 left;		/* calls until the one that fails; atomic */
	int err;
	bool hit;		/* atomic */
} fault[TFAIL_KINDS];

void tfail_set(enum tfail kind, u32 nth, int err)
{
	fault[kind].err = err;
	__atomic_store_n(&fault[kind].hit, false, __ATOMIC_SEQ_CST);
	__atomic_store_n(&fault[kind].left, nth, __ATOMIC_SEQ_CST);
}

bool tfail_hit(enum tfail kind)
{
	__atomic_store_n(&fault[kind].left, 0, __ATOMIC_SEQ_CST);
	return __atomic_exchange_n(&fault[kind].hit, false, __ATOMIC_SEQ_CST);
}

void tfail_wait(enum tfail kind)
{
	while (!__atomic_load_n(&fault[kind].hit, __ATOMIC_SEQ_CST))
		sched_yield();
	tfail_hit(kind);
}

/* Is this the call that has to fail? */
static bool now(enum tfail kind)
{
	u32 left = __atomic_load_n(&fault[kind].left, __ATOMIC_SEQ_CST);

	while (left && !__atomic_compare_exchange_n(&fault[kind].left, &left, left - 1, false,
						    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
	if (left != 1)
		return false;
	__atomic_store_n(&fault[kind].hit, true, __ATOMIC_SEQ_CST);
	errno = kind == TFAIL_ALLOC ? ENOMEM : fault[kind].err;
	return true;
}

/* __wrap_X is called instead of X; __real_X is the library's function. */
#define WRAP(kind, type, name, params, args, bad)	\
	type __real_##name params;			\
	type __wrap_##name params;			\
	type __wrap_##name params			\
	{						\
		if (now(kind))				\
			return bad;			\
		return __real_##name args;		\
	}

WRAP(TFAIL_ALLOC, void *, malloc, (size_t n), (n), NULL)
WRAP(TFAIL_ALLOC, void *, calloc, (size_t n, size_t size), (n, size), NULL)
WRAP(TFAIL_ALLOC, void *, realloc, (void *p, size_t n), (p, n), NULL)
WRAP(TFAIL_ALLOC, void *, aligned_alloc, (size_t align, size_t n), (align, n), NULL)
WRAP(TFAIL_ALLOC, char *, strdup, (const char *s), (s), NULL)
WRAP(TFAIL_ALLOC, struct json_object *, json_object_new_object, (void), (), NULL)
WRAP(TFAIL_ALLOC, struct json_tokener *, json_tokener_new_ex, (int depth), (depth), NULL)
WRAP(TFAIL_ALLOC, const char *, json_object_to_json_string_ext,
     (struct json_object *o, int flags), (o, flags), NULL)
WRAP(TFAIL_MMAP, void *, mmap, (void *addr, size_t len, int prot, int flags, int fd, off_t off),
     (addr, len, prot, flags, fd, off), MAP_FAILED)
WRAP(TFAIL_EVENTFD, int, eventfd, (unsigned int count, int flags), (count, flags), -1)
WRAP(TFAIL_SOCKET, int, socket, (int domain, int type, int protocol), (domain, type, protocol),
     -1)
WRAP(TFAIL_LISTEN, int, listen, (int fd, int backlog), (fd, backlog), -1)
WRAP(TFAIL_ACCEPT, int, accept4, (int fd, struct sockaddr *sa, socklen_t *len, int flags),
     (fd, sa, len, flags), -1)
WRAP(TFAIL_THREAD, int, pthread_create,
     (pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *arg), void *arg),
     (t, attr, fn, arg), fault[TFAIL_THREAD].err)
WRAP(TFAIL_SYSCALL, long, syscall, (long nr, long a, long b, long c, long d, long e, long f),
     (nr, a, b, c, d, e, f), -1)
WRAP(TFAIL_RECVMSG, ssize_t, recvmsg, (int fd, struct msghdr *mh, int flags), (fd, mh, flags),
     -1)
WRAP(TFAIL_SENDMSG, ssize_t, sendmsg, (int fd, const struct msghdr *mh, int flags),
     (fd, mh, flags), -1)
WRAP(TFAIL_RECV, ssize_t, recv, (int fd, void *buf, size_t len, int flags),
     (fd, buf, len, flags), -1)
WRAP(TFAIL_SEND, ssize_t, send, (int fd, const void *buf, size_t len, int flags),
     (fd, buf, len, flags), -1)
WRAP(TFAIL_POLL, int, poll, (struct pollfd *fd, nfds_t n, int timeout), (fd, n, timeout), -1)

int __real_fcntl(int fd, int cmd, unsigned long arg);
int __wrap_fcntl(int fd, int cmd, ...);

int __wrap_fcntl(int fd, int cmd, ...)
{
	unsigned long arg;
	va_list ap;

	va_start(ap, cmd);
	arg = va_arg(ap, unsigned long);
	va_end(ap);
	if (cmd == F_GET_SEALS && tfail_before_seals)
		tfail_before_seals(fd);
	return __real_fcntl(fd, cmd, arg);
}
