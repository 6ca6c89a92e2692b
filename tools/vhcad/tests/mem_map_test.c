// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Granting and revoking ranges: refusals, and that a file is mapped
 * once however often it is granted.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/testmem.h"

#define PAGE	((u64)GMEM_PAGE_SIZE)
#define RW	(GMEM_READ | GMEM_WRITE)

static int setup(void **state)
{
	*state = gmem_new();
	return !*state;
}

static int teardown(void **state)
{
	gmem_free(*state);
	return 0;
}

static unsigned int mappings_of(const char *name)
{
	unsigned int n = 0;
	char line[512];
	FILE *f;

	f = fopen("/proc/self/maps", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		n += !!strstr(line, name);
	fclose(f);
	return n;
}

static u64 bytes_of(const char *name)
{
	unsigned long long from, to;
	char line[512];
	u64 n = 0;
	FILE *f;

	f = fopen("/proc/self/maps", "r");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, name) && sscanf(line, "%llx-%llx", &from, &to) == 2)
			n += to - from;
	fclose(f);
	return n;
}

static void refuses_bad_numbers(void **state)
{
	int fd = testmem_fd(4 * PAGE);

	assert_int_equal(gmem_map(*state, 1, PAGE, fd, 0, RW), -EINVAL);
	assert_int_equal(gmem_map(*state, 0, PAGE - 1, fd, 0, RW), -EINVAL);
	assert_int_equal(gmem_map(*state, 0, PAGE, fd, 8, RW), -EINVAL);
	assert_int_equal(gmem_map(*state, 0, 0, fd, 0, RW), -EINVAL);
	assert_int_equal(gmem_map(*state, 0, PAGE, fd, 0, 0), -EINVAL);
	assert_int_equal(gmem_map(*state, 0, PAGE, fd, 0, GMEM_UNSEALED), -EINVAL);
	assert_int_equal(gmem_map(*state, 0, PAGE, fd, 0, RW | 8), -EINVAL);
	assert_int_equal(gmem_map(*state, -PAGE, 2 * PAGE, fd, 0, RW), -EINVAL);
	assert_int_equal(gmem_map(*state, 0, PAGE, fd, -PAGE, RW), -EINVAL);
	assert_int_equal(gmem_map(*state, 0, 2 * PAGE, fd, 3 * PAGE, RW), -ERANGE);
	assert_int_equal(gmem_ranges(*state), 0);
	close(fd);
}

static void refuses_overlap(void **state)
{
	int fd = testmem_fd(8 * PAGE);

	assert_int_equal(gmem_map(*state, 2 * PAGE, 2 * PAGE, fd, 0, RW), 0);
	assert_int_equal(gmem_map(*state, 0, 3 * PAGE, fd, 0, RW), -EEXIST);
	assert_int_equal(gmem_map(*state, 3 * PAGE, PAGE, fd, 0, RW), -EEXIST);
	assert_int_equal(gmem_map(*state, PAGE, 4 * PAGE, fd, 0, RW), -EEXIST);
	assert_int_equal(gmem_map(*state, 0, 2 * PAGE, fd, 0, RW), 0);
	assert_int_equal(gmem_map(*state, 4 * PAGE, PAGE, fd, 0, RW), 0);
	close(fd);
}

static void takes_the_last_page(void **state)
{
	int fd = testmem_fd(PAGE);
	u64 v;

	assert_int_equal(gmem_map(*state, -PAGE, PAGE, fd, 0, RW), 0);
	assert_int_equal(dma_read(*state, &v, -8ULL, 8), 0);
	assert_int_equal(dma_read(*state, &v, -4ULL, 8), -EFAULT);
	/* addresses do not wrap, even with memory at both ends */
	assert_int_equal(gmem_map(*state, 0, PAGE, fd, 0, RW), 0);
	assert_int_equal(dma_read(*state, &v, -4ULL, 8), -EFAULT);
	assert_int_equal(gmem_unmap(*state, -PAGE, PAGE), 0);
	close(fd);
}

