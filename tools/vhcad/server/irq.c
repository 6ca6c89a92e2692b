// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Raising interrupts without ever blocking.
 *
 * write() to an eventfd blocks when its counter is full.  The VM owns the counter and the
 * descriptor's flags, so it could stop the engine that way.  Therefore the kernel signals the
 * eventfd: as the completion of an asynchronous poll that is satisfied at once.  The counter then
 * saturates, and no thread waits.
 *
 * Only eventfds are accepted.  None is closed with the lock held, because closing what the VM has
 * sent may take as long as the VM likes.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server/irq.h"

#define AIO_EVENTS	32u

int vu_irqs_init(struct vu_irqs *irqs, u32 vectors)
{
	int err;

	memset(irqs, 0, sizeof(*irqs));
	irqs->vectors = vectors;
	for (u32 i = 0; i < MSIX_VECTORS_MAX; i++)
		irqs->fd[i] = -1;
	irqs->ready = eventfd(1, EFD_CLOEXEC);
	if (irqs->ready < 0)
		return -errno;
	if (syscall(SYS_io_setup, AIO_EVENTS, &irqs->aio)) {
		err = -errno;
		close(irqs->ready);
		return err;
	}
	pthread_mutex_init(&irqs->lock, NULL);
	return 0;
}

void vu_irqs_destroy(struct vu_irqs *irqs)
{
	vu_irqs_assign(irqs, 0, irqs->vectors, NULL);
	syscall(SYS_io_destroy, irqs->aio);
	close(irqs->ready);
	pthread_mutex_destroy(&irqs->lock);
}

static void reap(struct vu_irqs *irqs)
{
	struct io_event ev[AIO_EVENTS];
	struct timespec none = { 0 };

	syscall(SYS_io_getevents, irqs->aio, 0L, (long)AIO_EVENTS, ev, &none);
	irqs->unreaped = 0;
}

static int signal_eventfd(struct vu_irqs *irqs, int fd)
{
	struct iocb cb = {
		.aio_lio_opcode = IOCB_CMD_POLL,
		.aio_fildes = irqs->ready,
		.aio_buf = POLLIN,
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = fd,
	}, *list = &cb;

	if (irqs->unreaped == AIO_EVENTS / 2)
		reap(irqs);
	if (syscall(SYS_io_submit, irqs->aio, 1L, &list) != 1)
		return -errno;
	irqs->unreaped++;
	return 0;
}

/*
 * The kernel checks the descriptor to be signalled first, and then the buffer, whose address is
 * invalid here.  So EFAULT means that the descriptor is an eventfd, and nothing is ever signalled.
 */
static bool is_eventfd(struct vu_irqs *irqs, int fd)
{
	struct iocb cb = {
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_fildes = irqs->ready,
		.aio_buf = UINT64_MAX,
		.aio_nbytes = sizeof(u64),
		.aio_flags = IOCB_FLAG_RESFD,
		.aio_resfd = fd,
	}, *list = &cb;

	if (irqs->unreaped == AIO_EVENTS / 2)
		reap(irqs);
	return syscall(SYS_io_submit, irqs->aio, 1L, &list) < 0 && errno == EFAULT;
}

bool vu_irqs_eventfds(struct vu_irqs *irqs, const int *fds, u32 n)
{
	bool good = true;

	pthread_mutex_lock(&irqs->lock);
	for (u32 i = 0; i < n && good; i++)
		good = is_eventfd(irqs, fds[i]);
	pthread_mutex_unlock(&irqs->lock);
	return good;
}

/* Raises a vector, which stays pending if it has no eventfd.  Called with the lock held. */
static void fire(struct vu_irqs *irqs, u32 vector)
{
	if (irqs->fd[vector] >= 0 && !signal_eventfd(irqs, irqs->fd[vector]))
		irqs->pending &= ~(1ULL << vector);
	else
		irqs->pending |= 1ULL << vector;
}

void vu_irqs_assign(struct vu_irqs *irqs, u32 start, u32 count, const int *fds)
{
	int old[MSIX_VECTORS_MAX];

	pthread_mutex_lock(&irqs->lock);
	for (u32 i = 0; i < count; i++) {
		u32 v = start + i;

		old[i] = irqs->fd[v];
		irqs->fd[v] = fds ? fds[i] : -1;
		if (irqs->fd[v] >= 0 && (irqs->pending & (1ULL << v)))
			fire(irqs, v);
	}
	pthread_mutex_unlock(&irqs->lock);
	for (u32 i = 0; i < count; i++)
		if (old[i] >= 0)
			close(old[i]);
}

void vu_irqs_raise(struct vu_irqs *irqs, u32 vector)
{
	if (vector >= irqs->vectors)
		return;
	pthread_mutex_lock(&irqs->lock);
	fire(irqs, vector);
	pthread_mutex_unlock(&irqs->lock);
}

u64 vu_irqs_pending(struct vu_irqs *irqs)
{
	u64 pending;

	pthread_mutex_lock(&irqs->lock);
	pending = irqs->pending;
	pthread_mutex_unlock(&irqs->lock);
	return pending;
}

void vu_irqs_clear(struct vu_irqs *irqs)
{
	pthread_mutex_lock(&irqs->lock);
	irqs->pending = 0;
	pthread_mutex_unlock(&irqs->lock);
}
