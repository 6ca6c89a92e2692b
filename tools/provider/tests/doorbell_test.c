// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Litmus tests of the two races in rdma/vhca-abi.h, with a thread for the
 * device: ringing against falling asleep, and arming against completing.
 *
 * A lost doorbell or a lost event leaves one side asleep for good; after TOO_LONG
 * seconds it is woken and the test fails.
 */
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "cm.h"
#include "ring.h"

#define TOO_LONG	20
#ifndef QUEUES
#define QUEUES		3	/* the last one in a page of its own */
#endif
#ifndef RINGS
#define RINGS		200000
#endif
#define EVENTS		RINGS

/*
 * Later work would hide that an earlier doorbell was lost.  In lock step there is none:
 * the next step waits for the effect of the last one, plus a short, varying time
 * so that the two sides meet at all distances.
 */
static void linger(unsigned int step)
{
	volatile unsigned int i;

	for (i = 0; i < step * 7 % 61; i++)
		;
}

/*
 * In lock step the device has a processor of its own, and neither side yields its processor: on a
 * busy host other processes would run for a whole time slice at every step.
 */
static cpu_set_t processors;
static bool apart;

static void set_apart(bool lock_step)
{
	apart = lock_step && CPU_COUNT(&processors) > 1;
}

static void take_side(bool device)
{
	cpu_set_t side = processors, first;
	int cpu = 0;

	if (apart) {
		while (!CPU_ISSET(cpu, &processors))
			cpu++;
		CPU_ZERO(&first);
		CPU_SET(cpu, &first);
		if (device)
			side = first;
		else
			CPU_XOR(&side, &side, &first);
	}
	pthread_setaffinity_np(pthread_self(), sizeof(side), &side);
}

/* Waits for the other side, which may need this processor. */
static void spin(unsigned int *turns)
{
	if (++*turns % 1024 == 0 && !apart)
		sched_yield();
}

/*
 * Stands for sleep: a counter that is polled, so that both sides stay on
 * their processors and meet often.
 */
struct wakeup {
	_Atomic unsigned int posted;
	unsigned int taken;
};

static void wake(struct wakeup *w)
{
	w->posted++;
}

static bool wait_for(struct wakeup *w)
{
	time_t until = time(NULL) + TOO_LONG;
	unsigned int turns = 0;

	while (w->posted == w->taken) {
		spin(&turns);
		if (turns % 4096 == 0 && time(NULL) > until)
			return false;
	}
	w->taken++;
	return true;
}

/* ---- ringing ---- */

struct doorbells {
	struct vhca_db_page pages[2];
	struct vhca_slots db[QUEUES];
	uint64_t seen[QUEUES];
	struct wakeup kick;
	unsigned int used;	/* queues in this test */
	bool lock_step;
	unsigned int sleeps;
	unsigned int lost;
};

struct ringer {
	struct doorbells *d;
	unsigned int queue;
};

static void *ringer_main(void *arg)
{
	struct ringer *r = arg;
	struct doorbells *d = r->d;
	unsigned int turns = 0;

	take_side(false);
	for (uint64_t count = 1; count <= RINGS; count++) {
		if (db_publish(&d->db[r->queue], 0, count))
			wake(&d->kick);
		if (!d->lock_step)
			continue;
		while (__atomic_load_n(&d->seen[r->queue], __ATOMIC_ACQUIRE) != count &&
		       !__atomic_load_n(&d->lost, __ATOMIC_RELAXED))
			spin(&turns);
		linger(count);
	}
	return NULL;
}

static uint64_t take(__le64 *word)
{
	return le64toh(__atomic_exchange_n(word, 0, __ATOMIC_SEQ_CST));
}

/* The device's scan of summary, news and records. */
static void scan(struct doorbells *d)
{
	uint64_t summary = take(&d->pages[0].summary[0]);

	for (unsigned int page = 0; page < 2; page++) {
		if (!(summary >> page & 1))
			continue;
		for (unsigned int word = 0; word < VHCA_DB_NEWS_WORDS; word++) {
			uint64_t news = take(&d->pages[page].news[word]);

			for (unsigned int q = 0; q < d->used; q++)
				if (d->db[q].index == page && d->db[q].slot / 64 == word &&
				    news >> d->db[q].slot % 64 & 1) {
					__le64 *rec = &d->pages[page].rec[d->db[q].slot];

					__atomic_store_n(&d->seen[q], shared_read64(rec),
							 __ATOMIC_RELEASE);
				}
		}
	}
}

static bool all_seen(const struct doorbells *d)
{
	for (unsigned int q = 0; q < d->used; q++)
		if (d->seen[q] != RINGS)
			return false;
	return true;
}

