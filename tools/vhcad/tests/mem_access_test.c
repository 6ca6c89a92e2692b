// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Bulk and word accesses: spanning, alignment, rights, order, atomicity.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/testmem.h"

#define PAGE	((u64)GMEM_PAGE_SIZE)
#define BASE	0x100000ULL

struct fixture {
	struct guest_mem *m;
	u8 *a;		/* 4 pages at BASE */
	u8 *b;		/* 4 pages right behind, another file */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->m = gmem_new();
	f->b = testmem_add(f->m, BASE + 4 * PAGE, 4 * PAGE);
	f->a = testmem_add(f->m, BASE, 4 * PAGE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	gmem_free(f->m);
	testmem_drop(f->a, 4 * PAGE);
	testmem_drop(f->b, 4 * PAGE);
	free(f);
	return 0;
}

static void every_length_and_alignment(void **state)
{
	struct fixture *f = *state;
	u8 src[400], back[400];

	for (u32 i = 0; i < sizeof(src); i++)
		src[i] = i * 7 + 1;
	for (u32 off = 0; off < 20; off++) {
		for (u32 len = 0; len < 300; len++) {
			memset(f->a, 0, 512);
			assert_int_equal(dma_write(f->m, BASE + 32 + off, src + off, len), 0);
			assert_memory_equal(f->a + 32 + off, src + off, len);
			assert_int_equal(f->a[31 + off], 0);
			assert_int_equal(f->a[32 + off + len], 0);
			assert_int_equal(dma_read(f->m, back, BASE + 32 + off, len), 0);
			assert_memory_equal(back, src + off, len);
		}
	}
}

static void spans_ranges(void **state)
{
	struct fixture *f = *state;
	u8 src[3 * 4096], back[3 * 4096];
	u64 at = BASE + 2 * PAGE + 100;

	for (u32 i = 0; i < sizeof(src); i++)
		src[i] = i ^ (i >> 8);
	assert_int_equal(dma_write(f->m, at, src, sizeof(src)), 0);
	assert_memory_equal(f->a + 2 * PAGE + 100, src, 2 * PAGE - 100);
	assert_memory_equal(f->b, src + 2 * PAGE - 100, PAGE + 100);
	assert_int_equal(dma_read(f->m, back, at, sizeof(back)), 0);
	assert_memory_equal(back, src, sizeof(src));

	/* guest to guest, both ends spanning at different places */
	memset(f->b + PAGE + 100, 0, 100);
	assert_int_equal(testmem_copy(f->m, BASE + 1, f->m, at, PAGE * 2 + 50), 0);
	assert_memory_equal(f->a + 1, src, 2 * PAGE);
}

static void copies_between_devices(void **state)
{
	struct fixture *f = *state;
	struct guest_mem *other = gmem_new();
	u8 *cpu = testmem_add(other, 0x7000, 2 * PAGE);

	memset(f->a, 0x5a, 4 * PAGE);
	assert_int_equal(testmem_copy(other, 0x7003, f->m, BASE + 5, 5000), 0);
	assert_int_equal(cpu[2], 0);
	assert_memory_equal(cpu + 3, f->a, 5000);
	assert_int_equal(cpu[5003], 0);
	assert_int_equal(testmem_copy(other, 0x7000 + 2 * PAGE - 8, f->m, BASE, 9), -EFAULT);
	assert_int_equal(testmem_copy(other, 0x7000, f->m, BASE + 8 * PAGE - 8, 9), -EFAULT);
	gmem_free(other);
	testmem_drop(cpu, 2 * PAGE);
}

#define PIECES	40u

/* Cuts some pages into pieces, in a mixed order; returns their bytes. */
static u64 cut(struct dma_seg *seg, u64 base, u32 pages, u32 longest)
{
	u64 bytes = 0;

	for (u32 i = 0; i < PIECES; i++) {
		u64 page = base + (PIECES - 1 - i) % pages * PAGE;
		u64 len = 1 + (u64)rand() % MIN(longest, (u32)PAGE / PIECES * pages);

		/* no two pieces have a byte in common */
		seg[i] = (struct dma_seg){ page + i / pages * (PAGE / PIECES * pages), len };
		bytes += len;
	}
	return bytes;
}

/* Byte n of a list, in a copy of the pages at base. */
static u8 *list_byte(const struct dma_seg *seg, u64 n, u8 *cpu, u64 base)
{
	while (n >= seg->len)
		n -= seg++->len;
	return cpu + (seg->addr - base) + n;
}

static void lists_of_pieces(void **state)
{
	struct fixture *f = *state;
	struct dma_seg from[PIECES], to[PIECES];

	srand(1);
	for (u32 round = 0; round < 300; round++) {
		u8 want[4 * 4096], longest = round % 3 ? 80 : 255;
		u64 have = cut(from, BASE + 4 * PAGE, 4, longest), room = cut(to, BASE, 4, longest);
		u64 off = rand() % have, len = MIN(have - off, room);
		bool src_fault = false;
		u32 n = 0;

		for (u32 i = 0; i < 4 * PAGE; i++) {
			f->b[i] = rand();
			f->a[i] = want[i] = 0x11;
		}
		/* the list ends where the bytes do */
		for (u64 left = len; left; left -= to[n++].len)
			to[n].len = MIN(to[n].len, left);
		for (u64 i = 0; i < len; i++)
			*list_byte(to, i, want, BASE) = *list_byte(from, off + i, f->b,
								   BASE + 4 * PAGE);
		assert_int_equal(dma_copy(f->m, to, n, f->m, from, off, false, &src_fault), 0);
		assert_memory_equal(f->a, want, sizeof(want));
		assert_false(src_fault);
	}
}

/* Long lists, whose next piece is prefetched: also when there is none, or no memory. */
static void lists_of_pages(void **state)
{
	struct fixture *f = *state;
	const struct dma_seg from[] = {
		{ BASE + 7 * PAGE, PAGE }, { BASE + 5 * PAGE + 24, PAGE - 24 },
		{ BASE + 4 * PAGE, 2000 }, { BASE + 8 * PAGE, PAGE },
	};
	const struct dma_seg to[] = {
		{ BASE + PAGE + 8, PAGE - 8 }, { BASE, PAGE + 8 }, { BASE + 2 * PAGE, 1976 },
		{ BASE + 9 * PAGE, PAGE },
	};
	bool src_fault = false;

	for (u32 i = 0; i < 4 * PAGE; i++)
		f->b[i] = i * 7 + i / 300;
	/* three pieces either side, the same bytes */
	assert_int_equal(dma_copy(f->m, to, 3, f->m, from, 0, false, &src_fault), 0);
	assert_memory_equal(f->a + PAGE + 8, f->b + 3 * PAGE, PAGE - 8);
	assert_memory_equal(f->a, f->b + 4 * PAGE - 8, 8);
	assert_memory_equal(f->a + 8, f->b + PAGE + 24, PAGE - 24);
	assert_memory_equal(f->a + PAGE - 16, f->b, 24);
	assert_memory_equal(f->a + 2 * PAGE, f->b + 24, 1976);

	/* the receiver's memory ends, then the sender's: bytes before that have arrived */
	memset(f->a, 0, 4 * PAGE);
	assert_int_equal(dma_copy(f->m, to + 2, 2, f->m, from, 0, false, &src_fault), -EFAULT);
	assert_false(src_fault);
	assert_memory_equal(f->a + 2 * PAGE, f->b + 3 * PAGE, 1976);
	assert_int_equal(dma_copy(f->m, to, 1, f->m, from + 2, 0, false, &src_fault), -EFAULT);
	assert_true(src_fault);
	assert_memory_equal(f->a + PAGE + 8, f->b, 2000);
	assert_int_equal(f->a[PAGE + 2008], 0);
}

/* Lists on one side only: read into private memory, and written from there. */
static void lists_and_private_memory(void **state)
{
	struct fixture *f = *state;
	const struct dma_seg list[] = {
		{ BASE + 7 * PAGE, 3 }, { BASE + 2 * PAGE - 50, 100 }, { BASE + 5 * PAGE, 0 },
		{ BASE + PAGE + 17, 1 }, { BASE + 4 * PAGE - 20, 40 },
	};
	const u8 *at[] = { f->b + 3 * PAGE, f->a + 2 * PAGE - 50, f->b, f->a + PAGE + 17 };
	const struct dma_seg ends[] = { { BASE, 8 }, { BASE + 8 * PAGE - 4, 8 }, { BASE + 8, 8 } };
	u8 from[144], to[144];

	for (u32 i = 0; i < sizeof(from); i++)
		from[i] = 3 * i + 1;
	assert_int_equal(dma_write_list(f->m, list, ARRAY_SIZE(list), from), 0);
	for (u32 i = 0, done = 0; i < ARRAY_SIZE(at); done += list[i++].len)
		assert_memory_equal(at[i], from + done, list[i].len);
	/* a piece in two ranges */
	assert_memory_equal(f->a + 4 * PAGE - 20, from + 104, 20);
	assert_memory_equal(f->b, from + 124, 20);
	assert_int_equal(dma_read_list(f->m, to, list, ARRAY_SIZE(list)), 0);
	assert_memory_equal(to, from, sizeof(from));
	assert_int_equal(dma_read_list(f->m, to, list, 0), 0);

	/* the second piece is not all there: the first one has been copied, nothing behind it */
	memset(to, 0xff, sizeof(to));
	assert_int_equal(dma_write_list(f->m, ends, ARRAY_SIZE(ends), to), -EFAULT);
	assert_memory_equal(f->a, to, 8);
	assert_int_equal(f->a[8], 0);
	assert_int_equal(f->b[4 * PAGE - 1], 0);
	assert_int_equal(dma_read_list(f->m, from, ends, ARRAY_SIZE(ends)), -EFAULT);
	assert_memory_equal(from, to, 8);
	assert_int_equal(from[8], 25);
}

static void unmapped_is_all_or_nothing(void **state)
{
	struct fixture *f = *state;
	u8 buf[8192];

	memset(buf, 0xff, sizeof(buf));
	assert_int_equal(dma_write(f->m, BASE + 7 * PAGE, buf, PAGE + 1), -EFAULT);
	assert_int_equal(f->b[3 * PAGE], 0);
	assert_int_equal(dma_read(f->m, buf, BASE - 1, 2), -EFAULT);
	assert_int_equal(dma_read(f->m, buf, 0, 1), -EFAULT);
	assert_int_equal(dma_read(f->m, buf, ~0ULL, 2), -EFAULT);
	assert_int_equal(dma_read(f->m, buf, ~0ULL, 0), 0);
	assert_int_equal(gmem_check(f->m, BASE, 8 * PAGE, true), 0);
	assert_int_equal(gmem_check(f->m, BASE, 8 * PAGE + 1, true), -EFAULT);
	assert_int_equal(gmem_check(f->m, BASE, SIZE_MAX, false), -EFAULT);
}

static void rights_of_the_range(void **state)
{
	struct fixture *f = *state;
	int fd = testmem_fd(2 * PAGE);
	u64 v = 3, old;

	assert_int_equal(gmem_map(f->m, 0, PAGE, fd, 0, GMEM_READ), 0);
	assert_int_equal(gmem_map(f->m, PAGE, PAGE, fd, PAGE, GMEM_WRITE), 0);
	close(fd);
	assert_int_equal(dma_write(f->m, 0, &v, 8), -EFAULT);
	assert_int_equal(dma_store64_release(f->m, 0, 1), -EFAULT);
	assert_int_equal(dma_or64(f->m, 0, 1, &old), -EFAULT);
	assert_int_equal(dma_read(f->m, &v, 0, 8), 0);
	assert_int_equal(dma_read(f->m, &v, PAGE, 8), -EFAULT);
	assert_int_equal(dma_load64_acquire(f->m, PAGE, &v), -EFAULT);
	assert_int_equal(dma_xchg64(f->m, PAGE, 1, &old), -EFAULT);
	assert_int_equal(dma_store64_release(f->m, PAGE, 1), 0);
	assert_int_equal(dma_write(f->m, PAGE - 4, &v, 8), -EFAULT);
}

static void master_off_stops_dma(void **state)
{
	struct fixture *f = *state;
	struct gmem_ref ref;
	u64 v = 0;

	assert_int_equal(gmem_ref_get(&ref, f->m, BASE, 64, true), 0);
	gmem_set_master(f->m, false);
	assert_int_equal(dma_read(f->m, &v, BASE, 8), -EFAULT);
	assert_int_equal(dma_ref_load64_acquire(&ref, 0, &v), -EFAULT);
	/* grants go on while it is off */
	assert_int_equal(gmem_unmap(f->m, BASE + 4 * PAGE, 4 * PAGE), 0);
	assert_int_equal(gmem_map(f->m, 0, PAGE, -1, 0, GMEM_READ), 0);
	assert_int_equal(dma_read(f->m, &v, BASE, 8), -EFAULT);
	gmem_set_master(f->m, true);
	assert_int_equal(dma_read(f->m, &v, BASE, 8), 0);
	assert_int_equal(dma_ref_load64_acquire(&ref, 0, &v), 0);
}

static void words(void **state)
{
	struct fixture *f = *state;
	u64 v, *w = (u64 *)f->a;
	u32 v32;

	assert_int_equal(dma_store64_release(f->m, BASE, 0x1122334455667788ULL), 0);
	assert_int_equal(w[0], 0x1122334455667788ULL);
	assert_int_equal(dma_load64_acquire(f->m, BASE, &v), 0);
	assert_int_equal(v, 0x1122334455667788ULL);
	assert_int_equal(dma_load32_acquire(f->m, BASE + 4, &v32), 0);
	assert_int_equal(v32, 0x11223344);
	assert_int_equal(dma_store8_release(f->m, BASE + 7, 0xaa), 0);
	assert_int_equal(f->a[7], 0xaa);
	assert_int_equal(dma_store32_release(f->m, BASE, 5), 0);
	assert_int_equal(dma_xchg32(f->m, BASE, 6, &v32), 0);
	assert_int_equal(v32, 5);
	assert_int_equal(dma_xchg64(f->m, BASE, 8, &v), 0);
	assert_int_equal(v, 0xaa22334400000006ULL);
	assert_int_equal(dma_or64(f->m, BASE, 1, &v), 0);
	assert_int_equal(v, 8);
	assert_int_equal(dma_add64(f->m, BASE, -2ULL, &v), 0);
	assert_int_equal(v, 9);
	assert_int_equal(dma_cas64(f->m, BASE, 8, 100, &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(w[0], 7);
	assert_int_equal(dma_cas64(f->m, BASE, 7, 100, &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(w[0], 100);

	assert_int_equal(dma_load64_acquire(f->m, BASE + 4, &v), -EINVAL);
	assert_int_equal(dma_xchg32(f->m, BASE + 2, 0, &v32), -EINVAL);
	assert_int_equal(dma_cas64(f->m, BASE + 1, 0, 0, &v), -EINVAL);
	assert_int_equal(dma_load64_acquire(f->m, BASE + 8 * PAGE, &v), -EFAULT);
}

#define ADDS	200000

static void *adder(void *arg)
{
	struct fixture *f = arg;
	u64 old;

	for (int i = 0; i < ADDS; i++)
		assert_int_equal(dma_add64(f->m, BASE + 64, 1, &old), 0);
	return NULL;
}

static void words_are_atomic(void **state)
{
	struct fixture *f = *state;
	volatile u64 *w = (u64 *)(f->a + 64);
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, adder, f), 0);
	for (int i = 0; i < ADDS; i++)
		__atomic_fetch_add(w, 1, __ATOMIC_SEQ_CST);
	pthread_join(t, NULL);
	assert_int_equal(*w, 2 * ADDS);
}

#define LAPS	3000
#define RUN	3001	/* neither end aligned */

static void *writer(void *arg)
{
	struct fixture *f = arg;
	u8 buf[RUN];

	for (int lap = 1; lap <= LAPS; lap++) {
		memset(buf, lap, sizeof(buf));
		if (dma_write(f->m, BASE + 5, buf, sizeof(buf)))
			break;
		/* wait until the watcher has seen this lap whole */
		while (__atomic_load_n(&f->b[0], __ATOMIC_ACQUIRE) != (u8)lap)
			;
	}
	return NULL;
}

/* A CPU that sees a byte of the new lap must see the new lap below it. */
static void ascending_order(void **state)
{
	struct fixture *f = *state;
	volatile u8 *p = f->a + 5;
	pthread_t t;

	assert_int_equal(pthread_create(&t, NULL, writer, f), 0);
	for (int lap = 1; lap <= LAPS; lap++) {
		u32 at = lap % 2 ? RUN - 1 : (u32)rand() % RUN;

		while (p[at] != (u8)lap)
			;
		for (u32 i = at; i-- > 0;)
			assert_int_equal(p[i], (u8)lap);
		while (p[RUN - 1] != (u8)lap)
			;
		__atomic_store_n(&f->b[0], (u8)lap, __ATOMIC_RELEASE);
	}
	pthread_join(t, NULL);
}

static void references(void **state)
{
	struct fixture *f = *state;
	struct gmem_ref ref, rd, bad;
	u8 buf[16] = "fifteen letters";
	u64 v;
	u32 v32;

	assert_int_equal(gmem_ref_get(&ref, f->m, BASE + 64, 128, true), 0);
	assert_int_equal(gmem_ref_get(&rd, f->m, BASE + 64, 128, false), 0);
	assert_int_equal(dma_ref_write(&ref, 112, buf, 16), 0);
	assert_memory_equal(f->a + 64 + 112, buf, 16);
	assert_int_equal(dma_ref_write(&ref, 113, buf, 16), -EFAULT);
	assert_int_equal(dma_ref_read(&ref, ~0u, buf, 16), -EFAULT);
	assert_int_equal(dma_ref_read(&rd, 112, buf, 16), 0);
	assert_int_equal(dma_ref_write(&rd, 0, buf, 1), -EFAULT);
	assert_int_equal(dma_ref_store64_release(&rd, 0, 1), -EFAULT);
	assert_int_equal(dma_ref_store64_release(&ref, 8, 77), 0);
	assert_int_equal(dma_ref_load64_acquire(&rd, 8, &v), 0);
	assert_int_equal(v, 77);
	assert_int_equal(dma_ref_xchg32(&ref, 8, 78, &v32), 0);
	assert_int_equal(v32, 77);
	assert_int_equal(dma_ref_or64(&ref, 8, 1, &v), 0);
	assert_int_equal(v, 78);
	assert_int_equal(dma_ref_store32_release(&ref, 12, 0xabcd), 0);
	assert_int_equal(dma_ref_load32_acquire(&rd, 12, &v32), 0);
	assert_int_equal(v32, 0xabcd);
	assert_int_equal(dma_ref_load64_acquire(&rd, 8, &v), 0);
	assert_int_equal(v, 0xabcd0000004full);
	assert_int_equal(dma_ref_store32_release(&ref, 12, 0), 0);
	assert_int_equal(dma_ref_store8_release(&ref, 127, 5), 0);
	assert_int_equal(f->a[64 + 127], 5);
	assert_int_equal(dma_ref_xchg64(&ref, 120, 6, &v), 0);
	assert_int_equal(v >> 56, 5);

	/* a line, in a bracket and outside */
	for (u32 i = 0; i < 64; i++)
		f->a[64 + 64 + i] = i ^ 0x35;
	for (u32 in = 0; in < 2; in++) {
		u8 line[64] = { 0 };

		if (in)
			gmem_enter();
		assert_int_equal(dma_ref_read_line(&rd, 64, line), 0);
		assert_memory_equal(line, f->a + 64 + 64, 64);
		assert_int_equal(dma_ref_read_line(&rd, 65, line), -EFAULT);
		memset(line, 0x70 + in, 56);
		assert_int_equal(dma_ref_publish(&ref, 0, line, 56, 0x5050505050505050), 0);
		assert_memory_equal(f->a + 64, line, 56);
		assert_int_equal(f->a[64 + 56], 0x50);
		assert_int_equal(dma_ref_publish(&ref, 72, line, 56, 0), -EFAULT);
		assert_int_equal(dma_ref_publish(&ref, 4, line, 56, 0), -EINVAL);
		assert_int_equal(dma_ref_publish(&rd, 0, line, 56, 0), -EFAULT);
		assert_int_equal(dma_write(f->m, BASE + 4 * PAGE - 9, line, 9), 0);
		assert_int_equal(dma_write(f->m, BASE + 4 * PAGE - 8, line, 9), 0);
		assert_int_equal(f->b[0], 0x70 + in);
		if (in)
			gmem_exit();
	}
	assert_int_equal(dma_ref_store64_release(&ref, 8, 79), 0);

	/* an entry and the word that it ends with */
	assert_int_equal(dma_ref_publish(&ref, 112, buf, 8, 0x1122334455667788), 0);
	assert_memory_equal(f->a + 64 + 112, buf, 8);
	assert_memory_equal(f->a + 64 + 120, "\x88\x77\x66\x55\x44\x33\x22\x11", 8);
	assert_int_equal(dma_ref_publish(&ref, 120, buf, 8, 0), -EFAULT);
	assert_int_equal(dma_ref_publish(&ref, 120, buf, 0, 5), 0);
	assert_int_equal(f->a[64 + 120], 5);
	assert_int_equal(dma_ref_publish(&rd, 112, buf, 8, 0), -EFAULT);
	assert_int_equal(dma_ref_publish(&ref, 111, buf, 8, 0), -EINVAL);

	/* read-only words cannot be written, nor unaligned ones */
	assert_int_equal(dma_ref_xchg32(&rd, 8, 1, &v32), -EFAULT);
	assert_int_equal(dma_ref_or64(&rd, 8, 1, &v), -EFAULT);
	assert_int_equal(dma_ref_store8_release(&rd, 8, 1), -EFAULT);
	assert_int_equal(dma_ref_load32_acquire(&ref, 2, &v32), -EINVAL);
	assert_int_equal(dma_ref_store32_release(&ref, 1, 0), -EINVAL);
	assert_int_equal(dma_ref_load32_acquire(&ref, 128, &v32), -EFAULT);
	assert_int_equal(dma_ref_load32_acquire(&ref, UINT32_MAX - 3, &v32), -EFAULT);
	assert_int_equal(dma_ref_store8_release(&ref, 128, 1), -EFAULT);
	assert_int_equal(dma_ref_load64_acquire(&ref, 4, &v), -EINVAL);
	assert_int_equal(dma_ref_load64_acquire(&ref, 128, &v), -EFAULT);

	/* one range only, and never past its end */
	assert_int_equal(gmem_ref_get(&bad, f->m, BASE + 4 * PAGE - 8, 16, false), -EFAULT);
	assert_int_equal(gmem_ref_get(&bad, f->m, 0, 16, false), -EFAULT);
	assert_int_equal(dma_ref_read(&bad, 0, buf, 1), -EFAULT);
	assert_int_equal(gmem_ref_get(&bad, f->m, BASE, 0, false), -EFAULT);
	assert_int_equal(dma_ref_read(&bad, 0, buf, 0), -EFAULT);

	/* another range is revoked: the reference stays good; its own is: it does not */
	assert_int_equal(gmem_unmap(f->m, BASE + 4 * PAGE, 4 * PAGE), 0);
	assert_int_equal(dma_ref_load64_acquire(&ref, 8, &v), 0);
	assert_int_equal(v, 79);
	assert_int_equal(gmem_unmap(f->m, BASE, 4 * PAGE), 0);
	assert_int_equal(dma_ref_load64_acquire(&ref, 8, &v), -EFAULT);
	testmem_drop(f->a, 4 * PAGE);
	f->a = testmem_add(f->m, BASE, 4 * PAGE);
	assert_int_equal(dma_ref_load64_acquire(&ref, 8, &v), 0);
	assert_int_equal(v, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_length_and_alignment, setup, teardown),
		cmocka_unit_test_setup_teardown(spans_ranges, setup, teardown),
		cmocka_unit_test_setup_teardown(copies_between_devices, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_of_pieces, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_of_pages, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_and_private_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(unmapped_is_all_or_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(rights_of_the_range, setup, teardown),
		cmocka_unit_test_setup_teardown(master_off_stops_dma, setup, teardown),
		cmocka_unit_test_setup_teardown(words, setup, teardown),
		cmocka_unit_test_setup_teardown(words_are_atomic, setup, teardown),
		cmocka_unit_test_setup_teardown(ascending_order, setup, teardown),
		cmocka_unit_test_setup_teardown(references, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