static void refuses_unsealed(void **state)
{
	int fd = memfd_create("loose", MFD_ALLOW_SEALING);
	int pipes[2], file;

	assert_int_equal(ftruncate(fd, PAGE), 0);
	assert_int_equal(gmem_map(*state, 0, PAGE, fd, 0, RW), -EPERM);
	assert_int_equal(gmem_map(*state, 0, PAGE, fd, 0, RW | GMEM_UNSEALED), 0);
	close(fd);

	/* files that are not memory, with any flags */
	file = open("/proc/self/comm", O_RDWR);
	assert_true(file >= 0);
	assert_int_equal(gmem_map(*state, PAGE, PAGE, file, 0, RW), -EOPNOTSUPP);
	assert_int_equal(gmem_map(*state, PAGE, PAGE, file, 0, RW | GMEM_UNSEALED), -EOPNOTSUPP);
	close(file);

	assert_int_equal(pipe(pipes), 0);
	assert_int_not_equal(gmem_map(*state, PAGE, PAGE, pipes[0], 0, GMEM_READ), 0);
	assert_int_not_equal(gmem_map(*state, PAGE, PAGE, pipes[0], 0,
				      GMEM_READ | GMEM_UNSEALED), 0);
	close(pipes[0]);
	close(pipes[1]);
	assert_int_equal(gmem_map(*state, PAGE, PAGE, 9999, 0, RW), -EACCES);
}

static void read_only_descriptor(void **state)
{
	int fd = testmem_fd(PAGE), ro;
	char path[64];
	u64 v = 1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	ro = open(path, O_RDONLY);
	assert_true(ro >= 0);
	assert_int_equal(gmem_map(*state, 0, PAGE, ro, 0, RW), -EACCES);
	assert_int_equal(gmem_map(*state, 0, PAGE, ro, 0, GMEM_READ), 0);
	/* the same file, writable this time, must not meet the first mapping */
	assert_int_equal(gmem_map(*state, PAGE, PAGE, fd, 0, RW), 0);
	assert_int_equal(dma_write(*state, PAGE, &v, 8), 0);
	assert_int_equal(dma_write(*state, 0, &v, 8), -EFAULT);
	v = 0;
	assert_int_equal(dma_read(*state, &v, 0, 8), 0);
	assert_int_equal(v, 1);
	close(ro);
	close(fd);
}

static void unshared_memory(void **state)
{
	u64 v;

	assert_int_equal(gmem_map(*state, 0, PAGE, -1, 0, GMEM_READ), 0);
	assert_int_equal(dma_read(*state, &v, 0, 8), -EFAULT);
	assert_int_equal(gmem_map(*state, 0, PAGE, -1, 0, GMEM_READ), -EEXIST);
	assert_int_equal(gmem_unmap(*state, 0, PAGE), 0);
}

static void file_mapped_once(void **state)
{
	int fd = testmem_fd(256 * PAGE);

	for (u64 i = 0; i < 256; i += 2)
		assert_int_equal(gmem_map(*state, i * PAGE, PAGE, fd, i * PAGE, RW), 0);
	close(fd);
	assert_int_equal(gmem_ranges(*state), 128);
	assert_int_equal(mappings_of("memfd:guest"), 1);
	assert_int_equal(gmem_unmap(*state, 0, 255 * PAGE), 0);
	assert_int_equal(gmem_ranges(*state), 0);
	assert_int_equal(mappings_of("memfd:guest"), 0);
}

