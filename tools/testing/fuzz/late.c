// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pages that come late: a thread that touches one, also within the kernel in the middle of a
 * request, waits until another thread of the process provides it (userfaultfd), which it does when
 * another call has ended, or after PATIENCE_MS; or removes it for good.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <linux/userfaultfd.h>

#include "fuzz.h"

#define PAGES		2	/* of each thread */
#define LEN		(PAGES * PAGE)
#define PATIENCE_MS	30	/* to wait for the end of another call, if there is one */
#define GONE(_value)	(((_value) & 3) == 3)

static struct {
	uint8_t *at;		/* where requests are placed */
	uint8_t copy[LEN];	/* their contents */
	uint64_t value;		/* of the twist */
	unsigned int used;
	bool gone;
} late[THREADS];
static int uffd = -1;
static const unsigned int *calls;	/* made by the program */

static bool watch(unsigned int thread)
{
	struct uffdio_register reg = {
		.range = { (uintptr_t)late[thread].at, LEN },
		.mode = UFFDIO_REGISTER_MODE_MISSING,
	};

	return !ioctl(uffd, UFFDIO_REGISTER, &reg);
}

static void bring(unsigned int thread, uint64_t page)
{
	struct uffdio_copy copy = {
		.dst = page, .len = PAGE,
		.src = (uintptr_t)late[thread].copy + (page - (uintptr_t)late[thread].at),
	};

	ioctl(uffd, UFFDIO_COPY, &copy);
}

/* The waiting thread looks again, and finds a page that may not be accessed. */
static void take_away(unsigned int thread)
{
	struct uffdio_range range = { (uintptr_t)late[thread].at, LEN };

	late[thread].gone = true;
	mprotect(late[thread].at, LEN, PROT_NONE);
	ioctl(uffd, UFFDIO_UNREGISTER, &range);
}

static void wait_for_call(void)
{
	unsigned int before = __atomic_load_n(calls, __ATOMIC_RELAXED);
	struct timespec step = { .tv_nsec = 1000000 };

	for (int ms = 0; ms < PATIENCE_MS; ms++) {
		if (__atomic_load_n(calls, __ATOMIC_RELAXED) != before)
			return;
		nanosleep(&step, NULL);
	}
}

static void *late_main(void *arg)
{
	struct uffd_msg msg;

	(void)arg;
	while (read(uffd, &msg, sizeof(msg)) == sizeof(msg)) {
		uint64_t page = msg.arg.pagefault.address & ~(PAGE - 1);

		wait_for_call();
		for (unsigned int i = 0; i < THREADS; i++) {
			if (page - (uintptr_t)late[i].at >= LEN)
				continue;
			if (GONE(late[i].value))
				take_away(i);
			else
				bring(i, page);
		}
	}
	return NULL;
}

/*
 * Called in a process of a program.  Without the right to use userfaultfd, requests are placed
 * elsewhere.
 * calls_made: grows with each call that ends
 */
void late_setup(const unsigned int *calls_made)
{
	struct uffdio_api api = { .api = UFFD_API };
	pthread_t id;

	calls = calls_made;
	uffd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (uffd < 0)
		return;
	for (unsigned int i = 0; i < THREADS; i++) {
		late[i].at = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
				  -1, 0);
		if (late[i].at == MAP_FAILED)
			goto fail;
	}
	if (ioctl(uffd, UFFDIO_API, &api))
		goto fail;
	for (unsigned int i = 0; i < THREADS; i++) {
		if (!watch(i))
			goto fail;
	}
	if (!pthread_create(&id, NULL, late_main, NULL))
		return;
fail:
	close(uffd);
	uffd = -1;
}

/* A thread's next call begins. */
void late_begin(unsigned int thread)
{
	late[thread].used = 0;
}

/* The address of data on such a page, or 0. */
uint64_t late_put(unsigned int thread, uint64_t value, const void *data, unsigned int len)
{
	unsigned int at = late[thread].used;

	if (uffd < 0 || at + len > LEN)
		return 0;
	if (late[thread].gone) {
		mprotect(late[thread].at, LEN, PROT_READ | PROT_WRITE);
		if (!watch(thread))
			return 0;
		late[thread].gone = false;
	}
	if (!at)
		madvise(late[thread].at, LEN, MADV_DONTNEED);
	late[thread].value = value;
	memcpy(late[thread].copy + at, data, len);
	late[thread].used = at + ((len + 15) & ~7U);
	return (uintptr_t)late[thread].at + at;
}
