// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory that the device reads or writes.
 */
#include <errno.h>
#include <sys/mman.h>

#include "vhca.h"

/**
 * vhca_buf_alloc() - allocate cleared, page aligned memory
 * @buf: takes it
 * @size: bytes; the memory is whole pages
 * @page_size: bytes of a page
 *
 * A forked child does not get it, where the program asked for that by ibv_fork_init().
 *
 * Return: 0 or an errno.
 */
int vhca_buf_alloc(struct vhca_buf *buf, size_t size, size_t page_size)
{
	size_t whole = (size + page_size - 1) & ~(page_size - 1);
	void *addr;
	int err;

	addr = mmap(NULL, whole, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (addr == MAP_FAILED)
		return errno;
	err = ibv_dontfork_range(addr, whole);
	if (err) {
		munmap(addr, whole);
		return err;
	}
	buf->addr = addr;
	buf->size = whole;
	return 0;
}

/**
 * vhca_buf_free() - free memory that the device does not use any more
 * @buf: memory, or a cleared structure
 */
void vhca_buf_free(struct vhca_buf *buf)
{
	if (!buf->addr)
		return;
	ibv_dofork_range(buf->addr, buf->size);
	munmap(buf->addr, buf->size);
	buf->addr = NULL;
}
