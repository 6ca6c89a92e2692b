// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/testmem.h"

static void need(bool ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	abort();
}

int testmem_fd(u64 size)
{
	int fd;

	fd = memfd_create("guest", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	need(fd >= 0, "memfd_create");
	need(!ftruncate(fd, size), "ftruncate");
	need(!fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL), "F_ADD_SEALS");
	return fd;
}

void *testmem_add(struct guest_mem *m, u64 iova, u64 size)
{
	void *cpu;
	int fd;

	fd = testmem_fd(size);
	cpu = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	need(cpu != MAP_FAILED, "mmap");
	need(!gmem_map(m, iova, size, fd, 0, GMEM_READ | GMEM_WRITE), "gmem_map");
	close(fd);
	return cpu;
}

void testmem_drop(void *cpu, u64 size)
{
	munmap(cpu, size);
}

int testmem_copy(struct guest_mem *md, u64 dst, struct guest_mem *ms, u64 src, u64 len)
{
	const struct dma_seg to = { dst, len }, from = { src, len };
	bool src_fault = false;

	return dma_copy(md, &to, 1, ms, &from, 0, false, &src_fault);
}