static void *device_main(void *arg)
{
	struct doorbells *d = arg;

	take_side(true);
	for (;;) {
		scan(d);
		if (all_seen(d))
			return NULL;
		__atomic_store_n(&d->pages[0].armed, htole32(1), __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		if (__atomic_load_n(&d->pages[0].summary[0], __ATOMIC_RELAXED)) {
			__atomic_store_n(&d->pages[0].armed, 0, __ATOMIC_RELAXED);
			continue;
		}
		d->sleeps++;
		if (!wait_for(&d->kick)) {
			__atomic_store_n(&d->lost, 1, __ATOMIC_RELAXED);
			return NULL;
		}
	}
}

static void ring_doorbells(unsigned int used, bool lock_step)
{
	static struct doorbells d;
	struct ringer ringers[QUEUES];
	pthread_t threads[QUEUES], device;

	memset(&d, 0, sizeof(d));
	d.used = used;
	d.lock_step = lock_step;
	set_apart(lock_step);
	for (unsigned int q = 0; q < QUEUES; q++)
		d.db[q] = (struct vhca_slots) {
			.page = &d.pages[q == QUEUES - 1],
			.page0 = &d.pages[0],
			.index = q == QUEUES - 1,
			.slot = 62 + 2 * q,
		};
	assert_int_equal(pthread_create(&device, NULL, device_main, &d), 0);
	for (unsigned int q = 0; q < used; q++) {
		ringers[q] = (struct ringer) { .d = &d, .queue = q };
		assert_int_equal(pthread_create(&threads[q], NULL, ringer_main, &ringers[q]), 0);
	}
	for (unsigned int q = 0; q < used; q++)
		pthread_join(threads[q], NULL);
	pthread_join(device, NULL);
	print_message("# %u doorbells, the device slept %u times\n", used * RINGS, d.sleeps);
	assert_int_equal(d.lost, 0);
	assert_true(all_seen(&d));
	assert_true(d.sleeps > 0 || !lock_step);
}

static void no_doorbell_is_lost_under_load(void **state)
{
	(void)state;
	ring_doorbells(QUEUES, false);
}

static void no_doorbell_is_lost_in_lock_step(void **state)
{
	(void)state;
	ring_doorbells(1, true);	/* the device sleeps before every step */
	ring_doorbells(QUEUES, true);	/* it is often awake */
}

/* ---- arming ---- */

#define LOG_CQ	4

struct arming {
	struct vhca_db_page page;
	struct vhca_slots db;
	struct vhca_cqe ring[1 << LOG_CQ];
	uint64_t prod;			/* the device's */
	uint32_t raised_seq;
	struct wakeup event;
	uint64_t cons;			/* the program's */
	bool lock_step;
	unsigned int waits;
	unsigned int lost;
};

/* Writes an entry, and raises an event when the arm record asks for one. */
static void complete(struct arming *a)
{
	struct vhca_cqe *cqe = &a->ring[vhca_ring_slot(a->prod, LOG_CQ)];
	unsigned int turns = 0;
	uint64_t arm;
	uint32_t seq;
	uint64_t room = a->lock_step ? 1 : ring_size(LOG_CQ);

	while (a->prod - shared_read64(&a->page.rec[a->db.slot]) >= room) {
		if (__atomic_load_n(&a->lost, __ATOMIC_RELAXED))
			return;
		spin(&turns);
	}
	if (a->lock_step)
		linger(a->prod);
	__atomic_store_n(&cqe->owner, !(a->prod >> LOG_CQ & 1), __ATOMIC_RELEASE);
	a->prod++;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	arm = shared_read64(&a->page.rec[a->db.slot + 1]);
	seq = arm >> VHCA_ARM_SEQ_SHIFT;
	if (seq != a->raised_seq) {
		a->raised_seq = seq;
		wake(&a->event);
	}
}

static void *completer_main(void *arg)
{
	struct arming *a = arg;

	take_side(true);
	for (unsigned int i = 0; i < EVENTS; i++)
		complete(a);
	return NULL;
}

static unsigned int poll(struct arming *a)
{
	unsigned int n = 0;

	while (vhca_ring_fresh(__atomic_load_n(&a->ring[vhca_ring_slot(a->cons, LOG_CQ)].owner,
					  __ATOMIC_ACQUIRE), a->cons, LOG_CQ)) {
		a->cons++;
		n++;
	}
	if (n)
		db_store(&a->db, 0, a->cons);
	return n;
}

/* As programs do: polls until the CQ is empty, arms, polls once more, and only then waits. */
static void consume(struct arming *a)
{
	uint32_t seq = 0;

	take_side(false);
	while (a->cons < EVENTS) {
		if (poll(a))
			continue;
		db_arm(&a->db, arm_value(a->cons, ++seq, false));
		if (poll(a))
			continue;
		a->waits++;
		if (!wait_for(&a->event)) {
			__atomic_store_n(&a->lost, 1, __ATOMIC_RELAXED);
			return;
		}
	}
}

static void raise_events(bool lock_step)
{
	static struct arming a;
	pthread_t device;

	memset(&a, 0, sizeof(a));
	a.lock_step = lock_step;
	set_apart(lock_step);
	a.db = (struct vhca_slots) { .page = &a.page, .page0 = &a.page, .slot = 4 };
	assert_int_equal(pthread_create(&device, NULL, completer_main, &a), 0);
	consume(&a);
	pthread_join(device, NULL);
	print_message("# %u completions, the program waited %u times\n", EVENTS, a.waits);
	assert_int_equal(a.lost, 0);
	assert_true(a.cons == EVENTS);
	assert_true(a.waits > 0 || !lock_step);
}

static void no_event_is_lost_under_load(void **state)
{
	(void)state;
	raise_events(false);
}

static void no_event_is_lost_in_lock_step(void **state)
{
	(void)state;
	raise_events(true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_doorbell_is_lost_under_load),
		cmocka_unit_test(no_doorbell_is_lost_in_lock_step),
		cmocka_unit_test(no_event_is_lost_under_load),
		cmocka_unit_test(no_event_is_lost_in_lock_step),
	};

	/* on a host with more processors than such a set can name, the two sides are not bound */
	if (sched_getaffinity(0, sizeof(processors), &processors))
		CPU_ZERO(&processors);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
