// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Revoking memory while others use it.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/testmem.h"

#define PAGE	((u64)GMEM_PAGE_SIZE)

struct bracket {
	struct guest_mem *m;
	sem_t inside;
	bool left;
};

/*
 * Stays inside its bracket long after the range was removed, so
 * that an unmap that does not wait is detected.
 */
static void *slow_reader(void *arg)
{
	struct bracket *b = arg;
	u64 v;

	gmem_enter();
	assert_int_equal(dma_read(b->m, &v, 0, 8), 0);
	sem_post(&b->inside);
	while (!gmem_check(b->m, 0, 8, false))
		;
	for (int i = 0; i < 1000000; i++)
		assert_int_equal(gmem_check(b->m, 0, 8, false), -EFAULT);
	__atomic_store_n(&b->left, true, __ATOMIC_RELEASE);
	gmem_exit();
	return NULL;
}

static void run_slow_reader(void (*revoke)(struct guest_mem *))
{
	struct bracket b = { .m = gmem_new() };
	void *cpu = testmem_add(b.m, 0, PAGE);
	pthread_t t;

	sem_init(&b.inside, 0, 0);
	assert_int_equal(pthread_create(&t, NULL, slow_reader, &b), 0);
	sem_wait(&b.inside);
	revoke(b.m);
	assert_true(__atomic_load_n(&b.left, __ATOMIC_ACQUIRE));
	pthread_join(t, NULL);
	gmem_free(b.m);
	testmem_drop(cpu, PAGE);
}

static void by_unmap(struct guest_mem *m)
{
	assert_int_equal(gmem_unmap(m, 0, PAGE), 0);
}

static void by_master(struct guest_mem *m)
{
	gmem_set_master(m, false);
}

static void unmap_waits(void **state)
{
	run_slow_reader(by_unmap);
}

static void unmap_all_waits(void **state)
{
	run_slow_reader(gmem_unmap_all);
}

static void master_off_waits(void **state)
{
	run_slow_reader(by_master);
}

/* A thread outside its bracket, or one that ended, is not waited for. */
static void *short_reader(void *arg)
{
	u64 v;

	assert_int_equal(dma_read(arg, &v, 0, 8), 0);
	return NULL;
}

static void idle_threads_do_not_count(void **state)
{
	struct guest_mem *m = gmem_new();
	void *cpu = testmem_add(m, 0, PAGE);
	pthread_t t[40];

	for (u32 i = 0; i < ARRAY_SIZE(t); i++)
		assert_int_equal(pthread_create(&t[i], NULL, short_reader, m), 0);
	for (u32 i = 0; i < ARRAY_SIZE(t); i++)
		pthread_join(t[i], NULL);
	assert_int_equal(gmem_unmap(m, 0, PAGE), 0);
	gmem_free(m);
	testmem_drop(cpu, PAGE);
}

struct churn {
	struct guest_mem *m;
	bool stop;
	u64 hits;
	u64 misses;
};

#define SLOTS	8
#define SLOT	(4 * PAGE)

static void *churn_reader(void *arg)
{
	struct churn *c = arg;
	struct gmem_ref ref;
	unsigned int seed = 1;
	u8 buf[6000];
	u64 old;

	gmem_ref_get(&ref, c->m, SLOT, 64, true);
	while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE)) {
		u64 at = rand_r(&seed) % SLOTS * SLOT, to = rand_r(&seed) % SLOTS * SLOT;

		gmem_enter();
		for (int i = 0; i < 20; i++) {
			int err = testmem_copy(c->m, to, c->m, at, 2 * PAGE);

			err ? c->misses++ : c->hits++;
			err = dma_read(c->m, buf, at + 5, sizeof(buf));
			err ? c->misses++ : c->hits++;
			dma_or64(c->m, to + 8, 1, &old);
			dma_ref_or64(&ref, 8, 1, &old);
		}
		gmem_exit();
	}
	return NULL;
}

/* Files are mapped and unmapped under two readers: an access after munmap() would crash. */
static void churn(void **state)
{
	struct churn c[2] = { { .m = gmem_new() } };
	pthread_t t[2];

	c[1].m = c[0].m;
	for (u32 i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&t[i], NULL, churn_reader, &c[i]), 0);
	/* every slot is its own file, so each unmap removes a mapping */
	for (u32 i = 0; i < 4000 || !c[0].hits || !c[1].misses; i++) {
		u64 at = (u64)rand() % SLOTS * SLOT;
		int fd;

		if (gmem_unmap(c[0].m, at, SLOT) != -ENOENT)
			continue;
		fd = testmem_fd(SLOT);
		assert_int_equal(gmem_map(c[0].m, at, SLOT, fd, 0, GMEM_READ | GMEM_WRITE), 0);
		close(fd);
	}
	for (u32 i = 0; i < 2; i++) {
		__atomic_store_n(&c[i].stop, true, __ATOMIC_RELEASE);
		pthread_join(t[i], NULL);
	}
	gmem_free(c[0].m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(unmap_waits),
		cmocka_unit_test(unmap_all_waits),
		cmocka_unit_test(master_off_waits),
		cmocka_unit_test(idle_threads_do_not_count),
		cmocka_unit_test(churn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