/* Of a large file only what was granted, and a little around it, is mapped, at its place. */
static void part_of_a_file(void **state)
{
	const u64 size = 1ull << 33, piece = 2ull << 20;
	static const struct { u64 at, len, mapped; } part[] = {
		{ 7ull << 30, PAGE, 2 << 20 },
		{ (5ull << 21) - PAGE, 2 * PAGE, 4 << 20 },
		{ 6ull << 21, 3ull << 30, 3ull << 30 },
		{ (1ull << 33) - PAGE, PAGE, 2 << 20 },
		{ 0, PAGE, 2 << 20 },
	};
	int fd = testmem_fd(size), odd = testmem_fd(piece + 3 * PAGE);
	u64 iova = 0, all = 0;

	for (u64 i = 0; i < sizeof(part) / sizeof(part[0]); i++) {
		u64 word = 0x1000 + i, got = 0, last = part[i].at + part[i].len - sizeof(got);

		assert_int_equal(gmem_map(*state, iova, part[i].len, fd, part[i].at, RW), 0);
		all += part[i].mapped;
		assert_int_equal(bytes_of("memfd:guest"), all);
		assert_int_equal(dma_write(*state, iova + part[i].len - sizeof(word), &word,
					   sizeof(word)), 0);
		assert_int_equal(pread(fd, &got, sizeof(got), last), sizeof(got));
		assert_int_equal(got, word);
		word = ~i;
		assert_int_equal(pwrite(fd, &word, sizeof(word), part[i].at), sizeof(word));
		assert_int_equal(dma_read(*state, &got, iova, sizeof(got)), 0);
		assert_int_equal(got, word);
		iova += part[i].len;
	}
	/* a file that ends inside of a piece */
	assert_int_equal(gmem_map(*state, iova, PAGE, odd, piece + PAGE, RW), 0);
	assert_int_equal(bytes_of("memfd:guest"), all + 3 * PAGE);
	gmem_unmap_all(*state);
	assert_int_equal(bytes_of("memfd:guest"), 0);
	close(fd);
	close(odd);
}

static void unmap_whole_ranges_only(void **state)
{
	int fd = testmem_fd(8 * PAGE);

	assert_int_equal(gmem_map(*state, 0, 4 * PAGE, fd, 0, RW), 0);
	assert_int_equal(gmem_map(*state, 4 * PAGE, 4 * PAGE, fd, 0, RW), 0);
	assert_int_equal(gmem_unmap(*state, 0, 3 * PAGE), -EINVAL);
	assert_int_equal(gmem_unmap(*state, PAGE, 7 * PAGE), -EINVAL);
	assert_int_equal(gmem_unmap(*state, 8 * PAGE, PAGE), -ENOENT);
	assert_int_equal(gmem_unmap(*state, 0, 0), -EINVAL);
	assert_int_equal(gmem_unmap(*state, 2 * PAGE, -PAGE), -EINVAL);
	assert_int_equal(gmem_ranges(*state), 2);
	assert_int_equal(gmem_unmap(*state, 0, 16 * PAGE), 0);
	assert_int_equal(gmem_ranges(*state), 0);
	close(fd);
}

static void range_limit(void **state)
{
	int fd = testmem_fd(PAGE);

	for (u64 i = 0; i < GMEM_MAX_RANGES; i++)
		assert_int_equal(gmem_map(*state, 2 * i * PAGE, PAGE, fd, 0, RW), 0);
	assert_int_equal(gmem_map(*state, PAGE, PAGE, fd, 0, RW), -ENOSPC);
	assert_int_equal(gmem_unmap(*state, 0, PAGE), 0);
	assert_int_equal(gmem_map(*state, PAGE, PAGE, fd, 0, RW), 0);
	gmem_unmap_all(*state);
	assert_int_equal(gmem_ranges(*state), 0);
	close(fd);
}

#define PIECES	4000u		/* of the 4096 of a file */
#define PIECE	(2ull << 20)

/* Maps part after part of a file until that fails; returns the number of parts. */
static u32 take_all(struct guest_mem *m, int fd)
{
	u32 n;
	int err;

	for (n = 0;; n++) {
		/* one piece, then two neighbours, three, ... */
		u32 more = n / PIECES;
		u64 end = (n % PIECES + 1) * PIECE;
		u64 len = more ? (more - 1) * PIECE + 2 * PAGE : PAGE;

		err = gmem_map(m, (u64)n << 30, len, fd, end - PAGE, RW);
		if (err)
			break;
	}
	assert_int_equal(err, -ENOMEM);
	return n;
}

