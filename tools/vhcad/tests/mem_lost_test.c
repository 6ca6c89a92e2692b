// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Guest memory that disappears while the device may access it, and memory in huge pages.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/log.h"
#include "mem/internal.h"
#include "tests/cm.h"
#include "tests/testmem.h"

#define PAGE	((u64)GMEM_PAGE_SIZE)
#define RW	(GMEM_READ | GMEM_WRITE)
#define BASE	0x100000ULL
#define GOOD	0x900000ULL
#define HUGE	(2ull << 20)

/* A guest whose file is truncated by its owner, and other memory of the guest. */
struct fixture {
	struct guest_mem *m;
	int fd;
	u8 *good;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->m = gmem_new();
	f->fd = memfd_create("loose", MFD_CLOEXEC);
	assert_int_equal(ftruncate(f->fd, 4 * PAGE), 0);
	assert_int_equal(gmem_map(f->m, BASE, 4 * PAGE, f->fd, 0, RW | GMEM_UNSEALED), 0);
	f->good = testmem_add(f->m, GOOD, 4 * PAGE);
	memset(f->good, 0x5a, 4 * PAGE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	gmem_free(f->m);
	close(f->fd);
	testmem_drop(f->good, 4 * PAGE);
	free(f);
	return 0;
}

static void cut(struct fixture *f)
{
	/* cmocka sets its own handler for each test */
	gmem_lost_init();
	assert_int_equal(ftruncate(f->fd, PAGE), 0);
}

/* The mapping is not accessible any more; other memory is, and this when it is granted again. */
static void is_gone(struct fixture *f)
{
	int fd = testmem_fd(PAGE);
	u64 v;

	assert_int_equal(dma_read(f->m, &v, BASE, 8), -EFAULT);
	assert_int_equal(dma_read(f->m, &v, GOOD, 8), 0);
	assert_true(v == 0x5a5a5a5a5a5a5a5aull);
	assert_int_equal(dma_write(f->m, GOOD, &v, 8), 0);
	assert_int_equal(gmem_unmap(f->m, BASE, 4 * PAGE), 0);
	assert_int_equal(gmem_map(f->m, BASE, PAGE, fd, 0, RW), 0);
	assert_int_equal(dma_write(f->m, BASE, &v, 8), 0);
	assert_int_equal(dma_read(f->m, &v, BASE, 8), 0);
	close(fd);
}

static void reading(void **state)
{
	struct fixture *f = *state;
	u8 buf[3 * 4096];

	assert_int_equal(dma_read(f->m, buf, BASE, sizeof(buf)), 0);
	cut(f);
	/* the first page is still there */
	assert_int_equal(dma_read(f->m, buf, BASE, PAGE), 0);
	assert_int_equal(dma_read(f->m, buf, BASE + PAGE - 8, 2 * PAGE), -EFAULT);
	is_gone(f);
}

static void writing(void **state)
{
	struct fixture *f = *state;
	u8 buf[3 * 4096] = { 1 };

	cut(f);
	assert_int_equal(dma_write(f->m, BASE + PAGE - 8, buf, 2 * PAGE), -EFAULT);
	is_gone(f);
}

/* As the engine does it, in the range of the last access. */
static void writing_in_a_bracket(void **state)
{
	struct fixture *f = *state;
	u8 buf[64] = { 1 };

	gmem_enter();
	assert_int_equal(dma_write(f->m, BASE, buf, 64), 0);
	cut(f);
	assert_int_equal(dma_write(f->m, BASE + PAGE, buf, 64), -EFAULT);
	/* this page is there, and stays as it is */
	buf[0] = 2;
	assert_int_equal(dma_write(f->m, BASE, buf, 64), -EFAULT);
	assert_int_equal(pread(f->fd, buf, 1, 0), 1);
	assert_int_equal(buf[0], 1);
	gmem_exit();
	is_gone(f);
}

/*
 * If the host is set up so, a broken page is first reported to the process that has it mapped; no
 * thread has touched it, and one that does so later gets another signal.
 */
static void broken_untouched(void **state)
{
	siginfo_t info = { .si_signo = SIGBUS, .si_code = BUS_MCEERR_AO };

	gmem_lost_init();
	/* only si_codes below 0 may be sent to other processes */
	assert_int_equal(syscall(SYS_rt_tgsigqueueinfo, getpid(), gettid(), SIGBUS, &info), 0);
}

/* Lost mappings are counted right, also when failing maps follow. */
static void failing_maps(void **state)
{
	struct fixture *f = *state;
	int fd = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	u64 v;

	cut(f);
	assert_int_equal(dma_read(f->m, &v, BASE + PAGE, 8), -EFAULT);
	assert_int_equal(gmem_unmap(f->m, BASE, 4 * PAGE), 0);
	assert_int_equal(ftruncate(fd, PAGE), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_WRITE), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(gmem_map(f->m, BASE, PAGE, fd, 0, RW), -EACCES);
	assert_int_equal(gmem_lost, 0);
	assert_int_equal(ftruncate(f->fd, 4 * PAGE), 0);
	assert_int_equal(gmem_map(f->m, BASE, 4 * PAGE, f->fd, 0, RW | GMEM_UNSEALED), 0);
	assert_int_equal(dma_read(f->m, &v, BASE, 8), 0);
	cut(f);
	assert_int_equal(dma_read(f->m, &v, BASE + PAGE, 8), -EFAULT);
	is_gone(f);
	close(fd);
}

static void spanning(void **state)
{
	struct fixture *f = *state;
	u8 *next = testmem_add(f->m, BASE + 4 * PAGE, PAGE), buf[2 * 4096] = { 1 };

	cut(f);
	assert_int_equal(dma_write(f->m, BASE + 3 * PAGE, buf, 2 * PAGE), -EFAULT);
	assert_int_equal(dma_read(f->m, buf, BASE + 3 * PAGE, 2 * PAGE), -EFAULT);
	assert_int_equal(dma_read(f->m, buf, BASE + 4 * PAGE, PAGE), 0);
	is_gone(f);
	testmem_drop(next, PAGE);
}

static void copy_to_and_from(struct fixture *f, bool cold)
{
	const struct dma_seg lost[] = { { BASE, 64 }, { BASE + PAGE, PAGE } };
	const struct dma_seg good[] = { { GOOD, 64 }, { GOOD + PAGE, PAGE } };
	bool src_fault = false;

	assert_int_equal(dma_copy(f->m, lost, 2, f->m, good, 0, cold, &src_fault), 0);
	cut(f);
	assert_int_equal(dma_copy(f->m, lost, 2, f->m, good, 0, cold, &src_fault), -EFAULT);
	assert_false(src_fault);
	assert_int_equal(dma_copy(f->m, good, 2, f->m, lost, 0, cold, &src_fault), -EFAULT);
	assert_true(src_fault);
	is_gone(f);
}

static void copying(void **state)
{
	copy_to_and_from(*state, false);
}

static void copying_past_the_cache(void **state)
{
	copy_to_and_from(*state, true);
}

static void copying_from(void **state)
{
	struct fixture *f = *state;
	const struct dma_seg lost = { BASE, 2 * PAGE };
	const struct dma_seg good = { GOOD + 2 * PAGE, 2 * PAGE };
	bool src_fault = false;

	cut(f);
	assert_int_equal(dma_copy(f->m, &good, 1, f->m, &lost, 0, false, &src_fault), -EFAULT);
	assert_true(src_fault);
	is_gone(f);
}

/*
 * Memory that is not lost is copied only once: a program that polls the last byte may reuse the
 * place at once.  These bytes move down by eight, and a second copy would move them again.
 */
static void copying_once(void **state)
{
	struct fixture *f = *state;
	const struct dma_seg to = { GOOD, 32 }, from = { GOOD + 8, 32 };
	bool src_fault = false;
	u64 v;

	cut(f);
	assert_int_equal(dma_read(f->m, &v, BASE + PAGE, 8), -EFAULT);
	for (u32 i = 0; i < 40; i++)
		f->good[i] = i;
	assert_int_equal(dma_copy(f->m, &to, 1, f->m, &from, 0, false, &src_fault), 0);
	for (u32 i = 0; i < 32; i++)
		assert_int_equal(f->good[i], i + 8);
}

/* Every access by reference, the first of which finds that the page is missing. */
#define BY_REF(name, call)					\
static void ref_##name(void **state)				\
{								\
	struct fixture *f = *state;				\
	struct gmem_ref ref, first;				\
	u8 buf[64] = { 0 };					\
	u64 v = 0;						\
	u32 w = 0;						\
								\
	assert_int_equal(gmem_ref_get(&ref, f->m, BASE + PAGE, PAGE, true), 0);	\
	assert_int_equal(gmem_ref_get(&first, f->m, BASE, PAGE, true), 0);	\
	gmem_enter();						\
	assert_int_equal(call, 0);				\
	cut(f);							\
	assert_int_equal(call, -EFAULT);			\
	assert_int_equal(call, -EFAULT);			\
	assert_int_equal(dma_ref_load64_acquire(&first, 0, &v), -EFAULT);	\
	gmem_exit();						\
	(void)buf;						\
	(void)w;						\
	is_gone(f);						\
}

BY_REF(read, dma_ref_read(&ref, 8, buf, 24))
BY_REF(write, dma_ref_write(&ref, 8, buf, 24))
BY_REF(read_line, dma_ref_read_line(&ref, 64, buf))
BY_REF(publish, dma_ref_publish(&ref, 64, buf, 56, 1))
BY_REF(publish_short, dma_ref_publish(&ref, 64, buf, 24, 1))
BY_REF(load32, dma_ref_load32_acquire(&ref, 4, &w))
BY_REF(load64, dma_ref_load64_acquire(&ref, 8, &v))
BY_REF(store8, dma_ref_store8_release(&ref, 9, 1))
BY_REF(store64, dma_ref_store64_release(&ref, 8, 1))
BY_REF(xchg32, dma_ref_xchg32(&ref, 8, 1, &w))
BY_REF(or64, dma_ref_or64(&ref, 8, 1, &v))
BY_REF(address_load64, dma_load64_acquire(f->m, BASE + PAGE, &v))
BY_REF(address_cas64, dma_cas64(f->m, BASE + PAGE, 0, 0, &v))
BY_REF(address_add64, dma_add64(f->m, BASE + PAGE, 1, &v))
BY_REF(address_mask_add64, dma_mask_add64(f->m, BASE + PAGE, 1, 1ull << 63, &v))

/* ---- memory that comes back right after an access that found none ---- */

const struct gmem_range *__real_gmem_search(struct gmem_table *t, u64 iova);
const struct gmem_range *__wrap_gmem_search(struct gmem_table *t, u64 iova);

static struct guest_mem *comes_back;

/* As if the VM's thread ran at this very moment. */
const struct gmem_range *__wrap_gmem_search(struct gmem_table *t, u64 iova)
{
	const struct gmem_range *r = __real_gmem_search(t, iova);

	if (comes_back && !r)
		gmem_set_master(comes_back, true);
	return r;
}

/* Other memory is lost meanwhile, so that each access is checked again. */
#define COMES_BACK(name, call)					\
static void back_##name(void **state)				\
{								\
	struct fixture *f = *state;				\
	struct guest_mem *m = gmem_new();			\
	u8 *cpu = testmem_add(m, BASE, PAGE), buf[64];		\
	struct gmem_ref ref;					\
	u64 v = 0;						\
								\
	memset(buf, 0x77, sizeof(buf));				\
	cut(f);							\
	assert_int_equal(dma_read(f->m, &v, BASE + PAGE, 8), -EFAULT);	\
	assert_true(gmem_any_lost());				\
	assert_int_equal(gmem_ref_get(&ref, m, BASE, PAGE, true), 0);	\
	gmem_set_master(m, false);				\
	comes_back = m;						\
	assert_int_equal(call, -EFAULT);			\
	comes_back = NULL;					\
	/* nothing was transferred, and the next access finds the memory */	\
	for (u32 i = 0; i < 64; i++)				\
		assert_true(buf[i] == 0x77 && !cpu[i]);		\
	assert_int_equal(call, 0);				\
	gmem_free(m);						\
	testmem_drop(cpu, PAGE);				\
	is_gone(f);						\
}

COMES_BACK(read, dma_ref_read(&ref, 0, buf, 24))
COMES_BACK(write, dma_ref_write(&ref, 0, buf, 24))
COMES_BACK(read_line, dma_ref_read_line(&ref, 0, buf))
COMES_BACK(publish, dma_ref_publish(&ref, 0, buf, 56, 1))
COMES_BACK(publish_short, dma_ref_publish(&ref, 0, buf, 24, 1))
COMES_BACK(load64, dma_ref_load64_acquire(&ref, 0, &v))
COMES_BACK(store64, dma_ref_store64_release(&ref, 0, 1))
COMES_BACK(address_read, dma_read(m, buf, BASE, 24))
COMES_BACK(address_write, dma_write(m, BASE, buf, 24))
COMES_BACK(address_add64, dma_add64(m, BASE, 1, &v))

/* ---- huge pages ---- */

static u64 pool(const char *mode, u64 set)
{
	FILE *f = fopen("/proc/sys/vm/nr_hugepages", mode);
	unsigned long long n = 0;

	if (!f)
		return UINT64_MAX;
	if (*mode == 'w')
		fprintf(f, "%llu\n", (unsigned long long)set);
	else if (fscanf(f, "%llu", &n) != 1)
		n = UINT64_MAX;
	return fclose(f) ? UINT64_MAX : n;
}

static int huge_file(u64 size)
{
	int fd = memfd_create("huge", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_HUGETLB | 21u << 26);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

static void seal(int fd)
{
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
}

static void pool_that_is_too_small(void **state)
{
	struct fixture *f = *state;
	int fd = huge_file(1ull << 42);

	assert_int_equal(gmem_map(f->m, 1ull << 42, HUGE, fd, 0, RW), -EPERM);
	seal(fd);
	assert_int_equal(gmem_map(f->m, 1ull << 42, 1ull << 42, fd, 0, RW), -ENOMEM);
	/* nothing of it is left, and the guest's other memory is as it was */
	assert_int_equal(gmem_ranges(f->m), 2);
	assert_int_equal(gmem_unmap(f->m, 1ull << 42, 1ull << 42), -ENOENT);
	close(fd);
}

/* Takes all that is left of the pool; returns the number of pages. */
static u32 drain(u8 **page, u32 max)
{
	u32 n = 0;

	while (n < max) {
		page[n] = mmap(NULL, HUGE, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | 21u << 26, -1, 0);
		if (page[n] == MAP_FAILED)
			break;
		page[n++][0] = 1;
	}
	return n;
}

static void huge_pages(void **state)
{
	struct fixture *f = *state;
	u64 before = pool("r", 0), v = 0x1122334455667788ull, seen = 0;
	u8 *cpu, *left[64];
	u32 n;
	int fd;

	if (before == UINT64_MAX || pool("w", before + 4) == UINT64_MAX ||
	    pool("r", 0) != before + 4) {
		pool("w", before);
		print_message("no pool of huge pages can be had here\n");
		skip();
	}
	fd = huge_file(2 * HUGE);
	seal(fd);
	cpu = mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(cpu, MAP_FAILED);
	/* a part that is no multiple of such a page, and the same mapping again */
	assert_int_equal(gmem_map(f->m, 0, PAGE, fd, HUGE + PAGE, RW), 0);
	assert_int_equal(gmem_map(f->m, PAGE, PAGE, fd, HUGE + 3 * PAGE, RW), 0);
	assert_int_equal(gmem_map(f->m, 1ull << 30, 2 * HUGE, fd, 0, RW), 0);
	assert_int_equal(dma_write(f->m, 8, &v, 8), 0);
	assert_memory_equal(cpu + HUGE + PAGE + 8, &v, 8);
	assert_int_equal(dma_read(f->m, &seen, (1ull << 30) + HUGE + PAGE + 8, 8), 0);
	assert_true(seen == v);

	gmem_lost_init();
	/* the owner frees a page, and another file takes it */
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, HUGE, HUGE), 0);
	n = drain(left, ARRAY_SIZE(left));
	assert_true(n > 0);
	assert_int_equal(dma_write(f->m, 8, &v, 8), -EFAULT);
	assert_int_equal(dma_read(f->m, &seen, 8, 8), -EFAULT);
	/* another mapping of the file has not noticed yet */
	assert_int_equal(dma_read(f->m, &seen, 1ull << 30, 8), 0);
	assert_int_equal(dma_read(f->m, &seen, (1ull << 30) + HUGE, 8), -EFAULT);
	assert_int_equal(gmem_unmap(f->m, 0, 2 * PAGE), 0);
	assert_int_equal(gmem_unmap(f->m, 1ull << 30, 2 * HUGE), 0);
	while (n)
		munmap(left[--n], HUGE);
	assert_int_equal(gmem_map(f->m, 0, PAGE, fd, HUGE + PAGE, RW), 0);
	assert_int_equal(dma_write(f->m, 8, &v, 8), 0);
	munmap(cpu, 2 * HUGE);
	assert_int_equal(gmem_unmap(f->m, 0, PAGE), 0);
	close(fd);
	pool("w", before);
	cut(f);
	assert_int_equal(dma_read(f->m, &seen, BASE + PAGE, 8), -EFAULT);
	is_gone(f);
}

#define T(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(reading), T(writing), T(writing_in_a_bracket),
		T(broken_untouched), T(failing_maps), T(spanning),
		T(copying),
		T(copying_past_the_cache), T(copying_from), T(copying_once),
		T(ref_read), T(ref_write),
		T(ref_read_line), T(ref_publish), T(ref_publish_short), T(ref_load32),
		T(ref_load64), T(ref_store8), T(ref_store64), T(ref_xchg32), T(ref_or64),
		T(ref_address_load64), T(ref_address_cas64), T(ref_address_add64),
		T(ref_address_mask_add64), T(back_read), T(back_write), T(back_read_line),
		T(back_publish), T(back_publish_short), T(back_load64), T(back_store64),
		T(back_address_read), T(back_address_write), T(back_address_add64),
		T(pool_that_is_too_small), T(huge_pages),
	};

	log_open("/dev/null");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
