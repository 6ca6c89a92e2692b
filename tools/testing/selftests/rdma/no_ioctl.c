// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A library to preload: it hides the ioctl form of the verbs API, so that rdma-core uses only
 * write().
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <rdma/rdma_user_ioctl_cmds.h>

int ioctl(int fd, unsigned long request, ...)
{
	va_list args;
	void *arg;

	va_start(args, request);
	arg = va_arg(args, void *);
	va_end(args);
	if (request == RDMA_VERBS_IOCTL) {
		errno = ENOTTY;
		return -1;
	}
	return syscall(SYS_ioctl, fd, request, arg);
}
