/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Locks that a program can do without: it declares that only one thread at a time uses
 * a queue, and then the queue is not locked.
 */
#ifndef VHCA_LOCK_H
#define VHCA_LOCK_H

#include <pthread.h>
#include <stdbool.h>

/**
 * struct vhca_lock - lock of a queue
 * @mutex: the lock
 * @elided: the program uses the queue with one thread at a time
 */
struct vhca_lock {
	pthread_mutex_t mutex;
	bool elided;
};

static inline void vhca_lock_init(struct vhca_lock *lock, bool elided)
{
	pthread_mutex_init(&lock->mutex, NULL);
	lock->elided = elided;
}

static inline void vhca_lock_destroy(struct vhca_lock *lock)
{
	pthread_mutex_destroy(&lock->mutex);
}

static inline void vhca_lock(struct vhca_lock *lock)
{
	if (!lock->elided)
		pthread_mutex_lock(&lock->mutex);
}

static inline void vhca_unlock(struct vhca_lock *lock)
{
	if (!lock->elided)
		pthread_mutex_unlock(&lock->mutex);
}

#endif /* VHCA_LOCK_H */
