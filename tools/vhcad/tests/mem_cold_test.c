// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Copies of messages that are larger than the cache: every byte, and the order in which bytes
 * become visible to another processor.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cm.h"
#include "tests/testmem.h"
#include "tests/trandom.h"

#define PAGE	((u64)GMEM_PAGE_SIZE)
#define BASE	0x100000ULL
#define PAGES	40u
#define HALF	(PAGES / 2 * PAGE)

struct fixture {
	struct guest_mem *m;
	u8 *cpu;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->m = gmem_new();
	f->cpu = testmem_add(f->m, BASE, PAGES * PAGE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	gmem_free(f->m);
	testmem_drop(f->cpu, PAGES * PAGE);
	free(f);
	return 0;
}

static int copy_cold(struct fixture *f, const struct dma_seg *to, u32 n, const struct dma_seg *from)
{
	bool src_fault = false;

	return dma_copy(f->m, to, n, f->m, from, 0, true, &src_fault);
}

/* Short and long ones, from every alignment to every alignment of a line. */
static void every_length_and_alignment(void **state)
{
	struct fixture *f = *state;
	u8 *d = f->cpu, *s = f->cpu + HALF;

	for (u32 i = 0; i < HALF; i++)
		s[i] = i * 7 + i / 251;
	for (u32 at = 0; at < 64; at++) {
		for (u32 from = 0; from < 64; from += 5) {
			for (u32 k = 0; k < 260; k++) {
				u32 len = k < 200 ? k + 1 : k * 97;
				const struct dma_seg to = { BASE + 64 + at, len };
				const struct dma_seg src = { BASE + HALF + from, len };

				memset(d + 64, 0, 64);
				memset(d + 64 + at + len, 0, 64);
				assert_int_equal(copy_cold(f, &to, 1, &src), 0);
				assert_memory_equal(d + 64 + at, s + from, len);
				assert_int_equal(at ? d[63 + at] : 0, 0);
				assert_int_equal(d[64 + at + len], 0);
			}
		}
	}
}

/* Lists of segments that cut both sides anywhere. */
static void lists_by_chance(void **state)
{
	struct fixture *f = *state;
	u8 *want = malloc(HALF);
	u64 seed = 1;

	assert_non_null(want);
	for (u32 round = 0; round < 3000; round++) {
		struct dma_seg to[8], from[8];
		u64 at = t_random(&seed) % 100, total = 0, left, n;

		for (u32 i = 0; i < 8; i++) {
			u64 len = t_random(&seed) % 2 ? 1 + t_random(&seed) % 200 :
				  64 * (1 + t_random(&seed) % 100);

			to[i] = (struct dma_seg){ BASE + at, len };
			at += len + t_random(&seed) % 80;
			total += len;
		}
		assert_true(at < HALF);
		at = t_random(&seed) % 100;
		for (n = 0, left = total; left; n++) {
			u64 len = n == 7 ? left : MIN(left, 1 + t_random(&seed) % 9000);

			from[n] = (struct dma_seg){ BASE + HALF + at, len };
			at += len + t_random(&seed) % 80;
			left -= len;
		}
		assert_true(at < HALF);
		for (u32 i = 0; i < at; i++)
			f->cpu[HALF + i] = t_random(&seed);
		memset(f->cpu, 0x11, HALF);
		memset(want, 0x11, HALF);
		for (u64 i = 0, k = 0, ko = 0, s = 0, so = 0; i < total; i++) {
			want[to[k].addr - BASE + ko] = f->cpu[from[s].addr - BASE + so];
			if (++ko == to[k].len)
				k++, ko = 0;
			if (++so == from[s].len)
				s++, so = 0;
		}
		assert_int_equal(copy_cold(f, to, 8, from), 0);
		assert_memory_equal(f->cpu, want, HALF);
	}
	free(want);
}

/* Nothing is copied behind a failure, and bytes before it have arrived. */
static void stops_at_a_failure(void **state)
{
	struct fixture *f = *state;
	const struct dma_seg to[] = {
		{ BASE + 8, PAGE }, { BASE + PAGES * PAGE - 64, 128 }, { BASE + 3 * PAGE, PAGE },
	};
	const struct dma_seg from = { BASE + HALF, 3 * PAGE };

	memset(f->cpu + HALF, 0x77, 3 * PAGE);
	memset(f->cpu, 0, 4 * PAGE);
	assert_int_equal(copy_cold(f, to, 3, &from), -EFAULT);
	assert_int_equal(f->cpu[7], 0);
	assert_int_equal(f->cpu[8], 0x77);
	assert_int_equal(f->cpu[PAGE + 7], 0x77);
	assert_int_equal(f->cpu[PAGE + 8], 0);
	assert_int_equal(f->cpu[3 * PAGE], 0);
}

/* ---- order ---- */

#define PART	(16u << 10)	/* of a message, copied at once */
#define PARTS	4u
#define ROUNDS	1500u

struct race {
	struct fixture *f;
	u32 at, len;		/* of the destination, behind f->cpu */
	u32 round;		/* the writer has begun it; atomic */
	u32 done;		/* the reader has ended it; atomic */
	u32 wrong;
};

static u64 load(const u8 *p)
{
	return __atomic_load_n((const u64 *)p, __ATOMIC_ACQUIRE);
}

/* Polls closely, but lets the other thread run if both have one processor. */
static void spin(u32 *n)
{
	if (!(++*n % 4096))
		sched_yield();
}

/*
 * Polls the last word, as a program that waits for a message does, or some word of it.  When it has
 * the new value so have all words before it, or all parts before its own.
 */
static void *reader(void *arg)
{
	struct race *r = arg;
	const u8 *d = r->f->cpu + r->at;
	u32 n = 0;

	for (u32 round = 1; round <= ROUNDS; round++) {
		u64 want = round * 0x0101010101010101ull;
		u32 last = r->len - 8, probe = (round * 1237u % r->len) & ~7u;

		while (__atomic_load_n(&r->round, __ATOMIC_ACQUIRE) < round)
			spin(&n);
		if (round % 2) {
			while (load(d + last) != want)
				spin(&n);
			for (u32 i = 0; i < last; i += 8)
				r->wrong += load(d + i) != want;
		} else {
			while (load(d + probe) != want)
				spin(&n);
			for (u32 i = 0; i < (probe - probe % PART); i += 8)
				r->wrong += load(d + i) != want;
		}
		__atomic_store_n(&r->done, round, __ATOMIC_RELEASE);
	}
	return NULL;
}

static void order_seen_by_a_reader(void **state)
{
	struct fixture *f = *state;
	static const u32 at[] = { 0, 8, 56 };

	for (u32 k = 0; k < ARRAY_SIZE(at); k++) {
		struct race r = { .f = f, .at = at[k], .len = PARTS * PART };
		pthread_t t;
		u32 n = 0;

		memset(f->cpu, 0, HALF);
		assert_int_equal(pthread_create(&t, NULL, reader, &r), 0);
		for (u32 round = 1; round <= ROUNDS; round++) {
			u64 word = round * 0x0101010101010101ull;

			for (u32 i = 0; i < r.len; i += 8)
				memcpy(f->cpu + HALF + i, &word, 8);
			__atomic_store_n(&r.round, round, __ATOMIC_RELEASE);
			for (u32 i = 0; i < PARTS; i++) {
				/* the second segment begins behind stores of the first */
				const struct dma_seg to[] = {
					{ BASE + r.at + i * PART, PART / 2 + 24 },
					{ BASE + r.at + i * PART + PART / 2 + 24, PART / 2 - 24 },
				};
				const struct dma_seg from = { BASE + HALF + i * PART, PART };

				assert_int_equal(copy_cold(f, to, 2, &from), 0);
			}
			while (__atomic_load_n(&r.done, __ATOMIC_ACQUIRE) < round)
				spin(&n);
		}
		pthread_join(t, NULL);
		assert_int_equal(r.wrong, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_length_and_alignment, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_by_chance, setup, teardown),
		cmocka_unit_test_setup_teardown(stops_at_a_failure, setup, teardown),
		cmocka_unit_test_setup_teardown(order_seen_by_a_reader, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