/* A VM that maps all it can leaves as much to the others. */
static void shares(void **state)
{
	struct guest_mem *other = gmem_new(), *third = gmem_new();
	int fd = testmem_fd(4096 * PIECE);
	u32 n = take_all(*state, fd);

	assert_int_equal(n, 1u << 14);
	assert_int_equal(take_all(other, fd), n / 2);
	assert_int_equal(take_all(third, fd), n / 4);
	/* parts that are mapped already cost nothing, and freed ones are available to all */
	assert_int_equal(gmem_map(other, (u64)n << 30, PAGE, fd, 0, RW), 0);
	gmem_unmap_all(*state);
	assert_int_equal(gmem_map(other, (u64)(n + 1) << 30, PAGE, fd, 4095 * PIECE, RW), 0);
	assert_int_equal(take_all(*state, fd), (2 * n - n / 2 - 1 - n / 4) / 2 + 1);
	gmem_free(other);
	gmem_free(third);
	close(fd);
}

/* A normal VM, which may grant its memory page by page, uses few parts of a large file. */
static void large_file(void **state)
{
	const u64 piece = (1ull << 40) / 4096;
	int fd = testmem_fd(1ull << 40);

	assert_int_equal(gmem_map(*state, 0, PAGE, fd, 0, RW), 0);
	assert_int_equal(gmem_map(*state, PAGE, PAGE, fd, piece - PAGE, RW), 0);
	assert_int_equal(bytes_of("memfd:guest"), piece);
	assert_int_equal(gmem_map(*state, 2 * PAGE, PAGE, fd, piece, RW), 0);
	assert_int_equal(bytes_of("memfd:guest"), 2 * piece);
	gmem_unmap_all(*state);
	assert_int_equal(bytes_of("memfd:guest"), 0);
	close(fd);
}

/* Maps and unmaps page ranges at random and compares with a plain array. */
static void random_against_model(void **state)
{
	static struct { u32 first, n; } own[1024];	/* page -> its range */
	int fd = testmem_fd(1024 * PAGE);
	u64 v;

	srand(1);
	for (u64 i = 0; i < 1024; i++) {
		u64 tag = i + 1;

		assert_int_equal(pwrite(fd, &tag, 8, i * PAGE), 8);
	}
	for (int round = 0; round < 20000; round++) {
		u32 first = rand() % 1024, n = 1 + rand() % 4, i;
		bool clash = false, cut = false, any = false;

		if (first + n > 1024)
			continue;
		for (i = first; i < first + n; i++)
			clash |= own[i].n != 0;
		if (rand() % 2) {
			assert_int_equal(gmem_map(*state, first * PAGE, n * PAGE, fd, first * PAGE,
						  RW), clash ? -EEXIST : 0);
			for (i = first; !clash && i < first + n; i++) {
				own[i].first = first;
				own[i].n = n;
			}
		} else {
			n *= 8;
			n = MIN(n, 1024 - first);
			for (i = first; i < first + n; i++) {
				if (!own[i].n)
					continue;
				any = true;
				cut |= own[i].first < first ||
				       own[i].first + own[i].n > first + n;
			}
			assert_int_equal(gmem_unmap(*state, first * PAGE, n * PAGE),
					 cut ? -EINVAL : any ? 0 : -ENOENT);
			for (i = first; !cut && i < first + n; i++)
				own[i].n = 0;
		}
		i = rand() % 1024;
		assert_int_equal(dma_read(*state, &v, i * PAGE, 8), own[i].n ? 0 : -EFAULT);
		if (own[i].n)
			assert_int_equal(v, i + 1);
	}
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(refuses_bad_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_overlap, setup, teardown),
		cmocka_unit_test_setup_teardown(takes_the_last_page, setup, teardown),
		cmocka_unit_test_setup_teardown(refuses_unsealed, setup, teardown),
		cmocka_unit_test_setup_teardown(read_only_descriptor, setup, teardown),
		cmocka_unit_test_setup_teardown(unshared_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(file_mapped_once, setup, teardown),
		cmocka_unit_test_setup_teardown(part_of_a_file, setup, teardown),
		cmocka_unit_test_setup_teardown(unmap_whole_ranges_only, setup, teardown),
		cmocka_unit_test_setup_teardown(range_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(shares, setup, teardown),
		cmocka_unit_test_setup_teardown(large_file, setup, teardown),
		cmocka_unit_test_setup_teardown(random_against_model, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
