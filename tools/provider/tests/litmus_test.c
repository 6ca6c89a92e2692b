// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The two races of the data path, run for real on two threads: a ring against
 * a device that goes to sleep, and an arming against a completion.  Each round
 * would hang if its ordering could lose a kick or an event; a watchdog turns
 * that into a failure.
 */
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "ring.h"

#define ROUNDS 1000000
#define SLOT (VHCA_DB_SLOTS + 70)	/* second page, second news word */

static struct vhca_db_page pages[2] __attribute__((aligned(VHCA_DB_PAGE_SIZE)));
static uint32_t kick_page __attribute__((aligned(64)));
static uint32_t done;		/* rounds the device has answered */

/* Spin first: the races are a few nanoseconds wide and a switch would hide them. */
static void wait_a_little(unsigned int *spins)
{
	if (++*spins % 4096)
		__builtin_ia32_pause();
	else
		sched_yield();
}

/* Vary by how much one side comes after the other, from round to round. */
static void stagger(uint32_t round)
{
	volatile uint32_t i;

	for (i = 0; i < round % 199; i++)
		;
}

static void lost(int sig)
{
	static const char msg[] = "litmus: nothing moved for 120 seconds: a kick or an event was lost\n";

	(void)sig;
	if (write(STDERR_FILENO, msg, sizeof(msg) - 1) < 0)
		_exit(2);
	_exit(1);
}

/* What the device does before it reads a record: take the bits. */
static bool take_news(void)
{
	uint64_t summary = __atomic_exchange_n((uint64_t *)&pages[0].summary[0], 0, __ATOMIC_SEQ_CST);

	if (!(summary & 2))
		return false;
	return __atomic_exchange_n((uint64_t *)&pages[1].news[1], 0, __ATOMIC_SEQ_CST) != 0;
}

static void serve(void)
{
	uint64_t rec = __atomic_load_n((uint64_t *)&pages[1].rec[70], __ATOMIC_ACQUIRE);

	__atomic_store_n(&done, (uint32_t)le64toh(rec), __ATOMIC_RELEASE);
}

/* A device that sleeps whenever it can, and only a kick wakes. */
static void *sleepy_device(void *arg)
{
	unsigned int spins = 0;

	(void)arg;
	while (__atomic_load_n(&done, __ATOMIC_RELAXED) != ROUNDS) {
		if (take_news()) {
			serve();
			continue;
		}
		__atomic_store_n(&kick_page, 0, __ATOMIC_RELAXED);
		__atomic_store_n((uint32_t *)&pages[0].armed, 1, __ATOMIC_SEQ_CST);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (take_news()) {
			serve();
			continue;
		}
		while (!__atomic_load_n(&kick_page, __ATOMIC_ACQUIRE))
			wait_a_little(&spins);
	}
	return NULL;
}

static void no_kick_is_lost(void **state)
{
	struct vhca_db db = {
		.page0 = &pages[0], .page = &pages[1], .kick = &kick_page, .slot = SLOT,
	};
	pthread_t device;
	unsigned int spins = 0;
	uint32_t i;

	(void)state;
	alarm(120);
	assert_int_equal(pthread_create(&device, NULL, sleepy_device, NULL), 0);
	for (i = 1; i <= ROUNDS; i++) {
		stagger(i);
		vhca_db_store(&db, 0, i);
		vhca_db_ring(&db);
		while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) != i)
			wait_a_little(&spins);
	}
	pthread_join(device, NULL);
	alarm(0);
}

static struct vhca_cqe cqes[4];
static uint32_t events, want;

/* One completion a round; an event when the record asks for one. */
static void *completing_device(void *arg)
{
	const struct vhca_ring r = { .buf = (char *)cqes, .shift = 6, .log_size = 2 };
	uint32_t fired = 0, i;
	unsigned int spins = 0;

	(void)arg;
	for (i = 0; i < ROUNDS; i++) {
		uint32_t seq;

		while (__atomic_load_n(&want, __ATOMIC_ACQUIRE) <= i)
			wait_a_little(&spins);
		__atomic_store_n(&vhca_cqe_at(&r, i)->owner, vhca_cqe_lap(&r, i), __ATOMIC_RELEASE);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		seq = __atomic_load_n((uint64_t *)&pages[0].rec[1], __ATOMIC_RELAXED) >> VHCA_ARM_SEQ_SHIFT;
		if (seq != fired) {
			fired = seq;
			__atomic_add_fetch(&events, 1, __ATOMIC_RELEASE);
		}
	}
	return NULL;
}

static void no_event_is_lost(void **state)
{
	struct vhca_db db = { .page0 = &pages[0], .page = &pages[0], .slot = 0 };
	struct vhca_ring r = { .buf = (char *)cqes, .shift = 6, .log_size = 2 };
	uint32_t seq = 1, taken = 0, i;
	unsigned int spins = 0;
	pthread_t device;

	(void)state;
	alarm(120);
	assert_int_equal(pthread_create(&device, NULL, completing_device, NULL), 0);
	for (i = 0; i < ROUNDS; i++) {
		__atomic_store_n(&want, i + 1, __ATOMIC_RELEASE);
		stagger(i);
		/* as programs do: arm, look, and only then wait; an event may be an old one */
		for (;;) {
			if (vhca_cqe_valid(&r, r.tail))
				break;
			vhca_db_store(&db, 1, vhca_arm_record(r.tail, seq, false));
			__atomic_thread_fence(__ATOMIC_SEQ_CST);
			if (vhca_cqe_valid(&r, r.tail))
				break;
			while (__atomic_load_n(&events, __ATOMIC_ACQUIRE) == taken)
				wait_a_little(&spins);
			taken++;
			if (!(++seq & VHCA_ARM_SEQ_MASK))
				seq++;
		}
		r.tail++;
	}
	pthread_join(device, NULL);
	alarm(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_kick_is_lost),
		cmocka_unit_test(no_event_is_lost),
	};

	signal(SIGALRM, lost);
	return cmocka_run_group_tests_name("provider litmus", tests, NULL, NULL);
}
