// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Atomic operations on guest memory: their results, refusals, and that
 * the guest's own CPUs cannot interfere.
 */
#include <errno.h>
#include <pthread.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/testmem.h"
#include "tests/trandom.h"
#include "mem/mem.h"

#define PAGE	((u64)GMEM_PAGE_SIZE)
#define BASE	0x80000000ull
#define ROUNDS	20000
#define TURNS	100000

struct fixture {
	struct guest_mem *m;
	u64 *w;
};

static u64 rng = 88172645463325252ull;

static u64 any(void)
{
	return t_random(&rng);
}

static int setup(void **state)
{
	static struct fixture f;

	f.m = gmem_new();
	f.w = testmem_add(f.m, BASE, PAGE);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	gmem_free(f->m);
	testmem_drop(f->w, PAGE);
	return 0;
}

/* A sum bit by bit, which drops the carry at each end. */
static u64 sum_of_fields(u64 a, u64 b, u64 ends)
{
	u64 sum = 0;
	u32 carry = 0;

	for (u32 i = 0; i < 64; i++) {
		u32 bits = (a >> i & 1) + (b >> i & 1) + carry;

		sum |= (u64)(bits & 1) << i;
		carry = ends >> i & 1 ? 0 : bits >> 1;
	}
	return sum;
}

static void sums(void **state)
{
	static const u64 fixed[][3] = {
		{ UINT64_MAX, 1, 0 }, { 0xff, 1, 0x80 }, { 0x7fffffff, 1, 0x80000000 },
		{ 0xffffffffffffffff, 0x0101010101010101, 0x8080808080808080 },
		{ UINT64_MAX, UINT64_MAX, UINT64_MAX }, { UINT64_MAX, 1, 1ull << 63 },
	};
	struct fixture *f = *state;

	for (u32 i = 0; i < ROUNDS; i++) {
		const u64 *c = i < 6 ? fixed[i] : NULL;
		u64 a = c ? c[0] : any(), b = c ? c[1] : any(), ends = c ? c[2] : any() & any();
		u64 old;

		f->w[1] = a;
		assert_int_equal(dma_mask_add64(f->m, BASE + 8, b, ends, &old), 0);
		assert_int_equal(old, a);
		assert_int_equal(f->w[1], sum_of_fields(a, b, ends));
	}
	assert_int_equal(f->w[0], 0);
	assert_int_equal(f->w[2], 0);
}

static void swaps(void **state)
{
	struct fixture *f = *state;
	u32 hits = 0;

	for (u32 i = 0; i < ROUNDS; i++) {
		u64 a = any(), mask = any() & any() & any(), swap = any(), swap_mask = any();
		u64 cmp = any() & 1 ? a ^ (any() & ~mask) : a ^ (any() & any() & any() & any());
		bool hit = !((a ^ cmp) & mask);
		u64 old, want = a;

		for (u32 k = 0; hit && k < 64; k++)
			if (swap_mask >> k & 1)
				want = (want & ~(1ull << k)) | (swap & 1ull << k);
		f->w[1] = a;
		assert_int_equal(dma_mask_cas64(f->m, BASE + 8, cmp, mask, swap, swap_mask, &old),
				 0);
		assert_int_equal(old, a);
		assert_int_equal(f->w[1], want);
		hits += hit;
	}
	/* both results occurred */
	assert_in_range(hits, ROUNDS / 10, ROUNDS - ROUNDS / 10);
}

/* Unaligned words, unmapped ones, and read-only memory. */
static void refused(void **state)
{
	struct fixture *f = *state;
	int fd = testmem_fd(PAGE);
	u64 old, ro;

	assert_int_equal(gmem_map(f->m, BASE + PAGE, PAGE, fd, 0, GMEM_READ), 0);

	for (u32 off = 1; off < 8; off++) {
		assert_int_equal(dma_mask_add64(f->m, BASE + off, 1, 0, &old), -EINVAL);
		assert_int_equal(dma_mask_cas64(f->m, BASE + off, 0, 0, 1, 1, &old), -EINVAL);
		assert_int_equal(dma_store64_release(f->m, BASE + off, 1), -EINVAL);
	}
	for (u32 page = 1; page < 3; page++) {
		u64 at = BASE + page * PAGE;

		assert_int_equal(dma_mask_add64(f->m, at, 1, 0, &old), -EFAULT);
		assert_int_equal(dma_mask_cas64(f->m, at, 0, 0, 1, 1, &old), -EFAULT);
		assert_int_equal(dma_add64(f->m, at, 1, &old), -EFAULT);
		assert_int_equal(dma_cas64(f->m, at, 0, 1, &old), -EFAULT);
		assert_int_equal(dma_store64_release(f->m, at, 1), -EFAULT);
	}
	for (u32 i = 0; i < PAGE / 8; i++)
		assert_int_equal(f->w[i], 0);
	assert_int_equal(pread(fd, &ro, sizeof(ro), 0), sizeof(ro));
	assert_int_equal(ro, 0);
	close(fd);
}

/* A CPU of the guest: counts in the upper half and the word beside it. */
static void *guest_counts(void *arg)
{
	struct fixture *f = arg;

	for (u32 i = 0; i < TURNS; i++)
		__atomic_fetch_add(&f->w[1], 1ull << 32, __ATOMIC_SEQ_CST);
	return NULL;
}

/* The device counts in the lower half, whose carries must not leave it. */
static void counted_together(void **state)
{
	struct fixture *f = *state;
	u64 old, sum = 0;
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, guest_counts, f), 0);
	for (u32 i = 0; i < TURNS; i++) {
		assert_int_equal(dma_mask_add64(f->m, BASE + 8, 0xfffffffb, 0x80000000, &old), 0);
		assert_int_equal((u32)old, (u32)sum);
		sum += 0xfffffffb;
	}
	pthread_join(t, NULL);
	assert_int_equal(f->w[1], (u64)TURNS << 32 | (u32)sum);
}

/* Bit 0 is a lock: a thread that has swapped it in adds to the guarded word. */
static void *guest_locks(void *arg)
{
	struct fixture *f = arg;

	for (u32 i = 0; i < TURNS / 10; i++) {
		while (__atomic_fetch_or(&f->w[1], 1, __ATOMIC_SEQ_CST) & 1)
			;
		((volatile u64 *)f->w)[2]++;
		__atomic_fetch_and(&f->w[1], ~1ull, __ATOMIC_SEQ_CST);
	}
	return NULL;
}

static void locked_together(void **state)
{
	struct fixture *f = *state;
	pthread_t t;
	u64 old;

	f->w[1] = 0xabcd0000;
	assert_int_equal(pthread_create(&t, NULL, guest_locks, f), 0);
	for (u32 i = 0; i < TURNS / 10; i++) {
		do
			assert_int_equal(dma_mask_cas64(f->m, BASE + 8, 0, 1, 1, 1, &old), 0);
		while (old & 1);
		((volatile u64 *)f->w)[2]++;
		assert_int_equal(dma_mask_cas64(f->m, BASE + 8, 1, 1, 0, 1, &old), 0);
		assert_true(old & 1);
	}
	pthread_join(t, NULL);
	assert_int_equal(f->w[1], 0xabcd0000);
	assert_int_equal(f->w[2], 2 * (TURNS / 10));
}

#define TEST(t)	cmocka_unit_test_setup_teardown(t, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(sums), TEST(swaps), TEST(refused), TEST(counted_together),
		TEST(locked_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
