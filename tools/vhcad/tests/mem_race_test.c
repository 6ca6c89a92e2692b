// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A VM that changes a file while it is being granted.  An access behind the
 * end of a file is a SIGBUS that would end the daemon, so only properties that
 * can not change any more may be checked.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/cm.h"
#include "tests/tfail.h"
#include "mem/mem.h"

#define PAGE	((u64)GMEM_PAGE_SIZE)
#define RW	(GMEM_READ | GMEM_WRITE)

static u64 new_size;

/* Truncates the file at the last possible moment. */
static void cut_and_seal(int fd)
{
	tfail_before_seals = NULL;
	assert_int_equal(ftruncate(fd, new_size), 0);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
}

static int unsealed(u64 size)
{
	int fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	return fd;
}

static void cut_before_it_is_sealed(void **state)
{
	struct guest_mem *m = gmem_new();
	int fd = unsealed(16 * PAGE);

	new_size = PAGE;
	tfail_before_seals = cut_and_seal;
	assert_int_equal(gmem_map(m, 0, 16 * PAGE, fd, 0, RW), -ERANGE);
	assert_null(tfail_before_seals);
	assert_int_equal(gmem_ranges(m), 0);
	close(fd);
	gmem_free(m);
}

/* If enough of the file is left, no more than that is mapped. */
static void cut_behind_the_range(void **state)
{
	struct guest_mem *m = gmem_new();
	int fd = unsealed(16 * PAGE);
	u64 v = 7;

	new_size = 2 * PAGE;
	tfail_before_seals = cut_and_seal;
	assert_int_equal(gmem_map(m, 0, PAGE, fd, 0, RW), 0);
	assert_int_equal(dma_write(m, 8, &v, sizeof(v)), 0);
	/* the same file again: what lies behind its end must not be found in the mapping */
	assert_int_equal(gmem_map(m, 4 * PAGE, PAGE, fd, 4 * PAGE, RW), -ERANGE);
	assert_int_equal(gmem_map(m, 4 * PAGE, PAGE, fd, PAGE, RW), 0);
	assert_int_equal(dma_write(m, 5 * PAGE - 8, &v, sizeof(v)), 0);
	close(fd);
	gmem_free(m);
}

/* Its owner cannot truncate a granted file any more. */
static void not_cut_afterwards(void **state)
{
	struct guest_mem *m = gmem_new();
	int fd = unsealed(2 * PAGE);

	assert_int_equal(gmem_map(m, 0, PAGE, fd, 0, RW), -EPERM);
	assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	assert_int_equal(gmem_map(m, 0, PAGE, fd, 0, RW), 0);
	assert_int_equal(ftruncate(fd, 0), -1);
	assert_int_equal(errno, EPERM);
	close(fd);
	gmem_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_before_it_is_sealed),
		cmocka_unit_test(cut_behind_the_range),
		cmocka_unit_test(not_cut_afterwards),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
